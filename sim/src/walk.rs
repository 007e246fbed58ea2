//! Many seeded runs, and what they come to together.
//!
//! Every figure is a sum, a count or an order statistic over seeds, so it does not depend on how many threads shared them.

use std::{
    collections::BTreeMap,
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use crate::{
    call::CallEnd,
    history::{PutResult, What},
    judge::ViolationKind,
    naming::CallId,
    run::{RunError, RunResult, Simulator},
    world::{FaultKind, Setting},
};

/// What many runs came to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Walk {
    /// Runs.
    pub seeds: u64,
    /// Was it stopped before every seed was run?
    pub interrupted: bool,
    /// How many runs committed so many calls.
    pub outcomes: BTreeMap<usize, u64>,
    /// How executions of statements ended.
    pub ends: Ends,
    /// Puts of commits, and what became of them.
    pub puts: Puts,
    /// Executions that did not commit, and what they cost.
    pub wasted: Work,
    /// Executions that committed, and what they cost.
    pub useful: Work,
    /// Virtual milliseconds from begin to end of each execution that committed: so many took so long.
    pub latencies: BTreeMap<u64, u64>,
    /// Data files that are in no commit.
    pub orphans: u64,
    /// How often each rule found a conflict.
    pub rules: BTreeMap<String, u64>,
    /// How often each fault happened.
    pub faults: BTreeMap<FaultKind, u64>,
    /// Violations: how many runs had one of a kind, the first of them, and what it says.
    pub violations: BTreeMap<ViolationKind, Violated>,
}

/// How executions ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ends {
    /// Commits.
    pub committed: u64,
    /// Nothing to commit.
    pub nothing: u64,
    /// Queries.
    pub answered: u64,
    /// Conflicts.
    pub conflicts: u64,
    /// Puts used up.
    pub exhausted: u64,
    /// Nobody knows.
    pub unknown: u64,
    /// The writer crashed.
    pub crashed: u64,
    /// The statement could not be executed.
    pub failed: u64,
}

/// Puts of commits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Puts {
    /// All of them.
    pub made: u64,
    /// The version was taken.
    pub lost: u64,
    /// Nothing certain was heard of it.
    pub unclear: u64,
}

/// What executions cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Work {
    /// How many.
    pub executions: u64,
    /// Bytes of their data files.
    pub bytes: u64,
    /// Virtual milliseconds from begin to end.
    pub ms: u64,
}

/// A kind of violation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violated {
    /// Runs that had it.
    pub runs: u64,
    /// The least seed among them.
    pub seed: u64,
    /// What it says there.
    pub message: String,
}

/// How many seeds a thread takes at a time.
const CHUNK: u64 = 16;

/// Runs every seed of a range, on some threads. `watch` is told now and then how many are done, and may stop the walk; then the result is that of
/// the seeds that were run, and which these are depends on the threads.
///
/// # Errors
/// When a run fails: the error of the least seed whose thread met one.
pub fn walk(
    setting: &Arc<Setting>,
    seeds: Range<u64>,
    threads: usize,
    watch: &(dyn Fn(u64) -> bool + Sync),
) -> Result<Walk, RunError> {
    let next = AtomicU64::new(seeds.start);
    let done = AtomicU64::new(0);
    let stopped = AtomicBool::new(false);
    let work = || -> Result<Walk, (u64, RunError)> {
        let mut walk = Walk::default();
        let mut simulator = Simulator::new(setting.clone()).map_err(|error| (seeds.start, error.into()))?;
        loop {
            let first = next.fetch_add(CHUNK, Ordering::Relaxed);
            if first >= seeds.end || stopped.load(Ordering::Relaxed) {
                return Ok(walk);
            }
            let chunk = first..seeds.end.min(first + CHUNK);
            for seed in chunk.clone() {
                let result = simulator.run(seed).map_err(|error| (seed, error))?;
                walk.take(seed, &result);
            }
            let count = chunk.end - chunk.start;
            if !watch(done.fetch_add(count, Ordering::Relaxed) + count) {
                stopped.store(true, Ordering::Relaxed);
            }
        }
    };
    let results = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        handles.into_iter().map(|handle| handle.join().expect("a walk does not panic")).collect::<Vec<_>>()
    });
    let mut walk = Walk::default();
    let mut first_error: Option<(u64, RunError)> = None;
    for result in results {
        match result {
            Ok(part) => walk.add(part),
            Err((seed, error)) => {
                if first_error.as_ref().is_none_or(|(first, _)| seed < *first) {
                    first_error = Some((seed, error));
                }
            }
        }
    }
    match first_error {
        Some((_, error)) => Err(error),
        None => {
            walk.interrupted = walk.seeds < seeds.end.saturating_sub(seeds.start);
            Ok(walk)
        }
    }
}

impl Walk {
    /// Adds one run.
    pub fn take(&mut self, seed: u64, result: &RunResult) {
        self.seeds += 1;
        *self.outcomes.entry(result.committed).or_default() += 1;
        self.orphans += result.orphans() as u64;
        let mut begun: BTreeMap<CallId, (i64, u64)> = BTreeMap::new();
        for entry in &result.history.entries {
            match &entry.what {
                What::Invoked { .. } => {
                    begun.insert(entry.call, (entry.at_ms, 0));
                }
                What::Loaded(_) => {}
                What::Wrote { bytes, .. } => {
                    begun.entry(entry.call).and_modify(|(_, written)| *written += bytes);
                }
                What::Put { result, .. } => {
                    self.puts.made += 1;
                    self.puts.lost += u64::from(*result == PutResult::Lost);
                    self.puts.unclear += u64::from(*result == PutResult::Unclear);
                }
                What::Fault(fault) => *self.faults.entry(fault.kind()).or_default() += 1,
                What::Ended(end) => {
                    let (at_ms, bytes) = begun[&entry.call];
                    self.take_end(end, (entry.at_ms - at_ms) as u64, bytes);
                }
            }
        }
        for violation in &result.violations {
            let violated = self.violations.entry(violation.kind).or_insert_with(|| Violated {
                runs: 0,
                seed,
                message: violation.message.clone(),
            });
            violated.runs += 1;
        }
    }

    fn take_end(&mut self, end: &CallEnd, ms: u64, bytes: u64) {
        let ends = &mut self.ends;
        let count = match end {
            CallEnd::Committed { .. } => &mut ends.committed,
            CallEnd::Nothing { .. } => &mut ends.nothing,
            CallEnd::Answered { .. } => &mut ends.answered,
            CallEnd::Conflict(conflict) => {
                *self.rules.entry(conflict.rule.clone()).or_default() += 1;
                &mut ends.conflicts
            }
            CallEnd::Exhausted { .. } => &mut ends.exhausted,
            CallEnd::Unknown { .. } => &mut ends.unknown,
            CallEnd::Crashed => &mut ends.crashed,
            CallEnd::Failed { .. } => &mut ends.failed,
        };
        *count += 1;
        let work = match end {
            CallEnd::Committed { .. } => {
                *self.latencies.entry(ms).or_default() += 1;
                &mut self.useful
            }
            CallEnd::Nothing { .. } | CallEnd::Answered { .. } => return,
            _ => &mut self.wasted,
        };
        work.executions += 1;
        work.bytes += bytes;
        work.ms += ms;
    }

    /// Adds what other seeds came to.
    fn add(&mut self, other: Self) {
        fn sum<K: Ord>(into: &mut BTreeMap<K, u64>, from: BTreeMap<K, u64>) {
            for (key, count) in from {
                *into.entry(key).or_default() += count;
            }
        }
        self.seeds += other.seeds;
        sum(&mut self.outcomes, other.outcomes);
        sum(&mut self.latencies, other.latencies);
        sum(&mut self.rules, other.rules);
        sum(&mut self.faults, other.faults);
        self.orphans += other.orphans;
        self.ends.add(other.ends);
        self.puts.made += other.puts.made;
        self.puts.lost += other.puts.lost;
        self.puts.unclear += other.puts.unclear;
        for (work, more) in [(&mut self.wasted, other.wasted), (&mut self.useful, other.useful)] {
            work.executions += more.executions;
            work.bytes += more.bytes;
            work.ms += more.ms;
        }
        for (kind, more) in other.violations {
            match self.violations.get_mut(&kind) {
                None => {
                    self.violations.insert(kind, more);
                }
                Some(known) => {
                    known.runs += more.runs;
                    if more.seed < known.seed {
                        (known.seed, known.message) = (more.seed, more.message);
                    }
                }
            }
        }
    }

    /// The latency that so many per thousand of the commits did not exceed, in virtual milliseconds; `None` without commits.
    pub fn latency_ms(&self, per_mille: u64) -> Option<u64> {
        let count: u64 = self.latencies.values().sum();
        let rank = (count * per_mille).div_ceil(1000).max(1);
        let mut below = 0;
        self.latencies.iter().find_map(|(ms, here)| {
            below += here;
            (below >= rank).then_some(*ms)
        })
    }

    /// The number of committed calls that half of the runs did not exceed.
    pub fn median_committed(&self) -> Option<usize> {
        let rank = self.seeds.div_ceil(2);
        let mut below = 0;
        self.outcomes.iter().find_map(|(committed, count)| {
            below += count;
            (below >= rank).then_some(*committed)
        })
    }
}

impl Ends {
    /// Executions that ended in one way or another.
    pub fn all(&self) -> u64 {
        self.committed
            + self.nothing
            + self.answered
            + self.conflicts
            + self.exhausted
            + self.unknown
            + self.crashed
            + self.failed
    }

    fn add(&mut self, other: Self) {
        self.committed += other.committed;
        self.nothing += other.nothing;
        self.answered += other.answered;
        self.conflicts += other.conflicts;
        self.exhausted += other.exhausted;
        self.unknown += other.unknown;
        self.crashed += other.crashed;
        self.failed += other.failed;
    }
}
