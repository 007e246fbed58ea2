//! A failure file again, step by step.

use std::sync::Arc;

use super::Failure;
use crate::{
    call::CallError,
    explore::WorldModel,
    judge::Violation,
    rule_choice::RuleChoiceError,
    run::{RunResult, SimulatedFiles, conclude},
    search::Model,
    sql::nearest::nearest,
    world::{Clock, Environment, Event, Setting, SettingError, World, WorldError},
};

/// What a schedule came to.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// What ran.
    pub setting: Arc<Setting>,
    /// What it came to; times in its history are steps, from 1. Its violations are those of `found`.
    pub result: RunResult,
    /// The first violation of each kind, with the number of the step after which it was there.
    pub found: Vec<(usize, Violation)>,
    /// The step after which a violation of the file's kind was there.
    pub reproduced: Option<usize>,
}

/// A schedule that cannot be followed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The rules do not exist.
    #[error(transparent)]
    Rules(#[from] RuleChoiceError),
    /// The scenario cannot run.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The world cannot go on.
    #[error(transparent)]
    World(#[from] WorldError),
    /// A step that is no `WRITER.STEP` of a writer of the scenario.
    #[error("schedule, step {position}: '{label}' is no step of a writer; the writers are {known}{meant}")]
    NoWriter {
        /// Its position, from 1.
        position: usize,
        /// The step.
        label: String,
        /// The writers.
        known: String,
        /// `; did you mean ...`, or nothing.
        meant: String,
    },
    /// A step that is not possible where it stands.
    #[error("schedule, step {position}: '{label}' is not possible here; possible {enabled}")]
    NotEnabled {
        /// Its position, from 1.
        position: usize,
        /// The step.
        label: String,
        /// What is: `are a.put, b.load` or `is nothing`.
        enabled: String,
    },
}

impl From<CallError> for ReplayError {
    fn from(error: CallError) -> Self {
        Self::World(error.into())
    }
}

impl Failure {
    /// Follows the schedule from a fresh world, and judges after each step as the search does.
    ///
    /// # Errors
    /// When the scenario cannot run, or the schedule cannot be followed.
    pub fn replay(&self) -> Result<Replayed, ReplayError> {
        let rules = self.rules.rule_set()?;
        let setting = Setting::new(self.scenario.clone(), rules, String::new(), Clock::PerCall, self.granularity)?;
        let setting = Arc::new(setting);
        let mut environment = Environment::default();
        let mut world = World::new(setting.clone(), &mut environment)?;
        let first = world.tables.iter().map(|table| table.commits()).collect();

        // The model of the search judges; the world beside it keeps the history.
        let mut model = WorldModel::new(setting.clone())?;
        let mut state = model.initial()?;
        let mut found: Vec<(usize, Violation)> = Vec::new();
        let mut steps = Vec::new();
        for step in 0..=self.schedule.len() {
            if let Some(label) = step.checked_sub(1).map(|index| &self.schedule[index]) {
                let event = event(&world, step, label)?;
                world.now_ms = step as i64;
                world.apply(&mut environment, event)?;
                state = model.apply(&state, event, &mut steps)?;
            }
            let at_end = world.writers.iter().all(|writer| writer.need().is_none());
            for (kind, violation) in steps.drain(..).chain(model.violations(&state, at_end)) {
                if !found.iter().any(|(_, known)| known.kind == kind) {
                    found.push((step, violation));
                }
            }
        }
        let reproduced = found.iter().find(|(_, violation)| violation.kind == self.kind).map(|(step, _)| *step);
        let mut result = conclude(&setting, world.history, first, &world.tables, &mut SimulatedFiles(&environment));
        // What the whole schedule comes to is not what was found on the way, and [expect] speaks of ends only.
        result.violations = found.iter().map(|(_, violation)| violation.clone()).collect();
        Ok(Replayed { setting, result, found, reproduced })
    }
}

/// The event that a step of a schedule names.
fn event(world: &World, position: usize, label: &str) -> Result<Event, ReplayError> {
    let writers = &world.setting().scenario.writers;
    let names = || writers.iter().map(|writer| writer.name.as_str());
    let name = label.split_once('.').map_or(label, |(name, _)| name);
    if !names().any(|known| known == name) {
        return Err(ReplayError::NoWriter {
            position,
            label: label.to_owned(),
            known: names().collect::<Vec<_>>().join(", "),
            meant: nearest(name, names()).map(|name| format!("; did you mean '{name}'?")).unwrap_or_default(),
        });
    }
    match world.event(label) {
        Some(event) => Ok(event),
        None => {
            let labels: Vec<String> = world.events().into_iter().map(|event| world.label(event)).collect();
            let enabled = match labels.as_slice() {
                [] => "is nothing, all writers have finished".to_owned(),
                [one] => format!("is {one}"),
                several => format!("are {}", several.join(", ")),
            };
            Err(ReplayError::NotEnabled { position, label: label.to_owned(), enabled })
        }
    }
}
