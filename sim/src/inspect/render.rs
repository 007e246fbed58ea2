//! Tables as text and as JSON.

use std::ops::RangeInclusive;

use log_core::{
    history::{Details, HistoryRow},
    path::Version,
    schema::{DataType, Schema},
    time_travel::{Instant, Zone},
    value::Value,
};
use serde_json::{Map, Value as Json, json};
use unicode_width::UnicodeWidthStr;

use super::{FileRow, TableDigest};
use crate::report::{
    Verdict,
    grid::{Align, Grid},
    json::SCHEMA,
    text::paragraph,
};

/// Columns of the history that are left out first where there is no room.
const LESS: [&str; 10] = [
    "clusterId",
    "notebook",
    "job",
    "userId",
    "engineInfo",
    "userMetadata",
    "isBlindAppend",
    "isolationLevel",
    "userName",
    "readVersion",
];
/// Columns that are shown whole.
const WHOLE: [&str; 6] = ["version", "timestamp", "operation", "readVersion", "isolationLevel", "isBlindAppend"];
/// As much of another column as is worth showing.
const WORTH: usize = 20;

/// The history as a table that fits a width, with times by the wall clock of a zone. Columns in which nothing stands are left out, and so are some where
/// there is no room, which is said, as are versions that cannot be rebuilt.
pub fn history_text(rows: &[HistoryRow], zone: Zone, width: usize) -> String {
    let cells: Vec<[String; 15]> =
        rows.iter().map(|row| history_cells(row, zone).map(|cell| one_line(&cell))).collect();
    let wide = |column: usize| {
        let heading = HistoryRow::COLUMNS[column];
        let most = cells.iter().map(|row| row[column].width()).max().unwrap_or(0).max(heading.width());
        if WHOLE.contains(&heading) { most } else { most.min(WORTH) }
    };
    let mut shown: Vec<usize> = (0..HistoryRow::COLUMNS.len())
        .filter(|column| *column == 0 || cells.iter().any(|row| !row[*column].is_empty()))
        .collect();
    let mut left_out = Vec::new();
    for name in LESS {
        if shown.iter().map(|column| wide(*column) + 2).sum::<usize>() <= width.saturating_add(2) {
            break;
        }
        if let Some(position) = shown.iter().position(|column| HistoryRow::COLUMNS[*column] == name) {
            left_out.push(HistoryRow::COLUMNS[shown.remove(position)]);
        }
    }
    let align = |name: &str| if matches!(name, "version" | "readVersion") { Align::Right } else { Align::Left };
    let names = shown.iter().map(|column| HistoryRow::COLUMNS[*column]);
    let mut grid = Grid::new(names.map(|name| (name, align(name))));
    grid.keep(&WHOLE);
    for row in &cells {
        grid.row(shown.iter().map(|column| row[*column].clone()));
    }
    let mut text = grid.render(0, width);
    if !left_out.is_empty() {
        text.push_str(&format!("(no room for {}: see --width or --json)\n", left_out.join(", ")));
    }
    let gone = ranges(rows.iter().rev().filter(|row| !row.rebuildable).map(|row| row.version));
    if !gone.is_empty() {
        let gone = gone.iter().map(version_range).collect::<Vec<_>>().join(", ");
        text.push_str(&paragraph(
            "(",
            &format!("not to be rebuilt, as older commits or checkpoints are gone: {gone})"),
            width,
        ));
    }
    text
}

/// Versions from old to new as ranges.
fn ranges(versions: impl Iterator<Item = Version>) -> Vec<RangeInclusive<Version>> {
    let mut ranges: Vec<RangeInclusive<Version>> = Vec::new();
    for version in versions {
        match ranges.last_mut() {
            Some(range) if range.end().next() == version => *range = *range.start()..=version,
            _ => ranges.push(version..=version),
        }
    }
    ranges
}

/// `3-9`, or `3` for a single one.
pub(super) fn version_range(range: &RangeInclusive<Version>) -> String {
    if range.start() == range.end() { range.start().to_string() } else { format!("{}-{}", range.start(), range.end()) }
}

/// Operation parameters in which JSON that a writer has put into a text is shown without its quotes.
fn parameters(details: &Details) -> String {
    let Details::Named(named) = details else { return details.to_string() };
    let readable = |text: &str| match serde_json::from_str(text) {
        Ok(value @ (Json::Array(_) | Json::Object(_))) => bare(&value),
        _ => text.to_owned(),
    };
    let pairs: Vec<String> = named.iter().map(|(name, value)| format!("{name}: {}", readable(value))).collect();
    pairs.join(", ")
}

/// JSON without quotes.
fn bare(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Array(items) => format!("[{}]", items.iter().map(bare).collect::<Vec<_>>().join(", ")),
        Json::Object(map) => {
            let pairs: Vec<String> = map.iter().map(|(name, value)| format!("{name}: {}", bare(value))).collect();
            format!("{{{}}}", pairs.join(", "))
        }
        other => other.to_string(),
    }
}

fn history_cells(row: &HistoryRow, zone: Zone) -> [String; 15] {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    [
        row.version.to_string(),
        Instant::of_millis(row.timestamp).text(zone),
        text(&row.user_id),
        text(&row.user_name),
        row.operation.clone().unwrap_or_else(|| "unknown".to_owned()),
        parameters(&row.operation_parameters),
        text(&row.job),
        text(&row.notebook),
        text(&row.cluster_id),
        text(&row.read_version),
        text(&row.isolation_level),
        text(&row.is_blind_append),
        row.operation_metrics.to_string(),
        text(&row.user_metadata),
        text(&row.engine_info),
    ]
}

/// The history as JSON: texts, and null for what a commit does not say; the timestamp in milliseconds, and as text by the wall clock of a zone.
pub fn history_json(rows: &[HistoryRow], zone: Zone) -> String {
    let row = |row: &HistoryRow| {
        json!({
            "version": row.version.0,
            "timestamp": row.timestamp,
            "timestampText": Instant::of_millis(row.timestamp).text(zone),
            "rebuildable": row.rebuildable,
            "userId": row.user_id,
            "userName": row.user_name,
            "operation": row.operation,
            "operationParameters": details(&row.operation_parameters),
            "job": row.job,
            "notebook": row.notebook,
            "clusterId": row.cluster_id,
            "readVersion": row.read_version,
            "isolationLevel": row.isolation_level,
            "isBlindAppend": row.is_blind_append,
            "operationMetrics": details(&row.operation_metrics),
            "userMetadata": row.user_metadata,
            "engineInfo": row.engine_info,
        })
    };
    document("history", [("history", rows.iter().map(row).collect())])
}

fn details(details: &Details) -> Json {
    match details {
        Details::Absent => Json::Null,
        Details::Text(text) => text.as_str().into(),
        Details::Named(named) => json!(named),
    }
}

/// Live files as a table that fits a width.
pub fn files_text(files: &[FileRow], version: Version, width: usize) -> String {
    let mut grid =
        Grid::new([("path", Align::Left), ("partition", Align::Left), ("bytes", Align::Right), ("rows", Align::Right)]);
    for file in files {
        let partition = file.partition_values.iter().map(|(column, value)| match value {
            Some(value) => format!("{column}={value}"),
            None => format!("{column}=NULL"),
        });
        grid.row([
            one_line(&file.path),
            one_line(&partition.collect::<Vec<_>>().join("/")),
            file.size.to_string(),
            file.rows.map_or("unknown".to_owned(), |rows| rows.to_string()),
        ]);
    }
    format!("{}({}, version {version})\n", grid.render(0, width), count(files.len(), "file"))
}

/// Live files as JSON.
pub fn files_json(files: &[FileRow], version: Version) -> String {
    let file = |file: &FileRow| {
        json!({
            "path": file.path,
            "partition_values": file.partition_values,
            "size": file.size,
            "rows": file.rows,
            "modification_time": file.modified_ms,
        })
    };
    document("files", [("version", version.0.into()), ("files", files.iter().map(file).collect())])
}

/// Rows as a table that fits a width. A line break in a text is spelled out.
pub fn rows_text(schema: &Schema, rows: &[Vec<Value>], version: Version, width: usize) -> String {
    let names: Vec<String> = schema.fields.iter().map(|field| one_line(&field.name)).collect();
    let mut grid = Grid::new(schema.fields.iter().zip(&names).map(|(field, name)| {
        let numeric = field.data_type.primitive().is_some_and(|data_type| data_type.is_numeric());
        (name.as_str(), if numeric { Align::Right } else { Align::Left })
    }));
    for row in rows {
        grid.row(row.iter().map(|value| one_line(&value.to_string())));
    }
    format!("{}({}, version {version})\n", grid.render(0, width), count(rows.len(), "row"))
}

/// Rows as JSON: an object each. Numbers and booleans as themselves, structs as objects, arrays as arrays, maps as arrays of objects `key`, `value`,
/// variants as what they hold, everything else as text; a floating-point number that JSON has not, and a decimal, are text too.
pub fn rows_json(schema: &Schema, rows: &[Vec<Value>], version: Version) -> String {
    let columns: Json = schema
        .fields
        .iter()
        .map(|field| json!({ "name": field.name, "type": field.data_type.to_string(), "nullable": field.nullable }))
        .collect();
    let row = |row: &Vec<Value>| -> Map<String, Json> {
        schema
            .fields
            .iter()
            .zip(row)
            .map(|(field, value)| (field.name.clone(), value_json(value, &field.data_type)))
            .collect()
    };
    let rows = rows.iter().map(|values| Json::Object(row(values))).collect();
    document("read", [("version", version.0.into()), ("columns", columns), ("rows", rows)])
}

fn value_json(value: &Value, data_type: &DataType) -> Json {
    match (value, data_type) {
        (Value::Struct(parts), DataType::Struct(schema)) => {
            let parts = schema.fields.iter().zip(parts.iter());
            Json::Object(parts.map(|(field, part)| (field.name.clone(), value_json(part, &field.data_type))).collect())
        }
        (Value::Array(parts), DataType::Array { element, .. }) => {
            parts.iter().map(|part| value_json(part, element)).collect()
        }
        (Value::Map(entries), DataType::Map { key, value, .. }) => {
            let entry = |(k, v): &(Value, Value)| json!({ "key": value_json(k, key), "value": value_json(v, value) });
            entries.iter().map(entry).collect()
        }
        (Value::Variant(variant), _) => variant.to_json().unwrap_or_else(|_| variant.to_string().into()),
        (value, _) => plain_json(value),
    }
}

fn plain_json(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Boolean(x) => (*x).into(),
        Value::Byte(x) => (*x).into(),
        Value::Short(x) => (*x).into(),
        Value::Integer(x) => (*x).into(),
        Value::Long(x) => (*x).into(),
        Value::Float(x) if x.is_finite() => json!(x),
        Value::Double(x) if x.is_finite() => json!(x),
        other => other.to_string().into(),
    }
}

/// The names of the columns as a line of comma-separated values (RFC 4180).
pub fn csv_heading(schema: &Schema) -> String {
    csv_line(schema.fields.iter().map(|field| csv_text(&field.name)))
}

/// A row as a line of comma-separated values. NULL is nothing, the empty text is `""`; what has parts is JSON.
pub fn csv_row(schema: &Schema, row: &[Value]) -> String {
    csv_line(schema.fields.iter().zip(row).map(|(field, value)| match value {
        Value::Null => String::new(),
        Value::Struct(_) | Value::Array(_) | Value::Map(_) => {
            csv_text(&value_json(value, &field.data_type).to_string())
        }
        value => csv_text(&value.to_string()),
    }))
}

fn csv_line(cells: impl Iterator<Item = String>) -> String {
    format!("{}\r\n", cells.collect::<Vec<_>>().join(","))
}

fn csv_text(text: &str) -> String {
    let plain = !text.is_empty() && !text.contains(['"', ',', '\n', '\r']);
    if plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}

impl TableDigest {
    /// The digest as JSON.
    pub fn json(&self) -> String {
        document(
            "digest",
            [
                ("version", self.version.0.into()),
                ("active_files", self.active_files.into()),
                ("rows", self.rows.into()),
                ("rows_sha256", self.rows_sha256.as_str().into()),
            ],
        )
    }
}

pub(super) fn document<const N: usize>(command: &str, fields: [(&str, Json); N]) -> String {
    let mut document = Map::new();
    document.insert("schema".to_owned(), SCHEMA.into());
    document.insert("command".to_owned(), command.into());
    document.insert("verdict".to_owned(), Verdict::Pass.name().into());
    document.extend(fields.map(|(name, value)| (name.to_owned(), value)));
    format!("{:#}\n", Json::Object(document))
}

fn count(number: usize, one: &str) -> String {
    format!("{number} {one}{}", if number == 1 { "" } else { "s" })
}

/// A text whose control characters are spelled out, so that it stays on its line and says nothing to the terminal.
pub(super) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\u{2028}' | '\u{2029}' => line.extend(character.escape_unicode()),
            character if character.is_control() => line.extend(character.escape_default()),
            character => line.push(character),
        }
    }
    line
}
