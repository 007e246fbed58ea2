//! Every safety device is needed: switched off, it lets something through that is found by a search and by random walks, and shrinks to the same length.

use std::{fs, ops::ControlFlow, sync::Arc};

use conflict::rules::{ATOMIC_PUT, OWN_COMMIT};
use sim::{
    explore::WorldModel,
    failure::Failure,
    judge::ViolationKind,
    rule_choice::RuleChoice,
    scenario::{self, Scenario},
    search::{Limits, Walker, explore},
    shrink::shrink,
    world::{Clock, FaultBudget, FaultKind, Granularity, Setting},
};

const LIMITS: Limits = Limits { memory_bytes: 1 << 30 };

fn two_writers(setup: &str, a: &str, b: &str) -> Scenario {
    let text = format!(
        r#"
        name = "two writers"
        isolation = "Serializable"
        setup = ["CREATE TABLE t (id INT)", "{setup}"]
        [[writer]]
        name = "a"
        statements = ["{a}"]
        [[writer]]
        name = "b"
        statements = ["{b}"]
        "#
    );
    Scenario::parse(&text, "inline").expect("a valid scenario")
}

fn without(devices: &[&str]) -> RuleChoice {
    RuleChoice { without: devices.iter().map(|id| (*id).to_owned()).collect(), ..RuleChoice::default() }
}

fn setting(scenario: &Scenario, rules: &RuleChoice, faults: FaultBudget) -> Arc<Setting> {
    let setting = rules.setting(scenario.clone(), Clock::PerCall, Granularity::Points).expect("a valid setting");
    Arc::new(setting.with_faults(faults))
}

/// Switches devices off: the kind of violation is found with the shortest schedule of that length, also by a random walk that is made smaller; with all
/// devices on, nothing is found.
fn killed(scenario: Scenario, devices: &[&str], faults: FaultBudget, kind: ViolationKind, expected: &[&str]) {
    let rules = without(devices);
    let switched_off = setting(&scenario, &rules, faults);
    let mut model = WorldModel::new(switched_off.clone()).expect("the setup succeeds");
    let exploration = explore(&mut model, LIMITS, &mut |_| ControlFlow::Continue(())).expect("no table is damaged");
    let found = exploration.violations.get(&kind).unwrap_or_else(|| panic!("{:?}", exploration.violations));
    let failure = Failure::new(&switched_off, &rules, &found.violation, &found.schedule).expect("it was just followed");
    assert_eq!(failure.schedule, expected);
    assert_eq!(failure.replay().expect("it can be followed").reproduced, Some(expected.len()));

    let mut walker = Walker::default();
    let walked = (0..10_000).find_map(|seed| {
        let walk = walker.walk(&mut model, seed).expect("no table is damaged");
        let (_, violation) = walk.violations.get(&kind)?;
        Some(Failure::new(&switched_off, &rules, violation, &walk.schedule).expect("it was just followed"))
    });
    let shrunk = shrink(&walked.expect("random walks find it"), LIMITS).expect("it is reproduced");
    assert!(shrunk.shortest);
    assert_eq!(shrunk.failure.schedule.len(), expected.len());

    let all_on = setting(&scenario, &RuleChoice::default(), faults);
    let mut model = WorldModel::new(all_on).expect("the setup succeeds");
    let exploration = explore(&mut model, LIMITS, &mut |_| ControlFlow::Continue(())).expect("no table is damaged");
    assert!(exploration.exhausted && exploration.violations.is_empty(), "{:?}", exploration.violations);
}

fn no_faults() -> FaultBudget {
    FaultBudget::default()
}

#[test]
fn the_added_files_rule_is_needed() {
    killed(
        two_writers("INSERT INTO t VALUES (1)", "DELETE FROM t", "INSERT INTO t VALUES (2)"),
        &["added-files"],
        no_faults(),
        ViolationKind::NotSerializable,
        &["a.load", "b.load", "b.put", "a.put", "a.winners", "a.put"],
    );
}

#[test]
fn the_removed_file_rules_are_needed() {
    // The UPDATE read the file that the DELETE removes: together they would take its rows out and leave them in.
    killed(
        two_writers("INSERT INTO t VALUES (1)", "DELETE FROM t", "UPDATE t SET id = id + 1"),
        &["removed-and-read", "removed-twice"],
        no_faults(),
        ViolationKind::Structure,
        &["a.load", "b.load", "a.put", "b.put", "b.winners", "b.put"],
    );
}

#[test]
fn recognising_the_own_commit_is_needed() {
    // One INSERT whose reply is lost is put again behind itself.
    killed(
        two_writers("INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)", "INSERT INTO t VALUES (3)"),
        &[OWN_COMMIT],
        FaultBudget::of_mix(1, &[]),
        ViolationKind::ExactlyOnce,
        &["a.load", "a.put/reply_lost", "a.winner", "a.winners", "a.put"],
    );
}

#[test]
fn an_atomic_put_is_needed() {
    killed(
        two_writers("INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)", "INSERT INTO t VALUES (3)"),
        &[ATOMIC_PUT],
        no_faults(),
        ViolationKind::ExactlyOnce,
        &["a.load", "a.put", "b.load", "b.put", "a.overwrite", "b.overwrite"],
    );
}

/// Outcomes, final contents and violations of a search.
fn outcomes(scenario: &Scenario, rules: &RuleChoice) -> (Vec<usize>, Vec<String>, Vec<ViolationKind>) {
    let mut model = WorldModel::new(setting(scenario, rules, no_faults())).expect("the setup succeeds");
    let exploration = explore(&mut model, LIMITS, &mut |_| ControlFlow::Continue(())).expect("no table is damaged");
    let mut committed: Vec<usize> = exploration.ends.iter().map(|end| model.committed(end)).collect();
    let mut finals: Vec<String> = exploration.ends.iter().map(|end| format!("{:?}", model.contents(end))).collect();
    committed.sort_unstable();
    committed.dedup();
    finals.sort_unstable();
    finals.dedup();
    (committed, finals, exploration.violations.into_keys().collect())
}

/// Every statement here removes exactly files that it read, so each of the two rules finds what the other would have found: only a commit that reads files
/// which it does not remove (an INSERT ... SELECT, a MERGE), or removes files that it has not read (none of these statements), tells them apart.
#[test]
fn either_removed_file_rule_stands_in_for_the_other() {
    let scenarios = [
        two_writers("INSERT INTO t VALUES (1)", "DELETE FROM t", "UPDATE t SET id = id + 1"),
        two_writers("INSERT INTO t VALUES (1)", "DELETE FROM t", "INSERT INTO t VALUES (2)"),
        two_writers("INSERT INTO t VALUES (1)", "UPDATE t SET id = 5", "UPDATE t SET id = id + 1"),
        two_writers("INSERT INTO t VALUES (1), (2)", "DELETE FROM t WHERE id = 1", "DELETE FROM t WHERE id = 2"),
    ];
    for scenario in scenarios {
        let all = outcomes(&scenario, &RuleChoice::default());
        for rule in ["removed-and-read", "removed-twice"] {
            assert_eq!(outcomes(&scenario, &without(&[rule])), all, "{rule}: {scenario}");
        }
    }
}

/// Faults against the headline experiment: everything is reached, nothing is lost or doubled, and where no writer crashed every call knows its end.
fn withstands(scenario: &Scenario, faults: FaultBudget, crashes: bool) -> usize {
    let mut model = WorldModel::new(setting(scenario, &RuleChoice::default(), faults)).expect("the setup succeeds");
    let exploration = explore(&mut model, LIMITS, &mut |_| ControlFlow::Continue(())).expect("no table is damaged");
    assert!(exploration.exhausted);
    let mut kinds: Vec<ViolationKind> = exploration.violations.keys().copied().collect();
    if crashes {
        // A writer that crashes makes fewer calls than the scenario expects.
        kinds.retain(|kind| *kind != ViolationKind::Expectation);
    }
    assert_eq!(kinds, []);
    if !crashes {
        assert!(exploration.ends.iter().all(|end| model.unknown(end) == 0));
    }
    exploration.states
}

fn load(reference: &str, overrides: &[(&str, &str)]) -> Scenario {
    let overrides: Vec<_> = overrides.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect();
    scenario::load(reference, &overrides, &|path| fs::read_to_string(path)).expect("a valid scenario")
}

#[test]
fn two_writers_withstand_any_two_faults() {
    let text = load("@write-conflict", &[]).to_string();
    let third = text.rfind("\n[[writer]]").expect("three writers");
    let store = text[third..].find("\n[store]").map_or("", |at| &text[third + at..]);
    let scenario = Scenario::parse(&format!("{}{store}", &text[..third]), "two of three writers").expect("valid");
    assert_eq!(scenario.writers.len(), 2);
    let faults = FaultBudget::of_mix(2, &[]);
    let states = withstands(&scenario, faults, true);
    assert!(states > 10_000, "{states}");
    // Without crashes every call knows its end, whatever two faults happen.
    let kinds = [FaultKind::PutLost, FaultKind::ReplyLost, FaultKind::PutLate, FaultKind::ListLag];
    withstands(&scenario, FaultBudget::of_mix(2, &kinds), false);
}

#[test]
fn a_single_fault_of_each_kind_is_withstood_by_inserts_and_updates() {
    let mixed = two_writers("INSERT INTO t VALUES (1)", "UPDATE t SET id = id + 1", "INSERT INTO t VALUES (2)");
    for kind in FaultKind::ALL {
        withstands(&mixed, FaultBudget::of_mix(1, &[kind]), kind == FaultKind::Crash);
    }
}

#[test]
fn a_listing_can_lag_whatever_the_setup_did_besides() {
    let text = r#"
        name = "lag"
        isolation = "Serializable"
        setup = ["CREATE TABLE t (id INT)", "CREATE TABLE other (id INT)", "DELETE FROM t", "INSERT INTO other VALUES (1)"]
        [[writer]]
        name = "a"
        count = 2
        statements = ["INSERT INTO t VALUES (1)"]
    "#;
    let scenario = Scenario::parse(text, "inline").expect("a valid scenario");
    let states = |faults| withstands(&scenario, faults, false);
    assert!(states(FaultBudget::of_mix(1, &[FaultKind::ListLag])) > states(no_faults()));
}
