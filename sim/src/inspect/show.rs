//! A table as a whole: protocol, properties, schema, sizes, versions.

use std::{ops::RangeInclusive, path::PathBuf, sync::Arc};

use log_core::{
    path::Version,
    schema::{DataType, Schema},
    snapshot::Snapshot,
    time_travel::{Instant, Zone},
};
use serde_json::{Value as Json, json};

use super::{
    FileRow,
    render::{document, version_range},
};
use crate::report::text::{count, one_line, paragraph};

/// What is known of a table at a version.
#[derive(Clone, Debug)]
pub struct TableFacts {
    /// Its folder.
    pub path: PathBuf,
    /// What the log says.
    pub snapshot: Arc<Snapshot>,
    /// Its live files.
    pub files: Vec<FileRow>,
    /// When the version was committed; `None` where its commit is gone.
    pub committed: Option<Instant>,
    /// Commits that are still in the log.
    pub commits: usize,
    /// The earliest version that can be rebuilt, and when it was committed.
    pub earliest: Option<(Version, Option<Instant>)>,
    /// The newest version, and when it was committed.
    pub newest: (Version, Option<Instant>),
    /// The versions that can be rebuilt.
    pub rebuildable: Vec<RangeInclusive<Version>>,
}

impl TableFacts {
    fn bytes(&self) -> i64 {
        self.files.iter().fold(0, |sum, file| sum.saturating_add(file.size))
    }

    /// The rows of the files that say how many they have, and whether those are all.
    fn rows(&self) -> (u64, bool) {
        let known = self.files.iter().filter_map(|file| file.rows).fold(0, u64::saturating_add);
        (known, self.files.iter().all(|file| file.rows.is_some()))
    }

    /// Features that no list names, and the version numbers bring.
    fn implied(&self) -> Vec<&str> {
        let protocol = &self.snapshot.protocol;
        let listed = |feature: &&str| {
            [&protocol.reader_features, &protocol.writer_features]
                .into_iter()
                .flatten()
                .flatten()
                .any(|one| one == feature)
        };
        protocol.features().into_iter().filter(|feature| !listed(feature)).collect()
    }
}

/// A table as text that fits a width, with times by the wall clock of a zone.
pub fn show_text(facts: &TableFacts, zone: Zone, width: usize) -> String {
    let snapshot = &facts.snapshot;
    let (protocol, metadata) = (&snapshot.protocol, &snapshot.metadata);
    let at = |instant: &Option<Instant>| instant.map_or("at an unknown time".to_owned(), |at| at.text(zone));
    let list = |names: &Option<Vec<String>>| names.as_ref().map_or(String::new(), |names| names.join(", "));
    let mut lines: Vec<(&str, String)> = vec![
        ("table", facts.path.display().to_string()),
        ("version", format!("{}, committed {}", snapshot.version, at(&facts.committed))),
        ("id", metadata.id.clone()),
        ("name", metadata.name.clone().unwrap_or_default()),
        ("description", metadata.description.clone().unwrap_or_default()),
        ("created", metadata.created_time.map_or(String::new(), |ms| Instant::of_millis(ms).text(zone))),
        ("protocol", format!("reader {}, writer {}", protocol.min_reader_version, protocol.min_writer_version)),
        ("reader features", list(&protocol.reader_features)),
        ("writer features", list(&protocol.writer_features)),
        ("implied features", facts.implied().join(", ")),
    ];
    let partitions = snapshot.partition_columns();
    lines.push(("partitioned by", if partitions.is_empty() { "nothing".to_owned() } else { partitions.join(", ") }));
    let rows = match facts.rows() {
        (rows, true) => count(rows, "row"),
        (rows, false) => format!("at least {}, as not every file says how many it has", count(rows, "row")),
    };
    let bytes = count(u64::try_from(facts.bytes()).unwrap_or(0), "byte");
    lines.push(("size", format!("{}, {bytes}, {rows}", count(facts.files.len() as u64, "live file"))));
    let rebuildable = match facts.rebuildable.as_slice() {
        [] => "none can be rebuilt".to_owned(),
        ranges => format!("{} can be rebuilt", ranges.iter().map(version_range).collect::<Vec<_>>().join(", ")),
    };
    lines.push(("versions", format!("{rebuildable}; {} in the log", count(facts.commits as u64, "commit"))));
    if let Some((version, time)) = &facts.earliest {
        lines.push(("earliest", format!("version {version}, {}", at(time))));
    }
    lines.push(("newest", format!("version {}, {}", facts.newest.0, at(&facts.newest.1))));

    let mut text = String::new();
    for (name, value) in lines.iter().filter(|(_, value)| !value.is_empty()) {
        text.push_str(&paragraph(&format!("{name:<18}"), &one_line(value), width));
    }
    text.push_str("columns\n");
    tree(&snapshot.schema, 1, width, &mut text);
    let mut section = |name: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            text.push_str(&format!("{name}\n"));
            lines.iter().for_each(|line| text.push_str(&paragraph("  ", line, width)));
        }
    };
    let properties = metadata.configuration.iter().map(|(key, value)| format!("{key} = {value}"));
    section("properties", properties.collect());
    let transactions = snapshot.transactions.values().map(|transaction| {
        let updated = transaction.last_updated.map(|ms| format!(", updated {}", Instant::of_millis(ms).text(zone)));
        format!("{} at {}{}", transaction.app_id, transaction.version, updated.unwrap_or_default())
    });
    section("application transactions", transactions.collect());
    let domains = snapshot.domains.values().map(|domain| format!("{} = {}", domain.domain, domain.configuration));
    section("domains", domains.collect());
    text
}

/// A line per field, its fields below it.
fn tree(schema: &Schema, depth: usize, width: usize, text: &mut String) {
    for field in &schema.fields {
        let null = if field.nullable { "" } else { " not null" };
        let comment = field.metadata.get("comment").and_then(|comment| comment.as_str());
        let comment = comment.map_or(String::new(), |comment| format!(" -- {comment}"));
        let line = format!("{}: {}{null}{comment}", field.name, head(&field.data_type));
        text.push_str(&paragraph(&"  ".repeat(depth), &line, width));
        below(&field.data_type, depth + 1, width, text);
    }
}

/// A type without the fields inside it.
fn head(data_type: &DataType) -> String {
    let or_null = |head: String, may: bool| if may { head } else { format!("{head} not null") };
    match data_type {
        DataType::Struct(_) => "struct".to_owned(),
        DataType::Array { element, contains_null } => format!("array of {}", or_null(head(element), *contains_null)),
        DataType::Map { key, value, value_contains_null } => {
            format!("map of {} to {}", head(key), or_null(head(value), *value_contains_null))
        }
        primitive => primitive.to_string(),
    }
}

fn below(data_type: &DataType, depth: usize, width: usize, text: &mut String) {
    match data_type {
        DataType::Struct(schema) => tree(schema, depth, width, text),
        DataType::Array { element, .. } => below(element, depth, width, text),
        DataType::Map { key, value, .. } => {
            below(key, depth, width, text);
            below(value, depth, width, text);
        }
        _ => {}
    }
}

/// A table as JSON. Times are in milliseconds since the epoch, and as text by the wall clock of a zone.
pub fn show_json(facts: &TableFacts, zone: Zone) -> String {
    let snapshot = &facts.snapshot;
    let (protocol, metadata) = (&snapshot.protocol, &snapshot.metadata);
    let at = |instant: &Option<Instant>| {
        instant.map_or(Json::Null, |at| json!({ "ms": at.millis(), "text": at.text(zone) }))
    };
    let (rows, rows_exact) = facts.rows();
    let ranges = facts.rebuildable.iter().map(|range| json!([range.start().0, range.end().0])).collect::<Json>();
    let transactions = snapshot.transactions.values().map(|transaction| {
        json!({
            "app_id": transaction.app_id,
            "version": transaction.version,
            "last_updated": transaction.last_updated,
        })
    });
    let domains = snapshot.domains.values();
    let domains = domains.map(|domain| json!({ "domain": domain.domain, "configuration": domain.configuration }));
    document(
        "show",
        [
            ("table", facts.path.display().to_string().into()),
            ("version", snapshot.version.0.into()),
            ("committed", at(&facts.committed)),
            ("id", metadata.id.as_str().into()),
            ("name", metadata.name.clone().into()),
            ("description", metadata.description.clone().into()),
            ("created_time", metadata.created_time.into()),
            (
                "protocol",
                json!({
                    "min_reader_version": protocol.min_reader_version,
                    "min_writer_version": protocol.min_writer_version,
                    "reader_features": protocol.reader_features,
                    "writer_features": protocol.writer_features,
                    "implied_features": facts.implied(),
                    "features": protocol.features(),
                }),
            ),
            ("properties", json!(metadata.configuration)),
            ("partition_columns", json!(snapshot.partition_columns())),
            ("columns", json!(snapshot.schema.fields)),
            ("active_files", facts.files.len().into()),
            ("bytes", facts.bytes().into()),
            ("rows", rows.into()),
            ("rows_exact", rows_exact.into()),
            ("commits", facts.commits.into()),
            ("rebuildable", ranges),
            (
                "earliest",
                facts
                    .earliest
                    .as_ref()
                    .map_or(Json::Null, |(version, time)| json!({ "version": version.0, "at": at(time) })),
            ),
            ("newest", json!({ "version": facts.newest.0.0, "at": at(&facts.newest.1) })),
            ("transactions", transactions.collect()),
            ("domains", domains.collect()),
        ],
    )
}
