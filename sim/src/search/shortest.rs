//! The shortest way to each kind of violation.

use std::collections::{BTreeMap, btree_map::Entry};

use rustc_hash::FxHashSet;

use super::{
    Found, Model,
    level::{Met, Seen},
};

/// Keeps of each kind of violation the shortest way, of equal ones the first in the order of events.
///
/// What is wrong with a step is met one level before the states that are as long a way off, so it waits for that level.
pub(super) struct Shortest<M: Model> {
    symmetry: bool,
    pub(super) found: BTreeMap<M::Kind, Found<M::Violation, M::Event>>,
    /// Of each kind the state before the first step that is wrong.
    waiting: BTreeMap<M::Kind, u32>,
}

/// A way from the first state, with the position of each event among those that were possible.
struct Way<M: Model> {
    state: M::State,
    schedule: Vec<M::Event>,
    turns: Vec<usize>,
}

impl<M: Model> Shortest<M> {
    pub(super) fn new(symmetry: bool) -> Self {
        Self { symmetry, found: BTreeMap::new(), waiting: BTreeMap::new() }
    }

    /// Takes what was met in a level.
    pub(super) fn settle(&mut self, model: &mut M, seen: &Seen<M::State>, met: &mut Met<M>) -> Result<(), M::Error> {
        let mut waiting = std::mem::take(&mut self.waiting);
        if self.symmetry {
            // A way in the table is one of states that stand for others, so only its length is taken.
            let mut lengths = BTreeMap::new();
            for (kind, (_, number)) in std::mem::take(&mut met.states) {
                lengths.insert(kind, seen.depth(number));
            }
            for (kind, number) in waiting {
                lengths.entry(kind).or_insert_with(|| seen.depth(number) + 1);
            }
            for (kind, length) in lengths {
                if let Entry::Vacant(found) = self.found.entry(kind) {
                    let first = first_of_length(model, seen, found.key(), length)?;
                    found.insert(first);
                }
            }
            self.waiting = std::mem::take(&mut met.steps);
            return Ok(());
        }
        for (kind, (violation, number)) in std::mem::take(&mut met.states) {
            if self.found.contains_key(&kind) {
                continue;
            }
            let (mut turns, mut found) = self.to_state(model, seen, &kind, violation, number)?;
            if let Some(number) = waiting.remove(&kind) {
                let (other_turns, other) = self.to_step(model, seen, &kind, number)?;
                if other_turns <= turns {
                    (turns, found) = (other_turns, other);
                }
            }
            debug_assert_eq!(turns.len(), found.schedule.len());
            self.found.insert(kind, found);
        }
        for (kind, number) in waiting {
            if !self.found.contains_key(&kind) {
                let (_, found) = self.to_step(model, seen, &kind, number)?;
                self.found.insert(kind, found);
            }
        }
        self.waiting = std::mem::take(&mut met.steps);
        Ok(())
    }

    fn to_state(
        &self,
        model: &mut M,
        seen: &Seen<M::State>,
        kind: &M::Kind,
        violation: M::Violation,
        number: u32,
    ) -> Result<Told<M>, M::Error> {
        let way = self.retrace(model, seen, number)?;
        let mut events = Vec::new();
        model.events(&way.state, &mut events);
        let at_end = model.is_end(&way.state, &events);
        let told = model.violations(&way.state, at_end).into_iter().find(|(other, _)| other == kind);
        let violation = told.map_or(violation, |(_, violation)| violation);
        Ok((way.turns, Found { violation, schedule: way.schedule }))
    }

    fn to_step(&self, model: &mut M, seen: &Seen<M::State>, kind: &M::Kind, number: u32) -> Result<Told<M>, M::Error> {
        let mut way = self.retrace(model, seen, number)?;
        let (mut events, mut wrong) = (Vec::new(), Vec::new());
        model.events(&way.state, &mut events);
        for (turn, event) in events.into_iter().enumerate() {
            model.apply(&way.state, event, &mut wrong)?;
            if let Some((_, violation)) = wrong.drain(..).find(|(other, _)| other == kind) {
                way.turns.push(turn);
                way.schedule.push(event);
                return Ok((way.turns, Found { violation, schedule: way.schedule }));
            }
        }
        unreachable!("what is wrong with a step does not depend on when it is asked")
    }

    /// Goes the way to a state again, by the first event that leads to each state on it.
    fn retrace(&self, model: &mut M, seen: &Seen<M::State>, number: u32) -> Result<Way<M>, M::Error> {
        let mut way = Way { state: model.initial()?, schedule: Vec::new(), turns: Vec::new() };
        let (mut events, mut wrong) = (Vec::new(), Vec::new());
        for wanted in seen.way(number).into_iter().skip(1) {
            events.clear();
            model.events(&way.state, &mut events);
            let before = way.schedule.len();
            for (turn, event) in events.iter().enumerate() {
                let after = model.apply(&way.state, *event, &mut wrong)?;
                if after == *wanted {
                    way.state = after;
                    way.schedule.push(*event);
                    way.turns.push(turn);
                    break;
                }
            }
            assert!(way.schedule.len() > before, "a model answers the same question in the same way");
        }
        Ok(way)
    }
}

/// A state on a way that is tried, and its events from the next one on.
struct Tried<M: Model> {
    state: M::State,
    events: std::vec::IntoIter<M::Event>,
}

/// Of the schedules of a length that is the shortest to a kind of violation, the first in the order of events, by trying them in that order.
///
/// Every state on the way is as far from the start as the way is long up to there, or there were a shorter one. And from one of several states that have one
/// canonical state the violation is as far as from the others. So each canonical state is tried once, and only at its own distance.
fn first_of_length<M: Model>(
    model: &mut M,
    seen: &Seen<M::State>,
    kind: &M::Kind,
    length: usize,
) -> Result<Found<M::Violation, M::Event>, M::Error> {
    let mut tried: FxHashSet<u32> = FxHashSet::default();
    let mut way: Vec<Tried<M>> = Vec::new();
    let (mut schedule, mut wrong) = (Vec::new(), Vec::new());
    let mut reached = model.initial()?;
    loop {
        let mut events = Vec::new();
        if schedule.len() == length {
            model.events(&reached, &mut events);
            let at_end = model.is_end(&reached, &events);
            wrong.extend(model.violations(&reached, at_end));
            if let Some((_, violation)) = wrong.drain(..).find(|(other, _)| other == kind) {
                return Ok(Found { violation, schedule });
            }
            schedule.pop();
        } else {
            let canonical = model.canonical(reached.clone());
            let number = seen.number(&canonical).filter(|number| seen.depth(*number) == schedule.len());
            if number.is_some_and(|number| tried.insert(number)) {
                model.events(&reached, &mut events);
                way.push(Tried { state: reached, events: events.into_iter() });
            } else {
                schedule.pop();
            }
        }
        // On with the next event of the last state that has one.
        reached = loop {
            let last = way.last_mut().expect("the search has met the violation at this distance");
            wrong.clear();
            if let Some(event) = last.events.next() {
                let after = model.apply(&last.state, event, &mut wrong)?;
                schedule.push(event);
                break after;
            }
            way.pop();
            schedule.pop();
        };
    }
}

/// The positions of the events on a way, and the way with what is wrong at its end.
type Told<M> = (Vec<usize>, Found<<M as Model>::Violation, <M as Model>::Event>);
