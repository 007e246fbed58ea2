//! The tables of a run, each in a folder of its own below one root.

use std::{io, path::Path, sync::Arc};

use arrow::array::RecordBatch;
use log_core::{
    action::AddFile,
    data_file::DataFileError,
    layout::{ColumnMapping, Layout},
    path::{LOG_FOLDER, LogFile, Version},
    schema::Schema,
    snapshot::Snapshot,
    store::{Answer, ObjectMap, Request, Response},
    value::Value,
};

use super::{
    data::{self, ReadDataError},
    local_directory::{AbsolutePaths, LocalDirectory, now_ms},
    newest::NewestSnapshot,
    writer::Place,
};
use crate::{
    execute::prepare::{NewFile, StatementError},
    judge::DataFiles,
};

/// Tables on the local disk.
#[derive(Debug)]
pub struct Directories {
    tables: Vec<LocalDirectory>,
    newest: Vec<NewestSnapshot>,
}

impl Directories {
    /// Tables of these names below a root.
    pub fn new(root: &Path, names: &[String], seed: u64) -> Self {
        let tables = names.iter().zip(seed..).map(|(name, seed)| LocalDirectory::new(&root.join(name), seed));
        let newest = names.iter().map(|_| NewestSnapshot::default());
        Self { tables: tables.collect(), newest: newest.collect() }
    }

    /// The folder of a table.
    pub fn table(&self, index: usize) -> &LocalDirectory {
        &self.tables[index]
    }
}

impl Place for Directories {
    fn answer(&self, table: usize, request: &Request) -> Response {
        self.tables[table].answer(request)
    }

    fn now_ms(&self) -> i64 {
        now_ms()
    }

    fn read(&self, table: usize, add: &AddFile, snapshot: &Snapshot) -> Result<RecordBatch, StatementError> {
        data::read(&self.tables[table], add, snapshot)
            .map_err(|error| StatementError::DataFile { path: add.path.clone(), cause: error.to_string() })
    }

    fn write(&self, table: usize, file: &NewFile, snapshot: &Snapshot) -> io::Result<u64> {
        data::write(&self.tables[table], file, snapshot)
    }

    fn newest(&self, table: usize) -> Option<&NewestSnapshot> {
        Some(&self.newest[table])
    }
}

/// The data files of a run that is over.
pub(super) struct FinishedFiles<'a>(pub &'a Directories);

impl DataFiles for FinishedFiles<'_> {
    fn rows(&mut self, table: usize, add: &AddFile, schema: &Schema) -> Result<Vec<Vec<Value>>, String> {
        // The schema alone does not say which column mapping a table has.
        if schema.fields.iter().any(|field| field.metadata.keys().any(|key| key.starts_with("delta.columnMapping."))) {
            return Err("the table has column mapping, and this build of contend judges none such".to_owned());
        }
        // The partition values of a file say which columns are partition columns.
        let layout =
            Layout::new(Arc::new(schema.clone()), &[], ColumnMapping::None).map_err(|error| error.to_string())?;
        // The judge says which version it is about.
        let whole =
            data::open(self.0.table(table), add, &layout, Version(0), AbsolutePaths::Refuse).and_then(|batches| {
                let mut rows = Vec::new();
                for batch in batches {
                    rows.extend(
                        log_core::batch::rows(&batch.map_err(ReadDataError::Content)?, schema)
                            .map_err(DataFileError::from)
                            .map_err(ReadDataError::Content)?,
                    );
                }
                Ok(rows)
            });
        whole.map_err(|error| match error {
            ReadDataError::Missing { .. } => "there is no such file".to_owned(),
            other => other.to_string(),
        })
    }
}

/// The commits of a log, as objects in memory.
///
/// # Errors
/// What the system says when it cannot read one.
pub(super) fn read_log(directory: &LocalDirectory) -> Result<ObjectMap, String> {
    let listing = match directory.answer(&Request::List { after: LOG_FOLDER.to_owned() }).answer {
        Answer::Listed(listing) => listing,
        Answer::Unavailable { cause } => return Err(cause),
        other => unreachable!("a listing was answered with {other:?}"),
    };
    let mut log = ObjectMap::default();
    for object in listing {
        if !matches!(LogFile::of(&object.path), LogFile::Commit(_)) {
            continue;
        }
        match directory.answer(&Request::Get { path: object.path.clone() }).answer {
            Answer::Content(Some(bytes)) => {
                log.answer(&Request::Put { path: object.path, bytes }, object.modified_ms);
            }
            Answer::Content(None) => return Err(format!("'{}' vanished while it was read", object.path)),
            Answer::Unavailable { cause } => return Err(cause),
            other => unreachable!("a get was answered with {other:?}"),
        }
    }
    Ok(log)
}
