//! Why a transaction lost, and what would help: for people and for programs.

use std::{collections::BTreeMap, fmt, sync::Arc};

use log_core::{
    action::PartitionValues,
    expression::{BinaryOperator, Expression},
    path::Version,
};
use serde_json::{Value as Json, json};

use crate::{
    isolation::IsolationLevel,
    predicate::{PartitionFilter, may_match, partition_condition, shown_partition},
    rebase::rebase,
    rules::{Conflict, ConflictKind, RuleSet},
    transaction::{ReadSet, Transaction, Winner, touches_no_file_but_adds},
};

/// What the loser may do next. To put the same actions again is never right: they were computed from what the winner changed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Retry {
    /// Run the statement again from a fresh snapshot.
    Rerun,
    /// Look first how far the application has come: the step may be done already.
    LookUpProgress,
    /// Read the new schema, properties or protocol first: the statement may mean something else now, or not be allowed.
    ReloadTable,
}

/// Why a transaction lost to a winner.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explanation {
    /// The kind of conflict.
    pub kind: ConflictKind,
    /// The rule's id.
    pub rule: String,
    /// The operation that lost.
    pub operation: String,
    /// The version that it read; `None` when there was no table.
    pub read_version: Option<Version>,
    /// The level that it was checked at.
    pub level: IsolationLevel,
    /// The version that stands against it.
    pub winner: Version,
    /// The operation of that version.
    pub winner_operation: String,
    /// The version which that operation read, when it says so.
    pub winner_read_version: Option<i64>,
    /// What the winner did, as the rule says it.
    pub reason: String,
    /// The file that shows it.
    pub file: Option<String>,
    /// Its partition, by logical names: `[p=a]`.
    pub partition: Option<String>,
    /// The read predicate that matched.
    pub predicate: Option<String>,
    /// The predicate says nothing about partitions, so it matches every one.
    pub unbounded: bool,
    /// What to do now.
    pub retry: Retry,
    /// What would have avoided it.
    pub advice: Vec<String>,
}

/// Explains the conflict that rules found with the first of some winners, which follow each other. Advice about levels, predicates and kinds of writes is
/// given only where it helps: it is tried by the same rules, on all of them.
///
/// # Panics
/// When there is no winner.
pub fn explain(transaction: &Transaction, winners: &[Winner], conflict: &Conflict, rules: &RuleSet) -> Explanation {
    let winner = &winners[0];
    let kind = conflict.finding.kind;
    let predicate = conflict.finding.predicate.and_then(|position| transaction.reads.predicates.get(position));
    let unbounded = conflict.finding.predicate.is_some_and(|position| {
        let read = transaction.read.as_ref();
        read.filter(|read| !read.partition_columns().is_empty()).is_some_and(|read| {
            PartitionFilter::new(&transaction.reads.predicates, read).unbounded().any(|p| p == position)
        })
    });
    Explanation {
        kind,
        rule: conflict.rule.clone(),
        operation: transaction.operation.name.clone(),
        read_version: transaction.read_version(),
        level: transaction.level,
        winner: conflict.winner,
        winner_operation: conflict.operation.clone(),
        winner_read_version: winner.commit.info().and_then(|info| info.read_version()),
        reason: conflict.finding.reason.clone(),
        file: conflict.finding.file.clone(),
        partition: partition(transaction, winner, conflict),
        predicate: predicate.map(ToString::to_string),
        unbounded,
        retry: match kind {
            ConflictKind::ConcurrentTransaction => Retry::LookUpProgress,
            ConflictKind::ProtocolChanged
            | ConflictKind::MetadataChanged
            | ConflictKind::FeatureDropConflict
            | ConflictKind::BackfillConflict
            | ConflictKind::DomainMetadataConflict => Retry::ReloadTable,
            _ => Retry::Rerun,
        },
        advice: advice(transaction, winners, conflict, unbounded, rules),
    }
}

/// The partition of the file that shows a conflict: of the winner's add, of the file that was read, or of the own remove, as Delta Spark shows it.
fn partition(transaction: &Transaction, winner: &Winner, conflict: &Conflict) -> Option<String> {
    let (read, file) = (transaction.read.as_ref()?, conflict.finding.file.as_ref()?);
    let values: Option<&PartitionValues> = match conflict.finding.kind {
        ConflictKind::ConcurrentAppend => winner.adds().find(|add| add.path == *file).map(|add| &add.partition_values),
        ConflictKind::ConcurrentDeleteRead => transaction.read_file(file).map(|add| &add.partition_values),
        ConflictKind::ConcurrentDeleteDelete => {
            transaction.removes().find(|remove| remove.path == *file)?.partition_values.as_ref()
        }
        _ => None,
    };
    shown_partition(read, values?)
}

fn advice(
    transaction: &Transaction,
    winners: &[Winner],
    conflict: &Conflict,
    unbounded: bool,
    rules: &RuleSet,
) -> Vec<String> {
    let (kind, winner) = (conflict.finding.kind, &winners[0]);
    let mut advice = Vec::new();
    let mut say = |text: &str| advice.push(text.to_owned());
    let helps = |change: &dyn Fn(&mut Transaction)| {
        let mut other = transaction.clone();
        change(&mut other);
        passes(other, winners, rules)
    };
    match kind {
        ConflictKind::ConcurrentAppend | ConflictKind::ConcurrentDeleteRead | ConflictKind::ConcurrentDeleteDelete => {
            let partitioned = transaction.read.as_ref().is_some_and(|read| !read.partition_columns().is_empty());
            if let Some(narrow) = narrower(transaction, winners, conflict, unbounded, rules) {
                say(&narrow);
            } else if unbounded {
                say("name the partitions that are meant by constants in the condition, joined by AND");
            }
            if transaction.level == IsolationLevel::Serializable
                && helps(&|other| other.level = IsolationLevel::WriteSerializable)
            {
                say(
                    "at level WriteSerializable this would commit, since the other order of the two explains the result",
                );
            }
            // Of the other operations it is known that they change rows.
            let plain = transaction.operation.name == "WRITE";
            let removes = transaction.removes().next().is_some();
            let adds = transaction.adds().next().is_some();
            if plain && removes && adds && helps(&|other| other.level = IsolationLevel::SnapshotIsolation) {
                say("if this only moves rows between files, use OPTIMIZE, which changes no data and passes new files");
            }
            let blind = |other: &mut Transaction| {
                other.reads = ReadSet { app_ids: other.reads.app_ids.clone(), ..ReadSet::default() };
                other.blind_append = true;
            };
            if adds && touches_no_file_but_adds(&transaction.actions) && helps(&blind) {
                say("an insert that does not read this table is a blind append and passes");
            }
            if kind != ConflictKind::ConcurrentAppend && removes {
                say("let writers that run at once rewrite disjoint files");
            }
            if kind == ConflictKind::ConcurrentAppend && !partitioned {
                say(
                    "partition the table by columns that conditions name, so that writers of different partitions pass each other",
                );
            }
            if advice.is_empty() {
                advice.push(
                    "let writers that run at once work on different partitions, or run one after the other".to_owned(),
                );
            }
        }
        ConflictKind::ConcurrentTransaction => {
            say("let one copy of the application run at a time, each with a checkpoint of its own");
        }
        ConflictKind::ConcurrentWrite => say("let nothing else write while this runs"),
        ConflictKind::MetadataChanged | ConflictKind::ProtocolChanged if transaction.read.is_none() => {
            say("create the table once, before writers start");
        }
        ConflictKind::ProtocolChanged
            if winner.protocol().is_some_and(|new| transaction.client.check(new).is_err()) =>
        {
            say(
                "use a version of the client that implements what the table needs now; until then it can write nothing",
            );
        }
        ConflictKind::MetadataChanged if winner.moves_identity_only() => {
            say("let one writer at a time add rows to a table with identity columns");
        }
        ConflictKind::MetadataChanged if winner.adds().next().is_some() => {
            say("let appends not change the schema, or let the one that does run alone");
        }
        ConflictKind::MetadataChanged
        | ConflictKind::ProtocolChanged
        | ConflictKind::FeatureDropConflict
        | ConflictKind::BackfillConflict
        | ConflictKind::DomainMetadataConflict => say("change tables while nobody else does"),
    }
    advice
}

/// Would the transaction get past all winners?
fn passes(transaction: Transaction, winners: &[Winner], rules: &RuleSet) -> bool {
    let mut transaction = Arc::new(transaction);
    winners.iter().all(|winner| rules.check(&transaction, winner).is_none() && rebase(&mut transaction, winner).is_ok())
}

/// Partitions that are named one by one.
const MAX_PARTITIONS: usize = 8;

/// A condition on partitions that would have kept the two apart: it holds the partitions of the files that the transaction removes and adds. Where the condition
/// of the statement names partitions already, another would make it another statement.
fn narrower(
    transaction: &Transaction,
    winners: &[Winner],
    conflict: &Conflict,
    unbounded: bool,
    rules: &RuleSet,
) -> Option<String> {
    let read = transaction.read.as_ref()?;
    let predicates = &transaction.reads.predicates;
    let may_narrow = match conflict.finding.predicate {
        Some(_) => unbounded,
        None => PartitionFilter::new(predicates, read).unbounded().count() == predicates.len(),
    };
    if !may_narrow {
        return None;
    }
    let of_removes = transaction.removes().filter_map(|remove| {
        let live = transaction.read_file(&remove.path).map(|add| &add.partition_values);
        live.or(remove.partition_values.as_ref())
    });
    let written = of_removes.chain(transaction.adds().map(|add| &add.partition_values));
    let mut partitions: BTreeMap<String, Expression> = BTreeMap::new();
    for values in written {
        let partition = partition_condition(read, values)?;
        partitions.insert(partition.to_string(), partition);
    }
    let names: Vec<&str> = partitions.keys().map(String::as_str).collect();
    let shown = match names.as_slice() {
        [first, .., last] if names.len() > MAX_PARTITIONS => {
            format!("its {} partitions, {first} to {last},", names.len())
        }
        names => names.join(" OR "),
    };
    let condition = Expression::joined(BinaryOperator::Or, partitions.into_values().collect())?;
    // With the condition, the statement would have read what it reads of those partitions.
    let predicates = match predicates.as_slice() {
        [] => vec![condition.clone()],
        predicates => predicates.iter().map(|predicate| predicate.clone().and(condition.clone())).collect(),
    };
    let files = transaction
        .reads
        .files
        .iter()
        .filter(|path| transaction.read_file(path).is_some_and(|add| may_match(&condition, read, add)));
    let app_ids = transaction.reads.app_ids.clone();
    let reads = ReadSet { whole_table: false, predicates, files: files.cloned().collect(), app_ids };
    let narrowed = Transaction { reads, ..transaction.clone() };
    passes(narrowed, winners, rules).then(|| {
        format!("nothing was written to a partition that this transaction writes: a condition on {shown} that every row must meet keeps them apart")
    })
}

impl Explanation {
    /// The explanation for programs.
    pub fn to_json(&self) -> Json {
        json!({
            "conflict": self.kind.to_string(),
            "rule": self.rule,
            "operation": self.operation,
            "readVersion": self.read_version.map(|version| version.0),
            "isolationLevel": self.level.to_string(),
            "winner": self.winner.0,
            "winnerOperation": self.winner_operation,
            "winnerReadVersion": self.winner_read_version,
            "reason": self.reason,
            "file": self.file,
            "partition": self.partition,
            "predicate": self.predicate,
            "predicateNarrowsNoPartition": self.unbounded,
            "blindRetryIsSafe": false,
            "retry": match self.retry {
                Retry::Rerun => "rerun",
                Retry::LookUpProgress => "look up progress",
                Retry::ReloadTable => "reload table",
            },
            "advice": self.advice,
        })
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let read = self.read_version.map_or("found no table".to_owned(), |version| format!("read version {version}"));
        write!(f, "{}: the operation {} {read} and was checked at {}. ", self.kind, self.operation, self.level)?;
        write!(f, "Version {} ({}", self.winner, self.winner_operation)?;
        if let Some(version) = self.winner_read_version {
            write!(f, ", which read version {version}")?;
        }
        write!(f, ") {}", self.reason)?;
        match (&self.file, &self.partition) {
            (Some(file), Some(partition)) => write!(f, ": {file} in partition {partition}")?,
            (Some(file), None) => write!(f, ": {file}")?,
            _ => {}
        }
        write!(f, " [rule {}].", self.rule)?;
        if let Some(predicate) = &self.predicate {
            write!(f, " The read predicate that matched is `{predicate}`")?;
            f.write_str(if self.unbounded { ", of which no part narrows the partitions." } else { "." })?;
        }
        f.write_str(match self.retry {
            Retry::Rerun => " Putting the same files again is not safe; running the statement again on a fresh snapshot is.",
            Retry::LookUpProgress => {
                " A blind retry is not safe: look up on a fresh snapshot how far the application has come, the step may be done."
            }
            Retry::ReloadTable => {
                " A blind retry is not safe: load the table anew, check that the statement still means the same, and run it again."
            }
        })?;
        for advice in &self.advice {
            write!(f, " To avoid it: {advice}.")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
