//! M(W, C): W writers that make C optimistic commits each over a log that takes a version once.
//!
//! Each writer does, C times over: *list* the log, and so learn its length; *put* its name at that length. A put whose place is taken is lost, and
//! the writer lists again. List and put are one step each. A writer at its put knows a length, one at its list knows nothing.
//!
//! This is the loop of every writer of a Delta table with all that a table holds left out. How many states, schedules and final logs there are was
//! counted by three other programs, so a search that claims to be exhaustive has to come to the same numbers.

use std::convert::Infallible;

use crate::search::Model;

/// Writers that a state has room for.
pub const WRITERS_MAX: u32 = 4;

/// Entries of the log that a state has room for.
pub const ENTRIES_MAX: u32 = 31;

/// The model M(W, C).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PutIfAbsentLog {
    writers: u32,
    commits: u32,
}

/// A model that a state has no room for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "{writers} writers with {commits} commits each do not fit: there is room for {WRITERS_MAX} writers and {ENTRIES_MAX} \
     commits in all"
)]
pub struct TooLarge {
    /// Writers that were asked for.
    pub writers: u32,
    /// Commits that were asked for.
    pub commits: u32,
}

/// A writer's next step: it lists, or it puts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Step {
    /// The writer, from 0.
    pub writer: u8,
}

/// The log, and where each writer stands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct State {
    /// Two bits for each entry, the first lowest, and a one above the last.
    log: u64,
    /// Sixteen bits for each writer: in the upper byte the commits that it has still to make; in the lower 0 at its list, one more than the length that it knows
    /// at its put.
    writers: u64,
}

/// The lower bit of every entry that a log has room for.
const LOWER: u64 = 0x5555_5555_5555_5555;

impl PutIfAbsentLog {
    /// The model of some writers with some commits each.
    ///
    /// # Errors
    /// When a state has no room for them.
    pub fn new(writers: u32, commits: u32) -> Result<Self, TooLarge> {
        let fits = writers <= WRITERS_MAX && writers.checked_mul(commits).is_some_and(|entries| entries <= ENTRIES_MAX);
        if fits { Ok(Self { writers, commits }) } else { Err(TooLarge { writers, commits }) }
    }

    /// The first state.
    pub fn first(&self) -> State {
        let writers = (0..self.writers).map(|writer| u64::from(self.commits) << (16 * writer + 8)).sum();
        State { log: 1, writers }
    }

    /// The state after a step of a writer who has one to make.
    #[inline]
    pub fn after(&self, state: &State, step: Step) -> State {
        let lane = 16 * u32::from(step.writer);
        let knows = state.writers >> lane & 0xff;
        let length = state.length();
        if knows == 0 {
            return State { log: state.log, writers: state.writers | u64::from(length + 1) << lane };
        }
        let mut writers = state.writers ^ knows << lane;
        let mut log = state.log;
        if knows == u64::from(length + 1) {
            writers -= 1 << (lane + 8);
            // The one above the last entry moves up, and the writer's name takes its place.
            log += (3 + u64::from(step.writer)) << (2 * length);
        }
        State { log, writers }
    }
}

impl State {
    /// Entries of the log.
    #[inline]
    pub fn length(&self) -> u32 {
        (63 - self.log.leading_zeros()) / 2
    }

    /// The log: whose each entry is, in order.
    pub fn log(&self) -> impl Iterator<Item = u8> + use<> {
        let log = self.log;
        (0..self.length()).map(move |entry| (log >> (2 * entry) & 3) as u8)
    }

    /// Has a writer anything left to do?
    #[inline]
    pub fn goes_on(&self, writer: u32) -> bool {
        self.writers >> (16 * writer + 8) & 0xff != 0
    }

    /// What a writer knows the length of the log to be, if it is at its put.
    pub fn knows(&self, writer: u32) -> Option<u32> {
        ((self.writers >> (16 * writer) & 0xff) as u32).checked_sub(1)
    }

    /// The lower bit of each entry that is a writer's.
    fn entries_of(&self, writer: u64) -> u64 {
        let differs = self.log ^ (writer * LOWER);
        let entries = (1 << (2 * self.length())) - 1;
        !(differs | differs >> 1) & LOWER & entries
    }
}

impl Model for PutIfAbsentLog {
    type State = State;
    type Event = Step;
    type Violation = Infallible;
    type Kind = Infallible;
    type Error = Infallible;

    fn initial(&mut self) -> Result<State, Infallible> {
        Ok(self.first())
    }

    #[inline]
    fn events(&mut self, state: &State, events: &mut Vec<Step>) {
        let steps = (0..self.writers).filter(|writer| state.goes_on(*writer));
        events.extend(steps.map(|writer| Step { writer: writer as u8 }));
    }

    #[inline]
    fn apply(
        &mut self,
        state: &State,
        event: Step,
        _violations: &mut Vec<(Infallible, Infallible)>,
    ) -> Result<State, Infallible> {
        Ok(self.after(state, event))
    }

    #[inline]
    fn violations(&mut self, _state: &State, _at_end: bool) -> Vec<(Infallible, Infallible)> {
        Vec::new()
    }

    /// The writers are named by their first entry in the log, and those without one by where they stand.
    fn canonical(&mut self, state: State) -> State {
        let mut order = [(0, 0, 0); WRITERS_MAX as usize];
        let order = &mut order[..self.writers as usize];
        for (writer, key) in order.iter_mut().enumerate() {
            let entries = state.entries_of(writer as u64);
            *key = (entries.trailing_zeros(), state.writers >> (16 * writer) & 0xffff, entries);
        }
        order.sort_unstable();
        let end = 1 << (2 * state.length());
        order.iter().enumerate().fold(State { log: end, writers: 0 }, |state, (name, (_, lane, entries))| State {
            log: state.log | (entries * name as u64),
            writers: state.writers | (lane << (16 * name)),
        })
    }

    fn fork(&self) -> Option<Self> {
        Some(*self)
    }
}
