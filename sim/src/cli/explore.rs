//! `contend explore`.

mod watch;

use std::sync::Arc;

use clap::Args;
use sim::{
    explore::{Symmetry, WorldModel},
    failure::Failure,
    report::{
        self, Origin, Style, Subject,
        explore::{Searched, Shortest, Stopped},
        json,
    },
    search::{Limits, Options, explore_with},
    world::{Clock, FaultBudget, FaultKind, Granularity},
};

use super::{
    Report,
    arguments::{ScenarioArguments, quoted},
    compare,
    error::{CliError, about},
    files,
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
    /// Inject up to N faults, of these kinds or of any: put_lost, reply_lost, put_late, crash, list_lag.
    #[arg(long, value_name = "N[:KIND,...]", value_parser = faults)]
    faults: Option<FaultBudget>,
    /// Stop when the search takes more memory than this, in MB.
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = clap::value_parser!(u64).range(1..=1 << 24))]
    memory_mb: u64,
    /// Threads that search; what is found does not depend on it.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// Count states as one that differ only in which of several writers with the same statements did what; outcomes and shortest schedules stay the same.
    #[arg(long)]
    symmetry: bool,
    /// Write failure files into this directory; by default into a new one for temporary files.
    #[arg(long, value_name = "DIR")]
    out: Option<std::path::PathBuf>,
    #[command(flatten)]
    output: Output,
}

const EXAMPLES: &str = "\
Examples:
  contend explore @write-conflict
  contend explore @write-conflict --symmetry
  contend explore @delete-all-against-insert --isolation WriteSerializable
  contend explore @delete-all-against-insert --without added-files --out failures
  contend explore @delete-all-against-insert --faults 1:reply_lost,crash";

/// Runs it.
pub fn run(arguments: &Arguments) -> Result<Report, CliError> {
    files::check(arguments.out.as_deref())?;
    compare::run(&arguments.scenario, &arguments.output, &mut |scenario, style| one(arguments, scenario, style))
}

fn one(arguments: &Arguments, scenario: &ScenarioArguments, style: Style) -> Result<Report, CliError> {
    let origin = &scenario.scenario;
    let setting = scenario.setting(Clock::PerCall, Granularity::Points)?;
    let setting = Arc::new(match &arguments.faults {
        Some(faults) => setting.with_faults(*faults),
        None => setting,
    });
    let rules = scenario.rules();
    let model = if arguments.symmetry {
        let symmetry =
            Symmetry::of(&setting.scenario).map_err(|error| about(format!("{origin}, --symmetry"))(error.into()))?;
        WorldModel::with_symmetry(setting.clone(), symmetry)
    } else {
        WorldModel::new(setting.clone())
    };
    let mut model = model.map_err(|error| about(origin)(error.into()))?;
    let mut watch = watch::Watch::start();
    let limits = Limits { memory_bytes: usize::try_from(arguments.memory_mb << 20).unwrap_or(usize::MAX) };
    let options = Options { threads: usize::from(arguments.threads), symmetry: arguments.symmetry, limits };
    let exploration = explore_with(&mut model, options, &mut |progress| watch.look(progress));
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
        let failure = failure.map_err(|error| about(origin)(error.into()))?;
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
        report::explore::explore(&subject, &searched, show_files, style)
    };
    Ok(Report { text, verdict: searched.verdict() })
}

/// `2` is two faults of any kind, `1:crash,put_lost` is one of either kind.
fn faults(text: &str) -> Result<FaultBudget, String> {
    let (number, names) = text.split_once(':').map_or((text, None), |(number, names)| (number, Some(names)));
    let total: u32 = number.parse().map_err(|_| format!("'{number}' is no number of faults"))?;
    let mut kinds = Vec::new();
    for name in names.iter().flat_map(|names| names.split(',')) {
        let Some(kind) = FaultKind::ALL.into_iter().find(|kind| kind.name() == name) else {
            let known = FaultKind::ALL.map(FaultKind::name).join(", ");
            return Err(format!("'{name}' is no kind of fault; there are {known}"));
        };
        kinds.push(kind);
    }
    Ok(FaultBudget::of_mix(total, &kinds))
}
