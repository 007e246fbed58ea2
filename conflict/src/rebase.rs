//! What a transaction takes over from a winner that it does not conflict with.

use std::sync::Arc;

use log_core::{action::Action, snapshot::Snapshot};

use crate::transaction::{Transaction, Winner};

/// The transaction after it passed a winner. Data files, statistics, read set, level and read version stay as they were first computed; the
/// protocol and the metadata of the winner are adopted, so that the next winner is judged against them.
pub fn rebase(transaction: Arc<Transaction>, winner: &Winner) -> Arc<Transaction> {
    let Some(read) = &transaction.read else { return transaction };
    let mut adopted: Option<Snapshot> = None;
    for action in &winner.commit.actions {
        match action {
            Action::Protocol(protocol) => {
                adopted.get_or_insert_with(|| Snapshot::clone(read)).protocol = Arc::new(protocol.clone());
            }
            Action::Metadata(metadata) if *metadata != *read.metadata => {
                adopted.get_or_insert_with(|| Snapshot::clone(read)).metadata = Arc::new(metadata.clone());
            }
            _ => {}
        }
    }
    match adopted {
        None => transaction,
        Some(snapshot) => Arc::new(Transaction { read: Some(Arc::new(snapshot)), ..Transaction::clone(&transaction) }),
    }
}

#[cfg(test)]
mod tests;
