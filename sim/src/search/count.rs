//! How many schedules there are, without walking them one by one.

use super::{
    Limits, Model,
    table::{Shard, place_of},
};

/// Why schedules cannot be counted.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CountError<E> {
    /// The model cannot go on.
    #[error("{0}")]
    Model(E),
    /// A state comes back after some events, so that there is no last schedule.
    #[error("a state comes back after {events} events: there is no end to the schedules")]
    Cycle {
        /// After how many events.
        events: usize,
    },
    /// There are too many for 128 bits.
    #[error("there are too many schedules to count in 128 bits")]
    TooMany,
    /// There are too many states to keep.
    #[error("{states} states take more than the {memory_bytes} bytes that are allowed")]
    Memory {
        /// States seen so far.
        states: usize,
        /// The bound.
        memory_bytes: usize,
    },
}

/// A state whose events are being tried.
struct Frame {
    number: u32,
    /// Schedules from here by the events tried so far.
    schedules: u128,
    /// Its events not yet tried are those from here in the list that all frames share, up to the next frame's first.
    next: usize,
    first: usize,
}

/// Stands for the number of a state that is on the way that is being tried.
const OPEN: u128 = u128::MAX;

/// The number of ways from the first state to an end. A way that goes on from an end to another is counted at both.
///
/// The ways from a state are those from each state after it, taken together; each state is asked once.
///
/// # Errors
/// When there is no such number, when it cannot be counted, or when the model cannot go on.
pub fn count_schedules<M: Model>(model: &mut M, limits: Limits) -> Result<u128, CountError<M::Error>> {
    let mut states = Shard::new();
    let mut counts: Vec<u128> = Vec::new();
    let mut frames: Vec<Frame> = Vec::new();
    let mut events: Vec<M::Event> = Vec::new();
    let mut wrong = Vec::new();
    let mut extra = 0;
    let mut reached = model.initial().map_err(CountError::Model)?;
    loop {
        let (_, tag) = place_of(&reached, 1);
        let bytes = model.extra_bytes(&reached);
        let (number, new) = states.add(reached, tag, 0);
        if new {
            extra += bytes;
            counts.push(OPEN);
            let taken = counts.len() * (Shard::<M::State>::bytes_per_state() + size_of::<u128>()) + extra;
            if taken + model.shared_bytes() > limits.memory_bytes || counts.len() >= u32::MAX as usize {
                return Err(CountError::Memory { states: counts.len(), memory_bytes: limits.memory_bytes });
            }
            let first = events.len();
            model.events(states.state(number), &mut events);
            let schedules = u128::from(model.is_end(states.state(number), &events[first..]));
            frames.push(Frame { number, schedules, next: first, first });
        } else if counts[number as usize] == OPEN {
            let since = frames.iter().rev().position(|frame| frame.number == number);
            return Err(CountError::Cycle { events: since.map_or(0, |since| since + 1) });
        } else {
            let frame = frames.last_mut().expect("only the first state has none before it");
            frame.add(counts[number as usize])?;
        }
        // Back to the last state with an event left.
        loop {
            let Some(frame) = frames.last_mut() else { unreachable!("the first state returns") };
            if frame.next < events.len() {
                let event = events[frame.next];
                frame.next += 1;
                wrong.clear();
                reached = model.apply(states.state(frame.number), event, &mut wrong).map_err(CountError::Model)?;
                break;
            }
            let Frame { number, schedules, first, .. } = *frame;
            counts[number as usize] = schedules;
            events.truncate(first);
            frames.pop();
            match frames.last_mut() {
                Some(before) => before.add(schedules)?,
                None => return Ok(schedules),
            }
        }
    }
}

impl Frame {
    fn add<E>(&mut self, schedules: u128) -> Result<(), CountError<E>> {
        let sum = self.schedules.checked_add(schedules).filter(|sum| *sum != OPEN);
        self.schedules = sum.ok_or(CountError::TooMany)?;
        Ok(())
    }
}
