//! What became of one table: its versions, its rows, its files.

use super::{
    Paint, Style,
    grid::{Align, Grid},
    text::{count, one_line, paragraph, shorten},
};
use crate::{
    call::CallEnd,
    history::History,
    naming::CallId,
    oracle::Judgement,
    run::{RunResult, TableResult},
    world::Setting,
};

/// A table's versions, rows, files and what the oracle says.
pub(super) fn table(setting: &Setting, result: &RunResult, table: &TableResult, style: Style) -> String {
    let mut text = style.heading(&format!("table {}", table.name));
    let facts = format!(
        "{}, newest version {}, {} in {}",
        table.level,
        table.version,
        count(table.rows, "row"),
        count(table.active_files as u64, "live file")
    );
    text.push_str(&paragraph("  ", &facts, style.width));
    let sha = shorten(&table.rows_sha256, style.width.saturating_sub(14).max(8));
    text.push_str(&format!("  rows sha256 {sha}\n"));
    text.push_str(&versions(setting, &result.history, table, style.width).render(2, style.width));
    let orphans = table.orphans.len() as u64;
    if orphans > 0 {
        let text_of = match orphans {
            1 => "1 orphan file: written by a call that did not commit, so no version refers to it. Readers never see it; VACUUM removes it."
                .to_owned(),
            _ => format!(
                "{}: written by calls that did not commit, so no version refers to them. Readers never see them; VACUUM removes them.",
                count(orphans, "orphan file")
            ),
        };
        text.push_str(&paragraph("  ", &text_of, style.width));
    }
    if let Some(judgement) = &table.judgement {
        text.push_str(&paragraph("  ", &oracle(setting, table, judgement), style.width));
    }
    text
}

/// Widths below this have no room for more than who made a version.
const WIDE: usize = 60;

fn versions(setting: &Setting, history: &History, table: &TableResult, width: usize) -> Grid {
    let mut columns = vec![("version", Align::Right), ("by", Align::Left), ("statement", Align::Left)];
    if width >= WIDE {
        columns.extend([("read", Align::Right), ("rows", Align::Right), ("puts", Align::Right)]);
    }
    let mut grid = Grid::new(columns);
    if let Some(last) = table.first.checked_sub(1) {
        let versions = if last == 0 { "0".to_owned() } else { format!("0-{last}") };
        grid.row([versions, "setup".to_owned()]);
    }
    for (i, call) in table.calls.iter().enumerate() {
        let version = (table.first + i as u64).to_string();
        let Some(call) = *call else {
            grid.row([version, "?".to_owned()]);
            continue;
        };
        let mut row = vec![version, setting.writer_name(call.writer).to_owned(), one_line(&setting.sql(call).text)];
        if let Some(CallEnd::Committed { read, rows, .. }) = end_of(history, call) {
            row.push(read.map_or("-".to_owned(), |read| read.to_string()));
            row.push(rows.to_string());
            // Not the attempts of the call's end: a search does not count them.
            row.push(history.puts(call).to_string());
        }
        grid.row(row);
    }
    grid
}

fn end_of(history: &History, call: CallId) -> Option<&CallEnd> {
    history.ends().find(|(id, _)| *id == call).map(|(_, end)| end)
}

/// Who committed a version, as `v3 by a`.
pub(super) fn version_by(setting: &Setting, table: &TableResult, version: u64) -> String {
    let by = match version.checked_sub(table.first).and_then(|position| table.calls.get(position as usize)) {
        Some(Some(call)) => format!(" by {}", setting.writer_name(call.writer)),
        Some(None) => String::new(),
        None => " by the setup".to_owned(),
    };
    format!("v{version}{by}")
}

fn oracle(setting: &Setting, table: &TableResult, judgement: &Judgement) -> String {
    let mut text = match (&judgement.witness, judgement.explained) {
        (_, false) => "oracle: not explained, see the violation".to_owned(),
        (None, true) => format!(
            "oracle: {} promises no serial order; every commit did what its statement does on the version that it read",
            table.level
        ),
        (Some(order), true) if order.is_empty() => "oracle: no commit to explain".to_owned(),
        (Some(order), true) if order.iter().enumerate().all(|(place, version)| place == *version) => {
            "oracle: explained by the order of the log".to_owned()
        }
        (Some(order), true) => {
            let order: Vec<String> =
                order.iter().map(|&position| version_by(setting, table, table.first + position as u64)).collect();
            format!("oracle: explained by the order {}, which is not that of the log", order.join(", "))
        }
    };
    if judgement.reads_unexplained > 0 {
        text.push_str(&format!(
            "; {} saw a version that is no state of that order, which {} allows",
            count(judgement.reads_unexplained as u64, "query").replace("querys", "queries"),
            table.level
        ));
    }
    text
}

/// Text in the colour of a loser.
pub(super) fn lost(style: Style, text: &str) -> String {
    style.paint(Paint::Lost, text)
}
