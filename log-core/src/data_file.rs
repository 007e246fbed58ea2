//! Data files: rows as Parquet bytes, and back. Bytes in, values out; who reads and writes files is the caller.
//!
//! A file holds the columns that are not partition columns; those have their values in the log, for all rows of the file.

mod convert;
mod decode;

use std::{io::Write, sync::Arc};

use arrow::{
    array::RecordBatch,
    datatypes::{DataType as ArrowType, Schema as ArrowSchema, SchemaRef},
    error::ArrowError,
};
use parquet::{
    arrow::{ArrowWriter, arrow_writer::ArrowWriterOptions},
    basic::Compression,
    errors::ParquetError,
    file::properties::WriterProperties,
};

pub use decode::{Rows, decode, open};

use crate::{
    batch::{BatchError, arrow_schema, is_arrow_type_of},
    layout::{ColumnMapping, Layout},
    schema::{DataType, PrimitiveType, Schema},
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
        /// The column, with the columns that it is in.
        column: String,
        /// The type in the file.
        found: ArrowType,
        /// The type in the table.
        wanted: DataType,
    },
    /// A file without ids in a table whose columns are found by id. The protocol has readers refuse it, or read NULL everywhere.
    #[error("the schema of the Parquet file has no field ids, and the table's columns are found by id")]
    NoIds,
    /// A variant of which parts are stored apart.
    #[error("column '{column}' is a shredded variant, which this build of contend does not read")]
    ShreddedVariant {
        /// The column.
        column: String,
    },
    /// A list or a map of nothing.
    #[error("column '{column}' is void, which a data file cannot hold inside of a list or a map")]
    Void {
        /// The column, with the columns that it is in.
        column: String,
    },
    /// A partition column of a type that has no text.
    #[error("partition column '{column}' is {data_type}, and partition values are of primitive types")]
    PartitionType {
        /// The column.
        column: String,
        /// Its type.
        data_type: DataType,
    },
    /// A value of the file that the table's type cannot hold.
    #[error("column '{column}', row {row}: the value does not fit {wanted}")]
    Value {
        /// The column.
        column: String,
        /// The row in the file, from 0; inside of lists and maps the number of the element since the batch began.
        row: u64,
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
/// `timestamp` marked as adjusted to UTC. Under column mapping columns have their physical names and ids, in the file and in the statistics. The
/// same rows give the same bytes.
///
/// # Errors
/// When the batch is not of the schema, or has no column but partition columns.
pub fn encode(layout: &Layout, batch: &RecordBatch) -> Result<Encoded, DataFileError> {
    let statistics = Statistics::collect(&layout.physical, &layout.partition_names(), batch)?.to_json();
    let batch = stored(layout, batch)?;
    let mut writer = writer(Vec::new(), batch.schema())?;
    writer.write(&batch)?;
    let bytes = writer.into_inner()?;
    Ok(Encoded { bytes, statistics })
}

fn writer<W: Write + Send>(to: W, schema: SchemaRef) -> Result<ArrowWriter<W>, ParquetError> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("contend ", env!("CARGO_PKG_VERSION")).to_owned())
        .build();
    // The Arrow schema would only repeat what the Parquet schema says, in every file.
    let options = ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
    ArrowWriter::try_new_with_options(to, schema, options)
}

/// Rows of any number as one Parquet file that stands alone: all columns by their logical names, but those that are void.
pub struct Export<W: Write + Send> {
    layout: Layout,
    writer: ArrowWriter<W>,
}

impl<W: Write + Send> Export<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// When no column is left, or a list or a map is void.
    pub fn new(to: W, schema: &Schema) -> Result<Self, DataFileError> {
        let layout = Layout::new(Arc::new(schema.clone()), &[], ColumnMapping::None).expect("nothing can be missing");
        let empty = stored(&layout, &RecordBatch::new_empty(arrow_schema(schema)))?;
        let writer = writer(to, empty.schema())?;
        Ok(Self { layout, writer })
    }

    /// Adds rows.
    ///
    /// # Errors
    /// When they are not of the schema, or cannot be written.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), DataFileError> {
        Ok(self.writer.write(&stored(&self.layout, batch)?)?)
    }

    /// Ends the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(self) -> Result<W, DataFileError> {
        Ok(self.writer.into_inner()?)
    }
}

/// What the file holds of the rows: no partition columns, and the names of files.
fn stored(layout: &Layout, batch: &RecordBatch) -> Result<RecordBatch, DataFileError> {
    let (mut wanted, mut stored_as, mut columns) = (Schema::default(), Schema::default(), Vec::new());
    let fields = layout.schema.fields.iter().zip(&layout.physical.fields);
    for (index, ((field, physical), column)) in fields.zip(batch.columns()).enumerate() {
        if layout.is_partition(index) {
            continue;
        }
        if !is_arrow_type_of(column.data_type(), &field.data_type) {
            let (column, found) = (field.name.clone(), column.data_type().clone());
            return Err(BatchError::ColumnType { column, found, wanted: field.data_type.clone() }.into());
        }
        wanted.fields.push(field.clone());
        stored_as.fields.push(physical.clone());
        columns.push(Arc::clone(column));
    }
    let (fields, columns) = convert::stored_columns("", &columns, &wanted, &stored_as, layout.mapping)?;
    if fields.is_empty() {
        return Err(DataFileError::NoColumns);
    }
    Ok(crate::batch::from_columns(Arc::new(ArrowSchema::new(fields)), columns, batch.num_rows())?)
}

#[cfg(test)]
mod tests;
