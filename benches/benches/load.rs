//! Reading logs: looking at path, size, partition values and statistics of every live file. Sizes are a tenth of those in `load_peers.rs`.

use std::{hint::black_box, path::PathBuf, sync::Arc};

use benches::{
    live,
    logs::{self, DAY, Shape},
};
use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use log_core::{load::LoadSnapshot, snapshot::Snapshot, store::drive};
use sim::real::local_directory::LocalDirectory;

const COMMITS: Shape = Shape { commits: 1000, ..logs::COMMITS };
const CHECKPOINT: Shape = Shape { checkpoint: 100_000, commits: 10, ..logs::CHECKPOINT };

fn table(name: &str, shape: Shape) -> PathBuf {
    let table = std::env::temp_dir().join("contend-benches").join(name);
    logs::write(&table, shape).expect("a folder for temporary files");
    table
}

fn snapshot(directory: &LocalDirectory) -> Arc<Snapshot> {
    drive(LoadSnapshot::latest(), |request| directory.answer(&request)).expect("a log that we wrote").expect("a table")
}

fn load(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("load");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    for (name, shape) in [("commits", COMMITS), ("checkpoint", CHECKPOINT)] {
        let table = table(name, shape);
        let files = shape.checkpoint + shape.commits * shape.adds;
        group.throughput(Throughput::Elements(files));
        group.bench_function(format!("{name}/live files"), |bencher| {
            bencher.iter(|| assert_eq!(live::look(&table, None).files, files));
        });
        let predicate = format!("day = DATE '{}'", DAY.0);
        group.bench_function(format!("{name}/live files of a partition"), |bencher| {
            bencher.iter(|| black_box(live::look(&table, Some(&predicate))).files);
        });
        let directory = LocalDirectory::new(&table, 0);
        group.bench_function(format!("{name}/snapshot"), |bencher| {
            bencher.iter(|| assert_eq!(snapshot(&directory).files.len() as u64, files));
        });
    }
    group.finish();
}

criterion_group!(benches, load);
criterion_main!(benches);
