//! Searches in which writers that are alike take each other's places find what searches without that find.

use std::{collections::BTreeMap, ops::ControlFlow, sync::Arc, time::Instant};

use expect_test::expect;
use sim::{
    explore::{NoneAlike, Symmetry, WorldModel},
    judge::{Violation, ViolationKind},
    rule_choice::RuleChoice,
    scenario::{Range, Scenario},
    search::{Exploration, Found, Limits, Options, explore_with},
    world::{Clock, Event, FaultBudget, Granularity, Setting},
};

use super::{Outcomes, counted, load};

/// What a search came to, as far as it must be the same with symmetry.
#[derive(PartialEq, Eq, Debug)]
struct Result {
    /// All ends, each with those that it stands for.
    ends: usize,
    outcomes: Outcomes,
    depth: u32,
    violations: BTreeMap<ViolationKind, Found<Violation, Event>>,
}

fn search(setting: &Arc<Setting>, symmetry: bool, threads: usize) -> (Result, Exploration<WorldModel>) {
    let model = if symmetry {
        let symmetry = Symmetry::of(&setting.scenario).expect("writers that are alike");
        WorldModel::with_symmetry(setting.clone(), symmetry)
    } else {
        WorldModel::new(setting.clone())
    };
    let mut model = model.expect("the setup succeeds");
    let options = Options { limits: Limits { memory_bytes: 4 << 30 }, threads, symmetry };
    let begun = Instant::now();
    let exploration = explore_with(&mut model, options, &mut |_| ControlFlow::Continue(())).expect("the model goes on");
    let name = &setting.scenario.name;
    println!("{name}, symmetry {symmetry}: {} states in {:.2?}", exploration.states, begun.elapsed());
    assert!(exploration.exhausted);
    let mut outcomes = Outcomes::new();
    let mut ends = 0;
    for end in exploration.ends.iter().flat_map(|end| model.orbit(end)).collect::<Vec<_>>() {
        ends += 1;
        outcomes.entry(model.committed(&end)).or_default().insert(model.contents(&end));
    }
    let (depth, violations) = (exploration.depth, exploration.violations.clone());
    (Result { ends, outcomes, depth, violations }, exploration)
}

fn setting(scenario: Scenario, without: &[&str], faults: FaultBudget) -> Arc<Setting> {
    let without = without.iter().map(|rule| (*rule).to_owned()).collect();
    let rules = RuleChoice { without, ..RuleChoice::default() };
    let setting = rules.setting(scenario, Clock::PerCall, Granularity::Points).expect("a valid scenario");
    Arc::new(setting.with_faults(faults))
}

/// Both searches find the same; gives the states of the one without symmetry and of the one with it, and the kinds of violation.
fn same(setting: &Arc<Setting>) -> ([usize; 2], Vec<ViolationKind>) {
    let (plain, all) = search(setting, false, 1);
    let (symmetric, some) = search(setting, true, 1);
    assert_eq!(plain, symmetric, "{}", setting.scenario);
    assert_eq!(plain.ends, all.ends.len());
    ([all.states, some.states], plain.violations.into_keys().collect())
}

/// A table of rows 1 to 3 with these writers: of each so many, with these statements and this `on_conflict`.
fn writers(columns: &str, writers: &[(u32, &[&str], &str)]) -> Scenario {
    let mut text = format!(
        "name = \"inline\"\nisolation = \"Serializable\"\nsetup = [\"CREATE TABLE t ({columns})\", \
         \"INSERT INTO t (id) VALUES (1), (2), (3)\"]\n"
    );
    for (position, (count, statements, on_conflict)) in writers.iter().enumerate() {
        let name = char::from(b'a' + position as u8);
        text.push_str(&format!(
            "[[writer]]\nname = \"{name}\"\ncount = {count}\nstatements = {statements:?}\non_conflict = {on_conflict}\n"
        ));
    }
    Scenario::parse(&text, "inline").expect("a valid scenario")
}

const CONTINUE: &str = "\"continue\"";
const NO_FAULTS: &[&str] = &[];

fn no_faults() -> FaultBudget {
    FaultBudget::default()
}

#[test]
fn three_writers_that_update_one_row_leave_a_sixth_of_the_states() {
    let (states, kinds) = same(&setting(load("@write-conflict", &[]), NO_FAULTS, no_faults()));
    assert_eq!(kinds, []);
    assert_eq!(states, [243_731, 40_652]);
}

#[test]
fn inserts_that_never_conflict_leave_a_sixth_of_the_states() {
    let (states, _) = same(&setting(load("@insert-only", &[]), NO_FAULTS, no_faults()));
    assert_eq!(states, [207_383, 34_590]);
}

#[test]
fn two_classes_take_each_others_places_apart() {
    let update: &[&str] = &["UPDATE t SET id = id + 10 WHERE id = 1"];
    let scenario = writers(
        "id INT",
        &[(2, update, CONTINUE), (2, &["INSERT INTO t VALUES (1)"], CONTINUE), (1, &["SELECT id FROM t"], CONTINUE)],
    );
    let symmetry = Symmetry::of(&scenario).expect("two classes");
    assert_eq!(symmetry.classes(), [[0, 1], [2, 3]]);
    let (states, kinds) = same(&setting(scenario, &[], no_faults()));
    assert_eq!((states, kinds), ([2_628, 724], vec![]));
}

#[test]
fn retries_are_the_same_whoever_retries() {
    let scenario = writers("id INT", &[(3, &["UPDATE t SET id = id + 1"], "{ retry = 2 }")]);
    let (states, kinds) = same(&setting(scenario, &[], no_faults()));
    assert_eq!((states, kinds), ([296, 55], vec![]));
}

#[test]
fn a_fault_may_happen_to_any_writer() {
    let scenario =
        writers("id INT", &[(3, &["INSERT INTO t VALUES (7)"], CONTINUE), (1, &["DELETE FROM t"], CONTINUE)]);
    let (states, kinds) = same(&setting(scenario, &[], FaultBudget::of_mix(1, &[])));
    assert_eq!((states, kinds), ([42_017, 7_474], vec![]));
    // Two late puts at once.
    let scenario = writers("id INT", &[(2, &["INSERT INTO t VALUES (7)", "UPDATE t SET id = 9"], CONTINUE)]);
    let (states, kinds) = same(&setting(scenario, &[], FaultBudget::of_mix(2, &[])));
    expect!["[8852, 4430] []"].assert_eq(&format!("{states:?} {kinds:?}"));
}

#[test]
fn files_are_read_in_the_order_of_names_and_that_makes_no_difference() {
    let copy: &[&str] = &["INSERT INTO t VALUES (4), (5)", "INSERT INTO t SELECT id + 10 FROM t WHERE id < 10"];
    let scenario = writers("id INT", &[(2, copy, CONTINUE), (1, &["UPDATE t SET id = id + 100"], CONTINUE)]);
    let (states, kinds) = same(&setting(scenario, &[], no_faults()));
    assert_eq!((states, kinds), ([1_171, 590], vec![]));
}

#[test]
fn rows_with_the_time_in_them_are_those_of_all_writers() {
    let insert: &[&str] = &["INSERT INTO t SELECT id + 1, current_timestamp() FROM t"];
    let setting = setting(writers("id INT, at TIMESTAMP", &[(3, insert, CONTINUE)]), &[], no_faults());
    let (states, kinds) = same(&setting);
    assert_eq!((states, kinds), ([131, 27], vec![]));
    let (result, _) = search(&setting, true, 1);
    assert!(result.outcomes[&1].len() > 1, "whose time it is shows");
}

#[test]
fn the_shortest_schedule_to_a_violation_is_the_same() {
    let insert: &[&str] = &["INSERT INTO t VALUES (1)"];
    let update: &[&str] = &["UPDATE t SET id = id + 1"];
    for (scenario, without, faults, expected) in [
        (
            writers("id INT", &[(3, insert, CONTINUE)]),
            &["own-commit"][..],
            1,
            expect!["[5300, 930] [ExactlyOnce, Structure]"],
        ),
        (
            writers("id INT", &[(3, insert, CONTINUE)]),
            &["put-if-absent"],
            0,
            expect!["[396, 76] [ExactlyOnce, Structure]"],
        ),
        (
            writers("id INT", &[(1, insert, CONTINUE), (3, &["DELETE FROM t"], CONTINUE)]),
            &["added-files"],
            0,
            expect!["[1218, 247] [NotSerializable]"],
        ),
        (
            writers("id INT", &[(1, insert, CONTINUE), (3, update, CONTINUE)]),
            &["added-files", "removed-and-read", "removed-twice"],
            0,
            expect!["[4650, 822] [Structure, WrongEffect, NotSerializable]"],
        ),
    ] {
        let setting = setting(scenario, without, FaultBudget::of_mix(faults, &[]));
        let (states, kinds) = same(&setting);
        assert!(states[1] < states[0] && !kinds.is_empty());
        expected.assert_eq(&format!("{states:?} {kinds:?}"));
    }
}

#[test]
fn an_expectation_is_broken_by_the_same_schedule() {
    let mut scenario = writers("id INT", &[(3, &["UPDATE t SET id = 1", "UPDATE t SET id = 2"], CONTINUE)]);
    scenario.expect.committed = Some(Range { min: Some(3), max: None });
    let (_, kinds) = same(&setting(scenario, &[], no_faults()));
    assert_eq!(kinds, [ViolationKind::Expectation]);
}

#[test]
fn small_scenarios_with_writers_that_are_alike_have_the_same_outcomes() {
    let mut alike = 0;
    for (path, _) in counted() {
        let scenario = load(&path, &[]);
        match Symmetry::of(&scenario) {
            Err(NoneAlike) => {}
            Ok(_) => {
                alike += 1;
                same(&setting(scenario, &[], no_faults()));
            }
        }
    }
    assert!(alike > 0);
}

#[test]
fn with_symmetry_two_threads_find_what_one_finds() {
    let insert: &[&str] = &["INSERT INTO t VALUES (1)"];
    let scenario = writers("id INT", &[(1, insert, CONTINUE), (3, &["UPDATE t SET id = id + 1"], "{ retry = 1 }")]);
    let without = ["added-files", "removed-and-read", "removed-twice"];
    let setting = setting(scenario, &without, FaultBudget::of_mix(1, &[]));
    let [one, two] = [1, 2].map(|threads| {
        let (result, exploration) = search(&setting, true, threads);
        (result, exploration.states, exploration.transitions, exploration.ends.len(), exploration.bytes)
    });
    assert!(one.1 > 10_000, "{}", one.1);
    assert_eq!(one, two);
}

#[test]
fn names_alone_do_not_make_writers_differ_and_anything_else_does() {
    let classes = |scenario: &Scenario| Symmetry::of(scenario).map(|symmetry| symmetry.classes().to_vec());
    let insert: &[&str] = &["INSERT INTO t VALUES (1)"];
    let other: &[&str] = &["INSERT INTO t VALUES (2)"];
    assert_eq!(classes(&writers("id INT", &[(1, insert, CONTINUE), (1, insert, CONTINUE)])), Ok(vec![vec![0, 1]]));
    assert_eq!(classes(&writers("id INT", &[(1, insert, CONTINUE), (1, other, CONTINUE)])), Err(NoneAlike));
    assert_eq!(classes(&writers("id INT", &[(1, insert, CONTINUE), (1, insert, "\"stop\"")])), Err(NoneAlike));
    // More than 720 ways are not used: five of the nine take each other's places, the others keep theirs.
    let many = classes(&writers("id INT", &[(2, other, CONTINUE), (9, insert, CONTINUE)])).expect("two classes");
    assert_eq!(many, [vec![0, 1], vec![2, 3, 4, 5, 6]]);
}
