//! A history of one table and its judgement.

use std::sync::Arc;

use conflict::isolation::IsolationLevel;

use super::{
    arrange::SEARCHED_MAX,
    memo::{EffectId, Oracle, RowsId, Run, StatementId},
    problem::{OperationRef, Problem},
    rows::Row,
};

/// What happened to one table, from some version on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableHistory {
    /// What the table promises.
    pub level: IsolationLevel,
    /// The version that the first of `operations` committed; the others follow without a gap.
    pub first_version: u64,
    /// Contents of the table before the first of `operations`: of version `first_version - 1`, or none.
    pub base: RowsId,
    /// Contents of earlier versions, the last one being `first_version - 1`: as far back as statements read by version.
    pub before: Vec<RowsId>,
    /// The committed writes, in the order of the log.
    pub operations: Vec<Operation>,
    /// The plain queries that were answered.
    pub queries: Vec<AnsweredQuery>,
}

/// A committed write.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operation {
    /// How a report calls it, for example `a: UPDATE t SET x = 1 (version 4)`.
    pub name: Arc<str>,
    /// How many of the operations were in the snapshot that it read: at most those before it.
    pub seen: usize,
    /// The statement, bound with its recorded constants. `None` for a commit that must leave the rows alone, such as CREATE TABLE or OPTIMIZE.
    pub statement: Option<StatementId>,
    /// Contents of the table at its version, as the log and its data files say.
    pub after: RowsId,
}

/// A plain query and its answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AnsweredQuery {
    /// How a report calls it.
    pub name: Arc<str>,
    /// How many of the operations were in the snapshot that it read.
    pub seen: usize,
    /// The query.
    pub statement: StatementId,
    /// What it answered.
    pub answer: Arc<[Row]>,
}

/// What the oracle thinks of a history.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Judgement {
    /// Does the history keep what the table's level promises?
    pub explained: bool,
    /// A serial order (positions in `operations`) that gives every operation its effect. `None` when there is no such order, and at
    /// SnapshotIsolation, which promises none.
    pub witness: Option<Vec<usize>>,
    /// Why it is not explained.
    pub problem: Option<Problem>,
    /// Queries whose answer none of the states along the witness gives: at WriteSerializable these are allowed, and counted. The count is for
    /// this witness; another may do better.
    pub reads_unexplained: usize,
}

/// What one operation ran and did.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Recorded {
    pub(super) run: Option<Run>,
    pub(super) effect: EffectId,
}

impl TableHistory {
    /// Contents of the table when the first `seen` operations were committed.
    pub fn contents(&self, seen: usize) -> RowsId {
        if seen == 0 { self.base } else { self.operations[seen - 1].after }
    }

    /// Contents of a version, where they are known.
    pub fn version(&self, version: u64) -> Option<RowsId> {
        if let Some(position) = version.checked_sub(self.first_version) {
            return Some(self.operations.get(usize::try_from(position).ok()?)?.after);
        }
        let back = usize::try_from(self.first_version - version).ok()?;
        match self.before.len().checked_sub(back) {
            Some(position) => Some(self.before[position]),
            None => (back == 1).then_some(self.base),
        }
    }

    /// An operation as a problem names it.
    pub(super) fn operation(&self, index: usize) -> OperationRef {
        let name = Arc::clone(&self.operations[index].name);
        OperationRef { index, version: self.first_version + index as u64, name }
    }
}

impl Oracle {
    /// Judges a history at its table's level.
    ///
    /// At every level the log must do what each operation's effect on the snapshot it read says, and each query must have been answered from the
    /// version it read. Beyond that
    ///
    /// - Serializable: every operation, run again on the contents before it in the log, has its effect. The witness is the order of the log.
    /// - WriteSerializable: some order gives every operation its effect; see [`arrange`](super::arrange).
    /// - SnapshotIsolation: nothing. (That nobody removes a file twice, or one that was read, is a matter of files and of no concern here, but an
    ///   update that was lost shows as rows that are there twice.)
    ///
    /// An operation that fails when it is run again does not have its effect.
    ///
    /// # Panics
    /// When an operation saw itself or later ones, or a query is none: that is no history.
    pub fn judge(&mut self, history: &TableHistory) -> Judgement {
        match self.explain(history) {
            Ok(witness) => {
                let reads_unexplained = self.reads_unexplained(history, witness.as_deref());
                Judgement { explained: true, witness, problem: None, reads_unexplained }
            }
            Err(problem) => Judgement { explained: false, witness: None, problem: Some(problem), reads_unexplained: 0 },
        }
    }

    fn explain(&mut self, history: &TableHistory) -> Result<Option<Vec<usize>>, Problem> {
        let recorded = self.effects_of_log(history)?;
        self.check_answers(history)?;
        if history.level == IsolationLevel::SnapshotIsolation {
            return Ok(None);
        }
        let misplaced = (0..recorded.len()).find(|&index| {
            // What was read at its place was checked already.
            history.operations[index].seen != index && !self.has_effect(recorded[index], history.contents(index))
        });
        match misplaced {
            None => Ok(Some((0..recorded.len()).collect())),
            Some(_) if history.level == IsolationLevel::WriteSerializable => {
                self.arrange(history, &recorded, SEARCHED_MAX).map(Some)
            }
            Some(index) => Err(self.not_serial(history, &recorded, index)),
        }
    }

    /// The effect of every operation on the snapshot that it read, provided that the log did that.
    pub(super) fn effects_of_log(&mut self, history: &TableHistory) -> Result<Vec<Recorded>, Problem> {
        let mut recorded = Vec::with_capacity(history.operations.len());
        for (index, operation) in history.operations.iter().enumerate() {
            assert!(operation.seen <= index, "{} saw itself or a later operation", operation.name);
            let run = operation.statement.map(|id| self.run_of(id, &|version| history.version(version)));
            let effect = match run {
                None => Ok(self.empty_effect()),
                Some(run) => self.effect(run, history.contents(operation.seen)),
            };
            let before = history.contents(index);
            match effect {
                Ok(effect) if self.step(before, effect) == Some(operation.after) => {
                    recorded.push(Recorded { run, effect });
                }
                other => return Err(self.wrong_effect(history, index, other)),
            }
        }
        Ok(recorded)
    }

    fn check_answers(&mut self, history: &TableHistory) -> Result<(), Problem> {
        for query in &history.queries {
            let run = self.run_of(query.statement, &|version| history.version(version));
            let expected = self.answer(run, history.contents(query.seen));
            if !expected.as_ref().is_ok_and(|expected| expected.accepts(&query.answer)) {
                return Err(Problem::WrongAnswer {
                    query: Arc::clone(&query.name),
                    version: history.first_version.checked_add(query.seen as u64).and_then(|next| next.checked_sub(1)),
                    expected: expected.map(|answer| answer.taken().to_vec()),
                    answered: Arc::clone(&query.answer),
                });
            }
        }
        Ok(())
    }

    /// Does an operation, run on these contents, have its recorded effect? Then the rows are there that it deletes: it found them.
    pub(super) fn has_effect(&mut self, recorded: Recorded, rows: RowsId) -> bool {
        recorded.run.is_none_or(|run| self.effect(run, rows).is_ok_and(|effect| effect == recorded.effect))
    }

    /// Does every operation have its recorded effect in this order?
    pub(super) fn replays(&mut self, base: RowsId, recorded: &[Recorded], order: &[usize]) -> bool {
        let mut rows = base;
        order.iter().all(|&index| {
            let fits = self.has_effect(recorded[index], rows);
            if let Some(next) = self.step(rows, recorded[index].effect) {
                rows = next;
            }
            fits
        })
    }

    fn reads_unexplained(&mut self, history: &TableHistory, witness: Option<&[usize]>) -> usize {
        let Some(order) = witness else { return 0 };
        if history.queries.is_empty() || order.is_sorted() {
            return 0;
        }
        let mut rows = history.base;
        let mut states = vec![rows];
        for &index in order {
            let operation = &history.operations[index];
            if let Some(statement) = operation.statement {
                let run = self.run_of(statement, &|version| history.version(version));
                let effect = self.effect(run, rows).expect("a witness replays");
                rows = self.step(rows, effect).expect("a witness replays");
            }
            states.push(rows);
        }
        let explained = |oracle: &mut Self, query: &AnsweredQuery| {
            let run = oracle.run_of(query.statement, &|version| history.version(version));
            states.iter().any(|&rows| oracle.answer(run, rows).is_ok_and(|expected| expected.accepts(&query.answer)))
        };
        history.queries.iter().filter(|query| !explained(self, query)).count()
    }
}
