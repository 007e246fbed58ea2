//! Breadth-first search of every state.

use std::{collections::BTreeMap, ops::ControlFlow};

use super::{Model, table::Seen};

/// Where a search stops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Bytes that it may take, by its own account.
    pub memory_bytes: usize,
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
    /// The events that lead there; of the shortest ones the first in the order of events.
    pub schedule: Vec<E>,
}

/// What a search came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exploration<M: Model> {
    /// States seen.
    pub states: usize,
    /// Events tried.
    pub transitions: u64,
    /// The ends: states in which nothing more needs to happen.
    pub ends: Vec<M::State>,
    /// The greatest number of events on a shortest way to a state.
    pub depth: u32,
    /// Of each kind of violation the first that was met, which no other of the kind is shorter than.
    pub violations: BTreeMap<M::Kind, Found<M::Violation, M::Event>>,
    /// Was everything seen? If not, the memory bound stopped the search, or the caller did.
    pub exhausted: bool,
    /// Bytes taken, by the search's own account.
    pub bytes: usize,
}

/// How many states are looked at between two calls of `watch`.
const WATCH_EVERY: usize = 4096;

/// Visits every state of a model. `watch` is called now and then, and may stop the search.
///
/// # Errors
/// When the model cannot go on.
pub fn explore<M: Model>(
    model: &mut M,
    limits: Limits,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Exploration<M>, M::Error> {
    let mut seen = Seen::new();
    let mut result = Exploration {
        states: 0,
        transitions: 0,
        ends: Vec::new(),
        depth: 0,
        violations: BTreeMap::new(),
        exhausted: true,
        bytes: 0,
    };
    let mut extra = 0;
    let mut events = Vec::new();
    let mut wrong_steps = Vec::new();

    let first = model.initial()?;
    extra += model.extra_bytes(&first);
    seen.insert(first, None);
    let mut next = 0;
    while next < seen.len() {
        let number = next as u32;
        next += 1;
        let state = seen.state(number).clone();
        events.clear();
        model.events(&state, &mut events);
        let depth = seen.depth(number);
        result.depth = result.depth.max(depth);
        let at_end = model.is_end(&state, &events);
        for (kind, violation) in model.violations(&state, at_end) {
            result.violations.entry(kind).or_insert_with(|| Found { violation, schedule: seen.schedule(number) });
        }
        if at_end {
            result.ends.push(state.clone());
        }
        for event in &events {
            result.transitions += 1;
            let after = model.apply(&state, *event, &mut wrong_steps)?;
            for (kind, violation) in wrong_steps.drain(..) {
                result.violations.entry(kind).or_insert_with(|| {
                    let mut schedule = seen.schedule(number);
                    schedule.push(*event);
                    Found { violation, schedule }
                });
            }
            let bytes = model.extra_bytes(&after);
            if seen.insert(after, Some((number, *event))).1 {
                extra += bytes;
            }
        }
        result.bytes = seen.len() * Seen::<M::State, M::Event>::bytes_per_state() + extra + model.shared_bytes();
        if result.bytes > limits.memory_bytes {
            result.exhausted = false;
            break;
        }
        if next.is_multiple_of(WATCH_EVERY) && watch(Progress { states: seen.len(), done: next, depth }).is_break() {
            result.exhausted = false;
            break;
        }
    }
    result.states = seen.len();
    Ok(result)
}
