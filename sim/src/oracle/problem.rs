//! What is wrong with a history, in words.

use std::{fmt, sync::Arc};

use super::{
    interpreter::{Effect, InterpretError},
    judge::{Recorded, TableHistory},
    memo::{EffectId, Oracle},
    rows::{Net, Row, Rows, ShownRow},
};

/// An operation of a history, as a report names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OperationRef {
    /// Its position among the operations.
    pub index: usize,
    /// The version that it committed.
    pub version: u64,
    /// Its name.
    pub name: Arc<str>,
}

impl fmt::Display for OperationRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Why a history is not explained.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Problem {
    /// The log did something else than the operation does on the snapshot that it read.
    WrongEffect {
        /// The operation.
        operation: OperationRef,
        /// What it does on that snapshot.
        expected: Result<Arc<Effect>, Arc<InterpretError>>,
        /// How its version changed the contents.
        logged: Net,
        /// A row that it deletes, but that the version before it did not have any more.
        gone: Option<Row>,
    },
    /// The operation does something else at its place in the log.
    NotSerial {
        /// The operation.
        operation: OperationRef,
        /// What it did.
        recorded: Arc<Effect>,
        /// What it does on the contents before it.
        at_place: Result<Arc<Effect>, Arc<InterpretError>>,
        /// The operations before it that it did not see and that changed rows that it reads.
        missed: Vec<OperationRef>,
    },
    /// No order of the operations gives each of them its effect.
    Cycle {
        /// The operations, all orders of which were tried.
        operations: Vec<OperationRef>,
        /// Of the dependencies between them a shortest cycle: each edge starts where the one before it ends.
        edges: Vec<Edge>,
    },
    /// The operations depend on each other in a circle, and they are too many to try all orders.
    Undecided {
        /// The operations.
        operations: Vec<OperationRef>,
        /// A shortest cycle.
        edges: Vec<Edge>,
    },
    /// A query was not answered from the version that it read.
    WrongAnswer {
        /// The query's name.
        query: Arc<str>,
        /// The version that it read, `None` before there was one.
        version: Option<u64>,
        /// The rows that it should have given.
        expected: Result<Vec<Row>, Arc<InterpretError>>,
        /// The rows that it gave.
        answered: Arc<[Row]>,
    },
}

/// One operation must come before another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edge {
    /// The one that must come first.
    pub from: OperationRef,
    /// The one that must come later.
    pub to: OperationRef,
    /// Why.
    pub why: Why,
}

/// Why an operation (`from`) must come before another (`to`), with a row as example.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Why {
    /// `to` saw a row that `from` inserted.
    SawInserted {
        /// The row.
        row: Row,
    },
    /// `to` did not see a row any more that `from` deleted.
    SawDeleted {
        /// The row.
        row: Row,
    },
    /// `from` did not see a row that `to` inserted.
    MissedInserted {
        /// The row.
        row: Row,
    },
    /// `from` still saw a row that `to` deleted.
    MissedDeleted {
        /// The row.
        row: Row,
    },
}

impl Oracle {
    pub(super) fn wrong_effect(
        &self,
        history: &TableHistory,
        index: usize,
        expected: Result<EffectId, Arc<InterpretError>>,
    ) -> Problem {
        let before = self.rows(history.contents(index));
        let expected = expected.map(|id| Arc::clone(self.effect_of_id(id)));
        let gone = expected.as_ref().ok().and_then(|effect| before.first_missing(&effect.deleted).cloned());
        let logged = before.difference(self.rows(history.operations[index].after));
        Problem::WrongEffect { operation: history.operation(index), expected, logged, gone }
    }

    pub(super) fn not_serial(&mut self, history: &TableHistory, recorded: &[Recorded], index: usize) -> Problem {
        let Recorded { run, effect } = recorded[index];
        let run = run.expect("a commit without a statement has its effect everywhere");
        let at_place = self.effect(run, history.contents(index)).map(|id| Arc::clone(self.effect_of_id(id)));
        let missed = (history.operations[index].seen..index)
            .filter(|&other| self.relevant(recorded[other].effect, run.statement).is_some())
            .map(|other| history.operation(other))
            .collect();
        let recorded = Arc::clone(self.effect_of_id(effect));
        Problem::NotSerial { operation: history.operation(index), recorded, at_place, missed }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WrongEffect { operation, expected, logged, gone } => {
                wrong_effect(f, operation, expected, logged, gone.as_ref())
            }
            Self::NotSerial { operation, recorded, at_place, missed } => {
                write!(f, "{operation} does something else at its place in the log than what it did. ")?;
                write!(f, "It read an older version, on which it {}. ", ShownEffect(recorded))?;
                match at_place {
                    Ok(effect) => write!(f, "On the version before its own it {}.", ShownEffect(effect))?,
                    Err(error) => write!(f, "On the version before its own it fails: {error}.")?,
                }
                if !missed.is_empty() {
                    write!(f, " It did not see {}, which changed rows that it reads.", Names(missed))?;
                }
                Ok(())
            }
            Self::Cycle { operations, edges } => {
                let orders = if operations.len() == 2 { "Both orders" } else { "All orders" };
                write!(f, "No serial order gives each write the effect that it had. {orders} of ")?;
                write!(f, "{} were tried. These would all have to hold:", Names(operations))?;
                edges.iter().try_for_each(|edge| write!(f, "\n- {edge}"))
            }
            Self::Undecided { operations, edges } => {
                write!(f, "Unexplained, coincidence not excluded: {} writes depend on each other, ", operations.len())?;
                write!(f, "too many to try all orders. These would all have to hold:")?;
                edges.iter().try_for_each(|edge| write!(f, "\n- {edge}"))
            }
            Self::WrongAnswer { query, version, expected, answered } => {
                write!(f, "{query} read ")?;
                match version {
                    Some(version) => write!(f, "version {version}")?,
                    None => write!(f, "the empty table")?,
                }
                write!(f, " and answered {}", count(answered.len() as u64, "row"))?;
                match expected {
                    Err(error) => write!(f, ", where it should have failed: {error}."),
                    Ok(expected) => wrong_answer(f, expected, answered),
                }
            }
        }
    }
}

fn wrong_effect(
    f: &mut fmt::Formatter<'_>,
    operation: &OperationRef,
    expected: &Result<Arc<Effect>, Arc<InterpretError>>,
    logged: &Net,
    gone: Option<&Row>,
) -> fmt::Result {
    let version = operation.version;
    let effect = match expected {
        Ok(effect) => effect,
        Err(error) => {
            return write!(f, "{operation} was committed, but on the snapshot that it read it fails: {error}.");
        }
    };
    write!(f, "{operation} did something else than what it does on the snapshot that it read. ")?;
    write!(f, "There it {}", ShownEffect(effect))?;
    let net = effect.deleted.difference(&effect.inserted);
    if let Some(row) = net.first_difference(logged) {
        let change = |count: i64| if count == 0 { "0".to_owned() } else { format!("{count:+}") };
        let (expected, found) = (change(net.count(row)), change(logged.count(row)));
        write!(f, "; version {version} should change the count of the row {} by {expected}", ShownRow(row))?;
        write!(f, ", but changed it by {found}")?;
    }
    f.write_str(".")?;
    if let Some(row) = gone {
        write!(f, " The row {}, which it deletes, was not there any more before version {version}:", ShownRow(row))?;
        write!(f, " a write that it did not see had taken it away.")?;
    }
    Ok(())
}

fn wrong_answer(f: &mut fmt::Formatter<'_>, expected: &[Row], answered: &[Row]) -> fmt::Result {
    write!(f, ", where it should have answered {}", count(expected.len() as u64, "row"))?;
    let expected: Rows = expected.iter().cloned().collect();
    let answered: Rows = answered.iter().cloned().collect();
    if let Some(row) = answered.first_missing(&expected) {
        write!(f, "; the row {} is missing.", ShownRow(row))
    } else if let Some(row) = expected.first_missing(&answered) {
        write!(f, "; the row {} is wrong.", ShownRow(row))
    } else {
        write!(f, "; they are in the wrong order.")
    }
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to, why } = self;
        write!(f, "{from} before {to}, because ")?;
        match why {
            Why::SawInserted { row } => write!(f, "the latter saw {}, a row that the former inserted", ShownRow(row)),
            Why::SawDeleted { row } => {
                write!(f, "the latter did not see {} any more, a row that the former deleted", ShownRow(row))
            }
            Why::MissedInserted { row } => {
                write!(f, "the former did not see {}, a row that the latter inserted", ShownRow(row))
            }
            Why::MissedDeleted { row } => {
                write!(f, "the former still saw {}, a row that the latter deleted", ShownRow(row))
            }
        }
    }
}

/// An effect as a predicate of a sentence: `deletes 1 row, such as (1, 2)`.
struct ShownEffect<'a>(&'a Effect);

impl fmt::Display for ShownEffect<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Effect { deleted, inserted } = self.0;
        let part = |f: &mut fmt::Formatter<'_>, verb: &str, rows: &Rows| {
            write!(f, "{verb} {}", count(rows.len(), "row"))?;
            match rows.iter().next() {
                Some((row, _)) if rows.len() == 1 => write!(f, ", {}", ShownRow(row)),
                Some((row, _)) => write!(f, ", one of them {}", ShownRow(row)),
                None => Ok(()),
            }
        };
        match (deleted.is_empty(), inserted.is_empty()) {
            (true, true) => f.write_str("changes no row"),
            (false, true) => part(f, "deletes", deleted),
            (true, false) => part(f, "inserts", inserted),
            (false, false) => {
                part(f, "deletes", deleted)?;
                part(f, ", and inserts", inserted)
            }
        }
    }
}

fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Names of operations in a sentence, the first few.
struct Names<'a>(&'a [OperationRef]);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN_MAX: usize = 4;
        let (shown, more) = self.0.split_at(self.0.len().min(SHOWN_MAX));
        for (position, operation) in shown.iter().enumerate() {
            let last = position + 1 == shown.len() && more.is_empty();
            f.write_str(match position {
                0 => "",
                _ if last => " and ",
                _ => ", ",
            })?;
            write!(f, "{operation}")?;
        }
        if !more.is_empty() {
            write!(f, " and {} more", more.len())?;
        }
        Ok(())
    }
}
