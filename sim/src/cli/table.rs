//! The commands that look at a real table: `history`, `files`, `read`, `digest`.

use std::{
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

use clap::{Args, Subcommand};
use log_core::path::Version;
use serde_json::Value as Json;
use sim::inspect::{
    InspectError, TableFolder, files_json, files_text, history_json, history_text, rows_json, rows_text,
};

/// Commands on a table in a folder.
#[derive(Subcommand, Debug)]
pub enum TableCommand {
    /// Shows who committed what, newest first
    History(Look),
    /// Shows the live data files
    Files(Look),
    /// Shows the rows, in the order of the files
    Read(Look),
    /// Prints version, live files, rows and a canonical digest of the rows, as JSON
    Digest(Table),
}

/// Which table, and when.
#[derive(Args, Debug)]
pub struct Table {
    /// The table's folder: with `run --store DIR` it is DIR/NAME
    table: PathBuf,
    /// Its version; the newest unless given
    #[arg(long, value_name = "N")]
    version_as_of: Option<Version>,
}

/// How it is shown.
#[derive(Args, Debug)]
pub struct Look {
    #[command(flatten)]
    table: Table,
    /// Prints one JSON document
    #[arg(long)]
    json: bool,
    /// Shows the first N at most
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

/// A command on a table that failed.
#[derive(Debug, thiserror::Error)]
pub enum TableCommandError {
    /// The table cannot be looked at.
    #[error(transparent)]
    Inspect(#[from] InspectError),
    /// The output cannot be written.
    #[error("cannot write the output")]
    Output(#[from] io::Error),
}

impl TableCommand {
    /// Does it. Text is fitted to `width` columns, where it may be cut.
    ///
    /// # Errors
    /// When the table cannot be looked at, or the output cannot be written. Nothing was printed in the first case.
    pub fn execute(self, width: usize, out: &mut dyn Write) -> Result<ExitCode, TableCommandError> {
        let text = match &self {
            Self::History(look) => {
                let rows = look.table.open()?.history(look.table.version_as_of, look.limit())?;
                if look.json { line(&history_json(&rows)) } else { history_text(&rows, width) }
            }
            Self::Files(look) => {
                let folder = look.table.open()?;
                let table = folder.at(look.table.version_as_of)?;
                let mut files = table.files();
                files.truncate(look.limit());
                let version = table.version();
                if look.json { line(&files_json(&files, version)) } else { files_text(&files, version, width) }
            }
            Self::Read(look) => {
                let folder = look.table.open()?;
                let table = folder.at(look.table.version_as_of)?;
                let rows = table.rows(look.limit())?;
                let (schema, version) = (table.schema(), table.version());
                if look.json { line(&rows_json(schema, &rows, version)) } else { rows_text(schema, &rows, version) }
            }
            Self::Digest(table) => line(&table.open()?.at(table.version_as_of)?.digest()?.json()),
        };
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            // Whoever reads has seen enough.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
            _ => Ok(ExitCode::SUCCESS),
        }
    }
}

impl Table {
    fn open(&self) -> Result<TableFolder, InspectError> {
        TableFolder::open(&self.table)
    }
}

impl Look {
    fn limit(&self) -> usize {
        self.limit.unwrap_or(usize::MAX)
    }
}

fn line(document: &Json) -> String {
    format!("{document:#}\n")
}
