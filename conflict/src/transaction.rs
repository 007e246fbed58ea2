//! A transaction: what it read, what it wants to write.

use std::{collections::BTreeSet, sync::Arc};

use log_core::{
    action::{Action, AddFile, CommitInfo, RemoveFile},
    commit::Commit,
    expression::Expression,
    path::Version,
    snapshot::Snapshot,
};
use serde_json::{Map, Value as Json, json};

use crate::isolation::IsolationLevel;

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
const CHANGING_OPERATIONS: [&str; 13] = [
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
    "RESTORE",
    "CLONE",
];

impl Operation {
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
        Self { read, reads, operation, actions, level, blind_append, txn_id }
    }

    /// The version that it read.
    pub fn read_version(&self) -> Option<Version> {
        self.read.as_ref().map(|snapshot| snapshot.version)
    }

    /// Does it write a `metaData` action?
    pub fn changes_metadata(&self) -> bool {
        self.actions.iter().any(|action| matches!(action, Action::Metadata(_)))
    }

    /// Does it write a `protocol` action?
    pub fn changes_protocol(&self) -> bool {
        self.actions.iter().any(|action| matches!(action, Action::Protocol(_)))
    }

    /// The files that it removes.
    pub fn removes(&self) -> impl Iterator<Item = &RemoveFile> {
        removes(&self.actions)
    }

    /// The bytes of its commit file when written at a time, in milliseconds since the epoch.
    pub fn commit_bytes(&self, now_ms: i64) -> Vec<u8> {
        let mut info = Map::new();
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
        Commit::serialise(std::iter::once(&info).chain(&self.actions))
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
}

impl Winner {
    /// Takes a commit for a winner.
    pub fn new(commit: Commit) -> Self {
        let claims = commit.info().is_some_and(CommitInfo::is_blind_append);
        let blind_append = claims && removes(&commit.actions).next().is_none();
        Self { commit, blind_append }
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
        self.commit.actions.iter().filter_map(|action| match action {
            Action::Add(add) => Some(add),
            _ => None,
        })
    }

    /// The files that it removed.
    pub fn removes(&self) -> impl Iterator<Item = &RemoveFile> {
        removes(&self.commit.actions)
    }
}

fn removes(actions: &[Action]) -> impl Iterator<Item = &RemoveFile> {
    actions.iter().filter_map(|action| match action {
        Action::Remove(remove) => Some(remove),
        _ => None,
    })
}

#[cfg(test)]
mod tests;
