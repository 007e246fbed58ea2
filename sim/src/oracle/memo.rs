//! What the oracle remembers. A search judges many histories that share their statements and contents: each effect is computed once.

use std::{hash::Hash, sync::Arc};

use log_core::expression::Expression;
use rustc_hash::FxHashMap;

use super::{
    interpreter::{Effect, InterpretError, effect, footprint, versions_read},
    query::{Answer, answer},
    rows::{Net, Row, Rows},
};
use crate::sql::bound::Bound;

/// Contents of a table that the oracle knows. Two ids of one oracle are equal when the contents are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct RowsId(u32);

/// A statement that the oracle knows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct StatementId(u32);

/// An effect that the oracle knows. Two ids are equal when the effects are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct EffectId(u32);

/// A statement with what it reads by version: all that its effect depends on besides the rows of its snapshot.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Run {
    pub(super) statement: StatementId,
    travel: u32,
}

/// The judge. It keeps what it computed, so judge related histories with one oracle; ids of one mean nothing to another.
#[derive(Default, Debug)]
pub struct Oracle {
    rows: Interner<Rows>,
    statements: Interner<Bound>,
    readings: Vec<Reading>,
    effects: Interner<Effect>,
    nets: Vec<Vec<(Row, i64)>>,
    travels: Interner<Vec<(u64, Option<RowsId>)>>,
    computed: FxHashMap<(Run, RowsId), Result<EffectId, Arc<InterpretError>>>,
    steps: FxHashMap<(RowsId, EffectId), Option<RowsId>>,
    relevance: FxHashMap<(EffectId, StatementId), Option<u32>>,
    answers: FxHashMap<(Run, RowsId), Result<Arc<Answer>, Arc<InterpretError>>>,
}

/// What a statement reads.
#[derive(Debug)]
struct Reading {
    filters: Vec<Option<Expression>>,
    versions: Vec<u64>,
}

impl Oracle {
    /// An oracle that knows nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The id of contents.
    pub fn intern(&mut self, rows: Rows) -> RowsId {
        RowsId(self.rows.id(rows))
    }

    /// The contents of an id.
    pub fn rows(&self, id: RowsId) -> &Arc<Rows> {
        self.rows.get(id.0)
    }

    /// The id of a statement, bound with its recorded constants.
    pub fn statement(&mut self, bound: &Arc<Bound>) -> StatementId {
        if let Some(id) = self.statements.find(bound) {
            return StatementId(id);
        }
        self.readings.push(Reading { filters: footprint(bound), versions: versions_read(bound) });
        StatementId(self.statements.id(Arc::clone(bound)))
    }

    /// A statement together with the contents of the versions that it reads.
    pub(super) fn run_of(&mut self, statement: StatementId, version: &dyn Fn(u64) -> Option<RowsId>) -> Run {
        let versions = &self.readings[statement.0 as usize].versions;
        let travel = versions.iter().map(|&number| (number, version(number))).collect::<Vec<_>>();
        Run { statement, travel: self.travels.id(travel) }
    }

    /// The effect of a statement on contents.
    pub(super) fn effect(&mut self, run: Run, rows: RowsId) -> Result<EffectId, Arc<InterpretError>> {
        if let Some(known) = self.computed.get(&(run, rows)) {
            return known.clone();
        }
        let bound = self.statements.get(run.statement.0);
        let result = self.with_versions(run, |versions| effect(bound, self.rows.get(rows.0), versions));
        let result = result.map(|effect| self.intern_effect(effect)).map_err(Arc::new);
        self.computed.insert((run, rows), result.clone());
        result
    }

    /// The effect of a commit without a statement: none.
    pub(super) fn empty_effect(&mut self) -> EffectId {
        self.intern_effect(Effect::default())
    }

    pub(super) fn effect_of_id(&self, id: EffectId) -> &Arc<Effect> {
        self.effects.get(id.0)
    }

    fn intern_effect(&mut self, effect: Effect) -> EffectId {
        let id = self.effects.id(effect);
        if id as usize == self.nets.len() {
            let effect = self.effects.get(id);
            let net: Net = effect.deleted.difference(&effect.inserted);
            self.nets.push(net.iter().map(|(row, count)| (row.clone(), count)).collect());
        }
        EffectId(id)
    }

    /// The contents after an effect, `None` when it deletes a row that is not there.
    pub(super) fn step(&mut self, rows: RowsId, effect: EffectId) -> Option<RowsId> {
        if let Some(known) = self.steps.get(&(rows, effect)) {
            return *known;
        }
        let Effect { deleted, inserted } = &**self.effects.get(effect.0);
        let mut next = Rows::clone(self.rows.get(rows.0));
        let all_there = deleted.iter().all(|(row, count)| next.remove(row, count).is_ok());
        inserted.iter().for_each(|(row, count)| next.add(row.clone(), count));
        let result = all_there.then(|| self.intern(next));
        self.steps.insert((rows, effect), result);
        result
    }

    /// A row whose count the effect changes and that the statement reads, and by how much; `None` when no such row exists: then the
    /// statement does the same before and after the effect.
    pub(super) fn relevant(&mut self, effect: EffectId, statement: StatementId) -> Option<&(Row, i64)> {
        let net = &self.nets[effect.0 as usize];
        let found = *self.relevance.entry((effect, statement)).or_insert_with(|| {
            let filters = &self.readings[statement.0 as usize].filters;
            // A predicate that has no value for a row would fail the statement: that is a reaction to the row, too.
            let reads = |row: &Row| {
                let reads_row = |filter: &Expression| filter.matches(row).unwrap_or(true);
                filters.iter().any(|filter| filter.as_ref().is_none_or(reads_row))
            };
            net.iter().position(|(row, _)| reads(row)).map(|position| position as u32)
        });
        found.map(|position| &net[position as usize])
    }

    /// The answer of a query on contents.
    ///
    /// # Panics
    /// When the statement is no query.
    pub(super) fn answer(&mut self, run: Run, rows: RowsId) -> Result<Arc<Answer>, Arc<InterpretError>> {
        if let Some(known) = self.answers.get(&(run, rows)) {
            return known.clone();
        }
        let Bound::Select(query) = &**self.statements.get(run.statement.0) else {
            panic!("an answered query that is no query");
        };
        let result = self.with_versions(run, |versions| answer(query, self.rows.get(rows.0), versions));
        let result = result.map(Arc::new).map_err(Arc::new);
        self.answers.insert((run, rows), result.clone());
        result
    }

    fn with_versions<R>(&self, run: Run, f: impl FnOnce(&super::interpreter::Versions<'_>) -> R) -> R {
        let travel = self.travels.get(run.travel);
        f(&|number| {
            let (_, rows) = travel.iter().find(|(version, _)| *version == number)?;
            rows.map(|id| &**self.rows.get(id.0))
        })
    }
}

/// Numbers values: equal values, equal numbers.
#[derive(Debug)]
struct Interner<T> {
    ids: FxHashMap<Arc<T>, u32>,
    values: Vec<Arc<T>>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Self { ids: FxHashMap::default(), values: Vec::new() }
    }
}

impl<T: Hash + Eq> Interner<T> {
    fn find(&self, value: &T) -> Option<u32> {
        self.ids.get(value).copied()
    }

    fn id(&mut self, value: impl Into<Arc<T>> + std::borrow::Borrow<T>) -> u32 {
        if let Some(id) = self.find(value.borrow()) {
            return id;
        }
        let value = value.into();
        let id = u32::try_from(self.values.len()).expect("fewer than 2^32 values");
        self.values.push(Arc::clone(&value));
        self.ids.insert(value, id);
        id
    }

    fn get(&self, id: u32) -> &Arc<T> {
        &self.values[id as usize]
    }
}
