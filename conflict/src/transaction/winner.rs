//! A commit that came first.

use log_core::{
    action::{AddFile, CommitInfo, DomainMetadata, Metadata, Protocol, RemoveFile},
    commit::Commit,
    path::Version,
};

use super::{
    adds, domains, metadata_of,
    operation::{BACKFILL, UNBACKFILL},
    protocol_of, removes,
};

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
