//! Runs on threads: what they commit, and what they go on from.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    sync::Arc,
    thread,
    time::Duration,
};

use log_core::{
    commit::Commit,
    path::{Version, commit_path},
};
use sim::{
    call::CallEnd,
    inspect::TableFolder,
    real::{RealError, RealOptions, call_log::CallLog, fresh_run, run_on_threads},
    run::RunResult,
};

use crate::support::{listing, parse, run, setting, shipped};

/// The result holds, and the table on the disk is the one that the oracle saw.
fn check(result: &RunResult, root: &std::path::Path) {
    assert!(result.violations.is_empty(), "{:?}", result.violations);
    let mut acknowledged = BTreeSet::new();
    for (_, end) in result.history.ends() {
        if let CallEnd::Committed { version, .. } = end {
            assert!(acknowledged.insert(*version), "version {version} was acknowledged twice");
        }
    }
    assert_eq!(acknowledged.len(), result.committed);
    for table in &result.tables {
        let folder = TableFolder::open(&root.join(&table.name)).unwrap();
        let digest = folder.at(None).unwrap().digest().unwrap();
        assert_eq!(digest.rows_sha256, table.rows_sha256);
        assert_eq!((digest.version, digest.active_files, digest.rows), (table.version, table.active_files, table.rows));
        assert!(table.calls.iter().all(Option::is_some), "{:?}", table.calls);
        let orphans = table.orphans.iter().filter(|path| root.join(&table.name).join(path).is_file());
        assert_eq!(orphans.count(), table.orphans.len());
    }
    let times: Vec<i64> = result.history.entries.iter().map(|entry| entry.at_ms).collect();
    assert!(times.is_sorted());
}

#[test]
fn three_writers_on_threads_are_explained() {
    for level in ["WriteSerializable", "Serializable"] {
        let root = tempfile::tempdir().unwrap();
        let result = run(shipped("@write-conflict", &[("isolation", level)]), root.path()).unwrap();
        check(&result, root.path());
        assert!((3..=9).contains(&result.committed), "{}", result.committed);
        assert_eq!(result.committed + result.conflicts, 9);
        assert_eq!(result.tables[0].version.0 as usize, 1 + result.committed);
        assert_eq!(result.orphans(), result.conflicts);
    }
}

#[test]
fn inserts_on_threads_all_commit() {
    let root = tempfile::tempdir().unwrap();
    let result = run(shipped("@insert-only", &[]), root.path()).unwrap();
    check(&result, root.path());
    assert_eq!((result.committed, result.conflicts), (9, 0));
}

#[test]
fn one_writer_makes_six_versions_or_seven() {
    for (level, versions) in [("Serializable", 6), ("WriteSerializable", 7)] {
        let root = tempfile::tempdir().unwrap();
        let result = run(shipped("@single-writer", &[("isolation", level)]), root.path()).unwrap();
        check(&result, root.path());
        assert_eq!(result.committed, versions);
        assert_eq!(result.tables[0].version, Version(versions as u64 - 1));
    }
}

#[test]
fn writers_of_other_partitions_do_not_meet() {
    let root = tempfile::tempdir().unwrap();
    let result = run(shipped("@disjoint-partitions", &[]), root.path()).unwrap();
    check(&result, root.path());
    assert_eq!(result.conflicts, 0);
}

#[test]
fn a_writer_that_retries_commits_in_the_end() {
    let root = tempfile::tempdir().unwrap();
    let retry = [("writer.a.on_conflict", "{ retry = 50 }"), ("writer.b.on_conflict", "{ retry = 50 }")];
    let result = run(shipped("@write-conflict", &retry), root.path()).unwrap();
    check(&result, root.path());
    let committed = |writer| {
        let ends = result.history.ends().filter(|(call, _)| call.writer == writer);
        ends.filter(|(_, end)| matches!(end, CallEnd::Committed { .. })).count()
    };
    assert_eq!((committed(0), committed(1)), (3, 3));
}

#[test]
fn a_second_run_is_refused_and_changes_nothing() {
    let root = tempfile::tempdir().unwrap();
    run(shipped("@insert-only", &[]), root.path()).unwrap();
    let before = listing(root.path());
    let error = run(shipped("@insert-only", &[]), root.path()).unwrap_err();
    assert!(matches!(&error, RealError::Exists { version: Version(9), .. }), "{error}");
    let message = error.to_string();
    for part in [root.path().to_str().unwrap(), "existing = \"continue\"", "--set store.existing=continue"] {
        assert!(message.contains(part), "{message}");
    }
    assert_eq!(listing(root.path()), before);
}

#[test]
fn a_run_goes_on_from_what_is_there_and_counts_its_own() {
    let root = tempfile::tempdir().unwrap();
    let go_on = [("store.existing", "continue")];
    // Nothing is there yet: the whole setup runs.
    let first = run(shipped("@write-conflict", &go_on), root.path()).unwrap();
    check(&first, root.path());
    let before = listing(root.path());
    let second = run(shipped("@write-conflict", &go_on), root.path()).unwrap();
    check(&second, root.path());
    assert!((3..=9).contains(&second.committed), "{}", second.committed);
    // The setup did not run again.
    let table = &second.tables[0];
    assert_eq!(table.first, first.tables[0].version.0 + 1);
    assert_eq!(table.version.0 + 1, table.first + second.committed as u64);
    assert_eq!(table.rows, 1);
    // No name was taken twice, so what was there is there as it was.
    let after = listing(root.path());
    assert!(before.iter().all(|(path, content)| after.get(path) == Some(content)));
}

#[test]
fn no_two_runs_have_one_name() {
    let runs: BTreeSet<String> = (0..1000).map(|_| fresh_run()).collect();
    assert_eq!(runs.len(), 1000);
}

#[test]
fn a_commit_of_somebody_else_is_not_judged() {
    let inserts = vec!["INSERT INTO t VALUES (1)"; 60];
    let text = format!(
        "name = \"n\"\nsetup = [\"CREATE TABLE t (id INT)\"]\n[[writer]]\nname = \"a\"\nstatements = {inserts:?}\n"
    );
    let root = tempfile::tempdir().unwrap();
    let log = root.path().join("t");
    let stranger = thread::spawn(move || {
        while !log.join(commit_path(Version(2))).is_file() {
            thread::sleep(Duration::from_millis(1));
        }
        let temporary = log.join("stranger");
        fs::write(&temporary, r#"{"commitInfo":{"operation":"SOMETHING"}}"#).unwrap();
        (3..).find(|version| fs::hard_link(&temporary, log.join(commit_path(Version(*version)))).is_ok()).unwrap()
    });
    let error = run(parse(&text), root.path()).unwrap_err();
    let wrote = stranger.join().unwrap();
    assert!(matches!(&error, RealError::Stranger { version, .. } if version.0 == wrote), "{error}");
    assert!(error.to_string().contains("SOMETHING"), "{error}");
}

#[test]
fn the_log_of_the_calls_says_how_each_one_ended() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("calls.jsonl");
    fs::write(&path, "{}\n").unwrap();
    let options = RealOptions { log: Some(Arc::new(CallLog::append(&path).unwrap())), ..RealOptions::default() };
    let result =
        run_on_threads(&setting(shipped("@write-conflict", &[])), &root.path().join("store"), options).unwrap();
    check(&result, &root.path().join("store"));

    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0], serde_json::json!({}), "what was there stays");
    let setup = |line: &&serde_json::Value| line["writer"] == "setup" && line["end"] == "committed";
    assert_eq!(lines[1..3].iter().filter(setup).count(), 2);
    assert_eq!(lines.len(), 3 + 9);
    let commits = (0..=result.tables[0].version.0).map(|version| {
        let bytes = fs::read(root.path().join("store/logs").join(commit_path(Version(version)))).unwrap();
        let commit = Commit::parse(Version(version), &bytes).unwrap();
        (commit.info().unwrap().txn_id().unwrap().to_owned(), version)
    });
    let commits: BTreeMap<String, u64> = commits.collect();
    for line in &lines[1..] {
        let version = commits.get(line["txn_id"].as_str().unwrap());
        assert_eq!(version.copied(), line["version"].as_u64(), "{line}");
        assert_eq!(line["end"] == "committed", version.is_some(), "{line}");
        assert_eq!(line["kind"] == "ok", line["message"].is_null(), "{line}");
    }
}

#[test]
fn a_log_of_the_calls_that_cannot_be_written_is_an_error() {
    let full = std::path::Path::new("/dev/full");
    if !full.exists() {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let options = RealOptions { log: Some(Arc::new(CallLog::append(full).unwrap())), ..RealOptions::default() };
    let error = run_on_threads(&setting(shipped("@insert-only", &[])), root.path(), options).unwrap_err();
    assert!(matches!(error, RealError::CallLog { .. }), "{error}");
    assert!(error.to_string().contains("'/dev/full'"), "{error}");
}
