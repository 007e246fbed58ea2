//! Rules about what a commit does to the files of the table.

use super::{Findings, Rule, state::State};
use crate::{
    action::{Action, AddFile, FileKey},
    commit::Commit,
    schema::Schema,
    statistics::Statistics,
};

/// A remove takes out a file that is in.
pub(super) fn removes_match(commit: &Commit, before: &State, findings: &mut Findings) {
    for action in &commit.actions {
        let Action::Remove(remove) = action else { continue };
        let key = remove.key();
        if before.file(&key).is_some() {
            continue;
        }
        let shown = show(&key);
        // Another spelling of a path is the same file, another vector is not.
        let other = before.vectors_of(&key.0).next();
        let message = match other {
            Some(live) => format!("it removes {shown}, and live is {}", show(live)),
            None => format!("it removes {shown}, which is not live"),
        };
        findings.report(Rule::RemoveMatchesNothing, message);
    }
}

/// An add of a file that is in updates what is known of it. With `dataChange` it claims more.
pub(super) fn adds_are_new(commit: &Commit, before: &State, findings: &mut Findings) {
    for action in &commit.actions {
        let Action::Add(add) = action else { continue };
        if add.data_change && before.file(&add.key()).is_some() {
            let shown = show(&add.key());
            findings.report(
                Rule::AlreadyLive,
                format!("it adds {shown} as a change of data, and that is live already: its rows do not count twice"),
            );
        }
    }
}

/// Of one data file the rows count once, so it is not live with two deletion vectors.
pub(super) fn live_once(commit: &Commit, after: &State, findings: &mut Findings) {
    for action in &commit.actions {
        let Action::Add(add) = action else { continue };
        let key = add.key();
        let live: Vec<String> = after.vectors_of(&key.0).map(show).collect();
        if live.len() > 1 {
            findings.report(Rule::LiveTwice, format!("after it are live: {}", live.join(", and ")));
        }
    }
}

/// Nothing leaves a table to which rows may only be appended.
pub(super) fn append_only(commit: &Commit, before: &State, findings: &mut Findings) {
    let supported = before.protocol().is_some_and(|protocol| protocol.features().contains("appendOnly"));
    let property = before.metadata().and_then(|metadata| metadata.configuration.get("delta.appendOnly"));
    if !supported || !property.is_some_and(|value| value.trim().eq_ignore_ascii_case("true")) {
        return;
    }
    for action in &commit.actions {
        if let Action::Remove(remove) = action
            && remove.data_change
        {
            let shown = show(&remove.key());
            findings.report(Rule::AppendOnly, format!("the table is append-only, and it removes {shown}"));
        }
    }
}

/// A commit that changes no data has as many rows in what it adds as in what it removes. Nothing is said where statistics do not tell.
pub(super) fn rearranged_rows(commit: &Commit, before: &State, findings: &mut Findings) {
    let (mut added, mut removed, mut files) = (Some(0_u64), Some(0_u64), 0);
    for action in &commit.actions {
        match action {
            Action::Add(add) if !add.data_change => {
                files += 1;
                // What is known of a live file is replaced: its rows leave and come.
                let replaced = before.file(&add.key()).map(|live| rows(live));
                if let Some(replaced) = replaced {
                    removed = sum(removed, replaced);
                }
                added = sum(added, rows(add));
            }
            Action::Remove(remove) if !remove.data_change => {
                files += 1;
                removed = sum(removed, before.file(&remove.key()).and_then(|live| rows(live)));
            }
            Action::Add(_) | Action::Remove(_) => return,
            _ => {}
        }
    }
    if let (Some(added), Some(removed)) = (added, removed)
        && files > 0
        && added != removed
    {
        findings.report(
            Rule::RearrangedRows,
            format!("it changes no data, removes {removed} rows and adds {added}, as the statistics of its files say"),
        );
    }
}

fn sum(total: Option<u64>, more: Option<u64>) -> Option<u64> {
    total?.checked_add(more?)
}

/// The rows of a file that are not deleted.
fn rows(add: &AddFile) -> Option<u64> {
    let records = Statistics::parse(add.stats.as_deref()?, &Schema::default()).num_records?;
    let deleted = add.deletion_vector.as_ref().map_or(Some(0), |vector| u64::try_from(vector.cardinality).ok())?;
    records.checked_sub(deleted)
}

/// A logical file, for people.
pub(super) fn show((path, vector): &FileKey) -> String {
    match vector {
        None => format!("'{path}'"),
        Some(vector) => format!("'{path}' with deletion vector '{vector}'"),
    }
}
