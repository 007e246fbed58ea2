//! The standard set of functions.

use super::{EvaluateError, arithmetic};
use crate::{
    expression::{Expression, Function},
    schema::PrimitiveType,
    value::{Value, civil_from_days, days_from_civil, days_in_month},
};

/// The value of a function for a row.
pub(super) fn evaluate(function: Function, arguments: &[Expression], row: &[Value]) -> Result<Value, EvaluateError> {
    if function == Function::Coalesce {
        for argument in arguments {
            let value = argument.evaluate(row)?;
            if !value.is_null() {
                return Ok(value);
            }
        }
        return Ok(Value::Null);
    }
    let values = arguments.iter().map(|argument| argument.evaluate(row)).collect::<Result<Vec<_>, _>>()?;
    match function {
        Function::NullIf => {
            let equal = values[0].compare(&values[1]).is_some_and(|order| order.is_eq());
            Ok(if equal { Value::Null } else { values[0].clone() })
        }
        // NULL is below every value, so the maximum is NULL only when all are.
        Function::Greatest => Ok(values.into_iter().max().unwrap_or(Value::Null)),
        Function::Least => Ok(values.into_iter().filter(|value| !value.is_null()).min().unwrap_or(Value::Null)),
        _ if values.iter().any(Value::is_null) => Ok(Value::Null),
        _ => strict(function, &values),
    }
}

/// The functions that give NULL when an argument is NULL; here none is.
fn strict(function: Function, values: &[Value]) -> Result<Value, EvaluateError> {
    use Value as V;
    let overflow = |operation: String, data_type| EvaluateError::Overflow { operation, data_type };
    Ok(match (function, values) {
        (Function::Abs, [V::Float(x)]) => V::Float(x.abs()),
        (Function::Abs, [V::Double(x)]) => V::Double(x.abs()),
        (Function::Abs, [V::Decimal { unscaled, precision, scale }]) => {
            V::Decimal { unscaled: unscaled.wrapping_abs(), precision: *precision, scale: *scale }
        }
        (Function::Abs, [x]) if arithmetic::integer(x).is_some_and(|x| x < 0) => arithmetic::negate(x)?,
        (Function::Abs, [x]) if arithmetic::integer(x).is_some() => x.clone(),
        (Function::Upper, [V::String(text)]) => V::String(text.to_uppercase()),
        (Function::Lower, [V::String(text)]) => V::String(text.to_lowercase()),
        (Function::Length, [V::String(text)]) => {
            let length = i32::try_from(text.chars().count());
            V::Integer(length.map_err(|_| overflow("length".to_owned(), PrimitiveType::Integer))?)
        }
        (Function::Trim, [V::String(text)]) => V::String(text.trim_matches(' ').to_owned()),
        (Function::Concat, texts) => {
            let text = |value: &Value| match value {
                V::String(text) => text.clone(),
                other => panic!("CONCAT on {other:?}"),
            };
            V::String(texts.iter().map(text).collect())
        }
        (Function::Substring, [V::String(text), V::Integer(start)]) => V::String(substring(text, *start, i32::MAX)),
        (Function::Substring, [V::String(text), V::Integer(start), V::Integer(length)]) => {
            V::String(substring(text, *start, *length))
        }
        (Function::DateAdd, [V::Date(date), V::Integer(days)]) => V::Date(
            date.checked_add(*days)
                .ok_or_else(|| overflow(format!("date_add({}, {days})", values[0]), PrimitiveType::Date))?,
        ),
        (Function::AddMonths, [V::Date(date), V::Integer(months)]) => V::Date(
            add_months(*date, *months)
                .ok_or_else(|| overflow(format!("add_months({}, {months})", values[0]), PrimitiveType::Date))?,
        ),
        (Function::Year, [V::Date(date)]) => V::Integer(civil_from_days(*date).0),
        (Function::Month, [V::Date(date)]) => V::Integer(civil_from_days(*date).1 as i32),
        (Function::Day, [V::Date(date)]) => V::Integer(civil_from_days(*date).2 as i32),
        (Function::AddMicroseconds, [V::Timestamp(at), V::Long(micros)]) => V::Timestamp(
            at.checked_add(*micros)
                .ok_or_else(|| overflow(format!("{} + {micros} microseconds", values[0]), PrimitiveType::Timestamp))?,
        ),
        (Function::AddMicroseconds, [V::TimestampNtz(at), V::Long(micros)]) => {
            V::TimestampNtz(at.checked_add(*micros).ok_or_else(|| {
                overflow(format!("{} + {micros} microseconds", values[0]), PrimitiveType::TimestampNtz)
            })?)
        }
        _ => panic!("{function:?} on {values:?}"),
    })
}

/// Spark's rule: positions count from 1, 0 means 1, negative ones count from the end. What lies before the text counts towards the length:
/// `substring('abc', -5, 3)` is `a`.
fn substring(text: &str, start: i32, length: i32) -> String {
    let start = match i64::from(start) {
        start @ 1.. => start - 1,
        0 => 0,
        start => text.chars().count() as i64 + start,
    };
    // No length is past the end of any text, however far before its start this begins.
    let end = if length == i32::MAX { i64::MAX } else { start + i64::from(length) };
    let (start, end) = (start.max(0), end.max(0));
    text.chars().skip(start as usize).take((end - start).max(0) as usize).collect()
}

/// The same day some months later, or the last day of that month where it has no such day; `None` past the range of dates.
fn add_months(date: i32, months: i32) -> Option<i32> {
    let (year, month, day) = civil_from_days(date);
    let total = i64::from(year) * 12 + i64::from(month - 1) + i64::from(months);
    let year = i32::try_from(total.div_euclid(12)).ok()?;
    let month = total.rem_euclid(12) as u32 + 1;
    let day = day.min(days_in_month(year, month));
    let days = days_from_civil(year, month, day);
    (civil_from_days(days) == (year, month, day)).then_some(days)
}
