//! What happened, in order: the history that a report shows and the oracle judges.

use log_core::{path::Version, store::WriteAnswer};

use crate::{call::CallEnd, naming::CallId, oracle::exactly_once::CallOutcome, world::Fault};

/// A history: entries in the order in which they happened.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct History {
    /// The entries.
    pub entries: Vec<Entry>,
}

/// One thing that happened to one call.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Entry {
    /// When, in milliseconds since the run began.
    pub at_ms: i64,
    /// To which call.
    pub call: CallId,
    /// What.
    pub what: What,
}

/// What happened to a call.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum What {
    /// It began (Jepsen: invoke).
    Invoked {
        /// The time of its clock, in milliseconds since the epoch.
        clock_ms: i64,
    },
    /// It has its snapshot: of this version, or there is no table.
    Loaded(Option<Version>),
    /// It wrote a data file.
    Wrote {
        /// The file, as the log spells it.
        path: String,
        /// Its size.
        bytes: u64,
    },
    /// It tried to put a commit.
    Put {
        /// The version.
        version: Version,
        /// What it was told.
        result: PutResult,
    },
    /// A fault happened to its request, or to its writer.
    Fault(Fault),
    /// It is over.
    Ended(CallEnd),
}

/// What a call was told about its put.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PutResult {
    /// It happened.
    Won,
    /// The version was taken.
    Lost,
    /// It did not happen, for another reason.
    Refused,
    /// Nothing certain.
    Unclear,
}

impl PutResult {
    /// What the store's answer to a put says.
    pub fn of(answer: &WriteAnswer) -> Self {
        match answer {
            WriteAnswer::Happened => Self::Won,
            WriteAnswer::AlreadyExists => Self::Lost,
            WriteAnswer::DidNotHappen { .. } => Self::Refused,
            WriteAnswer::Unknown { .. } => Self::Unclear,
        }
    }

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Won => "won",
            Self::Lost => "lost",
            Self::Refused => "refused",
            Self::Unclear => "unclear",
        }
    }
}

/// Jepsen's word for how a call ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// It did what it should.
    Ok,
    /// It did nothing.
    Fail,
    /// Nobody knows.
    Info,
}

impl CallEnd {
    /// Jepsen's word for it.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Committed { .. } | Self::Nothing { .. } | Self::Answered { .. } => Kind::Ok,
            Self::Conflict(_) | Self::Exhausted { .. } | Self::Failed { .. } => Kind::Fail,
            Self::Unknown { .. } | Self::Crashed => Kind::Info,
        }
    }
}

impl Kind {
    /// The word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Fail => "fail",
            Self::Info => "info",
        }
    }
}

impl History {
    /// How the calls ended, in the order in which they did.
    pub fn ends(&self) -> impl Iterator<Item = (CallId, &CallEnd)> {
        self.entries.iter().filter_map(|entry| match &entry.what {
            What::Ended(end) => Some((entry.call, end)),
            _ => None,
        })
    }

    /// What the calls were told, as far as the oracle asks.
    pub fn outcomes(&self) -> Vec<(CallId, CallOutcome)> {
        self.ends()
            .map(|(call, end)| {
                let outcome = match end {
                    CallEnd::Committed { version, .. } => CallOutcome::Acknowledged(version.0),
                    CallEnd::Unknown { .. } | CallEnd::Crashed => CallOutcome::Unknown,
                    _ => CallOutcome::Rejected,
                };
                (call, outcome)
            })
            .collect()
    }

    /// How often a call tried to put its commit.
    pub fn puts(&self, call: CallId) -> usize {
        self.entries.iter().filter(|entry| entry.call == call && matches!(entry.what, What::Put { .. })).count()
    }

    /// The clock of a call.
    pub fn clock_ms(&self, call: CallId) -> Option<i64> {
        self.entries.iter().find_map(|entry| match entry.what {
            What::Invoked { clock_ms } if entry.call == call => Some(clock_ms),
            _ => None,
        })
    }
}
