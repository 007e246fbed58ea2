//! What holds of verdicts, on random cases.

use std::{cell::Cell, collections::BTreeSet, sync::Arc};

use conflict::{
    commit_loop::{CommitLoop, DEFAULT_COMMIT_RETRIES, Outcome as Committed},
    isolation::IsolationLevel,
    rules::RuleSet,
    transaction::{Operation, ReadSet, Transaction, Winner},
};
use log_core::{
    action::{Action, AddFile, CommitInfo},
    batch::batch,
    commit::Commit,
    path::{Version, commit_path},
    schema::PrimitiveType,
    snapshot::Snapshot,
    statistics::Statistics,
    store::{Machine, ObjectMap, Request, Response, Step},
};
use proptest::prelude::*;
use proptests::{
    cases::{self, Choices, Seeded},
    check,
    expressions::filters,
    tables,
    values::{self, TYPES, schema},
};
use serde_json::{Value as Json, json};
use sim::conflict_case::{Case, Outcome, judge};

fn parsed(case: &Json) -> Case {
    Case::parse(&case.to_string()).expect("a case")
}

/// The kind of conflict and the version, or the version of the commit.
fn verdict(case: &Json) -> Result<u64, (String, u64)> {
    match judge(&parsed(case), &RuleSet::delta_spark()).expect("a transaction").outcome {
        Outcome::Committed { version, .. } => Ok(version.0),
        Outcome::Conflict(explanation) => Err((explanation.kind.to_string(), explanation.winner.0)),
        Outcome::Stuck(error) => panic!("{error}"),
    }
}

/// The case on a table of another level.
fn at_level(case: &Json, level: &str) -> Json {
    fn set(node: &mut Json, level: &str) {
        match node {
            Json::Object(fields) => {
                for (key, value) in fields {
                    if key == "configuration"
                        && let Json::Object(properties) = value
                    {
                        properties.remove("delta.isolationLevel");
                        if level == "WriteSerializable" {
                            properties.insert("delta.isolationLevel".to_owned(), json!(level));
                        }
                    } else {
                        set(value, level);
                    }
                }
            }
            Json::Array(items) => items.iter_mut().for_each(|item| set(item, level)),
            _ => {}
        }
    }
    let mut case = case.clone();
    set(&mut case, level);
    case["isolation"] = json!(level);
    case
}

/// Exceptions: transactions that change no data and read something. Those of an operation that declares a change, such as WRITE, are checked at
/// snapshot isolation on a Serializable table, and at WriteSerializable on the other, which is stricter.
#[test]
fn what_conflicts_at_write_serializable_conflicts_at_serializable() {
    let (both, only, exceptions) = (Cell::new(0), Cell::new(0), Cell::new(0));
    check(1500, cases::case(), |case| {
        let [weak, strict] = ["WriteSerializable", "Serializable"].map(|level| at_level(&case, level));
        let [weak_verdict, strict_verdict] = [&weak, &strict].map(verdict);
        let (own, _) = parsed(&weak).transaction().expect("a transaction");
        let changes = own.actions.iter().any(|action| match action {
            Action::Add(add) => add.data_change,
            Action::Remove(remove) => remove.data_change,
            _ => false,
        });
        match (&weak_verdict, &strict_verdict) {
            (Err(_), Err(_)) => both.set(both.get() + 1),
            (Ok(_), Err(_)) => only.set(only.get() + 1),
            (Err((kind, _)), Ok(_)) => {
                prop_assert!(!changes && !own.blind_append, "{:?} at WriteSerializable only", kind);
                prop_assert_eq!(kind, "ConcurrentAppend");
                prop_assert!(own.operation.changes_data());
                exceptions.set(exceptions.get() + 1);
            }
            (Ok(_), Ok(_)) => {}
        }
        Ok(())
    });
    let counts = (both.get(), only.get(), exceptions.get());
    assert!(counts.0 > 200 && counts.1 > 20 && counts.2 > 0, "both, Serializable only, exceptions: {counts:?}");
}

/// Exceptions: RESTORE and CLONE, which are no appends, whatever their files; and DROP FEATURE, which has no files and depends on what the table holds all the
/// same (the protocol's rule asks it a second question).
#[test]
fn a_blind_append_fails_only_by_what_is_not_a_file() {
    let (lost, won) = (Cell::new(0), Cell::new(0));
    check(1500, cases::case(), |case| {
        let (own, _) = parsed(&case).transaction().expect("a transaction");
        if !own.blind_append || own.operation.is_never_rebased() {
            return Ok(());
        }
        match verdict(&case) {
            Err((kind, _)) => {
                lost.set(lost.get() + 1);
                let kinds = ["ProtocolChanged", "MetadataChanged", "DomainMetadataConflict", "ConcurrentTransaction"];
                let drops = own.operation.name == "DROP FEATURE" && kind == "FeatureDropConflict";
                prop_assert!(drops || kinds.contains(&kind.as_str()), "{}", kind);
            }
            Ok(_) => won.set(won.get() + 1),
        }
        Ok(())
    });
    assert!(lost.get() > 50 && won.get() > 50, "lost {}, won {}", lost.get(), won.get());
}

#[test]
fn the_order_of_a_winners_actions_decides_nothing() {
    check(800, (cases::case(), any::<u64>()), |(case, seed)| {
        let mut shuffled = case.clone();
        let mut choices = Seeded(seed);
        for winner in shuffled["winners"].as_array_mut().expect("winners") {
            let actions = winner.as_array_mut().expect("actions");
            for end in (1..actions.len()).rev() {
                actions.swap(end, choices.below(end + 1));
            }
        }
        prop_assert_eq!(verdict(&case), verdict(&shuffled));
        Ok(())
    });
}

#[test]
fn the_names_of_files_decide_nothing() {
    fn rename(node: &mut Json, prefix: &str) {
        match node {
            Json::Object(fields) => fields.iter_mut().for_each(|(key, value)| match (key.as_str(), value) {
                ("path", Json::String(path)) => *path = renamed(path, prefix),
                ("files", Json::Array(paths)) => paths.iter_mut().for_each(|path| {
                    *path = json!(renamed(path.as_str().expect("a path"), prefix));
                }),
                (_, value) => rename(value, prefix),
            }),
            Json::Array(items) => items.iter_mut().for_each(|item| rename(item, prefix)),
            _ => {}
        }
    }
    // Reversed, so that their order changes too.
    fn renamed(path: &str, prefix: &str) -> String {
        format!("{prefix}{}", path.chars().rev().collect::<String>())
    }
    check(800, cases::case(), |case| {
        let mut other = case.clone();
        rename(&mut other, "x/");
        prop_assert_eq!(verdict(&case), verdict(&other));
        Ok(())
    });
}

/// The bytes of the last put of a commit loop in front of which the winners appear, so many before each put.
fn last_put(own: &Transaction, winners: &[Commit], at_once: usize) -> Option<Vec<u8>> {
    let mut store = ObjectMap::default();
    let mut machine =
        CommitLoop::new(Arc::new(own.clone()), Arc::new(RuleSet::delta_spark()), DEFAULT_COMMIT_RETRIES, 7).unwrap();
    let mut coming = winners.chunks(at_once.max(1));
    let mut request = machine.start();
    loop {
        let mut last = None;
        if let Request::PutIfAbsent { bytes, .. } = &request {
            last = Some(bytes.to_vec());
            for commit in coming.next().into_iter().flatten() {
                let bytes = Commit::serialise(&commit.actions).into();
                store.answer(&Request::PutIfAbsent { path: commit_path(commit.version), bytes }, 0);
            }
        }
        let response = Response { now_ms: 7, answer: store.answer(&request, 0) };
        match machine.advance(response) {
            Step::Request(next) => request = next,
            Step::Done(Ok(Committed::Committed { .. })) => return last,
            Step::Done(Ok(Committed::Conflict(_))) => return None,
            Step::Done(other) => panic!("{other:?}"),
        }
    }
}

#[test]
fn losing_to_winners_one_by_one_writes_the_same_as_one_jump_over_all() {
    let compared = Cell::new(0);
    check(800, cases::case(), |case| {
        let case = parsed(&case);
        let (own, _) = case.transaction().expect("a transaction");
        let jump = last_put(&own, case.winners(), usize::MAX);
        for at_once in 1..case.winners().len().max(2) {
            prop_assert_eq!(&last_put(&own, case.winners(), at_once), &jump);
        }
        compared.set(compared.get() + usize::from(jump.is_some() && case.winners().len() > 1));
        Ok(())
    });
    assert!(compared.get() > 50, "{} commits passed several winners", compared.get());
}

#[test]
fn a_file_that_statistics_let_pass_has_no_row_that_was_read() {
    let (narrowed, needed) = (Cell::new(0), Cell::new(0));
    let names: Vec<String> = (0..TYPES.len()).map(|index| format!("c{index}")).collect();
    let columns: Vec<(&str, PrimitiveType)> = names.iter().map(String::as_str).zip(TYPES).collect();
    let read = Arc::new(Snapshot::replay(None, &[tables::create(&columns, &[])]).expect("a table"));
    check(1500, (proptest::collection::vec(filters(2), 1..3), values::rows(3)), |(predicates, rows)| {
        let schema = schema();
        let batch = batch(&schema, &rows).expect("rows of the schema");
        let stats = Statistics::collect(&schema, &[], &batch).expect("statistics").to_json();
        let add = AddFile { path: "n".to_owned(), data_change: true, stats: Some(stats), ..AddFile::default() };
        let reads = ReadSet { predicates: predicates.clone(), ..ReadSet::default() };
        let level = IsolationLevel::Serializable;
        let removed = Action::Remove(AddFile { path: "f".to_owned(), ..AddFile::default() }.to_remove(0, true));
        let own = Transaction::new(
            Some(read.clone()),
            reads,
            Operation::named("DELETE"),
            vec![removed],
            level,
            "t".to_owned(),
        );
        let info = CommitInfo(json!({ "operation": "WRITE" }).as_object().expect("an object").clone());
        let actions = vec![Action::CommitInfo(info), Action::Add(add)];
        let winner = Winner::new(Commit { version: Version(1), actions });
        prop_assert!(RuleSet::delta_spark().check(&own, &winner).is_some(), "the reference never narrows");
        let matches = rows.iter().any(|row| predicates.iter().any(|predicate| predicate.matches(row).unwrap_or(true)));
        needed.set(needed.get() + usize::from(matches));
        if RuleSet::with_statistics().check(&own, &winner).is_none() {
            narrowed.set(narrowed.get() + 1);
            prop_assert!(!matches, "{:?}", predicates);
        }
        Ok(())
    });
    assert!(narrowed.get() > 100 && needed.get() > 100, "{} narrowed, {} needed", narrowed.get(), needed.get());
}

#[test]
fn random_cases_are_of_every_kind() {
    let (mut kinds, mut several) = (BTreeSet::new(), 0);
    for seed in 0..2000 {
        let case = cases::generate(&format!("case {seed}"), &mut Seeded(seed));
        several += usize::from(case["winners"].as_array().expect("winners").len() > 1);
        if let Err((kind, _)) = verdict(&case) {
            kinds.insert(kind);
        }
    }
    assert!(several >= 600, "{several} of 2000 have several winners");
    let expected = [
        "BackfillConflict",
        "ConcurrentAppend",
        "ConcurrentDeleteDelete",
        "ConcurrentDeleteRead",
        "ConcurrentTransaction",
        "ConcurrentWrite",
        "DomainMetadataConflict",
        "FeatureDropConflict",
        "MetadataChanged",
        "ProtocolChanged",
    ];
    assert_eq!(kinds.iter().map(String::as_str).collect::<Vec<_>>(), expected);
}
