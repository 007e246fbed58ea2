//! `add.stats`: what a file says about its columns ("Per-file Statistics" of the protocol), and which files it lets a reader skip.
//!
//! Statistics may be absent in whole or in part, and a part that makes no sense counts as absent: they only ever help to leave out a file
//! that provably has no matching row.

mod collect;
mod skip;
#[cfg(test)]
mod tests;
mod write;

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::{
    schema::{Field, PrimitiveType, Schema},
    value::{Value, parse_text},
};

/// Statistics of the top-level columns of primitive types, by the names of the schema that the data files use: under column mapping the physical ones
/// ([`Layout::physical`](crate::layout::Layout::physical)). Those of nested fields are not used.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Rows of the file, deleted ones included.
    pub num_records: Option<u64>,
    /// A lower bound of the values of a column that are neither NULL nor NaN.
    pub min: BTreeMap<String, Value>,
    /// An upper bound of the values of a column that are neither NULL nor NaN. A timestamp may have lost what is below the millisecond.
    pub max: BTreeMap<String, Value>,
    /// How many values are NULL, deleted rows included.
    pub null_count: BTreeMap<String, u64>,
    /// Were bounds and counts exact when they were written? They may be wide when rows are deleted by a deletion vector.
    pub tight_bounds: Option<bool>,
}

type Raw<'a> = BTreeMap<String, &'a RawValue>;

impl Statistics {
    /// Reads the text of `add.stats`. It never fails: what is malformed, of another type, contradictory (a minimum above the maximum, more
    /// NULLs than rows) or about unknown columns is left out.
    pub fn parse(text: &str, schema: &Schema) -> Self {
        let document: Raw = serde_json::from_str(text).unwrap_or_default();
        let part = |name: &str| -> Raw {
            document.get(name).and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
        };
        let (min_values, max_values, null_counts) = (part("minValues"), part("maxValues"), part("nullCount"));
        let mut statistics = Self {
            num_records: document.get("numRecords").and_then(|raw| serde_json::from_str(raw.get()).ok()),
            tight_bounds: document.get("tightBounds").and_then(|raw| serde_json::from_str(raw.get()).ok()),
            ..Self::default()
        };
        for field in &schema.fields {
            let name = &field.name;
            let Some(data_type) = field.data_type.primitive() else { continue };
            let bound = |values: &Raw| values.get(name).and_then(|raw| parse_bound(raw.get(), data_type));
            let (min, max) = (bound(&min_values), bound(&max_values));
            // A float's bound is written with the digits of a float: read as a double it is another number, on either side of the true one.
            let (min, max) = if was_float(field) { (None, None) } else { (min, max) };
            let contradictory = min.as_ref().zip(max.as_ref()).is_some_and(|(min, max)| min > max);
            if !contradictory {
                statistics.min.extend(min.map(|min| (name.clone(), min)));
                statistics.max.extend(max.map(|max| (name.clone(), max)));
            }
            let nulls: Option<u64> = null_counts.get(name).and_then(|raw| serde_json::from_str(raw.get()).ok());
            let nulls = nulls.filter(|nulls| statistics.num_records.is_none_or(|records| *nulls <= records));
            statistics.null_count.extend(nulls.map(|nulls| (name.clone(), nulls)));
        }
        statistics
    }
}

/// Was the column a float when some of its files were written (table feature `typeWidening`)?
fn was_float(field: &Field) -> bool {
    let changes = field.metadata.get("delta.typeChanges").and_then(serde_json::Value::as_array);
    changes
        .into_iter()
        .flatten()
        .any(|change| change.get("fromType").and_then(serde_json::Value::as_str) == Some("float"))
}

/// A bound from its JSON. Numbers are read from their own text: a detour by a double would move a bound.
pub(crate) fn parse_bound(json: &str, data_type: PrimitiveType) -> Option<Value> {
    if data_type.is_numeric() {
        // Quoted, as some writers put `"NaN"` or `"Infinity"`, it is no number and fails here.
        return parse_text(json, data_type).ok().filter(is_finite);
    }
    match data_type {
        PrimitiveType::Boolean => serde_json::from_str(json).ok().map(Value::Boolean),
        // Bounds of binary columns are not defined.
        PrimitiveType::Binary => None,
        _ => parse_text(&serde_json::from_str::<String>(json).ok()?, data_type).ok(),
    }
}

/// Can JSON express this number?
fn is_finite(value: &Value) -> bool {
    match value {
        Value::Float(x) => x.is_finite(),
        Value::Double(x) => x.is_finite(),
        _ => true,
    }
}
