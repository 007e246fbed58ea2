//! From a listing of the log folder to the files that make up a version.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use crate::{
    log_note::LogNote,
    path::{CheckpointFile, CheckpointNaming, LogFile, Version, commit_path},
    store::ObjectMeta,
};

/// The files that make up a version: where to begin, and what to replay on top.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Segment {
    /// The version that the files add up to.
    pub version: Version,
    /// The checkpoint to begin with; `None` = with the base, or else with nothing.
    pub checkpoint: Option<CheckpointParts>,
    /// Paths of the commits and compactions to replay, relative to the table, oldest first. They follow each other without a hole up to `version`.
    pub commits: Vec<String>,
}

/// The files of one whole checkpoint.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct CheckpointParts {
    /// The version whose state it holds.
    pub version: Version,
    /// Paths relative to the table, in order of part; more than one only where it has several parts.
    pub paths: Vec<String>,
}

/// Ranges of versions.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct VersionRanges(pub Vec<(Version, Version)>);

impl fmt::Display for VersionRanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("no version can be rebuilt");
        }
        f.write_str("what can be rebuilt is")?;
        for (index, (first, last)) in self.0.iter().enumerate() {
            f.write_str(if index == 0 { " " } else { ", " })?;
            if first == last { write!(f, "version {first}")? } else { write!(f, "versions {first} to {last}")? }
        }
        Ok(())
    }
}

/// A log from which a version cannot be rebuilt.
#[derive(Clone, PartialEq, Eq, Hash, Debug, thiserror::Error)]
pub enum SegmentError {
    /// Commits are missing, and no checkpoint stands in for them.
    #[error(
        "the log cannot be read up to version {wanted}: commits {first} to {last} are missing; versions are contiguous, so restore \
         their files from a copy of the table; {readable}"
    )]
    Gap {
        /// The first missing version.
        first: Version,
        /// The last missing version.
        last: Version,
        /// The version that was asked for, or the newest.
        wanted: Version,
        /// What the files that were listed can rebuild.
        readable: VersionRanges,
    },
    /// The version was never made.
    #[error("version {wanted} does not exist; the newest version is {newest}")]
    TooNew {
        /// The version that was asked for.
        wanted: Version,
        /// The newest version.
        newest: Version,
    },
}

/// What a listing holds, by kind.
#[derive(Default)]
pub(crate) struct Listed {
    commits: BTreeSet<Version>,
    /// Whole checkpoints, also damaged ones, by version and then from the last choice to the first.
    pub(crate) checkpoints: BTreeMap<(Version, CheckpointNaming, String), Vec<String>>,
    /// By their first version, those that reach furthest last.
    pub(crate) compactions: BTreeSet<(Version, Version, String)>,
    pub(crate) notes: BTreeSet<LogNote>,
}

impl Segment {
    /// Picks the files for `wanted`, or for the newest version, from a listing that began after version `base` (`None` = from the start), without
    /// those of `damaged`, which turned out to be of no use.
    ///
    /// It begins with the base when every commit since is there, else with the newest whole checkpoint that is not newer than what is wanted, else with
    /// what leads there at all. A compaction takes the place of commits when it lies wholly in the range. The answer is `None` when nothing is listed:
    /// with a base that is the base itself, without one there is no table. `wanted` is not older than `base`.
    ///
    /// # Errors
    /// When a commit between is missing, or when `wanted` is newer than every version.
    pub fn select(
        listing: &[ObjectMeta],
        base: Option<Version>,
        wanted: Option<Version>,
        damaged: &BTreeSet<String>,
    ) -> Result<Option<Self>, SegmentError> {
        let listed = Listed::of(listing);
        let Some(newest) = listed.newest().max(base) else {
            return Ok(None);
        };
        let last = wanted.unwrap_or(newest);
        if last > newest {
            return Err(SegmentError::TooNew { wanted: last, newest });
        }
        if base == Some(last) {
            return Ok(None);
        }
        let whole = |paths: &[String]| !paths.iter().any(|path| damaged.contains(path));
        let usable: Vec<_> = listed
            .checkpoints
            .iter()
            .rev()
            .filter(|((version, ..), paths)| *version <= last && whole(paths))
            .map(|((version, ..), paths)| CheckpointParts { version: *version, paths: paths.clone() })
            .collect();
        let from = |start: Option<Version>| listed.steps(start, last, damaged);
        if base.is_some()
            && let Ok(commits) = from(base)
        {
            return Ok(Some(Self { version: last, checkpoint: None, commits }));
        }
        let start = usable.first().map_or(base, |checkpoint| Some(checkpoint.version));
        let missing = match from(start) {
            Ok(commits) => return Ok(Some(Self { version: last, checkpoint: usable.into_iter().next(), commits })),
            Err(missing) => missing,
        };
        // After an older checkpoint the same commits are missing, unless a compaction from there goes past them.
        let starts = usable.iter().map(|checkpoint| checkpoint.version.next()).chain([Version::after(base)]);
        if let Some((start, commits)) = listed.detour(starts.collect(), last, damaged) {
            let from_start = |checkpoint: &CheckpointParts| checkpoint.version.next() == start;
            let checkpoint = usable.into_iter().find(from_start).filter(|_| Version::after(base) != start);
            return Ok(Some(Self { version: last, checkpoint, commits }));
        }
        let end = listed.commits.range(missing..=last).next().map_or(last, |present| Version(present.0 - 1));
        let readable = listed.rebuildable(base, damaged);
        Err(SegmentError::Gap { first: missing, last: end, wanted: last, readable })
    }

    /// The files of a log among what is listed. What is to be said of those that are left aside is noted.
    pub(crate) fn files(mut listing: Vec<ObjectMeta>, notes: &mut BTreeSet<LogNote>) -> Vec<ObjectMeta> {
        listing.retain(|object| LogFile::of(&object.path) != LogFile::Other);
        if listing.iter().any(|object| !matches!(LogFile::of(&object.path), LogFile::Commit(_))) {
            notes.extend(Self::notes(&listing));
        }
        listing
    }

    /// What is to be said of the files of a listing that are left aside.
    pub fn notes(listing: &[ObjectMeta]) -> BTreeSet<LogNote> {
        Listed::of(listing).notes
    }
}

impl Listed {
    pub(crate) fn of(listing: &[ObjectMeta]) -> Self {
        let mut listed = Self::default();
        let mut parts: BTreeMap<(Version, u64), BTreeMap<u64, &String>> = BTreeMap::new();
        for object in listing {
            let path = &object.path;
            match LogFile::of(path) {
                // A commit may be listed before its size is known, so its size does not count.
                LogFile::Commit(version) => {
                    listed.commits.insert(version);
                }
                LogFile::Other | LogFile::LastCheckpoint => {}
                // Whoever wrote it never finished; older files say the same.
                _ if object.size == 0 => {
                    listed.notes.insert(LogNote::EmptyFile { path: path.clone() });
                }
                LogFile::Checkpoint(CheckpointFile { version, naming: CheckpointNaming::Part { part, of } }) => {
                    parts.entry((version, of)).or_default().insert(part, path);
                }
                LogFile::Checkpoint(CheckpointFile { version, naming }) => {
                    listed.checkpoints.insert((version, naming, path.clone()), vec![path.clone()]);
                }
                LogFile::Compaction { first, last } => {
                    listed.compactions.insert((first, last, path.clone()));
                }
                LogFile::Checksum(_) => {}
            }
        }
        for ((version, of), present) in parts {
            let found = present.len() as u64;
            if found < of {
                listed.notes.insert(LogNote::IncompleteCheckpoint { version, found, of });
                continue;
            }
            let paths: Vec<String> = present.into_values().cloned().collect();
            listed.checkpoints.insert((version, CheckpointNaming::Part { part: 0, of }, paths[0].clone()), paths);
        }
        listed
    }

    /// The newest version that was made. Where a checkpoint is, its version was made, even if the commit is gone and the checkpoint damaged.
    pub(crate) fn newest(&self) -> Option<Version> {
        let newest_checkpoint = self.checkpoints.keys().next_back().map(|(version, ..)| *version);
        self.commits.last().copied().max(newest_checkpoint)
    }

    /// The files that lead from after `start` up to `last`, taking the compaction that reaches furthest wherever one begins; or the first version that is
    /// missing on that way.
    fn steps(&self, start: Option<Version>, last: Version, damaged: &BTreeSet<String>) -> Result<Vec<String>, Version> {
        let mut paths = Vec::new();
        let mut next = Version::after(start);
        while next <= last {
            if let Some((_, end, path)) = self.compactions_from(next, damaged).rfind(|(_, end, _)| *end <= last) {
                paths.push(path.clone());
                next = end.next();
            } else if self.commits.contains(&next) {
                paths.push(commit_path(next));
                next = next.next();
            } else {
                return Err(next);
            }
        }
        Ok(paths)
    }

    /// Files that lead up to `last` from one of the starts, by whatever compactions there are, and that start; a start is the version that is replayed first.
    fn detour(
        &self,
        starts: BTreeSet<Version>,
        last: Version,
        damaged: &BTreeSet<String>,
    ) -> Option<(Version, Vec<String>)> {
        if self.compactions.is_empty() {
            return None;
        }
        let ways = self.ways(starts, damaged);
        let (mut paths, mut next) = (Vec::new(), last.next());
        while let Some((from, path)) = ways.get(&next)? {
            paths.push(path.clone());
            next = *from;
        }
        paths.reverse();
        Some((next, paths))
    }

    fn compactions_from(
        &self,
        first: Version,
        damaged: &BTreeSet<String>,
    ) -> impl DoubleEndedIterator<Item = &(Version, Version, String)> {
        let range = (first, first.next(), String::new())..(first.next(), Version(0), String::new());
        self.compactions.range(range).filter(|(.., path)| !damaged.contains(path))
    }

    /// Where commits and compactions lead from `starts`. Both, and the keys of the answer, are the versions that would be replayed next; with each key, the file
    /// that leads there and where that begins, `None` for the starts.
    fn ways(
        &self,
        starts: BTreeSet<Version>,
        damaged: &BTreeSet<String>,
    ) -> BTreeMap<Version, Option<(Version, String)>> {
        let mut ways: BTreeMap<_, _> = starts.into_iter().map(|start| (start, None)).collect();
        // Whatever leads on begins at a commit or at a compaction, so going through those in order passes every version after those that lead to it.
        let begins = self.commits.iter().chain(self.compactions.iter().map(|(first, ..)| first));
        for begin in begins.copied().collect::<BTreeSet<_>>() {
            if !ways.contains_key(&begin) {
                continue;
            }
            for (_, end, path) in self.compactions_from(begin, damaged) {
                ways.entry(end.next()).or_insert_with(|| Some((begin, path.clone())));
            }
            if self.commits.contains(&begin) {
                ways.entry(begin.next()).or_insert_with(|| Some((begin, commit_path(begin))));
            }
        }
        ways
    }

    /// Every version that can be rebuilt: from the base or from nothing, and from every checkpoint, as far as commits and compactions lead.
    pub(crate) fn rebuildable(&self, base: Option<Version>, damaged: &BTreeSet<String>) -> VersionRanges {
        let whole = |paths: &[String]| !paths.iter().any(|path| damaged.contains(path));
        let checkpoints = self.checkpoints.iter().filter(|(_, paths)| whole(paths)).map(|((version, ..), _)| *version);
        let starts = checkpoints.map(Version::next).chain([Version::after(base)]).collect();
        // A compaction alone does not make a version: its commits were there before it.
        let newest = self.newest().max(base);
        let mut ranges: Vec<(Version, Version)> = Vec::new();
        let reached = self.ways(starts, damaged).into_keys().filter_map(|next| next.0.checked_sub(1).map(Version));
        for version in reached.filter(|version| Some(*version) <= newest) {
            match ranges.last_mut() {
                Some((_, end)) if end.next() == version => *end = version,
                _ => ranges.push((version, version)),
            }
        }
        VersionRanges(ranges)
    }
}

#[cfg(test)]
mod tests;
