//! What the protocol asks of the actions of one commit together.

use std::collections::{BTreeMap, BTreeSet};

use log_core::{action::Action, deletion_vector::DeletionVector};

use super::Transaction;

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
    /// Checks what the protocol asks of the actions of one commit together.
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
}
