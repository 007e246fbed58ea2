//! Parquet bytes to rows of the table.

use std::{collections::BTreeMap, sync::Arc};

use arrow::{
    array::{ArrayRef, RecordBatch, UInt32Array, new_null_array},
    compute::{concat_batches, take},
    datatypes::{DataType as ArrowType, Field as ArrowField, Schema as ArrowSchema, TimeUnit},
};
use parquet::{
    DecodeResult,
    arrow::{
        ProjectionMask,
        arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions},
        push_decoder::ParquetPushDecoderBuilder,
    },
    basic::Type as PhysicalType,
    file::metadata::{ParquetMetaData, ParquetMetaDataPushDecoder},
};

use super::{DataFileError, convert::convert};
use crate::{
    batch::{BatchError, arrow_schema, arrow_type, column, from_columns},
    guard::guarded,
    schema::{PrimitiveType, Schema},
    value::parse_partition_value,
};

/// The rows of a data file, with the columns of the table in order.
///
/// Columns are found by name; one that the file does not have is NULL. Columns of which `partition_values` speaks have that value, whatever the
/// file says. Where file and table disagree about a type, the file's values are brought to the table's type if that loses nothing:
/// narrower to wider numbers, timestamps of other units (also INT96), dates to timestamps without zone, and other ways to store text.
///
/// # Errors
/// When the bytes are not a Parquet file, or a column of it is not of the table's type.
pub fn decode(
    bytes: &[u8],
    schema: &Schema,
    partition_values: &BTreeMap<String, Option<String>>,
) -> Result<RecordBatch, DataFileError> {
    let wanted = arrow_schema(schema)?;
    let is_partition = |name: &str| partition_values.keys().any(|key| same_name(key, name));
    let stored: Vec<&str> =
        schema.fields.iter().map(|field| field.name.as_str()).filter(|name| !is_partition(name)).collect();
    let file = read_guarded(bytes, &stored)?;

    let rows = file.num_rows();
    let mut columns = Vec::with_capacity(schema.fields.len());
    for field in &schema.fields {
        let Some(data_type) = field.data_type.primitive() else {
            let (column, data_type) = (field.name.clone(), field.data_type.clone());
            return Err(BatchError::NestedType { column, data_type }.into());
        };
        let partition = partition_values.iter().find(|(key, _)| same_name(key, &field.name));
        columns.push(match partition {
            Some((_, text)) => constant(&field.name, text.as_deref(), data_type, rows)?,
            None => match find(&file, &field.name) {
                Some(array) => convert(&field.name, array, data_type)?,
                None => new_null_array(&arrow_type(data_type), rows),
            },
        });
    }
    Ok(from_columns(wanted, columns, rows)?)
}

fn same_name(a: &str, b: &str) -> bool {
    a == b || a.to_lowercase() == b.to_lowercase()
}

/// A column of the file: by its exact name, else by its name in another letter case.
fn find<'a>(file: &'a RecordBatch, name: &str) -> Option<&'a ArrayRef> {
    let schema = file.schema();
    let fields = schema.fields();
    let index = fields
        .iter()
        .position(|field| field.name() == name)
        .or_else(|| fields.iter().position(|field| same_name(field.name(), name)))?;
    Some(file.column(index))
}

/// A column with one value for all rows.
fn constant(name: &str, text: Option<&str>, data_type: PrimitiveType, rows: usize) -> Result<ArrayRef, DataFileError> {
    let value = parse_partition_value(text, data_type)
        .map_err(|source| DataFileError::Partition { column: name.to_owned(), source })?;
    let one = column(data_type, &[value])?;
    Ok(take(&one, &UInt32Array::from(vec![0; rows]), None)?)
}

/// Reads with a net below: the Parquet crate panics where damaged bytes send it outside of its buffers. The panic hook of the program still
/// hears of it.
fn read_guarded(bytes: &[u8], names: &[&str]) -> Result<RecordBatch, DataFileError> {
    guarded(|| read(bytes, names)).unwrap_or_else(|message| Err(DataFileError::Damaged { message }))
}

/// The named columns of a file as it has them, INT96 as microseconds.
///
/// The decoders that are pushed bytes take them as they are; the readers that pull want a source of their own.
fn read(bytes: &[u8], names: &[&str]) -> Result<RecordBatch, DataFileError> {
    let length = bytes.len() as u64;
    let metadata = metadata(bytes, length)?;
    let mut columns = ArrowReaderMetadata::try_new(Arc::clone(&metadata), options())?;
    if let Some(schema) = without_int96(&columns) {
        columns = ArrowReaderMetadata::try_new(metadata, options().with_schema(schema))?;
    }
    let roots = columns.parquet_schema().root_schema().get_fields().iter().enumerate();
    let mut roots: Vec<usize> = roots
        .filter(|(_, root)| names.iter().any(|name| same_name(name, root.name())))
        .map(|(index, _)| index)
        .collect();
    if roots.is_empty() {
        // Some column tells how many rows there are, more reliably than the footer does.
        roots.push(0);
    }
    let rows = columns.metadata().file_metadata().num_rows();
    if columns.schema().fields().is_empty() {
        return Err(DataFileError::Contradiction("it has no columns"));
    }
    let mask = ProjectionMask::roots(columns.parquet_schema(), roots);
    let mut decoder = ParquetPushDecoderBuilder::new_with_metadata(columns).with_projection(mask).build()?;
    decoder.push_range(0..length, bytes.to_vec().into())?;
    let mut batches = Vec::new();
    loop {
        match decoder.try_decode()? {
            DecodeResult::Data(batch) => batches.push(batch),
            DecodeResult::Finished => break,
            DecodeResult::NeedsData(_) => {
                return Err(DataFileError::Contradiction("a column lies outside of the file"));
            }
        }
    }
    let found: usize = batches.iter().map(RecordBatch::num_rows).sum();
    if i64::try_from(found) != Ok(rows) {
        return Err(DataFileError::Contradiction("the columns have another number of rows than the footer says"));
    }
    match batches.as_slice() {
        [] => Ok(RecordBatch::new_empty(Arc::new(ArrowSchema::empty()))),
        [batch] => Ok(batch.clone()),
        batches => Ok(concat_batches(&batches[0].schema(), batches)?),
    }
}

fn options() -> ArrowReaderOptions {
    // The Parquet schema is the contract between writers; what one of them noted about its Arrow types is not.
    ArrowReaderOptions::new().with_skip_arrow_metadata(true)
}

fn metadata(bytes: &[u8], length: u64) -> Result<Arc<ParquetMetaData>, DataFileError> {
    let mut decoder = ParquetMetaDataPushDecoder::try_new(length)?;
    decoder.push_range(0..length, bytes.to_vec().into())?;
    match decoder.try_decode()? {
        DecodeResult::Data(metadata) => Ok(Arc::new(metadata)),
        _ => Err(DataFileError::Contradiction("the footer lies outside of the file")),
    }
}

/// The file's schema with INT96 as microseconds: as nanoseconds, which Arrow reads otherwise, years before 1677 and after 2262 do not fit.
/// `None` when there is no such column at the top.
fn without_int96(columns: &ArrowReaderMetadata) -> Option<Arc<ArrowSchema>> {
    let roots = columns.parquet_schema().root_schema().get_fields();
    let is_int96 = |index: usize| {
        roots.get(index).is_some_and(|root| root.is_primitive() && root.get_physical_type() == PhysicalType::INT96)
    };
    let schema = columns.schema();
    if !(0..schema.fields().len()).any(is_int96) {
        return None;
    }
    let micros = ArrowType::Timestamp(TimeUnit::Microsecond, None);
    let field = |(index, field): (usize, &Arc<ArrowField>)| {
        if is_int96(index) {
            Arc::new(field.as_ref().clone().with_data_type(micros.clone()))
        } else {
            Arc::clone(field)
        }
    };
    let fields: Vec<_> = schema.fields().iter().enumerate().map(field).collect();
    Some(Arc::new(ArrowSchema::new_with_metadata(fields, schema.metadata().clone())))
}
