//! Random conflict cases: a table, a transaction that read it, and commits that came first, as real writers make them.

use std::collections::{BTreeMap, BTreeSet};

use proptest::{collection::vec, prelude::*};
use serde_json::{Map, Value as Json, json};

/// Where choices come from. Zero is the simplest one, so that a shorter or smaller list of choices is a simpler case.
pub trait Choices {
    /// A number below a bound that is not zero.
    fn below(&mut self, bound: usize) -> usize;

    /// One in so many.
    fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == bound - 1
    }
}

/// Choices from a list, then zeros: what proptest makes smaller.
#[derive(Clone, Debug)]
pub struct Listed {
    choices: Vec<u16>,
    next: usize,
}

impl Choices for Listed {
    fn below(&mut self, bound: usize) -> usize {
        let choice = self.choices.get(self.next).copied().unwrap_or(0);
        self.next += 1;
        usize::from(choice) * bound / (usize::from(u16::MAX) + 1)
    }
}

/// Choices from a seed (SplitMix64).
#[derive(Clone, Debug)]
pub struct Seeded(pub u64);

impl Choices for Seeded {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }
}

/// Cases without an expectation of their own: it says that they commit.
pub fn case() -> impl Strategy<Value = Json> {
    vec(any::<u16>(), 0..160).prop_map(|choices| generate("random", &mut Listed { choices, next: 0 }))
}

/// The time from which on in-commit timestamps are given: the year 2100, so that no clock of today matters.
const LATE_MS: i64 = 4_102_444_800_000;

/// How a table is partitioned, and in which values.
#[derive(Clone, Copy)]
struct Layout {
    /// Names and types.
    columns: &'static [(&'static str, &'static str)],
    partitions: &'static [&'static str],
    /// Partition values; `None` is null.
    values: &'static [&'static [Option<&'static str>]],
    /// Read predicates.
    predicates: &'static [&'static str],
    mapped: bool,
}

const LAYOUTS: [Layout; 6] = [
    Layout {
        columns: &[("id", "long"), ("v", "string")],
        partitions: &[],
        values: &[&[]],
        predicates: &["true", "id = 5", "id > 5 AND v = 'x'"],
        mapped: false,
    },
    Layout {
        columns: &[("id", "long"), ("v", "string"), ("p", "string")],
        partitions: &["p"],
        values: &[&[Some("a")], &[Some("b")], &[None], &[Some("null")], &[Some("it's")]],
        predicates: &[
            "p = 'a'",
            "p = 'b'",
            "p = 'a' AND id = 1",
            "p <> 'a'",
            "p IS NULL",
            "p IS NOT NULL",
            "NOT p = 'a'",
            "true",
            "id = 5",
            "p = 'a' OR id = 5",
            "p IN ('a', 'b')",
            "p LIKE 'a%'",
            "p = 'it''s'",
            "P = 'b'",
            "t.p = 'b' AND t.id = s.id",
            "p = 'a' AND rand() < 0.5",
            "p = 'b' OR rand() < 0.5",
            "upper(p) = 'B'",
            "p = 'a' OR p = 'null'",
        ],
        mapped: false,
    },
    Layout {
        columns: &[("id", "long"), ("x", "integer")],
        partitions: &["x"],
        values: &[&[Some("1")], &[Some("2")], &[Some("10")], &[None]],
        predicates: &[
            "x = 1",
            "x = 2",
            "x >= 2",
            "x < 10",
            "x > 9",
            "x BETWEEN 2 AND 5",
            "x = 1 OR x = 10",
            "x = 1 OR id = 3",
            "x + 1 = 2",
            "NOT (x = 1)",
            "x IN (1, 2)",
            "x = 1 AND x = 2",
            "x IS NULL OR x = 2",
            "true",
        ],
        mapped: false,
    },
    Layout {
        columns: &[("id", "long"), ("a", "integer"), ("b", "integer")],
        partitions: &["a", "b"],
        values: &[&[Some("1"), Some("1")], &[Some("1"), Some("2")], &[Some("2"), Some("1")], &[Some("2"), None]],
        predicates: &[
            "a = 1",
            "b = 1",
            "a = 1 AND b = 2",
            "a = 1 OR b = 2",
            "a = b",
            "a = 2 AND id = 1",
            "a < b",
            "true",
        ],
        mapped: false,
    },
    Layout {
        columns: &[("id", "long"), ("d", "date")],
        partitions: &["d"],
        values: &[&[Some("2024-01-01")], &[Some("2024-01-05")], &[None]],
        predicates: &[
            "d = DATE '2024-01-01'",
            "d >= DATE '2024-01-02'",
            "d < DATE '2024-01-05' AND id = 1",
            "d IS NULL",
            "d = DATE '2024-01-01' OR rand() < 0.5",
            "true",
        ],
        mapped: false,
    },
    Layout {
        columns: &[("id", "long"), ("p", "string")],
        partitions: &["p"],
        values: &[&[Some("a")], &[Some("b")], &[None]],
        predicates: &["p = 'a'", "p = 'b'", "p IS NOT NULL", "p = 'a' OR id = 5", "true"],
        mapped: true,
    },
];

#[derive(Clone)]
struct File {
    path: String,
    values: &'static [Option<&'static str>],
    rows: i64,
    vector: Option<usize>,
    base_row_id: Option<i64>,
    row_version: Option<i64>,
}

/// A log as it grows.
#[derive(Clone)]
struct Log {
    layout: Layout,
    version: i64,
    features: BTreeSet<&'static str>,
    configuration: BTreeMap<String, String>,
    files: Vec<File>,
    domains: BTreeSet<&'static str>,
    /// The high-water mark of row ids.
    mark: i64,
    names: usize,
}

const READER_FEATURES: [&str; 3] = ["columnMapping", "deletionVectors", "v2Checkpoint"];

impl Log {
    fn tracks(&self) -> bool {
        self.features.contains("rowTracking")
    }

    fn timed(&self) -> bool {
        self.configuration.get("delta.enableInCommitTimestamps").is_some_and(|value| value == "true")
    }

    /// Features that may be dropped: of those that Delta Spark 4.0 can drop, those that neither a property nor a file uses.
    fn unused_features(&self) -> Vec<&'static str> {
        let switched_on = |property| self.configuration.contains_key(property);
        let vectors = switched_on("delta.enableDeletionVectors") || self.files.iter().any(|file| file.vector.is_some());
        let used = [("deletionVectors", vectors), ("v2Checkpoint", switched_on("delta.checkpointPolicy"))];
        let unused = used.into_iter().filter(|(feature, used)| self.features.contains(feature) && !used);
        unused.map(|(feature, _)| feature).collect()
    }

    fn protocol(&self) -> Json {
        if self.features.iter().all(|feature| ["appendOnly", "invariants"].contains(feature)) {
            return json!({ "protocol": { "minReaderVersion": 1, "minWriterVersion": 2 } });
        }
        let readers: Vec<_> = self.features.iter().filter(|feature| READER_FEATURES.contains(feature)).collect();
        let mut body = json!({ "minReaderVersion": if readers.is_empty() { 1 } else { 3 }, "minWriterVersion": 7, "writerFeatures": self.features });
        if !readers.is_empty() {
            body["readerFeatures"] = json!(readers);
        }
        json!({ "protocol": body })
    }

    fn metadata(&self, more_columns: &[(&str, &str)]) -> Json {
        let columns = self.layout.columns.iter().chain(more_columns);
        let fields: Vec<Json> = columns
            .zip(1..)
            .map(|((name, data_type), id)| {
                let metadata = match self.layout.mapped {
                    true => {
                        json!({ "delta.columnMapping.id": id, "delta.columnMapping.physicalName": format!("c-{name}") })
                    }
                    false => json!({}),
                };
                json!({ "name": name, "type": data_type, "nullable": true, "metadata": metadata })
            })
            .collect();
        json!({ "metaData": {
            "id": "00000000-0000-4000-8000-0000000000aa",
            "format": { "provider": "parquet", "options": {} },
            "schemaString": json!({ "type": "struct", "fields": fields }).to_string(),
            "partitionColumns": self.layout.partitions,
            "configuration": self.configuration,
            "createdTime": 1_700_000_000_000_i64,
        }})
    }

    fn values(&self, file: &File) -> Json {
        let key = |name: &str| if self.layout.mapped { format!("c-{name}") } else { name.to_owned() };
        let values = self.layout.partitions.iter().zip(file.values);
        Json::Object(values.map(|(name, value)| (key(name), json!(value))).collect())
    }

    /// A new file of the next commit.
    fn new_file(&mut self, choices: &mut dyn Choices, prefix: &str) -> File {
        self.names += 1;
        let values = self.layout.values[choices.below(self.layout.values.len())];
        let rows = 1 + choices.below(9) as i64;
        let mut file = File {
            path: format!("{prefix}{}", self.names),
            values,
            rows,
            vector: None,
            base_row_id: None,
            row_version: None,
        };
        self.number(&mut file);
        file
    }

    /// Gives a file of the next commit its row ids.
    fn number(&mut self, file: &mut File) {
        if self.tracks() {
            file.base_row_id = Some(self.mark + 1);
            file.row_version = Some(self.version + 1);
            self.mark += file.rows;
        }
    }

    fn add(&self, file: &File, data_change: bool) -> Json {
        let mut body = json!({
            "path": file.path, "partitionValues": self.values(file), "size": 1000, "modificationTime": 1_700_000_000_000_i64,
            "dataChange": data_change, "stats": json!({ "numRecords": file.rows }).to_string(),
        });
        if file.vector.is_some() {
            body["stats"] = json!(json!({ "numRecords": file.rows, "tightBounds": false }).to_string());
        }
        self.common(&mut body, file);
        json!({ "add": body })
    }

    fn remove(&self, file: &File, data_change: bool) -> Json {
        let mut body = json!({
            "path": file.path, "deletionTimestamp": 1_700_000_000_500_i64, "dataChange": data_change,
            "extendedFileMetadata": true, "partitionValues": self.values(file), "size": 1000,
        });
        self.common(&mut body, file);
        json!({ "remove": body })
    }

    fn common(&self, body: &mut Json, file: &File) {
        if let Some(vector) = file.vector {
            body["deletionVector"] = json!({
                "storageType": "u", "pathOrInlineDv": format!("{vector:020}"), "offset": 1, "sizeInBytes": 34, "cardinality": 1,
            });
        }
        if let (Some(id), Some(version)) = (file.base_row_id, file.row_version) {
            body["baseRowId"] = json!(id);
            body["defaultRowCommitVersion"] = json!(version);
        }
    }

    fn mark_action(&self) -> Json {
        let configuration = json!({ "rowIdHighWaterMark": self.mark }).to_string();
        json!({ "domainMetadata": { "domain": "delta.rowTracking", "configuration": configuration, "removed": false } })
    }

    fn info(&self, operation: &str, blind: bool) -> Json {
        let mut body = json!({
            "timestamp": 1_700_000_001_000_i64, "operation": operation, "operationParameters": {}, "readVersion": self.version,
            "isBlindAppend": blind,
        });
        if self.timed() {
            body["inCommitTimestamp"] = json!(LATE_MS + (self.version + 1) * 10);
        }
        json!({ "commitInfo": body })
    }
}

fn domain(name: &str, removed: bool) -> Json {
    json!({ "domainMetadata": { "domain": name, "configuration": "{}", "removed": removed } })
}

fn txn(app_id: &str, version: usize) -> Json {
    json!({ "txn": { "appId": app_id, "version": version, "lastUpdated": 1_700_000_000_000_i64 } })
}

/// What a commit is to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Act {
    Append,
    Rewrite,
    Delete,
    Vector,
    Compact,
    Stream,
    Domain,
    Nothing,
    SwitchOn,
    Property,
    SameMetadata,
    AddColumn,
    Identity,
    AddFeature,
    DropFeature,
    Backfill,
    Unbackfill,
}

/// The actions of a commit on a log, with its operation, whether it is a blind append, and the paths that it looked at.
struct Made {
    operation: &'static str,
    actions: Vec<Json>,
    blind: bool,
    identity: bool,
    touched: Vec<String>,
}

/// Makes a commit and moves the log behind it.
fn make(log: &mut Log, act: Act, choices: &mut dyn Choices, prefix: &str) -> Made {
    let before = log.mark;
    let mut made = Made { operation: "WRITE", actions: Vec::new(), blind: false, identity: false, touched: Vec::new() };
    match act {
        Act::Append | Act::Stream => {
            made.blind = !choices.one_in(3);
            if act == Act::Stream {
                made.operation = "STREAMING UPDATE";
                made.actions.push(txn(["s", "r"][choices.below(2)], choices.below(9)));
            }
            for _ in 0..=choices.below(2) {
                let file = log.new_file(choices, prefix);
                made.actions.push(log.add(&file, true));
                log.files.push(file);
            }
        }
        Act::Rewrite | Act::Delete | Act::Compact => {
            made.operation = match act {
                Act::Rewrite => "UPDATE",
                Act::Delete => "DELETE",
                _ => "OPTIMIZE",
            };
            let data_change = act != Act::Compact;
            if log.files.is_empty() {
                return made;
            }
            let old = log.files.remove(choices.below(log.files.len()));
            made.touched.push(old.path.clone());
            made.actions.push(log.remove(&old, data_change));
            if act != Act::Delete {
                let mut file = log.new_file(choices, prefix);
                // A compaction keeps rows in their partition.
                if act == Act::Compact {
                    file.values = old.values;
                }
                made.actions.push(log.add(&file, data_change));
                log.files.push(file);
            }
        }
        Act::Vector => {
            made.operation = "DELETE";
            if log.files.is_empty() || !log.features.contains("deletionVectors") {
                return made;
            }
            let at = choices.below(log.files.len());
            let old = log.files[at].clone();
            log.names += 1;
            let new = File { vector: Some(log.names), ..old.clone() };
            made.touched.push(old.path.clone());
            made.actions.extend([log.remove(&old, true), log.add(&new, true)]);
            log.files[at] = new;
        }
        Act::Domain => {
            made.operation = "Manual Update";
            made.blind = true;
            if log.features.contains("domainMetadata") {
                let name = ["one", "two", "delta.clustering"]
                    [choices.below(if log.features.contains("clustering") { 3 } else { 2 })];
                let removed = log.domains.contains(name) && choices.one_in(2);
                made.actions.push(domain(name, removed));
                if removed {
                    log.domains.remove(name);
                } else {
                    log.domains.insert(name);
                }
            }
        }
        Act::Nothing => made.operation = "Manual Update",
        Act::SwitchOn => {
            made.operation = "SET TBLPROPERTIES";
            made.blind = true;
            let (feature, key, value) = [
                ("deletionVectors", "delta.enableDeletionVectors", "true"),
                ("v2Checkpoint", "delta.checkpointPolicy", "v2"),
            ][choices.below(2)];
            if log.features.insert(feature) {
                made.actions.push(log.protocol());
            }
            log.configuration.insert(key.to_owned(), value.to_owned());
            made.actions.push(log.metadata(&[]));
        }
        Act::Property => {
            made.operation = "SET TBLPROPERTIES";
            made.blind = true;
            let interval = 10 + log.version;
            log.configuration.insert("delta.checkpointInterval".to_owned(), interval.to_string());
            made.actions.push(log.metadata(&[]));
        }
        Act::SameMetadata => {
            made.operation = "SET TBLPROPERTIES";
            made.blind = true;
            made.actions.push(log.metadata(&[]));
        }
        Act::AddColumn => {
            made.operation = "ADD COLUMNS";
            made.blind = true;
            if !log.layout.mapped {
                made.actions.push(log.metadata(&[("w", "integer")]));
            }
        }
        Act::Identity => {
            made.identity = true;
            made.blind = true;
            made.actions.push(log.metadata(&[]));
            let file = log.new_file(choices, prefix);
            made.actions.push(log.add(&file, true));
            log.files.push(file);
        }
        Act::AddFeature => {
            made.operation = "UPGRADE PROTOCOL";
            made.blind = true;
            let feature = ["changeDataFeed", "v2Checkpoint", "deletionVectors"][choices.below(3)];
            if log.features.insert(feature) {
                made.actions.push(log.protocol());
            }
        }
        Act::DropFeature => {
            made.operation = "DROP FEATURE";
            made.blind = true;
            let unused = log.unused_features();
            if !unused.is_empty() {
                log.features.remove(unused[choices.below(unused.len())]);
                made.actions.push(log.protocol());
            }
        }
        Act::Backfill => {
            made.operation = "ROW TRACKING BACKFILL";
            let mut files = std::mem::take(&mut log.files);
            for file in files.iter_mut().filter(|file| file.base_row_id.is_none()) {
                log.number(file);
                if log.tracks() {
                    made.touched.push(file.path.clone());
                    made.actions.push(log.add(file, false));
                }
            }
            log.files = files;
        }
        Act::Unbackfill => {
            made.operation = "ROW TRACKING UNBACKFILL";
            if let Some(file) = log.files.first_mut() {
                (file.base_row_id, file.row_version) = (None, None);
                made.touched.push(file.path.clone());
                made.actions.push(log.add(&log.files[0], false));
            }
        }
    }
    if log.tracks() && log.mark != before {
        made.actions.push(log.mark_action());
    }
    made
}

/// Makes a case of a name.
pub fn generate(name: &str, choices: &mut dyn Choices) -> Json {
    let layout = LAYOUTS[choices.below(LAYOUTS.len())];
    let isolation = ["Serializable", "WriteSerializable"][choices.below(2)];
    let mut log = Log {
        layout,
        version: -1,
        features: ["appendOnly", "invariants"].into(),
        configuration: BTreeMap::new(),
        files: Vec::new(),
        domains: BTreeSet::new(),
        mark: -1,
        names: 0,
    };
    if layout.mapped {
        log.features.insert("columnMapping");
        log.configuration.insert("delta.columnMapping.mode".to_owned(), "name".to_owned());
        log.configuration.insert("delta.columnMapping.maxColumnId".to_owned(), layout.columns.len().to_string());
    }
    if isolation == "WriteSerializable" {
        log.configuration.insert("delta.isolationLevel".to_owned(), isolation.to_owned());
    }
    let kind = choices.below(9);
    // Row tracking that came after the first files leaves a backfill to do.
    let late_tracking = kind == 5;
    match kind {
        1 | 5 => log.features.extend(["domainMetadata"]),
        2 => log.features.extend(["domainMetadata", "clustering"]),
        3 => {
            log.features.extend(["deletionVectors", "v2Checkpoint"]);
            log.configuration.insert("delta.enableDeletionVectors".to_owned(), "true".to_owned());
        }
        // Features of which the table makes no use.
        7 => log.features.extend(["deletionVectors", "v2Checkpoint"]),
        4 => log.features.extend(["domainMetadata", "rowTracking"]),
        6 => {
            log.features.insert("inCommitTimestamp");
            log.configuration.insert("delta.enableInCommitTimestamps".to_owned(), "true".to_owned());
        }
        _ => {}
    }
    let mut setup = Vec::new();
    let stamped = |log: &Log, actions: &mut Vec<Json>| {
        if log.timed() {
            let mut info = log.info("WRITE", true);
            info["commitInfo"]["inCommitTimestamp"] = json!(1_700_000_000_000_i64 + (log.version + 1) * 10);
            actions.insert(0, info);
        }
    };
    let mut first = vec![log.protocol(), log.metadata(&[])];
    stamped(&log, &mut first);
    setup.push(first);
    log.version = 0;
    let mut second = Vec::new();
    for _ in 0..1 + choices.below(4) {
        let file = log.new_file(choices, "f");
        second.push(log.add(&file, true));
        log.files.push(file);
    }
    if log.tracks() {
        second.push(log.mark_action());
    }
    stamped(&log, &mut second);
    setup.push(second);
    log.version = 1;
    if late_tracking {
        log.features.insert("rowTracking");
        setup.push(vec![log.protocol()]);
        log.version = 2;
    }

    let (transaction, act) = transaction(&log, choices);
    let mut winners = Vec::new();
    let mut later = log.clone();
    let alone = transaction["operation"] == "RESTORE" && choices.one_in(3);
    let count = if alone { 0 } else { [1, 2, 1, 3, 1, 2, 4, 0][choices.below(8)] };
    for number in 0..count {
        let act = winning_act(&later, choices, act);
        let timed = later.timed();
        let mut made = make(&mut later, act, choices, &format!("w{number}-"));
        if !choices.one_in(12) || timed {
            let mut info = later.info(made.operation, made.blind);
            if made.identity {
                info["commitInfo"]["tags"] = json!({ "delta.identity.schemaUpdate": "true" });
            }
            made.actions.insert(0, info);
        } else if act == Act::Backfill || made.identity {
            made.actions.insert(0, later.info(made.operation, made.blind));
        }
        winners.push(made.actions);
        later.version += 1;
    }
    json!({
        "name": name,
        "origin": "random",
        "isolation": isolation,
        "setup": setup,
        "transaction": transaction,
        "winners": winners,
        "expect": { "outcome": "committed" },
    })
}

/// What a winner does: mostly something that the transaction may meet.
fn winning_act(log: &Log, choices: &mut dyn Choices, own: Option<Act>) -> Act {
    use Act as A;
    if choices.one_in(4)
        && let Some(own) = own.filter(|own| *own != A::Unbackfill)
    {
        return own;
    }
    let mut acts = vec![
        A::Append,
        A::Append,
        A::Rewrite,
        A::Delete,
        A::Compact,
        A::Stream,
        A::Nothing,
        A::SameMetadata,
        A::SwitchOn,
        A::Property,
        A::AddColumn,
        A::AddFeature,
    ];
    if log.features.contains("domainMetadata") {
        acts.extend([A::Domain; 3]);
    }
    if log.features.contains("deletionVectors") {
        acts.extend([A::Vector; 3]);
    }
    if !log.unused_features().is_empty() {
        acts.extend([A::DropFeature; 3]);
    }
    if own == Some(A::DropFeature) {
        acts.extend([A::SwitchOn; 6]);
    }
    if own == Some(A::Stream) {
        acts.extend([A::Stream; 4]);
    }
    if log.tracks() && log.files.iter().any(|file| file.base_row_id.is_none()) {
        acts.extend([A::Backfill; 6]);
    }
    acts.push(A::Identity);
    acts[choices.below(acts.len())]
}

/// The transaction, and what a rival that does the same would do.
fn transaction(log: &Log, choices: &mut dyn Choices) -> (Json, Option<Act>) {
    use Act as A;
    let mut own = log.clone();
    let mut acts = vec![
        A::Append,
        A::Rewrite,
        A::Delete,
        A::Compact,
        A::Stream,
        A::Nothing,
        A::Append,
        A::Property,
        A::AddFeature,
    ];
    if log.features.contains("domainMetadata") {
        acts.extend([A::Domain; 3]);
    }
    // A winner may still have been about to write one when the property was set to false; who begins now may not.
    if log.configuration.contains_key("delta.enableDeletionVectors") {
        acts.extend([A::Vector; 3]);
    }
    if !log.unused_features().is_empty() {
        acts.extend([A::DropFeature; 6]);
    }
    if log.tracks() && log.files.iter().any(|file| file.base_row_id.is_none()) {
        acts.extend([A::Backfill, A::Backfill, A::Backfill, A::Unbackfill, A::Unbackfill]);
    }
    let act = acts[choices.below(acts.len())];
    let made = make(&mut own, act, choices, "t");
    let (mut operation, mut actions) = (made.operation, made.actions);
    let mut reads = Map::from_iter([
        ("wholeTable".to_owned(), json!(false)),
        ("predicates".to_owned(), json!([])),
        ("appIds".to_owned(), json!([])),
    ]);
    let predicates = log.layout.predicates;
    let registered = |choices: &mut dyn Choices| predicates[choices.below(predicates.len())];
    match act {
        A::Append => {
            if choices.one_in(3) {
                reads["predicates"] = json!([registered(choices)]);
            }
            if choices.one_in(8) {
                reads["wholeTable"] = json!(true);
            }
            let replaces = log.features.contains("clustering") && choices.one_in(2);
            if replaces {
                operation = "REPLACE TABLE";
                actions.insert(0, log.metadata(&[]));
                let all: Vec<Json> = log.files.iter().map(|file| log.remove(file, true)).collect();
                actions.extend(all);
                reads["predicates"] = json!(["true"]);
            } else if choices.one_in(4) {
                operation = "RESTORE";
                actions.insert(0, log.metadata(&[]));
            }
        }
        A::Rewrite | A::Delete | A::Vector => {
            match choices.below(4) {
                // Its own file, found by no predicate that is known: as writers do that read a list of files.
                3 => {
                    reads.insert("files".to_owned(), json!(made.touched));
                    reads["predicates"] = json!([registered(choices)]);
                }
                2 => {}
                1 => reads["predicates"] = json!([registered(choices), registered(choices)]),
                _ => reads["predicates"] = json!([registered(choices)]),
            }
            if choices.one_in(10) {
                reads["wholeTable"] = json!(true);
            }
        }
        A::Compact => {
            reads["predicates"] = json!([registered(choices)]);
            if choices.one_in(3) {
                reads.insert("files".to_owned(), json!(made.touched));
            }
            if choices.one_in(5) {
                operation = "WRITE";
            }
            if choices.one_in(5) {
                actions.push(txn("compactor", 4));
            }
        }
        A::Stream if !choices.one_in(3) => {
            reads["appIds"] = json!([actions[0]["txn"]["appId"]]);
        }
        A::Backfill | A::Unbackfill => {
            reads.insert("files".to_owned(), json!(made.touched));
        }
        A::Nothing => {
            operation = "DELETE";
            match choices.below(3) {
                0 => reads["predicates"] = json!([registered(choices)]),
                1 => reads["appIds"] = json!(["s"]),
                _ => reads["wholeTable"] = json!(true),
            }
        }
        _ => {}
    }
    let transaction = json!({ "readVersion": log.version, "operation": operation, "reads": reads, "actions": actions });
    (transaction, Some(act))
}
