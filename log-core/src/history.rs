//! The history of a table: one row per commit that is still there, as `DESCRIBE HISTORY` shows it.
//!
//! The protocol leaves the shape of `commitInfo` to the writer, and writers differ: so every value is shown as text, a nested one as compact JSON, and
//! nothing that stands there is an error. Versions come from the names of the files, never from counting or from the JSON.

use std::{collections::BTreeMap, fmt};

use serde_json::Value as Json;

use crate::{
    commit::Commit,
    load::LoadError,
    path::{LOG_FOLDER, LogFile, Version},
    segment::SegmentError,
    store::{Answer, Machine, ObjectMeta, Request, Response, Step},
};

/// One commit.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct HistoryRow {
    /// Its version.
    pub version: Version,
    /// When, in milliseconds since the epoch: `inCommitTimestamp`, else the writer's clock, else the time of the file.
    pub timestamp: i64,
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

    /// The row of a commit whose file has this time, in milliseconds since the epoch.
    pub fn of(commit: &Commit, modified_ms: i64) -> Self {
        let field = |key: &str| commit.info().and_then(|info| info.0.get(key));
        let texts = |key: &str| field(key).and_then(text);
        let time = |key: &str| texts(key).and_then(|text| text.parse().ok());
        Self {
            version: commit.version,
            timestamp: time("inCommitTimestamp").or_else(|| time("timestamp")).unwrap_or(modified_ms),
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
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct LoadHistory {
    until: Option<Version>,
    limit: usize,
    reading: Vec<(Version, ObjectMeta)>,
}

impl LoadHistory {
    /// The newest `limit` rows, of those up to version `until`.
    pub fn new(until: Option<Version>, limit: usize) -> Self {
        Self { until, limit, reading: Vec::new() }
    }

    fn listed(&mut self, listing: Vec<ObjectMeta>) -> Result<Step<Option<Vec<HistoryRow>>>, LoadError> {
        let mut commits = Vec::new();
        let mut newest = None;
        for object in listing {
            match LogFile::of(&object.path) {
                LogFile::Commit(version) => {
                    newest = newest.max(Some(version));
                    commits.push((version, object));
                }
                LogFile::Checkpoint(checkpoint) => newest = newest.max(Some(checkpoint.version)),
                _ => {}
            }
        }
        let Some(newest) = newest else { return Ok(Step::Done(None)) };
        if let Some(wanted) = self.until.filter(|until| *until > newest) {
            return Err(SegmentError::TooNew { wanted, newest }.into());
        }
        commits.retain(|(version, _)| self.until.is_none_or(|until| *version <= until));
        commits.reverse();
        commits.truncate(self.limit);
        if commits.is_empty() {
            return Ok(Step::Done(Some(Vec::new())));
        }
        let paths = commits.iter().map(|(_, object)| object.path.clone()).collect();
        self.reading = commits;
        Ok(Step::Request(Request::GetMany { paths }))
    }

    fn next(&mut self, answer: Answer) -> Result<Step<Option<Vec<HistoryRow>>>, LoadError> {
        match answer {
            Answer::Listed(listing) => self.listed(listing),
            Answer::Contents(contents) => {
                let mut rows = Vec::with_capacity(contents.len());
                for ((version, object), bytes) in self.reading.drain(..).zip(contents) {
                    let Some(bytes) = bytes else { continue };
                    rows.push(HistoryRow::of(&Commit::parse(version, &bytes)?, object.modified_ms));
                }
                Ok(Step::Done(Some(rows)))
            }
            Answer::Unavailable { cause } => Err(LoadError::Store { cause }),
            other => panic!("the driver answered with {other:?}, which was not asked for"),
        }
    }
}

impl Machine for LoadHistory {
    type Output = Result<Option<Vec<HistoryRow>>, LoadError>;

    fn start(&mut self) -> Request {
        Request::List { after: LOG_FOLDER.to_owned() }
    }

    fn advance(&mut self, response: Response) -> Step<Self::Output> {
        match self.next(response.answer) {
            Ok(Step::Request(request)) => Step::Request(request),
            Ok(Step::Done(rows)) => Step::Done(Ok(rows)),
            Err(error) => Step::Done(Err(error)),
        }
    }
}

#[cfg(test)]
mod tests;
