//! Data files on the disk.

use std::{error::Error, fs, io};

use arrow::array::RecordBatch;
use log_core::{
    action::AddFile,
    data_file::{self, DataFileError},
    path::Version,
    schema::Schema,
    snapshot::Snapshot,
};

use super::local_directory::{LocalDirectory, PathError, data_path};
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
    /// Its bytes are no rows of the table.
    #[error("{}", chain(.0))]
    Content(#[source] DataFileError),
    /// It holds rows that are deleted.
    #[error("it has a deletion vector, which this build of contend does not read")]
    DeletionVector,
}

/// Reads the rows of a data file, all columns of the table in order.
///
/// # Errors
/// When it is not there, not whole, or not of the table. The caller names the file.
pub fn read(
    directory: &LocalDirectory,
    add: &AddFile,
    schema: &Schema,
    version: Version,
) -> Result<RecordBatch, ReadDataError> {
    if add.deletion_vector.is_some() {
        return Err(ReadDataError::DeletionVector);
    }
    let path = data_path(directory.root(), &add.path)?;
    let bytes = fs::read(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => ReadDataError::Missing { version },
        _ => ReadDataError::Io(error),
    })?;
    data_file::decode(&bytes, schema, &add.partition_values).map_err(ReadDataError::Content)
}

/// Writes a new data file for a table, durably; gives its size.
///
/// # Errors
/// When its rows cannot be encoded or the system refuses.
pub fn write(directory: &LocalDirectory, file: &NewFile, snapshot: &Snapshot) -> io::Result<u64> {
    let encoded = data_file::encode(&snapshot.schema, snapshot.partition_columns(), &file.batch)
        .map_err(|error| io::Error::other(chain(&error)))?;
    directory.put_data(&file.path, &encoded.bytes)?;
    Ok(encoded.bytes.len() as u64)
}

/// An error with what it stems from, in one line.
pub(super) fn chain(error: &dyn Error) -> String {
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
