//! What came out against what was expected.

use std::{collections::BTreeMap, fmt};

use conflict::{feature::ROW_TRACKING_DOMAIN, rebase::high_water_mark};
use log_core::{
    action::{Action, CommitInfo},
    commit::Commit,
};

use super::{Expectation, Outcome, RebasedFacts};

/// In what an outcome is not as expected.
pub(super) fn differences(expect: &Expectation, outcome: &Outcome) -> Vec<String> {
    let mut found = Differences::default();
    match (expect, outcome) {
        (Expectation::Conflict { kinds, winner, partition }, Outcome::Conflict(explanation)) => {
            let kind = explanation.kind.to_string();
            if !kinds.contains(&kind) {
                found.0.push(format!("expected {}, found {kind}", kinds.join(" or ")));
            }
            found.compare("winner", Some(winner), Some(&explanation.winner));
            if let Some(partition) = partition {
                found.compare("partition", Some(partition), explanation.partition.as_ref());
            }
        }
        (Expectation::Committed { version: expected, rebased }, Outcome::Committed { version, commit }) => {
            if let Some(expected) = expected {
                found.compare("version", Some(expected), Some(version));
            }
            found.compare_facts(rebased, commit);
        }
        (Expectation::Conflict { kinds, winner, .. }, Outcome::Committed { version, .. }) => {
            let expected = kinds.join(" or ");
            found.0.push(format!("expected {expected} with version {winner}, found a commit at version {version}"));
        }
        (Expectation::Committed { .. }, Outcome::Conflict(explanation)) => {
            let (kind, winner) = (explanation.kind, explanation.winner);
            found.0.push(format!("expected a commit, found {kind} with version {winner}"));
        }
        (_, Outcome::Stuck(error)) => found.0.push(error.to_string()),
    }
    found.0
}

#[derive(Default)]
struct Differences(Vec<String>);

impl Differences {
    fn compare<T: PartialEq + fmt::Display>(&mut self, what: &str, expected: Option<&T>, found: Option<&T>) {
        if expected != found {
            let shown = |value: Option<&T>| value.map_or("none".to_owned(), ToString::to_string);
            self.0.push(format!("{what}: expected {}, found {}", shown(expected), shown(found)));
        }
    }

    fn compare_facts(&mut self, facts: &RebasedFacts, commit: &Commit) {
        let mut ids = BTreeMap::new();
        let mut versions = BTreeMap::new();
        let mut configuration = BTreeMap::new();
        let (mut adds, mut removed_domains, mut mark) = (Vec::new(), Vec::new(), None);
        for action in &commit.actions {
            match action {
                Action::Add(add) => {
                    ids.insert(add.path.as_str(), add.base_row_id);
                    versions.insert(add.path.as_str(), add.default_row_commit_version);
                    adds.push(add.path.as_str());
                }
                Action::Remove(remove) => {
                    ids.entry(remove.path.as_str()).or_insert(remove.base_row_id);
                    versions.entry(remove.path.as_str()).or_insert(remove.default_row_commit_version);
                }
                Action::Metadata(metadata) => configuration.clone_from(&metadata.configuration),
                Action::DomainMetadata(domain) if domain.domain == ROW_TRACKING_DOMAIN => {
                    mark = high_water_mark(domain)
                }
                Action::DomainMetadata(domain) if domain.removed => removed_domains.push(domain.domain.as_str()),
                _ => {}
            }
        }
        for (path, id) in &facts.base_row_id {
            self.compare(&format!("baseRowId of {path}"), Some(id), ids.get(path.as_str()).and_then(Option::as_ref));
        }
        for (path, version) in &facts.default_row_commit_version {
            let found = versions.get(path.as_str()).and_then(Option::as_ref);
            self.compare(&format!("defaultRowCommitVersion of {path}"), Some(version), found);
        }
        if let Some(expected) = facts.row_id_high_water_mark {
            self.compare("rowIdHighWaterMark", Some(&expected), mark.as_ref());
        }
        if let Some(expected) = facts.in_commit_timestamp {
            let found = commit.info().and_then(CommitInfo::in_commit_timestamp);
            self.compare("inCommitTimestamp", Some(&expected), found.as_ref());
        }
        for (key, value) in &facts.configuration {
            self.compare(key, Some(value), configuration.get(key));
        }
        for domain in &facts.removed_domains {
            if !removed_domains.contains(&domain.as_str()) {
                self.0.push(format!("the domain {domain} is not removed"));
            }
        }
        for path in &facts.absent_adds {
            if adds.contains(&path.as_str()) {
                self.0.push(format!("{path} is added, and should not be"));
            }
        }
    }
}
