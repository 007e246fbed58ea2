//! Rows as Arrow batches: the Arrow type of each type, and values in and out.
//!
//! Every Arrow field is nullable, also that of a NOT NULL column: NOT NULL is a rule for those who write, and a file that an older writer left
//! behind must stay readable.

pub(crate) mod nested;

use std::sync::{Arc, LazyLock};

use arrow::{
    array::{
        Array, ArrayRef, AsArray, BinaryBuilder, BooleanBuilder, PrimitiveBuilder, RecordBatch, RecordBatchOptions,
        StringBuilder,
    },
    datatypes::{
        ArrowPrimitiveType, DataType as ArrowType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type,
        Int16Type, Int32Type, Int64Type, Schema as ArrowSchema, SchemaRef, TimeUnit, TimestampMicrosecondType,
    },
    error::ArrowError,
};

pub use nested::{arrow_fields, arrow_type_of, is_arrow_type_of, nested_value_at};

use crate::{
    schema::{DataType, PrimitiveType, Schema},
    value::Value,
};

/// Why rows and batches cannot be turned into each other.
#[derive(Debug, thiserror::Error)]
pub enum BatchError {
    /// An Arrow column of another type than the schema says.
    #[error("column '{column}' of the batch is {found}, the schema says {wanted}")]
    ColumnType {
        /// The column.
        column: String,
        /// The type in the batch.
        found: ArrowType,
        /// The type in the schema.
        wanted: DataType,
    },
    /// A batch or a row with another number of columns than the schema.
    #[error("{found} columns where the schema has {wanted}")]
    Width {
        /// Columns of the batch or row.
        found: usize,
        /// Columns of the schema.
        wanted: usize,
    },
    /// A value that is not of its column's type.
    #[error("value {value:?} where a {wanted} belongs")]
    ValueType {
        /// The value.
        value: Value,
        /// The type of the column.
        wanted: DataType,
    },
    /// Arrow refused.
    #[error("arrow could not build a batch")]
    Arrow(#[from] ArrowError),
}

static UTC: LazyLock<Arc<str>> = LazyLock::new(|| Arc::from("UTC"));

/// The Arrow type that holds a primitive type.
pub fn arrow_type(data_type: PrimitiveType) -> ArrowType {
    match data_type {
        PrimitiveType::Boolean => ArrowType::Boolean,
        PrimitiveType::Byte => ArrowType::Int8,
        PrimitiveType::Short => ArrowType::Int16,
        PrimitiveType::Integer => ArrowType::Int32,
        PrimitiveType::Long => ArrowType::Int64,
        PrimitiveType::Float => ArrowType::Float32,
        PrimitiveType::Double => ArrowType::Float64,
        PrimitiveType::Decimal { precision, scale } => ArrowType::Decimal128(precision, scale as i8),
        PrimitiveType::String => ArrowType::Utf8,
        PrimitiveType::Binary => ArrowType::Binary,
        PrimitiveType::Date => ArrowType::Date32,
        PrimitiveType::Timestamp => ArrowType::Timestamp(TimeUnit::Microsecond, Some(UTC.clone())),
        PrimitiveType::TimestampNtz => ArrowType::Timestamp(TimeUnit::Microsecond, None),
    }
}

/// Is an Arrow type the one of [`arrow_type`]? Unlike a comparison with it, this builds nothing.
pub fn is_arrow_type(found: &ArrowType, wanted: PrimitiveType) -> bool {
    match (found, wanted) {
        (ArrowType::Boolean, PrimitiveType::Boolean)
        | (ArrowType::Int8, PrimitiveType::Byte)
        | (ArrowType::Int16, PrimitiveType::Short)
        | (ArrowType::Int32, PrimitiveType::Integer)
        | (ArrowType::Int64, PrimitiveType::Long)
        | (ArrowType::Float32, PrimitiveType::Float)
        | (ArrowType::Float64, PrimitiveType::Double)
        | (ArrowType::Utf8, PrimitiveType::String)
        | (ArrowType::Binary, PrimitiveType::Binary)
        | (ArrowType::Date32, PrimitiveType::Date)
        | (ArrowType::Timestamp(TimeUnit::Microsecond, None), PrimitiveType::TimestampNtz) => true,
        (ArrowType::Timestamp(TimeUnit::Microsecond, Some(zone)), PrimitiveType::Timestamp) => **zone == *"UTC",
        (ArrowType::Decimal128(p, s), PrimitiveType::Decimal { precision, scale }) => {
            *p == precision && i16::from(*s) == i16::from(scale)
        }
        _ => false,
    }
}

/// The Arrow schema of a table's rows.
pub fn arrow_schema(schema: &Schema) -> SchemaRef {
    Arc::new(ArrowSchema::new(arrow_fields(schema)))
}

/// A batch of columns; without columns it still has its number of rows.
///
/// # Errors
/// When the columns do not fit the schema.
pub fn from_columns(schema: SchemaRef, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch, ArrowError> {
    RecordBatch::try_new_with_options(schema, columns, &RecordBatchOptions::new().with_row_count(Some(rows)))
}

/// The rows of a batch as values.
///
/// # Errors
/// When the batch is not of the schema.
pub fn rows(batch: &RecordBatch, schema: &Schema) -> Result<Vec<Vec<Value>>, BatchError> {
    if batch.num_columns() != schema.fields.len() {
        return Err(BatchError::Width { found: batch.num_columns(), wanted: schema.fields.len() });
    }
    let mut rows = vec![Vec::with_capacity(schema.fields.len()); batch.num_rows()];
    for (array, field) in batch.columns().iter().zip(&schema.fields) {
        if let DataType::Primitive(data_type) = field.data_type
            && let Some(values) = values(array, data_type)
        {
            for (row, value) in rows.iter_mut().zip(values) {
                row.push(value);
            }
            continue;
        }
        if !is_arrow_type_of(array.data_type(), &field.data_type) {
            let (column, found) = (field.name.clone(), array.data_type().clone());
            return Err(BatchError::ColumnType { column, found, wanted: field.data_type.clone() });
        }
        for (index, row) in rows.iter_mut().enumerate() {
            row.push(nested_value_at(array, &field.data_type, index));
        }
    }
    Ok(rows)
}

/// Rows of values as a batch.
///
/// # Errors
/// When a row is not of the schema.
pub fn batch(schema: &Schema, rows: &[Vec<Value>]) -> Result<RecordBatch, BatchError> {
    if let Some(row) = rows.iter().find(|row| row.len() != schema.fields.len()) {
        return Err(BatchError::Width { found: row.len(), wanted: schema.fields.len() });
    }
    let mut columns = Vec::with_capacity(schema.fields.len());
    for (index, field) in schema.fields.iter().enumerate() {
        columns.push(match &field.data_type {
            DataType::Primitive(data_type) => build(*data_type, rows.len(), rows.iter().map(|row| &row[index]))?,
            data_type => nested::build(data_type, &rows.iter().map(|row| &row[index]).collect::<Vec<_>>())?,
        });
    }
    Ok(from_columns(arrow_schema(schema), columns, rows.len())?)
}

/// Values of one type as an Arrow column.
///
/// # Errors
/// When a value is of another type.
pub fn column(data_type: PrimitiveType, values: &[Value]) -> Result<ArrayRef, BatchError> {
    build(data_type, values.len(), values.iter())
}

fn build<'a>(
    data_type: PrimitiveType,
    length: usize,
    values: impl Iterator<Item = &'a Value>,
) -> Result<ArrayRef, BatchError> {
    let wrong = |value: &Value| BatchError::ValueType { value: value.clone(), wanted: data_type.into() };
    macro_rules! primitive {
        ($arrow:ty, $($variant:ident)|+) => {{
            let mut builder = PrimitiveBuilder::<$arrow>::with_capacity(length).with_data_type(arrow_type(data_type));
            for value in values {
                match value {
                    Value::Null => builder.append_null(),
                    $(Value::$variant(x) => builder.append_value(*x),)+
                    other => return Err(wrong(other)),
                }
            }
            Arc::new(builder.finish())
        }};
    }
    macro_rules! other {
        ($builder:expr, $variant:ident) => {{
            let mut builder = $builder;
            for value in values {
                match value {
                    Value::Null => builder.append_null(),
                    Value::$variant(x) => builder.append_value(x.to_owned()),
                    other => return Err(wrong(other)),
                }
            }
            Arc::new(builder.finish())
        }};
    }
    Ok(match data_type {
        PrimitiveType::Boolean => other!(BooleanBuilder::with_capacity(length), Boolean),
        PrimitiveType::Byte => primitive!(Int8Type, Byte),
        PrimitiveType::Short => primitive!(Int16Type, Short),
        PrimitiveType::Integer => primitive!(Int32Type, Integer),
        PrimitiveType::Long => primitive!(Int64Type, Long),
        PrimitiveType::Float => primitive!(Float32Type, Float),
        PrimitiveType::Double => primitive!(Float64Type, Double),
        PrimitiveType::Decimal { precision, scale } => {
            let mut builder =
                PrimitiveBuilder::<Decimal128Type>::with_capacity(length).with_data_type(arrow_type(data_type));
            for value in values {
                match value {
                    Value::Null => builder.append_null(),
                    // A value of fewer digits fits too.
                    Value::Decimal { unscaled, precision: p, scale: s } if *s == scale && *p <= precision => {
                        builder.append_value(*unscaled);
                    }
                    other => return Err(wrong(other)),
                }
            }
            Arc::new(builder.finish())
        }
        PrimitiveType::String => other!(StringBuilder::new(), String),
        PrimitiveType::Binary => other!(BinaryBuilder::new(), Binary),
        PrimitiveType::Date => primitive!(Date32Type, Date),
        PrimitiveType::Timestamp => primitive!(TimestampMicrosecondType, Timestamp),
        PrimitiveType::TimestampNtz => primitive!(TimestampMicrosecondType, TimestampNtz),
    })
}

/// The value of a column at a row.
///
/// # Panics
/// When the column is not of [`arrow_type`] or the row is beyond its end.
pub fn value_at(array: &ArrayRef, data_type: PrimitiveType, row: usize) -> Value {
    assert!(is_arrow_type(array.data_type(), data_type), "a column of {} read as {data_type}", array.data_type());
    if array.is_null(row) {
        return Value::Null;
    }
    fn get<T: ArrowPrimitiveType>(array: &ArrayRef, row: usize) -> T::Native {
        array.as_primitive::<T>().value(row)
    }
    match data_type {
        PrimitiveType::Boolean => Value::Boolean(array.as_boolean().value(row)),
        PrimitiveType::Byte => Value::Byte(get::<Int8Type>(array, row)),
        PrimitiveType::Short => Value::Short(get::<Int16Type>(array, row)),
        PrimitiveType::Integer => Value::Integer(get::<Int32Type>(array, row)),
        PrimitiveType::Long => Value::Long(get::<Int64Type>(array, row)),
        PrimitiveType::Float => Value::Float(get::<Float32Type>(array, row)),
        PrimitiveType::Double => Value::Double(get::<Float64Type>(array, row)),
        PrimitiveType::Decimal { precision, scale } => {
            Value::Decimal { unscaled: get::<Decimal128Type>(array, row), precision, scale }
        }
        PrimitiveType::String => Value::String(array.as_string::<i32>().value(row).to_owned()),
        PrimitiveType::Binary => Value::Binary(array.as_binary::<i32>().value(row).to_owned()),
        PrimitiveType::Date => Value::Date(get::<Date32Type>(array, row)),
        PrimitiveType::Timestamp => Value::Timestamp(get::<TimestampMicrosecondType>(array, row)),
        PrimitiveType::TimestampNtz => Value::TimestampNtz(get::<TimestampMicrosecondType>(array, row)),
    }
}

/// All values of a column in order, `None` when it is not of [`arrow_type`].
pub fn values(array: &ArrayRef, data_type: PrimitiveType) -> Option<impl Iterator<Item = Value>> {
    is_arrow_type(array.data_type(), data_type)
        .then(|| (0..array.len()).map(move |row| value_at(array, data_type, row)))
}

#[cfg(test)]
mod tests;
