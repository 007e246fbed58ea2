use super::*;
use crate::{
    isolation::IsolationLevel,
    rules::{ConflictKind, RuleSet},
    testing::{actions, unpartitioned, winner},
    transaction::{Operation, ReadSet},
};

fn append(read: Option<Arc<Snapshot>>) -> Arc<Transaction> {
    let operation = Operation { name: "WRITE".to_owned(), ..Operation::default() };
    let reads = ReadSet::default();
    Arc::new(Transaction::new(read, reads, operation, actions("+n"), IsolationLevel::Serializable, "t".to_owned()))
}

#[test]
fn a_winner_without_protocol_or_metadata_leaves_the_transaction_as_it_is() {
    let transaction = append(Some(unpartitioned()));
    let mut winner = winner("info:WRITE -f1 +g txn:a domain:d");
    assert!(Arc::ptr_eq(&rebase(transaction.clone(), &winner), &transaction));

    let same = transaction.read.as_ref().unwrap().metadata.as_ref().clone();
    winner.commit.actions.push(Action::Metadata(same));
    assert!(Arc::ptr_eq(&rebase(transaction.clone(), &winner), &transaction));

    let creation = append(None);
    assert!(Arc::ptr_eq(&rebase(creation.clone(), &self::winner("protocol:1,2 metadata")), &creation));
}

#[test]
fn only_protocol_and_metadata_are_taken_over() {
    let transaction = append(Some(unpartitioned()));
    let winner = winner("protocol:1,7,appendOnly,invariants metadata -f1 +g");
    let rebased = rebase(transaction.clone(), &winner);
    let (old, new) = (transaction.read.as_ref().unwrap(), rebased.read.as_ref().unwrap());
    assert_eq!(
        [Action::Protocol((*new.protocol).clone()), Action::Metadata((*new.metadata).clone())],
        winner.commit.actions[..2]
    );
    assert_eq!(Transaction { read: None, ..(*rebased).clone() }, Transaction { read: None, ..(*transaction).clone() });
    let back = Snapshot { protocol: old.protocol.clone(), metadata: old.metadata.clone(), ..(**new).clone() };
    assert_eq!(back, **old);
    // What is written still says which version was read.
    assert_eq!(rebased.commit_bytes(5), transaction.commit_bytes(5));
}

/// The smallest log in which a chain of winners is judged otherwise than each of them alone: the first adds a feature, the second drops it.
#[test]
fn the_next_winner_is_judged_against_what_was_taken_over() {
    let rules = RuleSet::delta_spark();
    let first = winner("protocol:1,7,appendOnly,invariants");
    let second = winner("protocol:1,7,appendOnly,invariants metadata");
    let third = winner("protocol:1,7,appendOnly");
    let start = append(Some(crate::testing::table("id long", "", &["protocol:1,7,appendOnly"])));
    assert_eq!(rules.check(&start, &third), None);

    assert_eq!(rules.check(&start, &first), None);
    let moved = rebase(start, &first);
    let kind = |winner| rules.check(&moved, winner).map(|conflict| conflict.finding.kind);
    assert_eq!(kind(&third), Some(ConflictKind::ProtocolChanged));
    // Metadata that was taken over is no change the second time.
    assert_eq!(kind(&second), Some(ConflictKind::MetadataChanged));
    assert_eq!(rules.check(&rebase(moved.clone(), &second), &second), None);
}
