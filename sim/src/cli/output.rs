//! Where text goes: the whole report at once to stdout, everything else to stderr.

use std::{
    env,
    io::{self, IsTerminal, Write},
};

use clap::Args;
use sim::report::{DEFAULT_WIDTH, Style};

use super::error::{CliError, about, explain};

/// How a report looks.
#[derive(Debug, Args)]
pub struct Output {
    /// One JSON document instead of text.
    #[arg(long)]
    pub json: bool,
    /// Columns of the text: by default the terminal's, and 80 where there is none.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(20..))]
    pub width: Option<u16>,
}

impl Output {
    /// What it comes to where the program runs.
    pub fn style(&self) -> Style {
        let terminal = io::stdout().is_terminal();
        let columns = || match terminal_size::terminal_size() {
            Some((terminal_size::Width(columns), _)) if terminal => usize::from(columns),
            _ => DEFAULT_WIDTH,
        };
        let plain = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || env::var_os("TERM").is_some_and(|term| term == "dumb");
        Style { width: self.width.map_or_else(columns, usize::from).max(20), color: terminal && !plain }
    }
}

/// Writes a report to stdout. A reader that has gone away is no error: it has seen enough.
pub fn print(text: &str) -> Result<(), CliError> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(about("stdout")(error.into())),
        _ => Ok(()),
    }
}

/// Tells what is wrong. Where even stderr is gone, nobody can be told.
pub fn complain(error: &CliError) {
    note(&explain(error));
}

/// Writes to stderr what is no part of a report.
pub fn note(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}
