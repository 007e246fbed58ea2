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
        4 1700000009000 X [none]
        3 1700000008000 DELETE [numAddedFiles: 0, numDeletedRows: 12, share: 1e-7]
        2 1700000007000 WRITE []
        1 1700000006000 FSCK [dry: false, files_removed: ["x.parquet"]]
        0 1700000005000 OPTIMIZE [filesAdded: {"avg":10.5,"max":12,"min":9,"totalFiles":2}, keptOrder: true, numFilesRemoved: 4]
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
        1 7 unknown []
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
        25 1 WRITE []
        24 1 WRITE []
    "#]],
    );
    check(
        &commits,
        Some(9),
        100,
        expect![[r#"
        9 1 WRITE []
        8 1 WRITE []
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
