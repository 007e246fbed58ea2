use super::*;
use crate::rule_choice::RuleChoice;

const BIG: &str = r#"
    name = "too much"
    isolation = "Serializable"
    setup = [
      "CREATE TABLE t (id INT, x INT)",
      "CREATE TABLE other (id INT)",
      "INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)",
      "INSERT INTO t VALUES (4, 4)",
    ]
    [[writer]]
    name = "a"
    statements = ["INSERT INTO t VALUES (5, 5)", "DELETE FROM t", "UPDATE t SET x = 0"]
    on_conflict = { retry = 2 }
    [[writer]]
    name = "b"
    statements = ["SELECT * FROM t", "INSERT INTO t VALUES (6, 6), (7, 7)"]
    [[writer]]
    name = "c"
    statements = ["INSERT INTO other VALUES (1)", "INSERT INTO other VALUES (2)"]
"#;

fn rules() -> RuleChoice {
    RuleChoice { without: vec!["added-files".to_owned()], ..RuleChoice::default() }
}

/// A failure with a long schedule, found by random walks.
fn found_by_walking() -> Failure {
    let scenario = Scenario::parse(BIG, "inline").unwrap();
    let setting = rules().setting(scenario, Clock::PerCall, crate::world::Granularity::Points).unwrap();
    let setting = Arc::new(setting);
    let mut model = WorldModel::new(setting.clone()).unwrap();
    for seed in 0..1000 {
        let walk = crate::search::walk(&mut model, seed).unwrap();
        if let Some((_, violation)) = walk.violations.get(&ViolationKind::NotSerializable) {
            return Failure::new(&setting, &rules(), violation, &walk.schedule).unwrap();
        }
    }
    panic!("a thousand walks find nothing");
}

#[test]
fn what_does_not_matter_is_dropped() {
    let shrunk = shrink(&found_by_walking(), TRIAL).unwrap();
    assert!(shrunk.shortest);
    assert_eq!(shrunk.after.writers, 2);
    // One that the DELETE sees, since a DELETE of nothing is not recorded, and one that it misses.
    assert_eq!(shrunk.after.rows, 2, "{}", shrunk.failure.scenario);
    let statements: Vec<&str> = shrunk
        .failure
        .scenario
        .writers
        .iter()
        .flat_map(|writer| &writer.statements)
        .map(|sql| sql.text.as_str())
        .collect();
    assert_eq!(statements.len(), 2, "{statements:?}");
    assert_eq!(shrunk.failure.schedule.len(), 6);
    let replayed = shrunk.failure.replay().unwrap();
    assert_eq!(replayed.reproduced, Some(6));
    // What is small already stays as it is.
    let again = shrink(&shrunk.failure, TRIAL).unwrap();
    assert_eq!(again.failure, shrunk.failure);
}

#[test]
fn a_failure_that_does_not_fail_is_refused() {
    let mut failure = found_by_walking();
    failure.rules = RuleChoice::default();
    assert!(matches!(shrink(&failure, TRIAL), Err(ShrinkError::NotReproduced(ViolationKind::NotSerializable))));
}
