//! Data files: rows as Parquet bytes, and back. Bytes in, values out; who reads and writes files is the caller.
//!
//! A file holds the columns that are not partition columns; those have their values in the log, for all rows of the file.

mod convert;
mod decode;

use std::sync::Arc;

use arrow::{array::RecordBatch, datatypes::DataType as ArrowType, error::ArrowError};
use parquet::{
    arrow::{ArrowWriter, arrow_writer::ArrowWriterOptions},
    basic::Compression,
    errors::ParquetError,
    file::properties::WriterProperties,
};

pub use decode::decode;

use crate::{
    batch::{BatchError, arrow_schema, is_arrow_type},
    schema::{PrimitiveType, Schema},
    statistics::Statistics,
    value::PartitionValueError,
};

/// Why rows and the bytes of a data file cannot be turned into each other.
#[derive(Debug, thiserror::Error)]
pub enum DataFileError {
    /// The schema or the rows do not become a batch.
    #[error("rows do not fit the schema of the table")]
    Batch(#[from] BatchError),
    /// Parquet refused, most likely because the bytes are not a whole Parquet file.
    #[error("the Parquet file is not readable or writable")]
    Parquet(#[from] ParquetError),
    /// Arrow refused.
    #[error("the rows of the Parquet file do not become a batch")]
    Arrow(#[from] ArrowError),
    /// A column of the file that cannot be read as the table's type.
    #[error("column '{column}' is {found} in the file, which cannot be read as {wanted}")]
    ColumnType {
        /// The column.
        column: String,
        /// The type in the file.
        found: ArrowType,
        /// The type in the table.
        wanted: PrimitiveType,
    },
    /// A value of the file that the table's type cannot hold.
    #[error("column '{column}', row {row}: the value does not fit {wanted}")]
    Value {
        /// The column.
        column: String,
        /// The row in the file, from 0.
        row: usize,
        /// The type in the table.
        wanted: PrimitiveType,
    },
    /// A partition value that is not of its column's type.
    #[error("partition column '{column}'")]
    Partition {
        /// The column.
        column: String,
        /// What is wrong with its value.
        source: PartitionValueError,
    },
    /// All columns are partition columns, which the protocol forbids.
    #[error("a data file needs a column that is not a partition column")]
    NoColumns,
    /// The Parquet crate panicked, which it does on some bytes that are not a whole Parquet file.
    #[error("the Parquet file is damaged: the reader broke down with '{message}'")]
    Damaged {
        /// What the panic said.
        message: String,
    },
    /// The reader gave up half-way, on bytes that say one thing here and another there.
    #[error("the Parquet file contradicts itself: {0}")]
    Contradiction(&'static str),
}

/// A data file that is ready to be stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Encoded {
    /// The Parquet file.
    pub bytes: Vec<u8>,
    /// The text for `add.stats`.
    pub statistics: String,
}

/// Rows as a data file: Parquet, compressed with Snappy, without the partition columns. Timestamps are 64-bit microseconds, those of type
/// `timestamp` marked as adjusted to UTC. The same rows give the same bytes.
///
/// # Errors
/// When the batch is not of the schema, or has no column but partition columns.
pub fn encode(schema: &Schema, partition_columns: &[String], batch: &RecordBatch) -> Result<Encoded, DataFileError> {
    let statistics = Statistics::collect(schema, partition_columns, batch)?.to_json();
    let (schema, batch) = without(schema, partition_columns, batch)?;
    if schema.fields.is_empty() {
        return Err(DataFileError::NoColumns);
    }
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("contend ", env!("CARGO_PKG_VERSION")).to_owned())
        .build();
    // The Arrow schema would only repeat what the Parquet schema says, in every file.
    let options = ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
    let mut writer = ArrowWriter::try_new_with_options(Vec::new(), batch.schema(), options)?;
    writer.write(&batch)?;
    let bytes = writer.into_inner()?;
    Ok(Encoded { bytes, statistics })
}

/// Schema and batch without the partition columns.
fn without(
    schema: &Schema,
    partition_columns: &[String],
    batch: &RecordBatch,
) -> Result<(Schema, RecordBatch), DataFileError> {
    if batch.num_columns() != schema.fields.len() {
        return Err(BatchError::Width { found: batch.num_columns(), wanted: schema.fields.len() }.into());
    }
    let dropped: Vec<usize> = partition_columns.iter().filter_map(|name| schema.index_of(name)).collect();
    let (mut fields, mut columns) = (Vec::new(), Vec::new());
    for (index, (field, column)) in schema.fields.iter().zip(batch.columns()).enumerate() {
        if dropped.contains(&index) {
            continue;
        }
        if let Some(wanted) = field.data_type.primitive()
            && !is_arrow_type(column.data_type(), wanted)
        {
            let (column, found) = (field.name.clone(), column.data_type().clone());
            return Err(BatchError::ColumnType { column, found, wanted }.into());
        }
        fields.push(field.clone());
        columns.push(Arc::clone(column));
    }
    let schema = Schema { fields };
    let batch = crate::batch::from_columns(arrow_schema(&schema)?, columns, batch.num_rows())?;
    Ok((schema, batch))
}

#[cfg(test)]
mod tests;
