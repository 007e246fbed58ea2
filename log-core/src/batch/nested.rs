//! Columns whose values have parts: structs, lists, maps and variants.

use std::sync::Arc;

use arrow::{
    array::{Array, ArrayRef, AsArray, BinaryBuilder, ListArray, MapArray, NullArray, StructArray},
    buffer::{NullBuffer, OffsetBuffer},
    datatypes::{DataType as ArrowType, Field as ArrowField, Fields},
    error::ArrowError,
};

use super::{BatchError, arrow_type, is_arrow_type, value_at};
use crate::{
    schema::{DataType, Schema},
    value::{Value, Variant},
};

static NULL: Value = Value::Null;

/// The Arrow type that holds a type. Lists and maps are named as Parquet wants them; a variant is a struct of two binary fields.
pub fn arrow_type_of(data_type: &DataType) -> ArrowType {
    match data_type {
        DataType::Primitive(primitive) => arrow_type(*primitive),
        DataType::Struct(schema) => ArrowType::Struct(arrow_fields(schema)),
        DataType::Array { element, .. } => ArrowType::List(element_field(arrow_type_of(element))),
        DataType::Map { key, value, .. } => {
            ArrowType::Map(entries_field(arrow_type_of(key), arrow_type_of(value)), false)
        }
        DataType::Variant => ArrowType::Struct(variant_fields()),
        DataType::Void => ArrowType::Null,
    }
}

/// The Arrow fields of a schema.
pub fn arrow_fields(schema: &Schema) -> Fields {
    schema.fields.iter().map(|field| ArrowField::new(&field.name, arrow_type_of(&field.data_type), true)).collect()
}

fn element_field(element: ArrowType) -> Arc<ArrowField> {
    Arc::new(ArrowField::new("element", element, true))
}

fn entries_field(key: ArrowType, value: ArrowType) -> Arc<ArrowField> {
    let fields = [ArrowField::new("key", key, false), ArrowField::new("value", value, true)];
    Arc::new(ArrowField::new("key_value", ArrowType::Struct(fields.into_iter().collect()), false))
}

fn variant_fields() -> Fields {
    ["metadata", "value"].into_iter().map(|name| ArrowField::new(name, ArrowType::Binary, true)).collect()
}

/// Is an Arrow type the one of [`arrow_type_of`]?
pub fn is_arrow_type_of(found: &ArrowType, wanted: &DataType) -> bool {
    match wanted {
        DataType::Primitive(wanted) => is_arrow_type(found, *wanted),
        wanted => *found == arrow_type_of(wanted),
    }
}

/// The value of a column at a row.
///
/// # Panics
/// When the column is not of [`arrow_type_of`] or the row is beyond its end.
pub fn nested_value_at(array: &ArrayRef, data_type: &DataType, row: usize) -> Value {
    if let DataType::Primitive(primitive) = data_type {
        return value_at(array, *primitive, row);
    }
    if array.is_null(row) || *data_type == DataType::Void {
        return Value::Null;
    }
    match data_type {
        DataType::Struct(schema) => {
            let columns = array.as_struct().columns().iter().zip(&schema.fields);
            Value::Struct(columns.map(|(column, field)| nested_value_at(column, &field.data_type, row)).collect())
        }
        DataType::Array { element, .. } => {
            let list = array.as_list::<i32>();
            Value::Array(range(list.offsets(), row).map(|at| nested_value_at(list.values(), element, at)).collect())
        }
        DataType::Map { key, value, .. } => {
            let map = array.as_map();
            let entry = |at| (nested_value_at(map.keys(), key, at), nested_value_at(map.values(), value, at));
            Value::Map(range(map.offsets(), row).map(entry).collect())
        }
        DataType::Variant => {
            let part = |index| array.as_struct().column(index).as_binary::<i32>().value(row).to_vec();
            Value::Variant(Arc::new(Variant { metadata: part(0), value: part(1) }))
        }
        DataType::Primitive(_) | DataType::Void => unreachable!("handled above"),
    }
}

fn range(offsets: &OffsetBuffer<i32>, row: usize) -> std::ops::Range<usize> {
    // Offsets of an array that was built ascend from zero.
    offsets[row] as usize..offsets[row + 1] as usize
}

/// Values as a column.
///
/// # Errors
/// When a value is of another type.
pub(super) fn build(data_type: &DataType, values: &[&Value]) -> Result<ArrayRef, BatchError> {
    let wrong = |value: &Value| BatchError::ValueType { value: value.clone(), wanted: data_type.clone() };
    let nulls = || Some(NullBuffer::from_iter(values.iter().map(|value| !value.is_null())));
    Ok(match data_type {
        DataType::Primitive(primitive) => super::build(*primitive, values.len(), values.iter().copied())?,
        DataType::Struct(schema) => {
            for value in values {
                match value {
                    Value::Null => {}
                    Value::Struct(fields) if fields.len() == schema.fields.len() => {}
                    other => return Err(wrong(other)),
                }
            }
            let mut columns = Vec::with_capacity(schema.fields.len());
            for (index, field) in schema.fields.iter().enumerate() {
                let part = |value: &&'_ Value| match value {
                    Value::Struct(fields) => fields[index].clone(),
                    _ => Value::Null,
                };
                let parts: Vec<Value> = values.iter().map(part).collect();
                columns.push(build(&field.data_type, &parts.iter().collect::<Vec<_>>())?);
            }
            // Without fields it still has its length.
            Arc::new(StructArray::try_new_with_length(arrow_fields(schema), columns, nulls(), values.len())?)
        }
        DataType::Array { element, .. } => {
            let (mut offsets, mut elements) = (vec![0], Vec::new());
            for value in values {
                match value {
                    Value::Null => {}
                    Value::Array(parts) => elements.extend(parts.iter()),
                    other => return Err(wrong(other)),
                }
                offsets.push(offset(elements.len())?);
            }
            let column = build(element, &elements)?;
            let field = element_field(column.data_type().clone());
            Arc::new(ListArray::try_new(field, OffsetBuffer::new(offsets.into()), column, nulls())?)
        }
        DataType::Map { key, value: value_type, .. } => {
            let (mut offsets, mut keys, mut parts) = (vec![0], Vec::new(), Vec::new());
            for value in values {
                match value {
                    Value::Null => {}
                    Value::Map(entries) => {
                        keys.extend(entries.iter().map(|(key, _)| key));
                        parts.extend(entries.iter().map(|(_, value)| value));
                    }
                    other => return Err(wrong(other)),
                }
                offsets.push(offset(keys.len())?);
            }
            map(build(key, &keys)?, build(value_type, &parts)?, OffsetBuffer::new(offsets.into()), nulls())?
        }
        DataType::Variant => {
            let (mut metadata, mut content) = (BinaryBuilder::new(), BinaryBuilder::new());
            for value in values {
                match value {
                    Value::Null => {
                        metadata.append_null();
                        content.append_null();
                    }
                    Value::Variant(variant) => {
                        metadata.append_value(&variant.metadata);
                        content.append_value(&variant.value);
                    }
                    other => return Err(wrong(other)),
                }
            }
            let columns: Vec<ArrayRef> = vec![Arc::new(metadata.finish()), Arc::new(content.finish())];
            Arc::new(StructArray::try_new(variant_fields(), columns, nulls())?)
        }
        DataType::Void => match values.iter().find(|value| **value != &NULL) {
            Some(value) => return Err(wrong(value)),
            None => Arc::new(NullArray::new(values.len())),
        },
    })
}

fn offset(length: usize) -> Result<i32, ArrowError> {
    i32::try_from(length).map_err(|_| ArrowError::OffsetOverflowError(length))
}

/// A column of maps from its parts.
pub(crate) fn map(
    keys: ArrayRef,
    values: ArrayRef,
    offsets: OffsetBuffer<i32>,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, ArrowError> {
    let field = entries_field(keys.data_type().clone(), values.data_type().clone());
    let ArrowType::Struct(fields) = field.data_type() else { unreachable!("entries are a struct") };
    let entries = StructArray::try_new(fields.clone(), vec![keys, values], None)?;
    Ok(Arc::new(MapArray::try_new(field, offsets, entries, nulls, false)?))
}

/// A column of lists from its parts.
#[cfg(feature = "parquet")]
pub(crate) fn list(
    elements: ArrayRef,
    offsets: OffsetBuffer<i32>,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, ArrowError> {
    let field = element_field(elements.data_type().clone());
    Ok(Arc::new(ListArray::try_new(field, offsets, elements, nulls)?))
}

/// A column of structs from its parts, which are of the schema's types.
#[cfg(feature = "parquet")]
pub(crate) fn structs(
    schema: &Schema,
    columns: Vec<ArrayRef>,
    nulls: Option<NullBuffer>,
    length: usize,
) -> Result<ArrayRef, ArrowError> {
    Ok(Arc::new(StructArray::try_new_with_length(arrow_fields(schema), columns, nulls, length)?))
}

/// A column of variants from its parts.
#[cfg(feature = "parquet")]
pub(crate) fn variants(metadata: ArrayRef, value: ArrayRef, nulls: Option<NullBuffer>) -> Result<ArrayRef, ArrowError> {
    Ok(Arc::new(StructArray::try_new(variant_fields(), vec![metadata, value], nulls)?))
}
