//! Loops over one store, under every order of their requests.

use std::collections::{BTreeSet, HashSet};

use super::*;

/// The state between two steps.
#[derive(Clone, PartialEq, Eq, Hash)]
struct World {
    store: ObjectMap,
    loops: Vec<(CommitLoop, Running)>,
    /// Puts that were answered with "unknown" and have not arrived.
    under_way: Vec<Request>,
    /// Answers that may still be withheld.
    faults: u32,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Running {
    Waits(Request),
    Ended(Outcome),
}

impl World {
    fn new(names: &[&str], faults: u32) -> Self {
        let rules = Arc::new(RuleSet::delta_spark());
        let start = |(index, name): (usize, &&str)| {
            let mut machine = CommitLoop::new(transaction(name, &format!("t{index}")), rules.clone(), 20, 0).unwrap();
            let request = machine.start();
            (machine, Running::Waits(request))
        };
        let loops = names.iter().enumerate().map(start).collect();
        Self { store: log(&[]), loops, under_way: Vec::new(), faults }
    }

    /// The world after loop `index` got an answer.
    fn answered(&self, index: usize, change: impl FnOnce(&mut Self, &Request) -> Answer) -> Self {
        let mut next = self.clone();
        let (_, Running::Waits(request)) = &self.loops[index] else { panic!("loop {index} waits") };
        let answer = change(&mut next, request);
        let (machine, running) = &mut next.loops[index];
        *running = match machine.advance(Response { now_ms: 0, answer }) {
            Step::Request(request) => Running::Waits(request),
            Step::Done(result) => Running::Ended(result.expect("the log is whole")),
        };
        next
    }

    fn successors(&self) -> Vec<Self> {
        let mut successors = Vec::new();
        for (index, (_, running)) in self.loops.iter().enumerate() {
            let Running::Waits(request) = running else { continue };
            successors.push(self.answered(index, |world, request| world.store.answer(request, 0)));
            if self.faults > 0 && matches!(request, Request::PutIfAbsent { .. }) {
                let unknown = || Answer::Write(WriteAnswer::Unknown { cause: "timeout".to_owned() });
                successors.push(self.answered(index, |world, request| {
                    world.faults -= 1;
                    world.store.answer(request, 0);
                    unknown()
                }));
                successors.push(self.answered(index, |world, request| {
                    world.faults -= 1;
                    world.under_way.push(request.clone());
                    unknown()
                }));
            }
        }
        for arriving in 0..self.under_way.len() {
            let mut next = self.clone();
            let put = next.under_way.remove(arriving);
            next.store.answer(&put, 0);
            successors.push(next);
        }
        successors
    }

    fn outcomes(&self) -> Option<Vec<&Outcome>> {
        self.loops
            .iter()
            .map(|(_, running)| match running {
                Running::Waits(_) => None,
                Running::Ended(outcome) => Some(outcome),
            })
            .collect()
    }

    /// Versions are dense, every outcome is true, and nothing is there twice.
    fn check_log(&self) {
        let commits = self.store.paths().count() as u64;
        assert!(self.store.paths().eq((0..commits).map(|version| commit_path(Version(version)))));
        for (index, (_, running)) in self.loops.iter().enumerate() {
            let found = versions_of(&self.store, &format!("t{index}"));
            match running {
                Running::Waits(_) => assert!(found.len() <= 1, "t{index} is at {found:?}"),
                Running::Ended(Outcome::Committed { version, .. }) => assert_eq!(found, [*version]),
                Running::Ended(_) => assert_eq!(found, []),
            }
        }
    }
}

/// Visits every world that can be reached, and shows the ends.
fn explore(start: World, mut at_end: impl FnMut(&[&Outcome])) {
    let mut seen = HashSet::from([start.clone()]);
    let mut open = vec![start];
    while let Some(world) = open.pop() {
        world.check_log();
        if let Some(outcomes) = world.outcomes() {
            at_end(&outcomes);
        }
        open.extend(world.successors().into_iter().filter(|next| seen.insert(next.clone())));
    }
}

/// The versions at which all committed, in every order that was seen.
fn landings(names: &[&str], faults: u32) -> BTreeSet<Vec<u64>> {
    let mut landings = BTreeSet::new();
    explore(World::new(names, faults), |outcomes| {
        let versions = outcomes.iter().map(|outcome| match outcome {
            Outcome::Committed { version, .. } => version.0,
            other => panic!("{other:?}"),
        });
        landings.insert(versions.collect());
    });
    landings
}

#[test]
fn blind_appends_all_commit_in_every_order() {
    assert_eq!(landings(&["WRITE", "WRITE"], 0), BTreeSet::from([vec![2, 3], vec![3, 2]]));
    let orders = [[2, 3, 4], [2, 4, 3], [3, 2, 4], [3, 4, 2], [4, 2, 3], [4, 3, 2]];
    assert_eq!(landings(&["WRITE", "WRITE", "WRITE"], 0), orders.map(Vec::from).into());
}

#[test]
fn blind_appends_commit_once_when_answers_are_lost_and_puts_are_late() {
    assert_eq!(landings(&["WRITE", "WRITE"], 2), BTreeSet::from([vec![2, 3], vec![3, 2]]));
}

/// Which of the updates committed, over every end.
fn winners(faults: u32) -> BTreeSet<usize> {
    let mut winners = BTreeSet::new();
    explore(World::new(&["UPDATE", "UPDATE"], faults), |outcomes| {
        let committed = |outcome: &&Outcome| matches!(outcome, Outcome::Committed { version: Version(2), .. });
        let winner = outcomes.iter().position(committed).expect("one commits");
        assert!(matches!(outcomes[1 - winner], Outcome::Conflict(conflict) if conflict.winner == Version(2)));
        winners.insert(winner);
    });
    winners
}

#[test]
fn of_two_updates_of_one_file_exactly_one_commits() {
    assert_eq!(winners(0), BTreeSet::from([0, 1]));
    assert_eq!(winners(2), BTreeSet::from([0, 1]));
}

#[test]
fn an_append_and_an_update_pass_each_other_unless_the_update_comes_second() {
    let mut seen = BTreeSet::new();
    explore(World::new(&["WRITE", "UPDATE"], 1), |outcomes| {
        seen.insert(match outcomes {
            [Outcome::Committed { version, .. }, Outcome::Committed { version: other, .. }] => {
                (version.0, Some(other.0))
            }
            // Without partitions, the update depends on every row.
            [Outcome::Committed { version, .. }, Outcome::Conflict(_)] => (version.0, None),
            other => panic!("{other:?}"),
        });
    });
    assert_eq!(seen, BTreeSet::from([(2, None), (3, Some(2))]));
}
