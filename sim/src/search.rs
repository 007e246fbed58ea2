//! Search over the states of a model.
//!
//! A [`Model`] is a first state, the events that are enabled in a state, and the state that an event leads to. What can be asked of one:
//!
//! - [`explore`] visits every state that can be reached, breadth first, so that the violation of a kind that it keeps is one with the fewest events;
//! - [`count_schedules`] counts the ways from the first state to an end, without walking them one by one;
//! - [`Bounded`] is the same model with at most so many preemptions;
//! - [`walk`] follows one schedule that a seed picks;
//! - [`shrink_schedule`] drops events from a schedule while it still shows a violation.
//!
//! None of them reads a clock or draws from anything but a seed, and none depends on how many threads it runs on.

mod bounded;
mod count;
mod explore;
mod level;
mod replay;
mod shortest;
mod shrink;
mod table;
mod walk;

use std::hash::Hash;

pub use bounded::{Bounded, BoundedState};
pub use count::{CountError, count_schedules};
pub use explore::{Exploration, Found, Limits, Options, Progress, explore, explore_with};
pub use replay::{Replayed, replay};
pub use shrink::{Shrunk, shrink_schedule};
pub use walk::{STEPS_MAX, Walk, Walker, walk};

/// States, events, and what follows from what.
///
/// The methods that take `&mut self` may keep what they computed, but what they answer must follow from their arguments alone.
pub trait Model: Send + Sized {
    /// A state. Two states that are equal have the same future.
    type State: Clone + Eq + Hash + Send + Sync;
    /// What may happen. Events are listed, and tried, in a fixed order.
    type Event: Copy + Eq + Send;
    /// Something that must not happen; see [`Model::violations`].
    type Violation: Clone + Send;
    /// The kind of a violation: the search keeps the shortest way to each.
    type Kind: Ord + Clone + Send;
    /// Why the model cannot go on.
    type Error: Send;

    /// The state in which everything begins.
    ///
    /// # Errors
    /// When the model cannot begin.
    fn initial(&mut self) -> Result<Self::State, Self::Error>;

    /// Appends the events that may happen in a state.
    fn events(&mut self, state: &Self::State, events: &mut Vec<Self::Event>);

    /// Is a state an end? By default one in which nothing may happen.
    fn is_end(&mut self, _state: &Self::State, events: &[Self::Event]) -> bool {
        events.is_empty()
    }

    /// The state after an event. What is wrong with the step itself, and will not show in the state, is appended to `violations`.
    ///
    /// # Errors
    /// When the model cannot go on.
    fn apply(
        &mut self,
        state: &Self::State,
        event: Self::Event,
        violations: &mut Vec<(Self::Kind, Self::Violation)>,
    ) -> Result<Self::State, Self::Error>;

    /// Like [`apply`](Self::apply), in place: for walks, which have no use for the state before.
    ///
    /// # Errors
    /// When the model cannot go on; the state is then as it was.
    fn apply_in_place(
        &mut self,
        state: &mut Self::State,
        event: Self::Event,
        violations: &mut Vec<(Self::Kind, Self::Violation)>,
    ) -> Result<(), Self::Error> {
        *state = self.apply(state, event, violations)?;
        Ok(())
    }

    /// What is wrong in a state that was just reached for the first time. `at_end` says that nothing more can happen in it.
    fn violations(&mut self, state: &Self::State, at_end: bool) -> Vec<(Self::Kind, Self::Violation)>;

    /// One state for all that differ only by the names of things that are alike, such as writers that run the same program.
    ///
    /// States with one canonical state must have the same violations, by kind, and the same canonical states after them. A model without such
    /// things leaves this as it is.
    fn canonical(&mut self, state: Self::State) -> Self::State {
        state
    }

    /// The same model for another thread. States made by one of the two must mean the same to the other, and be equal exactly when they would be
    /// if one model had made both. `None`, unless a model says otherwise: it is then searched on one thread.
    fn fork(&self) -> Option<Self> {
        None
    }

    /// The same model, knowing nothing yet. What a violation says is asked there, along its own schedule, so that it does not depend on what else was searched.
    fn restart(&self) -> Option<Self> {
        None
    }

    /// Bytes that one state takes beyond its own size, roughly: for the memory bound.
    fn extra_bytes(&self, _state: &Self::State) -> usize {
        0
    }

    /// Bytes that the model itself takes, roughly.
    fn shared_bytes(&self) -> usize {
        0
    }
}

#[cfg(test)]
mod tests;
