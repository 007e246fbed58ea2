//! How two replays differ that should come to the same.

use std::collections::{BTreeMap, BTreeSet};

use super::files::show;
use crate::{
    action::{AddFile, FileKey, Metadata, PartitionValues, Protocol},
    snapshot::Replay,
};

/// Which tombstones must be there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tombstones {
    /// All of them.
    All,
    /// No others than there were; those that have expired may be missing.
    MayExpire,
    /// Nobody knows.
    Any,
}

/// In which parts a file that stands in for commits differs from them. `stored` is what the file says.
///
/// Statistics are not compared, as a checkpoint may have them as structs only, of columns that the writer chose; and neither are the times of application
/// transactions.
pub(super) fn differences(stored: &Replay, replayed: &Replay, tombstones: Tombstones) -> Vec<String> {
    let mut found = Vec::new();
    protocols(stored.protocol(), replayed.protocol(), &mut found);
    metadata(stored.metadata(), replayed.metadata(), &mut found);
    files(stored, replayed, &mut found);
    keys("tombstones", &removed(stored), &removed(replayed), tombstones, &mut found);
    transactions(stored, replayed, &mut found);
    domains(stored, replayed, &mut found);
    found
}

fn removed(replay: &Replay) -> BTreeSet<&FileKey> {
    replay.tombstones().map(|tombstones| tombstones.keys().collect()).unwrap_or_default()
}

/// Compares protocols by what they ask for.
pub(super) fn protocols(stored: Option<&Protocol>, replayed: Option<&Protocol>, found: &mut Vec<String>) {
    let facts = |protocol: &Protocol| {
        let set = |list: &Option<Vec<String>>| list.iter().flatten().cloned().collect::<BTreeSet<String>>();
        (
            protocol.min_reader_version,
            protocol.min_writer_version,
            set(&protocol.reader_features),
            set(&protocol.writer_features),
        )
    };
    if stored.map(facts) != replayed.map(facts) {
        let text = |protocol: Option<&Protocol>| match protocol.map(facts) {
            None => "none".to_owned(),
            Some((reader, writer, readers, writers)) => {
                let list = |names: BTreeSet<String>| names.into_iter().collect::<Vec<_>>().join(", ");
                format!("{reader}/{writer} [{}] [{}]", list(readers), list(writers))
            }
        };
        found.push(format!("the protocol is {}, and should be {}", text(stored), text(replayed)));
    }
}

/// Compares metadata field by field.
pub(super) fn metadata(stored: Option<&Metadata>, replayed: Option<&Metadata>, found: &mut Vec<String>) {
    let (stored, replayed) = match (stored, replayed) {
        (None, None) => return,
        (Some(stored), Some(replayed)) => (stored, replayed),
        (stored, _) => {
            found.push(format!("there is {} metadata", if stored.is_some() { "unexpected" } else { "no" }));
            return;
        }
    };
    let schema =
        |metadata: &Metadata| -> Option<serde_json::Value> { serde_json::from_str(&metadata.schema_string).ok() };
    let parts = [
        ("id", stored.id == replayed.id),
        // Some writers store an empty name for none.
        ("name", stored.name.as_deref().unwrap_or("") == replayed.name.as_deref().unwrap_or("")),
        ("description", stored.description.as_deref().unwrap_or("") == replayed.description.as_deref().unwrap_or("")),
        ("format", stored.format.provider == replayed.format.provider),
        (
            "schema",
            stored.schema_string == replayed.schema_string
                || schema(stored).is_some_and(|stored| Some(stored) == schema(replayed)),
        ),
        ("partition columns", stored.partition_columns == replayed.partition_columns),
        ("configuration", stored.configuration == replayed.configuration),
        ("creation time", stored.created_time == replayed.created_time),
    ];
    let differ: Vec<&str> = parts.into_iter().filter(|(_, same)| !same).map(|(name, _)| name).collect();
    if !differ.is_empty() {
        found.push(format!("the metadata differs in {}", differ.join(", ")));
    }
}

fn files(stored: &Replay, replayed: &Replay, found: &mut Vec<String>) {
    let (stored, replayed) = (stored.files(), replayed.files());
    keys("live files", &stored.keys().collect(), &replayed.keys().collect(), Tombstones::All, found);
    let mut differing = stored.iter().filter_map(|(key, add)| {
        let fields = differing_fields(add, replayed.get(key)?);
        (!fields.is_empty()).then_some((key, fields))
    });
    if let Some((key, fields)) = differing.next() {
        let more = differing.count();
        let more = if more == 0 { String::new() } else { format!(", and {more} more files differ") };
        found.push(format!("the live file {} differs in {}{more}", show(key), fields.join(", ")));
    }
}

fn differing_fields(stored: &AddFile, replayed: &AddFile) -> Vec<&'static str> {
    let vector = |add: &AddFile| {
        add.deletion_vector.as_ref().map(|vector| (vector.size_in_bytes, vector.cardinality, vector.offset))
    };
    let parts = [
        ("size", stored.size == replayed.size),
        ("modification time", stored.modification_time == replayed.modification_time),
        ("partition values", values(&stored.partition_values) == values(&replayed.partition_values)),
        ("deletion vector", vector(stored) == vector(replayed)),
        ("baseRowId", stored.base_row_id == replayed.base_row_id),
        ("defaultRowCommitVersion", stored.default_row_commit_version == replayed.default_row_commit_version),
    ];
    parts.into_iter().filter(|(_, same)| !same).map(|(name, _)| name).collect()
}

/// An empty text is null, as the protocol says.
fn values(values: &PartitionValues) -> BTreeMap<&str, &str> {
    let texts = values.iter().filter_map(|(name, text)| Some((name.as_str(), text.as_deref()?)));
    texts.filter(|(_, text)| !text.is_empty()).collect()
}

fn keys(
    what: &str,
    stored: &BTreeSet<&FileKey>,
    replayed: &BTreeSet<&FileKey>,
    must: Tombstones,
    found: &mut Vec<String>,
) {
    let mut tell = |verb: &str, keys: Vec<&&FileKey>| match keys.as_slice() {
        [] => {}
        [one] => found.push(format!("{what} {verb}: {}", show(one))),
        [first, more @ ..] => found.push(format!("{what} {verb}: {} and {} more", show(first), more.len())),
    };
    if must == Tombstones::All {
        tell("are missing", replayed.difference(stored).collect());
    }
    if must != Tombstones::Any {
        tell("should not be there", stored.difference(replayed).collect());
    }
}

fn transactions(stored: &Replay, replayed: &Replay, found: &mut Vec<String>) {
    // Where the table forgets applications after a while, nobody but the writer knows which had expired.
    let may_expire = replayed
        .metadata()
        .is_some_and(|metadata| metadata.configuration.contains_key("delta.setTransactionRetentionDuration"));
    let numbers = |replay: &Replay| -> BTreeMap<String, i64> {
        replay.transactions().iter().map(|(app, transaction)| (app.clone(), transaction.version)).collect()
    };
    let (stored, replayed) = (numbers(stored), numbers(replayed));
    for (app, version) in &stored {
        match replayed.get(app) {
            Some(right) if right == version => {}
            Some(right) => found.push(format!("application '{app}' is at {version}, and should be at {right}")),
            None => found.push(format!("application '{app}' should not be there")),
        }
    }
    if !may_expire {
        for app in replayed.keys().filter(|app| !stored.contains_key(*app)) {
            found.push(format!("application '{app}' is missing"));
        }
    }
}

fn domains(stored: &Replay, replayed: &Replay, found: &mut Vec<String>) {
    let (stored, replayed) = (stored.domains(), replayed.domains());
    for name in stored.keys().chain(replayed.keys()).collect::<BTreeSet<_>>() {
        let (is, should) = (stored.get(name), replayed.get(name));
        if is.map(|domain| &domain.configuration) != should.map(|domain| &domain.configuration) {
            let state = match (is, should) {
                (None, _) => "is missing",
                (_, None) => "should not be there",
                _ => "has another configuration",
            };
            found.push(format!("domain '{name}' {state}"));
        }
    }
}
