//! The cases in `tests/cases`, with their few read predicates bound by hand: what parses SQL is in another crate.

use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

use log_core::{
    action::{Action, CommitInfo},
    commit::Commit,
    expression::{BinaryOperator, Expression},
    path::Version,
    snapshot::Snapshot,
    value::Value,
};
use serde_json::Value as Json;

use crate::{
    explain::{Explanation, explain},
    feature::{Client, ROW_TRACKING_DOMAIN},
    isolation::IsolationLevel,
    predicate::may_match,
    rebase::{high_water_mark, rebase},
    rules::RuleSet,
    testing::predicate,
    transaction::{Operation, ReadSet, Transaction, Winner},
};

/// A read predicate of a case.
fn bound(table: &Snapshot, text: &str) -> Expression {
    let column = |name: &str| {
        let index = table.schema.index_of(name).unwrap();
        let data_type = table.schema.fields[index].data_type.primitive().unwrap();
        Box::new(Expression::Column { index, name: name.to_owned(), data_type })
    };
    let is_null = |name: &str| Expression::IsNull(column(name));
    match text {
        "p <> 'x'" => Expression::binary(
            BinaryOperator::NotEqual,
            *column("p"),
            Expression::literal(Value::String("x".to_owned())),
        ),
        "p IS NULL" => is_null("p"),
        "p IS NOT NULL" => Expression::Not(Box::new(is_null("p"))),
        "p = 'a' AND id = 1" => predicate(table, "p=a and id=1"),
        "part = 1 OR year > 2019" => predicate(table, "part=1 or year>2019"),
        "t.p = 'b' OR t.id = 5" => predicate(table, "p=b or id=5"),
        // What names another table, or is random, counts as true.
        "t.id = s.id AND t.p = s.p AND t.p = 'b'" => Expression::truth().and(predicate(table, "p=b")),
        "d = DATE '2024-01-01' OR rand() < 0.5" => predicate(table, "d=2024-01-01 or true"),
        "t = TIMESTAMP '2024-06-01 12:00:00Z'" => predicate(table, "t=2024-06-01 12:00:00Z"),
        "ts < TIMESTAMP '2024-01-02 00:00:00Z'" => predicate(table, "ts<2024-01-02 00:00:00Z"),
        plain => predicate(table, &plain.replace([' ', '\''], "")),
    }
}

/// A case, and what the rules make of it.
pub struct Case {
    json: Json,
    /// How it ends.
    pub end: Result<(Version, Commit), Explanation>,
}

fn actions(list: &Json) -> Vec<Action> {
    list.as_array().unwrap().iter().map(|action| Action::parse(&action.to_string()).unwrap().unwrap()).collect()
}

fn commits(lists: &Json, first: u64) -> Vec<Commit> {
    let lists = lists.as_array().unwrap().iter();
    lists.zip(first..).map(|(list, version)| Commit { version: Version(version), actions: actions(list) }).collect()
}

fn texts(list: &Json) -> impl Iterator<Item = String> {
    list.as_array().into_iter().flatten().map(|text| text.as_str().unwrap().to_owned())
}

/// Judges the case of a name.
pub fn run(name: &str) -> Case {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(format!("{name}.json"));
    let json: Json = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let setup = commits(&json["setup"], 0);
    let read = (!setup.is_empty()).then(|| Arc::new(Snapshot::replay(None, &setup).unwrap()));
    let given = &json["transaction"];
    let reads_json = &given["reads"];
    let mut reads = ReadSet {
        whole_table: reads_json["wholeTable"].as_bool().unwrap(),
        app_ids: texts(&reads_json["appIds"]).collect(),
        ..ReadSet::default()
    };
    if let Some(read) = &read {
        reads.predicates = texts(&reads_json["predicates"]).map(|text| bound(read, &text)).collect();
        let matches =
            |add| reads.whole_table || reads.predicates.iter().any(|predicate| may_match(predicate, read, add));
        reads.files = match reads_json.get("files") {
            Some(files) => texts(files).collect(),
            None => read.adds().filter(|add| matches(add)).map(|add| add.path.clone()).collect(),
        };
    }
    let level: IsolationLevel = json["isolation"].as_str().unwrap().parse().unwrap();
    let operation = Operation::named(given["operation"].as_str().unwrap());
    let mut transaction = Transaction::new(read, reads, operation, actions(&given["actions"]), level, "own".to_owned());
    transaction.check().unwrap();
    transaction.client = Client::DeltaSpark;
    transaction.rebased.after_ms =
        setup.last().and_then(|commit| commit.info()).and_then(CommitInfo::in_commit_timestamp);
    let mut transaction = Arc::new(transaction);
    let rules = RuleSet::delta_spark();
    let mut next = Version::after(transaction.read_version());
    for commit in commits(&json["winners"], next.0) {
        let winner = Winner::new(commit);
        if let Some(conflict) = rules.check(&transaction, &winner) {
            let end = Err(explain(&transaction, &[winner], &conflict, &rules));
            return Case { json, end };
        }
        rebase(&mut transaction, &winner).unwrap();
        next = winner.version().next();
    }
    let commit = Commit::parse(next, &transaction.commit_bytes(1_800_000_000_000)).unwrap();
    Case { json, end: Ok((next, commit)) }
}

/// The names of all cases.
fn names() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = files.filter_map(|name| name.strip_suffix(".json").map(str::to_owned)).collect();
    names.sort();
    names
}

/// What a case expects, in the words of the case, of what a commit holds.
fn rebased(commit: &Commit) -> BTreeMap<String, Json> {
    let mut facts = BTreeMap::new();
    let mut note = |key: String, value: Option<i64>| {
        if let Some(value) = value {
            facts.insert(key, Json::from(value));
        }
    };
    note("inCommitTimestamp".to_owned(), commit.info().unwrap().in_commit_timestamp());
    for action in &commit.actions {
        let (path, id, version) = match action {
            Action::Add(add) => (&add.path, add.base_row_id, add.default_row_commit_version),
            Action::Remove(remove) => (&remove.path, remove.base_row_id, remove.default_row_commit_version),
            Action::DomainMetadata(domain) if domain.domain == ROW_TRACKING_DOMAIN => {
                note("rowIdHighWaterMark".to_owned(), high_water_mark(domain));
                continue;
            }
            _ => continue,
        };
        note(format!("baseRowId.{path}"), id);
        note(format!("defaultRowCommitVersion.{path}"), version);
    }
    for action in &commit.actions {
        match action {
            Action::Metadata(metadata) => {
                let texts = metadata.configuration.iter();
                facts.extend(texts.map(|(key, value)| (format!("configuration.{key}"), value.as_str().into())));
            }
            Action::DomainMetadata(domain) if domain.removed => {
                facts.insert(format!("removedDomains.{}", domain.domain), true.into());
            }
            Action::Add(add) => {
                facts.insert(format!("add.{}", add.path), true.into());
            }
            _ => {}
        }
    }
    facts
}

#[test]
fn every_case_comes_out_as_it_says() {
    let names = names();
    assert!(names.len() >= 97);
    for name in &names {
        let case = run(name);
        let expect = &case.json["expect"];
        match (expect["outcome"].as_str().unwrap(), &case.end) {
            ("committed", Ok((version, commit))) => {
                if let Some(expected) = expect["version"].as_u64() {
                    assert_eq!(version.0, expected, "{name}");
                }
                let found = rebased(commit);
                for (key, value) in expect["rebased"].as_object().into_iter().flatten() {
                    match value {
                        Json::Object(by_path) => by_path.iter().for_each(|(path, value)| {
                            assert_eq!(found.get(&format!("{key}.{path}")), Some(value), "{name}: {key} of {path}");
                        }),
                        Json::Array(_) if key == "absentAdds" => texts(value).for_each(|path| {
                            assert_eq!(found.get(&format!("add.{path}")), None, "{name}: {path} is added");
                        }),
                        Json::Array(_) => texts(value).for_each(|domain| {
                            assert!(found.contains_key(&format!("{key}.{domain}")), "{name}: {domain} stays");
                        }),
                        plain => assert_eq!(found.get(key), Some(plain), "{name}: {key}"),
                    }
                }
            }
            ("conflict", Err(explanation)) => {
                let kind = explanation.kind.to_string();
                let accepted = texts(&expect["alsoAccepted"]).chain([expect["conflict"].as_str().unwrap().to_owned()]);
                assert!(accepted.into_iter().any(|accepted| accepted == kind), "{name}: {kind}");
                assert_eq!(Some(explanation.winner.0), expect["winner"].as_u64(), "{name}");
                if let Some(partition) = expect["partition"].as_str() {
                    assert_eq!(explanation.partition.as_deref(), Some(partition), "{name}");
                }
            }
            (expected, Ok((version, _))) => panic!("{name}: {expected}, found a commit at {version}"),
            (expected, Err(explanation)) => panic!("{name}: {expected}, found: {explanation}"),
        }
    }
}
