//! Where failure files go.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process,
};

use sim::{failure::Failure, report::explore::Shortest};

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
    let failures: Vec<Failure> = violations.iter().map(|shortest| shortest.failure.clone()).collect();
    for (shortest, file) in violations.iter_mut().zip(write_failures(&failures, out)?) {
        shortest.file = Some(file);
    }
    Ok(())
}

/// The same for failures; gives the names of the files.
pub fn write_failures(failures: &[Failure], out: Option<&Path>) -> Result<Vec<String>, CliError> {
    if failures.is_empty() {
        return Ok(Vec::new());
    }
    let directory = match out {
        Some(out) => {
            fs::create_dir_all(out).map_err(|error| about(format!("--out {}", out.display()))(error.into()))?;
            out.to_owned()
        }
        None => fresh(&env::temp_dir())?,
    };
    let mut files = Vec::new();
    for failure in failures {
        let path = directory.join(failure.file_name());
        fs::write(&path, failure.to_json()).map_err(|error| about(path.display().to_string())(error.into()))?;
        files.push(path.display().to_string());
    }
    Ok(files)
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
