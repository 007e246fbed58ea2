//! `contend run`.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::Args;
use sim::{
    real::{RealOptions, call_log::CallLog, run_on_threads},
    report::{self, Origin, Style, Subject, Verdict, json},
    run::simulate,
    world::{Clock, Granularity},
};

use super::{
    Report,
    arguments::ScenarioArguments,
    compare,
    error::{CliError, about},
    output::Output,
};

/// Run a scenario once: a timeline with a column per writer, verdict last
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    scenario: ScenarioArguments,
    /// Seed of the latencies: the same seed is the same run, byte for byte.
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    seed: u64,
    /// Run on threads over real tables: each table lies in DIR/NAME.
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// Append to FILE how each call ended, as soon as it has: a JSON line that is there even if contend is killed after it.
    #[arg(long, value_name = "FILE", requires = "store")]
    log: Option<PathBuf>,
    #[command(flatten)]
    output: Output,
}

const EXAMPLES: &str = "\
Examples:
  contend run @write-conflict
  contend run @write-conflict --seed 7 --latency s3-express
  contend run @reordered --isolation Serializable
  contend run my.toml --set writer.a.on_conflict=stop --json";

/// Runs it.
pub fn run(arguments: &Arguments) -> Result<Report, CliError> {
    if let Some(directory) = &arguments.store {
        if arguments.scenario.compare.is_some() {
            return Err(
                "--compare: runs on real tables cannot stand side by side, each needs a folder of its own".into()
            );
        }
        return store(arguments, directory);
    }
    compare::run(&arguments.scenario, &arguments.output, &mut |scenario, style| one(arguments, scenario, style))
}

fn one(arguments: &Arguments, scenario: &ScenarioArguments, style: Style) -> Result<Report, CliError> {
    let setting = Arc::new(scenario.setting(Clock::Virtual, Granularity::Needs)?);
    let rules = scenario.rules();
    let result = simulate(&setting, arguments.seed).map_err(|error| about(&scenario.scenario)(error.into()))?;
    let again = scenario.command("run", &["--seed".to_owned(), arguments.seed.to_string()]);
    let subject = Subject { origin: Origin::Seed(arguments.seed), setting: &setting, rules: &rules };
    let text = if arguments.output.json {
        json::run(&subject, &result, &again)
    } else {
        report::run::run(&subject, &result, &again, style)
    };
    Ok(Report { text, verdict: Verdict::of(&result.violations) })
}

/// The run on real tables. The seed is that of the pauses between puts; the order of the threads is the system's.
fn store(arguments: &Arguments, directory: &Path) -> Result<Report, CliError> {
    let scenario = &arguments.scenario;
    let setting = Arc::new(scenario.setting(Clock::Virtual, Granularity::Needs)?);
    let rules = scenario.rules();
    let log = match &arguments.log {
        Some(path) => Some(Arc::new(
            CallLog::append(path).map_err(|error| about(format!("--log {}", path.display()))(error.into()))?,
        )),
        None => None,
    };
    let result = run_on_threads(&setting, directory, RealOptions { seed: arguments.seed, log })
        .map_err(|error| about(&scenario.scenario)(error.into()))?;
    let name = directory.display().to_string();
    let again = scenario.command("run", &["--store".to_owned(), "NEW_DIR".to_owned()]);
    let subject = Subject { origin: Origin::Store(&name), setting: &setting, rules: &rules };
    let text = if arguments.output.json {
        json::run(&subject, &result, &again)
    } else {
        report::run::run(&subject, &result, &again, arguments.output.style())
    };
    Ok(Report { text, verdict: Verdict::of(&result.violations) })
}
