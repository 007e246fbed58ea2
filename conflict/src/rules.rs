//! Rule sets: the conflict rules of an implementation, in the order in which they are asked.
//!
//! A rule looks at a transaction and at one winner, a commit that landed at a version the transaction has not seen. It says nothing, or why the
//! transaction must not commit. The rules themselves are in `delta_spark`, one function each.

mod delta_spark;
mod metadata;

use std::{
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
};

use log_core::path::Version;

pub use self::{
    delta_spark::{added_files_by_statistics, concurrent_feature, feature_drop_by_property},
    metadata::without_allow_list as metadata_without_allow_list,
};
use crate::{
    isolation::IsolationLevel,
    transaction::{Transaction, Winner},
};

/// Why a transaction lost, in the words of Delta's exceptions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ConflictKind {
    /// The transaction is of a kind that loses to every winner.
    ConcurrentWrite,
    /// The winner changed the protocol.
    ProtocolChanged,
    /// The winner changed schema, partitioning or properties.
    MetadataChanged,
    /// The transaction drops a feature of which the winner left new traces.
    FeatureDropConflict,
    /// The winner wrote a domain that the transaction writes as well.
    DomainMetadataConflict,
    /// The winner moved an application on whose progress the transaction looked.
    ConcurrentTransaction,
    /// The winner gave row ids to the files from which the transaction takes them.
    BackfillConflict,
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
            Self::ConcurrentWrite => "ConcurrentWrite",
            Self::FeatureDropConflict => "FeatureDropConflict",
            Self::DomainMetadataConflict => "DomainMetadataConflict",
            Self::ConcurrentTransaction => "ConcurrentTransaction",
            Self::BackfillConflict => "BackfillConflict",
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
    /// The position of the read predicate that shows it, when one does.
    pub predicate: Option<usize>,
    /// One clause that says what the winner did, without its version.
    pub reason: String,
}

impl Finding {
    /// What shows in no file.
    pub fn new(kind: ConflictKind, reason: impl Into<String>) -> Self {
        Self { kind, file: None, predicate: None, reason: reason.into() }
    }

    /// What shows in a file.
    pub fn in_file(kind: ConflictKind, file: &str, reason: &str) -> Self {
        Self { file: Some(file.to_owned()), ..Self::new(kind, reason) }
    }
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
            rules: delta_spark::rules(),
            recognises_own: true,
            atomic_put: true,
        }
    }

    /// The reference with a closer look at added files: one whose statistics show that it has no row that was read is no conflict. Nothing that a
    /// serial order needs is let through, see [`StatisticsFilter`](crate::predicate::StatisticsFilter).
    pub fn with_statistics() -> Self {
        let rules = Self::delta_spark().with(added_files_by_statistics());
        Self { name: "statistics".to_owned(), ..rules }
    }

    /// The reference as it was released in version 4.0.0: for comparing with that release. It knows no change of metadata that others can live with,
    /// and drops a feature over files that use it.
    pub fn delta_spark_4_0_0() -> Self {
        let rules = Self::delta_spark().with(metadata_without_allow_list()).with(feature_drop_by_property());
        Self { name: "delta-spark-4.0.0".to_owned(), ..rules }
    }

    /// The same with a rule in the place of the one that has its id, or behind all others where none has.
    #[must_use]
    pub fn with(mut self, rule: Rule) -> Self {
        match self.rules.iter_mut().find(|other| other.id == rule.id) {
            Some(place) => *place = rule,
            None => self.rules.push(rule),
        }
        self
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

#[cfg(test)]
mod tests;
