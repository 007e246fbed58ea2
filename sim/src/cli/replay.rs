//! `contend replay`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::Args;
use sim::{
    failure::Failure,
    report::{self, Verdict, json},
};

use super::{
    Report,
    error::{CliError, about},
    output::{Output, note},
};

/// Follow a failure file step by step: is the violation there again?
///
/// Exit 1 when it is, 0 when the schedule is followed to its end without a violation.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  contend replay failures/two-writers-not-serializable.json")]
pub struct Arguments {
    /// A failure file, as explore writes it.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    output: Output,
}

/// Reads a failure file; gives its name, too.
pub fn read(file: &Path) -> Result<(String, Failure), CliError> {
    let name = file.display().to_string();
    let bytes = fs::read(file).map_err(|error| about(&name)(unreadable(file, error)))?;
    let text = String::from_utf8(bytes).map_err(|_| format!("{name}: not a failure file: it is not text in UTF-8"))?;
    let failure = Failure::parse(&text).map_err(|error| about(&name)(error.into()))?;
    if let Some(text) = failure.note() {
        note(&format!("note: {text}\n"));
    }
    Ok((name, failure))
}

/// Runs it.
pub fn run(arguments: &Arguments) -> Result<Report, CliError> {
    let (name, failure) = read(&arguments.file)?;
    let replayed = failure.replay().map_err(|error| about(&name)(error.into()))?;
    let text = if arguments.output.json {
        json::replay(&failure, &replayed)
    } else {
        report::replay::replay(&failure, &replayed, arguments.output.style())
    };
    Ok(Report { text, verdict: Verdict::of(&replayed.result.violations) })
}

fn unreadable(path: &Path, error: std::io::Error) -> CliError {
    match error.kind() {
        std::io::ErrorKind::NotFound => "no such file; explore says where it writes failure files".into(),
        _ if path.is_dir() => "this is a directory, not a failure file".into(),
        _ => error.into(),
    }
}
