//! `contend explore`.

mod files;
mod watch;

use clap::Args;
use sim::{
    explore::WorldModel,
    failure::Failure,
    report::{
        self, Origin, Subject,
        explore::{Searched, Shortest, Stopped},
        json,
    },
    search::{Limits, explore},
    world::{Clock, Granularity},
};

use super::{
    Report,
    arguments::{ScenarioArguments, quoted},
    error::{CliError, about, of_world},
    output::{Output, note},
};

/// Try every interleaving: the set of outcomes, and the shortest schedule to each kind of violation
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    scenario: ScenarioArguments,
    /// Taken for a common set of flags with run; a search tries everything, whatever the seed.
    #[arg(long, value_name = "N", hide = true, allow_negative_numbers = true)]
    seed: Option<u64>,
    /// Stop when the search takes more memory than this, in MB.
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = clap::value_parser!(u64).range(1..=1 << 24))]
    memory_mb: u64,
    /// Write failure files into this directory; by default into a new one for temporary files.
    #[arg(long, value_name = "DIR")]
    out: Option<std::path::PathBuf>,
    #[command(flatten)]
    output: Output,
}

const EXAMPLES: &str = "\
Examples:
  contend explore @write-conflict
  contend explore @delete-all-against-insert --isolation WriteSerializable
  contend explore @delete-all-against-insert --without added-files --out failures";

/// Runs it.
pub fn run(arguments: &Arguments) -> Result<Report, CliError> {
    let origin = &arguments.scenario.scenario;
    files::check(arguments.out.as_deref())?;
    let setting = arguments.scenario.setting(Clock::PerCall, Granularity::Points)?;
    let rules = arguments.scenario.rules();
    let mut model = WorldModel::new(setting.clone()).map_err(|error| of_world(origin, error))?;
    let mut watch = watch::Watch::start();
    let limits = Limits { memory_bytes: usize::try_from(arguments.memory_mb << 20).unwrap_or(usize::MAX) };
    let exploration = explore(&mut model, limits, &mut |progress| watch.look(progress));
    let exploration = exploration.map_err(|error| about(origin)(error.into()))?;
    let interrupted = watch.finish(exploration.states);
    let stopped = match (exploration.exhausted, interrupted) {
        (true, _) => None,
        (false, true) => Some(Stopped::Interrupted),
        (false, false) => Some(Stopped::Memory(arguments.memory_mb)),
    };

    let mut violations = Vec::new();
    for found in exploration.violations.values() {
        let failure = Failure::new(&setting, &rules, &found.violation, &found.schedule);
        let failure = failure.map_err(|error| of_world(origin, error))?;
        let replayed = failure.replay().map_err(|error| about(origin)(error.into()))?;
        violations.push(Shortest { failure, replayed, file: None });
    }
    files::write(&mut violations, arguments.out.as_deref())?;
    // A folder of its own has another name each time, and reports are the same each time.
    let show_files = arguments.out.is_some();
    for file in violations.iter().filter_map(|shortest| shortest.file.as_ref()).filter(|_| !show_files) {
        note(&format!("again with: contend replay {}\n", quoted(file)));
    }

    let searched = Searched::new(&mut model, &exploration, stopped, violations);
    let subject = Subject { origin: Origin::Search, setting: &setting, rules: &rules };
    let text = if arguments.output.json {
        json::explore(&subject, &searched)
    } else {
        report::explore::explore(&subject, &searched, show_files, arguments.output.style())
    };
    Ok(Report { text, verdict: searched.verdict() })
}
