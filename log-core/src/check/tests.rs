//! Every rule of the log fires on a log that breaks it, and a clean log gives nothing.

mod damage;
mod rules;
mod stand_ins;

use expect_test::Expect;

use super::{CheckLog, CheckedLog, Finding};
use crate::{
    path::{Version, commit_path},
    store::{Bytes, ObjectMap, Request, Response, drive},
};

pub(super) const PROTOCOL: &str = r#"{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["deletionVectors"],"writerFeatures":["appendOnly","deletionVectors","domainMetadata","invariants"]}}"#;

/// A commit of a column `id` and a partition column `p`, both `long`.
pub(super) fn metadata(configuration: &str) -> String {
    let field =
        |name: &str| format!(r#"{{\"name\":\"{name}\",\"type\":\"long\",\"nullable\":true,\"metadata\":{{}}}}"#);
    format!(
        r#"{{"metaData":{{"id":"i","format":{{"provider":"parquet","options":{{}}}},"schemaString":"{{\"type\":\"struct\",\"fields\":[{},{}]}}","partitionColumns":["p"],"configuration":{{{configuration}}},"createdTime":0}}}}"#,
        field("id"),
        field("p")
    )
}

/// The first commit of a table.
pub(super) fn first() -> String {
    format!("{PROTOCOL}\n{}", metadata(""))
}

/// `+f` adds a file of one row and `-f` removes it; `~` in front is without change of data, `@N` behind is a deletion vector, `*N` behind that are N rows. Other words
/// are lines.
pub(super) fn line(word: &str) -> String {
    if word.starts_with('{') {
        return word.to_owned();
    }
    let (data_change, word) = word.strip_prefix('~').map_or((true, word), |word| (false, word));
    let (sign, name) = word.split_at(1);
    let (name, rows) = name.split_once('*').unwrap_or((name, "1"));
    let (name, vector) = match name.split_once('@') {
        None => (name, String::new()),
        Some((name, offset)) => (
            name,
            format!(
                r#","deletionVector":{{"storageType":"u","pathOrInlineDv":"v","offset":{offset},"sizeInBytes":1,"cardinality":1}}"#
            ),
        ),
    };
    match sign {
        "+" => format!(
            r#"{{"add":{{"path":"{name}","partitionValues":{{"p":"1"}},"size":10,"modificationTime":1,"dataChange":{data_change},"stats":"{{\"numRecords\":{rows}}}"{vector}}}}}"#
        ),
        "-" => format!(r#"{{"remove":{{"path":"{name}","dataChange":{data_change}{vector}}}}}"#),
        _ => panic!("'{word}' is neither an add nor a remove"),
    }
}

/// A commit of words that a blank or a line break separates.
pub(super) fn commit(text: &str) -> String {
    if text.starts_with('{') {
        return text.to_owned();
    }
    text.split_whitespace().map(line).collect::<Vec<_>>().join("\n")
}

/// A log: commits from version 0 on, and other files.
#[derive(Default)]
pub(super) struct Log(ObjectMap);

impl Log {
    /// Commits on top of the [`first`].
    pub(super) fn of(commits: &[&str]) -> Self {
        let mut log = Self::default().put(&commit_path(Version(0)), first());
        for (index, text) in commits.iter().enumerate() {
            log = log.put(&commit_path(Version(index as u64 + 1)), commit(text));
        }
        log
    }

    pub(super) fn put(self, path: &str, bytes: impl AsRef<[u8]>) -> Self {
        self.put_at(path, bytes, 0)
    }

    pub(super) fn put_at(mut self, path: &str, bytes: impl AsRef<[u8]>, ms: i64) -> Self {
        let path = if path.starts_with("_delta_log/") { path.to_owned() } else { format!("_delta_log/{path}") };
        let bytes: Bytes = bytes.as_ref().into();
        self.0.answer(&Request::Put { path, bytes }, ms);
        self
    }

    pub(super) fn without(mut self, path: &str) -> Self {
        self.0.answer(&Request::Delete { path: path.to_owned() }, 0);
        self
    }

    pub(super) fn walk(mut self) -> CheckedLog {
        let answer = |request: Request| Response { now_ms: 0, answer: self.0.answer(&request, 0) };
        drive(CheckLog::new(), answer).unwrap().expect("a table")
    }

    /// Compares all findings, a line each.
    #[track_caller]
    pub(super) fn check(self, expected: &Expect) {
        expected.assert_eq(&show(&self.walk().findings));
    }
}

pub(super) fn show(findings: &[Finding]) -> String {
    let mut text = String::new();
    for Finding { version, file, rule, message } in findings {
        let mark = if rule.is_note() { "note " } else { "" };
        let version = version.map_or("-".to_owned(), |version| version.to_string());
        let file = file.trim_start_matches("_delta_log/");
        text.push_str(&format!("{mark}{rule} {version} {file}: {message}\n"));
    }
    text
}
