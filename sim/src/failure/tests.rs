use std::sync::Arc;

use expect_test::{Expect, expect};

use super::*;
use crate::world::Clock;

const SCENARIO: &str = r#"
name = "two counters"
setup = ["CREATE TABLE t (x INT)", "INSERT INTO t VALUES (1)"]
[[writer]]
name = "a"
statements = ["UPDATE t SET x = x + 1"]
[[writer]]
name = "b"
statements = ["UPDATE t SET x = x + 1"]
"#;

/// Two updates that both commit, since no rule stands against it.
fn failure() -> Failure {
    let rules = RuleChoice {
        without: ["added-files", "removed-and-read", "removed-twice"].map(str::to_owned).to_vec(),
        ..RuleChoice::default()
    };
    let scenario = Scenario::parse(SCENARIO, "test").unwrap();
    let rule_set = rules.rule_set().unwrap();
    let setting = Setting::new(scenario, rule_set, String::new(), Clock::PerCall, Granularity::Points).unwrap();
    let violation = Violation { kind: ViolationKind::Structure, message: "a file is removed twice".to_owned() };
    // Both load, both put, b lists the winner and puts again.
    let events = [0, 1, 0, 1, 1, 1].map(|writer| Event::Step { writer });
    Failure::new(&Arc::new(setting), &rules, &violation, &events).unwrap()
}

#[test]
fn a_file_reads_back_as_it_was_written() {
    let failure = failure();
    assert_eq!(Failure::parse(&failure.to_json()).unwrap(), failure);
    assert_eq!(failure.file_name(), "two-counters-structure.json");
    assert_eq!(failure.note(), None);
}

#[test]
fn a_replay_finds_the_violation_at_its_step() {
    let failure = failure();
    assert_eq!(failure.schedule, ["a.load", "b.load", "a.put", "b.put", "b.winners", "b.put"]);
    let replayed = failure.replay().unwrap();
    assert_eq!(replayed.reproduced, Some(6));
    let shorter = Failure { schedule: failure.schedule[..5].to_vec(), ..failure };
    assert_eq!(shorter.replay().unwrap().reproduced, None);
}

#[test]
fn a_step_that_is_not_possible_is_refused() {
    check_step(&["a.put"], expect!["schedule, step 1: 'a.put' is not possible here; possible are a.load, b.load"]);
    check_step(
        &["a.load", "c.load"],
        expect!["schedule, step 2: 'c.load' is no step of a writer; the writers are a, b; did you mean 'a'?"],
    );
    check_step(
        &["a.load", "a.put", "b.load", "b.put", "b.put"],
        expect!["schedule, step 5: 'b.put' is not possible here; possible is nothing, all writers have finished"],
    );
}

fn check_step(schedule: &[&str], expected: Expect) {
    let schedule = schedule.iter().map(|&step| step.to_owned()).collect();
    expected.assert_eq(&Failure { schedule, ..failure() }.replay().unwrap_err().to_string());
}

#[test]
fn a_file_that_is_none_is_refused() {
    let json = failure().to_json();
    check_text("hello", expect!["not a failure file: it is not JSON"]);
    check_text("[]", expect!["not a failure file: it is a list, not a JSON object"]);
    check_text("{}", expect!["not a failure file: field 'program' is missing"]);
    check_text(
        &json.replace("\"schema\": 1", "\"schema\": 2"),
        expect!["the file has schema 2, and this program reads schema 1; it was written by contend 0.1.0"],
    );
    check_text(
        &json.replace("\"kind\": \"structure\"", "\"kind\": \"odd\""),
        expect![
            "field 'kind' must be one of exactly-once, structure, wrong-effect, wrong-answer, not-serializable, not-write-serializable, undecided, expectation, not 'odd'"
        ],
    );
    check_text(
        &json.replace("\"schedule\": [", "\"schedule\": [1,"),
        expect!["field 'schedule' must be a list of strings, not a list"],
    );
    check_text(
        &json.replace("[[writer]]", "[[wrter]]"),
        expect!["the scenario in it cannot be read: scenario, line 7: unknown key 'wrter', did you mean 'writer'?"],
    );
    let other = Failure { program: "contend 9.0.0".to_owned(), ..failure() };
    let note = Failure::parse(&other.to_json()).unwrap().note();
    assert_eq!(
        note.unwrap(),
        "the file was written by contend 9.0.0, this is contend 0.1.0: what the writers do may have changed"
    );
}

fn check_text(text: &str, expected: Expect) {
    expected.assert_eq(&Failure::parse(text).unwrap_err().to_string());
}
