//! Applications that commit each of their steps once ("Transaction Identifiers" of the protocol): a stream that starts again after a crash asks how far
//! it had come.

use log_core::{action::SetTransaction, snapshot::Snapshot};

use crate::transaction::ReadSet;

/// May an application do a step?
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Claim {
    /// The table has this step or a later one: there is nothing to do.
    Done {
        /// How far the application has come.
        recorded: i64,
    },
    /// The step is new. This action must be written with it.
    New(SetTransaction),
}

/// Asks a snapshot whether an application has done a step, and registers the question in the read set: another writer that moves the application
/// meanwhile is a conflict then. The read set must be of the transaction that read this very snapshot, or a winner between the two is missed.
///
/// A step is done when the recorded number is the same or greater; numbers need not be contiguous.
pub fn claim(read: Option<&Snapshot>, reads: &mut ReadSet, app_id: &str, version: i64, now_ms: i64) -> Claim {
    reads.app_ids.insert(app_id.to_owned());
    match read.and_then(|read| read.transaction(app_id)) {
        Some(recorded) if recorded >= version => Claim::Done { recorded },
        _ => Claim::New(SetTransaction {
            app_id: app_id.to_owned(),
            version,
            last_updated: Some(now_ms),
            ..SetTransaction::default()
        }),
    }
}

#[cfg(test)]
mod tests;
