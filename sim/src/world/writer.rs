//! A writer: a list of statements, and the call that it is in.

use std::sync::Arc;

use log_core::{
    path::{LogFile, Version},
    store::{Answer, Request, Response, WriteAnswer},
};

use super::{
    Environment, LogDigest, Tables, WorldError,
    network::{Fault, FaultKind, LatePut, Network},
    setting::{Clock, ClockAt, Granularity, Setting},
};
use crate::{
    call::{Call, CallEnd, CallError, Given, Need, Next},
    execute::prepare::{Executed, Execution, Snapshots, StatementError},
    history::{Kind, PutResult, What},
    naming::{CallId, SETUP},
    oracle::exactly_once::CallOutcome,
};

/// A writer.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Writer {
    /// How its finished statements ended, in order.
    finished: Vec<Finished>,
    running: Option<(Call, Need)>,
    /// Where the store checks and then puts: it has checked.
    checked: bool,
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
    /// Its writer was killed, in its n-th execution (from 0).
    Crashed {
        /// The execution.
        execution: u32,
    },
    /// It could not be executed.
    Failed,
}

/// What surrounds a writer while it makes a step.
pub struct Scene<'a> {
    /// What stays the same.
    pub setting: &'a Setting,
    /// Data files, and what was computed before.
    pub environment: &'a mut Environment,
    /// The tables.
    pub tables: &'a mut Tables,
    /// What lies between.
    pub network: &'a mut Network,
    /// The time.
    pub clock: ClockAt,
    /// Told about everything that happens to a call.
    pub observe: &'a mut dyn FnMut(CallId, What),
}

impl Writer {
    /// The writer at its first scheduling point.
    pub(super) fn start(index: usize, scene: &mut Scene<'_>) -> Result<Self, CallError> {
        let mut writer = Self { finished: Vec::new(), running: None, checked: false };
        writer.begin(CallId { writer: index, statement: 0, execution: 0 }, scene);
        writer.run_on(scene)?;
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
                Finished::Unknown { execution } | Finished::Crashed { execution } => (execution, CallOutcome::Unknown),
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
            Need::Store(Request::PutIfAbsent { .. }) if !self.checked => "put",
            Need::Store(Request::PutIfAbsent { .. }) => "overwrite",
            Need::Store(Request::Backoff { .. }) => "wait",
            Need::Store(Request::List { .. }) if call.is_loading() => "load",
            Need::Store(Request::List { .. }) => "winners",
            Need::Store(_) if call.is_loading() => "read",
            Need::Store(_) => "winner",
        }
    }

    /// The faults that may happen to it now, as far as the budget goes.
    pub(super) fn faults(&self, setting: &Setting, tables: &Tables, network: &Network) -> Vec<Fault> {
        let Some((call, need)) = &self.running else { return Vec::new() };
        let mut faults = Vec::new();
        let putting = matches!(need, Need::Store(Request::PutIfAbsent { .. }));
        if putting {
            faults.extend([Fault::PutLost, Fault::ReplyLost, Fault::PutLate]);
        }
        faults.push(Fault::Crash);
        if putting {
            faults.push(Fault::CrashAfterPut);
        }
        if matches!(need, Need::Store(Request::List { .. })) && network.budget.allows(FaultKind::ListLag) {
            let missing = hidden_commits(call, setting, tables, network).min(u64::from(u8::MAX)) as u8;
            faults.extend((1..=missing).map(|missing| Fault::ListLag { missing }));
        }
        faults.retain(|fault| network.budget.allows(fault.kind()));
        faults
    }

    /// One event: gives the writer what it needs, or lets a fault happen to it, and lets it run on to where the next event is.
    ///
    /// # Errors
    /// When a table is damaged.
    ///
    /// # Panics
    /// When the writer has finished, or the fault cannot happen to what it needs.
    pub fn step(&mut self, fault: Option<Fault>, scene: &mut Scene<'_>) -> Result<(), CallError> {
        if let Some(fault) = fault {
            scene.network.budget.spend(fault.kind());
            let call = self.call().expect("a writer that runs").context.id;
            (scene.observe)(call, What::Fault(fault));
        }
        self.give(fault, scene)?;
        self.run_on(scene)?;
        scene.network.drop_hopeless(scene.tables);
        Ok(())
    }

    fn run_on(&mut self, scene: &mut Scene<'_>) -> Result<(), CallError> {
        let granularity = scene.setting.granularity;
        while self.running.as_ref().is_some_and(|(call, need)| !granularity.stops_before(call, need)) {
            self.give(None, scene)?;
        }
        Ok(())
    }

    /// One answer to one need.
    fn give(&mut self, fault: Option<Fault>, scene: &mut Scene<'_>) -> Result<(), CallError> {
        let (mut call, need) = self.running.take().expect("a writer that runs");
        let id = call.context.id;
        if let Some(Fault::Crash | Fault::CrashAfterPut) = fault {
            if fault == Some(Fault::CrashAfterPut) {
                let Need::Store(request) = &need else { panic!("writer {} puts nothing", id.writer) };
                ask(&call, request, None, scene);
            }
            self.checked = false;
            self.end(id, CallEnd::Crashed, scene);
            return Ok(());
        }
        let setting = scene.setting;
        let now_ms = scene.clock.of(id);
        let next = match need {
            Need::Store(request @ Request::PutIfAbsent { .. }) if !setting.rules.atomic_put && !self.checked => {
                // The device under test: the store looks first, and puts in a step of its own.
                let Request::PutIfAbsent { path, .. } = &request else { unreachable!("matched above") };
                if scene.tables.get(table(&call, setting)).objects().get(path).is_none() {
                    self.checked = true;
                    self.running = Some((call, Need::Store(request)));
                    return Ok(());
                }
                let answer = Answer::Write(WriteAnswer::AlreadyExists);
                observe_put(id, &request, &answer, scene);
                call.advance(Given::Response(Response { now_ms, answer }))?
            }
            Need::Store(request) => {
                // A search loads the same log many times: what the loader came to is looked up.
                let looked_up = fault.is_none()
                    && setting.granularity <= Granularity::Points
                    && setting.clock == Clock::PerCall
                    && call.loads_newest();
                if looked_up {
                    let table = table(&call, setting);
                    let snapshot = scene.environment.snapshot(table, scene.tables.get(table))?;
                    Next::Need(call.take_snapshot(snapshot))
                } else {
                    let request = match request {
                        Request::PutIfAbsent { path, bytes } if self.checked => Request::Put { path, bytes },
                        other => other,
                    };
                    self.checked = false;
                    let answer = ask(&call, &request, fault, scene);
                    call.advance(Given::Response(Response { now_ms, answer }))?
                }
            }
            Need::Execute(snapshots) => {
                let newest = snapshots.newest.as_ref();
                let mut log = None;
                if call.context.sql.statement.table().is_some() {
                    let table = table(&call, setting);
                    let read = newest.or_else(|| snapshots.versions.values().next());
                    (scene.observe)(id, What::Loaded(read.map(|snapshot| snapshot.version)));
                    let commits = newest.map_or(0, |snapshot| snapshot.version.0 as usize + 1);
                    let digests = scene.tables.get(table).digests();
                    log = Some(commits.checked_sub(1).map_or_else(LogDigest::default, |last| digests[last]));
                }
                let result = execute(scene, &call, &snapshots, log);
                call.advance(Given::Executed(result))?
            }
            Need::Write(file) => {
                let bytes = scene.environment.write(table(&call, setting), &file);
                (scene.observe)(id, What::Wrote { path: file.path, bytes });
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
            Next::Ended(end) => self.end(id, end, scene),
        }
        Ok(())
    }

    fn end(&mut self, id: CallId, end: CallEnd, scene: &mut Scene<'_>) {
        let finished = finished(&end, id.execution);
        let next = scene.setting.next_call(id, &end);
        (scene.observe)(id, What::Ended(end));
        if next.is_none_or(|next| next.statement > id.statement) {
            self.finished.push(finished);
        }
        if let Some(next) = next {
            self.begin(next, scene);
        }
    }

    fn begin(&mut self, id: CallId, scene: &mut Scene<'_>) {
        let clock_ms = scene.clock.of(id);
        (scene.observe)(id, What::Invoked { clock_ms });
        self.running = Some(Call::start(Arc::new(scene.setting.context(id)), clock_ms));
    }
}

fn table(call: &Call, setting: &Setting) -> usize {
    setting.table_index(call.context.sql.statement.table().expect("a call that asks the store has a table"))
}

/// How many commits a listing could fail to show. Those of the setup are old enough to be seen.
pub(super) fn hidden_commits(call: &Call, setting: &Setting, tables: &Tables, network: &Network) -> u64 {
    let hidden = |index: usize| tables.get(index).commits().saturating_sub(network.shown[index]);
    call.context.sql.statement.table().map_or(0, |_| hidden(table(call, setting)))
}

/// Sends a request through the network.
fn ask(call: &Call, request: &Request, fault: Option<Fault>, scene: &mut Scene<'_>) -> Answer {
    let id = call.context.id;
    let table = table(call, scene.setting);
    let unknown = |cause: &str| Answer::Write(WriteAnswer::Unknown { cause: cause.to_owned() });
    let mut happens = || scene.tables.answer(table, request, scene.clock.of(id));
    let answer = match fault {
        None | Some(Fault::Crash | Fault::CrashAfterPut) => happens(),
        Some(Fault::PutLost) => unknown("the request was lost"),
        Some(Fault::ReplyLost) => {
            happens();
            unknown("the reply was lost")
        }
        Some(Fault::PutLate) => {
            let Request::PutIfAbsent { path, bytes } = request else { panic!("only a put can be late") };
            scene.network.delay(LatePut { table, path: path.clone(), bytes: bytes.clone(), call: id });
            unknown("the request is late")
        }
        Some(Fault::ListLag { missing }) => match happens() {
            Answer::Listed(mut objects) => {
                objects.truncate(objects.len().saturating_sub(usize::from(missing)));
                Answer::Listed(objects)
            }
            other => panic!("a listing was answered with {other:?}"),
        },
    };
    observe_put(id, request, &answer, scene);
    answer
}

fn finished(end: &CallEnd, execution: u32) -> Finished {
    match end {
        CallEnd::Committed { version, .. } => Finished::Committed { execution, version: *version },
        CallEnd::Nothing { .. } => Finished::Nothing,
        CallEnd::Answered { .. } => Finished::Answered,
        CallEnd::Conflict(_) => Finished::Conflict { execution },
        CallEnd::Exhausted { .. } => Finished::Exhausted { execution },
        CallEnd::Unknown { .. } => Finished::Unknown { execution },
        CallEnd::Crashed => Finished::Crashed { execution },
        CallEnd::Failed { .. } => Finished::Failed,
    }
}

fn observe_put(id: CallId, request: &Request, answer: &Answer, scene: &mut Scene<'_>) {
    if let (Request::PutIfAbsent { path, .. } | Request::Put { path, .. }, Answer::Write(answer)) = (request, answer)
        && let LogFile::Commit(version) = LogFile::of(path)
    {
        (scene.observe)(id, What::Put { version, result: PutResult::of(answer) });
    }
}

fn execute(
    scene: &mut Scene<'_>,
    call: &Call,
    snapshots: &Snapshots,
    log: Option<LogDigest>,
) -> Result<Executed, Arc<StatementError>> {
    let (setting, environment) = (scene.setting, &mut *scene.environment);
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
            let file = environment.file(table(call, setting), &add.path);
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
    for (index, sql) in setting.scenario.setup.iter().enumerate() {
        let mut problem = None;
        let mut setup = Writer { finished: Vec::new(), running: None, checked: false };
        let mut scene = Scene {
            setting,
            environment: &mut *environment,
            tables: &mut *tables,
            network: &mut Network::default(),
            clock: setting.clock_at(0),
            observe: &mut |_, what| {
                if let What::Ended(end) = what
                    && end.kind() != Kind::Ok
                {
                    problem = Some(end.to_string());
                }
            },
        };
        setup.begin(CallId { writer: SETUP, statement: index, execution: 0 }, &mut scene);
        while setup.running.is_some() {
            setup.give(None, &mut scene)?;
        }
        if let Some(message) = problem {
            return Err(WorldError::Setup { number: index + 1, sql: sql.text.clone(), message });
        }
    }
    Ok(())
}
