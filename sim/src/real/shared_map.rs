//! Tables in memory that several threads share: one lock around the logs.
//!
//! A model has far less to interleave with one lock than with one per table or per object, and loses nothing: every request is one step of the store
//! anyhow. Nor has it to interleave what commutes. An object that was listed never changes, so a [`View`] reads what it has listed from the map as
//! it was then; and data files are kept behind a lock that loom does not see: a file has a name of its own, and is there before anybody can hear
//! of it.

use std::{cell::RefCell, collections::BTreeMap};

use arrow::array::RecordBatch;
use log_core::{
    action::AddFile,
    path::Version,
    snapshot::Snapshot,
    store::{Answer, ObjectMap, Request, Response},
};

use super::{newest::NewestSnapshot, sync::Mutex, writer::Place};
use crate::{
    execute::prepare::{NewFile, StatementError},
    world::{Environment, Tables},
};

/// Tables in memory. Their clock stands still.
#[derive(Debug)]
pub struct SharedMap {
    now_ms: i64,
    tables: usize,
    logs: Mutex<Vec<ObjectMap>>,
    files: parking_lot::Mutex<DataFiles>,
    newest: Option<Vec<NewestSnapshot>>,
}

/// Rows of data files, by table and by path in the log.
pub type DataFiles = BTreeMap<(usize, String), RecordBatch>;

/// What a map begins with. It may be made outside of a model, and used in many.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// The log of each table.
    pub logs: Vec<ObjectMap>,
    /// The data files.
    pub files: DataFiles,
}

impl Contents {
    /// So many tables that do not exist yet.
    pub fn empty(tables: usize) -> Self {
        Self { logs: vec![ObjectMap::default(); tables], files: DataFiles::new() }
    }

    /// What simulated tables hold.
    pub fn of(tables: &Tables, environment: &Environment) -> Self {
        let logs: Vec<ObjectMap> = tables.iter().map(|table| table.objects().clone()).collect();
        let mut files = DataFiles::new();
        for (index, table) in tables.iter().enumerate() {
            for version in (0..table.commits()).map(Version) {
                for action in table.commit(version).actions {
                    let log_core::action::Action::Add(add) = action else { continue };
                    let file = environment.file(index, &add.path).expect("a file that was committed is there");
                    files.insert((index, add.path), file.batch.clone());
                }
            }
        }
        Self { logs, files }
    }
}

impl SharedMap {
    /// Tables that hold this, at a time in milliseconds since the epoch.
    pub fn new(contents: Contents, now_ms: i64) -> Self {
        let Contents { logs, files } = contents;
        let tables = logs.len();
        Self { now_ms, tables, logs: Mutex::new(logs), files: parking_lot::Mutex::new(files), newest: None }
    }

    /// The same, with a cell for the newest snapshot of each table.
    pub fn with_newest(mut self) -> Self {
        self.newest = Some((0..self.tables).map(|_| NewestSnapshot::default()).collect());
        self
    }

    /// The log of a table as it is now.
    pub fn log(&self, table: usize) -> ObjectMap {
        self.logs.lock()[table].clone()
    }

    /// The rows of a data file.
    pub fn file(&self, table: usize, path: &str) -> Option<RecordBatch> {
        self.files.lock().get(&(table, path.to_owned())).cloned()
    }

    /// The tables as one writer sees them.
    pub fn view(&self) -> View<'_> {
        View { map: self, listed: RefCell::default() }
    }
}

/// A [`SharedMap`] as one writer sees it: what it has listed it reads without the lock.
#[derive(Debug)]
pub struct View<'a> {
    map: &'a SharedMap,
    /// The table that was listed last, as it was then.
    listed: RefCell<Option<(usize, ObjectMap)>>,
}

impl Place for View<'_> {
    fn answer(&self, table: usize, request: &Request) -> Response {
        let now_ms = self.map.now_ms;
        let answer = match (request, &mut *self.listed.borrow_mut()) {
            (Request::Backoff { .. }, _) => Answer::Waited,
            (Request::GetMany { paths }, Some((listed, objects)))
                if *listed == table && paths.iter().all(|path| objects.get(path).is_some()) =>
            {
                objects.answer(request, now_ms)
            }
            (_, listed) => {
                let mut logs = self.map.logs.lock();
                if matches!(request, Request::List { .. }) {
                    *listed = Some((table, logs[table].clone()));
                }
                logs[table].answer(request, now_ms)
            }
        };
        Response { now_ms, answer }
    }

    fn now_ms(&self) -> i64 {
        self.map.now_ms
    }

    fn read(&self, table: usize, add: &AddFile, _: &Snapshot) -> Result<RecordBatch, StatementError> {
        self.map.file(table, &add.path).ok_or_else(|| StatementError::DataFile {
            path: add.path.clone(),
            cause: "there is no such file".to_owned(),
        })
    }

    fn write(&self, table: usize, file: &NewFile, _: &Snapshot) -> Result<u64, std::io::Error> {
        self.map.files.lock().insert((table, file.path.clone()), file.batch.clone());
        Ok(file.batch.get_array_memory_size() as u64)
    }

    fn newest(&self, table: usize) -> Option<&NewestSnapshot> {
        self.map.newest.as_ref().map(|newest| &newest[table])
    }
}
