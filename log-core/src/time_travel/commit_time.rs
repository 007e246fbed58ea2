//! When a commit was made: "In-Commit Timestamps" of the protocol, or the time of its file.

use std::collections::BTreeMap;

use crate::{path::Version, store::ObjectMeta};

const ENABLED: &str = "delta.enableInCommitTimestamps";
const SINCE_VERSION: &str = "delta.inCommitTimestampEnablementVersion";
const SINCE_TIMESTAMP: &str = "delta.inCommitTimestampEnablementTimestamp";

/// The times of commits by their files, in milliseconds since the epoch, made strictly increasing: one that is not later than the one before is put a
/// millisecond after it. A log that was copied has many files of one time.
pub fn file_times(commits: &[(Version, ObjectMeta)]) -> Vec<i64> {
    let mut times: Vec<i64> = Vec::with_capacity(commits.len());
    for (_, object) in commits {
        let least = times.last().map_or(i64::MIN, |before| before.saturating_add(1));
        times.push(object.modified_ms.max(least));
    }
    times
}

/// A table whose commits carry their own time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct InCommitTimestamps {
    /// The first commit that does.
    pub since: Version,
    /// Its time, in milliseconds since the epoch: an earlier instant is looked for by the times of files. The least number where every commit of the
    /// table has its own time.
    pub since_ms: i64,
}

/// A table property that cannot be what it is.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the table property {key} is {}, and must be a whole number where {ENABLED} is true", value.as_ref().map_or("missing".to_owned(), |value| format!("'{value}'")))]
pub struct PropertyError {
    /// The property.
    pub key: &'static str,
    /// Its value, when there is one.
    pub value: Option<String>,
}

impl InCommitTimestamps {
    /// What the properties of a table say; `None` where commits carry no time of their own.
    ///
    /// # Errors
    /// When the properties that say since when are no numbers, or only one of the two is there.
    pub fn of(properties: &BTreeMap<String, String>) -> Result<Option<Self>, PropertyError> {
        if !properties.get(ENABLED).is_some_and(|value| value.trim().eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        let (version, timestamp) = (properties.get(SINCE_VERSION), properties.get(SINCE_TIMESTAMP));
        if version.is_none() && timestamp.is_none() {
            return Ok(Some(Self { since: Version(0), since_ms: i64::MIN }));
        }
        Ok(Some(Self { since: number(SINCE_VERSION, version)?, since_ms: number(SINCE_TIMESTAMP, timestamp)? }))
    }
}

fn number<T: std::str::FromStr>(key: &'static str, value: Option<&String>) -> Result<T, PropertyError> {
    let number = value.and_then(|value| value.trim().parse().ok());
    number.ok_or_else(|| PropertyError { key, value: value.cloned() })
}
