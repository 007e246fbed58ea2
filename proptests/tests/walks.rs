//! Random walks with faults over the memoising model: as many ways through a small scenario as a search would take too long for.

use std::{collections::BTreeMap, sync::Arc, time::Instant};

use sim::{
    explore::WorldModel,
    judge::{Violation, ViolationKind},
    rule_choice::RuleChoice,
    scenario::Scenario,
    search::{Model, Walker},
    world::{Clock, Event, FaultBudget, FaultKind, Granularity, Setting},
};

/// Appends, rewrites and a copy race; one writer tries again, one stops.
const SCENARIO: &str = r#"
    name = "appends and rewrites"
    setup = ["CREATE TABLE t (x INT)", "INSERT INTO t VALUES (1)"]
    [[writer]]
    name = "update"
    statements = ["UPDATE t SET x = x * 2", "INSERT INTO t VALUES (10)"]
    [[writer]]
    name = "insert"
    statements = ["INSERT INTO t VALUES (100)", "UPDATE t SET x = x + 1"]
    on_conflict = { retry = 1 }
    [[writer]]
    name = "delete"
    statements = ["DELETE FROM t WHERE x > 9", "INSERT INTO t SELECT x + 1000 FROM t WHERE x < 100"]
    on_conflict = "stop"
"#;

fn setting(without: &[&str], level: &str, faults: FaultBudget) -> Arc<Setting> {
    let overrides = [("isolation".to_owned(), level.to_owned())];
    let scenario = Scenario::parse_with(SCENARIO, "walks", &overrides).expect("a scenario");
    let without = without.iter().map(|id| (*id).to_owned()).collect();
    let rules = RuleChoice { without, ..RuleChoice::default() };
    let setting = rules.setting(scenario, Clock::PerCall, Granularity::Points).expect("a setting");
    Arc::new(setting.with_faults(faults))
}

/// What many walks came to.
#[derive(Default)]
struct Walked {
    steps: usize,
    faults: BTreeMap<FaultKind, usize>,
    violations: BTreeMap<ViolationKind, (u64, Violation)>,
    ends: BTreeMap<usize, usize>,
}

/// Walks every seed of a range, on two threads.
fn walk(setting: &Arc<Setting>, seeds: u64) -> Walked {
    let started = Instant::now();
    let model = WorldModel::new(setting.clone()).expect("the setup succeeds");
    let one = |mut model: WorldModel, first: u64| {
        let mut walker = Walker::default();
        let mut walked = Walked::default();
        for seed in (first..seeds).step_by(2) {
            let walk = walker.walk(&mut model, seed).expect("no table is damaged");
            walked.steps += walk.schedule.len();
            for event in &walk.schedule {
                if let Event::Fault { fault, .. } = event {
                    *walked.faults.entry(fault.kind()).or_default() += 1;
                }
            }
            *walked.ends.entry(model.committed(&walk.end)).or_default() += 1;
            for (kind, (_, violation)) in walk.violations {
                walked.violations.entry(kind).or_insert((seed, violation));
            }
        }
        walked
    };
    let fork = model.fork().expect("the model can be forked");
    let (mut walked, other) = std::thread::scope(|scope| {
        let other = scope.spawn(|| one(fork, 1));
        (one(model, 0), other.join().expect("a walk does not panic"))
    });
    walked.steps += other.steps;
    other.faults.into_iter().for_each(|(kind, count)| *walked.faults.entry(kind).or_default() += count);
    other.ends.into_iter().for_each(|(commits, count)| *walked.ends.entry(commits).or_default() += count);
    walked.violations.extend(other.violations);
    println!(
        "{seeds} walks, {} steps, {:.1} s; faults {:?}; commits {:?}",
        walked.steps,
        started.elapsed().as_secs_f64(),
        walked.faults,
        walked.ends
    );
    walked
}

/// Every event that is possible is as likely as the others, and a writer may crash anywhere: so that other faults come up together too, some walks are without.
fn nothing_is_wrong(level: &str, seeds: u64) {
    let without_crash = FaultKind::ALL.into_iter().filter(|kind| *kind != FaultKind::Crash).collect::<Vec<_>>();
    for kinds in [&FaultKind::ALL[..], &without_crash] {
        let walked = walk(&setting(&[], level, FaultBudget::of_mix(2, kinds)), seeds);
        assert!(walked.violations.is_empty(), "{:?}", walked.violations);
        assert_eq!(walked.faults.len(), kinds.len(), "every kind of fault happened: {:?}", walked.faults);
        assert!(walked.ends.len() > 3, "walks end differently: {:?}", walked.ends);
    }
}

#[test]
fn a_hundred_thousand_walks_with_two_faults_keep_write_serializable() {
    nothing_is_wrong("WriteSerializable", 50_000);
}

#[test]
fn a_hundred_thousand_walks_with_two_faults_keep_serializable() {
    nothing_is_wrong("Serializable", 50_000);
}

/// `cargo test --release -p proptests --test walks -- --ignored --nocapture`
#[test]
#[ignore = "a minute or more; run once for its figures"]
fn a_million_walks_with_two_faults() {
    nothing_is_wrong("WriteSerializable", 250_000);
    nothing_is_wrong("Serializable", 250_000);
}

/// The walks find what they are for.
#[test]
fn walks_find_a_commit_that_its_writer_does_not_recognise() {
    let walked = walk(&setting(&["own-commit"], "WriteSerializable", FaultBudget::of_mix(1, &[])), 2_000);
    assert!(!walked.violations.is_empty());
}
