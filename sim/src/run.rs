//! One simulated run in virtual time, and what any run, simulated or real, comes to.
//!
//! A request takes effect at the end of the latency that was drawn for it, and then sees the store of that instant. Every writer draws from a stream
//! of its own, in the order of its requests, so what one writer does never changes the luck of another.

mod pinned;
mod time;

use std::sync::Arc;

pub use pinned::NotEnabled;
use pinned::follow_schedule;
#[cfg(any(feature = "real", loom))]
pub(crate) use pinned::{Stand, refuse};
use time::{Latencies, run_by_time};

use conflict::isolation::IsolationLevel;
use log_core::path::Version;

use crate::{
    call::CallEnd,
    digest::rows_sha256,
    history::{History, What},
    judge::{DataFiles, Judge, Log, PlainQuery, Violation},
    naming::CallId,
    oracle::Judgement,
    world::{Environment, Setting, Tables, World, WorldError},
};

/// What a run came to.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// What happened.
    pub history: History,
    /// Calls of writers that made a commit.
    pub committed: usize,
    /// Calls that lost to a winner, each execution of a retried statement counted.
    pub conflicts: usize,
    /// Calls whose end nobody knows, but for those whose writer crashed.
    pub unknown: usize,
    /// Calls whose writer crashed.
    pub crashed: usize,
    /// The tables that exist at the end.
    pub tables: Vec<TableResult>,
    /// What is wrong.
    pub violations: Vec<Violation>,
}

/// What a table came to.
#[derive(Clone, Debug)]
pub struct TableResult {
    /// Its name.
    pub name: String,
    /// Its level.
    pub level: IsolationLevel,
    /// How many versions it had before the writers began.
    pub first: u64,
    /// Its newest version.
    pub version: Version,
    /// Rows at the newest version.
    pub rows: u64,
    /// Their digest.
    pub rows_sha256: String,
    /// Live files at the newest version.
    pub active_files: usize,
    /// Data files that were written and are in no commit.
    pub orphans: Vec<String>,
    /// What the oracle says.
    pub judgement: Option<Arc<Judgement>>,
    /// Per version from `first` on the call that made it.
    pub calls: Vec<Option<CallId>>,
}

impl RunResult {
    /// Data files that were written and are in no commit.
    pub fn orphans(&self) -> usize {
        self.tables.iter().map(|table| table.orphans.len()).sum()
    }
}

/// A schedule that cannot be followed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The world cannot go on.
    #[error(transparent)]
    World(#[from] WorldError),
    /// A pinned step that is not possible where it stands.
    #[error(transparent)]
    NotEnabled(#[from] NotEnabled),
}

/// Runs a setting again and again, each time with the latencies and faults of another seed.
#[derive(Debug)]
pub struct Simulator {
    setting: Arc<Setting>,
    /// The world after the setup.
    world: World,
    environment: Environment,
}

impl Simulator {
    /// Runs the setup.
    ///
    /// # Errors
    /// When a statement of the setup does not succeed.
    pub fn new(setting: Arc<Setting>) -> Result<Self, WorldError> {
        let mut environment = Environment::default();
        let world = World::new(setting.clone(), &mut environment)?;
        Ok(Self { setting, world, environment })
    }

    /// One run; a pinned schedule is followed first.
    ///
    /// # Errors
    /// When a table is damaged, or when a pinned step is not possible.
    pub fn run(&mut self, seed: u64) -> Result<RunResult, RunError> {
        self.run_world(self.world.clone(), seed).map(|(result, _)| result)
    }

    /// One run, and the labels of its events: a schedule that a failure file can hold.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_scheduled(&mut self, seed: u64) -> Result<(RunResult, Vec<String>), RunError> {
        let mut world = self.world.clone();
        world.keep_schedule();
        self.run_world(world, seed)
    }

    fn run_world(&mut self, mut world: World, seed: u64) -> Result<(RunResult, Vec<String>), RunError> {
        let first = world.tables.iter().map(|table| table.commits()).collect();
        let mut clock = Latencies::new(&self.setting.scenario.store, seed, world.writers.len());
        if self.setting.scenario.schedule.is_some() {
            follow_schedule(&mut world, &mut self.environment, &mut clock)?;
        } else {
            run_by_time(&mut world, &mut self.environment, &mut clock)?;
        }
        let files = &mut SimulatedFiles(&self.environment);
        let schedule = world.schedule().to_vec();
        Ok((conclude(&self.setting, world.history, first, &world.tables, files), schedule))
    }
}

/// Runs a setting once.
///
/// # Errors
/// When the setup fails, when a table is damaged, or when a pinned step is not possible.
pub fn simulate(setting: &Arc<Setting>, seed: u64) -> Result<RunResult, RunError> {
    Simulator::new(setting.clone())?.run(seed)
}

/// The data files of a simulated run.
pub struct SimulatedFiles<'a>(pub &'a Environment);

impl DataFiles for SimulatedFiles<'_> {
    fn rows(
        &mut self,
        table: usize,
        add: &log_core::action::AddFile,
        schema: &log_core::schema::Schema,
    ) -> Result<Vec<Vec<log_core::value::Value>>, String> {
        let file = self.0.file(table, &add.path).ok_or_else(|| "there is no such file".to_owned())?;
        log_core::batch::rows(&file.batch, schema).map_err(|error| error.to_string())
    }
}

/// Judges a run that is over. `first` has how many versions each table had before the writers began.
pub fn conclude(
    setting: &Arc<Setting>,
    history: History,
    first: Vec<u64>,
    tables: &Tables,
    files: &mut dyn DataFiles,
) -> RunResult {
    let mut judge = Judge::new(setting.clone(), first);
    let mut violations = Vec::new();
    let mut results = Vec::new();
    let mut views = Vec::new();
    let clock_ms = |call: CallId| history.clock_ms(call).expect("a call that ended had begun");
    for (index, table) in tables.iter().enumerate() {
        let log = Log { table: index, digests: table.digests(), commit: &|version| table.commit(version) };
        let queries = queries(setting, &history, index);
        let (found, judgement) = judge.judge(&log, files, &clock_ms, &queries);
        violations.extend(found);
        let view = judge.view(&log, files);
        if let Some(view) = &view {
            let rows = judge.oracle().rows(*view.contents.last().expect("a view has a version"));
            let all = rows.iter().flat_map(|(row, count)| (0..count).map(move |_| row.as_slice()));
            results.push(TableResult {
                name: setting.tables[index].clone(),
                level: view.level,
                first: judge.first_version(index),
                version: Version(table.commits() - 1),
                rows: rows.len(),
                rows_sha256: rows_sha256(all),
                active_files: view.live().count(),
                orphans: orphans(setting, &history, index, table),
                judgement,
                calls: view.calls[judge.first_version(index) as usize..].to_vec(),
            });
        }
        views.push(view);
    }
    violations.extend(judge.check_once(&history.outcomes(), &views));
    let count = |wanted: fn(&CallEnd) -> bool| history.ends().filter(|(_, end)| wanted(end)).count();
    let committed = count(|end| matches!(end, CallEnd::Committed { .. }));
    violations.extend(setting.unexpected(committed));
    RunResult {
        committed,
        conflicts: count(|end| matches!(end, CallEnd::Conflict(_))),
        unknown: count(|end| matches!(end, CallEnd::Unknown { .. })),
        crashed: count(|end| matches!(end, CallEnd::Crashed)),
        tables: results,
        violations,
        history,
    }
}

fn queries(setting: &Setting, history: &History, table: usize) -> Vec<PlainQuery> {
    history
        .ends()
        .filter(|(call, _)| setting.table_of(*call) == Some(table))
        .filter_map(|(call, end)| match end {
            CallEnd::Answered { read, answer } => Some(PlainQuery { call, read: *read, rows: answer.rows.clone() }),
            _ => None,
        })
        .collect()
}

/// Files of calls that are under way may still be committed.
fn orphans(setting: &Setting, history: &History, index: usize, table: &crate::world::Table) -> Vec<String> {
    let over: std::collections::BTreeSet<CallId> = history.ends().map(|(call, _)| call).collect();
    let mut written: Vec<String> = history
        .entries
        .iter()
        .filter(|entry| over.contains(&entry.call) && setting.table_of(entry.call) == Some(index))
        .filter_map(|entry| match &entry.what {
            What::Wrote { path, .. } => Some(path.clone()),
            _ => None,
        })
        .collect();
    for version in 0..table.commits() {
        for action in table.commit(Version(version)).actions {
            if let log_core::action::Action::Add(add) = action {
                written.retain(|path| *path != add.path);
            }
        }
    }
    written
}
