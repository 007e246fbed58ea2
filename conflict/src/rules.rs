//! The conflict rules: one small function each, called from one list in the order of the specification.
//!
//! A rule looks at a transaction and at one winner, a commit that landed at a version the transaction has not seen. It says nothing, or why the
//! transaction must not commit. Source: Delta Spark, `ConflictChecker`.

use std::{
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
};

use log_core::{action::Action, path::Version};

use crate::{
    isolation::IsolationLevel,
    predicate::may_match,
    transaction::{Transaction, Winner},
};

/// Why a transaction lost, in the words of Delta's exceptions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ConflictKind {
    /// The winner changed the protocol.
    ProtocolChanged,
    /// The winner changed schema, partitioning or properties.
    MetadataChanged,
    /// The winner added files that the transaction would have read.
    ConcurrentAppend,
    /// The winner removed files that the transaction read.
    ConcurrentDeleteRead,
    /// The winner removed files that the transaction removes as well.
    ConcurrentDeleteDelete,
}

impl fmt::Display for ConflictKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::ProtocolChanged => "ProtocolChanged",
            Self::MetadataChanged => "MetadataChanged",
            Self::ConcurrentAppend => "ConcurrentAppend",
            Self::ConcurrentDeleteRead => "ConcurrentDeleteRead",
            Self::ConcurrentDeleteDelete => "ConcurrentDeleteDelete",
        })
    }
}

/// What a rule found.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Finding {
    /// The kind of conflict.
    pub kind: ConflictKind,
    /// The file that shows it, when a file does.
    pub file: Option<String>,
    /// One clause that says what the winner did, without its version.
    pub reason: String,
}

/// A conflict: what a rule found in a winner.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Conflict {
    /// The rule's id.
    pub rule: String,
    /// The winner's version.
    pub winner: Version,
    /// The winner's operation.
    pub operation: String,
    /// What the rule found.
    pub finding: Finding,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule, winner, operation, finding } = self;
        write!(f, "{}: version {winner} ({operation}) {} [rule {rule}]", finding.kind, finding.reason)
    }
}

type Check = dyn Fn(&Transaction, &Winner) -> Option<Finding> + Send + Sync;

/// A rule with its stable id.
#[derive(Clone)]
pub struct Rule {
    /// The id by which it can be left out.
    pub id: &'static str,
    check: Arc<Check>,
}

impl Rule {
    /// A rule of the caller's own.
    pub fn new(
        id: &'static str,
        check: impl Fn(&Transaction, &Winner) -> Option<Finding> + Send + Sync + 'static,
    ) -> Self {
        Self { id, check: Arc::new(check) }
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

/// The id stands for the rule: two rules of one id are taken for the same.
impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Rule {}

impl Hash for Rule {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

/// Rules in the order in which they are asked, and what else belongs to an implementation.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct RuleSet {
    /// The name, as `--rules` takes it.
    pub name: String,
    /// The level of a table that does not say.
    pub default_level: IsolationLevel,
    /// The rules.
    pub rules: Vec<Rule>,
    /// A commit loop knows its own commit by its transaction id, so that a put whose reply was lost is not taken for somebody else's.
    pub recognises_own: bool,
    /// The store creates an object only if there is none, in one step. Without, it looks first and overwrites then: a store that no log can live on,
    /// for a simulator to show why.
    pub atomic_put: bool,
}

/// The id of [`RuleSet::recognises_own`], for [`RuleSet::without`].
pub const OWN_COMMIT: &str = "own-commit";

/// The id of [`RuleSet::atomic_put`], for [`RuleSet::without`].
pub const ATOMIC_PUT: &str = "put-if-absent";

/// A rule that a rule set does not have.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("rule set '{set}' has no rule '{rule}'; it has {known}")]
pub struct UnknownRule {
    /// The rule set.
    pub set: String,
    /// The rule that was asked for.
    pub rule: String,
    /// The ids that there are.
    pub known: String,
}

impl RuleSet {
    /// The reference: the rules of open-source Delta Spark.
    pub fn delta_spark() -> Self {
        Self {
            name: "delta-spark".to_owned(),
            default_level: IsolationLevel::Serializable,
            rules: vec![
                Rule::new("protocol", protocol),
                Rule::new("metadata", metadata),
                Rule::new("added-files", added_files),
                Rule::new("removed-and-read", removed_and_read),
                Rule::new("removed-twice", removed_twice),
            ],
            recognises_own: true,
            atomic_put: true,
        }
    }

    /// The ids that [`without`](Self::without) takes.
    pub fn ids(&self) -> impl Iterator<Item = &'static str> {
        self.rules.iter().map(|rule| rule.id).chain([OWN_COMMIT, ATOMIC_PUT])
    }

    /// The same without one rule, or without one of the devices [`OWN_COMMIT`] and [`ATOMIC_PUT`].
    ///
    /// # Errors
    /// When there is no rule of that id.
    pub fn without(mut self, id: &str) -> Result<Self, UnknownRule> {
        match id {
            OWN_COMMIT => {
                self.recognises_own = false;
                return Ok(self);
            }
            ATOMIC_PUT => {
                self.atomic_put = false;
                return Ok(self);
            }
            _ => {}
        }
        let Some(position) = self.rules.iter().position(|rule| rule.id == id) else {
            let known: Vec<&str> = self.ids().collect();
            return Err(UnknownRule { set: self.name, rule: id.to_owned(), known: known.join(", ") });
        };
        self.rules.remove(position);
        Ok(self)
    }

    /// Asks every rule in order about one winner; the first that finds something decides.
    pub fn check(&self, transaction: &Transaction, winner: &Winner) -> Option<Conflict> {
        self.rules.iter().find_map(|rule| {
            let finding = (rule.check)(transaction, winner)?;
            Some(Conflict {
                rule: rule.id.to_owned(),
                winner: winner.version(),
                operation: winner.operation().to_owned(),
                finding,
            })
        })
    }
}

/// The winner changed the protocol, and the transaction changes it as well, cannot work under the new one, or used what the new one drops.
///
/// Smallest counterexample: two writers create the table at once. Both write version 0 with a protocol of their own; if the second were moved to
/// version 1, it would replace the first one's schema.
fn protocol(transaction: &Transaction, winner: &Winner) -> Option<Finding> {
    let new = winner.commit.actions.iter().find_map(|action| match action {
        Action::Protocol(protocol) => Some(protocol),
        _ => None,
    })?;
    let found = |reason: String| Some(Finding { kind: ConflictKind::ProtocolChanged, file: None, reason });
    if transaction.changes_protocol() {
        let hint = if winner.version() == Version(0) { " (create the table before writers start)" } else { "" };
        return found(format!("changed the protocol, as this transaction does{hint}"));
    }
    if let Err(error) = new.check_writable() {
        return found(format!("changed the protocol: {error}"));
    }
    let old = transaction.read.as_ref()?;
    let kept = new.features();
    let dropped: Vec<&str> = old.protocol.features().into_iter().filter(|feature| !kept.contains(feature)).collect();
    if !dropped.is_empty() {
        return found(format!("dropped {} from the protocol", dropped.join(", ")));
    }
    None
}

/// The winner changed schema, partitioning or properties. Metadata that is the same as before changes nothing, unless the transaction brings
/// metadata of its own.
///
/// Smallest counterexample: the winner renames column `x` to `y`; the transaction appends a file with a column `x`, whose values would be lost.
fn metadata(transaction: &Transaction, winner: &Winner) -> Option<Finding> {
    let new = winner.commit.actions.iter().find_map(|action| match action {
        Action::Metadata(metadata) => Some(metadata),
        _ => None,
    })?;
    let unchanged = transaction.read.as_ref().is_some_and(|read| *read.metadata == *new);
    if unchanged && !transaction.changes_metadata() {
        return None;
    }
    let reason = "changed the table's metadata".to_owned();
    Some(Finding { kind: ConflictKind::MetadataChanged, file: None, reason })
}

/// The winner added a file that the transaction would have read, had it been there.
///
/// Smallest counterexample: `DELETE FROM t` read an empty table while `INSERT INTO t VALUES (1)` committed. In the order of the log the row should be
/// gone, and it is there. At WriteSerializable that is explained by the other order, if the insert read nothing: so blind appends are let pass
/// there, unless the transaction changes metadata (a new constraint must see every row).
fn added_files(transaction: &Transaction, winner: &Winner) -> Option<Finding> {
    let candidates = match transaction.level {
        IsolationLevel::SnapshotIsolation => false,
        IsolationLevel::WriteSerializable => !winner.blind_append || transaction.changes_metadata(),
        IsolationLevel::Serializable => true,
    };
    if !candidates || transaction.blind_append {
        return None;
    }
    let found = |file: &str, reason: &str| {
        Some(Finding { kind: ConflictKind::ConcurrentAppend, file: Some(file.to_owned()), reason: reason.to_owned() })
    };
    let read = match &transaction.read {
        Some(read) if !transaction.reads.whole_table && !read.partition_columns().is_empty() => read,
        _ => {
            let add = winner.adds().next()?;
            return found(&add.path, "added a file, and this transaction depends on the whole table");
        }
    };
    let hit = winner
        .adds()
        .find(|add| transaction.reads.predicates.iter().any(|predicate| may_match(predicate, read, add)))?;
    found(&hit.path, "added a file to a partition that this transaction read")
}

/// The winner removed a file that the transaction read. At every level: what was computed from the file's rows is out of date.
///
/// Smallest counterexample: `UPDATE t SET x = x + 1` read file `f`, and so did the same statement of a winner that replaced `f`. If both commit, one
/// increment is lost or the rows are there twice.
fn removed_and_read(transaction: &Transaction, winner: &Winner) -> Option<Finding> {
    let reads = &transaction.reads;
    let remove = winner.removes().find(|remove| reads.whole_table || reads.files.contains(&remove.path))?;
    let reason = "removed a file that this transaction read".to_owned();
    Some(Finding { kind: ConflictKind::ConcurrentDeleteRead, file: Some(remove.path.clone()), reason })
}

/// The winner removed a file that the transaction removes as well. At every level: a file can be replaced once.
///
/// Smallest counterexample: two compactions of the same files. If both commit, every row is there twice.
fn removed_twice(transaction: &Transaction, winner: &Winner) -> Option<Finding> {
    let remove = winner.removes().find(|remove| transaction.removes().any(|own| own.path == remove.path))?;
    let reason = "removed a file that this transaction removes as well".to_owned();
    Some(Finding { kind: ConflictKind::ConcurrentDeleteDelete, file: Some(remove.path.clone()), reason })
}

#[cfg(test)]
mod tests;
