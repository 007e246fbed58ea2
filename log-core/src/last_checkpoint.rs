//! The hint at the newest checkpoint ("Last Checkpoint File" of the protocol).

use serde::Deserialize;
use serde_json::json;

use crate::path::Version;

/// What `_last_checkpoint` says. It is a hint only: it saves listing what came before, and nothing may depend on it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct LastCheckpoint {
    /// The version of a checkpoint that was the newest when the hint was written.
    pub version: Version,
}

/// What a hint says about the checkpoint that it names, for those who read it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct CheckpointFacts {
    /// Its version.
    pub version: Version,
    /// Actions in it, those of its sidecars included.
    pub actions: u64,
    /// Bytes, those of its sidecars included.
    pub size: u64,
    /// Live files in it.
    pub add_files: u64,
    /// Of one after the v2 specification, what Delta Spark wants to know of its file.
    pub v2: Option<V2File>,
}

/// The file of a v2 checkpoint itself.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct V2File {
    /// Its name, without folder.
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// When it was written, in milliseconds since the epoch.
    pub modified_ms: i64,
}

impl CheckpointFacts {
    /// The bytes of `_last_checkpoint`.
    pub fn hint(&self) -> Vec<u8> {
        let mut document = json!({
            "version": self.version.0,
            "size": self.actions,
            "sizeInBytes": self.size,
            "numOfAddFiles": self.add_files,
        });
        if let Some(file) = &self.v2 {
            document["v2Checkpoint"] =
                json!({"path": file.name, "sizeInBytes": file.size, "modificationTime": file.modified_ms});
        }
        document.to_string().into_bytes()
    }
}

/// A hint that says nothing.
#[derive(Debug, thiserror::Error)]
pub enum LastCheckpointError {
    /// It is no JSON object with a version.
    #[error("it is not a JSON object with a version")]
    Json(#[from] serde_json::Error),
    /// Its version is none.
    #[error("its version is {0}, and versions are not negative")]
    Negative(i64),
}

impl LastCheckpoint {
    /// Reads the bytes of the file. Other fields than `version` are not looked at: what they say is seen in the listing as well.
    ///
    /// # Errors
    /// When the bytes are not one JSON object with a version.
    pub fn parse(bytes: &[u8]) -> Result<Self, LastCheckpointError> {
        #[derive(Deserialize)]
        struct Document {
            version: i64,
        }
        // A JSON array would do for a struct as well.
        let fields: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(bytes)?;
        let Document { version } = serde_json::from_value(fields.into())?;
        let version = u64::try_from(version).map_err(|_| LastCheckpointError::Negative(version))?;
        Ok(Self { version: Version(version) })
    }
}

#[cfg(test)]
mod tests;
