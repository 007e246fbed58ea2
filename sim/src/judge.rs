//! From a log and its data files to what the oracle judges.
//!
//! A [`Judge`] reads what the log says happened: who committed, from which version, and which rows were there before and after. Then it asks the
//! oracle. It keeps what it read, log by log, since the logs of a search mostly extend each other.

use std::{collections::BTreeMap, fmt, sync::Arc};

use conflict::isolation::IsolationLevel;
use log_core::{
    action::{Action, CommitInfo},
    commit::Commit,
    path::Version,
    schema::Schema,
    value::Value,
};
use rustc_hash::FxHashMap;

use crate::{
    naming::CallId,
    oracle::{
        AnsweredQuery, Judgement, Operation, Oracle, Problem, Rows, RowsId, StatementId, TableHistory,
        exactly_once::{self, Call as OnceCall, CallOutcome, OnceProblem},
    },
    sql::{
        Statement,
        bind::{Constants, bind},
    },
    world::{LogDigest, Setting},
};

/// Something that must not happen.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Violation {
    /// What kind of thing.
    pub kind: ViolationKind,
    /// What happened, in a paragraph.
    pub message: String,
}

/// Kinds of violation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ViolationKind {
    /// An acknowledged commit is absent or present twice, or a rejected one is present.
    ExactlyOnce,
    /// A file leaves the table that is not in it, or joins it twice; a version is missing or was rewritten.
    Structure,
    /// A commit changed other rows than its statement does on the version that it read.
    WrongEffect,
    /// A query was not answered from the version that it read.
    WrongAnswer,
    /// The order of the log does not explain the commits.
    NotSerializable,
    /// No order explains the commits.
    NotWriteSerializable,
    /// No order was found, but there are too many to try them all.
    Undecided,
    /// The scenario's `[expect]` does not hold.
    Expectation,
}

impl ViolationKind {
    /// Every kind.
    pub const ALL: [Self; 8] = [
        Self::ExactlyOnce,
        Self::Structure,
        Self::WrongEffect,
        Self::WrongAnswer,
        Self::NotSerializable,
        Self::NotWriteSerializable,
        Self::Undecided,
        Self::Expectation,
    ];

    /// The name, as JSON has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::ExactlyOnce => "exactly-once",
            Self::Structure => "structure",
            Self::WrongEffect => "wrong-effect",
            Self::WrongAnswer => "wrong-answer",
            Self::NotSerializable => "not-serializable",
            Self::NotWriteSerializable => "not-write-serializable",
            Self::Undecided => "undecided",
            Self::Expectation => "expectation",
        }
    }
}

impl fmt::Display for ViolationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What a log says, version by version.
#[derive(Clone, Debug)]
pub struct LogView {
    /// Contents of the table at each version.
    pub contents: Vec<RowsId>,
    /// Who committed each version, when a call of this run did.
    pub calls: Vec<Option<CallId>>,
    /// The table's level at the newest version.
    pub level: IsolationLevel,
    /// The table's schema at the newest version.
    pub schema: Arc<Schema>,
    /// What is wrong with the structure of the log.
    pub problem: Option<String>,
    read_versions: Vec<Option<u64>>,
    live: Arc<BTreeMap<String, RowsId>>,
}

/// Where the judge finds the rows of data files.
pub trait DataFiles {
    /// The rows of a file of a table, all columns of the schema in order.
    ///
    /// # Errors
    /// A text that says why there are none.
    fn rows(
        &mut self,
        table: usize,
        add: &log_core::action::AddFile,
        schema: &Schema,
    ) -> Result<Vec<Vec<Value>>, String>;
}

/// Judges the logs of one setting.
#[derive(Debug)]
pub struct Judge {
    setting: Arc<Setting>,
    oracle: Oracle,
    /// Per table the number of versions that the setup made, or that were there before.
    first: Vec<u64>,
    views: FxHashMap<(usize, LogDigest), Arc<LogView>>,
    judgements: FxHashMap<(usize, LogDigest), Arc<Judgement>>,
    statements: FxHashMap<(CallId, i64), Option<StatementId>>,
    files: FxHashMap<(usize, String), RowsId>,
}

/// A log to be judged: its commits, and a digest of the log up to each of them.
pub struct Log<'a> {
    /// The table's position.
    pub table: usize,
    /// Digests up to each version.
    pub digests: &'a [LogDigest],
    /// Reads one commit.
    pub commit: &'a dyn Fn(Version) -> Commit,
}

impl Judge {
    /// A judge of runs in which each table had so many versions before the writers began.
    pub fn new(setting: Arc<Setting>, first: Vec<u64>) -> Self {
        Self {
            setting,
            oracle: Oracle::new(),
            first,
            views: FxHashMap::default(),
            judgements: FxHashMap::default(),
            statements: FxHashMap::default(),
            files: FxHashMap::default(),
        }
    }

    /// The oracle, for the rows behind ids.
    pub fn oracle(&self) -> &Oracle {
        &self.oracle
    }

    /// The version of a table that the first call of a writer could make.
    pub fn first_version(&self, table: usize) -> u64 {
        self.first[table]
    }

    /// What a log says; `None` when there is no table.
    pub fn view(&mut self, log: &Log<'_>, files: &mut dyn DataFiles) -> Option<Arc<LogView>> {
        let newest = log.digests.len().checked_sub(1)?;
        let known = (0..=newest).rev().find_map(|version| {
            let view = self.views.get(&(log.table, log.digests[version]))?;
            Some((version, view.clone()))
        });
        let (mut view, next) = match known {
            Some((version, view)) if version == newest => return Some(view),
            Some((version, view)) => (LogView::clone(&view), version + 1),
            None => (LogView::empty(self.setting.rules.default_level), 0),
        };
        for version in next..=newest {
            let commit = (log.commit)(Version(version as u64));
            self.extend(&mut view, log.table, &commit, files);
            self.views.insert((log.table, log.digests[version]), Arc::new(view.clone()));
        }
        self.views.get(&(log.table, log.digests[newest])).cloned()
    }

    fn extend(&mut self, view: &mut LogView, table: usize, commit: &Commit, files: &mut dyn DataFiles) {
        let mut contents: Rows = match view.contents.last() {
            Some(id) => Rows::clone(self.oracle.rows(*id)),
            None => Rows::new(),
        };
        let mut changed = false;
        let version = commit.version;
        let complain = |problem: &mut Option<String>, text: String| {
            problem.get_or_insert(format!("version {version} {text}"));
        };
        for action in &commit.actions {
            match action {
                Action::Metadata(metadata) => {
                    match IsolationLevel::of_table(&metadata.configuration, self.setting.rules.default_level) {
                        Ok(level) => view.level = level,
                        Err(error) => complain(&mut view.problem, format!("has an odd isolation level: {error}")),
                    }
                    match Schema::parse(&metadata.schema_string) {
                        Ok(schema) => view.schema = Arc::new(schema),
                        Err(error) => complain(&mut view.problem, format!("has a schema that cannot be read: {error}")),
                    }
                }
                Action::Remove(remove) => {
                    let Some(rows) = Arc::make_mut(&mut view.live).remove(&remove.path) else {
                        complain(&mut view.problem, format!("removes '{}', which is not in the table", remove.path));
                        continue;
                    };
                    changed = true;
                    for (row, count) in self.oracle.rows(rows).clone().iter() {
                        contents.remove(row, count).expect("rows of a live file are in the table");
                    }
                }
                _ => {}
            }
        }
        for action in &commit.actions {
            let Action::Add(add) = action else { continue };
            let key = (table, add.path.clone());
            let rows = match self.files.get(&key) {
                Some(known) => *known,
                None => match files.rows(table, add, &view.schema) {
                    Ok(rows) => {
                        let id = self.oracle.intern(rows.into_iter().collect());
                        self.files.insert(key, id);
                        id
                    }
                    Err(error) => {
                        complain(&mut view.problem, format!("adds '{}', whose rows cannot be read: {error}", add.path));
                        continue;
                    }
                },
            };
            if Arc::make_mut(&mut view.live).insert(add.path.clone(), rows).is_some() {
                complain(&mut view.problem, format!("adds '{}', which is in the table already", add.path));
            }
            changed = true;
            for (row, count) in self.oracle.rows(rows).clone().iter() {
                contents.add(row.clone(), count);
            }
        }
        let id = match (changed, view.contents.last()) {
            (false, Some(same)) => *same,
            _ => self.oracle.intern(contents),
        };
        view.contents.push(id);
        let info = commit.info();
        view.calls.push(info.and_then(CommitInfo::txn_id).and_then(|txn_id| self.setting.call_of(txn_id)));
        let read = info.and_then(CommitInfo::read_version);
        view.read_versions.push(read.and_then(|version| u64::try_from(version).ok()));
    }

    /// Does some serial order explain a log, at the level of its table? `clock_ms` is the clock of a call, `queries` are what queries answered.
    pub fn judge(
        &mut self,
        log: &Log<'_>,
        files: &mut dyn DataFiles,
        clock_ms: &dyn Fn(CallId) -> i64,
        queries: &[PlainQuery],
    ) -> (Vec<Violation>, Option<Arc<Judgement>>) {
        let Some(view) = self.view(log, files) else { return (Vec::new(), None) };
        let mut violations = Vec::new();
        if let Some(problem) = &view.problem {
            violations.push(Violation { kind: ViolationKind::Structure, message: problem.clone() });
        }
        let key = (log.table, *log.digests.last().expect("a view has a version"));
        let known = self.judgements.get(&key).filter(|_| queries.is_empty()).cloned();
        let judgement = known.unwrap_or_else(|| {
            let history = self.table_history(log.table, &view, clock_ms, queries);
            let judgement = Arc::new(self.oracle.judge(&history));
            if queries.is_empty() {
                self.judgements.insert(key, judgement.clone());
            }
            judgement
        });
        violations.extend(judgement.problem.as_ref().map(violation));
        (violations, Some(judgement))
    }

    fn table_history(
        &mut self,
        table: usize,
        view: &LogView,
        clock_ms: &dyn Fn(CallId) -> i64,
        queries: &[PlainQuery],
    ) -> TableHistory {
        let first = self.first[table] as usize;
        let before = view.contents[..first].to_vec();
        let base = before.last().copied().unwrap_or_else(|| self.oracle.intern(Rows::new()));
        let seen = |read: Option<u64>| read.map_or(0, |version| (version as usize + 1).saturating_sub(first));
        let operations = (first..view.contents.len())
            .map(|version| Operation {
                name: self.name(view.calls[version], &format!("version {version}")),
                seen: seen(view.read_versions[version]),
                statement: view.calls[version].and_then(|call| self.statement(call, clock_ms(call), &view.schema)),
                after: view.contents[version],
            })
            .collect();
        let queries = queries
            .iter()
            .filter_map(|query| {
                Some(AnsweredQuery {
                    name: self.name(Some(query.call), "a query"),
                    seen: seen(query.read.map(|version| version.0)),
                    statement: self.statement(query.call, clock_ms(query.call), &view.schema)?,
                    answer: query.rows.as_slice().into(),
                })
            })
            .collect();
        TableHistory { level: view.level, first_version: first as u64, base, before, operations, queries }
    }

    /// The statement of a call, bound. `None` for one that leaves the rows alone.
    fn statement(&mut self, call: CallId, clock_ms: i64, schema: &Schema) -> Option<StatementId> {
        if let Some(known) = self.statements.get(&(call, clock_ms)) {
            return *known;
        }
        let statement = &self.setting.sql(call).statement;
        let id = match **statement {
            Statement::CreateTable(_) => None,
            _ => {
                let bound = bind(statement, schema, &Constants { now_us: clock_ms * 1000 });
                Some(self.oracle.statement(&Arc::new(bound.expect("the statement was checked before the run"))))
            }
        };
        self.statements.insert((call, clock_ms), id);
        id
    }

    fn name(&self, call: Option<CallId>, what: &str) -> Arc<str> {
        match call {
            None => what.into(),
            Some(call) => {
                let writer = self.setting.writer_name(call.writer);
                format!("{writer}: {} ({what})", self.setting.sql(call).text).into()
            }
        }
    }

    /// Is every acknowledged commit in the log once, at its version, and every rejected one absent? `logs` has what each table's log says.
    pub fn check_once(&self, outcomes: &[(CallId, CallOutcome)], logs: &[Option<Arc<LogView>>]) -> Option<Violation> {
        let mut by_table: Vec<Vec<OnceCall<CallId>>> = vec![Vec::new(); logs.len()];
        for (id, outcome) in outcomes {
            if let Some(table) = self.setting.sql(*id).statement.table() {
                by_table[self.setting.table_index(table)].push(OnceCall { id: *id, outcome: *outcome });
            }
        }
        logs.iter().zip(&by_table).find_map(|(view, calls)| {
            let log = view.as_ref().map_or(&[][..], |view| &view.calls);
            let problem = exactly_once::check(0, log, calls).err()?;
            let id = match &problem {
                OnceProblem::Twice { id, .. }
                | OnceProblem::Lost { id, .. }
                | OnceProblem::Elsewhere { id, .. }
                | OnceProblem::Resurrected { id, .. } => *id,
            };
            let message = format!("{}: {problem}", self.name(Some(id), "its commit"));
            Some(Violation { kind: ViolationKind::ExactlyOnce, message })
        })
    }
}

/// What a plain query answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlainQuery {
    /// The call.
    pub call: CallId,
    /// The version that it read.
    pub read: Option<Version>,
    /// Its answer.
    pub rows: Vec<Vec<Value>>,
}

impl LogView {
    fn empty(level: IsolationLevel) -> Self {
        Self {
            contents: Vec::new(),
            calls: Vec::new(),
            level,
            schema: Arc::default(),
            problem: None,
            read_versions: Vec::new(),
            live: Arc::default(),
        }
    }

    /// Paths of the files that are live at the newest version.
    pub fn live(&self) -> impl Iterator<Item = &str> {
        self.live.keys().map(String::as_str)
    }
}

fn violation(problem: &Problem) -> Violation {
    let kind = match problem {
        Problem::WrongEffect { .. } => ViolationKind::WrongEffect,
        Problem::NotSerial { .. } => ViolationKind::NotSerializable,
        Problem::Cycle { .. } => ViolationKind::NotWriteSerializable,
        Problem::Undecided { .. } => ViolationKind::Undecided,
        Problem::WrongAnswer { .. } => ViolationKind::WrongAnswer,
    };
    Violation { kind, message: problem.to_string() }
}
