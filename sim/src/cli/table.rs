//! The commands that look at a real table: `history`, `files`, `show`, `read`, `digest`, `check`.

use clap::{Args, Subcommand};
use log_core::{path::Version, time_travel::Extent};
use sim::{
    inspect::{Query, TableFolder, files_json, files_text, history_json, history_text, show_json, show_text},
    real::local_directory::now_ms,
    report::Verdict,
};

use super::{
    Report,
    check::{Check, check},
    error::{CliError, about},
    output::Output,
    read::{FileProgress, Read, absolute_paths, read},
    table_at::{TableArgument, warn},
};

/// Commands on a table in a folder.
#[derive(Subcommand, Debug)]
pub enum TableCommand {
    /// Show who committed what, newest first
    History(Look),
    /// Show the live data files
    Files(Files),
    /// Show protocol, features, properties, schema, sizes and versions
    Show(Show),
    /// Show the rows, in the order of the files
    Read(Read),
    /// Print version, live files, rows and a canonical digest of the rows as JSON
    Digest(Digest),
    /// Check the integrity of log and data, by rules
    Check(Check),
}

/// Which table, and how it is shown.
#[derive(Args, Debug)]
pub struct Look {
    #[command(flatten)]
    table: TableArgument,
    /// The first N lines at most.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    #[command(flatten)]
    output: Output,
}

/// Which files.
#[derive(Args, Debug)]
pub struct Files {
    #[command(flatten)]
    look: Look,
    /// Only files of partitions for which this predicate over partition columns is true, such as "day = DATE '2024-06-26'".
    #[arg(long, value_name = "PREDICATE")]
    partition: Option<String>,
}

/// Which table, shown as a whole.
#[derive(Args, Debug)]
pub struct Show {
    #[command(flatten)]
    table: TableArgument,
    #[command(flatten)]
    output: Output,
}

/// Which table.
#[derive(Args, Debug)]
pub struct Digest {
    #[command(flatten)]
    table: TableArgument,
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
            let (folder, version) = look.table.open()?;
            let rows = folder.history(version, look.limit())?;
            if let Some(version) = version.filter(|_| rows.is_empty() && look.limit() > 0) {
                return Err(cleaned(&folder, version, &folder.extent()?));
            }
            match look.output.json {
                true => history_json(&rows, look.table.zone()),
                false => history_text(&rows, look.table.zone(), look.output.style().width),
            }
        }
        TableCommand::Files(Files { look, partition }) => {
            let (folder, version) = look.table.open()?;
            let (version, mut files) = folder.files(version, partition.as_deref(), now_ms())?;
            warn(&folder);
            files.truncate(look.limit());
            match look.output.json {
                true => files_json(&files, version),
                false => files_text(&files, version, look.output.style().width),
            }
        }
        TableCommand::Show(show) => {
            let (folder, version) = show.table.open()?;
            let facts = folder.facts(version)?;
            warn(&folder);
            match show.output.json {
                true => show_json(&facts, show.table.zone()),
                false => show_text(&facts, show.table.zone(), show.output.style().width),
            }
        }
        TableCommand::Check(arguments) => return check(arguments),
        TableCommand::Read(look) => return read(look),
        TableCommand::Digest(digest) => {
            let progress = FileProgress::start();
            let query = Query { absolute_paths: absolute_paths(digest.allow_absolute_paths), ..Query::default() };
            let (folder, version) = digest.table.open()?;
            let table = folder.at(version)?;
            warn(&folder);
            table.query(&query)?.digest(|done, of| progress.show(done, of))?.json()
        }
    };
    Ok(Report { text, verdict: Verdict::Pass })
}

/// The error of a history of which nothing is left.
fn cleaned(folder: &TableFolder, version: Version, extent: &Extent) -> CliError {
    let place = folder.directory().root().display();
    let left = match extent.commits().first() {
        Some((version, _)) => format!("the commits that are left begin at version {version}"),
        None => "no commit is left".to_owned(),
    };
    let reason =
        format!("the commits up to version {version} were cleaned up, and only commits tell of the history; {left}");
    about(format!("table at '{place}'"))(reason.into())
}

impl Look {
    fn limit(&self) -> usize {
        self.limit.unwrap_or(usize::MAX)
    }
}
