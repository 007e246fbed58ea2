//! A table on a local directory: answers every [`Request`], and what it says to have written survives a power failure.

mod durable;
mod place;

use std::{
    fs::{self, File},
    io::{self, Read as _, Seek as _},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use log_core::store::{Answer, ObjectMeta, Request, Response, WriteAnswer};

pub use durable::is_temporary;
pub(super) use durable::{create_temporary, next_number};
pub use place::{AbsolutePaths, PathError, data_path, data_path_with, log_path};

use super::sync::{Mutex, thread};
use crate::random::Random;

/// The longest pause between two puts of one commit.
const BACKOFF_MS_MAX: u32 = 100;
/// The pause before the third put, at most; it doubles from there on.
const BACKOFF_MS_FIRST: u32 = 2;

/// The objects of one table, below a folder.
#[derive(Debug)]
pub struct LocalDirectory {
    root: PathBuf,
    jitter: Mutex<Random>,
}

impl LocalDirectory {
    /// The table in a folder, which need not exist. `seed` is that of the pauses between puts.
    pub fn new(root: &Path, seed: u64) -> Self {
        Self { root: root.to_owned(), jitter: Mutex::new(Random::new(seed, 0)) }
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Does what a request says. A path that would lead out of the folder is an answer too: nothing was read or written then.
    pub fn answer(&self, request: &Request) -> Response {
        let answer = match request {
            Request::List { after } => self.list(after).map(Answer::Listed),
            Request::Head { path } => self.head(path).map(Answer::Meta),
            Request::Get { path } => self.get(path).map(Answer::Content),
            Request::GetRange { path, start, end } => self.get_range(path, *start, *end).map(Answer::Content),
            Request::GetMany { paths } => {
                let mut buffer = Vec::new();
                let contents = paths.iter().map(|path| self.read(path, &mut buffer, |_, _| Ok(u64::MAX)));
                contents.collect::<Result<_, _>>().map(Answer::Contents)
            }
            Request::PutIfAbsent { path, bytes } => {
                Ok(Answer::Write(self.write(path, |path| durable::put_if_absent(path, bytes))))
            }
            Request::Put { path, bytes } => Ok(Answer::Write(self.write(path, |path| durable::put(path, bytes)))),
            Request::Delete { path } => Ok(Answer::Write(self.write(path, durable::delete))),
            Request::Backoff { attempt } => {
                thread::sleep(self.pause(*attempt));
                Ok(Answer::Waited)
            }
        };
        let answer = answer.unwrap_or_else(|cause| Answer::Unavailable { cause });
        Response { now_ms: now_ms(), answer }
    }

    /// Creates a data file at a path as the log spells it. Nothing is overwritten.
    ///
    /// # Errors
    /// When the path leads out of the table, when a file is there, or when the system refuses.
    pub fn put_data(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let path = data_path(&self.root, path).map_err(io::Error::other)?;
        match durable::put_if_absent(&path, bytes) {
            WriteAnswer::Happened => Ok(()),
            WriteAnswer::AlreadyExists => {
                Err(io::Error::new(io::ErrorKind::AlreadyExists, "a file of this name is there already"))
            }
            WriteAnswer::DidNotHappen { cause } | WriteAnswer::Unknown { cause } => Err(io::Error::other(cause)),
        }
    }

    fn write(&self, path: &str, write: impl FnOnce(&Path) -> WriteAnswer) -> WriteAnswer {
        match log_path(&self.root, path) {
            Ok(path) => write(&path),
            Err(error) => WriteAnswer::DidNotHappen { cause: error.to_string() },
        }
    }

    /// Two listings of a folder that changes can disagree about what came in between. Whoever adds names in ascending order, as commits are, finds in
    /// the answer every name before the last one: what the first pass saw was there before the second began.
    fn list(&self, after: &str) -> Result<Vec<ObjectMeta>, String> {
        let folder_end = after.rfind('/').map_or(0, |slash| slash + 1);
        let (folder, after) = after.split_at(folder_end);
        let directory = match folder.strip_suffix('/') {
            None => self.root.clone(),
            Some(folder) => log_path(&self.root, folder).map_err(|error| error.to_string())?,
        };
        let cause = |error: io::Error| format!("cannot list '{}': {error}", directory.display());
        let first = names(&directory, after).map_err(cause)?;
        let Some(last) = first.into_iter().max() else { return Ok(Vec::new()) };
        let mut listing = Vec::new();
        for name in names(&directory, after).map_err(cause)? {
            if name > last {
                continue;
            }
            match fs::metadata(directory.join(&name)) {
                Ok(metadata) if metadata.is_file() => listing.push(meta(format!("{folder}{name}"), &metadata)),
                Ok(_) => {}
                // It was deleted meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(cause(error)),
            }
        }
        listing.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(listing)
    }

    fn head(&self, path: &str) -> Result<Option<ObjectMeta>, String> {
        let file = log_path(&self.root, path).map_err(|error| error.to_string())?;
        let metadata = present(fs::metadata(&file)).map_err(|error| format!("'{}': {error}", file.display()))?;
        Ok(metadata.filter(fs::Metadata::is_file).map(|metadata| meta(path.to_owned(), &metadata)))
    }

    fn get(&self, path: &str) -> Result<Option<Arc<[u8]>>, String> {
        self.read(path, &mut Vec::new(), |_, _| Ok(u64::MAX))
    }

    fn get_range(&self, path: &str, start: u64, end: u64) -> Result<Option<Arc<[u8]>>, String> {
        self.read(path, &mut Vec::new(), |file, size| {
            let end = end.min(size);
            Ok(end.saturating_sub(file.seek(io::SeekFrom::Start(start.min(end)))?))
        })
    }

    /// Reads as many bytes as `begin` says, which is told the file's size, from where it puts the file. They go through `buffer`: to read many files through one of them costs less than memory that
    /// is new to the system for each.
    fn read(
        &self,
        path: &str,
        buffer: &mut Vec<u8>,
        begin: impl FnOnce(&mut File, u64) -> io::Result<u64>,
    ) -> Result<Option<Arc<[u8]>>, String> {
        let place = log_path(&self.root, path).map_err(|error| error.to_string())?;
        let read = || -> io::Result<Option<Arc<[u8]>>> {
            // Asked before it is opened, as a pipe would not be opened before somebody writes to it.
            let Some(metadata) = present(fs::metadata(&place))? else { return Ok(None) };
            regular(&metadata)?;
            let Some(mut file) = present(File::open(&place))? else { return Ok(None) };
            let length = begin(&mut file, metadata.len())?;
            buffer.clear();
            let size = metadata.len().min(length);
            buffer.try_reserve_exact(usize::try_from(size).unwrap_or(usize::MAX))?;
            file.take(length).read_to_end(buffer)?;
            Ok(Some(buffer.as_slice().into()))
        };
        read().map_err(|error| format!("cannot read '{}': {error}", place.display()))
    }

    /// None after the first put, then up to a bound that doubles with every put.
    fn pause(&self, attempt: u32) -> Duration {
        let Some(doublings) = attempt.checked_sub(2) else { return Duration::ZERO };
        let bound =
            BACKOFF_MS_FIRST.saturating_mul(1u32.checked_shl(doublings).unwrap_or(u32::MAX)).min(BACKOFF_MS_MAX);
        let micros = self.jitter.lock().below(u64::from(bound) * 1000 + 1);
        Duration::from_micros(micros)
    }
}

/// A pipe or a device may have no end, or nothing to read for ever.
pub(super) fn regular(metadata: &fs::Metadata) -> io::Result<()> {
    match metadata.is_file() {
        true => Ok(()),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")),
    }
}

/// The time, in milliseconds since the epoch.
pub fn now_ms() -> i64 {
    milliseconds(SystemTime::now())
}

fn milliseconds(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
        Err(before) => -i64::try_from(before.duration().as_millis()).unwrap_or(i64::MAX),
    }
}

fn meta(path: String, metadata: &fs::Metadata) -> ObjectMeta {
    let modified_ms = metadata.modified().map_or(0, milliseconds);
    ObjectMeta { path, size: metadata.len(), modified_ms }
}

/// `None` for what is not there.
fn present<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The names in a folder that sort after one, in no order; none when there is no folder. Temporary files and names that are no UTF-8 are left out:
/// nothing of a table is called so.
fn names(directory: &Path, after: &str) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    let Some(entries) = present(fs::read_dir(directory))? else { return Ok(names) };
    for entry in entries {
        let Ok(name) = entry?.file_name().into_string() else { continue };
        if name.as_str() > after && !is_temporary(&name) {
            names.push(name);
        }
    }
    Ok(names)
}
