//! Which versions a log still has.

use std::{collections::BTreeSet, ops::RangeInclusive};

use crate::{
    path::{LogFile, Version},
    store::ObjectMeta,
};

/// The commits and checkpoints of a listing of the log folder.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Extent {
    commits: Vec<(Version, ObjectMeta)>,
    checkpoints: BTreeSet<Version>,
}

impl Extent {
    /// What a listing, in order of path, says.
    pub fn of(listing: Vec<ObjectMeta>) -> Self {
        let mut extent = Self::default();
        for object in listing {
            match LogFile::of(&object.path) {
                LogFile::Commit(version) => extent.commits.push((version, object)),
                // A checkpoint of no bytes was never finished.
                LogFile::Checkpoint(checkpoint) if object.size > 0 => {
                    extent.checkpoints.insert(checkpoint.version);
                }
                _ => {}
            }
        }
        extent
    }

    /// The commits that are there, oldest first.
    pub fn commits(&self) -> &[(Version, ObjectMeta)] {
        &self.commits
    }

    /// The newest version that was ever made, as far as files tell; `None` when there is no table.
    pub fn newest(&self) -> Option<Version> {
        self.commits.last().map(|(version, _)| *version).max(self.checkpoints.last().copied())
    }

    /// The versions that can be rebuilt, in ranges from old to new: from version 0 or from a checkpoint on, as long as no commit is missing. A checkpoint
    /// counts by its name; whether all its parts are there is seen when it is read.
    pub fn rebuildable(&self) -> Vec<RangeInclusive<Version>> {
        let commits: BTreeSet<Version> = self.commits.iter().map(|(version, _)| *version).collect();
        let mut ranges: Vec<RangeInclusive<Version>> = Vec::new();
        for version in commits.union(&self.checkpoints).copied() {
            let follows = version.0.checked_sub(1).map(Version);
            match ranges.last_mut() {
                Some(range) if Some(*range.end()) == follows => *range = *range.start()..=version,
                _ if version == Version(0) || self.checkpoints.contains(&version) => ranges.push(version..=version),
                _ => {}
            }
        }
        ranges
    }
}
