//! A timeline with one column per writer.

use super::{
    Origin, Paint, Style, Subject,
    text::{one_line, pad, pad_left, shorten, width, wrap, wrap_at_most},
};
use crate::{
    call::CallEnd,
    history::{Entry, History, Kind, PutResult, What},
    naming::CallId,
    world::Setting,
};

/// Columns that are narrower than this give way to one column with the writer's name before each line.
const COLUMN_LEAST: usize = 22;
/// Columns that are wider than this only put the writers far apart.
const COLUMN_MOST: usize = 44;
/// Between columns: little, since at any time one of them has more to show than a bar.
const GAP: usize = 1;

/// One line of one writer.
#[derive(Clone, Debug)]
struct Line {
    paint: Paint,
    text: String,
}

/// Lines that happened to one writer at one time.
#[derive(Clone, Debug)]
struct Group {
    at: i64,
    writer: usize,
    lines: Vec<Line>,
    /// Is the writer in a call after it?
    open: bool,
}

/// What happened, from top to bottom; a call is a bracket from its statement to its result.
pub fn timeline(subject: &Subject<'_>, history: &History, style: Style) -> String {
    let setting = subject.setting;
    let names: Vec<String> = setting.scenario.writers.iter().map(|writer| one_line(&writer.name)).collect();
    let unit = subject.origin.unit();
    let last = history.entries.iter().map(|entry| entry.at_ms).max().unwrap_or(0);
    let time_width = last.to_string().len().max(unit.len()).max(4);
    let room = style.width.saturating_sub(time_width);
    let column = (room / names.len().max(1)).saturating_sub(GAP).min(COLUMN_MOST);
    if column >= COLUMN_LEAST {
        columns(&groups(subject, history, column), &names, unit, time_width, column, style)
    } else {
        let names: Vec<String> = names.iter().map(|name| shorten(name, 12)).collect();
        let prefix = names.iter().map(|name| width(name)).max().unwrap_or(0).max("writer".len());
        let column = room.saturating_sub(prefix + 2 * GAP).max(COLUMN_LEAST);
        one_column(&groups(subject, history, column), &names, unit, time_width, prefix, style)
    }
}

fn columns(groups: &[Group], names: &[String], unit: &str, time_width: usize, column: usize, style: Style) -> String {
    let gap = " ".repeat(GAP);
    let mut text = pad_left(unit, time_width);
    for name in names {
        text.push_str(&gap);
        text.push_str(&style.paint(Paint::Heading, &pad(&shorten(name, column), column)));
    }
    let mut text = format!("{}\n", text.trim_end());
    let mut open = vec![false; names.len()];
    for group in groups {
        for (i, line) in group.lines.iter().enumerate() {
            let time = if i == 0 { group.at.to_string() } else { String::new() };
            let mut row = style.paint(Paint::Quiet, &pad_left(&time, time_width));
            let mut blank = 0;
            for (writer, open) in open.iter().enumerate() {
                let (cell, paint) = match () {
                    () if writer == group.writer => (line.text.as_str(), line.paint),
                    () if *open => ("│", Paint::Quiet),
                    () => ("", Paint::Plain),
                };
                blank += GAP;
                if !cell.is_empty() {
                    row.push_str(&" ".repeat(blank));
                    row.push_str(&style.paint(paint, cell));
                    blank = 0;
                }
                blank += column.saturating_sub(width(cell));
            }
            text.push_str(row.trim_end());
            text.push('\n');
        }
        open[group.writer] = group.open;
    }
    text
}

fn one_column(
    groups: &[Group],
    names: &[String],
    unit: &str,
    time_width: usize,
    prefix: usize,
    style: Style,
) -> String {
    let gap = " ".repeat(GAP);
    let mut text = format!("{}{gap}{}\n", pad_left(unit, time_width), style.paint(Paint::Heading, "writer"));
    for group in groups {
        for (i, line) in group.lines.iter().enumerate() {
            let (time, name) =
                if i == 0 { (group.at.to_string(), names[group.writer].as_str()) } else { Default::default() };
            let time = style.paint(Paint::Quiet, &pad_left(&time, time_width));
            let line = style.paint(line.paint, &line.text);
            text.push_str(format!("{time}{gap}{}{gap}{line}", pad(name, prefix)).trim_end());
            text.push('\n');
        }
    }
    text
}

/// The history in groups, each line of a width at most.
fn groups(subject: &Subject<'_>, history: &History, most: usize) -> Vec<Group> {
    let setting = subject.setting;
    let mut groups: Vec<Group> = Vec::new();
    let mut step = 1;
    for (position, entry) in history.entries.iter().enumerate() {
        groups.extend(silent_steps(subject, &mut step, entry.at_ms));
        let lines = lines(setting, &history.entries, position, entry, most);
        let open = !matches!(entry.what, What::Ended(_));
        match groups.last_mut() {
            Some(group) if group.at == entry.at_ms && group.writer == entry.call.writer => {
                group.lines.extend(lines);
                group.open = open;
            }
            _ => groups.push(Group { at: entry.at_ms, writer: entry.call.writer, lines, open }),
        }
    }
    groups.extend(silent_steps(subject, &mut step, i64::MAX));
    groups.retain(|group| !group.lines.is_empty());
    groups
}

/// The steps of a schedule before a time of which the history says nothing: `step` is the first that was not looked at.
fn silent_steps(subject: &Subject<'_>, step: &mut usize, before: i64) -> Vec<Group> {
    let Origin::Schedule(labels) = subject.origin else { return Vec::new() };
    let mut silent = Vec::new();
    while *step <= labels.len() && (*step as i64) < before {
        let (writer, what) = labels[*step - 1].split_once('.').unwrap_or_default();
        let writer = subject.setting.scenario.writers.iter().position(|spec| spec.name == writer);
        if let Some(writer) = writer {
            let text = match what {
                "winners" => "│ listed the winners".to_owned(),
                other => format!("│ {other}"),
            };
            let lines = vec![Line { paint: Paint::Plain, text }];
            silent.push(Group { at: *step as i64, writer, lines, open: true });
        }
        *step += 1;
    }
    if *step as i64 == before {
        *step += 1;
    }
    silent
}

fn lines(setting: &Setting, entries: &[Entry], position: usize, entry: &Entry, most: usize) -> Vec<Line> {
    let inner = most.saturating_sub(2);
    let quiet = |text: String| vec![Line { paint: Paint::Plain, text: format!("│ {}", shorten(&text, inner)) }];
    match &entry.what {
        What::Invoked { .. } => {
            let again =
                if entry.call.execution > 0 { format!("again {}: ", entry.call.execution) } else { String::new() };
            let statement = format!("{again}{}", setting.sql(entry.call).text);
            bracket("┌ ", "│ ", wrap_at_most(&statement, inner, 2), Paint::Heading)
        }
        What::Loaded(Some(version)) => quiet(format!("read v{version}")),
        What::Loaded(None) => quiet("read: no table yet".to_owned()),
        What::Wrote { .. } => match files_written(entries, position) {
            0 => Vec::new(),
            1 => quiet("wrote a file".to_owned()),
            files => quiet(format!("wrote {files} files")),
        },
        What::Put { result: PutResult::Won, .. } if acknowledged(entries, position) => Vec::new(),
        What::Put { version, result } => quiet(format!("put v{version}: {}", result.word())),
        What::Fault(fault) => vec![Line { paint: Paint::Wrong, text: format!("│ fault: {}", fault.name()) }],
        What::Ended(end) => ended(end, inner),
    }
}

fn ended(end: &CallEnd, inner: usize) -> Vec<Line> {
    let paint = match end.kind() {
        Kind::Ok => Paint::Good,
        Kind::Info => Paint::Wrong,
        Kind::Fail if matches!(end, CallEnd::Failed { .. }) => Paint::Wrong,
        Kind::Fail => Paint::Lost,
    };
    let mut texts = Vec::new();
    match end {
        CallEnd::Committed { version, .. } => texts.push(format!("ok v{version}")),
        CallEnd::Nothing { .. } => texts.push("ok, nothing to commit".to_owned()),
        CallEnd::Answered { answer, .. } => {
            texts.push(format!("ok, {}", super::text::count(answer.rows.len() as u64, "row")));
        }
        CallEnd::Conflict(conflict) => {
            texts.push(format!("conflict with v{}", conflict.winner));
            texts.push(conflict.finding.kind.to_string());
            texts.push(format!("[{}]", conflict.rule));
        }
        CallEnd::Exhausted { attempts, .. } => {
            texts.push(format!("gave up after {}", super::text::count(u64::from(*attempts), "put")));
        }
        CallEnd::Unknown { version } => texts.push(format!("unknown: v{version}, or not")),
        CallEnd::Crashed => texts.push("crashed".to_owned()),
        CallEnd::Failed { message } => texts.extend(wrap_at_most(&format!("failed: {message}"), inner, 4)),
    }
    let lines = texts.iter().flat_map(|text| wrap(text, inner)).collect();
    bracket("└ ", "  ", lines, paint)
}

fn bracket(first: &str, rest: &str, lines: Vec<String>, paint: Paint) -> Vec<Line> {
    let start = |i| if i == 0 { first } else { rest };
    lines.into_iter().enumerate().map(|(i, line)| Line { paint, text: format!("{}{line}", start(i)) }).collect()
}

/// What a call did after an entry.
fn later(entries: &[Entry], position: usize) -> impl Iterator<Item = &What> {
    let call: CallId = entries[position].call;
    entries[position + 1..].iter().filter(move |entry| entry.call == call).map(|entry| &entry.what)
}

/// How many data files a call had written when it wrote its last one; 0 for the ones before.
fn files_written(entries: &[Entry], position: usize) -> usize {
    if later(entries, position).any(|what| matches!(what, What::Wrote { .. })) {
        return 0;
    }
    let call = entries[position].call;
    let wrote = |entry: &&Entry| entry.call == call && matches!(entry.what, What::Wrote { .. });
    entries[..=position].iter().filter(wrote).count()
}

/// Is the next thing that the call says that it committed? Then its put needs no line of its own.
fn acknowledged(entries: &[Entry], position: usize) -> bool {
    matches!(later(entries, position).next(), Some(What::Ended(CallEnd::Committed { .. })))
}
