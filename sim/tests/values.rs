//! Values that the log cannot tell apart.

use std::sync::Arc;

use conflict::rules::RuleSet;
use sim::{
    call::CallEnd,
    run::simulate,
    scenario::Scenario,
    world::{Clock, Granularity, Setting},
};

#[test]
fn an_empty_text_is_not_written_to_a_partition_column() {
    let text = r#"
        setup = ["CREATE TABLE t (id INT, p STRING) PARTITIONED BY (p)", "INSERT INTO t VALUES (1, 'x'), (2, NULL)"]
        [[writer]]
        name = "a"
        statements = ["INSERT INTO t VALUES (3, '')", "UPDATE t SET p = '' WHERE p = 'x'", "INSERT INTO t VALUES (4, nullif('', ''))"]
    "#;
    for level in ["Serializable", "WriteSerializable"] {
        let text = format!("isolation = \"{level}\"\n{text}");
        let scenario = Scenario::parse(&text, "inline").expect("a valid scenario");
        let setting = Setting::new(scenario, RuleSet::delta_spark(), String::new(), Clock::Virtual, Granularity::Needs)
            .expect("valid");
        let result = simulate(&Arc::new(setting), 0).expect("it runs");
        assert!(result.violations.is_empty(), "{:?}", result.violations);
        let ends: Vec<&CallEnd> = result.history.ends().map(|(_, end)| end).collect();
        assert!(matches!(ends[0], CallEnd::Failed { message } if message.contains("nullif(p, '')")), "{:?}", ends[0]);
        assert!(matches!(ends[1], CallEnd::Failed { .. }), "{:?}", ends[1]);
        assert!(matches!(ends[2], CallEnd::Committed { .. }), "{:?}", ends[2]);
    }
}

#[test]
fn a_commit_step_goes_on_after_a_put_that_was_lost() {
    let text = r#"
        setup = ["CREATE TABLE t (id INT)", "INSERT INTO t VALUES (1)"]
        schedule = ["a.read", "b.read", "b.commit", "a.put", "a.commit"]
        [[writer]]
        name = "a"
        statements = ["INSERT INTO t VALUES (2)", "DELETE FROM t"]
        [[writer]]
        name = "b"
        statements = ["INSERT INTO t VALUES (3)"]
    "#;
    let scenario = Scenario::parse(text, "inline").expect("a valid scenario");
    let setting = Setting::new(scenario, RuleSet::delta_spark(), String::new(), Clock::Virtual, Granularity::Needs)
        .expect("valid");
    let result = simulate(&Arc::new(setting), 0).expect("every step is possible");
    assert_eq!(result.committed, 3);
}
