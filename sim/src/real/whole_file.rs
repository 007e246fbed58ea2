//! A file that comes to be whole or not at all, and never in the place of another.

use std::{
    fs::{self, File},
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
};

use super::local_directory::create_temporary;

/// A file that is being written under another name.
#[derive(Debug)]
pub struct WholeFile {
    path: PathBuf,
    temporary: PathBuf,
    file: File,
}

impl WholeFile {
    /// Begins a file that will be at `path`, whose folder is there.
    ///
    /// # Errors
    /// When something is at `path` already, or the system refuses.
    pub fn create(path: &Path) -> io::Result<Self> {
        if fs::symlink_metadata(path).is_ok() {
            return Err(occupied());
        }
        let folder = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let (temporary, file) = create_temporary(folder)?;
        Ok(Self { path: path.to_owned(), temporary, file })
    }

    /// Gives the file its name, once it is durable.
    ///
    /// # Errors
    /// When something came to be at the path meanwhile, or the system refuses; nothing is there then.
    pub fn finish(self) -> io::Result<()> {
        self.file.sync_all()?;
        fs::hard_link(&self.temporary, &self.path).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => occupied(),
            _ => error,
        })
    }
}

fn occupied() -> io::Error {
    io::Error::new(ErrorKind::AlreadyExists, "there is something of this name already; give another name")
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        // A leftover is harmless.
        let _ = fs::remove_file(&self.temporary);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_there_when_it_is_finished_and_never_in_the_place_of_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let mut file = WholeFile::create(&path).unwrap();
        file.write_all(b"rows").unwrap();
        assert!(!path.exists());
        let second = WholeFile::create(&path).unwrap();
        file.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"rows");
        assert_eq!(second.finish().unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert!(WholeFile::create(&path).is_err());
        drop(WholeFile::create(&folder.path().join("never")).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
    }
}
