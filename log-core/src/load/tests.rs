use std::error::Error;

use expect_test::{Expect, expect};

use super::*;
use crate::store::{Bytes, ObjectMap, WriteAnswer, drive};

const BASE: &str = concat!(
    r#"{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}"#,
    "\n",
    r#"{"metaData":{"id":"i","schemaString":"{\"type\":\"struct\",\"fields\":[]}","partitionColumns":[]}}"#,
);

fn add(path: &str) -> String {
    format!(r#"{{"add":{{"path":"{path}","partitionValues":{{}},"size":1,"modificationTime":1,"dataChange":true}}}}"#)
}

fn put(store: &mut ObjectMap, path: &str, text: &str) {
    let bytes: Bytes = text.as_bytes().into();
    let answer = store.answer(&Request::PutIfAbsent { path: path.to_owned(), bytes }, 0);
    assert_eq!(answer, Answer::Write(WriteAnswer::Happened));
}

/// A log of these commits.
fn log(texts: &[&str]) -> ObjectMap {
    let mut store = ObjectMap::default();
    for (version, text) in texts.iter().enumerate() {
        put(&mut store, &commit_path(Version(version as u64)), text);
    }
    store
}

/// A table of three versions; version n has n files.
fn table() -> ObjectMap {
    log(&[BASE, &add("a"), &add("b")])
}

/// Loads, and tells what was asked.
fn load(machine: LoadSnapshot, store: &ObjectMap) -> (Result<Option<Arc<Snapshot>>, LoadError>, Vec<Request>) {
    let mut store = store.clone();
    let mut requests = Vec::new();
    let result = drive(machine, |request| {
        requests.push(request.clone());
        Response { now_ms: 0, answer: store.answer(&request, 0) }
    });
    (result, requests)
}

fn files(snapshot: &Snapshot) -> Vec<&str> {
    snapshot.adds().map(|add| &*add.path).collect()
}

fn commit_paths(versions: impl IntoIterator<Item = u64>) -> Vec<String> {
    versions.into_iter().map(|version| commit_path(Version(version))).collect()
}

#[test]
fn the_newest_version_is_one_listing_and_one_read_of_all_commits() {
    let (result, requests) = load(LoadSnapshot::latest(), &table());
    let snapshot = result.unwrap().unwrap();
    assert_eq!((snapshot.version, files(&snapshot)), (Version(2), vec!["a", "b"]));
    assert_eq!(
        requests,
        [Request::List { after: "_delta_log/".to_owned() }, Request::GetMany { paths: commit_paths(0..3) }]
    );
}

#[test]
fn a_given_version_leaves_out_what_came_later() {
    let (result, requests) = load(LoadSnapshot::at(Version(1)), &table());
    let snapshot = result.unwrap().unwrap();
    assert_eq!((snapshot.version, files(&snapshot)), (Version(1), vec!["a"]));
    assert_eq!(requests[1..], [Request::GetMany { paths: commit_paths(0..2) }]);
}

#[test]
fn a_base_is_continued_with_the_newer_commits_only() {
    let store = table();
    let base = load(LoadSnapshot::at(Version(0)), &store).0.unwrap().unwrap();
    let (result, requests) = load(LoadSnapshot::newer_than(base), &store);
    assert_eq!(result.unwrap(), load(LoadSnapshot::latest(), &store).0.unwrap());
    assert_eq!(
        requests,
        [Request::List { after: commit_path(Version(0)) }, Request::GetMany { paths: commit_paths(1..3) }]
    );
}

#[test]
fn a_base_with_nothing_newer_is_the_newest_version() {
    let store = table();
    let base = load(LoadSnapshot::latest(), &store).0.unwrap().unwrap();
    let (result, requests) = load(LoadSnapshot::newer_than(base.clone()), &store);
    assert!(Arc::ptr_eq(&result.unwrap().unwrap(), &base));
    assert_eq!(requests.len(), 1);
}

#[test]
fn a_folder_without_commits_is_no_table() {
    let mut store = ObjectMap::default();
    assert_eq!(load(LoadSnapshot::latest(), &store).0.unwrap(), None);
    put(&mut store, "_delta_log/_last_checkpoint", "{}");
    put(&mut store, "_delta_log/00000000000000000000.json.tmp", "x");
    put(&mut store, "part-0.parquet", "x");
    assert_eq!(load(LoadSnapshot::latest(), &store).0.unwrap(), None);
}

/// Report 34: the version of an empty commit counts.
#[test]
fn an_empty_commit_is_a_version_without_actions() {
    let snapshot = load(LoadSnapshot::latest(), &log(&[BASE, &add("a"), ""])).0.unwrap().unwrap();
    assert_eq!((snapshot.version, files(&snapshot)), (Version(2), vec!["a"]));
}

/// The error and its sources, one a line.
#[track_caller]
fn error_text(machine: LoadSnapshot, store: &ObjectMap) -> String {
    let error = load(machine, store).0.unwrap_err();
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(&format!("\n{error}"));
        source = error.source();
    }
    text
}

#[track_caller]
fn check_error(machine: LoadSnapshot, store: &ObjectMap, expected: &Expect) {
    expected.assert_eq(&error_text(machine, store));
}

#[test]
fn a_log_with_a_hole_or_without_the_version_is_an_error() {
    let mut store = table();
    check_error(LoadSnapshot::at(Version(7)), &store, &expect!["version 7 does not exist; the newest version is 2"]);
    put(&mut store, &commit_path(Version(5)), "");
    check_error(
        LoadSnapshot::latest(),
        &store,
        &expect![
            "the log cannot be read up to version 5: commits 3 to 4 are missing; versions are contiguous, so restore their files from a copy of the table"
        ],
    );
    let base = load(LoadSnapshot::at(Version(2)), &store).0.unwrap().unwrap();
    check_error(
        LoadSnapshot::newer_than(base),
        &store,
        &expect![
            "the log cannot be read up to version 5: commits 3 to 4 are missing; versions are contiguous, so restore their files from a copy of the table"
        ],
    );
    let mut store = ObjectMap::default();
    put(&mut store, "_delta_log/00000000000000000004.checkpoint.parquet", "x");
    check_error(
        LoadSnapshot::latest(),
        &store,
        &expect!["commits before the checkpoint of version 4 are gone, and this build of contend reads no checkpoints"],
    );
}

/// Report 34.
#[test]
fn a_torn_commit_is_an_error_with_version_and_line() {
    let torn = format!("{}\n{}", add("x"), &add("y")[..30]);
    check_error(
        LoadSnapshot::latest(),
        &log(&[BASE, &add("a"), &torn, &add("b")]),
        &expect![[r#"
        commit 2, line 2: the line is not a whole action; the file is damaged, restore it from a copy of the table
        EOF while parsing a string at line 1 column 30"#]],
    );
}

#[test]
fn a_first_commit_without_protocol_is_an_error() {
    check_error(
        LoadSnapshot::latest(),
        &log(&[&add("a")]),
        &expect![
            "commit 0 has no protocol action, and no commit before it has one; every table needs one in its first commit"
        ],
    );
}

/// Report 21. The feature is named even when its table makes no sense to us.
#[test]
fn an_unsupported_reader_feature_is_named() {
    let protocol = concat!(
        r#"{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["variantType"],"#,
        r#""writerFeatures":["variantType"]}}"#,
    );
    let metadata = concat!(
        r#"{"metaData":{"id":"i","schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"v\",\"type\":\"variant\",\"nullable\":true,"#,
        r#"\"metadata\":{}}]}","partitionColumns":[]}}"#,
    );
    let store = log(&[BASE, &add("a"), protocol]);
    let base = load(LoadSnapshot::at(Version(1)), &store).0.unwrap().unwrap();
    let expected = error_text(LoadSnapshot::latest(), &store);
    assert_eq!(error_text(LoadSnapshot::newer_than(base), &store), expected);
    assert_eq!(error_text(LoadSnapshot::latest(), &log(&[&format!("{protocol}\n{metadata}")])), expected);
    expect!["the table cannot be read: it needs the reader features variantType, which this build of contend does not implement"].assert_eq(&expected);
}

/// Answers one request after the other.
fn scripted(answers: Vec<Answer>) -> Result<Option<Arc<Snapshot>>, LoadError> {
    let mut answers = answers.into_iter();
    drive(LoadSnapshot::latest(), |_| Response { now_ms: 0, answer: answers.next().expect("an answer is left") })
}

fn listed() -> Answer {
    table().answer(&Request::List { after: LOG_FOLDER.to_owned() }, 0)
}

#[test]
fn a_commit_that_was_listed_and_is_gone_is_an_error() {
    let contents = vec![Some(BASE.as_bytes().into()), None, Some(add("b").as_bytes().into())];
    let error = scripted(vec![listed(), Answer::Contents(contents)]).unwrap_err();
    expect!["commit _delta_log/00000000000000000001.json was listed, but could not be read: it was deleted meanwhile; try again"].assert_eq(&error.to_string());
}

#[test]
fn a_store_that_cannot_answer_is_an_error_and_not_an_empty_table() {
    let unavailable = || Answer::Unavailable { cause: "503 slow down".to_owned() };
    for answers in [vec![unavailable()], vec![listed(), unavailable()]] {
        let error = scripted(answers).unwrap_err();
        assert_eq!(error.to_string(), "the store could not answer: 503 slow down");
    }
}
