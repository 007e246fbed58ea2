//! Data files on the disk.

use std::{error::Error, fs, io, path::Path};

use arrow::{array::RecordBatch, compute::concat_batches};
use log_core::{
    action::AddFile,
    batch::{arrow_schema, from_columns},
    data_file::{self, DataFileError, Rows},
    deletion_vector::{DeletedRows, DeletionVector, DeletionVectorError, Place},
    layout::{Layout, LayoutError},
    path::Version,
    snapshot::Snapshot,
};

use super::local_directory::{AbsolutePaths, LocalDirectory, PathError, data_path_with, log_path, regular};
use crate::execute::prepare::NewFile;

/// A data file that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadDataError {
    /// It is not a file inside the table.
    #[error(transparent)]
    Path(#[from] PathError),
    /// It is gone.
    #[error(
        "there is no such file, and version {version} of the table needs it; most likely a VACUUM removed it, so only versions \
         that do not need it can be read"
    )]
    Missing {
        /// The version that was asked for.
        version: Version,
    },
    /// The system cannot read it.
    #[error("the system cannot read it: {0}")]
    Io(#[source] io::Error),
    /// The columns of the table cannot be found in it.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// Its bytes are no rows of the table.
    #[error("{}", chain(.0))]
    Content(#[source] DataFileError),
    /// Which of its rows are deleted cannot be told.
    #[error("its deletion vector '{vector}' cannot be read: {source}")]
    DeletionVector {
        /// The id of the vector.
        vector: String,
        /// Why.
        source: VectorError,
    },
}

/// A deletion vector that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum VectorError {
    /// It makes no sense.
    #[error(transparent)]
    Content(#[from] DeletionVectorError),
    /// It is not a file inside the table.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The system cannot read its file.
    #[error("the system cannot read '{path}': {source}")]
    Io {
        /// The path.
        path: String,
        /// What the system says.
        source: io::Error,
    },
}

/// Opens a data file: the columns of the layout, a batch at a time, without the rows that are deleted. `version` is that for which it is read.
///
/// # Errors
/// When it is not there, not whole, or not of the table. The caller names the file.
pub fn open<'a>(
    directory: &LocalDirectory,
    add: &AddFile,
    layout: &'a Layout,
    version: Version,
    paths: AbsolutePaths,
) -> Result<Rows<'a>, ReadDataError> {
    let deleted = match &add.deletion_vector {
        None => None,
        Some(vector) => Some(
            deleted_rows(directory.root(), vector, paths)
                .map_err(|source| ReadDataError::DeletionVector { vector: vector.unique_id(), source })?,
        ),
    };
    let path = data_path_with(directory.root(), &add.path, paths)?;
    let bytes = read_file(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => ReadDataError::Missing { version },
        _ => ReadDataError::Io(error),
    })?;
    data_file::open(bytes.into(), layout, &add.partition_values, deleted).map_err(ReadDataError::Content)
}

fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    regular(&fs::metadata(path)?)?;
    fs::read(path)
}

/// Reads a deletion vector.
///
/// # Errors
/// When it cannot be read, or is not what its descriptor says.
pub fn deleted_rows(root: &Path, vector: &DeletionVector, paths: AbsolutePaths) -> Result<DeletedRows, VectorError> {
    let file = match vector.place()? {
        Place::Inline(bytes) => return Ok(vector.read_inline(&bytes)?),
        Place::InTable(path) => log_path(root, &path)?,
        Place::Absolute(path) => data_path_with(root, &path, paths)?,
    };
    let bytes = read_file(&file).map_err(|source| VectorError::Io { path: file.display().to_string(), source })?;
    Ok(vector.read_file(&bytes)?)
}

/// Reads the rows of a data file at once, all columns of the table in order.
///
/// # Errors
/// As for [`open`].
pub fn read(directory: &LocalDirectory, add: &AddFile, snapshot: &Snapshot) -> Result<RecordBatch, ReadDataError> {
    let layout = Layout::of(snapshot)?;
    let batches = open(directory, add, &layout, snapshot.version, AbsolutePaths::Refuse)?
        .collect::<Result<Vec<_>, _>>()
        .map_err(ReadDataError::Content)?;
    let schema = arrow_schema(&snapshot.schema);
    let whole = if schema.fields().is_empty() {
        from_columns(schema, Vec::new(), batches.iter().map(RecordBatch::num_rows).sum())
    } else {
        concat_batches(&schema, &batches)
    };
    whole.map_err(|error| ReadDataError::Content(error.into()))
}

/// Writes a new data file for a table, durably; gives its size.
///
/// # Errors
/// When its rows cannot be encoded or the system refuses.
pub fn write(directory: &LocalDirectory, file: &NewFile, snapshot: &Snapshot) -> io::Result<u64> {
    let layout = Layout::of(snapshot).map_err(io::Error::other)?;
    let encoded = data_file::encode(&layout, &file.batch).map_err(|error| io::Error::other(chain(&error)))?;
    directory.put_data(&file.path, &encoded.bytes)?;
    Ok(encoded.bytes.len() as u64)
}

/// An error with what it stems from, in one line.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let next = error.to_string();
        if !text.ends_with(&next) {
            text = format!("{text}: {next}");
        }
        source = error.source();
    }
    text
}
