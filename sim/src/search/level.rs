//! One part of a level of a breadth-first search: from some states to those after them that were not seen before.
//!
//! The work is cut into chunks of states, whatever the number of threads. First every chunk is expanded, by whoever is free; then every shard of the table
//! takes the states that belong to it, chunk by chunk. So a state is taken from the first state, in the order of the level, that leads to it, and the new states
//! are put in the order in which one thread would have met them.

use std::{collections::BTreeMap, hash::Hash, iter, sync::Mutex, thread};

use super::{
    Model,
    table::{Candidate, Shard, place_of},
};

/// States that are expanded at a time.
const CHUNK: usize = 512;

/// Below this many states a second thread costs more than it does.
const WORTH_A_THREAD: usize = 4 * CHUNK;

/// All states that were seen. A number of a state says its shard and its number in there.
pub(super) struct Seen<S> {
    shards: Vec<Shard<S>>,
    shard_bits: u32,
}

/// What came of some states.
pub(super) struct Chunk<M: Model> {
    cells: Vec<Cell<M::State>>,
    events: Vec<M::Event>,
    wrong_steps: Vec<(M::Kind, M::Violation)>,
    found: Met<M>,
    error: Option<M::Error>,
}

/// What was met on the way through some states, in their order.
pub(super) struct Met<M: Model> {
    /// Events tried.
    pub(super) transitions: u64,
    /// Ends.
    pub(super) ends: Vec<M::State>,
    /// Of each kind the first state with something wrong.
    pub(super) states: BTreeMap<M::Kind, (M::Violation, u32)>,
    /// Of each kind the first state in which an event is wrong.
    pub(super) steps: BTreeMap<M::Kind, u32>,
}

/// What of a chunk belongs to one shard.
struct Cell<S> {
    candidates: Vec<Candidate<S>>,
    /// Position and number of those that were new.
    added: Vec<(u32, u32)>,
    scratch: Vec<u64>,
    extra_bytes: usize,
}

impl<S> Default for Cell<S> {
    fn default() -> Self {
        Self { candidates: Vec::new(), added: Vec::new(), scratch: Vec::new(), extra_bytes: 0 }
    }
}

impl<M: Model> Default for Met<M> {
    fn default() -> Self {
        Self { transitions: 0, ends: Vec::new(), states: BTreeMap::new(), steps: BTreeMap::new() }
    }
}

impl<M: Model> Chunk<M> {
    fn new(shards: usize) -> Self {
        Self {
            cells: (0..shards).map(|_| Cell::default()).collect(),
            events: Vec::new(),
            wrong_steps: Vec::new(),
            found: Met::default(),
            error: None,
        }
    }
}

impl<S: Eq + Hash> Seen<S> {
    pub(super) fn new(shards: usize) -> Self {
        Self {
            shards: (0..shards).map(|_| Shard::new()).collect(),
            shard_bits: shards.next_power_of_two().trailing_zeros(),
        }
    }

    /// Adds the first state, which has none before it and is therefore its own; gives its number.
    pub(super) fn add_first(&mut self, state: S) -> u32 {
        let (shard, tag) = place_of(&state, self.shards.len());
        let number = shard as u32;
        self.shards[shard].add(state, tag, number);
        number
    }

    pub(super) fn state(&self, number: u32) -> &S {
        let (shard, number) = self.split(number);
        self.shards[shard].state(number)
    }

    /// The number of a state, if it was seen.
    pub(super) fn number(&self, state: &S) -> Option<u32> {
        let (shard, tag) = place_of(state, self.shards.len());
        let number = self.shards[shard].number(state, tag)?;
        Some(number << self.shard_bits | shard as u32)
    }

    /// How many events a state is from the first one.
    pub(super) fn depth(&self, number: u32) -> usize {
        let (mut at, mut depth) = (number, 0);
        loop {
            let (shard, local) = self.split(at);
            let parent = self.shards[shard].parent(local);
            if parent == at {
                return depth;
            }
            (at, depth) = (parent, depth + 1);
        }
    }

    /// The states on the way to a state, from the first to itself.
    pub(super) fn way(&self, number: u32) -> Vec<&S> {
        let mut way = vec![self.state(number)];
        let mut at = number;
        loop {
            let (shard, local) = self.split(at);
            let parent = self.shards[shard].parent(local);
            if parent == at {
                break;
            }
            way.push(self.state(parent));
            at = parent;
        }
        way.reverse();
        way
    }

    /// How many states there is a number for, at least.
    pub(super) fn states_max(&self) -> usize {
        1 << (31 - self.shard_bits)
    }

    fn split(&self, number: u32) -> (usize, u32) {
        ((number & ((1 << self.shard_bits) - 1)) as usize, number >> self.shard_bits)
    }
}

/// Expands some states of a level in order. The numbers of the new states are appended to `next`; gives how many bytes they take beyond their own size.
///
/// # Errors
/// When the model cannot go on: the error of the first state in order.
pub(super) fn advance<M: Model>(
    (model, forks): (&mut M, &mut [M]),
    seen: &mut Seen<M::State>,
    symmetry: bool,
    numbers: &[u32],
    chunks: &mut Vec<Chunk<M>>,
    met: &mut Met<M>,
    next: &mut Vec<u32>,
) -> Result<usize, M::Error> {
    let shards = seen.shards.len();
    let used = numbers.len().div_ceil(CHUNK);
    while chunks.len() < used {
        chunks.push(Chunk::new(shards));
    }
    let chunks = &mut chunks[..used];
    let bits = seen.shard_bits;
    if forks.is_empty() || numbers.len() < WORTH_A_THREAD {
        for (numbers, chunk) in numbers.chunks(CHUNK).zip(&mut *chunks) {
            expand(model, seen, symmetry, numbers, chunk);
            for (shard, table) in seen.shards.iter_mut().enumerate() {
                take(model, table, shard, bits, &mut chunk.cells[shard]);
            }
        }
    } else {
        let queue = Mutex::new(numbers.chunks(CHUNK).zip(&mut *chunks));
        on_threads(iter::once(&mut *model).chain(&mut *forks), |model| {
            loop {
                let taken = queue.lock().expect("nobody stops while it holds the queue").next();
                let Some((numbers, chunk)) = taken else { break };
                expand(model, seen, symmetry, numbers, chunk);
            }
        });
        let mut cells: Vec<Vec<&mut Cell<M::State>>> = (0..shards).map(|_| Vec::with_capacity(used)).collect();
        for chunk in &mut *chunks {
            for (cells, cell) in cells.iter_mut().zip(&mut chunk.cells) {
                cells.push(cell);
            }
        }
        let work = iter::once(model).chain(forks).zip(&mut seen.shards).zip(cells).enumerate();
        on_threads(work, |(shard, ((model, table), cells))| {
            for cell in cells {
                take(model, table, shard, bits, cell);
            }
        });
    }
    let mut extra_bytes = 0;
    for chunk in chunks {
        extra_bytes += merge(chunk, met, next)?;
    }
    Ok(extra_bytes)
}

/// Does each piece of work on a thread of its own, the first on this one.
fn on_threads<T: Send>(work: impl Iterator<Item = T>, run: impl Fn(T) + Sync) {
    let run = &run;
    thread::scope(|scope| {
        let mut work = work;
        let first = work.next();
        for piece in work {
            scope.spawn(move || run(piece));
        }
        if let Some(piece) = first {
            run(piece);
        }
    });
}

fn expand<M: Model>(model: &mut M, seen: &Seen<M::State>, symmetry: bool, numbers: &[u32], chunk: &mut Chunk<M>) {
    let Chunk { cells, events, wrong_steps, found, error } = chunk;
    let mut position = 0;
    for number in numbers {
        let state = seen.state(*number);
        events.clear();
        model.events(state, events);
        let at_end = model.is_end(state, events);
        for (kind, violation) in model.violations(state, at_end) {
            found.states.entry(kind).or_insert((violation, *number));
        }
        if at_end {
            found.ends.push(state.clone());
        }
        found.transitions += events.len() as u64;
        for event in &*events {
            let mut after = match model.apply(state, *event, wrong_steps) {
                Ok(after) => after,
                Err(cause) => {
                    *error = Some(cause);
                    return;
                }
            };
            for (kind, _) in wrong_steps.drain(..) {
                found.steps.entry(kind).or_insert(*number);
            }
            if symmetry {
                after = model.canonical(after);
            }
            let (shard, tag) = place_of(&after, cells.len());
            cells[shard].candidates.push(Candidate { state: after, tag, parent: *number, position });
            position += 1;
        }
    }
}

fn take<M: Model>(model: &M, table: &mut Shard<M::State>, shard: usize, bits: u32, cell: &mut Cell<M::State>) {
    let Cell { candidates, added, scratch, extra_bytes } = cell;
    table.add_all(candidates, scratch, |position, number, state| {
        *extra_bytes += model.extra_bytes(state);
        added.push((position, number << bits | shard as u32));
    });
}

/// Appends what came of a chunk to what came of those before it, and leaves it empty.
fn merge<M: Model>(chunk: &mut Chunk<M>, met: &mut Met<M>, next: &mut Vec<u32>) -> Result<usize, M::Error> {
    if let Some(error) = chunk.error.take() {
        return Err(error);
    }
    let found = &mut chunk.found;
    met.transitions += std::mem::take(&mut found.transitions);
    met.ends.append(&mut found.ends);
    for (kind, first) in std::mem::take(&mut found.states) {
        met.states.entry(kind).or_insert(first);
    }
    for (kind, first) in std::mem::take(&mut found.steps) {
        met.steps.entry(kind).or_insert(first);
    }
    let mut extra_bytes = 0;
    let (first, rest) = chunk.cells.split_first_mut().expect("there is at least one shard");
    for cell in &mut *rest {
        first.added.append(&mut cell.added);
        extra_bytes += std::mem::take(&mut cell.extra_bytes);
    }
    if !rest.is_empty() {
        // Each shard's are in order already, which is what this sort is quick for.
        first.added.sort_by_key(|(position, _)| *position);
    }
    next.extend(first.added.drain(..).map(|(_, number)| number));
    Ok(extra_bytes + std::mem::take(&mut first.extra_bytes))
}
