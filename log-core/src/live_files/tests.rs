use std::convert::Infallible;

use super::*;
use crate::{
    commit::Commit,
    load::LoadSnapshot,
    path::commit_path,
    store::{ObjectMap, drive},
};

const PROTOCOL: &str = r#"{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}"#;
const METADATA: &str = r#"{"metaData":{"id":"m","partitionColumns":[],"configuration":{}}}"#;

/// Keeps a text for each file, and stops where it is told to.
#[derive(Debug, Default)]
struct Texts {
    files: Vec<String>,
    stop_after: Option<usize>,
    restarts: usize,
}

impl LiveFileVisitor for Texts {
    type Error = &'static str;

    fn restart(&mut self) {
        self.files.clear();
        self.restarts += 1;
    }

    fn table(&mut self, _: &Arc<TableDescription>) -> Result<(), &'static str> {
        Ok(())
    }

    fn file(&mut self, file: &LiveFile<'_>) -> Result<(), &'static str> {
        let deleted = file.deletion_vector.map_or(String::new(), |vector| format!("-{}", vector.unique_id()));
        self.files.push(format!("{}{deleted} {} {}", file.path, file.size, file.stats.unwrap_or("none")));
        match self.stop_after == Some(self.files.len()) {
            true => Err("enough"),
            false => Ok(()),
        }
    }
}

fn add(path: &str, more: &str) -> String {
    format!(
        r#"{{"add":{{"path":"{path}","partitionValues":{{}},"size":1,"modificationTime":0,"dataChange":true{more}}}}}"#
    )
}

fn remove(path: &str) -> String {
    format!(r#"{{"remove":{{"path":"{path}","dataChange":true}}}}"#)
}

/// A store in which commits of these lines follow the one that makes the table.
fn store(commits: &[&[String]]) -> ObjectMap {
    let mut store = ObjectMap::default();
    let first: &[String] = &[PROTOCOL.to_owned(), METADATA.to_owned()];
    for (version, lines) in std::iter::once(&first).chain(commits).enumerate() {
        put(&mut store, commit_path(Version(version as u64)), lines.join("\n").as_bytes());
    }
    store
}

fn put(store: &mut ObjectMap, path: String, bytes: &[u8]) {
    store.answer(&Request::Put { path, bytes: bytes.into() }, 0);
}

fn read(mut store: ObjectMap, texts: Texts) -> Result<Vec<String>, LiveFilesError<&'static str>> {
    let mut machine = ReadLiveFiles::new(None, texts);
    drive(&mut machine, |request| Response { now_ms: 0, answer: store.answer(&request, 0) })?;
    let mut files = machine.into_visitor().files;
    files.sort();
    Ok(files)
}

#[track_caller]
fn check(commits: &[&[String]], expected: &[&str]) {
    let store = store(commits);
    assert_eq!(read(store.clone(), Texts::default()).unwrap(), expected);
    // The same in the words of a snapshot.
    let mut objects = store;
    let snapshot = drive(LoadSnapshot::latest(), |request| Response { now_ms: 0, answer: objects.answer(&request, 0) });
    assert_eq!(snapshot.unwrap().unwrap().files.len(), expected.len());
}

#[test]
fn the_newest_action_about_a_file_counts() {
    check(&[&[add("a", "")], &[remove("a")]], &[]);
    check(&[&[add("a", "")], &[remove("a")], &[add("a", "")]], &["a 1 none"]);
    check(&[&[add("a", "")], &[add("a", r#","stats":"{}""#)]], &["a 1 {}"]);
    check(&[&[add("a", r#","stats":"1""#), add("a", r#","stats":"2""#)]], &["a 1 2"]);
}

#[test]
fn a_remove_of_the_same_commit_does_not_hide_an_add() {
    check(&[&[add("a", "")], &[remove("a"), add("a", r#","stats":"n""#)]], &["a 1 n"]);
    check(&[&[add("a", "")], &[add("a", r#","stats":"n""#), remove("a")]], &["a 1 n"]);
}

#[test]
fn two_spellings_are_one_file_and_two_deletion_vectors_are_two() {
    check(&[&[add("a%20b", "")], &[remove("a b")]], &[]);
    let vector = |id: &str| {
        format!(r#","deletionVector":{{"storageType":"u","pathOrInlineDv":"{id}","sizeInBytes":1,"cardinality":1}}"#)
    };
    check(&[&[add("a", &vector("x"))], &[remove("a")]], &["a-ux 1 none"]);
    check(&[&[add("a", "")], &[remove("a"), add("a", &vector("x"))]], &["a-ux 1 none"]);
}

#[test]
fn statistics_are_unescaped_and_other_values_are_none() {
    for (json, text) in [
        (r#""{\"numRecords\":1}""#, "{\"numRecords\":1}"),
        (r#""plain""#, "plain"),
        (r#""\\\/\b\f\n\r\t\"end""#, "\\/\u{8}\u{c}\n\r\t\"end"),
        (r#""\u00e9\ud834\udd1e\n é""#, "é𝄞\n é"),
        (r#""\\u00e9 é \\""#, "\\u00e9 é \\"),
        (r#""""#, ""),
        ("null", "none"),
        (r#"{"numRecords":1}"#, "none"),
        ("17", "none"),
    ] {
        check(&[&[add("a", &format!(r#","stats":{json}"#))]], &[&format!("a 1 {text}")]);
    }
}

#[test]
fn a_line_that_is_no_action_is_named_as_a_load_names_it() {
    let whole = add("b", "");
    let torn = &whole[..whole.len() - 1];
    for bad in [
        torn,
        "[]",
        "nothing",
        r#"{"add":{"path":"a"}}"#,
        r#"{"remove":{"path":"a"}}"#,
        r#"{"add":{"path":"a","path":"b"}}"#,
        r#"{"protocol":{"minReaderVersion":1,"minWriterVersion":2},"remove":{"path":"a","dataChange":true}}"#,
        r#"{"txn":{"appId":"a","version":1},"commitInfo":{}}"#,
        r#"{"add":{"path":"a","partitionValues":{},"size":1,"modificationTime":0,"dataChange":true,"stats":"\ud834"}}"#,
        r#"{"x":1}}"#,
    ] {
        let store = store(&[&[add("a", ""), bad.to_owned()], &[add("c", "")]]);
        let LiveFilesError::Load(error) = read(store.clone(), Texts::default()).unwrap_err() else { panic!("{bad}") };
        let mut objects = store;
        let load = |request| Response { now_ms: 0, answer: objects.answer(&request, 0) };
        assert_eq!(error.to_string(), drive(LoadSnapshot::latest(), load).unwrap_err().to_string(), "{bad}");
        assert!(error.to_string().starts_with("commit 1, line 2:"), "{error}");
    }
    let mut bytes = add("a", "").into_bytes();
    bytes.extend(b"\n\xff\n");
    let mut store = store(&[&[]]);
    put(&mut store, commit_path(Version(1)), &bytes);
    let error = read(store, Texts::default()).unwrap_err().to_string();
    assert!(error.starts_with("commit 1, line 2: not UTF-8"), "{error}");
}

#[test]
fn line_ends_blank_lines_a_mark_and_unknown_actions_are_stepped_over() {
    let lines = [
        "\u{feff}".to_owned() + &add("a", ""),
        String::new(),
        "  \r".to_owned(),
        r#"{"add":null}"#.to_owned(),
        r#"{"neverHeardOf":{"path":"x"},"add":null}"#.to_owned(),
        "{}\r".to_owned(),
        r#"{"cdc":{"path":"x"}}"#.to_owned() + "\r",
        add("b", r#","tags":{"t":null},"unknown":[1,{}]"#),
        String::new(),
    ];
    check(&[&lines], &["a 1 none", "b 1 none"]);
}

#[test]
fn who_does_not_want_to_go_on_is_not_made_to() {
    let store = store(&[&[add("a", ""), add("b", "")]]);
    let error = read(store, Texts { stop_after: Some(1), ..Texts::default() }).unwrap_err();
    assert!(matches!(error, LiveFilesError::Visitor("enough")));
}

#[test]
fn a_compaction_that_is_torn_is_not_used_and_nothing_of_it_is_shown() {
    let mut store = store(&[&[add("a", "")], &[add("b", "")], &[add("c", "")]]);
    let path = format!("{LOG_FOLDER}{:020}.{:020}.compacted.json", 1, 2);
    put(&mut store, path.clone(), format!("{{\n{}\n{}", add("a", ""), add("b", "")).as_bytes());
    let mut machine = ReadLiveFiles::new(None, Texts::default());
    let found = drive(&mut machine, |request| Response { now_ms: 0, answer: store.answer(&request, 0) });
    assert_eq!(found.unwrap().unwrap().version, Version(3));
    assert!(matches!(machine.notes().first(), Some(LogNote::UnusableCompaction { path: noted, .. }) if *noted == path));
    let texts = machine.into_visitor();
    assert_eq!((texts.files.len(), texts.restarts), (3, 1));
}

/// Commits are asked for in chunks, newest first.
#[test]
fn no_more_than_a_chunk_of_commits_is_held() {
    let commits: Vec<Vec<String>> = (0..2 * CHUNK_COMMITS).map(|n| vec![add(&format!("f{n}"), "")]).collect();
    let commits: Vec<&[String]> = commits.iter().map(Vec::as_slice).collect();
    let mut store = store(&commits);
    let mut asked = Vec::new();
    let mut machine = ReadLiveFiles::new(None, Texts::default());
    drive(&mut machine, |request| {
        if let Request::GetMany { paths } = &request {
            asked.push(paths.len());
        }
        Response { now_ms: 0, answer: store.answer(&request, 0) }
    })
    .unwrap();
    assert_eq!(asked, [CHUNK_COMMITS, CHUNK_COMMITS, 1]);
    assert_eq!(machine.into_visitor().files.len(), 2 * CHUNK_COMMITS);
}

/// What is unknown to a commit's writer is in no way of the way: every line that we write is read.
#[test]
fn every_action_that_is_written_is_read() {
    let actions = [
        Action::parse(PROTOCOL).unwrap().unwrap(),
        Action::parse(METADATA).unwrap().unwrap(),
        Action::parse(&add("a", r#","tags":{"x":"y"},"baseRowId":5"#)).unwrap().unwrap(),
        Action::parse(r#"{"txn":{"appId":"a","version":1}}"#).unwrap().unwrap(),
        Action::parse(r#"{"domainMetadata":{"domain":"d","configuration":"","removed":false}}"#).unwrap().unwrap(),
        Action::parse(r#"{"commitInfo":{"operation":"WRITE"}}"#).unwrap().unwrap(),
    ];
    let mut store = ObjectMap::default();
    put(&mut store, commit_path(Version(0)), &Commit::serialise(&actions));
    assert_eq!(read(store, Texts::default()).unwrap(), ["a 1 none"]);
}

/// A visitor that cannot fail has an error that cannot be.
#[test]
fn without_a_table_there_is_none() {
    struct Nobody;
    impl LiveFileVisitor for Nobody {
        type Error = Infallible;
        fn restart(&mut self) {}
        fn table(&mut self, _: &Arc<TableDescription>) -> Result<(), Infallible> {
            unreachable!("there is no table")
        }
        fn file(&mut self, _: &LiveFile<'_>) -> Result<(), Infallible> {
            unreachable!("there is no table")
        }
    }
    let mut store = ObjectMap::default();
    let machine = ReadLiveFiles::new(None, Nobody);
    let found = drive(machine, |request| Response { now_ms: 0, answer: store.answer(&request, 0) });
    assert!(matches!(found, Ok(None)));
}
