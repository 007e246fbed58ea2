//! Calls as JSON: when each began and ended, and how.

use log_core::{path::Version, value::Value as RowValue};
use serde_json::{Map, Value, json};

use super::extend;
use crate::{call::CallEnd, digest::row_text, history::What, naming::CallId, report::Subject, run::RunResult};

/// The calls in the order in which they began.
pub(super) fn calls(subject: &Subject<'_>, result: &RunResult) -> Vec<Value> {
    let setting = subject.setting;
    let unit = subject.origin.unit();
    let (begin, end) = (format!("begin_{unit}"), format!("end_{unit}"));
    let mut calls: Vec<(CallId, Map<String, Value>)> = Vec::new();
    for entry in &result.history.entries {
        if let What::Invoked { .. } = entry.what {
            let mut call = Map::new();
            extend(
                &mut call,
                json!({
                    "writer": setting.writer_name(entry.call.writer),
                    "statement": entry.call.statement + 1,
                    "execution": entry.call.execution + 1,
                    "sql": setting.sql(entry.call).text,
                    "kind": "info",
                    "end": "under way",
                }),
            );
            call.insert(begin.clone(), json!(entry.at_ms));
            calls.push((entry.call, call));
            continue;
        }
        let Some((_, call)) = calls.iter_mut().find(|(id, _)| *id == entry.call) else { continue };
        match &entry.what {
            What::Loaded(version) => {
                call.insert("read".to_owned(), json!(number(*version)));
            }
            What::Wrote { path, .. } => {
                let files = call.entry("files").or_insert_with(|| json!([]));
                if let Value::Array(files) = files {
                    files.push(json!(path));
                }
            }
            What::Ended(how) => {
                call.insert(end.clone(), json!(entry.at_ms));
                call.insert("kind".to_owned(), json!(how.kind().word()));
                call.insert("puts".to_owned(), json!(result.history.puts(entry.call)));
                extend(call, ended(how));
            }
            What::Fault(fault) => {
                let faults = call.entry("faults").or_insert_with(|| json!([]));
                if let Value::Array(faults) = faults {
                    faults.push(json!(fault.name()));
                }
            }
            What::Invoked { .. } | What::Put { .. } => {}
        }
    }
    calls.into_iter().map(|(_, call)| Value::Object(call)).collect()
}

fn number(version: Option<Version>) -> Option<u64> {
    version.map(|version| version.0)
}

fn ended(end: &CallEnd) -> Value {
    match end {
        CallEnd::Committed { version, read, rows, .. } => {
            json!({ "end": "committed", "version": version.0, "read": number(*read), "rows": rows })
        }
        CallEnd::Nothing { read } => json!({ "end": "nothing", "read": number(*read) }),
        CallEnd::Answered { read, answer } => json!({
            "end": "answered",
            "read": number(*read),
            "columns": answer.columns,
            "answer": answer.rows.iter().map(|values| row(values)).collect::<Vec<_>>(),
        }),
        CallEnd::Conflict(conflict) => json!({
            "end": "conflict",
            "conflict": {
                "winner": conflict.winner.0,
                "operation": conflict.operation,
                "rule": conflict.rule,
                "kind": conflict.finding.kind.to_string(),
                "reason": conflict.finding.reason,
                "file": conflict.finding.file,
            },
        }),
        CallEnd::Exhausted { last, .. } => json!({ "end": "exhausted", "last": last }),
        CallEnd::Unknown { version } => json!({ "end": "unknown", "version": version.0 }),
        CallEnd::Crashed => json!({ "end": "crashed" }),
        CallEnd::Failed { message } => json!({ "end": "failed", "message": message }),
    }
}

/// A row in the canonical form.
fn row(values: &[RowValue]) -> Value {
    serde_json::from_str(&row_text(values)).expect("the canonical text of a row is JSON")
}
