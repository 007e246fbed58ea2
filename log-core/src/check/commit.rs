//! Rules about a commit as it stands, whatever the table holds.

use std::collections::{BTreeMap, BTreeSet};

use super::{Findings, Rule};
use crate::{
    action::{Action, FileKey},
    commit::Commit,
};

/// One action of a kind for each of what it is about: actions of a commit have no order, so of two nobody can say which counts.
pub(super) fn duplicate_actions(commit: &Commit, findings: &mut Findings) {
    // By kind and what it is about.
    let mut counts: BTreeMap<(&str, String), usize> = BTreeMap::new();
    let (mut added, mut removed): (BTreeSet<FileKey>, BTreeSet<FileKey>) = Default::default();
    for action in &commit.actions {
        let about = match action {
            Action::Add(add) => {
                added.insert(add.key());
                add.key().0
            }
            Action::Remove(remove) => {
                removed.insert(remove.key());
                remove.key().0
            }
            Action::Metadata(_) | Action::Protocol(_) | Action::CommitInfo(_) => String::new(),
            Action::Transaction(transaction) => transaction.app_id.clone(),
            Action::DomainMetadata(domain) => domain.domain.clone(),
            Action::Unknown { .. } => continue,
        };
        *counts.entry((action.name(), about)).or_default() += 1;
    }
    for ((kind, about), count) in counts {
        if count > 1 {
            let of = if about.is_empty() { String::new() } else { format!(" of '{about}'") };
            findings.report(Rule::DuplicateAction, format!("{count} {kind} actions{of} where there can be one"));
        }
    }
    for (path, vector) in added.intersection(&removed) {
        let vector = vector.as_ref().map(|id| format!(" with deletion vector '{id}'")).unwrap_or_default();
        findings.report(Rule::DuplicateAction, format!("'{path}'{vector} is both added and removed"));
    }
}

/// Actions that only checkpoints have.
pub(super) fn misplaced_actions(commit: &Commit, findings: &mut Findings) {
    for action in &commit.actions {
        if let Action::Unknown { name, .. } = action
            && matches!(name.as_str(), "sidecar" | "checkpointMetadata")
        {
            findings.report(Rule::MisplacedAction, format!("it has a {name} action, which only checkpoints may have"));
        }
    }
}

/// A commit is checked against those since the version that it read, so it comes after that one.
pub(super) fn read_version(commit: &Commit, findings: &mut Findings) {
    let Some(read) = commit.info().and_then(|info| info.read_version()) else { return };
    // Writers say -1 when there was no table yet.
    if read >= 0 && read as u64 >= commit.version.0 {
        findings.report(
            Rule::ReadVersion,
            format!("its commitInfo says that it read version {read}, which is not older than itself"),
        );
    }
}

/// Other writers leave out of their conflict checks what a blind append added, which is wrong if it was none.
pub(super) fn blind_append(commit: &Commit, findings: &mut Findings) {
    if !commit.info().is_some_and(|info| info.is_blind_append()) {
        return;
    }
    let removes = commit.actions.iter().filter(|action| matches!(action, Action::Remove(_))).count();
    if removes > 0 {
        findings.report(
            Rule::BlindAppend,
            format!("its commitInfo says that it is a blind append, and it removes {removes} files"),
        );
    }
}

/// A file has no fewer than no bytes.
pub(super) fn file_sizes(commit: &Commit, findings: &mut Findings) {
    for action in &commit.actions {
        let (path, size) = match action {
            Action::Add(add) => (&add.path, Some(add.size)),
            Action::Remove(remove) => (&remove.path, remove.size),
            _ => continue,
        };
        if let Some(size) = size.filter(|size| *size < 0) {
            findings.report(Rule::FileSize, format!("the {} of '{path}' says that it has {size} bytes", action.name()));
        }
    }
}
