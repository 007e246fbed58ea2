//! A column of a file brought to the type of the table.

use std::sync::Arc;

use arrow::{
    array::{Array, ArrayRef, AsArray, PrimitiveArray},
    compute::{CastOptions, cast_with_options},
    datatypes::{
        ArrowPrimitiveType, DataType as ArrowType, Date32Type, Int64Type, TimeUnit, TimestampMicrosecondType,
        TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    },
};

use super::DataFileError;
use crate::{
    batch::{arrow_type, is_arrow_type},
    schema::PrimitiveType,
};

const MICROS_PER_DAY: i64 = 86_400_000_000;

/// Brings a column to a type.
///
/// # Errors
/// When the type could lose something of the file's type, or does lose some value.
pub(super) fn convert(name: &str, array: &ArrayRef, wanted: PrimitiveType) -> Result<ArrayRef, DataFileError> {
    use ArrowType as A;
    use PrimitiveType as T;
    if is_arrow_type(array.data_type(), wanted) {
        return Ok(Arc::clone(array));
    }
    match (array.data_type(), wanted) {
        (A::Timestamp(unit, _), T::Timestamp | T::TimestampNtz) => micros(name, array, *unit, wanted),
        (A::Date32, T::TimestampNtz) => {
            scaled::<Date32Type>(name, array, wanted, |day| i64::from(day).checked_mul(MICROS_PER_DAY))
        }
        // A plain 64-bit integer is what a timestamp without its annotation is.
        (A::Int64, T::Timestamp | T::TimestampNtz) => scaled::<Int64Type>(name, array, wanted, Some),
        (found, wanted) if is_sound(found, wanted) => cast(name, array, wanted),
        (found, _) => Err(DataFileError::ColumnType { column: name.to_owned(), found: found.clone(), wanted }),
    }
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

fn cast(name: &str, array: &ArrayRef, wanted: PrimitiveType) -> Result<ArrayRef, DataFileError> {
    let to = arrow_type(wanted);
    let lenient = cast_with_options(array, &to, &CastOptions { safe: true, ..CastOptions::default() })?;
    // Arrow's strict cast would not say which row it is.
    match (0..array.len()).find(|row| lenient.is_null(*row) && array.is_valid(*row)) {
        Some(row) if !array.data_type().is_null() => Err(DataFileError::Value { column: name.to_owned(), row, wanted }),
        _ => Ok(lenient),
    }
}

/// A timestamp of any unit. Its zone does not matter: the integer is the same instant or, without zone, the same reading of the clock.
fn micros(name: &str, array: &ArrayRef, unit: TimeUnit, wanted: PrimitiveType) -> Result<ArrayRef, DataFileError> {
    match unit {
        TimeUnit::Second => scaled::<TimestampSecondType>(name, array, wanted, |x| x.checked_mul(1_000_000)),
        TimeUnit::Millisecond => scaled::<TimestampMillisecondType>(name, array, wanted, |x| x.checked_mul(1_000)),
        TimeUnit::Microsecond => scaled::<TimestampMicrosecondType>(name, array, wanted, Some),
        // The table has no room for them; Spark drops them too.
        TimeUnit::Nanosecond => scaled::<TimestampNanosecondType>(name, array, wanted, |x| Some(x.div_euclid(1_000))),
    }
}

fn scaled<T: ArrowPrimitiveType>(
    name: &str,
    array: &ArrayRef,
    wanted: PrimitiveType,
    f: impl Fn(T::Native) -> Option<i64>,
) -> Result<ArrayRef, DataFileError> {
    let mut values = Vec::with_capacity(array.len());
    for (row, value) in array.as_primitive::<T>().iter().enumerate() {
        values.push(match value {
            None => None,
            Some(value) => {
                Some(f(value).ok_or_else(|| DataFileError::Value { column: name.to_owned(), row, wanted })?)
            }
        });
    }
    let array: PrimitiveArray<TimestampMicrosecondType> = values.into_iter().collect();
    Ok(Arc::new(array.with_data_type(arrow_type(wanted))))
}
