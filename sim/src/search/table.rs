//! States that were seen, each with the number of the state before it.

use std::hash::{BuildHasher, Hash};

use rustc_hash::FxBuildHasher;

/// A state that an event led to, on its way into a [`Shard`].
pub(super) struct Candidate<S> {
    pub(super) state: S,
    /// See [`place_of`].
    pub(super) tag: u32,
    /// The number of the state before.
    pub(super) parent: u32,
    /// Its position among those that came of the same states before.
    pub(super) position: u32,
}

/// Where a state belongs: its shard, and 32 bits of hash that say where in the shard.
pub(super) fn place_of<S: Hash>(state: &S, shards: usize) -> (usize, u32) {
    // The hash of rustc is quick but leaves patterns; one more multiplication spreads them over the upper half.
    let hash = FxBuildHasher.hash_one(state);
    let spread = (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let shard = if shards == 1 { 0 } else { (((spread & 0xffff_ffff) * shards as u64) >> 32) as usize };
    (shard, (spread >> 32) as u32)
}

/// A set of states, numbered in the order in which they came in.
///
/// Beside the states themselves there is one table of numbers, in which a state is looked for where its tag says and then upwards. A place holds the
/// tag beside the number, so that a state is compared only when it is almost certainly the right one, and so that the table grows without looking at a state.
pub(super) struct Shard<S> {
    states: Vec<S>,
    parents: Vec<u32>,
    /// Tag in the upper half, number plus one in the lower; 0 is a free place.
    places: Vec<u64>,
}

impl<S: Eq> Shard<S> {
    pub(super) fn new() -> Self {
        Self { states: Vec::new(), parents: Vec::new(), places: Vec::new() }
    }

    pub(super) fn state(&self, number: u32) -> &S {
        &self.states[number as usize]
    }

    pub(super) fn parent(&self, number: u32) -> u32 {
        self.parents[number as usize]
    }

    /// Adds those candidates that are not there yet. `added` is told the position and number of each, in their order.
    ///
    /// They come many at a time so that the processor waits for many places of the table at once instead of for one after the other.
    pub(super) fn add_all(
        &mut self,
        candidates: &mut Vec<Candidate<S>>,
        scratch: &mut Vec<u64>,
        mut added: impl FnMut(u32, u32, &S),
    ) {
        self.reserve(candidates.len());
        scratch.clear();
        scratch.extend(candidates.iter().map(|candidate| self.places[self.start(candidate.tag)]));
        for (place, candidate) in scratch.iter_mut().zip(&*candidates) {
            let same = *place != 0
                && tag_of(*place) == candidate.tag
                && self.states[number_of(*place) as usize] == candidate.state;
            *place = u64::from(same);
        }
        for (known, candidate) in scratch.iter().zip(candidates.drain(..)) {
            if *known != 0 {
                continue;
            }
            if let (number, true) = self.add(candidate.state, candidate.tag, candidate.parent) {
                added(candidate.position, number, &self.states[number as usize]);
            }
        }
    }

    /// Adds one state unless it is there; gives its number, and whether it is new.
    pub(super) fn add(&mut self, state: S, tag: u32, parent: u32) -> (u32, bool) {
        self.reserve(1);
        let mut at = self.start(tag);
        loop {
            let place = self.places[at];
            if place == 0 {
                break;
            }
            if tag_of(place) == tag && self.states[number_of(place) as usize] == state {
                return (number_of(place), false);
            }
            at += 1;
            if at == self.places.len() {
                at = 0;
            }
        }
        let number = self.states.len() as u32;
        self.places[at] = u64::from(tag) << 32 | u64::from(number + 1);
        self.states.push(state);
        self.parents.push(parent);
        (number, true)
    }

    /// The number of a state, if it is there.
    pub(super) fn number(&self, state: &S, tag: u32) -> Option<u32> {
        let mut at = if self.places.is_empty() { return None } else { self.start(tag) };
        loop {
            let place = self.places[at];
            if place == 0 {
                return None;
            }
            if tag_of(place) == tag && self.states[number_of(place) as usize] == *state {
                return Some(number_of(place));
            }
            at += 1;
            if at == self.places.len() {
                at = 0;
            }
        }
    }

    /// Where a tag is looked for first. Tags of a greater value are further up, whatever the size.
    fn start(&self, tag: u32) -> usize {
        ((u64::from(tag) * self.places.len() as u64) >> 32) as usize
    }

    /// Makes the table so large that no more than three quarters of it will be taken.
    fn reserve(&mut self, more: usize) {
        let taken = self.states.len() + more;
        if taken * 4 <= self.places.len() * 3 {
            return;
        }
        let size = (self.places.len() * 3 / 2).max(taken * 4 / 3 + 1);
        let old = std::mem::replace(&mut self.places, vec![0; size]);
        for place in old {
            if place == 0 {
                continue;
            }
            let mut at = self.start(tag_of(place));
            while self.places[at] != 0 {
                at += 1;
                if at == size {
                    at = 0;
                }
            }
            self.places[at] = place;
        }
    }

    /// Bytes that one state takes in here, beyond what it points to.
    pub(super) fn bytes_per_state() -> usize {
        // Between a half and three quarters of the places are taken: eight bytes for each of up to two.
        size_of::<S>() + size_of::<u32>() + 16
    }
}

fn tag_of(place: u64) -> u32 {
    (place >> 32) as u32
}

fn number_of(place: u64) -> u32 {
    (place as u32) - 1
}
