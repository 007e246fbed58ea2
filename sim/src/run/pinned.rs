//! A run along a pinned schedule.

use super::time::Latencies;
use crate::{
    call::{Call, Need},
    scenario::{Pinned, PinnedStep},
    world::{Environment, Event, Fault, FaultBudget, Setting, World, WorldError, Writer},
};
use log_core::store::Request;

/// A pinned step that is not possible where it stands.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("schedule, step {position} '{step}': {reason}; possible are {enabled}")]
pub struct NotEnabled {
    /// Its position, from 1.
    pub position: usize,
    /// The step.
    pub step: String,
    /// Why not.
    pub reason: &'static str,
    /// What is.
    pub enabled: String,
}

/// Follows the pinned schedule, then lets every writer make a step in turn until all have finished.
///
/// # Errors
/// When a step is not possible where it stands.
pub(super) fn follow_schedule(
    world: &mut World,
    environment: &mut Environment,
    clock: &mut Latencies,
) -> Result<(), super::RunError> {
    let setting = world.setting().clone();
    let schedule = setting.scenario.schedule.clone().unwrap_or_default();
    for (position, pinned) in schedule.iter().enumerate() {
        let writer = setting.scenario.writers.iter().position(|spec| spec.name == pinned.writer);
        let writer = writer.expect("the scenario's reader checked the names");
        let stands: Vec<Stand> = world.writers.iter().map(Stand::of).collect();
        if let Some(error) = refuse(&setting, position, pinned, &stands) {
            return Err(error.into());
        }
        if pinned.step == PinnedStep::Crash {
            world.network.budget = FaultBudget::of_mix(1, &[Fault::Crash.kind()]);
            world.apply(environment, Event::Fault { writer, fault: Fault::Crash }).map_err(WorldError::from)?;
            continue;
        }
        let call = world.writers[writer].call().map(|call| call.context.id);
        loop {
            step(world, environment, clock, writer)?;
            let state = &world.writers[writer];
            let same_call = state.call().map(|call| call.context.id) == call;
            let done = Stand::of(state).ends(pinned.step);
            if !same_call || done {
                break;
            }
        }
    }
    // What the schedule does not say goes round: a step for each writer that can make one.
    loop {
        let writers: Vec<usize> =
            (0..world.writers.len()).filter(|writer| world.writers[*writer].need().is_some()).collect();
        if writers.is_empty() {
            return Ok(());
        }
        for writer in writers {
            step(world, environment, clock, writer)?;
        }
    }
}

fn step(
    world: &mut World,
    environment: &mut Environment,
    clock: &mut Latencies,
    writer: usize,
) -> Result<(), WorldError> {
    if let Some(need) = world.writers[writer].need() {
        world.now_ms += clock.draw(writer, need);
    }
    Ok(world.apply(environment, Event::Step { writer })?)
}

/// Where a writer stands, as far as a pinned step asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stand {
    /// It has made its last call.
    Finished,
    /// Its call has no commit ready yet.
    Reading,
    /// Its call is about to put its commit.
    AtPut,
    /// Its call is committing, and is not about to put.
    Committing,
}

impl Stand {
    fn of(writer: &Writer) -> Self {
        match (writer.call(), writer.need()) {
            (Some(call), Some(need)) => Self::of_call(call, need),
            _ => Self::Finished,
        }
    }

    /// Where a call stands that needs this next.
    pub(crate) fn of_call(call: &Call, need: &Need) -> Self {
        match (call.is_committing(), need) {
            (false, _) => Self::Reading,
            (true, Need::Store(Request::PutIfAbsent { .. })) => Self::AtPut,
            (true, _) => Self::Committing,
        }
    }

    /// Why a pinned step is not possible here; `None` when it is.
    pub(crate) fn refusal(self, step: PinnedStep) -> Option<&'static str> {
        match (step, self) {
            (_, Self::Finished) => Some("the writer has finished"),
            (PinnedStep::Crash, _) => None,
            (PinnedStep::Read, Self::AtPut | Self::Committing) => Some("its call is committing already"),
            (PinnedStep::Put | PinnedStep::Commit, Self::Reading) => Some("its call has no commit ready yet"),
            (PinnedStep::Put, Self::Committing) => Some("its put was lost, and the winners are not read yet"),
            (PinnedStep::Read, Self::Reading)
            | (PinnedStep::Put, Self::AtPut)
            | (PinnedStep::Commit, Self::AtPut | Self::Committing) => None,
        }
    }

    /// Is a pinned step over for a call that it brought here?
    pub(crate) fn ends(self, step: PinnedStep) -> bool {
        match step {
            PinnedStep::Read => self == Self::AtPut,
            PinnedStep::Put | PinnedStep::Crash => true,
            PinnedStep::Commit => false,
        }
    }
}

/// A pinned step that is not possible, if it is not, with those that are.
pub(crate) fn refuse(setting: &Setting, position: usize, pinned: &Pinned, stands: &[Stand]) -> Option<NotEnabled> {
    let writers = || setting.scenario.writers.iter().zip(stands);
    let (_, stand) = writers().find(|(spec, _)| spec.name == pinned.writer)?;
    let reason = stand.refusal(pinned.step)?;
    let enabled: Vec<String> = writers()
        .flat_map(|(spec, stand)| PinnedStep::ALL.map(|step| (&spec.name, *stand, step)))
        .filter(|(_, stand, step)| stand.refusal(*step).is_none())
        .map(|(name, _, step)| format!("{name}.{}", step.name()))
        .collect();
    Some(NotEnabled {
        position: position + 1,
        step: format!("{}.{}", pinned.writer, pinned.step.name()),
        reason,
        enabled: if enabled.is_empty() { "none".to_owned() } else { enabled.join(", ") },
    })
}
