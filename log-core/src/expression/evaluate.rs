//! The evaluator on single values.

use super::Expression;
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
    /// # Errors
    /// Overflow, division by zero and casts that fail, as in Spark's ANSI mode.
    pub fn evaluate(&self, _row: &[Value]) -> Result<Value, EvaluateError> {
        unimplemented!()
    }

    /// Is a predicate true for a row? NULL is no match.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    pub fn matches(&self, row: &[Value]) -> Result<bool, EvaluateError> {
        Ok(self.evaluate(row)? == Value::Boolean(true))
    }
}

/// CAST of one value.
///
/// # Errors
/// When the type cannot represent the value.
pub fn cast(_value: &Value, _to: PrimitiveType) -> Result<Value, EvaluateError> {
    unimplemented!()
}
