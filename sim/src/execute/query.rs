//! Queries over the rows of a table.

mod aggregate;
mod duplicates;

use std::sync::Arc;

use arrow::{
    array::{Array, ArrayRef, RecordBatch, UInt32Array, new_empty_array},
    compute::{SortColumn, SortOptions, concat, filter_record_batch, lexsort_to_indices, take},
    datatypes::{Field as ArrowField, Schema as ArrowSchema},
};
use log_core::{
    batch::{arrow_type, from_columns},
    expression::Expression,
};

use super::{
    ExecuteError,
    evaluate::{canonical, evaluate, matching},
};
use crate::sql::bound::{BoundBody, BoundFrom, BoundOrderBy, BoundQuery, BoundSelect};

/// The answer to a query. `source` gives the rows of the table, in batches with all its columns; it is not asked for [`BoundFrom::Nothing`].
///
/// Rows that ORDER BY leaves equal stay in the order in which they were read.
///
/// # Errors
/// When an expression fails, and what `source` says.
pub fn run<E: From<ExecuteError>>(
    query: &BoundQuery,
    source: &mut dyn FnMut(BoundFrom) -> Result<Vec<RecordBatch>, E>,
) -> Result<RecordBatch, E> {
    let mut rows = body(&query.body, source)?;
    if !query.order_by.is_empty() {
        let order = order(&query.order_by, &rows, query.limit)?;
        rows = rows.take(&order)?;
    } else if let Some(limit) = query.limit {
        rows = rows.first(usize::try_from(limit).unwrap_or(usize::MAX));
    }
    Ok(rows.output(query)?)
}

/// Rows on their way: columns without names, among them hidden ones.
struct Rows {
    columns: Vec<ArrayRef>,
    length: usize,
}

impl Rows {
    fn take(self, indices: &UInt32Array) -> Result<Self, ExecuteError> {
        let take = |column: &ArrayRef| take(column, indices, None).map_err(ExecuteError::plumbing("selecting rows"));
        Ok(Self { columns: self.columns.iter().map(take).collect::<Result<_, _>>()?, length: indices.len() })
    }

    fn first(self, limit: usize) -> Self {
        let length = limit.min(self.length);
        Self { columns: self.columns.iter().map(|column| column.slice(0, length)).collect(), length }
    }

    /// The rows of this, then those of the other.
    fn append(self, other: Self) -> Result<Self, ExecuteError> {
        if self.columns.len() != other.columns.len() {
            return Err(ExecuteError::Width { found: other.columns.len(), wanted: self.columns.len() });
        }
        let columns = self.columns.iter().zip(&other.columns).map(|(a, b)| {
            concat(&[a.as_ref(), b.as_ref()]).map_err(ExecuteError::plumbing("joining the sides of a UNION"))
        });
        Ok(Self { columns: columns.collect::<Result<_, _>>()?, length: self.length + other.length })
    }

    /// As a batch with columns that have no names.
    fn batch(&self) -> Result<RecordBatch, ExecuteError> {
        let field = |column: &ArrayRef| ArrowField::new("", column.data_type().clone(), true);
        let schema = ArrowSchema::new(self.columns.iter().map(field).collect::<Vec<_>>());
        from_columns(Arc::new(schema), self.columns.clone(), self.length)
            .map_err(ExecuteError::plumbing("building rows"))
    }

    /// The answer, without hidden columns.
    fn output(mut self, query: &BoundQuery) -> Result<RecordBatch, ExecuteError> {
        if self.columns.len() < query.output.len() {
            return Err(ExecuteError::Width { found: self.columns.len(), wanted: query.output.len() });
        }
        self.columns.truncate(query.output.len());
        let field = |(name, data_type): &(String, _)| ArrowField::new(name, arrow_type(*data_type), true);
        let schema = ArrowSchema::new(query.output.iter().map(field).collect::<Vec<_>>());
        from_columns(Arc::new(schema), self.columns, self.length).map_err(ExecuteError::plumbing("building the answer"))
    }
}

fn body<E: From<ExecuteError>>(
    body: &BoundBody,
    source: &mut dyn FnMut(BoundFrom) -> Result<Vec<RecordBatch>, E>,
) -> Result<Rows, E> {
    match body {
        BoundBody::Select(select) => {
            let batches = match select.from {
                BoundFrom::Nothing => vec![one_row()?],
                from => source(from)?,
            };
            Ok(run_select(select, batches)?)
        }
        BoundBody::SetOperation { operator, all, left, right } => {
            let (left, right) = (self::body(left, source)?, self::body(right, source)?);
            Ok(duplicates::combine(*operator, *all, left, right)?)
        }
    }
}

/// One row without columns: what a SELECT without FROM reads, and what constants are evaluated on.
pub(super) fn one_row() -> Result<RecordBatch, ExecuteError> {
    from_columns(Arc::new(ArrowSchema::empty()), Vec::new(), 1).map_err(ExecuteError::plumbing("building a row"))
}

fn run_select(select: &BoundSelect, batches: Vec<RecordBatch>) -> Result<Rows, ExecuteError> {
    let mut meant = Vec::with_capacity(batches.len());
    for batch in batches {
        let batch = match &select.predicate {
            Some(predicate) => {
                let mask = matching(predicate, &batch)?;
                if mask.true_count() == mask.len() {
                    batch
                } else {
                    filter_record_batch(&batch, &mask).map_err(ExecuteError::plumbing("WHERE"))?
                }
            }
            None => batch,
        };
        if batch.num_rows() > 0 {
            meant.push(batch);
        }
    }
    if let Some(aggregates) = &select.aggregates {
        let columns = aggregates.iter().map(|a| aggregate::compute(a, &meant)).collect::<Result<Vec<_>, _>>()?;
        meant = vec![Rows { columns, length: 1 }.batch()?];
    }
    let mut columns = Vec::with_capacity(select.items.len() + select.hidden.len());
    for expression in select.items.iter().chain(&select.hidden) {
        columns.push(project(expression, &meant)?);
    }
    let rows = Rows { columns, length: meant.iter().map(RecordBatch::num_rows).sum() };
    if select.distinct { duplicates::distinct(rows, select.items.len()) } else { Ok(rows) }
}

/// The values of an expression over batches, in one column.
fn project(expression: &Expression, batches: &[RecordBatch]) -> Result<ArrayRef, ExecuteError> {
    match batches {
        [] => Ok(new_empty_array(&arrow_type(expression.data_type()))),
        [batch] => evaluate(expression, batch),
        batches => {
            let pieces = batches.iter().map(|batch| evaluate(expression, batch)).collect::<Result<Vec<_>, _>>()?;
            let pieces: Vec<&dyn Array> = pieces.iter().map(|piece| piece.as_ref()).collect();
            concat(&pieces).map_err(ExecuteError::plumbing("joining batches"))
        }
    }
}

/// The positions of the rows in the order of the keys.
fn order(keys: &[BoundOrderBy], rows: &Rows, limit: Option<u64>) -> Result<UInt32Array, ExecuteError> {
    let batch = rows.batch()?;
    let mut columns = Vec::with_capacity(keys.len() + 1);
    for key in keys {
        let values = canonical(&evaluate(&key.expression, &batch)?);
        let options = SortOptions { descending: key.descending, nulls_first: key.nulls_first };
        columns.push(SortColumn { values, options: Some(options) });
    }
    // Arrow's sort is not stable; the position as the last key makes it so.
    let positions = UInt32Array::from_iter_values(0..u32::try_from(rows.length).unwrap_or(u32::MAX));
    columns.push(SortColumn { values: Arc::new(positions), options: None });
    let limit = limit.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX));
    lexsort_to_indices(&columns, limit).map_err(ExecuteError::plumbing("ORDER BY"))
}

#[cfg(test)]
mod tests;
