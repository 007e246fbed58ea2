//! The local directory as a store.

use std::{fs, sync::Arc, thread};

use log_core::store::{Answer, Request, WriteAnswer};
use sim::real::local_directory::{LocalDirectory, is_temporary};

use crate::support::listing;

fn answer(directory: &LocalDirectory, request: Request) -> Answer {
    directory.answer(&request).answer
}

fn put(directory: &LocalDirectory, path: &str, content: &str) -> WriteAnswer {
    match answer(directory, Request::PutIfAbsent { path: path.to_owned(), bytes: content.as_bytes().into() }) {
        Answer::Write(answer) => answer,
        other => panic!("{other:?}"),
    }
}

#[test]
fn of_eight_puts_of_one_path_one_wins() {
    let root = tempfile::tempdir().unwrap();
    let directory = Arc::new(LocalDirectory::new(root.path(), 0));
    for round in 0..200 {
        let threads: Vec<_> = (0..8)
            .map(|thread| {
                let directory = directory.clone();
                thread::spawn(move || (thread, put(&directory, &format!("log/{round}"), &format!("of {thread}"))))
            })
            .collect();
        let answers: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        let winners: Vec<_> = answers.iter().filter(|(_, answer)| *answer == WriteAnswer::Happened).collect();
        let losers = answers.iter().filter(|(_, answer)| *answer == WriteAnswer::AlreadyExists).count();
        assert_eq!((winners.len(), losers), (1, 7), "{answers:?}");
        let content = fs::read_to_string(root.path().join(format!("log/{round}"))).unwrap();
        assert_eq!(content, format!("of {}", winners[0].0));
    }
    assert!(listing(root.path()).keys().all(|name| !name.contains(".tmp")), "a temporary file is left");
}

#[test]
fn a_listing_has_what_comes_after_and_nothing_else() {
    let root = tempfile::tempdir().unwrap();
    let directory = LocalDirectory::new(root.path(), 0);
    let list = |after: &str| match answer(&directory, Request::List { after: after.to_owned() }) {
        Answer::Listed(listing) => listing.into_iter().map(|object| (object.path, object.size)).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    assert_eq!(list("_delta_log/"), []);
    for name in ["3.json", "1.json", "2.json"] {
        assert_eq!(put(&directory, &format!("_delta_log/{name}"), name), WriteAnswer::Happened);
    }
    assert_eq!(put(&directory, "_delta_log/9.json/inner", ""), WriteAnswer::Happened);
    let leftover = ".contend-1-2.tmp";
    assert!(is_temporary(leftover));
    fs::write(root.path().join("_delta_log").join(leftover), "half").unwrap();
    let expected = |names: &[&str]| names.iter().map(|name| (format!("_delta_log/{name}"), 6)).collect::<Vec<_>>();
    assert_eq!(list("_delta_log/"), expected(&["1.json", "2.json", "3.json"]));
    assert_eq!(list("_delta_log/1.json"), expected(&["2.json", "3.json"]));
    assert_eq!(list("_delta_log/9.json"), []);
    assert_eq!(list("elsewhere/"), []);
}

#[test]
fn requests_are_answered_as_in_memory() {
    let root = tempfile::tempdir().unwrap();
    let directory = LocalDirectory::new(root.path(), 0);
    let mut map = log_core::store::ObjectMap::default();
    let path = |path: &str| path.to_owned();
    let bytes = |text: &str| text.as_bytes().into();
    for request in [
        Request::Get { path: path("a/x") },
        Request::PutIfAbsent { path: path("a/x"), bytes: bytes("0123456789") },
        Request::PutIfAbsent { path: path("a/x"), bytes: bytes("other") },
        Request::Get { path: path("a/x") },
        Request::GetRange { path: path("a/x"), start: 2, end: 5 },
        Request::GetRange { path: path("a/x"), start: 8, end: 50 },
        Request::GetRange { path: path("a/x"), start: 50, end: 5 },
        Request::GetRange { path: path("a/y"), start: 0, end: 5 },
        Request::GetMany { paths: vec![path("a/y"), path("a/x")] },
        Request::Put { path: path("a/x"), bytes: bytes("new") },
        Request::Put { path: path("b"), bytes: bytes("") },
        Request::GetMany { paths: vec![path("b"), path("a/x")] },
        Request::Head { path: path("a/z") },
        Request::Delete { path: path("b") },
        Request::Get { path: path("b") },
        Request::Backoff { attempt: 1 },
        Request::Backoff { attempt: 40 },
    ] {
        assert_eq!(answer(&directory, request.clone()), map.answer(&request, 0), "{request:?}");
    }
    let gone = answer(&directory, Request::Delete { path: path("b") });
    assert!(matches!(gone, Answer::Write(WriteAnswer::DidNotHappen { .. })), "{gone:?}");
    let Answer::Meta(Some(meta)) = answer(&directory, Request::Head { path: path("a/x") }) else { panic!("no meta") };
    assert_eq!((meta.path.as_str(), meta.size), ("a/x", 3));
    assert!((directory.answer(&Request::Backoff { attempt: 1 }).now_ms - meta.modified_ms).abs() < 60_000);
}

#[test]
fn no_path_leaves_the_folder() {
    let parent = tempfile::tempdir().unwrap();
    let root = parent.path().join("table");
    fs::create_dir(&root).unwrap();
    fs::write(parent.path().join("secret"), "secret").unwrap();
    let directory = LocalDirectory::new(&root, 0);
    let before = listing(parent.path());
    let absolute = parent.path().join("secret").display().to_string();
    for path in ["../secret", "a/../../secret", "", ".", "..", "a//b", "nul\0", &absolute] {
        for request in [
            Request::PutIfAbsent { path: path.to_owned(), bytes: b"x".as_slice().into() },
            Request::Put { path: path.to_owned(), bytes: b"x".as_slice().into() },
            Request::Delete { path: path.to_owned() },
        ] {
            let answer = answer(&directory, request);
            assert!(matches!(answer, Answer::Write(WriteAnswer::DidNotHappen { .. })), "{path}: {answer:?}");
        }
        for request in [
            Request::Get { path: path.to_owned() },
            Request::Head { path: path.to_owned() },
            Request::GetMany { paths: vec![path.to_owned()] },
        ] {
            let answer = answer(&directory, request);
            assert!(matches!(answer, Answer::Unavailable { .. }), "{path}: {answer:?}");
        }
        assert!(directory.put_data(path, b"x").is_err(), "{path}");
    }
    assert!(matches!(answer(&directory, Request::List { after: "../".to_owned() }), Answer::Unavailable { .. }));
    assert!(directory.put_data("%2e%2e/secret", b"x").is_err());
    assert_eq!(listing(parent.path()), before);
}

#[test]
fn a_store_that_refuses_says_so() {
    let parent = tempfile::tempdir().unwrap();
    fs::write(parent.path().join("file"), "").unwrap();
    let directory = LocalDirectory::new(&parent.path().join("file"), 0);
    let written = put(&directory, "_delta_log/0.json", "x");
    assert!(matches!(written, WriteAnswer::DidNotHappen { .. }), "{written:?}");
    let read = answer(&directory, Request::Get { path: "_delta_log/0.json".to_owned() });
    assert!(matches!(read, Answer::Unavailable { .. }), "{read:?}");
}

/// Hadoop's local file system, and so Spark, refuses a file whose bytes are not those of the sum beside it.
#[test]
fn what_hadoop_summed_up_goes_with_the_file() {
    let root = tempfile::tempdir().unwrap();
    let directory = LocalDirectory::new(root.path(), 0);
    let log = root.path().join("_delta_log");
    fs::create_dir(&log).unwrap();
    for name in ["_last_checkpoint", "1.json", "2.json", "3.json"] {
        fs::write(log.join(format!(".{name}.crc")), "sum").unwrap();
    }
    fs::write(log.join("_last_checkpoint"), "old").unwrap();
    fs::write(log.join("2.json"), "theirs").unwrap();
    let path = "_delta_log/_last_checkpoint".to_owned();
    let replaced = answer(&directory, Request::Put { path, bytes: "new".as_bytes().into() });
    assert_eq!(replaced, Answer::Write(WriteAnswer::Happened));
    assert_eq!(put(&directory, "_delta_log/1.json", "ours"), WriteAnswer::Happened);
    // Whoever loses leaves the winner's alone.
    assert_eq!(put(&directory, "_delta_log/2.json", "ours"), WriteAnswer::AlreadyExists);
    let left: Vec<bool> =
        ["_last_checkpoint", "1.json", "2.json", "3.json"].map(|name| log.join(format!(".{name}.crc")).exists()).into();
    assert_eq!(left, [false, false, true, true]);
    // Where the sum cannot go, the file stays as it was.
    fs::create_dir(log.join("._last_checkpoint.crc")).unwrap();
    let path = "_delta_log/_last_checkpoint".to_owned();
    let refused = answer(&directory, Request::Put { path, bytes: "newer".as_bytes().into() });
    assert!(!matches!(refused, Answer::Write(WriteAnswer::Happened)), "{refused:?}");
    assert_eq!(fs::read_to_string(log.join("_last_checkpoint")).unwrap(), "new");
}
