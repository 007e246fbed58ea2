//! The columns of a Parquet checkpoint ("Checkpoint Schema" of the protocol), without those that depend on the table's schema.
//!
//! What the protocol requires of an action is a required field of its struct, everything else is optional. The names of the parts of lists and maps
//! are those of the Parquet specification.

use std::sync::Arc;

use arrow::datatypes::{DataType as ArrowType, Field, FieldRef, Fields};

fn required(name: &str, data_type: ArrowType) -> Field {
    Field::new(name, data_type, false)
}

fn optional(name: &str, data_type: ArrowType) -> Field {
    Field::new(name, data_type, true)
}

/// Texts by text, of which the values may be null.
fn texts_by_text() -> ArrowType {
    let entries = [required("key", ArrowType::Utf8), optional("value", ArrowType::Utf8)];
    ArrowType::Map(Arc::new(required("key_value", ArrowType::Struct(entries.into_iter().collect()))), false)
}

fn texts() -> ArrowType {
    ArrowType::List(Arc::new(optional("element", ArrowType::Utf8)))
}

fn structure(fields: impl IntoIterator<Item = Field>) -> ArrowType {
    ArrowType::Struct(fields.into_iter().collect())
}

fn deletion_vector() -> ArrowType {
    structure([
        required("storageType", ArrowType::Utf8),
        required("pathOrInlineDv", ArrowType::Utf8),
        optional("offset", ArrowType::Int32),
        required("sizeInBytes", ArrowType::Int32),
        required("cardinality", ArrowType::Int64),
    ])
}

/// The fields of an add; with its statistics as text if wanted.
pub(super) fn add(stats: bool) -> Fields {
    let stats = stats.then(|| optional("stats", ArrowType::Utf8));
    [
        required("path", ArrowType::Utf8),
        required("partitionValues", texts_by_text()),
        required("size", ArrowType::Int64),
        required("modificationTime", ArrowType::Int64),
        required("dataChange", ArrowType::Boolean),
    ]
    .into_iter()
    .chain(stats)
    .chain([
        optional("tags", texts_by_text()),
        optional("deletionVector", deletion_vector()),
        optional("baseRowId", ArrowType::Int64),
        optional("defaultRowCommitVersion", ArrowType::Int64),
        optional("clusteringProvider", ArrowType::Utf8),
    ])
    .collect()
}

/// The column of adds.
pub(super) fn add_column(fields: Fields) -> FieldRef {
    Arc::new(optional("add", ArrowType::Struct(fields)))
}

/// The column of removes. They serve as tombstones only, so statistics and tags are left out.
pub(super) fn remove_column() -> FieldRef {
    let fields = [
        required("path", ArrowType::Utf8),
        optional("deletionTimestamp", ArrowType::Int64),
        required("dataChange", ArrowType::Boolean),
        optional("extendedFileMetadata", ArrowType::Boolean),
        optional("partitionValues", texts_by_text()),
        optional("size", ArrowType::Int64),
        optional("deletionVector", deletion_vector()),
        optional("baseRowId", ArrowType::Int64),
        optional("defaultRowCommitVersion", ArrowType::Int64),
    ];
    Arc::new(optional("remove", structure(fields)))
}

/// The columns of the actions that every checkpoint has in its own file.
pub(super) fn table_columns() -> Vec<FieldRef> {
    let format = structure([required("provider", ArrowType::Utf8), required("options", texts_by_text())]);
    let metadata = [
        required("id", ArrowType::Utf8),
        optional("name", ArrowType::Utf8),
        optional("description", ArrowType::Utf8),
        required("format", format),
        // Required as well, but there are logs without one, of which only the actions are of interest.
        optional("schemaString", ArrowType::Utf8),
        required("partitionColumns", texts()),
        required("configuration", texts_by_text()),
        optional("createdTime", ArrowType::Int64),
    ];
    let protocol = [
        required("minReaderVersion", ArrowType::Int32),
        required("minWriterVersion", ArrowType::Int32),
        optional("readerFeatures", texts()),
        optional("writerFeatures", texts()),
    ];
    let transaction = [
        required("appId", ArrowType::Utf8),
        required("version", ArrowType::Int64),
        optional("lastUpdated", ArrowType::Int64),
    ];
    let domain = [
        required("domain", ArrowType::Utf8),
        required("configuration", ArrowType::Utf8),
        required("removed", ArrowType::Boolean),
    ];
    vec![
        Arc::new(optional("metaData", structure(metadata))),
        Arc::new(optional("protocol", structure(protocol))),
        Arc::new(optional("txn", structure(transaction))),
        Arc::new(optional("domainMetadata", structure(domain))),
    ]
}

/// The columns that only a checkpoint after the v2 specification has.
pub(super) fn v2_columns() -> Vec<FieldRef> {
    let metadata = [required("version", ArrowType::Int64), optional("tags", texts_by_text())];
    let sidecar = [
        required("path", ArrowType::Utf8),
        required("sizeInBytes", ArrowType::Int64),
        required("modificationTime", ArrowType::Int64),
        optional("tags", texts_by_text()),
    ];
    vec![
        Arc::new(optional("checkpointMetadata", structure(metadata))),
        Arc::new(optional("sidecar", structure(sidecar))),
    ]
}
