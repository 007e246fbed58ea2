//! Rules about when commits were made.

use super::{Findings, Rule, state::State};
use crate::{action::Action, commit::Commit, path::Version, store::ObjectMeta, time_travel::InCommitTimestamps};

/// Where commits carry their own times these are there, come first and increase.
pub(super) fn in_commit_timestamp(commit: &Commit, state: &State, findings: &mut Findings) {
    let Some(metadata) = state.metadata() else { return };
    let since = match InCommitTimestamps::of(&metadata.configuration) {
        Ok(Some(timestamps)) => timestamps.since,
        Ok(None) => return,
        Err(error) => {
            // Said once, where the property is set.
            if commit.actions.iter().any(|action| matches!(action, Action::Metadata(_))) {
                findings.report(Rule::InCommitTimestamp, error.to_string());
            }
            return;
        }
    };
    if commit.version < since {
        return;
    }
    let Some(own) = commit.info().and_then(|info| info.in_commit_timestamp()) else {
        findings.report(Rule::InCommitTimestamp, "in-commit timestamps are on, and it has none");
        return;
    };
    if !matches!(commit.actions.first(), Some(Action::CommitInfo(_))) {
        findings.report(Rule::InCommitTimestamp, "in-commit timestamps are on, and commitInfo is not its first action");
    }
    if let Some((version, before)) = state.timestamp_before()
        && own <= before
    {
        findings.report(
            Rule::InCommitTimestamp,
            format!("its inCommitTimestamp {own} is not greater than {before}, that of version {version}"),
        );
    }
}

/// Times of files that run backwards are harmless, as readers repair them, but say that clocks disagree or that the log was copied.
pub(super) fn clock_regressions(commits: &[(Version, ObjectMeta)], findings: &mut Findings) {
    for pair in commits.windows(2) {
        let ((before, earlier), (version, later)) = (&pair[0], &pair[1]);
        if later.modified_ms < earlier.modified_ms {
            findings.about(Some(*version), later.path.clone());
            findings.report(
                Rule::ClockRegression,
                format!(
                    "its file is {} ms older than that of version {before}; time travel counts it as made after that",
                    earlier.modified_ms.saturating_sub(later.modified_ms)
                ),
            );
        }
    }
}
