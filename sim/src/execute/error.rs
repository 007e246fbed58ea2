//! Why a statement cannot run on its rows.

use std::sync::Arc;

use arrow::{datatypes::DataType as ArrowType, error::ArrowError};
use log_core::{batch::BatchError, expression::EvaluateError, schema::PrimitiveType};

/// Why a statement cannot run on its rows. The first five are about the rows, the others about how the call was put together.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ExecuteError {
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
    /// NULL for a column that is NOT NULL.
    #[error("NULL for column '{column}', which is NOT NULL")]
    NotNull {
        /// The column.
        column: String,
    },
    /// Rows that do not have a column that the statement speaks of.
    #[error("column '{name}' (position {index}) is not among the {columns} columns of the rows")]
    NoColumn {
        /// The name.
        name: String,
        /// The position that the statement was bound to.
        index: usize,
        /// How many columns there are.
        columns: usize,
    },
    /// A column or an operand of another type than the expression was bound to.
    #[error("{place} is {found}, expected {wanted}")]
    Type {
        /// Where.
        place: String,
        /// The type it has.
        found: ArrowType,
        /// The type it should have.
        wanted: String,
    },
    /// Another number of columns than the table or the query has.
    #[error("{found} columns where {wanted} belong")]
    Width {
        /// How many there are.
        found: usize,
        /// How many there should be.
        wanted: usize,
    },
    /// A function with too few arguments.
    #[error("{function} with {found} arguments")]
    Arguments {
        /// The function.
        function: String,
        /// How many it was given.
        found: usize,
    },
    /// Rows that Arrow cannot hold.
    #[error("rows do not fit their schema")]
    Batch(#[source] Arc<BatchError>),
    /// Another refusal by Arrow.
    #[error("arrow failed at {operation}")]
    Arrow {
        /// What was computed.
        operation: &'static str,
        /// What it said.
        #[source]
        source: Arc<ArrowError>,
    },
}

impl ExecuteError {
    /// Turns what an Arrow kernel says into an error of the operation.
    pub(super) fn arrow(operation: &'static str, data_type: PrimitiveType) -> impl Fn(ArrowError) -> Self {
        move |source| match source {
            ArrowError::ArithmeticOverflow(_) => Self::Overflow { operation: operation.to_owned(), data_type },
            ArrowError::DivideByZero => Self::DivisionByZero,
            source => Self::Arrow { operation, source: Arc::new(source) },
        }
    }

    /// An error of an Arrow call that computes nothing.
    pub(super) fn plumbing(operation: &'static str) -> impl Fn(ArrowError) -> Self {
        move |source| Self::Arrow { operation, source: Arc::new(source) }
    }

    /// Is it about the values of the rows, so that other rows could do without it?
    pub fn is_about_values(&self) -> bool {
        matches!(self, Self::Overflow { .. } | Self::DivisionByZero | Self::Cast { .. } | Self::NotNull { .. })
    }
}

impl From<BatchError> for ExecuteError {
    fn from(error: BatchError) -> Self {
        Self::Batch(Arc::new(error))
    }
}

impl From<EvaluateError> for ExecuteError {
    fn from(error: EvaluateError) -> Self {
        match error {
            EvaluateError::Overflow { operation, data_type } => Self::Overflow { operation, data_type },
            EvaluateError::DivisionByZero => Self::DivisionByZero,
            EvaluateError::Cast { text, to } => Self::Cast { text, to },
        }
    }
}
