//! DISTINCT and the set operations: rows are the same when their columns are, NULL like NULL and NaN like NaN.

use arrow::{
    array::UInt32Array,
    row::{RowConverter, Rows as Keys, SortField},
};
use hashbrown::{HashMap, HashSet};

use super::Rows;
use crate::{
    execute::{ExecuteError, evaluate::canonical},
    sql::statement::SetOperator,
};

/// The first of the rows that agree in their first `width` columns, in order.
pub(super) fn distinct(rows: Rows, width: usize) -> Result<Rows, ExecuteError> {
    let keys = keys(&converter(&rows, width)?, &rows, width)?;
    let mut seen = HashSet::with_capacity(rows.length);
    let kept = positions(rows.length, |row| seen.insert(keys.row(row)));
    rows.take(&kept)
}

/// `left operator [ALL] right`. Rows come in the order of the left side, then of the right.
pub(super) fn combine(operator: SetOperator, all: bool, left: Rows, right: Rows) -> Result<Rows, ExecuteError> {
    let width = left.columns.len();
    if right.columns.len() != width {
        return Err(ExecuteError::Width { found: right.columns.len(), wanted: width });
    }
    if operator == SetOperator::Union {
        let rows = left.append(right)?;
        return if all { Ok(rows) } else { distinct(rows, width) };
    }
    let converter = converter(&left, width)?;
    let (ours, theirs) = (keys(&converter, &left, width)?, keys(&converter, &right, width)?);
    let mut count: HashMap<_, usize> = HashMap::with_capacity(right.length);
    for row in 0..right.length {
        *count.entry(theirs.row(row)).or_default() += 1;
    }
    let mut seen = HashSet::new();
    let intersect = operator == SetOperator::Intersect;
    let kept = positions(left.length, |row| {
        let key = ours.row(row);
        if !all {
            return count.contains_key(&key) == intersect && seen.insert(key);
        }
        // Each row on the right stands for one on the left.
        match count.get_mut(&key) {
            Some(n) if *n > 0 => {
                *n -= 1;
                intersect
            }
            _ => !intersect,
        }
    });
    left.take(&kept)
}

fn positions(length: usize, mut keep: impl FnMut(usize) -> bool) -> UInt32Array {
    (0..length).filter(|row| keep(*row)).map(|row| row as u32).collect()
}

fn converter(rows: &Rows, width: usize) -> Result<RowConverter, ExecuteError> {
    let fields = rows.columns.iter().take(width).map(|column| SortField::new(column.data_type().clone()));
    RowConverter::new(fields.collect()).map_err(ExecuteError::plumbing("comparing rows"))
}

fn keys(converter: &RowConverter, rows: &Rows, width: usize) -> Result<Keys, ExecuteError> {
    let columns: Vec<_> = rows.columns.iter().take(width).map(canonical).collect();
    converter.convert_columns(&columns).map_err(ExecuteError::plumbing("comparing rows"))
}
