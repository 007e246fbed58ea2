//! Files that stand in for commits say what the commits come to.

use std::collections::BTreeMap;

use super::{
    Findings, Mentioned, Rule,
    difference::{Tombstones, differences},
    state::State,
};
use crate::{
    action::Action,
    commit::{self, Commit},
    path::Version,
    snapshot::Replay,
};

/// Compares a whole checkpoint with the state; where that is not known, takes it over.
pub(super) fn checkpoint(version: Version, actions: Vec<Action>, state: &mut Option<State>, findings: &mut Findings) {
    for problem in doubles(&actions) {
        findings.report(Rule::CheckpointDiffers, problem);
    }
    let mut stored = Replay::keeping_tombstones();
    if let Err(error) = stored.apply_checkpoint(version, actions) {
        findings.report(Rule::CheckpointUnreadable, error.to_string());
        return;
    }
    match state {
        None => *state = Some(State::of_checkpoint(stored)),
        Some(state) if state.version() == Some(version) => {
            let tombstones = if state.every_tombstone { Tombstones::MayExpire } else { Tombstones::Any };
            for difference in differences(&stored, &state.replay, tombstones) {
                findings.report(Rule::CheckpointDiffers, difference);
            }
        }
        Some(_) => {}
    }
}

/// Of what there can be one only, a checkpoint has one.
fn doubles(actions: &[Action]) -> Vec<String> {
    let mut counts: BTreeMap<(&str, String), usize> = BTreeMap::new();
    for action in actions {
        let about = match action {
            Action::Add(add) => add.key().0,
            Action::Metadata(_) | Action::Protocol(_) => String::new(),
            Action::Transaction(transaction) => transaction.app_id.clone(),
            Action::DomainMetadata(domain) => domain.domain.clone(),
            Action::Remove(_) | Action::CommitInfo(_) | Action::Unknown { .. } => continue,
        };
        *counts.entry((action.name(), about)).or_default() += 1;
    }
    let doubles = counts.into_iter().filter(|(_, count)| *count > 1);
    doubles
        .map(|((kind, about), count)| match about.as_str() {
            "" => format!("it has {count} {kind} actions"),
            about => format!("it has {count} {kind} actions of '{about}'"),
        })
        .collect()
}

/// Compares a compaction with the commits that it stands in for, oldest first.
pub(super) fn compaction(last: Version, bytes: &[u8], commits: &[&Commit], findings: &mut Findings) {
    let actions = match commit::actions(bytes) {
        Ok(actions) => actions,
        Err(bad) => {
            let message = format!("line {} is not a whole action; the file may be deleted", bad.line);
            findings.report(Rule::CompactionUnreadable, message);
            return;
        }
    };
    let removed_domains = |actions: &mut dyn Iterator<Item = &Action>| {
        let mut domains: BTreeMap<String, bool> = BTreeMap::new();
        for action in actions {
            if let Action::DomainMetadata(domain) = action {
                domains.insert(domain.domain.clone(), domain.removed);
            }
        }
        domains.retain(|_, removed| *removed);
        domains
    };
    let is = removed_domains(&mut actions.iter());
    let should = removed_domains(&mut commits.iter().flat_map(|commit| &commit.actions));
    for name in should.keys().filter(|name| !is.contains_key(*name)) {
        findings.report(Rule::CompactionDiffers, format!("it does not say that domain '{name}' was removed"));
    }
    // Neither needs to have protocol and metadata, so that those are missing is no error here.
    let (mut stored, mut replayed) = (Replay::keeping_tombstones(), Replay::keeping_tombstones());
    let _ = stored.apply(last, actions);
    for commit in commits {
        let _ = replayed.apply(commit.version, commit.actions.clone());
    }
    for difference in differences(&stored, &replayed, Tombstones::All) {
        findings.report(Rule::CompactionDiffers, difference);
    }
}

/// Notes which files actions speak of.
pub(super) fn mention(actions: &[Action], mentioned: &mut Mentioned) {
    for action in actions {
        let (key, vector) = match action {
            Action::Add(add) => (add.key().0, &add.deletion_vector),
            Action::Remove(remove) => (remove.key().0, &remove.deletion_vector),
            Action::Unknown { name, body } if name == "cdc" => {
                if let Some(path) = body.get("path").and_then(|path| path.as_str()) {
                    mentioned.files.insert(crate::path::path_key(path).into_owned());
                }
                continue;
            }
            _ => continue,
        };
        mentioned.files.insert(key);
        if let Some(vector) = vector
            && vector.storage_type != "i"
        {
            mentioned.vectors.insert((vector.storage_type.clone(), vector.path_or_inline_dv.clone()));
        }
    }
}
