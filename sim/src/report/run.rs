//! The report of one run.

use log_core::value::Value;

use super::{
    Style, Subject, Verdict,
    grid::{Align, Grid},
    heading, table,
    text::{count, one_line, paragraph, shorten},
    timeline,
};
use crate::{
    call::CallEnd,
    execute::prepare::Answer,
    history::{History, What},
    naming::CallId,
    run::RunResult,
    world::Setting,
};

/// Rows of an answer that are shown.
const ROWS_SHOWN: usize = 20;

/// The whole report; `replay` is the command that gives it again.
pub fn run(subject: &Subject<'_>, result: &RunResult, replay: &str, style: Style) -> String {
    let verdict = Verdict::of(&result.violations);
    let mut text = format!("{}\n{}", heading(subject, style), body(subject, result, style));
    text.push_str(&super::violations(&result.violations, style));
    if verdict == Verdict::Violation {
        text.push_str(&format!("again with: {replay}\n"));
    }
    text.push_str(&verdict.line(result.violations.iter().map(|violation| violation.kind), style));
    text
}

/// What lies between the heading and the violations: timeline, tables, answers, conflicts, counts.
pub(super) fn body(subject: &Subject<'_>, result: &RunResult, style: Style) -> String {
    let setting = subject.setting;
    let mut text = setup(setting, result, style);
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(&timeline(subject, &result.history, style));
    text.push('\n');
    for each in &result.tables {
        text.push_str(&table::table(setting, result, each, style));
        text.push('\n');
    }
    text.push_str(&answers(setting, &result.history, style));
    text.push_str(&losers(setting, result, style));
    text.push_str(&paragraph("", &counts(&result.history), style.width));
    text
}

/// What the setup made, in a line.
fn setup(setting: &Setting, result: &RunResult, style: Style) -> String {
    if setting.scenario.setup.is_empty() {
        return String::new();
    }
    let made: Vec<String> = result
        .tables
        .iter()
        .filter(|table| table.first > 0)
        .map(|table| format!("{} at version {}", table.name, table.first - 1))
        .collect();
    let made = if made.is_empty() { "no table".to_owned() } else { made.join(", ") };
    let what = format!("setup: {}, then {made}", count(setting.scenario.setup.len() as u64, "statement"));
    paragraph("", &what, style.width)
}

/// The answers of queries.
fn answers(setting: &Setting, history: &History, style: Style) -> String {
    let mut text = String::new();
    for (call, end) in history.ends() {
        let CallEnd::Answered { read, answer } = end else { continue };
        let read = read.map_or(String::new(), |version| format!(" at v{version}"));
        let first = format!("{} asked{read}: ", setting.writer_name(call.writer));
        text.push_str(&paragraph(&first, &setting.sql(call).text, style.width));
        text.push_str(&answer_table(answer, style));
        text.push('\n');
    }
    text
}

/// Rows under the names of their columns, as many as fit a report.
fn answer_table(answer: &Answer, style: Style) -> String {
    let names: Vec<String> = answer.columns.iter().map(|name| one_line(name)).collect();
    let align = |column: usize| {
        let number = |row: &Vec<Value>| {
            matches!(
                row.get(column),
                Some(Value::Byte(_) | Value::Short(_) | Value::Integer(_) | Value::Long(_) | Value::Null)
            )
        };
        if answer.rows.iter().all(number) { Align::Right } else { Align::Left }
    };
    let mut grid = Grid::new(names.iter().enumerate().map(|(i, name)| (name.as_str(), align(i))));
    for row in answer.rows.iter().take(ROWS_SHOWN) {
        grid.row(row.iter().map(|value| one_line(&shown(value))));
    }
    let mut text = grid.render(2, style.width);
    match answer.rows.len() {
        0 => text.push_str("  no rows\n"),
        rows if rows > ROWS_SHOWN => text.push_str(&format!("  ... {} more\n", rows - ROWS_SHOWN)),
        _ => {}
    }
    text
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        value => value.to_string(),
    }
}

/// Every call that did not do what it should, and why.
fn losers(setting: &Setting, result: &RunResult, style: Style) -> String {
    let mut text = String::new();
    for (call, end) in result.history.ends() {
        let why = match end {
            CallEnd::Committed { .. } | CallEnd::Nothing { .. } | CallEnd::Answered { .. } => continue,
            CallEnd::Conflict(conflict) => {
                let by = winner(setting, result, call, conflict.winner.0);
                let finding = &conflict.finding;
                let winner = format!("version {} ({}{by})", conflict.winner, conflict.operation);
                format!("{}: {winner} {}; rule {}", finding.kind, finding.reason, conflict.rule)
            }
            end => end.to_string(),
        };
        let whose = format!("{}: {}", name(setting, call), one_line(&setting.sql(call).text));
        text.push_str(&table::lost(style, &shorten(&whose, style.width)));
        text.push('\n');
        text.push_str(&paragraph("  ", &why, style.width));
    }
    if !text.is_empty() {
        text = format!("{}{text}\n", style.heading("calls that did not succeed"));
    }
    text
}

fn winner(setting: &Setting, result: &RunResult, call: CallId, version: u64) -> String {
    let Some(index) = setting.table_of(call) else { return String::new() };
    let table = result.tables.iter().find(|table| table.name == setting.tables[index]);
    table
        .and_then(|table| table.calls.get(version.checked_sub(table.first)? as usize).copied().flatten())
        .map_or(String::new(), |winner| format!(" by {}", setting.writer_name(winner.writer)))
}

fn name(setting: &Setting, call: CallId) -> String {
    let writer = setting.writer_name(call.writer);
    if call.execution == 0 { writer.to_owned() } else { format!("{writer}, again {}", call.execution) }
}

/// How many calls ended how.
fn counts(history: &History) -> String {
    let begun = history.entries.iter().filter(|entry| matches!(entry.what, What::Invoked { .. })).count();
    let mut ended = 0;
    let mut kinds: [(&str, usize); 8] = [
        ("committed", 0),
        ("conflicts", 0),
        ("nothing to commit", 0),
        ("answered", 0),
        ("gave up", 0),
        ("unknown", 0),
        ("failed", 0),
        ("crashed", 0),
    ];
    for (_, end) in history.ends() {
        ended += 1;
        let kind = match end {
            CallEnd::Committed { .. } => 0,
            CallEnd::Conflict(_) => 1,
            CallEnd::Nothing { .. } => 2,
            CallEnd::Answered { .. } => 3,
            CallEnd::Exhausted { .. } => 4,
            CallEnd::Unknown { .. } => 5,
            CallEnd::Failed { .. } => 6,
            CallEnd::Crashed => 7,
        };
        kinds[kind].1 += 1;
    }
    let mut parts: Vec<String> = kinds
        .iter()
        .enumerate()
        .filter(|(i, (_, number))| *i < 2 || *number > 0)
        .map(|(_, (kind, number))| format!("{number} {}", if *number == 1 { kind.trim_end_matches('s') } else { kind }))
        .collect();
    if begun > ended {
        parts.push(format!("{} under way", begun - ended));
    }
    format!("{}: {}", count(begun as u64, "call"), parts.join(", "))
}
