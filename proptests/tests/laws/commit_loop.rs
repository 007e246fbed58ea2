//! One commit loop against a store that does everything to it: rivals, lost requests and replies, late puts, refusals, reads without an answer, listings that
//! lag.

use std::{cell::RefCell, collections::BTreeMap, sync::Arc};

use conflict::{
    commit_loop::{CommitLoop, Outcome},
    isolation::IsolationLevel,
    rules::{OWN_COMMIT, RuleSet},
    transaction::{Operation, ReadSet, Transaction},
};
use log_core::{
    action::{Action, AddFile, CommitInfo},
    commit::Commit,
    path::{LogFile, Version, commit_path},
    schema::PrimitiveType,
    snapshot::Snapshot,
    store::{Answer, Machine, ObjectMap, Request, Response, Step, WriteAnswer},
};
use proptest::{collection::vec, prelude::*};
use proptests::{check, tables};
use serde_json::json;

/// What happens to one request.
#[derive(Clone, Debug)]
enum Event {
    Nothing,
    /// Rivals commit first: each adds a file, or removes the one that a rewrite has read.
    Rivals(Vec<bool>),
    /// A put happens, and nobody says so.
    ReplyLost,
    /// A put does not happen, and nobody says so.
    RequestLost,
    /// A put happens after some more requests, or when everything is over.
    Late(usize),
    /// A put is refused for good.
    Refused,
    /// A read has no answer.
    Unavailable,
    /// A listing does not show the newest commits.
    Lag(usize),
}

fn script() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        3 => Just(Event::Nothing),
        3 => vec(prop::bool::weighted(0.1), 1..3).prop_map(Event::Rivals),
        2 => Just(Event::ReplyLost),
        1 => Just(Event::RequestLost),
        2 => (0..6_usize).prop_map(Event::Late),
        1 => Just(Event::Refused),
        1 => Just(Event::Unavailable),
        1 => (1..3_usize).prop_map(Event::Lag),
    ];
    vec(event, 0..24)
}

/// The table of version 1: a file `f` that a rewrite reads.
fn table() -> Vec<Commit> {
    let first = tables::create(&[("x", PrimitiveType::Integer)], &[]);
    vec![first, Commit { version: Version(1), actions: vec![Action::Add(add("f"))] }]
}

fn add(path: &str) -> AddFile {
    AddFile { path: path.to_owned(), data_change: true, ..AddFile::default() }
}

/// An append, or a rewrite of `f`.
fn transaction(rewrites: bool) -> Arc<Transaction> {
    let read = Arc::new(Snapshot::replay(None, &table()).expect("a table"));
    let (name, reads, actions) = match rewrites {
        false => ("WRITE", ReadSet::default(), vec![Action::Add(add("own"))]),
        true => {
            let reads = ReadSet { files: ["f".to_owned()].into(), ..ReadSet::default() };
            ("UPDATE", reads, vec![Action::Remove(add("f").to_remove(0, true)), Action::Add(add("own"))])
        }
    };
    let operation = Operation { name: name.to_owned(), ..Operation::default() };
    Arc::new(Transaction::new(Some(read), reads, operation, actions, IsolationLevel::Serializable, "own".to_owned()))
}

struct Store {
    objects: ObjectMap,
    /// Puts on their way, and after how many requests they arrive.
    late: Vec<(usize, Request)>,
    rivals: u32,
}

impl Store {
    fn newest(&self) -> u64 {
        self.objects.paths().count() as u64
    }

    fn rival(&mut self, removes: bool) {
        self.rivals += 1;
        let info = json!({ "operation": "WRITE", "txnId": format!("rival {}", self.rivals) });
        let info = CommitInfo(info.as_object().expect("an object").clone());
        let change = match removes {
            true => Action::Remove(add("f").to_remove(0, true)),
            false => Action::Add(add(&format!("rival {}", self.rivals))),
        };
        let bytes = Commit::serialise(&[Action::CommitInfo(info), change]).into();
        let path = commit_path(Version(self.newest()));
        self.objects.answer(&Request::PutIfAbsent { path, bytes }, 0);
    }

    /// The late puts whose time has come arrive.
    fn arrive(&mut self, all: bool) {
        for (wait, request) in std::mem::take(&mut self.late) {
            if all || wait == 0 {
                self.objects.answer(&request, 0);
            } else {
                self.late.push((wait - 1, request));
            }
        }
    }

    fn answer(&mut self, request: &Request, event: Event) -> Answer {
        self.arrive(false);
        let unknown = || Answer::Write(WriteAnswer::Unknown { cause: "no reply".to_owned() });
        let puts = matches!(request, Request::PutIfAbsent { .. });
        let reads = matches!(request, Request::List { .. } | Request::Get { .. });
        match event {
            Event::Rivals(rivals) => {
                rivals.into_iter().for_each(|removes| self.rival(removes));
                self.objects.answer(request, 0)
            }
            Event::ReplyLost if puts => {
                self.objects.answer(request, 0);
                unknown()
            }
            Event::RequestLost if puts => unknown(),
            Event::Late(wait) if puts => {
                self.late.push((wait, request.clone()));
                unknown()
            }
            Event::Refused if puts => Answer::Write(WriteAnswer::DidNotHappen { cause: "refused".to_owned() }),
            Event::Unavailable if reads => Answer::Unavailable { cause: "slow down".to_owned() },
            Event::Lag(missing) => match self.objects.answer(request, 0) {
                Answer::Listed(mut listing) => {
                    listing.truncate(listing.len().saturating_sub(missing));
                    Answer::Listed(listing)
                }
                other => other,
            },
            _ => self.objects.answer(request, 0),
        }
    }

    fn versions_of_own(&self) -> Vec<Version> {
        let versions = self.objects.paths().filter_map(|path| {
            let LogFile::Commit(version) = LogFile::of(path) else { panic!("{path}") };
            let commit = Commit::parse(version, &self.objects.get(path)?).expect("a commit");
            (commit.info()?.txn_id()? == "own").then_some(version)
        });
        versions.collect()
    }
}

/// Runs a loop; gives its outcome and the versions that are its own when everything has arrived.
fn run(rules: RuleSet, rewrites: bool, retries: u32, script: Vec<Event>) -> (Outcome, Vec<Version>) {
    let mut store = Store { objects: tables::objects(&table()), late: Vec::new(), rivals: 0 };
    let mut machine = CommitLoop::new(transaction(rewrites), Arc::new(rules), retries, 0).unwrap();
    let mut script = script.into_iter();
    let mut request = machine.start();
    let outcome = loop {
        let event = script.next().unwrap_or(Event::Nothing);
        let response = Response { now_ms: 0, answer: store.answer(&request, event) };
        match machine.advance(response) {
            Step::Request(next) => request = next,
            Step::Done(outcome) => break outcome.expect("the log is whole"),
        }
    };
    store.arrive(true);
    (outcome, store.versions_of_own())
}

/// Is what the loop says true of the log?
fn holds(outcome: &Outcome, own: &[Version]) -> bool {
    match outcome {
        Outcome::Committed { version, .. } => own == [*version],
        Outcome::Conflict(_) | Outcome::Exhausted { .. } => own.is_empty(),
        Outcome::Unknown { version } => own.is_empty() || own == [*version],
    }
}

#[test]
fn what_a_commit_loop_says_is_true_of_the_log_whatever_happens() {
    let outcomes = RefCell::new(BTreeMap::new());
    check(4000, (any::<bool>(), 0..6_u32, script()), |(rewrites, retries, script)| {
        let (outcome, own) = run(RuleSet::delta_spark(), rewrites, retries, script);
        prop_assert!(holds(&outcome, &own), "{:?}, and the log has it at {:?}", outcome, own);
        let name = match outcome {
            Outcome::Committed { .. } => "committed",
            Outcome::Conflict(_) => "conflict",
            Outcome::Exhausted { .. } => "exhausted",
            Outcome::Unknown { .. } => "unknown",
        };
        *outcomes.borrow_mut().entry(name).or_insert(0) += 1;
        Ok(())
    });
    let outcomes = outcomes.into_inner();
    assert!(outcomes.len() == 4 && outcomes.values().all(|count| *count > 20), "every outcome comes up: {outcomes:?}");
}

/// The law is one that can be broken.
#[test]
#[should_panic(expected = "committed twice or denied")]
fn a_loop_that_does_not_know_its_own_commit_breaks_the_law() {
    check(4000, (any::<bool>(), 0..6_u32, script()), |(rewrites, retries, script)| {
        let rules = RuleSet::delta_spark().without(OWN_COMMIT).expect("there is such a device");
        let (outcome, own) = run(rules, rewrites, retries, script);
        prop_assert!(holds(&outcome, &own), "committed twice or denied: {:?}, {:?}", outcome, own);
        Ok(())
    });
}
