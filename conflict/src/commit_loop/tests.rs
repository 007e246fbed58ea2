mod interleavings;

use std::sync::Mutex;

use expect_test::expect;
use log_core::{
    action::Action,
    path::LOG_FOLDER,
    store::{Bytes, ObjectMap},
};

use super::*;
use crate::{
    isolation::IsolationLevel,
    rules::Rule,
    testing::{actions, unpartitioned},
    transaction::{Operation, ReadSet},
};

/// A transaction that read version 1 of a table that holds f1 and f2: it appends `n`, or replaces f1 by `g-<id>`.
fn transaction(name: &str, txn_id: &str) -> Arc<Transaction> {
    let operation = Operation { name: name.to_owned(), ..Operation::default() };
    let (reads, text) = match name {
        "WRITE" => (ReadSet::default(), format!("+n-{txn_id}")),
        "UPDATE" => (ReadSet { files: ["f1".to_owned()].into(), ..ReadSet::default() }, format!("-f1 +g-{txn_id}")),
        _ => panic!("{name}"),
    };
    let level = IsolationLevel::Serializable;
    Arc::new(Transaction::new(Some(unpartitioned()), reads, operation, actions(&text), level, txn_id.to_owned()))
}

fn put(store: &mut ObjectMap, version: u64, text: &str) {
    let bytes: Bytes = text.as_bytes().into();
    let answer = store.answer(&Request::PutIfAbsent { path: commit_path(Version(version)), bytes }, 0);
    assert_eq!(answer, Answer::Write(WriteAnswer::Happened), "version {version} is free");
}

/// A log whose commits from version 2 on are these; what stands in 0 and 1 does not matter to a loop.
fn log(commits: &[&str]) -> ObjectMap {
    let mut store = ObjectMap::default();
    for (version, text) in [&["", ""], commits].concat().into_iter().enumerate() {
        put(&mut store, version as u64, &commit(text));
    }
    store
}

/// The file of a commit of these actions.
fn commit(text: &str) -> String {
    String::from_utf8(Commit::serialise(&actions(text))).unwrap()
}

/// Versions whose commit has this id.
fn versions_of(store: &ObjectMap, txn_id: &str) -> Vec<Version> {
    let versions = store.paths().filter_map(|path| {
        let LogFile::Commit(version) = LogFile::of(path) else { panic!("{path}") };
        let commit = Commit::parse(version, &store.get(path)?).ok()?;
        (commit.info()?.txn_id()? == txn_id).then_some(version)
    });
    versions.collect()
}

/// A request in short: `put 2`, `get 2`, `list 2` (from version 2 on), `wait`.
fn label(request: &Request) -> String {
    let version = |path: &str| match LogFile::of(path) {
        LogFile::Commit(version) => version,
        other => panic!("{path} is {other:?}"),
    };
    match request {
        Request::PutIfAbsent { path, .. } => format!("put {}", version(path)),
        Request::Get { path } => format!("get {}", version(path)),
        Request::List { after } if after == LOG_FOLDER => "list 0".to_owned(),
        Request::List { after } => format!("list {}", version(after).next()),
        Request::Backoff { .. } => "wait".to_owned(),
        other => panic!("a commit loop does not ask {other:?}"),
    }
}

/// What happens at a request.
#[derive(Clone)]
enum Event {
    /// Rivals write commits first, one for each text, from this version on.
    Rivals(u64, Vec<String>),
    /// The put is done, and nobody says so.
    ReplyLost,
    /// The put is on its way, and nobody says so.
    Delayed,
    /// The delayed put arrives, before the request.
    Arrival,
    /// The put is refused for good.
    Refused,
    /// The read has no answer.
    Unavailable,
    /// The read does not see objects from this version on.
    Lags(u64),
    /// The listing leaves this version out.
    Misses(u64),
}

/// A script: at the next request of this label, this happens.
type Script<'a> = &'a [(&'a str, Event)];

fn rivals(version: u64, texts: &[&str]) -> Event {
    Event::Rivals(version, texts.iter().map(|text| commit(text)).collect())
}

fn raw(version: u64, text: &str) -> Event {
    Event::Rivals(version, vec![text.to_owned()])
}

struct Run {
    /// Every request in short, then the outcome.
    story: String,
    /// The bytes of every put.
    puts: Vec<Bytes>,
    store: ObjectMap,
}

/// Runs one loop over a log, and holds to account what every run must keep:
/// an outcome says truly what is in the log; winners are checked once each and in order, and all of them before a commit; every put carries the id,
/// and the time of the answer before it.
#[track_caller]
fn run(transaction: &Arc<Transaction>, retries: u32, mut store: ObjectMap, script: Script) -> Run {
    let checked = Arc::new(Mutex::new(Vec::new()));
    let record = checked.clone();
    let mut rules = RuleSet::delta_spark();
    let recorder = Rule::new("recorder", move |_, winner| {
        record.lock().unwrap().push(winner.version());
        None
    });
    rules.rules.insert(0, recorder);

    let mut machine = CommitLoop::new(transaction.clone(), Arc::new(rules), retries, 1000).unwrap();
    let mut script = script.iter().cloned().peekable();
    let (mut now_ms, mut puts, mut story, mut delayed) = (1000, Vec::new(), Vec::new(), None);
    let mut request = machine.start();
    let result = loop {
        story.push(label(&request));
        assert!(story.len() < 500, "a loop ends");
        let mut writes_and_lists = story.iter().rev().filter(|label| !label.starts_with("get") && *label != "wait");
        let puts_last = writes_and_lists.next().is_some_and(|label| label.starts_with("put"));
        assert_eq!(machine.is_probing(), puts_last && label(&request).starts_with("get"), "{story:?}");
        if let Request::PutIfAbsent { bytes, .. } = &request {
            let info = Commit::parse(Version(0), bytes).unwrap().info().unwrap().clone();
            assert_eq!((info.timestamp(), info.txn_id()), (Some(now_ms), Some(&*transaction.txn_id)));
            puts.push(bytes.clone());
        }
        now_ms += 7;
        let event = script.next_if(|(at, _)| *at == story[story.len() - 1]).map(|(_, event)| event);
        let unknown = || Answer::Write(WriteAnswer::Unknown { cause: "timeout".to_owned() });
        let answer = match event {
            None => store.answer(&request, now_ms),
            Some(Event::Rivals(first, texts)) => {
                (first..).zip(&texts).for_each(|(version, text)| put(&mut store, version, text));
                store.answer(&request, now_ms)
            }
            Some(Event::ReplyLost) => {
                store.answer(&request, now_ms);
                unknown()
            }
            Some(Event::Delayed) => {
                delayed = Some(request.clone());
                unknown()
            }
            Some(Event::Arrival) => {
                store.answer(&delayed.take().expect("a put is on its way"), now_ms);
                store.answer(&request, now_ms)
            }
            Some(Event::Refused) => Answer::Write(WriteAnswer::DidNotHappen { cause: "403 forbidden".to_owned() }),
            Some(Event::Unavailable) => Answer::Unavailable { cause: "503 slow down".to_owned() },
            Some(Event::Lags(from)) => match store.answer(&request, now_ms) {
                Answer::Listed(mut listing) => {
                    listing.retain(|object| object.path < commit_path(Version(from)));
                    Answer::Listed(listing)
                }
                _ => Answer::Content(None),
            },
            Some(Event::Misses(version)) => {
                let Answer::Listed(mut listing) = store.answer(&request, now_ms) else { panic!("a listing") };
                listing.retain(|object| object.path != commit_path(Version(version)));
                Answer::Listed(listing)
            }
        };
        match machine.advance(Response { now_ms, answer }) {
            Step::Request(next) => request = next,
            Step::Done(result) => break result,
        }
    };
    assert!(script.peek().is_none(), "the script is used up: {story:?}");

    let checked = checked.lock().unwrap().clone();
    let read = transaction.read_version();
    let in_order: Vec<Version> = (Version::after(read).0..).take(checked.len()).map(Version).collect();
    assert_eq!(checked, in_order, "{story:?}");
    let own = versions_of(&store, &transaction.txn_id);
    match &result {
        Ok(Outcome::Committed { version, attempts }) => {
            assert_eq!(own, [*version]);
            assert_eq!(Version::after(checked.last().copied().or(read)), *version, "{story:?}");
            assert_eq!(*attempts as usize, puts.len());
        }
        Ok(Outcome::Unknown { version }) => assert!(own.iter().all(|own| own == version), "{own:?}"),
        Ok(Outcome::Conflict(conflict)) => {
            assert_eq!(own, []);
            assert_eq!(checked.last(), Some(&conflict.winner));
        }
        Ok(Outcome::Exhausted { attempts, .. }) => {
            assert_eq!(own, []);
            assert_eq!(*attempts as usize, puts.len());
        }
        Err(_) => assert_eq!(own, []),
    }
    let outcome = match result {
        Ok(Outcome::Committed { version, .. }) => format!("committed at {version}"),
        Ok(Outcome::Conflict(conflict)) => format!("{} with {}", conflict.finding.kind, conflict.winner),
        Ok(Outcome::Exhausted { attempts, last }) => format!("exhausted after {attempts} puts: {last}"),
        Ok(Outcome::Unknown { version }) => format!("unknown at {version}"),
        Err(error) => format!("error: {error}"),
    };
    story.push(outcome);
    Run { story: story.join(", "), puts, store }
}

/// Runs an append with three retries.
#[track_caller]
fn check(commits: &[&str], script: Script, expected: &str) {
    assert_eq!(run(&transaction("WRITE", "own"), 3, log(commits), script).story, expected);
}

/// As [`check`], for an update of f1, which would conflict with itself.
#[track_caller]
fn check_update(commits: &[&str], script: Script, expected: &str) {
    assert_eq!(run(&transaction("UPDATE", "own"), 3, log(commits), script).story, expected);
}

#[test]
fn a_free_version_takes_one_put() {
    check(&[], &[], "put 2, committed at 2");
    check_update(&[], &[], "put 2, committed at 2");
}

#[test]
fn the_first_commit_of_a_table_is_version_0() {
    let operation = Operation { name: "CREATE TABLE".to_owned(), ..Operation::default() };
    let create = actions("protocol:1,2 metadata");
    let level = IsolationLevel::Serializable;
    let create = Transaction::new(None, ReadSet::default(), operation, create, level, "own".to_owned());
    let create = Arc::new(create);
    assert_eq!(run(&create, 3, ObjectMap::default(), &[]).story, "put 0, committed at 0");
    let script = [("put 0", rivals(0, &["protocol:1,2 metadata"]))];
    let story = run(&create, 3, ObjectMap::default(), &script).story;
    assert_eq!(story, "put 0, wait, list 0, get 0, ProtocolChanged with 0");
}

#[test]
fn harmless_winners_are_passed_in_one_jump() {
    check(&["+a"], &[], "put 2, wait, list 2, get 2, put 3, committed at 3");
    check(&["+a", "-f1", "txn:app"], &[], "put 2, wait, list 2, get 2, get 3, get 4, put 5, committed at 5");
    check(
        &["+a"],
        &[("put 3", rivals(3, &["+b", "+c"]))],
        "put 2, wait, list 2, get 2, put 3, wait, list 3, get 3, get 4, put 5, committed at 5",
    );
}

#[test]
fn a_conflict_stops_at_the_winner_that_has_it() {
    check_update(&["txn:app", "-f1 +x", "+y"], &[], "put 2, wait, list 2, get 2, get 3, ConcurrentAppend with 3");
    check_update(&["txn:app", "-f1", "txn:app"], &[], "put 2, wait, list 2, get 2, get 3, ConcurrentDeleteRead with 3");
}

/// The first winner sets a property that harms nobody, the second takes it back; against what the transaction read, the second changes nothing.
#[test]
fn each_winner_is_judged_against_what_the_winners_before_brought() {
    let append = transaction("WRITE", "own");
    let read = append.read.as_ref().unwrap().metadata.as_ref().clone();
    let mut changed = read.clone();
    changed.configuration.insert("delta.columnMapping.maxColumnId".to_owned(), "5".to_owned());
    let text = |metadata| String::from_utf8(Commit::serialise(&[Action::Metadata(metadata)])).unwrap();
    let (set, unset) = (text(changed), text(read));
    let check = |commits: &[&String], script: Script, expected: &str| {
        let mut store = log(&[]);
        (2..).zip(commits).for_each(|(version, text)| put(&mut store, version, text));
        assert_eq!(run(&append, 3, store, script).story, expected);
    };
    let then = |texts: &[&String]| Event::Rivals(2, texts.iter().map(|text| (*text).clone()).collect());
    check(&[&unset], &[], "put 2, wait, list 2, get 2, put 3, committed at 3");
    check(&[&set], &[], "put 2, wait, list 2, get 2, put 3, committed at 3");
    check(&[&set, &unset], &[], "put 2, wait, list 2, get 2, get 3, MetadataChanged with 3");
    check(
        &[&set],
        &[("put 3", raw(3, &unset))],
        "put 2, wait, list 2, get 2, put 3, wait, list 3, get 3, MetadataChanged with 3",
    );
    check(
        &[],
        &[("put 2", Event::Delayed), ("get 2", then(&[&set, &unset]))],
        "put 2, get 2, list 3, get 3, MetadataChanged with 3",
    );
}

#[test]
fn each_put_is_written_anew_at_its_time_under_the_same_id() {
    let run = run(&transaction("WRITE", "own"), 3, log(&["+a"]), &[]);
    // That times and ids are right, every run checks.
    assert_eq!(run.puts.len(), 2);
    assert_ne!(run.puts[0], run.puts[1]);
    assert_eq!(run.store.get(&commit_path(Version(3))).as_ref(), Some(&run.puts[1]));
}

#[test]
fn puts_that_were_forgotten_do_not_count() {
    let (append, rules) = (transaction("WRITE", "own"), Arc::new(RuleSet::delta_spark()));
    let mut machine = CommitLoop::new(append, rules, 1, 0).unwrap();
    let answer = |request: &Request| Response { now_ms: 0, answer: log(&["+a"]).answer(request, 0) };
    let mut request = machine.start();
    while label(&request) != "put 3" {
        request = match machine.advance(answer(&request)) {
            Step::Request(next) => next,
            Step::Done(result) => panic!("{result:?}"),
        };
    }
    machine.forget_attempts();
    let Step::Done(Ok(outcome)) = machine.advance(answer(&request)) else { panic!("the second put is free") };
    assert_eq!(outcome, Outcome::Committed { version: Version(3), attempts: 0 });
}

/// Report 44 (a), (f).
#[test]
fn a_put_whose_reply_was_lost_is_recognised() {
    check(&[], &[("put 2", Event::ReplyLost)], "put 2, get 2, committed at 2");
    check_update(&[], &[("put 2", Event::ReplyLost)], "put 2, get 2, committed at 2");
    // A helper wrote our bytes, and our own put says that they exist.
    let helper = raw(2, &commit("info:UPDATE:false:own -f1 +g"));
    check_update(&[], &[("put 2", helper)], "put 2, wait, list 2, get 2, committed at 2");
}

/// Report 44 (b).
#[test]
fn a_put_that_is_not_there_is_put_again_at_the_same_version() {
    check(&[], &[("put 2", Event::Delayed)], "put 2, get 2, wait, put 2, committed at 2");
    check_update(
        &[],
        &[("put 2", Event::Delayed), ("put 2", Event::Delayed)],
        "put 2, get 2, wait, put 2, get 2, wait, put 2, committed at 2",
    );
}

#[test]
fn a_late_put_is_recognised_wherever_it_arrives() {
    let story = "put 2, get 2, wait, put 2, get 2, committed at 2";
    check(&[], &[("put 2", Event::Delayed), ("wait", Event::Arrival)], story);
    check_update(&[], &[("put 2", Event::Delayed), ("wait", Event::Arrival)], story);
    check_update(&[], &[("put 2", Event::Delayed), ("put 2", Event::Arrival)], story);
    check_update(&[], &[("put 2", Event::Delayed), ("get 2", Event::Arrival)], "put 2, get 2, committed at 2");
    // It arrives after the second put was done: the store refuses it.
    check_update(
        &["txn:app"],
        &[("put 3", Event::Delayed), ("put 3", Event::ReplyLost), ("get 3", Event::Arrival)],
        "put 2, wait, list 2, get 2, put 3, get 3, wait, put 3, get 3, committed at 3",
    );
}

/// Report 44 (c).
#[test]
fn an_unclear_put_that_lost_its_version_is_judged_as_any_other() {
    let lost = |text| [("put 2", Event::Delayed), ("get 2", rivals(2, &[text]))];
    check(&[], &lost("info:WRITE:true:other +a"), "put 2, get 2, list 3, put 3, committed at 3");
    check(&[], &lost("+a"), "put 2, get 2, list 3, put 3, committed at 3");
    check_update(&[], &lost("-f1"), "put 2, get 2, ConcurrentDeleteRead with 2");
    // Between the look and the second put.
    check_update(
        &[],
        &[("put 2", Event::Delayed), ("wait", rivals(2, &["txn:app", "-f1"]))],
        "put 2, get 2, wait, put 2, get 2, list 3, get 3, ConcurrentDeleteRead with 3",
    );
}

/// Report 44 (d).
#[test]
fn an_own_commit_below_that_of_another_is_recognised() {
    let rival = rivals(3, &["-f1 +x"]);
    check(&[], &[("put 2", Event::ReplyLost), ("get 2", rival.clone())], "put 2, get 2, committed at 2");
    check_update(&[], &[("put 2", Event::ReplyLost), ("get 2", rival)], "put 2, get 2, committed at 2");
    // The hole above is none of its business.
    check_update(
        &[],
        &[("put 2", Event::Delayed), ("wait", Event::Arrival), ("put 2", rivals(4, &["+x"]))],
        "put 2, get 2, wait, put 2, get 2, committed at 2",
    );
}

/// Report 44 (g).
#[test]
fn an_unclear_put_that_nobody_can_look_at_is_unknown() {
    let silent = |put: Event| [vec![("put 2", put)], vec![("get 2", Event::Unavailable); 11]].concat();
    let looks = "get 2, wait, ".repeat(10) + "get 2";
    check(&[], &silent(Event::ReplyLost), &format!("put 2, {looks}, unknown at 2"));
    check_update(&[], &silent(Event::Delayed), &format!("put 2, {looks}, unknown at 2"));
    // One answer in time is enough.
    let mut script = silent(Event::ReplyLost);
    script.truncate(11);
    check_update(&[], &script, &format!("put 2, {looks}, committed at 2"));
}

#[test]
fn while_a_put_is_unclear_giving_up_is_unknown() {
    let delayed = || ("put 2", Event::Delayed);
    check(
        &[],
        &[delayed(), delayed(), delayed(), delayed()],
        "put 2, get 2, wait, put 2, get 2, wait, put 2, get 2, wait, put 2, get 2, unknown at 2",
    );
    let refused = || ("put 2", Event::Refused);
    check(
        &[],
        &[delayed(), refused(), refused(), refused()],
        "put 2, get 2, wait, put 2, wait, put 2, wait, put 2, unknown at 2",
    );
    // What stands at the version may be the half of our own.
    check(&[], &[delayed(), ("get 2", raw(2, ""))], "put 2, get 2, unknown at 2");
    check(&[], &[delayed(), ("get 2", raw(2, "{\"commitInfo\":{"))], "put 2, get 2, unknown at 2");
}

#[test]
fn a_version_that_went_to_another_settles_an_unclear_put() {
    let script = [("put 2", Event::Delayed), ("get 2", rivals(2, &["+a"]))];
    let run = run(&transaction("WRITE", "own"), 0, log(&[]), &script);
    assert_eq!(run.story, "put 2, get 2, exhausted after 1 puts: version 2 was taken by TRANSACTION");
}

#[test]
fn a_put_that_did_not_happen_is_repeated_within_the_limit() {
    let refused = || ("put 2", Event::Refused);
    check(&[], &[refused(), refused()], "put 2, wait, put 2, wait, put 2, committed at 2");
    check(
        &[],
        &[refused(), refused(), refused(), refused()],
        "put 2, wait, put 2, wait, put 2, wait, put 2, exhausted after 4 puts: 403 forbidden",
    );
}

/// A rival that always is first, and says that it is of this operation.
fn overtaken(versions: std::ops::Range<u64>) -> Vec<(String, Event)> {
    versions.map(|version| (format!("put {version}"), rivals(version, &["info:OPTIMIZE:false +r"]))).collect()
}

/// Report 50: rivals add twelve commits, one before each put.
#[test]
fn retries_are_limited_and_the_last_reason_is_kept() {
    let rounds = |script: &[(String, Event)], retries| {
        let script: Vec<(&str, Event)> = script.iter().map(|(at, event)| (&**at, event.clone())).collect();
        let run = run(&transaction("WRITE", "own"), retries, log(&[]), &script);
        (run.puts.len(), run.story.rsplit(", ").next().unwrap().to_owned())
    };
    assert_eq!(rounds(&overtaken(2..14), 15), (13, "committed at 14".to_owned()));
    assert_eq!(rounds(&overtaken(2..14), 12), (13, "committed at 14".to_owned()));
    let exhausted =
        |puts: u32, version: u64| format!("exhausted after {puts} puts: version {version} was taken by OPTIMIZE");
    assert_eq!(rounds(&overtaken(2..6), 3), (4, exhausted(4, 5)));
    assert_eq!(rounds(&overtaken(2..3), 0), (1, exhausted(1, 2)));
}

/// Report 50: twelve commits at once.
#[test]
fn one_refusal_leads_to_the_head_over_every_commit_between() {
    let mut twelve = ["+r"; 12];
    let gets: Vec<String> = (2..14).map(|version| format!("get {version}")).collect();
    check(&twelve, &[], &format!("put 2, wait, list 2, {}, put 14, committed at 14", gets.join(", ")));
    twelve[6] = "metadata";
    check(&twelve, &[], &format!("put 2, wait, list 2, {}, MetadataChanged with 8", gets[..7].join(", ")));
    // A conflict is said even if no put is left.
    let run = run(&transaction("WRITE", "own"), 0, log(&twelve), &[]);
    assert_eq!(run.story, format!("put 2, wait, list 2, {}, MetadataChanged with 8", gets[..7].join(", ")));
}

#[test]
fn a_listing_that_lags_costs_a_round_and_skips_nothing() {
    // It does not even show the version that was refused.
    check(&["+a"], &[("list 2", Event::Lags(2))], "put 2, wait, list 2, get 2, put 3, committed at 3");
    check(
        &["+a", "+b"],
        &[("list 2", Event::Lags(3))],
        "put 2, wait, list 2, get 2, put 3, wait, list 3, get 3, put 4, committed at 4",
    );
    check(&["+a", "+b"], &[("list 2", Event::Misses(2))], "put 2, wait, list 2, get 2, get 3, put 4, committed at 4");
    check(
        &["+a", "-f1", "+c"],
        &[("list 2", Event::Misses(3))],
        "put 2, wait, list 2, wait, list 2, get 2, get 3, get 4, put 5, committed at 5",
    );
    check_update(
        &["txn:app"],
        &[("get 2", Event::Lags(2)), ("get 2", Event::Lags(2))],
        "put 2, wait, list 2, get 2, wait, get 2, wait, get 2, put 3, committed at 3",
    );
}

#[test]
fn a_store_without_answers_is_asked_a_limited_number_of_times() {
    let silent = |at: &'static str| vec![(at, Event::Unavailable); 11];
    let lists = "list 2, wait, ".repeat(10) + "list 2";
    check(&["+a"], &silent("list 2"), &format!("put 2, wait, {lists}, exhausted after 1 puts: 503 slow down"));
    let gets = "get 2, wait, ".repeat(10) + "get 2";
    check(&["+a"], &silent("get 2"), &format!("put 2, wait, list 2, {gets}, exhausted after 1 puts: 503 slow down"));
    check(&["+a"], &silent("list 2")[1..], &format!("put 2, wait, {lists}, get 2, put 3, committed at 3"));
    let gone = vec![("get 2", Event::Lags(2)); 11];
    let last = "commit 2 exists, but could not be read";
    check(&["+a"], &gone, &format!("put 2, wait, list 2, {gets}, exhausted after 1 puts: {last}"));
}

/// Report 18 (d).
#[test]
fn a_hole_above_is_an_error_and_is_not_filled() {
    let lists = "list 2, wait, ".repeat(10) + "list 2";
    let mut store = log(&["+a"]);
    put(&mut store, 5, &commit("+b"));
    let before = store.clone();
    let found = run(&transaction("WRITE", "own"), 3, store, &[]);
    assert_eq!(found.store, before);
    expect!["put 2, wait, (list 2 eleven times), error: commit 3 is missing while commit 5 exists; versions are contiguous, so nothing was written; restore it from a copy of the table"].assert_eq(&found.story.replace(&lists, "(list 2 eleven times)"));

    // Also above a version that went to another while our put was unclear.
    let script = [("put 2", Event::Delayed), ("get 2", rivals(2, &["+a"])), ("list 3", rivals(5, &["+b"]))];
    let found = run(&transaction("WRITE", "own"), 3, log(&[]), &script);
    let lists = "list 3, wait, ".repeat(10) + "list 3";
    expect!["put 2, get 2, (list 3 eleven times), error: commit 3 is missing while commit 5 exists; versions are contiguous, so nothing was written; restore it from a copy of the table"].assert_eq(&found.story.replace(&lists, "(list 3 eleven times)"));
}

/// Report 34.
#[test]
fn a_torn_winner_is_an_error_and_nothing_is_put_above_it() {
    let torn = format!("{}{{\"add\":{{\"pa", commit("info:WRITE +a"));
    let found = run(&transaction("WRITE", "own"), 3, log(&["+x"]), &[("list 2", raw(3, &torn))]);
    expect!["put 2, wait, list 2, get 2, get 3, error: commit 3, line 3: the line is not a whole action; the file is damaged, restore it from a copy of the table"].assert_eq(&found.story);
    assert_eq!(found.puts.len(), 1);
}

#[test]
fn a_winner_without_bytes_is_a_commit_without_actions() {
    check_update(&[""], &[], "put 2, wait, list 2, get 2, put 3, committed at 3");
}

#[test]
fn what_is_almost_the_own_id_is_another_commit() {
    for rival in
        ["info:UPDATE:false:own2 -f1", "info:UPDATE:false:ow -f1", "info:UPDATE:false:OWN -f1", "info:UPDATE:false -f1"]
    {
        check_update(&[rival], &[], "put 2, wait, list 2, get 2, ConcurrentDeleteRead with 2");
    }
    // The id counts in `commitInfo` only.
    check_update(&["txn:own"], &[], "put 2, wait, list 2, get 2, put 3, committed at 3");
}

#[test]
fn what_contradicts_itself_is_never_put() {
    let check = |text: &str, expected: Option<&str>| {
        let mut own = Transaction::clone(&transaction("WRITE", "own"));
        own.actions = actions(text);
        let refused = CommitLoop::new(Arc::new(own), Arc::new(RuleSet::delta_spark()), 3, 0).err();
        assert_eq!(refused.map(|error| error.to_string()).as_deref(), expected, "{text}");
    };
    check("+n -f1 txn:a", None);
    check("+n +n", Some("file 'n' is added and added under one deletion vector; a commit does one thing to a file"));
    check("domain:a domain:a", Some("domain 'a' is written twice in one commit; a commit says once what stands in it"));
    check("metadata metadata", Some("a commit holds at most one metaData action; leave all but one out"));
}

#[test]
fn a_pause_says_how_many_puts_were_made() {
    let mut store = log(&["+a", "+b"]);
    let mut machine = CommitLoop::new(transaction("WRITE", "own"), Arc::new(RuleSet::delta_spark()), 3, 0).unwrap();
    let mut request = machine.start();
    let mut pauses = Vec::new();
    let outcome = loop {
        let mut answer = store.answer(&request, 0);
        match &request {
            Request::Backoff { attempt } => pauses.push(*attempt),
            // The first listing shows one commit of the two.
            Request::List { .. } if pauses.len() == 1 => answer = Answer::Listed(Vec::new()),
            _ => {}
        }
        match machine.advance(Response { now_ms: 0, answer }) {
            Step::Request(next) => request = next,
            Step::Done(result) => break result.unwrap(),
        }
    };
    assert_eq!(pauses, [1, 2]);
    assert_eq!(outcome, Outcome::Committed { version: Version(4), attempts: 3 });
    // What it carries at the end is what it began with: the winners brought nothing that stays.
    assert_eq!(machine.transaction(), &transaction("WRITE", "own"));
}

/// A transaction that switches in-commit timestamps on goes by the times of files, which are all that the winners before it have.
#[test]
fn who_switches_timestamps_on_is_later_than_the_files_before() {
    let read = unpartitioned();
    let mut metadata = read.metadata.as_ref().clone();
    let on = [("delta.enableInCommitTimestamps", "true"), ("delta.inCommitTimestampEnablementVersion", "2")];
    metadata.configuration.extend(on.map(|(key, value)| (key.to_owned(), value.to_owned())));
    let enable = |own: Vec<Action>| {
        let (operation, level) = (Operation::named("SET TBLPROPERTIES"), IsolationLevel::Serializable);
        Arc::new(Transaction::new(Some(read.clone()), ReadSet::default(), operation, own, level, "own".to_owned()))
    };
    let timestamp_after = |own: Vec<Action>| {
        let mut store = log(&[]);
        for version in [2, 3] {
            let (path, bytes) = (commit_path(Version(version)), commit("+r").into_bytes().into());
            store.answer(&Request::PutIfAbsent { path, bytes }, 50_000 + version as i64);
        }
        let found = run(&enable(own), 3, store, &[]);
        let landed = Commit::parse(Version(4), &found.puts[1]).unwrap();
        (landed.info().unwrap().in_commit_timestamp(), landed.actions.into_iter().nth(1))
    };
    let (timestamp, Some(Action::Metadata(written))) = timestamp_after(vec![Action::Metadata(metadata)]) else {
        panic!("the metadata is written")
    };
    assert_eq!(timestamp, Some(50_004));
    assert_eq!(written.configuration["delta.inCommitTimestampEnablementVersion"], "4");
    assert_eq!(written.configuration["delta.inCommitTimestampEnablementTimestamp"], "50004");
    assert_eq!(timestamp_after(actions("+n")).0, None);
}

/// Report 49: both append, creating the table if it is not there. The second to come loses, whatever its schema, and nothing of it is written; when it
/// starts again it finds a table, to which it appends.
#[test]
fn of_two_creators_one_loses_and_appends_next_time() {
    let create = |id: &str| {
        let operation = Operation::named("CREATE TABLE AS SELECT");
        let own = actions(&format!("protocol:1,2 metadata +n-{id}"));
        let (reads, level) = (ReadSet::default(), IsolationLevel::Serializable);
        Arc::new(Transaction::new(None, reads, operation, own, level, id.to_owned()))
    };
    let first = run(&create("first"), 3, ObjectMap::default(), &[]);
    assert_eq!(first.story, "put 0, committed at 0");
    let second = run(&create("second"), 3, first.store, &[]);
    assert_eq!(second.story, "put 0, wait, list 0, get 0, ProtocolChanged with 0");
    assert_eq!(versions_of(&second.store, "second"), []);
    assert_eq!(versions_of(&second.store, "first"), [Version(0)]);
    // Version 0 is there and empty: it is not written over, and nothing is put above it.
    let mut empty = ObjectMap::default();
    put(&mut empty, 0, "");
    let found = run(&create("second"), 3, empty.clone(), &[]);
    assert_eq!(found.story, "put 0, wait, list 0, get 0, ProtocolChanged with 0");
    assert_eq!(found.store, empty);
}

#[test]
fn a_winner_without_numbers_where_row_ids_are_due_is_an_error() {
    let read = crate::testing::table("id long", "", &["protocol:1,7,domainMetadata,rowTracking"]);
    let append = Transaction { read: Some(read), ..Transaction::clone(&transaction("WRITE", "own")) };
    let found = run(&Arc::new(append), 3, log(&["+r"]), &[]);
    expect!["put 2, wait, list 2, get 2, error: 'n-own' needs row ids behind those of version 2, but its statistics have no numRecords; write the file with statistics"].assert_eq(&found.story);
}
