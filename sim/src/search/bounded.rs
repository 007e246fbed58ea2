//! A model with at most so many preemptions.

use super::Model;

/// A model of which only those schedules are taken that preempt somebody at most so many times.
///
/// A preemption is a change from one actor to another while the first could have gone on (Musuvathi and Qadeer, "Iterative context bounding",
/// 2007). To change when it could not, and to begin, is free. Counting, exploring, walking and shrinking work on this as on any model.
#[derive(Clone, Debug)]
pub struct Bounded<M: Model, A> {
    model: M,
    preemptions: u32,
    actor: A,
    events: Vec<M::Event>,
}

/// A state of a bounded model.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BoundedState<S> {
    /// The state of the model.
    pub state: S,
    /// Who acted last.
    pub last: Option<u32>,
    /// Preemptions left.
    pub left: u32,
}

impl<M: Model, A: Fn(&M::Event) -> u32> Bounded<M, A> {
    /// A model with at most so many preemptions. `actor` says whose an event is.
    pub fn new(model: M, preemptions: u32, actor: A) -> Self {
        Self { model, preemptions, actor, events: Vec::new() }
    }

    /// Could the last actor go on, if these events are possible?
    fn goes_on(&self, last: Option<u32>, events: &[M::Event]) -> bool {
        last.is_some_and(|last| events.iter().any(|event| (self.actor)(event) == last))
    }
}

impl<M: Model, A: Fn(&M::Event) -> u32 + Clone + Send> Model for Bounded<M, A> {
    type State = BoundedState<M::State>;
    type Event = M::Event;
    type Violation = M::Violation;
    type Kind = M::Kind;
    type Error = M::Error;

    fn initial(&mut self) -> Result<Self::State, M::Error> {
        Ok(BoundedState { state: self.model.initial()?, last: None, left: self.preemptions })
    }

    fn events(&mut self, state: &Self::State, events: &mut Vec<M::Event>) {
        let first = events.len();
        self.model.events(&state.state, events);
        if state.left > 0 || !self.goes_on(state.last, &events[first..]) {
            return;
        }
        let mut kept = first;
        for at in first..events.len() {
            if Some((self.actor)(&events[at])) == state.last {
                events[kept] = events[at];
                kept += 1;
            }
        }
        events.truncate(kept);
    }

    fn is_end(&mut self, state: &Self::State, events: &[M::Event]) -> bool {
        if state.left > 0 {
            return self.model.is_end(&state.state, events);
        }
        // Some events may have been left out.
        self.events.clear();
        self.model.events(&state.state, &mut self.events);
        self.model.is_end(&state.state, &self.events)
    }

    fn apply(
        &mut self,
        state: &Self::State,
        event: M::Event,
        violations: &mut Vec<(M::Kind, M::Violation)>,
    ) -> Result<Self::State, M::Error> {
        let actor = Some((self.actor)(&event));
        let mut left = state.left;
        if state.last.is_some() && actor != state.last {
            self.events.clear();
            self.model.events(&state.state, &mut self.events);
            left = left.saturating_sub(u32::from(self.goes_on(state.last, &self.events)));
        }
        Ok(BoundedState { state: self.model.apply(&state.state, event, violations)?, last: actor, left })
    }

    fn violations(&mut self, state: &Self::State, at_end: bool) -> Vec<(M::Kind, M::Violation)> {
        self.model.violations(&state.state, at_end)
    }

    fn fork(&self) -> Option<Self> {
        Some(Self::new(self.model.fork()?, self.preemptions, self.actor.clone()))
    }

    fn restart(&self) -> Option<Self> {
        Some(Self::new(self.model.restart()?, self.preemptions, self.actor.clone()))
    }

    fn extra_bytes(&self, state: &Self::State) -> usize {
        self.model.extra_bytes(&state.state)
    }

    fn shared_bytes(&self) -> usize {
        self.model.shared_bytes()
    }
}
