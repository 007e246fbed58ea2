//! Columns of a file brought to the types of the table, and back.

use std::sync::Arc;

use arrow::{
    array::{Array, ArrayRef, AsArray, PrimitiveArray, StructArray, new_null_array},
    compute::{CastOptions, cast_with_options},
    datatypes::{
        ArrowPrimitiveType, DataType as ArrowType, Date32Type, Field as ArrowField, Fields, Int64Type, TimeUnit,
        TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    },
};
use parquet::arrow::PARQUET_FIELD_ID_META_KEY;

use super::DataFileError;
use crate::{
    batch::{arrow_type, arrow_type_of, is_arrow_type, is_arrow_type_of, nested},
    layout::{ColumnMapping, column_id},
    schema::{DataType, Field, PrimitiveType, Schema},
};

const MICROS_PER_DAY: i64 = 86_400_000_000;

/// Brings columns of a file to the types of the table.
#[derive(Clone, Copy)]
pub(super) struct Converter {
    /// How the fields of a struct are found.
    pub mapping: ColumnMapping,
    /// The number of the first row, for errors.
    pub first_row: u64,
}

/// A field among those of a file, or of a struct in it: under id mode by its id, else by its exact name, else by its name in another letter case.
pub(super) fn find(fields: &Fields, wanted: &Field, mapping: ColumnMapping) -> Option<usize> {
    if mapping == ColumnMapping::Id {
        let id = column_id(wanted)?;
        return fields.iter().position(|field| file_id(field) == Some(id));
    }
    fields.iter().position(|field| *field.name() == wanted.name).or_else(|| {
        let lower = wanted.name.to_lowercase();
        fields.iter().position(|field| field.name().to_lowercase() == lower)
    })
}

/// Has the file's schema ids? Without any it was not written for a table whose columns are found by id.
pub(super) fn has_ids(fields: &Fields) -> bool {
    fields.iter().any(|field| file_id(field).is_some())
}

fn file_id(field: &ArrowField) -> Option<i64> {
    field.metadata().get(PARQUET_FIELD_ID_META_KEY)?.parse().ok()
}

impl Converter {
    /// Brings a column to a type. `stored` is the same type with the names that the file uses.
    ///
    /// # Errors
    /// When the type could lose something of the file's type, or does lose some value.
    pub(super) fn convert(
        self,
        name: &str,
        array: &ArrayRef,
        wanted: &DataType,
        stored: &DataType,
    ) -> Result<ArrayRef, DataFileError> {
        use DataType as T;
        if is_arrow_type_of(array.data_type(), wanted) && wanted == stored {
            return Ok(Arc::clone(array));
        }
        let length = array.len();
        match (array.data_type(), wanted, stored) {
            (_, T::Primitive(wanted), _) => self.primitive(name, array, *wanted),
            // A column that was void once, before it got its type.
            (ArrowType::Null, wanted, _) => Ok(new_null_array(&arrow_type_of(wanted), length)),
            (_, T::Void, _) => Ok(new_null_array(&ArrowType::Null, length)),
            (ArrowType::Struct(fields), T::Struct(wanted), T::Struct(stored)) => {
                let array = array.as_struct();
                let mut columns = Vec::with_capacity(wanted.fields.len());
                for (wanted, stored) in wanted.fields.iter().zip(&stored.fields) {
                    columns.push(match find(fields, stored, self.mapping) {
                        None => new_null_array(&arrow_type_of(&wanted.data_type), length),
                        Some(index) => {
                            let name = format!("{name}.{}", wanted.name);
                            self.convert(&name, array.column(index), &wanted.data_type, &stored.data_type)?
                        }
                    });
                }
                Ok(nested::structs(wanted, columns, array.nulls().cloned(), length)?)
            }
            (ArrowType::List(_), T::Array { element: wanted, .. }, T::Array { element: stored, .. }) => {
                let array = array.as_list::<i32>();
                let elements = self.convert(&format!("{name}.element"), array.values(), wanted, stored)?;
                Ok(nested::list(elements, array.offsets().clone(), array.nulls().cloned())?)
            }
            (
                ArrowType::Map(..),
                T::Map { key: wanted_key, value: wanted_value, .. },
                T::Map { key: stored_key, value: stored_value, .. },
            ) => {
                let array = array.as_map();
                let keys = self.convert(&format!("{name}.key"), array.keys(), wanted_key, stored_key)?;
                let values = self.convert(&format!("{name}.value"), array.values(), wanted_value, stored_value)?;
                Ok(nested::map(keys, values, array.offsets().clone(), array.nulls().cloned())?)
            }
            (ArrowType::Struct(fields), T::Variant, _) => self.variant(name, array, fields),
            (found, wanted, _) => {
                Err(DataFileError::ColumnType { column: name.to_owned(), found: found.clone(), wanted: wanted.clone() })
            }
        }
    }

    /// A variant is a group of two binary fields. Where parts of it are columns of their own, the two do not hold all of it.
    fn variant(self, name: &str, array: &ArrayRef, fields: &Fields) -> Result<ArrayRef, DataFileError> {
        if fields.iter().any(|field| field.name() == "typed_value") {
            return Err(DataFileError::ShreddedVariant { column: name.to_owned() });
        }
        let part = |part: &str| match array.as_struct().column_by_name(part) {
            Some(column) => self.primitive(&format!("{name}.{part}"), column, PrimitiveType::Binary),
            None => {
                let (column, found) = (name.to_owned(), array.data_type().clone());
                Err(DataFileError::ColumnType { column, found, wanted: DataType::Variant })
            }
        };
        Ok(nested::variants(part("metadata")?, part("value")?, array.nulls().cloned())?)
    }

    fn primitive(self, name: &str, array: &ArrayRef, wanted: PrimitiveType) -> Result<ArrayRef, DataFileError> {
        use ArrowType as A;
        use PrimitiveType as T;
        if is_arrow_type(array.data_type(), wanted) {
            return Ok(Arc::clone(array));
        }
        match (array.data_type(), wanted) {
            (A::Timestamp(unit, _), T::Timestamp | T::TimestampNtz) => self.micros(name, array, *unit, wanted),
            (A::Date32, T::TimestampNtz) => {
                self.scaled::<Date32Type>(name, array, wanted, |day| i64::from(day).checked_mul(MICROS_PER_DAY))
            }
            // A plain 64-bit integer is what a timestamp without its annotation is.
            (A::Int64, T::Timestamp | T::TimestampNtz) => self.scaled::<Int64Type>(name, array, wanted, Some),
            (found, wanted) if is_sound(found, wanted) => self.cast(name, array, wanted),
            (found, _) => {
                let (column, found) = (name.to_owned(), found.clone());
                Err(DataFileError::ColumnType { column, found, wanted: wanted.into() })
            }
        }
    }

    fn cast(self, name: &str, array: &ArrayRef, wanted: PrimitiveType) -> Result<ArrayRef, DataFileError> {
        let to = arrow_type(wanted);
        let lenient = cast_with_options(array, &to, &CastOptions { safe: true, ..CastOptions::default() })?;
        // Arrow's strict cast would not say which row it is.
        match (0..array.len()).find(|row| lenient.is_null(*row) && array.is_valid(*row)) {
            Some(row) if !array.data_type().is_null() => Err(self.unfit(name, row, wanted)),
            _ => Ok(lenient),
        }
    }

    fn unfit(self, name: &str, row: usize, wanted: PrimitiveType) -> DataFileError {
        DataFileError::Value { column: name.to_owned(), row: self.first_row + row as u64, wanted }
    }

    /// A timestamp of any unit. Its zone does not matter: the integer is the same instant or, without zone, the same reading of the clock.
    fn micros(
        self,
        name: &str,
        array: &ArrayRef,
        unit: TimeUnit,
        wanted: PrimitiveType,
    ) -> Result<ArrayRef, DataFileError> {
        match unit {
            TimeUnit::Second => self.scaled::<TimestampSecondType>(name, array, wanted, |x| x.checked_mul(1_000_000)),
            TimeUnit::Millisecond => {
                self.scaled::<TimestampMillisecondType>(name, array, wanted, |x| x.checked_mul(1_000))
            }
            TimeUnit::Microsecond => self.scaled::<TimestampMicrosecondType>(name, array, wanted, Some),
            // The table has no room for them; Spark drops them too.
            TimeUnit::Nanosecond => {
                self.scaled::<TimestampNanosecondType>(name, array, wanted, |x| Some(x.div_euclid(1_000)))
            }
        }
    }

    fn scaled<T: ArrowPrimitiveType>(
        self,
        name: &str,
        array: &ArrayRef,
        wanted: PrimitiveType,
        f: impl Fn(T::Native) -> Option<i64>,
    ) -> Result<ArrayRef, DataFileError> {
        let mut values = Vec::with_capacity(array.len());
        for (row, value) in array.as_primitive::<T>().iter().enumerate() {
            values.push(match value {
                None => None,
                Some(value) => Some(f(value).ok_or_else(|| self.unfit(name, row, wanted))?),
            });
        }
        let array: PrimitiveArray<TimestampMicrosecondType> = values.into_iter().collect();
        Ok(Arc::new(array.with_data_type(arrow_type(wanted))))
    }
}

/// A column of the table as a column of the file: with the file's names, and with ids under column mapping. Void columns are in no file.
///
/// # Errors
/// When a list or a map has void parts, which a file cannot leave out.
pub(super) fn stored(
    name: &str,
    array: &ArrayRef,
    wanted: &DataType,
    stored_as: &DataType,
    mapping: ColumnMapping,
) -> Result<ArrayRef, DataFileError> {
    match (wanted, stored_as) {
        (DataType::Void, _) | (_, DataType::Void) => Err(DataFileError::Void { column: name.to_owned() }),
        (DataType::Struct(wanted), DataType::Struct(stored_as)) => {
            let array = array.as_struct();
            let (fields, columns) = stored_columns(name, array.columns(), wanted, stored_as, mapping)?;
            let nulls = array.nulls().cloned();
            Ok(Arc::new(StructArray::try_new_with_length(fields, columns, nulls, array.len())?))
        }
        (DataType::Array { element: wanted, .. }, DataType::Array { element: stored_as, .. }) => {
            let array = array.as_list::<i32>();
            let elements = stored(&format!("{name}.element"), array.values(), wanted, stored_as, mapping)?;
            Ok(nested::list(elements, array.offsets().clone(), array.nulls().cloned())?)
        }
        (
            DataType::Map { key: wanted_key, value: wanted_value, .. },
            DataType::Map { key: stored_key, value: stored_value, .. },
        ) => {
            let array = array.as_map();
            let keys = stored(&format!("{name}.key"), array.keys(), wanted_key, stored_key, mapping)?;
            let values = stored(&format!("{name}.value"), array.values(), wanted_value, stored_value, mapping)?;
            Ok(nested::map(keys, values, array.offsets().clone(), array.nulls().cloned())?)
        }
        // Both parts of a variant that is there are there.
        (DataType::Variant, _) => {
            let array = array.as_struct();
            let field = |name| ArrowField::new(name, ArrowType::Binary, false);
            let fields: Fields = [field("metadata"), field("value")].into_iter().collect();
            Ok(Arc::new(StructArray::try_new(fields, array.columns().to_vec(), array.nulls().cloned())?))
        }
        _ => Ok(Arc::clone(array)),
    }
}

/// Columns of the table as columns of the file, without those that are void.
///
/// # Errors
/// As for [`stored`].
pub(super) fn stored_columns(
    inside: &str,
    columns: &[ArrayRef],
    wanted: &Schema,
    stored_as: &Schema,
    mapping: ColumnMapping,
) -> Result<(Fields, Vec<ArrayRef>), DataFileError> {
    let (mut fields, mut arrays) = (Vec::new(), Vec::new());
    for ((array, wanted), stored_as) in columns.iter().zip(&wanted.fields).zip(&stored_as.fields) {
        if wanted.data_type == DataType::Void {
            continue;
        }
        let name = if inside.is_empty() { wanted.name.clone() } else { format!("{inside}.{}", wanted.name) };
        let array = stored(&name, array, &wanted.data_type, &stored_as.data_type, mapping)?;
        let mut field = ArrowField::new(&stored_as.name, array.data_type().clone(), true);
        if mapping != ColumnMapping::None
            && let Some(id) = column_id(stored_as)
        {
            field = field.with_metadata([(PARQUET_FIELD_ID_META_KEY.to_owned(), id.to_string())].into());
        }
        fields.push(field);
        arrays.push(array);
    }
    Ok((fields.into(), arrays))
}

/// May Arrow's cast be used? It is checked: a value that does not fit is an error.
fn is_sound(found: &ArrowType, wanted: PrimitiveType) -> bool {
    use ArrowType as A;
    use PrimitiveType as T;
    match (found, wanted) {
        (A::Dictionary(_, values), wanted) => is_arrow_type(values, wanted) || is_sound(values, wanted),
        (A::Null, _) => true,
        (A::LargeUtf8 | A::Utf8View | A::Binary | A::LargeBinary | A::BinaryView, T::String) => true,
        (A::LargeBinary | A::BinaryView | A::FixedSizeBinary(_) | A::Utf8, T::Binary) => true,
        (found, wanted) if wanted.is_integral() => found.is_integer(),
        (A::Int8 | A::Int16 | A::UInt8 | A::UInt16, T::Float | T::Double) => true,
        (A::Int32 | A::UInt32 | A::Float16 | A::Float32, T::Double) => true,
        (A::Float16, T::Float) => true,
        (found, T::Decimal { .. }) if found.is_integer() => true,
        (
            A::Decimal32(_, from) | A::Decimal64(_, from) | A::Decimal128(_, from) | A::Decimal256(_, from),
            T::Decimal { scale, .. },
        ) => i16::from(*from) <= i16::from(scale),
        (A::Int32, T::Date) => true,
        _ => false,
    }
}
