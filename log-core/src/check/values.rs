//! Rules about what a commit says of the files that it adds: their partition values and statistics.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Findings, Rule, state::State};
use crate::{
    action::Action, commit::Commit, schema::PrimitiveType, statistics::parse_bound, value::parse_partition_value,
};

/// Every partition column has a value of its type.
pub(super) fn partition_values(commit: &Commit, after: &State, findings: &mut Findings) {
    let (Some(metadata), Some(Ok(schema))) = (after.metadata(), after.schema()) else { return };
    for action in &commit.actions {
        let Action::Add(add) = action else { continue };
        for column in &metadata.partition_columns {
            let Some(field) = schema.field(column) else { continue };
            let name = after.physical_name(field);
            let Some(text) = add.partition_values.get(name) else {
                findings.report(
                    Rule::PartitionValues,
                    format!("the add of '{}' has no value for partition column '{name}'", add.path),
                );
                continue;
            };
            let Some(data_type) = field.data_type.primitive() else { continue };
            if let Err(error) = parse_partition_value(text.as_deref(), data_type) {
                findings.report(
                    Rule::PartitionValues,
                    format!("the add of '{}', partition column '{name}': {error}", add.path),
                );
            }
        }
    }
}

type Raw<'a> = BTreeMap<String, &'a RawValue>;

/// Statistics make sense. Readers pass over those that do not, so it only costs time.
pub(super) fn statistics(commit: &Commit, after: &State, findings: &mut Findings) {
    for action in &commit.actions {
        let Action::Add(add) = action else { continue };
        let Some(text) = &add.stats else { continue };
        for problem in problems(text, after) {
            findings.report(Rule::Statistics, format!("the statistics of '{}': {problem}", add.path));
        }
    }
}

/// An add of which only the statistics matter.
#[derive(Deserialize)]
struct AddLine<'a> {
    #[serde(borrow)]
    add: Option<AddStatistics<'a>>,
}

#[derive(Deserialize)]
struct AddStatistics<'a> {
    #[serde(default)]
    path: String,
    #[serde(borrow)]
    stats: Option<&'a RawValue>,
}

/// Statistics are JSON inside of a text. Those that are anything else are taken for none (report 32), so that their file is always read.
pub(super) fn statistics_are_texts(commit: &Commit, bytes: &[u8], findings: &mut Findings) {
    // What was taken for none can only be where there is none.
    if !commit.actions.iter().any(|action| matches!(action, Action::Add(add) if add.stats.is_none())) {
        return;
    }
    for line in bytes.split(|byte| *byte == b'\n') {
        let Ok(AddLine { add: Some(add) }) = serde_json::from_slice(line) else { continue };
        if let Some(stats) = add.stats.filter(|stats| !stats.get().starts_with('"') && stats.get() != "null") {
            let what = short(stats.get());
            findings.report(
                Rule::Statistics,
                format!("the statistics of '{}' are no text but {what}, and count as none", add.path),
            );
        }
    }
}

fn problems(text: &str, state: &State) -> Vec<String> {
    let mut problems = Vec::new();
    let document: Raw = match serde_json::from_str(text) {
        Ok(document) => document,
        Err(error) => return vec![format!("not a JSON object: {error}")],
    };
    let mut records = None;
    if let Some(raw) = document.get("numRecords") {
        match serde_json::from_str::<u64>(raw.get()) {
            Ok(number) => records = Some(number),
            Err(_) => problems.push(format!("numRecords is {}, and must be a number from 0", short(raw.get()))),
        }
    }
    let mut part = |name: &str| -> Raw {
        let Some(raw) = document.get(name).filter(|raw| raw.get() != "null") else { return Raw::new() };
        serde_json::from_str(raw.get()).unwrap_or_else(|_| {
            problems.push(format!("{name} is {}, and must be an object", short(raw.get())));
            Raw::new()
        })
    };
    let (min, max, nulls) = (part("minValues"), part("maxValues"), part("nullCount"));
    let Some(Ok(schema)) = state.schema() else { return problems };
    for field in &schema.fields {
        let name = state.physical_name(field);
        let Some(data_type) = field.data_type.primitive() else { continue };
        let mut bound = |values: &Raw, which: &str| {
            let raw = values.get(name).filter(|raw| raw.get() != "null")?;
            let value = parse_bound(raw.get(), data_type);
            if value.is_none() && !is_undefined(raw.get(), data_type) {
                problems.push(format!(
                    "the {which} of column '{name}' is {}, which is not a value of type {data_type}",
                    short(raw.get())
                ));
            }
            value
        };
        let (least, greatest) = (bound(&min, "minimum"), bound(&max, "maximum"));
        if let (Some(least), Some(greatest)) = (least, greatest)
            && least > greatest
        {
            problems.push(format!("the minimum of column '{name}' is {least}, and the maximum is {greatest}"));
        }
        if let Some(raw) = nulls.get(name).filter(|raw| raw.get() != "null") {
            match (serde_json::from_str::<u64>(raw.get()), records) {
                (Err(_), _) => problems.push(format!(
                    "the nullCount of column '{name}' is {}, and must be a number from 0",
                    short(raw.get())
                )),
                (Ok(nulls), Some(records)) if nulls > records => {
                    problems.push(format!("column '{name}' has {nulls} NULLs in {records} rows"));
                }
                _ => {}
            }
        }
    }
    problems
}

/// Is it a bound of which the protocol does not say how it is written? Those of binary values, and what JSON has no number for.
fn is_undefined(json: &str, data_type: PrimitiveType) -> bool {
    match data_type {
        PrimitiveType::Binary => true,
        PrimitiveType::Float | PrimitiveType::Double => {
            matches!(json, r#""NaN""# | r#""Infinity""# | r#""-Infinity""#)
        }
        _ => false,
    }
}

/// The beginning of a text of which nobody knows how long it is.
fn short(text: &str) -> String {
    const CHARACTERS: usize = 40;
    match text.char_indices().nth(CHARACTERS) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}...", &text[..end]),
    }
}
