//! `contend check`: what it prints, how it exits, and what it finds in data files.

use std::{
    fs::{self, File},
    path::Path,
    time::{Duration, SystemTime},
};

use expect_test::{Expect, expect};
use serde_json::json;
use tempfile::TempDir;

use super::support::{contend, contend_in};

/// A table that the program itself wrote: `t` in a folder of its own.
fn table() -> TempDir {
    let root = TempDir::new().unwrap();
    let scenario = r#"
        name = "s"
        setup = [
          "CREATE TABLE t (x BIGINT, s STRING, p INT) PARTITIONED BY (p)",
          "INSERT INTO t VALUES (1, 'a', 1), (NULL, 'b', 1)",
          "INSERT INTO t VALUES (3, NULL, 2)",
        ]
        [[writer]]
        name = "a"
        statements = ["UPDATE t SET x = 5 WHERE p = 2"]
    "#;
    fs::write(root.path().join("s.toml"), scenario).unwrap();
    let ran = contend_in(root.path(), &["run", "s.toml", "--store", "store"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    fs::rename(root.path().join("store/t"), root.path().join("t")).unwrap();
    root
}

/// Runs `check` on `t`; names of data files are numbered, as they are drawn.
#[track_caller]
fn check(root: &Path, arguments: &[&str], code: i32, expected: Expect) {
    let ran = contend_in(root, &[&["check", "t", "--width", "200"], arguments].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (code, ""), "{}", ran.stdout);
    let mut text = ran.stdout;
    for (index, name) in live(root).iter().enumerate() {
        text = text.replace(name.as_str(), &format!("LIVE{index}"));
    }
    for name in data_files(root) {
        text = text.replace(name.as_str(), "DEAD");
    }
    expected.assert_eq(&text);
}

/// Live files, in order of path.
fn live(root: &Path) -> Vec<String> {
    let ran = contend_in(root, &["files", "t", "--json"]);
    let Ok(document) = serde_json::from_str::<serde_json::Value>(&ran.stdout) else { return Vec::new() };
    document["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap().to_owned()).collect()
}

fn data_files(root: &Path) -> Vec<String> {
    super::support::files(&root.join("t")).into_iter().filter(|path| path.contains("part-")).collect()
}

/// Changes the text of the newest commit.
fn edit(root: &Path, from: &str, to: &str) {
    let log = root.join("t/_delta_log");
    let mut commits: Vec<_> = fs::read_dir(log).unwrap().map(|entry| entry.unwrap().path()).collect();
    commits.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    commits.sort();
    let newest = commits.last().unwrap();
    let text = fs::read_to_string(newest).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(newest, text.replace(from, to)).unwrap();
}

#[test]
fn a_clean_table_gives_nothing() {
    let root = table();
    check(
        root.path(),
        &[],
        0,
        expect![[r#"
            0 findings, 0 notes
        "#]],
    );
    check(
        root.path(),
        &["--data"],
        0,
        expect![[r#"
            0 findings, 0 notes
        "#]],
    );
    let ran = contend_in(root.path(), &["check", "t", "--data", "--json"]);
    let expected = json!({ "schema": 1, "command": "check", "verdict": "pass", "findings": [], "notes": [] });
    assert_eq!(ran.json(), expected);
}

#[test]
fn findings_exit_with_1_and_are_json_too() {
    let root = table();
    fs::write(root.path().join("t/_delta_log/00000000000000000009.json"), "{").unwrap();
    fs::write(root.path().join("t/_delta_log/notes.txt"), "x").unwrap();
    check(
        root.path(),
        &[],
        1,
        expect![[r#"
            findings
              gap, version 4, _delta_log/00000000000000000004.json
                commits 4 to 8 are missing, and versions are contiguous; restore the files from a copy of the table
              torn-commit, version 9, _delta_log/00000000000000000009.json
                commit 9, line 1: the line is not a whole action; the file is damaged, restore it from a copy of the table: EOF while parsing an object at line 1 column 1
            notes
              stray-file, _delta_log/notes.txt
                its name is none of a log's, so readers pass over it; most likely a writer left it behind
            2 findings, 1 note
        "#]],
    );
    let ran = contend_in(root.path(), &["check", "t", "--json"]);
    let document = ran.json();
    assert_eq!((ran.code, &document["verdict"]), (1, &json!("violation")));
    let finding = &document["findings"][1];
    assert_eq!(finding["rule"], "torn-commit");
    assert_eq!(finding["version"], 9);
    assert_eq!(finding["file"], "_delta_log/00000000000000000009.json");
    assert_eq!(document["notes"][0]["version"], json!(null));
    check(
        root.path(),
        &["--data"],
        1,
        expect![[r#"
            findings
              gap, version 4, _delta_log/00000000000000000004.json
                commits 4 to 8 are missing, and versions are contiguous; restore the files from a copy of the table
              torn-commit, version 9, _delta_log/00000000000000000009.json
                commit 9, line 1: the line is not a whole action; the file is damaged, restore it from a copy of the table: EOF while parsing an object at line 1 column 1
            notes
              not-checked
                the data files: what the newest version holds is not known, see the findings and notes on the log
              stray-file, _delta_log/notes.txt
                its name is none of a log's, so readers pass over it; most likely a writer left it behind
            2 findings, 2 notes
        "#]],
    );
}

#[test]
fn what_is_no_table_exits_with_2() {
    let root = TempDir::new().unwrap();
    fs::create_dir(root.path().join("empty")).unwrap();
    for (path, words) in [("nosuch", "is no folder"), ("empty", "is not a Delta table")] {
        let ran = contend_in(root.path(), &["check", path]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
    }
    let ran = contend(&["check", ".", "--allow-absolute-paths"]);
    assert_eq!(ran.code, 2, "without --data it says nothing");
}

#[test]
fn data_files_are_there_and_whole() {
    let root = table();
    let files = live(root.path());
    fs::remove_file(root.path().join("t").join(&files[0])).unwrap();
    let other = root.path().join("t").join(&files[1]);
    let bytes = fs::read(&other).unwrap();
    fs::write(&other, &bytes[..bytes.len() / 2]).unwrap();
    check(
        root.path(),
        &[],
        0,
        expect![[r#"
            0 findings, 0 notes
        "#]],
    );
    check(
        root.path(),
        &["--data"],
        1,
        expect![[r#"
            findings
              data-missing, version 3, LIVE0
                it is live, and there is no such file; most likely it was deleted
              data-size, version 3, LIVE1
                the log says 443 bytes, and it has 221
              data-unreadable, version 3, LIVE1
                the Parquet file is not readable or writable: Parquet error: Invalid Parquet file. Corrupt footer
            3 findings, 0 notes
        "#]],
    );
}

#[test]
fn statistics_say_what_is_in_the_file() {
    for (from, to, expected) in [
        (
            r#"\"numRecords\":1"#,
            r#"\"numRecords\":2"#,
            expect![[r#"
                findings
                  num-records, version 3, LIVE1
                    numRecords is 2, and it has 1 rows
                1 finding, 0 notes
            "#]],
        ),
        (
            r#"\"minValues\":{\"x\":5"#,
            r#"\"minValues\":{\"x\":6"#,
            expect![[r#"
                findings
                  bounds, version 3, LIVE1
                    the minimum of column 'x' is 6, and there is 5
                notes
                  statistics, version 3, _delta_log/00000000000000000003.json
                    the statistics of 'LIVE1': the minimum of column 'x' is 6, and the maximum is 5
                1 finding, 1 note
            "#]],
        ),
        (
            r#"\"maxValues\":{\"x\":5"#,
            r#"\"maxValues\":{\"x\":4"#,
            expect![[r#"
                findings
                  bounds, version 3, LIVE1
                    the maximum of column 'x' is 4, and there is 5
                notes
                  statistics, version 3, _delta_log/00000000000000000003.json
                    the statistics of 'LIVE1': the minimum of column 'x' is 5, and the maximum is 4
                1 finding, 1 note
            "#]],
        ),
        (
            r#"\"nullCount\":{\"s\":1,\"x\":0"#,
            r#"\"nullCount\":{\"s\":0,\"x\":1"#,
            expect![[r#"
                findings
                  null-count, version 3, LIVE1
                    nullCount of column 's' is 0, and it has 1 NULLs
                  null-count, version 3, LIVE1
                    nullCount of column 'x' is 1, and it has 0 NULLs
                2 findings, 0 notes
            "#]],
        ),
        // Wider bounds are legal.
        (
            r#"\"minValues\":{\"x\":5"#,
            r#"\"minValues\":{\"x\":-5"#,
            expect![[r#"
                0 findings, 0 notes
            "#]],
        ),
    ] {
        let root = table();
        edit(root.path(), from, to);
        let clean = to.ends_with("-5");
        check(root.path(), &["--data"], if clean { 0 } else { 1 }, expected);
    }
}

#[test]
fn files_that_the_log_does_not_speak_of_are_noted() {
    let root = table();
    let t = root.path().join("t");
    fs::create_dir_all(t.join("_hidden")).unwrap();
    for name in ["old.parquet", "young.parquet", "_hidden/x.parquet", ".y", "p=1/z.parquet"] {
        fs::write(t.join(name), "x").unwrap();
    }
    let old = SystemTime::now() - Duration::from_secs(30 * 86_400);
    File::options().append(true).open(t.join("old.parquet")).unwrap().set_modified(old).unwrap();
    check(
        root.path(),
        &["--data"],
        0,
        expect![[r#"
            notes
              orphan-file, old.parquet
                the log does not speak of it, and it is older than files are kept for
              young-file, p=1/z.parquet
                the log does not speak of it; a writer may be about to commit it
              young-file, young.parquet
                the log does not speak of it; a writer may be about to commit it
            0 findings, 3 notes
        "#]],
    );
}

/// Report 40.
#[test]
fn a_partition_column_in_the_file_is_noted_when_it_says_another_value() {
    let root = table();
    // The file of p = 2 stands for another table, in which p is an ordinary column.
    let log = root.path().join("t/_delta_log");
    let first = fs::read_to_string(log.join("00000000000000000000.json")).unwrap();
    fs::write(
        log.join("00000000000000000000.json"),
        first.replace(r#""partitionColumns":["p"]"#, r#""partitionColumns":["p","s"]"#),
    )
    .unwrap();
    for version in 1..=3 {
        let path = log.join(format!("{version:020}.json"));
        let text = fs::read_to_string(&path).unwrap();
        let text = text.replace(r#""partitionValues":{"p":"#, r#""partitionValues":{"s":"other","p":"#);
        fs::write(path, text).unwrap();
    }
    check(
        root.path(),
        &["--data"],
        0,
        expect![[r#"
            notes
              partition-column-stored, version 3, LIVE0
                partition column 's' is a in the file, and other in the log, which counts
            0 findings, 1 note
        "#]],
    );
}
