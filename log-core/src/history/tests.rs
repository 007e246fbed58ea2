use expect_test::{Expect, expect};

use super::*;
use crate::{
    path::commit_path,
    store::{ObjectMap, drive},
};

fn rows(commits: &[(u64, &str)], until: Option<u64>, limit: usize) -> Result<Option<Vec<HistoryRow>>, LoadError> {
    let mut store = ObjectMap::default();
    for (version, text) in commits {
        store.answer(&Request::Put { path: commit_path(Version(*version)), bytes: text.as_bytes().into() }, 7);
    }
    let answer = |request| Response { now_ms: 0, answer: store.answer(&request, 0) };
    drive(LoadHistory::new(until.map(Version), limit), answer)
}

fn check(commits: &[(u64, &str)], until: Option<u64>, limit: usize, expected: Expect) {
    let rows = rows(commits, until, limit).unwrap().expect("a table");
    let line = |row: &HistoryRow| {
        let operation = row.operation.as_deref().unwrap_or("unknown");
        format!("{} {} {operation} [{}]\n", row.version, row.timestamp, row.operation_metrics)
    };
    expected.assert_eq(&rows.iter().map(line).collect::<String>());
}

#[test]
fn metrics_of_any_shape_are_shown() {
    let commits = [
        r#"{"commitInfo":{"timestamp":1700000005000,"operation":"OPTIMIZE","operationParameters":{"targetSize":"1048576"},"operationMetrics":{"filesAdded":{"avg":10.5,"max":12,"min":9,"totalFiles":2},"numFilesRemoved":4,"keptOrder":true}}}"#,
        r#"{"commitInfo":{"timestamp":1700000006000,"operation":"FSCK","operationMetrics":{"dry":false,"files_removed":["x.parquet"]}}}"#,
        r#"{"commitInfo":{"timestamp":1700000007000,"operation":"WRITE","operationMetrics":null}}"#,
        r#"{"commitInfo":{"timestamp":1700000008000,"operation":"DELETE","operationMetrics":{"numDeletedRows":"12","numAddedFiles":0,"share":1e-7}}}"#,
        r#"{"commitInfo":{"timestamp":1700000009000,"operation":"X","operationMetrics":"none"}}"#,
    ];
    let commits: Vec<(u64, &str)> = (0..).zip(commits).collect();
    check(
        &commits,
        None,
        10,
        expect![[r#"
        4 11 X [none]
        3 10 DELETE [numAddedFiles: 0, numDeletedRows: 12, share: 1e-7]
        2 9 WRITE []
        1 8 FSCK [dry: false, files_removed: ["x.parquet"]]
        0 7 OPTIMIZE [filesAdded: {"avg":10.5,"max":12,"min":9,"totalFiles":2}, keptOrder: true, numFilesRemoved: 4]
    "#]],
    );
}

#[test]
fn a_commit_that_says_nothing_has_a_row_and_the_time_of_its_file() {
    check(
        &[(0, ""), (1, "{\"futureAction\":{}}\n")],
        None,
        10,
        expect![[r#"
        1 8 unknown []
        0 7 unknown []
    "#]],
    );
}

#[test]
fn versions_come_from_the_names_and_the_newest_come_first() {
    let info = r#"{"commitInfo":{"version":999,"operation":"WRITE","timestamp":1}}"#;
    let commits: Vec<(u64, &str)> = (8..=25).map(|version| (version, info)).collect();
    check(
        &commits,
        None,
        2,
        expect![[r#"
        25 24 WRITE []
        24 23 WRITE []
    "#]],
    );
    check(
        &commits,
        Some(9),
        100,
        expect![[r#"
        9 8 WRITE []
        8 7 WRITE []
    "#]],
    );
    check(&commits, None, 0, expect![[""]]);
    assert!(rows(&commits, Some(26), 1).unwrap_err().to_string().contains("the newest version is 25"));
}

#[test]
fn a_torn_commit_is_named_and_no_log_is_no_table() {
    let error = rows(&[(0, "{}\n{\"commitInfo\":{\"oper")], None, 1).unwrap_err().to_string();
    assert!(error.starts_with("commit 0, line 2: "), "{error}");
    assert_eq!(rows(&[], None, 1).unwrap(), None);
}

/// Reports 16 and 43: a cleaned log still lists what it has, and says what cannot be opened.
#[test]
fn versions_that_cannot_be_rebuilt_are_marked() {
    let mut store = ObjectMap::default();
    for version in 3..=12 {
        store.answer(&Request::Put { path: commit_path(Version(version)), bytes: b"".as_slice().into() }, 7);
    }
    let path = format!("{LOG_FOLDER}{:020}.checkpoint.parquet", 10);
    store.answer(&Request::Put { path, bytes: b"PAR1".as_slice().into() }, 7);
    let mut first = true;
    let answer = |request: Request| {
        let answer = Response { now_ms: 0, answer: store.answer(&request, 0) };
        // A cleaner at work between the listing and the reading.
        if std::mem::take(&mut first) {
            store.answer(&Request::Delete { path: commit_path(Version(4)) }, 0);
        }
        answer
    };
    let rows = drive(LoadHistory::new(None, 100), answer).unwrap().unwrap();
    let found: Vec<(u64, i64, bool)> = rows.iter().map(|row| (row.version.0, row.timestamp, row.rebuildable)).collect();
    let expected: Vec<_> =
        (3..=12).rev().filter(|v| *v != 4).map(|version| (version, version as i64 + 4, version >= 10)).collect();
    assert_eq!(found, expected);
}

#[test]
fn the_time_is_the_commits_own_where_the_table_has_the_feature() {
    let metadata = |properties: &str| {
        format!(
            concat!(
                r#"{{"protocol":{{"minReaderVersion":1,"minWriterVersion":2}}}}"#,
                "\n",
                r#"{{"metaData":{{"id":"i","partitionColumns":[],"schemaString":"{{\"type\":\"struct\",\"fields\":[]}}","configuration":{{{}}}}}}}"#,
                "\n",
            ),
            properties
        )
    };
    let own = |ms: i64| format!(r#"{{"commitInfo":{{"timestamp":1,"inCommitTimestamp":{ms}}}}}"#);
    let on = concat!(
        r#""delta.enableInCommitTimestamps":"true","delta.inCommitTimestampEnablementVersion":"1","#,
        r#""delta.inCommitTimestampEnablementTimestamp":"5000""#
    );
    let texts = [metadata("") + &own(3), metadata(on) + &own(5000), own(6000)];
    let commits: Vec<(u64, &str)> = (0..).zip(texts.iter().map(String::as_str)).collect();
    let times =
        |limit| -> Vec<i64> { rows(&commits, None, limit).unwrap().unwrap().iter().map(|row| row.timestamp).collect() };
    assert_eq!(times(9), [6000, 5000, 7]);
    // Without the metadata among them the snapshot is asked.
    assert_eq!(times(1), [6000]);
    // And where there is none, the commits themselves say it.
    assert_eq!(rows(&commits[2..], None, 1).unwrap().unwrap()[0].timestamp, 6000);
    assert_eq!(rows(&commits, Some(0), 1).unwrap().unwrap()[0].timestamp, 7);
}
