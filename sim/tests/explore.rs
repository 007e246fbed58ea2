//! Exhaustive searches with their exact outcomes.

#[path = "explore/symmetry.rs"]
mod symmetry;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    ops::ControlFlow,
    path::Path,
    sync::Arc,
};

use conflict::rules::RuleSet;
use log_core::{action::Action, path::Version};
use sim::{
    explore::WorldModel,
    judge::ViolationKind,
    scenario::{self, Scenario},
    search::{Exploration, Limits, Options, explore, explore_with},
    world::{Clock, Environment, FaultBudget, Granularity, Setting, World},
};

/// Committed calls, with the distinct final contents of all tables.
type Outcomes = BTreeMap<usize, BTreeSet<BTreeMap<String, String>>>;

struct Searched {
    setting: Arc<Setting>,
    exploration: Exploration<WorldModel>,
    outcomes: Outcomes,
}

fn search(scenario: Scenario, rules: RuleSet, granularity: Granularity) -> Searched {
    let setting = Setting::new(scenario, rules, String::new(), Clock::PerCall, granularity).expect("a valid scenario");
    let setting = Arc::new(setting);
    let mut model = WorldModel::new(setting.clone()).expect("the setup succeeds");
    let limits = Limits { memory_bytes: 1 << 30 };
    let exploration = explore(&mut model, limits, &mut |_| ControlFlow::Continue(())).expect("no table is damaged");
    let mut outcomes = Outcomes::new();
    for end in &exploration.ends {
        let contents = model.contents(end);
        outcomes.entry(model.committed(end)).or_default().insert(contents);
    }
    Searched { setting, exploration, outcomes }
}

fn load(reference: &str, overrides: &[(&str, &str)]) -> Scenario {
    let overrides: Vec<_> = overrides.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect();
    scenario::load(reference, &overrides, &|path| fs::read_to_string(path)).expect("a valid scenario")
}

fn committed(outcomes: &Outcomes) -> Vec<usize> {
    outcomes.keys().copied().collect()
}

/// The scenarios with outcomes that an independent model counted.
fn counted() -> Vec<(String, serde_json::Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/explore");
    let mut scenarios = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let expected = fs::read_to_string(path.with_extension("expect.json")).expect("each has its outcomes");
            scenarios.push((path.to_str().expect("text").to_owned(), serde_json::from_str(&expected).expect("JSON")));
        }
    }
    scenarios.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(scenarios.len(), 12);
    scenarios
}

#[test]
fn small_scenarios_have_exactly_the_outcomes_that_an_independent_model_counted() {
    for (path, expected) in counted() {
        let searched = search(load(&path, &[]), RuleSet::delta_spark(), Granularity::Points);
        assert!(searched.exploration.exhausted, "{path}");
        assert!(searched.exploration.violations.is_empty(), "{path}: {:?}", searched.exploration.violations);
        let counts: Vec<serde_json::Value> = committed(&searched.outcomes).into_iter().map(Into::into).collect();
        assert_eq!(expected["committed"].as_array(), Some(&counts), "{path}");
        let finals: BTreeSet<String> = searched.outcomes.values().flatten().map(|finals| finals["t"].clone()).collect();
        let expected: BTreeSet<String> = expected["finals_sha256"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|x| x.as_str().expect("text").to_owned())
            .collect();
        assert_eq!(finals, expected, "{path}");
    }
}

#[test]
fn steps_that_commute_may_be_merged_with_the_step_before() {
    for (path, _) in counted() {
        if path.contains("three_updates") {
            continue; // The same kind as the others, but ten times their size when every request is a step.
        }
        let [merged, single] = [Granularity::Points, Granularity::Requests]
            .map(|granularity| search(load(&path, &[]), RuleSet::delta_spark(), granularity));
        assert!(single.exploration.states > merged.exploration.states, "{path}");
        assert_eq!(merged.outcomes, single.outcomes, "{path}");
        assert!(merged.exploration.violations.is_empty() && single.exploration.violations.is_empty(), "{path}");
    }
}

#[test]
fn merging_steps_hides_no_violation() {
    let rules = || RuleSet::delta_spark().without("added-files").expect("a rule");
    let [merged, single] = [Granularity::Points, Granularity::Requests]
        .map(|granularity| search(load("@delete-all-against-insert", &[]), rules(), granularity));
    let kinds = |searched: &Searched| searched.exploration.violations.keys().copied().collect::<Vec<_>>();
    assert_eq!(kinds(&merged), [ViolationKind::NotSerializable]);
    assert_eq!(kinds(&merged), kinds(&single));
}

#[test]
fn three_writers_that_update_one_row_commit_three_to_nine_times() {
    for level in ["Serializable", "WriteSerializable"] {
        let scenario = load("@write-conflict", &[("isolation", level)]);
        let searched = search(scenario, RuleSet::delta_spark(), Granularity::Points);
        assert_eq!(committed(&searched.outcomes), [3, 4, 5, 6, 7, 8, 9]);
        assert!(searched.exploration.exhausted);
        assert!(searched.exploration.violations.is_empty());
        // With the listing after a lost put as a step of its own; see the page on states in the documentation.
        assert_eq!(searched.exploration.states, 243_731);
    }
}

#[test]
fn the_size_of_a_step_decides_the_number_of_states_and_nothing_else() {
    let search = |granularity| search(load("@write-conflict", &[]), RuleSet::delta_spark(), granularity);
    let puts = search(Granularity::Puts);
    let requests = search(Granularity::Requests);
    // The independent count of the second is 725,592 where a state forgets how far the listing of winners went; ours remembers.
    assert_eq!((puts.exploration.states, requests.exploration.states), (141_785, 886_647));
    assert_eq!(puts.outcomes, requests.outcomes);
}

#[test]
fn plain_inserts_always_commit() {
    for level in ["Serializable", "WriteSerializable"] {
        let searched =
            search(load("@insert-only", &[("isolation", level)]), RuleSet::delta_spark(), Granularity::Points);
        assert_eq!(committed(&searched.outcomes), [9]);
        assert_eq!(searched.outcomes[&9].len(), 1);
        // Nine inserts of three writers, each writer's in order: 9! / (3! 3! 3!) logs.
        assert_eq!(searched.exploration.ends.len(), 1680);
        assert!(searched.exploration.violations.is_empty());
    }
}

#[test]
fn shipped_scenarios_do_what_their_comments_say() {
    let check = |name: &str, level: &str, expected: &[usize]| {
        let searched = search(load(name, &[("isolation", level)]), RuleSet::delta_spark(), Granularity::Points);
        assert_eq!(committed(&searched.outcomes), expected, "{name} at {level}");
        assert!(searched.exploration.violations.is_empty(), "{name} at {level}");
    };
    check("@single-writer", "Serializable", &[6]);
    check("@single-writer", "WriteSerializable", &[7]);
    check("@delete-all-against-insert", "Serializable", &[1, 2]);
    check("@delete-all-against-insert", "WriteSerializable", &[2]);
    check("@disjoint-partitions", "Serializable", &[3]);
    check("@disjoint-partitions", "WriteSerializable", &[3]);
    check("@reordered", "Serializable", &[1, 2]);
    check("@reordered", "WriteSerializable", &[2]);
}

#[test]
fn without_the_added_files_rule_the_shortest_violation_is_found() {
    let rules = RuleSet::delta_spark().without("added-files").expect("a rule");
    let searched = search(load("@delete-all-against-insert", &[]), rules, Granularity::Points);
    let found = &searched.exploration.violations[&ViolationKind::NotSerializable];
    let mut environment = Environment::default();
    let mut world = World::new(searched.setting.clone(), &mut environment).expect("the setup succeeds");
    let mut labels = Vec::new();
    for event in &found.schedule {
        labels.push(world.label(*event));
        world.apply(&mut environment, *event).expect("an enabled event");
    }
    assert_eq!(labels, ["a.load", "b.load", "b.put", "a.put", "a.winners", "a.put"]);
    assert_eq!(world.committed(), 2);
    assert!(found.violation.message.contains("DELETE FROM t"), "{}", found.violation.message);
}

#[test]
fn both_removed_file_rules_together_are_needed() {
    let rules = RuleSet::delta_spark().without("removed-and-read").and_then(|rules| rules.without("removed-twice"));
    let text = r#"
        name = "delete all against update all"
        isolation = "Serializable"
        setup = ["CREATE TABLE t (id INT)", "INSERT INTO t VALUES (1)"]
        [[writer]]
        name = "a"
        statements = ["DELETE FROM t"]
        [[writer]]
        name = "b"
        statements = ["UPDATE t SET id = id + 1"]
    "#;
    let scenario = Scenario::parse(text, "inline").expect("a valid scenario");
    let searched = search(scenario, rules.expect("two rules"), Granularity::Points);
    assert!(!searched.exploration.violations.is_empty());
}

#[test]
fn a_broken_expectation_is_found_at_the_end() {
    let scenario = load("@delete-all-against-insert", &[("expect.committed", "{ min = 2 }")]);
    let searched = search(scenario, RuleSet::delta_spark(), Granularity::Points);
    let found = &searched.exploration.violations[&ViolationKind::Expectation];
    assert_eq!(found.violation.message, "1 call committed, and the scenario expects 2 or more");
}

#[test]
fn two_threads_find_what_one_finds() {
    let search = |scenario: &Scenario, rules: &RuleSet, granularity, threads, memory_bytes| {
        let setting = Setting::new(scenario.clone(), rules.clone(), String::new(), Clock::PerCall, granularity);
        let mut model = WorldModel::new(Arc::new(setting.expect("a valid scenario"))).expect("the setup succeeds");
        let options = Options { threads, ..Options::new(Limits { memory_bytes }) };
        let searched = explore_with(&mut model, options, &mut |_| ControlFlow::Continue(())).expect("no damage");
        let contents: Vec<_> = searched.ends.iter().map(|end| (model.committed(end), model.contents(end))).collect();
        let Exploration { states, transitions, depth, violations, exhausted, bytes, .. } = searched;
        (states, transitions, depth, violations, exhausted, bytes, contents)
    };
    let all = RuleSet::delta_spark();
    let none = all.clone().without("added-files").and_then(|rules| rules.without("removed-and-read"));
    let none = none.and_then(|rules| rules.without("removed-twice")).expect("three rules");
    let updates = load("@write-conflict", &[]);
    let deletes = load("@delete-all-against-insert", &[("expect.committed", "{ min = 2 }")]);
    for (scenario, rules, granularity, memory_bytes, kinds) in [
        (&updates, &all, Granularity::Points, 30 << 20, 0),
        (&updates, &none, Granularity::Puts, 30 << 20, 2),
        (&deletes, &none, Granularity::Requests, 1 << 30, 1),
    ] {
        let [one, two] = [1, 2].map(|threads| search(scenario, rules, granularity, threads, memory_bytes));
        assert!(one == two, "{}", scenario.name);
        assert_eq!(one.3.len(), kinds);
    }
}

#[test]
fn a_memory_bound_stops_a_search_and_says_so() {
    let setting = Setting::new(
        load("@write-conflict", &[]),
        RuleSet::delta_spark(),
        String::new(),
        Clock::PerCall,
        Granularity::Points,
    );
    let mut model = WorldModel::new(Arc::new(setting.expect("a valid scenario"))).expect("the setup succeeds");
    let limits = Limits { memory_bytes: 1 << 20 };
    let exploration = explore(&mut model, limits, &mut |_| ControlFlow::Continue(())).expect("no table is damaged");
    assert!(!exploration.exhausted);
    assert!((10..10_000).contains(&exploration.states), "{}", exploration.states);
}

/// Report 49: both find no table and put version 0. One of them makes it; nobody replaces it, and nobody makes it a second time.
#[test]
fn two_creators_make_one_table() {
    for (second, level, committed_min) in [
        ("CREATE TABLE IF NOT EXISTS t (x INT)", "Serializable", 1),
        ("CREATE TABLE IF NOT EXISTS t (x INT)", "WriteSerializable", 1),
        ("CREATE TABLE t (x INT)", "Serializable", 1),
    ] {
        for faults in [FaultBudget::default(), FaultBudget::of_mix(1, &[])] {
            let text = format!(
                r#"
                name = "two creators"
                isolation = "{level}"
                setup = []
                [[writer]]
                name = "a"
                statements = ["CREATE TABLE IF NOT EXISTS t (x INT)", "INSERT INTO t VALUES (1)"]
                on_conflict = {{ retry = 1 }}
                [[writer]]
                name = "b"
                statements = ["{second}", "INSERT INTO t VALUES (2)"]
                on_conflict = {{ retry = 1 }}
                "#
            );
            let scenario = Scenario::parse(&text, "test").expect("a valid scenario");
            let rules = RuleSet::delta_spark();
            let setting = Setting::new(scenario, rules, String::new(), Clock::PerCall, Granularity::Requests);
            let setting = Arc::new(setting.expect("a valid scenario").with_faults(faults));
            let mut model = WorldModel::new(setting).expect("there is no setup");
            let limits = Limits { memory_bytes: 1 << 30 };
            let found = explore(&mut model, limits, &mut |_| ControlFlow::Continue(())).expect("no damage");
            assert!(found.exhausted && found.violations.is_empty(), "{second}: {:?}", found.violations);
            let mut raced = false;
            for end in &found.ends {
                let tables = model.tables(end);
                let table = tables.get(0);
                let mut creations = Vec::new();
                for version in (0..table.commits()).map(Version) {
                    let actions = table.commit(version).actions;
                    let metadata = actions.iter().filter(|action| matches!(action, Action::Metadata(_))).count();
                    creations.extend((metadata > 0).then_some((version, metadata)));
                }
                if faults == FaultBudget::default() {
                    assert_eq!(creations, [(Version(0), 1)], "{second}");
                    assert!(model.committed(end) >= committed_min + 2, "both appends get through");
                } else {
                    assert!(creations.is_empty() || creations == [(Version(0), 1)], "{creations:?}");
                }
                raced |= model.committed(end) == 3;
            }
            assert!(raced, "some order lets one creation go without a commit");
        }
    }
}
