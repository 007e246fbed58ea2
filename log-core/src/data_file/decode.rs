//! Parquet bytes to rows of the table.

use std::{panic::AssertUnwindSafe, sync::Arc};

use arrow::{
    array::{ArrayRef, BooleanArray, RecordBatch, UInt32Array, new_null_array},
    compute::{concat_batches, filter_record_batch, take},
    datatypes::{DataType as ArrowType, Field as ArrowField, Fields, Schema as ArrowSchema, SchemaRef, TimeUnit},
};
use bytes::Bytes;
use parquet::{
    DecodeResult,
    arrow::{
        ProjectionMask,
        arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions},
        push_decoder::{ParquetPushDecoder, ParquetPushDecoderBuilder},
    },
    basic::Type as PhysicalType,
    file::metadata::{ParquetMetaData, ParquetMetaDataPushDecoder},
    schema::types::SchemaDescriptor,
};

use super::{
    DataFileError,
    convert::{Converter, find, has_ids},
};
use crate::{
    action::PartitionValues,
    batch::{arrow_schema, arrow_type_of, column, from_columns},
    deletion_vector::DeletedRows,
    guard,
    layout::{ColumnMapping, Layout},
    schema::DataType,
    value::{Value, parse_partition_value},
};

/// So many rows are decoded at a time.
const BATCH_ROWS: usize = 8_192;

/// The rows of a data file, with the columns of the layout in order, a batch at a time.
///
/// Columns are found as the table's column mapping says; one that the file does not have is NULL, and so is a field of a struct. Partition columns
/// have the value of the log, whatever the file says. Where file and table disagree about a type, the file's values are brought to the table's type
/// if that loses nothing: narrower to wider numbers, timestamps of other units (also INT96), dates to timestamps without zone, and other ways to
/// store text. Rows in `deleted`, counted from 0 in the file, are left out.
///
/// # Errors
/// When the bytes are not a Parquet file, or a column of it is not of the table's type; the rows that come before may be given first.
pub fn open<'a>(
    bytes: Bytes,
    layout: &'a Layout,
    partition_values: &PartitionValues,
    deleted: Option<DeletedRows>,
) -> Result<Rows<'a>, DataFileError> {
    guarded(|| Rows::open(bytes, layout, partition_values, deleted))
}

/// The rows of a data file at once, see [`open`].
///
/// # Errors
/// As for [`open`].
pub fn decode(
    bytes: Bytes,
    layout: &Layout,
    partition_values: &PartitionValues,
    deleted: Option<DeletedRows>,
) -> Result<RecordBatch, DataFileError> {
    let rows = open(bytes, layout, partition_values, deleted)?;
    let schema = rows.schema.clone();
    let mut batches = rows.collect::<Result<Vec<_>, _>>()?;
    match batches.len() {
        0 => Ok(RecordBatch::new_empty(schema)),
        1 => Ok(batches.swap_remove(0)),
        _ if schema.fields().is_empty() => {
            let rows = batches.iter().map(RecordBatch::num_rows).sum();
            Ok(from_columns(schema, Vec::new(), rows)?)
        }
        _ => Ok(concat_batches(&schema, &batches)?),
    }
}

/// Where the values of a column come from.
enum Source {
    /// The n-th column that is read.
    Stored(usize),
    /// The same for all rows: an array of one.
    Constant(ArrayRef),
}

/// The batches of a data file.
pub struct Rows<'a> {
    layout: &'a Layout,
    schema: SchemaRef,
    sources: Vec<Source>,
    deleted: Option<DeletedRows>,
    /// `None` when there is nothing more to come.
    decoder: Option<ParquetPushDecoder>,
    /// Rows that the footer says.
    promised: i64,
    /// Rows that were read.
    read: u64,
}

impl<'a> Rows<'a> {
    fn open(
        bytes: Bytes,
        layout: &'a Layout,
        partition_values: &PartitionValues,
        deleted: Option<DeletedRows>,
    ) -> Result<Self, DataFileError> {
        let length = bytes.len() as u64;
        let metadata = metadata(bytes.clone(), length)?;
        let mut columns = ArrowReaderMetadata::try_new(Arc::clone(&metadata), options())?;
        if let Some(schema) = without_int96(&columns) {
            columns = ArrowReaderMetadata::try_new(metadata, options().with_schema(schema))?;
        }
        let fields = columns.schema().fields();
        if fields.is_empty() {
            return Err(DataFileError::Contradiction("it has no columns"));
        }
        let mut roots = Vec::new();
        let mut sources = Vec::with_capacity(layout.schema.fields.len());
        for (index, (field, stored)) in layout.schema.fields.iter().zip(&layout.physical.fields).enumerate() {
            if let Some(text) = layout.partition_text(partition_values, index) {
                sources.push(Source::Constant(constant(&field.name, text, &field.data_type)?));
                continue;
            }
            if layout.mapping == ColumnMapping::Id && !has_ids(fields) {
                return Err(DataFileError::NoIds);
            }
            sources.push(match find(fields, stored, layout.mapping) {
                Some(root) => {
                    roots.push(root);
                    Source::Stored(root)
                }
                None => Source::Constant(new_null_array(&arrow_type_of(&field.data_type), 1)),
            });
        }
        if roots.is_empty() {
            // Some column tells how many rows there are, more reliably than the footer does.
            roots.push(0);
        }
        // What is read has the columns in the order of the file.
        roots.sort_unstable();
        roots.dedup();
        for source in &mut sources {
            if let Source::Stored(root) = source {
                *root = roots.partition_point(|other| *other < *root);
            }
        }
        let promised = columns.metadata().file_metadata().num_rows();
        let mask = ProjectionMask::roots(columns.parquet_schema(), roots);
        let mut decoder = ParquetPushDecoderBuilder::new_with_metadata(columns)
            .with_projection(mask)
            .with_batch_size(BATCH_ROWS)
            .build()?;
        decoder.push_range(0..length, bytes)?;
        let schema = arrow_schema(&layout.schema);
        Ok(Self { layout, schema, sources, deleted, decoder: Some(decoder), promised, read: 0 })
    }

    fn advance(&mut self) -> Result<Option<RecordBatch>, DataFileError> {
        let Some(decoder) = &mut self.decoder else { return Ok(None) };
        match decoder.try_decode()? {
            DecodeResult::Data(batch) => self.convert(&batch).map(Some),
            DecodeResult::Finished if i64::try_from(self.read) == Ok(self.promised) => Ok(None),
            DecodeResult::Finished => {
                Err(DataFileError::Contradiction("the columns have another number of rows than the footer says"))
            }
            DecodeResult::NeedsData(_) => Err(DataFileError::Contradiction("a column lies outside of the file")),
        }
    }

    /// A batch of the file as a batch of the table.
    fn convert(&mut self, file: &RecordBatch) -> Result<RecordBatch, DataFileError> {
        let rows = file.num_rows();
        let first = self.read;
        self.read += rows as u64;
        let converter = Converter { mapping: self.layout.mapping, first_row: first };
        let fields = self.layout.schema.fields.iter().zip(&self.layout.physical.fields);
        let mut columns = Vec::with_capacity(self.sources.len());
        for (source, (field, stored)) in self.sources.iter().zip(fields) {
            columns.push(match source {
                Source::Stored(index) => {
                    converter.convert(&field.name, file.column(*index), &field.data_type, &stored.data_type)?
                }
                Source::Constant(one) => take(one, &UInt32Array::from(vec![0; rows]), None)?,
            });
        }
        let batch = from_columns(self.schema.clone(), columns, rows)?;
        let Some(deleted) = self.deleted.as_ref().filter(|deleted| deleted.any_in(first..self.read)) else {
            return Ok(batch);
        };
        let kept: BooleanArray = (first..self.read).map(|row| Some(!deleted.contains(row))).collect();
        Ok(filter_record_batch(&batch, &kept)?)
    }
}

impl Iterator for Rows<'_> {
    type Item = Result<RecordBatch, DataFileError>;

    /// The next batch. After an error there is none.
    fn next(&mut self) -> Option<Self::Item> {
        let result = guarded(|| self.advance());
        if !matches!(result, Ok(Some(_))) {
            self.decoder = None;
        }
        result.transpose()
    }
}

/// Reads with a net below. A decoder that has broken down is not asked again.
fn guarded<T>(read: impl FnOnce() -> Result<T, DataFileError>) -> Result<T, DataFileError> {
    guard::guarded(AssertUnwindSafe(read)).unwrap_or_else(|message| Err(DataFileError::Damaged { message }))
}

/// A column with one value for all rows, as an array of one.
fn constant(name: &str, text: Option<&str>, data_type: &DataType) -> Result<ArrayRef, DataFileError> {
    let Some(primitive) = data_type.primitive() else {
        return Err(DataFileError::PartitionType { column: name.to_owned(), data_type: data_type.clone() });
    };
    let value: Value = parse_partition_value(text, primitive)
        .map_err(|source| DataFileError::Partition { column: name.to_owned(), source })?;
    Ok(column(primitive, &[value])?)
}

fn options() -> ArrowReaderOptions {
    // The Parquet schema is the contract between writers; what one of them noted about its Arrow types is not.
    ArrowReaderOptions::new().with_skip_arrow_metadata(true)
}

fn metadata(bytes: Bytes, length: u64) -> Result<Arc<ParquetMetaData>, DataFileError> {
    let mut decoder = ParquetMetaDataPushDecoder::try_new(length)?;
    decoder.push_range(0..length, bytes)?;
    match decoder.try_decode()? {
        DecodeResult::Data(metadata) => Ok(Arc::new(metadata)),
        _ => Err(DataFileError::Contradiction("the footer lies outside of the file")),
    }
}

/// The file's schema with INT96 as microseconds: as nanoseconds, which Arrow reads otherwise, years before 1677 and after 2262 do not fit.
/// `None` when there is no such column.
fn without_int96(columns: &ArrowReaderMetadata) -> Option<SchemaRef> {
    let parquet = columns.parquet_schema();
    if !parquet.columns().iter().any(|column| column.physical_type() == PhysicalType::INT96) {
        return None;
    }
    let schema = columns.schema();
    let fields = fields_in_micros(schema.fields(), parquet, &mut 0);
    Some(Arc::new(ArrowSchema::new_with_metadata(fields, schema.metadata().clone())))
}

/// Walks the leaves of both schemas in step: they are the same, in the same order.
fn in_micros(data_type: &ArrowType, parquet: &SchemaDescriptor, leaf: &mut usize) -> ArrowType {
    let mut of =
        |field: &Arc<ArrowField>| fields_in_micros(&Fields::from(vec![field.clone()]), parquet, leaf)[0].clone();
    match data_type {
        ArrowType::List(element) => ArrowType::List(of(element)),
        ArrowType::Map(entries, sorted) => ArrowType::Map(of(entries), *sorted),
        ArrowType::Struct(fields) => ArrowType::Struct(fields_in_micros(fields, parquet, leaf)),
        other => {
            let column = parquet.columns().get(*leaf);
            *leaf += 1;
            match column.map(|column| column.physical_type()) {
                Some(PhysicalType::INT96) => ArrowType::Timestamp(TimeUnit::Microsecond, None),
                _ => other.clone(),
            }
        }
    }
}

fn fields_in_micros(fields: &Fields, parquet: &SchemaDescriptor, leaf: &mut usize) -> Fields {
    let field = |field: &Arc<ArrowField>| {
        let data_type = in_micros(field.data_type(), parquet, leaf);
        field.as_ref().clone().with_data_type(data_type)
    };
    fields.iter().map(field).collect()
}
