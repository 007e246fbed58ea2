//! The commands that look at a real table: `history`, `files`, `read`, `digest`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use log_core::path::Version;
use sim::{
    inspect::{Query, TableFolder, files_json, files_text, history_json, history_text},
    report::Verdict,
};

use super::{
    Report,
    error::CliError,
    output::Output,
    read::{FileProgress, Read, absolute_paths, read},
};

/// Commands on a table in a folder.
#[derive(Subcommand, Debug)]
pub enum TableCommand {
    /// Show who committed what, newest first
    History(Look),
    /// Show the live data files
    Files(Look),
    /// Show the rows, in the order of the files
    Read(Read),
    /// Print version, live files, rows and a canonical digest of the rows as JSON
    Digest(Digest),
}

/// Which table, and when.
#[derive(Args, Debug)]
pub struct Table {
    /// The table's folder: after `run --store DIR` it is DIR/NAME.
    #[arg(value_name = "TABLE")]
    table: PathBuf,
    /// Its version; the newest unless given.
    #[arg(long, value_name = "N")]
    pub version_as_of: Option<Version>,
}

/// Which table, and how it is shown.
#[derive(Args, Debug)]
pub struct Look {
    #[command(flatten)]
    table: Table,
    /// The first N lines at most.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    #[command(flatten)]
    output: Output,
}

/// Which table.
#[derive(Args, Debug)]
pub struct Digest {
    #[command(flatten)]
    table: Table,
    /// Changes nothing: the answer is JSON always.
    #[arg(long)]
    json: bool,
    /// Read files outside of the table's folder, too, where the log names such.
    #[arg(long)]
    allow_absolute_paths: bool,
}

/// Runs it.
pub fn run(command: &TableCommand) -> Result<Report, CliError> {
    let text = match command {
        TableCommand::History(look) => {
            let rows = look.table.open()?.history(look.table.version_as_of, look.limit())?;
            if look.output.json { history_json(&rows) } else { history_text(&rows, look.output.style().width) }
        }
        TableCommand::Files(look) => {
            let folder = look.table.open()?;
            let table = folder.at(look.table.version_as_of)?;
            let mut files = table.files();
            files.truncate(look.limit());
            match look.output.json {
                true => files_json(&files, table.version()),
                false => files_text(&files, table.version(), look.output.style().width),
            }
        }
        TableCommand::Read(look) => return read(look),
        TableCommand::Digest(digest) => {
            let progress = FileProgress::start();
            let query = Query { absolute_paths: absolute_paths(digest.allow_absolute_paths), ..Query::default() };
            let folder = digest.table.open()?;
            folder.at(digest.table.version_as_of)?.query(&query)?.digest(|done, of| progress.show(done, of))?.json()
        }
    };
    Ok(Report { text, verdict: Verdict::Pass })
}

impl Table {
    /// Opens it.
    pub fn open(&self) -> Result<TableFolder, CliError> {
        Ok(TableFolder::open(&self.table)?)
    }
}

impl Look {
    fn limit(&self) -> usize {
        self.limit.unwrap_or(usize::MAX)
    }
}
