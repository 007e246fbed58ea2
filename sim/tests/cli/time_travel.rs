//! `--version-as-of`, `--timestamp-as-of`, `TABLE@...`, `history`, `files`, `show`.

use std::{
    fs::{self, File},
    path::Path,
    time::{Duration, UNIX_EPOCH},
};

use expect_test::{Expect, expect};
use serde_json::json;
use tempfile::TempDir;

use super::support::{Ran, contend_in};

/// 2025-03-30T00:30:00Z and 2025-03-30T22:30:00Z (report 19).
const T1: u64 = 1_743_294_600_000;
const T2: u64 = 1_743_373_800_000;

const PROTOCOL: &str = r#"{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}"#;

fn metadata(partitions: &str, properties: &str) -> String {
    let schema = concat!(
        r#"{\"type\":\"struct\",\"fields\":["#,
        r#"{\"name\":\"id\",\"type\":\"long\",\"nullable\":false,\"metadata\":{\"comment\":\"the key\"}},"#,
        r#"{\"name\":\"p\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}},"#,
        r#"{\"name\":\"a\",\"type\":{\"type\":\"array\",\"elementType\":{\"type\":\"struct\",\"fields\":["#,
        r#"{\"name\":\"x\",\"type\":\"integer\",\"nullable\":true,\"metadata\":{}}]},\"containsNull\":false},\"nullable\":true,\"metadata\":{}}]}"#,
    );
    format!(
        r#"{{"metaData":{{"id":"i","format":{{"provider":"parquet","options":{{}}}},"schemaString":"{schema}","partitionColumns":[{partitions}],"configuration":{{{properties}}},"createdTime":0}}}}"#
    )
}

fn add(path: &str, p: &str, rows: Option<u64>) -> String {
    let stats = rows.map(|rows| format!(r#","stats":"{{\"numRecords\":{rows}}}""#)).unwrap_or_default();
    format!(
        r#"{{"add":{{"path":"{path}","partitionValues":{{"p":{p}}},"size":100,"modificationTime":1,"dataChange":true{stats}}}}}"#
    )
}

fn put(path: &Path, text: &str, ms: u64) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    File::options().append(true).open(path).unwrap().set_modified(UNIX_EPOCH + Duration::from_millis(ms)).unwrap();
}

fn commit(root: &Path, table: &str, version: u64, ms: u64, text: &str) {
    put(&root.join(format!("{table}/_delta_log/{version:020}.json")), text, ms);
}

/// A table of versions 0, 1 and 2, committed a day before T1, at T1 and at T2, with as many files.
fn table() -> TempDir {
    let root = TempDir::new().unwrap();
    let info = r#"{"commitInfo":{"operation":"WRITE","operationParameters":{"mode":"Append","predicate":"[\"(id#1L = 2)\"]"}}}"#;
    let first = format!("{PROTOCOL}\n{}\n{}\n", metadata(r#""p""#, ""), add("f0", "\"x\"", Some(3)));
    commit(root.path(), "t", 0, T1 - 86_400_000, &first);
    commit(root.path(), "t", 1, T1, &format!("{info}\n{}\n", add("f1", "\"y\"", Some(4))));
    commit(root.path(), "t", 2, T2, &format!("{info}\n{}\n", add("f2", "null", None)));
    root
}

/// The version that `files` shows, or the error.
fn version_of(root: &Path, arguments: &[&str]) -> String {
    let ran = contend_in(root, &[&["files", "--json"], arguments].concat());
    match ran.code {
        0 => format!("v{}", ran.json()["version"]),
        _ => error_of(&ran),
    }
}

fn error_of(ran: &Ran) -> String {
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
    ran.stderr.clone()
}

/// Reports 14 and 19.
#[test]
fn a_time_means_the_newest_version_that_is_not_younger() {
    let root = table();
    for (time, zone, expected) in [
        ("2025-03-30", "UTC", "v0"),
        ("2025-03-30", "-02:00", "v1"),
        ("2025-03-30 23:00:00+01:00", "UTC", "v1"),
        ("2025-03-30 00:30:00", "UTC", "v1"),
        ("2025-03-30T23:00:00+02:00", "UTC", "v1"),
        ("2025-03-30T22:29:59.999999Z", "UTC", "v1"),
        ("2025-03-30T22:30:00.000Z", "Europe/Berlin", "v2"),
        ("2025-03-30T22:30:00.0004Z", "UTC", "v2"),
        ("2025-03-31 00:30:00", "Europe/Berlin", "v2"),
        ("timestamp '2025-03-31 00:30:00'", "Europe/Berlin", "v2"),
        ("'2025-03-30 12:00:00'", "UTC", "v1"),
        ("DATE '2025-03-30'", "UTC", "v0"),
        ("date_sub(DATE '2025-03-31', 1)", "UTC", "v0"),
        ("add_months(DATE '2025-04-30', -1)", "-02:00", "v1"),
        ("CAST(add_months(DATE '2025-04-30', -1) AS STRING)", "UTC", "v0"),
        ("TIMESTAMP '2025-03-31 12:00:00' - INTERVAL 24 HOURS", "UTC", "v1"),
    ] {
        let found = version_of(root.path(), &["t", "--timestamp-as-of", time, "--time-zone", zone]);
        assert_eq!(found, expected, "{time} in {zone}");
    }
}

#[test]
fn an_expression_knows_the_clock() {
    let root = table();
    let day = Duration::from_secs(86_400);
    let now = UNIX_EPOCH.elapsed().unwrap();
    let ms = |before: u32| u64::try_from((now - day * before).as_millis()).unwrap();
    for (version, before) in [(0, 40), (1, 2), (2, 0)] {
        let path = root.path().join(format!("t/_delta_log/{version:020}.json"));
        let text = fs::read_to_string(&path).unwrap();
        put(&path, &text, ms(before));
    }
    for (time, expected) in [
        ("current_timestamp() - INTERVAL 24 HOURS", "v1"),
        ("date_sub(current_date(), 3)", "v0"),
        ("add_months(current_date(), -1)", "v0"),
    ] {
        for zone in ["UTC", "Asia/Tokyo"] {
            let arguments = ["t", "--timestamp-as-of", time, "--time-zone", zone];
            assert_eq!(version_of(root.path(), &arguments), expected, "{time} in {zone}");
        }
    }
    assert!(
        version_of(root.path(), &["t", "--timestamp-as-of", "add_months(current_date(), 1)"])
            .contains("is after the latest")
    );
}

#[test]
fn a_time_without_a_version_names_the_one_that_has() {
    let root = table();
    let check = |arguments: &[&str], expected: Expect| {
        expected.assert_eq(&version_of(root.path(), &[&["t"], arguments].concat()));
    };
    let time = "--timestamp-as-of";
    check(
        &[time, "2019-01-01"],
        expect![[r#"
        error: table at 't'
          because: 2019-01-01T00:00:00.000Z is before the earliest version that can be read, which is version 0, committed at 2025-03-29T00:30:00.000Z; ask for that instant or a later one
    "#]],
    );
    check(
        &[time, "2025-03-31"],
        expect![[r#"
        error: table at 't'
          because: 2025-03-31T00:00:00.000Z is after the latest commit, which is version 2, committed at 2025-03-30T22:30:00.000Z; ask for version 2, or for exactly 2025-03-30T22:30:00.000Z
    "#]],
    );
    check(
        &[time, "2022-09-01 12:00:00.999999UTC 10:00"],
        expect![[r#"
        error: --timestamp-as-of: '2022-09-01 12:00:00.999999UTC 10:00' has lost the sign of its offset: write '2022-09-01 12:00:00.999999UTC+10:00', or '2022-09-01 12:00:00.999999UTC-10:00' where it is west of UTC
    "#]],
    );
    check(
        &[time, "2025-03-30 02:30:00", "--time-zone", "Europe/Berlin"],
        expect![[r#"
        error: --timestamp-as-of: '2025-03-30 02:30:00' does not exist in the time zone Europe/Berlin, whose clocks are put forward over it; write the offset that is meant, such as +02:00
    "#]],
    );
    check(
        &[time, "yesterday"],
        expect![[r#"
        error: --timestamp-as-of: 'yesterday' is neither an instant nor an expression of constants; write it like 2024-06-26T12:34:45.000Z or current_timestamp() - INTERVAL 24 HOURS
          because: unknown column `yesterday`: only constants can stand here at line 1, column 1
            yesterday
            ^
    "#]],
    );
    check(
        &[time, "NULL"],
        expect![[r#"
        error: --timestamp-as-of: 'NULL' is neither an instant nor an expression of constants; write it like 2024-06-26T12:34:45.000Z or current_timestamp() - INTERVAL 24 HOURS
          because: NULL has no value here at line 1, column 1
            NULL
            ^
    "#]],
    );
    check(
        &[time, "length('x')"],
        expect![[r#"
        error: --timestamp-as-of: 'length('x')' is a value of type integer, and a timestamp, a date or the text of one is needed
    "#]],
    );
    check(
        &[time, "TIMESTAMP '2025-03-30 12:00:00' - INTERVAL 1 HOUR", "--time-zone", "+02:00"],
        expect![[r#"
        error: --timestamp-as-of: 'TIMESTAMP '2025-03-30 12:00:00' - INTERVAL 1 HOUR' converts between timestamps and other types, which expressions do in UTC only, and the time zone is +02:00; write the instant with its offset, or leave --time-zone out
    "#]],
    );
}

#[test]
fn flags_that_contradict_each_other_are_refused() {
    let root = table();
    let error = version_of(root.path(), &["t", "--version-as-of", "1", "--timestamp-as-of", "2025-03-30"]);
    assert!(error.contains("'--version-as-of <N>' cannot be used with '--timestamp-as-of <TIME>'"), "{error}");
    let error = version_of(root.path(), &["t", "--version-as-of", "2025-03-30"]);
    assert!(error.contains("'2025-03-30' is no version") && error.contains("--timestamp-as-of"), "{error}");
    let error = version_of(root.path(), &["t", "--time-zone", "Mars"]);
    assert!(error.contains("'Mars' is no time zone"), "{error}");
    let error = version_of(root.path(), &["t@v1", "--version-as-of", "1"]);
    assert!(
        error.contains("t@v1: the table's name says what version is meant, and --version-as-of says it again"),
        "{error}"
    );
    assert_eq!(version_of(root.path(), &["t", "--version-as-of", " 1 "]), "v1");
    let error = version_of(root.path(), &["t", "--version-as-of", "3"]);
    assert!(error.contains("version 3 does not exist; the newest version is 2"), "{error}");
}

#[test]
fn a_version_or_a_time_behind_the_name_is_taken_unless_a_folder_has_that_name() {
    let root = table();
    assert_eq!(version_of(root.path(), &["t@v1"]), "v1");
    assert_eq!(version_of(root.path(), &["t@20250330003000000"]), "v1");
    assert_eq!(version_of(root.path(), &["t@20250331003000000", "--time-zone", "Europe/Berlin"]), "v2");
    assert!(version_of(root.path(), &["t@20250330"]).contains("'20250330' is not seventeen digits"));
    assert!(version_of(root.path(), &["t@v9"]).contains("the newest version is 2"));
    assert!(version_of(root.path(), &["u@v1"]).contains("'u' is no folder"));
    let history = contend_in(root.path(), &["history", "t@v1", "--json"]).json();
    assert_eq!(history["history"].as_array().unwrap().len(), 2);
    commit(root.path(), "t@v1", 0, T1, &format!("{PROTOCOL}\n{}\n", metadata("", "")));
    assert_eq!(version_of(root.path(), &["t@v1"]), "v0");
}

/// Report 16; the checkpoint is never opened.
#[test]
fn a_cleaned_log_has_a_history_that_says_what_is_gone() {
    let root = TempDir::new().unwrap();
    for version in 3..=12 {
        commit(root.path(), "t", version, T1 + version * 1000, "");
    }
    put(&root.path().join(format!("t/_delta_log/{:020}.checkpoint.parquet", 10)), "PAR1", T1);
    let ran = contend_in(root.path(), &["history", "t", "--limit", "2"]);
    assert_eq!(
        ran.stdout,
        "version  timestamp                 operation\n     12  2025-03-30T00:30:12.000Z  unknown\n     11  2025-03-30T00:30:11.000Z  unknown\n"
    );
    let ran = contend_in(root.path(), &["history", "t"]);
    assert!(
        ran.stdout.ends_with("(not to be rebuilt, as older commits or checkpoints are gone: 3-9)\n"),
        "{}",
        ran.stdout
    );
    let json = contend_in(root.path(), &["history", "t", "--json", "--time-zone", "Europe/Berlin"]).json();
    let rows = json["history"].as_array().unwrap();
    let marks: Vec<_> =
        rows.iter().map(|row| (row["version"].as_u64().unwrap(), row["rebuildable"].as_bool().unwrap())).collect();
    assert_eq!(marks, (3..=12).rev().map(|version| (version, version >= 10)).collect::<Vec<_>>());
    assert_eq!(rows[0]["timestampText"], "2025-03-30T01:30:12.000+01:00");
    assert_eq!(contend_in(root.path(), &["history", "t", "--limit", "0", "--json"]).json()["history"], json!([]));
    let error = version_of(root.path(), &["t", "--timestamp-as-of", "2025-03-30T00:30:05.500Z"]);
    assert!(error.contains("falls into version 5") && error.contains("versions 10 to 12 can"), "{error}");
    let ran = contend_in(root.path(), &["history", "t", "--version-as-of", "2"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(
        ran.stderr.contains("up to version 2 were cleaned up") && ran.stderr.contains("begin at version 3"),
        "{}",
        ran.stderr
    );
}

/// What was stepped over is said, whichever command reads the log.
#[test]
fn a_damaged_checkpoint_is_named_by_every_command_that_steps_over_it() {
    let root = table();
    put(&root.path().join(format!("t/_delta_log/{:020}.checkpoint.parquet", 1)), "PAR1", T1);
    for command in ["files", "show", "read", "digest"] {
        let ran = contend_in(root.path(), &[command, "t"]);
        let warned = ran
            .stderr
            .lines()
            .filter(|line| line.starts_with("warning: the checkpoint '") && line.contains("was not used"));
        assert_eq!(warned.count(), 1, "{command}: {}", ran.stderr);
    }
}

#[test]
fn the_history_shows_parameters_without_their_quotes() {
    let root = table();
    let ran = contend_in(root.path(), &["history", "t", "--width", "200", "--limit", "1"]);
    assert!(ran.stdout.contains("mode: Append, predicate: [(id#1L = 2)]"), "{}", ran.stdout);
    for width in ["20", "60", "80"] {
        let ran = contend_in(root.path(), &["history", "t", "--width", width]);
        assert_eq!(ran.stdout.lines().filter(|line| !line.starts_with('(')).count(), 4, "{}", ran.stdout);
    }
}

#[test]
fn files_of_partitions_are_chosen_by_a_predicate() {
    let root = table();
    let paths = |predicate: &str| -> Vec<String> {
        let json = contend_in(root.path(), &["files", "t", "--json", "--partition", predicate]).json();
        json["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(paths("p = 'x'"), ["f0"]);
    assert_eq!(paths("P <> 'x'"), ["f1"]);
    assert_eq!(paths("p IS NULL"), ["f2"]);
    assert_eq!(paths("p IN ('x', 'y')"), ["f0", "f1"]);
    assert!(paths("p = ''").is_empty());
    let error = |predicate: &str| error_of(&contend_in(root.path(), &["files", "t", "--partition", predicate]));
    assert_eq!(
        error("p = 'x' AND id > 1"),
        "error: table at 't'\n  because: the predicate 'p = 'x' AND id > 1' names the column 'id', which is not a partition column: those are p\n"
    );
    assert!(error("q = 1").contains("unknown column `q`"));
    assert!(error("p =").contains("expected"));
}

#[test]
fn a_table_is_shown_as_a_whole() {
    let root = table();
    let ran = contend_in(root.path(), &["show", "t"]);
    expect![[r#"
        table             t
        version           2, committed 2025-03-30T22:30:00.000Z
        id                i
        created           1970-01-01T00:00:00.000Z
        protocol          reader 1, writer 2
        implied features  appendOnly, invariants
        partitioned by    p
        size              3 live files, 300 bytes, at least 7 rows, as not every file
                          says how many it has
        versions          0-2 can be rebuilt; 3 commits in the log
        earliest          version 0, 2025-03-29T00:30:00.000Z
        newest            version 2, 2025-03-30T22:30:00.000Z
        columns
          id: long not null -- the key
          p: string
          a: array of struct not null
            x: integer
    "#]]
    .assert_eq(&ran.stdout);
    let more = concat!(
        r#"{"txn":{"appId":"app","version":7,"lastUpdated":1000}}"#,
        "\n",
        r#"{"domainMetadata":{"domain":"d","configuration":"{}","removed":false}}"#,
        "\n",
    );
    let features =
        r#"{"protocol":{"minReaderVersion":1,"minWriterVersion":7,"writerFeatures":["appendOnly","domainMetadata"]}}"#;
    let metadata = metadata(r#""p""#, r#""delta.appendOnly":"true""#);
    commit(root.path(), "t", 3, T2 + 1, &format!("{features}\n{metadata}\n{more}"));
    let json = contend_in(root.path(), &["show", "t", "--json"]).json();
    assert_eq!(json["protocol"]["features"], json!(["appendOnly", "domainMetadata"]));
    assert_eq!(json["protocol"]["implied_features"], json!([]));
    assert_eq!(json["properties"], json!({ "delta.appendOnly": "true" }));
    assert_eq!(json["transactions"], json!([{ "app_id": "app", "version": 7, "last_updated": 1000 }]));
    assert_eq!(json["domains"], json!([{ "domain": "d", "configuration": "{}" }]));
    assert_eq!((&json["rows"], &json["rows_exact"], &json["commits"]), (&json!(7), &json!(false), &json!(4)));
    assert_eq!(json["newest"]["at"]["text"], "2025-03-30T22:30:00.001Z");
    assert_eq!(json["columns"][0]["metadata"]["comment"], "the key");
    let json = contend_in(root.path(), &["show", "t@v1", "--json"]).json();
    assert_eq!(
        (&json["version"], &json["rows_exact"], &json["newest"]["version"]),
        (&json!(1), &json!(true), &json!(3))
    );
    let text = contend_in(root.path(), &["show", "t", "--width", "30"]).stdout;
    assert!(text.contains("properties\n  delta.appendOnly = true\n"), "{text}");
    assert!(text.contains("application transactions\n  app at 7, updated\n  1970-01-01T00:00:01.000Z\n"), "{text}");
    assert!(text.contains("domains\n  d = {}\n"), "{text}");
}

/// A table of Delta Spark on which in-commit timestamps were enabled in version 3.
#[test]
fn in_commit_timestamps_that_were_enabled_in_between_are_followed() {
    let root = TempDir::new().unwrap();
    let log = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tables/sp-ict-mid/_delta_log");
    // The files of the commits before were written when the writer's clock said so; those after have been copied since.
    let times = [1_796_002_674_207, 1_796_002_681_877, 1_796_002_682_671, 1, 1, 1, 1];
    for (version, ms) in (0..).zip(times) {
        commit(root.path(), "t", version, ms, &fs::read_to_string(log.join(format!("{version:020}.json"))).unwrap());
    }
    let json = contend_in(root.path(), &["history", "t", "--json"]).json();
    let found: Vec<i64> =
        json["history"].as_array().unwrap().iter().map(|row| row["timestamp"].as_i64().unwrap()).collect();
    let mut own = [1_796_002_683_051, 1_796_002_691_678, 1_796_002_692_361, 1_796_002_695_219];
    own.reverse();
    assert_eq!(found, [own.as_slice(), &[1_796_002_682_671, 1_796_002_681_877, 1_796_002_674_207]].concat());
    for (version, row) in (0..=6u64).rev().zip(json["history"].as_array().unwrap()) {
        let text = row["timestampText"].as_str().unwrap();
        assert_eq!(version_of(root.path(), &["t", "--timestamp-as-of", text]), format!("v{version}"), "{text}");
    }
}

/// The times that the history shows lead back to the versions, though several commits may fall into one millisecond.
#[test]
fn every_command_goes_to_the_version_of_a_time() {
    let root = TempDir::new().unwrap();
    let ran = contend_in(root.path(), &["run", "@single-writer", "--store", "s"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let history = contend_in(root.path(), &["history", "s/logs", "--json", "--time-zone", "Asia/Kathmandu"]).json();
    let rows = history["history"].as_array().unwrap();
    assert_eq!(rows.len(), 6);
    for row in rows {
        let (version, time) = (row["version"].to_string(), row["timestampText"].as_str().unwrap());
        for command in ["read", "digest", "files", "show", "history"] {
            let by = |flag: &str, value: &str| contend_in(root.path(), &[command, "s/logs", "--json", flag, value]);
            let by_version = by("--version-as-of", &version);
            assert_eq!(by_version.code, 0, "{}", by_version.stderr);
            assert_eq!(by("--timestamp-as-of", time), by_version, "{command} at {time}");
            assert_eq!(contend_in(root.path(), &[command, &format!("s/logs@v{version}"), "--json"]), by_version);
        }
    }
}
