//! A scenario: who writes what, against which store, and what is expected of it.
//!
//! A scenario is read from TOML ([`Scenario::parse`]) and is plain data from then on: it can be compared, hashed, changed and written again
//! (its `Display` is TOML that reads back as the same scenario). Reading never guesses: an unknown key, a number out of range or a setting that
//! this version cannot honour is an error that names the line and the nearest valid spelling.
//!
//! ```toml
//! name = "two writers update one row"
//! isolation = "WriteSerializable"
//! setup = ["CREATE TABLE t (id INT)", "INSERT INTO t VALUES (1)"]
//!
//! [[writer]]
//! name = "a"                    # with count = 2: a1 and a2
//! statements = ["UPDATE t SET id = 2"]
//! on_conflict = "continue"      # or "stop", or { retry = 5 }
//! ```

mod document;
mod error;
mod fields;
mod read;
pub mod shipped;
mod store;
mod write;

use std::sync::Arc;

use conflict::isolation::IsolationLevel;

pub use error::{Place, Problem, ScenarioError};
pub use shipped::{Shipped, load, shipped};
pub use store::{Existing, Faults, Latency, PartsPerMillion, PutEffect, StoreSpec, UnknownProfile};

use crate::sql::{SqlError, Statement, parse_statement};

/// How many puts of its commit file one execution may make when a scenario says nothing: 200.
///
/// That is the limit of Kernel Java, which tries 200 times more after the first. Delta Spark goes on for 10,000,000 attempts and delta-rs stops
/// after 16, so a scenario that is about the limit should say it.
pub const DEFAULT_COMMIT_RETRIES: u32 = 200;

/// The most writers that one `count` makes.
pub const MAX_COUNT: u32 = 64;

/// Writers, the store that they share, and what is expected of the run.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Scenario {
    /// What it is called; the origin's name where the file says nothing.
    pub name: String,
    /// The level that `CREATE TABLE` gives to tables; `None` leaves it to the rule set.
    pub isolation: Option<IsolationLevel>,
    /// Statements that run one after the other before any writer starts.
    pub setup: Vec<SqlText>,
    /// The writers, at least one, each with a name of its own; `count` is already spelled out.
    pub writers: Vec<WriterSpec>,
    /// The interleaving that is pinned, if one is. What it does not name runs round-robin after it.
    pub schedule: Option<Vec<Pinned>>,
    /// The store.
    pub store: StoreSpec,
    /// What must hold at the end.
    pub expect: Expect,
}

/// A statement as it was written and as it was parsed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SqlText {
    /// The text, as the scenario has it.
    pub text: String,
    /// What it says.
    pub statement: Arc<Statement>,
}

/// One writer: statements that it executes in order.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct WriterSpec {
    /// Its name: ASCII letters, digits, `_` and `-`.
    pub name: String,
    /// What it executes, at least one statement.
    pub statements: Vec<SqlText>,
    /// What it does when a statement loses a race.
    pub on_conflict: OnConflict,
    /// How many puts of its commit file one execution may make before it gives up, at least 1.
    pub commit_retries: u32,
}

/// What a writer does after a conflict.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum OnConflict {
    /// Goes on with its next statement.
    #[default]
    Continue,
    /// Executes nothing more.
    Stop,
    /// Runs the statement again from a fresh snapshot, at most so many times, then continues.
    Retry(u32),
}

/// What must hold when every writer has finished.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Expect {
    /// How many calls of writers made a commit.
    pub committed: Option<Range>,
}

/// Numbers from `min` to `max`, both included; an end that is absent is open.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Range {
    /// The least.
    pub min: Option<u32>,
    /// The greatest, not below `min`.
    pub max: Option<u32>,
}

/// One event of a pinned interleaving, written `WRITER.STEP`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Pinned {
    /// The name of one of the scenario's writers.
    pub writer: String,
    /// What it does.
    pub step: PinnedStep,
}

/// What a writer does in a pinned event.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PinnedStep {
    /// Loads a snapshot and prepares the commit.
    Read,
    /// Puts its commit file once.
    Put,
    /// Puts, and if it loses, checks the winners and puts again, up to the end of the call.
    Commit,
    /// Is killed; it starts again at its next statement.
    Crash,
}

impl Scenario {
    /// Reads the TOML `text` of a scenario. `origin` is what errors call it: a path, or `@name`.
    pub fn parse(text: &str, origin: &str) -> Result<Self, ScenarioError> {
        Self::parse_with(text, origin, &[])
    }

    /// Reads `text` after setting each `(path, value)` of `overrides` in it, in order.
    ///
    /// A path is made of TOML keys and goes through writers by name: `store.latency`, `writer.a.on_conflict`. A value is TOML where it reads as
    /// a TOML value, and a string otherwise, so `s3` needs no quotes.
    pub fn parse_with(text: &str, origin: &str, overrides: &[(String, String)]) -> Result<Self, ScenarioError> {
        let scenario = || {
            let mut document = document::parse(text)?;
            for (path, value) in overrides {
                document.set(path, value)?;
            }
            read::scenario(&document, origin)
        };
        scenario().map_err(|refusal: error::Refusal| refusal.of(origin))
    }
}

impl SqlText {
    /// Parses one statement.
    pub fn parse(text: &str) -> Result<Self, SqlError> {
        Ok(Self { text: text.to_owned(), statement: Arc::new(parse_statement(text)?) })
    }
}

impl Range {
    /// Is `count` in it?
    pub fn contains(&self, count: u64) -> bool {
        self.min.is_none_or(|min| u64::from(min) <= count) && self.max.is_none_or(|max| count <= u64::from(max))
    }
}

impl PinnedStep {
    /// Every step.
    pub const ALL: [Self; 4] = [Self::Read, Self::Put, Self::Commit, Self::Crash];

    /// The word for it in a schedule.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Put => "put",
            Self::Commit => "commit",
            Self::Crash => "crash",
        }
    }
}

#[cfg(test)]
mod tests;
