//! One run on threads: one for each writer, over tables on the local disk.

use std::{any::Any, path::Path, time::Instant};

use log_core::{commit::Commit, path::Version};

use super::{
    call_log::CallLog,
    directories::{Directories, FinishedFiles, read_log},
    error::RealError,
    gate::Gate,
    local_directory::next_number,
    preflight::look,
    sync::{
        Arc, Sender, channel,
        thread::{self, JoinHandle},
    },
    writer::{run_call, run_writer},
};
use crate::{
    call::CallError,
    history::{Entry, History, Kind, What},
    naming::{CallId, SETUP},
    run::{RunError, RunResult, conclude, simulate},
    world::{Setting, Table, Tables},
};

/// How a run on threads is made.
#[derive(Clone, Debug, Default)]
pub struct RealOptions {
    /// The seed of the pauses between the puts of a commit. The order of the threads is the system's.
    pub seed: u64,
    /// Where it is written at once how each call ended, those of the setup too.
    pub log: Option<Arc<CallLog>>,
}

/// A text that no other run has, here or elsewhere: part of the names of all that the run makes.
pub fn fresh_run() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    format!("{:x}-{:x}-{:x}", since.as_nanos(), std::process::id(), next_number())
}

/// Runs the writers of a setting on threads, over tables in folders `root/NAME`, and judges what they made.
///
/// A setting whose `run` is empty gets a [`fresh_run`], so that no run ever takes a name that another one has. Times are those of the system's clock.
///
/// # Errors
/// When the tables cannot be used, when the setup fails, when a table turns out to be damaged, when a pinned step is not possible, or when
/// somebody else wrote to a table meanwhile.
pub fn run_on_threads(setting: &Arc<Setting>, root: &Path, options: RealOptions) -> Result<RunResult, RealError> {
    let mut setting = setting.clone();
    if setting.run.is_empty() {
        Arc::make_mut(&mut setting).run = fresh_run();
    }
    let place = Arc::new(Directories::new(root, &setting.tables, options.seed));
    let there = look(&setting, root, &place)?;
    if !there.contains(&true) {
        // A pinned step that is not possible shows in a simulation, before anything is written.
        if let Err(RunError::NotEnabled(error)) = dry_run(&setting) {
            return Err(error.into());
        }
    }
    set_up(&setting, &place, &there, options.log.as_deref())?;
    let mut first = Vec::new();
    for index in 0..setting.tables.len() {
        first.push(read_back(&place, index)?.commits());
    }
    let history = run_writers(&setting, &place, options.log.as_ref())?;
    if let Some(log) = &options.log
        && let Some(source) = log.failure()
    {
        return Err(RealError::CallLog { path: log.path().to_owned(), source });
    }
    let mut tables = Vec::new();
    for (index, first) in first.iter().enumerate() {
        let table = read_back(&place, index)?;
        check_strangers(&setting, &place, index, &table, *first)?;
        tables.push(table);
    }
    Ok(conclude(&setting, history, first, &Tables::new(tables), &mut FinishedFiles(&place)))
}

fn dry_run(setting: &Arc<Setting>) -> Result<(), RunError> {
    match setting.scenario.schedule {
        Some(_) => simulate(setting, 0).map(|_| ()),
        None => Ok(()),
    }
}

/// Runs the statements of the setup one after the other, but none on a table that is there.
fn set_up(setting: &Setting, place: &Directories, there: &[bool], log: Option<&CallLog>) -> Result<(), RealError> {
    for (index, sql) in setting.scenario.setup.iter().enumerate() {
        if sql.statement.table().is_some_and(|table| there[setting.table_index(table)]) {
            continue;
        }
        let (number, text) = (index + 1, sql.text.clone());
        let id = CallId { writer: SETUP, statement: index, execution: 0 };
        let end = run_call(setting, id, place, None, &mut |_, _| {})
            .map_err(|source| RealError::SetupCall { number, sql: text.clone(), source: Box::new(source) })?
            .expect("there is no gate");
        if let Some(log) = log {
            log.ended(setting, id, &end);
        }
        if end.kind() != Kind::Ok {
            return Err(RealError::Setup { number, sql: text, message: end.to_string() });
        }
    }
    Ok(())
}

/// Starts a thread for each writer, holds them to the schedule if there is one, and waits for all of them.
fn run_writers(
    setting: &Arc<Setting>,
    place: &Arc<Directories>,
    log: Option<&Arc<CallLog>>,
) -> Result<History, RealError> {
    let writers = &setting.scenario.writers;
    let gate = setting.scenario.schedule.is_some().then(|| Arc::new(Gate::shut(writers.len())));
    let (sender, receiver) = channel();
    let started = Instant::now();
    let mut threads: Vec<JoinHandle<Result<(), CallError>>> = Vec::new();
    let mut problem = None;
    for (writer, spec) in writers.iter().enumerate() {
        let (setting, place, gate, sender) = (setting.clone(), place.clone(), gate.clone(), sender.clone());
        let log = log.cloned();
        let run = move || {
            let mut observe = |call, what| {
                if let (Some(log), What::Ended(end)) = (&log, &what) {
                    log.ended(&setting, call, end);
                }
                record(&sender, started, call, what);
            };
            run_writer(&setting, writer, &*place, gate.as_deref(), &mut observe)
        };
        match thread::spawn(&format!("writer {}", spec.name), run) {
            Ok(thread) => threads.push(thread),
            Err(source) => {
                problem = Some(RealError::Thread { writer: spec.name.clone(), source });
                break;
            }
        }
    }
    drop(sender);
    if let Some(gate) = &gate {
        match problem {
            None => problem = gate.follow(setting).err().map(RealError::from),
            Some(_) => gate.halt(),
        }
    }
    let mut broken = None;
    for (thread, spec) in threads.into_iter().zip(writers) {
        let writer = || spec.name.clone();
        let error = match thread.join() {
            Ok(Ok(())) => None,
            Ok(Err(source)) => Some(RealError::Writer { writer: writer(), source: Box::new(source) }),
            Err(panic) => Some(RealError::Panic { writer: writer(), message: panic_text(&*panic) }),
        };
        broken = broken.or(error);
    }
    // That a step was not possible may just follow from a writer that broke down.
    if let Some(error) = broken.or(problem) {
        return Err(error);
    }
    let mut entries: Vec<Entry> = Vec::new();
    while let Ok(mut entry) = receiver.recv() {
        // The order is that of the channel; two threads can look at the clock in one order and get there in the other.
        entry.at_ms = entry.at_ms.max(entries.last().map_or(0, |last| last.at_ms));
        entries.push(entry);
    }
    Ok(History { entries })
}

fn record(sender: &Sender<Entry>, started: Instant, call: CallId, what: What) {
    let at_ms = i64::try_from(started.elapsed().as_millis()).unwrap_or(i64::MAX);
    // The receiver is there until every thread has ended.
    let _ = sender.send(Entry { at_ms, call, what });
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "it did not say why".to_owned())
}

fn read_back(place: &Directories, index: usize) -> Result<Table, RealError> {
    let path = || place.table(index).root().to_owned();
    let log = read_log(place.table(index)).map_err(|cause| RealError::ReadBack { path: path(), cause })?;
    Table::from_objects(log).map_err(|source| RealError::Damaged { path: path(), source })
}

/// Is every commit since the writers began one of this run?
fn check_strangers(
    setting: &Setting,
    place: &Directories,
    index: usize,
    table: &Table,
    first: u64,
) -> Result<(), RealError> {
    let path = place.table(index).root().to_owned();
    if table.commits() < first {
        let cause = format!("it had {first} versions before the run, and has {} now", table.commits());
        return Err(RealError::ReadBack { path, cause });
    }
    for version in (first..table.commits()).map(Version) {
        let commit = table.commit(version);
        if !is_ours(setting, &commit) {
            let operation = commit.info().and_then(|info| info.operation()).unwrap_or("unknown operation").to_owned();
            return Err(RealError::Stranger { path, version, operation });
        }
    }
    Ok(())
}

fn is_ours(setting: &Setting, commit: &Commit) -> bool {
    commit.info().and_then(|info| info.txn_id()).is_some_and(|txn_id| setting.call_of(txn_id).is_some())
}
