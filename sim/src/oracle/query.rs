//! What a query answers, one row at a time.

use std::{cmp::Ordering, collections::BTreeSet};

use log_core::{expression::EvaluateError, schema::PrimitiveType, value::Value};

use super::{
    interpreter::{InterpretError, Versions, evaluate_all, is_meant},
    rows::{Row, Rows},
};
use crate::sql::{
    bound::{Aggregate, BoundBody, BoundFrom, BoundOrderBy, BoundQuery, BoundSelect},
    statement::SetOperator,
};

/// All rows of a query before its LIMIT, sorted by its ORDER BY and, where that leaves it open, by their values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    rows: Vec<Row>,
    /// Where each run of rows with equal sort keys ends. Without ORDER BY there is one run.
    ends: Vec<usize>,
    limit: Option<u64>,
}

impl Answer {
    /// The rows that the LIMIT leaves.
    ///
    /// SQL leaves open which of the rows with equal sort keys these are (all rows, without ORDER BY). Here it is the smallest by value, so that
    /// an INSERT of such a query is a function of the rows that it reads.
    pub fn taken(&self) -> &[Row] {
        &self.rows[..self.taken_len()]
    }

    /// Is this an answer that SQL allows? Rows with equal sort keys may come in any order, and a LIMIT may take any of them.
    pub fn accepts(&self, given: &[Row]) -> bool {
        if given.len() != self.taken_len() {
            return false;
        }
        let mut start = 0;
        for &end in &self.ends {
            let run = &self.rows[start..end];
            let part = &given[start.min(given.len())..end.min(given.len())];
            if part != run {
                let run: Rows = run.iter().cloned().collect();
                if run.first_missing(&part.iter().cloned().collect()).is_some() {
                    return false;
                }
            }
            start = end;
        }
        true
    }

    fn taken_len(&self) -> usize {
        let limit = self.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        limit.min(self.rows.len())
    }
}

/// The answer of a query when the table holds `rows`.
///
/// # Errors
/// When an expression has no value for one of the rows, or a version that is read is not known.
pub fn answer(query: &BoundQuery, rows: &Rows, versions: &Versions<'_>) -> Result<Answer, InterpretError> {
    let mut keyed = Vec::new();
    for mut row in rows_of(&query.body, rows, versions)? {
        let mut keys = Vec::with_capacity(query.order_by.len());
        for key in &query.order_by {
            keys.push(key.expression.evaluate(&row)?);
        }
        row.truncate(query.output.len());
        keyed.push((keys, row));
    }
    keyed.sort_by(|(a_keys, a), (b_keys, b)| compare_keys(&query.order_by, a_keys, b_keys).then_with(|| a.cmp(b)));
    let mut ends: Vec<usize> = (1..keyed.len())
        .filter(|&end| compare_keys(&query.order_by, &keyed[end - 1].0, &keyed[end].0) != Ordering::Equal)
        .collect();
    ends.push(keyed.len());
    Ok(Answer { rows: keyed.into_iter().map(|(_, row)| row).collect(), ends, limit: query.limit })
}

fn compare_keys(order_by: &[BoundOrderBy], a: &[Value], b: &[Value]) -> Ordering {
    for ((key, a), b) in order_by.iter().zip(a).zip(b) {
        let ordering = match (a.is_null(), b.is_null()) {
            (true, true) => Ordering::Equal,
            (true, false) if key.nulls_first => Ordering::Less,
            (true, false) => Ordering::Greater,
            (false, true) if key.nulls_first => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) if key.descending => b.cmp(a),
            (false, false) => a.cmp(b),
        };
        if ordering != Ordering::Equal {
            return ordering;
        }
    }
    Ordering::Equal
}

/// The rows of a body; those of a single SELECT have its hidden columns at the end.
fn rows_of(body: &BoundBody, rows: &Rows, versions: &Versions<'_>) -> Result<Vec<Row>, InterpretError> {
    match body {
        BoundBody::Select(one) => select(one, rows, versions),
        BoundBody::SetOperation { operator, all, left, right } => {
            let left = rows_of(left, rows, versions)?;
            let right = rows_of(right, rows, versions)?;
            Ok(combine(*operator, *all, left, right))
        }
    }
}

fn combine(operator: SetOperator, all: bool, left: Vec<Row>, right: Vec<Row>) -> Vec<Row> {
    if operator == SetOperator::Union {
        let both = left.into_iter().chain(right);
        return if all { both.collect() } else { both.collect::<BTreeSet<_>>().into_iter().collect() };
    }
    let left: Rows = left.into_iter().collect();
    let right: Rows = right.into_iter().collect();
    let mut result = Vec::new();
    for (row, count) in left.iter() {
        let other = right.count(row);
        let copies = match (operator, all) {
            (SetOperator::Intersect, true) => count.min(other),
            (SetOperator::Intersect, false) => u64::from(other > 0),
            (_, true) => count.saturating_sub(other),
            (_, false) => u64::from(other == 0),
        };
        result.extend((0..copies).map(|_| row.clone()));
    }
    result
}

fn select(select: &BoundSelect, rows: &Rows, versions: &Versions<'_>) -> Result<Vec<Row>, InterpretError> {
    let nothing;
    let source = match select.from {
        BoundFrom::Snapshot => rows,
        BoundFrom::Version(version) => versions(version).ok_or(InterpretError::NoVersion(version))?,
        BoundFrom::Nothing => {
            nothing = Rows::from_iter([Row::new()]);
            &nothing
        }
    };
    let mut meant = Vec::new();
    for (row, count) in source.iter() {
        if is_meant(select.predicate.as_ref(), row)? {
            meant.push((row.clone(), count));
        }
    }
    if let Some(aggregates) = &select.aggregates {
        let results: Result<Row, EvaluateError> = aggregates.iter().map(|one| aggregate(one, &meant)).collect();
        meant = vec![(results?, 1)];
    }
    let mut result = Vec::new();
    for (row, count) in &meant {
        let mut given = evaluate_all(&select.items, row)?;
        given.extend(evaluate_all(&select.hidden, row)?);
        result.extend((0..*count).map(|_| given.clone()));
    }
    if select.distinct {
        result = result.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
    }
    Ok(result)
}

fn aggregate(aggregate: &Aggregate, rows: &[(Row, u64)]) -> Result<Value, EvaluateError> {
    let argument = match aggregate {
        Aggregate::CountRows => return Ok(count(rows.iter().map(|(_, count)| count))),
        Aggregate::Count(x) | Aggregate::Sum(x) | Aggregate::Min(x) | Aggregate::Max(x) => x,
    };
    let mut values = Vec::new();
    for (row, count) in rows {
        let value = argument.evaluate(row)?;
        if !value.is_null() {
            values.push((value, *count));
        }
    }
    Ok(match aggregate {
        Aggregate::CountRows | Aggregate::Count(_) => count(values.iter().map(|(_, count)| count)),
        Aggregate::Min(_) => values.into_iter().map(|(value, _)| value).min().unwrap_or(Value::Null),
        Aggregate::Max(_) => values.into_iter().map(|(value, _)| value).max().unwrap_or(Value::Null),
        Aggregate::Sum(_) if values.is_empty() => Value::Null,
        Aggregate::Sum(_) => sum(&values, aggregate.data_type())?,
    })
}

fn count<'a>(counts: impl Iterator<Item = &'a u64>) -> Value {
    Value::Long(i64::try_from(counts.sum::<u64>()).expect("fewer than 2^63 rows"))
}

/// The sum of values with their counts. Only the total has to fit: an overflow on the way depends on the order of the rows. Floating-point
/// numbers are added in the order of the rows' values.
fn sum(values: &[(Value, u64)], data_type: PrimitiveType) -> Result<Value, EvaluateError> {
    let overflow = || EvaluateError::Overflow { operation: "sum".to_owned(), data_type };
    if data_type == PrimitiveType::Double {
        let mut total = 0.0;
        for (value, count) in values {
            for _ in 0..*count {
                total += match value {
                    Value::Float(x) => f64::from(*x),
                    Value::Double(x) => *x,
                    other => unreachable!("a sum of doubles over {other:?}"),
                };
            }
        }
        return Ok(Value::Double(total));
    }
    let mut total: i128 = 0;
    for (value, count) in values {
        let one = match value {
            Value::Byte(x) => i128::from(*x),
            Value::Short(x) => i128::from(*x),
            Value::Integer(x) => i128::from(*x),
            Value::Long(x) => i128::from(*x),
            Value::Decimal { unscaled, .. } => *unscaled,
            other => unreachable!("a sum over {other:?}"),
        };
        let part = one.checked_mul(i128::from(*count)).ok_or_else(overflow)?;
        total = total.checked_add(part).ok_or_else(overflow)?;
    }
    if let PrimitiveType::Decimal { precision, scale } = data_type {
        if total.unsigned_abs() >= 10_u128.pow(u32::from(precision)) {
            return Err(overflow());
        }
        return Ok(Value::Decimal { unscaled: total, precision, scale });
    }
    Ok(Value::Long(i64::try_from(total).map_err(|_| overflow())?))
}
