//! A schedule, followed again.

use std::collections::BTreeMap;

use super::Model;

/// What came of following a schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replayed<M: Model> {
    /// The events that happened, in order.
    pub schedule: Vec<M::Event>,
    /// The state after the last of them.
    pub end: M::State,
    /// Of each kind of violation the first that was met, with the number of events up to there.
    pub violations: BTreeMap<M::Kind, (usize, M::Violation)>,
}

/// Lets the events of a schedule happen in order. One that is not possible where it stands is left out. Stops where something of the kind `until` is wrong.
///
/// # Errors
/// When the model cannot go on.
pub fn replay<M: Model>(
    model: &mut M,
    schedule: &[M::Event],
    until: Option<&M::Kind>,
) -> Result<Replayed<M>, M::Error> {
    let mut replayed = Replayed { schedule: Vec::new(), end: model.initial()?, violations: BTreeMap::new() };
    let mut enabled = Vec::new();
    let mut wrong = Vec::new();
    let mut rest = schedule.iter();
    loop {
        enabled.clear();
        model.events(&replayed.end, &mut enabled);
        let at_end = model.is_end(&replayed.end, &enabled);
        wrong.extend(model.violations(&replayed.end, at_end));
        let length = replayed.schedule.len();
        for (kind, violation) in wrong.drain(..) {
            replayed.violations.entry(kind).or_insert((length, violation));
        }
        if until.is_some_and(|kind| replayed.violations.contains_key(kind)) {
            return Ok(replayed);
        }
        let Some(event) = rest.find(|event| enabled.contains(event)) else { return Ok(replayed) };
        model.apply_in_place(&mut replayed.end, *event, &mut wrong)?;
        replayed.schedule.push(*event);
    }
}
