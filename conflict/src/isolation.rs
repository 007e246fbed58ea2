//! Isolation levels: of a table, and of one commit.

use std::{collections::BTreeMap, fmt, str::FromStr};

use log_core::action::Action;

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

/// The property that sets the level of a table.
pub const LEVEL_PROPERTY: &str = "delta.isolationLevel";

impl IsolationLevel {
    /// The level of a table with these properties.
    ///
    /// # Errors
    /// When the property has a text that is no level.
    pub fn of_table(configuration: &BTreeMap<String, String>, default: Self) -> Result<Self, UnknownLevel> {
        match configuration.get(LEVEL_PROPERTY) {
            Some(text) => text.parse(),
            None => Ok(default),
        }
    }

    /// The level of one commit on a table of this level: a commit that moves rows without changing them runs at snapshot isolation. Decided once,
    /// on the actions as they were prepared.
    ///
    /// Any action but a file action or the row-tracking domain keeps the table's level. Source: Delta Spark, `canDowngradeToSnapshotIsolation`.
    pub fn of_commit(self, actions: &[Action], operation_changes_data: bool) -> Self {
        let moves_files_only = actions.iter().all(|action| match action {
            Action::DomainMetadata(domain) => domain.domain == "delta.rowTracking",
            action => action.is_file_action(),
        });
        let changes_data = actions.iter().any(|action| match action {
            Action::Add(add) => add.data_change,
            Action::Remove(remove) => remove.data_change,
            _ => false,
        });
        let downgrades = match self {
            Self::Serializable => moves_files_only && !changes_data,
            Self::WriteSerializable => moves_files_only && !changes_data && !operation_changes_data,
            Self::SnapshotIsolation => true,
        };
        if downgrades { Self::SnapshotIsolation } else { self }
    }
}

#[cfg(test)]
mod tests;
