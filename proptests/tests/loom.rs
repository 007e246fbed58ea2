//! The threaded path under loom: the writers that run on threads over real tables, here over a map in memory, in every order in which their threads can
//! get to the locks.
//!
//! ```sh
//! RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom cargo test --release -p proptests --test loom
//! ```
//!
//! **What is modelled.** Each writer runs `sim::real::writer::run_writer`, which is what runs in the program. Whatever it locks is loom's, by way of
//! `sim::real::sync`: the store (one lock around listing, putting and reading a winner), and in a model of its own the cell with the newest snapshot. A lost
//! call is dropped, so of two writers with three updates each between three and six commit.
//!
//! **What is not.** loom does not see locks of another kind, and does not interleave what they guard: every test asserts that there was more than one
//! execution, and the two tests that end in `is_found` show a bug that it finds. A bound on preemptions leaves logs out: a call is lost only
//! when another thread runs between its load and its put, so a bound of b gives at least 9 - b commits of nine.
//!
//! **To debug**, set `LOOM_LOG=1`, and see loom's page on `LOOM_CHECKPOINT_FILE`.
#![cfg(loom)]

use std::{
    collections::BTreeSet,
    ops::{ControlFlow, RangeInclusive},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use log_core::{
    action::{Action, AddFile},
    path::{LogFile, Version},
    snapshot::Snapshot,
    store::{Answer, ObjectMap, Request, Response, WriteAnswer},
};
use sim::{
    call::CallEnd,
    execute::prepare::{NewFile, StatementError},
    explore::WorldModel,
    history::What,
    naming::{CallId, Naming},
    real::{
        newest::NewestSnapshot,
        shared_map::{Contents, SharedMap, View},
        sync::thread,
        writer::{Place, run_writer},
    },
    rule_choice::RuleChoice,
    scenario::Scenario,
    search::{Limits, explore},
    world::{Clock, Environment, Granularity, Setting, Table, World},
};

/// The time of every call: 2024-01-01T00:00:00Z.
const NOW_MS: i64 = 1_704_067_200_000;

/// Who committed, in order: the writers' commits of a log, by transaction id.
type Log = Vec<String>;

/// A scenario, and what the search over the simulated world knows about it.
struct Subject {
    setting: Arc<Setting>,
    contents: Contents,
    /// Every final log that the search found.
    logs: BTreeSet<Log>,
}

impl Subject {
    /// So many writers that update the one row so often.
    fn new(writers: u32, updates: u32) -> Arc<Self> {
        let statements: Vec<String> =
            (1..=updates).map(|update| format!("\"UPDATE t SET x = x * 2 + {update}\"")).collect();
        let text = format!(
            r#"
            setup = ["CREATE TABLE t (x INT)", "INSERT INTO t VALUES (1)"]
            [[writer]]
            name = "w"
            count = {writers}
            statements = [{}]
            on_conflict = "continue"
            "#,
            statements.join(", ")
        );
        let scenario = Scenario::parse(&text, "model").expect("a scenario");
        let setting = RuleChoice::default().setting(scenario, Clock::PerCall, Granularity::Points);
        let setting = Arc::new(setting.expect("a setting"));

        let mut environment = Environment::default();
        let world = World::new(setting.clone(), &mut environment).expect("the setup succeeds");
        let contents = Contents::of(&world.tables, &environment);

        let mut model = WorldModel::new(setting.clone()).expect("the setup succeeds");
        let limits = Limits { memory_bytes: 4 << 30 };
        let explored = explore(&mut model, limits, &mut |_| ControlFlow::Continue(())).expect("no table is damaged");
        assert!(explored.exhausted && explored.violations.is_empty());
        let logs = explored.ends.iter().map(|end| log(model.tables(end).get(0), &setting)).collect();
        Arc::new(Self { setting, contents, logs })
    }
}

/// The writers' commits.
fn log(table: &Table, setting: &Setting) -> Log {
    let txn_id = |version| table.commit(Version(version)).info().and_then(|info| info.txn_id()).map(str::to_owned);
    let first = setting.scenario.setup.len() as u64;
    (first..table.commits()).map(|version| txn_id(version).expect("every commit has an id")).collect()
}

/// What is modelled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Device {
    /// The store alone.
    Store,
    /// The store and the cell with the newest snapshot.
    Cell,
    /// A store that looks first and then puts.
    CheckThenPut,
    /// A cell that is told of a commit before it is put.
    CellBeforePut,
}

/// The tables as a writer sees them, with a bug if one is wanted.
struct Tables<'a> {
    view: View<'a>,
    device: Device,
}

impl Place for Tables<'_> {
    fn answer(&self, table: usize, request: &Request) -> Response {
        let Request::PutIfAbsent { path, bytes } = request else { return self.view.answer(table, request) };
        match self.device {
            Device::Store | Device::Cell => {}
            Device::CheckThenPut => {
                let found = self.view.answer(table, &Request::Get { path: path.clone() });
                if found.answer != Answer::Content(None) {
                    return Response { answer: Answer::Write(WriteAnswer::AlreadyExists), ..found };
                }
                return self.view.answer(table, &Request::Put { path: path.clone(), bytes: bytes.clone() });
            }
            Device::CellBeforePut => {
                let LogFile::Commit(version) = LogFile::of(path) else { panic!("a put of '{path}'") };
                let newest = self.view.newest(table).expect("there is a cell");
                newest.offer_commit(newest.get().as_deref(), version, bytes);
            }
        }
        self.view.answer(table, request)
    }

    fn now_ms(&self) -> i64 {
        self.view.now_ms()
    }

    fn read(
        &self,
        table: usize,
        add: &AddFile,
        snapshot: &Snapshot,
    ) -> Result<arrow::array::RecordBatch, StatementError> {
        self.view.read(table, add, snapshot)
    }

    fn write(&self, table: usize, file: &NewFile, snapshot: &Snapshot) -> Result<u64, std::io::Error> {
        self.view.write(table, file, snapshot)
    }

    fn newest(&self, table: usize) -> Option<&NewestSnapshot> {
        self.view.newest(table)
    }
}

/// How a writer's calls ended.
type Ends = Vec<(CallId, CallEnd)>;

fn write(subject: &Subject, writer: usize, map: &SharedMap, device: Device) -> Ends {
    let mut ends = Vec::new();
    let place = Tables { view: map.view(), device };
    let result = run_writer(&subject.setting, writer, &place, None, &mut |call, what| {
        if let What::Ended(end) = what {
            ends.push((call, end));
        }
    });
    if let Err(error) = result {
        panic!("writer {writer} cannot go on: {error}");
    }
    ends
}

/// What every execution must come to; gives its log.
fn check(subject: &Subject, objects: ObjectMap, ends: &Ends) -> Log {
    let table = match Table::from_objects(objects) {
        Ok(table) => table,
        Err(error) => panic!("the log is damaged: {error}"),
    };
    let log = log(&table, &subject.setting);
    let first = subject.setting.scenario.setup.len() as u64;
    for (call, end) in ends {
        let id = Naming::new("", subject.setting.writer_name(call.writer), *call).txn_id();
        let versions: Vec<u64> = (first..).zip(&log).filter(|(_, found)| **found == id).map(|(at, _)| at).collect();
        match end {
            CallEnd::Committed { version, read, .. } => {
                assert_eq!(versions, [version.0], "{id} was acknowledged as {version}, and the log is {log:?}");
                // Every update reads what every other one writes.
                assert_eq!(read.map(Version::next), Some(*version), "{id} passed a winner");
            }
            CallEnd::Conflict(_) => assert!(versions.is_empty(), "{id} was rejected, and the log is {log:?}"),
            other => panic!("{id}: {other}"),
        }
    }
    let mut live = BTreeSet::new();
    for version in (0..table.commits()).map(Version) {
        let commit = table.commit(version);
        for action in &commit.actions {
            if let Action::Remove(remove) = action {
                let there = live.remove(&remove.path);
                assert!(there, "the log is damaged: version {version} removes '{}', which is not there", remove.path);
            }
        }
        live.extend(commit.actions.into_iter().filter_map(|action| match action {
            Action::Add(add) => Some(add.path),
            _ => None,
        }));
    }
    assert!(subject.logs.contains(&log), "the search does not know this log: {log:?}");
    log
}

/// Runs a model; gives every log that it came to.
fn model(name: &str, subject: &Arc<Subject>, device: Device, bound: Option<usize>) -> BTreeSet<Log> {
    let executions = Arc::new(AtomicUsize::new(0));
    let found = Arc::new(Mutex::new(BTreeSet::new()));
    let started = Instant::now();
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = bound;
    let (count, keep, setting) = (executions.clone(), found.clone(), subject.clone());
    builder.check(move || {
        count.fetch_add(1, Ordering::Relaxed);
        let (subject, keep) = (setting.clone(), keep.clone());
        // The thread that a model begins on has a small stack, and does nothing here but wait.
        let whole = move || {
            let map = SharedMap::new(subject.contents.clone(), NOW_MS);
            let map =
                Arc::new(if matches!(device, Device::Cell | Device::CellBeforePut) { map.with_newest() } else { map });
            let mut threads = Vec::new();
            for writer in 1..subject.setting.scenario.writers.len() {
                let (subject, map) = (subject.clone(), map.clone());
                let thread = thread::spawn("writer", move || write(&subject, writer, &map, device));
                threads.push(thread.expect("a model has threads"));
            }
            let mut ends = write(&subject, 0, &map, device);
            for thread in threads {
                ends.extend(thread.join().expect("a thread that panics ends the model"));
            }
            let log = check(&subject, map.log(0), &ends);
            keep.lock().expect("nobody panicked").insert(log);
        };
        thread::spawn("whole", whole)
            .expect("a model has threads")
            .join()
            .expect("a thread that panics ends the model");
    });
    let executions = executions.load(Ordering::Relaxed);
    let found = Arc::into_inner(found).expect("the model is over").into_inner().expect("nobody panicked");
    let commits: BTreeSet<usize> = found.iter().map(Vec::len).collect();
    println!(
        "{name}: {executions} executions, {:.1} s, {} of {} logs, {commits:?} commits",
        started.elapsed().as_secs_f64(),
        found.len(),
        subject.logs.len()
    );
    assert!(executions > 1, "loom saw nothing to interleave");
    found
}

fn commits(logs: &BTreeSet<Log>, expected: RangeInclusive<usize>) {
    let found: BTreeSet<usize> = logs.iter().map(Vec::len).collect();
    assert_eq!(found, expected.collect());
}

#[test]
fn two_writers_come_to_every_log_that_the_search_finds() {
    let subject = Subject::new(2, 3);
    let found = model("store, 2 writers x 3, unbounded", &subject, Device::Store, None);
    assert_eq!(found, subject.logs);
    commits(&found, 3..=6);
}

#[test]
fn three_writers_come_to_logs_that_the_search_finds() {
    let subject = Subject::new(3, 3);
    let found = model("store, 3 writers x 3, bound 3", &subject, Device::Store, Some(3));
    commits(&found, 6..=9);
}

/// `LOOM_BOUND=5 ... -- --ignored --nocapture three_writers_at_a_higher_bound`
#[test]
#[ignore = "minutes; run once for its figures"]
fn three_writers_at_a_higher_bound() {
    let bound = std::env::var("LOOM_BOUND").ok().and_then(|text| text.parse().ok()).unwrap_or(4);
    let subject = Subject::new(3, 3);
    let found = model(&format!("store, 3 writers x 3, bound {bound}"), &subject, Device::Store, Some(bound));
    commits(&found, 9 - bound.min(6)..=9);
}

#[test]
fn a_cell_with_the_newest_snapshot_changes_no_log() {
    let subject = Subject::new(2, 2);
    let found = model("store and cell, 2 writers x 2, unbounded", &subject, Device::Cell, None);
    assert_eq!(found, subject.logs);
    commits(&found, 2..=4);
}

#[test]
#[should_panic(expected = "was acknowledged as")]
fn a_store_that_looks_first_and_then_puts_is_found() {
    model("check-then-put", &Subject::new(2, 3), Device::CheckThenPut, None);
}

/// Two preemptions are needed: a writer that has loaded waits while the other one tells the cell of its commit, and that one waits while the first commits in
/// its place, and then reads from the cell what was never committed.
#[test]
#[should_panic(expected = "the log is damaged")]
fn a_cell_that_runs_ahead_of_the_log_is_found() {
    model("cell before put", &Subject::new(2, 2), Device::CellBeforePut, Some(2));
}
