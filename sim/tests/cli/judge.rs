//! `contend judge`.

use std::{fs, path::Path};

use expect_test::expect;
use tempfile::TempDir;

use super::support::{contend, contend_in, refuses};

fn folder() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../conflict/tests/cases").to_str().unwrap().to_owned()
}

fn case(name: &str) -> String {
    fs::read_to_string(format!("{}/{name}.json", folder())).unwrap()
}

const NARROW: &str = "or_of_partition_and_data_column_reads_the_whole_table";

#[test]
fn a_folder_of_cases_passes() {
    let ran = contend(&["judge", &folder()]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(ran.stdout.ends_with("verdict: pass\n"), "{}", ran.stdout);
    let json = contend(&["judge", &folder(), "--json"]).json();
    let count = json["cases"].as_u64().unwrap();
    assert!(count >= 97);
    assert_eq!((json["command"].as_str(), json["verdict"].as_str()), (Some("judge"), Some("pass")));
    assert_eq!((json["passed"].as_u64(), json["failed"].as_u64()), (Some(count), Some(0)));
    assert_eq!(json["results"].as_array().unwrap().len() as u64, count);
    assert!(json["schema"].is_u64());
}

#[test]
fn a_rule_that_is_left_out_shows() {
    let ran = contend(&["judge", &folder(), "--without", "added-files", "--json"]);
    assert_eq!(ran.code, 1);
    let json = ran.json();
    assert_eq!(json["verdict"], "violation");
    let failed = json["failed"].as_u64().unwrap();
    assert!(failed > 10, "{failed}");
    assert_eq!(json["passed"].as_u64().unwrap() + failed, json["cases"].as_u64().unwrap());
}

#[test]
fn a_case_is_explained() {
    let directory = TempDir::new().unwrap();
    fs::create_dir_all(directory.path().join("a/b")).unwrap();
    fs::write(directory.path().join("a/b/one.json"), case(NARROW)).unwrap();
    fs::write(directory.path().join("a/notes.txt"), "no case").unwrap();
    fs::write(
        directory.path().join("a/two.json"),
        case("random_disjunct_makes_the_predicate_true").replace("ConcurrentAppend", "ConcurrentDeleteRead"),
    )
    .unwrap();
    let ran = contend_in(directory.path(), &["judge", "a", "--explain"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    expect![[r#"
        pass  or_of_partition_and_data_column_reads_the_whole_table: ConcurrentAppend with version 2 in [part=2]
              ConcurrentAppend: the operation DELETE read version 1 and was checked at
              Serializable. Version 2 (WRITE, which read version 1) added a file to a
              partition that this transaction read: c in partition [part=2] [rule
              added-files]. The read predicate that matched is `part = 1 OR year >
              2019`, of which no part narrows the partitions. Putting the same files
              again is not safe; running the statement again on a fresh snapshot is. To
              avoid it: nothing was written to a partition that this transaction writes:
              a condition on (part = 1) that every row must meet keeps them apart.
        FAIL  random_disjunct_makes_the_predicate_true: ConcurrentAppend with version 2 in [d=2024-01-05]
              in a/two.json
              expected ConcurrentDeleteRead, found ConcurrentAppend
              predicate 0: `rand() < 0.5` counts as true: unknown function `rand` at
              line 1, column 26
              ConcurrentAppend: the operation DELETE read version 1 and was checked at
              Serializable. Version 2 (WRITE, which read version 1) added a file to a
              partition that this transaction read: n in partition [d=2024-01-05] [rule
              added-files]. The read predicate that matched is `d = DATE '2024-01-01' OR
              rand() < 0.5`, of which no part narrows the partitions. Putting the same
              files again is not safe; running the statement again on a fresh snapshot
              is. To avoid it: nothing was written to a partition that this transaction
              writes: a condition on (d = DATE '2024-01-01') that every row must meet
              keeps them apart.

        rules delta-spark: 1 of 2 cases pass, 1 fail
        verdict: violation
    "#]]
    .assert_eq(&ran.stdout);
}

/// What a link leads to may be gone, and a queue has no end.
#[cfg(unix)]
#[test]
fn what_cannot_be_read_is_not_passed_over() {
    let directory = TempDir::new().unwrap();
    fs::create_dir(directory.path().join("cases")).unwrap();
    fs::write(directory.path().join("cases/one.json"), case(NARROW)).unwrap();
    std::os::unix::fs::symlink("nowhere.json", directory.path().join("cases/two.json")).unwrap();
    let ran = contend_in(directory.path(), &["judge", "cases"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    expect![[r#"
        error: cases/two.json: no such file; a case is a *.json file, or a folder of them
    "#]]
    .assert_eq(&ran.stderr);
    let pipe = std::process::Command::new("mkfifo").arg(directory.path().join("cases/two.json.json")).status();
    assert!(pipe.unwrap().success());
    let ran = contend_in(directory.path(), &["judge", "cases/two.json.json"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    expect![[r#"
        error: cases/two.json.json: it is neither a file nor a folder; a case is a *.json file
    "#]]
    .assert_eq(&ran.stderr);
}

#[test]
fn a_file_that_cannot_have_been_read_is_noted() {
    let directory = TempDir::new().unwrap();
    let text = case(NARROW).replace("\"wholeTable\"", "\"files\": [\"nosuch\"], \"wholeTable\"");
    fs::write(directory.path().join("x.json"), text).unwrap();
    let note = "reads.files: 'nosuch' is not live at the version that was read";
    let ran = contend_in(directory.path(), &["judge", "x.json", "--explain"]);
    assert!(ran.stdout.contains(note), "{}", ran.stdout);
    let ran = contend_in(directory.path(), &["judge", "x.json", "--json"]);
    assert_eq!(ran.json()["results"][0]["notes"], serde_json::json!([note]));
}

#[test]
fn what_is_no_case_is_refused() {
    refuses(
        &[],
        &["judge", "none.json"],
        expect![[r#"
        error: none.json: no such file; a case is a *.json file, or a folder of them
    "#]],
    );
    refuses(
        &[("x.json", "{")],
        &["judge", "x.json"],
        expect![[r#"
        error: x.json: not a conflict case: EOF while parsing an object at line 1 column 1
    "#]],
    );
    refuses(
        &[("x.json", "{\"name\": \"x\"}")],
        &["judge", "."],
        expect![[r#"
        error: ./x.json: not a conflict case: missing field `isolation` at line 1 column 13
    "#]],
    );
    refuses(
        &[("x.toml", "")],
        &["judge", "."],
        expect![[r#"
        error: .: there is no case in this folder; cases are *.json files
    "#]],
    );
    let change = |from: &str, to: &str| {
        let text = case(NARROW);
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    };
    let wrong = [
        (
            "\"Serializable\"",
            "\"Serialisable\"",
            expect![[r#"
            error: x.json: isolation: 'Serialisable' is not an isolation level; there are Serializable, WriteSerializable and SnapshotIsolation
        "#]],
        ),
        (
            "\"Serializable\"",
            "\"SnapshotIsolation\"",
            expect![[r#"
            error: x.json: isolation: the case says SnapshotIsolation, its table says Serializable; make them agree
        "#]],
        ),
        (
            "\"ConcurrentAppend\"",
            "\"ConcurentAppend\"",
            expect![[r#"
            error: x.json: expect.conflict: 'ConcurentAppend' is no kind of conflict; there are BackfillConflict, ConcurrentAppend, ConcurrentDeleteDelete, ConcurrentDeleteRead, ConcurrentTransaction, ConcurrentWrite, DomainMetadataConflict, FeatureDropConflict, MetadataChanged, ProtocolChanged
        "#]],
        ),
        (
            "\"outcome\": \"conflict\"",
            "\"outcome\": \"lost\"",
            expect![[r#"
            error: x.json: expect.outcome: 'lost' is neither "committed" nor "conflict"
        "#]],
        ),
        (
            "\"outcome\": \"conflict\"",
            "\"outcome\": \"committed\"",
            expect![[r#"
            error: x.json: expect.conflict: belongs to the outcome "conflict"
        "#]],
        ),
        (
            "\"readVersion\": 1,\n    \"operation\"",
            "\"readVersion\": 7,\n    \"operation\"",
            expect![[r#"
            error: x.json: transaction.readVersion: setup ends at version 1; commits that came later belong to winners
        "#]],
        ),
        (
            "\"wholeTable\"",
            "\"wholetable\"",
            expect![[r#"
            error: x.json: not a conflict case: unknown field `wholetable`, expected one of `wholeTable`, `predicates`, `files`, `appIds` at line 60 column 18
        "#]],
        ),
        (
            "\"winner\": 2",
            "\"winner\": 3",
            expect![[r#"
            error: x.json: expect.winner: there is no winner of version 3
        "#]],
        ),
        (
            "\"winners\"",
            "\"winers\"",
            expect![[r#"
            error: x.json: winers: unknown field; did you mean 'winners'?
        "#]],
        ),
        (
            "\"remove\"",
            "\"Remove\"",
            expect![[r#"
                error: x.json: transaction.actions[0]: unknown action 'Remove'; did you mean 'remove'?
            "#]],
        ),
    ];
    refuses(
        &[("x.json", "[\"x\", \"Serializable\"]")],
        &["judge", "x.json"],
        expect![[r#"
            error: x.json: not a conflict case: invalid type: sequence, expected a map at line 1 column 0
        "#]],
    );
    refuses(
        &[("x.json", &case(NARROW).replace("\"winners\": [", "\"winners\": [[{}], "))],
        &["judge", "x.json"],
        expect![[r#"
            error: x.json: winners[0][0]: it holds no action; leave it out
        "#]],
    );
    for (from, to, expected) in wrong {
        refuses(&[("x.json", &change(from, to))], &["judge", "x.json"], expected);
    }
    refuses(
        &[],
        &["judge", &folder(), "--without", "added-file"],
        expect![[r#"
        error: rule set 'delta-spark' has no rule 'added-file'; it has never-rebased, protocol, feature-drop, metadata, domain-metadata, application-transaction, backfill, added-files, removed-and-read, removed-twice, own-commit, put-if-absent; did you mean 'added-files'?
    "#]],
    );
    refuses(
        &[],
        &["judge", &folder(), "--rules", "delta"],
        expect![[r#"
        error: no rule set is called 'delta'; there are delta-spark, statistics, delta-spark-4.0.0
    "#]],
    );
}
