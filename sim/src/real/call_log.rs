//! A file that says of every finished call how it ended, as soon as it has: what somebody else may rely on when this program is killed.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use serde_json::json;

use super::sync::Mutex;
use crate::{call::CallEnd, history::Kind, naming::CallId, world::Setting};

/// A file of JSON lines, one for each call that has ended:
///
/// ```json
/// {"end":"committed","execution":1,"kind":"ok","statement":2,"table":"logs","txn_id":"17f-a-1-0","version":5,"writer":"a"}
/// ```
///
/// Statements and executions are counted from 1. The line is with the operating system before the writer makes its next call, so it outlives the
/// program, though not a power failure. A call without a line may have ended in any way.
#[derive(Debug)]
pub struct CallLog {
    path: PathBuf,
    file: Mutex<Writing>,
}

#[derive(Debug)]
struct Writing {
    file: File,
    failed: Option<io::Error>,
}

impl CallLog {
    /// Opens a file to append to. It is created if it is not there.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn append(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Self { path: path.to_owned(), file: Mutex::new(Writing { file, failed: None }) })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the line of a call. The first failure is kept, and nothing is written after it.
    pub(super) fn ended(&self, setting: &Setting, call: CallId, end: &CallEnd) {
        let mut line = json!({
            "writer": setting.writer_name(call.writer),
            "statement": call.statement + 1,
            "execution": call.execution + 1,
            "table": setting.table_of(call).map(|table| &setting.tables[table]),
            "txn_id": setting.context(call).naming.txn_id(),
            "kind": end.kind().word(),
            "end": end.word(),
        });
        if let CallEnd::Committed { version, .. } | CallEnd::Unknown { version } = end {
            line["version"] = json!(version.0);
        }
        if end.kind() != Kind::Ok {
            line["message"] = json!(end.to_string());
        }
        // One write for the whole line, so that lines of a program that is killed are whole.
        let line = format!("{line}\n");
        let mut writing = self.file.lock();
        if writing.failed.is_none() {
            writing.failed = writing.file.write_all(line.as_bytes()).err();
        }
    }

    /// The first failure to write a line, if there was one.
    pub(super) fn failure(&self) -> Option<io::Error> {
        self.file.lock().failed.take()
    }
}
