//! What a run refuses, leaving everything as it was.

use std::{fs, path::Path};

use log_core::path::{Version, commit_path};
use sim::scenario::Scenario;

use crate::support::{chain, listing, parse, run, shipped};

fn go_on() -> Scenario {
    shipped("@write-conflict", &[("store.existing", "continue")])
}

/// The run is refused for these reasons, and nothing below `all` changes.
fn refused(scenario: Scenario, root: &Path, all: &Path, reasons: &[&str]) {
    let before = listing(all);
    let error = run(scenario, root).unwrap_err();
    let message = chain(&error);
    for reason in reasons.iter().chain(&["nothing was written"]) {
        assert!(message.contains(reason), "'{message}' does not say '{reason}'");
    }
    assert_eq!(listing(all), before);
}

#[test]
fn a_root_that_is_no_folder_is_refused() {
    let all = tempfile::tempdir().unwrap();
    let file = all.path().join("file");
    fs::write(&file, "").unwrap();
    refused(go_on(), &file, all.path(), &["file", "it is a file"]);
    refused(go_on(), &file.join("below"), all.path(), &["file/below"]);
    refused(go_on(), &all.path().join("missing/below"), all.path(), &["missing/below", "is not there"]);
    fs::write(all.path().join("logs"), "").unwrap();
    refused(go_on(), all.path(), all.path(), &["logs", "it is a file"]);
}

#[test]
fn faults_are_not_left_out_in_silence() {
    let all = tempfile::tempdir().unwrap();
    let scenario = shipped("@write-conflict", &[("store.fault_rate", "{ crash = 0.5 }")]);
    refused(scenario, all.path(), all.path(), &["fault_rate"]);
}

#[test]
fn a_folder_that_cannot_be_written_is_refused() {
    let all = tempfile::tempdir().unwrap();
    let root = all.path().join("root");
    fs::create_dir(&root).unwrap();
    let mut permissions = fs::metadata(&root).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&root, permissions).unwrap();
    if fs::write(root.join("probe"), "").is_ok() {
        // Permissions mean nothing to this user; Linux has a folder in which nobody makes files.
        let system = Path::new("/proc/self/fd");
        if system.is_dir() {
            let error = run(go_on(), system).unwrap_err().to_string();
            assert!(error.contains("cannot write in '/proc/self/fd'"), "{error}");
        }
        return;
    }
    refused(go_on(), &root, all.path(), &["root", "cannot write"]);
}

#[test]
fn a_torn_last_commit_is_named() {
    let root = tempfile::tempdir().unwrap();
    let result = run(go_on(), root.path()).unwrap();
    let last = result.tables[0].version;
    let file = root.path().join("logs").join(commit_path(last));
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() - 20]).unwrap();
    let place = format!("commit {last}, line 3");
    refused(go_on(), root.path(), root.path(), &["logs", &place]);
    refused(shipped("@write-conflict", &[]), root.path(), root.path(), &["logs", &place]);
    // A hole, and commits that are gone.
    fs::write(&file, whole).unwrap();
    fs::remove_file(root.path().join("logs").join(commit_path(Version(1)))).unwrap();
    refused(go_on(), root.path(), root.path(), &["commits 1 to 1 are missing"]);
}

#[test]
fn a_table_that_the_run_cannot_judge_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let result = run(go_on(), root.path()).unwrap();
    let other = parse(
        "name = \"n\"\nsetup = [\"CREATE TABLE logs (id BIGINT)\"]\n[[writer]]\nname = \"a\"\n\
         statements = [\"DELETE FROM logs\"]\n[store]\nexisting = \"continue\"\n",
    );
    refused(other, root.path(), root.path(), &["its columns are (id integer, date timestamp)", "(id long)"]);
    let folder = sim::inspect::TableFolder::open(&root.path().join("logs")).unwrap();
    let file = folder.at(None).unwrap().files()[0].path.clone();
    fs::remove_file(root.path().join("logs").join(&file)).unwrap();
    refused(go_on(), root.path(), root.path(), &[&file, "VACUUM"]);
    let error = chain(&folder.at(None).unwrap().digest().unwrap_err());
    for part in [&file, "VACUUM", &format!("version {}", result.tables[0].version)] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn a_folder_with_something_else_is_refused() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir_all(root.path().join("logs/_delta_log")).unwrap();
    fs::write(root.path().join("logs/notes.txt"), "mine").unwrap();
    refused(go_on(), root.path(), root.path(), &["logs", "is no Delta table", "notes.txt"]);
    fs::remove_file(root.path().join("logs/notes.txt")).unwrap();
    // An empty folder is as good as none.
    run(shipped("@write-conflict", &[]), root.path()).unwrap();
}

#[test]
fn a_table_name_that_is_a_path_is_refused() {
    let all = tempfile::tempdir().unwrap();
    for name in ["../t", "a/b", "..", "/tmp/t"] {
        let text =
            format!("name = \"n\"\n[[writer]]\nname = \"a\"\nstatements = [\"CREATE TABLE `{name}` (id INT)\"]\n");
        refused(parse(&text), all.path(), all.path(), &[name]);
    }
}

#[test]
fn a_setup_that_fails_names_its_statement() {
    let root = tempfile::tempdir().unwrap();
    let text = "name = \"n\"\nsetup = [\"CREATE TABLE t (id INT)\", \"INSERT INTO t SELECT 1 / 0\"]\n[[writer]]\nname = \"a\"\n\
                statements = [\"DELETE FROM t\"]\n";
    let error = run(parse(text), root.path()).unwrap_err().to_string();
    assert!(error.starts_with("setup, statement 2 (`INSERT INTO t SELECT 1 / 0`)"), "{error}");
}

#[test]
fn a_table_that_a_run_could_not_be_judged_on_is_refused() {
    let all = tempfile::tempdir().unwrap();
    run(shipped("@write-conflict", &[]), all.path()).unwrap();
    let level = shipped("@write-conflict", &[("store.existing", "continue"), ("isolation", "Serializable")]);
    refused(level, all.path(), all.path(), &["its level is WriteSerializable", "the scenario's is Serializable"]);
    let partitioned = parse(
        "setup = [\"CREATE TABLE logs (id INT, date TIMESTAMP) PARTITIONED BY (id)\"]\n[[writer]]\nname = \"a\"\n\
         statements = [\"DELETE FROM logs\"]\n[store]\nexisting = \"continue\"\n",
    );
    refused(partitioned, all.path(), all.path(), &["its partition columns are ()", "the scenario's are (id)"]);

    let log = all.path().join("logs");
    let newest = (0..).take_while(|version| log.join(commit_path(Version(*version))).is_file()).count() as u64;
    let next = log.join(commit_path(Version(newest)));
    fs::write(&next, "").unwrap();
    refused(go_on(), all.path(), all.path(), &["is an empty file"]);
    let remove = r#"{"remove":{"path":"gone.parquet","deletionTimestamp":1,"dataChange":true}}"#;
    fs::write(&next, remove).unwrap();
    refused(go_on(), all.path(), all.path(), &["removes 'gone.parquet', which was not in it"]);
    fs::remove_file(&next).unwrap();
    run(go_on(), all.path()).unwrap();
}

#[cfg(unix)]
#[test]
fn a_link_to_nowhere_is_refused() {
    let all = tempfile::tempdir().unwrap();
    let link = all.path().join("link");
    std::os::unix::fs::symlink("nowhere", &link).unwrap();
    let error = run(go_on(), &link).unwrap_err().to_string();
    assert!(error.contains("it is a link to something that is not there"), "{error}");
    assert!(!all.path().join("nowhere").exists());
}

#[test]
fn a_schedule_that_cannot_be_followed_is_refused_before_the_setup() {
    let all = tempfile::tempdir().unwrap();
    let scenario = shipped("@reordered", &[("schedule", "[\"a.commit\"]")]);
    let error = chain(&run(scenario, all.path()).unwrap_err());
    assert!(error.contains("a.commit"), "{error}");
    assert!(listing(all.path()).is_empty());
}

/// Report 49: what a creator that died left behind is no table, and an empty version 0 is one that nobody can read.
#[test]
fn leftovers_of_a_creator_are_no_table() {
    let all = tempfile::tempdir().unwrap();
    let log = all.path().join("logs/_delta_log");
    fs::create_dir_all(&log).unwrap();
    fs::write(log.join("tmp123"), "half a commit").unwrap();
    fs::write(log.join(".contend-1-2.tmp"), "half a commit").unwrap();
    let result = run(shipped("@write-conflict", &[]), all.path()).unwrap();
    assert!(result.violations.is_empty(), "{:?}", result.violations);

    let all = tempfile::tempdir().unwrap();
    let log = all.path().join("logs/_delta_log");
    fs::create_dir_all(&log).unwrap();
    fs::write(log.join("00000000000000000000.json"), "").unwrap();
    for scenario in [shipped("@write-conflict", &[]), go_on()] {
        refused(scenario, all.path(), all.path(), &["logs", "commit 0", "protocol"]);
    }
}
