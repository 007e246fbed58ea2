//! In-commit timestamps: each later than that of the commit before it ("In-Commit Timestamps" of the protocol).

use std::sync::Arc;

use log_core::action::{Action, CommitInfo, Metadata};

use super::RebaseError;
use crate::{
    feature::is_on,
    transaction::{Transaction, Winner},
};

/// The property that switches in-commit timestamps on.
pub(crate) const ENABLED: &str = "delta.enableInCommitTimestamps";
/// The property that says from which version on.
pub(crate) const ENABLEMENT_VERSION: &str = "delta.inCommitTimestampEnablementVersion";
/// The property that says from which time on.
pub(crate) const ENABLEMENT_TIMESTAMP: &str = "delta.inCommitTimestampEnablementTimestamp";

/// Are in-commit timestamps on?
pub(crate) fn timestamps_enabled(metadata: &Metadata) -> bool {
    is_on(&metadata.configuration, ENABLED)
}

/// Metadata that replaces a table's keeps the record of when its timestamps began, as long as they stay on: without it, nobody knows which commits
/// have them.
pub(crate) fn retain_enablement(actions: &mut [Action], read: &Metadata) {
    if !timestamps_enabled(read) {
        return;
    }
    for action in actions {
        let Action::Metadata(metadata) = action else { continue };
        if !timestamps_enabled(metadata) {
            continue;
        }
        for key in [ENABLEMENT_VERSION, ENABLEMENT_TIMESTAMP] {
            if let Some(value) = read.configuration.get(key) {
                metadata.configuration.entry(key.to_owned()).or_insert_with(|| value.clone());
            }
        }
    }
}

/// The transaction commits after the winner, in its own time as in the log; if it switches the timestamps on, then from the next version on. The
/// time of the enablement is written with the commit.
pub(super) fn rebase(transaction: &mut Arc<Transaction>, winner: &Winner) -> Result<(), RebaseError> {
    if !transaction.metadata().is_some_and(timestamps_enabled) {
        return Ok(());
    }
    let info = winner.commit.info();
    let of_winner = info
        .and_then(CommitInfo::in_commit_timestamp)
        .or(winner.modified_ms)
        .or_else(|| info.and_then(CommitInfo::timestamp));
    if of_winner == Some(i64::MAX) {
        return Err(RebaseError::Timestamp { winner: winner.version() });
    }
    let enables = transaction.enables_timestamps();
    let own = Arc::make_mut(transaction);
    own.rebased.after_ms = own.rebased.after_ms.max(of_winner);
    if !enables {
        return Ok(());
    }
    for action in &mut own.actions {
        if let Action::Metadata(metadata) = action
            && let Some(version) = metadata.configuration.get_mut(ENABLEMENT_VERSION)
        {
            *version = winner.version().next().to_string();
        }
    }
    Ok(())
}
