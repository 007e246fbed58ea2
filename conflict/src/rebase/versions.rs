//! Versions that a transaction wrote into its metadata, reckoning with the next version as its own.

use std::sync::Arc;

use log_core::{action::Action, path::Version};
use serde_json::Value as Json;

use crate::{
    feature::{self, CHECKPOINT_PROTECTION, COLUMN_MAPPING, TYPE_WIDENING, TYPE_WIDENING_ENABLED, is_on, lists},
    transaction::Transaction,
};

/// The property under which the history before a version is protected.
pub(crate) const PROTECTED_BEFORE: &str = "delta.requireCheckpointProtectionBeforeVersion";

/// Changes of column types carry the version at which they were made; those of the version that is taken move to the next.
pub(super) fn move_type_changes(transaction: &mut Arc<Transaction>, taken: Version) {
    let widens = transaction.protocol().is_some_and(|protocol| TYPE_WIDENING.iter().any(|name| lists(protocol, name)));
    if !widens {
        return;
    }
    let Some(metadata) = transaction.own_metadata() else { return };
    if !is_on(&metadata.configuration, TYPE_WIDENING_ENABLED) {
        return;
    }
    let Ok(mut schema) = serde_json::from_str::<Json>(&metadata.schema_string) else { return };
    if move_in(&mut schema, taken) {
        let schema_string = schema.to_string();
        for action in &mut Arc::make_mut(transaction).actions {
            if let Action::Metadata(metadata) = action {
                metadata.schema_string.clone_from(&schema_string);
            }
        }
    }
}

/// Moves the type changes somewhere below a node; was there one?
fn move_in(node: &mut Json, taken: Version) -> bool {
    let mut moved = false;
    match node {
        Json::Array(items) => items.iter_mut().for_each(|item| moved |= move_in(item, taken)),
        Json::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Json::Array(changes) if name == "delta.typeChanges" => {
                        for version in changes.iter_mut().filter_map(|change| change.get_mut("tableVersion")) {
                            if version.as_u64() == Some(taken.0) {
                                *version = taken.next().0.into();
                                moved = true;
                            }
                        }
                    }
                    other => moved |= move_in(other, taken),
                }
            }
        }
        _ => {}
    }
    moved
}

/// A transaction that drops a feature with a trace in the history protects the history before itself, wherever it lands.
pub(super) fn move_checkpoint_protection(transaction: &mut Arc<Transaction>, taken: Version) {
    let (Some(own), Some(read)) = (transaction.own_protocol(), &transaction.read) else { return };
    // Features that readers must know leave such a trace. Of those that old versions imply, this one does.
    let of_readers = |feature: &str| {
        feature == COLUMN_MAPPING || read.protocol.reader_features.iter().flatten().any(|name| name == feature)
    };
    let drops = feature::missing(own, &read.protocol).into_iter().any(of_readers);
    if !drops || !lists(own, CHECKPOINT_PROTECTION) {
        return;
    }
    for action in &mut Arc::make_mut(transaction).actions {
        if let Action::Metadata(metadata) = action {
            metadata.configuration.insert(PROTECTED_BEFORE.to_owned(), taken.next().to_string());
        }
    }
}
