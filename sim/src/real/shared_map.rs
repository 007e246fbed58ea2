//! Tables in memory that several threads share: one lock around everything.
//!
//! A model has far less to interleave with one lock than with one per table or per object, and loses nothing: every request is one step of the store
//! anyhow.

use std::collections::BTreeMap;

use arrow::array::RecordBatch;
use log_core::{
    action::AddFile,
    path::Version,
    schema::Schema,
    snapshot::Snapshot,
    store::{ObjectMap, Request, Response},
};

use super::{sync::Mutex, writer::Place};
use crate::execute::prepare::{NewFile, StatementError};

/// Tables in memory. Their clock stands still.
#[derive(Debug)]
pub struct SharedMap {
    now_ms: i64,
    shared: Mutex<Shared>,
}

#[derive(Debug)]
struct Shared {
    logs: Vec<ObjectMap>,
    files: BTreeMap<(usize, String), RecordBatch>,
}

impl SharedMap {
    /// So many tables that do not exist yet, at a time in milliseconds since the epoch.
    pub fn new(tables: usize, now_ms: i64) -> Self {
        let shared = Shared { logs: vec![ObjectMap::default(); tables], files: BTreeMap::new() };
        Self { now_ms, shared: Mutex::new(shared) }
    }

    /// The log of a table as it is now.
    pub fn log(&self, table: usize) -> ObjectMap {
        self.shared.lock().logs[table].clone()
    }

    /// The rows of a data file.
    pub fn file(&self, table: usize, path: &str) -> Option<RecordBatch> {
        self.shared.lock().files.get(&(table, path.to_owned())).cloned()
    }
}

impl Place for SharedMap {
    fn answer(&self, table: usize, request: &Request) -> Response {
        Response { now_ms: self.now_ms, answer: self.shared.lock().logs[table].answer(request, self.now_ms) }
    }

    fn now_ms(&self) -> i64 {
        self.now_ms
    }

    fn read(&self, table: usize, add: &AddFile, _: &Schema, _: Version) -> Result<RecordBatch, StatementError> {
        self.file(table, &add.path).ok_or_else(|| StatementError::DataFile {
            path: add.path.clone(),
            cause: "there is no such file".to_owned(),
        })
    }

    fn write(&self, table: usize, file: &NewFile, _: &Snapshot) -> Result<u64, std::io::Error> {
        let bytes = file.batch.get_array_memory_size() as u64;
        self.shared.lock().files.insert((table, file.path.clone()), file.batch.clone());
        Ok(bytes)
    }
}
