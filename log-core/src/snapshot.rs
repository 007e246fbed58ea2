//! The state of a table at a version: the replay of its commits ("Action Reconciliation" of the protocol).

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    action::{Action, AddFile, DomainMetadata, FileKey, Metadata, Protocol, RemoveFile, SetTransaction},
    commit::Commit,
    path::Version,
    schema::Schema,
};

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
    /// Removes of files that are not live; `None` where nobody asked to keep them. Only who writes checkpoints or deletes files needs them. What a
    /// checkpoint left out, as it had expired, is not here.
    pub tombstones: Option<Arc<BTreeMap<FileKey, Arc<RemoveFile>>>>,
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
    /// A checkpoint lacks an action that every table needs.
    #[error(
        "the checkpoint of version {version} has no {action} action; every checkpoint needs one: write it anew, or delete it if every \
         commit up to its version is still there"
    )]
    MissingInCheckpoint {
        /// Its version.
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
    /// Replays commits on top of a snapshot, or from nothing. Tombstones are kept when the base has them.
    ///
    /// # Errors
    /// When protocol or metadata are missing after the first commit, or when the schema cannot be read.
    ///
    /// # Panics
    /// When the commits do not follow each other: whoever picks them has checked that.
    pub fn replay(base: Option<&Self>, commits: &[Commit]) -> Result<Self, ReplayError> {
        let mut replay = Replay::of(base.cloned().map(Arc::new));
        for commit in commits {
            let expected = Version::after(replay.version);
            assert_eq!(commit.version, expected, "commits are replayed in order");
            replay.apply(commit.version, commit.actions.clone())?;
        }
        replay.finish()
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

/// A snapshot in the making.
#[derive(Debug, Default)]
pub(crate) struct Replay {
    version: Option<Version>,
    protocol: Option<Arc<Protocol>>,
    metadata: Option<Arc<Metadata>>,
    /// The schema of the metadata, where it is parsed already.
    schema: Option<Arc<Schema>>,
    /// Where the metadata was said.
    metadata_version: Version,
    files: Arc<BTreeMap<FileKey, Arc<AddFile>>>,
    transactions: Arc<BTreeMap<String, SetTransaction>>,
    domains: Arc<BTreeMap<String, DomainMetadata>>,
    tombstones: Option<Arc<BTreeMap<FileKey, Arc<RemoveFile>>>>,
}

impl Replay {
    /// Begins with a snapshot, or with nothing. What nobody else holds is changed in place.
    pub(crate) fn of(base: Option<Arc<Snapshot>>) -> Self {
        let Some(base) = base.map(Arc::unwrap_or_clone) else { return Self::default() };
        Self {
            version: Some(base.version),
            protocol: Some(base.protocol),
            metadata: Some(base.metadata),
            schema: Some(base.schema),
            metadata_version: base.version,
            files: base.files,
            transactions: base.transactions,
            domains: base.domains,
            tombstones: base.tombstones,
        }
    }

    /// Begins with nothing, and keeps tombstones.
    pub(crate) fn keeping_tombstones() -> Self {
        Self { tombstones: Some(Arc::default()), ..Self::default() }
    }

    /// Takes over the actions of a checkpoint of this version.
    pub(crate) fn apply_checkpoint(&mut self, version: Version, actions: Vec<Action>) -> Result<(), ReplayError> {
        self.take(version, actions);
        match self.missing() {
            None => Ok(()),
            Some(action) => Err(ReplayError::MissingInCheckpoint { version, action }),
        }
    }

    /// Applies the commit that makes this version, or the compaction that leads up to it.
    pub(crate) fn apply(&mut self, version: Version, actions: Vec<Action>) -> Result<(), ReplayError> {
        self.take(version, actions);
        match self.missing() {
            None => Ok(()),
            Some(action) => Err(ReplayError::Missing { version, action }),
        }
    }

    fn missing(&self) -> Option<&'static str> {
        match (&self.protocol, &self.metadata) {
            (None, _) => Some("protocol"),
            (_, None) => Some("metaData"),
            _ => None,
        }
    }

    /// Removes of a commit count before its adds, so that an add whose file is removed in the same commit under another deletion vector stays.
    fn take(&mut self, version: Version, actions: Vec<Action>) {
        self.version = Some(version);
        for action in &actions {
            if let Action::Remove(remove) = action {
                let key = remove.key();
                if self.files.contains_key(&key) {
                    Arc::make_mut(&mut self.files).remove(&key);
                }
                if let Some(tombstones) = &mut self.tombstones {
                    Arc::make_mut(tombstones).insert(key, Arc::new(remove.clone()));
                }
            }
        }
        for action in actions {
            match action {
                Action::Add(add) => {
                    let key = add.key();
                    if let Some(tombstones) = &mut self.tombstones {
                        Arc::make_mut(tombstones).remove(&key);
                    }
                    Arc::make_mut(&mut self.files).insert(key, Arc::new(add));
                }
                Action::Metadata(metadata) => {
                    self.metadata = Some(Arc::new(metadata));
                    self.schema = None;
                    self.metadata_version = version;
                }
                Action::Protocol(protocol) => self.protocol = Some(Arc::new(protocol)),
                Action::Transaction(transaction) => {
                    Arc::make_mut(&mut self.transactions).insert(transaction.app_id.clone(), transaction);
                }
                Action::DomainMetadata(domain) => {
                    let domains = Arc::make_mut(&mut self.domains);
                    if domain.removed {
                        domains.remove(&domain.domain);
                    } else {
                        domains.insert(domain.domain.clone(), domain);
                    }
                }
                Action::Remove(_) | Action::CommitInfo(_) | Action::Unknown { .. } => {}
            }
        }
    }

    /// The version that it has come to.
    pub(crate) fn version(&self) -> Option<Version> {
        self.version
    }

    /// The protocol so far.
    pub(crate) fn protocol(&self) -> Option<&Protocol> {
        self.protocol.as_deref()
    }

    /// The metadata so far.
    pub(crate) fn metadata(&self) -> Option<&Metadata> {
        self.metadata.as_deref()
    }

    /// The schema so far, parsed.
    pub(crate) fn schema(&self) -> Option<Result<Arc<Schema>, ReplayError>> {
        let metadata = self.metadata.as_ref()?;
        Some(match &self.schema {
            Some(schema) => Ok(schema.clone()),
            None => schema_of(metadata, self.metadata_version).map(Arc::new),
        })
    }

    /// The live files so far.
    pub(crate) fn files(&self) -> &BTreeMap<FileKey, Arc<AddFile>> {
        &self.files
    }

    /// The tombstones so far; `None` where they are not kept.
    pub(crate) fn tombstones(&self) -> Option<&BTreeMap<FileKey, Arc<RemoveFile>>> {
        self.tombstones.as_deref()
    }

    /// How far each application has come so far.
    pub(crate) fn transactions(&self) -> &BTreeMap<String, SetTransaction> {
        &self.transactions
    }

    /// Domains so far.
    pub(crate) fn domains(&self) -> &BTreeMap<String, DomainMetadata> {
        &self.domains
    }

    /// The snapshot. Only the last metadata counts: what an older one says need not make sense to us.
    ///
    /// # Panics
    /// When nothing was applied.
    pub(crate) fn finish(self) -> Result<Snapshot, ReplayError> {
        let metadata = self.metadata.expect("a base, a checkpoint or a commit was applied");
        let schema = match self.schema {
            Some(schema) => schema,
            None => Arc::new(schema_of(&metadata, self.metadata_version)?),
        };
        Ok(Snapshot {
            version: self.version.expect("what has metadata has a version"),
            protocol: self.protocol.expect("every step was checked for it"),
            metadata,
            schema,
            files: self.files,
            transactions: self.transactions,
            domains: self.domains,
            tombstones: self.tombstones,
        })
    }
}

/// The schema of what the metadata of this version says.
pub(crate) fn schema_of(metadata: &Metadata, version: Version) -> Result<Schema, ReplayError> {
    let schema = match metadata.schema_string.as_str() {
        "" => Schema::default(),
        text => Schema::parse(text).map_err(|source| ReplayError::Schema { version, source })?,
    };
    match metadata.partition_columns.iter().find(|column| schema.field(column).is_none()) {
        Some(column) => Err(ReplayError::PartitionColumn { version, column: column.clone() }),
        None => Ok(schema),
    }
}

#[cfg(test)]
mod tests;
