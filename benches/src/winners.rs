//! A transaction that read one partition of a table, and many commits of other partitions that came first.

use std::sync::Arc;

use conflict::{
    commit_loop::{CommitLoop, Outcome},
    isolation::IsolationLevel,
    rules::RuleSet,
    transaction::{Operation, ReadSet, Transaction, Winner},
};
use log_core::{
    action::{Action, RemoveFile},
    commit::Commit,
    load::LoadSnapshot,
    path::{Version, commit_path},
    snapshot::Snapshot,
    store::{ObjectMap, Request, Response, drive},
};
use serde_json::json;
use sim::sql::{Constants, bind_predicate};

/// Winners of the benchmarks.
pub const WINNERS: u64 = 1000;
/// Files that each of them adds.
pub const ADDS: u64 = 100;
/// What the transaction reads.
pub const PREDICATE: &str = "day = DATE '2024-01-01'";
/// The file that it read and removes.
pub const FILE: &str = "day=2024-01-01/part-0.parquet";
/// The version that it read.
pub const READ: Version = Version(1);

/// The commits of a table from version 0 on: one that makes it, one of ten files, one of them [`FILE`], and then winners that each add so many files to days
/// that the transaction did not read.
pub fn commits(winners: u64, adds: u64) -> Vec<Vec<u8>> {
    let field =
        |name: &str, data_type: &str| json!({ "name": name, "type": data_type, "nullable": true, "metadata": {} });
    let schema =
        json!({ "type": "struct", "fields": [field("id", "long"), field("day", "date"), field("v", "string")] });
    let first = vec![
        json!({ "protocol": { "minReaderVersion": 1, "minWriterVersion": 2 } }),
        json!({ "metaData": {
            "id": "00000000-0000-4000-8000-0000000000aa", "format": { "provider": "parquet", "options": {} },
            "schemaString": schema.to_string(), "partitionColumns": ["day"], "configuration": {}, "createdTime": 1_700_000_000_000_i64,
        }}),
    ];
    let add = |path: String, day: String, id: u64| {
        let stats = json!({
            "numRecords": 1000, "minValues": { "id": id, "v": "aardvark" }, "maxValues": { "id": id + 999, "v": "zebra" },
            "nullCount": { "id": 0, "v": 17 },
        });
        json!({ "add": {
            "path": path, "partitionValues": { "day": day }, "size": 123_456 + id, "modificationTime": 1_700_000_000_000_i64,
            "dataChange": true, "stats": stats.to_string(),
        }})
    };
    let files = (0..10).map(|day| {
        add(format!("day=2024-01-{:02}/part-0.parquet", day + 1), format!("2024-01-{:02}", day + 1), day * 1000)
    });
    let mut log = vec![first, files.collect()];
    for version in 2..winners + 2 {
        let info = json!({ "commitInfo": {
            "timestamp": 1_700_000_000_000_i64 + version as i64, "operation": "WRITE", "operationParameters": { "mode": "Append" },
            "readVersion": version - 1, "isBlindAppend": false,
        }});
        let files = (0..adds).map(|file| {
            let day = format!("2024-02-{:02}", (version + file) % 28 + 1);
            let path = format!("day={day}/part-{version:05}-{file:05}-c000.snappy.parquet");
            add(path, day, (version * adds + file) * 1000)
        });
        log.push(std::iter::once(info).chain(files).collect());
    }
    log.iter()
        .map(|commit| commit.iter().map(|action| format!("{action}\n")).collect::<String>().into_bytes())
        .collect()
}

/// The commits as a log in memory.
pub fn store(commits: &[Vec<u8>]) -> ObjectMap {
    let mut store = ObjectMap::default();
    for (version, bytes) in commits.iter().enumerate() {
        let path = commit_path(Version(version as u64));
        store.answer(&Request::PutIfAbsent { path, bytes: bytes.as_slice().into() }, 0);
    }
    store
}

/// The transaction, and the log that it read.
pub fn transaction(store: &mut ObjectMap) -> Transaction {
    let answer = |request| Response { now_ms: 0, answer: store.answer(&request, 0) };
    let read = drive(LoadSnapshot::at(READ), answer).expect("a log that we wrote").expect("a table");
    let predicate = bind_predicate(PREDICATE, &read.schema, &Constants { now_us: 0 }).expect("a predicate");
    let reads = ReadSet { predicates: vec![predicate], files: [FILE.to_owned()].into(), ..ReadSet::default() };
    let operation = Operation { name: "DELETE".to_owned(), ..Operation::default() };
    let level = IsolationLevel::Serializable;
    Transaction::new(Some(read.clone()), reads, operation, remove(&read), level, "own".to_owned())
}

fn remove(read: &Arc<Snapshot>) -> Vec<Action> {
    let add = read.adds().find(|add| add.path == FILE).expect("the file");
    vec![Action::Remove(RemoveFile {
        path: add.path.clone(),
        data_change: true,
        deletion_timestamp: Some(1_700_000_000_000),
        partition_values: Some(add.partition_values.clone()),
        size: Some(add.size),
        ..RemoveFile::default()
    })]
}

/// Carries the transaction past the [`WINNERS`] and commits it behind them.
pub fn commit(log: &mut ObjectMap, transaction: Arc<Transaction>, rules: Arc<RuleSet>) {
    let machine = CommitLoop::new(transaction, rules, 3, 0).expect("a commit");
    let outcome = drive(machine, |request| Response { now_ms: 0, answer: log.answer(&request, 0) });
    let expected = Outcome::Committed { version: Version(READ.0 + WINNERS + 1), attempts: 2 };
    assert_eq!(outcome.expect("a log that we wrote"), expected);
}

/// The winners, parsed.
pub fn winners(commits: &[Vec<u8>]) -> Vec<Winner> {
    let parse =
        |(version, bytes): (u64, &Vec<u8>)| Winner::new(Commit::parse(Version(version), bytes).expect("a commit"));
    (READ.0 + 1..).zip(&commits[READ.0 as usize + 1..]).map(parse).collect()
}

/// Does the transaction pass all of them?
pub fn passes(rules: &RuleSet, transaction: &Transaction, winners: &[Winner]) -> bool {
    winners.iter().all(|winner| rules.check(transaction, winner).is_none())
}
