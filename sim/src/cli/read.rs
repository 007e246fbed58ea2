//! The command `read`: rows of a real table as text, CSV, JSON or Parquet.

use std::{
    fs::File,
    io::{self, BufWriter, Seek, Write},
    path::{Path, PathBuf},
};

use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use log_core::data_file::Export;
use sim::{
    inspect::{Query, Scan, csv_heading, csv_row, rows_json, rows_text},
    real::{local_directory::AbsolutePaths, whole_file::WholeFile},
    report::Verdict,
};

use super::{
    Report,
    error::{CliError, about},
    output::{Output, print},
    table_at::{TableArgument, warn},
};

/// Which table, which of its rows, and how they are shown.
#[derive(Args, Debug)]
pub struct Read {
    #[command(flatten)]
    table: TableArgument,
    /// Columns, in this order; all unless given.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    columns: Option<Vec<String>>,
    /// Only rows for which this predicate in SQL is true.
    #[arg(long = "where", value_name = "PREDICATE")]
    predicate: Option<String>,
    /// The first N rows at most.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// What to write.
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with = "json")]
    format: Option<Format>,
    /// Write CSV or Parquet to this file, which must not be there, instead of stdout.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Read files outside of the table's folder, too, where the log names such.
    #[arg(long)]
    allow_absolute_paths: bool,
    #[command(flatten)]
    look: Output,
}

/// How rows are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Format {
    /// A table for people
    Table,
    /// Comma-separated values with a heading
    Csv,
    /// One JSON document
    Json,
    /// A Parquet file; needs --output
    Parquet,
}

/// What a flag says.
pub fn absolute_paths(allow: bool) -> AbsolutePaths {
    if allow { AbsolutePaths::Allow } else { AbsolutePaths::Refuse }
}

/// Runs it.
pub fn read(arguments: &Read) -> Result<Report, CliError> {
    let format = match arguments.format {
        Some(format) => format,
        None if arguments.look.json => Format::Json,
        None => Format::Table,
    };
    match (format, &arguments.output) {
        (Format::Parquet, None) => {
            return Err("--format parquet: Parquet is no text; say where with --output FILE".into());
        }
        (Format::Table | Format::Json, Some(_)) => {
            return Err(
                "--output: only CSV and Parquet are written to a file; add --format csv or --format parquet".into()
            );
        }
        _ => {}
    }
    let (folder, version) = arguments.table.open()?;
    let table = folder.at(version)?;
    warn(&folder);
    let scan = table.query(&Query {
        columns: arguments.columns.clone(),
        predicate: arguments.predicate.clone(),
        limit: arguments.limit,
        absolute_paths: absolute_paths(arguments.allow_absolute_paths),
    })?;
    let progress = FileProgress::start();
    let show = |done, of| progress.show(done, of);
    let text = match format {
        Format::Json => rows_json(&scan.schema, &scan.rows(show)?, table.version()),
        Format::Table => {
            // Values are shortened for nobody who did not ask for it.
            let width = arguments.look.width.map_or(usize::MAX, usize::from);
            rows_text(&scan.schema, &scan.rows(show)?, table.version(), width)
        }
        Format::Csv | Format::Parquet => {
            let rows = match &arguments.output {
                Some(path) => to_file(&scan, format, path, show)?,
                None => return csv_to_stdout(&scan, show),
            };
            let path = arguments.output.as_deref().unwrap_or(Path::new("")).display();
            format!("{rows} row{} written to '{path}'\n", if rows == 1 { "" } else { "s" })
        }
    };
    Ok(Report { text, verdict: Verdict::Pass })
}

/// Writes rows to a file that is there when all of them are; gives their number.
fn to_file(
    scan: &Scan<'_>,
    format: Format,
    path: &Path,
    progress: impl FnMut(usize, usize),
) -> Result<usize, CliError> {
    let named = |error: CliError| about(format!("--output {}", path.display()))(error);
    let file = WholeFile::create(path).map_err(|error| named(error.into()))?;
    let (rows, file) = if format == Format::Csv {
        let mut file = BufWriter::new(file);
        let rows = write_csv(scan, &mut file, progress)?;
        (rows, file.into_inner().map_err(|error| named(error.into_error().into()))?)
    } else {
        let mut export = Export::new(file, &scan.schema).map_err(|error| named(error.into()))?;
        let mut rows = 0;
        scan.run(progress, |batch| -> Result<(), CliError> {
            rows += batch.num_rows();
            export.write(&batch).map_err(|error| named(error.into()))
        })?;
        (rows, export.finish().map_err(|error| named(error.into()))?)
    };
    file.finish().map_err(|error| named(error.into()))?;
    Ok(rows)
}

/// Writes CSV to stdout, by way of a temporary file: stdout stays empty when a row cannot be read, and no memory is needed.
fn csv_to_stdout(scan: &Scan<'_>, progress: impl FnMut(usize, usize)) -> Result<Report, CliError> {
    let temporary = |error: io::Error| about("a temporary file for the rows")(error.into());
    let mut file = BufWriter::new(tempfile::tempfile().map_err(temporary)?);
    write_csv(scan, &mut file, progress)?;
    let mut file: File = file.into_inner().map_err(|error| temporary(error.into_error()))?;
    file.rewind().map_err(temporary)?;
    match io::copy(&mut file, &mut io::stdout().lock()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(about("stdout")(error.into())),
        _ => print("")?,
    }
    Ok(Report { text: String::new(), verdict: Verdict::Pass })
}

fn write_csv(scan: &Scan<'_>, to: &mut impl Write, progress: impl FnMut(usize, usize)) -> Result<usize, CliError> {
    let mut rows = 0;
    to.write_all(csv_heading(&scan.schema).as_bytes())?;
    scan.run(progress, |batch| -> Result<(), CliError> {
        for row in scan.values(&batch)? {
            to.write_all(csv_row(&scan.schema, &row).as_bytes())?;
            rows += 1;
        }
        Ok(())
    })?;
    to.flush()?;
    Ok(rows)
}

/// How many files are done, on stderr, where that is a terminal.
pub struct FileProgress(ProgressBar);

impl FileProgress {
    /// Nothing is shown yet.
    pub fn start() -> Self {
        // Drawn on a terminal only.
        let bar = ProgressBar::new(0);
        if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos} of {len} files") {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// Shows it.
    pub fn show(&self, done: usize, of: usize) {
        self.0.set_length(of as u64);
        self.0.set_position(done as u64);
    }
}

impl Drop for FileProgress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
