//! What the worlds of one setting share: data files by name, and what was computed before.

use std::sync::Arc;

use arrow::array::RecordBatch;
use log_core::{load::LoadSnapshot, path::Version, snapshot::Snapshot, store::drive};
use rustc_hash::FxHashMap;

use super::table::{LogDigest, Table};
use crate::{
    call::CallError,
    execute::prepare::{Executed, NewFile, StatementError},
    naming::CallId,
};

/// Data files and memory of one setting. It is no part of any state: everything in it follows from its key, so looking something up gives what
/// computing it again would give.
#[derive(Debug, Default)]
pub struct Environment {
    files: FxHashMap<(usize, String), DataFile>,
    snapshots: FxHashMap<(usize, LogDigest), Option<Arc<Snapshot>>>,
    executed: FxHashMap<(CallId, LogDigest), Result<Executed, Arc<StatementError>>>,
}

/// A simulated data file.
#[derive(Clone, Debug)]
pub struct DataFile {
    /// Its rows, with all columns of the table.
    pub batch: RecordBatch,
    /// What it would take: the bytes of its rows in Arrow.
    pub bytes: u64,
}

impl Environment {
    /// A data file by table and by its path in the log.
    pub fn file(&self, table: usize, path: &str) -> Option<&DataFile> {
        // The key is built for a look-up, which happens once per file and execution.
        self.files.get(&(table, path.to_owned()))
    }

    /// Keeps a data file; gives its size.
    pub(super) fn write(&mut self, table: usize, file: &NewFile) -> u64 {
        let bytes = size_of_rows(&file.batch);
        self.files.insert((table, file.path.clone()), DataFile { batch: file.batch.clone(), bytes });
        bytes
    }

    /// The newest snapshot of a table.
    pub(super) fn snapshot(&mut self, index: usize, table: &Table) -> Result<Option<Arc<Snapshot>>, CallError> {
        let digest = table.digest();
        if let Some(known) = self.snapshots.get(&(index, digest)) {
            return Ok(known.clone());
        }
        let base = table
            .digests()
            .iter()
            .rev()
            .skip(1)
            .find_map(|digest| self.snapshots.get(&(index, *digest)).cloned().flatten());
        let loader = match base {
            Some(base) => LoadSnapshot::newer_than(base),
            None => LoadSnapshot::latest(),
        };
        let mut objects = table.objects().clone();
        let snapshot =
            drive(loader, |request| log_core::store::Response { now_ms: 0, answer: objects.answer(&request, 0) })?;
        debug_assert_eq!(
            snapshot.as_ref().map(|snapshot| snapshot.version),
            table.commits().checked_sub(1).map(Version)
        );
        self.snapshots.insert((index, digest), snapshot.clone());
        Ok(snapshot)
    }

    /// What a call came to on a log, if it was computed before.
    pub(super) fn executed(&self, call: CallId, log: LogDigest) -> Option<Result<Executed, Arc<StatementError>>> {
        self.executed.get(&(call, log)).cloned()
    }

    /// Keeps what a call came to.
    pub(super) fn keep_executed(
        &mut self,
        call: CallId,
        log: LogDigest,
        result: &Result<Executed, Arc<StatementError>>,
    ) {
        self.executed.insert((call, log), result.clone());
    }
}

fn size_of_rows(batch: &RecordBatch) -> u64 {
    batch.columns().iter().map(|column| column.to_data().get_slice_memory_size().unwrap_or(0) as u64).sum()
}
