//! The command `check`: the integrity of a real table.

use std::path::PathBuf;

use clap::Args;
use sim::{
    inspect::{CheckOptions, TableFolder, check_json, check_text},
    real::local_directory::now_ms,
};

use super::{
    Report,
    error::CliError,
    output::Output,
    read::{FileProgress, absolute_paths},
};

/// Which table, and how deep.
#[derive(Args, Debug)]
pub struct Check {
    /// The table's folder: after `run --store DIR` it is DIR/NAME.
    #[arg(value_name = "TABLE")]
    table: PathBuf,
    /// Read the data files of the newest version too, and list the table's folder.
    #[arg(long)]
    data: bool,
    /// With --data: read files outside of the table's folder, too, where the log names such.
    #[arg(long, requires = "data")]
    allow_absolute_paths: bool,
    #[command(flatten)]
    output: Output,
}

/// Runs it.
pub fn check(arguments: &Check) -> Result<Report, CliError> {
    let options = CheckOptions {
        data: arguments.data,
        absolute_paths: absolute_paths(arguments.allow_absolute_paths),
        now_ms: now_ms(),
    };
    let folder = TableFolder::open(&arguments.table)?;
    let progress = FileProgress::start();
    let checked = folder.check(options, |done, of| progress.show(done, of))?;
    drop(progress);
    let text = match arguments.output.json {
        true => check_json(&checked),
        false => check_text(&checked, arguments.output.style().width),
    };
    Ok(Report { text, verdict: checked.verdict() })
}
