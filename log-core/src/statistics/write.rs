//! Statistics as the JSON text of `add.stats`.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;

use super::{Statistics, is_finite};
use crate::value::{Value, civil_from_days, date_text, decimal_text, seconds_text};

/// Longer strings are cut, as other writers do: a bound is there to compare with, not to carry the value.
const MAX_STRING_CHARACTERS: usize = 32;

const LAST_CHARACTER: char = '\u{10FFFF}';

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bound {
    Lower,
    Upper,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    num_records: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tight_bounds: Option<bool>,
    min_values: BTreeMap<&'a str, Box<RawValue>>,
    max_values: BTreeMap<&'a str, Box<RawValue>>,
    null_count: &'a BTreeMap<String, u64>,
}

impl Statistics {
    /// The text for `add.stats`. Bounds that it cannot express exactly are widened (timestamps to milliseconds, strings to 32 characters),
    /// or left out (NaN, infinities, years outside of 1 to 9999, booleans and binary, for which the protocol has no bounds).
    pub fn to_json(&self) -> String {
        let document = Document {
            num_records: self.num_records,
            tight_bounds: self.tight_bounds,
            min_values: bounds(&self.min, Bound::Lower),
            max_values: bounds(&self.max, Bound::Upper),
            null_count: &self.null_count,
        };
        serde_json::to_string(&document).expect("maps with text keys are JSON")
    }
}

fn bounds(values: &BTreeMap<String, Value>, bound: Bound) -> BTreeMap<&str, Box<RawValue>> {
    let json = |(name, value)| {
        let raw = RawValue::from_string(bound_json(value, bound)?).ok()?;
        Some((String::as_str(name), raw))
    };
    values.iter().filter_map(json).collect()
}

fn bound_json(value: &Value, bound: Bound) -> Option<String> {
    match value {
        Value::Null | Value::Boolean(_) | Value::Binary(_) => None,
        Value::Struct(_) | Value::Array(_) | Value::Map(_) | Value::Variant(_) => None,
        Value::Byte(_) | Value::Short(_) | Value::Integer(_) | Value::Long(_) => Some(value.to_string()),
        Value::Float(x) => is_finite(value).then(|| format!("{x:?}")),
        Value::Double(x) => is_finite(value).then(|| format!("{x:?}")),
        Value::Decimal { unscaled, scale, .. } => Some(decimal_text(*unscaled, *scale)),
        Value::String(text) => serde_json::to_string(&string_bound(text, bound)).ok(),
        Value::Date(days) => readable_year(*days).then(|| format!("\"{}\"", date_text(*days))),
        Value::Timestamp(micros) => Some(format!("\"{}Z\"", milliseconds_text(*micros, bound)?)),
        Value::TimestampNtz(micros) => Some(format!("\"{}\"", milliseconds_text(*micros, bound)?)),
    }
}

/// The text, or a short bound of it. Strings are ordered by code points, so a prefix is a lower bound, and a prefix followed by a character
/// above the one that was cut off is an upper bound.
fn string_bound(text: &str, bound: Bound) -> String {
    let Some((cut, _)) = text.char_indices().nth(MAX_STRING_CHARACTERS) else {
        return text.to_owned();
    };
    let (prefix, rest) = text.split_at(cut);
    if bound == Bound::Lower {
        return prefix.to_owned();
    }
    // Nothing is above the last character: it has to stay.
    let kept = rest.len() - rest.trim_start_matches(LAST_CHARACTER).len();
    let (prefix, rest) = text.split_at(cut + kept);
    match rest.chars().next() {
        None => text.to_owned(),
        // What Spark prefers, as it is one byte.
        Some(c) if c < '\x7f' => format!("{prefix}\x7f"),
        Some(_) => format!("{prefix}{LAST_CHARACTER}"),
    }
}

/// `yyyy-MM-ddTHH:mm:ss.SSS`, rounded down for a lower bound and up for an upper one.
fn milliseconds_text(micros: i64, bound: Bound) -> Option<String> {
    let up = bound == Bound::Upper && micros.rem_euclid(1000) != 0;
    let millis = micros.div_euclid(1000) + i64::from(up);
    let days = i32::try_from(millis.div_euclid(86_400_000)).ok()?;
    let text = || format!("{}.{:03}", seconds_text(millis.div_euclid(1000), 'T'), millis.rem_euclid(1000));
    readable_year(days).then(text)
}

/// Is it a year of four digits, which every reader understands?
fn readable_year(days: i32) -> bool {
    (1..=9999).contains(&civil_from_days(days).0)
}
