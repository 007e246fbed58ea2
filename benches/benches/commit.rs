//! Simulated commit attempts: four writers append blindly through the commit loop, with real commit bytes in a store in memory, in virtual time.

use std::{cmp::Reverse, collections::BinaryHeap, hint::black_box, sync::Arc};

use conflict::{
    commit_loop::{CommitLoop, DEFAULT_COMMIT_RETRIES, Outcome},
    isolation::IsolationLevel,
    rules::RuleSet,
    transaction::{Operation, ReadSet, Transaction},
};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use log_core::{
    action::{Action, AddFile, Metadata, Protocol},
    commit::Commit,
    load::LoadSnapshot,
    path::{Version, commit_path},
    schema::Schema,
    snapshot::Snapshot,
    store::{Machine, ObjectMap, Request, Response, Step, drive},
};
use sim::{random::Random, scenario::Latency};

const WRITERS: usize = 4;
const COMMITS: usize = 250;

struct Writer {
    random: Random,
    /// What it knows of the table; while it loads, the loader has it, and changes it in place.
    base: Option<Arc<Snapshot>>,
    left: usize,
    work: Work,
}

/// What a writer is about, and the request that is on its way.
enum Work {
    Begin,
    Load(LoadSnapshot, Request),
    Commit(CommitLoop, Request),
}

/// What a simulation came to.
struct Run {
    attempts: u64,
    committed: usize,
    /// Loops that used up their puts; the writer then begins anew.
    exhausted: usize,
}

fn table() -> ObjectMap {
    let metadata = Metadata { schema_string: Schema::default().to_json(), ..Metadata::default() };
    let actions = [Action::Protocol(Protocol::of_new_table()), Action::Metadata(metadata)];
    let mut store = ObjectMap::default();
    let bytes = Commit::serialise(&actions).into();
    store.answer(&Request::PutIfAbsent { path: commit_path(Version(0)), bytes }, 0);
    store
}

fn load(store: &mut ObjectMap, loader: LoadSnapshot) -> Arc<Snapshot> {
    let answer = |request| Response { now_ms: 0, answer: store.answer(&request, 0) };
    drive(loader, answer).expect("a log that we wrote").expect("a table")
}

fn transaction(writer: usize, base: &Arc<Snapshot>, left: usize) -> Arc<Transaction> {
    let add = AddFile {
        path: format!("part-00000-{writer}-{left}.c000.snappy.parquet"),
        size: 1_000_000,
        data_change: true,
        stats: Some(
            r#"{"numRecords":1000,"minValues":{"id":1},"maxValues":{"id":1000},"nullCount":{"id":0}}"#.to_owned(),
        ),
        ..AddFile::default()
    };
    let operation = Operation { name: "WRITE".to_owned(), ..Operation::default() };
    let txn_id = format!("{writer}-{left}");
    let level = IsolationLevel::Serializable;
    Arc::new(Transaction::new(Some(base.clone()), ReadSet::default(), operation, vec![Action::Add(add)], level, txn_id))
}

fn latency(random: &mut Random, latency: &Latency, request: &Request) -> u64 {
    u64::from(random.between(match request {
        Request::List { .. } => latency.list_ms,
        Request::Get { .. } | Request::GetMany { .. } | Request::Head { .. } | Request::GetRange { .. } => {
            latency.get_ms
        }
        Request::PutIfAbsent { .. } | Request::Put { .. } | Request::Delete { .. } => latency.put_ms,
        Request::Backoff { .. } => [0, 0],
    }))
}

fn simulate(seed: u64) -> Run {
    let profile: Latency = "s3".parse().expect("a profile");
    let rules = Arc::new(RuleSet::delta_spark());
    let mut store = table();
    let base = load(&mut store, LoadSnapshot::latest());
    let mut writers: Vec<Writer> = (0..WRITERS as u64)
        .map(|writer| Writer {
            random: Random::new(seed, writer),
            base: Some(base.clone()),
            left: COMMITS,
            work: Work::Begin,
        })
        .collect();
    let mut due = BinaryHeap::new();
    for writer in 0..WRITERS {
        due.push(Reverse((0, writer)));
    }
    let mut run = Run { attempts: 0, committed: 0, exhausted: 0 };
    while let Some(Reverse((now, writer))) = due.pop() {
        let state = &mut writers[writer];
        let now_ms = now as i64;
        state.work = match std::mem::replace(&mut state.work, Work::Begin) {
            Work::Begin if state.left == 0 => continue,
            Work::Begin => {
                let base = state.base.take().expect("it is not loading");
                let mut machine = LoadSnapshot::newer_than(base);
                let request = machine.start();
                Work::Load(machine, request)
            }
            Work::Load(mut machine, request) => {
                let answer = store.answer(&request, now_ms);
                match machine.advance(Response { now_ms, answer }) {
                    Step::Request(request) => Work::Load(machine, request),
                    Step::Done(snapshot) => {
                        let base = snapshot.expect("a log that we wrote").expect("a table");
                        let transaction = transaction(writer, &base, state.left);
                        state.base = Some(base);
                        let mut machine = CommitLoop::new(transaction, rules.clone(), DEFAULT_COMMIT_RETRIES, now_ms)
                            .expect("a commit");
                        let request = machine.start();
                        Work::Commit(machine, request)
                    }
                }
            }
            Work::Commit(mut machine, request) => {
                run.attempts += u64::from(matches!(request, Request::PutIfAbsent { .. }));
                let answer = store.answer(&request, now_ms);
                match machine.advance(Response { now_ms, answer }) {
                    Step::Request(request) => Work::Commit(machine, request),
                    Step::Done(outcome) => {
                        match outcome.expect("a log that we wrote") {
                            Outcome::Committed { .. } => {
                                run.committed += 1;
                                state.left -= 1;
                            }
                            // The others were faster 201 times: possible while they keep ahead of it.
                            Outcome::Exhausted { .. } => run.exhausted += 1,
                            other => panic!("a blind append conflicts with nothing: {other:?}"),
                        }
                        Work::Begin
                    }
                }
            }
        };
        let after = match &state.work {
            Work::Begin => 0,
            Work::Load(_, request) | Work::Commit(_, request) => latency(&mut state.random, &profile, request),
        };
        due.push(Reverse((now + after, writer)));
    }
    assert_eq!(run.committed, WRITERS * COMMITS);
    run
}

fn commit(c: &mut Criterion) {
    let Run { attempts, committed, exhausted } = simulate(0);
    eprintln!("{attempts} puts for {committed} commits; {exhausted} loops used up their puts");
    let mut group = c.benchmark_group("commit");
    group.throughput(Throughput::Elements(attempts));
    group.bench_function("4 writers, s3, blind appends", |b| b.iter(|| black_box(simulate(0)).attempts));
    group.finish();
}

criterion_group!(benches, commit);
criterion_main!(benches);
