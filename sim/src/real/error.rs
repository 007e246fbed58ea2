//! Why a run on real tables did not come to a result.

use std::{io, path::PathBuf};

use log_core::path::Version;

use crate::{call::CallError, run::NotEnabled, world::TableError};

/// A run on real tables that did not come to a result.
#[derive(Debug, thiserror::Error)]
pub enum RealError {
    /// The folder for the tables cannot be used.
    #[error("store '{}': {reason}; nothing was written", path.display())]
    Root {
        /// The folder.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The scenario wants faults, which nothing injects here.
    #[error(
        "the scenario has fault rates, and contend injects no faults into real tables; nothing was written; leave [store] fault_rate out, \
         or run without a store"
    )]
    Faults,
    /// A table's name that is no name of a folder.
    #[error(
        "table '{name}' cannot have a folder of its own: its name has a character that a folder's must not have; nothing was written"
    )]
    TableName {
        /// The name.
        name: String,
    },
    /// The table is there, and the scenario does not go on from it.
    #[error(
        "table '{name}' is at '{}' already, at version {version}; nothing was written; give another folder, or go on from it with \
         existing = \"continue\" under [store] (or --set store.existing=continue)", path.display()
    )]
    Exists {
        /// The table.
        name: String,
        /// Its folder.
        path: PathBuf,
        /// Its newest version.
        version: Version,
    },
    /// The folder of a table is there, and is something else.
    #[error("'{}' is there and is no Delta table ({found}); nothing was written", path.display())]
    NotATable {
        /// The folder.
        path: PathBuf,
        /// What is in it.
        found: String,
    },
    /// A table that is there cannot be gone on from.
    #[error("table at '{}': {reason}; nothing was written", path.display())]
    Unfit {
        /// Its folder.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A statement of the setup did not succeed.
    #[error("setup, statement {number} (`{sql}`): {message}")]
    Setup {
        /// Its position, from 1.
        number: usize,
        /// Its text.
        sql: String,
        /// What happened.
        message: String,
    },
    /// A statement of the setup met a damaged table.
    #[error("setup, statement {number} (`{sql}`)")]
    SetupCall {
        /// Its position, from 1.
        number: usize,
        /// Its text.
        sql: String,
        /// What is wrong.
        source: Box<CallError>,
    },
    /// A writer cannot go on.
    #[error("writer '{writer}' cannot go on")]
    Writer {
        /// Its name.
        writer: String,
        /// Why.
        source: Box<CallError>,
    },
    /// A writer's thread broke down.
    #[error("the thread of writer '{writer}' broke down: {message}; this is a fault of contend")]
    Panic {
        /// Its name.
        writer: String,
        /// What the panic said.
        message: String,
    },
    /// A line cannot be added to the log of the calls.
    #[error("the log of the calls, '{}', cannot be written; the calls were made all the same", path.display())]
    CallLog {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The system has no thread left.
    #[error("no thread for writer '{writer}'")]
    Thread {
        /// Its name.
        writer: String,
        /// What the system says.
        source: io::Error,
    },
    /// A pinned step is not possible.
    #[error(transparent)]
    NotEnabled(#[from] NotEnabled),
    /// A commit of the run's time is of somebody else.
    #[error(
        "table at '{}': somebody else wrote version {version} ({operation}) during the run, so contend cannot judge the run; the \
         commits that this run made before and after are in the log and stay there; run again while nobody else writes there", path.display()
    )]
    Stranger {
        /// The table's folder.
        path: PathBuf,
        /// The version.
        version: Version,
        /// What it says to be.
        operation: String,
    },
    /// The log cannot be read back.
    #[error("table at '{}' cannot be read back after the run: {cause}", path.display())]
    ReadBack {
        /// The table's folder.
        path: PathBuf,
        /// Why.
        cause: String,
    },
    /// The log is damaged.
    #[error("table at '{}' is damaged after the run", path.display())]
    Damaged {
        /// The table's folder.
        path: PathBuf,
        /// How.
        source: TableError,
    },
}
