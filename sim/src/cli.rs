//! The command line: arguments in, a report on stdout, an exit code out.
//!
//! A command makes its whole report before a byte of it is written, so that stdout is empty when something is wrong with what it was given.

mod arguments;
mod check;
mod checkpoint;
mod compare;
mod error;
mod explore;
mod files;
mod interrupt;
mod judge;
mod output;
mod read;
mod replay;
mod run;
mod scenarios;
mod shrink;
mod table;
mod table_at;
mod walk;

use std::{panic, process::ExitCode};

use clap::{Parser, Subcommand};
use sim::report::Verdict;

/// What can be asked for.
#[derive(Debug, Parser)]
#[command(
    name = "contend",
    version,
    about = "A workbench for concurrent writers on a Delta Lake transaction log",
    long_about = "A workbench for concurrent writers on a Delta Lake transaction log: will these writes conflict, why, is the result one that \
                  some serial order explains, and what would another isolation level, layout, retry policy or store have done?",
    after_help = EXAMPLES,
    disable_help_subcommand = true
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  contend run @write-conflict                            one simulated run, with its timeline
  contend walk @write-conflict                           a thousand of them: how often comes out what
  contend explore @write-conflict                        every interleaving of it
  contend explore @delete-all-against-insert --without added-files
                                                         what goes wrong without a rule
  contend scenarios                                      what is built in
  contend run @write-conflict --store DIR                the same on threads, over a real table
  contend read DIR/logs --version-as-of 1                its rows; see also history, files, show and digest
  contend check DIR/logs --data                          is anything wrong with it
  contend checkpoint DIR/logs                            write a checkpoint of it
  contend judge CASE...                                  the conflict rules on log-level cases

A scenario is @NAME (built in) or the path of a TOML file.
Exit: 0 pass; 1 violation, broken expectation or incomplete search; 2 usage or input error.";

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Arguments),
    Walk(walk::Arguments),
    Explore(explore::Arguments),
    Replay(replay::Arguments),
    Shrink(shrink::Arguments),
    Scenarios(scenarios::Arguments),
    Judge(judge::Arguments),
    #[command(flatten)]
    Table(table::TableCommand),
    Checkpoint(checkpoint::Arguments),
}

/// What a command prints, and how it ends.
#[derive(Debug)]
pub struct Report {
    /// For stdout.
    pub text: String,
    /// For the exit code.
    pub verdict: Verdict,
}

/// Runs the program.
pub fn main() -> ExitCode {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        // Of damaged files one hears by an error.
        if !log_core::guard::is_guarded() {
            hook(info);
        }
    }));
    let cli = Cli::parse();
    let result = match &cli.command {
        Command::Run(arguments) => run::run(arguments),
        Command::Walk(arguments) => walk::run(arguments),
        Command::Explore(arguments) => explore::run(arguments),
        Command::Replay(arguments) => replay::run(arguments),
        Command::Shrink(arguments) => shrink::run(arguments),
        Command::Scenarios(arguments) => scenarios::run(arguments),
        Command::Judge(arguments) => judge::run(arguments),
        Command::Table(command) => table::run(command),
        Command::Checkpoint(arguments) => checkpoint::run(arguments),
    };
    match result.and_then(|report| output::print(&report.text).map(|()| report.verdict)) {
        Ok(Verdict::Pass) => ExitCode::SUCCESS,
        Ok(Verdict::Violation | Verdict::Incomplete) => ExitCode::from(1),
        Err(error) => {
            output::complain(&error);
            ExitCode::from(2)
        }
    }
}
