use std::{collections::BTreeMap, ops::ControlFlow};

use super::*;
use crate::models::put_if_absent::{PutIfAbsentLog, State, Step};

/// What somebody looks for in M(W, C).
#[derive(Clone, Copy)]
struct Watched {
    log: PutIfAbsentLog,
    /// Kinds of what is wrong with a step.
    step: fn(&State, Step, &State) -> Option<u8>,
    /// Kinds of what is wrong with a state.
    state: fn(&State) -> Option<u8>,
    /// Is there a step after which the model cannot go on?
    breaks: fn(&State, Step) -> bool,
}

impl Watched {
    fn new(writers: u32, commits: u32) -> Self {
        let log = PutIfAbsentLog::new(writers, commits).expect("there is room");
        Self { log, step: |_, _, _| None, state: |_| None, breaks: |_, _| false }
    }
}

impl Model for Watched {
    type State = State;
    type Event = Step;
    type Violation = String;
    type Kind = u8;
    type Error = String;

    fn initial(&mut self) -> Result<State, String> {
        Ok(self.log.first())
    }

    fn events(&mut self, state: &State, events: &mut Vec<Step>) {
        self.log.events(state, events);
    }

    fn apply(&mut self, state: &State, event: Step, violations: &mut Vec<(u8, String)>) -> Result<State, String> {
        if (self.breaks)(state, event) {
            return Err(format!("{state:?} {event:?}"));
        }
        let after = self.log.after(state, event);
        violations.extend((self.step)(state, event, &after).map(|kind| (kind, format!("{state:?} {event:?}"))));
        Ok(after)
    }

    fn violations(&mut self, state: &State, _at_end: bool) -> Vec<(u8, String)> {
        (self.state)(state).map(|kind| (kind, format!("{state:?}"))).into_iter().collect()
    }

    fn canonical(&mut self, state: State) -> State {
        self.log.canonical(state)
    }

    fn fork(&self) -> Option<Self> {
        Some(*self)
    }
}

fn search<M: Model>(model: &mut M, memory_bytes: usize, threads: usize, symmetry: bool) -> Exploration<M> {
    let options = Options { limits: Limits { memory_bytes }, threads, symmetry };
    match explore_with(model, options, &mut |_| ControlFlow::Continue(())) {
        Ok(exploration) => exploration,
        Err(_) => panic!("the model goes on"),
    }
}

/// The first schedule of so many events, in their order, at the end of which something of a kind is wrong.
fn first_of_length(model: &mut Watched, kind: u8, length: usize, schedule: &mut Vec<Step>) -> bool {
    let replayed = replay(model, schedule, None).expect("the model goes on");
    if schedule.len() == length {
        return replayed.violations.get(&kind).is_some_and(|(at, _)| *at == length);
    }
    let mut events = Vec::new();
    model.events(&replayed.end, &mut events);
    for event in events {
        schedule.push(event);
        if first_of_length(model, kind, length, schedule) {
            return true;
        }
        schedule.pop();
    }
    false
}

fn lost(before: &State, step: Step, after: &State) -> bool {
    before.length() == after.length() && before.knows(step.writer.into()).is_some()
}

/// Searches whose violations are met in steps, in states, and in both.
fn searches() -> Vec<Watched> {
    vec![
        Watched { step: |before, step, after| lost(before, step, after).then_some(0), ..Watched::new(3, 2) },
        Watched {
            step: |before, step, after| (lost(before, step, after) && after.length() == 2).then_some(0),
            ..Watched::new(3, 2)
        },
        Watched { state: |state| (state.log().collect::<Vec<_>>() == [2, 0, 1]).then_some(0), ..Watched::new(3, 2) },
        // A step and a state of one kind, as far from the start; once the one comes first, and once the other.
        Watched {
            step: |before, step, after| lost(before, step, after).then_some(0),
            state: |state| (state.log().eq([1]) && state.knows(0) == Some(1)).then_some(0),
            ..Watched::new(2, 2)
        },
        Watched {
            step: |before, step, after| (lost(before, step, after) && step.writer == 1).then_some(0),
            state: |state| (state.log().eq([0]) && state.knows(0) == Some(1)).then_some(0),
            ..Watched::new(2, 2)
        },
        // Several kinds at once.
        Watched {
            step: |before, step, after| lost(before, step, after).then_some(step.writer),
            state: |state| state.log().nth(2),
            ..Watched::new(3, 2)
        },
    ]
}

#[test]
fn the_schedule_found_is_the_first_of_the_shortest() {
    for (index, mut model) in searches().into_iter().enumerate() {
        let found = search(&mut model, usize::MAX, 1, false).violations;
        assert!(!found.is_empty());
        for (kind, Found { violation, schedule }) in found {
            for shorter in 0..schedule.len() {
                assert!(
                    !first_of_length(&mut model, kind, shorter, &mut Vec::new()),
                    "{index}: {kind} after {shorter}"
                );
            }
            let mut first = Vec::new();
            assert!(first_of_length(&mut model, kind, schedule.len(), &mut first));
            assert_eq!(schedule, first, "{index}: {kind}");
            assert_eq!(replay(&mut model, &first, None).expect("goes on").violations[&kind], (first.len(), violation));
        }
    }
}

#[test]
fn with_symmetry_the_schedule_found_is_the_same() {
    for mut model in searches().into_iter().take(2) {
        let plain = search(&mut model, usize::MAX, 1, false).violations;
        let symmetric = search(&mut model, usize::MAX, 1, true).violations;
        assert!(plain.keys().eq(symmetric.keys()));
        for (kind, Found { violation, schedule }) in symmetric {
            assert_eq!(schedule, plain[&kind].schedule);
            let replayed = replay(&mut model, &schedule, None).expect("the model goes on");
            assert_eq!(replayed.schedule, schedule);
            assert_eq!(replayed.violations[&kind], (schedule.len(), violation));
        }
    }
}

#[test]
fn what_is_found_does_not_depend_on_threads() {
    let all = |threads: usize, symmetry: bool, memory_bytes: usize| {
        let mut model = if symmetry {
            Watched {
                step: |before, step, after| (lost(before, step, after)).then_some(after.length() as u8 / 4),
                state: |state| (state.log().nth(8) == state.log().nth(3)).then_some(2),
                ..Watched::new(3, 4)
            }
        } else {
            Watched {
                step: |before, step, after| (lost(before, step, after) && after.length() == 7).then_some(step.writer),
                state: |state| state.log().nth(8),
                ..Watched::new(3, 4)
            }
        };
        let Exploration { states, transitions, ends, depth, violations, exhausted, bytes } =
            search(&mut model, memory_bytes, threads, symmetry);
        assert_eq!(exhausted, memory_bytes == usize::MAX);
        assert!(violations.len() == 3 || !exhausted);
        (states, transitions, ends, depth, violations, bytes)
    };
    for (symmetry, memory_bytes) in [(false, 12 << 20), (true, usize::MAX)] {
        let one = all(1, symmetry, memory_bytes);
        for threads in [2, 3] {
            assert!(one == all(threads, symmetry, memory_bytes), "{threads} threads, symmetry {symmetry}");
        }
    }
}

#[test]
fn a_model_that_cannot_go_on_says_so_at_the_same_state() {
    let error = |threads: usize| {
        let mut model = Watched { breaks: |state, step| state.length() == 8 && step.writer == 1, ..Watched::new(3, 4) };
        let options = Options { threads, ..Options::new(Limits { memory_bytes: usize::MAX }) };
        explore_with(&mut model, options, &mut |_| ControlFlow::Continue(())).err()
    };
    let one = error(1);
    assert!(one.is_some());
    assert_eq!(one, error(2));
}

#[test]
fn a_caller_may_stop_a_search() {
    let options = Options::new(Limits { memory_bytes: usize::MAX });
    let mut looks = 0;
    let stopped = explore_with(&mut Watched::new(3, 3), options, &mut |progress| {
        looks += 1;
        assert!(progress.done <= progress.states);
        if progress.depth == 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let stopped = stopped.expect("the model goes on");
    assert!(!stopped.exhausted);
    assert_eq!((stopped.depth, looks), (5, 6));
}

#[test]
fn a_walk_is_a_schedule_from_the_first_state_to_an_end() {
    let mut model = Watched::new(3, 2);
    let mut walker = Walker::default();
    let mut ends: BTreeMap<State, u32> = BTreeMap::new();
    for seed in 0..3_000 {
        let walked = walker.walk(&mut model, seed).expect("the model goes on");
        if seed < 20 {
            assert!(walked.ended && walked.violations.is_empty());
            let again = walk(&mut model, seed).expect("the model goes on");
            let replayed = replay(&mut model, &walked.schedule, None).expect("the model goes on");
            assert_eq!((&replayed.schedule, replayed.end), (&walked.schedule, walked.end));
            assert_eq!((again.schedule, again.end), (walked.schedule, walked.end));
        }
        *ends.entry(walked.end).or_default() += 1;
    }
    assert_eq!(ends.len(), 90, "every final log comes up");
}

#[test]
fn a_seed_means_the_same_walk_for_ever() {
    let walked = walk(&mut Watched::new(3, 2), 1).expect("the model goes on");
    let writers: String = walked.schedule.iter().map(|step| step.writer.to_string()).collect();
    expect_test::expect!["12020210001202211111"].assert_eq(&writers);
}

#[test]
fn no_event_of_a_shrunk_schedule_can_be_dropped() {
    for (index, mut model) in searches().into_iter().enumerate() {
        let shortest = search(&mut model, usize::MAX, 1, false).violations;
        for seed in 0..30 {
            let walked = walk(&mut model, seed).expect("the model goes on");
            for (kind, (length, _)) in walked.violations {
                let shrunk = shrink_schedule(&mut model, &walked.schedule, &kind).expect("the model goes on");
                let shrunk = shrunk.expect("the walk has it");
                assert!((shortest[&kind].schedule.len()..=length).contains(&shrunk.schedule.len()));
                let replayed = replay(&mut model, &shrunk.schedule, Some(&kind)).expect("the model goes on");
                assert_eq!(replayed.schedule, shrunk.schedule);
                assert_eq!(replayed.violations[&kind].1, shrunk.violation);
                for dropped in 0..shrunk.schedule.len() {
                    let mut rest = shrunk.schedule.clone();
                    rest.remove(dropped);
                    let replayed = replay(&mut model, &rest, Some(&kind)).expect("the model goes on");
                    assert!(!replayed.violations.contains_key(&kind), "{index}, seed {seed}: event {dropped}");
                }
            }
        }
    }
}

#[test]
fn a_schedule_without_the_violation_is_not_shrunk() {
    let mut model = searches().remove(0);
    let alone: Vec<Step> = (0..4).map(|_| Step { writer: 0 }).collect();
    assert!(shrink_schedule(&mut model, &alone, &0).expect("the model goes on").is_none());
}

#[test]
fn what_cannot_be_counted_is_said() {
    let few = Limits { memory_bytes: 10_000 };
    let counted = count_schedules(&mut Watched::new(3, 3), few);
    assert!(matches!(counted, Err(CountError::Memory { memory_bytes: 10_000, .. })), "{counted:?}");
    let counted = count_schedules(&mut Circle, Limits { memory_bytes: usize::MAX });
    assert_eq!(
        counted.expect_err("no end").to_string(),
        "a state comes back after 3 events: there is no end to the schedules"
    );
}

/// Three states that follow each other round and round.
struct Circle;

impl Model for Circle {
    type State = u8;
    type Event = ();
    type Violation = ();
    type Kind = ();
    type Error = String;

    fn initial(&mut self) -> Result<u8, String> {
        Ok(0)
    }

    fn events(&mut self, _: &u8, events: &mut Vec<()>) {
        events.push(());
    }

    fn apply(&mut self, state: &u8, (): (), _: &mut Vec<((), ())>) -> Result<u8, String> {
        Ok((state + 1) % 3)
    }

    fn violations(&mut self, _: &u8, _: bool) -> Vec<((), ())> {
        Vec::new()
    }
}

#[test]
fn a_model_that_goes_round_is_explored_on_one_thread() {
    let searched = search(&mut Circle, usize::MAX, 4, false);
    assert_eq!((searched.states, searched.transitions, searched.ends.len(), searched.depth), (3, 3, 0, 2));
}
