//! `contend scenarios`.

use clap::Args;
use sim::{
    report::{self, Verdict, json},
    scenario::{Shipped, load, shipped},
};

use super::{Report, error::CliError, output::Output};

/// List the scenarios that are built in, or print one
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Print the TOML of this one.
    #[arg(value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    output: Output,
}

const EXAMPLES: &str = "\
Examples:
  contend scenarios
  contend scenarios @write-conflict > mine.toml";

/// Runs it.
pub fn run(arguments: &Arguments) -> Result<Report, CliError> {
    let chosen: &[Shipped] = match &arguments.name {
        None => shipped(),
        Some(name) => std::slice::from_ref(find(name)?),
    };
    let text = match (arguments.output.json, &arguments.name) {
        (true, _) => json::scenarios(chosen),
        (false, Some(_)) => chosen[0].text.to_owned(),
        (false, None) => report::scenarios::scenarios(chosen, arguments.output.style()),
    };
    Ok(Report { text, verdict: Verdict::Pass })
}

/// The built-in scenario of a name, with or without the `@`.
fn find(name: &str) -> Result<&'static Shipped, CliError> {
    let name = name.strip_prefix('@').unwrap_or(name);
    match sim::scenario::shipped::find(name) {
        Some(found) => Ok(found),
        // Loading it says which names there are, and which is the nearest.
        None => Err(match load(&format!("@{name}"), &[], &|_| Err(std::io::ErrorKind::NotFound.into())) {
            Err(error) => error.into(),
            Ok(scenario) => format!("scenario '{}' has no text", scenario.name).into(),
        }),
    }
}
