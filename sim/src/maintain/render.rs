//! What was done to a table, as text and as JSON.

use log_core::{
    error_chain::error_chain,
    write_checkpoint::{ChecksumOutcome, HintOutcome, WrittenCheckpoint},
};
use serde_json::{Value as Json, json};

use super::Maintained;
use crate::report::{Verdict, json::SCHEMA};

impl Maintained {
    /// Was all done that was asked for?
    pub fn verdict(&self) -> Verdict {
        if self.checkpoint.is_ok() { Verdict::Pass } else { Verdict::Incomplete }
    }

    /// What did not go as it should and changes nothing of what was done.
    fn warnings(&self) -> Vec<String> {
        let written = match &self.checkpoint {
            Ok(written) => written,
            Err(error) => return vec![error_chain(error)],
        };
        let mut warnings: Vec<String> = written.notes.iter().map(ToString::to_string).collect();
        if let ChecksumOutcome::Failed { cause } = &written.checksum {
            warnings.push(format!("the version checksum was not written: {cause}"));
        }
        if let HintOutcome::Failed { cause } = &written.hint {
            warnings.push(format!("_last_checkpoint was not written, so that more of the log is listed: {cause}"));
        }
        warnings
    }
}

/// What was done, as text.
pub fn maintained_text(done: &Maintained) -> String {
    let mut lines = Vec::new();
    if let Some(version) = done.upgraded {
        lines.push(format!("feature v2Checkpoint added: committed at version {version}"));
    }
    if let Ok(written) = &done.checkpoint {
        lines.push(format!(
            "checkpoint of version {} written: {} actions, {} live files",
            written.version, written.actions, written.add_files
        ));
        lines.extend(written.files.iter().map(|(path, bytes)| format!("  {path} ({bytes} bytes)")));
        lines.push(format!("version checksum: {}", checksum(written)));
        lines.push(format!("_last_checkpoint: {}", hint(written)));
    }
    lines.extend(done.warnings().iter().map(|warning| format!("warning: {warning}")));
    lines.join("\n") + "\n"
}

/// What was done, as a JSON document.
pub fn maintained_json(done: &Maintained) -> String {
    let checkpoint = done.checkpoint.as_ref().ok().map(|written| {
        let files: Vec<Json> =
            written.files.iter().map(|(path, bytes)| json!({"path": path, "bytes": bytes})).collect();
        json!({
            "version": written.version.0,
            "actions": written.actions,
            "add_files": written.add_files,
            "files": files,
            "checksum": checksum(written),
            "last_checkpoint": hint(written),
        })
    });
    let document = json!({
        "schema": SCHEMA,
        "command": "checkpoint",
        "verdict": done.verdict().name(),
        "upgraded": done.upgraded.map(|version| version.0),
        "checkpoint": checkpoint,
        "warnings": done.warnings(),
    });
    format!("{document:#}\n")
}

fn checksum(written: &WrittenCheckpoint) -> &'static str {
    match written.checksum {
        ChecksumOutcome::Written => "written",
        ChecksumOutcome::Present => "there already",
        ChecksumOutcome::Unknown => "left out, as not all that it must say is known",
        ChecksumOutcome::Failed { .. } => "not written",
    }
}

fn hint(written: &WrittenCheckpoint) -> String {
    match &written.hint {
        HintOutcome::Replaced => format!("names version {}", written.version),
        HintOutcome::Newer { version } => format!("stays at version {version}, which is newer"),
        HintOutcome::Removed => "removed, as this version has a checkpoint in several parts too".to_owned(),
        HintOutcome::Failed { .. } => "not written".to_owned(),
    }
}
