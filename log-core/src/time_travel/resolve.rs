//! The version at an instant.

use std::collections::BTreeMap;

use super::{Extent, InCommitTimestamps, Instant, PropertyError, file_times};
use crate::{
    action::Action,
    commit::Commit,
    load::{LoadError, LoadSnapshot, unexpected},
    path::{LOG_FOLDER, Version},
    store::{Answer, Bytes, Machine, Request, Response, Step},
};

/// Finds the newest version whose commit is not younger than an instant. Comes to `None` when there is no table.
///
/// It lists the log and reads the newest commit. A commit without `inCommitTimestamp` tells that the table does not have the feature, since the
/// protocol has every commit carry it; then the times of files decide and nothing more is read. Otherwise the properties of the table tell since when
/// commits carry their time, and a binary search reads those that it needs.
///
/// `commitInfo.timestamp` is never used: it is the clock of whoever wrote the commit, and the protocol does not say what it means.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ResolveTime {
    asked: Instant,
    extent: Extent,
    state: State,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum State {
    Listing,
    Newest,
    Properties { newest_ms: i64, load: LoadSnapshot },
    Searching { search: Search, reading: usize },
}

/// Why an instant has no version.
#[derive(Debug, thiserror::Error)]
pub enum TimeTravelError {
    /// The instant is before the first commit.
    #[error(
        "{asked} is before the earliest version that can be read, which is version {version}, committed at {earliest}; ask for that instant or a \
         later one"
    )]
    BeforeEarliest {
        /// The instant.
        asked: Instant,
        /// The earliest version.
        version: Version,
        /// When it was committed.
        earliest: Instant,
    },
    /// The instant is after the last commit.
    #[error(
        "{asked} is after the latest commit, which is version {version}, committed at {latest}; ask for version {version}, or for exactly {latest}"
    )]
    AfterLatest {
        /// The instant.
        asked: Instant,
        /// The latest version.
        version: Version,
        /// When it was committed.
        latest: Instant,
    },
    /// The version at the instant is known, and what it is made of is gone.
    #[error(
        "{asked} falls into version {version}, which cannot be rebuilt, as older commits or checkpoints are gone; {}",
        rebuildable(ranges, next)
    )]
    CannotRebuild {
        /// The instant.
        asked: Instant,
        /// The version.
        version: Version,
        /// The first and the last version of every range that can be rebuilt.
        ranges: Vec<(Version, Version)>,
        /// The next version that can be rebuilt, and when it was committed.
        next: Option<(Version, Instant)>,
    },
    /// Commits are missing where the instant falls.
    #[error(
        "{asked} falls between the commits of versions {before} and {after}, and those between them are missing; versions are contiguous, so restore \
         their files from a copy of the table"
    )]
    Gap {
        /// The instant.
        asked: Instant,
        /// The commit before.
        before: Version,
        /// The commit after.
        after: Version,
    },
    /// There are checkpoints and no commits, and only commits have times.
    #[error(
        "the log has a checkpoint of version {checkpoint} and no commits, and only commits have times; ask for version {checkpoint}"
    )]
    NoCommits {
        /// The newest checkpoint.
        checkpoint: Version,
    },
    /// A commit lacks the time that it must carry.
    #[error(
        "commit {version} has no inCommitTimestamp, and the table's properties say that every commit has one from version {since} on; ask for a version"
    )]
    NoTimestamp {
        /// The commit.
        version: Version,
        /// The first version that must have one.
        since: Version,
    },
    /// The table's properties make no sense.
    #[error(transparent)]
    Property(#[from] PropertyError),
    /// The log cannot be read.
    #[error(transparent)]
    Load(#[from] LoadError),
}

fn rebuildable(ranges: &[(Version, Version)], next: &Option<(Version, Instant)>) -> String {
    let ranges: Vec<String> = ranges.iter().map(|(first, last)| format!("{first} to {last}")).collect();
    let after = match next {
        Some((version, at)) => format!("; the next of them is version {version}, committed at {at}"),
        None => String::new(),
    };
    match ranges.is_empty() {
        true => "nor can any other version".to_owned(),
        false => format!("versions {} can{after}", ranges.join(", ")),
    }
}

impl ResolveTime {
    /// The version at an instant.
    pub fn new(asked: Instant) -> Self {
        Self { asked, extent: Extent::default(), state: State::Listing }
    }

    fn listed(&mut self, answer: Answer) -> Result<Step<Option<Version>>, TimeTravelError> {
        let Answer::Listed(listing) = answer else { return Err(unexpected(answer).into()) };
        self.extent = Extent::of(listing);
        match (self.extent.commits().last(), self.extent.newest()) {
            (_, None) => Ok(Step::Done(None)),
            (None, Some(checkpoint)) => Err(TimeTravelError::NoCommits { checkpoint }),
            (Some((_, object)), _) => {
                self.state = State::Newest;
                Ok(Step::Request(Request::Get { path: object.path.clone() }))
            }
        }
    }

    fn newest(&mut self, answer: Answer) -> Result<Step<Option<Version>>, TimeTravelError> {
        let position = self.extent.commits().len() - 1;
        let commit = self.commit(position, answer)?;
        let own = commit.info().and_then(|info| info.in_commit_timestamp());
        let metadata = commit.actions.iter().rev().find_map(|action| match action {
            Action::Metadata(metadata) => Some(metadata),
            _ => None,
        });
        match (metadata, own) {
            (Some(metadata), own) => {
                let timestamps = InCommitTimestamps::of(&metadata.configuration)?;
                self.search(timestamps, own)
            }
            (None, None) => self.search(None, None),
            (None, Some(newest_ms)) => {
                let mut load = LoadSnapshot::at(commit.version);
                let request = load.start();
                self.state = State::Properties { newest_ms, load };
                Ok(Step::Request(request))
            }
        }
    }

    fn search(
        &mut self,
        timestamps: Option<InCommitTimestamps>,
        newest_ms: Option<i64>,
    ) -> Result<Step<Option<Version>>, TimeTravelError> {
        let search = Search::new(self.extent.clone(), timestamps, newest_ms);
        self.pick(search)
    }

    fn pick(&mut self, search: Search) -> Result<Step<Option<Version>>, TimeTravelError> {
        match search.pick(self.asked) {
            Ok(result) => result.map(|version| Step::Done(Some(version))),
            Err(Unread(reading)) => {
                let path = self.extent.commits()[reading].1.path.clone();
                self.state = State::Searching { search, reading };
                Ok(Step::Request(Request::Get { path }))
            }
        }
    }

    fn commit(&self, position: usize, answer: Answer) -> Result<Commit, TimeTravelError> {
        let Answer::Content(content) = answer else { return Err(unexpected(answer).into()) };
        let (version, object) = &self.extent.commits()[position];
        let bytes: Bytes = content.ok_or_else(|| LoadError::Vanished(object.path.clone()))?;
        Ok(Commit::parse(*version, &bytes).map_err(LoadError::from)?)
    }

    fn next(&mut self, response: Response) -> Result<Step<Option<Version>>, TimeTravelError> {
        match std::mem::replace(&mut self.state, State::Listing) {
            State::Listing => self.listed(response.answer),
            State::Newest => self.newest(response.answer),
            State::Properties { newest_ms, mut load } => match load.advance(response) {
                Step::Request(request) => {
                    self.state = State::Properties { newest_ms, load };
                    Ok(Step::Request(request))
                }
                Step::Done(snapshot) => {
                    let Some(snapshot) = snapshot? else { return Ok(Step::Done(None)) };
                    let timestamps = InCommitTimestamps::of(&snapshot.metadata.configuration)?;
                    self.search(timestamps, Some(newest_ms))
                }
            },
            State::Searching { mut search, reading } => {
                let commit = self.commit(reading, response.answer)?;
                let own = commit.info().and_then(|info| info.in_commit_timestamp());
                let since = search.timestamps.map_or(Version(0), |timestamps| timestamps.since);
                let own = own.ok_or(TimeTravelError::NoTimestamp { version: commit.version, since })?;
                search.times.insert(reading, own);
                self.pick(search)
            }
        }
    }
}

impl Machine for ResolveTime {
    type Output = Result<Option<Version>, TimeTravelError>;

    fn start(&mut self) -> Request {
        Request::List { after: LOG_FOLDER.to_owned() }
    }

    fn advance(&mut self, response: Response) -> Step<Self::Output> {
        match self.next(response) {
            Ok(Step::Request(request)) => Step::Request(request),
            Ok(Step::Done(version)) => Step::Done(Ok(version)),
            Err(error) => Step::Done(Err(error)),
        }
    }
}

/// The times of commits as far as they are known.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Search {
    extent: Extent,
    timestamps: Option<InCommitTimestamps>,
    /// By position in the extent's commits, in milliseconds since the epoch.
    times: BTreeMap<usize, i64>,
    /// Positions of the commits that an instant can lead to, oldest first.
    reachable: Vec<usize>,
    /// How many of those go by the time of their file.
    by_file: usize,
}

/// The position of a commit whose time is needed, and not yet known.
struct Unread(usize);

impl Search {
    fn new(extent: Extent, timestamps: Option<InCommitTimestamps>, newest_ms: Option<i64>) -> Self {
        let commits = extent.commits();
        let split =
            timestamps.map_or(commits.len(), |own| commits.partition_point(|(version, _)| *version < own.since));
        let since_ms = timestamps.map_or(i64::MAX, |own| own.since_ms);
        let by_file = file_times(&commits[..split]).into_iter().enumerate();
        // A file that was copied after the table got times of its own is younger than the first of those: no instant leads to it.
        let mut times: BTreeMap<usize, i64> =
            by_file.filter(|(_, ms)| timestamps.is_none() || *ms < since_ms).collect();
        let mut reachable: Vec<usize> = times.keys().copied().collect();
        let by_file = reachable.len();
        reachable.extend(split..commits.len());
        if let Some(newest_ms) = newest_ms.filter(|_| split < commits.len()) {
            times.insert(commits.len() - 1, newest_ms);
        }
        Self { timestamps, times, reachable, by_file, extent }
    }

    fn time(&self, position: usize) -> Result<i64, Unread> {
        self.times.get(&position).copied().ok_or(Unread(position))
    }

    /// The version at an instant, or the commit that has to be read first.
    fn pick(&self, asked: Instant) -> Result<Result<Version, TimeTravelError>, Unread> {
        let commits = self.extent.commits();
        let version = |position: usize| commits[position].0;
        let ms = asked.millis();
        let newest = commits.len() - 1;
        let newest_ms = self.time(newest)?;
        if ms > newest_ms {
            let latest = Instant::of_millis(newest_ms);
            return Ok(Err(TimeTravelError::AfterLatest { asked, version: version(newest), latest }));
        }
        let own_from = self.timestamps.map_or(i64::MAX, |own| own.since_ms);
        let (mut low, mut high) = if ms < own_from { (0, self.by_file) } else { (self.by_file, self.reachable.len()) };
        while low < high {
            let middle = low.midpoint(high);
            if self.time(self.reachable[middle])? <= ms {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let ranges = self.extent.rebuildable();
        let can = |version: Version| ranges.iter().any(|range| range.contains(&version));
        let named = || ranges.iter().map(|range| (*range.start(), *range.end())).collect();
        let next = || match self.reachable[low..].iter().copied().find(|position| can(version(*position))) {
            Some(position) => self.time(position).map(|ms| Some((version(position), Instant::of_millis(ms)))),
            None => Ok(None),
        };
        let Some(found) = low.checked_sub(1).map(|before| self.reachable[before]) else {
            return Ok(Err(match next()? {
                Some((version, earliest)) => TimeTravelError::BeforeEarliest { asked, version, earliest },
                None => TimeTravelError::CannotRebuild { asked, version: version(0), ranges: named(), next: None },
            }));
        };
        let (before, after) = (version(found), commits.get(found + 1).map(|(version, _)| *version));
        Ok(match after {
            Some(after) if after != before.next() => Err(TimeTravelError::Gap { asked, before, after }),
            _ if !can(before) => {
                Err(TimeTravelError::CannotRebuild { asked, version: before, ranges: named(), next: next()? })
            }
            _ => Ok(before),
        })
    }
}
