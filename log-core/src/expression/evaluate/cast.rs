//! CAST, by the rules of Spark's ANSI mode.

use super::{
    EvaluateError,
    arithmetic::{integer, integral_value},
    decimal,
};
use crate::{
    schema::PrimitiveType,
    value::{MICROS_PER_DAY, MICROS_PER_SECOND, Value, decimal_text, parse_decimal, parse_text},
};

/// CAST of one value. The zone is UTC.
///
/// NULL goes to every type. Numbers go to numbers (towards zero where the target is integral, half-up where it is a decimal), to and from
/// boolean, and to and from `timestamp` as seconds; dates and both timestamps go to each other; everything goes to and from string. All
/// other pairs are errors.
///
/// # Errors
/// When the type cannot represent the value, or the pair of types has no cast.
pub fn cast(value: &Value, to: PrimitiveType) -> Result<Value, EvaluateError> {
    if value.is_null() || value.primitive_type() == Some(to) {
        return Ok(value.clone());
    }
    convert(value, to).ok_or_else(|| EvaluateError::Cast { text: value.to_string(), to })
}

fn convert(value: &Value, to: PrimitiveType) -> Option<Value> {
    match (value, to) {
        (Value::String(text), _) => parse_text(text, to).ok(),
        (Value::Binary(bytes), PrimitiveType::String) => String::from_utf8(bytes.clone()).ok().map(Value::String),
        (_, PrimitiveType::String) => Some(Value::String(value.to_string())),
        (Value::Date(days), _) => from_days(*days, to),
        (Value::Timestamp(micros), _) => from_timestamp(*micros, to),
        (Value::TimestampNtz(micros), PrimitiveType::Timestamp) => Some(Value::Timestamp(*micros)),
        (Value::TimestampNtz(micros), PrimitiveType::Date) => to_date(*micros),
        (Value::Boolean(_), PrimitiveType::Timestamp) => None,
        (Value::Boolean(x), _) => from_integer((*x).into(), to),
        (Value::Float(x), PrimitiveType::Double) => Some(Value::Double((*x).into())),
        (Value::Float(x), _) => from_double((*x).into(), to),
        (Value::Double(x), PrimitiveType::Float) => Some(Value::Float(*x as f32)),
        (Value::Double(x), _) => from_double(*x, to),
        (Value::Decimal { unscaled, scale, .. }, _) => from_decimal(*unscaled, *scale, to),
        _ => from_integer(integer(value)?, to),
    }
}

fn from_integer(number: i128, to: PrimitiveType) -> Option<Value> {
    match to {
        PrimitiveType::Boolean => Some(Value::Boolean(number != 0)),
        PrimitiveType::Float => Some(Value::Float(number as f32)),
        PrimitiveType::Double => Some(Value::Double(number as f64)),
        PrimitiveType::Decimal { .. } => decimal::convert(number, 0, to),
        PrimitiveType::Timestamp => timestamp(number.checked_mul(MICROS_PER_SECOND.into())?),
        _ => integral_value(number, to),
    }
}

fn from_double(x: f64, to: PrimitiveType) -> Option<Value> {
    match to {
        PrimitiveType::Boolean => Some(Value::Boolean(x != 0.0)),
        PrimitiveType::Decimal { precision, scale } => {
            // The shortest digits that mean this number, not its binary expansion: 0.1 is 0.1.
            let unscaled = parse_decimal(&format!("{x:e}"), precision, scale)?;
            Some(Value::Decimal { unscaled, precision, scale })
        }
        PrimitiveType::Timestamp => timestamp(truncate(x * MICROS_PER_SECOND as f64)?),
        _ => integral_value(truncate(x)?, to),
    }
}

/// The integer towards zero; `None` for NaN, infinities and what is far outside of every integer type.
fn truncate(x: f64) -> Option<i128> {
    (x.abs() < 1e30).then_some(x as i128)
}

fn from_decimal(unscaled: i128, scale: u8, to: PrimitiveType) -> Option<Value> {
    let unit = 10_i128.pow(u32::from(scale.min(38)));
    match to {
        PrimitiveType::Boolean => Some(Value::Boolean(unscaled != 0)),
        // By way of the text the result is the nearest number, which a quotient of two rounded numbers need not be.
        PrimitiveType::Float => decimal_text(unscaled, scale).parse().ok().map(Value::Float),
        PrimitiveType::Double => decimal_text(unscaled, scale).parse().ok().map(Value::Double),
        PrimitiveType::Decimal { .. } => decimal::convert(unscaled, scale, to),
        PrimitiveType::Timestamp => {
            let seconds = (unscaled / unit).checked_mul(MICROS_PER_SECOND.into())?;
            let fraction = match scale {
                0..=6 => unscaled % unit * 10_i128.pow(u32::from(6 - scale)),
                _ => unscaled % unit / 10_i128.pow(u32::from(scale.min(38) - 6)),
            };
            timestamp(seconds.checked_add(fraction)?)
        }
        _ => integral_value(unscaled / unit, to),
    }
}

fn timestamp(micros: i128) -> Option<Value> {
    micros.try_into().ok().map(Value::Timestamp)
}

fn from_days(days: i32, to: PrimitiveType) -> Option<Value> {
    let micros = i64::from(days).checked_mul(MICROS_PER_DAY);
    match to {
        PrimitiveType::Timestamp => micros.map(Value::Timestamp),
        PrimitiveType::TimestampNtz => micros.map(Value::TimestampNtz),
        _ => None,
    }
}

fn to_date(micros: i64) -> Option<Value> {
    i32::try_from(micros.div_euclid(MICROS_PER_DAY)).ok().map(Value::Date)
}

fn from_timestamp(micros: i64, to: PrimitiveType) -> Option<Value> {
    match to {
        PrimitiveType::TimestampNtz => Some(Value::TimestampNtz(micros)),
        PrimitiveType::Date => to_date(micros),
        PrimitiveType::Float => Some(Value::Float((micros as f64 / MICROS_PER_SECOND as f64) as f32)),
        PrimitiveType::Double => Some(Value::Double(micros as f64 / MICROS_PER_SECOND as f64)),
        PrimitiveType::Decimal { .. } => decimal::convert(micros.into(), 6, to),
        // Whole seconds, towards the past.
        _ => integral_value(micros.div_euclid(MICROS_PER_SECOND).into(), to),
    }
}
