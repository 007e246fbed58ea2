//! Where failure files go.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process,
};

use sim::report::explore::Shortest;

use super::error::{CliError, about};

/// Refuses what cannot become a directory, before anything is searched.
pub fn check(out: Option<&Path>) -> Result<(), CliError> {
    match out {
        Some(out) if out.exists() && !out.is_dir() => {
            Err(format!("--out {}: this is a file, and failure files need a directory", out.display()).into())
        }
        _ => Ok(()),
    }
}

/// Writes a file for each violation, into `out` or into a new directory for temporary files.
pub fn write(violations: &mut [Shortest], out: Option<&Path>) -> Result<(), CliError> {
    if violations.is_empty() {
        return Ok(());
    }
    let directory = match out {
        Some(out) => {
            fs::create_dir_all(out).map_err(|error| about(format!("--out {}", out.display()))(error.into()))?;
            out.to_owned()
        }
        None => fresh(&env::temp_dir())?,
    };
    for shortest in violations {
        let path = directory.join(shortest.failure.file_name());
        fs::write(&path, shortest.failure.to_json())
            .map_err(|error| about(path.display().to_string())(error.into()))?;
        shortest.file = Some(path.display().to_string());
    }
    Ok(())
}

/// A directory that was not there before.
fn fresh(parent: &Path) -> Result<PathBuf, CliError> {
    let mut number = 0;
    loop {
        let path = parent.join(format!("contend-{}-{number}", process::id()));
        match fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(about(path.display().to_string())(error.into())),
        }
    }
}
