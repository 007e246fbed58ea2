//! From winners to a verdict: one transaction that read a partition, and 1,000 commits of 100 adds to other partitions that came first.

use std::{hint::black_box, sync::Arc};

use benches::winners::{READ, commits, passes, store, transaction, winners};
use conflict::{
    commit_loop::{CommitLoop, Outcome},
    rules::RuleSet,
};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use log_core::{
    path::Version,
    store::{Response, drive},
};

const WINNERS: u64 = 1000;
const ADDS: u64 = 100;

fn verdict(criterion: &mut Criterion) {
    let commits = commits(WINNERS, ADDS);
    let log = store(&commits);
    let transaction = Arc::new(transaction(&mut log.clone()));
    let rules = Arc::new(RuleSet::delta_spark());
    let mut group = criterion.benchmark_group("verdict");
    group.throughput(Throughput::Elements(WINNERS * ADDS)).sample_size(20);
    group.bench_function("from commit bytes", |bencher| {
        bencher.iter_batched(
            || (log.clone(), CommitLoop::new(transaction.clone(), rules.clone(), 3, 0).expect("a commit")),
            |(mut log, machine)| {
                let outcome = drive(machine, |request| Response { now_ms: 0, answer: log.answer(&request, 0) });
                let expected = Outcome::Committed { version: Version(READ.0 + WINNERS + 1), attempts: 2 };
                assert_eq!(outcome.expect("a log that we wrote"), expected);
                log
            },
            BatchSize::LargeInput,
        );
    });
    let winners = winners(&commits);
    group.bench_function("from parsed winners", |bencher| {
        bencher.iter(|| assert!(passes(&rules, &transaction, black_box(&winners))));
    });
}

criterion_group!(benches, verdict);
criterion_main!(benches);
