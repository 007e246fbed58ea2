//! A value of an Arrow array as something that actions can be read from, in the way that they are read from JSON.

use std::fmt;

use arrow::{
    array::{Array, AsArray},
    datatypes::{
        DataType as ArrowType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
        UInt16Type, UInt32Type, UInt64Type,
    },
    util::display::{ArrayFormatter, FormatOptions},
};
use serde::{
    Deserializer,
    de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor, value::StrDeserializer},
    forward_to_deserialize_any,
};

use super::stats_parsed;

/// Columns that repeat in another type what stands beside them as text.
const PARSED: [&str; 2] = ["stats_parsed", "partitionValues_parsed"];

/// One value. A struct is a map without the fields that are null, as in JSON; a value of a type that JSON does not have is its text.
#[derive(Clone, Copy)]
pub(super) struct Cell<'a> {
    array: &'a dyn Array,
    row: usize,
}

/// What is wrong with a value.
#[derive(Debug)]
pub(super) struct CellError(String);

impl fmt::Display for CellError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CellError {}

impl de::Error for CellError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

impl<'a> Cell<'a> {
    pub(super) fn new(array: &'a dyn Array, row: usize) -> Self {
        Self { array, row }
    }
}

impl<'de> Deserializer<'de> for Cell<'_> {
    type Error = CellError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CellError> {
        let Self { array, row } = self;
        if array.is_null(row) {
            return visitor.visit_unit();
        }
        match array.data_type() {
            ArrowType::Null => visitor.visit_unit(),
            ArrowType::Boolean => visitor.visit_bool(array.as_boolean().value(row)),
            ArrowType::Int8 => visitor.visit_i64(array.as_primitive::<Int8Type>().value(row).into()),
            ArrowType::Int16 => visitor.visit_i64(array.as_primitive::<Int16Type>().value(row).into()),
            ArrowType::Int32 => visitor.visit_i64(array.as_primitive::<Int32Type>().value(row).into()),
            ArrowType::Int64 => visitor.visit_i64(array.as_primitive::<Int64Type>().value(row)),
            ArrowType::UInt8 => visitor.visit_u64(array.as_primitive::<UInt8Type>().value(row).into()),
            ArrowType::UInt16 => visitor.visit_u64(array.as_primitive::<UInt16Type>().value(row).into()),
            ArrowType::UInt32 => visitor.visit_u64(array.as_primitive::<UInt32Type>().value(row).into()),
            ArrowType::UInt64 => visitor.visit_u64(array.as_primitive::<UInt64Type>().value(row)),
            ArrowType::Float32 => visitor.visit_f64(array.as_primitive::<Float32Type>().value(row).into()),
            ArrowType::Float64 => visitor.visit_f64(array.as_primitive::<Float64Type>().value(row)),
            ArrowType::Utf8 => visitor.visit_str(array.as_string::<i32>().value(row)),
            ArrowType::LargeUtf8 => visitor.visit_str(array.as_string::<i64>().value(row)),
            ArrowType::Utf8View => visitor.visit_str(array.as_string_view().value(row)),
            // Some writers leave out that their bytes are text.
            ArrowType::Binary => match std::str::from_utf8(array.as_binary::<i32>().value(row)) {
                Ok(text) => visitor.visit_str(text),
                Err(_) => Err(de::Error::custom("bytes that are no text")),
            },
            ArrowType::Struct(fields) => {
                let array = array.as_struct();
                let named = fields.iter().zip(array.columns());
                let named = named.filter(|(field, _)| !PARSED.contains(&field.name().as_str()));
                let mut entries = named.filter(|(_, column)| column.is_valid(row));
                visitor.visit_map(Entries {
                    next: || {
                        let (field, column) = entries.next()?;
                        Some((Key::Name(field.name()), Cell::new(column, row)))
                    },
                    value: None,
                })
            }
            ArrowType::Map(..) => {
                let map = array.as_map();
                let offsets = map.value_offsets();
                let mut rows = offsets[row] as usize..offsets[row + 1] as usize;
                visitor.visit_map(Entries {
                    next: || {
                        let row = rows.next()?;
                        Some((Key::Cell(Cell::new(map.keys(), row)), Cell::new(map.values(), row)))
                    },
                    value: None,
                })
            }
            ArrowType::List(_) => {
                let list = array.as_list::<i32>();
                let offsets = list.value_offsets();
                let rows = offsets[row] as usize..offsets[row + 1] as usize;
                visitor.visit_seq(Items { array: list.values(), rows })
            }
            // Arrow knows no zone by name, also not UTC, without a table of zones.
            ArrowType::Timestamp(_, Some(_)) => match stats_parsed::instant(array, row) {
                Some(text) => visitor.visit_string(text),
                None => Err(de::Error::custom("a time that has no text")),
            },
            _ => {
                let options = FormatOptions::default();
                let formatter = ArrayFormatter::try_new(array, &options).map_err(de::Error::custom)?;
                visitor.visit_string(formatter.value(row).try_to_string().map_err(de::Error::custom)?)
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CellError> {
        if self.array.is_null(self.row) { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, CellError> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct enum
        identifier ignored_any
    }
}

enum Key<'a> {
    Name(&'a str),
    Cell(Cell<'a>),
}

struct Entries<'a, F> {
    next: F,
    value: Option<Cell<'a>>,
}

impl<'a, 'de, F: FnMut() -> Option<(Key<'a>, Cell<'a>)>> MapAccess<'de> for Entries<'a, F> {
    type Error = CellError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, CellError> {
        let Some((key, value)) = (self.next)() else { return Ok(None) };
        self.value = Some(value);
        match key {
            Key::Name(name) => seed.deserialize(StrDeserializer::new(name)).map(Some),
            Key::Cell(cell) => seed.deserialize(cell).map(Some),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, CellError> {
        seed.deserialize(self.value.take().expect("a value is asked for after its key"))
    }
}

struct Items<'a> {
    array: &'a dyn Array,
    rows: std::ops::Range<usize>,
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = CellError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, CellError> {
        self.rows.next().map(|row| seed.deserialize(Cell::new(self.array, row))).transpose()
    }
}
