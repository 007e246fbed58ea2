//! Row ids of live files ("Row Tracking" of the protocol).

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::{Findings, Rule, files::show, state::State};
use crate::{
    action::{Action, AddFile, FileKey},
    commit::Commit,
    schema::Schema,
    statistics::Statistics,
};

const DOMAIN: &str = "delta.rowTracking";

/// The ranges of row ids of live files, by first id and file: the first id after each.
#[derive(Clone, Debug, Default)]
pub(super) struct RowIds(BTreeMap<(i64, FileKey), i64>);

impl RowIds {
    pub(super) fn insert(&mut self, add: &AddFile) {
        if let Some((first, end)) = range(add) {
            self.0.insert((first, add.key()), end);
        }
    }

    pub(super) fn remove(&mut self, add: &AddFile) {
        if let Some((first, _)) = range(add) {
            self.0.remove(&(first, add.key()));
        }
    }

    /// A neighbour whose range overlaps that of the file.
    fn overlapping(&self, add: &AddFile) -> Option<&FileKey> {
        let (first, end) = range(add)?;
        let own = (first, add.key());
        let before = self.0.range(..&own).next_back().filter(|(_, before_end)| **before_end > first);
        let after = || {
            let bounds = (std::ops::Bound::Excluded(&own), std::ops::Bound::Unbounded);
            self.0.range::<(i64, FileKey), _>(bounds).next().filter(|((start, _), _)| *start < end)
        };
        before.or_else(after).map(|((_, key), _)| key)
    }
}

/// From the first id to the first after; `None` where the file does not tell, or has no rows.
fn range(add: &AddFile) -> Option<(i64, i64)> {
    let first = add.base_row_id?;
    let records = Statistics::parse(add.stats.as_deref()?, &Schema::default()).num_records?;
    let end = first.checked_add(i64::try_from(records).ok()?)?;
    (end > first).then_some((first, end))
}

/// No two live files have a row id in common, and none is above the mark up to which ids were given.
pub(super) fn row_ids(commit: &Commit, after: &State, findings: &mut Findings) {
    if !after.protocol().is_some_and(|protocol| protocol.features().contains("rowTracking")) {
        return;
    }
    let mark = after.domain(DOMAIN).map(|domain| {
        let document: Option<Json> = serde_json::from_str(&domain.configuration).ok();
        document.and_then(|document| document.get("rowIdHighWaterMark")?.as_i64())
    });
    if mark == Some(None) {
        findings.report(Rule::RowIds, format!("the domain {DOMAIN} does not tell rowIdHighWaterMark"));
    }
    let mark = mark.flatten();
    for action in &commit.actions {
        let Action::Add(add) = action else { continue };
        let path = &add.path;
        let Some(first) = add.base_row_id else {
            findings
                .report(Rule::RowIds, format!("row tracking is supported, and the add of '{path}' has no baseRowId"));
            continue;
        };
        if first < 0 {
            findings
                .report(Rule::RowIds, format!("the baseRowId of '{path}' is {first}, and row ids are not negative"));
        }
        match add.default_row_commit_version {
            None => findings.report(
                Rule::RowIds,
                format!("row tracking is supported, and the add of '{path}' has no defaultRowCommitVersion"),
            ),
            Some(version) if u64::try_from(version).is_ok_and(|version| version <= commit.version.0) => {}
            Some(version) => findings.report(
                Rule::RowIds,
                format!("the defaultRowCommitVersion of '{path}' is {version}, a version that is not made yet"),
            ),
        }
        if let Some(other) = after.row_ids.overlapping(add) {
            findings.report(Rule::RowIds, format!("'{path}' and {} have row ids in common", show(other)));
        }
        let last = range(add).map_or(first.checked_sub(1), |(_, end)| Some(end - 1));
        if let (Some(mark), Some(last)) = (mark, last)
            && last > mark
        {
            findings
                .report(Rule::RowIds, format!("'{path}' has row ids up to {last}, above the high-water mark {mark}"));
        }
    }
}
