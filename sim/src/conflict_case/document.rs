//! The JSON of a case.

use std::collections::{BTreeMap, BTreeSet};

use conflict::isolation::IsolationLevel;
use log_core::{action::Action, commit::Commit, path::Version};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::value::RawValue;

use super::{Case, CaseError, Expectation, RebasedFacts};
use crate::sql::nearest::nearest;

/// The kinds of conflict that a case may expect.
const KINDS: [&str; 10] = [
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

#[derive(Deserialize)]
struct Document {
    name: String,
    isolation: String,
    #[serde(default)]
    setup: Vec<Actions>,
    transaction: TransactionDocument,
    #[serde(default)]
    winners: Vec<Actions>,
    expect: ExpectDocument,
}

type Actions = Vec<Box<RawValue>>;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TransactionDocument {
    read_version: Option<i64>,
    operation: String,
    #[serde(default)]
    reads: Reads,
    #[serde(default)]
    actions: Actions,
}

/// What the transaction read.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Reads {
    #[serde(default)]
    pub whole_table: bool,
    /// One SQL text per registration.
    #[serde(default)]
    pub predicates: Vec<String>,
    /// Paths; the live files that match some registration when absent.
    pub files: Option<BTreeSet<String>>,
    #[serde(default)]
    pub app_ids: BTreeSet<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ExpectDocument {
    outcome: String,
    conflict: Option<String>,
    #[serde(default)]
    also_accepted: Vec<String>,
    winner: Option<u64>,
    partition: Option<String>,
    version: Option<u64>,
    rebased: Option<RebasedFacts>,
}

fn field(field: impl Into<String>, problem: impl Into<String>) -> CaseError {
    CaseError::Field { field: field.into(), problem: problem.into() }
}

impl Case {
    /// Reads a case.
    ///
    /// # Errors
    /// When the text is not JSON of the format, and when the case says something impossible.
    pub fn parse(text: &str) -> Result<Self, CaseError> {
        check_fields(text)?;
        let document: Document = serde_json::from_str(text)?;
        let isolation: IsolationLevel =
            document.isolation.parse().map_err(|error| field("isolation", format!("{error}")))?;
        let setup = commits("setup", document.setup, 0)?;
        let newest = setup.last().map(|commit| commit.version);
        let transaction = document.transaction;
        let read_version = match transaction.read_version {
            None => newest,
            Some(-1) => None,
            Some(version) => match u64::try_from(version) {
                Ok(version) => Some(Version(version)),
                Err(_) => {
                    return Err(field("transaction.readVersion", format!("{version} is no version; -1 is no table")));
                }
            },
        };
        if read_version != newest {
            let newest = newest.map_or("-1".to_owned(), |newest| newest.to_string());
            let problem = format!("setup ends at version {newest}; commits that came later belong to winners");
            return Err(field("transaction.readVersion", problem));
        }
        let winners = commits("winners", document.winners, Version::after(read_version).0)?;
        let actions = actions("transaction.actions", transaction.actions)?;
        if let Some(action) = actions.iter().find(|action| matches!(action, Action::CommitInfo(_))) {
            let problem = format!("a transaction is given without {}, which is written with the commit", action.name());
            return Err(field("transaction.actions", problem));
        }
        let expect = expectation(document.expect)?;
        if let Expectation::Conflict { winner, .. } = &expect
            && !winners.iter().any(|commit| commit.version == *winner)
        {
            return Err(field("expect.winner", format!("there is no winner of version {winner}")));
        }
        let (name, operation, reads) = (document.name, transaction.operation, transaction.reads);
        Ok(Self { name, isolation, setup, read_version, operation, reads, actions, winners, expect })
    }
}

/// Fields of a case that are looked at. Others are for its readers, such as `origin`, unless one of these is meant.
const FIELDS: [&str; 6] = ["name", "isolation", "setup", "transaction", "winners", "expect"];

fn check_fields(text: &str) -> Result<(), CaseError> {
    // A list would be taken for the fields in their order.
    let fields: BTreeMap<String, IgnoredAny> = serde_json::from_str(text)?;
    let missing: Vec<&str> = FIELDS.into_iter().filter(|name| !fields.contains_key(*name)).collect();
    let mut unknown = fields.keys().filter(|name| !FIELDS.contains(&name.as_str()));
    let slip = unknown.find_map(|name| Some((name, nearest(name, missing.iter().copied())?)));
    match slip {
        Some((name, meant)) => Err(field(name.clone(), format!("unknown field; did you mean '{meant}'?"))),
        None => Ok(()),
    }
}

/// Actions that are looked at.
const ACTIONS: [&str; 8] = ["add", "remove", "cdc", "metaData", "protocol", "commitInfo", "txn", "domainMetadata"];

/// A line of a log may say what nobody knows; in a case, a name that is almost that of an action is a slip of the pen, and so is a line of nothing.
fn check_action(what: &str, raw: &RawValue) -> Result<(), CaseError> {
    let Ok(keys) = serde_json::from_str::<BTreeMap<String, IgnoredAny>>(raw.get()) else { return Ok(()) };
    let mut unknown = keys.keys().filter(|key| !ACTIONS.contains(&key.as_str()));
    let slip = unknown.find_map(|key| Some((key, ACTIONS.into_iter().find(|name| name.eq_ignore_ascii_case(key))?)));
    match slip {
        _ if keys.is_empty() => Err(field(what, "it holds no action; leave it out")),
        Some((key, meant)) => Err(field(what, format!("unknown action '{key}'; did you mean '{meant}'?"))),
        None => Ok(()),
    }
}

fn commits(what: &str, lists: Vec<Actions>, first: u64) -> Result<Vec<Commit>, CaseError> {
    let commit = |(position, list): (usize, Actions)| {
        let version = Version(first + position as u64);
        Ok(Commit { version, actions: actions(&format!("{what}[{position}]"), list)? })
    };
    lists.into_iter().enumerate().map(commit).collect()
}

fn actions(what: &str, list: Actions) -> Result<Vec<Action>, CaseError> {
    let mut actions = Vec::new();
    for (position, raw) in list.iter().enumerate() {
        let what = format!("{what}[{position}]");
        check_action(&what, raw)?;
        actions.extend(Action::parse(raw.get()).map_err(|source| CaseError::Action { field: what, source })?);
    }
    Ok(actions)
}

fn expectation(expect: ExpectDocument) -> Result<Expectation, CaseError> {
    match expect.outcome.as_str() {
        "committed" => {
            let given = [
                ("conflict", expect.conflict.is_some()),
                ("alsoAccepted", !expect.also_accepted.is_empty()),
                ("winner", expect.winner.is_some()),
                ("partition", expect.partition.is_some()),
            ];
            if let Some((name, _)) = given.into_iter().find(|(_, given)| *given) {
                return Err(field(format!("expect.{name}"), "belongs to the outcome \"conflict\""));
            }
            let (version, rebased) = (expect.version.map(Version), expect.rebased.unwrap_or_default());
            Ok(Expectation::Committed { version, rebased })
        }
        "conflict" => {
            let given = [("version", expect.version.is_some()), ("rebased", expect.rebased.is_some())];
            if let Some((name, _)) = given.into_iter().find(|(_, given)| *given) {
                return Err(field(format!("expect.{name}"), "belongs to the outcome \"committed\""));
            }
            let missing = |name: &str| field(format!("expect.{name}"), "is needed for the outcome \"conflict\"");
            let mut kinds = vec![expect.conflict.ok_or_else(|| missing("conflict"))?];
            kinds.extend(expect.also_accepted);
            if let Some(unknown) = kinds.iter().find(|kind| !KINDS.contains(&kind.as_str())) {
                let problem = format!("'{unknown}' is no kind of conflict; there are {}", KINDS.join(", "));
                return Err(field("expect.conflict", problem));
            }
            let winner = Version(expect.winner.ok_or_else(|| missing("winner"))?);
            Ok(Expectation::Conflict { kinds, winner, partition: expect.partition })
        }
        other => Err(field("expect.outcome", format!("'{other}' is neither \"committed\" nor \"conflict\""))),
    }
}
