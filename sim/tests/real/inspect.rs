//! Looking at real tables.

use std::fs;

use log_core::{
    history::Details,
    path::{Version, commit_path},
    time_travel::Zone,
};
use sim::inspect::{InspectError, TableFolder, files_text, history_text, rows_json, rows_text};

use crate::support::{chain, parse, run, shipped};

#[test]
fn the_history_says_who_did_what_newest_first() {
    let root = tempfile::tempdir().unwrap();
    let result = run(shipped("@single-writer", &[]), root.path()).unwrap();
    assert_eq!(result.committed, 6);
    let folder = TableFolder::open(&root.path().join("logs")).unwrap();
    let rows = folder.history(None, usize::MAX).unwrap();
    let lines: Vec<String> = rows
        .iter()
        .map(|row| format!("{} {:?} {:?}", row.version, row.operation.as_deref(), row.read_version.as_deref()))
        .collect();
    assert_eq!(lines.len(), 6);
    assert_eq!(lines[0], "5 Some(\"UPDATE\") Some(\"4\")");
    assert_eq!(lines[4], "1 Some(\"WRITE\") Some(\"0\")");
    assert_eq!(lines[5], "0 Some(\"CREATE TABLE\") None");
    let Details::Named(metrics) = &rows[4].operation_metrics else { panic!("{:?}", rows[4]) };
    assert_eq!((metrics["numFiles"].as_str(), metrics["numOutputRows"].as_str()), ("1", "1"));
    assert_eq!(rows[4].is_blind_append.as_deref(), Some("true"));
    assert_eq!(rows[4].isolation_level.as_deref(), Some("Serializable"));
    assert_eq!(folder.history(Some(Version(3)), 2).unwrap(), rows[2..4]);
    assert_eq!(folder.history(None, 0).unwrap(), []);
    for width in [20, 60, 80, 200] {
        let text = history_text(&rows, Zone::UTC, width);
        assert_eq!(text.lines().filter(|line| !line.starts_with('(')).count(), 7, "{text}");
    }
}

#[test]
fn rows_are_shown_in_the_order_of_the_files() {
    let root = tempfile::tempdir().unwrap();
    let scenario = parse(
        r#"
        name = "n"
        setup = ["CREATE TABLE t (id INT, p STRING, d DOUBLE) PARTITIONED BY (p)"]
        [[writer]]
        name = "a"
        statements = ["INSERT INTO t VALUES (1, 'x/y', 1.5), (22, NULL, NULL), (3, 'a\nb', 2.0)"]
        "#,
    );
    run(scenario, root.path()).unwrap();
    let folder = TableFolder::open(&root.path().join("t")).unwrap();
    let table = folder.at(None).unwrap();
    let rows = table.rows(usize::MAX).unwrap();
    assert_eq!(
        rows_text(table.schema(), &rows, table.version(), usize::MAX),
        "id  p        d\n22  NULL  NULL\n 3  a\\nb   2.0\n 1  x/y    1.5\n(3 rows, version 1)\n"
    );
    assert_eq!(table.rows(1).unwrap(), rows[..1]);
    let json: serde_json::Value = serde_json::from_str(&rows_json(table.schema(), &rows, table.version())).unwrap();
    assert_eq!(json["rows"][0], serde_json::json!({ "id": 22, "p": null, "d": null }));
    assert_eq!(json["columns"][1]["type"], "string");
    let files = table.files();
    let facts: Vec<_> = files.iter().map(|file| (file.partition_values["p"].as_deref(), file.rows)).collect();
    assert_eq!(facts, [(None, Some(1)), (Some("a\nb"), Some(1)), (Some("x/y"), Some(1))]);
    assert!(files_text(&files, table.version(), 200).ends_with("(3 files, version 1)\n"));
}

#[test]
fn what_is_no_table_is_said() {
    let root = tempfile::tempdir().unwrap();
    let error = TableFolder::open(&root.path().join("nosuch")).unwrap_err();
    assert!(matches!(error, InspectError::NoFolder { .. }), "{error}");
    fs::write(root.path().join("file"), "").unwrap();
    assert_eq!(
        TableFolder::open(&root.path().join("file")).unwrap_err().to_string(),
        format!("'{}' is no folder", root.path().join("file").display())
    );
    let folder = TableFolder::open(root.path()).unwrap();
    assert!(matches!(folder.at(None).unwrap_err(), InspectError::NotATable { .. }));
    assert!(matches!(folder.history(None, 1).unwrap_err(), InspectError::NotATable { .. }));
}

#[test]
fn a_version_that_is_not_there_names_the_newest() {
    let root = tempfile::tempdir().unwrap();
    run(shipped("@insert-only", &[]), root.path()).unwrap();
    let folder = TableFolder::open(&root.path().join("logs")).unwrap();
    assert_eq!(folder.at(Some(Version(4))).unwrap().version(), Version(4));
    let error = chain(&folder.at(Some(Version(10))).unwrap_err());
    assert!(error.ends_with("version 10 does not exist; the newest version is 9"), "{error}");
}

#[test]
fn a_log_that_cannot_be_read_says_why() {
    let root = tempfile::tempdir().unwrap();
    let table = root.path().join("t");
    fs::create_dir_all(table.join("_delta_log")).unwrap();
    let commit = |version, text: &str| fs::write(table.join(commit_path(Version(version))), text).unwrap();
    let metadata = concat!(
        r#"{"metaData":{"id":"i","format":{"provider":"parquet","options":{}},"partitionColumns":[],"configuration":{},"#,
        r#""schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"integer\",\"nullable\":true,\"metadata\":{}}]}"}}"#,
    );
    commit(0, &format!("{}\n{metadata}\n", r#"{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}"#));
    let escape =
        r#"{"add":{"path":"../../secret","partitionValues":{},"size":1,"modificationTime":1,"dataChange":true}}"#;
    commit(1, escape);
    let folder = TableFolder::open(&table).unwrap();
    assert_eq!(folder.at(Some(Version(0))).unwrap().digest().unwrap().rows, 0);
    let error = chain(&folder.at(None).unwrap().rows(9).unwrap_err());
    assert!(error.contains("'../../secret'") && error.contains("is refused"), "{error}");
    commit(
        2,
        r#"{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["catalogManaged"],"writerFeatures":["catalogManaged"]}}"#,
    );
    let error = chain(&folder.at(None).unwrap_err());
    assert!(error.contains("catalogManaged"), "{error}");
    assert_eq!(folder.history(None, 9).unwrap().len(), 3);
    commit(2, "{}\n{\"commitInfo\":");
    let error = chain(&folder.at(None).unwrap_err());
    assert!(error.contains("commit 2, line 2"), "{error}");
}
