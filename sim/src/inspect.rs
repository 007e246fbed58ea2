//! What a real table is: its history, its files, its rows, and their digest. Nothing in here writes.

mod check;
mod files;
mod partitions;
mod render;
mod scan;
mod show;
mod when;

use std::{
    cell::RefCell,
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use arrow::array::RecordBatch;
use log_core::{
    action::{AddFile, PartitionValues},
    batch::{self, BatchError},
    check::CheckError,
    history::{HistoryRow, LoadHistory},
    layout::LayoutError,
    live_files::LiveFile,
    load::{LoadError, LoadSnapshot},
    log_note::LogNote,
    path::{LOG_FOLDER, Version},
    schema::Schema,
    snapshot::Snapshot,
    store::{Answer, Machine, Request, drive},
    time_travel::{Extent, Instant, ResolveTime, TimeTravelError},
    value::Value,
};

pub use check::{CheckOptions, TableCheck, check_json, check_text};
pub use partitions::{PartitionFilter, PartitionFilterError, RememberingFilter};
pub use render::{csv_heading, csv_row, files_json, files_text, history_json, history_text, rows_json, rows_text};
pub use scan::{Query, QueryError, Scan};
pub use show::{TableFacts, show_json, show_text};
pub use when::{WhenError, instant};

use crate::{
    digest::RowTexts,
    real::{data::ReadDataError, local_directory::LocalDirectory},
};

/// A folder that holds a table.
#[derive(Debug)]
pub struct TableFolder {
    directory: LocalDirectory,
    /// Of all that was read of the log.
    notes: RefCell<BTreeSet<LogNote>>,
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
    /// Its rows that are not deleted, when its statistics say so.
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
    /// The log cannot be checked.
    #[error("table at '{}'", path.display())]
    Check {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: CheckError,
    },
    /// The log cannot be read.
    #[error("table at '{}'", path.display())]
    Load {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: LoadError,
    },
    /// No version is found for an instant.
    #[error("table at '{}'", path.display())]
    Time {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: TimeTravelError,
    },
    /// The files of some partitions are asked for, and it cannot be said which those are.
    #[error("table at '{}'", path.display())]
    Partitions {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: PartitionFilterError,
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
            Ok(metadata) if metadata.is_dir() => {
                Ok(Self { directory: LocalDirectory::new(path, 0), notes: RefCell::default() })
            }
            Ok(_) => Err(InspectError::NoFolder { path: path.to_owned(), reason: None }),
            Err(error) => Err(InspectError::NoFolder { path: path.to_owned(), reason: Some(error) }),
        }
    }

    /// Where it is.
    pub fn directory(&self) -> &LocalDirectory {
        &self.directory
    }

    /// What was odd about the log, as far as it was read until now, and did not keep it from being read.
    pub fn notes(&self) -> Vec<LogNote> {
        self.notes.borrow().iter().cloned().collect()
    }

    /// The table at a version, or at the newest one.
    ///
    /// # Errors
    /// When the folder holds no table, when the version was never made, or when the log cannot be read.
    pub fn at(&self, version: Option<Version>) -> Result<TableAt<'_>, InspectError> {
        let mut load = version.map_or_else(LoadSnapshot::latest, LoadSnapshot::at).hinted();
        let snapshot = self.ask(&mut load)?;
        self.notes.borrow_mut().extend(load.notes().iter().cloned());
        Ok(TableAt { directory: &self.directory, snapshot })
    }

    /// The newest `limit` rows of the history up to a version.
    ///
    /// # Errors
    /// As for [`at`](Self::at); a table that needs more than this build implements still has a history.
    pub fn history(&self, until: Option<Version>, limit: usize) -> Result<Vec<HistoryRow>, InspectError> {
        self.ask(LoadHistory::new(until, limit))
    }

    /// The newest version that is not younger than an instant.
    ///
    /// # Errors
    /// When the folder holds no table, and as [`ResolveTime`] does.
    pub fn version_at(&self, instant: Instant) -> Result<Version, InspectError> {
        let path = || self.directory.root().to_owned();
        drive(ResolveTime::new(instant), |request| self.directory.answer(&request))
            .map_err(|source| InspectError::Time { path: path(), source })?
            .ok_or_else(|| InspectError::NotATable { path: path() })
    }

    /// What protocol, metadata, files and log of a version add up to.
    ///
    /// # Errors
    /// As for [`at`](Self::at).
    pub fn facts(&self, version: Option<Version>) -> Result<TableFacts, InspectError> {
        let table = self.at(version)?;
        let extent = self.extent()?;
        let one = |until| self.history(Some(until), 1).map(|rows| rows.into_iter().find(|row| row.version == until));
        let ranges = extent.rebuildable();
        let earliest = match ranges.first() {
            Some(range) => one(*range.start())?,
            None => None,
        };
        let newest = extent.newest().unwrap_or(table.version());
        let (newest_row, own_row) = (one(newest)?, one(table.version())?);
        let time = |row: Option<HistoryRow>| row.map(|row| Instant::of_millis(row.timestamp));
        Ok(TableFacts {
            path: self.directory.root().to_owned(),
            files: table.files(),
            snapshot: table.snapshot,
            committed: time(own_row),
            commits: extent.commits().len(),
            earliest: ranges.first().map(|range| (*range.start(), time(earliest))),
            newest: (newest, time(newest_row)),
            rebuildable: ranges.to_vec(),
        })
    }

    /// Which versions the log still has.
    ///
    /// # Errors
    /// When the log cannot be listed.
    pub fn extent(&self) -> Result<Extent, InspectError> {
        match self.directory.answer(&Request::List { after: LOG_FOLDER.to_owned() }).answer {
            Answer::Listed(listing) => Ok(Extent::of(listing)),
            Answer::Unavailable { cause } => {
                let path = self.directory.root().to_owned();
                Err(InspectError::Load { path, source: LoadError::Store { cause } })
            }
            other => panic!("the directory answered a listing with {other:?}"),
        }
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
        self.snapshot.adds().map(|add| FileRow::of(&LiveFile::of(add))).collect()
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
