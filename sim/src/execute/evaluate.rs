//! [`Expression`]s on Arrow batches, by the contract of `log_core::expression`.
//!
//! **Branches that are not taken** (right side of AND and OR, CASE, COALESCE) must not fail, yet most never do. So a tree is first evaluated
//! *eagerly*, every node on the whole batch; only when a value fails, once more *lazily*, with such branches on just the rows that
//! take them. That is at most twice the work, however deep the tree is.

mod arithmetic;
mod compare;
mod convert;
mod decimal;
mod function;
mod like;
mod logic;
mod operand;

use arrow::{
    array::{Array, ArrayRef, BooleanArray, RecordBatch, new_empty_array},
    compute,
};
use log_core::{
    batch::{arrow_type, column, is_arrow_type},
    expression::{BinaryOperator, Expression},
};

pub(super) use self::compare::canonical;
use self::operand::{Operand, boolean};
use super::ExecuteError;

/// Is a branch evaluated on rows that do not take it?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// On all rows: fast, but an error may be one that does not count.
    Eager,
    /// Only on the rows that take it.
    Lazy,
}

/// The value of an expression for each row of a batch, whose columns are those that the expression was bound to.
///
/// # Errors
/// Overflow, division by zero and casts that fail, on some row that evaluates them.
pub fn evaluate(expression: &Expression, batch: &RecordBatch) -> Result<ArrayRef, ExecuteError> {
    evaluate_operand(expression, batch)?.into_array(batch.num_rows())
}

/// Which rows a predicate is true for: never null, NULL is no match.
///
/// # Errors
/// As [`evaluate`], and when the expression is not a predicate.
pub fn matching(predicate: &Expression, batch: &RecordBatch) -> Result<BooleanArray, ExecuteError> {
    let array = evaluate(predicate, batch)?;
    let mask = boolean(&array)?;
    Ok(if mask.null_count() == 0 { mask.clone() } else { compute::prep_null_mask_filter(mask) })
}

/// As [`evaluate`], but a value that is the same for all rows stays single.
fn evaluate_operand(expression: &Expression, batch: &RecordBatch) -> Result<Operand, ExecuteError> {
    match node(expression, batch, Mode::Eager) {
        Err(error) if error.is_about_values() => node(expression, batch, Mode::Lazy),
        other => other,
    }
}

fn node(expression: &Expression, batch: &RecordBatch, mode: Mode) -> Result<Operand, ExecuteError> {
    if batch.num_rows() == 0 {
        return Ok(Operand::Array(new_empty_array(&arrow_type(expression.data_type()))));
    }
    match expression {
        Expression::Column { index, name, data_type } => {
            let array = batch.columns().get(*index).ok_or_else(|| ExecuteError::NoColumn {
                name: name.clone(),
                index: *index,
                columns: batch.num_columns(),
            })?;
            if !is_arrow_type(array.data_type(), *data_type) {
                return Err(ExecuteError::Type {
                    place: format!("column '{name}'"),
                    found: array.data_type().clone(),
                    wanted: data_type.to_string(),
                });
            }
            Ok(Operand::Array(array.clone()))
        }
        Expression::Literal { value, data_type } => {
            Ok(Operand::scalar(column(*data_type, std::slice::from_ref(value))?))
        }
        Expression::Not(value) => logic::not(&node(value, batch, mode)?),
        Expression::Negate(value) => arithmetic::negate(&node(value, batch, mode)?, value.data_type()),
        Expression::IsNull(value) => logic::is_null(&node(value, batch, mode)?),
        Expression::Binary { operator: operator @ (BinaryOperator::And | BinaryOperator::Or), left, right } => {
            logic::connect(*operator, left, right, batch, mode)
        }
        Expression::Binary { operator, left, right } => {
            let (a, b) = (node(left, batch, mode)?, node(right, batch, mode)?);
            if operator.is_predicate() {
                compare::compare(*operator, &a, &b)
            } else {
                arithmetic::binary(*operator, &a, &b, left.data_type(), right.data_type())
            }
        }
        Expression::In { value, list } => {
            let value = node(value, batch, mode)?;
            let items = list.iter().map(|item| node(item, batch, mode));
            compare::is_in(&value, items)
        }
        Expression::Like { value, pattern, escape, ignore_case } => {
            like::like(&node(value, batch, mode)?, &node(pattern, batch, mode)?, *escape, *ignore_case)
        }
        Expression::Case { branches, otherwise } => logic::case(branches, otherwise, batch, mode),
        Expression::Cast { value, to, lenient } => {
            convert::cast(&node(value, batch, mode)?, value.data_type(), *to, *lenient)
        }
        Expression::Function { function, arguments } => function::call(*function, arguments, batch, mode),
    }
}

#[cfg(test)]
mod tests;
