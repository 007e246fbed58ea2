//! The integrity of a log: every file of it is read and held against the protocol and against the others.
//!
//! [`CheckLog`] walks a log from its oldest file to its newest and reports by [`Rule`]. What is damaged does not stop it: a torn commit is one finding, and the
//! walk goes on. But from there on nobody knows what the table holds, so the rules that compare with it rest until a checkpoint says it again. What the table
//! holds in the end is part of the result, so that a caller can go on with the data files.
//!
//! Each rule is a small function in the module of its noun; the lists of which `walk` asks are at the top of it.

mod checkpoint;
mod checksum;
mod commit;
mod difference;
mod files;
mod plan;
mod protocol;
mod row_ids;
mod rule;
mod state;
#[cfg(test)]
mod tests;
mod times;
mod values;
mod walk;

use std::collections::BTreeSet;
use std::sync::Arc;

pub use rule::Rule;
pub use walk::{CheckError, CheckLog};

use crate::{path::Version, snapshot::Snapshot};

/// Something that is wrong with a table, or worth a note.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Finding {
    /// The version that it is about; `None` where it is about none.
    pub version: Option<Version>,
    /// The file that it is about, relative to the table: one of the log as it is called, a data file as the log spells it.
    pub file: String,
    /// What is broken.
    pub rule: Rule,
    /// What was found, and where it helps, what should be there.
    pub message: String,
}

/// What a walk over a log came to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CheckedLog {
    /// In order of version, then file, then rule. Which of them are only notes says [`Rule::is_note`].
    pub findings: Vec<Finding>,
    /// The newest version, where it is known.
    pub newest: Option<Arc<Snapshot>>,
    /// What the log speaks of.
    pub mentioned: Mentioned,
}

/// The files that a log speaks of in any way, live or not.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Mentioned {
    /// Data files and change data files, as [`path_key`](crate::path::path_key) has them.
    pub files: BTreeSet<String>,
    /// Files of deletion vectors, by storage type and path of their descriptors.
    pub vectors: BTreeSet<(String, String)>,
}

/// Collects findings about one file.
#[derive(Debug)]
pub(crate) struct Findings {
    list: Vec<Finding>,
    version: Option<Version>,
    file: String,
}

impl Findings {
    pub(crate) fn new() -> Self {
        Self { list: Vec::new(), version: None, file: String::new() }
    }

    /// What is reported from here on is about this file.
    pub(crate) fn about(&mut self, version: Option<Version>, file: impl Into<String>) {
        self.version = version;
        self.file = file.into();
    }

    /// Reports against the file.
    pub(crate) fn report(&mut self, rule: Rule, message: impl Into<String>) {
        let (version, file) = (self.version, self.file.clone());
        self.list.push(Finding { version, file, rule, message: message.into() });
    }

    /// All, in order.
    pub(crate) fn finish(mut self) -> Vec<Finding> {
        self.list.sort();
        self.list.dedup();
        self.list
    }
}
