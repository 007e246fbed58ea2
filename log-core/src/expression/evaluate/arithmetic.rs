//! Arithmetic on two values of one type.

use super::{EvaluateError, decimal};
use crate::{expression::BinaryOperator, schema::PrimitiveType, value::Value};

/// `left operator right` for the arithmetic operators; NULL when either is.
pub(super) fn evaluate(operator: BinaryOperator, left: &Value, right: &Value) -> Result<Value, EvaluateError> {
    let (Some(left_type), Some(right_type)) = (left.primitive_type(), right.primitive_type()) else {
        return Ok(Value::Null);
    };
    let overflow = || EvaluateError::Overflow {
        operation: format!("{left} {} {right}", symbol(operator)),
        data_type: operator.result_type(left_type, right_type),
    };
    let divides =
        matches!(operator, BinaryOperator::Divide | BinaryOperator::IntegerDivide | BinaryOperator::Remainder);
    if divides && is_zero(right) {
        return Err(EvaluateError::DivisionByZero);
    }
    match (left, right) {
        (Value::Float(a), Value::Float(b)) => Ok(Value::Float(match operator {
            BinaryOperator::Add => a + b,
            BinaryOperator::Subtract => a - b,
            BinaryOperator::Multiply => a * b,
            BinaryOperator::Divide => a / b,
            BinaryOperator::Remainder => a % b,
            _ => panic!("{operator:?} on floats"),
        })),
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(match operator {
            BinaryOperator::Add => a + b,
            BinaryOperator::Subtract => a - b,
            BinaryOperator::Multiply => a * b,
            BinaryOperator::Divide => a / b,
            BinaryOperator::Remainder => a % b,
            _ => panic!("{operator:?} on doubles"),
        })),
        (Value::Decimal { unscaled: a, scale: a_scale, .. }, Value::Decimal { unscaled: b, scale: b_scale, .. }) => {
            let to = operator.result_type(left_type, right_type);
            decimal::evaluate(operator, (*a, *a_scale), (*b, *b_scale), to).ok_or_else(overflow)
        }
        _ => {
            let (Some(a), Some(b)) = (integer(left), integer(right)) else {
                panic!("{operator:?} on {left:?} and {right:?}");
            };
            // Two operands of at most 64 bits: the exact result always fits in 128.
            let exact = match operator {
                BinaryOperator::Add => a + b,
                BinaryOperator::Subtract => a - b,
                BinaryOperator::Multiply => a * b,
                BinaryOperator::IntegerDivide => a / b,
                BinaryOperator::Remainder => a % b,
                _ => panic!("{operator:?} on integers"),
            };
            integral_value(exact, left_type).ok_or_else(overflow)
        }
    }
}

/// `-value`.
pub(super) fn negate(value: &Value) -> Result<Value, EvaluateError> {
    Ok(match value {
        Value::Null => Value::Null,
        Value::Float(x) => Value::Float(-x),
        Value::Double(x) => Value::Double(-x),
        Value::Decimal { unscaled, precision, scale } => {
            // At most 38 digits: far from the end of the range.
            Value::Decimal { unscaled: unscaled.wrapping_neg(), precision: *precision, scale: *scale }
        }
        _ => {
            let (Some(x), Some(data_type)) = (integer(value), value.primitive_type()) else {
                panic!("negation of {value:?}");
            };
            integral_value(-x, data_type)
                .ok_or_else(|| EvaluateError::Overflow { operation: format!("-({value})"), data_type })?
        }
    })
}

/// The number of a value of one of the four integer types.
pub(super) fn integer(value: &Value) -> Option<i128> {
    match value {
        Value::Byte(x) => Some((*x).into()),
        Value::Short(x) => Some((*x).into()),
        Value::Integer(x) => Some((*x).into()),
        Value::Long(x) => Some((*x).into()),
        _ => None,
    }
}

/// A number as a value of an integer type; `None` when it does not fit, or the type is no integer type.
pub(super) fn integral_value(number: i128, data_type: PrimitiveType) -> Option<Value> {
    match data_type {
        PrimitiveType::Byte => number.try_into().ok().map(Value::Byte),
        PrimitiveType::Short => number.try_into().ok().map(Value::Short),
        PrimitiveType::Integer => number.try_into().ok().map(Value::Integer),
        PrimitiveType::Long => number.try_into().ok().map(Value::Long),
        _ => None,
    }
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Float(x) => *x == 0.0,
        Value::Double(x) => *x == 0.0,
        Value::Decimal { unscaled, .. } => *unscaled == 0,
        other => integer(other) == Some(0),
    }
}

fn symbol(operator: BinaryOperator) -> &'static str {
    match operator {
        BinaryOperator::Add => "+",
        BinaryOperator::Subtract => "-",
        BinaryOperator::Multiply => "*",
        BinaryOperator::Divide => "/",
        BinaryOperator::IntegerDivide => "DIV",
        BinaryOperator::Remainder => "%",
        _ => "?",
    }
}
