use std::collections::BTreeMap;

use expect_test::{Expect, expect};
use log_core::{
    action::{Metadata, Protocol},
    commit::Commit,
    snapshot::Snapshot,
};

use super::*;
use crate::{
    isolation::IsolationLevel,
    rules::{ConflictKind, RuleSet},
    testing::{actions, table, unpartitioned, winner, winner_at},
    transaction::{Operation, ReadSet, Rebased},
};

fn transaction(read: Option<Arc<Snapshot>>, operation: &str, own: Vec<Action>) -> Arc<Transaction> {
    let (operation, level) = (Operation::named(operation), IsolationLevel::Serializable);
    Arc::new(Transaction::new(read, ReadSet::default(), operation, own, level, "t".to_owned()))
}

fn append(read: Option<Arc<Snapshot>>) -> Arc<Transaction> {
    transaction(read, "WRITE", actions("+n"))
}

/// A transaction after some winners.
fn after(mut transaction: Arc<Transaction>, winners: &[&Winner]) -> Arc<Transaction> {
    winners.iter().for_each(|winner| rebase(&mut transaction, winner).unwrap());
    transaction
}

#[test]
fn a_winner_without_protocol_or_metadata_leaves_the_transaction_as_it_is() {
    let transaction = append(Some(unpartitioned()));
    let mut winner = winner("info:WRITE -f1 +g txn:a domain:d");
    assert!(Arc::ptr_eq(&after(transaction.clone(), &[&winner]), &transaction));

    let read = transaction.read.as_ref().unwrap();
    winner.commit.actions.push(Action::Metadata(Metadata::clone(&read.metadata)));
    winner.commit.actions.push(Action::Protocol(read.protocol.as_ref().clone()));
    assert!(Arc::ptr_eq(&after(transaction.clone(), &[&winner]), &transaction));

    let creation = append(None);
    assert!(Arc::ptr_eq(&after(creation.clone(), &[&self::winner("protocol:1,2 metadata")]), &creation));
}

#[test]
fn protocol_and_metadata_are_taken_over_and_what_was_read_stays() {
    let transaction = append(Some(unpartitioned()));
    let winner = winner("protocol:1,7,appendOnly,invariants metadata -f1 +g");
    let rebased = after(transaction.clone(), &[&winner]);
    assert_eq!(rebased.protocol(), winner.protocol());
    assert_eq!(rebased.metadata(), winner.metadata());
    let back = Transaction { rebased: Rebased::default(), ..(*rebased).clone() };
    assert_eq!(back, *transaction);
    assert_eq!(rebased.commit_bytes(5), transaction.commit_bytes(5));
    // What a transaction brings itself goes before.
    let own = self::transaction(Some(unpartitioned()), "SET", actions("protocol:1,7,appendOnly metadata"));
    let rebased = after(own.clone(), &[&self::winner("protocol:1,2"), &winner]);
    assert_eq!((rebased.protocol(), rebased.metadata()), (own.own_protocol(), own.own_metadata()));
}

/// The smallest log in which a chain of winners is judged otherwise than each of them alone.
#[test]
fn the_next_winner_is_judged_against_what_was_taken_over() {
    let rules = RuleSet::delta_spark();
    let start = append(Some(unpartitioned()));
    let mut changed = Metadata::clone(&start.read.as_ref().unwrap().metadata);
    changed.configuration.insert("delta.columnMapping.maxColumnId".to_owned(), "5".to_owned());
    let back = Winner::new(Commit {
        version: Version(3),
        actions: vec![Action::Metadata(Metadata::clone(&start.read.as_ref().unwrap().metadata))],
    });
    let first = Winner::new(Commit { version: Version(2), actions: vec![Action::Metadata(changed)] });
    assert_eq!(rules.check(&start, &back), None);
    assert_eq!(rules.check(&start, &first), None);
    let moved = after(start, &[&first]);
    assert_eq!(rules.check(&moved, &back).map(|conflict| conflict.finding.kind), Some(ConflictKind::MetadataChanged));
}

/// A winner that moved identity columns says so, and its metadata is not taken over.
#[test]
fn identity_marks_are_not_taken_over() {
    let mut winner = winner("info:WRITE metadata +g");
    let Action::CommitInfo(info) = &mut winner.commit.actions[0] else { panic!("the info is first") };
    info.0.insert("tags".to_owned(), json(r#"{"delta.identity.schemaUpdate":"true"}"#));
    let transaction = append(Some(unpartitioned()));
    assert!(Arc::ptr_eq(&after(transaction.clone(), &[&winner]), &transaction));
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

const TRACKED: &str = "protocol:1,7,appendOnly,domainMetadata,rowTracking";

/// Adds and removes with their ids, domains with what stands in them.
fn shown(transaction: &Transaction) -> String {
    let number = |number: Option<i64>| number.map_or("-".to_owned(), |number| number.to_string());
    let words = transaction.actions.iter().map(|action| match action {
        Action::Add(add) => {
            let change = if add.data_change { "" } else { "~" };
            format!("+{change}{} {}/{}", add.path, number(add.base_row_id), number(add.default_row_commit_version))
        }
        Action::Remove(remove) => {
            format!("-{} {}/{}", remove.path, number(remove.base_row_id), number(remove.default_row_commit_version))
        }
        Action::DomainMetadata(domain) if domain.removed => format!("no {}", domain.domain),
        Action::DomainMetadata(domain) => match high_water_mark(domain) {
            Some(mark) => format!("mark {mark}"),
            None => domain.domain.clone(),
        },
        other => other.name().to_owned(),
    });
    words.collect::<Vec<_>>().join(", ")
}

#[track_caller]
fn check(log: &[&str], operation: &str, own: &str, winners: &[&str], expected: &str) {
    let start = transaction(Some(table("id long", "", log)), operation, actions(own));
    let winners: Vec<Winner> =
        winners.iter().zip(log.len() as u64 + 1..).map(|(text, at)| winner_at(at, text)).collect();
    let rebased = after(start, &winners.iter().collect::<Vec<_>>());
    assert_eq!(shown(&rebased), expected);
}

#[test]
fn row_ids_follow_those_of_every_winner_in_turn() {
    let log = [TRACKED, "+a*10@0/1 mark:9"];
    let own = "+b*5@10/3 +c*6@15/3 mark:20";
    check(&log, "WRITE", own, &["+w*7@10/3 mark:16"], "mark 27, +b 17/4, +c 22/4");
    check(&log, "WRITE", own, &["txn:a"], "mark 20, +b 10/4, +c 15/4");
    check(&log, "WRITE", own, &["+w*7@10/3 mark:16", "txn:a"], "mark 27, +b 17/5, +c 22/5");
    check(&log, "WRITE", own, &["+w*7@10/3 mark:16", "+x*1@17/4 mark:17"], "mark 28, +b 18/5, +c 23/5");
    check(&log, "WRITE", own, &["txn:a", "+x*1@10/4 mark:10"], "mark 21, +b 11/5, +c 16/5");
    // Ids that were there before stay, the mark itself included, and so does an older version.
    check(&log, "WRITE", "+a*1@9/1 +b*5@10/2", &["+w*7@10/3 mark:16"], "mark 21, +a 9/1, +b 17/2");
    // A table that has given out none yet.
    check(&[TRACKED], "WRITE", "+b*5@0/2 mark:4", &["txn:a"], "mark 4, +b 0/3");
    check(&[TRACKED], "WRITE", "+b*0@0/2 +c*1@0/2", &["mark:0"], "mark 1, +b 1/3, +c 1/3");
    // A transaction without files still repeats the mark.
    check(&log, "WRITE", "txn:a", &["mark:16"], "mark 16, txn");
}

#[test]
fn without_row_tracking_nobody_gets_row_ids() {
    check(&["+a"], "WRITE", "+b*5", &["+w*7@10/3 mark:16"], "+b -/-");
    check(&["+a"], "ROW TRACKING BACKFILL", "+~a", &["-a"], "+~a -/-");
    check(&["+a"], "ROW TRACKING UNBACKFILL", "+~a", &["-a +b*1@1/1"], "+~a -/-");
    check(&["+a"], "UPDATE", "-a", &["info:ROW_TRACKING_BACKFILL +~a*1@0/2"], "-a -/-");
}

#[test]
fn a_winner_that_brings_row_tracking_asks_for_row_ids() {
    check(&["+a"], "WRITE", "+b*5", &[TRACKED], "mark 4, +b 0/3");
    check(&["+a"], "WRITE", "+b*5", &[TRACKED, "+w*7@0/3 mark:6"], "mark 11, +b 7/4");
}

#[test]
fn suspended_row_tracking_gives_no_row_ids() {
    let mut read = Snapshot::clone(&table("id long", "", &[TRACKED]));
    let check = |value: &str, expected: &str, read: &mut Snapshot| {
        let mut metadata = Metadata::clone(&read.metadata);
        metadata.configuration.insert("delta.rowTrackingSuspended".to_owned(), value.to_owned());
        read.metadata = Arc::new(metadata);
        let start = transaction(Some(Arc::new(read.clone())), "WRITE", actions("+b*5"));
        assert_eq!(shown(&after(start, &[&winner("txn:a")])), expected);
    };
    check("true", "+b -/-", &mut read);
    check("false", "mark 4, +b 0/3", &mut read);
}

#[test]
fn a_backfill_leaves_out_what_winners_touched() {
    let log = ["+a +b +c", TRACKED];
    let own = "+~a*10@0/3 +~b*10@10/3 +~c*10@20/3 mark:29";
    let backfill = "ROW TRACKING BACKFILL";
    check(&log, backfill, own, &["-a"], "mark 19, +~b 0/4, +~c 10/4");
    check(&log, backfill, own, &["-a +b*10@0/3 mark:9"], "mark 19, +~c 10/4");
    check(&log, backfill, own, &["+d*10@0/3 mark:9", "-c"], "mark 29, +~a 10/5, +~b 20/5");
    // Others do not.
    check(&log, "UPDATE", own, &["-a"], "mark 29, +~a 0/4, +~b 10/4, +~c 20/4");
    // It has read nothing of them either.
    let reads = |operation: &str| {
        let mut start = transaction(Some(table("id long", "", &log)), operation, actions(own));
        Arc::make_mut(&mut start).reads.files = ["a", "b", "c"].map(str::to_owned).into();
        let files = after(start, &[&winner_at(3, "-a +b*10@0/3 mark:9")]).reads.files.clone();
        files.into_iter().collect::<Vec<_>>().join(" ")
    };
    assert_eq!((&*reads(backfill), &*reads("UPDATE")), ("c", "a b c"));
}

#[test]
fn files_of_a_winning_backfill_keep_its_ids() {
    let log = ["+a +b +c", TRACKED];
    let backfill = "info:ROW_TRACKING_BACKFILL +~a*10@0/3 +~b*10@10/3 +~c*10@20/3 mark:29";
    check(&log, "UPDATE", "-c +c2*4@0/3 mark:3", &[backfill], "mark 33, -c 20/3, +c2 30/4");
    check(&log, "UPDATE", "-c +c2*4@0/3 mark:3", &["info:OPTIMIZE +~c*10@20/3 mark:29"], "mark 33, -c -/-, +c2 30/4");
    // A file that is added once more has the ids for a moment, and gets new ones: they are above the mark that was read.
    check(&log, "UPDATE", "+c*10", &[backfill], "mark 39, +c 30/4");
    // Not above: it keeps what the winner says.
    let log = [TRACKED, "+c*10@5/1 mark:20"];
    check(&log, "UPDATE", "+c*10", &["info:ROW_TRACKING_BACKFILL +~c*10@5/1 mark:20"], "mark 20, +c 5/1");
}

#[test]
fn an_unbackfill_takes_ids_from_files_of_winners() {
    let log = ["+a*1@0/1 +b*1@1/1 mark:1", TRACKED];
    let unbackfill = "ROW TRACKING UNBACKFILL";
    let mut read = Snapshot::clone(&table("id long", "", &log));
    let mut metadata = Metadata::clone(&read.metadata);
    metadata.configuration.insert("delta.rowTrackingSuspended".to_owned(), "true".to_owned());
    read.metadata = Arc::new(metadata);
    let check = |winner_text: &str, expected: &str| {
        let mut start = transaction(Some(Arc::new(read.clone())), unbackfill, actions("+~a +~b"));
        Arc::make_mut(&mut start).reads.files = ["a".to_owned(), "b".to_owned()].into();
        let rebased = after(start, &[&winner_at(3, winner_text)]);
        let files: Vec<&str> = rebased.reads.files.iter().map(String::as_str).collect();
        assert_eq!(format!("{} reads {}", shown(&rebased), files.join(" ")), expected);
    };
    check("-a", "+~b -/- reads b");
    check("+w*2@2/3", "+~a -/-, +~b -/-, +~w -/- reads a b");
    check("+w*2", "+~a -/-, +~b -/- reads a b");
    check("-a +a*1@0/1", "+~b -/-, +~a -/- reads b");
    check("+w@2/-", "+~a -/-, +~b -/-, +~w -/- reads a b");
    check("+w@-/3", "+~a -/-, +~b -/-, +~w -/- reads a b");
}

#[test]
fn dropping_row_tracking_takes_ids_away_as_well() {
    check(
        &["+a", TRACKED],
        "DROP FEATURE",
        "protocol:1,7,appendOnly,domainMetadata +~a",
        &["-a +w*2@2/3 mark:3"],
        "protocol, +~w -/-",
    );
    // Another feature is dropped: the files are the transaction's own.
    let log = ["+a", "protocol:1,7,appendOnly,domainMetadata,rowTracking,clustering"];
    check(&log, "DROP FEATURE", &format!("{TRACKED} +~a*1"), &["-a"], "mark 0, protocol, +~a 0/4");
    check(&["+a"], "DROP FEATURE", "protocol:1,7 +~a", &["-a"], "protocol, +~a -/-");
}

#[test]
fn row_ids_need_to_know_how_many_rows_there_are() {
    let log = [TRACKED, "+a*10@0/1 mark:9"];
    let check = |own: &str, theirs: &str, expected: &Expect| {
        let mut start = transaction(Some(table("id long", "", &log)), "WRITE", actions(own));
        expected.assert_eq(&rebase(&mut start, &winner_at(3, theirs)).unwrap_err().to_string());
    };
    check(
        "+b",
        "txn:a",
        &expect![
            "'b' needs row ids behind those of version 3, but its statistics have no numRecords; write the file with statistics"
        ],
    );
    check(
        "+b*-4",
        "txn:a",
        &expect![
            "'b' needs row ids behind those of version 3, but its statistics have no numRecords; write the file with statistics"
        ],
    );
    check(
        "+b*5",
        "mark:9223372036854775806",
        &expect!["the row ids of 'b' behind those of version 3 would exceed what a 64-bit integer holds"],
    );
    check(
        "+b*0",
        "mark:9223372036854775807",
        &expect!["the row ids of 'b' behind those of version 3 would exceed what a 64-bit integer holds"],
    );
    let unreadable = [TRACKED, "+a*10@0/1 domain:delta.rowTracking"];
    let mut start = transaction(Some(table("id long", "", &unreadable)), "WRITE", actions("+b*5"));
    assert_eq!(rebase(&mut start, &winner_at(3, "txn:a")), Err(RebaseError::HighWaterMark { version: Version(2) }));
    check(
        "+b*5",
        "domain:delta.rowTracking",
        &expect![
            "version 3: the configuration of the domain delta.rowTracking has no integer rowIdHighWaterMark, so which row ids are free is not known; drop the table feature rowTracking and add it again"
        ],
    );
}

/// A table with these properties.
fn with(properties: &[(&str, &str)], protocol: &str) -> Arc<Snapshot> {
    let mut read = Snapshot::clone(&table("id long", "", &[protocol]));
    read.metadata = Arc::new(metadata(&read, properties));
    Arc::new(read)
}

fn metadata(read: &Snapshot, properties: &[(&str, &str)]) -> Metadata {
    let configuration = properties.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    Metadata { configuration, ..Metadata::clone(&read.metadata) }
}

const ON: (&str, &str) = ("delta.enableInCommitTimestamps", "true");
const VERSION: &str = "delta.inCommitTimestampEnablementVersion";
const TIMESTAMP: &str = "delta.inCommitTimestampEnablementTimestamp";
const TIMED: &str = "protocol:1,7,appendOnly,inCommitTimestamp";

fn timestamp(transaction: &Transaction, now_ms: i64) -> Option<i64> {
    let commit = Commit::parse(Version(9), &transaction.commit_bytes(now_ms)).unwrap();
    commit.info().unwrap().in_commit_timestamp()
}

fn configuration(transaction: &Transaction, now_ms: i64) -> BTreeMap<String, String> {
    let commit = Commit::parse(Version(9), &transaction.commit_bytes(now_ms)).unwrap();
    let metadata = commit.actions.iter().find_map(|action| match action {
        Action::Metadata(metadata) => Some(metadata.configuration.clone()),
        _ => None,
    });
    metadata.unwrap()
}

/// A winner of version 2 of this in-commit timestamp.
fn timed(in_commit_timestamp: Option<i64>, timestamp: Option<i64>, modified_ms: Option<i64>) -> Winner {
    let mut winner = winner("info:WRITE +w");
    let Action::CommitInfo(info) = &mut winner.commit.actions[0] else { panic!("the info is first") };
    let given = [("inCommitTimestamp", in_commit_timestamp), ("timestamp", timestamp)];
    info.0.extend(given.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?.into()))));
    Winner { modified_ms, ..winner }
}

#[test]
fn an_in_commit_timestamp_is_later_than_that_of_every_winner() {
    let start = append(Some(with(&[ON], TIMED)));
    assert_eq!(timestamp(&start, 5), Some(5));
    let winners = [timed(Some(100), None, Some(999)), timed(Some(50), None, None)];
    let rebased = after(start.clone(), &[&winners[0], &winners[1]]);
    assert_eq!(timestamp(&rebased, 5), Some(101));
    assert_eq!(timestamp(&rebased, 101), Some(101));
    assert_eq!(timestamp(&rebased, 102), Some(102));
    assert_eq!(timestamp(&after(start.clone(), &[&winners[1], &winners[0]]), 5), Some(101));
    // Without one of its own, the time of its file stands in, and without that its own clock.
    assert_eq!(timestamp(&after(start.clone(), &[&timed(None, Some(70), Some(80))]), 5), Some(81));
    assert_eq!(timestamp(&after(start.clone(), &[&timed(None, Some(70), None)]), 5), Some(71));
    assert_eq!(timestamp(&after(start.clone(), &[&timed(None, None, None)]), 5), Some(5));
    assert_eq!(timestamp(&after(start.clone(), &[&timed(Some(i64::MAX - 1), None, None)]), 5), Some(i64::MAX));
    let last = rebase(&mut start.clone(), &timed(Some(i64::MAX), None, None));
    assert_eq!(last, Err(RebaseError::Timestamp { winner: Version(2) }));
    // Off.
    for off in [&[][..], &[("delta.enableInCommitTimestamps", "false")]] {
        let start = append(Some(with(off, TIMED)));
        let rebased = after(start.clone(), &[&winners[0]]);
        assert!(Arc::ptr_eq(&rebased, &start));
        assert_eq!(timestamp(&rebased, 5), None);
    }
}

#[test]
fn the_enablement_of_timestamps_moves_with_its_commit() {
    let read = with(&[], "protocol:1,2");
    let enable = metadata(&read, &[ON, (VERSION, "2"), (TIMESTAMP, "77")]);
    let start = transaction(Some(read.clone()), "SET", vec![Action::Metadata(enable)]);
    assert_eq!((timestamp(&start, 500), &*configuration(&start, 500)[TIMESTAMP]), (Some(500), "500"));
    assert_eq!(configuration(&start, 500)[VERSION], "2");
    let first = timed(None, None, Some(600));
    let second = Winner { commit: Commit { version: Version(3), ..first.commit.clone() }, ..first.clone() };
    let rebased = after(start, &[&first, &second]);
    assert_eq!(configuration(&rebased, 500)[VERSION], "4");
    assert_eq!((timestamp(&rebased, 500), &*configuration(&rebased, 500)[TIMESTAMP]), (Some(601), "601"));
    // A record that is not there is not made up.
    let start = transaction(Some(read), "SET", vec![Action::Metadata(metadata(&with(&[], "protocol:1,2"), &[ON]))]);
    assert_eq!(configuration(&after(start, &[&first]), 5), BTreeMap::from([(ON.0.to_owned(), ON.1.to_owned())]));
    // Where they were on before, the record stays.
    let read = with(&[ON, (VERSION, "1"), (TIMESTAMP, "77")], TIMED);
    let same = metadata(&read, &[ON, (VERSION, "1"), (TIMESTAMP, "77")]);
    let start = transaction(Some(read.clone()), "SET", vec![Action::Metadata(same.clone())]);
    assert_eq!(configuration(&after(start, &[&first]), 500), same.configuration);
    // And comes back when it is forgotten.
    let start = transaction(Some(read.clone()), "REPLACE", vec![Action::Metadata(metadata(&read, &[ON]))]);
    assert_eq!(configuration(&start, 500), same.configuration);
    let off = metadata(&read, &[]);
    let start = transaction(Some(read), "REPLACE", vec![Action::Metadata(off.clone())]);
    assert_eq!(configuration(&start, 500), off.configuration);
}

#[test]
fn row_tracking_that_a_winner_switched_on_is_said_to_be_lost() {
    let tags = |transaction: &Transaction| {
        let commit = Commit::parse(Version(9), &transaction.commit_bytes(5)).unwrap();
        commit.info().unwrap().0.get("tags").cloned()
    };
    let on = ("delta.enableRowTracking", "true");
    let other = ("delta.columnMapping.maxColumnId", "5");
    let check = |before: &[(&str, &str)], new: &[(&str, &str)], lost: bool| {
        let read = with(before, "protocol:1,2");
        let mut winner = winner("info:SET");
        winner.commit.actions.push(Action::Metadata(metadata(&read, new)));
        let rebased = after(append(Some(read)), &[&winner]);
        assert_eq!(tags(&rebased), lost.then(|| json(r#"{"delta.rowTracking.preserved":"false"}"#)));
        // Once lost, it stays so.
        let again = after(rebased, &[&self::winner("protocol:1,7,appendOnly"), &winner]);
        assert_eq!(tags(&again).is_some(), lost);
    };
    check(&[], &[on], true);
    check(&[on], &[on, other], false);
    check(&[], &[other], false);
    check(&[("delta.enableRowTracking", "false")], &[("delta.enableRowTracking", "TRUE")], true);
}

#[test]
fn a_new_table_removes_the_clustering_that_a_winner_brought() {
    let log = ["protocol:1,7,appendOnly,domainMetadata,clustering"];
    let clustering = "domain:delta.clustering domain:other";
    for name in
        ["REPLACE TABLE", "CREATE OR REPLACE TABLE", "REPLACE TABLE AS SELECT", "CREATE OR REPLACE TABLE AS SELECT"]
    {
        check(&log, name, "+n domain:mine", &[clustering], "+n -/-, mine, no delta.clustering");
        check(&log, name, "+n", &["domain:other"], "+n -/-");
        check(&log, name, "+n", &[clustering, clustering], "+n -/-, no delta.clustering");
        check(&log, name, "+n domain:delta.clustering", &[clustering], "+n -/-, delta.clustering");
        check(&["txn:a"], name, "+n", &[clustering], "+n -/-");
    }
    check(&log, "CREATE TABLE", "+n", &[clustering], "+n -/-");
    check(&log, "WRITE", "+n", &[clustering], "+n -/-");
}

#[test]
fn type_changes_move_to_the_version_that_is_written() {
    let field = |version: i64| {
        format!(
            r#"{{"name":"x","type":"long","nullable":true,"metadata":{{"delta.typeChanges":[{{"fromType":"short","toType":"integer","tableVersion":1}},{{"fromType":"integer","toType":"long","tableVersion":{version}}},{{"fromType":"byte","toType":"short"}}]}}}}"#
        )
    };
    let schema = |version| {
        let nested = format!(
            r#"{{"name":"s","type":{{"type":"struct","fields":[{}]}},"nullable":true,"metadata":{{}}}}"#,
            field(version)
        );
        format!(r#"{{"type":"struct","fields":[{},{nested}]}}"#, field(version))
    };
    let check = |feature: &str, enabled: &str, expected: i64| {
        let read = with(&[], &format!("protocol:1,7,appendOnly,{feature}"));
        let enabled = [("delta.enableTypeWidening", enabled)];
        let widened = Metadata { schema_string: schema(2), ..metadata(&read, &enabled) };
        let start = transaction(Some(read), "CHANGE COLUMN", vec![Action::Metadata(widened)]);
        let rebased = after(start, &[&winner("txn:a"), &winner_at(3, "txn:a")]);
        let found = json(&rebased.own_metadata().unwrap().schema_string);
        assert_eq!(found, json(&schema(expected)), "{feature} {enabled:?}");
    };
    check("typeWidening", "true", 4);
    check("typeWidening-preview", "true", 4);
    check("typeWidening", "false", 2);
    check("invariants", "true", 2);
}

#[test]
fn a_dropped_feature_protects_the_history_before_its_commit() {
    const BEFORE: &str = "delta.requireCheckpointProtectionBeforeVersion";
    let protocol = |features: &[&str]| {
        let features: Vec<String> = features.iter().map(|feature| (*feature).to_owned()).collect();
        let readers = features.iter().filter(|feature| *feature == "deletionVectors").cloned().collect();
        Protocol {
            min_reader_version: 3,
            min_writer_version: 7,
            reader_features: Some(readers),
            writer_features: Some(features),
            ..Protocol::default()
        }
    };
    let check = |new: &[&str], expected: &str| {
        let mut read = Snapshot::clone(&table("id long", "", &[]));
        read.protocol = Arc::new(protocol(&["deletionVectors", "appendOnly"]));
        let own = vec![Action::Protocol(protocol(new)), Action::Metadata(metadata(&read, &[(BEFORE, "2")]))];
        let rebased = after(transaction(Some(Arc::new(read)), "DROP FEATURE", own), &[&winner("+w")]);
        assert_eq!(rebased.own_metadata().unwrap().configuration[BEFORE], expected, "{new:?}");
    };
    check(&["appendOnly", "checkpointProtection"], "3");
    check(&["appendOnly"], "2");
    check(&["deletionVectors", "appendOnly", "checkpointProtection"], "2");
    check(&["deletionVectors", "checkpointProtection"], "2");
}

/// Column mapping is also had by its versions alone.
#[test]
fn a_feature_that_versions_imply_protects_the_history_too() {
    const BEFORE: &str = "delta.requireCheckpointProtectionBeforeVersion";
    let check = |old: &str, own: &str, expected: &str| {
        let read = table("id long", "", &[old]);
        let own = [actions(own), vec![Action::Metadata(metadata(&read, &[(BEFORE, "2")]))]].concat();
        let rebased = after(transaction(Some(read), "DROP FEATURE", own), &[&winner("+w")]);
        assert_eq!(rebased.own_metadata().unwrap().configuration[BEFORE], expected, "{old}");
    };
    check("protocol:2,5", "protocol:1,7,appendOnly,checkpointProtection", "3");
    check("protocol:2,5", "protocol:2,7,columnMapping,checkpointProtection", "2");
    check("protocol:2,7,columnMapping,appendOnly", "protocol:1,7,appendOnly,checkpointProtection", "3");
    check("protocol:1,4", "protocol:1,7,checkpointProtection", "2");
}
