//! What the table holds at the place where the walk is.

use std::{collections::BTreeSet, sync::Arc};

use super::row_ids::RowIds;
use crate::{
    action::{Action, AddFile, DomainMetadata, FileKey, Metadata, Protocol},
    commit::Commit,
    layout::ColumnMapping,
    path::Version,
    schema::{Field, Schema},
    snapshot::{Replay, ReplayError, Snapshot},
};

/// The replay so far, and what rules need of it that is slow to look up.
#[derive(Debug)]
pub(super) struct State {
    pub(super) replay: Replay,
    pub(super) row_ids: RowIds,
    /// Is every tombstone there that was ever made? Not where the replay began with a checkpoint.
    pub(super) every_tombstone: bool,
    /// Bytes of live files.
    pub(super) size: i128,
    schema: Option<Result<Arc<Schema>, ReplayError>>,
    timestamp: Option<(Version, i64)>,
    timestamp_before: Option<(Version, i64)>,
}

impl State {
    /// Before the first commit.
    pub(super) fn new() -> Self {
        Self::of(Replay::keeping_tombstones(), true)
    }

    /// What a checkpoint says.
    pub(super) fn of_checkpoint(replay: Replay) -> Self {
        Self::of(replay, false)
    }

    fn of(replay: Replay, every_tombstone: bool) -> Self {
        let mut state = Self {
            row_ids: RowIds::default(),
            every_tombstone,
            size: 0,
            schema: replay.schema(),
            timestamp: None,
            timestamp_before: None,
            replay,
        };
        for add in state.replay.files().values() {
            state.size += i128::from(add.size);
            state.row_ids.insert(add);
        }
        state
    }

    /// Goes on by a commit.
    pub(super) fn apply(&mut self, commit: &Commit) {
        let key = |action: &Action| match action {
            Action::Add(add) => Some(add.key()),
            Action::Remove(remove) => Some(remove.key()),
            _ => None,
        };
        let touched: BTreeSet<FileKey> = commit.actions.iter().filter_map(key).collect();
        for add in touched.iter().filter_map(|key| self.replay.files().get(key)) {
            self.size -= i128::from(add.size);
            self.row_ids.remove(add);
        }
        let new_metadata = commit.actions.iter().any(|action| matches!(action, Action::Metadata(_)));
        self.timestamp_before = self.timestamp;
        self.timestamp = commit.info().and_then(|info| info.in_commit_timestamp()).map(|ms| (commit.version, ms));
        // That protocol or metadata are missing is a rule of its own.
        let _ = self.replay.apply(commit.version, commit.actions.clone());
        for add in touched.iter().filter_map(|key| self.replay.files().get(key)) {
            self.size += i128::from(add.size);
            self.row_ids.insert(add);
        }
        if new_metadata {
            self.schema = self.replay.schema();
        }
    }

    pub(super) fn version(&self) -> Option<Version> {
        self.replay.version()
    }

    pub(super) fn protocol(&self) -> Option<&Protocol> {
        self.replay.protocol()
    }

    pub(super) fn metadata(&self) -> Option<&Metadata> {
        self.replay.metadata()
    }

    /// The schema, parsed; `None` where there is no metadata.
    pub(super) fn schema(&self) -> Option<Result<&Schema, &ReplayError>> {
        self.schema.as_ref().map(|schema| schema.as_ref().map(|schema| &**schema))
    }

    pub(super) fn file(&self, key: &FileKey) -> Option<&Arc<AddFile>> {
        self.replay.files().get(key)
    }

    /// The live files of a path: one, unless something is wrong.
    pub(super) fn vectors_of<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a FileKey> {
        let first = (path.to_owned(), None);
        self.replay.files().range(first..).map(|(key, _)| key).take_while(move |key| key.0 == path)
    }

    pub(super) fn domain(&self, domain: &str) -> Option<&DomainMetadata> {
        self.replay.domains().get(domain)
    }

    /// The in-commit timestamp of the last commit.
    pub(super) fn timestamp(&self) -> Option<i64> {
        self.timestamp.map(|(_, ms)| ms)
    }

    /// That of the commit before it.
    pub(super) fn timestamp_before(&self) -> Option<(Version, i64)> {
        self.timestamp_before
    }

    /// The name that partition values and statistics use for a column ("Column Mapping" of the protocol).
    pub(super) fn physical_name<'a>(&self, field: &'a Field) -> &'a str {
        let mapping = self.metadata().and_then(|metadata| ColumnMapping::of(&metadata.configuration).ok());
        mapping.unwrap_or_default().name_in_log(field)
    }

    /// The snapshot; `None` where it lacks what a table needs, which was reported.
    pub(super) fn snapshot(self) -> Option<Arc<Snapshot>> {
        if self.protocol().is_none() || self.metadata().is_none() {
            return None;
        }
        self.replay.finish().ok().map(Arc::new)
    }
}
