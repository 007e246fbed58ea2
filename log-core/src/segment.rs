//! From a listing of the log folder to the files that make up a version.

use crate::{
    path::{LogFile, Version, commit_path},
    store::ObjectMeta,
};

/// The commits that make up a version, in order.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Segment {
    /// The version that the last commit makes.
    pub version: Version,
    /// Paths of the commits to replay, relative to the table, oldest first; the last one is that of `version`.
    pub commits: Vec<String>,
}

/// A log from which a version cannot be rebuilt.
#[derive(Clone, PartialEq, Eq, Hash, Debug, thiserror::Error)]
pub enum SegmentError {
    /// Commits are missing.
    #[error(
        "the log cannot be read up to version {wanted}: commits {first} to {last} are missing; versions are contiguous, so restore \
         their files from a copy of the table"
    )]
    Gap {
        /// The first missing version.
        first: Version,
        /// The last missing version.
        last: Version,
        /// The version that was asked for, or the newest.
        wanted: Version,
    },
    /// Commits are missing, and a checkpoint stands in for them.
    #[error(
        "commits before the checkpoint of version {checkpoint} are gone, and this build of contend reads no checkpoints"
    )]
    NeedsCheckpoint {
        /// The newest checkpoint that could serve.
        checkpoint: Version,
    },
    /// The version was never made.
    #[error("version {wanted} does not exist; the newest version is {newest}")]
    TooNew {
        /// The version that was asked for.
        wanted: Version,
        /// The newest version.
        newest: Version,
    },
}

impl Segment {
    /// Picks the files for `wanted`, or for the newest version, from a listing that began after version `base` (`None` = from the start).
    ///
    /// The answer is `None` when nothing is listed: with a base that is the base itself, without one there is no table. `wanted` is not older
    /// than `base`.
    ///
    /// # Errors
    /// When a commit between is missing, or when `wanted` is newer than every version.
    pub fn select(
        listing: &[ObjectMeta],
        base: Option<Version>,
        wanted: Option<Version>,
    ) -> Result<Option<Self>, SegmentError> {
        let mut checkpoints = Vec::new();
        let mut versions = Vec::new();
        for object in listing {
            match LogFile::of(&object.path) {
                LogFile::Commit(version) => versions.push(version),
                // A checkpoint of no bytes was never finished.
                LogFile::Checkpoint(version) if object.size > 0 => checkpoints.push(version),
                LogFile::Checkpoint(_) | LogFile::Other => {}
            }
        }
        // Where a checkpoint is, its version was made, even if the commit is gone.
        let Some(newest) = versions.iter().chain(&checkpoints).max().copied().max(base) else {
            return Ok(None);
        };
        let first = Version::after(base);
        let last = wanted.unwrap_or(newest);
        if last > newest {
            return Err(SegmentError::TooNew { wanted: last, newest });
        }
        versions.retain(|version| (first..=last).contains(version));
        let present = versions.iter().zip(first.0..).take_while(|(version, expected)| version.0 == *expected).count();
        let missing = Version(first.0 + present as u64);
        if missing <= last {
            // A checkpoint serves when every commit after it is there.
            let tail = versions.iter().rev().zip((0..=last.0).rev()).take_while(|(version, n)| version.0 == *n).count();
            let serving = |checkpoint: &Version| *checkpoint <= last && checkpoint.0 + tail as u64 >= last.0;
            return Err(match checkpoints.into_iter().filter(serving).max() {
                Some(checkpoint) => SegmentError::NeedsCheckpoint { checkpoint },
                None => {
                    let end = versions.get(present).map_or(last, |version| Version(version.0 - 1));
                    SegmentError::Gap { first: missing, last: end, wanted: last }
                }
            });
        }
        if versions.is_empty() {
            return Ok(None);
        }
        Ok(Some(Self { version: last, commits: versions.into_iter().map(commit_path).collect() }))
    }
}

#[cfg(test)]
mod tests;
