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
            "the log cannot be read up to version 5: commits 3 to 4 are missing; versions are contiguous, so restore their files from a copy of the table; what can be rebuilt is versions 0 to 2"
        ],
    );
    let base = load(LoadSnapshot::at(Version(2)), &store).0.unwrap().unwrap();
    check_error(
        LoadSnapshot::newer_than(base),
        &store,
        &expect![
            "the log cannot be read up to version 5: commits 3 to 4 are missing; versions are contiguous, so restore their files from a copy of the table; what can be rebuilt is version 2"
        ],
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
        r#"{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["neverHeardOfIt"],"#,
        r#""writerFeatures":["neverHeardOfIt"]}}"#,
    );
    let metadata = concat!(
        r#"{"metaData":{"id":"i","schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"v\",\"type\":\"unheard\",\"nullable\":true,"#,
        r#"\"metadata\":{}}]}","partitionColumns":[]}}"#,
    );
    let store = log(&[BASE, &add("a"), protocol]);
    let base = load(LoadSnapshot::at(Version(1)), &store).0.unwrap().unwrap();
    let expected = error_text(LoadSnapshot::latest(), &store);
    assert_eq!(error_text(LoadSnapshot::newer_than(base), &store), expected);
    assert_eq!(error_text(LoadSnapshot::latest(), &log(&[&format!("{protocol}\n{metadata}")])), expected);
    expect!["the table cannot be read: it needs the reader features neverHeardOfIt, which this build of contend does not implement"].assert_eq(&expected);
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

/// Commits up to version 24; version n has files 1 to n, and commit 7 is empty of files but sets a transaction.
fn long_log() -> ObjectMap {
    let commit = |version: u64| match version {
        0 => BASE.to_owned(),
        7 => r#"{"txn":{"appId":"a","version":7}}"#.to_owned(),
        _ => add(&format!("f{version:02}")),
    };
    log(&(0..=24).map(commit).collect::<Vec<_>>().iter().map(String::as_str).collect::<Vec<_>>())
}

/// The v2 checkpoint of a version, as JSON lines.
fn checkpoint_path_of(version: u64) -> String {
    format!("_delta_log/{version:020}.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json")
}

fn checkpoint_of(version: u64) -> String {
    let mut text = format!("{{\"checkpointMetadata\":{{\"version\":{version}}}}}\n{BASE}\n");
    if version >= 7 {
        text.push_str(r#"{"txn":{"appId":"a","version":7}}"#);
    }
    for version in (1..=version).filter(|version| *version != 7) {
        text = format!("{text}\n{}", add(&format!("f{version:02}")));
    }
    text
}

fn replace(store: &mut ObjectMap, path: &str, text: &str) {
    store.answer(&Request::Put { path: path.to_owned(), bytes: text.as_bytes().into() }, 0);
}

fn delete(store: &mut ObjectMap, path: &str) {
    let answer = store.answer(&Request::Delete { path: path.to_owned() }, 0);
    assert_eq!(answer, Answer::Write(WriteAnswer::Happened));
}

/// Checkpoints at 10 and 20.
fn checkpointed() -> ObjectMap {
    let mut store = long_log();
    for version in [10, 20] {
        put(&mut store, &checkpoint_path_of(version), &checkpoint_of(version));
    }
    store
}

/// Loads, and tells what was odd and what was asked.
fn noted(mut machine: LoadSnapshot, store: &ObjectMap) -> (Arc<Snapshot>, Vec<String>, Vec<Request>) {
    let mut store = store.clone();
    let mut requests = Vec::new();
    let snapshot = drive(&mut machine, |request| {
        requests.push(request.clone());
        Response { now_ms: 0, answer: store.answer(&request, 0) }
    });
    let notes = machine.notes().iter().map(ToString::to_string).collect();
    (snapshot.unwrap().unwrap(), notes, requests)
}

#[test]
fn a_checkpoint_is_read_with_the_commits_after_it_at_once() {
    let (snapshot, notes, requests) = noted(LoadSnapshot::latest(), &checkpointed());
    assert_eq!(snapshot, load(LoadSnapshot::latest(), &long_log()).0.unwrap().unwrap());
    assert_eq!((snapshot.version, snapshot.files.len(), snapshot.transaction("a")), (Version(24), 23, Some(7)));
    let mut paths = vec![checkpoint_path_of(20)];
    paths.extend(commit_paths(21..25));
    assert_eq!(requests, [Request::List { after: LOG_FOLDER.to_owned() }, Request::GetMany { paths }]);
    assert_eq!(notes, [""; 0]);
}

#[test]
fn every_version_is_the_same_with_checkpoints_and_without() {
    for version in 0..=24 {
        let at = |store: &ObjectMap| load(LoadSnapshot::at(Version(version)), store).0.unwrap().unwrap();
        assert_eq!(at(&checkpointed()), at(&long_log()), "{version}");
    }
}

#[test]
fn the_hint_saves_listing_what_came_before() {
    let mut store = checkpointed();
    put(&mut store, LAST_CHECKPOINT, r#"{"version":20,"size":3}"#);
    let (snapshot, notes, requests) = noted(LoadSnapshot::latest().hinted(), &store);
    assert_eq!((snapshot.version, snapshot.files.len()), (Version(24), 23));
    assert_eq!(requests[0], Request::Get { path: LAST_CHECKPOINT.to_owned() });
    assert_eq!(requests[1], Request::List { after: "_delta_log/00000000000000000020".to_owned() });
    assert_eq!((requests.len(), notes), (3, vec![]));
    // A version before the hint does not need what the hint says.
    let (snapshot, _, requests) = noted(LoadSnapshot::at(Version(15)).hinted(), &store);
    assert_eq!((snapshot.version, snapshot.files.len()), (Version(15), 14));
    assert_eq!(requests[1], Request::List { after: LOG_FOLDER.to_owned() });
    // Who has a base needs no hint.
    let (_, _, requests) = noted(LoadSnapshot::newer_than(snapshot).hinted(), &store);
    assert_eq!(requests[0], Request::List { after: commit_path(Version(15)) });
}

/// Report 37: hint, times that the log is listed, and what is said of it. Every one comes to the same snapshot.
#[test]
fn no_hint_leads_astray() {
    let whole = load(LoadSnapshot::latest(), &long_log()).0.unwrap().unwrap();
    for (hint, listings, said) in [
        (r#"{"version":20,"size":3}"#, 1, ""),
        (r#"{"version":10,"size":3}"#, 1, ""),
        (r#"{"version":15,"size":3}"#, 1, ""),
        (r#"{"version":20,"size":3,"more":{"x":[1]}}"#, 1, ""),
        (r#"{"version":20,"size":3}{"ver"#, 1, "is not a JSON object"),
        ("", 1, "is not a JSON object"),
        ("[]", 1, "is not a JSON object"),
        (r#"{"version":-1}"#, 1, "are not negative"),
        (r#"{"version":"20"}"#, 1, "is not a JSON object"),
        // No checkpoint lies between 22 and the end.
        (r#"{"version":22,"size":3}"#, 2, "names version 22"),
        (r#"{"version":99,"size":3}"#, 2, "names version 99"),
        (r#"{"version":9223372036854775807,"size":3}"#, 2, "names version 9223372036854775807"),
    ] {
        let mut store = checkpointed();
        put(&mut store, LAST_CHECKPOINT, hint);
        let (snapshot, notes, requests) = noted(LoadSnapshot::latest().hinted(), &store);
        assert_eq!(snapshot, whole, "{hint}");
        let listed = requests.iter().filter(|request| matches!(request, Request::List { .. })).count();
        assert_eq!(listed, listings, "{hint}");
        match said {
            "" => assert_eq!(notes, [""; 0], "{hint}"),
            said => assert!(notes.len() == 1 && notes[0].contains(said), "{hint}: {notes:?}"),
        }
        assert_eq!(load(LoadSnapshot::latest(), &store).0.unwrap().unwrap(), whole, "{hint}");
    }
    let (snapshot, notes, _) = noted(LoadSnapshot::latest().hinted(), &checkpointed());
    assert_eq!((snapshot, notes), (whole, vec![]));
}

/// Report 37.
#[test]
fn a_damaged_checkpoint_gives_way_to_an_older_one_and_then_to_the_commits() {
    let whole = load(LoadSnapshot::latest(), &long_log()).0.unwrap().unwrap();
    let mut store = checkpointed();
    put(&mut store, LAST_CHECKPOINT, r#"{"version":20,"size":3}"#);
    let cut = &checkpoint_of(20)[..500];
    replace(&mut store, &checkpoint_path_of(20), cut);
    for machine in [LoadSnapshot::latest(), LoadSnapshot::latest().hinted()] {
        let (snapshot, notes, requests) = noted(machine, &store);
        assert_eq!(snapshot, whole);
        assert!(notes.iter().any(|note| note.contains("00000000000000000020.checkpoint")), "{notes:?}");
        let Some(Request::GetMany { paths }) = requests.last() else { panic!("{requests:?}") };
        assert_eq!(paths[0], checkpoint_path_of(10));
    }
    replace(&mut store, &checkpoint_path_of(10), "no JSON");
    let (snapshot, notes, _) = noted(LoadSnapshot::latest().hinted(), &store);
    assert_eq!((snapshot, notes.len()), (whole, 3));
    // Nothing is left that makes up the newest version.
    delete(&mut store, &commit_path(Version(3)));
    check_error(
        LoadSnapshot::latest(),
        &store,
        &expect![[
            r#"the log cannot be read up to version 24: commits 3 to 3 are missing; versions are contiguous, so restore their files from a copy of the table; what can be rebuilt is versions 0 to 2; the checkpoint '_delta_log/00000000000000000010.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json' was not used: line 1: it is not a whole action: expected ident at line 1 column 2; the checkpoint '_delta_log/00000000000000000020.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json' was not used: line 7: it is not a whole action: EOF while parsing a value at line 1 column 88"#
        ]],
    );
    // What does not need it can be read.
    assert_eq!(load(LoadSnapshot::at(Version(2)), &store).0.unwrap().unwrap().files.len(), 2);
}

#[test]
fn a_checkpoint_of_another_version_or_with_a_foreign_sidecar_is_not_used() {
    for (path, said) in [
        (None, "it says that it holds version 19"),
        (Some("../x.parquet"), "nothing outside of the table is read"),
        (Some("s3://other/_delta_log/x.parquet"), "nothing outside of the table is read"),
        (Some("gone.parquet"), "a sidecar is missing"),
        (Some("s3://moved/t/_delta_log/_sidecars/gone.parquet"), "a sidecar is missing"),
    ] {
        let mut store = checkpointed();
        let text = match path {
            None => checkpoint_of(19),
            Some(path) => {
                format!(
                    r#"{}{}{{"sidecar":{{"path":"{path}","sizeInBytes":1,"modificationTime":1}}}}"#,
                    checkpoint_of(20),
                    "\n"
                )
            }
        };
        replace(&mut store, &checkpoint_path_of(20), &text);
        let (snapshot, notes, requests) = noted(LoadSnapshot::latest(), &store);
        assert_eq!((snapshot.version, snapshot.files.len()), (Version(24), 23));
        assert!(notes.len() == 1 && notes[0].contains(said), "{notes:?}");
        let read: Vec<&String> = requests
            .iter()
            .flat_map(|request| match request {
                Request::GetMany { paths } => paths.iter().collect(),
                _ => Vec::new(),
            })
            .collect();
        assert!(read.iter().all(|path| path.starts_with(LOG_FOLDER) && !path.contains("..")), "{read:?}");
        if said == "a sidecar is missing" {
            assert!(read.contains(&&"_delta_log/_sidecars/gone.parquet".to_owned()), "{read:?}");
        }
    }
}

/// Its bytes are whole, so it says what its writer meant, and contradicts the commits: nobody can know which of them is right.
#[test]
fn a_checkpoint_without_protocol_is_an_error() {
    let mut store = long_log();
    put(&mut store, &checkpoint_path_of(20), &add("f"));
    check_error(
        LoadSnapshot::latest(),
        &store,
        &expect![
            "the checkpoint of version 20 has no protocol action; every checkpoint needs one: write it anew, or delete it if every commit up to its version is still there"
        ],
    );
    assert_eq!(load(LoadSnapshot::at(Version(19)), &store).0.unwrap().unwrap().files.len(), 18);
}

#[test]
fn compactions_are_read_instead_of_commits_unless_they_are_damaged() {
    let path = "_delta_log/00000000000000000002.00000000000000000020.compacted.json";
    let lines: Vec<String> = (2..=20).filter(|n| *n != 7).map(|n| add(&format!("f{n:02}"))).collect();
    let text = format!("{}\n{}", r#"{"txn":{"appId":"a","version":7}}"#, lines.join("\n"));
    let whole = load(LoadSnapshot::latest(), &long_log()).0.unwrap().unwrap();
    let mut store = long_log();
    put(&mut store, path, &text);
    let (snapshot, notes, requests) = noted(LoadSnapshot::latest(), &store);
    let Request::GetMany { paths } = &requests[1] else { panic!("{requests:?}") };
    assert_eq!((snapshot, notes.len(), paths.len()), (whole.clone(), 0, 7));
    replace(&mut store, path, &text[..text.len() - 9]);
    let (snapshot, notes, _) = noted(LoadSnapshot::latest(), &store);
    assert_eq!(snapshot, whole);
    assert_eq!(notes, [format!("the compaction '{path}' was not used: line 19 is not a whole action")]);
}

/// Report 34.
#[test]
fn empty_files_are_noted_and_torn_commits_are_errors() {
    let empty = |path: &str| {
        let mut store = checkpointed();
        replace(&mut store, path, "");
        store
    };
    for path in [
        "_delta_log/00000000000000000004.checkpoint.parquet",
        "_delta_log/00000000000000000004.crc",
        "_delta_log/00000000000000000002.00000000000000000004.compacted.json",
    ] {
        let (snapshot, notes, _) = noted(LoadSnapshot::latest(), &empty(path));
        assert_eq!(snapshot.files.len(), 23);
        assert_eq!(notes, [format!("'{path}' is empty and was ignored; it may be deleted")]);
    }
    for version in [22, 24] {
        let (snapshot, notes, _) = noted(LoadSnapshot::latest(), &empty(&commit_path(Version(version))));
        assert_eq!((snapshot.version, snapshot.files.len()), (Version(24), 22));
        assert!(notes[0].starts_with(&format!("commit {version} is empty")), "{notes:?}");
    }
    let tail = format!("{}\n\0\0\0\0", add("f24"));
    for (version, text) in [(23, &add("f23")[..40]), (24, &add("f24")[..40]), (24, tail.as_str())] {
        let mut store = checkpointed();
        replace(&mut store, &commit_path(Version(version)), text);
        let error = error_text(LoadSnapshot::latest(), &store);
        let line = text.lines().count();
        assert!(
            error.starts_with(&format!("commit {version}, line {line}: the line is not a whole action")),
            "{error}"
        );
    }
}

#[test]
fn tombstones_are_kept_for_who_asks() {
    let remove = r#"{"remove":{"path":"f%30%31","deletionTimestamp":5,"dataChange":true}}"#;
    let mut store = checkpointed();
    put(&mut store, &commit_path(Version(25)), remove);
    put(&mut store, &commit_path(Version(26)), &add("f02"));
    assert_eq!(load(LoadSnapshot::latest(), &store).0.unwrap().unwrap().tombstones, None);
    let snapshot = load(LoadSnapshot::latest().with_tombstones(), &store).0.unwrap().unwrap();
    let paths = |snapshot: &Snapshot| -> Vec<String> {
        snapshot.tombstones.as_ref().unwrap().values().map(|remove| remove.path.clone()).collect()
    };
    assert_eq!((paths(&snapshot), snapshot.files.len()), (vec!["f%30%31".to_owned()], 22));
    put(&mut store, &commit_path(Version(27)), &format!("{}\n{}", add("f01"), remove.replace("f%30%31", "f03")));
    let newer = load(LoadSnapshot::newer_than(snapshot), &store).0.unwrap().unwrap();
    assert_eq!(paths(&newer), ["f03"]);
    assert_eq!(newer, load(LoadSnapshot::latest().with_tombstones(), &store).0.unwrap().unwrap());
    // A base without them would leave some out.
    let base = load(LoadSnapshot::at(Version(26)), &store).0.unwrap().unwrap();
    assert_eq!(load(LoadSnapshot::newer_than(base).with_tombstones(), &store).0.unwrap().unwrap(), newer);
}

#[test]
fn a_base_older_than_the_log_gives_way_to_a_checkpoint() {
    let mut store = checkpointed();
    let base = load(LoadSnapshot::at(Version(5)), &store).0.unwrap().unwrap();
    let whole = load(LoadSnapshot::latest(), &store).0.unwrap().unwrap();
    let (snapshot, _, requests) = noted(LoadSnapshot::newer_than(base.clone()), &store);
    assert_eq!((&snapshot, &requests[1]), (&whole, &Request::GetMany { paths: commit_paths(6..25) }));
    for version in 0..15 {
        delete(&mut store, &commit_path(Version(version)));
    }
    assert_eq!(load(LoadSnapshot::newer_than(base), &store).0.unwrap().unwrap(), whole);
}
