//! The report on conflict cases.

use serde_json::{Value, json};

use super::{
    Paint, Style, Verdict,
    json::SCHEMA,
    text::{one_line, paragraph},
};
use crate::{
    conflict_case::{Outcome, Verdict as CaseVerdict},
    rule_choice::RuleChoice,
};

/// A case that was judged.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The file that it stands in.
    pub file: String,
    /// What it claims.
    pub name: String,
    /// What it came to.
    pub verdict: CaseVerdict,
}

impl Judged {
    /// Is everything as expected?
    pub fn passes(&self) -> bool {
        self.verdict.differences.is_empty()
    }
}

/// How a set of cases came out.
pub fn verdict(judged: &[Judged]) -> Verdict {
    if judged.iter().all(Judged::passes) { Verdict::Pass } else { Verdict::Violation }
}

/// A line for each case, what differs below it, and a summary. With `explain`, each conflict in a paragraph.
pub fn text(judged: &[Judged], rules: &RuleChoice, explain: bool, style: Style) -> String {
    let mut text = String::new();
    for case in judged {
        let (paint, word) = if case.passes() { (Paint::Good, "pass") } else { (Paint::Wrong, "FAIL") };
        text.push_str(&format!(
            "{}  {}: {}\n",
            style.paint(paint, word),
            one_line(&case.name),
            outcome(&case.verdict.outcome)
        ));
        if !case.passes() {
            text.push_str(&format!("      in {}\n", one_line(&case.file)));
        }
        for difference in &case.verdict.differences {
            text.push_str(&paragraph("      ", difference, style.width));
        }
        if explain || !case.passes() {
            for note in &case.verdict.notes {
                text.push_str(&paragraph("      ", note, style.width));
            }
        }
        if let Outcome::Conflict(explanation) = &case.verdict.outcome
            && explain
        {
            text.push_str(&paragraph("      ", &explanation.to_string(), style.width));
        }
    }
    let passed = judged.iter().filter(|case| case.passes()).count();
    text.push_str(&format!("\nrules {rules}: {passed} of {} cases pass", judged.len()));
    match judged.len() - passed {
        0 => text.push('\n'),
        failed => text.push_str(&format!(", {failed} fail\n")),
    }
    text.push_str(&format!("verdict: {}\n", verdict(judged).name()));
    text
}

fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Committed { version, .. } => format!("committed at version {version}"),
        Outcome::Conflict(explanation) => {
            let partition = explanation.partition.as_ref().map(|partition| format!(" in {}", one_line(partition)));
            format!("{} with version {}{}", explanation.kind, explanation.winner, partition.unwrap_or_default())
        }
        Outcome::Stuck(_) => "can be neither committed nor refused".to_owned(),
    }
}

/// The same for programs.
pub fn json(judged: &[Judged], rules: &RuleChoice) -> String {
    let results: Vec<Value> = judged.iter().map(result).collect();
    let passed = judged.iter().filter(|case| case.passes()).count();
    let document = json!({
        "schema": SCHEMA,
        "command": "judge",
        "verdict": verdict(judged).name(),
        "rules": { "name": rules.name, "without": rules.without },
        "cases": judged.len(),
        "passed": passed,
        "failed": judged.len() - passed,
        "results": results,
    });
    format!("{document:#}\n")
}

fn result(case: &Judged) -> Value {
    let mut fields = json!({
        "file": case.file,
        "name": case.name,
        "passed": case.passes(),
        "differences": case.verdict.differences,
        "notes": case.verdict.notes,
    });
    let more = match &case.verdict.outcome {
        Outcome::Committed { version, commit } => {
            let actions = log_core::commit::Commit::serialise(&commit.actions);
            let lines = String::from_utf8_lossy(&actions);
            let actions: Vec<Value> = lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
            json!({ "outcome": "committed", "version": version.0, "actions": actions })
        }
        Outcome::Conflict(explanation) => json!({
            "outcome": "conflict",
            "conflict": explanation.kind.to_string(),
            "winner": explanation.winner.0,
            "explanation": explanation.to_json(),
            "text": explanation.to_string(),
        }),
        Outcome::Stuck(error) => json!({ "outcome": "error", "message": error.to_string() }),
    };
    if let (Value::Object(fields), Value::Object(more)) = (&mut fields, more) {
        fields.extend(more);
    }
    fields
}
