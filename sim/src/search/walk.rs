//! One schedule, picked by a seed.

use std::collections::BTreeMap;

use super::Model;
use crate::random::Random;

/// Events after which a walk is given up: only a model that goes round in circles gets here.
pub const STEPS_MAX: usize = 1 << 24;

/// A schedule and what it came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Walk<M: Model> {
    /// The events, in order.
    pub schedule: Vec<M::Event>,
    /// The state after the last of them.
    pub end: M::State,
    /// Could nothing more happen in it? If not, the walk was [given up](STEPS_MAX).
    pub ended: bool,
    /// Of each kind of violation the first that was met, with the number of events up to there.
    pub violations: BTreeMap<M::Kind, (usize, M::Violation)>,
}

/// Walks a model time after time, in the same memory.
#[derive(Debug)]
pub struct Walker<M: Model> {
    events: Vec<M::Event>,
    wrong: Vec<(M::Kind, M::Violation)>,
    schedule: Vec<M::Event>,
}

impl<M: Model> Default for Walker<M> {
    fn default() -> Self {
        Self { events: Vec::new(), wrong: Vec::new(), schedule: Vec::new() }
    }
}

/// Follows one schedule of a model until nothing more can happen. At each state every event that is possible is as likely as the others; the seed decides.
///
/// # Errors
/// When the model cannot go on.
pub fn walk<M: Model>(model: &mut M, seed: u64) -> Result<Walk<M>, M::Error> {
    Walker::default().walk(model, seed)
}

impl<M: Model> Walker<M> {
    /// What [`walk`] does.
    ///
    /// # Errors
    /// When the model cannot go on.
    pub fn walk(&mut self, model: &mut M, seed: u64) -> Result<Walk<M>, M::Error> {
        let mut random = Random::new(seed, 0);
        let Self { events, wrong, schedule } = self;
        schedule.clear();
        let mut state = model.initial()?;
        let mut violations = BTreeMap::new();
        let ended = loop {
            events.clear();
            model.events(&state, events);
            let at_end = model.is_end(&state, events);
            for (kind, violation) in model.violations(&state, at_end) {
                violations.entry(kind).or_insert((schedule.len(), violation));
            }
            let choices = events.len();
            if choices == 0 || schedule.len() >= STEPS_MAX {
                break choices == 0;
            }
            // Where there is no choice nothing is drawn.
            let choice = if choices == 1 { 0 } else { random.below(choices as u64) as usize };
            let event = events[choice];
            model.apply_in_place(&mut state, event, wrong)?;
            schedule.push(event);
            for (kind, violation) in wrong.drain(..) {
                violations.entry(kind).or_insert((schedule.len(), violation));
            }
        };
        Ok(Walk { schedule: schedule.clone(), end: state, ended, violations })
    }
}
