//! A commit file: one action per line.

use crate::{
    action::{Action, CommitInfo},
    path::Version,
};

/// A commit that was read.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Commit {
    /// Its version, from the file's name.
    pub version: Version,
    /// Its actions in order.
    pub actions: Vec<Action>,
}

/// A commit file that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// A line that is no action: torn, damaged, or of an odd shape.
    #[error(
        "commit {version}, line {line}: the line is not a whole action; the file is damaged, restore it from a copy of the table"
    )]
    Line {
        /// The commit.
        version: Version,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// Bytes that are not UTF-8.
    #[error("commit {version}, line {line}: not UTF-8 text; the file is damaged, restore it from a copy of the table")]
    NotText {
        /// The commit.
        version: Version,
        /// The line, from 1.
        line: usize,
    },
}

impl Commit {
    /// Reads the bytes of a commit file. Lines end with `\n` or `\r\n`; blank lines, a missing last line break and a byte-order mark are
    /// accepted. A file of no bytes is a commit without actions.
    ///
    /// # Errors
    /// When a line is not one whole action.
    pub fn parse(version: Version, bytes: &[u8]) -> Result<Self, CommitError> {
        match actions(bytes) {
            Ok(actions) => Ok(Self { version, actions }),
            Err(BadLine { line, source: Some(source) }) => Err(CommitError::Line { version, line, source }),
            Err(BadLine { line, source: None }) => Err(CommitError::NotText { version, line }),
        }
    }

    /// The bytes of a commit file.
    pub fn serialise<'a>(actions: impl IntoIterator<Item = &'a Action>) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(1024);
        for action in actions {
            action.write(&mut bytes);
            bytes.push(b'\n');
        }
        bytes
    }

    /// Where the commit came from, when it says so.
    pub fn info(&self) -> Option<&CommitInfo> {
        self.actions.iter().find_map(|action| match action {
            Action::CommitInfo(info) => Some(info),
            _ => None,
        })
    }
}

/// A line that is no action.
pub(crate) struct BadLine {
    /// The line, from 1.
    pub(crate) line: usize,
    /// What is wrong; `None` = it is not UTF-8.
    pub(crate) source: Option<serde_json::Error>,
}

/// The actions of a file that has one on each line.
pub(crate) fn actions(bytes: &[u8]) -> Result<Vec<Action>, BadLine> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut actions = Vec::new();
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let number = index + 1;
        let text = std::str::from_utf8(line).map_err(|_| BadLine { line: number, source: None })?;
        let text = text.trim_matches([' ', '\t', '\r']);
        if text.is_empty() {
            continue;
        }
        actions.extend(Action::parse(text).map_err(|source| BadLine { line: number, source: Some(source) })?);
    }
    Ok(actions)
}

#[cfg(test)]
mod tests;
