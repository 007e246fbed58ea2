//! One simulated run in virtual time, and what any run, simulated or real, comes to.
//!
//! A request takes effect at the end of the latency that was drawn for it, and then sees the store of that instant. Every writer draws from a stream
//! of its own, in the order of its requests, so what one writer does never changes the luck of another.

use std::sync::Arc;

use conflict::isolation::IsolationLevel;
use log_core::{path::Version, store::Request};

use crate::{
    call::{Call, CallEnd, Need},
    digest::rows_sha256,
    history::{History, What},
    judge::{DataFiles, Judge, Log, PlainQuery, Violation},
    naming::CallId,
    oracle::Judgement,
    random::Random,
    scenario::{Latency, Pinned, PinnedStep},
    world::{Environment, Event, Setting, Tables, World, WorldError, Writer},
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
    /// Calls whose end nobody knows.
    pub unknown: usize,
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

/// A pinned step that is not possible where it stands.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("schedule, step {position} '{step}': {reason}; possible are {enabled}")]
pub struct NotEnabled {
    /// Its position, from 1.
    pub position: usize,
    /// The step.
    pub step: String,
    /// Why not.
    pub reason: &'static str,
    /// What is.
    pub enabled: String,
}

/// Runs a setting once, with latencies drawn from a seed; a pinned schedule is followed first.
///
/// # Errors
/// When the setup fails, when a table is damaged, or when a pinned step is not possible.
pub fn simulate(setting: &Arc<Setting>, seed: u64) -> Result<RunResult, RunError> {
    let mut environment = Environment::default();
    let mut world = World::new(setting.clone(), &mut environment)?;
    let first = world.tables.iter().map(|table| table.commits()).collect();
    let mut clock = Latencies::new(setting.scenario.store.latency, seed, world.writers.len());
    if setting.scenario.schedule.is_some() {
        follow_schedule(&mut world, &mut environment, &mut clock)?;
    } else {
        run_by_time(&mut world, &mut environment, &mut clock)?;
    }
    let files = &mut SimulatedFiles(&environment);
    Ok(conclude(setting, world.history, first, &world.tables, files))
}

/// Draws how long each request takes.
struct Latencies {
    latency: Latency,
    streams: Vec<Random>,
}

impl Latencies {
    fn new(latency: Latency, seed: u64, writers: usize) -> Self {
        Self { latency, streams: (0..writers as u64).map(|writer| Random::new(seed, writer)).collect() }
    }

    /// Milliseconds until a need is met.
    fn draw(&mut self, writer: usize, need: &Need) -> i64 {
        let random = &mut self.streams[writer];
        let latency = &self.latency;
        let range = match need {
            Need::Store(Request::List { .. }) => latency.list_ms,
            Need::Store(
                Request::Head { .. } | Request::Get { .. } | Request::GetRange { .. } | Request::GetMany { .. },
            ) => latency.get_ms,
            Need::Store(Request::PutIfAbsent { .. } | Request::Put { .. } | Request::Delete { .. })
            | Need::Write(_) => latency.put_ms,
            Need::Store(Request::Backoff { .. }) => [0, 0],
            Need::Execute(_) => latency.compute_ms,
        };
        i64::from(random.between(range))
    }
}

/// Every writer's next request is on its way; the one that is done first happens first, the first writer's among equals.
fn run_by_time(world: &mut World, environment: &mut Environment, clock: &mut Latencies) -> Result<(), WorldError> {
    let mut due: Vec<Option<i64>> = vec![None; world.writers.len()];
    loop {
        for (writer, state) in world.writers.iter().enumerate() {
            due[writer] = match (due[writer], state.need()) {
                (_, None) => None,
                (Some(at), Some(_)) => Some(at),
                (None, Some(need)) => Some(world.now_ms + clock.draw(writer, need)),
            };
        }
        let next = due.iter().enumerate().filter_map(|(writer, at)| at.map(|at| (at, writer))).min();
        let Some((at, writer)) = next else { return Ok(()) };
        due[writer] = None;
        world.now_ms = at;
        world.apply(environment, Event::Step { writer })?;
    }
}

fn follow_schedule(world: &mut World, environment: &mut Environment, clock: &mut Latencies) -> Result<(), RunError> {
    let setting = world.setting().clone();
    let schedule = setting.scenario.schedule.clone().unwrap_or_default();
    for (position, pinned) in schedule.iter().enumerate() {
        let writer = setting.scenario.writers.iter().position(|spec| spec.name == pinned.writer);
        let writer = writer.expect("the scenario's reader checked the names");
        let stands: Vec<Stand> = world.writers.iter().map(Stand::of).collect();
        if let Some(error) = refuse(&setting, position, pinned, &stands) {
            return Err(error.into());
        }
        let call = world.writers[writer].call().map(|call| call.context.id);
        loop {
            step(world, environment, clock, writer)?;
            let state = &world.writers[writer];
            let same_call = state.call().map(|call| call.context.id) == call;
            let done = Stand::of(state).ends(pinned.step);
            if !same_call || done {
                break;
            }
        }
    }
    // What the schedule does not say goes round: a step for each writer that can make one.
    loop {
        let writers: Vec<usize> =
            (0..world.writers.len()).filter(|writer| world.writers[*writer].need().is_some()).collect();
        if writers.is_empty() {
            return Ok(());
        }
        for writer in writers {
            step(world, environment, clock, writer)?;
        }
    }
}

fn step(
    world: &mut World,
    environment: &mut Environment,
    clock: &mut Latencies,
    writer: usize,
) -> Result<(), WorldError> {
    if let Some(need) = world.writers[writer].need() {
        world.now_ms += clock.draw(writer, need);
    }
    Ok(world.apply(environment, Event::Step { writer })?)
}

/// Where a writer stands, as far as a pinned step asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stand {
    /// It has made its last call.
    Finished,
    /// Its call has no commit ready yet.
    Reading,
    /// Its call is about to put its commit.
    AtPut,
    /// Its call is committing, and is not about to put.
    Committing,
}

impl Stand {
    fn of(writer: &Writer) -> Self {
        match (writer.call(), writer.need()) {
            (Some(call), Some(need)) => Self::of_call(call, need),
            _ => Self::Finished,
        }
    }

    /// Where a call stands that needs this next.
    pub(crate) fn of_call(call: &Call, need: &Need) -> Self {
        match (call.is_committing(), need) {
            (false, _) => Self::Reading,
            (true, Need::Store(Request::PutIfAbsent { .. })) => Self::AtPut,
            (true, _) => Self::Committing,
        }
    }

    /// Why a pinned step is not possible here; `None` when it is.
    pub(crate) fn refusal(self, step: PinnedStep) -> Option<&'static str> {
        match (step, self) {
            (_, Self::Finished) => Some("the writer has finished"),
            (PinnedStep::Crash, _) => Some("this build of contend does not crash writers"),
            (PinnedStep::Read, Self::AtPut | Self::Committing) => Some("its call is committing already"),
            (PinnedStep::Put | PinnedStep::Commit, Self::Reading | Self::Committing) => {
                Some("its call has no commit ready yet")
            }
            (PinnedStep::Read, Self::Reading) | (PinnedStep::Put | PinnedStep::Commit, Self::AtPut) => None,
        }
    }

    /// Is a pinned step over for a call that it brought here?
    pub(crate) fn ends(self, step: PinnedStep) -> bool {
        match step {
            PinnedStep::Read => self == Self::AtPut,
            PinnedStep::Put | PinnedStep::Crash => true,
            PinnedStep::Commit => false,
        }
    }
}

/// A pinned step that is not possible, if it is not, with those that are.
pub(crate) fn refuse(setting: &Setting, position: usize, pinned: &Pinned, stands: &[Stand]) -> Option<NotEnabled> {
    let writers = || setting.scenario.writers.iter().zip(stands);
    let (_, stand) = writers().find(|(spec, _)| spec.name == pinned.writer)?;
    let reason = stand.refusal(pinned.step)?;
    let enabled: Vec<String> = writers()
        .flat_map(|(spec, stand)| PinnedStep::ALL.map(|step| (&spec.name, *stand, step)))
        .filter(|(_, stand, step)| stand.refusal(*step).is_none())
        .map(|(name, _, step)| format!("{name}.{}", step.name()))
        .collect();
    Some(NotEnabled {
        position: position + 1,
        step: format!("{}.{}", pinned.writer, pinned.step.name()),
        reason,
        enabled: if enabled.is_empty() { "none".to_owned() } else { enabled.join(", ") },
    })
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

fn orphans(setting: &Setting, history: &History, index: usize, table: &crate::world::Table) -> Vec<String> {
    let mut written: Vec<String> = history
        .entries
        .iter()
        .filter(|entry| setting.table_of(entry.call) == Some(index))
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
