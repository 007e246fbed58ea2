//! The simulated world as a model to search: every interleaving of the writers.
//!
//! A step of a writer depends on that writer and on the tables, and changes nothing else. So a state is kept as a few numbers, one for the tables and
//! one for each writer, and a step is computed once for each pair of them, however many states it occurs in.

use std::{collections::BTreeMap, hash::Hash, sync::Arc};

use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use crate::{
    call::{CallEnd, CallError},
    digest::rows_sha256,
    history::What,
    judge::{Judge, Log, LogView, PlainQuery, Violation, ViolationKind},
    naming::CallId,
    run::SimulatedFiles,
    search::Model,
    world::{
        Environment, Event, Fault, FaultBudget, LatePut, Network, Scene, Setting, Tables, World, WorldError, Writer,
        list_events,
    },
};

/// The states of the writers and tables of one setting.
///
/// Its forks share what they compute and how parts are numbered. Which number a part gets depends on who meets it first, so numbers say only what
/// is the same, and nothing is ordered by them.
pub struct WorldModel {
    setting: Arc<Setting>,
    shared: Arc<Mutex<Shared>>,
    known: Known,
    first: Arc<[u32]>,
}

/// All that was computed, on whatever thread.
struct Shared {
    setting: Arc<Setting>,
    environment: Environment,
    judge: Judge,
    tables: Parts<Tables>,
    networks: Parts<Network>,
    writers: Vec<Parts<Writer>>,
    memo: Memo,
}

/// As much of it as one thread has asked for, so that it need not wait for the others to ask again.
struct Known {
    tables: Vec<Arc<Tables>>,
    networks: Vec<Arc<Network>>,
    network_numbers: FxHashMap<Arc<Network>, u32>,
    writers: Vec<Vec<Arc<Writer>>>,
    memo: Memo,
}

/// Answers to what was asked.
struct Memo {
    /// What a step of a writer leads to, by writer, its part, the tables' part and the fault.
    steps: Vec<FxHashMap<(u32, u32, Option<Fault>), Step>>,
    /// What is wrong with the tables alone.
    judged: FxHashMap<u32, Arc<[Violation]>>,
    /// What is wrong between a writer and the tables.
    checked: Vec<FxHashMap<(u32, u32), Option<Arc<Violation>>>>,
}

/// A state: the tables' part, the network's, then each writer's.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Parted(Box<[u32]>);

/// Where a writer's part begins in a state.
const WRITERS: usize = 2;

#[derive(Clone, Debug)]
struct Step {
    writer: u32,
    tables: u32,
    /// A put of the step that is still on its way.
    late: Option<LatePut>,
    /// A query that ended in the step was answered wrong, or a commit was acknowledged that is not there.
    violation: Option<Arc<Violation>>,
}

/// Values by number, each once.
#[derive(Debug)]
struct Parts<T> {
    values: Vec<Arc<T>>,
    numbers: FxHashMap<Arc<T>, u32>,
}

impl<T: Eq + Hash> Parts<T> {
    fn new() -> Self {
        Self { values: Vec::new(), numbers: FxHashMap::default() }
    }

    fn number(&mut self, value: T) -> u32 {
        if let Some(known) = self.numbers.get(&value) {
            return *known;
        }
        let number = u32::try_from(self.values.len()).expect("fewer than four billion parts");
        let value = Arc::new(value);
        self.values.push(value.clone());
        self.numbers.insert(value, number);
        number
    }
}

impl Memo {
    fn new(writers: usize) -> Self {
        Self {
            steps: vec![FxHashMap::default(); writers],
            judged: FxHashMap::default(),
            checked: vec![FxHashMap::default(); writers],
        }
    }
}

impl Known {
    fn new(writers: usize) -> Self {
        Self {
            tables: Vec::new(),
            networks: Vec::new(),
            network_numbers: FxHashMap::default(),
            writers: vec![Vec::new(); writers],
            memo: Memo::new(writers),
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
    }
}

impl WorldModel {
    /// The model of a setting. The setup is run.
    ///
    /// # Errors
    /// When a statement of the setup does not succeed.
    pub fn new(setting: Arc<Setting>) -> Result<Self, WorldError> {
        let mut environment = Environment::default();
        let world = World::new(setting.clone(), &mut environment)?;
        let made = world.tables.iter().map(|table| table.commits()).collect();
        let writers = setting.scenario.writers.len();
        let mut shared = Shared {
            setting: setting.clone(),
            environment,
            judge: Judge::new(setting.clone(), made),
            tables: Parts::new(),
            networks: Parts::new(),
            writers: (0..writers).map(|_| Parts::new()).collect(),
            memo: Memo::new(writers),
        };
        let mut first = vec![shared.tables.number(world.tables), shared.networks.number(world.network)];
        first.extend(shared.writers.iter_mut().zip(world.writers).map(|(parts, writer)| parts.number(writer)));
        let shared = Arc::new(Mutex::new(shared));
        Ok(Self { setting, shared, known: Known::new(writers), first: first.into() })
    }

    /// Calls of writers that made a commit in a state.
    pub fn committed(&self, state: &Parted) -> usize {
        self.shared.lock().writer_parts(state).map(|writer| writer.committed()).sum()
    }

    /// Calls of writers whose end nobody knows.
    pub fn unknown(&self, state: &Parted) -> usize {
        let unknown = |end: &&crate::world::Finished| matches!(end, crate::world::Finished::Unknown { .. });
        self.shared.lock().writer_parts(state).map(|writer| writer.finished().iter().filter(unknown).count()).sum()
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

    /// A number that two states share only if their tables are the same.
    pub fn tables_number(&self, state: &Parted) -> u32 {
        state.0[0]
    }

    fn know(&mut self, state: &Parted) {
        if !self.known.has(state) {
            self.known.catch_up(&self.shared.lock());
        }
    }

    fn step(&mut self, writer: usize, key: (u32, u32, Option<Fault>)) -> Result<Step, CallError> {
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

    fn check_writer(&mut self, writer: usize, key: (u32, u32)) -> Option<Arc<Violation>> {
        let check = || self.shared.lock().check_writer(writer, key);
        self.known.memo.checked[writer].entry(key).or_insert_with(check).clone()
    }

    fn network_number(&mut self, network: Network) -> u32 {
        if let Some(known) = self.known.network_numbers.get(&network) {
            return *known;
        }
        let mut shared = self.shared.lock();
        let number = shared.networks.number(network);
        self.known.network_numbers.insert(shared.networks.values[number as usize].clone(), number);
        number
    }
}

impl Shared {
    fn writer_parts(&self, state: &Parted) -> impl Iterator<Item = &Arc<Writer>> {
        self.writers.iter().zip(&state.0[WRITERS..]).map(|(parts, number)| &parts.values[*number as usize])
    }

    fn view(&mut self, tables: &Tables, index: usize) -> Option<Arc<LogView>> {
        let table = tables.get(index);
        let log = Log { table: index, digests: table.digests(), commit: &|version| table.commit(version) };
        self.judge.view(&log, &mut SimulatedFiles(&self.environment))
    }

    fn judge_tables(&mut self, number: u32) -> Arc<[Violation]> {
        if let Some(known) = self.memo.judged.get(&number) {
            return known.clone();
        }
        let tables = self.tables.values[number as usize].clone();
        let mut violations = Vec::new();
        for index in 0..self.setting.tables.len() {
            violations.extend(self.judge(&tables, index, &[]));
        }
        let violations: Arc<[Violation]> = violations.into();
        self.memo.judged.insert(number, violations.clone());
        violations
    }

    fn judge(&mut self, tables: &Tables, index: usize, queries: &[PlainQuery]) -> Vec<Violation> {
        let table = tables.get(index);
        let log = Log { table: index, digests: table.digests(), commit: &|version| table.commit(version) };
        let setting = &self.setting;
        let clock_ms = |call| setting.call_clock_ms(call);
        self.judge.judge(&log, &mut SimulatedFiles(&self.environment), &clock_ms, queries).0
    }

    fn check_writer(&mut self, writer: usize, key: (u32, u32)) -> Option<Arc<Violation>> {
        if let Some(known) = self.memo.checked[writer].get(&key) {
            return known.clone();
        }
        let (part, number) = key;
        let tables = self.tables.values[number as usize].clone();
        let views: Vec<_> = (0..self.setting.tables.len()).map(|index| self.view(&tables, index)).collect();
        let outcomes = self.writers[writer].values[part as usize].outcomes(writer);
        let violation = self.judge.check_once(&outcomes, &views).map(Arc::new);
        self.memo.checked[writer].insert(key, violation.clone());
        violation
    }

    /// A step, computed for real unless it was before.
    fn step(&mut self, writer: usize, key: (u32, u32, Option<Fault>)) -> Result<Step, CallError> {
        if let Some(known) = self.memo.steps[writer].get(&key) {
            return Ok(known.clone());
        }
        let (part, number, fault) = key;
        let mut state = Writer::clone(&self.writers[writer].values[part as usize]);
        let before = self.tables.values[number as usize].clone();
        let mut tables = Tables::clone(&before);
        let mut answers = Vec::new();
        // The step is the same whatever else is on its way, so it runs in a network of its own.
        let budget = fault.map_or_else(FaultBudget::default, |fault| FaultBudget::of_mix(1, &[fault.kind()]));
        let mut network = Network::new(budget);
        let mut scene = Scene {
            setting: &self.setting,
            environment: &mut self.environment,
            tables: &mut tables,
            network: &mut network,
            clock: self.setting.clock_of_calls(),
            observe: &mut |call, what| {
                if let What::Ended(CallEnd::Answered { read, answer }) = what {
                    answers.push((call, read, answer.rows));
                }
            },
        };
        state.step(fault, &mut scene)?;
        let violation = self.judge_answers(&tables, answers).or_else(|| rewritten(&self.setting, &before, &tables));
        let step = Step {
            writer: self.writers[writer].number(state),
            tables: self.tables.number(tables),
            late: network.late.pop(),
            violation: violation.map(Arc::new),
        };
        self.memo.steps[writer].insert(key, step.clone());
        Ok(step)
    }

    fn judge_answers(
        &mut self,
        tables: &Tables,
        answers: Vec<(CallId, Option<log_core::path::Version>, Vec<Vec<log_core::value::Value>>)>,
    ) -> Option<Violation> {
        answers.into_iter().find_map(|(call, read, rows)| {
            let index = self.setting.table_index(self.setting.sql(call).statement.table()?);
            let found = self.judge(tables, index, &[PlainQuery { call, read, rows }]);
            found.into_iter().find(|violation| violation.kind == ViolationKind::WrongAnswer)
        })
    }
}

/// A version that says something else than before.
fn rewritten(setting: &Setting, before: &Tables, after: &Tables) -> Option<Violation> {
    before.iter().zip(after.iter()).enumerate().find_map(|(index, (before, after))| {
        if Arc::ptr_eq(before, after) {
            return None;
        }
        let version = before.digests().iter().zip(after.digests()).position(|(before, after)| before != after);
        let lost = (before.digests().len() > after.digests().len()).then_some(after.digests().len());
        let version = version.or(lost)?;
        let table = &setting.tables[index];
        let message = format!("version {version} of table '{table}' was written again with other contents");
        Some(Violation { kind: ViolationKind::Structure, message })
    })
}

impl Model for WorldModel {
    type State = Parted;
    type Event = Event;
    type Violation = Violation;
    type Kind = ViolationKind;
    type Error = CallError;

    fn initial(&mut self) -> Result<Parted, CallError> {
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
    ) -> Result<Parted, CallError> {
        self.know(state);
        let mut after = state.0.clone();
        let (writer, fault) = match event {
            Event::Step { writer } => (writer, None),
            Event::Fault { writer, fault } => (writer, Some(fault)),
            Event::Land { position } => {
                let mut tables = Tables::clone(&self.known.tables[state.0[0] as usize]);
                let mut network = Network::clone(&self.known.networks[state.0[1] as usize]);
                let now_ms = self.setting.call_clock_ms(network.late[position].call);
                network.land(position, &mut tables, now_ms);
                network.drop_hopeless(&tables);
                after[0] = self.shared.lock().tables.number(tables);
                after[1] = self.network_number(network);
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
            after[1] = self.network_number(network);
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

    /// What a fork computes, this one need not, and the other way round. While one computes something for the first time, the others wait with what they
    /// do not know either.
    fn fork(&self) -> Option<Self> {
        let (setting, shared, first) = (self.setting.clone(), self.shared.clone(), self.first.clone());
        Some(Self { known: Known::new(setting.scenario.writers.len()), setting, shared, first })
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
        shared.tables.values.len() * 6_000 + writers * 3_000 + steps * 100
    }
}
