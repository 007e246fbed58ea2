//! Writes that are whole, and still there after a power failure, or say that they are not.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, ErrorKind, Write as _},
    path::{Path, PathBuf},
};

use log_core::store::WriteAnswer;

use super::super::sync::{AtomicU64, Ordering};

/// What every temporary file is called; a leftover one is no part of anything.
const TEMPORARY: &str = ".contend-";

/// Is it the name of a temporary file of ours?
pub fn is_temporary(name: &str) -> bool {
    name.starts_with(TEMPORARY) && name.ends_with(".tmp")
}

/// Creates a file unless one is there: a temporary file is written and made durable, then linked to the name, which succeeds for one only.
///
/// Until the link nothing has happened; from then on an error leaves open whether the file is there.
pub(super) fn put_if_absent(path: &Path, bytes: &[u8]) -> WriteAnswer {
    let temporary = match write_temporary(path, bytes) {
        Ok(temporary) => temporary,
        Err(error) => return did_not_happen(path, &error),
    };
    let linked = fs::hard_link(&temporary, path);
    // A leftover is harmless.
    let _ = fs::remove_file(&temporary);
    match linked {
        Ok(()) => {
            // A leftover of a file of this name that was removed. Where it cannot be removed either, the commit is there all the same.
            let _ = remove_checksum(path);
            after_change(path)
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => WriteAnswer::AlreadyExists,
        Err(error) => refused(path, &error),
    }
}

/// Creates or replaces a file.
pub(super) fn put(path: &Path, bytes: &[u8]) -> WriteAnswer {
    let temporary = match write_temporary(path, bytes) {
        Ok(temporary) => temporary,
        Err(error) => return did_not_happen(path, &error),
    };
    match remove_checksum(path).and_then(|()| fs::rename(&temporary, path)) {
        Ok(()) => after_change(path),
        Err(error) => {
            let _ = fs::remove_file(&temporary);
            refused(path, &error)
        }
    }
}

/// Removes a file.
pub(super) fn delete(path: &Path) -> WriteAnswer {
    match remove_checksum(path).and_then(|()| fs::remove_file(path)) {
        Ok(()) => after_change(path),
        Err(error) => refused(path, &error),
    }
}

/// Removes what Hadoop's file system keeps beside a file, `.NAME.crc`: it refuses to read other bytes than those that it summed up, and takes a file without
/// it as it is.
fn remove_checksum(path: &Path) -> io::Result<()> {
    let Some(name) = path.file_name() else { return Ok(()) };
    match fs::remove_file(path.with_file_name(format!(".{}.crc", name.to_string_lossy()))) {
        // Where its name would be too long there is none.
        Err(error) if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidFilename) => Err(error),
        _ => Ok(()),
    }
}

/// Creates the folders down to `directory`, durably.
fn create_folders(directory: &Path) -> io::Result<()> {
    if directory.is_dir() {
        return Ok(());
    }
    let parent = parent(directory);
    create_folders(&parent)?;
    match fs::create_dir(directory) {
        // Somebody else was faster.
        Err(error) if error.kind() == ErrorKind::AlreadyExists && directory.is_dir() => Ok(()),
        Err(error) => Err(error),
        Ok(()) => sync_directory(&parent),
    }
}

/// Writes a temporary file beside `path`, durably; gives its name.
fn write_temporary(path: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
    let directory = parent(path);
    create_folders(&directory)?;
    let (temporary, mut file) = create_temporary(&directory)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written.map(|()| temporary)
}

/// Creates a temporary file under a name that nobody has; a leftover of an earlier process may have the first ones.
pub(in super::super) fn create_temporary(directory: &Path) -> io::Result<(PathBuf, File)> {
    loop {
        let name = format!("{TEMPORARY}{}-{}.tmp", std::process::id(), next_number());
        let path = directory.join(name);
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            result => return result.map(|file| (path, file)),
        }
    }
}

/// A number that this process has not used.
pub(in super::super) fn next_number() -> u64 {
    static NUMBER: std::sync::LazyLock<AtomicU64> = std::sync::LazyLock::new(|| AtomicU64::new(0));
    NUMBER.fetch_add(1, Ordering::Relaxed)
}

fn parent(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

fn sync_directory(directory: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(directory)?.sync_all() } else { Ok(()) }
}

/// The name is there (or gone); will it be after a power failure?
fn after_change(path: &Path) -> WriteAnswer {
    match sync_directory(&parent(path)) {
        Ok(()) => WriteAnswer::Happened,
        Err(error) => unknown(path, &error),
    }
}

/// A link, rename or removal failed. Where the system says that it refused, nothing happened.
fn refused(path: &Path, error: &io::Error) -> WriteAnswer {
    match error.kind() {
        ErrorKind::NotFound
        | ErrorKind::PermissionDenied
        | ErrorKind::ReadOnlyFilesystem
        | ErrorKind::StorageFull
        | ErrorKind::QuotaExceeded
        | ErrorKind::NotADirectory
        | ErrorKind::IsADirectory
        | ErrorKind::DirectoryNotEmpty
        | ErrorKind::CrossesDevices
        | ErrorKind::TooManyLinks
        | ErrorKind::InvalidFilename
        | ErrorKind::InvalidInput
        | ErrorKind::Unsupported => did_not_happen(path, error),
        _ => unknown(path, error),
    }
}

fn did_not_happen(path: &Path, error: &io::Error) -> WriteAnswer {
    WriteAnswer::DidNotHappen { cause: format!("cannot write '{}': {error}", path.display()) }
}

fn unknown(path: &Path, error: &io::Error) -> WriteAnswer {
    WriteAnswer::Unknown { cause: format!("it is unclear whether '{}' was written: {error}", path.display()) }
}
