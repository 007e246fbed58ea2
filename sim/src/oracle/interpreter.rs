//! What a statement does to the rows that it reads: one row at a time, as the manual says it, with nothing clever.

use log_core::{
    expression::{EvaluateError, Expression},
    value::Value,
};

use super::{
    query::answer,
    rows::{Row, Rows},
};
use crate::sql::bound::{Bound, BoundBody, BoundFrom, BoundInsert, BoundQuery};

/// The rows that a statement deleted and inserted.
///
/// An UPDATE deletes the rows that it matched as they were and inserts them as they became, also where nothing changed. Rows that a writer
/// merely copies into a new file are in neither.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub struct Effect {
    /// Rows that are gone afterwards.
    pub deleted: Rows,
    /// Rows that are new afterwards.
    pub inserted: Rows,
}

/// Why a statement has no effect, or a query no answer.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InterpretError {
    /// An expression has no value.
    #[error(transparent)]
    Evaluate(#[from] EvaluateError),
    /// A read of a version whose contents are not known.
    #[error("the contents of version {0} are not known")]
    NoVersion(u64),
}

/// The contents of another version of the table, for reads by `VERSION AS OF`.
pub type Versions<'a> = dyn Fn(u64) -> Option<&'a Rows> + 'a;

/// What a statement does when the table holds `rows`. A query does nothing.
///
/// An INSERT of a query with LIMIT inserts the rows that [`Answer::taken`](super::query::Answer::taken) says.
///
/// # Errors
/// When an expression has no value for one of the rows, or a version that is read is not known.
pub fn effect(bound: &Bound, rows: &Rows, versions: &Versions<'_>) -> Result<Effect, InterpretError> {
    let mut effect = Effect::default();
    match bound {
        Bound::Select(_) => {}
        Bound::Delete(delete) => {
            for (row, count) in rows.iter() {
                if is_meant(delete.predicate.as_ref(), row)? {
                    effect.deleted.add(row.clone(), count);
                }
            }
        }
        Bound::Update(update) => {
            for (row, count) in rows.iter() {
                if is_meant(update.predicate.as_ref(), row)? {
                    let mut new = row.clone();
                    for (value, assignment) in new.iter_mut().zip(&update.assignments) {
                        if let Some(expression) = assignment {
                            *value = expression.evaluate(row)?;
                        }
                    }
                    effect.deleted.add(row.clone(), count);
                    effect.inserted.add(new, count);
                }
            }
        }
        Bound::Insert(BoundInsert::Values(list)) => {
            for expressions in list {
                effect.inserted.add(evaluate_all(expressions, &[])?, 1);
            }
        }
        Bound::Insert(BoundInsert::Query { query, columns }) => {
            for row in answer(query, rows, versions)?.taken() {
                effect.inserted.add(evaluate_all(columns, row)?, 1);
            }
        }
    }
    Ok(effect)
}

/// Does a WHERE mean this row? NULL is no match, no WHERE means all.
pub(super) fn is_meant(predicate: Option<&Expression>, row: &[Value]) -> Result<bool, EvaluateError> {
    predicate.map_or(Ok(true), |predicate| predicate.matches(row))
}

/// A row of the values of expressions over another row.
pub(super) fn evaluate_all(expressions: &[Expression], row: &[Value]) -> Result<Row, EvaluateError> {
    expressions.iter().map(|expression| expression.evaluate(row)).collect()
}

/// The predicates by which a write reads the rows of its snapshot; `None` stands for all rows. A write that has none reads nothing.
///
/// The effect of the statement is a function of the rows that at least one of these matches, provided that none of these errs on a row.
/// Reads by version are constants and not in here.
pub(super) fn footprint(bound: &Bound) -> Vec<Option<Expression>> {
    let mut filters = Vec::new();
    match bound {
        Bound::Update(update) => filters.push(update.predicate.clone()),
        Bound::Delete(delete) => filters.push(delete.predicate.clone()),
        Bound::Insert(BoundInsert::Values(_)) => {}
        Bound::Insert(BoundInsert::Query { query, .. }) | Bound::Select(query) => {
            visit_selects(query, &mut |from, filter| {
                if from == BoundFrom::Snapshot {
                    filters.push(filter.cloned());
                }
            })
        }
    }
    filters
}

/// The versions that a statement reads by number, in order, each once.
pub(super) fn versions_read(bound: &Bound) -> Vec<u64> {
    let mut versions = Vec::new();
    if let Bound::Insert(BoundInsert::Query { query, .. }) | Bound::Select(query) = bound {
        visit_selects(query, &mut |from, _| {
            if let BoundFrom::Version(version) = from {
                versions.push(version);
            }
        });
    }
    versions.sort_unstable();
    versions.dedup();
    versions
}

fn visit_selects(query: &BoundQuery, visit: &mut impl FnMut(BoundFrom, Option<&Expression>)) {
    let mut bodies = vec![&query.body];
    while let Some(body) = bodies.pop() {
        match body {
            BoundBody::Select(select) => visit(select.from, select.predicate.as_ref()),
            BoundBody::SetOperation { left, right, .. } => bodies.extend([&**right, &**left]),
        }
    }
}
