//! Breadth-first search of every state.

use std::{collections::BTreeMap, ops::ControlFlow};

use super::{
    Model,
    level::{Met, Seen, advance},
    replay::replay,
    shortest::Shortest,
    table::Shard,
};

/// Where a search stops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Bytes that it may take, by its own account.
    pub memory_bytes: usize,
}

/// How a search is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Where it stops.
    pub limits: Limits,
    /// Threads, if the model can be [forked](Model::fork). What is found does not depend on it.
    pub threads: usize,
    /// Are states that have one [canonical](Model::canonical) state the same?
    pub symmetry: bool,
}

impl Options {
    /// One thread, and every state by itself.
    pub fn new(limits: Limits) -> Self {
        Self { limits, threads: 1, symmetry: false }
    }
}

/// How far a search has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// States seen.
    pub states: usize,
    /// States whose events were all tried.
    pub done: usize,
    /// Events on the way to the state that is looked at.
    pub depth: u32,
}

/// A violation and the shortest way to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found<V, E> {
    /// What is wrong.
    pub violation: V,
    /// The events that lead there; of the shortest ones the first in the order of events, with symmetry as well.
    pub schedule: Vec<E>,
}

/// What a search came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exploration<M: Model> {
    /// States seen.
    pub states: usize,
    /// Events tried.
    pub transitions: u64,
    /// The ends, in the order in which they were met.
    pub ends: Vec<M::State>,
    /// The greatest number of events on a shortest way to a state.
    pub depth: u32,
    /// Of each kind of violation one that no other of the kind is shorter than.
    pub violations: BTreeMap<M::Kind, Found<M::Violation, M::Event>>,
    /// Was everything seen? If not, the memory bound stopped the search, or the caller did.
    pub exhausted: bool,
    /// Bytes taken, by the search's own account.
    pub bytes: usize,
}

/// How many states are looked at, at most, between two looks at the bounds.
const BLOCK: usize = 16_384;

/// More threads than this are not used.
const THREADS_MAX: usize = 64;

/// Visits every state of a model on one thread. `watch` is called now and then, and may stop the search.
///
/// # Errors
/// When the model cannot go on.
pub fn explore<M: Model>(
    model: &mut M,
    limits: Limits,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Exploration<M>, M::Error> {
    explore_with(model, Options::new(limits), watch)
}

/// Visits every state of a model. `watch` is called now and then, and may stop the search.
///
/// # Errors
/// When the model cannot go on.
pub fn explore_with<M: Model>(
    model: &mut M,
    options: Options,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Exploration<M>, M::Error> {
    let mut forks: Vec<M> = (1..options.threads.min(THREADS_MAX)).map_while(|_| model.fork()).collect();
    let mut seen = Seen::new(forks.len() + 1);
    let mut first = model.initial()?;
    if options.symmetry {
        first = model.canonical(first);
    }
    let mut extra = model.extra_bytes(&first);
    let mut level = vec![seen.add_first(first)];
    let mut next = Vec::new();
    let mut chunks = Vec::new();
    let mut shortest = Shortest::new(options.symmetry);
    let mut met = Met::default();
    let mut result = Exploration {
        states: 1,
        transitions: 0,
        ends: Vec::new(),
        depth: 0,
        violations: BTreeMap::new(),
        exhausted: true,
        bytes: 0,
    };
    let mut done = 0;
    let mut depth = 0;
    while !level.is_empty() && result.exhausted {
        result.depth = depth;
        for block in level.chunks(BLOCK) {
            let before = next.len();
            let workers = (&mut *model, &mut *forks);
            extra += advance(workers, &mut seen, options.symmetry, block, &mut chunks, &mut met, &mut next)?;
            done += block.len();
            result.states += next.len() - before;
            result.bytes = result.states * Shard::<M::State>::bytes_per_state()
                + (level.len() + next.len()) * size_of::<u32>()
                + extra
                + model.shared_bytes();
            let full = result.bytes > options.limits.memory_bytes || result.states > seen.states_max();
            if full || watch(Progress { states: result.states, done, depth }).is_break() {
                result.exhausted = false;
                break;
            }
        }
        shortest.settle(model, &seen, &mut met)?;
        level.clear();
        std::mem::swap(&mut level, &mut next);
        depth += 1;
    }
    shortest.settle(model, &seen, &mut met)?;
    result.transitions = met.transitions;
    result.ends = met.ends;
    result.violations = shortest.found;
    if let Some(mut fresh) = model.restart() {
        for (kind, found) in &mut result.violations {
            let told = replay(&mut fresh, &found.schedule, None)?.violations.remove(kind);
            if let Some((length, violation)) = told
                && length == found.schedule.len()
            {
                found.violation = violation;
            }
        }
    }
    Ok(result)
}
