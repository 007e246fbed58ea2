//! What a transaction takes over from a winner that it does not conflict with, so that it stands as if it had started behind it.
//!
//! Data files, statistics, read set, level, blind append and read version stay as they were first computed. Winners are passed one by one, oldest
//! first, each on top of the one before. Source: Delta Spark, `ConflictChecker`.

mod row_tracking;
mod timestamps;
mod versions;

use std::sync::Arc;

use log_core::{
    action::{Action, DomainMetadata, Metadata},
    path::Version,
};

pub use self::row_tracking::high_water_mark;
pub(crate) use self::row_tracking::leaves_out_touched_files;
pub(crate) use self::timestamps::{ENABLEMENT_TIMESTAMP, ENABLEMENT_VERSION, retain_enablement, timestamps_enabled};
pub(crate) use self::versions::PROTECTED_BEFORE;
use crate::{
    feature::{CLUSTERING_DOMAIN, DOMAIN_METADATA, ROW_TRACKING_ENABLED, is_on, lists},
    transaction::{Transaction, Winner, domains},
};

/// A winner that a transaction cannot be carried past, although no rule stands against it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RebaseError {
    /// A file of the transaction needs row ids, and nothing says how many.
    #[error(
        "'{path}' needs row ids behind those of version {winner}, but its statistics have no numRecords; write the file with statistics"
    )]
    UnknownRecords {
        /// The file of the transaction.
        path: String,
        /// The winner.
        winner: Version,
    },
    /// A file of the transaction has more rows than row ids are left.
    #[error("the row ids of '{path}' behind those of version {winner} would exceed what a 64-bit integer holds")]
    RowIds {
        /// The file of the transaction.
        path: String,
        /// The winner.
        winner: Version,
    },
    /// The high-water mark of row ids of the winner, or of what was read, cannot be read.
    #[error(
        "version {version}: the configuration of the domain delta.rowTracking has no integer rowIdHighWaterMark, so which row ids are free is \
         not known; drop the table feature rowTracking and add it again"
    )]
    HighWaterMark {
        /// The winner, or the version that was read.
        version: Version,
    },
    /// The winner's in-commit timestamp is the last that there is.
    #[error(
        "version {winner} has the last in-commit timestamp that a 64-bit integer holds, and no commit can be later"
    )]
    Timestamp {
        /// The winner.
        winner: Version,
    },
}

/// Carries a transaction past a winner. A transaction to which the winner brings nothing stays the very same.
///
/// # Errors
/// When row ids are due and the statistics that they need, or the winner's mark, are missing.
pub fn rebase(transaction: &mut Arc<Transaction>, winner: &Winner) -> Result<(), RebaseError> {
    // Whoever created the table has no other to move to.
    if transaction.read.is_none() {
        return Ok(());
    }
    adopt(transaction, winner);
    tombstone_new_domains(transaction, winner);
    row_tracking::rebase(transaction, winner)?;
    versions::move_type_changes(transaction, winner.version());
    versions::move_checkpoint_protection(transaction, winner.version());
    timestamps::rebase(transaction, winner)
}

/// Protocol and metadata of the winner hold for the transaction too, unless it brings its own. Metadata of an identity-only winner is not taken
/// over, as in Delta Spark.
fn adopt(transaction: &mut Arc<Transaction>, winner: &Winner) {
    if let Some(protocol) = winner.protocol()
        && transaction.protocol() != Some(protocol)
    {
        Arc::make_mut(transaction).rebased.protocol = Some(Arc::new(protocol.clone()));
    }
    if let Some(metadata) = winner.metadata()
        && !winner.moves_identity_only()
        && transaction.metadata() != Some(metadata)
    {
        let enables = |metadata: &Metadata| is_on(&metadata.configuration, ROW_TRACKING_ENABLED);
        let before = transaction.metadata().is_some_and(enables);
        let own = Arc::make_mut(transaction);
        own.rebased.row_tracking_lost |= enables(metadata) && !before;
        own.rebased.metadata = Some(Arc::new(metadata.clone()));
    }
}

/// A new table does not inherit the clustering of the old one, also not one that came while it was written.
fn tombstone_new_domains(transaction: &mut Arc<Transaction>, winner: &Winner) {
    if !transaction.operation.replaces_table() || !transaction.protocol().is_some_and(|p| lists(p, DOMAIN_METADATA)) {
        return;
    }
    let unseen = winner.domains().filter(|domain| domain.domain == CLUSTERING_DOMAIN);
    let unseen = unseen.filter(|domain| domains(&transaction.actions).all(|own| own.domain != domain.domain));
    let tombstones: Vec<Action> =
        unseen.map(|domain| Action::DomainMetadata(DomainMetadata { removed: true, ..domain.clone() })).collect();
    if !tombstones.is_empty() {
        Arc::make_mut(transaction).actions.extend(tombstones);
    }
}

#[cfg(test)]
mod tests;
