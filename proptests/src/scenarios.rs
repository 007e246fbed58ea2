//! Writers that race over one small table, and schedules that let them.

use std::sync::Arc;

use proptest::{
    collection::vec,
    prelude::*,
    sample::{Index, select},
};
use sim::{
    rule_choice::RuleChoice,
    scenario::Scenario,
    world::{Clock, FaultBudget, Granularity, Setting},
};

/// Scenarios of two or three writers with one or two statements each, on a table of integers with or without partitions, at either level.
pub fn scenarios() -> impl Strategy<Value = Scenario> {
    let writer = (vec(statement(), 1..=2), select(vec!["\"continue\"", "\"stop\"", "{ retry = 1 }"]));
    let level = select(vec!["Serializable", "WriteSerializable"]);
    (level, any::<bool>(), vec(writer, 2..=3)).prop_map(|(level, partitioned, writers)| {
        let partitioned = if partitioned { " PARTITIONED BY (p)" } else { "" };
        let mut text = format!(
            "isolation = \"{level}\"\nsetup = [\"CREATE TABLE t (k INT, p INT, x INT){partitioned}\", \
             \"INSERT INTO t VALUES (1, 0, 0), (2, 1, 0)\", \"INSERT INTO t VALUES (3, 1, 5)\"]\n"
        );
        for (index, (statements, on_conflict)) in writers.iter().enumerate() {
            let statements: Vec<String> = statements.iter().map(|statement| format!("{statement:?}")).collect();
            text.push_str(&format!(
                "[[writer]]\nname = \"w{index}\"\nstatements = [{}]\non_conflict = {on_conflict}\n",
                statements.join(", ")
            ));
        }
        Scenario::parse(&text, "random").expect("the text is a scenario")
    })
}

/// A scenario by the usual rules, ready to be run. Up to so many faults may happen to it, of any kind.
pub fn setting(scenario: Scenario, clock: Clock, granularity: Granularity, faults: u32) -> Arc<Setting> {
    let setting = RuleChoice::default().setting(scenario, clock, granularity).expect("its statements fit its table");
    Arc::new(setting.with_faults(FaultBudget::of_mix(faults, &[])))
}

/// Which of the events that are possible comes next, up to so many times. Whoever follows it takes the first one from there on.
pub fn schedules(most: usize) -> impl Strategy<Value = Vec<Index>> {
    vec(any::<Index>(), 0..most)
}

fn statement() -> impl Strategy<Value = String> {
    let number = || -1..4_i32;
    let predicate = || {
        prop_oneof![
            Just(String::new()),
            number().prop_map(|k| format!(" WHERE k = {k}")),
            number().prop_map(|p| format!(" WHERE p = {p}")),
            (number(), number()).prop_map(|(p, x)| format!(" WHERE p = {p} AND x > {x}")),
            (number(), number()).prop_map(|(p, x)| format!(" WHERE p = {p} OR x = {x}")),
        ]
    };
    prop_oneof![
        (number(), number(), number()).prop_map(|(k, p, x)| format!("INSERT INTO t VALUES ({k}, {p}, {x})")),
        predicate().prop_map(|predicate| format!("INSERT INTO t SELECT k + 10, p, x FROM t{predicate}")),
        (predicate(), number()).prop_map(|(predicate, x)| format!("UPDATE t SET x = x + {x}{predicate}")),
        (predicate(), number()).prop_map(|(predicate, p)| format!("UPDATE t SET p = {p}{predicate}")),
        predicate().prop_map(|predicate| format!("DELETE FROM t{predicate}")),
    ]
}
