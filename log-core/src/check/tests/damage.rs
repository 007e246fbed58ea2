//! What is damaged does not stop the walk.

use expect_test::expect;

use super::{Log, commit};
use crate::{
    check::{CheckError, CheckLog},
    path::{Version, commit_path},
    store::{Answer, Machine, ObjectMap, Request, Response, Step, drive},
};

/// Report 34.
#[test]
fn after_a_torn_commit_the_state_is_unknown() {
    let log = Log::of(&["+a", "+b", "-a", "+c"]).put(&commit_path(Version(2)), &commit("+b")[..40]);
    let checked = log.walk();
    expect![[r#"
        torn-commit 2 00000000000000000002.json: commit 2, line 1: the line is not a whole action; the file is damaged, restore it from a copy of the table: EOF while parsing a string at line 1 column 40
        note unknown-state 3 00000000000000000003.json: from here on nobody can say what the table holds, so rules that compare with it rest to the end of the log
    "#]]
    .assert_eq(&super::show(&checked.findings));
    assert_eq!(checked.newest, None);
}

#[test]
fn what_a_torn_commit_says_in_whole_lines_is_mentioned() {
    let torn = format!("{}\n{{\"add\"", commit("+b"));
    let checked = Log::of(&["+a"]).put(&commit_path(Version(2)), torn).walk();
    assert_eq!(checked.mentioned.files.iter().collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn a_checkpoint_says_again_what_the_table_holds() {
    let checkpoint = format!("{}\n{}\n{}", super::first(), commit("+a +b"), r#"{"checkpointMetadata":{"version":2}}"#);
    let log = Log::of(&["+a", "+b", "-ghost"])
        .put(&commit_path(Version(1)), "{")
        .put("00000000000000000002.checkpoint.01234567-0123-0123-0123-0123456789ab.json", checkpoint);
    log.check(&expect![[r#"
        torn-commit 1 00000000000000000001.json: commit 1, line 1: the line is not a whole action; the file is damaged, restore it from a copy of the table: EOF while parsing an object at line 1 column 1
        remove-matches-nothing 3 00000000000000000003.json: it removes 'ghost', which is not live
    "#]]);
}

#[test]
fn an_empty_commit_is_noted() {
    Log::of(&["+a", "+b"]).put(&commit_path(Version(1)), "").check(&expect![[r#"
        note empty-commit 1 00000000000000000001.json: it is empty: a version without actions; its writer may have died
    "#]]);
}

/// Report 18.
#[test]
fn holes_are_found() {
    Log::of(&["+a", "+b", "+c", "+d"]).without(&commit_path(Version(1))).without(&commit_path(Version(2))).check(
        &expect![[r#"
            gap 1 00000000000000000001.json: commits 1 to 2 are missing, and versions are contiguous; restore the files from a copy of the table
            note unknown-state 3 00000000000000000003.json: from here on nobody can say what the table holds, so rules that compare with it rest to the end of the log
        "#]],
    );
    Log::of(&["+a", "+b"]).without(&commit_path(Version(0))).check(&expect![[r#"
        gap 0 00000000000000000000.json: this commit is missing, and versions are contiguous; restore the files from a copy of the table
        note unknown-state 1 00000000000000000001.json: from here on nobody can say what the table holds, so rules that compare with it rest to the end of the log
    "#]]);
    // A checkpoint of the last version alone does not make those before it readable.
    Log::of(&["+a"])
        .put("00000000000000000003.checkpoint.01234567-0123-0123-0123-0123456789ab.json", super::first())
        .check(&expect![[r#"
            gap 2 00000000000000000002.json: commits 2 to 3 are missing, and versions are contiguous; restore the files from a copy of the table
        "#]]);
}

#[test]
fn a_log_that_was_cleaned_up_begins_with_a_checkpoint() {
    let log = Log::of(&["+a", "+b", "+c"]).without(&commit_path(Version(0))).without(&commit_path(Version(1))).put(
        "00000000000000000002.checkpoint.01234567-0123-0123-0123-0123456789ab.json",
        format!("{}\n{}", super::first(), commit("+a +b")),
    );
    let checked = log.walk();
    expect![""].assert_eq(&super::show(&checked.findings));
    assert_eq!(checked.newest.unwrap().files.len(), 3);
}

/// Report 35.
#[test]
fn names_that_are_none_of_a_log_are_noted() {
    Log::of(&["+a"])
        .put("00000000000000000002.json.tmp", "x")
        .put("2.json", "x")
        .put("00000000000000000003.uuid.json", "x")
        .put(".00000000000000000000.json.crc", "x")
        .put(".s3-optimization-0", "")
        .put("_last_vacuum_info", "{}")
        .put("00000000000000000009.crc", "{}")
        .put("00000000000000000001.00000000000000000009.compacted.json", "{}")
        .put("00000000000000000001.checkpoint.parquet", "")
        .put("00000000000000000001.checkpoint.0000000001.0000000002.parquet", "x")
        .put("_sidecars/a.parquet", "x")
        .check(&expect![[r#"
            note stray-file - 00000000000000000001.00000000000000000009.compacted.json: it reaches up to a version that was never made
            note empty-file - 00000000000000000001.checkpoint.parquet: '_delta_log/00000000000000000001.checkpoint.parquet' is empty and was ignored; it may be deleted
            note stray-file - 00000000000000000002.json.tmp: its name is none of a log's, so readers pass over it; most likely a writer left it behind
            note stray-file - 00000000000000000003.uuid.json: its name is none of a log's, so readers pass over it; most likely a writer left it behind
            note stray-file - 00000000000000000009.crc: it is the checksum of a version that was never made
            note stray-file - 2.json: its name is none of a log's, so readers pass over it; most likely a writer left it behind
            note stray-file - _sidecars/a.parquet: no checkpoint that is there names this sidecar
            note checkpoint-incomplete 1 00000000000000000001.checkpoint.*.0000000002.parquet: the checkpoint of version 1 in 2 parts was ignored: it has only 1 of them
            checksum 9 00000000000000000009.crc: it has none of the fields that it must have: tableSizeBytes, numFiles, numMetadata, numProtocol, metadata, protocol; the file may be deleted
        "#]]);
}

/// Report 37.
#[test]
fn a_hint_that_does_not_help_is_noted() {
    for (hint, expected) in [
        (
            "",
            expect![[r#"
            note last-checkpoint - _last_checkpoint: it is not a JSON object with a version: EOF while parsing a value at line 1 column 0; readers find the checkpoints without it
        "#]],
        ),
        (
            "[]",
            expect![[r#"
            note last-checkpoint - _last_checkpoint: it is not a JSON object with a version: invalid type: sequence, expected a map at line 1 column 0; readers find the checkpoints without it
        "#]],
        ),
        (
            r#"{"version":-1}"#,
            expect![[r#"
            note last-checkpoint - _last_checkpoint: its version is -1, and versions are not negative; readers find the checkpoints without it
        "#]],
        ),
        (
            r#"{"version":99}"#,
            expect![[r#"
            note last-checkpoint - _last_checkpoint: it names version 99, which has no whole checkpoint; readers find the checkpoints without it
        "#]],
        ),
        (
            r#"{"version":1}"#,
            expect![[r#"
            note last-checkpoint - _last_checkpoint: it names the checkpoint of version 1, and that of version 2 is newer; readers find the checkpoints without it
        "#]],
        ),
        (r#"{"version":2,"size":3}"#, expect![[""]]),
    ] {
        let checkpoint = |version: u64| {
            (
                format!("{version:020}.checkpoint.01234567-0123-0123-0123-0123456789ab.json"),
                format!("{}\n{}", super::first(), if version == 1 { commit("+a") } else { commit("+a +b") }),
            )
        };
        let (one, two) = (checkpoint(1), checkpoint(2));
        Log::of(&["+a", "+b"]).put(&one.0, &one.1).put(&two.0, &two.1).put("_last_checkpoint", hint).check(&expected);
    }
}

/// A store that cannot give some files.
#[test]
fn a_file_that_cannot_be_read_is_a_finding() {
    let mut map = ObjectMap::default();
    for (version, text) in [super::first(), commit("+a"), commit("+b")].iter().enumerate() {
        let path = commit_path(Version(version as u64));
        map.answer(&Request::Put { path, bytes: text.as_bytes().into() }, 0);
    }
    let bad = commit_path(Version(1));
    let answer = |request: Request| {
        let answer = match &request {
            Request::GetMany { paths } if paths.contains(&bad) => Answer::Unavailable { cause: "no permission".into() },
            request => map.answer(request, 0),
        };
        Response { now_ms: 0, answer }
    };
    let checked = drive(CheckLog::new(), answer).unwrap().unwrap();
    expect![[r#"
        unreadable-file 1 00000000000000000001.json: no permission
        note unknown-state 2 00000000000000000002.json: from here on nobody can say what the table holds, so rules that compare with it rest to the end of the log
    "#]]
    .assert_eq(&super::show(&checked.findings));
}

#[test]
fn a_log_that_cannot_be_listed_is_an_error() {
    let unavailable = |_| Response { now_ms: 0, answer: Answer::Unavailable { cause: "no disk".into() } };
    let error = drive(CheckLog::new(), unavailable).unwrap_err();
    assert_eq!(error, CheckError::List { cause: "no disk".into() });
}

#[test]
fn a_folder_without_versions_is_no_table() {
    let mut map = ObjectMap::default();
    map.answer(&Request::Put { path: "_delta_log/tmp123".into(), bytes: b"x".as_slice().into() }, 0);
    let answer = |request: Request| Response { now_ms: 0, answer: map.answer(&request, 0) };
    assert_eq!(drive(CheckLog::new(), answer), Ok(None));
}

#[test]
fn progress_counts_to_its_end() {
    let mut map = ObjectMap::default();
    map.answer(&Request::Put { path: commit_path(Version(0)), bytes: super::first().as_bytes().into() }, 0);
    let mut walk = CheckLog::new();
    let mut request = walk.start();
    let mut seen = vec![walk.progress()];
    while let Step::Request(next) = walk.advance(Response { now_ms: 0, answer: map.answer(&request, 0) }) {
        request = next;
        seen.push(walk.progress());
    }
    assert_eq!(seen, [(0, 0), (1, 1), (1, 1)]);
}
