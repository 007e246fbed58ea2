//! The evaluator on single values.

mod arithmetic;
mod cast;
mod decimal;
mod function;
mod like;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;

pub use cast::cast;

use super::{BinaryOperator, Expression};
use crate::{schema::PrimitiveType, value::Value};

/// Why an expression has no value.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EvaluateError {
    /// A result that its type cannot hold.
    #[error("{operation} overflows {data_type}")]
    Overflow {
        /// What was computed.
        operation: String,
        /// The type of the result.
        data_type: PrimitiveType,
    },
    /// `/`, `DIV` or `%` by zero.
    #[error("division by zero")]
    DivisionByZero,
    /// A value that CAST cannot bring to a type.
    #[error("'{text}' cannot be cast to {to}")]
    Cast {
        /// The value as text.
        text: String,
        /// The type that was asked for.
        to: PrimitiveType,
    },
}

impl Expression {
    /// The value for a row, given as the values of all columns of the table in order.
    ///
    /// Only AND, OR, CASE and COALESCE leave an operand out. All else evaluates every operand, left to right, so `NULL + 1 / 0` is an error:
    /// whether a row fails does not depend on which of its columns are NULL, and a kernel that works on whole columns agrees.
    ///
    /// # Errors
    /// Overflow, division by zero and casts that fail, as in Spark's ANSI mode.
    ///
    /// # Panics
    /// When the tree is not typed, or the row is shorter than the schema that the tree was built for: both are our own bugs.
    pub fn evaluate(&self, row: &[Value]) -> Result<Value, EvaluateError> {
        match self {
            Self::Column { index, .. } => Ok(row[*index].clone()),
            Self::Literal { value, .. } => Ok(value.clone()),
            Self::Not(value) => Ok(truth_value(truth(&value.evaluate(row)?).map(|x| !x))),
            Self::Negate(value) => arithmetic::negate(&value.evaluate(row)?),
            Self::IsNull(value) => Ok(Value::Boolean(value.evaluate(row)?.is_null())),
            Self::Binary { operator, left, right } => evaluate_binary(*operator, left, right, row),
            Self::In { value, list } => {
                let value = value.evaluate(row)?;
                let items = list.iter().map(|item| item.evaluate(row)).collect::<Result<Vec<_>, _>>()?;
                Ok(truth_value(contains(&value, &items)))
            }
            Self::Like { value, pattern, escape, ignore_case } => {
                match (value.evaluate(row)?, pattern.evaluate(row)?) {
                    (Value::String(text), Value::String(pattern)) => {
                        Ok(Value::Boolean(like::matches(&text, &pattern, *escape, *ignore_case)))
                    }
                    (text, pattern) => {
                        assert!(text.is_null() || pattern.is_null(), "LIKE on {text:?} and {pattern:?}");
                        Ok(Value::Null)
                    }
                }
            }
            Self::Case { branches, otherwise } => {
                for (condition, value) in branches {
                    if condition.matches(row)? {
                        return value.evaluate(row);
                    }
                }
                otherwise.evaluate(row)
            }
            Self::Cast { value, to, lenient } => match cast(&value.evaluate(row)?, *to) {
                Err(EvaluateError::Cast { .. }) if *lenient => Ok(Value::Null),
                result => result,
            },
            Self::Function { function, arguments } => function::evaluate(*function, arguments, row),
        }
    }

    /// Is a predicate true for a row? NULL is no match.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    pub fn matches(&self, row: &[Value]) -> Result<bool, EvaluateError> {
        Ok(self.evaluate(row)? == Value::Boolean(true))
    }
}

fn evaluate_binary(
    operator: BinaryOperator,
    left: &Expression,
    right: &Expression,
    row: &[Value],
) -> Result<Value, EvaluateError> {
    use BinaryOperator as B;
    let left_value = left.evaluate(row)?;
    if let B::And | B::Or = operator {
        // The value that decides alone: false for AND, true for OR.
        let decisive = Some(operator == B::Or);
        let left = truth(&left_value);
        if left == decisive {
            return Ok(left_value);
        }
        let right = truth(&right.evaluate(row)?);
        // An unknown side leaves the whole unknown unless the other side decides; else the right side says it.
        return Ok(truth_value(if left.is_none() && right != decisive { None } else { right }));
    }
    let right_value = right.evaluate(row)?;
    let compared = |holds: fn(Ordering) -> bool| Ok(truth_value(left_value.compare(&right_value).map(holds)));
    match operator {
        B::And | B::Or => unreachable!("handled above"),
        B::Equal => compared(Ordering::is_eq),
        B::NotEqual => compared(Ordering::is_ne),
        B::Less => compared(Ordering::is_lt),
        B::LessOrEqual => compared(Ordering::is_le),
        B::Greater => compared(Ordering::is_gt),
        B::GreaterOrEqual => compared(Ordering::is_ge),
        B::NullSafeEqual => Ok(Value::Boolean(match left_value.compare(&right_value) {
            Some(order) => order.is_eq(),
            None => left_value.is_null() && right_value.is_null(),
        })),
        B::Add | B::Subtract | B::Multiply | B::Divide | B::IntegerDivide | B::Remainder => {
            arithmetic::evaluate(operator, &left_value, &right_value)
        }
    }
}

/// The truth of a boolean, `None` for NULL.
fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Boolean(x) => Some(*x),
        Value::Null => None,
        other => panic!("{other:?} where a boolean belongs"),
    }
}

fn truth_value(truth: Option<bool>) -> Value {
    truth.map_or(Value::Null, Value::Boolean)
}

/// `value IN (items)`.
fn contains(value: &Value, items: &[Value]) -> Option<bool> {
    let mut answer = Some(false);
    for item in items {
        match value.compare(item) {
            Some(Ordering::Equal) => return Some(true),
            Some(_) => {}
            None => answer = None,
        }
    }
    answer
}
