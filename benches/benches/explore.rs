//! Exhaustive searches and random walks of M(W, C), beside the same work written by hand.

use std::{hint::black_box, ops::ControlFlow, time::Duration};

use benches::{states_by_hand, walk_by_hand};
use criterion::{Criterion, SamplingMode, Throughput};
use sim::{
    models::put_if_absent::PutIfAbsentLog,
    search::{Limits, Options, Walker, explore_with},
};

fn explore(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("explore");
    for (commits, states) in [(3, 35_327), (4, 759_602), (5, 16_890_533)] {
        let size = format!("3x{commits}");
        group.sample_size(10).sampling_mode(SamplingMode::Flat).measurement_time(Duration::from_secs(5));
        group.throughput(Throughput::Elements(states));
        for threads in [1, 2] {
            let options = Options { threads, ..Options::new(Limits { memory_bytes: usize::MAX }) };
            group.bench_function(format!("{size}/contend {threads}"), |bencher| {
                bencher.iter(|| {
                    let mut model = PutIfAbsentLog::new(3, commits).expect("there is room");
                    let Ok(found) = explore_with(&mut model, options, &mut |_| ControlFlow::Continue(()));
                    assert_eq!(found.states as u64, states);
                    found
                });
            });
        }
        group.bench_function(format!("{size}/by hand"), |bencher| {
            bencher.iter(|| assert_eq!(states_by_hand(3, commits as u8) as u64, states));
        });
    }
    group.finish();
}

fn walk(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("walk");
    group.throughput(Throughput::Elements(1));
    group.bench_function("3x3/contend", |bencher| {
        let mut model = PutIfAbsentLog::new(3, 3).expect("there is room");
        let mut walker = Walker::default();
        let mut seed = 0;
        bencher.iter(|| {
            seed += 1;
            let Ok(walked) = walker.walk(&mut model, seed);
            black_box(walked.end)
        });
    });
    group.bench_function("3x3/by hand", |bencher| {
        let mut schedule = Vec::new();
        let mut seed = 0;
        bencher.iter(|| {
            seed += 1;
            walk_by_hand(3, 3, black_box(seed), &mut schedule)
        });
    });
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    explore(&mut criterion);
    walk(&mut criterion);
    criterion.final_summary();
}
