//! Which changes of metadata a transaction can live with.

use std::collections::{BTreeMap, BTreeSet};

use log_core::{
    action::{Metadata, Protocol},
    schema::Schema,
};

use super::{ConflictKind, Finding, Rule};
use crate::{
    feature::{
        CATALOG_MANAGED, CHECK_CONSTRAINTS, CHECKPOINT_PROTECTION, COLUMN_MAPPING, DELETION_VECTORS,
        IN_COMMIT_TIMESTAMP, ROW_TRACKING, ROW_TRACKING_ENABLED, TYPE_WIDENING, TYPE_WIDENING_ENABLED, V2_CHECKPOINT,
        is_on, is_true, supports,
    },
    rebase::{ENABLEMENT_TIMESTAMP, ENABLEMENT_VERSION, PROTECTED_BEFORE},
    transaction::{Transaction, Winner},
};

const MAPPING_MODE: &str = "delta.columnMapping.mode";

/// A property, the feature that it makes writers use, and which values do.
type Switch = (&'static str, &'static str, fn(&str) -> bool);

/// The switches that the reference lets writers turn on while others write, and that stand against dropping the feature.
const SWITCHES: [Switch; 5] = [
    (ROW_TRACKING_ENABLED, ROW_TRACKING, is_true),
    (MAPPING_MODE, COLUMN_MAPPING, |value| !value.eq_ignore_ascii_case("none")),
    ("delta.enableDeletionVectors", DELETION_VECTORS, is_true),
    ("delta.checkpointPolicy", V2_CHECKPOINT, |value| value.eq_ignore_ascii_case("v2")),
    ("delta.enableInCommitTimestamps", IN_COMMIT_TIMESTAMP, is_true),
];

/// What of metadata stands against dropping a feature: `a property ...` or `a schema ...`. Delta Spark asks each feature (`validateRemoval`).
pub(super) fn trace_of(metadata: &Metadata, feature: &str) -> Option<String> {
    let properties = &metadata.configuration;
    let switch = SWITCHES
        .iter()
        .find(|(_, of, _)| *of == feature)
        .and_then(|(key, _, is_on)| properties.get(*key).is_some_and(|value| is_on(value)).then_some(*key));
    let present = |key: &&str| properties.contains_key(*key);
    let property = match feature {
        IN_COMMIT_TIMESTAMP => switch.or_else(|| [ENABLEMENT_VERSION, ENABLEMENT_TIMESTAMP].into_iter().find(present)),
        CHECKPOINT_PROTECTION => Some(PROTECTED_BEFORE).filter(present),
        CHECK_CONSTRAINTS => {
            properties.keys().map(String::as_str).find(|key| key.to_lowercase().starts_with("delta.constraints."))
        }
        _ if TYPE_WIDENING.contains(&feature) => Some(TYPE_WIDENING_ENABLED).filter(|key| is_on(properties, key)),
        _ => switch,
    };
    let of_fields: &[&str] = match feature {
        COLUMN_MAPPING => &MAPPING_KEYS,
        _ if TYPE_WIDENING.contains(&feature) => &["delta.typeChanges"],
        _ => &[],
    };
    let in_schema = || of_fields.iter().find(|key| metadata.schema_string.contains(&format!("\"{key}\"")));
    let property = property.map(|key| format!("a property {key}"));
    property.or_else(|| in_schema().map(|key| format!("a schema with {key}")))
}

/// Keys of a field's metadata that switching column mapping on may write.
const MAPPING_KEYS: [&str; 3] =
    ["delta.columnMapping.id", "delta.columnMapping.physicalName", "delta.columnMapping.nested.ids"];

/// W changed schema, partitioning or properties. T passes if it brings no metadata of its own, and W changed nothing, moved the high-water marks of
/// identity columns only, or switched on something that leaves files valid that were written without.
///
/// Smallest counterexample: W renames column `x` to `y`; T appends a file with a column `x`, whose values would be lost.
pub(super) fn check(transaction: &Transaction, winner: &Winner) -> Option<Finding> {
    let new = winner.metadata()?;
    let found = |reason: &str| Some(Finding::new(ConflictKind::MetadataChanged, reason));
    if transaction.changes_metadata() {
        return found("wrote the table's metadata, as this transaction does");
    }
    if winner.moves_identity_only() {
        return None;
    }
    let Some(old) = transaction.metadata() else {
        return found("changed the table's metadata");
    };
    let protocol = winner.protocol().or(transaction.protocol())?;
    let reason = difference(old, new, protocol)?;
    found(&format!("changed the table's metadata: {reason}"))
}

/// The rule as Delta Spark 4.0.0 has it, before the allow-list: any metadata of a winner is a conflict, but for moved marks of identity columns. (4.0.0 also
/// passes a commit that its tag says to do nothing but enable row tracking; this rule does not look at that tag.)
pub fn without_allow_list() -> Rule {
    Rule::new("metadata", |transaction, winner| {
        winner.metadata()?;
        let passes = winner.moves_identity_only() && !transaction.changes_metadata();
        (!passes).then(|| Finding::new(ConflictKind::MetadataChanged, "wrote the table's metadata"))
    })
}

/// What stands against going on under new metadata; `None` when nothing does.
fn difference(old: &Metadata, new: &Metadata, protocol: &Protocol) -> Option<String> {
    if old == new {
        return None;
    }
    let fixed = [
        ("its id", old.id != new.id),
        ("its name", old.name != new.name),
        ("its description", old.description != new.description),
        ("the format", old.format != new.format),
        ("the partition columns", old.partition_columns != new.partition_columns),
        ("the time of creation", old.created_time != new.created_time),
        ("a field that the protocol does not know", old.extra != new.extra),
    ];
    if let Some((what, _)) = fixed.into_iter().find(|(_, differs)| *differs) {
        return Some(format!("{what} differs"));
    }
    if let Some(reason) = property_difference(&old.configuration, &new.configuration, protocol) {
        return Some(reason);
    }
    let schema_passes = old.schema_string == new.schema_string
        || (maps_columns(&old.configuration, &new.configuration) && only_mapping_differs(old, new));
    (!schema_passes).then(|| "the schema differs".to_owned())
}

type Properties = BTreeMap<String, String>;

/// No property may go, and only those may come or change that switch on what needs no other files.
fn property_difference(old: &Properties, new: &Properties, protocol: &Protocol) -> Option<String> {
    if let Some(key) = old.keys().find(|key| !new.contains_key(*key)) {
        return Some(format!("the property {key} is unset"));
    }
    let changed = new.iter().filter(|(key, value)| old.get(*key) != Some(value));
    changed
        .into_iter()
        .find(|(key, value)| !may_change(key, value, old, new, protocol))
        .map(|(key, value)| format!("the property {key} is {value}, which may not be set while others write"))
}

/// The allow-list, with the condition of each property.
fn may_change(key: &str, value: &str, old: &Properties, new: &Properties, protocol: &Protocol) -> bool {
    let is_new = !old.contains_key(key);
    if let Some((_, feature, is_on)) = SWITCHES.iter().find(|(switch, ..)| *switch == key) {
        let may_switch = key != MAPPING_MODE || maps_columns(old, new);
        return may_switch && is_on(value) && supports(protocol, feature);
    }
    match key {
        "delta.rowTracking.materializedRowIdColumnName"
        | "delta.rowTracking.materializedRowCommitVersionColumnName" => is_on(new, ROW_TRACKING_ENABLED),
        "delta.columnMapping.maxColumnId" => true,
        ENABLEMENT_VERSION | ENABLEMENT_TIMESTAMP => is_new,
        "io.unitycatalog.tableId" | "ucTableId" => is_new || !supports(protocol, CATALOG_MANAGED),
        _ => false,
    }
}

fn mode(properties: &Properties) -> String {
    properties.get(MAPPING_MODE).map_or("none".to_owned(), |mode| mode.to_lowercase())
}

/// Do the new properties switch column mapping on, by name?
fn maps_columns(old: &Properties, new: &Properties) -> bool {
    mode(old) == "none" && mode(new) == "name"
}

/// Are the columns the same, but for the ids and names that column mapping gave them? Fields inside of a column are part of its type: if they got
/// ids, the type differs.
fn only_mapping_differs(old: &Metadata, new: &Metadata) -> bool {
    let (Ok(old), Ok(new)) = (Schema::parse(&old.schema_string), Schema::parse(&new.schema_string)) else {
        return false;
    };
    old.fields.len() == new.fields.len()
        && old.fields.iter().zip(&new.fields).all(|(old, new)| {
            let keys: BTreeSet<&String> = old.metadata.keys().chain(new.metadata.keys()).collect();
            let mut differing = keys.into_iter().filter(|key| old.metadata.get(*key) != new.metadata.get(*key));
            old.name == new.name
                && old.data_type == new.data_type
                && old.nullable == new.nullable
                && differing.all(|key| MAPPING_KEYS.contains(&key.as_str()))
        })
}

#[cfg(test)]
mod tests;
