//! What the forks of a world model share: everything that is computed, and how parts are numbered.

use std::{hash::Hash, sync::Arc};

use rustc_hash::FxHashMap;

use super::{Parted, WRITERS, orbits::Orbits, symmetry::Symmetry};
use crate::{
    call::CallEnd,
    history::What,
    judge::{Judge, Log, LogView, PlainQuery, Violation, ViolationKind},
    naming::CallId,
    run::SimulatedFiles,
    world::{Environment, Fault, FaultBudget, LatePut, Network, Scene, Setting, Tables, World, WorldError, Writer},
};

/// All that was computed, on whatever thread.
pub(super) struct Shared {
    pub(super) setting: Arc<Setting>,
    pub(super) environment: Environment,
    pub(super) judge: Judge,
    pub(super) tables: Parts<Tables>,
    pub(super) networks: Parts<Network>,
    pub(super) writers: Vec<Parts<Writer>>,
    pub(super) memo: Memo,
    /// Where writers may take each other's places: what becomes of each part then.
    pub(super) orbits: Option<Orbits>,
}

/// Answers to what was asked.
pub(super) struct Memo {
    /// What a step of a writer leads to, by writer, its part, the tables' part and the fault.
    pub(super) steps: Vec<FxHashMap<StepKey, Step>>,
    /// What is wrong with the tables alone.
    pub(super) judged: FxHashMap<u32, Arc<[Violation]>>,
    /// What is wrong between a writer and the tables.
    pub(super) checked: Vec<FxHashMap<CheckKey, Option<Arc<Violation>>>>,
}

/// A writer's part, the tables' part, and the fault that the step has.
pub(super) type StepKey = (u32, u32, Option<Fault>);

/// A writer's part and the tables' part.
pub(super) type CheckKey = (u32, u32);

/// What a step of a writer leads to.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) writer: u32,
    pub(super) tables: u32,
    /// A put of the step that is still on its way.
    pub(super) late: Option<LatePut>,
    /// A query that ended in the step was answered wrong, or a commit was acknowledged that is not there.
    pub(super) violation: Option<Arc<Violation>>,
}

/// Values by number, each once.
#[derive(Debug)]
pub(super) struct Parts<T> {
    pub(super) values: Vec<Arc<T>>,
    pub(super) numbers: FxHashMap<Arc<T>, u32>,
}

impl<T: Eq + Hash> Parts<T> {
    pub(super) fn new() -> Self {
        Self { values: Vec::new(), numbers: FxHashMap::default() }
    }

    pub(super) fn number(&mut self, value: T) -> u32 {
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
    pub(super) fn new(writers: usize) -> Self {
        Self {
            steps: vec![FxHashMap::default(); writers],
            judged: FxHashMap::default(),
            checked: vec![FxHashMap::default(); writers],
        }
    }
}

impl Shared {
    /// Runs the setup; gives the numbers of the parts of the first state as well.
    pub(super) fn new(setting: Arc<Setting>, symmetry: Option<Arc<Symmetry>>) -> Result<(Self, Vec<u32>), WorldError> {
        let mut environment = Environment::default();
        let world = World::new(setting.clone(), &mut environment)?;
        let made = world.tables.iter().map(|table| table.commits()).collect();
        let writers = setting.scenario.writers.len();
        let mut shared = Self {
            judge: Judge::new(setting.clone(), made),
            setting,
            environment,
            tables: Parts::new(),
            networks: Parts::new(),
            writers: (0..writers).map(|_| Parts::new()).collect(),
            memo: Memo::new(writers),
            orbits: None,
        };
        let mut first = vec![shared.tables.number(world.tables), shared.networks.number(world.network)];
        first.extend(shared.writers.iter_mut().zip(world.writers).map(|(parts, writer)| parts.number(writer)));
        shared.orbits = symmetry.map(|symmetry| Orbits::new(symmetry, &mut shared)).transpose()?;
        Ok((shared, first))
    }

    pub(super) fn writer_parts(&self, state: &Parted) -> impl Iterator<Item = &Arc<Writer>> {
        self.writers.iter().zip(&state.0[WRITERS..]).map(|(parts, number)| &parts.values[*number as usize])
    }

    pub(super) fn view(&mut self, tables: &Tables, index: usize) -> Option<Arc<LogView>> {
        let table = tables.get(index);
        let log = Log { table: index, digests: table.digests(), commit: &|version| table.commit(version) };
        self.judge.view(&log, &mut SimulatedFiles(&self.environment))
    }

    pub(super) fn judge_tables(&mut self, number: u32) -> Arc<[Violation]> {
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

    pub(super) fn check_writer(&mut self, writer: usize, key: CheckKey) -> Option<Arc<Violation>> {
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
    pub(super) fn step(&mut self, writer: usize, key: StepKey) -> Result<Step, WorldError> {
        if let Some(known) = self.memo.steps[writer].get(&key) {
            return Ok(known.clone());
        }
        let Some(mut orbits) = self.orbits.take() else {
            let step = self.make_step(writer, key)?;
            self.memo.steps[writer].insert(key, step.clone());
            return Ok(step);
        };
        let step = orbits.step(self, writer, key);
        self.orbits = Some(orbits);
        step
    }

    /// The tables after a late put has landed.
    pub(super) fn land(&mut self, put: &LatePut, tables: u32) -> Result<u32, WorldError> {
        let Some(mut orbits) = self.orbits.take() else { return Ok(self.make_landing(put, tables)) };
        let after = orbits.land(self, put, tables);
        self.orbits = Some(orbits);
        after
    }

    /// The number of a network.
    pub(super) fn network(&mut self, network: Network) -> Result<u32, WorldError> {
        let Some(mut orbits) = self.orbits.take() else { return Ok(self.networks.number(network)) };
        let number = orbits.network(self, network);
        self.orbits = Some(orbits);
        number
    }

    pub(super) fn make_landing(&mut self, put: &LatePut, tables: u32) -> u32 {
        let mut tables = Tables::clone(&self.tables.values[tables as usize]);
        let mut network = Network { late: vec![put.clone()], ..Network::default() };
        network.land(0, &mut tables, self.setting.call_clock_ms(put.call));
        self.tables.number(tables)
    }

    pub(super) fn make_step(&mut self, writer: usize, key: StepKey) -> Result<Step, WorldError> {
        let (part, number, fault) = key;
        let mut state = Writer::clone(&self.writers[writer].values[part as usize]);
        let before = self.tables.values[number as usize].clone();
        let mut tables = Tables::clone(&before);
        let mut answers = Vec::new();
        // The step is the same whatever else is on its way, so it runs in a network of its own.
        let budget = fault.map_or_else(FaultBudget::default, |fault| FaultBudget::of_mix(1, &[fault.kind()]));
        let mut network = Network::new(budget, &tables);
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
            writer: self.writers[writer].number(state),
            tables: self.tables.number(tables),
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
