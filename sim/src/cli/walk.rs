//! `contend walk`.

use std::{
    ops::Range,
    path::PathBuf,
    sync::{Arc, atomic::Ordering},
    thread,
    time::{Duration, Instant},
};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use sim::{
    failure::{Failure, PROGRAM},
    report::{self, Origin, Style, Subject, json},
    rule_choice::RuleChoice,
    run::{RunError, Simulator},
    walk::{Walk, walk},
    world::{Clock, FaultBudget, FaultKind, Granularity, Setting},
};

use super::{
    Report,
    arguments::{ScenarioArguments, quoted},
    compare,
    error::{CliError, about},
    files,
    interrupt::interrupted,
    output::{Output, note},
};

/// Run a scenario with many seeds: the distribution of outcomes, abort rate, wasted work, latencies
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    scenario: ScenarioArguments,
    /// Seeds from A up to, but not including, B.
    #[arg(long, value_name = "A..B", default_value = "0..1000", value_parser = seeds)]
    seeds: Range<u64>,
    /// Threads that share the seeds; the result does not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Write a failure file for each kind of violation into this directory, for replay and shrink.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    output: Output,
}

const EXAMPLES: &str = "\
Examples:
  contend walk @write-conflict
  contend walk @write-conflict --latency s3 --seeds 0..10000
  contend walk @write-conflict --set store.fault_rate='{ reply_lost = 0.05, crash = 0.01 }'";

fn seeds(text: &str) -> Result<Range<u64>, String> {
    let wrong = || "seeds are A..B with A < B: 0..1000 are 1,000 seeds".to_owned();
    let (first, end) = text.split_once("..").ok_or_else(wrong)?;
    let (first, end) = (first.parse().map_err(|_| wrong())?, end.parse().map_err(|_| wrong())?);
    if first < end { Ok(first..end) } else { Err(wrong()) }
}

/// Runs it.
pub fn run(arguments: &Arguments) -> Result<Report, CliError> {
    files::check(arguments.out.as_deref())?;
    compare::run(&arguments.scenario, &arguments.output, &mut |scenario, style| one(arguments, scenario, style))
}

fn one(arguments: &Arguments, scenario: &ScenarioArguments, style: Style) -> Result<Report, CliError> {
    let setting = Arc::new(scenario.setting(Clock::Virtual, Granularity::Needs)?);
    let rules = scenario.rules();
    let threads = arguments.threads.map(usize::from);
    let threads = threads.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from));

    let begun = Instant::now();
    let bar = ProgressBar::new(arguments.seeds.end - arguments.seeds.start);
    bar.enable_steady_tick(Duration::from_millis(200));
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos} of {len} runs, {eta} to go") {
        bar.set_style(style);
    }
    let interrupted = interrupted();
    let result = walk(&setting, arguments.seeds.clone(), threads, &|done| {
        bar.set_position(done);
        !interrupted.load(Ordering::Relaxed)
    });
    bar.finish_and_clear();
    let result = result.map_err(|error| about(&scenario.scenario)(error.into()))?;
    let elapsed = begun.elapsed().as_secs_f64();
    note(&format!("{} runs in {elapsed:.1} s, {:.0} runs/s\n", result.seeds, result.seeds as f64 / elapsed.max(1e-6)));

    let failures = failures(&setting, &rules, &result).map_err(|error| about(&scenario.scenario)(error.into()))?;
    for file in files::write_failures(&failures, arguments.out.as_deref())? {
        note(&format!("smaller with: contend shrink {}\n", quoted(&file)));
    }

    let subject = Subject { origin: Origin::Seeds(&arguments.seeds), setting: &setting, rules: &rules };
    let replay = |seed: u64| scenario.command("run", &["--seed".to_owned(), seed.to_string()]);
    let text = if arguments.output.json {
        json::walk(&subject, &result, &replay)
    } else {
        report::walk::walk(&subject, &result, &replay, style)
    };
    Ok(Report { text, verdict: report::walk::verdict(&result) })
}

/// For each kind of violation the run of its first seed, as a failure.
fn failures(setting: &Arc<Setting>, rules: &RuleChoice, walk: &Walk) -> Result<Vec<Failure>, RunError> {
    let mut failures = Vec::new();
    if walk.violations.is_empty() {
        return Ok(failures);
    }
    let mut simulator = Simulator::new(setting.clone())?;
    for (kind, violated) in &walk.violations {
        let (_, schedule) = simulator.run_scheduled(violated.seed)?;
        let mut faults = FaultBudget::default();
        for kind in FaultKind::ALL {
            let happened = schedule.iter().filter(|label| label_has(label, kind)).count();
            (0..happened).for_each(|_| faults.allow(kind));
        }
        failures.push(Failure {
            program: PROGRAM.to_owned(),
            kind: *kind,
            message: violated.message.clone(),
            scenario: setting.scenario.clone(),
            rules: rules.clone(),
            faults,
            granularity: setting.granularity,
            schedule,
        });
    }
    Ok(failures)
}

fn label_has(label: &str, kind: FaultKind) -> bool {
    label.split_once('/').is_some_and(|(_, fault)| fault.starts_with(kind.name()))
}
