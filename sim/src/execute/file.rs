//! UPDATE and DELETE on the rows of one data file.

use arrow::{
    array::{Array, ArrayRef, BooleanArray, RecordBatch},
    compute::{self, kernels::zip::zip},
};
use log_core::{batch::from_columns, expression::Expression, schema::Schema};

use super::{
    ExecuteError,
    evaluate::{evaluate, matching},
};
use crate::sql::bound::{BoundDelete, BoundUpdate};

/// A data file with rows that a statement meant.
#[derive(Clone, PartialEq, Debug)]
pub struct Rewritten {
    /// The rows that the table has from now on in place of the file's: for an UPDATE all of them, for a DELETE those that stay.
    pub batch: RecordBatch,
    /// How many rows the statement meant.
    pub matched: usize,
}

/// Runs an UPDATE on the rows of a data file, which have all columns of the table. `None` when it means none of them.
///
/// # Errors
/// When an expression fails on a row that is meant, or gives NULL for a NOT NULL column; a predicate may fail on any row.
pub fn update(
    statement: &BoundUpdate,
    schema: &Schema,
    batch: &RecordBatch,
) -> Result<Option<Rewritten>, ExecuteError> {
    let Some(mask) = meant(statement.predicate.as_ref(), batch)? else { return Ok(None) };
    let width = schema.fields.len();
    for found in [batch.num_columns(), statement.assignments.len()] {
        if found != width {
            return Err(ExecuteError::Width { found, wanted: width });
        }
    }
    let mut columns = Vec::with_capacity(width);
    for ((assignment, field), old) in statement.assignments.iter().zip(&schema.fields).zip(batch.columns()) {
        let Some(expression) = assignment else {
            columns.push(old.clone());
            continue;
        };
        let new = assign(expression, batch, &mask, old)?;
        if !field.nullable && new.null_count() > 0 {
            // A NULL that was there before is not this statement's fault.
            let nulls = compute::is_null(&new).map_err(ExecuteError::plumbing("looking for NULL"))?;
            let both = compute::and(&nulls, &mask).map_err(ExecuteError::plumbing("looking for NULL"))?;
            if both.true_count() > 0 {
                return Err(ExecuteError::NotNull { column: field.name.clone() });
            }
        }
        columns.push(new);
    }
    let matched = mask.true_count();
    let batch =
        from_columns(batch.schema(), columns, batch.num_rows()).map_err(ExecuteError::plumbing("rebuilding rows"))?;
    Ok(Some(Rewritten { batch, matched }))
}

/// Runs a DELETE on the rows of a data file. `None` when it means none of them.
///
/// # Errors
/// When the predicate fails on some row.
pub fn delete(statement: &BoundDelete, batch: &RecordBatch) -> Result<Option<Rewritten>, ExecuteError> {
    let Some(mask) = meant(statement.predicate.as_ref(), batch)? else { return Ok(None) };
    let stay = compute::not(&mask).map_err(ExecuteError::plumbing("NOT"))?;
    let rest = compute::filter_record_batch(batch, &stay).map_err(ExecuteError::plumbing("dropping rows"))?;
    Ok(Some(Rewritten { batch: rest, matched: mask.true_count() }))
}

/// The rows that a statement means, `None` when there are none.
fn meant(predicate: Option<&Expression>, batch: &RecordBatch) -> Result<Option<BooleanArray>, ExecuteError> {
    let mask = match predicate {
        Some(predicate) => matching(predicate, batch)?,
        None => BooleanArray::from(vec![true; batch.num_rows()]),
    };
    Ok((mask.true_count() > 0).then_some(mask))
}

/// The new values of a column: the expression's on the rows that are meant. On others it is not evaluated, or its failure does not count.
fn assign(
    expression: &Expression,
    batch: &RecordBatch,
    mask: &BooleanArray,
    old: &ArrayRef,
) -> Result<ArrayRef, ExecuteError> {
    let partial = mask.true_count() < mask.len();
    match evaluate(expression, batch) {
        Ok(new) if !partial => Ok(new),
        Ok(new) => zip(mask, &new, old).map_err(ExecuteError::plumbing("an assignment")),
        Err(error) if partial && error.is_about_values() => {
            let rows = compute::filter_record_batch(batch, mask).map_err(ExecuteError::plumbing("selecting rows"))?;
            let new = evaluate(expression, &rows)?;
            let mut next = 0;
            let places: Vec<(usize, usize)> = (0..mask.len())
                .map(|row| {
                    if mask.value(row) {
                        next += 1;
                        (1, next - 1)
                    } else {
                        (0, row)
                    }
                })
                .collect();
            compute::interleave(&[old.as_ref(), new.as_ref()], &places).map_err(ExecuteError::plumbing("an assignment"))
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests;
