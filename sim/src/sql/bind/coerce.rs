//! Which types meet in which, and how an expression gets there.

use log_core::{
    expression::{Expression, decimal_type},
    schema::PrimitiveType,
    value::{Value, parse_text},
};
use sqlparser::tokenizer::Span;

use crate::sql::error::SqlError;

/// An operand whose type may still be open.
#[derive(Clone, Debug)]
pub(super) enum Operand {
    /// A bare NULL: it takes the type that its neighbours have.
    Null,
    /// `INTERVAL ...`: only `+` and `-` take it.
    Interval(Interval),
    /// An expression with a type.
    Typed(Expression),
}

/// A length of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Interval {
    /// Whole months.
    pub(super) months: i64,
    /// Whole days.
    pub(super) days: i64,
    /// The rest, in microseconds.
    pub(super) microseconds: i64,
}

impl Operand {
    /// The type, when it has one.
    pub(super) fn data_type(&self) -> Option<PrimitiveType> {
        match self {
            Self::Typed(expression) => Some(expression.data_type()),
            _ => None,
        }
    }

    /// The type as an error names it.
    pub(super) fn type_name(&self) -> String {
        match self {
            Self::Null => "NULL".to_owned(),
            Self::Interval(_) => "interval".to_owned(),
            Self::Typed(expression) => expression.data_type().to_string(),
        }
    }

    /// The expression; `otherwise` is the type of a bare NULL.
    pub(super) fn expression(self, otherwise: PrimitiveType, span: Span) -> Result<Expression, SqlError> {
        match self {
            Self::Null => Ok(Expression::null(otherwise)),
            Self::Interval(_) => {
                Err(SqlError::at("an INTERVAL can only be added to or subtracted from a date or timestamp", span))
            }
            Self::Typed(expression) => Ok(expression),
        }
    }
}

/// The type that two types meet in without losing more than Spark's ANSI mode does; `None` when they do not meet.
pub(super) fn common_type(a: PrimitiveType, b: PrimitiveType) -> Option<PrimitiveType> {
    use PrimitiveType as T;
    if a == b {
        return Some(a);
    }
    match (a, b) {
        (T::Date, T::Timestamp | T::TimestampNtz) => Some(b),
        (T::Timestamp | T::TimestampNtz, T::Date) => Some(a),
        (T::Timestamp, T::TimestampNtz) | (T::TimestampNtz, T::Timestamp) => Some(T::Timestamp),
        _ if !a.is_numeric() || !b.is_numeric() => None,
        // Two different types, one of them floating-point: an integer does not fit into a float.
        (T::Float | T::Double, _) | (_, T::Float | T::Double) => Some(T::Double),
        _ => match (decimal_digits(a), decimal_digits(b)) {
            _ if a.is_integral() && b.is_integral() => Some(a.max(b)),
            (Some((p1, s1)), Some((p2, s2))) => {
                let scale = s1.max(s2);
                Some(decimal_type((p1 - s1).max(p2 - s2) + scale, scale))
            }
            _ => None,
        },
    }
}

/// Precision and scale of the decimal that holds every value of an integer or decimal type.
fn decimal_digits(data_type: PrimitiveType) -> Option<(u32, u32)> {
    use PrimitiveType as T;
    Some(match data_type {
        T::Byte => (3, 0),
        T::Short => (5, 0),
        T::Integer => (10, 0),
        T::Long => (20, 0),
        T::Decimal { precision, scale } => (precision.into(), scale.into()),
        _ => return None,
    })
}

/// An integer as a decimal for arithmetic: a literal has only the digits that it needs, so `price * 2` grows by one digit, not by ten.
pub(super) fn as_decimal(expression: Expression) -> Expression {
    if matches!(expression.data_type(), PrimitiveType::Decimal { .. }) {
        return expression;
    }
    let digits = match &expression {
        Expression::Literal { value, .. } => {
            integer(value).map(|number| number.unsigned_abs().to_string().len() as u32)
        }
        _ => None,
    };
    match digits.or(decimal_digits(expression.data_type()).map(|(precision, _)| precision)) {
        Some(precision) => convert(expression, decimal_type(precision, 0)),
        None => expression,
    }
}

/// The expression in another type. A literal whose value the type holds becomes that literal, so that whoever prunes by it need not see through a
/// cast; anything else becomes a cast, which fails when it is evaluated.
pub(super) fn convert(expression: Expression, to: PrimitiveType) -> Expression {
    if let Expression::Literal { value, .. } = &expression
        && let Some(value) = exact(value, to)
    {
        return Expression::literal(value);
    }
    expression.cast_to(to)
}

/// As [`convert`]; a text that is no value of the type is an error at once.
pub(super) fn convert_text(expression: Expression, to: PrimitiveType, span: Span) -> Result<Expression, SqlError> {
    if let Expression::Literal { value: Value::String(text), .. } = &expression
        && to != PrimitiveType::String
    {
        return parse_text(text, to).map(Expression::literal).map_err(|error| SqlError::at(error.to_string(), span));
    }
    Ok(convert(expression, to))
}

fn integer(value: &Value) -> Option<i128> {
    Some(match value {
        Value::Byte(x) => i128::from(*x),
        Value::Short(x) => i128::from(*x),
        Value::Integer(x) => i128::from(*x),
        Value::Long(x) => i128::from(*x),
        _ => return None,
    })
}

/// The same number in another numeric type, when nothing is lost (but for a decimal as a double, which is the nearest one).
pub(super) fn exact(value: &Value, to: PrimitiveType) -> Option<Value> {
    use PrimitiveType as T;
    if let Value::Decimal { unscaled, scale, .. } = value {
        return match to {
            T::Decimal { precision, scale: wanted } => {
                decimal(unscaled.checked_mul(power(wanted.checked_sub(*scale)?)?)?, precision, wanted)
            }
            T::Double => approximate(*unscaled, *scale).map(Value::Double),
            _ => None,
        };
    }
    let number = integer(value)?;
    Some(match to {
        T::Byte => Value::Byte(number.try_into().ok()?),
        T::Short => Value::Short(number.try_into().ok()?),
        T::Integer => Value::Integer(number.try_into().ok()?),
        T::Long => Value::Long(number.try_into().ok()?),
        // Up to these bounds every integer is a number of the type.
        T::Float if number.abs() <= 1 << 24 => Value::Float(number as f32),
        T::Double if number.abs() <= 1 << 53 => Value::Double(number as f64),
        T::Decimal { precision, scale } => decimal(number.checked_mul(power(scale)?)?, precision, scale)?,
        _ => return None,
    })
}

fn power(digits: u8) -> Option<i128> {
    10_i128.checked_pow(digits.into())
}

fn decimal(unscaled: i128, precision: u8, scale: u8) -> Option<Value> {
    (unscaled.abs() < power(precision)?).then_some(Value::Decimal { unscaled, precision, scale })
}

/// The double nearest to a decimal, by way of its text: correctly rounded.
fn approximate(unscaled: i128, scale: u8) -> Option<f64> {
    format!("{unscaled}e-{scale}").parse().ok()
}

/// May a value of one type be written into a column of another without a CAST? Spark's `storeAssignmentPolicy` ANSI.
pub(super) fn assignable(from: PrimitiveType, to: PrimitiveType) -> bool {
    use PrimitiveType as T;
    let instant = |data_type| matches!(data_type, T::Date | T::Timestamp | T::TimestampNtz);
    from == to || to == T::String || (from.is_numeric() && to.is_numeric()) || (instant(from) && instant(to))
}

/// Does CAST know the way from one type to another?
pub(super) fn castable(from: PrimitiveType, to: PrimitiveType) -> bool {
    use PrimitiveType as T;
    assignable(from, to)
        || from == T::String
        || (from == T::Boolean && to.is_numeric())
        || (from.is_numeric() && to == T::Boolean)
}
