//! Which versions a log still has.

use std::{collections::BTreeSet, ops::RangeInclusive};

use crate::{
    path::{LogFile, Version},
    segment::Listed,
    store::ObjectMeta,
};

/// What a listing of the log folder tells of the versions of a table.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Extent {
    commits: Vec<(Version, ObjectMeta)>,
    newest: Option<Version>,
    rebuildable: Vec<RangeInclusive<Version>>,
}

impl Extent {
    /// What a listing, in order of path, says.
    pub fn of(listing: Vec<ObjectMeta>) -> Self {
        let listed = Listed::of(&listing);
        let rebuildable = listed.rebuildable(None, &BTreeSet::new()).0.into_iter().map(|(first, last)| first..=last);
        let newest = listed.newest();
        let commits = listing.into_iter().filter_map(|object| match LogFile::of(&object.path) {
            LogFile::Commit(version) => Some((version, object)),
            _ => None,
        });
        Self { newest, rebuildable: rebuildable.collect(), commits: commits.collect() }
    }

    /// The commits that are there, oldest first.
    pub fn commits(&self) -> &[(Version, ObjectMeta)] {
        &self.commits
    }

    /// The newest version that was ever made, as far as files tell; `None` when there is no table.
    pub fn newest(&self) -> Option<Version> {
        self.newest
    }

    /// The versions that can be rebuilt, in ranges from old to new: from version 0 or from a whole checkpoint on, as far as commits and compactions lead. What is
    /// damaged is seen only when it is read.
    pub fn rebuildable(&self) -> &[RangeInclusive<Version>] {
        &self.rebuildable
    }
}
