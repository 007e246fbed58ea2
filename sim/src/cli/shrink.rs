//! `contend shrink`.

use std::path::PathBuf;

use clap::Args;
use sim::{
    report::{self, Verdict, explore::Shortest, json},
    search::Limits,
    shrink::shrink,
};

use super::{
    Report,
    arguments::quoted,
    error::{CliError, about},
    files,
    output::{Output, note},
    replay,
};

/// Make a failure file smaller: drop writers, statements, rows and steps while the violation stays
///
/// Exit 1 when the violation is there, as with replay.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  contend shrink failures/two-writers-not-serializable.json --out smaller")]
pub struct Arguments {
    /// A failure file, as explore and walk write it.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Stop the last search, for a shorter schedule, when it takes more memory than this, in MB.
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = clap::value_parser!(u64).range(1..=1 << 24))]
    memory_mb: u64,
    /// Write the smaller failure file into this directory; by default into a new one for temporary files.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    output: Output,
}

/// Runs it.
pub fn run(arguments: &Arguments) -> Result<Report, CliError> {
    files::check(arguments.out.as_deref())?;
    let (name, failure) = replay::read(&arguments.file)?;
    let limits = Limits { memory_bytes: usize::try_from(arguments.memory_mb << 20).unwrap_or(usize::MAX) };
    let shrunk = shrink(&failure, limits).map_err(|error| about(&name)(error.into()))?;
    let replayed = shrunk.failure.replay().map_err(|error| about(&name)(error.into()))?;
    let mut found = [Shortest { failure: shrunk.failure.clone(), replayed, file: None }];
    files::write(&mut found, arguments.out.as_deref())?;
    let [Shortest { replayed, file, .. }] = found;
    let shown = file.as_deref().map(quoted).filter(|_| arguments.out.is_some());
    if let (None, Some(file)) = (&shown, &file) {
        note(&format!("again with: contend replay {}\n", quoted(file)));
    }
    let text = if arguments.output.json {
        json::shrink(&shrunk, &replayed, file.as_deref())
    } else {
        report::shrink::shrink(&shrunk, &replayed, shown.as_deref(), arguments.output.style())
    };
    Ok(Report { text, verdict: Verdict::of(&replayed.result.violations) })
}
