//! The newest snapshot that any writer of a table has seen.

use log_core::{commit::Commit, path::Version, snapshot::Snapshot, store::Bytes};

use super::sync::{Arc, Mutex};

/// A cell that holds the newest snapshot that somebody has loaded or made, so that the next load need not replay the whole log.
///
/// It is a hint only: whoever loads still lists the log, and reads what came after. So a cell that lags costs time and nothing else, while one that runs
/// ahead of the log is a bug: a load that begins at a version that nobody committed finds nothing after it and believes in it.
#[derive(Debug, Default)]
pub struct NewestSnapshot(Mutex<Option<Arc<Snapshot>>>);

impl NewestSnapshot {
    /// The snapshot, if there is one yet.
    pub fn get(&self) -> Option<Arc<Snapshot>> {
        self.0.lock().clone()
    }

    /// Takes a snapshot of what is in the log. One that is not newer than the one that is there is dropped.
    pub fn offer(&self, snapshot: Arc<Snapshot>) {
        let mut newest = self.0.lock();
        if newest.as_ref().is_none_or(|newest| newest.version < snapshot.version) {
            *newest = Some(snapshot);
        }
    }

    /// Takes a commit that has just been made by a writer who had read `read`. One that follows on another commit is left to the next load.
    pub fn offer_commit(&self, read: Option<&Snapshot>, version: Version, bytes: &Bytes) {
        if Version::after(read.map(|read| read.version)) != version {
            return;
        }
        if let Ok(commit) = Commit::parse(version, bytes)
            && let Ok(snapshot) = Snapshot::replay(read, &[commit])
        {
            self.offer(Arc::new(snapshot));
        }
    }
}
