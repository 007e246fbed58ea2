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
    expect![].assert_eq(&ran.stdout);
}

#[test]
fn what_is_no_case_is_refused() {
    refuses(&[], &["judge", "none.json"], expect![]);
    refuses(&[("x.json", "{")], &["judge", "x.json"], expect![]);
    refuses(&[("x.json", "{\"name\": \"x\"}")], &["judge", "."], expect![]);
    refuses(&[("x.toml", "")], &["judge", "."], expect![]);
    let change = |from: &str, to: &str| {
        let text = case(NARROW);
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    };
    let wrong = [
        ("\"Serializable\"", "\"Serialisable\"", expect![]),
        ("\"Serializable\"", "\"SnapshotIsolation\"", expect![]),
        ("\"ConcurrentAppend\"", "\"ConcurentAppend\"", expect![]),
        ("\"outcome\": \"conflict\"", "\"outcome\": \"lost\"", expect![]),
        ("\"outcome\": \"conflict\"", "\"outcome\": \"committed\"", expect![]),
        ("\"readVersion\": 1,\n    \"operation\"", "\"readVersion\": 7,\n    \"operation\"", expect![]),
        ("\"wholeTable\"", "\"wholetable\"", expect![]),
        ("\"winner\": 2", "\"winner\": 3", expect![]),
    ];
    for (from, to, expected) in wrong {
        refuses(&[("x.json", &change(from, to))], &["judge", "x.json"], expected);
    }
    refuses(&[], &["judge", &folder(), "--without", "added-file"], expect![]);
    refuses(&[], &["judge", &folder(), "--rules", "delta"], expect![]);
}
