//! Reading logs beside delta_kernel and deltalake-core: every live file's path, size, partition values and statistics are looked at.
//!
//! Each side runs in a process of its own, so that its memory can be told: `load_peers once SIDE CASE` runs one of them once and prints seconds and the peak of
//! resident memory. Without arguments every side runs every case several times in turn, and the medians are printed. Built only with the feature `peers`.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::Instant,
};

use arrow::array::{Array, AsArray, MapArray, RecordBatch, StringArray};
use benches::{
    live,
    logs::{self, DAY, Looked, Shape},
    median,
};
use futures::StreamExt;
use url::Url;

/// Runs of each side in each case, unless `CONTEND_RUNS` says another number.
const RUNS: usize = 5;

const SIDES: [(&str, fn(&Path, bool) -> Looked); 6] = [
    ("contend", contend),
    ("delta_kernel", kernel),
    ("deltalake-core, open_table", deltalake_table),
    ("deltalake-core, lazy snapshot", deltalake_snapshot),
    ("plain read of the files", plain_read),
    ("parse of each line or column", plain_parse),
];

/// Name, log, and whether files of one partition only are looked at.
const CASES: [(&str, Shape, bool); 3] = [
    ("a: 10,000 commits of 100 adds", logs::COMMITS, false),
    ("b: a checkpoint of 1,000,000 adds, 100 commits", logs::CHECKPOINT, false),
    ("c: one day of a hundred of b", logs::CHECKPOINT, true),
];

fn contend(table: &Path, one_day: bool) -> Looked {
    let predicate = one_day.then(|| format!("day = DATE '{}'", DAY.0));
    live::look(table, predicate.as_deref())
}

fn url(table: &Path) -> Url {
    Url::from_directory_path(table).expect("an absolute path")
}

fn kernel(table: &Path, one_day: bool) -> Looked {
    use delta_kernel::{
        Snapshot,
        engine::arrow_data::ArrowEngineData,
        expressions::{Expression, Predicate, Scalar, column_name},
    };
    use delta_kernel_default_engine::{DefaultEngineBuilder, storage::store_from_url};

    let url = url(table);
    let engine = DefaultEngineBuilder::new(store_from_url(&url).expect("a local store")).build();
    let snapshot = Snapshot::builder_for(url.as_str()).build(&engine).expect("a table");
    let mut builder = snapshot.scan_builder();
    if one_day {
        let day = Expression::from(column_name!("day"));
        builder = builder.with_predicate(Arc::new(Predicate::eq(day, Expression::literal(Scalar::Date(DAY.1)))));
    }
    let mut looked = Looked::default();
    for found in builder.build().expect("a scan").scan_metadata(&engine).expect("files") {
        let (data, selected) = found.expect("files").scan_files.into_parts();
        let batch = ArrowEngineData::try_from_engine_data(data).expect("the engine's own data");
        look_at(batch.record_batch(), |row| selected.get(row).is_none_or(|wanted| *wanted), &mut looked);
    }
    looked
}

/// Looks at the rows of a scan of delta_kernel.
fn look_at(batch: &RecordBatch, wanted: impl Fn(usize) -> bool, looked: &mut Looked) {
    let column = |name: &str| batch.column_by_name(name).expect("a column of every scan");
    let (paths, stats) = (column("path").as_string::<i32>(), column("stats").as_string::<i32>());
    let sizes = column("size").as_primitive::<arrow::datatypes::Int64Type>();
    let constants = column("fileConstantValues").as_struct();
    let partitions: &MapArray = constants.column_by_name("partitionValues").expect("partition values").as_map();
    let (keys, values): (&StringArray, &StringArray) = (partitions.keys().as_string(), partitions.values().as_string());
    for row in (0..batch.num_rows()).filter(|row| wanted(*row)) {
        let range = partitions.value_offsets()[row] as usize..partitions.value_offsets()[row + 1] as usize;
        let pairs = range.map(|at| (keys.value(at), values.is_valid(at).then(|| values.value(at))));
        let stats = stats.is_valid(row).then(|| stats.value(row));
        looked.at(paths.value(row), sizes.value(row), pairs, stats);
    }
}

fn deltalake_look(
    runtime: &tokio::runtime::Runtime,
    files: futures::stream::BoxStream<
        '_,
        Result<deltalake_core::kernel::LogicalFileView, deltalake_core::DeltaTableError>,
    >,
) -> Looked {
    let mut looked = Looked::default();
    runtime.block_on(files.for_each(|file| {
        let file = file.expect("a file");
        let partition = file.partition_values_map();
        let pairs = partition.iter().map(|(name, value)| (name.as_str(), value.as_deref()));
        looked.at(&file.path(), file.size(), pairs, file.stats().as_deref());
        futures::future::ready(())
    }));
    looked
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("threads")
}

fn deltalake_table(table: &Path, one_day: bool) -> Looked {
    use deltalake_core::{FilterOp, FilterValue};
    let runtime = runtime();
    let _entered = runtime.enter();
    let table = runtime.block_on(deltalake_core::open_table(url(table))).expect("a table");
    let filters = [("day", FilterOp::Eq, FilterValue::Scalar(DAY.0))];
    deltalake_look(&runtime, table.get_active_add_actions_by_partitions(if one_day { &filters } else { &[] }))
}

fn deltalake_snapshot(table: &Path, one_day: bool) -> Looked {
    use deltalake_core::{DeltaTableBuilder, FilterOp, FilterValue, conjunction_to_kernel_predicate, kernel::Snapshot};
    let runtime = runtime();
    let _entered = runtime.enter();
    let store = DeltaTableBuilder::from_url(url(table)).expect("a folder").build_storage().expect("a store");
    let snapshot = runtime.block_on(Snapshot::try_new(&store, None)).expect("a table");
    let filters = [("day", FilterOp::Eq, FilterValue::Scalar(DAY.0))];
    let predicate =
        one_day.then(|| conjunction_to_kernel_predicate(&filters, &snapshot.schema()).expect("a predicate"));
    deltalake_look(&runtime, snapshot.file_views(&store, predicate.map(Arc::new)))
}

fn files(table: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(table.join("_delta_log")).expect("a log");
    entries.map(|entry| entry.expect("an entry").path()).collect()
}

/// What any reader has to do at least: the bytes. They are summed, so that each is really there.
fn plain_read(table: &Path, _: bool) -> Looked {
    let mut looked = Looked::default();
    let mut buffer = Vec::new();
    for path in files(table) {
        buffer.clear();
        std::io::Read::read_to_end(&mut fs::File::open(path).expect("a file"), &mut buffer).expect("its bytes");
        looked.bytes += buffer.len() as i64;
        looked.sum = buffer
            .chunks_exact(8)
            .fold(looked.sum, |sum, word| sum.wrapping_add(u64::from_le_bytes(word.try_into().expect("eight bytes"))));
    }
    looked
}

/// What the crates for it need to step over every line of JSON, and to decode the columns that are asked for.
fn plain_parse(table: &Path, _: bool) -> Looked {
    use parquet::arrow::{ProjectionMask, arrow_reader::ParquetRecordBatchReaderBuilder};
    let mut looked = Looked::default();
    for path in files(table) {
        if path.extension().is_some_and(|extension| extension == "parquet") {
            let file = fs::File::open(path).expect("a file");
            let builder = ParquetRecordBatchReaderBuilder::try_new(file).expect("a Parquet file");
            let columns = ["add.path", "add.partitionValues", "add.size", "add.modificationTime", "add.stats"];
            let mask = ProjectionMask::columns(builder.parquet_schema(), columns);
            for batch in builder.with_projection(mask).with_batch_size(8192).build().expect("its columns") {
                looked.files += batch.expect("its rows").num_rows() as u64;
            }
        } else {
            let text = fs::read_to_string(path).expect("a file");
            for line in text.lines().filter(|line| line.starts_with('{')) {
                serde_json::from_str::<serde::de::IgnoredAny>(line).expect("JSON");
                looked.files += 1;
            }
        }
    }
    looked
}

/// Megabytes that were resident at most.
fn peak_megabytes() -> f64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux tells the peak of memory");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the peak");
    let kilobytes: f64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
    kilobytes / 1024.0
}

fn table(shape: Shape) -> PathBuf {
    let name = format!("{}-{}-{}", shape.checkpoint, shape.commits, shape.adds);
    std::env::temp_dir().join("contend-benches").join(name)
}

fn once(side: &str, case: &str) {
    let (_, side) = SIDES.iter().find(|(name, _)| *name == side).expect("a side");
    let (_, shape, one_day) = CASES.iter().find(|(name, ..)| name.starts_with(case)).expect("a case");
    let begin = Instant::now();
    let looked = side(&table(*shape), *one_day);
    println!("{} {} {looked:?}", begin.elapsed().as_secs_f64(), peak_megabytes());
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [_, side, case] = arguments.as_slice()
        && arguments[0] == "once"
    {
        return once(side, case);
    }
    let runs = std::env::var("CONTEND_RUNS").map_or(RUNS, |runs| runs.parse().expect("a number"));
    let program = std::env::current_exe().expect("this program");
    for (case, shape, _) in CASES {
        logs::write(&table(shape), shape).expect("a folder for temporary files");
        println!("{case}");
        let mut results: BTreeMap<usize, Vec<(f64, f64, String)>> = BTreeMap::new();
        for _ in 0..runs {
            for (index, (side, _)) in SIDES.iter().enumerate() {
                let output = Command::new(&program).args(["once", side, &case[..1]]).output().expect("it runs");
                let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
                let mut words = text.splitn(3, ' ');
                let mut number = || words.next().and_then(|word| word.parse().ok());
                let (Some(seconds), Some(megabytes)) = (number(), number()) else {
                    panic!("{side} failed: {}", String::from_utf8_lossy(&output.stderr));
                };
                let looked = words.next().expect("what was looked at").to_owned();
                results.entry(index).or_default().push((seconds, megabytes, looked));
            }
        }
        let ours = results[&0].clone();
        for (index, results) in results {
            let of = |results: &[(f64, f64, String)]| {
                (
                    median(results.iter().map(|(seconds, ..)| *seconds).collect()),
                    median(results.iter().map(|(_, megabytes, _)| *megabytes).collect()),
                )
            };
            let ((seconds, megabytes), (our_seconds, our_megabytes)) = (of(&results), of(&ours));
            println!(
                "  {:<30} {seconds:>8.3} s {megabytes:>8.1} MB   {:>6.2} times our time, {:>6.2} times our memory",
                SIDES[index].0,
                seconds / our_seconds,
                megabytes / our_megabytes
            );
            // The plain ones look at nothing in particular.
            if index < 4 {
                assert_eq!(results[0].2, ours[0].2, "everyone looks at the same files");
            }
        }
        println!("  {}", ours[0].2);
    }
}
