//! `contend explore` and `contend replay`.

use std::fs;

use expect_test::expect;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::support::{contend, contend_in, files, refuses};

const UNCHECKED: &[&str] = &["explore", "@delete-all-against-insert", "--without", "added-files", "--out", "failures"];

#[test]
fn every_outcome_of_delete_all_against_an_insert() {
    let committed = |level| {
        let ran = contend(&["explore", "@delete-all-against-insert", "--isolation", level, "--json"]);
        assert_eq!(ran.code, 0);
        let document = ran.json();
        assert_eq!(document["exhausted"], true);
        assert_eq!(document["violations"], json!([]));
        let outcomes: Vec<Value> = document["outcomes"].as_array().unwrap().clone();
        outcomes
            .iter()
            .map(|outcome| (outcome["committed"].as_u64().unwrap(), outcome["finals"].as_array().unwrap().len()))
            .collect::<Vec<_>>()
    };
    // One: the DELETE lost. Two: DELETE, INSERT, or the other way round, which leaves nothing.
    assert_eq!(committed("Serializable"), [(1, 1), (2, 2)]);
    assert_eq!(committed("WriteSerializable"), [(2, 2)]);
}

#[test]
fn the_report_of_a_search() {
    let ran = contend(&["explore", "@delete-all-against-insert"]);
    expect![[r#"
        schedules all  scenario delete all against an insert  level Serializable
        rules delta-spark

        committed  final contents
                1               1
                2               2

        16 states, 17 steps, 3 ends, at most 5 steps from the start; exhausted: every
        interleaving is among them.
        A state is what the tables hold and where each writer stands. A step takes one
        writer from one scheduling point to the next: to a listing of the log, to a put,
        to the listing after a lost put. Everything else commutes with the other writers
        and runs with the step before.

        verdict: pass
    "#]]
    .assert_eq(&ran.stdout);
    assert_eq!(ran.code, 0);
    assert!(ran.stderr.contains("states/s"), "{}", ran.stderr);
}

#[test]
fn without_a_rule_the_shortest_violation_is_found_written_and_reproduced() {
    let directory = TempDir::new().unwrap();
    let ran = contend_in(directory.path(), UNCHECKED);
    assert_eq!(ran.code, 1);
    expect![[r#"
        schedules all  scenario delete all against an insert  level Serializable
        rules delta-spark without added-files

        committed  final contents
                2               2

        17 states, 18 steps, 3 ends, at most 6 steps from the start; exhausted: every
        interleaving is among them.
        A state is what the tables hold and where each writer stands. A step takes one
        writer from one scheduling point to the next: to a listing of the log, to a put,
        to the listing after a lost put. Everything else commutes with the other writers
        and runs with the step before.

        violation, not-serializable: the shortest schedule has 6 steps
        step a                                     b
           0 ┌ DELETE FROM t
           0 │                                     ┌ INSERT INTO t VALUES (2, 2)
           1 │ read v1                             │
           2 │                                     │ read v1
             │                                     │ wrote a file
           3 │                                     └ ok v2
           4 │ put v2: lost
           5 │ listed the winners
           6 └ ok v3
        a: DELETE FROM t (version 3) does something else at its place in the log than
        what it did. It read an older version, on which it deletes 1 row, (1, 1). On the
        version before its own it deletes 2 rows, one of them (1, 1). It did not see b:
        INSERT INTO t VALUES (2, 2) (version 2), which changed rows that it reads.
        schedule: a.load b.load b.put a.put a.winners a.put
        again with: contend replay failures/delete-all-against-an-insert-not-serializable.json

        verdict: violation (not-serializable)
    "#]]
    .assert_eq(&ran.stdout);
    let file = "failures/delete-all-against-an-insert-not-serializable.json";
    assert_eq!(files(directory.path()), ["failures", file]);

    let replayed = contend_in(directory.path(), &["replay", file]);
    assert_eq!((replayed.code, replayed.stderr.as_str()), (1, ""));
    expect![[r#"
        schedule 6 steps  scenario delete all against an insert  level Serializable
        rules delta-spark without added-files

        setup: 2 statements, then t at version 1

        step a                                     b
           0 ┌ DELETE FROM t
           0 │                                     ┌ INSERT INTO t VALUES (2, 2)
           1 │ read v1                             │
           2 │                                     │ read v1
             │                                     │ wrote a file
           3 │                                     └ ok v2
           4 │ put v2: lost
           5 │ listed the winners
           6 └ ok v3

        table t
          Serializable, newest version 3, 1 row in 1 live file
          rows sha256 33e6a9fbe0475acda0424097ec640768c18e03d3239635b32cc4bb369cc1ef54
          version  by     statement                    read  rows  puts
              0-1  setup
                2  b      INSERT INTO t VALUES (2, 2)     1     1     1
                3  a      DELETE FROM t                   1     1     2
          oracle: not explained, see the violation

        2 calls: 2 committed, 0 conflicts
        violation, not-serializable:
          a: DELETE FROM t (version 3) does something else at its place in the log than
          what it did. It read an older version, on which it deletes 1 row, (1, 1). On
          the version before its own it deletes 2 rows, one of them (1, 1). It did not
          see b: INSERT INTO t VALUES (2, 2) (version 2), which changed rows that it
          reads.
        reproduced: not-serializable is there after step 6 of 6
        verdict: violation (not-serializable)
    "#]]
    .assert_eq(&replayed.stdout);

    let found = &contend_in(directory.path(), &[UNCHECKED, &["--json"]].concat()).json()["violations"][0];
    let again = contend_in(directory.path(), &["replay", file, "--json"]).json();
    assert_eq!(again["reproduced"], true);
    assert_eq!(again["verdict"], "violation");
    for field in ["kind", "message", "length", "schedule"] {
        assert_eq!(found[field], again[field], "{field}");
    }
    assert_eq!(found["length"], 6);
    assert_eq!(found["file"], file);
}

#[test]
fn failure_files_go_to_a_new_directory_that_the_document_names() {
    let directory = TempDir::new().unwrap();
    let arguments = ["explore", "@delete-all-against-insert", "--without", "added-files", "--json"];
    let file = |ran: super::support::Ran| ran.json()["violations"][0]["file"].as_str().unwrap().to_owned();
    let (first, second) = (contend_in(directory.path(), &arguments), contend_in(directory.path(), &arguments));
    assert!(first.stderr.contains(&format!("again with: contend replay {}", file(first.clone()))), "{}", first.stderr);
    assert!(fs::exists(file(first.clone())).unwrap());
    assert_ne!(file(first), file(second));
}

#[test]
fn the_same_search_is_the_same_report() {
    for more in [&[][..], &["--json"]] {
        let directory = TempDir::new().unwrap();
        let arguments = [UNCHECKED, more].concat();
        assert_eq!(contend_in(directory.path(), &arguments).stdout, contend_in(directory.path(), &arguments).stdout);
    }
}

#[test]
fn a_schedule_that_ends_before_the_violation_does_not_reproduce_it() {
    let directory = TempDir::new().unwrap();
    contend_in(directory.path(), UNCHECKED);
    let path = directory.path().join("failures/delete-all-against-an-insert-not-serializable.json");
    let mut failure: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    failure["schedule"].as_array_mut().unwrap().pop();
    failure["program"] = json!("contend 0.0.1");
    fs::write(&path, failure.to_string()).unwrap();

    let ran = contend_in(directory.path(), &["replay", path.to_str().unwrap()]);
    assert_eq!(ran.code, 0);
    expect![[r#"
        note: the file was written by contend 0.0.1, this is contend 0.1.0: what the writers do may have changed
    "#]]
    .assert_eq(&ran.stderr);
    let end: Vec<&str> = ran.stdout.lines().rev().take(3).collect();
    expect![[r#"
        verdict: pass
        not-serializable was met
        not reproduced: the schedule of 5 steps was followed to its end, and no"#]]
    .assert_eq(&end.join("\n"));
}

#[test]
fn a_search_without_memory_is_incomplete() {
    let ran = contend(&["explore", "@write-conflict", "--memory-mb", "1", "--json"]);
    let document = ran.json();
    assert_eq!(ran.code, 1);
    assert_eq!(document["verdict"], "incomplete");
    assert_eq!(document["exhausted"], false);
    assert_eq!(document["stopped"], "memory");
}

#[test]
fn a_file_that_cannot_be_replayed_is_refused() {
    refuses(
        &[],
        &["replay", "none.json"],
        expect![[r#"
        error: none.json: no such file; explore says where it writes failure files
    "#]],
    );
    refuses(
        &[],
        &["replay", "."],
        expect![[r#"
        error: .: this is a directory, not a failure file
    "#]],
    );
    refuses(
        &[("odd.json", "nothing")],
        &["replay", "odd.json"],
        expect![[r#"
        error: odd.json: not a failure file: it is not JSON
          because: expected ident at line 1 column 2
    "#]],
    );
    refuses(
        &[("odd.json", "{}")],
        &["replay", "odd.json"],
        expect![[r#"
        error: odd.json: not a failure file: field 'program' is missing
    "#]],
    );
    refuses(
        &[("file", "")],
        &[&UNCHECKED[..5], &["file"]].concat(),
        expect![[r#"
            error: --out file: this is a file, and failure files need a directory
        "#]],
    );
}

#[test]
fn a_fault_is_shown_where_it_happens_and_can_be_replayed() {
    let directory = TempDir::new().unwrap();
    let arguments = ["explore", "@delete-all-against-insert", "--faults", "1:reply_lost", "--without", "own-commit"];
    let ran = contend_in(directory.path(), &[&arguments[..], &["--out", "failures"]].concat());
    let violations = ran.stdout.split_once("\n\nviolation").unwrap().1;
    expect![[r#"
        , exactly-once: the shortest schedule has 3 steps
        step a                                     b
           0 ┌ DELETE FROM t
           0 │                                     ┌ INSERT INTO t VALUES (2, 2)
           1 │ read v1                             │
           2 │ fault: reply_lost                   │
             │ put v2: unclear                     │
           3 └ conflict with v2                    │
               ConcurrentDeleteRead                │
               [removed-and-read]                  │
        a: DELETE FROM t was rejected, but is version 2 of the log
        schedule: a.load a.put/reply_lost a.winner
        again with: contend replay failures/delete-all-against-an-insert-exactly-once.json

        violation, structure: the shortest schedule has 5 steps
        step a                                     b
           0 ┌ DELETE FROM t
           0 │                                     ┌ INSERT INTO t VALUES (2, 2)
           1 │                                     │ read v1
             │                                     │ wrote a file
           2 │                                     │ fault: reply_lost
             │                                     │ put v2: unclear
           3 │                                     │ looked for its commit
           4 │                                     │ listed the winners
           5 │                                     └ ok v3
        version 3 adds 'part-00000-b-0-0-33e6a9fbe047.c000.snappy.parquet', which is in
        the table already
        schedule: b.load b.put/reply_lost b.winner b.winners b.put
        again with: contend replay failures/delete-all-against-an-insert-structure.json

        violation, wrong-effect: the shortest schedule has 7 steps
        step a                                     b
           0 ┌ DELETE FROM t
           0 │                                     ┌ INSERT INTO t VALUES (2, 2)
           1 │                                     │ read v1
             │                                     │ wrote a file
           2 │                                     │ fault: reply_lost
             │                                     │ put v2: unclear
           3 │                                     │ looked for its commit
           4 │                                     │ listed the winners
           5 │                                     └ ok v3
           6 │ read v3
           7 └ ok v4
        a: DELETE FROM t (version 4) did something else than what it does on the
        snapshot that it read. There it deletes 3 rows, one of them (1, 1); version 4
        should change the count of the row (2, 2) by -2, but changed it by -1.
        schedule: b.load b.put/reply_lost b.winner b.winners b.put a.load a.put
        again with: contend replay failures/delete-all-against-an-insert-wrong-effect.json

        verdict: violation (exactly-once, structure, wrong-effect)
    "#]]
    .assert_eq(violations);
    for file in fs::read_dir(directory.path().join("failures")).unwrap() {
        let path = file.unwrap().path();
        let again = contend_in(directory.path(), &["replay", path.to_str().unwrap(), "--json"]);
        assert_eq!(again.code, 1, "{}", again.stderr);
        assert_eq!(again.json()["reproduced"], true);
    }
}

#[test]
fn a_fault_that_does_not_exist_is_refused() {
    refuses(
        &[],
        &["explore", "@reordered", "--faults", "1:earthquake"],
        expect![[r#"
        error: invalid value '1:earthquake' for '--faults <N[:KIND,...]>': 'earthquake' is no kind of fault; there are put_lost, reply_lost, put_late, crash, list_lag

        For more information, try '--help'.
    "#]],
    );
}

#[test]
fn with_symmetry_the_report_says_who_is_alike_and_the_rest_is_the_same() {
    let directory = TempDir::new().unwrap();
    let scenario = "name = \"two updates\"\nisolation = \"Serializable\"\n\
                    setup = [\"CREATE TABLE t (id INT)\", \"INSERT INTO t VALUES (1)\"]\n\
                    [[writer]]\nname = \"a\"\nstatements = [\"UPDATE t SET id = id + 1\"]\n\
                    [[writer]]\nname = \"b\"\nstatements = [\"UPDATE t SET id = id + 1\"]\n";
    fs::write(directory.path().join("two.toml"), scenario).unwrap();
    let explore = |more: &[&str]| contend_in(directory.path(), &[&["explore", "two.toml"][..], more].concat());
    let ran = explore(&["--symmetry"]);
    expect![[r#"
        schedules all  scenario two updates  level Serializable  rules delta-spark

        committed  final contents
                1               1
                2               1

        9 states, 10 steps, 2 ends, at most 5 steps from the start; exhausted: every
        interleaving is among them.
        A state is what the tables hold and where each writer stands. A step takes one
        writer from one scheduling point to the next: to a listing of the log, to a put,
        to the listing after a lost put. Everything else commutes with the other writers
        and runs with the step before.
        Writers a and b have the same statements: states, steps and ends that differ
        only in which of them did what are counted as one. Outcomes, final contents and
        schedules are those of all.

        verdict: pass
    "#]]
    .assert_eq(&ran.stdout);
    assert_eq!(ran.code, 0);
    let [plain, symmetric] = [explore(&["--json"]).json(), explore(&["--symmetry", "--json"]).json()];
    assert_eq!(plain["outcomes"], symmetric["outcomes"]);
    assert_eq!((&plain["alike"], &symmetric["alike"]), (&json!([]), &json!([["a", "b"]])));
    assert!(symmetric["states"].as_u64() < plain["states"].as_u64());
}

#[test]
fn symmetry_of_writers_that_differ_is_refused() {
    refuses(
        &[],
        &["explore", "@delete-all-against-insert", "--symmetry"],
        expect![[r#"
        error: @delete-all-against-insert, --symmetry: no two writers have the same statements, on_conflict and commit_retries, so none can take the place of another; search without symmetry
    "#]],
    );
}

/// Every call ends as ok or fail, unless its writer crashed in it.
#[test]
fn ends_that_faults_left_open_are_counted() {
    // With a crash as few as none may commit.
    let search = ["explore", "@delete-all-against-insert", "--set", "expect.committed={ min = 0 }", "--faults"];
    let counts = |faults: &str| {
        let document = contend(&[&search[..], &[faults, "--json"]].concat()).json();
        assert_eq!((&document["exhausted"], &document["violations"]), (&json!(true), &json!([])), "{faults}");
        [&document["crashed_ends"], &document["unknown_ends"]].map(|count| count.as_u64().unwrap())
    };
    for kind in ["put_lost", "reply_lost", "put_late", "list_lag"] {
        assert_eq!(counts(&format!("1:{kind}")), [0, 0], "{kind}");
    }
    let [crashed, unknown] = counts("1:crash");
    assert!(crashed > 0 && unknown == 0, "{crashed}, {unknown}");
    let text = contend(&[&search[..], &["1:crash"]].concat()).stdout;
    assert!(text.contains(&format!("A writer crashed in one of its calls in {crashed} ends")), "{text}");
}
