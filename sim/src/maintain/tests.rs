use log_core::{
    commit::Commit,
    path::commit_path,
    store::{Answer, ObjectMap, WriteAnswer},
};

use super::*;

const CLASSIC: CheckpointKind = CheckpointKind::Classic;

fn v2() -> CheckpointKind {
    CheckpointKind::V2 { id: log_core::checkpoint::CheckpointId(unique_id()), actions_per_sidecar: None }
}

fn put(store: &mut ObjectMap, version: u64, text: &str) {
    let request = Request::PutIfAbsent { path: commit_path(Version(version)), bytes: text.as_bytes().into() };
    assert_eq!(store.answer(&request, 0), Answer::Write(WriteAnswer::Happened));
}

const APPEND: &str = r#"{"commitInfo":{"operation":"WRITE","isBlindAppend":true,"txnId":"rival"}}
{"add":{"path":"r","partitionValues":{},"size":5,"modificationTime":1,"dataChange":true}}"#;

/// A table of versions 0 and 1.
fn table(protocol: &str) -> ObjectMap {
    let mut store = ObjectMap::default();
    let metadata = r#"{"metaData":{"id":"i","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[]}","partitionColumns":[],"configuration":{}}}"#;
    put(&mut store, 0, &format!("{{\"protocol\":{protocol}}}\n{metadata}"));
    put(&mut store, 1, "");
    store
}

const PLAIN: &str = r#"{"minReaderVersion":1,"minWriterVersion":2}"#;

/// Report 46: another writer takes version 2 meanwhile, and then nothing but commits can be stored.
#[test]
fn a_checkpoint_that_fails_leaves_its_commit_committed_with_a_warning() {
    let mut store = table(PLAIN);
    let mut rival = Some(APPEND);
    let mut answer = |request: Request| {
        let now_ms = 1;
        let answer = match &request {
            Request::Put { .. } => Answer::Write(WriteAnswer::DidNotHappen { cause: "no space left".to_owned() }),
            Request::PutIfAbsent { path, .. } => {
                if let Some(text) = rival.take_if(|_| *path == commit_path(Version(2))) {
                    put(&mut store, 2, text);
                }
                store.answer(&request, now_ms)
            }
            _ => store.answer(&request, now_ms),
        };
        Response { now_ms, answer }
    };
    let done = checkpoint(&mut answer, None, v2(), Some("own".to_owned())).unwrap();
    assert_eq!(done.upgraded, Some(Version(3)));
    assert_eq!(done.verdict(), crate::report::Verdict::Incomplete);
    let text = maintained_text(&done);
    assert!(
        text.starts_with(
            "feature v2Checkpoint added: committed at version 3\nwarning: the checkpoint of version 3 was not written"
        ),
        "{text}"
    );
    assert!(text.contains("no space left"), "{text}");
    let own = Commit::parse(Version(3), &store.get(&commit_path(Version(3))).unwrap()).unwrap();
    assert_eq!(own.info().unwrap().txn_id(), Some("own"));
    // Tried again, it takes over from there.
    let mut answer = |request: Request| Response { now_ms: 1, answer: store.answer(&request, 1) };
    let again = checkpoint(&mut answer, None, v2(), Some("again".to_owned())).unwrap();
    assert_eq!((again.upgraded, again.checkpoint.unwrap().version), (None, Version(3)));
}

#[test]
fn an_error_means_that_nothing_was_committed() {
    let check = |protocol: &str, kind, upgrade: Option<&str>, said: &str| {
        let mut store = table(protocol);
        let before = store.clone();
        let mut answer = |request: Request| Response { now_ms: 1, answer: store.answer(&request, 1) };
        let error = checkpoint(&mut answer, None, kind, upgrade.map(str::to_owned)).unwrap_err();
        let text = std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source());
        let text: Vec<String> = text.map(ToString::to_string).collect();
        assert!(text.join(": ").contains(said), "{text:?}");
        assert_eq!(store, before);
    };
    check(PLAIN, v2(), None, "needs the table feature v2Checkpoint");
    let unknown = r#"{"minReaderVersion":1,"minWriterVersion":7,"writerFeatures":["newThing"]}"#;
    check(unknown, CLASSIC, None, "the writer features newThing");
    check(unknown, v2(), Some("t"), "the writer features newThing");
    let preview = r#"{"minReaderVersion":1,"minWriterVersion":7,"writerFeatures":["inCommitTimestamp-preview"]}"#;
    check(preview, v2(), Some("t"), "the writer features inCommitTimestamp-preview");
    let unreadable =
        r#"{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["newThing"],"writerFeatures":["newThing"]}"#;
    check(unreadable, CLASSIC, None, "cannot be read: it needs the reader features newThing");
    let mut nothing = |request: Request| Response { now_ms: 1, answer: ObjectMap::default().answer(&request, 1) };
    assert!(matches!(checkpoint(&mut nothing, None, CLASSIC, None), Err(MaintainError::NotATable)));
}

/// The commit says of files nothing at all, so features that ask something of files do not stand in its way; its time must follow.
#[test]
fn the_feature_is_added_beside_others_that_contend_does_not_write() {
    let others = r#"{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["deletionVectors","timestampNtz"],"writerFeatures":["clustering","deletionVectors","domainMetadata","inCommitTimestamp","rowTracking","timestampNtz"]}"#;
    let metadata = r#"{"metaData":{"id":"i","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[]}","partitionColumns":[],"configuration":{"delta.enableInCommitTimestamps":"true"}}}"#;
    let info = |ms: i64| format!(r#"{{"commitInfo":{{"operation":"WRITE","inCommitTimestamp":{ms}}}}}"#);
    let table = |second: &str| {
        let mut store = ObjectMap::default();
        put(&mut store, 0, &format!("{}\n{{\"protocol\":{others}}}\n{metadata}", info(1000)));
        put(&mut store, 1, second);
        store
    };
    let upgrade = |store: &mut ObjectMap| {
        let mut answer = |request: Request| Response { now_ms: 1, answer: store.answer(&request, 1) };
        checkpoint(&mut answer, None, v2(), Some("own".to_owned()))
    };
    let mut store = table(&info(5000));
    assert_eq!(upgrade(&mut store).unwrap().upgraded, Some(Version(2)));
    let commit = Commit::parse(Version(2), &store.get(&commit_path(Version(2))).unwrap()).unwrap();
    assert_eq!(commit.info().unwrap().in_commit_timestamp(), Some(5001), "the clock says 1");
    let Action::Protocol(protocol) = &commit.actions[1] else { panic!("{:?}", commit.actions) };
    assert!(protocol.features().contains(V2_FEATURE) && protocol.features().contains("rowTracking"));
    let mut store = table("");
    let before = store.clone();
    assert!(matches!(upgrade(&mut store), Err(MaintainError::NoTimestamp { version: Version(1) })));
    assert_eq!(store, before);
}

#[test]
fn an_id_is_a_uuid_of_its_own() {
    let ids = [unique_id(), unique_id()];
    assert_ne!(ids[0], ids[1]);
    for id in ids {
        let text = log_core::checkpoint::CheckpointId(id).to_string();
        assert_eq!((text.len(), &text[14..15], (id >> 62) & 3), (36, "8", 2), "{text}");
    }
}
