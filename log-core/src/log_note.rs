//! What is odd about a log and does not keep it from being read.

use crate::path::Version;

/// Something that was left aside, or stepped over, while a log was read.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, thiserror::Error)]
pub enum LogNote {
    /// A commit of no bytes: a version without actions.
    #[error("commit {version} is empty: it counts as a version without actions; its writer may have died")]
    EmptyCommit {
        /// The commit.
        version: Version,
    },
    /// A checkpoint, compaction or checksum of no bytes.
    #[error("'{path}' is empty and was ignored; it may be deleted")]
    EmptyFile {
        /// The file.
        path: String,
    },
    /// A checkpoint of which parts are missing.
    #[error("the checkpoint of version {version} in {of} parts was ignored: it has only {found} of them")]
    IncompleteCheckpoint {
        /// Its version.
        version: Version,
        /// The parts that are there.
        found: u64,
        /// The parts that there should be.
        of: u64,
    },
    /// A checkpoint that could not be used; older files were read instead.
    #[error("the checkpoint '{path}' was not used: {cause}")]
    UnusableCheckpoint {
        /// Its file, or the first of its files.
        path: String,
        /// What is wrong with it.
        cause: String,
    },
    /// A compaction that could not be used; the commits were read instead.
    #[error("the compaction '{path}' was not used: {cause}")]
    UnusableCompaction {
        /// Its file.
        path: String,
        /// What is wrong with it.
        cause: String,
    },
    /// A hint that is no hint.
    #[error("_last_checkpoint was ignored: {cause}")]
    UnusableHint {
        /// What is wrong with it.
        cause: String,
    },
    /// A hint that leads nowhere.
    #[error(
        "_last_checkpoint names version {version}, from which nothing could be read; the whole log was listed instead"
    )]
    MisleadingHint {
        /// The version that it names.
        version: Version,
    },
}
