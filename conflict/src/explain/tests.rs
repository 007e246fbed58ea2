use std::sync::Arc;

use expect_test::{Expect, expect};
use log_core::{action::Action, snapshot::Snapshot};

use super::*;
use crate::{
    cases,
    testing::{actions, partitioned, predicate, table, unpartitioned, winner, winner_at},
    transaction::Operation,
};

/// The explanation of a transaction that reads `p=a; file:f1; whole; app:a` against one winner.
fn explained(table: &Arc<Snapshot>, level: &str, operation: &str, reads: &str, own: &str, theirs: &str) -> Explanation {
    let mut read_set = ReadSet::default();
    for read in reads.split("; ").filter(|read| !read.is_empty()) {
        match read.split_once(':') {
            Some(("file", path)) => assert!(read_set.files.insert(path.to_owned())),
            Some(("app", id)) => assert!(read_set.app_ids.insert(id.to_owned())),
            _ if read == "whole" => read_set.whole_table = true,
            _ => read_set.predicates.push(predicate(table, read)),
        }
    }
    let (operation, level) = (Operation::named(operation), level.parse().unwrap());
    let own = Transaction::new(Some(table.clone()), read_set, operation, actions(own), level, "own".to_owned());
    let (winner, rules) = (winner(theirs), RuleSet::delta_spark());
    let conflict = rules.check(&own, &winner).expect("a conflict");
    explain(&own, &[winner], &conflict, &rules)
}

#[track_caller]
fn check(explanation: &Explanation, expected: &Expect) {
    expected.assert_eq(&explanation.to_string());
}

/// Report 51 (b): compaction by an ordinary overwrite, and a stream of appends.
#[test]
fn compaction_by_overwrite_is_told_to_be_optimize() {
    let overwrite = |level| {
        explained(
            &partitioned(),
            level,
            "WRITE",
            "p=a; file:f1; file:f2",
            "-f1[p=a] -f2[p=a] +c[p=a]",
            "info:STREAMING_UPDATE:true +n[p=a] txn:q",
        )
    };
    let explanation = overwrite("Serializable");
    check(
        &explanation,
        &expect![
            "ConcurrentAppend: the operation WRITE read version 1 and was checked at Serializable. Version 2 (STREAMING UPDATE) added a file to a partition that this transaction read: n in partition [p=a] [rule added-files]. The read predicate that matched is `(p = 'a')`. Putting the same files again is not safe; running the statement again on a fresh snapshot is. To avoid it: at level WriteSerializable this would commit, since the other order of the two explains the result. To avoid it: if this only moves rows between files, use OPTIMIZE, which changes no data and passes new files."
        ],
    );
    expect![[r#"
        {
          "advice": [
            "at level WriteSerializable this would commit, since the other order of the two explains the result",
            "if this only moves rows between files, use OPTIMIZE, which changes no data and passes new files"
          ],
          "blindRetryIsSafe": false,
          "conflict": "ConcurrentAppend",
          "file": "n",
          "isolationLevel": "Serializable",
          "operation": "WRITE",
          "partition": "[p=a]",
          "predicate": "(p = 'a')",
          "predicateNarrowsNoPartition": false,
          "readVersion": 1,
          "reason": "added a file to a partition that this transaction read",
          "retry": "rerun",
          "rule": "added-files",
          "winner": 2,
          "winnerOperation": "STREAMING UPDATE",
          "winnerReadVersion": null
        }"#]]
    .assert_eq(&format!("{:#}", explanation.to_json()));
}

/// Report 51: the stream merges into any partition.
#[test]
fn a_merge_into_any_partition_is_told_to_name_partitions() {
    let merge = |own: &str, theirs: &str| {
        explained(&partitioned(), "WriteSerializable", "MERGE", "id=1; file:f1; file:f2; file:f9", own, theirs)
    };
    check(
        &merge("-f9[p=b] +g[p=b]", "info:OPTIMIZE:false -~f1[p=a] -~f2[p=a] +~c[p=a]"),
        &expect![
            "ConcurrentAppend: the operation MERGE read version 1 and was checked at WriteSerializable. Version 2 (OPTIMIZE) added a file to a partition that this transaction read: c in partition [p=a] [rule added-files]. The read predicate that matched is `(id = 1L)`, of which no part narrows the partitions. Putting the same files again is not safe; running the statement again on a fresh snapshot is. To avoid it: nothing was written to a partition that this transaction writes: a condition on (p = 'b') that every row must meet keeps them apart."
        ],
    );
    check(
        &merge("-f1[p=a] +g[p=a]", "info:OPTIMIZE:false -~f1[p=a] -~f2[p=a] +~c[p=a]"),
        &expect![
            "ConcurrentAppend: the operation MERGE read version 1 and was checked at WriteSerializable. Version 2 (OPTIMIZE) added a file to a partition that this transaction read: c in partition [p=a] [rule added-files]. The read predicate that matched is `(id = 1L)`, of which no part narrows the partitions. Putting the same files again is not safe; running the statement again on a fresh snapshot is. To avoid it: name the partitions that are meant by constants in the condition, joined by AND."
        ],
    );
}

/// Report 52 (6): the predicate that could not be narrowed is named.
#[test]
fn a_predicate_that_narrows_nothing_is_named() {
    let merge = explained(
        &partitioned(),
        "Serializable",
        "MERGE",
        "p=b or id=5; file:f1; file:f2; file:f9",
        "-f9[p=b] +g[p=b]",
        "info:MERGE:false -f1[p=a] +h[p=a]",
    );
    assert!(merge.unbounded);
    check(
        &merge,
        &expect![
            "ConcurrentAppend: the operation MERGE read version 1 and was checked at Serializable. Version 2 (MERGE) added a file to a partition that this transaction read: h in partition [p=a] [rule added-files]. The read predicate that matched is `((p = 'b') OR (id = 5L))`, of which no part narrows the partitions. Putting the same files again is not safe; running the statement again on a fresh snapshot is. To avoid it: nothing was written to a partition that this transaction writes: a condition on (p = 'b') that every row must meet keeps them apart."
        ],
    );
}

/// Report 54 (c): an insert that reads its own table.
#[test]
fn an_insert_that_reads_is_told_what_a_blind_append_is() {
    let insert = explained(&unpartitioned(), "Serializable", "WRITE", "id>5; file:f1", "+n", "info:WRITE:true +m");
    check(
        &insert,
        &expect![
            "ConcurrentAppend: the operation WRITE read version 1 and was checked at Serializable. Version 2 (WRITE) added a file, and this transaction depends on the whole table: m [rule added-files]. The read predicate that matched is `(id > 5L)`. Putting the same files again is not safe; running the statement again on a fresh snapshot is. To avoid it: at level WriteSerializable this would commit, since the other order of the two explains the result. To avoid it: an insert that does not read this table is a blind append and passes. To avoid it: partition the table by columns that conditions name, so that writers of different partitions pass each other."
        ],
    );
    // At WriteSerializable the level cannot help any more.
    let insert =
        explained(&unpartitioned(), "WriteSerializable", "WRITE", "id>5; file:f1", "+n", "info:WRITE:false +m");
    check(
        &insert,
        &expect![
            "ConcurrentAppend: the operation WRITE read version 1 and was checked at WriteSerializable. Version 2 (WRITE) added a file, and this transaction depends on the whole table: m [rule added-files]. The read predicate that matched is `(id > 5L)`. Putting the same files again is not safe; running the statement again on a fresh snapshot is. To avoid it: an insert that does not read this table is a blind append and passes. To avoid it: partition the table by columns that conditions name, so that writers of different partitions pass each other."
        ],
    );
}

/// Report 54 (e).
#[test]
fn an_append_that_changes_the_schema_is_told_apart() {
    check(
        &explained(&unpartitioned(), "Serializable", "WRITE", "", "+n", "info:WRITE:true metadata +m"),
        &expect![
            "MetadataChanged: the operation WRITE read version 1 and was checked at Serializable. Version 2 (WRITE) changed the table's metadata: its id differs [rule metadata]. A blind retry is not safe: load the table anew, check that the statement still means the same, and run it again. To avoid it: let appends not change the schema, or let the one that does run alone."
        ],
    );
    check(
        &explained(&unpartitioned(), "Serializable", "WRITE", "", "+n", "info:RENAME:true metadata"),
        &expect![
            "MetadataChanged: the operation WRITE read version 1 and was checked at Serializable. Version 2 (RENAME) changed the table's metadata: its id differs [rule metadata]. A blind retry is not safe: load the table anew, check that the statement still means the same, and run it again. To avoid it: change tables while nobody else does."
        ],
    );
}

#[test]
fn what_to_do_next_depends_on_the_kind() {
    let stream = explained(
        &unpartitioned(),
        "Serializable",
        "STREAMING UPDATE",
        "app:s",
        "+n txn:s",
        "info:STREAMING_UPDATE:true +m txn:s",
    );
    check(
        &stream,
        &expect![
            "ConcurrentTransaction: the operation STREAMING UPDATE read version 1 and was checked at Serializable. Version 2 (STREAMING UPDATE) moved the application s to 1, whose progress this transaction looked up [rule application-transaction]. A blind retry is not safe: look up on a fresh snapshot how far the application has come, the step may be done. To avoid it: let one copy of the application run at a time, each with a checkpoint of its own."
        ],
    );
    let restore = explained(
        &unpartitioned(),
        "Serializable",
        "RESTORE",
        "true; file:f1; file:f2",
        "metadata -f2",
        "info:VACUUM_END:true",
    );
    check(
        &restore,
        &expect![
            "ConcurrentWrite: the operation RESTORE read version 1 and was checked at Serializable. Version 2 (VACUUM END) came first, and a RESTORE is not moved past any other commit [rule never-rebased]. Putting the same files again is not safe; running the statement again on a fresh snapshot is. To avoid it: let nothing else write while this runs."
        ],
    );
    let compaction = explained(
        &partitioned(),
        "Serializable",
        "OPTIMIZE",
        "p=a; file:f1; file:f2",
        "-~f1[p=a] -~f2[p=a] +~c[p=a]",
        "info:DELETE:false -f1[p=a]",
    );
    check(
        &compaction,
        &expect![
            "ConcurrentDeleteRead: the operation OPTIMIZE read version 1 and was checked at SnapshotIsolation. Version 2 (DELETE) removed a file that this transaction read: f1 in partition [p=a] [rule removed-and-read]. Putting the same files again is not safe; running the statement again on a fresh snapshot is. To avoid it: let writers that run at once rewrite disjoint files."
        ],
    );
    let twice = explained(
        &partitioned(),
        "Serializable",
        "OPTIMIZE",
        "",
        "-~f1[p=a] +~c[p=a]",
        "info:OPTIMIZE:false -~f1[p=a] +~d[p=a]",
    );
    check(
        &twice,
        &expect![
            "ConcurrentDeleteDelete: the operation OPTIMIZE read version 1 and was checked at SnapshotIsolation. Version 2 (OPTIMIZE) removed a file that this transaction removes as well: f1 in partition [p=a] [rule removed-twice]. Putting the same files again is not safe; running the statement again on a fresh snapshot is. To avoid it: let writers that run at once rewrite disjoint files."
        ],
    );
}

#[test]
fn who_found_no_table_is_told_to_create_it_first() {
    let case = cases::run("two_creators_of_one_table_conflict");
    check(
        &case.end.unwrap_err(),
        &expect![
            "ProtocolChanged: the operation CREATE TABLE found no table and was checked at Serializable. Version 0 (CREATE TABLE) created the table, of the same schema and partitioning, as this transaction does (create the table before writers start) [rule protocol]. A blind retry is not safe: load the table anew, check that the statement still means the same, and run it again. To avoid it: create the table once, before writers start."
        ],
    );
}

/// What is advised was tried: where it would not help, it is not said.
#[test]
fn advice_is_given_only_where_it_helps() {
    let advice =
        |level, operation, reads, own, theirs| explained(&partitioned(), level, operation, reads, own, theirs).advice;
    let narrow = "nothing was written to a partition";
    let apart = "work on different partitions";
    let has = |advice: &[String], text: &str| advice.iter().any(|one| one.contains(text));
    // The winner is not blind, so the level does not help; it wrote where the transaction writes, so no partition does.
    let found = advice("Serializable", "DELETE", "p=a; file:f1", "-f1[p=a] +g[p=a]", "info:UPDATE:false +n[p=a]");
    assert!(!has(&found, "WriteSerializable") && !has(&found, narrow) && !has(&found, "OPTIMIZE"), "{found:?}");
    let found = advice("Serializable", "WRITE", "p=a; file:f1", "-f1[p=a] +g[p=a]", "info:UPDATE:false +n[p=a]");
    assert!(has(&found, "OPTIMIZE"), "{found:?}");
    let found = advice("Serializable", "DELETE", "p=a; file:f1", "-f1[p=a] +g[p=a]", "info:WRITE:true +n[p=a]");
    assert!(has(&found, "WriteSerializable"), "{found:?}");
    let found = advice("WriteSerializable", "ADD CONSTRAINT", "true; file:f1", "metadata", "info:WRITE:true +n[p=a]");
    assert!(found.iter().all(|one| !one.contains("WriteSerializable")), "{found:?}");
    // The winner removes what is removed: neither another level nor OPTIMIZE would pass.
    let found =
        advice("Serializable", "DELETE", "p=a; file:f1", "-f1[p=a] +g[p=a]", "info:UPDATE:false -f1[p=a] +n[p=a]");
    assert!(found.len() == 1 && has(&found, apart), "{found:?}");
    let found = advice(
        "Serializable",
        "DELETE",
        "p=a or id=1; file:f1; file:f9",
        "-f1[p=a] +g[p=a]",
        "info:UPDATE:false -f9[p=b]",
    );
    assert!(has(&found, narrow) && has(&found, "disjoint"), "{found:?}");
    let found = advice("Serializable", "WRITE", "whole", "+g[p=a]", "info:UPDATE:false +n[p=a]");
    assert!(has(&found, "blind append") && !has(&found, narrow), "{found:?}");
    let found = advice("Serializable", "WRITE", "whole", "+g[p=a]", "info:UPDATE:false +n[p=b]");
    assert!(has(&found, narrow), "{found:?}");
    // Nothing that it writes says where it works.
    let found = advice("Serializable", "WRITE", "whole", "txn:a", "info:UPDATE:false +n[p=b]");
    assert!(found.len() == 1 && has(&found, apart), "{found:?}");
    // Its condition names partitions already, so another would make it another statement.
    let found = advice("Serializable", "WRITE", "p=b; file:f9", "+g[p=c]", "info:UPDATE:false +n[p=b]");
    assert!(!has(&found, narrow), "{found:?}");
    // It read nothing that was removed, and rewrites nothing.
    let found = advice("Serializable", "WRITE", "whole", "+g[p=a]", "info:UPDATE:false -f9[p=b]");
    assert!(has(&found, narrow) && !has(&found, "disjoint"), "{found:?}");
    // Change data is written by who reads.
    let found = explained(&unpartitioned(), "Serializable", "MERGE", "id=1", "+g cdc", "info:UPDATE:false +n").advice;
    assert!(!has(&found, "blind append"), "{found:?}");
}

/// A value may be spelt in several ways, and NULL is the empty text too: who wrote `7` is not kept apart from who wrote `007`.
#[test]
fn partitions_are_told_apart_by_value() {
    let table = table("id long, p integer", "p", &["+f1[p=7] +f2[p=8]"]);
    let advice = |own: &str, theirs: &str| {
        let own = format!("-f1[p=7] +g[p={own}]");
        explained(&table, "WriteSerializable", "MERGE", "id=1; file:f1; file:f2", &own, theirs).advice.join("; ")
    };
    assert!(advice("007", "info:MERGE:false +n[p=8]").contains("a condition on (p = 7) that"));
    assert!(!advice("7", "info:MERGE:false +n[p=007]").contains("a condition on"));
    assert!(!advice("007", "info:MERGE:false +n[p=7]").contains("a condition on"));
    let null = advice("", "info:MERGE:false +n[p=8]");
    assert!(null.contains("a condition on (p = 7) OR (p IS NULL) that"), "{null}");
    assert!(!advice("", "info:MERGE:false +n[p=]").contains("a condition on"));
    assert!(!advice("seven", "info:MERGE:false +n[p=8]").contains("a condition on"));
}

#[test]
fn who_cannot_write_the_table_any_more_is_told_so() {
    let advice = |theirs: &str| explained(&unpartitioned(), "Serializable", "WRITE", "", "+n", theirs);
    let unsupported = advice("info:UPGRADE:false protocol:1,7,neverHeardOfIt");
    assert!(unsupported.advice[0].starts_with("use a version of the client"), "{unsupported}");
    let dropped = advice("info:DROP_FEATURE:false protocol:1,1");
    assert_eq!(dropped.advice, ["change tables while nobody else does"]);
}

/// Identity columns move their marks with every insert.
#[test]
fn writers_of_identity_columns_are_told_to_take_turns() {
    let mut marks = winner("info:WRITE:true metadata +n");
    let Action::CommitInfo(info) = &mut marks.commit.actions[0] else { panic!("an info") };
    info.0.insert("tags".to_owned(), serde_json::json!({ "delta.identity.schemaUpdate": "true" }));
    let marks = Winner::new(marks.commit);
    let (operation, level) = (Operation::named("WRITE"), IsolationLevel::Serializable);
    let own = actions("+m metadata");
    let own = Transaction::new(Some(unpartitioned()), ReadSet::default(), operation, own, level, String::new());
    let rules = RuleSet::delta_spark();
    let conflict = rules.check(&own, &marks).expect("a conflict");
    let advice = explain(&own, &[marks], &conflict, &rules).advice;
    assert_eq!(advice, ["let one writer at a time add rows to a table with identity columns"]);
}

#[test]
fn many_partitions_are_not_named_one_by_one() {
    let advice = |count: u32| {
        let own: Vec<String> = (10..10 + count).map(|n| format!("+g{n}[p={n}]")).collect();
        let table = table("id long, p string", "p", &["+f1[p=a]"]);
        explained(&table, "WriteSerializable", "MERGE", "id=1", &own.join(" "), "info:MERGE:false +n[p=z]").advice
    };
    assert!(advice(2)[0].contains("a condition on (p = '10') OR (p = '11') that"));
    assert!(advice(8)[0].contains("(p = '17') that"));
    assert!(advice(9)[0].contains("a condition on its 9 partitions, (p = '10') to (p = '18'), that"));
    assert!(advice(5000)[0].contains("its 5000 partitions"));
}

/// What is advised is tried on all winners that are known, not on the first alone.
#[test]
fn advice_that_helps_past_one_winner_only_is_not_given() {
    let advice = |own: &str, theirs: &[&str], text: &str| {
        let app_ids = ["s".to_owned()].into();
        let reads = ReadSet { predicates: vec![predicate(&partitioned(), "p=a")], app_ids, ..ReadSet::default() };
        let (operation, own) = (Operation::named("DELETE"), actions(own));
        let own =
            Transaction::new(Some(partitioned()), reads, operation, own, IsolationLevel::Serializable, String::new());
        let winners: Vec<Winner> = (2..).zip(theirs).map(|(version, text)| winner_at(version, text)).collect();
        let rules = RuleSet::delta_spark();
        let conflict = rules.check(&own, &winners[0]).expect("a conflict");
        explain(&own, &winners, &conflict, &rules).advice.iter().any(|advice| advice.contains(text))
    };
    let level = |theirs: &[&str]| advice("-f1[p=a]", theirs, "WriteSerializable");
    assert!(level(&["info:WRITE:true +n[p=a]"]));
    assert!(level(&["info:WRITE:true +n[p=a]", "info:WRITE:true +m[p=a]"]));
    assert!(!level(&["info:WRITE:true +n[p=a]", "info:WRITE:false +m[p=a]"]));
    // A blind append still looks up how far its application has come.
    let blind = |theirs: &[&str]| advice("+g[p=a]", theirs, "blind append");
    assert!(blind(&["info:WRITE:false +n[p=a]", "info:WRITE:false txn:t"]));
    assert!(!blind(&["info:WRITE:false +n[p=a]", "info:WRITE:false txn:s"]));
}

/// The partition is that of the file that shows the conflict, in Delta's way of writing it.
#[test]
fn the_partition_is_that_of_the_file() {
    let partition =
        |reads, own, theirs| explained(&partitioned(), "Serializable", "DELETE", reads, own, theirs).partition;
    assert_eq!(partition("p=a or id=1", "-f1[p=a]", "+m[p=c] +n[p=a]").as_deref(), Some("[p=c]"));
    // The winner's remove may be silent about it; what was read is not.
    assert_eq!(partition("file:f9", "-f1[p=a]", "-f9").as_deref(), Some("[p=b]"));
    assert_eq!(partition("whole; file:f9", "-f1[p=a]", "-new[p=z]"), None);
    assert_eq!(partition("", "-f9[p=b]", "-f9").as_deref(), Some("[p=b]"));
    assert_eq!(partition("", "-f9", "-f9[p=b]"), None);
    assert_eq!(partition("", "metadata", "metadata"), None);
}

#[test]
fn a_transaction_on_a_table_of_one_column_is_never_narrowed() {
    let table = table("id long", "", &["+f1 +f2"]);
    let explanation =
        explained(&table, "WriteSerializable", "UPDATE", "id=1; file:f1", "-f1 +g", "info:UPDATE:false -f2 +h");
    assert!(explanation.advice.iter().all(|advice| !advice.contains("a condition on")), "{explanation}");
    assert_eq!((explanation.partition, explanation.unbounded), (None, false));
    assert_eq!(explanation.predicate.as_deref(), Some("(id = 1L)"));
}
