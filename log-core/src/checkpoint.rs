//! Checkpoints: the state of a table at a version in a file, or in several ("Checkpoints" of the protocol).
//!
//! A checkpoint is a set of actions, as Parquet or as JSON lines. One after the v2 specification may leave its file actions to sidecars, and a Parquet
//! file of any name may be one.

#[cfg(feature = "parquet")]
pub(crate) mod adds;
#[cfg(feature = "parquet")]
mod cell;
#[cfg(feature = "parquet")]
mod columns;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "parquet")]
mod parsed;
#[cfg(feature = "parquet")]
pub(crate) mod pieces;
#[cfg(feature = "parquet")]
mod retention;
#[cfg(feature = "parquet")]
mod stats_parsed;
#[cfg(feature = "parquet")]
mod write;

#[cfg(feature = "parquet")]
pub use retention::{DurationError, Retention};
use serde::Deserialize;
use serde_json::Value as Json;
#[cfg(feature = "parquet")]
pub use write::{CheckpointId, CheckpointKind, EncodeError, EncodedCheckpoint, EncodedFile, V2_FEATURE, encode};

use crate::{
    action::Action,
    commit::{self, BadLine},
    path::{CheckpointFile, CheckpointNaming, SIDECAR_FOLDER, Version, decode_data_path},
};

/// What one file of a checkpoint holds.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Checkpoint {
    /// Its actions, in no order that matters.
    pub actions: Vec<Action>,
    /// Paths of the files that hold the file actions, relative to the table; empty where they stand in the checkpoint itself.
    pub sidecars: Vec<String>,
}

/// A file of a checkpoint that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// A line that is no action.
    #[error("line {line}: it is not a whole action")]
    Line {
        /// The line, from 1.
        line: usize,
        /// What is wrong; `None` = it is not UTF-8.
        source: Option<serde_json::Error>,
    },
    /// An action of a Parquet checkpoint that is none.
    #[error("column '{column}', row {row}: {cause}")]
    Row {
        /// The column, named as the action.
        column: &'static str,
        /// The row of its batch, from 0.
        row: usize,
        /// What is wrong.
        cause: String,
    },
    /// A column of a Parquet checkpoint that holds no structs.
    #[error("column '{0}' is not a struct")]
    Column(&'static str),
    /// A sidecar, or the checkpoint's own description, that cannot be read.
    #[error("its '{action}' action cannot be read")]
    Body {
        /// The action.
        action: &'static str,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// A sidecar that is not one of the table's.
    #[error(
        "its sidecar '{0}' is not in the folder _delta_log/_sidecars of the table; nothing outside of the table is read"
    )]
    SidecarPath(String),
    /// A checkpoint of another version than its name says.
    #[error("it says that it holds version {found}")]
    OtherVersion {
        /// The version that it tells.
        found: i64,
    },
    /// A build without Parquet.
    #[error("it is a Parquet file, and this build has no Parquet: build with the feature `parquet`")]
    NoParquet,
    /// The Parquet crate refused, most likely because the bytes are not a whole Parquet file.
    #[cfg(feature = "parquet")]
    #[error("it is not a readable Parquet file")]
    Parquet(#[from] ::parquet::errors::ParquetError),
    /// Arrow refused.
    #[cfg(feature = "parquet")]
    #[error("its rows do not become a batch")]
    Arrow(#[from] arrow::error::ArrowError),
    /// The file says one thing here and another there, or the reader broke down over it.
    #[error("it is a damaged Parquet file: {0}")]
    Damaged(String),
}

impl Checkpoint {
    /// Reads a file of a checkpoint, or with [`sidecar`](Self::sidecar) one that such a file names.
    ///
    /// # Errors
    /// When the bytes are not what the name says, when an action lacks what it needs, or when a sidecar is not the table's.
    pub fn parse(file: CheckpointFile, bytes: &[u8]) -> Result<Self, CheckpointError> {
        match file.naming {
            CheckpointNaming::UuidJson => Self::from_actions(file.version, json(bytes)?),
            _ => Self::from_actions(file.version, parquet_actions(bytes)?),
        }
    }

    /// Reads a sidecar: a Parquet file of adds and removes. Other actions in it count for nothing.
    ///
    /// # Errors
    /// When the bytes are not a Parquet file, or an action lacks what it needs.
    pub fn sidecar(bytes: &[u8]) -> Result<Vec<Action>, CheckpointError> {
        let mut actions = parquet_actions(bytes)?;
        actions.retain(Action::is_file_action);
        Ok(actions)
    }

    /// Parts from each other what stands in one file.
    pub(crate) fn from_actions(version: Version, mut actions: Vec<Action>) -> Result<Self, CheckpointError> {
        let mut sidecars = Vec::new();
        for action in &actions {
            let Action::Unknown { name, body } = action else { continue };
            match name.as_str() {
                "sidecar" => sidecars.push(sidecar_path(body)?),
                "checkpointMetadata" => {
                    let found = checkpoint_version(body)?;
                    if u64::try_from(found) != Ok(version.0) {
                        return Err(CheckpointError::OtherVersion { found });
                    }
                }
                _ => {}
            }
        }
        actions.retain(|action| !matches!(action, Action::Unknown { .. }));
        Ok(Self { actions, sidecars })
    }
}

pub(crate) fn json(bytes: &[u8]) -> Result<Vec<Action>, CheckpointError> {
    commit::actions(bytes).map_err(|BadLine { line, source }| CheckpointError::Line { line, source })
}

#[cfg(feature = "parquet")]
fn parquet_actions(bytes: &[u8]) -> Result<Vec<Action>, CheckpointError> {
    parquet::actions(bytes)
}

#[cfg(not(feature = "parquet"))]
fn parquet_actions(_: &[u8]) -> Result<Vec<Action>, CheckpointError> {
    Err(CheckpointError::NoParquet)
}

fn checkpoint_version(body: &Json) -> Result<i64, CheckpointError> {
    #[derive(Deserialize)]
    struct CheckpointMetadata {
        version: i64,
    }
    match CheckpointMetadata::deserialize(body) {
        Ok(metadata) => Ok(metadata.version),
        Err(source) => Err(CheckpointError::Body { action: "checkpointMetadata", source }),
    }
}

/// The path of a sidecar, relative to the table. Writers give the name only, or a whole path to the table's folder of sidecars. As the
/// table may have been moved since, of a whole path only the end counts: it is the file of that name in *this* table.
fn sidecar_path(body: &Json) -> Result<String, CheckpointError> {
    #[derive(Deserialize)]
    struct Sidecar {
        path: String,
    }
    let Sidecar { path } =
        Sidecar::deserialize(body).map_err(|source| CheckpointError::Body { action: "sidecar", source })?;
    let decoded = decode_data_path(&path);
    let name = match decoded.rsplit_once('/') {
        None => Some(decoded.as_str()),
        Some((folder, name)) => folder.ends_with("/_delta_log/_sidecars").then_some(name),
    };
    let is_name = |name: &&str| !name.is_empty() && !name.starts_with('.') && !name.contains(['\\', '\0', ':']);
    match name.filter(is_name) {
        Some(name) => Ok(format!("{SIDECAR_FOLDER}{name}")),
        None => Err(CheckpointError::SidecarPath(path)),
    }
}

#[cfg(test)]
mod tests;
