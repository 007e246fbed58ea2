//! `contend walk`.

use std::{
    ops::Range,
    thread,
    time::{Duration, Instant},
};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use sim::{
    report::{self, Origin, Subject, json},
    walk::walk,
    world::{Clock, Granularity},
};

use super::{
    Report,
    arguments::ScenarioArguments,
    error::{CliError, about},
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
    let scenario = &arguments.scenario;
    let setting = scenario.setting(Clock::Virtual, Granularity::Needs)?;
    let rules = scenario.rules();
    let threads = arguments.threads.map(usize::from);
    let threads = threads.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from));

    let begun = Instant::now();
    let bar = ProgressBar::new(arguments.seeds.end - arguments.seeds.start);
    bar.enable_steady_tick(Duration::from_millis(200));
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos} of {len} runs, {eta} to go") {
        bar.set_style(style);
    }
    let result = walk(&setting, arguments.seeds.clone(), threads, &|done| {
        bar.set_position(done);
        true
    });
    bar.finish_and_clear();
    let result = result.map_err(|error| about(&scenario.scenario)(error.into()))?;
    let result = result.expect("nothing stops a walk");
    let elapsed = begun.elapsed().as_secs_f64();
    note(&format!("{} runs in {elapsed:.1} s, {:.0} runs/s\n", result.seeds, result.seeds as f64 / elapsed.max(1e-6)));

    let subject = Subject { origin: Origin::Seeds(&arguments.seeds), setting: &setting, rules: &rules };
    let replay = |seed: u64| scenario.command("run", &["--seed".to_owned(), seed.to_string()]);
    let text = if arguments.output.json {
        json::walk(&subject, &result, &replay)
    } else {
        report::walk::walk(&subject, &result, &replay, arguments.output.style())
    };
    Ok(Report { text, verdict: report::walk::verdict(&result) })
}
