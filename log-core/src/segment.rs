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
    /// The log begins with a checkpoint.
    #[error(
        "the log begins at a checkpoint (version {checkpoint}), and this build of contend reads logs from version 0 only"
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
    /// The answer is `None` when nothing is listed: with a base that is the base itself, without one there is no table.
    ///
    /// # Errors
    /// When a commit between is missing, or when `wanted` is newer than every commit.
    pub fn select(
        listing: &[ObjectMeta],
        base: Option<Version>,
        wanted: Option<Version>,
    ) -> Result<Option<Self>, SegmentError> {
        let mut checkpoint = None;
        let mut versions = Vec::new();
        for object in listing {
            match LogFile::of(&object.path) {
                LogFile::Commit(version) => versions.push(version),
                LogFile::Checkpoint(version) => checkpoint = checkpoint.max(Some(version)),
                LogFile::Other => {}
            }
        }
        let Some(newest) = versions.last().copied().or(base) else {
            return match checkpoint {
                Some(checkpoint) => Err(SegmentError::NeedsCheckpoint { checkpoint }),
                None => Ok(None),
            };
        };
        let first = Version::after(base);
        let last = wanted.unwrap_or(newest);
        if last > newest {
            return Err(SegmentError::TooNew { wanted: last, newest });
        }
        versions.retain(|version| *version <= last);
        let mut expected = first;
        for version in &versions {
            if *version != expected {
                return Err(match checkpoint {
                    Some(checkpoint) if base.is_none() && expected == first => {
                        SegmentError::NeedsCheckpoint { checkpoint }
                    }
                    _ => SegmentError::Gap { first: expected, last: Version(version.0 - 1), wanted: last },
                });
            }
            expected = expected.next();
        }
        if expected <= last {
            // Only possible when `wanted` itself is missing: the newest commit is there.
            return Err(SegmentError::Gap { first: expected, last, wanted: last });
        }
        if versions.is_empty() {
            return Ok(None);
        }
        Ok(Some(Self { version: last, commits: versions.into_iter().map(commit_path).collect() }))
    }
}

#[cfg(test)]
mod tests;
