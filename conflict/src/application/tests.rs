use std::sync::Arc;

use super::*;
use crate::{
    isolation::IsolationLevel,
    rebase::rebase,
    rules::{ConflictKind, RuleSet},
    testing::{table, winner},
    transaction::{InvalidTransaction, Operation, Transaction},
};
use log_core::action::Action;

fn at_five() -> Arc<Snapshot> {
    let mut read = Snapshot::clone(&table("id long", "", &["+f1 txn:s1"]));
    let progress = SetTransaction { app_id: "s1".to_owned(), version: 5, ..SetTransaction::default() };
    read.transactions = Arc::new([("s1".to_owned(), progress)].into());
    Arc::new(read)
}

/// A transaction of a step: `Err` when it is done.
fn step(read: &Arc<Snapshot>, app_id: &str, version: i64) -> Result<Transaction, i64> {
    let mut reads = ReadSet::default();
    let claim = claim(Some(read), &mut reads, app_id, version, 77);
    assert!(reads.app_ids.contains(app_id), "the question is registered, whatever the answer");
    let claimed = match claim {
        Claim::Done { recorded } => return Err(recorded),
        Claim::New(action) => Action::Transaction(action),
    };
    let (operation, level) = (Operation::named("STREAMING UPDATE"), IsolationLevel::Serializable);
    Ok(Transaction::new(Some(read.clone()), reads, operation, vec![claimed], level, "own".to_owned()))
}

/// Report 48.
#[test]
fn a_step_is_done_once() {
    let read = at_five();
    assert_eq!(step(&read, "s1", 5).unwrap_err(), 5);
    assert_eq!(step(&read, "s1", 4).unwrap_err(), 5);
    assert!(step(&read, "s2", 1).is_ok());
    let six = step(&read, "s1", 6).unwrap();
    let [Action::Transaction(written)] = &six.actions[..] else { panic!("one action") };
    assert_eq!((written.app_id.as_str(), written.version, written.last_updated), ("s1", 6, Some(77)));
    let nothing = claim(None, &mut ReadSet::default(), "s1", 0, 77);
    assert!(matches!(nothing, Claim::New(_)), "a table that is not there has no steps");
}

/// Report 48: whoever loses looks again, and finds the step done. A number that goes back counts as well.
#[test]
fn of_two_that_do_one_step_the_second_loses_and_then_finds_it_done() {
    let read = at_five();
    let rules = RuleSet::delta_spark();
    let loser = step(&read, "s1", 6).unwrap();
    let kind = |winner: &_| rules.check(&loser, winner).map(|conflict| conflict.finding.kind);
    assert_eq!(kind(&winner("+g txn:s1")), Some(ConflictKind::ConcurrentTransaction));
    assert_eq!(kind(&winner("+g txn:s2")), None);
    let mut after = Snapshot::clone(&read);
    let progress = SetTransaction { app_id: "s1".to_owned(), version: 6, ..SetTransaction::default() };
    after.transactions = Arc::new([("s1".to_owned(), progress)].into());
    assert_eq!(step(&Arc::new(after), "s1", 6).unwrap_err(), 6);
    // The question belongs to the snapshot that was asked, also after winners that were passed.
    let mut passed = Arc::new(loser.clone());
    rebase(&mut passed, &winner("+g")).unwrap();
    assert!(rules.check(&passed, &winner("txn:s1")).is_some());
}

/// Report 48.
#[test]
fn a_commit_says_once_how_far_an_application_has_come() {
    let mut both = step(&at_five(), "s1", 6).unwrap();
    let again = both.actions[0].clone();
    both.actions.push(again.clone());
    assert_eq!(both.check(), Ok(()));
    let Action::Transaction(mut other) = again else { panic!("a txn") };
    other.version = 7;
    both.actions.push(Action::Transaction(other));
    let twice = InvalidTransaction::Application { app_id: "s1".to_owned(), first: 6, second: 7 };
    assert_eq!(both.check(), Err(twice));
}
