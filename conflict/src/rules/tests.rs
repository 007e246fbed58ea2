use std::sync::{Arc, Mutex};

use expect_test::{Expect, expect};
use log_core::{
    action::{Action, Metadata},
    commit::Commit,
    deletion_vector::DeletionVector,
    snapshot::Snapshot,
};

use super::*;
use crate::{
    feature::Client,
    testing::{actions, partitioned, predicate, table, unpartitioned, winner},
    transaction::{Operation, ReadSet},
};

const BOTH: [IsolationLevel; 2] = [IsolationLevel::WriteSerializable, IsolationLevel::Serializable];

/// A transaction that reads `p=a; file:f1; whole; app:a`: one scan's predicate, one file, perhaps anything, an application's progress.
fn transaction(table: &Arc<Snapshot>, level: IsolationLevel, operation: &str, reads: &str, text: &str) -> Transaction {
    let mut read_set = ReadSet::default();
    for read in reads.split("; ").filter(|read| !read.is_empty()) {
        match read.strip_prefix("file:") {
            Some(path) => assert!(read_set.files.insert(path.to_owned())),
            None if read.starts_with("app:") => assert!(read_set.app_ids.insert(read[4..].to_owned())),
            None if read == "whole" => read_set.whole_table = true,
            None => read_set.predicates.push(predicate(table, read)),
        }
    }
    let operation = Operation { name: operation.to_owned(), ..Operation::default() };
    Transaction::new(Some(table.clone()), read_set, operation, actions(text), level, "own".to_owned())
}

/// What the rules say: `ok`, or the kind and the rule.
fn verdict(transaction: &Transaction, winner: &Winner) -> String {
    verdict_of(&RuleSet::delta_spark(), transaction, winner)
}

fn verdict_of(rules: &RuleSet, transaction: &Transaction, winner: &Winner) -> String {
    match rules.check(transaction, winner) {
        None => "ok".to_owned(),
        Some(conflict) => format!("{} by {}", conflict.finding.kind, conflict.rule),
    }
}

const PROTOCOL: &str = "ProtocolChanged by protocol";
const METADATA: &str = "MetadataChanged by metadata";
const WRITE: &str = "ConcurrentWrite by never-rebased";
const DROP: &str = "FeatureDropConflict by feature-drop";
const DOMAIN: &str = "DomainMetadataConflict by domain-metadata";
const APPLICATION: &str = "ConcurrentTransaction by application-transaction";
const BACKFILL: &str = "BackfillConflict by backfill";
const APPEND: &str = "ConcurrentAppend by added-files";
const DELETE_READ: &str = "ConcurrentDeleteRead by removed-and-read";
const DELETE_DELETE: &str = "ConcurrentDeleteDelete by removed-twice";

/// The cases of Delta's own tests (OptimisticTransactionSuite) that these rules decide, at level Serializable. A transaction that "reads all files"
/// scans without a predicate and takes every file of version 1.
#[test]
fn verdicts_are_those_of_delta_spark() {
    let table_of = |name: &str| match name {
        "plain" => table("id long", "", &["+a +b"]),
        "x" => table("id long, x integer", "x", &["+a[x=1] +b[x=2]"]),
        "part" => table("id long, part integer, year integer", "part", &["+a[part=1] +c[part=2] +e[part=3]"]),
        "ab" => table("id long, a integer, b integer", "a b", &["+f[a=1,b=1]"]),
        _ => panic!("{name}"),
    };
    // Table, reads, actions, actions of the winner, verdict.
    let rows = [
        ("plain", "", "+b", "+a", "ok"),
        ("plain", "", "+c", "-a +b", "ok"),
        ("plain", "true; file:a; file:b", "-a +c", "", "ok"),
        ("plain", "true; file:a; file:b", "+c", "+d", APPEND),
        ("plain", "", "-a", "-a", DELETE_DELETE),
        ("x", "", "-a[x=1]", "-a", DELETE_DELETE),
        ("x", "x=1", "", "+n[x=1]", "ok"),
        ("x", "x=1", "+m[x=1]", "+n[x=1]", APPEND),
        ("x", "x=1; x=2", "+m[x=2]", "+n[x=1]", APPEND),
        ("x", "x=1; file:a", "", "-a[x=1]", DELETE_READ),
        ("x", "x=1; file:a", "", "-b[x=2]", "ok"),
        ("x", "x=1; file:a", "", "+n[x=2]", "ok"),
        ("x", "x=1; whole", "+m[x=4]", "+n[x=3]", APPEND),
        ("plain", "whole", "+c", "-a", DELETE_READ),
        ("part", "part=3; file:e", "+m[part=2] -e[part=3]", "+n[part=1]", "ok"),
        ("ab", "a=1 and b=1", "+m[a=1,b=2]", "+n[a=1,b=2]", "ok"),
        ("part", "part=1 or year>2019", "-a[part=1]", "+n[part=2]", APPEND),
        ("part", "part>=4", "+m[part=2]", "+n[part=5]", APPEND),
        ("part", "part>4", "+m[part=4]", "+n[part=2]", "ok"),
        (
            "part",
            "part=3 or part=2; file:c; file:e",
            "-c[part=2] -e[part=3] +d[part=2]",
            "-a[part=1] -e[part=3] +b[part=1]",
            DELETE_READ,
        ),
        ("plain", "true; file:a; file:b", "-~a -~b +~c", "+e", "ok"),
        ("plain", "true; file:a; file:b", "-~a -~b +~c", "-a", DELETE_READ),
        ("plain", "", "", "metadata", METADATA),
        ("plain", "", "protocol:1,2", "protocol:1,2", PROTOCOL),
        ("part", "", "+m[part=1]", "protocol:1,7,materializePartitionColumns", PROTOCOL),
        ("plain", "app:t1", "", "txn:t2", "ok"),
        ("plain", "app:t1", "", "txn:t1", APPLICATION),
    ];
    for (name, reads, own, theirs, expected) in rows {
        let table = table_of(name);
        let transaction = transaction(&table, IsolationLevel::Serializable, "TRUNCATE", reads, own);
        assert_eq!(verdict(&transaction, &winner(theirs)), expected, "{name}: reads {reads}, {own} after {theirs}");
    }
}

/// Checks at WriteSerializable and at Serializable.
#[track_caller]
fn check(table: &Arc<Snapshot>, operation: &str, reads: &str, own: &str, theirs: &str, expected: [&str; 2]) {
    let found = BOTH.map(|level| verdict(&transaction(table, level, operation, reads, own), &winner(theirs)));
    assert_eq!(found, expected, "{operation} reads {reads}, {own} after {theirs}");
}

/// Report 1. The update of the winner re-adds the rows and so is no blind append.
#[test]
fn one_file_is_not_replaced_twice() {
    let update = "info:UPDATE:false -f1 +g1";
    check(&unpartitioned(), "UPDATE", "id=2; file:f1", "-f1 +g2", update, [APPEND; 2]);
    check(&unpartitioned(), "UPDATE", "id=2; file:f1", "-f1 +g2", "info:UPDATE:false -f1", [DELETE_READ; 2]);
    check(&unpartitioned(), "UPDATE", "", "-f1 +g2", "info:UPDATE:false -f1", [DELETE_DELETE; 2]);
    check(&unpartitioned(), "WRITE", "", "+g2", update, ["ok"; 2]);
    let update = "info:UPDATE:false -f1[p=a] +g1[p=a]";
    check(&partitioned(), "UPDATE", "p=b and id=2; file:f9", "-f9[p=b] +g2[p=b]", update, ["ok"; 2]);
}

/// Report 5.
#[test]
fn compaction_and_append_pass_each_other_and_compactions_do_not() {
    let table = partitioned();
    let compaction = "-~f1[p=a] -~f2[p=a] +~c[p=a]";
    let winning = format!("info:OPTIMIZE:false {compaction}");
    let append = "info:WRITE:true +n[p=a]";
    let read = "p=a; file:f1; file:f2";
    // a
    check(&table, "WRITE", "", "+n[p=a]", &winning, ["ok"; 2]);
    // b
    check(&table, "OPTIMIZE", read, compaction, append, ["ok"; 2]);
    // Report 3: what is appended while a compaction runs is none of its business, as long as it rearranges the rows of the version that it read.
    check(&unpartitioned(), "OPTIMIZE", "true; file:f1; file:f2", "-~f1 -~f2 +~c", "info:WRITE:true +n", ["ok"; 2]);
    // c: as Delta Spark, although the rows that the merge read are still the same.
    check(&table, "MERGE", read, "+n[p=a]", &winning, [APPEND; 2]);
    // d: the output of the compaction counts as an added file.
    check(&table, "DELETE", "p=a and id=1; file:f1", "-f1[p=a] +f1b[p=a]", &winning, [APPEND; 2]);
    check(&table, "DELETE", "file:f1", "-f1[p=a] +f1b[p=a]", &winning, [DELETE_READ; 2]);
    // e
    check(&table, "OPTIMIZE", read, "-~f1[p=a] -~f2[p=a] +~d[p=a]", &winning, [DELETE_READ; 2]);
    check(&table, "OPTIMIZE", "", "-~f1[p=a] -~f2[p=a] +~d[p=a]", &winning, [DELETE_DELETE; 2]);
    // f
    check(&table, "OPTIMIZE", read, compaction, "info:DELETE:false -f1[p=a] +f1b[p=a]", [DELETE_READ; 2]);
    // g: an action that is no file keeps the level.
    check(&table, "OPTIMIZE", read, &format!("{compaction} txn:app"), append, ["ok", APPEND]);
}

#[test]
fn blind_appends_pass_everything_that_keeps_protocol_and_metadata() {
    for theirs in ["+n[p=a]", "-f1[p=a]", "info:OPTIMIZE:false -~f1[p=a] +~c[p=a]", "txn:app", "domain:d", "cdc", ""] {
        check(&partitioned(), "WRITE", "", "+m[p=a] txn:app", theirs, ["ok"; 2]);
        check(&unpartitioned(), "WRITE", "", "+m", theirs, ["ok"; 2]);
    }
}

#[test]
fn a_blind_winner_counts_at_write_serializable_only_for_changed_metadata() {
    let append = "info:WRITE:true +n[p=a]";
    check(&partitioned(), "UPDATE", "p=a; file:f1", "-f1[p=a] +g[p=a]", append, ["ok", APPEND]);
    // ADD CONSTRAINT must see every row.
    check(&partitioned(), "ADD CONSTRAINT", "true; file:f1", "metadata", append, [APPEND; 2]);
    check(&partitioned(), "SET TBLPROPERTIES", "", "metadata", append, ["ok"; 2]);
}

#[test]
fn without_partitions_every_added_file_counts_even_for_who_read_nothing() {
    check(&unpartitioned(), "DELETE", "", "-f1", "+n", [APPEND; 2]);
    check(&unpartitioned(), "DELETE", "id=5; file:f1", "-f1", "+n", [APPEND; 2]);
    check(&partitioned(), "DELETE", "", "-f1[p=a]", "+n[p=a]", ["ok"; 2]);
}

/// Of a table without partitions the first predicate is named; a read of the whole table needs none.
#[test]
fn the_predicate_is_named_where_one_counts() {
    let predicate = |table: &Arc<Snapshot>, reads: &str| {
        let own = transaction(table, IsolationLevel::Serializable, "DELETE", reads, "-f1");
        RuleSet::delta_spark().check(&own, &winner("+n[p=a]")).unwrap().finding.predicate
    };
    assert_eq!(predicate(&unpartitioned(), "id=1; id=2"), Some(0));
    assert_eq!(predicate(&unpartitioned(), "whole; id=1"), None);
    assert_eq!(predicate(&unpartitioned(), "file:f1"), None);
    assert_eq!(predicate(&partitioned(), "whole; p=a"), None);
    assert_eq!(predicate(&partitioned(), "p=b; p=a"), Some(1));
}

#[test]
fn partition_values_that_say_nothing_conflict() {
    check(&partitioned(), "DELETE", "p=a; file:f1", "-f1[p=a]", "+n", [APPEND; 2]);
    check(&partitioned(), "DELETE", "p=a; file:f1", "-f1[p=a]", "+n[p=]", ["ok"; 2]);
    check(&partitioned(), "DELETE", "p<=>; file:f1", "-f1[p=a]", "+n[p=]", [APPEND; 2]);
}

#[test]
fn removed_files_are_compared_by_path_at_every_level() {
    for (reads, expected) in [("file:f1", DELETE_READ), ("", DELETE_DELETE)] {
        check(&partitioned(), "UPDATE", reads, "-f1[p=a]", "-~f1", [expected; 2]);
        check(&partitioned(), "OPTIMIZE", reads, "-~f1[p=a]", "-f1", [expected; 2]);
    }
    check(&partitioned(), "UPDATE", "file:f1", "-f1[p=a]", "-f2[p=a]", ["ok"; 2]);
    check(&partitioned(), "UPDATE", "whole", "", "-f9", [DELETE_READ; 2]);
    // What was not there was not read; a read of the whole table depends on it all the same.
    let reason = |reads: &str, theirs: &str| {
        let own = transaction(&partitioned(), IsolationLevel::Serializable, "UPDATE", reads, "");
        RuleSet::delta_spark().check(&own, &winner(theirs)).unwrap().finding.reason
    };
    assert_eq!(reason("whole; file:f9", "-new -f9"), "removed a file that this transaction read");
    assert_eq!(reason("whole; file:f9", "-new"), "removed a file, and this transaction depends on the whole table");
}

/// Two deletes of rows of one file, each with a vector of its own: if both were in, the file would be live twice.
#[test]
fn deletion_vectors_do_not_tell_files_apart() {
    let vector = DeletionVector { storage_type: "u".to_owned(), ..DeletionVector::default() };
    let mut winner = winner("-~f1");
    let [Action::Remove(remove)] = &mut winner.commit.actions[..] else { panic!("one remove") };
    remove.deletion_vector = Some(vector);
    for (reads, expected) in [("file:f1", DELETE_READ), ("", DELETE_DELETE)] {
        let delete = transaction(&partitioned(), IsolationLevel::Serializable, "DELETE", reads, "-f1");
        assert_eq!(verdict(&delete, &winner), expected);
    }
}

#[test]
fn the_first_rule_that_finds_something_decides() {
    let read = "p=a; file:f1";
    let all = "+n[p=a] -f1 metadata protocol:1,2";
    let own = "-f1[p=a] +g[p=a] protocol:1,2";
    check(&partitioned(), "UPDATE", read, own, all, [PROTOCOL; 2]);
    check(&partitioned(), "UPDATE", read, own, "+n[p=a] -f1 metadata", [METADATA; 2]);
    check(&partitioned(), "UPDATE", read, own, "-f1 +n[p=a]", [APPEND; 2]);
    check(&partitioned(), "UPDATE", read, own, "-f1 +n[p=b]", [DELETE_READ; 2]);
    check(&partitioned(), "UPDATE", "p=a; file:f2", own, "-f1", [DELETE_DELETE; 2]);
}

#[test]
fn metadata_that_stays_the_same_is_no_change() {
    let table = unpartitioned();
    let same = Action::Metadata(Metadata::clone(&table.metadata));
    let winner = Winner::new(Commit { version: Version(2), actions: vec![same.clone()] });
    let mut writer = transaction(&table, IsolationLevel::Serializable, "WRITE", "", "+n");
    assert_eq!(verdict(&writer, &winner), "ok");
    writer.actions.push(same);
    assert_eq!(verdict(&writer, &winner), METADATA);

    check(&table, "WRITE", "", "+n", "metadata", [METADATA; 2]);
    check(&table, "SET TBLPROPERTIES", "", "metadata", "+n", ["ok"; 2]);
    check(&table, "SET TBLPROPERTIES", "", "metadata", "metadata", [METADATA; 2]);
}

#[test]
fn a_protocol_conflicts_when_both_change_it_or_it_loses_something() {
    let check_protocol = |old: &str, own: &str, new: &str, expected: &str| {
        let table = table("id long", "", &[old]);
        check(&table, "WRITE", "", own, new, [expected; 2]);
    };
    let both = "protocol:1,7,appendOnly,invariants";
    check_protocol("protocol:1,2", "+n", "protocol:1,2", "ok");
    check_protocol("protocol:1,2", "+n protocol:1,2", "protocol:1,2", PROTOCOL);
    check_protocol("protocol:1,1", "+n", "protocol:1,2", "ok");
    check_protocol("protocol:1,7,appendOnly", "+n", both, "ok");
    check_protocol(both, "+n", "protocol:1,7,appendOnly", PROTOCOL);
    // Version 2 stands for the two features.
    check_protocol("protocol:1,2", "+n", both, "ok");
    check_protocol(both, "+n", "protocol:1,2", "ok");
    check_protocol("protocol:1,2", "+n", "protocol:1,7,appendOnly", PROTOCOL);
    check_protocol("protocol:1,2", "+n", "protocol:1,1", PROTOCOL);
    // What this build cannot write.
    check_protocol("protocol:1,2", "+n", "protocol:1,4", PROTOCOL);
    check_protocol("protocol:1,2", "+n", "protocol:2,5", PROTOCOL);
}

/// Two writers create the table at once.
#[test]
fn one_of_two_creators_loses() {
    let operation = Operation { name: "CREATE TABLE".to_owned(), ..Operation::default() };
    let text = actions("protocol:1,2 metadata +n");
    let level = IsolationLevel::Serializable;
    let mut creator = Transaction::new(None, ReadSet::default(), operation, text, level, "own".to_owned());
    let first = Winner::new(Commit { version: Version(0), actions: actions("info:WRITE protocol:1,2 metadata") });
    let check = |creator: &Transaction, first: &Winner, expected: &Expect| {
        expected.assert_eq(&RuleSet::delta_spark().check(creator, first).unwrap().finding.reason);
    };
    check(
        &creator,
        &first,
        &expect![
            "created the table, of the same schema and partitioning, as this transaction does (create the table before writers start)"
        ],
    );
    let change = |creator: &mut Transaction, change: fn(&mut Metadata)| {
        let Action::Metadata(metadata) = &mut creator.actions[1] else { panic!("the metadata is second") };
        change(metadata);
    };
    change(&mut creator, |metadata| metadata.partition_columns = vec!["p".to_owned()]);
    check(
        &creator,
        &first,
        &expect![
            "created the table, partitioned by [], as this transaction does (create the table before writers start)"
        ],
    );
    change(&mut creator, |metadata| metadata.schema_string.push(' '));
    check(
        &creator,
        &first,
        &expect![
            "created the table, of another schema, partitioned by [], as this transaction does (create the table before writers start)"
        ],
    );
    change(&mut creator, |metadata| metadata.partition_columns.clear());
    check(
        &creator,
        &first,
        &expect![
            "created the table, of another schema, as this transaction does (create the table before writers start)"
        ],
    );
    // A file that is empty, or holds half of what it should, is no place for a table either.
    for damaged in ["", "+a", "protocol:1,2"] {
        let damaged = Winner::new(Commit { version: Version(0), actions: actions(damaged) });
        let conflict = RuleSet::delta_spark().check(&creator, &damaged).unwrap();
        expect!["ProtocolChanged: version 0 (TRANSACTION) is there, where this transaction found no table (create the table before writers start) [rule protocol]"].assert_eq(&conflict.to_string());
    }
}

#[test]
fn a_conflict_says_what_the_winner_did() {
    let check = |reads: &str, own: &str, theirs: &str, file: Option<&str>, expected: &Expect| {
        let table = table("id long, p string", "p", &["protocol:1,7,appendOnly,invariants", "+f1[p=a]"]);
        let transaction = transaction(&table, IsolationLevel::Serializable, "UPDATE", reads, own);
        let conflict = RuleSet::delta_spark().check(&transaction, &winner(theirs)).unwrap();
        assert_eq!((conflict.winner, conflict.finding.file.as_deref()), (Version(2), file));
        expected.assert_eq(&conflict.to_string());
    };
    check(
        "",
        "protocol:1,2",
        "protocol:1,2",
        None,
        &expect![
            "ProtocolChanged: version 2 (TRANSACTION) changed the protocol, as this transaction does [rule protocol]"
        ],
    );
    check(
        "",
        "+n",
        "protocol:1,7",
        None,
        &expect![
            "ProtocolChanged: version 2 (TRANSACTION) dropped appendOnly, invariants from the protocol [rule protocol]"
        ],
    );
    check(
        "",
        "+n",
        "protocol:1,7,appendOnly,invariants,rowTracking",
        None,
        &expect![
            "ProtocolChanged: version 2 (TRANSACTION) changed the protocol: the table cannot be written: it needs the writer features rowTracking, which this build of contend does not implement [rule protocol]"
        ],
    );
    check(
        "",
        "+n",
        "info:RENAME metadata",
        None,
        &expect!["MetadataChanged: version 2 (RENAME) changed the table's metadata: its id differs [rule metadata]"],
    );
    check(
        "whole",
        "-f1",
        "info:WRITE:true +n[p=b] +m[p=a]",
        Some("n"),
        &expect![
            "ConcurrentAppend: version 2 (WRITE) added a file, and this transaction depends on the whole table [rule added-files]"
        ],
    );
    check(
        "p=a",
        "-f1",
        "info:WRITE:true +n[p=b] +m[p=a]",
        Some("m"),
        &expect![
            "ConcurrentAppend: version 2 (WRITE) added a file to a partition that this transaction read [rule added-files]"
        ],
    );
    check(
        "file:f1",
        "-f1",
        "info:DELETE -f0 -f1",
        Some("f1"),
        &expect![
            "ConcurrentDeleteRead: version 2 (DELETE) removed a file that this transaction read [rule removed-and-read]"
        ],
    );
    check(
        "",
        "-f1",
        "info:DELETE -f0 -f1",
        Some("f1"),
        &expect![
            "ConcurrentDeleteDelete: version 2 (DELETE) removed a file that this transaction removes as well [rule removed-twice]"
        ],
    );
}

#[test]
fn a_rule_that_is_left_out_is_not_asked() {
    let ids: Vec<&str> = RuleSet::delta_spark().rules.iter().map(|rule| rule.id).collect();
    expect![[r#"
        [
            "never-rebased",
            "protocol",
            "feature-drop",
            "metadata",
            "domain-metadata",
            "application-transaction",
            "backfill",
            "added-files",
            "removed-and-read",
            "removed-twice",
        ]
    "#]]
    .assert_debug_eq(&ids);
    let table = partitioned();
    let level = IsolationLevel::Serializable;
    let check = |id: &str, own: &str, theirs: &str, with: &str| {
        let transaction = transaction(&table, level, "UPDATE", "p=a; file:f1", own);
        assert_eq!(verdict(&transaction, &winner(theirs)), with);
        let rules = RuleSet::delta_spark().without(id).unwrap();
        assert_eq!(rules.check(&transaction, &winner(theirs)), None, "without {id}");
        let left: Vec<&str> = rules.rules.iter().map(|rule| rule.id).collect();
        assert_eq!(left, ids.iter().copied().filter(|other| *other != id).collect::<Vec<_>>());
    };
    check("protocol", "protocol:1,2", "protocol:1,2", PROTOCOL);
    check("metadata", "+n", "metadata", METADATA);
    check("added-files", "+n[p=a]", "+m[p=a]", APPEND);
    check("removed-and-read", "+n[p=a]", "-f1", DELETE_READ);
    check("removed-twice", "-f2", "-f2", DELETE_DELETE);
}

/// The commit loop and the store have devices that are left out like rules.
#[test]
fn devices_are_left_out_by_their_ids() {
    let devices = |rules: &RuleSet| (rules.recognises_own, rules.atomic_put, rules.rules.len());
    let all = RuleSet::delta_spark();
    assert_eq!(devices(&all), (true, true, 10));
    assert_eq!(devices(&all.clone().without(OWN_COMMIT).unwrap()), (false, true, 10));
    assert_eq!(devices(&all.without(ATOMIC_PUT).unwrap()), (true, false, 10));
}

#[test]
fn rules_are_known_by_their_ids() {
    let hash = |rule: &Rule| {
        let mut hasher = std::collections::hash_map::DefaultHasher::new();
        rule.hash(&mut hasher);
        hasher.finish()
    };
    let (one, same, other) =
        (Rule::new("one", |_, _| None), Rule::new("one", |_, _| panic!()), Rule::new("other", |_, _| None));
    assert_eq!((&one, hash(&one)), (&same, hash(&same)));
    assert_ne!(one, other);
    assert_ne!(hash(&one), hash(&other));
    assert_eq!(format!("{one:?}"), "one");
}

#[test]
fn each_rule_set_has_its_name() {
    let sets = [RuleSet::delta_spark(), RuleSet::with_statistics(), RuleSet::delta_spark_4_0_0()];
    assert_eq!(sets.map(|set| set.name), ["delta-spark", "statistics", "delta-spark-4.0.0"]);
}

#[test]
fn leaving_out_a_rule_that_is_not_there_is_an_error() {
    let error = RuleSet::delta_spark().without("removed").unwrap_err();
    expect!["rule set 'delta-spark' has no rule 'removed'; it has never-rebased, protocol, feature-drop, metadata, domain-metadata, application-transaction, backfill, added-files, removed-and-read, removed-twice, own-commit, put-if-absent"].assert_eq(&error.to_string());
    let twice = RuleSet::delta_spark().without("metadata").unwrap().without("metadata");
    assert_eq!(twice.unwrap_err().rule, "metadata");
}

#[test]
fn a_rule_of_the_callers_own_is_asked_in_its_turn() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = asked.clone();
    let own = Rule::new("no-copies", move |transaction, winner| {
        log.lock().unwrap().push(winner.version());
        let add = winner.adds().find(|add| transaction.operation.name == "COPY" && add.path == "copy")?;
        Some(Finding::in_file(ConflictKind::ConcurrentAppend, &add.path, "copied as well"))
    });
    let mut rules = RuleSet::delta_spark();
    rules.rules.push(own);
    let table = unpartitioned();
    let copy = transaction(&table, IsolationLevel::Serializable, "COPY", "", "+n");
    let conflict = rules.check(&copy, &winner("info:COPY +copy")).unwrap();
    expect!["ConcurrentAppend: version 2 (COPY) copied as well [rule no-copies]"].assert_eq(&conflict.to_string());
    assert_eq!(rules.check(&copy, &winner("+other")), None);
    assert_eq!(asked.lock().unwrap().len(), 2);
    // An earlier rule that finds something ends the search.
    assert_eq!(rules.check(&copy, &winner("metadata +copy")).unwrap().rule, "metadata");
    assert_eq!(asked.lock().unwrap().len(), 2);
}

#[test]
fn a_whole_table_that_was_written_in_one_go_is_not_moved() {
    for name in ["RESTORE", "CLONE", "CONVERT"] {
        for theirs in ["", "txn:app", "info:WRITE:true +n[p=a]", "protocol:1,2 metadata"] {
            check(&partitioned(), name, "", "metadata -f1[p=a]", theirs, [WRITE; 2]);
        }
    }
    check(&partitioned(), "restore", "", "+n", "", ["ok"; 2]);
}

/// As [`check`], on a table of this protocol.
#[track_caller]
fn check_under(protocol: &str, operation: &str, reads: &str, own: &str, theirs: &str, expected: &str) {
    let table = table("id long", "", &[protocol]);
    let mut transaction = transaction(&table, IsolationLevel::Serializable, operation, reads, own);
    transaction.client = Client::DeltaSpark;
    assert_eq!(verdict(&transaction, &winner(theirs)), expected, "{protocol}: {own} after {theirs}");
}

const DOMAINS: &str = "protocol:1,7,appendOnly,domainMetadata";
const TRACKED: &str = "protocol:1,7,appendOnly,domainMetadata,rowTracking";
const VECTORS: &str = "protocol:1,7,appendOnly,domainMetadata,deletionVectors";

#[test]
fn a_domain_is_written_by_one_of_two() {
    check_under(DOMAINS, "X", "", "domain:a", "domain:a", DOMAIN);
    check_under(DOMAINS, "X", "", "domain:a domain:b", "domain:c domain:b", DOMAIN);
    check_under(DOMAINS, "X", "", "domain:a", "domain:b", "ok");
    check_under(DOMAINS, "X", "", "+n", "domain:a", "ok");
    check_under(DOMAINS, "X", "", "domain:a", "+n", "ok");
    check_under(DOMAINS, "REPLACE TABLE", "", "domain:delta.clustering", "domain:delta.clustering", DOMAIN);
    check_under(TRACKED, "X", "", "mark:5 domain:a", "mark:6 domain:b", "ok");
    check_under(TRACKED, "X", "", "mark:5 domain:a", "mark:6 domain:a", DOMAIN);
    // Where the table has no such feature, a domain means nothing.
    check_under("protocol:1,2", "X", "", "domain:a", "domain:a", "ok");
    check_under(
        "protocol:1,2",
        "X",
        "",
        "domain:a",
        &format!("{}{}", "domain:a ", "protocol:1,7,appendOnly,invariants,domainMetadata"),
        DOMAIN,
    );
}

#[test]
fn an_application_that_was_looked_up_must_not_move() {
    check(&partitioned(), "STREAMING UPDATE", "app:s", "+n[p=a] txn:s", "txn:s +m[p=b]", [APPLICATION; 2]);
    check(&partitioned(), "STREAMING UPDATE", "app:r; app:s", "+n[p=a]", "txn:a txn:s", [APPLICATION; 2]);
    check(&partitioned(), "STREAMING UPDATE", "app:s", "+n[p=a] txn:s", "txn:S txn:s2", ["ok"; 2]);
    // Who writes a number without having looked takes the risk.
    check(&partitioned(), "STREAMING UPDATE", "", "+n[p=a] txn:s", "txn:s", ["ok"; 2]);
    check(&partitioned(), "STREAMING UPDATE", "app:s", "domain:a", "domain:a txn:s -f1", [APPLICATION; 2]);
}

#[test]
fn adding_files_for_their_row_ids_is_no_append() {
    let (backfill, unbackfill) = ("ROW TRACKING BACKFILL", "ROW TRACKING UNBACKFILL");
    check_under(TRACKED, "UPDATE", "whole", "-f1", "info:ROW_TRACKING_BACKFILL +~f1", "ok");
    check_under(TRACKED, "UPDATE", "whole", "-f1", "info:ROW_TRACKING_UNBACKFILL +~f1", "ok");
    check_under(TRACKED, backfill, "file:f1", "+f1", "+n", "ok");
    check_under(TRACKED, unbackfill, "file:f1", "+f1", "+n", "ok");
    check_under(TRACKED, "UPDATE", "file:f1", "+f1", "+n", APPEND);
    // What was removed is left out, so nothing depends on it.
    check_under(TRACKED, backfill, "file:f1", "+f1", "-f1", "ok");
    check_under(TRACKED, unbackfill, "file:f1", "+f1", "-f1", "ok");
    check_under(TRACKED, "DROP FEATURE", "file:f1", "+f1 protocol:1,7,appendOnly,domainMetadata", "-f1", "ok");
    check_under(TRACKED, "DROP FEATURE", "file:f1", &format!("+f1 {TRACKED}"), "-f1", DELETE_READ);
    check_under(TRACKED, "UPDATE", "file:f1", "+f1", "-f1", DELETE_READ);
    check_under(TRACKED, unbackfill, "file:f1", "+f1", "info:ROW_TRACKING_BACKFILL +~f1", BACKFILL);
    check_under(TRACKED, backfill, "file:f1", "+f1", "info:ROW_TRACKING_BACKFILL +~f1", "ok");
    check_under("protocol:1,2", unbackfill, "file:f1", "+f1", "info:ROW_TRACKING_BACKFILL +~f1", "ok");
}

#[test]
fn without_the_allow_list_only_marks_of_identity_columns_pass() {
    let check = |own: &str, tagged: bool, expected: &str| {
        let mut moved = winner("info:WRITE:true metadata");
        if tagged {
            let Action::CommitInfo(info) = &mut moved.commit.actions[0] else { panic!("an info") };
            info.0.insert("tags".to_owned(), serde_json::json!({ "delta.identity.schemaUpdate": "true" }));
        }
        let moved = Winner::new(moved.commit);
        let own = transaction(&unpartitioned(), IsolationLevel::Serializable, "WRITE", "", own);
        assert_eq!(verdict_of(&RuleSet::delta_spark_4_0_0(), &own, &moved), expected);
    };
    check("+n", false, METADATA);
    check("+n", true, "ok");
    check("+n metadata", true, METADATA);
}

#[test]
fn a_feature_is_not_dropped_over_its_new_traces() {
    let without = "protocol:1,7,appendOnly,domainMetadata";
    let mut vector = winner("+f1 +f2");
    let Action::Add(add) = &mut vector.commit.actions[1] else { panic!("an add") };
    add.deletion_vector = Some(DeletionVector { storage_type: "u".to_owned(), ..DeletionVector::default() });
    let check_vector = |old: &str, own: &str, expected: &str| {
        let table = table("id long, p string", "p", &[old]);
        let drop = transaction(&table, IsolationLevel::Serializable, "DROP FEATURE", "", own);
        assert_eq!(verdict(&drop, &vector), expected, "{old}, {own}");
        // Delta Spark 4.0.0 counts no vectors where the property is off (found by `random_1_00429`).
        assert_eq!(verdict_of(&RuleSet::delta_spark_4_0_0(), &drop, &vector), "ok", "{old}, {own}");
    };
    check_vector(VECTORS, without, DROP);
    let vectors = table("id long, p string", "p", &[VECTORS]);
    let drop = transaction(&vectors, IsolationLevel::Serializable, "DROP FEATURE", "", without);
    let file = RuleSet::delta_spark().check(&drop, &vector).unwrap().finding.file;
    assert_eq!(file.as_deref(), Some("f2"), "the file with the vector");
    check_vector(VECTORS, VECTORS, "ok");
    check_vector(without, without, "ok");
    check_vector(VECTORS, "+n", "ok");
    check_under(VECTORS, "DROP FEATURE", "", without, "+f1", "ok");
    let without = "protocol:1,7,appendOnly,deletionVectors";
    check_under(VECTORS, "DROP FEATURE", "", without, "domain:a", DROP);
    check_under(VECTORS, "DROP FEATURE", "", without, "mark:4", "ok");
    check_under(VECTORS, "DROP FEATURE", "", without, "mark:4 domain:a", DROP);
    check_under(without, "DROP FEATURE", "", without, "domain:a", "ok");
    let mut removed = winner("domain:a");
    let Action::DomainMetadata(domain) = &mut removed.commit.actions[0] else { panic!("a domain") };
    domain.removed = true;
    let drop =
        transaction(&table("id long", "", &[VECTORS]), IsolationLevel::Serializable, "DROP FEATURE", "", without);
    assert_eq!(verdict(&drop, &removed), "ok");
}

/// A transaction that drops a feature, and a winner that changes the metadata.
fn drop_past(feature: &str, change: impl Fn(&mut Metadata)) -> (Transaction, Winner) {
    let table = table("id long", "", &[&format!("protocol:1,7,appendOnly,{feature}")]);
    let mut metadata = (*table.metadata).clone();
    change(&mut metadata);
    assert_ne!(metadata, *table.metadata);
    let mut switch = winner("");
    switch.commit.actions.push(Action::Metadata(metadata));
    let own = "protocol:1,7,appendOnly";
    (transaction(&table, IsolationLevel::Serializable, "DROP FEATURE", "", own), switch)
}

/// Delta Spark looks at the table again as the winner left it: a feature that is in use cannot be dropped.
#[test]
fn a_feature_is_not_dropped_once_it_is_switched_on_again() {
    let check = |feature: &str, property: &str, value: &str, expected: &str| {
        let (drop, switch) = drop_past(feature, |metadata| {
            metadata.configuration.insert(property.to_owned(), value.to_owned());
        });
        assert_eq!(verdict(&drop, &switch), expected, "{feature}, {property} = {value}");
        let released = verdict_of(&RuleSet::delta_spark_4_0_0(), &drop, &switch);
        assert_eq!(released, expected, "{feature}, {property} = {value}");
        let mut other = drop;
        other.actions = actions(&format!("protocol:1,7,{feature}"));
        assert!(verdict(&other, &switch) != DROP, "{feature} stays");
    };
    check("deletionVectors", "delta.enableDeletionVectors", "TRUE", DROP);
    check("deletionVectors", "delta.enableDeletionVectors", "false", METADATA);
    check("deletionVectors", "delta.checkpointPolicy", "v2", METADATA);
    check("v2Checkpoint", "delta.checkpointPolicy", "V2", DROP);
    check("v2Checkpoint", "delta.checkpointPolicy", "classic", METADATA);
    check("inCommitTimestamp", "delta.enableInCommitTimestamps", "true", DROP);
    check("columnMapping", "delta.columnMapping.mode", "id", DROP);
    check("columnMapping", "delta.columnMapping.mode", "none", METADATA);
    check("rowTracking", "delta.enableRowTracking", "true", METADATA);
    check("inCommitTimestamp", "delta.inCommitTimestampEnablementVersion", "3", DROP);
    check("inCommitTimestamp", "delta.inCommitTimestampEnablementTimestamp", "3", DROP);
    check("checkConstraints", "delta.constraints.positive", "id > 0", DROP);
    check("checkConstraints", "Delta.Constraints.positive", "id > 0", DROP);
    check("checkConstraints", "delta.enableTypeWidening", "true", METADATA);
    check("checkpointProtection", "delta.requireCheckpointProtectionBeforeVersion", "0", DROP);
    check("typeWidening", "delta.enableTypeWidening", "true", DROP);
    check("typeWidening-preview", "delta.enableTypeWidening", "True", DROP);
    check("typeWidening", "delta.enableTypeWidening", "false", METADATA);
    check("vacuumProtocolCheck", "delta.enableTypeWidening", "true", METADATA);
}

/// A feature may leave its trace in the schema, and what a comment says is none.
#[test]
fn a_feature_is_not_dropped_over_fields_that_use_it() {
    let check = |feature: &str, key: &str, expected: &str| {
        let (drop, winner) = drop_past(feature, |metadata| {
            let with_key = format!(r#""metadata":{{{key}}}"#);
            metadata.schema_string = metadata.schema_string.replace(r#""metadata":{}"#, &with_key);
        });
        assert_eq!(verdict(&drop, &winner), expected, "{feature}, {key}");
    };
    check("columnMapping", r#""delta.columnMapping.id":1"#, DROP);
    check("columnMapping", r#""delta.columnMapping.physicalName":"x""#, DROP);
    check("columnMapping", r#""comment":"\"delta.columnMapping.id\":1""#, METADATA);
    check("columnMapping", r#""delta.typeChanges":[]"#, METADATA);
    check("typeWidening", r#""delta.typeChanges":[]"#, DROP);
    check("typeWidening-preview", r#""delta.typeChanges":[]"#, DROP);
    check("checkConstraints", r#""delta.typeChanges":[]"#, METADATA);
}

#[test]
fn features_of_a_winner_are_weighed_against_what_was_read() {
    let check = |old: &str, own: &str, new: &str, expected: &str| check_under(old, "WRITE", "", own, new, expected);
    check("protocol:1,2", "+n", "protocol:1,7,appendOnly,invariants,rowTracking,changeDataFeed", "ok");
    check("protocol:1,2", "+n", "protocol:1,7,appendOnly,invariants,neverHeardOfIt", PROTOCOL);
    check("protocol:1,2", "+n", "protocol:1,8", PROTOCOL);
    check("protocol:1,2", "+n", "protocol:4,7,appendOnly,invariants", PROTOCOL);
    check(
        "protocol:1,4",
        "+n",
        "protocol:1,7,appendOnly,invariants,checkConstraints,changeDataFeed,generatedColumns",
        "ok",
    );
    check("protocol:1,4", "+n", "protocol:1,7,appendOnly,invariants,checkConstraints,changeDataFeed", PROTOCOL);
    check("protocol:2,5", "+n", "protocol:1,6", PROTOCOL);
    // The first winner adds a feature, the second drops it again: nothing is missing that the transaction knew.
    let table = table("id long", "", &["protocol:1,7,appendOnly"]);
    let mut append = Arc::new(transaction(&table, IsolationLevel::Serializable, "WRITE", "", "+n"));
    crate::rebase::rebase(&mut append, &winner("protocol:1,7,appendOnly,invariants")).unwrap();
    assert_eq!(verdict(&append, &winner("protocol:1,7,appendOnly")), "ok");
}

#[test]
fn a_feature_that_asks_something_fails_writers_where_that_is_asked_for() {
    let rules = RuleSet::delta_spark().with(concurrent_feature());
    assert_eq!(rules.rules.last().unwrap().id, "concurrent-feature");
    let check = |old: &str, new: &str, expected: Option<&str>| {
        let table = table("id long", "", &[old]);
        let mut append = transaction(&table, IsolationLevel::Serializable, "WRITE", "", "+n");
        append.client = Client::DeltaSpark;
        assert_eq!(verdict(&append, &winner(new)), "ok");
        let reason = rules.check(&append, &winner(new)).map(|conflict| conflict.finding.reason);
        assert_eq!(reason.as_deref(), expected);
    };
    let asks =
        "added checkConstraints, materializePartitionColumns to the protocol, which asks something of every writer";
    let new = "protocol:1,7,appendOnly,invariants,checkConstraints,materializePartitionColumns,rowTracking";
    check("protocol:1,2", new, Some(asks));
    check(new, new, None);
    check("protocol:1,2", "protocol:1,7,appendOnly,invariants,rowTracking,domainMetadata", None);
    check("protocol:1,2", "txn:a", None);
}

#[test]
fn a_rule_takes_the_place_of_the_one_with_its_id() {
    let never = Rule::new("metadata", |_, _| None);
    let rules = RuleSet::delta_spark().with(never);
    let ids = |rules: &RuleSet| rules.rules.iter().map(|rule| rule.id).collect::<Vec<_>>();
    assert_eq!(ids(&rules), ids(&RuleSet::delta_spark()));
    let append = transaction(&unpartitioned(), IsolationLevel::Serializable, "WRITE", "", "+n");
    assert_eq!(rules.check(&append, &winner("metadata")), None);
}

/// A file with statistics of the column `id`.
fn bounded(file: &str, min: i64, max: i64) -> Winner {
    let mut winner = winner(&format!("info:WRITE +{file}"));
    let Action::Add(add) = &mut winner.commit.actions[1] else { panic!("an add") };
    add.stats = Some(format!(
        r#"{{"numRecords":2,"minValues":{{"id":{min}}},"maxValues":{{"id":{max}}},"nullCount":{{"id":0}}}}"#
    ));
    winner
}

#[test]
fn statistics_narrow_only_where_they_are_asked_for_and_prove_it() {
    let narrow = RuleSet::with_statistics();
    assert_eq!(narrow.name, "statistics");
    let check = |table: &Arc<Snapshot>, reads: &str, own: &str, theirs: &Winner, expected: &str| {
        let transaction = transaction(table, IsolationLevel::Serializable, "DELETE", reads, own);
        assert_eq!(verdict(&transaction, theirs), APPEND, "{reads}: the reference looks at no statistics");
        let found = narrow.check(&transaction, theirs).map(|conflict| conflict.rule);
        assert_eq!(found.as_deref(), (expected == APPEND).then_some("added-files"), "{reads}");
    };
    let plain = unpartitioned();
    check(&plain, "id=5; file:f1", "-f1", &bounded("n", 6, 9), "ok");
    check(&plain, "id=7; file:f1", "-f1", &bounded("n", 6, 9), APPEND);
    check(&plain, "id=5; id=7", "-f1", &bounded("n", 6, 9), APPEND);
    check(&plain, "id=5", "-f1", &winner("+n"), APPEND);
    // A file whose bounds were read wrong by half says nothing.
    check(&plain, "id=5", "-f1", &bounded("n", 9, 6), APPEND);
    check(&plain, "whole; id=5", "-f1", &bounded("n", 6, 9), APPEND);
    check(&plain, "", "-f1", &bounded("n", 6, 9), APPEND);
    let table = partitioned();
    check(&table, "p=a and id=5", "-f1[p=a]", &bounded("n[p=a]", 6, 9), "ok");
    check(&table, "p=a and id=7", "-f1[p=a]", &bounded("n[p=a]", 6, 9), APPEND);
    check(&table, "p=a or id=5", "-f1[p=a]", &bounded("n[p=b]", 6, 9), "ok");
    check(&table, "p=b or id=5", "-f1[p=a]", &bounded("n[p=b]", 6, 9), APPEND);
    let mut two = bounded("n[p=a]", 6, 9);
    two.commit.actions.extend(bounded("m[p=a]", 4, 5).commit.actions.pop());
    check(&table, "p=a and id=5", "-f1[p=a]", &two, APPEND);
}

/// Report 4: merges into different partitions. What cannot be resolved is true by the time that it is registered.
#[test]
fn merges_into_disjoint_partitions_pass_when_the_condition_says_so() {
    let theirs = "info:MERGE:false -fa[p=a] +fa2[p=a]";
    let own = "-fb[p=b] +fb2[p=b]";
    check(&partitioned(), "MERGE", "p=b; file:fb", own, theirs, ["ok"; 2]);
    check(&partitioned(), "MERGE", "true and p=b; file:fb", own, theirs, ["ok"; 2]);
    // (b) WHEN NOT MATCHED BY SOURCE reads everything; (c) nothing could be resolved.
    check(&partitioned(), "MERGE", "true; file:fa; file:fb", own, theirs, [APPEND; 2]);
    check(&partitioned(), "MERGE", "true; file:fb", own, theirs, [APPEND; 2]);
}

/// Report 10. The winner holds only an add, and is none the less not blind: it read.
#[test]
fn two_upserts_of_one_absent_key_conflict() {
    let merge = transaction(&unpartitioned(), IsolationLevel::WriteSerializable, "MERGE", "true; file:f1", "+n2");
    assert!(!merge.blind_append);
    check(&unpartitioned(), "MERGE", "true; file:f1", "+n1", "info:MERGE:false +n2", [APPEND; 2]);
}

/// Report 51.
#[test]
fn a_stream_and_a_compaction_get_along_as_far_as_their_rows_do() {
    let table = partitioned();
    let stream = "info:STREAMING_UPDATE:true +n[p=a] txn:q";
    let optimize = "-~f1[p=a] -~f2[p=a] +~c[p=a]";
    // (a) both ways.
    check(&table, "OPTIMIZE", "p=a; file:f1; file:f2", optimize, stream, ["ok"; 2]);
    let winning = format!("info:OPTIMIZE:false {optimize}");
    check(&table, "STREAMING UPDATE", "app:q", "+n[p=a] txn:q", &winning, ["ok"; 2]);
    // (b) an ordinary overwrite as compaction.
    let overwrite = "-f1[p=a] -f2[p=a] +c[p=a]";
    check(&table, "WRITE", "p=a; file:f1; file:f2", overwrite, stream, ["ok", APPEND]);
    check(&table, "STREAMING UPDATE", "app:q", "+n[p=a] txn:q", &format!("info:WRITE:false {overwrite}"), ["ok"; 2]);
    // (c) an overwrite of another partition.
    check(&table, "WRITE", "p=b; file:f9", "-f9[p=b] +c[p=b]", stream, ["ok"; 2]);
    // The stream merges into any partition.
    let merge = "-f9[p=b] +g[p=b]";
    check(&table, "MERGE", "id=1; file:f1; file:f2; file:f9", merge, &winning, [APPEND; 2]);
    check(&table, "MERGE", "p=b; file:f9", merge, &winning, ["ok"; 2]);
}

/// Report 52, by the numbers of its conditions; 2 and 9 depend on what an engine makes of the source.
#[test]
fn only_conditions_that_hold_for_every_row_keep_partitions_apart() {
    let theirs = "info:MERGE:false -f1[p=a] +fa2[p=a]";
    let own = "-f9[p=b] +fb2[p=b]";
    let all = "file:f1; file:f2; file:f9";
    // 1, 6, 8: and 7, where the literal stands in a clause, reads as 1 does.
    for condition in ["id=1", "p=b or id=5", "true"] {
        check(&partitioned(), "MERGE", &format!("{condition}; {all}"), own, theirs, [APPEND; 2]);
    }
    // 3, 4.
    for condition in ["id=1 and p=b", "p=b or p=c"] {
        check(&partitioned(), "MERGE", &format!("{condition}; file:f9"), own, theirs, ["ok"; 2]);
    }
    // 10.
    check(&unpartitioned(), "MERGE", "id=1; file:f2", "-f2 +g2", "info:MERGE:false -f1 +g1", [APPEND; 2]);
}

/// Report 54, by its letters: a, b, f and h are blind; c, d and g read.
#[test]
fn inserts_conflict_by_what_they_read_and_not_by_their_name() {
    let table = unpartitioned();
    let (blind, reading) = ("info:WRITE:true +m", "info:WRITE:false +m");
    check(&table, "WRITE", "", "+n", blind, ["ok"; 2]);
    check(&table, "WRITE", "", "+n", reading, ["ok"; 2]);
    check(&table, "WRITE", "id>5; file:f1; file:f2", "+n", blind, ["ok", APPEND]);
    check(&table, "WRITE", "id>5; file:f1; file:f2", "+n", reading, [APPEND; 2]);
    // e: other writers that overlap it lose, and two of them do not both win. It passes a plain append.
    check(&table, "WRITE", "", "+n", "info:WRITE:true metadata +m", [METADATA; 2]);
    check(&table, "WRITE", "", "metadata +n", "info:WRITE:true metadata +m", [METADATA; 2]);
    check(&table, "WRITE", "", "metadata +n", blind, ["ok"; 2]);
    // Partitions change nothing for who reads the whole table.
    check(&partitioned(), "WRITE", "true; file:f1", "+n[p=a]", "info:WRITE:false +m[p=z]", [APPEND; 2]);
}
