//! From winners to a verdict: one transaction that read a partition, and 1,000 commits of 100 adds to other partitions that came first.

use std::{hint::black_box, sync::Arc};

use benches::winners::{ADDS, WINNERS, commit, commits, passes, store, transaction, winners};
use conflict::rules::RuleSet;
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};

fn verdict(criterion: &mut Criterion) {
    let commits = commits(WINNERS, ADDS);
    let log = store(&commits);
    let transaction = Arc::new(transaction(&mut log.clone()));
    let rules = Arc::new(RuleSet::delta_spark());
    let mut group = criterion.benchmark_group("verdict");
    group.throughput(Throughput::Elements(WINNERS * ADDS)).sample_size(20);
    group.bench_function("from commit bytes", |bencher| {
        bencher.iter_batched(
            || log.clone(),
            |mut log| {
                commit(&mut log, transaction.clone(), rules.clone());
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
