//! A snapshot as the files of a checkpoint ("Checkpoints" and "Checkpoint Specs" of the protocol).
//!
//! What of an action has no column is not kept: fields that the protocol does not know, statistics and tags of removes. Adds say that they change no
//! data, as what they brought is known already.

use std::{fmt, num::NonZeroUsize, sync::Arc};

use arrow::{
    array::{Array, ArrayRef, AsArray, RecordBatch, StructArray, new_null_array},
    datatypes::{FieldRef, Fields, Schema as ArrowSchema, SchemaRef},
    error::ArrowError,
    json::{ReaderBuilder, reader::Decoder},
};
use parquet::{
    arrow::{ArrowWriter, arrow_writer::ArrowWriterOptions},
    basic::Compression,
    errors::ParquetError,
    file::properties::WriterProperties,
};
use serde::Serialize;

use super::{
    columns,
    parsed::Parsed,
    retention::{DurationError, Retention},
};
use crate::{
    action::{AddFile, DomainMetadata, Extra, Metadata, Protocol, RemoveFile, SetTransaction},
    batch::BatchError,
    layout::LayoutError,
    path::{CheckpointNaming, SIDECAR_FOLDER, Version, checkpoint_path},
    protocol::Unsupported,
    snapshot::Snapshot,
    store::Bytes,
    value::PartitionValueError,
};

/// The feature without which no v2 checkpoint may be written.
pub const V2_FEATURE: &str = "v2Checkpoint";

/// So many actions are turned into columns at once.
const ACTIONS_PER_BATCH: usize = 4096;
/// So many rows make a row group.
const ROWS_PER_GROUP: usize = 1 << 20;

/// What a checkpoint and its sidecars are named by: a UUID, which the caller makes and nobody else has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CheckpointId(pub u128);

impl fmt::Display for CheckpointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = format!("{:032x}", self.0);
        write!(f, "{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
    }
}

/// Which kind of checkpoint.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CheckpointKind {
    /// One Parquet file `N.checkpoint.parquet` after the v1 specification, which every client reads.
    Classic,
    /// A Parquet file `N.checkpoint.UUID.parquet` after the v2 specification, with the file actions in sidecars.
    V2 {
        /// The UUID.
        id: CheckpointId,
        /// So many file actions at most in each sidecar; `None` = all in one.
        actions_per_sidecar: Option<NonZeroUsize>,
    },
}

/// The files of a checkpoint, ready to be stored.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct EncodedCheckpoint {
    /// The version whose state it holds.
    pub version: Version,
    /// Files in the order in which they must be put: with the last one there, the checkpoint is there.
    pub files: Vec<EncodedFile>,
    /// Rows of all files, which is actions.
    pub actions: u64,
    /// Live files among them.
    pub add_files: u64,
}

/// A file of a checkpoint.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct EncodedFile {
    /// Its path, relative to the table.
    pub path: String,
    /// Its content.
    pub bytes: Bytes,
}

impl EncodedCheckpoint {
    /// Bytes of all files.
    pub fn size(&self) -> u64 {
        self.files.iter().map(|file| file.bytes.len() as u64).sum()
    }
}

/// A snapshot of which no checkpoint can be made.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// The table needs something that this crate does not implement.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// A v2 checkpoint of a table that does not allow any.
    #[error(
        "a v2 checkpoint needs the table feature {V2_FEATURE}, which the table does not have; write a classic one, or add the feature to \
         the table first"
    )]
    FeatureMissing,
    /// A retention that is none.
    #[error(transparent)]
    Duration(#[from] DurationError),
    /// A property that is neither true nor false.
    #[error("the table property {property} is '{text}', which is neither true nor false; correct the property")]
    Flag {
        /// The property.
        property: &'static str,
        /// Its text.
        text: String,
    },
    /// A column that has no name in files and statistics.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// A partition column of a type with parts.
    #[error("partition column '{column}' is of a nested type, which has no partition values")]
    NestedPartition {
        /// The column.
        column: String,
    },
    /// A partition value that is not of its column's type.
    #[error(
        "file '{path}', partition column '{column}': the value has no place in a column of the table's type, which the property \
         {STATS_AS_STRUCT} asks for"
    )]
    PartitionValue {
        /// The file, as the log spells it.
        path: String,
        /// The column, by its physical name.
        column: String,
        /// What is wrong with the value.
        source: PartitionValueError,
    },
    /// A value that does not fit its column.
    #[error("statistics do not become a column")]
    Batch(#[from] BatchError),
    /// Arrow refused.
    #[error("the actions do not become columns")]
    Arrow(#[from] ArrowError),
    /// The Parquet crate refused.
    #[error("the columns do not become a Parquet file")]
    Parquet(#[from] ParquetError),
}

/// The property that asks for statistics as JSON text.
const STATS_AS_JSON: &str = "delta.checkpoint.writeStatsAsJson";
/// The property that asks for statistics and partition values as columns.
const STATS_AS_STRUCT: &str = "delta.checkpoint.writeStatsAsStruct";

/// A row of a checkpoint.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Row<'a> {
    Add(AddFile),
    Remove(RemoveFile),
    #[serde(rename = "metaData")]
    Metadata(Metadata),
    Protocol(Protocol),
    Txn(&'a SetTransaction),
    DomainMetadata(&'a DomainMetadata),
    CheckpointMetadata(CheckpointMetadata),
    Sidecar(&'a Sidecar),
}

#[derive(Serialize)]
struct CheckpointMetadata {
    version: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Sidecar {
    path: String,
    size_in_bytes: u64,
    modification_time: i64,
}

/// A file action.
#[derive(Clone)]
enum FileAction {
    Add(Arc<AddFile>),
    Remove(Arc<RemoveFile>),
}

/// Makes the checkpoint of a snapshot that has its tombstones. `now_ms`, in milliseconds since the epoch, decides which of them have expired.
///
/// The properties of the table say whether statistics are written as text (`delta.checkpoint.writeStatsAsJson`, by default yes) and as columns
/// (`delta.checkpoint.writeStatsAsStruct`, by default no).
///
/// # Errors
/// When the protocol has something that this crate does not know how to keep, or does not allow the kind; when a property is malformed; when
/// a partition value shall become a column and is not of its type.
///
/// # Panics
/// When the snapshot was loaded without tombstones: a checkpoint without them would lose what keeps deleted files from being forgotten.
pub fn encode(snapshot: &Snapshot, kind: CheckpointKind, now_ms: i64) -> Result<EncodedCheckpoint, EncodeError> {
    snapshot.protocol.check_checkpointable()?;
    if matches!(kind, CheckpointKind::V2 { .. }) && !snapshot.protocol.features().contains(V2_FEATURE) {
        return Err(EncodeError::FeatureMissing);
    }
    let retention = Retention::of(snapshot, now_ms)?;
    let tombstones = snapshot.tombstones.as_ref().expect("a checkpoint is made of a snapshot that has its tombstones");
    let files = snapshot.adds().cloned().map(FileAction::Add);
    let removes = tombstones.values().filter(|remove| retention.keeps_tombstone(remove)).cloned();
    let files: Vec<FileAction> = files.chain(removes.map(FileAction::Remove)).collect();
    let encoder = Encoder::of(snapshot)?;
    let add_files = snapshot.files.len() as u64;
    let (version, mut table) = (snapshot.version, Vec::new());
    table.push(Row::Protocol(protocol(&snapshot.protocol)));
    table.push(Row::Metadata(metadata(&snapshot.metadata)));
    let transactions = snapshot.transactions.values().filter(|transaction| retention.keeps_transaction(transaction));
    table.extend(transactions.map(Row::Txn));
    table.extend(snapshot.domains.values().map(Row::DomainMetadata));
    let CheckpointKind::V2 { id, actions_per_sidecar } = kind else {
        let actions = (table.len() + files.len()) as u64;
        let bytes = encoder.file(Columns::Classic, &table, &files)?;
        let path = checkpoint_path(version, CheckpointNaming::Classic, "");
        return Ok(EncodedCheckpoint { version, files: vec![EncodedFile { path, bytes }], actions, add_files });
    };
    let chunk = actions_per_sidecar.map_or(usize::MAX, NonZeroUsize::get);
    let (mut encoded, mut sidecars) = (Vec::new(), Vec::new());
    let count = files.len().div_ceil(chunk);
    for (index, files) in files.chunks(chunk).enumerate() {
        let bytes = encoder.file(Columns::Sidecar, &[], files)?;
        let name = format!("{:020}.checkpoint.{:010}.{count:010}.{id}.parquet", version.0, index + 1);
        let size_in_bytes = bytes.len() as u64;
        encoded.push(EncodedFile { path: format!("{SIDECAR_FOLDER}{name}"), bytes });
        sidecars.push(Sidecar { path: name, size_in_bytes, modification_time: now_ms });
    }
    table.insert(0, Row::CheckpointMetadata(CheckpointMetadata { version: version.0 }));
    table.extend(sidecars.iter().map(Row::Sidecar));
    let actions = (table.len() + files.len()) as u64;
    let path = checkpoint_path(version, CheckpointNaming::UuidParquet, &id.to_string());
    encoded.push(EncodedFile { path, bytes: encoder.file(Columns::Manifest, &table, &[])? });
    Ok(EncodedCheckpoint { version, files: encoded, actions, add_files })
}

/// Lists of features belong to versions that have lists.
fn protocol(protocol: &Protocol) -> Protocol {
    let mut protocol = Protocol { extra: Extra::new(), ..protocol.clone() };
    if protocol.min_reader_version < 3 {
        protocol.reader_features = None;
    }
    if protocol.min_writer_version < 7 {
        protocol.writer_features = None;
    }
    protocol
}

fn metadata(metadata: &Metadata) -> Metadata {
    let mut metadata = Metadata { extra: Extra::new(), ..metadata.clone() };
    metadata.format.extra.clear();
    metadata
}

fn flag(snapshot: &Snapshot, property: &'static str, default: bool) -> Result<bool, EncodeError> {
    let Some(text) = snapshot.property(property) else { return Ok(default) };
    text.to_lowercase().parse().map_err(|_| EncodeError::Flag { property, text: text.to_owned() })
}

/// Which columns a file has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Columns {
    Classic,
    Manifest,
    Sidecar,
}

/// Turns actions into Parquet.
struct Encoder {
    stats_as_json: bool,
    parsed: Option<Parsed>,
}

impl Encoder {
    fn of(snapshot: &Snapshot) -> Result<Self, EncodeError> {
        let stats_as_json = flag(snapshot, STATS_AS_JSON, true)?;
        let parsed = flag(snapshot, STATS_AS_STRUCT, false)?.then(|| Parsed::of(snapshot)).transpose()?;
        Ok(Self { stats_as_json, parsed })
    }

    fn file(&self, columns: Columns, table: &[Row], files: &[FileAction]) -> Result<Bytes, EncodeError> {
        let plain_add = columns::add(self.stats_as_json);
        let (plain, whole) = (columns_of(columns, plain_add.clone()), columns_of(columns, self.with_parsed(plain_add)));
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(concat!("contend ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_max_row_group_row_count(Some(ROWS_PER_GROUP))
            .build();
        let options = ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
        let mut writer = ArrowWriter::try_new_with_options(Vec::new(), whole.clone(), options)?;
        let mut decoder = ReaderBuilder::new(plain).build_decoder()?;
        for rows in table.chunks(ACTIONS_PER_BATCH) {
            writer.write(&self.batch(&mut decoder, rows, &[], &whole)?)?;
        }
        // A batch is of adds only or of removes only.
        let adds: Vec<Arc<AddFile>> = files.iter().filter_map(FileAction::add).cloned().collect();
        for adds in adds.chunks(ACTIONS_PER_BATCH) {
            let rows: Vec<Row> = adds.iter().map(|add| Row::Add(self.add(add))).collect();
            writer.write(&self.batch(&mut decoder, &rows, adds, &whole)?)?;
        }
        let removes: Vec<Row> = files.iter().filter_map(FileAction::remove).map(Row::Remove).collect();
        for rows in removes.chunks(ACTIONS_PER_BATCH) {
            writer.write(&self.batch(&mut decoder, rows, &[], &whole)?)?;
        }
        Ok(writer.into_inner()?.into())
    }

    fn add(&self, add: &AddFile) -> AddFile {
        let mut add = AddFile { data_change: false, extra: Extra::new(), ..add.clone() };
        if let Some(vector) = &mut add.deletion_vector {
            vector.extra.clear();
        }
        add
    }

    fn with_parsed(&self, plain: Fields) -> Fields {
        let parsed = self.parsed.iter().flat_map(|parsed| parsed.fields().iter().cloned());
        plain.iter().cloned().chain(parsed).collect()
    }

    /// Rows as columns; `adds` are the rows themselves when they are adds, and empty otherwise.
    fn batch(
        &self,
        decoder: &mut Decoder,
        rows: &[Row],
        adds: &[Arc<AddFile>],
        whole: &SchemaRef,
    ) -> Result<RecordBatch, EncodeError> {
        decoder.serialize(rows)?;
        let batch = decoder.flush()?.expect("there are rows");
        let (Some(parsed), Some((index, _))) = (&self.parsed, whole.column_with_name("add")) else {
            return Ok(batch);
        };
        let plain = batch.column(index).as_struct();
        let more = if adds.is_empty() {
            parsed.fields().iter().map(|field| new_null_array(field.data_type(), rows.len())).collect()
        } else {
            parsed.arrays(adds)?
        };
        let arrays: Vec<ArrayRef> = plain.columns().iter().cloned().chain(more).collect();
        let fields = self.with_parsed(plain.fields().clone());
        let add = StructArray::try_new(fields, arrays, plain.nulls().cloned())?;
        let mut columns = batch.columns().to_vec();
        columns[index] = Arc::new(add);
        Ok(RecordBatch::try_new(whole.clone(), columns)?)
    }
}

impl FileAction {
    fn add(&self) -> Option<&Arc<AddFile>> {
        match self {
            Self::Add(add) => Some(add),
            Self::Remove(_) => None,
        }
    }

    fn remove(&self) -> Option<RemoveFile> {
        let Self::Remove(remove) = self else { return None };
        let mut remove = RemoveFile { extra: Extra::new(), ..RemoveFile::clone(remove) };
        if let Some(vector) = &mut remove.deletion_vector {
            vector.extra.clear();
        }
        Some(remove)
    }
}

fn columns_of(columns: Columns, add: Fields) -> SchemaRef {
    let files = || vec![columns::add_column(add.clone()), columns::remove_column()];
    let fields: Vec<FieldRef> = match columns {
        Columns::Classic => columns::table_columns().into_iter().chain(files()).collect(),
        Columns::Manifest => columns::v2_columns().into_iter().chain(columns::table_columns()).collect(),
        Columns::Sidecar => files(),
    };
    Arc::new(ArrowSchema::new(fields))
}

#[cfg(test)]
mod tests;
