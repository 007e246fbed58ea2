//! Actions and commits, as any client may have written them.

use std::collections::BTreeMap;

use log_core::{
    action::{
        Action, AddFile, CommitInfo, DomainMetadata, Extra, Format, Metadata, PartitionValues, Protocol, RemoveFile,
        SetTransaction,
    },
    commit::Commit,
    deletion_vector::DeletionVector,
    path::Version,
};
use proptest::{
    collection::{btree_map, vec},
    option::of,
    prelude::*,
    sample::select,
};
use serde_json::{Map, Value as Json, json};

/// Any action.
pub fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        3 => add().prop_map(Action::Add),
        3 => remove().prop_map(Action::Remove),
        1 => metadata().prop_map(Action::Metadata),
        1 => protocol().prop_map(Action::Protocol),
        2 => object().prop_map(|info| Action::CommitInfo(CommitInfo(info))),
        1 => (text(), any::<i64>(), of(any::<i64>()), extra()).prop_map(|(app_id, version, last_updated, extra)| {
            Action::Transaction(SetTransaction { app_id, version, last_updated, extra })
        }),
        1 => (text(), text(), any::<bool>(), extra()).prop_map(|(domain, configuration, removed, extra)| {
            Action::DomainMetadata(DomainMetadata { domain, configuration, removed, extra })
        }),
        1 => (select(vec!["cdc", "checkpointMetadata", "neverHeardOfIt", "a \"b\""]), json()).prop_map(|(name, body)| {
            Action::Unknown { name: name.to_owned(), body }
        }),
    ]
}

/// A commit of any actions, which need not make sense together.
pub fn commit() -> impl Strategy<Value = Commit> {
    (any::<u32>(), vec(action(), 0..6))
        .prop_map(|(version, actions)| Commit { version: Version(version.into()), actions })
}

/// An add, of any fields.
pub fn add() -> impl Strategy<Value = AddFile> {
    let fields = (text(), partition_values(), any::<i64>(), any::<i64>(), any::<bool>(), of(text()));
    let more = (of(tags()), of(deletion_vector()), of(any::<i64>()), of(any::<i64>()), of(text()), extra());
    (fields, more).prop_map(|((path, partition_values, size, modification_time, data_change, stats), more)| {
        let (tags, deletion_vector, base_row_id, default_row_commit_version, clustering_provider, extra) = more;
        AddFile {
            path,
            partition_values,
            size,
            modification_time,
            data_change,
            stats,
            tags,
            deletion_vector,
            base_row_id,
            default_row_commit_version,
            clustering_provider,
            extra,
        }
    })
}

/// A remove, of any fields.
pub fn remove() -> impl Strategy<Value = RemoveFile> {
    let fields = (text(), of(any::<i64>()), any::<bool>(), of(any::<bool>()), of(partition_values()), of(any::<i64>()));
    let more = (of(text()), of(tags()), of(deletion_vector()), of(any::<i64>()), of(any::<i64>()), extra());
    (fields, more).prop_map(
        |(fields, (stats, tags, deletion_vector, base_row_id, default_row_commit_version, extra))| {
            let (path, deletion_timestamp, data_change, extended_file_metadata, partition_values, size) = fields;
            RemoveFile {
                path,
                deletion_timestamp,
                data_change,
                extended_file_metadata,
                partition_values,
                size,
                stats,
                tags,
                deletion_vector,
                base_row_id,
                default_row_commit_version,
                extra,
            }
        },
    )
}

/// A deletion vector's descriptor.
pub fn deletion_vector() -> impl Strategy<Value = DeletionVector> {
    (select(vec!["u", "i", "p"]), text(), of(any::<i32>()), any::<i32>(), any::<i64>(), extra()).prop_map(
        |(storage_type, path_or_inline_dv, offset, size_in_bytes, cardinality, extra)| DeletionVector {
            storage_type: storage_type.to_owned(),
            path_or_inline_dv,
            offset,
            size_in_bytes,
            cardinality,
            extra,
        },
    )
}

fn metadata() -> impl Strategy<Value = Metadata> {
    let texts = || btree_map(text(), text(), 0..3);
    let format = (text(), texts(), extra()).prop_map(|(provider, options, extra)| Format { provider, options, extra });
    (text(), of(text()), of(text()), format, text(), vec(text(), 0..3), texts(), of(any::<i64>()), extra()).prop_map(
        |(id, name, description, format, schema_string, partition_columns, configuration, created_time, extra)| {
            Metadata {
                id,
                name,
                description,
                format,
                schema_string,
                partition_columns,
                configuration,
                created_time,
                extra,
            }
        },
    )
}

fn protocol() -> impl Strategy<Value = Protocol> {
    let features = || of(vec(text(), 0..3));
    (any::<i32>(), any::<i32>(), features(), features(), extra()).prop_map(
        |(min_reader_version, min_writer_version, reader_features, writer_features, extra)| Protocol {
            min_reader_version,
            min_writer_version,
            reader_features,
            writer_features,
            extra,
        },
    )
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![2 => "[a-z]{0,6}", 1 => "\\PC{0,8}", 1 => "[\"\\\\/\n\t\u{1}é𝄞]{0,4}"]
}

fn partition_values() -> impl Strategy<Value = PartitionValues> {
    btree_map(text(), of(text()), 0..3)
}

fn tags() -> impl Strategy<Value = BTreeMap<String, Option<String>>> {
    btree_map(text(), of(text()), 0..3)
}

/// Fields that no version of the protocol has.
fn extra() -> impl Strategy<Value = Extra> {
    prop_oneof![3 => Just(Extra::new()), 1 => btree_map("x[a-z \"]{0,4}", json(), 1..3).prop_map(|map| map.into_iter().collect())]
}

fn object() -> impl Strategy<Value = Map<String, Json>> {
    btree_map(text(), json(), 0..5).prop_map(|map| map.into_iter().collect())
}

/// Any JSON, of numbers that are read exactly.
pub fn json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        any::<i32>().prop_map(|quarters| json!(f64::from(quarters) / 4.0)),
        text().prop_map(Json::String),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Json::Array),
            btree_map(text(), inner, 0..3).prop_map(|map| Json::Object(map.into_iter().collect())),
        ]
    })
}
