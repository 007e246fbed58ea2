//! The commands that look at a real table: `history`, `files`, `read`, `digest`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use log_core::path::Version;
use sim::{
    inspect::{TableFolder, files_json, files_text, history_json, history_text, rows_json, rows_text},
    report::Verdict,
};

use super::{Report, error::CliError, output::Output};

/// Commands on a table in a folder.
#[derive(Subcommand, Debug)]
pub enum TableCommand {
    /// Show who committed what, newest first
    History(Look),
    /// Show the live data files
    Files(Look),
    /// Show the rows, in the order of the files
    Read(Look),
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
    version_as_of: Option<Version>,
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
        TableCommand::Read(look) => {
            let folder = look.table.open()?;
            let table = folder.at(look.table.version_as_of)?;
            let rows = table.rows(look.limit())?;
            match look.output.json {
                true => rows_json(table.schema(), &rows, table.version()),
                // Values are shortened for nobody who did not ask for it.
                false => {
                    let width = look.output.width.map_or(usize::MAX, usize::from);
                    rows_text(table.schema(), &rows, table.version(), width)
                }
            }
        }
        TableCommand::Digest(digest) => digest.table.open()?.at(digest.table.version_as_of)?.digest()?.json(),
    };
    Ok(Report { text, verdict: Verdict::Pass })
}

impl Table {
    fn open(&self) -> Result<TableFolder, CliError> {
        Ok(TableFolder::open(&self.table)?)
    }
}

impl Look {
    fn limit(&self) -> usize {
        self.limit.unwrap_or(usize::MAX)
    }
}
