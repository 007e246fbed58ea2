//! The history of a table: one row per commit that is still there, as `DESCRIBE HISTORY` shows it.
//!
//! The protocol leaves the shape of `commitInfo` to the writer, and writers differ: so every value is shown as text, a nested one as compact JSON, and
//! nothing that stands there is an error. Versions come from the names of the files, never from counting or from the JSON. Times are those that time
//! travel goes by: see [`time_travel`](crate::time_travel).

use std::{collections::BTreeMap, fmt};

use serde_json::Value as Json;

use crate::{
    action::Action,
    commit::Commit,
    load::{LoadError, LoadSnapshot},
    path::{LOG_FOLDER, Version},
    segment::SegmentError,
    store::{Answer, Machine, ObjectMeta, Request, Response, Step},
    time_travel::{Extent, InCommitTimestamps, file_times},
};

/// One commit.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct HistoryRow {
    /// Its version.
    pub version: Version,
    /// When it was committed, in milliseconds since the epoch: `inCommitTimestamp` where the table has it, else the repaired time of the file.
    pub timestamp: i64,
    /// Can the table still be rebuilt at this version, as far as the names of log files tell?
    pub rebuildable: bool,
    /// Who.
    pub user_id: Option<String>,
    /// Who, by name.
    pub user_name: Option<String>,
    /// What; `None` where the commit does not say.
    pub operation: Option<String>,
    /// How it was asked for.
    pub operation_parameters: Details,
    /// The job.
    pub job: Option<String>,
    /// The notebook.
    pub notebook: Option<String>,
    /// The cluster.
    pub cluster_id: Option<String>,
    /// The version that it read.
    pub read_version: Option<String>,
    /// The level that it was checked at.
    pub isolation_level: Option<String>,
    /// Did it only add files, without having read any?
    pub is_blind_append: Option<String>,
    /// What it did, in numbers.
    pub operation_metrics: Details,
    /// What its user noted.
    pub user_metadata: Option<String>,
    /// What wrote it.
    pub engine_info: Option<String>,
}

/// Named texts, or what a writer put in their place.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum Details {
    /// Nothing.
    #[default]
    Absent,
    /// Texts by name. A name whose value is null is left out.
    Named(BTreeMap<String, String>),
    /// Something that has no names.
    Text(String),
}

impl fmt::Display for Details {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => Ok(()),
            Self::Text(text) => f.pad(text),
            Self::Named(named) => {
                let pairs: Vec<String> = named.iter().map(|(name, value)| format!("{name}: {value}")).collect();
                f.pad(&pairs.join(", "))
            }
        }
    }
}

impl HistoryRow {
    /// The names of the columns, in order.
    pub const COLUMNS: [&'static str; 15] = [
        "version",
        "timestamp",
        "userId",
        "userName",
        "operation",
        "operationParameters",
        "job",
        "notebook",
        "clusterId",
        "readVersion",
        "isolationLevel",
        "isBlindAppend",
        "operationMetrics",
        "userMetadata",
        "engineInfo",
    ];

    /// The row of a commit that was made at this time, in milliseconds since the epoch.
    pub fn of(commit: &Commit, timestamp: i64, rebuildable: bool) -> Self {
        let field = |key: &str| commit.info().and_then(|info| info.0.get(key));
        let texts = |key: &str| field(key).and_then(text);
        Self {
            version: commit.version,
            timestamp,
            rebuildable,
            user_id: texts("userId"),
            user_name: texts("userName"),
            operation: texts("operation"),
            operation_parameters: field("operationParameters").map(details).unwrap_or_default(),
            job: texts("job"),
            notebook: texts("notebook"),
            cluster_id: texts("clusterId"),
            read_version: texts("readVersion"),
            isolation_level: texts("isolationLevel"),
            is_blind_append: texts("isBlindAppend"),
            operation_metrics: field("operationMetrics").map(details).unwrap_or_default(),
            user_metadata: texts("userMetadata"),
            engine_info: texts("engineInfo"),
        }
    }
}

/// A value as text; `None` for null.
fn text(value: &Json) -> Option<String> {
    match value {
        Json::Null => None,
        Json::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

fn details(value: &Json) -> Details {
    match value {
        Json::Object(map) => {
            Details::Named(map.iter().filter_map(|(name, value)| Some((name.clone(), text(value)?))).collect())
        }
        other => text(other).map_or(Details::Absent, Details::Text),
    }
}

/// Lists the log and reads the newest commits. Comes to the rows, newest first; `None` when there is no table.
///
/// A commit that is deleted between the listing and the reading makes the history shorter, nothing else; so do commits that were cleaned up before.
/// A limit of 0 gives no row.
///
/// Whether commits carry their own time is what the newest `metaData` among those read says. Where none is among them, and the newest commit has an
/// `inCommitTimestamp`, the snapshot is loaded; and where that cannot be done (a table that this build cannot read has a history too), every commit that
/// has one goes by it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct LoadHistory {
    until: Option<Version>,
    limit: usize,
    extent: Extent,
    state: State,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum State {
    Listing,
    /// Positions in the extent's commits, newest first.
    Reading(Vec<usize>),
    Properties {
        commits: Vec<(usize, Commit)>,
        load: Box<LoadSnapshot>,
    },
}

type Rows = Option<Vec<HistoryRow>>;

impl LoadHistory {
    /// The newest `limit` rows, of those up to version `until`.
    pub fn new(until: Option<Version>, limit: usize) -> Self {
        Self { until, limit, extent: Extent::default(), state: State::Listing }
    }

    fn listed(&mut self, listing: Vec<ObjectMeta>) -> Result<Step<Rows>, LoadError> {
        self.extent = Extent::of(listing);
        let Some(newest) = self.extent.newest() else { return Ok(Step::Done(None)) };
        if let Some(wanted) = self.until.filter(|until| *until > newest) {
            return Err(SegmentError::TooNew { wanted, newest }.into());
        }
        let commits = self.extent.commits();
        let wanted = |position: &usize| self.until.is_none_or(|until| commits[*position].0 <= until);
        let reading: Vec<usize> = (0..commits.len()).rev().filter(wanted).take(self.limit).collect();
        if reading.is_empty() {
            return Ok(Step::Done(Some(Vec::new())));
        }
        let paths = reading.iter().map(|position| commits[*position].1.path.clone()).collect();
        self.state = State::Reading(reading);
        Ok(Step::Request(Request::GetMany { paths }))
    }

    fn read(&mut self, commits: Vec<(usize, Commit)>) -> Step<Rows> {
        let metadata =
            commits.iter().flat_map(|(_, commit)| commit.actions.iter().rev()).find_map(|action| match action {
                Action::Metadata(metadata) => Some(metadata),
                _ => None,
            });
        let newest = commits.first().map(|(_, commit)| commit);
        match (metadata, newest) {
            (Some(metadata), _) => {
                // Properties that make no sense are an error of whoever needs the table, not of its history.
                let timestamps = InCommitTimestamps::of(&metadata.configuration);
                let timestamps = timestamps.unwrap_or(Some(OF_EACH_COMMIT));
                Step::Done(Some(self.rows(&commits, timestamps)))
            }
            (None, Some(newest)) if newest.info().and_then(|info| info.in_commit_timestamp()).is_some() => {
                let mut load = Box::new(LoadSnapshot::at(newest.version));
                let request = load.start();
                self.state = State::Properties { commits, load };
                Step::Request(request)
            }
            _ => Step::Done(Some(self.rows(&commits, None))),
        }
    }

    fn rows(&self, commits: &[(usize, Commit)], timestamps: Option<InCommitTimestamps>) -> Vec<HistoryRow> {
        let (times, ranges) = (file_times(self.extent.commits()), self.extent.rebuildable());
        let row = |(position, commit): &(usize, Commit)| {
            let has_own = timestamps.is_some_and(|own| commit.version >= own.since);
            let own = commit.info().filter(|_| has_own).and_then(|info| info.in_commit_timestamp());
            let rebuildable = ranges.iter().any(|range| range.contains(&commit.version));
            HistoryRow::of(commit, own.unwrap_or(times[*position]), rebuildable)
        };
        commits.iter().map(row).collect()
    }

    fn next(&mut self, response: Response) -> Result<Step<Rows>, LoadError> {
        match (std::mem::replace(&mut self.state, State::Listing), response.answer) {
            (State::Properties { commits, mut load }, answer) => {
                match load.advance(Response { now_ms: response.now_ms, answer }) {
                    Step::Request(request) => {
                        self.state = State::Properties { commits, load };
                        Ok(Step::Request(request))
                    }
                    Step::Done(Err(error @ LoadError::Store { .. })) => Err(error),
                    Step::Done(loaded) => {
                        let properties = loaded.ok().flatten().map(|snapshot| snapshot.metadata.configuration.clone());
                        let timestamps = properties.and_then(|properties| InCommitTimestamps::of(&properties).ok());
                        Ok(Step::Done(Some(self.rows(&commits, timestamps.unwrap_or(Some(OF_EACH_COMMIT))))))
                    }
                }
            }
            (_, Answer::Unavailable { cause }) => Err(LoadError::Store { cause }),
            (State::Listing, Answer::Listed(listing)) => self.listed(listing),
            (State::Reading(reading), Answer::Contents(contents)) => {
                let mut commits = Vec::with_capacity(contents.len());
                for (position, bytes) in reading.into_iter().zip(contents) {
                    let Some(bytes) = bytes else { continue };
                    commits.push((position, Commit::parse(self.extent.commits()[position].0, &bytes)?));
                }
                Ok(self.read(commits))
            }
            (_, other) => panic!("the driver answered with {other:?}, which was not asked for"),
        }
    }
}

/// Every commit that has a time of its own goes by it.
const OF_EACH_COMMIT: InCommitTimestamps = InCommitTimestamps { since: Version(0), since_ms: i64::MIN };

impl Machine for LoadHistory {
    type Output = Result<Rows, LoadError>;

    fn start(&mut self) -> Request {
        Request::List { after: LOG_FOLDER.to_owned() }
    }

    fn advance(&mut self, response: Response) -> Step<Self::Output> {
        match self.next(response) {
            Ok(Step::Request(request)) => Step::Request(request),
            Ok(Step::Done(rows)) => Step::Done(Ok(rows)),
            Err(error) => Step::Done(Err(error)),
        }
    }
}

#[cfg(test)]
mod tests;
