//! The actions of a commit ("Actions" of the protocol).
//!
//! Reading is lossless: a field that is not known stays in `extra`, an action that is not known stays whole. What is written back says the same,
//! with keys in an order of its own and without optional fields that are null. Two things are dropped: statistics that are no text, and the
//! digits of an unknown number that is neither a 64-bit integer nor a double.

use std::{collections::BTreeMap, fmt};

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{Error, IgnoredAny, MapAccess, Visitor},
};
use serde_json::{Map, Value as Json};

use crate::{deletion_vector::DeletionVector, path::path_key};

/// Fields of an action that this crate does not know.
pub type Extra = Map<String, Json>;

/// Partition values by (physical) column name; `None` is null.
pub type PartitionValues = BTreeMap<String, Option<String>>;

/// The identity of a file in the log: its path as [`path_key`] has it, and the id of its deletion vector if it has one.
pub type FileKey = (String, Option<String>);

/// One line of a commit.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Action {
    /// A file joins the table.
    Add(AddFile),
    /// A file leaves the table.
    Remove(RemoveFile),
    /// The schema, the partition columns and the properties from here on.
    Metadata(Metadata),
    /// What a client must understand from here on.
    Protocol(Protocol),
    /// Where the commit came from.
    CommitInfo(CommitInfo),
    /// How far an application has come.
    Transaction(SetTransaction),
    /// Configuration of one domain.
    DomainMetadata(DomainMetadata),
    /// An action that this crate does not know, by name.
    Unknown {
        /// The key of the line.
        name: String,
        /// What stands under it.
        body: Json,
    },
}

/// A file joins the table ("Add File and Remove File").
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AddFile {
    /// Relative to the table, or a URI; percent-encoded.
    pub path: String,
    /// A value for every partition column.
    pub partition_values: PartitionValues,
    /// Bytes.
    pub size: i64,
    /// Milliseconds since the epoch.
    pub modification_time: i64,
    /// Does the file hold rows that were not in the table before?
    pub data_change: bool,
    /// Statistics as JSON text. Anything but a text is dropped: statistics are optional, and no reader may rely on another shape.
    #[serde(default, deserialize_with = "text_or_none", skip_serializing_if = "Option::is_none")]
    pub stats: Option<String>,
    /// Free-form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<BTreeMap<String, Option<String>>>,
    /// The rows of the file that are deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion_vector: Option<DeletionVector>,
    /// The row id of the first row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_row_id: Option<i64>,
    /// The commit version of rows that carry none of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_row_commit_version: Option<i64>,
    /// Which clustering wrote the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clustering_provider: Option<String>,
    /// What else stood there.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A file leaves the table; its line stays as a tombstone.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RemoveFile {
    /// The path of the add, byte for byte.
    pub path: String,
    /// Milliseconds since the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion_timestamp: Option<i64>,
    /// Do rows leave the table with the file?
    pub data_change: bool,
    /// Are partition values, size and tags given?
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extended_file_metadata: Option<bool>,
    /// As in the add.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition_values: Option<PartitionValues>,
    /// Bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<i64>,
    /// As in the add.
    #[serde(default, deserialize_with = "text_or_none", skip_serializing_if = "Option::is_none")]
    pub stats: Option<String>,
    /// Free-form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<BTreeMap<String, Option<String>>>,
    /// The deletion vector of the add that is removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion_vector: Option<DeletionVector>,
    /// As in the add.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_row_id: Option<i64>,
    /// As in the add.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_row_commit_version: Option<i64>,
    /// What else stood there.
    #[serde(flatten)]
    pub extra: Extra,
}

/// "Change Metadata".
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// A UUID that stays with the table.
    pub id: String,
    /// The table's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The table's description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The file format.
    #[serde(default)]
    pub format: Format,
    /// The schema as JSON text. Empty where there is none, which is a table without columns: tables of which only the log is of interest are written so.
    #[serde(default, deserialize_with = "default_for_null", skip_serializing_if = "String::is_empty")]
    pub schema_string: String,
    /// Names of partition columns.
    pub partition_columns: Vec<String>,
    /// Table properties. One whose value is null is not set.
    #[serde(default, deserialize_with = "texts")]
    pub configuration: BTreeMap<String, String>,
    /// Milliseconds since the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_time: Option<i64>,
    /// What else stood there.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The format of data files.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Format {
    /// `parquet`.
    pub provider: String,
    /// Free-form.
    #[serde(default, deserialize_with = "texts")]
    pub options: BTreeMap<String, String>,
    /// What else stood there.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Default for Format {
    fn default() -> Self {
        Self { provider: "parquet".to_owned(), options: BTreeMap::new(), extra: Extra::new() }
    }
}

/// "Protocol Evolution".
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Protocol {
    /// The least version that a reader must implement.
    pub min_reader_version: i32,
    /// The least version that a writer must implement.
    pub min_writer_version: i32,
    /// Features that a reader must implement; only at reader version 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reader_features: Option<Vec<String>>,
    /// Features that a writer must implement; only at writer version 7.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writer_features: Option<Vec<String>>,
    /// What else stood there.
    #[serde(flatten)]
    pub extra: Extra,
}

/// "Transaction Identifiers": how far an application has come.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SetTransaction {
    /// The application.
    pub app_id: String,
    /// Its own count.
    pub version: i64,
    /// Milliseconds since the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_updated: Option<i64>,
    /// What else stood there.
    #[serde(flatten)]
    pub extra: Extra,
}

/// "Domain Metadata".
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DomainMetadata {
    /// The domain.
    pub domain: String,
    /// Its configuration.
    pub configuration: String,
    /// A tombstone.
    pub removed: bool,
    /// What else stood there.
    #[serde(flatten)]
    pub extra: Extra,
}

/// "Commit Provenance Information". The protocol leaves its shape to the writer, so this is the JSON object as it stood, with accessors that take a
/// field only in the shape that is expected: `"isBlindAppend": "true"` counts as absent.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CommitInfo(pub Map<String, Json>);

impl CommitInfo {
    fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.as_str()
    }

    fn integer(&self, key: &str) -> Option<i64> {
        self.0.get(key)?.as_i64()
    }

    /// Milliseconds since the epoch, by the writer's clock.
    pub fn timestamp(&self) -> Option<i64> {
        self.integer("timestamp")
    }

    /// Milliseconds since the epoch, strictly increasing over versions where the feature `inCommitTimestamp` is on.
    pub fn in_commit_timestamp(&self) -> Option<i64> {
        self.integer("inCommitTimestamp")
    }

    /// The name of the operation.
    pub fn operation(&self) -> Option<&str> {
        self.text("operation")
    }

    /// The version that the transaction read.
    pub fn read_version(&self) -> Option<i64> {
        self.integer("readVersion")
    }

    /// The isolation level that the commit was checked at.
    pub fn isolation_level(&self) -> Option<&str> {
        self.text("isolationLevel")
    }

    /// Did the transaction read nothing and only add files? Absent counts as no.
    pub fn is_blind_append(&self) -> bool {
        self.0.get("isBlindAppend").and_then(Json::as_bool).unwrap_or(false)
    }

    /// A text that no other transaction has.
    pub fn txn_id(&self) -> Option<&str> {
        self.text("txnId")
    }
}

impl Action {
    /// Reads one line. `{}` is no action, and neither is a known name with null. Beside a known action an unknown one is ignored, so that clients may add
    /// to a line; of several unknown ones the first is kept.
    ///
    /// # Errors
    /// When the text is not one JSON object, when it holds two known actions (which of the two would count is not defined), or when a known action
    /// lacks a field that it needs.
    pub fn parse(line: &str) -> serde_json::Result<Option<Self>> {
        let Line(action) = serde_json::from_str(line)?;
        Ok(action)
    }

    /// The key of the action's line.
    pub fn name(&self) -> &str {
        match self {
            Self::Add(_) => "add",
            Self::Remove(_) => "remove",
            Self::Metadata(_) => "metaData",
            Self::Protocol(_) => "protocol",
            Self::CommitInfo(_) => "commitInfo",
            Self::Transaction(_) => "txn",
            Self::DomainMetadata(_) => "domainMetadata",
            Self::Unknown { name, .. } => name,
        }
    }

    /// Is it an add, a remove or a change data file?
    pub fn is_file_action(&self) -> bool {
        match self {
            Self::Add(_) | Self::Remove(_) => true,
            Self::Unknown { name, .. } => name == "cdc",
            _ => false,
        }
    }

    /// Appends the action's line, without the line break.
    pub fn write(&self, out: &mut Vec<u8>) {
        let result = match self {
            Self::Add(body) => write_line(out, "add", body),
            Self::Remove(body) => write_line(out, "remove", body),
            Self::Metadata(body) => write_line(out, "metaData", body),
            Self::Protocol(body) => write_line(out, "protocol", body),
            Self::CommitInfo(body) => write_line(out, "commitInfo", body),
            Self::Transaction(body) => write_line(out, "txn", body),
            Self::DomainMetadata(body) => write_line(out, "domainMetadata", body),
            Self::Unknown { name, body } => write_line(out, name, body),
        };
        result.expect("an action has text keys only, and a vector takes every byte");
    }
}

/// One line of a commit, read without going through a JSON tree.
struct Line(Option<Action>);

impl<'de> Deserialize<'de> for Line {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct LineVisitor;

        impl<'de> Visitor<'de> for LineVisitor {
            type Value = Line;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object that holds one action")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Line, A::Error> {
                let mut action: Option<Action> = None;
                while let Some(name) = map.next_key::<String>()? {
                    let known = match name.as_str() {
                        "add" => map.next_value::<Option<_>>()?.map(Action::Add),
                        "remove" => map.next_value::<Option<_>>()?.map(Action::Remove),
                        "metaData" => map.next_value::<Option<_>>()?.map(Action::Metadata),
                        "protocol" => map.next_value::<Option<_>>()?.map(Action::Protocol),
                        // Free-form. What is no object tells us nothing, and stands there like an action that is not known.
                        "commitInfo" => match map.next_value::<Option<Json>>()? {
                            Some(Json::Object(info)) => Some(Action::CommitInfo(CommitInfo(info))),
                            other => other.map(|body| Action::Unknown { body, name: name.clone() }),
                        },
                        "txn" => map.next_value::<Option<_>>()?.map(Action::Transaction),
                        "domainMetadata" => map.next_value::<Option<_>>()?.map(Action::DomainMetadata),
                        _ if action.is_none() => {
                            action = Some(Action::Unknown { body: map.next_value()?, name: name.clone() });
                            None
                        }
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                            None
                        }
                    };
                    let Some(known) = known else { continue };
                    match &action {
                        None | Some(Action::Unknown { .. }) => action = Some(known),
                        Some(first) => {
                            return Err(A::Error::custom(format!(
                                "a line holds one action, this one holds '{}' and '{name}'",
                                first.name()
                            )));
                        }
                    }
                }
                Ok(Line(action))
            }
        }

        deserializer.deserialize_map(LineVisitor)
    }
}

fn write_line(out: &mut Vec<u8>, name: &str, body: &impl Serialize) -> serde_json::Result<()> {
    use serde::ser::{SerializeMap, Serializer};
    let mut serializer = serde_json::Serializer::new(out);
    let mut map = serializer.serialize_map(Some(1))?;
    map.serialize_entry(name, body)?;
    map.end()
}

/// A text, or `None` for anything else.
fn text_or_none<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(match Json::deserialize(deserializer)? {
        Json::String(text) => Some(text),
        _ => None,
    })
}

/// A value, or its default for null.
fn default_for_null<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(deserializer: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Texts by name, without those that are null.
fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, String>, D::Error> {
    let named: BTreeMap<String, Option<String>> = default_for_null(deserializer)?;
    Ok(named.into_iter().filter_map(|(name, text)| Some((name, text?))).collect())
}

impl AddFile {
    /// The identity of the file.
    pub fn key(&self) -> FileKey {
        file_key(&self.path, self.deletion_vector.as_ref())
    }

    /// The remove that takes this file out of the table again.
    pub fn to_remove(&self, deletion_timestamp: i64, data_change: bool) -> RemoveFile {
        RemoveFile {
            path: self.path.clone(),
            deletion_timestamp: Some(deletion_timestamp),
            data_change,
            extended_file_metadata: Some(true),
            partition_values: Some(self.partition_values.clone()),
            size: Some(self.size),
            tags: self.tags.clone(),
            deletion_vector: self.deletion_vector.clone(),
            base_row_id: self.base_row_id,
            default_row_commit_version: self.default_row_commit_version,
            ..RemoveFile::default()
        }
    }
}

impl RemoveFile {
    /// The identity of the file that is removed.
    pub fn key(&self) -> FileKey {
        file_key(&self.path, self.deletion_vector.as_ref())
    }
}

fn file_key(path: &str, deletion_vector: Option<&DeletionVector>) -> FileKey {
    (path_key(path).into_owned(), deletion_vector.map(DeletionVector::unique_id))
}

#[cfg(test)]
mod tests;
