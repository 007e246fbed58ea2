//! Virtual time: how long requests take, and what goes wrong with them.

use std::collections::BTreeMap;

use log_core::store::Request;

use crate::{
    call::Need,
    random::Random,
    scenario::{Faults, Latency, PartsPerMillion, PutEffect, StoreSpec},
    world::{Environment, Event, Fault, FaultBudget, FaultKind, LatePut, World, WorldError},
};

/// A request that was not answered is given up after so many times the longest time that it can take.
const TIMEOUT_FACTOR: i64 = 3;
/// A late put lands after so many times the longest time that a put can take, at most.
const LATE_FACTOR: u32 = 20;
/// Of so many late puts one never lands.
const NEVER_LANDS: u64 = 4;
/// The longest pause before the third put of a commit, in milliseconds. It doubles from put to put; before the second there is none.
const BACKOFF_MS: u32 = 50;
/// The longest pause before any put, in milliseconds.
const BACKOFF_MS_MAX: u32 = 5_000;
/// At most so many of the newest commits are missing from a listing that lags.
const LAG_MAX: u64 = 3;

/// Draws how long each request takes and what goes wrong with it. Each writer has a stream for its latencies and another for its faults, so that a fault
/// changes nothing about the luck of the requests before it, nor of other writers.
#[derive(Clone)]
pub(super) struct Latencies {
    latency: Latency,
    effect: PutEffect,
    rates: Faults<PartsPerMillion>,
    streams: Vec<Random>,
    fault_streams: Vec<Random>,
}

/// What is to become of a request.
#[derive(Clone, Copy, Debug)]
struct Plan {
    /// Milliseconds until it takes effect.
    effect_ms: i64,
    /// Milliseconds from then until its writer goes on.
    answer_ms: i64,
    fault: Option<Fault>,
}

impl Latencies {
    pub(super) fn new(store: &StoreSpec, seed: u64, writers: usize) -> Self {
        let streams = |first: u64| (first..first + writers as u64).map(|stream| Random::new(seed, stream)).collect();
        Self {
            latency: store.latency,
            effect: store.put_effect,
            rates: store.fault_rate,
            streams: streams(0),
            fault_streams: streams(1 << 32),
        }
    }

    /// Milliseconds that a need takes.
    pub(super) fn draw(&mut self, writer: usize, need: &Need) -> i64 {
        let latency = &self.latency;
        let range = match need {
            Need::Store(Request::List { .. }) => latency.list_ms,
            Need::Store(
                Request::Head { .. } | Request::Get { .. } | Request::GetRange { .. } | Request::GetMany { .. },
            ) => latency.get_ms,
            Need::Store(Request::PutIfAbsent { .. } | Request::Put { .. } | Request::Delete { .. })
            | Need::Write(_) => latency.put_ms,
            Need::Store(Request::Backoff { attempt }) => [0, backoff_ms(*attempt)],
            Need::Execute(_) => latency.compute_ms,
        };
        i64::from(self.streams[writer].between(range))
    }

    fn plan(&mut self, writer: usize, need: &Need, hidden: u64) -> Plan {
        let whole = self.draw(writer, need);
        let put = matches!(need, Need::Store(Request::PutIfAbsent { .. }));
        let effect_ms = match self.effect {
            PutEffect::Middle if put => whole / 2,
            _ => whole,
        };
        let fault = self.draw_fault(writer, need, hidden);
        let answer_ms = match fault.map(Fault::kind) {
            Some(FaultKind::PutLost | FaultKind::ReplyLost | FaultKind::PutLate) => {
                i64::from(self.latency.put_ms[1]) * TIMEOUT_FACTOR
            }
            _ => whole - effect_ms,
        };
        Plan { effect_ms, answer_ms, fault }
    }

    fn happens(&mut self, writer: usize, rate: PartsPerMillion) -> bool {
        rate.0 > 0 && self.fault_streams[writer].below(1_000_000) < u64::from(rate.0)
    }

    fn draw_fault(&mut self, writer: usize, need: &Need, hidden: u64) -> Option<Fault> {
        let rates = self.rates;
        let Need::Store(request) = need else { return None };
        if matches!(request, Request::Backoff { .. }) {
            return None;
        }
        let put = matches!(request, Request::PutIfAbsent { .. });
        if self.happens(writer, rates.crash) {
            let after = put && self.fault_streams[writer].below(2) == 1;
            return Some(if after { Fault::CrashAfterPut } else { Fault::Crash });
        }
        if put {
            let faults = [
                (rates.put_lost, Fault::PutLost),
                (rates.reply_lost, Fault::ReplyLost),
                (rates.put_late, Fault::PutLate),
            ];
            return faults.into_iter().find(|(rate, _)| self.happens(writer, *rate)).map(|(_, fault)| fault);
        }
        if matches!(request, Request::List { .. }) && hidden > 0 && self.happens(writer, rates.list_lag) {
            let missing = 1 + self.fault_streams[writer].below(hidden.min(LAG_MAX)) as u8;
            return Some(Fault::ListLag { missing });
        }
        None
    }

    /// Milliseconds until a late put lands, if it ever does.
    fn landing(&mut self, writer: usize) -> Option<i64> {
        let random = &mut self.fault_streams[writer];
        let lands = random.below(NEVER_LANDS) > 0;
        let after = random.between([0, self.latency.put_ms[1].saturating_mul(LATE_FACTOR)]);
        lands.then_some(i64::from(after))
    }
}

fn backoff_ms(attempt: u32) -> u32 {
    match attempt.checked_sub(2) {
        None => 0,
        Some(doublings) => BACKOFF_MS.saturating_mul(1 << doublings.min(16)).min(BACKOFF_MS_MAX),
    }
}

/// Every writer's next request is on its way; the one that is done first happens first, the first writer's among equals.
pub(super) fn run_by_time(
    world: &mut World,
    environment: &mut Environment,
    clock: &mut Latencies,
) -> Result<(), WorldError> {
    if clock.rates != Faults::default() {
        world.network.budget = FaultBudget::of_mix(u32::MAX, &[]);
    }
    let writers = world.writers.len();
    let mut due: Vec<Option<(i64, Plan)>> = vec![None; writers];
    let mut free_at = vec![world.now_ms; writers];
    let mut landings: BTreeMap<(i64, LatePut), ()> = BTreeMap::new();
    loop {
        for writer in 0..writers {
            if due[writer].is_none()
                && let Some(need) = world.writers[writer].need()
            {
                let plan = clock.plan(writer, need, world.hidden_commits(writer));
                due[writer] = Some((free_at[writer] + plan.effect_ms, plan));
            }
        }
        let next = due.iter().enumerate().filter_map(|(writer, due)| due.map(|(at, _)| (at, writer))).min();
        let landing = landings.keys().next().map(|(at, _)| *at);
        let Some((at, writer)) = next else { break };
        if landing.is_some_and(|landing| landing <= at) {
            land_next(world, environment, &mut landings)?;
            continue;
        }
        let (_, plan) = due[writer].take().expect("it was just found");
        world.now_ms = at;
        free_at[writer] = at + plan.answer_ms;
        let known = world.network.late.clone();
        let event = match plan.fault {
            None => Event::Step { writer },
            Some(fault) => Event::Fault { writer, fault },
        };
        world.apply(environment, event)?;
        if plan.fault == Some(Fault::PutLate)
            && let Some(late) = world.network.late.iter().find(|late| !known.contains(late)).cloned()
            && let Some(after) = clock.landing(writer)
        {
            landings.insert((at + after, late), ());
        }
    }
    while !landings.is_empty() {
        land_next(world, environment, &mut landings)?;
    }
    Ok(())
}

fn land_next(
    world: &mut World,
    environment: &mut Environment,
    landings: &mut BTreeMap<(i64, LatePut), ()>,
) -> Result<(), WorldError> {
    let Some(((at, late), ())) = landings.pop_first() else { return Ok(()) };
    world.now_ms = world.now_ms.max(at);
    // It is gone when somebody else has taken its place.
    match world.network.late.iter().position(|other| *other == late) {
        Some(position) => Ok(world.apply(environment, Event::Land { position })?),
        None => Ok(()),
    }
}
