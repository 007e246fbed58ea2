//! Conflict cases: a table, a transaction that read it, the commits that landed before it, and the verdict that is expected.
//!
//! A case is one JSON file; its format is described in `conflict/tests/cases/README.md`. It is judged by the very rules and the rebase that a commit
//! goes through.

mod compare;
mod document;
mod judge;

use std::collections::BTreeMap;

use conflict::{explain::Explanation, rebase::RebaseError, transaction::InvalidTransaction};
use log_core::{
    action::Action,
    commit::{Commit, CommitError},
    path::Version,
    snapshot::ReplayError,
};

pub use self::judge::judge;

/// A case that was read.
#[derive(Clone, Debug)]
pub struct Case {
    /// What it claims.
    pub name: String,
    /// The level of the table.
    isolation: conflict::isolation::IsolationLevel,
    /// Commits of version 0, 1, ...
    setup: Vec<Commit>,
    read_version: Option<Version>,
    operation: String,
    reads: document::Reads,
    actions: Vec<Action>,
    winners: Vec<Commit>,
    expect: Expectation,
}

/// What must come out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expectation {
    /// It commits.
    Committed {
        /// Where; anywhere when it is not said.
        version: Option<Version>,
        /// Facts of the commit.
        rebased: RebasedFacts,
    },
    /// It loses.
    Conflict {
        /// The kinds of conflict that are right.
        kinds: Vec<String>,
        /// Against which version.
        winner: Version,
        /// The partition that is named.
        partition: Option<String>,
    },
}

/// Facts of a commit that was moved past winners.
#[derive(Clone, PartialEq, Eq, Debug, Default, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RebasedFacts {
    /// By path, of the add or remove.
    #[serde(default)]
    pub base_row_id: BTreeMap<String, i64>,
    /// By path, of the add or remove.
    #[serde(default)]
    pub default_row_commit_version: BTreeMap<String, i64>,
    /// Of the domain of row tracking.
    pub row_id_high_water_mark: Option<i64>,
    /// In milliseconds since the epoch.
    pub in_commit_timestamp: Option<i64>,
    /// Properties of the metadata.
    #[serde(default)]
    pub configuration: BTreeMap<String, String>,
    /// Tombstones of domains.
    #[serde(default)]
    pub removed_domains: Vec<String>,
    /// Files that are not added any more.
    #[serde(default)]
    pub absent_adds: Vec<String>,
}

/// What came out.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It commits.
    Committed {
        /// Where.
        version: Version,
        /// The bytes of its file, read back.
        commit: Commit,
    },
    /// It loses.
    Conflict(Box<Explanation>),
    /// It can neither be moved past a winner nor does a rule stand against it.
    Stuck(RebaseError),
}

/// What a case came to.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// What came out.
    pub outcome: Outcome,
    /// In what it is not as expected; empty when the case passes.
    pub differences: Vec<String>,
    /// Parts of read predicates that count as true because nothing can be said of them, and why; files that cannot have been read.
    pub notes: Vec<String>,
}

/// A case that cannot be judged.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// Not a case.
    #[error("not a conflict case: {0}")]
    Document(#[from] serde_json::Error),
    /// A field that says something impossible.
    #[error("{field}: {problem}")]
    Field {
        /// Where.
        field: String,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// An action that cannot be read.
    #[error("{field}: the action cannot be read; see the protocol for the fields that it needs")]
    Action {
        /// Where.
        field: String,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// The table is none.
    #[error("setup: {0}")]
    Replay(#[from] ReplayError),
    /// The transaction is none.
    #[error("transaction.actions: {0}")]
    Transaction(#[from] InvalidTransaction),
    /// What was written does not read back.
    #[error("the commit cannot be read back")]
    Written(#[source] CommitError),
}

#[cfg(test)]
mod tests;
