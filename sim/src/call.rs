//! One call: one execution of one statement, from the first listing to its end, as a machine.
//!
//! The same machine runs in the simulator, where it can be stopped, copied and compared at every request, and on threads over a real table. It
//! never touches a store or a data file itself: it says what it [`Need`]s, and is [`Given`] it.

use std::{fmt, sync::Arc};

use conflict::{
    commit_loop::{CommitLoop, CommitLoopError, Outcome},
    isolation::IsolationLevel,
    rules::{Conflict, RuleSet},
};
use log_core::{
    load::{LoadError, LoadSnapshot},
    path::Version,
    snapshot::Snapshot,
    store::{Machine, Request, Response, Step},
};

use crate::{
    execute::prepare::{Answer, Change, Executed, NewFile, Snapshots, StatementError, versions_needed},
    naming::{CallId, Naming},
    scenario::SqlText,
};

/// What stays the same during a call.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct CallContext {
    /// Who makes it.
    pub id: CallId,
    /// The names that follow from that.
    pub naming: Naming,
    /// What is executed.
    pub sql: SqlText,
    /// The rules that its commit is checked by.
    pub rules: Arc<RuleSet>,
    /// How many puts are made at most, less one.
    pub commit_retries: u32,
    /// The level that `CREATE TABLE` writes, if one is given.
    pub create_level: Option<IsolationLevel>,
}

/// A call that is under way.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Call {
    /// What stays the same.
    pub context: Arc<CallContext>,
    /// When it began, in milliseconds since the epoch: `current_timestamp()` of the statement.
    pub started_ms: i64,
    state: State,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum State {
    /// A snapshot is being loaded: of a version, or the newest.
    Loading { machine: LoadSnapshot, version: Option<u64>, then: Vec<u64>, loaded: Snapshots },
    /// The statement is being executed.
    Executing { loaded: Snapshots },
    /// New files are being written; so many bytes each so far.
    Writing { read: Option<Arc<Snapshot>>, change: Change, sizes: Vec<u64> },
    /// The commit is under way.
    Committing { rows: u64, machine: CommitLoop },
}

/// What a call needs next.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Need {
    /// An answer of the store.
    Store(Request),
    /// The statement executed on these snapshots.
    Execute(Snapshots),
    /// A data file written.
    Write(NewFile),
}

/// What it is given.
#[derive(Debug)]
pub enum Given {
    /// To `Store`.
    Response(Response),
    /// To `Execute`.
    Executed(Result<Executed, Arc<StatementError>>),
    /// To `Write`.
    Written {
        /// The size of the file.
        bytes: u64,
        /// The time, in milliseconds since the epoch.
        now_ms: i64,
    },
}

/// How a call ended.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum CallEnd {
    /// It made a commit.
    Committed {
        /// The version.
        version: Version,
        /// The version that it read.
        read: Option<Version>,
        /// How many puts it took.
        attempts: u32,
        /// Rows inserted, updated or deleted.
        rows: u64,
    },
    /// There was nothing to commit.
    Nothing {
        /// The version that it read.
        read: Option<Version>,
    },
    /// A query was answered.
    Answered {
        /// The version that it read; `None` for a query without a table or of named versions only.
        read: Option<Version>,
        /// The rows.
        answer: Answer,
    },
    /// A winner stood against its commit.
    Conflict(Conflict),
    /// Its retries were used up.
    Exhausted {
        /// How many puts were made.
        attempts: u32,
        /// What stood against the last one.
        last: String,
    },
    /// It may have committed, or may still.
    Unknown {
        /// The version.
        version: Version,
    },
    /// Its writer was killed. It may have committed, or may still.
    Crashed,
    /// The statement could not be executed; nothing was committed.
    Failed {
        /// Why.
        message: String,
    },
}

impl CallEnd {
    /// The word for it, as JSON has it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Committed { .. } => "committed",
            Self::Nothing { .. } => "nothing",
            Self::Answered { .. } => "answered",
            Self::Conflict(_) => "conflict",
            Self::Exhausted { .. } => "exhausted",
            Self::Unknown { .. } => "unknown",
            Self::Crashed => "crashed",
            Self::Failed { .. } => "failed",
        }
    }
}

impl fmt::Display for CallEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Committed { version, .. } => write!(f, "committed version {version}"),
            Self::Nothing { .. } => write!(f, "nothing to commit"),
            Self::Answered { answer, .. } => write!(f, "answered with {} rows", answer.rows.len()),
            Self::Conflict(conflict) => conflict.fmt(f),
            Self::Exhausted { attempts, last } => write!(f, "gave up after {attempts} puts: {last}"),
            Self::Unknown { version } => write!(f, "unknown whether version {version} was committed"),
            Self::Crashed => write!(f, "its writer crashed"),
            Self::Failed { message } => write!(f, "failed: {message}"),
        }
    }
}

/// What follows.
#[derive(Debug)]
pub enum Next {
    /// Something is needed.
    Need(Need),
    /// The call is over.
    Ended(CallEnd),
}

/// A table that no call can work on: its log is damaged, or the store refuses.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// No snapshot can be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A commit cannot be judged.
    #[error(transparent)]
    Commit(#[from] CommitLoopError),
    /// A data file cannot be written.
    #[error("data file '{path}' cannot be written: {source}")]
    Write {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
}

impl Call {
    /// Begins a call at a time, in milliseconds since the epoch.
    pub fn start(context: Arc<CallContext>, now_ms: i64) -> (Self, Need) {
        let (newest, versions) = versions_needed(&context.sql.statement);
        let mut call = Self { context, started_ms: now_ms, state: State::Executing { loaded: Snapshots::default() } };
        let need = call.load_next(newest, versions, Snapshots::default());
        (call, need)
    }

    /// Is a snapshot being loaded?
    pub fn is_loading(&self) -> bool {
        matches!(self.state, State::Loading { .. })
    }

    /// Is the commit under way?
    pub fn is_committing(&self) -> bool {
        matches!(self.state, State::Committing { .. })
    }

    /// Is it about to list the log for its newest snapshot? A driver that knows what that comes to may say so by
    /// [`take_snapshot`](Self::take_snapshot).
    pub fn loads_newest(&self) -> bool {
        matches!(self.state, State::Loading { version: None, .. })
    }

    /// Does the order of the writers matter for what it needs? See [`Need::is_scheduling_point`].
    pub fn is_scheduling_point(&self, need: &Need) -> bool {
        let probing = matches!(&self.state, State::Committing { machine, .. } if machine.is_probing());
        need.is_scheduling_point(probing)
    }

    /// Forgets how many puts were made; see [`CommitLoop::forget_attempts`].
    pub fn forget_attempts(&mut self) {
        if let State::Committing { machine, .. } = &mut self.state {
            machine.forget_attempts();
        }
    }

    /// Takes what was needed.
    ///
    /// # Errors
    /// When the log is damaged: no call can go on then.
    pub fn advance(&mut self, given: Given) -> Result<Next, CallError> {
        let placeholder = State::Executing { loaded: Snapshots::default() };
        match (std::mem::replace(&mut self.state, placeholder), given) {
            (State::Loading { mut machine, version, then, loaded }, Given::Response(response)) => {
                match machine.advance(response) {
                    Step::Request(request) => {
                        self.state = State::Loading { machine, version, then, loaded };
                        Ok(Next::Need(Need::Store(request)))
                    }
                    Step::Done(Ok(snapshot)) => Ok(Next::Need(self.loaded(snapshot, version, then, loaded))),
                    Step::Done(Err(LoadError::Segment(error))) if version.is_some() => {
                        // A version that was never made is the statement's fault, not the log's.
                        Ok(Next::Ended(CallEnd::Failed { message: error.to_string() }))
                    }
                    Step::Done(Err(error)) => Err(error.into()),
                }
            }
            (State::Executing { loaded }, Given::Executed(result)) => self.executed(loaded, result),
            (State::Writing { read, change, mut sizes }, Given::Written { bytes, now_ms }) => {
                sizes.push(bytes);
                Ok(Next::Need(self.write_next(read, change, sizes, now_ms)?))
            }
            (State::Committing { rows, mut machine }, Given::Response(response)) => match machine.advance(response) {
                Step::Request(request) => {
                    self.state = State::Committing { rows, machine };
                    Ok(Next::Need(Need::Store(request)))
                }
                Step::Done(outcome) => Ok(Next::Ended(end(outcome?, machine.transaction().read_version(), rows))),
            },
            (state, given) => panic!("the driver gave {given:?} in state {state:?}"),
        }
    }

    /// Takes a snapshot that somebody else loaded with the same machine over the same log.
    pub fn take_snapshot(&mut self, snapshot: Option<Arc<Snapshot>>) -> Need {
        let placeholder = State::Executing { loaded: Snapshots::default() };
        match std::mem::replace(&mut self.state, placeholder) {
            State::Loading { version, then, loaded, .. } => self.loaded(snapshot, version, then, loaded),
            state => panic!("no snapshot is being loaded in state {state:?}"),
        }
    }

    fn loaded(
        &mut self,
        snapshot: Option<Arc<Snapshot>>,
        version: Option<u64>,
        then: Vec<u64>,
        mut loaded: Snapshots,
    ) -> Need {
        match version {
            None => loaded.newest = snapshot,
            Some(version) => loaded.versions.extend(snapshot.map(|snapshot| (version, snapshot))),
        }
        self.load_next(false, then, loaded)
    }

    fn load_next(&mut self, newest: bool, mut versions: Vec<u64>, loaded: Snapshots) -> Need {
        let version = if newest {
            None
        } else if versions.is_empty() {
            self.state = State::Executing { loaded: loaded.clone() };
            return Need::Execute(loaded);
        } else {
            Some(versions.remove(0))
        };
        let mut machine = version.map_or_else(LoadSnapshot::latest, |version| LoadSnapshot::at(Version(version)));
        let request = machine.start();
        self.state = State::Loading { machine, version, then: versions, loaded };
        Need::Store(request)
    }

    fn executed(
        &mut self,
        loaded: Snapshots,
        result: Result<Executed, Arc<StatementError>>,
    ) -> Result<Next, CallError> {
        let read = loaded.newest.as_ref().map(|snapshot| snapshot.version);
        Ok(Next::Ended(match result {
            Err(error) => CallEnd::Failed { message: error.to_string() },
            Ok(Executed::Nothing) => CallEnd::Nothing { read },
            Ok(Executed::Answer(answer)) => CallEnd::Answered { read, answer },
            Ok(Executed::Change(change)) => {
                return Ok(Next::Need(self.write_next(loaded.newest, change, Vec::new(), self.started_ms)?));
            }
        }))
    }

    fn write_next(
        &mut self,
        read: Option<Arc<Snapshot>>,
        change: Change,
        sizes: Vec<u64>,
        now_ms: i64,
    ) -> Result<Need, CallError> {
        if let Some(file) = change.files.get(sizes.len()) {
            let need = Need::Write(file.clone());
            self.state = State::Writing { read, change, sizes };
            return Ok(need);
        }
        let rows = change.rows;
        let CallContext { naming, rules, commit_retries, .. } = &*self.context;
        let transaction = Arc::new(change.into_transaction(read, &sizes, naming, now_ms));
        let mut machine = CommitLoop::new(transaction, rules.clone(), *commit_retries, now_ms)?;
        let request = machine.start();
        self.state = State::Committing { rows, machine };
        Ok(Need::Store(request))
    }
}

fn end(outcome: Outcome, read: Option<Version>, rows: u64) -> CallEnd {
    match outcome {
        Outcome::Committed { version, attempts } => CallEnd::Committed { version, read, attempts, rows },
        Outcome::Conflict(conflict) => CallEnd::Conflict(conflict),
        Outcome::Exhausted { attempts, last } => CallEnd::Exhausted { attempts, last },
        Outcome::Unknown { version } => CallEnd::Unknown { version },
    }
}

impl Need {
    /// Where the order of the writers may matter: a step that sees what others did, or that others can see.
    ///
    /// The other needs commute with everything that another writer does: an object of the log never changes once it is there, a new data file has a
    /// name of its own and nobody knows it before the commit. (Nothing deletes so far; where something may, every read is such a point.)
    pub fn is_scheduling_point(&self, probing: bool) -> bool {
        match self {
            Self::Store(request) => match request {
                Request::List { .. }
                | Request::Head { .. }
                | Request::PutIfAbsent { .. }
                | Request::Put { .. }
                | Request::Delete { .. } => true,
                // The object of a probe is not known to exist; that of a winner is.
                Request::Get { .. } => probing,
                Request::GetRange { .. } | Request::GetMany { .. } | Request::Backoff { .. } => false,
            },
            Self::Execute(_) | Self::Write(_) => false,
        }
    }
}
