//! In which order the files of a log are read, and what their names alone tell.

use std::collections::BTreeMap;

use super::{Findings, Rule};
use crate::{
    log_note::LogNote,
    path::{LogFile, Version},
    segment::{CheckpointParts, Listed},
    store::ObjectMeta,
};

/// One step of a walk.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Item {
    /// Commits are missing from here to this version.
    Gap(Version),
    /// A commit.
    Commit(String),
    /// A compaction that ends here.
    Compaction { first: Version, path: String },
    /// A whole checkpoint.
    Checkpoint(Vec<String>),
    /// A checksum.
    Checksum(String),
}

/// What is read, by version and in this order for each.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Plan {
    pub(super) items: Vec<(Version, Item)>,
    /// The first commit that is there.
    pub(super) first: Option<Version>,
    pub(super) commits: Vec<(Version, ObjectMeta)>,
    /// The newest whole checkpoint.
    pub(super) newest_checkpoint: Option<Version>,
    /// Paths of all whole checkpoints, by version.
    pub(super) checkpoints: BTreeMap<Version, Vec<CheckpointParts>>,
    pub(super) has_hint: bool,
}

impl Plan {
    /// The plan for a listing in order of path; `None` when it is of no table.
    pub(super) fn of(listing: Vec<ObjectMeta>, findings: &mut Findings) -> Option<Self> {
        let listed = Listed::of(&listing);
        let mut plan = Self::default();
        for ((version, ..), paths) in &listed.checkpoints {
            plan.items.push((*version, Item::Checkpoint(paths.clone())));
            let parts = CheckpointParts { version: *version, paths: paths.clone() };
            plan.checkpoints.entry(*version).or_default().push(parts);
            plan.newest_checkpoint = Some(*version);
        }
        for (first, last, path) in &listed.compactions {
            plan.items.push((*last, Item::Compaction { first: *first, path: path.clone() }));
        }
        for object in &listing {
            match LogFile::of(&object.path) {
                LogFile::Commit(version) => {
                    plan.commits.push((version, object.clone()));
                    plan.items.push((version, Item::Commit(object.path.clone())));
                }
                LogFile::Checksum(version) if object.size > 0 => {
                    plan.items.push((version, Item::Checksum(object.path.clone())));
                }
                LogFile::LastCheckpoint => plan.has_hint = true,
                _ => {}
            }
        }
        plan.first = plan.commits.first().map(|(version, _)| *version);
        let newest = plan.commits.last().map(|(version, _)| *version).max(plan.newest_checkpoint)?;
        plan.gaps(newest);
        plan.items.sort();
        strays(&listing, newest, findings);
        notes(listed.notes.into_iter(), findings);
        Some(plan)
    }

    fn gaps(&mut self, newest: Version) {
        let versions: Vec<Version> = self.commits.iter().map(|(version, _)| *version).collect();
        let ends = versions.iter().copied().chain(Some(newest.next()));
        let mut next = match self.first {
            // What came before a checkpoint may have been cleaned up.
            Some(first) if self.newest_checkpoint.is_none() && first > Version(0) => Version(0),
            Some(first) => first,
            None => return,
        };
        let mut gaps = Vec::new();
        for version in ends {
            if version > next {
                gaps.push((next, Item::Gap(Version(version.0 - 1))));
            }
            next = version.next();
        }
        self.items.extend(gaps);
    }
}

/// Does an engine keep a file of this name beside the log? Hadoop has checksums of its own beside every file, Delta Spark and Databricks notes of theirs.
fn is_of_an_engine(name: &str) -> bool {
    (name.starts_with('.') && name.ends_with(".crc"))
        || name.starts_with(".s3-optimization-")
        || name == "_last_vacuum_info"
}

/// Files of the log folder that are none of a log.
fn strays(listing: &[ObjectMeta], newest: Version, findings: &mut Findings) {
    for ObjectMeta { path, .. } in listing {
        let name = path.rsplit('/').next().unwrap_or(path);
        let message = match LogFile::of(path) {
            LogFile::Other if is_of_an_engine(name) => continue,
            LogFile::Other => {
                "its name is none of a log's, so readers pass over it; most likely a writer left it behind"
            }
            LogFile::Checksum(version) if version > newest => "it is the checksum of a version that was never made",
            LogFile::Compaction { last, .. } if last > newest => "it reaches up to a version that was never made",
            _ => continue,
        };
        findings.about(None, path.clone());
        findings.report(Rule::StrayFile, message);
    }
}

fn notes(notes: impl Iterator<Item = LogNote>, findings: &mut Findings) {
    for note in notes {
        let message = note.to_string();
        match note {
            LogNote::EmptyFile { path } => {
                findings.about(None, path);
                findings.report(Rule::EmptyFile, message);
            }
            LogNote::IncompleteCheckpoint { version, of, .. } => {
                findings.about(Some(version), format!("_delta_log/{:020}.checkpoint.*.{of:010}.parquet", version.0));
                findings.report(Rule::CheckpointIncomplete, message);
            }
            other => unreachable!("a listing has no such note: {other:?}"),
        }
    }
}
