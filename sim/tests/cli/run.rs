//! `contend run` and `contend scenarios`.

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use expect_test::{Expect, expect};
use serde_json::json;

use super::support::{contend, contend_in};

fn check(arguments: &[&str], code: i32, expected: Expect) {
    let ran = contend(arguments);
    expected.assert_eq(&ran.stdout);
    assert_eq!((ran.code, ran.stderr.as_str()), (code, ""));
}

#[test]
fn a_delete_after_an_insert_it_has_not_seen_is_explained_by_another_order() {
    check(
        &["run", "@reordered", "--width", "80"],
        0,
        expect![[r#"
        seed 0  scenario a delete that comes after an insert it has not seen
        level WriteSerializable  rules delta-spark  latency adls

        setup: 2 statements, then t at version 1

          ms a                                     b
           0 ┌ DELETE FROM t
           0 │                                     ┌ INSERT INTO t VALUES (2, 2)
        1064 │ read v1                             │
        2226 │                                     │ read v1
        2634 │                                     │ wrote a file
        3049 │                                     └ ok v2
        3477 │ put v2: lost
        3840 └ ok v3

        table t
          WriteSerializable, newest version 3, 1 row in 1 live file
          rows sha256 33e6a9fbe0475acda0424097ec640768c18e03d3239635b32cc4bb369cc1ef54
          version  by     statement                    read  rows  puts
              0-1  setup
                2  b      INSERT INTO t VALUES (2, 2)     1     1     1
                3  a      DELETE FROM t                   1     1     2
          oracle: explained by the order v3 by a, v2 by b, which is not that of the log

        2 calls: 2 committed, 0 conflicts
        verdict: pass
    "#]],
    );
}

#[test]
fn the_same_delete_conflicts_at_serializable() {
    check(
        &["run", "@reordered", "--isolation", "Serializable"],
        0,
        expect![[r#"
            seed 0  scenario a delete that comes after an insert it has not seen
            level Serializable  rules delta-spark  latency adls

            setup: 2 statements, then t at version 1

              ms a                                     b
               0 ┌ DELETE FROM t
               0 │                                     ┌ INSERT INTO t VALUES (2, 2)
            1064 │ read v1                             │
            2226 │                                     │ read v1
            2634 │                                     │ wrote a file
            3049 │                                     └ ok v2
            3477 │ put v2: lost
            3608 └ conflict with v2
                   ConcurrentAppend
                   [added-files]

            table t
              Serializable, newest version 2, 2 rows in 2 live files
              rows sha256 ed5840f673baafed4ec73023396d966548b3fc239b281dde3ca97d9d7ffaa5fe
              version  by     statement                    read  rows  puts
                  0-1  setup
                    2  b      INSERT INTO t VALUES (2, 2)     1     1     1
              oracle: explained by the order of the log

            calls that did not succeed
            a: DELETE FROM t
              ConcurrentAppend: version 2 (WRITE by b) added a file, and this transaction
              depends on the whole table; rule added-files

            2 calls: 1 committed, 1 conflict
            verdict: pass
        "#]],
    );
}

#[test]
fn a_narrow_terminal_has_one_column() {
    check(
        &["run", "@reordered", "--isolation", "Serializable", "--width", "40"],
        0,
        expect![[r#"
        seed 0
        scenario a delete that comes after an i…
        level Serializable  rules delta-spark
        latency adls

        setup: 2 statements, then t at version 1

          ms writer
           0 a      ┌ DELETE FROM t
           0 b      ┌ INSERT INTO t VALUES (2,
                    │ 2)
        1064 a      │ read v1
        2226 b      │ read v1
        2634 b      │ wrote a file
        3049 b      └ ok v2
        3477 a      │ put v2: lost
        3608 a      └ conflict with v2
                      ConcurrentAppend
                      [added-files]

        table t
          Serializable, newest version 2, 2 rows
          in 2 live files
          rows sha256 ed5840f673baafed4ec730233…
          version  by     statement
              0-1  setup
                2  b      INSERT INTO t VALUES…
          oracle: explained by the order of the
          log

        calls that did not succeed
        a: DELETE FROM t
          ConcurrentAppend: version 2 (WRITE by
          b) added a file, and this transaction
          depends on the whole table; rule
          added-files

        2 calls: 1 committed, 1 conflict
        verdict: pass
    "#]],
    );
}

#[test]
fn a_broken_expectation_is_a_violation_and_says_how_to_see_it_again() {
    check(
        &["run", "@reordered", "--seed", "3", "--set", "expect.committed={ min = 3 }", "--latency", "s3"],
        1,
        expect![[r#"
            seed 3  scenario a delete that comes after an insert it has not seen
            level WriteSerializable  rules delta-spark  latency s3

            setup: 2 statements, then t at version 1

              ms a                                     b
               0 ┌ DELETE FROM t
               0 │                                     ┌ INSERT INTO t VALUES (2, 2)
            1215 │ read v1                             │
            1831 │                                     │ read v1
            1896 │                                     │ wrote a file
            1956 │                                     └ ok v2
            2022 │ put v2: lost
            2178 └ ok v3

            table t
              WriteSerializable, newest version 3, 1 row in 1 live file
              rows sha256 33e6a9fbe0475acda0424097ec640768c18e03d3239635b32cc4bb369cc1ef54
              version  by     statement                    read  rows  puts
                  0-1  setup
                    2  b      INSERT INTO t VALUES (2, 2)     1     1     1
                    3  a      DELETE FROM t                   1     1     2
              oracle: explained by the order v3 by a, v2 by b, which is not that of the log

            2 calls: 2 committed, 0 conflicts
            violation, expectation:
              2 calls committed, and the scenario expects 3 to any number
            again with: contend run @reordered --seed 3 --latency s3 --set 'expect.committed={ min = 3 }'
            verdict: violation (expectation)
        "#]],
    );
}

#[test]
fn one_writer_alone_and_the_answer_of_its_query() {
    check(
        &["run", "@single-writer"],
        0,
        expect![[r#"
        seed 0  scenario one writer alone  level Serializable  rules delta-spark
        latency adls

           ms a
            0 ┌ CREATE TABLE IF NOT EXISTS logs (id INT,
              │ date TIMESTAMP)
         1316 │ read: no table yet
         1609 └ ok v0
              ┌ DELETE FROM logs
         2439 │ read v0
              └ ok, nothing to commit
              ┌ INSERT INTO logs(id, date) VALUES (1,
              │ current_timestamp())
         3478 │ read v0
         3862 │ wrote a file
         4163 └ ok v1
              ┌ UPDATE logs SET id = 2 WHERE id = 1
         5302 │ read v1
         5684 │ wrote a file
         5959 └ ok v2
              ┌ SELECT * FROM logs VERSION AS OF 1
         7485 │ read v1
              └ ok, 1 row
              ┌ UPDATE logs SET id = 1
         8705 │ read v2
         9117 │ wrote a file
         9609 └ ok v3
              ┌ UPDATE logs SET id = 2
        10371 │ read v3
        10670 │ wrote a file
        10994 └ ok v4
              ┌ UPDATE logs SET id = 3
        11879 │ read v4
        12101 │ wrote a file
        12394 └ ok v5

        table logs
          Serializable, newest version 5, 1 row in 1 live file
          rows sha256 4771da2dad2796548c12cc611520688d656604003a6e456772cdcf542d43e830
          version  by  statement                                        read  rows  puts
                0  a   CREATE TABLE IF NOT EXISTS logs (id INT, date…      -     0     1
                1  a   INSERT INTO logs(id, date) VALUES (1, current_…     0     1     1
                2  a   UPDATE logs SET id = 2 WHERE id = 1                 1     1     1
                3  a   UPDATE logs SET id = 1                              2     1     1
                4  a   UPDATE logs SET id = 2                              3     1     1
                5  a   UPDATE logs SET id = 3                              4     1     1
          oracle: explained by the order of the log

        a asked: SELECT * FROM logs VERSION AS OF 1
          id  date
           1  2024-01-01 01:00:02.439

        8 calls: 6 committed, 0 conflicts, 1 nothing to commit, 1 answered
        verdict: pass
    "#]],
    );
}

#[test]
fn the_document_of_a_run_has_what_tools_rely_on() {
    let document = contend(&["run", "@reordered", "--isolation", "serializable", "--json"]).json();
    for (field, value) in [
        ("schema", json!(1)),
        ("command", json!("run")),
        ("verdict", json!("pass")),
        ("seed", json!(0)),
        ("committed", json!(1)),
        ("conflicts", json!(1)),
        ("unknown", json!(0)),
        ("orphans", json!(0)),
        ("level", json!("Serializable")),
    ] {
        assert_eq!(document[field], value, "{field}");
    }
    let conflict = &document["calls"][0]["conflict"];
    assert_eq!(conflict["rule"], "added-files");
    assert_eq!(conflict["kind"], "ConcurrentAppend");
    assert_eq!(conflict["winner"], 2);
    assert_eq!(document["tables"]["t"]["oracle"]["order"], json!([2]));
}

#[test]
fn the_same_seed_is_the_same_report() {
    for arguments in
        [&["run", "@write-conflict", "--seed", "7"][..], &["run", "@write-conflict", "--seed", "7", "--json"]]
    {
        assert_eq!(contend(arguments), contend(arguments));
    }
    assert_ne!(contend(&["run", "@write-conflict"]).stdout, contend(&["run", "@write-conflict", "--seed", "1"]).stdout);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let program = assert_cmd::cargo::cargo_bin("contend");
    let mut child = Command::new(program)
        .args(["run", "@write-conflict", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::with_capacity(1, child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(line, "{\n");
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap()), (Some(0), String::new()));
}

#[test]
fn a_scenario_that_is_built_in_can_be_listed_printed_and_run_from_a_file() {
    let list = contend(&["scenarios"]);
    assert!(list.stdout.starts_with("@write-conflict\n  Three writers update"), "{}", list.stdout);
    let printed = contend(&["scenarios", "@reordered"]);
    assert_eq!(contend(&["scenarios", "--json"]).json()["scenarios"][0]["name"], "@write-conflict");

    let directory = tempfile::TempDir::new().unwrap();
    std::fs::write(directory.path().join("mine.toml"), printed.stdout).unwrap();
    assert_eq!(contend_in(directory.path(), &["run", "mine.toml"]), contend(&["run", "@reordered"]));
}

#[test]
fn help_is_no_error() {
    for arguments in [&["--help"][..], &["run", "--help"], &["explore", "--help"], &["replay", "-h"], &["--version"]] {
        let ran = contend(arguments);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        assert!(!ran.stdout.is_empty());
    }
}
