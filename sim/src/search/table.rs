//! States that were seen, each with the event that led to it first.

use std::hash::{BuildHasher, Hash};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// A set of states, numbered in the order in which they were seen.
pub struct Seen<S, E> {
    states: Vec<S>,
    /// For each state the number of the one before it, and the event between.
    parents: Vec<Option<(u32, E)>>,
    depths: Vec<u32>,
    index: HashTable<u32>,
    hasher: FxBuildHasher,
}

impl<S: Eq + Hash, E: Copy> Seen<S, E> {
    pub(super) fn new() -> Self {
        Self {
            states: Vec::new(),
            parents: Vec::new(),
            depths: Vec::new(),
            index: HashTable::new(),
            hasher: FxBuildHasher,
        }
    }

    /// Adds a state; gives its number, and whether it is new.
    pub(super) fn insert(&mut self, state: S, parent: Option<(u32, E)>) -> (u32, bool) {
        let hash = self.hasher.hash_one(&state);
        if let Some(known) = self.index.find(hash, |number| self.states[*number as usize] == state) {
            return (*known, false);
        }
        let number =
            u32::try_from(self.states.len()).expect("a memory bound stops the search before four billion states");
        let depth = parent.as_ref().map_or(0, |(before, _)| self.depths[*before as usize] + 1);
        self.states.push(state);
        self.parents.push(parent);
        self.depths.push(depth);
        self.index.insert_unique(hash, number, |number| self.hasher.hash_one(&self.states[*number as usize]));
        (number, true)
    }

    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    pub(super) fn state(&self, number: u32) -> &S {
        &self.states[number as usize]
    }

    pub(super) fn depth(&self, number: u32) -> u32 {
        self.depths[number as usize]
    }

    /// The events that led to a state, in order.
    pub(super) fn schedule(&self, number: u32) -> Vec<E> {
        let mut events = Vec::new();
        let mut at = number;
        while let Some((before, event)) = self.parents[at as usize] {
            events.push(event);
            at = before;
        }
        events.reverse();
        events
    }

    /// Bytes that one state takes in here.
    pub(super) fn bytes_per_state() -> usize {
        // The table of numbers is at most 7/8 full and doubles when it grows: four bytes and a tag for each of up to 16/7 places.
        size_of::<S>() + size_of::<Option<(u32, E)>>() + size_of::<u32>() + 12
    }
}
