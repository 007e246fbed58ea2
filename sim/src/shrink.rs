//! A failure made smaller: fewer writers, statements, rows and steps, and still the same kind of violation.
//!
//! Two things are made smaller in turn, until neither gets smaller any more. The schedule, by leaving out steps. And the scenario, by leaving out a writer, a
//! statement, a row, a retry; whether the violation is still there is seen by following the same steps as far as they are possible, and if that does not
//! show it, by searching what is left. In the end that search also looks for a shorter schedule than the one that is left.

use std::{ops::ControlFlow, sync::Arc};

use crate::{
    call::CallError,
    explore::WorldModel,
    failure::Failure,
    judge::{Violation, ViolationKind},
    rule_choice::RuleChoiceError,
    scenario::{Expect, OnConflict, Scenario, SqlText, StoreSpec},
    search::{Limits, explore, shrink_schedule},
    sql::{
        Statement,
        statement::{Insert, InsertSource},
    },
    world::{Clock, Environment, Event, FaultBudget, Setting, World, WorldError},
};

/// A failure that was made smaller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shrunk {
    /// What is left.
    pub failure: Failure,
    /// The size that it had.
    pub before: Size,
    /// The size that it has.
    pub after: Size,
    /// Scenarios that were tried.
    pub tried: usize,
    /// Was every schedule of what is left searched, so that none with fewer steps shows the violation?
    pub shortest: bool,
}

/// How big a failure is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size {
    /// Writers.
    pub writers: usize,
    /// Statements of the writers and of the setup.
    pub statements: usize,
    /// Rows that their INSERTs spell out.
    pub rows: usize,
    /// Steps of the schedule.
    pub steps: usize,
}

/// A failure that cannot be made smaller.
#[derive(Debug, thiserror::Error)]
pub enum ShrinkError {
    /// The rules do not exist, or the scenario cannot run by them.
    #[error(transparent)]
    Setting(#[from] RuleChoiceError),
    /// The world cannot go on.
    #[error(transparent)]
    World(#[from] WorldError),
    /// The schedule does not show what the file says.
    #[error(
        "the schedule does not lead to a violation of kind '{0}', so there is nothing to make smaller; see contend replay"
    )]
    NotReproduced(ViolationKind),
}

impl From<CallError> for ShrinkError {
    fn from(error: CallError) -> Self {
        Self::World(error.into())
    }
}

/// A search on the way may take so much.
const TRIAL: Limits = Limits { memory_bytes: 64 << 20 };

impl Size {
    /// The size of a failure.
    pub fn of(failure: &Failure) -> Self {
        let Scenario { setup, writers, .. } = &failure.scenario;
        let statements = || setup.iter().chain(writers.iter().flat_map(|writer| &writer.statements));
        let rows = |sql: &SqlText| match &*sql.statement {
            Statement::Insert(Insert { source: InsertSource::Values(rows), .. }) => rows.len(),
            _ => 0,
        };
        Self {
            writers: writers.len(),
            statements: statements().count(),
            rows: statements().map(rows).sum(),
            steps: failure.schedule.len(),
        }
    }
}

/// Makes a failure smaller. `limits` bounds the last search, for a shorter schedule.
///
/// # Errors
/// When the failure cannot be followed or does not show its violation.
pub fn shrink(failure: &Failure, limits: Limits) -> Result<Shrunk, ShrinkError> {
    let before = Size::of(failure);
    let mut best = attempt(failure, None)?.ok_or(ShrinkError::NotReproduced(failure.kind))?;
    let mut tried = 1;
    'smaller: loop {
        for scenario in smaller(&best.scenario, best.kind) {
            tried += 1;
            let candidate = Failure { scenario, ..best.clone() };
            match attempt(&candidate, Some(TRIAL)) {
                Ok(Some(found)) => {
                    best = found;
                    continue 'smaller;
                }
                // A scenario that makes no sense any more is no candidate.
                Ok(None) | Err(ShrinkError::Setting(RuleChoiceError::Setting(_))) => {}
                Err(ShrinkError::World(WorldError::Setup { .. })) => {}
                Err(error) => return Err(error),
            }
        }
        break;
    }
    let (found, shortest) = search(&best, limits)?;
    if let Some(found) = found
        && found.schedule.len() < best.schedule.len()
    {
        best = found;
    }
    Ok(Shrunk { before, after: Size::of(&best), failure: best, tried, shortest })
}

/// The same scenario with the shortest schedule that comes of following the steps that are given; with limits, a search if that shows nothing.
fn attempt(failure: &Failure, limits: Option<Limits>) -> Result<Option<Failure>, ShrinkError> {
    let setting = setting(failure)?;
    let events = possible(&setting, &failure.schedule)?;
    let mut model = WorldModel::new(setting.clone())?;
    if let Some(shrunk) = shrink_schedule(&mut model, &events, &failure.kind)? {
        return Ok(Some(rename(failure, &setting, &shrunk.violation, &shrunk.schedule)?));
    }
    match limits {
        None => Ok(None),
        Some(limits) => Ok(search(failure, limits)?.0),
    }
}

/// The shortest schedule to the violation, if the search meets it; and whether every shorter one was seen.
fn search(failure: &Failure, limits: Limits) -> Result<(Option<Failure>, bool), ShrinkError> {
    let setting = setting(failure)?;
    let mut model = WorldModel::new(setting.clone())?;
    let exploration = explore(&mut model, limits, &mut |_| ControlFlow::Continue(()))?;
    match exploration.violations.get(&failure.kind) {
        Some(found) => Ok((Some(rename(failure, &setting, &found.violation, &found.schedule)?), true)),
        None => Ok((None, exploration.exhausted)),
    }
}

fn setting(failure: &Failure) -> Result<Arc<Setting>, ShrinkError> {
    let setting = failure.rules.setting(failure.scenario.clone(), Clock::PerCall, failure.granularity)?;
    Ok(Arc::new(setting.with_faults(failure.faults)))
}

/// The failure with another schedule, and no more faults allowed than happen in it.
fn rename(
    failure: &Failure,
    setting: &Arc<Setting>,
    violation: &Violation,
    events: &[Event],
) -> Result<Failure, ShrinkError> {
    let mut faults = FaultBudget::default();
    for event in events {
        if let Event::Fault { fault, .. } = event {
            faults.allow(fault.kind());
        }
    }
    let found = Failure::new(setting, &failure.rules, violation, events)?;
    Ok(Failure { faults, ..found })
}

/// The events of a schedule's labels, as far as they are possible one after the other.
fn possible(setting: &Arc<Setting>, schedule: &[String]) -> Result<Vec<Event>, ShrinkError> {
    let mut environment = Environment::default();
    let mut world = World::new(setting.clone(), &mut environment)?;
    let mut events = Vec::new();
    for label in schedule {
        if let Some(event) = world.event(label) {
            world.apply(&mut environment, event)?;
            events.push(event);
        }
    }
    Ok(events)
}

/// Scenarios with one thing less, the biggest things first.
fn smaller(scenario: &Scenario, kind: ViolationKind) -> Vec<Scenario> {
    let mut candidates = Vec::new();
    let mut without = |change: &dyn Fn(&mut Scenario)| {
        let mut candidate = scenario.clone();
        change(&mut candidate);
        if candidate != *scenario {
            candidates.push(candidate);
        }
    };
    without(&|scenario| {
        scenario.schedule = None;
        scenario.store = StoreSpec::default();
        if kind != ViolationKind::Expectation {
            scenario.expect = Expect::default();
        }
    });
    for writer in 0..scenario.writers.len() {
        if scenario.writers.len() > 1 {
            without(&|scenario| {
                scenario.writers.remove(writer);
            });
        }
    }
    for (writer, spec) in scenario.writers.iter().enumerate() {
        for statement in (0..spec.statements.len()).rev() {
            if spec.statements.len() > 1 {
                without(&|scenario| {
                    scenario.writers[writer].statements.remove(statement);
                });
            }
        }
        without(&|scenario| scenario.writers[writer].on_conflict = OnConflict::Continue);
    }
    for statement in (0..scenario.setup.len()).rev() {
        without(&|scenario| {
            scenario.setup.remove(statement);
        });
    }
    let sizes: Vec<usize> = scenario.setup.iter().map(rows_of).collect();
    for (statement, rows) in sizes.into_iter().enumerate() {
        for row in (0..rows).rev() {
            if let Some(fewer) = without_row(&scenario.setup[statement], row) {
                without(&|scenario| scenario.setup[statement] = fewer.clone());
            }
        }
    }
    for (writer, spec) in scenario.writers.iter().enumerate() {
        for (statement, sql) in spec.statements.iter().enumerate() {
            for row in (0..rows_of(sql)).rev() {
                if let Some(fewer) = without_row(sql, row) {
                    without(&|scenario| scenario.writers[writer].statements[statement] = fewer.clone());
                }
            }
        }
    }
    candidates
}

fn rows_of(sql: &SqlText) -> usize {
    match &*sql.statement {
        Statement::Insert(Insert { source: InsertSource::Values(rows), .. }) => rows.len(),
        _ => 0,
    }
}

/// The same INSERT with one row less; `None` when it has one only.
fn without_row(sql: &SqlText, row: usize) -> Option<SqlText> {
    let Statement::Insert(Insert { table, columns, source: InsertSource::Values(rows) }) = &*sql.statement else {
        return None;
    };
    if rows.len() < 2 {
        return None;
    }
    let values: Vec<String> = rows
        .iter()
        .enumerate()
        .filter(|(index, _)| *index != row)
        .map(|(_, values)| {
            let value = |value: &Option<_>| value.as_ref().map_or("DEFAULT".to_owned(), |value| format!("{value}"));
            format!("({})", values.iter().map(value).collect::<Vec<_>>().join(", "))
        })
        .collect();
    let quoted = |name: &String| format!("`{}`", name.replace('`', "``"));
    let columns = match columns.as_slice() {
        [] => String::new(),
        columns => format!(" ({})", columns.iter().map(quoted).collect::<Vec<_>>().join(", ")),
    };
    SqlText::parse(&format!("INSERT INTO {}{columns} VALUES {}", quoted(table), values.join(", "))).ok()
}

#[cfg(test)]
mod tests;
