//! Commits as text, and their replay.

use std::sync::Arc;

use log_core::{
    action::Action,
    commit::Commit,
    load::LoadSnapshot,
    path::Version,
    snapshot::Snapshot,
    store::{Response, drive},
};
use proptest::prelude::*;
use proptests::{actions, check, tables};

#[test]
fn an_action_is_read_as_it_was_written() {
    check(1500, actions::action(), |action| {
        let mut line = Vec::new();
        action.write(&mut line);
        let line = String::from_utf8(line).expect("JSON is text");
        prop_assert!(!line.contains('\n'), "{line}");
        let read = Action::parse(&line).expect("it is an action");
        prop_assert_eq!(read.as_ref(), Some(&action));
        Ok(())
    });
}

#[test]
fn a_commit_is_read_as_it_was_written() {
    check(300, actions::commit(), |commit| {
        let bytes = Commit::serialise(&commit.actions);
        prop_assert_eq!(&Commit::parse(commit.version, &bytes).expect("it is a commit"), &commit);
        // Line ends of another system, and blank lines.
        let text = String::from_utf8(bytes).expect("JSON is text").replace('\n', "\r\n\r\n");
        prop_assert_eq!(&Commit::parse(commit.version, text.as_bytes()).expect("it is a commit"), &commit);
        Ok(())
    });
}

/// What a client wrote that is newer than this program stays.
#[test]
fn an_action_keeps_fields_that_nobody_knows() {
    check(300, (actions::add(), actions::json()), |(add, unknown)| {
        let mut line = Vec::new();
        Action::Add(add).write(&mut line);
        let mut document: serde_json::Value = serde_json::from_slice(&line).expect("JSON");
        document["add"]["notYetInvented"] = unknown;
        let action = Action::parse(&document.to_string()).expect("it is an action").expect("it is not {}");
        let mut again = Vec::new();
        action.write(&mut again);
        prop_assert_eq!(serde_json::from_slice::<serde_json::Value>(&again).expect("JSON"), document);
        Ok(())
    });
}

#[test]
fn replay_of_a_log_is_replay_of_any_split() {
    check(200, (tables::logs(12), any::<prop::sample::Index>()), |(log, at)| {
        let whole = Snapshot::replay(None, &log).expect("a table");
        let split = 1 + at.index(log.len());
        let base = Snapshot::replay(None, &log[..split]).expect("a table");
        prop_assert_eq!(&Snapshot::replay(Some(&base), &log[split..]).expect("a table"), &whole);
        // One commit after the other, too.
        let mut stepwise = None;
        for commit in &log {
            stepwise = Some(Snapshot::replay(stepwise.as_ref(), std::slice::from_ref(commit)).expect("a table"));
        }
        prop_assert_eq!(stepwise, Some(whole));
        Ok(())
    });
}

#[test]
fn a_load_comes_to_the_replay_wherever_it_begins() {
    check(150, (tables::logs(12), any::<prop::sample::Index>()), |(log, at)| {
        let whole = Snapshot::replay(None, &log).expect("a table");
        let mut objects = tables::objects(&log);
        let mut load = |machine: LoadSnapshot| {
            let loaded = drive(machine, |request| Response { now_ms: 0, answer: objects.answer(&request, 0) });
            loaded.expect("the log is whole").expect("there is a table")
        };
        prop_assert_eq!(&*load(LoadSnapshot::latest()), &whole);
        let at = at.index(log.len());
        let base = Snapshot::replay(None, &log[..=at]).expect("a table");
        prop_assert_eq!(&*load(LoadSnapshot::at(Version(at as u64))), &base);
        prop_assert_eq!(&*load(LoadSnapshot::newer_than(Arc::new(base))), &whole);
        Ok(())
    });
}

/// The strategy makes what it says: files come, go, come back and are marked.
#[test]
fn logs_are_of_every_kind() {
    let seen = std::cell::RefCell::new([0_usize; 4]);
    check(100, tables::logs(12), |log| {
        let snapshot = Snapshot::replay(None, &log).expect("a table");
        let mut seen = seen.borrow_mut();
        seen[0] += usize::from(snapshot.files.len() > 1);
        seen[1] += usize::from(snapshot.adds().any(|add| add.deletion_vector.is_some()));
        seen[2] += log.iter().flat_map(|commit| &commit.actions).filter(|a| matches!(a, Action::Remove(_))).count();
        seen[3] += usize::from(!snapshot.domains.is_empty());
        Ok(())
    });
    assert!(seen.borrow().iter().all(|count| *count > 5), "{seen:?}");
}
