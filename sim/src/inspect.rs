//! What a real table is: its history, its files, its rows, and their digest. Nothing in here writes.

mod render;
mod scan;

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use arrow::array::RecordBatch;
use log_core::{
    action::{AddFile, PartitionValues},
    batch::{self, BatchError},
    history::{HistoryRow, LoadHistory},
    layout::LayoutError,
    load::{LoadError, LoadSnapshot},
    path::Version,
    schema::Schema,
    snapshot::Snapshot,
    statistics::Statistics,
    store::{Machine, drive},
    value::Value,
};

pub use render::{csv_heading, csv_row};
pub use render::{files_json, files_text, history_json, history_text, rows_json, rows_text};
pub use scan::{Query, QueryError, Scan};

use crate::{
    digest::RowTexts,
    real::{data::ReadDataError, local_directory::LocalDirectory},
};

/// A folder that holds a table.
#[derive(Debug)]
pub struct TableFolder {
    directory: LocalDirectory,
}

/// A table at a version.
#[derive(Debug)]
pub struct TableAt<'a> {
    directory: &'a LocalDirectory,
    /// What the log says.
    pub snapshot: Arc<Snapshot>,
}

/// A live data file, as the log has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileRow {
    /// Its path, as the log spells it.
    pub path: String,
    /// Its partition.
    pub partition_values: PartitionValues,
    /// Bytes.
    pub size: i64,
    /// Its rows, when its statistics say so.
    pub rows: Option<u64>,
    /// When it was written, in milliseconds since the epoch.
    pub modified_ms: i64,
}

/// What a table comes to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableDigest {
    /// The version.
    pub version: Version,
    /// Live files.
    pub active_files: usize,
    /// Rows.
    pub rows: u64,
    /// The digest of the rows, see [`digest`](crate::digest).
    pub rows_sha256: String,
}

/// A table that cannot be looked at.
#[derive(Debug, thiserror::Error)]
pub enum InspectError {
    /// There is no such folder.
    #[error("'{}' is no folder{}", path.display(), reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default())]
    NoFolder {
        /// The path.
        path: PathBuf,
        /// What the system says; `None` when something else is there.
        reason: Option<io::Error>,
    },
    /// The folder has no log.
    #[error("'{}' is not a Delta table: it has no commits in _delta_log", path.display())]
    NotATable {
        /// The folder.
        path: PathBuf,
    },
    /// The log cannot be read.
    #[error("table at '{}'", path.display())]
    Load {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: LoadError,
    },
    /// A data file cannot be read.
    #[error("table at '{}', version {version}: data file '{file}' cannot be read", path.display())]
    Data {
        /// The folder.
        path: PathBuf,
        /// The version.
        version: Version,
        /// The file, as the log spells it.
        file: String,
        /// Why.
        source: Box<ReadDataError>,
    },
    /// What is asked of the table makes no sense.
    #[error("table at '{}'", path.display())]
    Query {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: Box<QueryError>,
    },
    /// The columns of the table cannot be found in its files.
    #[error("table at '{}'", path.display())]
    Layout {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: LayoutError,
    },
    /// The rows of a data file are of types that have no values here.
    #[error("table at '{}'", path.display())]
    Rows {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: BatchError,
    },
}

impl TableFolder {
    /// The table in a folder.
    ///
    /// # Errors
    /// When there is no such folder.
    pub fn open(path: &Path) -> Result<Self, InspectError> {
        match std::fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => Ok(Self { directory: LocalDirectory::new(path, 0) }),
            Ok(_) => Err(InspectError::NoFolder { path: path.to_owned(), reason: None }),
            Err(error) => Err(InspectError::NoFolder { path: path.to_owned(), reason: Some(error) }),
        }
    }

    /// The table at a version, or at the newest one.
    ///
    /// # Errors
    /// When the folder holds no table, when the version was never made, or when the log cannot be read.
    pub fn at(&self, version: Option<Version>) -> Result<TableAt<'_>, InspectError> {
        let snapshot = self.ask(version.map_or_else(LoadSnapshot::latest, LoadSnapshot::at))?;
        Ok(TableAt { directory: &self.directory, snapshot })
    }

    /// The newest `limit` rows of the history up to a version.
    ///
    /// # Errors
    /// As for [`at`](Self::at); a table that needs more than this build implements still has a history.
    pub fn history(&self, until: Option<Version>, limit: usize) -> Result<Vec<HistoryRow>, InspectError> {
        self.ask(LoadHistory::new(until, limit))
    }

    fn ask<T>(&self, machine: impl Machine<Output = Result<Option<T>, LoadError>>) -> Result<T, InspectError> {
        let path = || self.directory.root().to_owned();
        drive(machine, |request| self.directory.answer(&request))
            .map_err(|source| InspectError::Load { path: path(), source })?
            .ok_or_else(|| InspectError::NotATable { path: path() })
    }
}

impl TableAt<'_> {
    /// The version.
    pub fn version(&self) -> Version {
        self.snapshot.version
    }

    /// The columns.
    pub fn schema(&self) -> &Schema {
        &self.snapshot.schema
    }

    /// The live files in order of path.
    pub fn files(&self) -> Vec<FileRow> {
        self.snapshot.adds().map(|add| file_row(add, self.schema())).collect()
    }

    /// The first `limit` rows: files in order of path, rows in the order of their file.
    ///
    /// # Errors
    /// When a data file cannot be read.
    pub fn rows(&self, limit: usize) -> Result<Vec<Vec<Value>>, InspectError> {
        self.query(&Query { limit: Some(limit), ..Query::default() })?.rows(|_, _| ())
    }

    /// Counts the files and rows and makes their digest.
    ///
    /// # Errors
    /// When a data file cannot be read.
    pub fn digest(&self) -> Result<TableDigest, InspectError> {
        self.query(&Query::default())?.digest(|_, _| ())
    }

    fn unreadable(&self, add: &AddFile, source: ReadDataError) -> InspectError {
        let path = self.directory.root().to_owned();
        InspectError::Data { path, version: self.version(), file: add.path.clone(), source: Box::new(source) }
    }
}

impl Scan<'_> {
    /// The whole answer as values. For `progress` see [`run`](Self::run).
    ///
    /// # Errors
    /// When a data file cannot be read, or the predicate fails on a row.
    pub fn rows(&self, progress: impl FnMut(usize, usize)) -> Result<Vec<Vec<Value>>, InspectError> {
        let mut rows = Vec::new();
        self.run(progress, |batch| -> Result<(), InspectError> {
            rows.extend(self.values(&batch)?);
            Ok(())
        })?;
        Ok(rows)
    }

    /// A batch of the answer as values.
    ///
    /// # Errors
    /// When it is not of the schema.
    pub fn values(&self, batch: &RecordBatch) -> Result<Vec<Vec<Value>>, InspectError> {
        let path = || self.table.directory.root().to_owned();
        batch::rows(batch, &self.schema).map_err(|source| InspectError::Rows { path: path(), source })
    }

    /// The digest of the answer. For `progress` see [`run`](Self::run).
    ///
    /// # Errors
    /// When a data file cannot be read, or the predicate fails on a row.
    pub fn digest(&self, progress: impl FnMut(usize, usize)) -> Result<TableDigest, InspectError> {
        let mut texts = RowTexts::default();
        self.run(progress, |batch| -> Result<(), InspectError> {
            texts.push_batch(&batch, &self.schema);
            Ok(())
        })?;
        Ok(TableDigest {
            version: self.table.version(),
            active_files: self.table.snapshot.files.len(),
            rows: texts.len(),
            rows_sha256: texts.sha256(),
        })
    }
}

fn file_row(add: &AddFile, schema: &Schema) -> FileRow {
    let statistics = add.stats.as_deref().map(|stats| Statistics::parse(stats, schema));
    FileRow {
        path: add.path.clone(),
        partition_values: add.partition_values.clone(),
        size: add.size,
        rows: statistics.and_then(|statistics| statistics.num_records),
        modified_ms: add.modification_time,
    }
}
