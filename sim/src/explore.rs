//! The simulated world as a model to search: every interleaving of the writers.
//!
//! A step of a writer depends on that writer and on the tables, and changes nothing else. So a state is kept as a few numbers, one for the tables and
//! one for each writer, and a step is computed once for each pair of them, however many states it occurs in.

mod orbits;
mod shared;
mod symmetry;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use orbits::KnownOrbits;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use shared::{CheckKey, Memo, Shared, Step, StepKey};
pub use symmetry::{NoneAlike, Symmetry};

use crate::{
    digest::rows_sha256,
    judge::{Violation, ViolationKind},
    search::Model,
    world::{Event, Finished, Network, Setting, Tables, WorldError, Writer, list_events},
};

/// The states of the writers and tables of one setting.
///
/// Its forks share what they compute and how parts are numbered. Which number a part gets depends on who meets it first, so numbers say only what
/// is the same, and nothing is ordered by them.
///
/// Made [with symmetry](Self::with_symmetry), states have one canonical state if they differ only in which of several writers that are alike did what. The
/// names of data files and transactions name the writer, so such states differ in almost every part, and one cannot be had from the other by
/// writing other names: a file's name also says what is in it, and files are read in the order of their names. Instead the steps that led to a part are
/// taken by the other writer. Each step is taken in every way, and the search stops with an error where the results do not correspond, so
/// that the states that are left out have the ends, outcomes and kinds of violation of those that stand for them.
pub struct WorldModel {
    setting: Arc<Setting>,
    shared: Arc<Mutex<Shared>>,
    known: Known,
    first: Arc<[u32]>,
}

/// As much of it as one thread has asked for, so that it need not wait for the others to ask again.
struct Known {
    tables: Vec<Arc<Tables>>,
    networks: Vec<Arc<Network>>,
    network_numbers: FxHashMap<Arc<Network>, u32>,
    writers: Vec<Vec<Arc<Writer>>>,
    memo: Memo,
    orbits: Option<KnownOrbits>,
}

/// A state: the tables' part, the network's, then each writer's.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Parted(Box<[u32]>);

/// Where a writer's part begins in a state.
const WRITERS: usize = 2;

impl Known {
    fn new(writers: usize, symmetry: Option<Arc<Symmetry>>) -> Self {
        Self {
            tables: Vec::new(),
            networks: Vec::new(),
            network_numbers: FxHashMap::default(),
            writers: vec![Vec::new(); writers],
            memo: Memo::new(writers),
            orbits: symmetry.map(|symmetry| KnownOrbits::new(symmetry, writers)),
        }
    }

    /// Is every part of a state known here?
    fn has(&self, state: &Parted) -> bool {
        let [tables, network, writers @ ..] = &*state.0 else { return false };
        (*tables as usize) < self.tables.len()
            && (*network as usize) < self.networks.len()
            && writers.iter().zip(&self.writers).all(|(number, known)| (*number as usize) < known.len())
    }

    /// Learns of the parts that others have met.
    fn catch_up(&mut self, shared: &Shared) {
        self.tables.extend_from_slice(&shared.tables.values[self.tables.len()..]);
        self.networks.extend_from_slice(&shared.networks.values[self.networks.len()..]);
        for (known, parts) in self.writers.iter_mut().zip(&shared.writers) {
            known.extend_from_slice(&parts.values[known.len()..]);
        }
        if let (Some(known), Some(orbits)) = (&mut self.orbits, &shared.orbits) {
            known.catch_up(shared, orbits);
        }
    }
}

impl WorldModel {
    /// The model of a setting. The setup is run.
    ///
    /// # Errors
    /// When a statement of the setup does not succeed.
    pub fn new(setting: Arc<Setting>) -> Result<Self, WorldError> {
        Self::made(setting, None)
    }

    /// The model of a setting in which writers may take each other's places, to be searched with [symmetry](crate::search::Options::symmetry). The setup is run.
    ///
    /// # Errors
    /// When a statement of the setup does not succeed.
    pub fn with_symmetry(setting: Arc<Setting>, symmetry: Symmetry) -> Result<Self, WorldError> {
        Self::made(setting, Some(Arc::new(symmetry)))
    }

    fn made(setting: Arc<Setting>, symmetry: Option<Arc<Symmetry>>) -> Result<Self, WorldError> {
        let writers = setting.scenario.writers.len();
        let (shared, first) = Shared::new(setting.clone(), symmetry.clone())?;
        let shared = Arc::new(Mutex::new(shared));
        Ok(Self { setting, shared, known: Known::new(writers, symmetry), first: first.into() })
    }

    /// The names of the writers that may take each other's places, by class.
    pub fn alike(&self) -> Vec<Vec<String>> {
        let classes = self.known.orbits.as_ref().map_or(&[][..], |orbits| orbits.symmetry().classes());
        let name = |writer: &usize| self.setting.scenario.writers[*writer].name.clone();
        classes.iter().map(|class| class.iter().map(name).collect()).collect()
    }

    /// All states that have the canonical state of this one, each once, in no particular order. Without symmetry that is this one alone.
    pub fn orbit(&mut self, state: &Parted) -> Vec<Parted> {
        self.know(state);
        let Some(orbits) = &self.known.orbits else { return vec![state.clone()] };
        let images = (0..orbits.symmetry().len()).map(|way| orbits.image(state, way).0);
        images.collect::<BTreeSet<_>>().into_iter().map(Parted).collect()
    }

    /// Calls of writers that made a commit in a state.
    pub fn committed(&self, state: &Parted) -> usize {
        self.shared.lock().writer_parts(state).map(|writer| writer.committed()).sum()
    }

    /// Calls of writers whose end nobody knows.
    pub fn unknown(&self, state: &Parted) -> usize {
        self.count(state, |end| matches!(end, Finished::Unknown { .. }))
    }

    /// Calls in which the writer crashed.
    pub fn crashed(&self, state: &Parted) -> usize {
        self.count(state, |end| matches!(end, Finished::Crashed { .. }))
    }

    fn count(&self, state: &Parted, counts: impl Fn(&Finished) -> bool) -> usize {
        let shared = self.shared.lock();
        shared.writer_parts(state).flat_map(|writer| writer.finished()).filter(|end| counts(end)).count()
    }

    /// The digest of the rows of each table that exists in a state.
    pub fn contents(&mut self, state: &Parted) -> BTreeMap<String, String> {
        let mut shared = self.shared.lock();
        let tables = shared.tables.values[state.0[0] as usize].clone();
        let mut contents = BTreeMap::new();
        for (index, name) in self.setting.tables.iter().enumerate() {
            let Some(view) = shared.view(&tables, index) else { continue };
            let rows = shared.judge.oracle().rows(*view.contents.last().expect("a view has a version"));
            let all = rows.iter().flat_map(|(row, count)| (0..count).map(move |_| row.as_slice()));
            contents.insert(name.clone(), rows_sha256(all));
        }
        contents
    }

    /// The tables of a state.
    pub fn tables(&self, state: &Parted) -> Arc<Tables> {
        self.shared.lock().tables.values[state.0[0] as usize].clone()
    }

    /// A number that two states share only if their tables are the same.
    pub fn tables_number(&self, state: &Parted) -> u32 {
        state.0[0]
    }

    fn know(&mut self, state: &Parted) {
        if !self.known.has(state) {
            self.known.catch_up(&self.shared.lock());
        }
    }

    fn step(&mut self, writer: usize, key: StepKey) -> Result<Step, WorldError> {
        if let Some(known) = self.known.memo.steps[writer].get(&key) {
            return Ok(known.clone());
        }
        let step = self.shared.lock().step(writer, key)?;
        self.known.memo.steps[writer].insert(key, step.clone());
        Ok(step)
    }

    fn judge_tables(&mut self, tables: u32) -> Arc<[Violation]> {
        let judge = || self.shared.lock().judge_tables(tables);
        self.known.memo.judged.entry(tables).or_insert_with(judge).clone()
    }

    fn check_writer(&mut self, writer: usize, key: CheckKey) -> Option<Arc<Violation>> {
        let check = || self.shared.lock().check_writer(writer, key);
        self.known.memo.checked[writer].entry(key).or_insert_with(check).clone()
    }

    fn network_number(&mut self, network: Network) -> Result<u32, WorldError> {
        if let Some(known) = self.known.network_numbers.get(&network) {
            return Ok(*known);
        }
        let mut shared = self.shared.lock();
        let number = shared.network(network)?;
        self.known.network_numbers.insert(shared.networks.values[number as usize].clone(), number);
        Ok(number)
    }
}

impl Model for WorldModel {
    type State = Parted;
    type Event = Event;
    type Violation = Violation;
    type Kind = ViolationKind;
    type Error = WorldError;

    fn initial(&mut self) -> Result<Parted, WorldError> {
        Ok(Parted(Box::from(&*self.first)))
    }

    fn events(&mut self, state: &Parted, events: &mut Vec<Event>) {
        self.know(state);
        let tables = &self.known.tables[state.0[0] as usize];
        let network = &self.known.networks[state.0[1] as usize];
        let writers = self.known.writers.iter().zip(&state.0[WRITERS..]);
        let writers = writers.map(|(parts, number)| &*parts[*number as usize]);
        list_events(&self.setting, tables, network, writers, events);
    }

    /// No writer has anything left to do; whether late puts still land is open.
    fn is_end(&mut self, _: &Parted, events: &[Event]) -> bool {
        events.iter().all(|event| matches!(event, Event::Land { .. }))
    }

    fn apply(
        &mut self,
        state: &Parted,
        event: Event,
        violations: &mut Vec<(ViolationKind, Violation)>,
    ) -> Result<Parted, WorldError> {
        self.know(state);
        let mut after = state.0.clone();
        let (writer, fault) = match event {
            Event::Step { writer } => (writer, None),
            Event::Fault { writer, fault } => (writer, Some(fault)),
            Event::Land { position } => {
                let mut network = Network::clone(&self.known.networks[state.0[1] as usize]);
                let put = network.late.remove(position);
                let tables = {
                    let mut shared = self.shared.lock();
                    after[0] = shared.land(&put, state.0[0])?;
                    shared.tables.values[after[0] as usize].clone()
                };
                network.drop_hopeless(&tables);
                after[1] = self.network_number(network)?;
                return Ok(Parted(after));
            }
        };
        let step = self.step(writer, (state.0[WRITERS + writer], state.0[0], fault))?;
        violations.extend(step.violation.map(|violation| (violation.kind, Violation::clone(&violation))));
        after[0] = step.tables;
        after[WRITERS + writer] = step.writer;
        let network = &self.known.networks[state.0[1] as usize];
        if fault.is_some() || !network.late.is_empty() {
            let mut network = Network::clone(network);
            if let Some(fault) = fault {
                network.budget.spend(fault.kind());
            }
            if let Some(late) = step.late {
                network.delay(late);
            }
            if step.tables as usize >= self.known.tables.len() {
                self.known.catch_up(&self.shared.lock());
            }
            network.drop_hopeless(&self.known.tables[step.tables as usize]);
            after[1] = self.network_number(network)?;
        }
        Ok(Parted(after))
    }

    fn violations(&mut self, state: &Parted, at_end: bool) -> Vec<(ViolationKind, Violation)> {
        let tables = state.0[0];
        let mut violations: Vec<Violation> = self.judge_tables(tables).to_vec();
        for writer in 0..self.known.writers.len() {
            let violation = self.check_writer(writer, (state.0[WRITERS + writer], tables));
            violations.extend(violation.map(|violation| Violation::clone(&violation)));
        }
        if at_end && self.setting.scenario.expect.committed.is_some() {
            violations.extend(self.setting.unexpected(self.committed(state)));
        }
        violations.into_iter().map(|violation| (violation.kind, violation)).collect()
    }

    fn canonical(&mut self, state: Parted) -> Parted {
        self.know(&state);
        match &self.known.orbits {
            Some(orbits) => orbits.least(state),
            None => state,
        }
    }

    /// What a fork computes, this one need not, and the other way round. While one computes something for the first time, the others wait with what they
    /// do not know either.
    fn fork(&self) -> Option<Self> {
        let (setting, shared, first) = (self.setting.clone(), self.shared.clone(), self.first.clone());
        let symmetry = self.known.orbits.as_ref().map(|orbits| orbits.symmetry().clone());
        Some(Self { known: Known::new(setting.scenario.writers.len(), symmetry), setting, shared, first })
    }

    fn restart(&self) -> Option<Self> {
        Self::new(self.setting.clone()).ok()
    }

    fn extra_bytes(&self, state: &Parted) -> usize {
        // A box's own bytes and what the allocator adds.
        size_of_val(&*state.0).next_multiple_of(16) + 16
    }

    fn shared_bytes(&self) -> usize {
        // Measured: a log of a dozen commits and what is known about it, a writer in the middle of a commit, a step.
        let shared = self.shared.lock();
        let steps: usize = shared.memo.steps.iter().map(FxHashMap::len).sum();
        let writers: usize = shared.writers.iter().map(|parts| parts.values.len()).sum();
        let orbits = shared.orbits.as_ref().map_or(0, orbits::Orbits::bytes);
        shared.tables.values.len() * 6_000 + writers * 3_000 + steps * 100 + orbits
    }
}

#[cfg(test)]
mod tests;
