//! Search over the states of a model.
//!
//! A [`Model`] is a first state, the events that are enabled in a state, and the state that an event leads to. [`explore`] visits every state that can
//! be reached, breadth first, so that the first violation of a kind that it meets is one with the fewest events.

mod explore;
mod table;

use std::hash::Hash;

pub use explore::{Exploration, Found, Limits, Progress, explore};

/// States, events, and what follows from what.
pub trait Model {
    /// A state. Two states that are equal have the same future.
    type State: Clone + Eq + Hash;
    /// What may happen. Events are listed, and tried, in a fixed order.
    type Event: Copy + Eq;
    /// Something that must not happen; see [`Model::violations`].
    type Violation: Clone;
    /// The kind of a violation: the search keeps the shortest way to each.
    type Kind: Ord + Clone;
    /// Why the model cannot go on.
    type Error;

    /// The state in which everything begins.
    ///
    /// # Errors
    /// When the model cannot begin.
    fn initial(&mut self) -> Result<Self::State, Self::Error>;

    /// Appends the events that may happen in a state.
    fn events(&self, state: &Self::State, events: &mut Vec<Self::Event>);

    /// Is a state an end? By default one in which nothing may happen.
    fn is_end(&self, _state: &Self::State, events: &[Self::Event]) -> bool {
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

    /// What is wrong in a state that was just reached for the first time. `at_end` says that nothing more can happen in it.
    fn violations(&mut self, state: &Self::State, at_end: bool) -> Vec<(Self::Kind, Self::Violation)>;

    /// Bytes that one state takes beyond its own size, roughly: for the memory bound.
    fn extra_bytes(&self, _state: &Self::State) -> usize {
        0
    }

    /// Bytes that the model itself takes, roughly.
    fn shared_bytes(&self) -> usize {
        0
    }
}
