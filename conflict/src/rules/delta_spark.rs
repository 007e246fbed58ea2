//! The rules of open-source Delta Spark, in the order in which its `ConflictChecker` asks them.
//!
//! `T` is the transaction, `W` the winner. Each rule carries the smallest counterexample: what would go wrong if it were left out.

use std::collections::BTreeSet;

use log_core::action::{Action, AddFile, DomainMetadata, RemoveFile};

use super::{ConflictKind, Finding, Rule, metadata};
use crate::{
    feature::{self, DELETION_VECTORS, DOMAIN_METADATA, ROW_TRACKING, ROW_TRACKING_DOMAIN, lists},
    isolation::IsolationLevel,
    predicate::{PartitionFilter, StatisticsFilter},
    rebase::leaves_out_touched_files,
    transaction::{Transaction, Winner, domains},
};

pub(super) fn rules() -> Vec<Rule> {
    vec![
        Rule::new("never-rebased", never_rebased),
        Rule::new("protocol", protocol),
        Rule::new("feature-drop", feature_drop),
        Rule::new("metadata", metadata::check),
        Rule::new("domain-metadata", domain_metadata),
        Rule::new("application-transaction", application_transaction),
        Rule::new("backfill", backfill),
        Rule::new("added-files", added_files),
        Rule::new("removed-and-read", removed_and_read),
        Rule::new("removed-twice", removed_twice),
    ]
}

/// T is a RESTORE, CLONE or CONVERT: it wrote a whole table as of one version and is never moved to another.
///
/// Smallest counterexample: RESTORE to version 1 while W appends `n` as version 3. Moved behind W, the restored table would hold `n`, which version 1
/// did not.
fn never_rebased(transaction: &Transaction, _: &Winner) -> Option<Finding> {
    transaction.operation.is_never_rebased().then(|| {
        let reason = format!("came first, and a {} is not moved past any other commit", transaction.operation.name);
        Finding::new(ConflictKind::ConcurrentWrite, reason)
    })
}

/// W changed the protocol, and T changes it as well, cannot work under the new one, or used what the new one drops. What a feature that W adds asks
/// for, T takes over: see [`rebase`](crate::rebase).
///
/// Smallest counterexample: two writers create the table at once. Both write version 0 with a protocol of their own; if the second were moved to
/// version 1, it would replace the first one's schema.
fn protocol(transaction: &Transaction, winner: &Winner) -> Option<Finding> {
    let found = |reason: String| Some(Finding::new(ConflictKind::ProtocolChanged, reason));
    let Some(read) = &transaction.read else {
        return found(created(transaction, winner));
    };
    let new = winner.protocol()?;
    if transaction.changes_protocol() {
        return found("changed the protocol, as this transaction does".to_owned());
    }
    if let Err(error) = transaction.client.check(new) {
        return found(format!("changed the protocol: {error}"));
    }
    let dropped = feature::missing(new, &read.protocol);
    if !dropped.is_empty() {
        return found(format!("dropped {} from the protocol", dropped.join(", ")));
    }
    None
}

/// T found no table. Whatever W wrote is one now, or a damaged file in its place: T's own schema must not go on top of either.
fn created(transaction: &Transaction, winner: &Winner) -> String {
    let (Some(own), Some(theirs)) = (transaction.own_metadata(), winner.metadata()) else {
        return "is there, where this transaction found no table (create the table before writers start)".to_owned();
    };
    let same_schema = own.schema_string == theirs.schema_string;
    let same_partitions = own.partition_columns == theirs.partition_columns;
    let difference = match (same_schema, same_partitions) {
        (true, true) => "of the same schema and partitioning".to_owned(),
        (true, false) => format!("partitioned by [{}]", theirs.partition_columns.join(", ")),
        (false, true) => "of another schema".to_owned(),
        (false, false) => format!("of another schema, partitioned by [{}]", theirs.partition_columns.join(", ")),
    };
    format!("created the table, {difference}, as this transaction does (create the table before writers start)")
}

/// W added a feature that asks something of every writer, under which T was not prepared. Not asked by Delta Spark unless
/// `conflictChecker.enforceConcurrentFeatureEnablement` is on.
///
/// Smallest counterexample: W adds `materializePartitionColumns`, T appends a file without them.
pub fn concurrent_feature() -> Rule {
    Rule::new("concurrent-feature", |transaction, winner| {
        let added = feature::missing(&transaction.read.as_ref()?.protocol, winner.protocol()?);
        let added: Vec<&str> = added.into_iter().filter(|feature| feature::fails_at_upgrade(feature)).collect();
        let reason = || format!("added {} to the protocol, which asks something of every writer", added.join(", "));
        (!added.is_empty()).then(|| Finding::new(ConflictKind::ProtocolChanged, reason()))
    })
}

/// T drops a feature, having seen that the table holds no trace of it any more, and W left a new one or switched the feature on. Row tracking is
/// not dropped in vain: T takes the ids away from W's files as well.
///
/// Smallest counterexample: T drops `deletionVectors`, W deletes one row of `f` by a vector. A client that never heard of vectors would read the
/// table and find the row.
fn feature_drop(transaction: &Transaction, winner: &Winner) -> Option<Finding> {
    switched_on_while_dropped(transaction, winner).or_else(|| {
        let dropped = dropped(transaction)?;
        if dropped.contains(&DELETION_VECTORS)
            && let Some(add) = winner.adds().find(|add| add.deletion_vector.is_some())
        {
            let file = Some(add.path.clone());
            let trace = format!("added a file with rows deleted by {DELETION_VECTORS}");
            return Some(Finding { file, ..dropped_in_vain(&trace) });
        }
        let kept = |domain: &&DomainMetadata| !domain.removed && domain.domain != ROW_TRACKING_DOMAIN;
        let domain = winner.domains().find(kept).filter(|_| dropped.contains(&DOMAIN_METADATA))?;
        Some(dropped_in_vain(&format!("wrote the domain {} under {DOMAIN_METADATA}", domain.domain)))
    })
}

/// The part of `feature-drop` that Delta Spark 4.0.0 has. It means to look for files with vectors too, but counts them only where the table may write
/// them, that is where the property is set already (`validateRemoval` and `persistentDVsOnTableSupported` in its jar).
pub fn feature_drop_by_property() -> Rule {
    Rule::new("feature-drop", switched_on_while_dropped)
}

fn switched_on_while_dropped(transaction: &Transaction, winner: &Winner) -> Option<Finding> {
    let metadata = winner.metadata()?;
    // Of row tracking nothing is validated again; under a protocol without it, the metadata is a conflict of its own.
    let mut validated = dropped(transaction)?.into_iter().filter(|feature| *feature != ROW_TRACKING);
    let (feature, trace) = validated.find_map(|feature| Some((feature, metadata::trace_of(metadata, feature)?)))?;
    Some(dropped_in_vain(&format!("wrote {trace}, which needs {feature}")))
}

fn dropped(transaction: &Transaction) -> Option<Vec<&str>> {
    Some(feature::missing(transaction.own_protocol()?, &transaction.read.as_ref()?.protocol))
}

fn dropped_in_vain(trace: &str) -> Finding {
    Finding::new(ConflictKind::FeatureDropConflict, format!("{trace}, a feature that this transaction drops"))
}

/// W wrote or removed a domain that T writes or removes as well, whatever stands in it. The domain of row tracking is merged instead.
///
/// Smallest counterexample: W clusters the table by `a`, T by `b`, each having read no clustering. Files of W are laid out by a clustering that the
/// table no longer has.
fn domain_metadata(transaction: &Transaction, winner: &Winner) -> Option<Finding> {
    let protocol = winner.protocol().or(transaction.protocol())?;
    let own = domains(&transaction.actions).filter(|own| own.domain != ROW_TRACKING_DOMAIN);
    let twice = own.into_iter().find(|own| winner.domains().any(|theirs| theirs.domain == own.domain))?;
    lists(protocol, DOMAIN_METADATA).then(|| {
        let reason = format!("wrote the domain {}, as this transaction does", twice.domain);
        Finding::new(ConflictKind::DomainMetadataConflict, reason)
    })
}

/// W moved an application whose progress T looked up, forwards or backwards.
///
/// Smallest counterexample: two copies of one stream read that batch 5 is in, and both write batch 6. If both commit, its rows are there twice.
fn application_transaction(transaction: &Transaction, winner: &Winner) -> Option<Finding> {
    if transaction.reads.app_ids.is_empty() {
        return None;
    }
    let looked_up = winner.commit.actions.iter().find_map(|action| match action {
        Action::Transaction(theirs) if transaction.reads.app_ids.contains(&theirs.app_id) => Some(theirs),
        _ => None,
    })?;
    let reason = format!(
        "moved the application {} to {}, whose progress this transaction looked up",
        looked_up.app_id, looked_up.version
    );
    Some(Finding::new(ConflictKind::ConcurrentTransaction, reason))
}

/// W is a backfill of row ids, T takes row ids away.
///
/// Smallest counterexample: one writer enables row tracking while another cleans up to drop it. W gave ids to `f`, T writes `f` without; both believe
/// that all files are as they left them.
fn backfill(transaction: &Transaction, winner: &Winner) -> Option<Finding> {
    let tracks = lists(winner.protocol().or(transaction.protocol())?, ROW_TRACKING);
    (tracks && transaction.operation.is_unbackfill() && winner.is_backfill()).then(|| {
        let reason = "gave row ids to the files from which this transaction takes them";
        Finding::new(ConflictKind::BackfillConflict, reason)
    })
}

/// W added a file that T would have read, had it been there.
///
/// Smallest counterexample: `DELETE FROM t` read an empty table while `INSERT INTO t VALUES (1)` committed. In the order of the log the row should be
/// gone, and it is there. At WriteSerializable that is explained by the other order, if the insert read nothing: so blind appends are let pass
/// there, unless T changes metadata (a new constraint must see every row).
fn added_files(transaction: &Transaction, winner: &Winner) -> Option<Finding> {
    added(transaction, winner, |_| true)
}

/// The rule `added-files` with a closer look: a file whose statistics show that it holds no row that was read is no conflict. Also on tables without
/// partitions; not after a read of the whole table. Sound, and not what Delta Spark does.
pub fn added_files_by_statistics() -> Rule {
    Rule::new("added-files", |transaction, winner| {
        let Some(read) = transaction.read.as_ref().filter(|_| !transaction.reads.predicates.is_empty()) else {
            return added_files(transaction, winner);
        };
        let filter = StatisticsFilter::new(&transaction.reads.predicates, read);
        let whole = transaction.reads.whole_table;
        added(transaction, winner, |add| whole || filter.first_match(add).is_some())
    })
}

fn added(transaction: &Transaction, winner: &Winner, may_hold: impl Fn(&AddFile) -> bool) -> Option<Finding> {
    // Row tracking adds files once more without a change; T read those before.
    let touches_ids_only = winner.is_backfill()
        || winner.is_unbackfill()
        || transaction.operation.is_backfill()
        || transaction.operation.is_unbackfill();
    let candidates = match transaction.level {
        IsolationLevel::SnapshotIsolation => false,
        IsolationLevel::WriteSerializable => !winner.blind_append || transaction.changes_metadata(),
        IsolationLevel::Serializable => true,
    };
    if !candidates || transaction.blind_append || touches_ids_only {
        return None;
    }
    let found = |add: &AddFile, predicate, reason| {
        Some(Finding { predicate, ..Finding::in_file(ConflictKind::ConcurrentAppend, &add.path, reason) })
    };
    let mut adds = winner.adds().filter(|add| may_hold(add)).peekable();
    let read = match &transaction.read {
        Some(read) if !transaction.reads.whole_table && !read.partition_columns().is_empty() => read,
        _ => {
            let reason = "added a file, and this transaction depends on the whole table";
            let predicate = (!transaction.reads.whole_table && !transaction.reads.predicates.is_empty()).then_some(0);
            return found(adds.next()?, predicate, reason);
        }
    };
    adds.peek()?;
    let filter = PartitionFilter::new(&transaction.reads.predicates, read);
    let (add, predicate) = adds.find_map(|add| filter.first_match(add).map(|predicate| (add, predicate)))?;
    found(add, Some(predicate), "added a file to a partition that this transaction read")
}

/// W removed a file that T read. At every level: what was computed from the file's rows is out of date.
///
/// Smallest counterexample: `UPDATE t SET x = x + 1` read file `f`, and so did the same statement of a winner that replaced `f`. If both commit, one
/// increment is lost or the rows are there twice.
fn removed_and_read(transaction: &Transaction, winner: &Winner) -> Option<Finding> {
    let reads = &transaction.reads;
    let files = Some(&reads.files).filter(|_| !leaves_out_touched_files(transaction));
    let known = winner.removes().find(|remove| files.is_some_and(|files| files.contains(&remove.path)));
    let found =
        |remove: &RemoveFile, reason| Finding::in_file(ConflictKind::ConcurrentDeleteRead, &remove.path, reason);
    if let Some(remove) = known {
        return Some(found(remove, "removed a file that this transaction read"));
    }
    let remove = winner.removes().next().filter(|_| reads.whole_table)?;
    Some(found(remove, "removed a file, and this transaction depends on the whole table"))
}

/// W removed a file that T removes as well. At every level: a file can be replaced once.
///
/// Smallest counterexample: two compactions of the same files. If both commit, every row is there twice.
fn removed_twice(transaction: &Transaction, winner: &Winner) -> Option<Finding> {
    winner.removes().next()?;
    let own: BTreeSet<&str> = transaction.removes().map(|remove| remove.path.as_str()).collect();
    let remove = winner.removes().find(|remove| own.contains(remove.path.as_str()))?;
    let reason = "removed a file that this transaction removes as well";
    Some(Finding::in_file(ConflictKind::ConcurrentDeleteDelete, &remove.path, reason))
}
