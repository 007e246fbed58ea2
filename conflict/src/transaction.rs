//! A transaction: what it read, what it wants to write.

mod check;
mod operation;
mod winner;

use std::{collections::BTreeSet, sync::Arc};

use log_core::{
    action::{Action, AddFile, CommitInfo, DomainMetadata, Metadata, Protocol, RemoveFile},
    commit::Commit,
    expression::Expression,
    path::Version,
    snapshot::Snapshot,
};
use serde_json::{Map, Value as Json, json};

pub use self::{check::InvalidTransaction, operation::Operation, winner::Winner};
use crate::{
    feature::Client,
    isolation::IsolationLevel,
    rebase::{ENABLEMENT_TIMESTAMP, ENABLEMENT_VERSION, retain_enablement, timestamps_enabled},
};

/// What a transaction read of the table. Plain inserts read nothing.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct ReadSet {
    /// It may have read anything, so every change matters.
    pub whole_table: bool,
    /// One predicate per scan, over the columns of the snapshot that was read; the transaction depends on every row for which one of them is
    /// true, also on rows that are not there yet.
    pub predicates: Vec<Expression>,
    /// Paths of the files that it read.
    pub files: BTreeSet<String>,
    /// Applications whose progress it looked up.
    pub app_ids: BTreeSet<String>,
}

impl ReadSet {
    /// Did it read nothing of the table's rows?
    pub fn is_empty(&self) -> bool {
        !self.whole_table && self.predicates.is_empty() && self.files.is_empty()
    }
}

/// A transaction that is ready to commit.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Transaction {
    /// The snapshot that it read; `None` when there was no table.
    pub read: Option<Arc<Snapshot>>,
    /// What it read of that.
    pub reads: ReadSet,
    /// What it is.
    pub operation: Operation,
    /// What it writes, without `commitInfo`.
    pub actions: Vec<Action>,
    /// The level that it is checked at.
    pub level: IsolationLevel,
    /// Did it read nothing and only add files? Decided once, on the actions as they were prepared.
    pub blind_append: bool,
    /// A text that no other transaction has, by which it knows its own commit.
    pub txn_id: String,
    /// Who carries it out.
    pub client: Client,
    /// What it took over from winners.
    pub rebased: Rebased,
}

/// What a transaction took over from the winners that it passed. What it read stays what it read: the columns that its predicates speak of, and
/// the features that a winner must not drop.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Rebased {
    /// The newest protocol of a winner.
    pub protocol: Option<Arc<Protocol>>,
    /// The newest metadata of a winner that was accepted.
    pub metadata: Option<Arc<Metadata>>,
    /// The high-water mark of row ids of the newest winner, where row tracking is supported.
    pub row_id_mark: Option<i64>,
    /// The in-commit timestamp that its own must exceed, in milliseconds since the epoch. Before the first winner this is the timestamp of the
    /// commit that was read, where the caller knows it.
    pub after_ms: Option<i64>,
    /// A winner switched row tracking on, so its rows may have lost the ids that they had.
    pub row_tracking_lost: bool,
}

impl Transaction {
    /// A transaction on a table of the given level.
    pub fn new(
        read: Option<Arc<Snapshot>>,
        reads: ReadSet,
        operation: Operation,
        actions: Vec<Action>,
        table_level: IsolationLevel,
        txn_id: String,
    ) -> Self {
        let level = table_level.of_commit(&actions, operation.changes_data());
        let blind_append = touches_no_file_but_adds(&actions) && reads.is_empty();
        let mut actions = actions;
        leave_out_repeated_progress(&mut actions);
        if let Some(read) = &read {
            retain_enablement(&mut actions, &read.metadata);
        }
        let (client, rebased) = (Client::default(), Rebased::default());
        Self { read, reads, operation, actions, level, blind_append, txn_id, client, rebased }
    }

    /// The protocol that it is written under: its own, else the newest winner's, else the one that it read.
    pub fn protocol(&self) -> Option<&Protocol> {
        self.own_protocol()
            .or(self.rebased.protocol.as_deref())
            .or_else(|| self.read.as_ref().map(|read| read.protocol.as_ref()))
    }

    /// The metadata that it is written under: its own, else the newest winner's, else what it read.
    pub fn metadata(&self) -> Option<&Metadata> {
        self.own_metadata()
            .or(self.rebased.metadata.as_deref())
            .or_else(|| self.read.as_ref().map(|read| read.metadata.as_ref()))
    }

    /// The protocol that it writes.
    pub fn own_protocol(&self) -> Option<&Protocol> {
        protocol_of(&self.actions)
    }

    /// The metadata that it writes.
    pub fn own_metadata(&self) -> Option<&Metadata> {
        metadata_of(&self.actions)
    }

    /// Does it switch in-commit timestamps on?
    pub fn enables_timestamps(&self) -> bool {
        let before = self.read.as_ref().is_some_and(|read| timestamps_enabled(&read.metadata));
        !before && self.own_metadata().is_some_and(timestamps_enabled)
    }

    /// The partition values of a file that it read, when that was live.
    pub fn read_file(&self, path: &str) -> Option<&AddFile> {
        let from = (path.to_owned(), None);
        let files = self.read.as_ref()?.files.range(from..);
        files.map(|(_, add)| add.as_ref()).next().filter(|add| add.path == path)
    }

    /// The version that it read.
    pub fn read_version(&self) -> Option<Version> {
        self.read.as_ref().map(|snapshot| snapshot.version)
    }

    /// Does it write a `metaData` action?
    pub fn changes_metadata(&self) -> bool {
        self.own_metadata().is_some()
    }

    /// Does it write a `protocol` action?
    pub fn changes_protocol(&self) -> bool {
        self.own_protocol().is_some()
    }

    /// The files that it removes.
    pub fn removes(&self) -> impl Iterator<Item = &RemoveFile> {
        removes(&self.actions)
    }

    /// The files that it adds.
    pub fn adds(&self) -> impl Iterator<Item = &AddFile> {
        adds(&self.actions)
    }

    /// The bytes of its commit file when written at a time, in milliseconds since the epoch. They hold for one attempt: a later one has other
    /// times.
    pub fn commit_bytes(&self, now_ms: i64) -> Vec<u8> {
        let mut info = Map::new();
        let timestamp = self.in_commit_timestamp(now_ms);
        if let Some(timestamp) = timestamp {
            info.insert("inCommitTimestamp".to_owned(), json!(timestamp));
        }
        if self.rebased.row_tracking_lost {
            info.insert("tags".to_owned(), json!({ "delta.rowTracking.preserved": "false" }));
        }
        info.insert("timestamp".to_owned(), json!(now_ms));
        info.insert("operation".to_owned(), json!(self.operation.name));
        info.insert("operationParameters".to_owned(), Json::Object(self.operation.parameters.clone()));
        if let Some(version) = self.read_version() {
            info.insert("readVersion".to_owned(), json!(version.0));
        }
        info.insert("isolationLevel".to_owned(), json!(self.level.to_string()));
        info.insert("isBlindAppend".to_owned(), json!(self.blind_append));
        if !self.operation.metrics.is_empty() {
            info.insert("operationMetrics".to_owned(), Json::Object(self.operation.metrics.clone()));
        }
        info.insert("engineInfo".to_owned(), json!(concat!("contend/", env!("CARGO_PKG_VERSION"))));
        info.insert("txnId".to_owned(), json!(self.txn_id));
        let info = Action::CommitInfo(CommitInfo(info));
        match timestamp.filter(|_| self.enables_timestamps()) {
            None => Commit::serialise(std::iter::once(&info).chain(&self.actions)),
            Some(timestamp) => {
                // The record of the enablement and the timestamp of the commit must agree.
                let mut actions = self.actions.clone();
                for action in &mut actions {
                    if let Action::Metadata(metadata) = action
                        && metadata.configuration.contains_key(ENABLEMENT_VERSION)
                    {
                        metadata.configuration.insert(ENABLEMENT_TIMESTAMP.to_owned(), timestamp.to_string());
                    }
                }
                Commit::serialise(std::iter::once(&info).chain(&actions))
            }
        }
    }

    /// Its in-commit timestamp when written at a time, where the table has them: later than that of the commit before it.
    fn in_commit_timestamp(&self, now_ms: i64) -> Option<i64> {
        let after = self.rebased.after_ms.map_or(i64::MIN, |after| after.saturating_add(1));
        self.metadata().is_some_and(timestamps_enabled).then(|| now_ms.max(after))
    }
}

/// An application that is moved to one number twice is moved once, as in Delta Spark; to two numbers, see [`Transaction::check`].
fn leave_out_repeated_progress(actions: &mut Vec<Action>) {
    let mut moved = BTreeSet::new();
    actions.retain(|action| match action {
        Action::Transaction(progress) => moved.insert((progress.app_id.clone(), progress.version)),
        _ => true,
    });
}

fn protocol_of(actions: &[Action]) -> Option<&Protocol> {
    actions.iter().find_map(|action| match action {
        Action::Protocol(protocol) => Some(protocol),
        _ => None,
    })
}

fn metadata_of(actions: &[Action]) -> Option<&Metadata> {
    actions.iter().find_map(|action| match action {
        Action::Metadata(metadata) => Some(metadata),
        _ => None,
    })
}

/// Are the file actions among some actions all adds? Change data is a file action too, written by who read rows.
pub(crate) fn touches_no_file_but_adds(actions: &[Action]) -> bool {
    actions.iter().filter(|action| action.is_file_action()).all(|action| matches!(action, Action::Add(_)))
}

/// The domains that actions write or remove.
pub(crate) fn domains(actions: &[Action]) -> impl Iterator<Item = &DomainMetadata> {
    actions.iter().filter_map(|action| match action {
        Action::DomainMetadata(domain) => Some(domain),
        _ => None,
    })
}

fn adds(actions: &[Action]) -> impl Iterator<Item = &AddFile> {
    actions.iter().filter_map(|action| match action {
        Action::Add(add) => Some(add),
        _ => None,
    })
}

fn removes(actions: &[Action]) -> impl Iterator<Item = &RemoveFile> {
    actions.iter().filter_map(|action| match action {
        Action::Remove(remove) => Some(remove),
        _ => None,
    })
}

#[cfg(test)]
mod tests;
