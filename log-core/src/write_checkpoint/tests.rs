use std::num::NonZeroUsize;

use super::*;
use crate::{
    checkpoint::CheckpointId,
    store::{ObjectMap, drive},
};

const PROTOCOL: &str = r#"{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["v2Checkpoint"],"writerFeatures":["v2Checkpoint"]}}"#;
const METADATA: &str = r#"{"metaData":{"id":"i","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[]}","partitionColumns":[],"configuration":{}}}"#;
const NOW_MS: i64 = 1_000;

fn kinds() -> [CheckpointKind; 2] {
    let v2 = CheckpointKind::V2 { id: CheckpointId(7), actions_per_sidecar: NonZeroUsize::new(1) };
    [CheckpointKind::Classic, v2]
}

fn put(store: &mut ObjectMap, path: &str, bytes: &[u8]) {
    store.answer(&Request::Put { path: path.to_owned(), bytes: bytes.into() }, 0);
}

/// A table of four versions: files come, one goes, an application gets on.
fn table() -> ObjectMap {
    let add = |path: &str| {
        format!(
            r#"{{"add":{{"path":"{path}","partitionValues":{{}},"size":5,"modificationTime":1,"dataChange":false}}}}"#
        )
    };
    let mut store = ObjectMap::default();
    for (version, text) in [
        format!("{PROTOCOL}\n{METADATA}"),
        format!("{}\n{}", add("a"), add("b")),
        format!(r#"{{"remove":{{"path":"a","deletionTimestamp":900,"dataChange":true}}}}{}{}"#, "\n", add("c")),
        format!(r#"{{"commitInfo":{{"txnId":"t3"}}}}{}{{"txn":{{"appId":"x","version":4}}}}"#, "\n"),
    ]
    .iter()
    .enumerate()
    {
        put(&mut store, &commit_path(Version(version as u64)), text.as_bytes());
    }
    store
}

fn load(store: &ObjectMap, version: Option<u64>) -> (Snapshot, BTreeSet<LogNote>) {
    let mut machine = version.map_or_else(LoadSnapshot::latest, |version| LoadSnapshot::at(Version(version)));
    machine = machine.with_tombstones().hinted();
    let answer = |request| Response { now_ms: NOW_MS, answer: store.clone().answer(&request, 0) };
    let snapshot = drive(&mut machine, answer).unwrap().unwrap();
    (Snapshot::clone(&snapshot), machine.notes().clone())
}

/// Writes, with a store that answers some requests in its own way.
fn write_with(
    store: &mut ObjectMap,
    machine: WriteCheckpoint,
    mut odd: impl FnMut(usize, &Request) -> Option<Answer>,
) -> (Result<Option<WrittenCheckpoint>, WriteCheckpointError>, Vec<Request>) {
    let mut requests = Vec::new();
    let result = drive(machine, |request| {
        let answer = odd(requests.len(), &request).unwrap_or_else(|| store.answer(&request, 0));
        requests.push(request);
        Response { now_ms: NOW_MS, answer }
    });
    (result, requests)
}

fn write(store: &mut ObjectMap, version: Option<u64>, kind: CheckpointKind) -> WrittenCheckpoint {
    write_with(store, WriteCheckpoint::new(version.map(Version), kind), |_, _| None).0.unwrap().unwrap()
}

fn is_write(request: &Request) -> bool {
    matches!(request, Request::Put { .. } | Request::PutIfAbsent { .. } | Request::Delete { .. })
}

#[test]
fn from_its_checkpoint_a_table_reads_as_before() {
    for kind in kinds() {
        let mut store = table();
        let before = load(&store, None);
        let written = write(&mut store, None, kind);
        assert_eq!((written.version, written.add_files), (Version(3), 2));
        assert_eq!((&written.checksum, &written.hint), (&ChecksumOutcome::Written, &HintOutcome::Replaced));
        // Without the commits there is nothing else to read it from.
        for version in 0..=3 {
            store.answer(&Request::Delete { path: commit_path(Version(version)) }, 0);
        }
        assert_eq!(load(&store, None), before, "{kind:?}");
        let checksum = store.get(&checksum_path(Version(3))).unwrap();
        assert!(String::from_utf8_lossy(&checksum).starts_with(r#"{"txnId":"t3","tableSizeBytes":10,"numFiles":2,"#));
    }
}

#[test]
fn the_checkpoint_of_an_older_version_holds_that_version() {
    let mut store = table();
    let before = load(&store, Some(1));
    write(&mut store, Some(1), CheckpointKind::Classic);
    for version in 0..=1 {
        store.answer(&Request::Delete { path: commit_path(Version(version)) }, 0);
    }
    assert_eq!(load(&store, Some(1)), before);
}

/// The process dies after so many requests; also when the last one was a put that nobody heard the end of.
#[test]
fn cut_off_anywhere_it_leaves_a_table_that_reads_as_before() {
    for kind in kinds() {
        let before = load(&table(), None);
        let (_, requests) = write_with(&mut table(), WriteCheckpoint::new(None, kind), |_, _| None);
        assert!(requests.iter().filter(|request| is_write(request)).count() >= 3);
        for cut in 0..=requests.len() {
            let mut store = table();
            for request in requests[..cut].iter().filter(|request| is_write(request)) {
                store.answer(request, 0);
            }
            let after = load(&store, None);
            assert_eq!(after, before, "{kind:?} cut off after {cut} requests");
            // And whoever tries again succeeds.
            write(&mut store, None, kind);
            assert_eq!(load(&store, None), before);
        }
    }
}

#[test]
fn sidecars_come_first_then_the_checkpoint_then_what_points_at_it() {
    let (_, requests) = write_with(&mut table(), WriteCheckpoint::new(None, kinds()[1]), |_, _| None);
    let puts: Vec<&str> = requests
        .iter()
        .filter_map(|request| match request {
            Request::Put { path, .. } | Request::PutIfAbsent { path, .. } => Some(&**path),
            _ => None,
        })
        .collect();
    let kinds = puts.iter().map(|path| match LogFile::of(path) {
        LogFile::Checkpoint(_) => "checkpoint",
        LogFile::Checksum(_) => "checksum",
        LogFile::LastCheckpoint => "hint",
        _ => "sidecar",
    });
    assert_eq!(kinds.collect::<Vec<_>>(), ["sidecar", "sidecar", "sidecar", "checkpoint", "checksum", "hint"]);
}

#[test]
fn a_hint_never_goes_back_unless_it_leads_nowhere() {
    let check = |hint: &str, newer_exists: bool, expected: HintOutcome| {
        let mut store = table();
        put(&mut store, LAST_CHECKPOINT, hint.as_bytes());
        if newer_exists {
            put(&mut store, "_delta_log/00000000000000000009.checkpoint.parquet", b"x");
        }
        let written = write(&mut store, Some(3), CheckpointKind::Classic);
        assert_eq!(written.hint, expected, "{hint}");
        let now = String::from_utf8(store.get(LAST_CHECKPOINT).unwrap().to_vec()).unwrap();
        match expected {
            HintOutcome::Replaced => assert_eq!(LastCheckpoint::parse(now.as_bytes()).unwrap().version, Version(3)),
            _ => assert_eq!(now, hint),
        }
    };
    check(r#"{"version":2,"size":3}"#, false, HintOutcome::Replaced);
    check(r#"{"version":3,"size":3}"#, false, HintOutcome::Replaced);
    for garbled in ["", "[]", r#"{"version":20,"size":3}{"ver"#, r#"{"version":-1}"#, r#"{"version":"20"}"#] {
        check(garbled, false, HintOutcome::Replaced);
    }
    check(r#"{"version":9,"size":3}"#, false, HintOutcome::Replaced);
}

/// A rival wrote a newer checkpoint while this one was made.
#[test]
fn the_hint_at_a_newer_checkpoint_of_a_rival_stays() {
    let mut store = table();
    write(&mut store, None, CheckpointKind::Classic);
    let hint = store.get(LAST_CHECKPOINT).unwrap();
    let written = write(&mut store, Some(1), CheckpointKind::Classic);
    assert_eq!(written.hint, HintOutcome::Newer { version: Version(3) });
    assert_eq!(store.get(LAST_CHECKPOINT).unwrap(), hint);
}

#[test]
fn a_checksum_is_never_replaced() {
    let mut store = table();
    put(&mut store, &checksum_path(Version(3)), b"{}");
    assert_eq!(write(&mut store, None, CheckpointKind::Classic).checksum, ChecksumOutcome::Present);
    assert_eq!(&*store.get(&checksum_path(Version(3))).unwrap(), b"{}");
}

#[test]
fn a_put_that_fails_is_made_again_and_then_given_up_with_the_stores_words() {
    let checkpoint =
        |request: &Request| matches!(request, Request::Put { path, .. } if path.ends_with("checkpoint.parquet"));
    for (answer, said) in [
        (WriteAnswer::DidNotHappen { cause: "full".to_owned() }, "full"),
        (WriteAnswer::Unknown { cause: "timeout".to_owned() }, "it is not known whether it was stored: timeout"),
    ] {
        let mut store = table();
        let machine = || WriteCheckpoint::new(None, CheckpointKind::Classic);
        let mut failures = 0;
        let (result, _) = write_with(&mut store, machine(), |_, request| {
            (checkpoint(request) && failures < PUT_RETRIES).then(|| {
                failures += 1;
                Answer::Write(answer.clone())
            })
        });
        assert_eq!(result.unwrap().unwrap().hint, HintOutcome::Replaced);
        let mut store = table();
        let (result, requests) =
            write_with(&mut store, machine(), |_, request| checkpoint(request).then(|| Answer::Write(answer.clone())));
        assert_eq!(
            result.unwrap_err().to_string(),
            format!(
                "the checkpoint of version 3 was not written: '_delta_log/00000000000000000003.checkpoint.parquet' could not be stored in 4 \
                 attempts: {said}; the table reads as before"
            )
        );
        assert_eq!(requests.iter().filter(|request| checkpoint(request)).count(), 4);
        assert!(store.get(LAST_CHECKPOINT).is_none(), "a hint at nothing");
    }
}

#[test]
fn what_only_points_at_the_checkpoint_may_fail() {
    let fails = |path: &str, answer: Answer| {
        let (result, _) =
            write_with(&mut table(), WriteCheckpoint::new(None, CheckpointKind::Classic), |_, request| match request {
                Request::Put { path: found, .. } | Request::PutIfAbsent { path: found, .. } => {
                    (found.ends_with(path)).then(|| answer.clone())
                }
                _ => None,
            });
        result.unwrap().unwrap()
    };
    let failed = Answer::Write(WriteAnswer::DidNotHappen { cause: "full".to_owned() });
    assert_eq!(fails(".crc", failed.clone()).checksum, ChecksumOutcome::Failed { cause: "full".to_owned() });
    assert_eq!(fails("_last_checkpoint", failed).hint, HintOutcome::Failed { cause: "full".to_owned() });
}

#[test]
fn without_a_table_there_is_nothing_to_write() {
    let mut store = ObjectMap::default();
    let (result, requests) = write_with(&mut store, WriteCheckpoint::new(None, CheckpointKind::Classic), |_, _| None);
    assert!(result.unwrap().is_none());
    assert!(!requests.iter().any(is_write));
    let error = write_with(&mut table(), WriteCheckpoint::new(Some(Version(9)), CheckpointKind::Classic), |_, _| None);
    assert_eq!(error.0.unwrap_err().to_string(), "version 9 does not exist; the newest version is 3");
}
