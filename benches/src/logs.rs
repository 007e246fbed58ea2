//! Logs to be read, made from a seed, and what it means to have read one: every live file was looked at.

use std::{
    fs::{self, File},
    hash::Hasher,
    io::{self, Write},
    path::Path,
    sync::Arc,
};

use arrow::{
    datatypes::{DataType, Field, Fields, Schema},
    json::ReaderBuilder,
};
use parquet::{arrow::ArrowWriter, basic::Compression, file::properties::WriterProperties};
use rustc_hash::FxHasher;
use sim::random::Random;

/// Days by which the table is partitioned.
const DAYS: u64 = 100;
/// A day of which the files are asked for, as text and in days since 1970.
pub const DAY: (&str, i32) = ("2024-03-05", 19_787);

/// A log: how much there is of what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Adds of the checkpoint; without any there is none.
    pub checkpoint: u64,
    /// Commits that follow the checkpoint, or the one that makes the table.
    pub commits: u64,
    /// Adds of each of these commits.
    pub adds: u64,
}

/// 10,000 commits of 100 adds.
pub const COMMITS: Shape = Shape { checkpoint: 0, commits: 10_000, adds: 100 };
/// A checkpoint of 1,000,000 adds and 100 commits.
pub const CHECKPOINT: Shape = Shape { checkpoint: 1_000_000, commits: 100, adds: 100 };

/// The version of the checkpoint.
const CHECKPOINT_VERSION: u64 = 1000;
/// Rows that are given to the Parquet writer at a time.
const BATCH_ROWS: u64 = 8192;

/// What was looked at: two that have looked at the same files, in whatever order, have the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Looked {
    /// Files.
    pub files: u64,
    /// The sum of their sizes.
    pub bytes: i64,
    /// The length of all their statistics.
    pub stats_bytes: u64,
    /// The sum of hashes of path, partition values and statistics.
    pub sum: u64,
}

impl Looked {
    /// Looks at a file.
    pub fn at<'a>(
        &mut self,
        path: &str,
        size: i64,
        partition: impl IntoIterator<Item = (&'a str, Option<&'a str>)>,
        stats: Option<&str>,
    ) {
        let mut hasher = FxHasher::default();
        hasher.write(path.as_bytes());
        for (name, value) in partition {
            hasher.write(name.as_bytes());
            hasher.write(value.unwrap_or("NULL").as_bytes());
        }
        let stats = stats.unwrap_or_default();
        hasher.write(stats.as_bytes());
        self.files += 1;
        self.bytes = self.bytes.wrapping_add(size);
        self.stats_bytes += stats.len() as u64;
        self.sum = self.sum.wrapping_add(hasher.finish());
    }
}

/// Writes the log of a table into a folder, unless it is there already.
///
/// # Errors
/// When the system refuses.
pub fn write(table: &Path, shape: Shape) -> io::Result<()> {
    let log = table.join("_delta_log");
    let done = log.join("made");
    if fs::read_to_string(&done).is_ok_and(|text| text == format!("{shape:?}")) {
        return Ok(());
    }
    if log.exists() {
        fs::remove_dir_all(&log)?;
    }
    fs::create_dir_all(&log)?;
    let mut random = Random::new(1, 0);
    let first = match shape.checkpoint {
        0 => {
            fs::write(commit(&log, 0), format!("{PROTOCOL}\n{}\n", metadata()))?;
            0
        }
        adds => {
            write_checkpoint(&log, adds, &mut random)?;
            CHECKPOINT_VERSION
        }
    };
    for version in first + 1..=first + shape.commits {
        let mut text = format!(
            "{{\"commitInfo\":{{\"timestamp\":{},\"operation\":\"WRITE\",\"operationParameters\":{{\"mode\":\"Append\"}},\"isBlindAppend\":true}}}}\n",
            1_700_000_000_000 + version
        );
        for _ in 0..shape.adds {
            add(&mut random, &mut text);
            text.push('\n');
        }
        fs::write(commit(&log, version), text)?;
    }
    fs::write(done, format!("{shape:?}"))
}

fn commit(log: &Path, version: u64) -> std::path::PathBuf {
    log.join(format!("{version:020}.json"))
}

const PROTOCOL: &str = r#"{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}"#;

fn metadata() -> String {
    let field = |name: &str, kind: &str| {
        format!(r#"{{\"name\":\"{name}\",\"type\":\"{kind}\",\"nullable\":true,\"metadata\":{{}}}}"#)
    };
    let fields = [("id", "long"), ("customer", "string"), ("amount", "double"), ("at", "timestamp"), ("day", "date")];
    let fields = fields.map(|(name, kind)| field(name, kind)).join(",");
    format!(
        r#"{{"metaData":{{"id":"5fba94ed-9794-4965-ba6e-6ee3c0d22af9","format":{{"provider":"parquet","options":{{}}}},"schemaString":"{{\"type\":\"struct\",\"fields\":[{fields}]}}","partitionColumns":["day"],"configuration":{{}},"createdTime":1700000000000}}}}"#
    )
}

/// An add as Spark writes it.
fn add(random: &mut Random, out: &mut String) {
    use std::fmt::Write;
    let n = random.below(DAYS);
    let day = match n {
        0..31 => format!("2024-01-{:02}", n + 1),
        31..60 => format!("2024-02-{:02}", n - 30),
        60..91 => format!("2024-03-{:02}", n - 59),
        _ => format!("2024-04-{:02}", n - 90),
    };
    let (a, b) = (random.below(u64::MAX), random.below(u64::MAX));
    let (low, amount) = (a % 100_000_000, b % 10_000);
    let records = 1000 + a % 9000;
    write!(
        out,
        r#"{{"add":{{"path":"day={day}/part-{:05}-{:08x}-{:04x}-{:04x}-{:04x}-{:012x}.c000.snappy.parquet","partitionValues":{{"day":"{day}"}},"size":{},"modificationTime":{},"dataChange":true,"stats":"{{\"numRecords\":{records},\"minValues\":{{\"id\":{low},\"customer\":\"customer-{:06}\",\"amount\":{amount}.25,\"at\":\"{day}T00:00:{:02}.000Z\"}},\"maxValues\":{{\"id\":{},\"customer\":\"customer-{:06}\",\"amount\":{}.75,\"at\":\"{day}T23:59:{:02}.000Z\"}},\"nullCount\":{{\"id\":0,\"customer\":{},\"amount\":0,\"at\":0}}}}"}}}}"#,
        b % 200,
        a >> 32,
        a & 0xffff,
        (a >> 16) & 0xffff,
        b & 0xffff,
        b >> 16,
        records * 97,
        1_700_000_000_000_u64 + a % 100_000_000,
        a % 1_000_000,
        b % 60,
        low + records,
        b % 1_000_000,
        amount + 500,
        a % 60,
        b % 17,
    )
    .expect("a text takes every character");
}

fn write_checkpoint(log: &Path, adds: u64, random: &mut Random) -> io::Result<()> {
    let schema = Arc::new(checkpoint_schema());
    let name = format!("{CHECKPOINT_VERSION:020}.checkpoint.parquet");
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = ArrowWriter::try_new(File::create(log.join(name))?, schema.clone(), Some(properties))?;
    let mut left = adds;
    let mut text = format!("{PROTOCOL}\n{}\n", metadata());
    while left > 0 || !text.is_empty() {
        let rows = left.min(BATCH_ROWS);
        for _ in 0..rows {
            add(random, &mut text);
            text.push('\n');
        }
        left -= rows;
        // Protocol and metadata stand before the first adds.
        let decoder = ReaderBuilder::new(schema.clone()).with_batch_size(BATCH_ROWS as usize + 2).build_decoder();
        let mut decoder = decoder.map_err(io::Error::other)?;
        assert_eq!(decoder.decode(text.as_bytes()).map_err(io::Error::other)?, text.len(), "it is one batch");
        let batch = decoder.flush().map_err(io::Error::other)?.expect("there are rows");
        writer.write(&batch)?;
        text.clear();
    }
    writer.close()?;
    let mut hint = File::create(log.join("_last_checkpoint"))?;
    write!(hint, r#"{{"version":{CHECKPOINT_VERSION},"size":{}}}"#, adds + 2)
}

fn checkpoint_schema() -> Schema {
    let text = |name: &str| Field::new(name, DataType::Utf8, true);
    let long = |name: &str| Field::new(name, DataType::Int64, true);
    let int = |name: &str| Field::new(name, DataType::Int32, true);
    let list = |name: &str| Field::new_list(name, Field::new("element", DataType::Utf8, true), true);
    let map = |name: &str| {
        let (key, value) = (Field::new("key", DataType::Utf8, false), Field::new("value", DataType::Utf8, true));
        Field::new_map(name, "key_value", key, value, false, true)
    };
    let group = |name: &str, fields: Vec<Field>| Field::new(name, DataType::Struct(Fields::from(fields)), true);
    let format = group("format", vec![text("provider"), map("options")]);
    Schema::new(vec![
        group("txn", vec![text("appId"), long("version"), long("lastUpdated")]),
        group(
            "add",
            vec![
                text("path"),
                map("partitionValues"),
                long("size"),
                long("modificationTime"),
                Field::new("dataChange", DataType::Boolean, true),
                map("tags"),
                text("stats"),
            ],
        ),
        group(
            "remove",
            vec![
                text("path"),
                long("deletionTimestamp"),
                Field::new("dataChange", DataType::Boolean, true),
                map("partitionValues"),
                long("size"),
            ],
        ),
        group(
            "metaData",
            vec![
                text("id"),
                text("name"),
                text("description"),
                format,
                text("schemaString"),
                list("partitionColumns"),
                map("configuration"),
                long("createdTime"),
            ],
        ),
        group(
            "protocol",
            vec![int("minReaderVersion"), int("minWriterVersion"), list("readerFeatures"), list("writerFeatures")],
        ),
    ])
}
