//! A writer: a list of statements, and the call that it is in.

use std::sync::Arc;

use log_core::{
    path::{LogFile, Version},
    store::{Answer, Request, Response, WriteAnswer},
};

use super::{
    Environment, Tables, WorldError,
    setting::{Clock, ClockAt, Granularity, Setting},
};
use crate::{
    call::{Call, CallEnd, CallError, Given, Need, Next},
    execute::prepare::{Execution, Snapshots, StatementError},
    history::{Kind, What},
    naming::{CallId, SETUP},
    oracle::exactly_once::CallOutcome,
};

/// A writer.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Writer {
    /// How its finished statements ended, in order.
    finished: Vec<Finished>,
    running: Option<(Call, Need)>,
}

/// How a statement ended, as far as it matters for what may follow: reasons and numbers of attempts belong to the history.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Finished {
    /// Its n-th execution (from 0) made a commit.
    Committed {
        /// The execution.
        execution: u32,
        /// The version.
        version: Version,
    },
    /// There was nothing to commit.
    Nothing,
    /// A query was answered.
    Answered,
    /// It lost, and that was its n-th execution (from 0).
    Conflict {
        /// The execution.
        execution: u32,
    },
    /// Its puts were used up, in its n-th execution (from 0).
    Exhausted {
        /// The execution.
        execution: u32,
    },
    /// Nobody knows, in its n-th execution (from 0).
    Unknown {
        /// The execution.
        execution: u32,
    },
    /// It could not be executed.
    Failed,
}

/// Told about everything that happens to a call.
type Observer<'a> = &'a mut dyn FnMut(CallId, What);

impl Writer {
    /// The writer at its first scheduling point.
    pub(super) fn start(
        setting: &Setting,
        index: usize,
        environment: &mut Environment,
        tables: &mut Tables,
        clock: ClockAt,
        observe: Observer<'_>,
    ) -> Result<Self, CallError> {
        let mut writer = Self { finished: Vec::new(), running: None };
        writer.begin(setting, CallId { writer: index, statement: 0, execution: 0 }, clock, observe);
        writer.run_on(setting, environment, tables, clock, observe)?;
        Ok(writer)
    }

    /// What it needs next; `None` when it has finished.
    pub fn need(&self) -> Option<&Need> {
        self.running.as_ref().map(|(_, need)| need)
    }

    /// The call that it is in.
    pub fn call(&self) -> Option<&Call> {
        self.running.as_ref().map(|(call, _)| call)
    }

    /// Is its commit under way?
    pub fn is_committing(&self) -> bool {
        self.call().is_some_and(Call::is_committing)
    }

    /// Is it about to put its commit?
    pub fn is_at_put(&self) -> bool {
        self.is_committing() && matches!(self.need(), Some(Need::Store(Request::PutIfAbsent { .. })))
    }

    /// How its finished statements ended, in order.
    pub fn finished(&self) -> &[Finished] {
        &self.finished
    }

    /// Statements that made a commit.
    pub fn committed(&self) -> usize {
        self.finished.iter().filter(|end| matches!(end, Finished::Committed { .. })).count()
    }

    /// What its calls were told, as far as the oracle asks: those that are still under way are left out.
    pub fn outcomes(&self, writer: usize) -> Vec<(CallId, CallOutcome)> {
        let mut outcomes = Vec::new();
        for (statement, finished) in self.finished.iter().enumerate() {
            let call = |execution| CallId { writer, statement, execution };
            let (last, outcome) = match *finished {
                Finished::Committed { execution, version } => (execution, CallOutcome::Acknowledged(version.0)),
                Finished::Conflict { execution } | Finished::Exhausted { execution } => {
                    (execution, CallOutcome::Rejected)
                }
                Finished::Unknown { execution } => (execution, CallOutcome::Unknown),
                Finished::Nothing | Finished::Answered | Finished::Failed => (0, CallOutcome::Rejected),
            };
            outcomes.extend((0..last).map(|earlier| (call(earlier), CallOutcome::Rejected)));
            outcomes.push((call(last), outcome));
        }
        outcomes
    }

    /// What its next step does, in a word.
    pub fn step_name(&self) -> &'static str {
        let Some((call, need)) = &self.running else { return "end" };
        match need {
            Need::Execute(_) => "execute",
            Need::Write(_) => "write",
            Need::Store(Request::PutIfAbsent { .. }) => "put",
            Need::Store(Request::Backoff { .. }) => "wait",
            Need::Store(Request::List { .. }) if call.is_loading() => "load",
            Need::Store(Request::List { .. }) => "winners",
            Need::Store(_) if call.is_loading() => "read",
            Need::Store(_) => "winner",
        }
    }

    /// One event of a search: gives the writer what it needs at the time of its own call, and lets it run on to the next scheduling point.
    ///
    /// # Errors
    /// When a table is damaged.
    pub fn apply(
        &mut self,
        setting: &Setting,
        index: usize,
        environment: &mut Environment,
        tables: &mut Tables,
        observe: &mut dyn FnMut(CallId, What),
    ) -> Result<(), CallError> {
        self.step(setting, index, environment, tables, setting.clock_at(0), observe)
    }

    /// Gives the writer what it needs, and lets it run on to where the next event is.
    pub(super) fn step(
        &mut self,
        setting: &Setting,
        index: usize,
        environment: &mut Environment,
        tables: &mut Tables,
        clock: ClockAt,
        observe: Observer<'_>,
    ) -> Result<(), CallError> {
        assert!(self.running.is_some(), "writer {index} has finished");
        self.give(setting, environment, tables, clock, observe)?;
        self.run_on(setting, environment, tables, clock, observe)
    }

    fn run_on(
        &mut self,
        setting: &Setting,
        environment: &mut Environment,
        tables: &mut Tables,
        clock: ClockAt,
        observe: Observer<'_>,
    ) -> Result<(), CallError> {
        while self.running.as_ref().is_some_and(|(call, need)| !setting.granularity.stops_before(call, need)) {
            self.give(setting, environment, tables, clock, observe)?;
        }
        Ok(())
    }

    /// One answer to one need.
    fn give(
        &mut self,
        setting: &Setting,
        environment: &mut Environment,
        tables: &mut Tables,
        clock: ClockAt,
        observe: Observer<'_>,
    ) -> Result<(), CallError> {
        let (mut call, need) = self.running.take().expect("a writer that runs");
        let id = call.context.id;
        let now_ms = clock.of(id);
        let table = call.context.sql.statement.table().map(|table| setting.table_index(table));
        let next = match need {
            Need::Store(request) => {
                let table = table.expect("a call that asks the store has a table");
                // A search loads the same log many times: what the loader came to is looked up.
                let known = setting.granularity <= Granularity::Points
                    && setting.clock == Clock::PerCall
                    && call.loads_newest();
                if known {
                    let snapshot = environment.snapshot(table, tables.get(table))?;
                    Next::Need(call.take_snapshot(snapshot))
                } else {
                    let answer = tables.answer(table, &request, now_ms);
                    observe_put(id, &request, &answer, observe);
                    call.advance(Given::Response(Response { now_ms, answer }))?
                }
            }
            Need::Execute(snapshots) => {
                let newest = snapshots.newest.as_ref();
                if table.is_some() {
                    let read = newest.or_else(|| snapshots.versions.values().next());
                    observe(id, What::Loaded(read.map(|snapshot| snapshot.version)));
                }
                let log = table.map(|table| {
                    let commits = newest.map_or(0, |snapshot| snapshot.version.0 as usize + 1);
                    commits.checked_sub(1).map_or_else(Default::default, |last| tables.get(table).digests()[last])
                });
                let result = execute(setting, environment, &call, table, &snapshots, log);
                call.advance(Given::Executed(result))?
            }
            Need::Write(file) => {
                let table = table.expect("a call that writes has a table");
                let bytes = environment.write(table, &file);
                observe(id, What::Wrote { path: file.path, bytes });
                call.advance(Given::Written { bytes, now_ms })?
            }
        };
        match next {
            Next::Need(need) => {
                if setting.uncounted && setting.clock == Clock::PerCall {
                    call.forget_attempts();
                }
                self.running = Some((call, need));
            }
            Next::Ended(end) => self.end(setting, id, end, clock, observe),
        }
        Ok(())
    }

    fn end(&mut self, setting: &Setting, id: CallId, end: CallEnd, clock: ClockAt, observe: Observer<'_>) {
        let finished = finished(&end, id.execution);
        let next = setting.next_call(id, &end);
        observe(id, What::Ended(end));
        if next.is_none_or(|next| next.statement > id.statement) {
            self.finished.push(finished);
        }
        if let Some(next) = next {
            self.begin(setting, next, clock, observe);
        }
    }

    fn begin(&mut self, setting: &Setting, id: CallId, clock: ClockAt, observe: Observer<'_>) {
        let clock_ms = clock.of(id);
        observe(id, What::Invoked { clock_ms });
        self.running = Some(Call::start(Arc::new(setting.context(id)), clock_ms));
    }
}

fn finished(end: &CallEnd, execution: u32) -> Finished {
    match end {
        CallEnd::Committed { version, .. } => Finished::Committed { execution, version: *version },
        CallEnd::Nothing { .. } => Finished::Nothing,
        CallEnd::Answered { .. } => Finished::Answered,
        CallEnd::Conflict(_) => Finished::Conflict { execution },
        CallEnd::Exhausted { .. } => Finished::Exhausted { execution },
        CallEnd::Unknown { .. } => Finished::Unknown { execution },
        CallEnd::Failed { .. } => Finished::Failed,
    }
}

fn observe_put(id: CallId, request: &Request, answer: &Answer, observe: Observer<'_>) {
    if let (Request::PutIfAbsent { path, .. }, Answer::Write(answer)) = (request, answer)
        && let LogFile::Commit(version) = LogFile::of(path)
    {
        observe(id, What::Put { version, won: *answer == WriteAnswer::Happened });
    }
}

fn execute(
    setting: &Setting,
    environment: &mut Environment,
    call: &Call,
    table: Option<usize>,
    snapshots: &Snapshots,
    log: Option<super::LogDigest>,
) -> Result<crate::execute::prepare::Executed, Arc<StatementError>> {
    let id = call.context.id;
    // What a call comes to follows from the log that it read, where its clock is its own and it reads no older versions.
    let key = log.filter(|_| setting.clock == Clock::PerCall && snapshots.versions.is_empty());
    if let Some(known) = key.and_then(|log| environment.executed(id, log)) {
        return known;
    }
    let result = Execution {
        naming: &call.context.naming,
        now_ms: call.started_ms,
        default_level: setting.rules.default_level,
        create_level: call.context.create_level,
        read: &|add, _| {
            let file = table.and_then(|table| environment.file(table, &add.path));
            file.map(|file| file.batch.clone()).ok_or_else(|| StatementError::DataFile {
                path: add.path.clone(),
                cause: "there is no such file".to_owned(),
            })
        },
    }
    .execute(&call.context.sql.statement, snapshots)
    .map_err(Arc::new);
    if let Some(log) = key {
        environment.keep_executed(id, log, &result);
    }
    result
}

/// Runs the statements of the setup one after the other.
pub(super) fn run_setup(
    setting: &Setting,
    environment: &mut Environment,
    tables: &mut Tables,
) -> Result<(), WorldError> {
    let mut setup = Writer { finished: Vec::new(), running: None };
    for (index, sql) in setting.scenario.setup.iter().enumerate() {
        let mut problem = None;
        let mut observe = |_: CallId, what: What| {
            if let What::Ended(end) = what
                && end.kind() != Kind::Ok
            {
                problem = Some(end.to_string());
            }
        };
        let clock = setting.clock_at(0);
        let id = CallId { writer: SETUP, statement: index, execution: 0 };
        setup.begin(setting, id, clock, &mut observe);
        while setup.running.is_some() {
            setup.give(setting, environment, tables, clock, &mut observe)?;
        }
        if let Some(message) = problem {
            return Err(WorldError::Setup { number: index + 1, sql: sql.text.clone(), message });
        }
    }
    Ok(())
}
