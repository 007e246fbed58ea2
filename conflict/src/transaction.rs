//! A transaction: what it read, what it wants to write.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use log_core::{
    action::{Action, AddFile, CommitInfo, DomainMetadata, Metadata, Protocol, RemoveFile},
    commit::Commit,
    deletion_vector::DeletionVector,
    expression::Expression,
    path::Version,
    snapshot::Snapshot,
};
use serde_json::{Map, Value as Json, json};

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

/// What a transaction calls itself in the log.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Operation {
    /// The name, as Delta Spark spells it: `WRITE`, `UPDATE`, `OPTIMIZE`, ...
    pub name: String,
    /// `commitInfo.operationParameters`.
    pub parameters: Map<String, Json>,
    /// `commitInfo.operationMetrics`: texts, as other clients expect.
    pub metrics: Map<String, Json>,
}

/// Operations that declare that they change data (Delta Spark, `DeltaOperations`).
const CHANGING_OPERATIONS: [&str; 14] = [
    "WRITE",
    "STREAMING UPDATE",
    "DELETE",
    "TRUNCATE",
    "CONVERT",
    "MERGE",
    "UPDATE",
    "CREATE TABLE AS SELECT",
    "REPLACE TABLE AS SELECT",
    "CREATE OR REPLACE TABLE AS SELECT",
    "REPLACE TABLE",
    "CREATE OR REPLACE TABLE",
    "RESTORE",
    "CLONE",
];

/// Operations that write a whole table in one go and are never moved past a winner (Delta Spark, `commitLarge`).
const UNMOVABLE_OPERATIONS: [&str; 3] = ["RESTORE", "CLONE", "CONVERT"];

/// Gives every file of a table its row ids after row tracking was switched on.
const BACKFILL: &str = "ROW TRACKING BACKFILL";
/// Takes the row ids away again before row tracking is dropped.
const UNBACKFILL: &str = "ROW TRACKING UNBACKFILL";

impl Operation {
    /// An operation of this name, without parameters and metrics.
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// Does it lose to every winner, whatever that did?
    pub fn is_never_rebased(&self) -> bool {
        UNMOVABLE_OPERATIONS.contains(&self.name.as_str())
    }

    /// Does it put a new table in the place of the old one?
    pub fn replaces_table(&self) -> bool {
        let name = self.name.strip_prefix("CREATE OR ").unwrap_or(&self.name);
        matches!(name, "REPLACE TABLE" | "REPLACE TABLE AS SELECT")
    }

    /// Does it give files their row ids?
    pub fn is_backfill(&self) -> bool {
        self.name == BACKFILL
    }

    /// Does it take row ids away from files?
    pub fn is_unbackfill(&self) -> bool {
        self.name == UNBACKFILL
    }

    /// Does the operation declare that it changes data?
    pub fn changes_data(&self) -> bool {
        CHANGING_OPERATIONS.contains(&self.name.as_str())
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

/// Actions that no commit may hold together.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InvalidTransaction {
    /// Two protocols or two metadata.
    #[error("a commit holds at most one {0} action; leave all but one out")]
    Twice(&'static str),
    /// Two lines of one application.
    #[error(
        "application '{app_id}' is moved to {first} and to {second} in one commit; a commit says once how far it has come"
    )]
    Application {
        /// The application.
        app_id: String,
        /// One number.
        first: i64,
        /// The other.
        second: i64,
    },
    /// One domain is written twice.
    #[error("domain '{0}' is written twice in one commit; a commit says once what stands in it")]
    Domain(String),
    /// One logical file is added or removed twice, or both.
    #[error("file '{path}' is {first} and {second} under one deletion vector; a commit does one thing to a file")]
    File {
        /// The path.
        path: String,
        /// `added` or `removed`.
        first: &'static str,
        /// `added` or `removed`.
        second: &'static str,
    },
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
        let only_adds =
            actions.iter().filter(|action| action.is_file_action()).all(|action| matches!(action, Action::Add(_)));
        let blind_append = only_adds && reads.is_empty();
        let mut actions = actions;
        if let Some(read) = &read {
            retain_enablement(&mut actions, &read.metadata);
        }
        let (client, rebased) = (Client::default(), Rebased::default());
        Self { read, reads, operation, actions, level, blind_append, txn_id, client, rebased }
    }

    /// Checks what the protocol asks of the actions of one commit together. An application that is moved to the same number twice is let pass.
    ///
    /// # Errors
    /// When two actions contradict each other.
    pub fn check(&self) -> Result<(), InvalidTransaction> {
        let (mut protocols, mut metadata) = (0, 0);
        let (mut applications, mut names, mut files) = (BTreeMap::new(), BTreeSet::new(), BTreeMap::new());
        for action in &self.actions {
            let (path, vector, what) = match action {
                Action::Protocol(_) => {
                    protocols += 1;
                    continue;
                }
                Action::Metadata(_) => {
                    metadata += 1;
                    continue;
                }
                Action::Transaction(new) => {
                    let first = *applications.entry(&new.app_id).or_insert(new.version);
                    if first != new.version {
                        let (app_id, second) = (new.app_id.clone(), new.version);
                        return Err(InvalidTransaction::Application { app_id, first, second });
                    }
                    continue;
                }
                Action::DomainMetadata(domain) => {
                    if !names.insert(&domain.domain) {
                        return Err(InvalidTransaction::Domain(domain.domain.clone()));
                    }
                    continue;
                }
                Action::Add(add) => (&add.path, &add.deletion_vector, "added"),
                Action::Remove(remove) => (&remove.path, &remove.deletion_vector, "removed"),
                Action::CommitInfo(_) | Action::Unknown { .. } => continue,
            };
            let key = (path, vector.as_ref().map(DeletionVector::unique_id));
            if let Some(first) = files.insert(key, what) {
                return Err(InvalidTransaction::File { path: path.clone(), first, second: what });
            }
        }
        match (protocols, metadata) {
            (0..2, 0..2) => Ok(()),
            (0..2, _) => Err(InvalidTransaction::Twice("metaData")),
            _ => Err(InvalidTransaction::Twice("protocol")),
        }
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

/// A commit that landed at a version that a transaction has not seen.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Winner {
    /// What was read from the log.
    pub commit: Commit,
    /// It says that it read nothing, and it removes nothing. A commit that does not say so is not blind, and one with removes is none whatever it
    /// says.
    pub blind_append: bool,
    /// When its file was written, in milliseconds since the epoch, where somebody looked. Without, the time that it says itself stands in.
    pub modified_ms: Option<i64>,
}

impl Winner {
    /// Takes a commit for a winner.
    pub fn new(commit: Commit) -> Self {
        let claims = commit.info().is_some_and(CommitInfo::is_blind_append);
        let blind_append = claims && removes(&commit.actions).next().is_none();
        Self { commit, blind_append, modified_ms: None }
    }

    /// The first protocol that it brings.
    pub fn protocol(&self) -> Option<&Protocol> {
        protocol_of(&self.commit.actions)
    }

    /// The first metadata that it brings.
    pub fn metadata(&self) -> Option<&Metadata> {
        metadata_of(&self.commit.actions)
    }

    /// The domains that it writes or removes.
    pub fn domains(&self) -> impl Iterator<Item = &DomainMetadata> {
        domains(&self.commit.actions)
    }

    /// Did it change its metadata for nothing but the high-water marks of identity columns? It says so itself, in a tag.
    pub fn moves_identity_only(&self) -> bool {
        let info = self.commit.info();
        let tag = info.and_then(|info| info.0.get("tags")?.get("delta.identity.schemaUpdate"));
        tag.is_some_and(|tag| tag.as_bool() == Some(true) || tag.as_str() == Some("true"))
    }

    /// Does it give files their row ids?
    pub fn is_backfill(&self) -> bool {
        self.operation() == BACKFILL
    }

    /// Does it take row ids away from files?
    pub fn is_unbackfill(&self) -> bool {
        self.operation() == UNBACKFILL
    }

    /// Its version.
    pub fn version(&self) -> Version {
        self.commit.version
    }

    /// The name of its operation; `TRANSACTION` when it has none, as Delta Spark says.
    pub fn operation(&self) -> &str {
        self.commit.info().and_then(CommitInfo::operation).unwrap_or("TRANSACTION")
    }

    /// The files that it added.
    pub fn adds(&self) -> impl Iterator<Item = &AddFile> {
        adds(&self.commit.actions)
    }

    /// The files that it removed.
    pub fn removes(&self) -> impl Iterator<Item = &RemoveFile> {
        removes(&self.commit.actions)
    }
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
