//! `checkpoint`: what it writes, what it says, what it refuses.

use std::{fs, path::Path};

use serde_json::json;
use tempfile::TempDir;

use super::support::{Ran, contend_in, files};

const METADATA: &str = r#"{"metaData":{"id":"i","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[]}","partitionColumns":[],"configuration":{}}}"#;

/// A folder with a table `t` of the versions 0 and 1.
fn table(protocol: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let log = folder.path().join("t/_delta_log");
    fs::create_dir_all(&log).unwrap();
    fs::write(log.join(format!("{:020}.json", 0)), format!("{{\"protocol\":{protocol}}}\n{METADATA}\n")).unwrap();
    let add = r#"{"add":{"path":"f","partitionValues":{},"size":5,"modificationTime":1,"dataChange":true}}"#;
    fs::write(log.join(format!("{:020}.json", 1)), add).unwrap();
    folder
}

const PLAIN: &str = r#"{"minReaderVersion":1,"minWriterVersion":2}"#;

fn delete_commits(folder: &Path) {
    for name in files(&folder.join("t/_delta_log")).iter().filter(|name| name.len() == 25 && name.ends_with(".json")) {
        fs::remove_file(folder.join("t/_delta_log").join(name)).unwrap();
    }
}

fn live(folder: &Path, version: &str) -> Ran {
    contend_in(folder, &["files", "t", "--json", "--version-as-of", version])
}

fn check_refused(ran: &Ran, said: &str) {
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
}

#[test]
fn a_classic_checkpoint_stands_in_for_the_commits() {
    let folder = table(PLAIN);
    let before = live(folder.path(), "1");
    let ran = contend_in(folder.path(), &["checkpoint", "t"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines[0], "checkpoint of version 1 written: 3 actions, 1 live files");
    assert!(lines[1].starts_with("  _delta_log/00000000000000000001.checkpoint.parquet ("), "{}", lines[1]);
    assert_eq!(lines[2..], ["version checksum: written", "_last_checkpoint: names version 1"]);
    delete_commits(folder.path());
    assert_eq!(live(folder.path(), "1"), before);
}

#[test]
fn an_older_version_gets_its_own_and_the_hint_does_not_go_back() {
    let folder = table(PLAIN);
    assert_eq!(contend_in(folder.path(), &["checkpoint", "t"]).code, 0);
    let ran = contend_in(folder.path(), &["checkpoint", "t", "--version-as-of", "0", "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let document = ran.json();
    assert_eq!(document["checkpoint"]["version"], json!(0));
    assert_eq!(document["checkpoint"]["last_checkpoint"], json!("stays at version 1, which is newer"));
    assert_eq!((&document["verdict"], &document["warnings"]), (&json!("pass"), &json!([])));
}

#[test]
fn a_v2_checkpoint_needs_its_feature_which_can_be_added() {
    let folder = table(PLAIN);
    let before = files(folder.path());
    check_refused(&contend_in(folder.path(), &["checkpoint", "t", "--v2"]), "needs the table feature v2Checkpoint");
    assert_eq!(files(folder.path()), before, "nothing is written");
    let ran = contend_in(folder.path(), &["checkpoint", "t", "--v2", "--add-feature", "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let document = ran.json();
    assert_eq!((&document["upgraded"], &document["checkpoint"]["version"]), (&json!(2), &json!(2)));
    assert_eq!(document["checkpoint"]["files"].as_array().unwrap().len(), 2);
    let live_before = live(folder.path(), "2");
    delete_commits(folder.path());
    assert_eq!(live(folder.path(), "2"), live_before);
    // It is there now, so nothing is added.
    let again = contend_in(folder.path(), &["checkpoint", "t", "--v2", "--add-feature", "--json"]);
    assert_eq!((again.code, &again.json()["upgraded"]), (0, &json!(null)));
}

/// The same as on a full disk: a file lies where the folder of sidecars should be.
#[test]
fn a_checkpoint_that_fails_after_the_feature_was_added_is_a_warning() {
    let folder = table(PLAIN);
    fs::write(folder.path().join("t/_delta_log/_sidecars"), "").unwrap();
    let ran = contend_in(folder.path(), &["checkpoint", "t", "--v2", "--add-feature"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""), "{ran:?}");
    assert!(
        ran.stdout.starts_with(
            "feature v2Checkpoint added: committed at version 2\nwarning: the checkpoint of version 2 was not written"
        ),
        "{ran:?}"
    );
    assert_eq!(contend_in(folder.path(), &["files", "t"]).code, 0);
}

#[test]
fn what_may_not_be_written_is_refused_naming_the_feature() {
    let folder = table(r#"{"minReaderVersion":1,"minWriterVersion":7,"writerFeatures":["newThing"]}"#);
    let before = files(folder.path());
    check_refused(&contend_in(folder.path(), &["checkpoint", "t"]), "newThing");
    check_refused(
        &contend_in(folder.path(), &["checkpoint", "t@v0", "--v2", "--add-feature"]),
        "--add-feature is for the newest version",
    );
    check_refused(&contend_in(folder.path(), &["checkpoint", "nosuch"]), "nosuch");
    assert_eq!(files(folder.path()), before);
}

/// Report 31: however a timestamp is spelled as a partition value, it is one value, also behind a checkpoint.
#[test]
fn spellings_of_one_timestamp_are_one_partition_value() {
    let folder = TempDir::new().unwrap();
    let log = folder.path().join("t/_delta_log");
    fs::create_dir_all(&log).unwrap();
    let schema = r#"{\"type\":\"struct\",\"fields\":[{\"name\":\"x\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},{\"name\":\"t\",\"type\":\"timestamp\",\"nullable\":true,\"metadata\":{}}]}"#;
    let mut commit = format!(
        "{{\"protocol\":{PLAIN}}}\n{{\"metaData\":{{\"id\":\"i\",\"format\":{{\"provider\":\"parquet\",\"options\":{{}}}},\
         \"schemaString\":\"{schema}\",\"partitionColumns\":[\"t\"],\"configuration\":{{}}}}}}\n"
    );
    let values = [
        "2024-06-01 12:00:00",
        "2024-06-01 12:00:00.000000",
        "2024-06-01T12:00:00.000000Z",
        "2024-06-01T12:00:00Z",
        "1969-12-31 23:59:59.999999",
        "0001-01-01 00:00:00",
    ];
    for (index, value) in values.iter().enumerate() {
        let add = json!({ "path": format!("f{index}"), "partitionValues": { "t": value }, "size": 5, "modificationTime": 1, "dataChange": true });
        commit.push_str(&format!("{}\n", json!({ "add": add })));
    }
    fs::write(log.join(format!("{:020}.json", 0)), commit).unwrap();
    let found = |predicate: &str| {
        let ran = contend_in(folder.path(), &["files", "t", "--json", "--partition", predicate]);
        assert_eq!(ran.code, 0, "{ran:?}");
        let document = ran.json();
        let paths = document["files"].as_array().unwrap().iter();
        paths.map(|file| file["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let check = || {
        assert_eq!(found("t = TIMESTAMP '2024-06-01 12:00:00Z'"), ["f0", "f1", "f2", "f3"]);
        assert_eq!(found("t = TIMESTAMP '1969-12-31 23:59:59.999999'"), ["f4"]);
        assert_eq!(found("t < TIMESTAMP '1900-01-01 00:00:00'"), ["f5"]);
        assert_eq!(found("t <> TIMESTAMP '2024-06-01 12:00:00'"), ["f4", "f5"]);
    };
    check();
    assert_eq!(contend_in(folder.path(), &["checkpoint", "t"]).code, 0);
    delete_commits(folder.path());
    check();
}

/// Some readers take either of the two, and refuse the table when the hint speaks of the other.
#[test]
fn beside_a_checkpoint_in_parts_there_is_no_hint() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tables/d-multi-part-checkpoint/_delta_log");
    let folder = TempDir::new().unwrap();
    let log = folder.path().join("t/_delta_log");
    fs::create_dir_all(&log).unwrap();
    for name in files(&source) {
        fs::copy(source.join(&name), log.join(&name)).unwrap();
    }
    let before = live(folder.path(), "1");
    // The second time there is a checkpoint in one file too, and the third time no hint any more.
    for first in [true, false, false] {
        let ran = contend_in(folder.path(), &["checkpoint", "t"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(ran.stdout.contains("_last_checkpoint: removed"), "{}", ran.stdout);
        assert!(!log.join("_last_checkpoint").exists());
        assert!(log.join("00000000000000000001.checkpoint.parquet").is_file());
        assert_eq!(live(folder.path(), "1"), before);
        if first {
            fs::write(log.join("_last_checkpoint"), r#"{"version":1,"size":3}"#).unwrap();
        }
    }
}
