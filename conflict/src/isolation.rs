//! Isolation levels: of a table, and of one commit.

use std::{fmt, str::FromStr};

/// How strictly a commit is checked, from weakest to strictest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum IsolationLevel {
    /// Added files never conflict. Meant for commits that change no data.
    SnapshotIsolation,
    /// Some order of the writes explains all of them; it need not be the log's.
    WriteSerializable,
    /// The order of the log explains every commit.
    Serializable,
}

/// A level name that is none of the three.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("'{0}' is not an isolation level; there are Serializable, WriteSerializable and SnapshotIsolation")]
pub struct UnknownLevel(pub String);

impl fmt::Display for IsolationLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::SnapshotIsolation => "SnapshotIsolation",
            Self::WriteSerializable => "WriteSerializable",
            Self::Serializable => "Serializable",
        })
    }
}

impl FromStr for IsolationLevel {
    type Err = UnknownLevel;

    /// Letter case does not matter, as in Delta Spark.
    fn from_str(text: &str) -> Result<Self, UnknownLevel> {
        [Self::SnapshotIsolation, Self::WriteSerializable, Self::Serializable]
            .into_iter()
            .find(|level| level.to_string().eq_ignore_ascii_case(text))
            .ok_or_else(|| UnknownLevel(text.to_owned()))
    }
}
