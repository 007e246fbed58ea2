//! The logs of real tables: every way to load a version comes to the same state, and it has the files that independent clients found.

#[path = "table_logs/live_files.rs"]
mod live_files;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use log_core::{
    action::{AddFile, FileKey},
    load::{LoadError, LoadSnapshot},
    path::{LAST_CHECKPOINT, LogFile, Version},
    snapshot::Snapshot,
    store::{ObjectMap, Request, Response, drive},
};
use serde_json::Value as Json;

/// Where the manifest is not followed: see `tables.rs`.
const EXCEPTION: (&str, u64) = ("d-canonicalized-paths-special-a", 1);

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tables")
}

/// The log of a table, in memory. Files of the folder's own, hidden ones, are not of it.
fn log(table: &Path) -> ObjectMap {
    let mut store = ObjectMap::default();
    for name in ["_delta_log", "_delta_log/_sidecars", "_delta_log/_staged_commits"] {
        let Ok(entries) = std::fs::read_dir(table.join(name)) else { continue };
        for entry in entries {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_file() {
                let path = format!("{name}/{}", entry.file_name().to_str().unwrap());
                put(&mut store, path, &std::fs::read(entry.path()).unwrap());
            }
        }
    }
    store
}

fn put(store: &mut ObjectMap, path: String, bytes: &[u8]) {
    store.answer(&Request::Put { path, bytes: bytes.into() }, 0);
}

/// The log without some of its files.
fn without(store: &ObjectMap, drop: impl Fn(LogFile) -> bool) -> ObjectMap {
    let mut left = store.clone();
    for path in store.paths().filter(|path| drop(LogFile::of(path))) {
        left.answer(&Request::Delete { path: path.to_owned() }, 0);
    }
    left
}

fn load(machine: LoadSnapshot, store: &ObjectMap) -> Result<Arc<Snapshot>, LoadError> {
    let mut store = store.clone();
    drive(machine, |request| Response { now_ms: 0, answer: store.answer(&request, 0) })
        .map(|snapshot| snapshot.expect("a table"))
}

/// What a checkpoint keeps of a state. It says of no file that its rows are new, may have statistics and tags in another form, and forgets tombstones.
#[derive(PartialEq, Debug)]
struct State {
    version: Version,
    protocol: (i32, i32, BTreeSet<String>),
    metadata: (String, String, Vec<String>, BTreeMap<String, String>),
    files: BTreeMap<FileKey, AddFile>,
    transactions: BTreeMap<String, i64>,
    domains: BTreeMap<String, String>,
}

fn state(snapshot: &Snapshot) -> State {
    let file = |(key, add): (&FileKey, &Arc<AddFile>)| {
        let plain = AddFile {
            path: add.path.clone(),
            partition_values: add.partition_values.clone(),
            size: add.size,
            modification_time: add.modification_time,
            deletion_vector: add.deletion_vector.clone(),
            base_row_id: add.base_row_id,
            default_row_commit_version: add.default_row_commit_version,
            clustering_provider: add.clustering_provider.clone(),
            ..AddFile::default()
        };
        (key.clone(), plain)
    };
    let (protocol, metadata) = (&snapshot.protocol, &snapshot.metadata);
    State {
        version: snapshot.version,
        protocol: (
            protocol.min_reader_version,
            protocol.min_writer_version,
            protocol.features().into_iter().map(str::to_owned).collect(),
        ),
        metadata: (
            metadata.id.clone(),
            metadata.schema_string.clone(),
            metadata.partition_columns.clone(),
            metadata.configuration.clone(),
        ),
        files: snapshot.files.iter().map(file).collect(),
        transactions: snapshot.transactions.iter().map(|(app, txn)| (app.clone(), txn.version)).collect(),
        domains: snapshot.domains.iter().map(|(name, domain)| (name.clone(), domain.configuration.clone())).collect(),
    }
}

/// A table of the manifest that can be read, with its log.
struct Table {
    name: String,
    expected: Json,
    log: ObjectMap,
}

fn tables() -> Vec<Table> {
    let manifest = std::fs::read_to_string(folder().join("manifest.json")).unwrap();
    let manifest: Json = serde_json::from_str(&manifest).unwrap();
    let tables = manifest["tables"].as_array().unwrap().iter().filter(|table| table["expected"]["outcome"] != "error");
    let named = tables.map(|table| (table["name"].as_str().unwrap().to_owned(), table["expected"].clone()));
    named.map(|(name, expected)| Table { log: log(&folder().join(&name)), name, expected }).collect()
}

#[test]
fn every_version_has_the_files_that_other_clients_found() {
    let mut checked = 0;
    for Table { name, expected, log } in tables() {
        for machine in [LoadSnapshot::latest(), LoadSnapshot::latest().hinted()] {
            let newest = load(machine, &log).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(Some(newest.version.0), expected["latest_version"].as_u64(), "{name}");
            assert_eq!(Some(newest.files.len() as u64), expected["active_files"].as_u64(), "{name}");
        }
        for at in expected["versions"].as_array().unwrap() {
            let version = at["version"].as_u64().unwrap();
            let snapshot = load(LoadSnapshot::at(Version(version)), &log).unwrap();
            if (name.as_str(), version) != EXCEPTION {
                assert_eq!(Some(snapshot.files.len() as u64), at["active_files"].as_u64(), "{name} at {version}");
            }
            checked += 1;
        }
    }
    assert!(checked > 250, "{checked} versions only");
}

#[test]
fn commits_checkpoints_compactions_and_bases_come_to_the_same_state() {
    let (mut with_checkpoint, mut with_compaction, mut without_commits) = (0, 0, 0);
    for Table { name, log, .. } in tables() {
        let bare = without(&log, |file| !matches!(file, LogFile::Commit(_) | LogFile::Other));
        let no_compactions = without(&log, |file| matches!(file, LogFile::Compaction { .. }));
        let newest = load(LoadSnapshot::latest(), &log).unwrap();
        let mut base: Option<Arc<Snapshot>> = None;
        for version in (0..=newest.version.0).map(Version) {
            let found = match load(LoadSnapshot::at(version), &log) {
                Ok(found) => found,
                Err(LoadError::Segment(_)) => continue,
                Err(error) => panic!("{name} at {version}: {error}"),
            };
            let wanted = state(&found);
            let same = |what: &str, snapshot: Result<Arc<Snapshot>, LoadError>| match snapshot {
                Ok(snapshot) => {
                    assert_eq!(state(&snapshot), wanted, "{name} at {version}, {what}");
                    true
                }
                Err(LoadError::Segment(_)) => false,
                Err(error) => panic!("{name} at {version}, {what}: {error}"),
            };
            assert!(same("by the hint", load(LoadSnapshot::at(version).hinted(), &log)), "{name} at {version}");
            same("without compactions", load(LoadSnapshot::at(version), &no_compactions));
            let by_commits = same("from commits", load(LoadSnapshot::at(version), &bare));
            let is_checkpoint = |path: &str| matches!(LogFile::of(path), LogFile::Checkpoint(checkpoint) if checkpoint.version <= version);
            let is_compaction =
                |path: &str| matches!(LogFile::of(path), LogFile::Compaction { last, .. } if last <= version);
            with_checkpoint += usize::from(by_commits && log.paths().any(is_checkpoint));
            with_compaction += usize::from(by_commits && log.paths().any(is_compaction));
            without_commits += usize::from(!by_commits);
            // What is newer is gone, so that the newest is this version.
            let newer = |file| match file {
                LogFile::Commit(of) | LogFile::Compaction { last: of, .. } => of > version,
                LogFile::Checkpoint(checkpoint) => checkpoint.version > version,
                _ => false,
            };
            if let Some(base) = base.take() {
                let so_far = without(&log, newer);
                assert!(same("from a base", load(LoadSnapshot::newer_than(base), &so_far)), "{name} at {version}");
            }
            base = Some(found);
        }
    }
    assert!(with_checkpoint > 60, "{with_checkpoint} versions from checkpoints only");
    assert!(with_compaction > 4, "{with_compaction} versions from compactions only");
    assert!(without_commits > 0, "no version needs its checkpoint");
}

/// Report 37, on the checkpoints of real clients: cut anywhere, or with other bytes, they are not used, or they say the same.
#[test]
fn damaged_checkpoints_never_change_the_state() {
    let (mut noted, mut harmless) = (0, 0);
    for Table { name, log, .. } in tables() {
        let bare = without(&log, |file| !matches!(file, LogFile::Commit(_) | LogFile::Other));
        let Ok(wanted) = load(LoadSnapshot::latest(), &bare) else { continue };
        let is_checkpoint = |path: &&str| matches!(LogFile::of(path), LogFile::Checkpoint(_));
        for path in log.paths().filter(is_checkpoint) {
            let bytes = log.get(path).unwrap();
            for cut in [0, 1, bytes.len() / 3, bytes.len() / 2, bytes.len() - 1] {
                let mut damaged = log.clone();
                put(&mut damaged, path.to_owned(), &bytes[..cut]);
                let mut machine = LoadSnapshot::latest().hinted();
                let found = drive(&mut machine, |request| Response { now_ms: 0, answer: damaged.answer(&request, 0) });
                let found = found.unwrap_or_else(|error| panic!("{name}, {path} cut at {cut}: {error}")).unwrap();
                assert_eq!(state(&found), state(&wanted), "{name}, {path} cut at {cut}");
                // An older checkpoint is not looked at.
                if machine.notes().is_empty() { harmless += 1 } else { noted += 1 }
            }
        }
    }
    assert!(noted > 50, "{noted} noted, {harmless} harmless");
}

#[test]
fn every_log_is_listed_once() {
    for Table { name, log, .. } in tables() {
        let mut store = log.clone();
        let mut listings = 0;
        let found = drive(LoadSnapshot::latest().hinted(), |request| {
            listings += usize::from(matches!(request, Request::List { .. }));
            Response { now_ms: 0, answer: store.answer(&request, 0) }
        });
        assert!(found.is_ok(), "{name}");
        assert_eq!(listings, 1, "{name}: {:?}", log.get(LAST_CHECKPOINT));
    }
}
