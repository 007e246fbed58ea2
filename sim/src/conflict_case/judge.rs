//! From a case to its verdict.

use std::{collections::BTreeSet, sync::Arc};

use conflict::{
    explain::explain,
    feature::Client,
    isolation::IsolationLevel,
    predicate::StatisticsFilter,
    rebase::rebase,
    rules::RuleSet,
    transaction::{Operation, ReadSet, Transaction, Winner},
};
use log_core::{
    action::{AddFile, CommitInfo},
    commit::Commit,
    path::Version,
    snapshot::Snapshot,
};

use super::{Case, CaseError, Outcome, Verdict, compare::differences};
use crate::sql::{Registration, bind_registration};

/// The clock of every transaction: later than what happened in the cases, earlier than the year 2100, where those winners live whose clock is ahead.
const NOW_MS: i64 = 1_800_000_000_000;

/// Judges a case by a rule set.
///
/// # Errors
/// When the case makes no table or no transaction.
pub fn judge(case: &Case, rules: &RuleSet) -> Result<Verdict, CaseError> {
    let (transaction, notes) = case.transaction()?;
    let mut transaction = Arc::new(transaction);
    let mut next = Version::after(case.read_version);
    let winners: Vec<Winner> = case.winners.iter().cloned().map(Winner::new).collect();
    for (position, winner) in winners.iter().enumerate() {
        if let Some(conflict) = rules.check(&transaction, winner) {
            let mut explanation = explain(&transaction, &winners[position..], &conflict, rules);
            if let Some(position) = conflict.finding.predicate {
                explanation.predicate = case.reads.predicates.get(position).cloned();
            }
            let outcome = Outcome::Conflict(Box::new(explanation));
            return Ok(Verdict { differences: differences(&case.expect, &outcome), outcome, notes });
        }
        if let Err(error) = rebase(&mut transaction, winner) {
            let outcome = Outcome::Stuck(error);
            return Ok(Verdict { differences: differences(&case.expect, &outcome), outcome, notes });
        }
        next = winner.version().next();
    }
    let commit = Commit::parse(next, &transaction.commit_bytes(NOW_MS)).map_err(CaseError::Written)?;
    let outcome = Outcome::Committed { version: next, commit };
    Ok(Verdict { differences: differences(&case.expect, &outcome), outcome, notes })
}

impl Case {
    /// The transaction as it was prepared, and notes on what it says that it read: parts of predicates that count as true, each with the reason, and files
    /// that are not live.
    ///
    /// # Errors
    /// When the case makes no table or no transaction.
    pub fn transaction(&self) -> Result<(Transaction, Vec<String>), CaseError> {
        let read = match self.setup.as_slice() {
            [] => None,
            commits => Some(Arc::new(Snapshot::replay(None, commits)?)),
        };
        let mut notes = Vec::new();
        let transaction = transaction(self, read, &mut notes)?;
        Ok((transaction, notes))
    }

    /// The commits that came first, in order.
    pub fn winners(&self) -> &[Commit] {
        &self.winners
    }
}

fn transaction(case: &Case, read: Option<Arc<Snapshot>>, notes: &mut Vec<String>) -> Result<Transaction, CaseError> {
    let level = match &read {
        None => case.isolation,
        Some(read) => IsolationLevel::of_table(&read.metadata.configuration, IsolationLevel::Serializable)
            .map_err(|error| CaseError::Field { field: "setup".to_owned(), problem: error.to_string() })?,
    };
    if level != case.isolation {
        let problem = format!("the case says {}, its table says {level}; make them agree", case.isolation);
        return Err(CaseError::Field { field: "isolation".to_owned(), problem });
    }
    let mut reads =
        ReadSet { whole_table: case.reads.whole_table, app_ids: case.reads.app_ids.clone(), ..ReadSet::default() };
    match &read {
        Some(read) => {
            for (position, text) in case.reads.predicates.iter().enumerate() {
                let Registration { predicate, widened: parts } =
                    bind_registration(text, &read.schema, read.partition_columns());
                notes.extend(parts.into_iter().map(|part| format!("predicate {position}: {part}")));
                reads.predicates.push(predicate);
            }
            reads.files = match &case.reads.files {
                Some(files) => {
                    let live: BTreeSet<&str> = read.adds().map(|add| add.path.as_str()).collect();
                    let gone = files.iter().filter(|file| !live.contains(file.as_str()));
                    notes.extend(
                        gone.map(|file| format!("reads.files: '{file}' is not live at the version that was read")),
                    );
                    files.clone()
                }
                None => read.adds().filter(|add| reads_file(&reads, read, add)).map(|add| add.path.clone()).collect(),
            };
        }
        None if !case.reads.predicates.is_empty() || case.reads.files.is_some() => {
            let problem = "there is no table to read; give it a setup".to_owned();
            return Err(CaseError::Field { field: "transaction.reads".to_owned(), problem });
        }
        None => {}
    }
    let operation = Operation::named(&case.operation);
    let mut transaction =
        Transaction::new(read, reads, operation, case.actions.clone(), level, format!("case {}", case.name));
    transaction.client = Client::DeltaSpark;
    transaction.rebased.after_ms =
        case.setup.last().and_then(|commit| commit.info()).and_then(CommitInfo::in_commit_timestamp);
    transaction.check()?;
    Ok(transaction)
}

/// Was a live file read, going by its partition and its statistics?
fn reads_file(reads: &ReadSet, read: &Snapshot, add: &AddFile) -> bool {
    if reads.whole_table {
        return true;
    }
    StatisticsFilter::new(&reads.predicates, read).first_match(add).is_some()
}
