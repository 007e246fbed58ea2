//! The simulated world as a model to search: every interleaving of the writers.
//!
//! A step of a writer depends on that writer and on the tables, and changes nothing else. So a state is kept as a few numbers, one for the tables and
//! one for each writer, and a step is computed once for each pair of them, however many states it occurs in.

use std::{collections::BTreeMap, hash::Hash, sync::Arc};

use hashbrown::HashMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

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
pub struct WorldModel {
    setting: Arc<Setting>,
    environment: Environment,
    judge: Judge,
    tables: Parts<Tables>,
    networks: Parts<Network>,
    writers: Vec<Parts<Writer>>,
    /// What a step of a writer leads to, by writer, its part, the tables' part and the fault.
    steps: Vec<FxHashMap<(u32, u32, Option<Fault>), Step>>,
    /// What is wrong with the tables alone.
    judged: FxHashMap<u32, Arc<[Violation]>>,
    /// What is wrong between a writer and the tables.
    checked: Vec<FxHashMap<(u32, u32), Option<Violation>>>,
    first: Vec<u32>,
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
    values: Vec<T>,
    numbers: HashMap<T, u32, FxBuildHasher>,
}

impl<T: Clone + Eq + Hash> Parts<T> {
    fn new() -> Self {
        Self { values: Vec::new(), numbers: HashMap::default() }
    }

    fn number(&mut self, value: &T) -> u32 {
        if let Some(known) = self.numbers.get(value) {
            return *known;
        }
        let number = u32::try_from(self.values.len()).expect("fewer than four billion parts");
        self.values.push(value.clone());
        self.numbers.insert(value.clone(), number);
        number
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
        let mut model = Self {
            judge: Judge::new(setting.clone(), made),
            setting,
            environment,
            tables: Parts::new(),
            networks: Parts::new(),
            writers: (0..writers).map(|_| Parts::new()).collect(),
            steps: vec![FxHashMap::default(); writers],
            judged: FxHashMap::default(),
            checked: vec![FxHashMap::default(); writers],
            first: Vec::new(),
        };
        model.first.push(model.tables.number(&world.tables));
        model.first.push(model.networks.number(&world.network));
        for (parts, writer) in model.writers.iter_mut().zip(&world.writers) {
            let number = parts.number(writer);
            model.first.push(number);
        }
        Ok(model)
    }

    /// Calls of writers that made a commit in a state.
    pub fn committed(&self, state: &Parted) -> usize {
        self.writer_parts(state).map(Writer::committed).sum()
    }

    /// Calls of writers whose end nobody knows.
    pub fn unknown(&self, state: &Parted) -> usize {
        let unknown = |end: &&crate::world::Finished| matches!(end, crate::world::Finished::Unknown { .. });
        self.writer_parts(state).map(|writer| writer.finished().iter().filter(unknown).count()).sum()
    }

    /// The digest of the rows of each table that exists in a state.
    pub fn contents(&mut self, state: &Parted) -> BTreeMap<String, String> {
        let tables = self.tables.values[state.0[0] as usize].clone();
        let mut contents = BTreeMap::new();
        for (index, name) in self.setting.tables.clone().into_iter().enumerate() {
            let Some(view) = self.view(&tables, index) else { continue };
            let rows = self.judge.oracle().rows(*view.contents.last().expect("a view has a version")).clone();
            let all = rows.iter().flat_map(|(row, count)| (0..count).map(move |_| row.as_slice()));
            contents.insert(name, rows_sha256(all));
        }
        contents
    }

    /// A number that two states share only if their tables are the same.
    pub fn tables_number(&self, state: &Parted) -> u32 {
        state.0[0]
    }

    fn writer_parts(&self, state: &Parted) -> impl Iterator<Item = &Writer> {
        self.writers.iter().zip(&state.0[WRITERS..]).map(|(parts, number)| &parts.values[*number as usize])
    }

    fn view(&mut self, tables: &Tables, index: usize) -> Option<Arc<LogView>> {
        let table = tables.get(index).clone();
        let log = Log { table: index, digests: table.digests(), commit: &|version| table.commit(version) };
        self.judge.view(&log, &mut SimulatedFiles(&self.environment))
    }

    fn judge_tables(&mut self, number: u32) -> Arc<[Violation]> {
        if let Some(known) = self.judged.get(&number) {
            return known.clone();
        }
        let tables = self.tables.values[number as usize].clone();
        let mut violations = Vec::new();
        for index in 0..self.setting.tables.len() {
            let table = tables.get(index).clone();
            let log = Log { table: index, digests: table.digests(), commit: &|version| table.commit(version) };
            let setting = &self.setting;
            let (found, _) = self.judge.judge(
                &log,
                &mut SimulatedFiles(&self.environment),
                &|call| setting.call_clock_ms(call),
                &[],
            );
            violations.extend(found);
        }
        let violations: Arc<[Violation]> = violations.into();
        self.judged.insert(number, violations.clone());
        violations
    }

    fn check_writer(&mut self, writer: usize, part: u32, number: u32) -> Option<Violation> {
        if let Some(known) = self.checked[writer].get(&(part, number)) {
            return known.clone();
        }
        let tables = self.tables.values[number as usize].clone();
        let views: Vec<_> = (0..self.setting.tables.len()).map(|index| self.view(&tables, index)).collect();
        let outcomes = self.writers[writer].values[part as usize].outcomes(writer);
        let violation = self.judge.check_once(&outcomes, &views);
        self.checked[writer].insert((part, number), violation.clone());
        violation
    }

    /// One step, computed for real.
    fn step(&mut self, writer: usize, part: u32, number: u32, fault: Option<Fault>) -> Result<Step, CallError> {
        let mut state = self.writers[writer].values[part as usize].clone();
        let before = self.tables.values[number as usize].clone();
        let mut tables = before.clone();
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
        Ok(Step {
            writer: self.writers[writer].number(&state),
            tables: self.tables.number(&tables),
            late: network.late.pop(),
            violation: violation.map(Arc::new),
        })
    }

    fn judge_answers(
        &mut self,
        tables: &Tables,
        answers: Vec<(CallId, Option<log_core::path::Version>, Vec<Vec<log_core::value::Value>>)>,
    ) -> Option<Violation> {
        answers.into_iter().find_map(|(call, read, rows)| {
            let index = self.setting.table_index(self.setting.sql(call).statement.table()?);
            let table = tables.get(index).clone();
            let log = Log { table: index, digests: table.digests(), commit: &|version| table.commit(version) };
            let setting = &self.setting;
            let query = PlainQuery { call, read, rows };
            let (found, _) = self.judge.judge(
                &log,
                &mut SimulatedFiles(&self.environment),
                &|call| setting.call_clock_ms(call),
                &[query],
            );
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
        Ok(Parted(self.first.clone().into()))
    }

    fn events(&self, state: &Parted, events: &mut Vec<Event>) {
        let tables = &self.tables.values[state.0[0] as usize];
        let network = &self.networks.values[state.0[1] as usize];
        list_events(&self.setting, tables, network, self.writer_parts(state), events);
    }

    /// No writer has anything left to do; whether late puts still land is open.
    fn is_end(&self, _: &Parted, events: &[Event]) -> bool {
        events.iter().all(|event| matches!(event, Event::Land { .. }))
    }

    fn apply(
        &mut self,
        state: &Parted,
        event: Event,
        violations: &mut Vec<(ViolationKind, Violation)>,
    ) -> Result<Parted, CallError> {
        let mut after = state.0.clone();
        let (writer, fault) = match event {
            Event::Step { writer } => (writer, None),
            Event::Fault { writer, fault } => (writer, Some(fault)),
            Event::Land { position } => {
                let mut tables = self.tables.values[state.0[0] as usize].clone();
                let mut network = self.networks.values[state.0[1] as usize].clone();
                let now_ms = self.setting.call_clock_ms(network.late[position].call);
                network.land(position, &mut tables, now_ms);
                network.drop_hopeless(&tables);
                after[0] = self.tables.number(&tables);
                after[1] = self.networks.number(&network);
                return Ok(Parted(after));
            }
        };
        let (tables, part) = (state.0[0], state.0[WRITERS + writer]);
        let step = match self.steps[writer].get(&(part, tables, fault)) {
            Some(step) => step.clone(),
            None => {
                let step = self.step(writer, part, tables, fault)?;
                self.steps[writer].insert((part, tables, fault), step.clone());
                step
            }
        };
        violations.extend(step.violation.map(|violation| (violation.kind, Violation::clone(&violation))));
        after[0] = step.tables;
        after[WRITERS + writer] = step.writer;
        let network = &self.networks.values[state.0[1] as usize];
        if fault.is_some() || !network.late.is_empty() {
            let mut network = network.clone();
            if let Some(fault) = fault {
                network.budget.spend(fault.kind());
            }
            if let Some(late) = step.late {
                network.delay(late);
            }
            network.drop_hopeless(&self.tables.values[step.tables as usize]);
            after[1] = self.networks.number(&network);
        }
        Ok(Parted(after))
    }

    fn violations(&mut self, state: &Parted, at_end: bool) -> Vec<(ViolationKind, Violation)> {
        let tables = state.0[0];
        let mut violations: Vec<Violation> = self.judge_tables(tables).to_vec();
        for writer in 0..self.writers.len() {
            violations.extend(self.check_writer(writer, state.0[WRITERS + writer], tables));
        }
        if at_end {
            violations.extend(self.setting.unexpected(self.committed(state)));
        }
        violations.into_iter().map(|violation| (violation.kind, violation)).collect()
    }

    fn extra_bytes(&self, state: &Parted) -> usize {
        // A box's own bytes and what the allocator adds.
        size_of_val(&*state.0).next_multiple_of(16) + 16
    }

    fn shared_bytes(&self) -> usize {
        // Measured: a log of a dozen commits and what is known about it, a writer in the middle of a commit, a step.
        let steps: usize = self.steps.iter().map(FxHashMap::len).sum();
        let writers: usize = self.writers.iter().map(|parts| parts.values.len()).sum();
        self.tables.values.len() * 6_000 + writers * 3_000 + steps * 100
    }
}
