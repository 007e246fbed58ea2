use expect_test::expect;

use std::collections::BTreeSet;

use log_core::deletion_vector::DeletionVector;

use super::*;
use crate::{
    rules::RuleSet,
    testing::{actions, partitioned, predicate, winner},
};

fn operation(name: &str) -> Operation {
    Operation { name: name.to_owned(), ..Operation::default() }
}

fn transaction(reads: ReadSet, text: &str) -> Transaction {
    let level = IsolationLevel::WriteSerializable;
    Transaction::new(Some(partitioned()), reads, operation("WRITE"), actions(text), level, "own".to_owned())
}

#[track_caller]
fn check_blind(reads: ReadSet, text: &str, expected: bool) {
    assert_eq!(transaction(reads.clone(), text).blind_append, expected, "{reads:?} {text}");
}

fn reading(text: &str) -> ReadSet {
    ReadSet { predicates: vec![predicate(&partitioned(), text)], ..ReadSet::default() }
}

#[test]
fn a_blind_append_has_only_adds_among_its_files() {
    check_blind(ReadSet::default(), "+a", true);
    check_blind(ReadSet::default(), "+~a", true);
    check_blind(ReadSet::default(), "+a txn:app metadata domain:d", true);
    check_blind(ReadSet::default(), "", true);
    check_blind(ReadSet::default(), "metadata", true);
    check_blind(ReadSet::default(), "+a -b", false);
    check_blind(ReadSet::default(), "-~b", false);
    check_blind(ReadSet::default(), "+a cdc", false);
}

#[test]
fn whoever_read_rows_is_no_blind_append() {
    let files = ReadSet { files: BTreeSet::from(["f1".to_owned()]), ..ReadSet::default() };
    let whole = ReadSet { whole_table: true, ..ReadSet::default() };
    for text in ["+a", ""] {
        check_blind(files.clone(), text, false);
        check_blind(whole.clone(), text, false);
        check_blind(reading("p=a"), text, false);
        check_blind(reading("true"), text, false);
    }
    let progress = ReadSet { app_ids: BTreeSet::from(["app".to_owned()]), ..ReadSet::default() };
    check_blind(progress, "+a txn:app", true);
}

/// Report 6: does a winner conflict with `DELETE WHERE p = 'a' AND id = 1`, at WriteSerializable and at Serializable?
#[test]
fn a_winner_is_blind_only_when_it_says_true_and_removes_nothing() {
    let check = |text: &str, expected: bool| {
        let winner = winner(text);
        assert_eq!(winner.blind_append, !expected, "{text}");
        for (level, conflicts) in [(IsolationLevel::WriteSerializable, expected), (IsolationLevel::Serializable, true)]
        {
            let mut reads = reading("p=a and id=1");
            reads.files.insert("f1".to_owned());
            let actions = actions("-f1[p=a] +g1[p=a]");
            let own = "own".to_owned();
            let delete = Transaction::new(Some(partitioned()), reads, operation("DELETE"), actions, level, own);
            let conflict = RuleSet::delta_spark().check(&delete, &winner);
            assert_eq!(
                conflict.map(|conflict| conflict.rule).as_deref(),
                conflicts.then_some("added-files"),
                "{text} {level}"
            );
        }
    };
    check("info:WRITE:true +n[p=a]", false);
    check("info:WRITE +n[p=a]", true);
    check(r#"info:WRITE:"true" +n[p=a]"#, true);
    check("info:WRITE:true +n[p=a] -f7[p=a]", true);
    check("+n[p=a]", true);
    check("info:WRITE:false +n[p=a]", true);
    check("info:WRITE:1 +n[p=a]", true);
}

#[test]
fn the_operation_of_a_winner_that_does_not_say_is_a_transaction() {
    assert_eq!(winner("info:OPTIMIZE -~a").operation(), "OPTIMIZE");
    assert_eq!(winner("+a").operation(), "TRANSACTION");
}

#[test]
fn a_commit_file_begins_with_where_it_came_from() {
    let mut transaction = transaction(reading("p=a"), "-f1 txn:app");
    transaction.operation.parameters.insert("predicate".to_owned(), json!("p = 'a'"));
    transaction.operation.metrics.insert("numRemovedFiles".to_owned(), json!("1"));
    let bytes = transaction.commit_bytes(1_700_000_000_000);
    expect![[r#"
        {"commitInfo":{"engineInfo":"contend/0.1.0","isBlindAppend":false,"isolationLevel":"WriteSerializable","operation":"WRITE","operationMetrics":{"numRemovedFiles":"1"},"operationParameters":{"predicate":"p = 'a'"},"readVersion":1,"timestamp":1700000000000,"txnId":"own"}}
        {"remove":{"path":"f1","dataChange":true,"partitionValues":{}}}
        {"txn":{"appId":"app","version":1}}
    "#]].assert_eq(&String::from_utf8(bytes).unwrap());
}

#[test]
fn a_first_commit_names_no_version_that_was_read() {
    let level = IsolationLevel::Serializable;
    let create = actions("protocol:1,2 metadata");
    let transaction =
        Transaction::new(None, ReadSet::default(), operation("CREATE TABLE"), create, level, "own".to_owned());
    assert_eq!(transaction.read_version(), None);
    let commit = Commit::parse(Version(0), &transaction.commit_bytes(7)).unwrap();
    let info = commit.info().unwrap();
    assert_eq!(
        info.0.keys().collect::<Vec<_>>(),
        ["engineInfo", "isBlindAppend", "isolationLevel", "operation", "operationParameters", "timestamp", "txnId"]
    );
    assert_eq!((info.timestamp(), info.txn_id(), info.is_blind_append()), (Some(7), Some("own"), true));
    assert_eq!(commit.actions[1..], transaction.actions);
}

#[test]
fn actions_that_contradict_each_other_are_no_transaction() {
    let check = |text: &str, expected: Option<&str>| {
        let found = transaction(ReadSet::default(), text).check().err().map(|error| error.to_string());
        assert_eq!(found.as_deref(), expected, "{text}");
    };
    check("+a -b +c txn:x txn:y txn:x domain:d domain:e metadata protocol:1,2 cdc cdc info:X", None);
    check("metadata metadata", Some("a commit holds at most one metaData action; leave all but one out"));
    check("protocol:1,2 protocol:1,2", Some("a commit holds at most one protocol action; leave all but one out"));
    check("domain:d domain:d", Some("domain 'd' is written twice in one commit; a commit says once what stands in it"));
    for (text, first, second) in
        [("+a +a", "added", "added"), ("-a -a", "removed", "removed"), ("-a +a", "removed", "added")]
    {
        let expected =
            format!("file 'a' is {first} and {second} under one deletion vector; a commit does one thing to a file");
        check(text, Some(&expected));
    }
    // Under two vectors it is two logical files.
    let mut delete = transaction(ReadSet::default(), "-a +a");
    let Action::Add(add) = &mut delete.actions[1] else { panic!("an add") };
    add.deletion_vector = Some(DeletionVector { storage_type: "u".to_owned(), ..DeletionVector::default() });
    assert_eq!(delete.check(), Ok(()));
}

/// As in Delta Spark: what is said twice is written once.
#[test]
fn an_application_that_is_moved_to_one_number_twice_is_written_once() {
    let own = |text: &str| {
        let level = IsolationLevel::Serializable;
        Transaction::new(None, ReadSet::default(), Operation::named("WRITE"), actions(text), level, "own".to_owned())
    };
    assert_eq!(own("txn:a +n txn:b txn:a").actions, actions("txn:a +n txn:b"));
    assert_eq!(own("+n domain:a domain:a").actions, actions("+n domain:a domain:a"));
}

#[test]
fn operations_are_known_by_name() {
    for name in ["RESTORE", "CLONE", "CONVERT"] {
        assert!(operation(name).is_never_rebased() && operation(name).changes_data());
    }
    assert!(!operation("WRITE").is_never_rebased());
    for name in
        ["REPLACE TABLE", "CREATE OR REPLACE TABLE", "REPLACE TABLE AS SELECT", "CREATE OR REPLACE TABLE AS SELECT"]
    {
        assert!(operation(name).replaces_table() && operation(name).changes_data(), "{name}");
    }
    for name in ["CREATE TABLE", "CREATE TABLE AS SELECT", "WRITE"] {
        assert!(!operation(name).replaces_table(), "{name}");
    }
    assert_eq!(Operation::named("WRITE"), operation("WRITE"));
}

#[test]
fn a_file_that_was_read_is_found_by_its_path() {
    let read = transaction(ReadSet::default(), "");
    assert_eq!(read.read_file("f2").unwrap().partition_values["p"].as_deref(), Some("a"));
    assert_eq!(read.read_file("f3"), None);
    assert_eq!(read.read_file("f"), None);
    assert_eq!(Transaction { read: None, ..read }.read_file("f2"), None);
}
