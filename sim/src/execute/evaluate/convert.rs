//! CAST: Arrow's kernel where every value fits and there is but one way to write it, else value by value with the cast of `log_core`.

use arrow::array::{Array, ArrayRef};
use log_core::{
    batch::{arrow_type, column, values},
    expression,
    schema::PrimitiveType,
    value::Value,
};

use super::operand::{Operand, mistyped};
use crate::execute::ExecuteError;

/// `CAST(value AS to)`, with `lenient` `TRY_CAST`.
pub(super) fn cast(
    value: &Operand,
    from: PrimitiveType,
    to: PrimitiveType,
    lenient: bool,
) -> Result<Operand, ExecuteError> {
    if from == to {
        return Ok(value.clone());
    }
    value.map(|array| {
        if array.null_count() == array.len() {
            return Ok(arrow::array::new_null_array(&arrow_type(to), array.len()));
        }
        if always_fits(from, to) {
            return arrow::compute::cast(array, &arrow_type(to)).map_err(ExecuteError::plumbing("CAST"));
        }
        by_value(array, from, to, lenient)
    })
}

/// Integers into wider integers or floating-point numbers, and a float into a double.
fn always_fits(from: PrimitiveType, to: PrimitiveType) -> bool {
    use PrimitiveType as T;
    let width = |data_type| match data_type {
        T::Byte => Some(1),
        T::Short => Some(2),
        T::Integer => Some(3),
        T::Long => Some(4),
        _ => None,
    };
    match (width(from), width(to)) {
        (Some(from), Some(to)) => from < to,
        (Some(_), None) => matches!(to, T::Float | T::Double),
        _ => from == T::Float && to == T::Double,
    }
}

fn by_value(array: &ArrayRef, from: PrimitiveType, to: PrimitiveType, lenient: bool) -> Result<ArrayRef, ExecuteError> {
    let values = values(array, from).ok_or_else(|| mistyped(array, &from.to_string()))?;
    let mut result = Vec::with_capacity(array.len());
    for value in values {
        result.push(match expression::cast(&value, to) {
            Ok(value) => value,
            Err(_) if lenient => Value::Null,
            Err(error) => return Err(error.into()),
        });
    }
    Ok(column(to, &result)?)
}
