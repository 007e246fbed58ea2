//! Row ids and row commit versions ("Row Tracking" of the protocol): no two rows of a table ever have one id.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use log_core::action::{Action, AddFile, DomainMetadata};
use serde_json::{Value as Json, json};

use super::RebaseError;
use crate::{
    feature::{ROW_TRACKING, ROW_TRACKING_DOMAIN, is_on, lists},
    transaction::{Transaction, Winner},
};

/// The mark of a table that has given no ids yet.
const NO_MARK: i64 = -1;

pub(super) fn rebase(transaction: &mut Arc<Transaction>, winner: &Winner) -> Result<(), RebaseError> {
    if drops_row_tracking(transaction) {
        take_ids_away(transaction, winner);
    }
    if !transaction.protocol().is_some_and(|protocol| lists(protocol, ROW_TRACKING)) {
        return Ok(());
    }
    if transaction.operation.is_backfill() {
        leave_out_touched_files(transaction, winner);
    }
    if winner.is_backfill() {
        take_ids_over(transaction, winner);
    }
    if transaction.operation.is_unbackfill() {
        take_ids_away(transaction, winner);
    }
    if transaction.metadata().is_some_and(|metadata| is_on(&metadata.configuration, "delta.rowTrackingSuspended")) {
        return Ok(());
    }
    number_anew(transaction, winner)?;
    let (taken, next) = (winner.version().0 as i64, winner.version().next().0 as i64);
    for add in adds(Arc::make_mut(transaction)) {
        if add.default_row_commit_version.is_none_or(|version| version == taken) {
            add.default_row_commit_version = Some(next);
        }
    }
    Ok(())
}

/// Does a transaction leave out whatever files a winner touched, and so need not have read them? It adds files once more without a change.
pub(crate) fn leaves_out_touched_files(transaction: &Transaction) -> bool {
    let operation = &transaction.operation;
    operation.is_backfill() || operation.is_unbackfill() || drops_row_tracking(transaction)
}

/// Does the transaction drop the feature from the protocol that it read?
fn drops_row_tracking(transaction: &Transaction) -> bool {
    let read = transaction.read.as_ref().is_some_and(|read| lists(&read.protocol, ROW_TRACKING));
    read && transaction.own_protocol().is_some_and(|own| !lists(own, ROW_TRACKING))
}

fn adds(transaction: &mut Transaction) -> impl Iterator<Item = &mut AddFile> {
    transaction.actions.iter_mut().filter_map(|action| match action {
        Action::Add(add) => Some(add),
        _ => None,
    })
}

/// Paths that the winner added or removed.
fn touched(winner: &Winner) -> BTreeSet<&str> {
    winner.adds().map(|add| add.path.as_str()).chain(winner.removes().map(|remove| remove.path.as_str())).collect()
}

/// A backfill adds every file once more, with ids. What a winner added has ids already; what it removed must not come back.
fn leave_out_touched_files(transaction: &mut Arc<Transaction>, winner: &Winner) {
    let touched = touched(winner);
    let own = Arc::make_mut(transaction);
    own.actions.retain(|action| !matches!(action, Action::Add(add) if touched.contains(add.path.as_str())));
    own.reads.files.retain(|path| !touched.contains(path.as_str()));
}

/// A winning backfill gave ids to files that the transaction removes or adds once more. An add then has an id above the mark that was read, so it is
/// numbered anew right after, as in Delta Spark; the remove of the same path keeps the id of the backfill.
fn take_ids_over(transaction: &mut Arc<Transaction>, winner: &Winner) {
    let given: BTreeMap<&str, &AddFile> = winner.adds().map(|add| (add.path.as_str(), add)).collect();
    for action in &mut Arc::make_mut(transaction).actions {
        let (path, id, version) = match action {
            Action::Add(add) => (&add.path, &mut add.base_row_id, &mut add.default_row_commit_version),
            Action::Remove(remove) => (&remove.path, &mut remove.base_row_id, &mut remove.default_row_commit_version),
            _ => continue,
        };
        if let Some(add) = given.get(path.as_str()) {
            (*id, *version) = (add.base_row_id, add.default_row_commit_version);
        }
    }
}

/// An unbackfill adds every file once more, without ids: also those of the winner, and not those that it removed.
fn take_ids_away(transaction: &mut Arc<Transaction>, winner: &Winner) {
    let touched = touched(winner);
    let own = Arc::make_mut(transaction);
    own.actions.retain(|action| !matches!(action, Action::Add(add) if touched.contains(add.path.as_str())));
    own.reads.files.retain(|path| !touched.contains(path.as_str()));
    let with_ids =
        winner.adds().filter(|add| add.base_row_id.is_some() || add.default_row_commit_version.is_some()).cloned();
    own.actions.extend(with_ids.map(|add| {
        Action::Add(AddFile { data_change: false, base_row_id: None, default_row_commit_version: None, ..add })
    }));
}

/// Ids that the transaction gave out itself, and ids that are missing, follow the winner's. Ids of files that were there before stay: those are
/// not above the mark that was read.
fn number_anew(transaction: &mut Arc<Transaction>, winner: &Winner) -> Result<(), RebaseError> {
    let winner_version = winner.version();
    let mark_of =
        |domain: &DomainMetadata, version| high_water_mark(domain).ok_or(RebaseError::HighWaterMark { version });
    let read_mark = match (transaction.rebased.row_id_mark, &transaction.read) {
        (Some(mark), _) => mark,
        (None, Some(read)) => {
            read.domains.get(ROW_TRACKING_DOMAIN).map_or(Ok(NO_MARK), |domain| mark_of(domain, read.version))?
        }
        (None, None) => NO_MARK,
    };
    let base = match winner.domains().find(|domain| domain.domain == ROW_TRACKING_DOMAIN) {
        Some(domain) => mark_of(domain, winner_version)?,
        None => read_mark,
    };
    let mut mark = base;
    let own = Arc::make_mut(transaction);
    for add in adds(own) {
        if add.base_row_id.is_some_and(|id| id <= read_mark) {
            continue;
        }
        let path = || add.path.clone();
        let records =
            records(add).ok_or_else(|| RebaseError::UnknownRecords { path: path(), winner: winner_version })?;
        let too_many = || RebaseError::RowIds { path: path(), winner: winner_version };
        let first = mark.checked_add(1).ok_or_else(too_many)?;
        mark = mark.checked_add(records).ok_or_else(too_many)?;
        add.base_row_id = Some(first);
    }
    own.actions
        .retain(|action| !matches!(action, Action::DomainMetadata(domain) if domain.domain == ROW_TRACKING_DOMAIN));
    own.actions.insert(0, Action::DomainMetadata(row_tracking_domain(mark)));
    own.rebased.row_id_mark = Some(base);
    Ok(())
}

/// The highest row id that was given out, when the domain says it.
pub fn high_water_mark(domain: &DomainMetadata) -> Option<i64> {
    let configuration: Json = serde_json::from_str(&domain.configuration).ok()?;
    configuration.get("rowIdHighWaterMark")?.as_i64()
}

fn row_tracking_domain(mark: i64) -> DomainMetadata {
    DomainMetadata {
        domain: ROW_TRACKING_DOMAIN.to_owned(),
        configuration: json!({ "rowIdHighWaterMark": mark }).to_string(),
        ..DomainMetadata::default()
    }
}

/// The rows of a file, deleted ones included.
fn records(add: &AddFile) -> Option<i64> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Records {
        num_records: i64,
    }
    let Records { num_records } = serde_json::from_str(add.stats.as_deref()?).ok()?;
    (num_records >= 0).then_some(num_records)
}
