//! The integrity of a real table: its log, and where that is asked for its data files and its folder.

mod data;
mod folder;

use std::path::Path;

use log_core::{
    check::{CheckLog, CheckedLog, Finding, Rule},
    store::{Machine, Step},
};
use serde_json::{Value as Json, json};

use super::{
    InspectError, TableFolder,
    render::{document, one_line},
};
use crate::{
    real::local_directory::AbsolutePaths,
    report::{
        Verdict,
        text::{count, paragraph},
    },
};

/// How deep a check goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CheckOptions {
    /// Read the data files of the newest version, and list the table's folder?
    pub data: bool,
    /// May the log name files outside of the table's folder?
    pub absolute_paths: AbsolutePaths,
    /// The clock, in milliseconds since the epoch: which files are too young to be called orphans depends on it.
    pub now_ms: i64,
}

/// What a check came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableCheck {
    /// What is wrong, in order of version, file and rule.
    pub findings: Vec<Finding>,
    /// What is not wrong, and worth to be known.
    pub notes: Vec<Finding>,
}

impl TableCheck {
    /// Is anything wrong?
    pub fn verdict(&self) -> Verdict {
        if self.findings.is_empty() { Verdict::Pass } else { Verdict::Violation }
    }
}

impl TableFolder {
    /// Checks the table by every rule. `progress` hears how many files are done and how many there are: first those of the log, then those of data.
    ///
    /// # Errors
    /// When the folder holds no table, or its log cannot be listed. All else is a finding.
    pub fn check(
        &self,
        options: CheckOptions,
        mut progress: impl FnMut(usize, usize),
    ) -> Result<TableCheck, InspectError> {
        let root = self.directory.root();
        let mut walk = CheckLog::new();
        let mut request = walk.start();
        let checked = loop {
            match walk.advance(self.directory.answer(&request)) {
                Step::Request(next) => request = next,
                Step::Done(checked) => break checked,
            }
            let (done, of) = walk.progress();
            progress(done, of);
        };
        let checked = checked
            .map_err(|source| InspectError::Check { path: root.to_owned(), source })?
            .ok_or_else(|| InspectError::NotATable { path: root.to_owned() })?;
        let CheckedLog { mut findings, newest, mentioned } = checked;
        folder::temporary_files(root, &mut findings);
        if options.data {
            match newest {
                Some(snapshot) => {
                    data::check(&self.directory, &snapshot, options.absolute_paths, &mut findings, &mut progress);
                    folder::orphans(root, &snapshot, &mentioned, options.now_ms, &mut findings);
                }
                None => findings.push(Finding {
                    version: None,
                    file: String::new(),
                    rule: Rule::NotChecked,
                    message: "the data files: what the newest version holds is not known, see the findings and notes on the log".to_owned(),
                }),
            }
        }
        findings.sort();
        findings.dedup();
        let (notes, findings) = findings.into_iter().partition(|finding| finding.rule.is_note());
        Ok(TableCheck { findings, notes })
    }
}

/// A check as text that fits a width.
pub fn check_text(check: &TableCheck, width: usize) -> String {
    let mut text = String::new();
    for (heading, list) in [("findings", &check.findings), ("notes", &check.notes)] {
        if list.is_empty() {
            continue;
        }
        text.push_str(heading);
        text.push('\n');
        for Finding { version, file, rule, message } in list {
            let version = version.map_or(String::new(), |version| format!(", version {version}"));
            let file = if file.is_empty() { String::new() } else { format!(", {}", one_line(file)) };
            text.push_str(&paragraph("  ", &format!("{rule}{version}{file}"), width));
            text.push_str(&paragraph("    ", &one_line(message), width));
        }
    }
    let (findings, notes) = (check.findings.len() as u64, check.notes.len() as u64);
    text.push_str(&format!("{}, {}\n", count(findings, "finding"), count(notes, "note")));
    text
}

/// A check as JSON.
pub fn check_json(check: &TableCheck) -> String {
    let finding = |Finding { version, file, rule, message }: &Finding| json!({ "rule": rule.id(), "version": version.map(|version| version.0), "file": file, "message": message });
    let list = |list: &[Finding]| list.iter().map(finding).collect::<Json>();
    document(
        "check",
        [
            ("verdict", check.verdict().name().into()),
            ("findings", list(&check.findings)),
            ("notes", list(&check.notes)),
        ],
    )
}

/// A path of the folder as the log has it: with slashes.
fn relative(root: &Path, file: &Path) -> Option<String> {
    let steps = file.strip_prefix(root).ok()?.components().map(|step| step.as_os_str().to_str());
    Some(steps.collect::<Option<Vec<_>>>()?.join("/"))
}
