//! Literals.

use log_core::{
    expression::Expression,
    schema::PrimitiveType,
    value::{Value, parse_text},
};
use sqlparser::{
    ast::{
        DataType, DateTimeField, Expr, Interval as ParsedInterval, Spanned, TypedString, UnaryOperator,
        Value as Parsed, ValueWithSpan,
    },
    tokenizer::Span,
};

use super::coerce::{Interval, Operand};
use crate::sql::{dialect::string_text, error::SqlError};

pub(super) fn literal(value: &ValueWithSpan) -> Result<Operand, SqlError> {
    if let Some(text) = string_text(value) {
        return Ok(Operand::Typed(Expression::literal(Value::String(text.to_owned()))));
    }
    let literal = match &value.value {
        Parsed::Number(text, long) => number(text, *long, value.span)?,
        Parsed::Boolean(truth) => Value::Boolean(*truth),
        Parsed::Null => return Ok(Operand::Null),
        Parsed::HexStringLiteral(digits) => Value::Binary(
            bytes(digits).ok_or_else(|| SqlError::at(format!("X'{digits}' is not pairs of hex digits"), value.span))?,
        ),
        Parsed::Placeholder(_) => {
            return Err(SqlError::at(format!("the parameter {value} is not supported by this version"), value.span));
        }
        _ => return Err(SqlError::at(format!("the literal {value} is not supported by this version"), value.span)),
    };
    Ok(Operand::Typed(Expression::literal(literal)))
}

/// `12` is an integer (or what it fits into), `12L` a long, `1.5` a decimal, `1e3` a double. `text` may have a minus in front.
pub(super) fn number(text: &str, long: bool, span: Span) -> Result<Value, SqlError> {
    if long {
        return text.parse().map(Value::Long).map_err(|_| SqlError::at(format!("{text}L is not a long"), span));
    }
    if text.contains(['e', 'E']) {
        return match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Value::Double(number)),
            _ => Err(SqlError::at(format!("{text} is not a double"), span)),
        };
    }
    if let Ok(number) = text.parse() {
        return Ok(Value::Integer(number));
    }
    if let Ok(number) = text.parse() {
        return Ok(Value::Long(number));
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let (whole, scale) = (whole.trim_start_matches('0'), fraction.len());
    let precision = (whole.len() + scale).max(1);
    let unscaled = format!("{}{fraction}", if whole.is_empty() { "0" } else { whole }).parse::<i128>();
    match (unscaled, u8::try_from(precision), u8::try_from(scale)) {
        (Ok(unscaled), Ok(precision), Ok(scale)) if precision <= 38 => {
            let unscaled = if text.starts_with('-') { -unscaled } else { unscaled };
            Ok(Value::Decimal { unscaled, precision, scale })
        }
        _ => Err(SqlError::at(format!("the number {text} has more than 38 digits"), span)),
    }
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = digits.chars().map(|digit| digit.to_digit(16).map(|d| d as u8)).collect::<Option<_>>()?;
    digits.chunks(2).map(|pair| if let [high, low] = pair { Some(high << 4 | low) } else { None }).collect()
}

/// `DATE '...'`, `TIMESTAMP '...'`, `TIMESTAMP_NTZ '...'`.
pub(super) fn typed_string(typed: &TypedString) -> Result<Operand, SqlError> {
    let span = typed.value.span;
    let data_type = match &typed.data_type {
        DataType::Date => PrimitiveType::Date,
        DataType::Timestamp(..) => PrimitiveType::Timestamp,
        DataType::TimestampNtz(_) => PrimitiveType::TimestampNtz,
        other => return Err(SqlError::at(format!("a literal of type {other} is not supported by this version"), span)),
    };
    let text = string_text(&typed.value).unwrap_or_default();
    let value = parse_text(text, data_type).map_err(|error| SqlError::at(error.to_string(), span))?;
    Ok(Operand::Typed(Expression::literal(value)))
}

/// `INTERVAL 2 HOURS`, `INTERVAL '2' HOURS`, `INTERVAL '1 day 2 hours'`.
pub(super) fn interval(interval: &ParsedInterval) -> Result<Operand, SqlError> {
    let span = interval.value.span();
    let (value, negative) = match interval.value.as_ref() {
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => (expr.as_ref(), true),
        value => (value, false),
    };
    let text = match value {
        Expr::Value(value) => match (&value.value, string_text(value)) {
            (Parsed::Number(digits, false), _) => digits.clone(),
            (_, Some(text)) => text.trim().to_owned(),
            _ => return Err(SqlError::at("an INTERVAL needs a whole number and a unit, as in INTERVAL 2 HOURS", span)),
        },
        _ => return Err(SqlError::at("an INTERVAL needs a whole number and a unit, as in INTERVAL 2 HOURS", span)),
    };
    let mut length = Interval::default();
    match &interval.leading_field {
        Some(DateTimeField::Custom(unit)) => add(&mut length, &text, &unit.value, unit.span)?,
        Some(unit) => add(&mut length, &text, &unit.to_string(), span)?,
        None => {
            let mut words = text.split_whitespace();
            while let Some(number) = words.next() {
                let Some(unit) = words.next() else {
                    return Err(SqlError::at("an INTERVAL needs a unit, as in INTERVAL 2 HOURS", span));
                };
                add(&mut length, number, unit, span)?;
            }
            if text.is_empty() {
                return Err(SqlError::at("an INTERVAL needs a whole number and a unit, as in INTERVAL 2 HOURS", span));
            }
        }
    }
    let length = if negative { negate(length) } else { Some(length) };
    length.map(Operand::Interval).ok_or_else(|| too_long(span))
}

/// `-x`, folded when it is a literal that can be turned round.
pub(super) fn negated(operand: Expression) -> Expression {
    if let Expression::Literal { value, .. } = &operand {
        let value = match value {
            Value::Null => return operand,
            Value::Byte(x) => x.checked_neg().map(Value::Byte),
            Value::Short(x) => x.checked_neg().map(Value::Short),
            Value::Integer(x) => x.checked_neg().map(Value::Integer),
            Value::Long(x) => x.checked_neg().map(Value::Long),
            Value::Float(x) => Some(Value::Float(-x)),
            Value::Double(x) => Some(Value::Double(-x)),
            Value::Decimal { unscaled, precision, scale } => {
                Some(Value::Decimal { unscaled: -unscaled, precision: *precision, scale: *scale })
            }
            _ => None,
        };
        if let Some(value) = value {
            return Expression::literal(value);
        }
    }
    Expression::Negate(Box::new(operand))
}

/// The same length backwards.
pub(super) fn negate(length: Interval) -> Option<Interval> {
    Some(Interval {
        months: length.months.checked_neg()?,
        days: length.days.checked_neg()?,
        microseconds: length.microseconds.checked_neg()?,
    })
}

fn too_long(span: Span) -> SqlError {
    SqlError::at("the INTERVAL is too long", span)
}

fn add(length: &mut Interval, number: &str, unit: &str, span: Span) -> Result<(), SqlError> {
    let Ok(count) = number.parse::<i64>() else {
        return Err(SqlError::at(format!("an INTERVAL needs a whole number of units, not '{number}'"), span));
    };
    let upper = unit.to_uppercase();
    let (part, size) = match upper.strip_suffix('S').unwrap_or(&upper) {
        "YEAR" => (&mut length.months, 12),
        "MONTH" => (&mut length.months, 1),
        "WEEK" => (&mut length.days, 7),
        "DAY" => (&mut length.days, 1),
        "HOUR" => (&mut length.microseconds, 3_600_000_000),
        "MINUTE" => (&mut length.microseconds, 60_000_000),
        "SECOND" => (&mut length.microseconds, 1_000_000),
        "MILLISECOND" => (&mut length.microseconds, 1_000),
        "MICROSECOND" => (&mut length.microseconds, 1),
        _ => {
            let message = format!(
                "`{unit}` is not a unit of INTERVAL: those are years, months, weeks, days, hours, minutes, seconds, milliseconds and microseconds"
            );
            return Err(SqlError::at(message, span));
        }
    };
    *part = count.checked_mul(size).and_then(|added| part.checked_add(added)).ok_or_else(|| too_long(span))?;
    Ok(())
}
