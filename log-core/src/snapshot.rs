//! The state of a table at a version: the replay of its commits ("Action Reconciliation" of the protocol).

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    action::{Action, AddFile, DomainMetadata, Metadata, Protocol, SetTransaction},
    commit::Commit,
    path::Version,
    schema::Schema,
};

/// The identity of a file in the log: its path, and the id of its deletion vector if it has one.
pub type FileKey = (String, Option<String>);

/// A table at a version.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Snapshot {
    /// The version.
    pub version: Version,
    /// What a client must implement.
    pub protocol: Arc<Protocol>,
    /// Schema text, partition columns and properties.
    pub metadata: Arc<Metadata>,
    /// The schema, parsed.
    pub schema: Arc<Schema>,
    /// The files that are live.
    pub files: Arc<BTreeMap<FileKey, Arc<AddFile>>>,
    /// How far each application has come.
    pub transactions: Arc<BTreeMap<String, SetTransaction>>,
    /// Domains that are not removed.
    pub domains: Arc<BTreeMap<String, DomainMetadata>>,
}

/// Commits that make up no table.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The first commit lacks an action that every table needs.
    #[error(
        "commit {version} has no {action} action, and no commit before it has one; every table needs one in its first commit"
    )]
    Missing {
        /// The commit.
        version: Version,
        /// `protocol` or `metaData`.
        action: &'static str,
    },
    /// The schema cannot be read.
    #[error("commit {version}: the schema of its metaData action cannot be read")]
    Schema {
        /// The commit.
        version: Version,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// A partition column that the schema does not have.
    #[error("commit {version}: partition column '{column}' is not a column of the schema")]
    PartitionColumn {
        /// The commit.
        version: Version,
        /// The column.
        column: String,
    },
}

impl Snapshot {
    /// Replays commits on top of a snapshot, or from nothing. Removes of a commit count before its adds, so that an add whose file is removed
    /// in the same commit under another deletion vector stays.
    ///
    /// # Errors
    /// When protocol or metadata are missing after the first commit, or when the schema cannot be read.
    ///
    /// # Panics
    /// When the commits do not follow each other: whoever picks them has checked that.
    pub fn replay(base: Option<&Self>, commits: &[Commit]) -> Result<Self, ReplayError> {
        let mut snapshot = base.cloned();
        for commit in commits {
            let expected = Version::after(snapshot.as_ref().map(|snapshot| snapshot.version));
            assert_eq!(commit.version, expected, "commits are replayed in order");
            snapshot = Some(apply(snapshot, commit)?);
        }
        Ok(snapshot.expect("a base or a commit is given"))
    }

    /// The live files in order of path.
    pub fn adds(&self) -> impl Iterator<Item = &Arc<AddFile>> {
        self.files.values()
    }

    /// A table property.
    pub fn property(&self, key: &str) -> Option<&str> {
        self.metadata.configuration.get(key).map(String::as_str)
    }

    /// Names of partition columns.
    pub fn partition_columns(&self) -> &[String] {
        &self.metadata.partition_columns
    }

    /// How far an application has come, when the table knows it.
    pub fn transaction(&self, app_id: &str) -> Option<i64> {
        self.transactions.get(app_id).map(|transaction| transaction.version)
    }
}

fn apply(base: Option<Snapshot>, commit: &Commit) -> Result<Snapshot, ReplayError> {
    let version = commit.version;
    let mut protocol = base.as_ref().map(|base| base.protocol.clone());
    let mut metadata = base.as_ref().map(|base| (base.metadata.clone(), base.schema.clone()));
    let (mut files, mut transactions, mut domains) =
        base.map(|base| (base.files, base.transactions, base.domains)).unwrap_or_default();

    for action in &commit.actions {
        if let Action::Remove(remove) = action {
            let key = (remove.path.clone(), remove.deletion_vector.as_ref().map(|vector| vector.unique_id()));
            if files.contains_key(&key) {
                Arc::make_mut(&mut files).remove(&key);
            }
        }
    }
    for action in &commit.actions {
        match action {
            Action::Add(add) => {
                let key = (add.path.clone(), add.deletion_vector.as_ref().map(|vector| vector.unique_id()));
                Arc::make_mut(&mut files).insert(key, Arc::new(add.clone()));
            }
            Action::Metadata(new) => {
                let schema =
                    Schema::parse(&new.schema_string).map_err(|source| ReplayError::Schema { version, source })?;
                if let Some(column) = new.partition_columns.iter().find(|column| schema.field(column).is_none()) {
                    return Err(ReplayError::PartitionColumn { version, column: column.clone() });
                }
                metadata = Some((Arc::new(new.clone()), Arc::new(schema)));
            }
            Action::Protocol(new) => protocol = Some(Arc::new(new.clone())),
            Action::Transaction(transaction) => {
                Arc::make_mut(&mut transactions).insert(transaction.app_id.clone(), transaction.clone());
            }
            Action::DomainMetadata(domain) => {
                let domains = Arc::make_mut(&mut domains);
                if domain.removed {
                    domains.remove(&domain.domain);
                } else {
                    domains.insert(domain.domain.clone(), domain.clone());
                }
            }
            Action::Remove(_) | Action::CommitInfo(_) | Action::Unknown { .. } => {}
        }
    }

    let protocol = protocol.ok_or(ReplayError::Missing { version, action: "protocol" })?;
    let (metadata, schema) = metadata.ok_or(ReplayError::Missing { version, action: "metaData" })?;
    Ok(Snapshot { version, protocol, metadata, schema, files, transactions, domains })
}

#[cfg(test)]
mod tests;
