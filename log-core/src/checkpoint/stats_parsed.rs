//! Statistics that a checkpoint has as columns only, as the text that the log would have.

use std::fmt::Write;

use arrow::{
    array::{Array, AsArray, StructArray},
    datatypes::{
        DataType as ArrowType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
        Int64Type, TimeUnit, TimestampMicrosecondType, TimestampMillisecondType,
    },
};

use crate::value::{civil_from_days, date_text, decimal_text, seconds_text};

/// The text of `stats`, made from `stats_parsed` of an add; `None` when there are none either.
///
/// A bound is left out, which is always allowed, where it is NaN or infinite, of a year that has not four digits, or of a type for which statistics have no
/// bounds. So is a time in nanoseconds: it was stored as INT96, and may have lost its upper bits.
pub(super) fn text(add: &StructArray, row: usize) -> Option<String> {
    let stats = add.column_by_name("stats_parsed")?.as_struct_opt()?;
    stats.is_valid(row).then(|| {
        let mut out = String::new();
        write_struct(stats, row, &mut out);
        out
    })
}

/// A time that is not null as text, without quotes.
pub(super) fn instant(array: &dyn Array, row: usize) -> Option<String> {
    let mut out = String::new();
    write_value(array, row, &mut out).then(|| out.trim_matches('"').to_owned())
}

fn write_struct(array: &StructArray, row: usize, out: &mut String) {
    out.push('{');
    let begin = out.len();
    for (name, column) in array.column_names().into_iter().zip(array.columns()) {
        if column.is_null(row) {
            continue;
        }
        let before = out.len();
        if before > begin {
            out.push(',');
        }
        out.push_str(&quoted(name));
        out.push(':');
        if !write_value(column, row, out) {
            out.truncate(before);
        }
    }
    out.push('}');
}

/// Was there something to write?
fn write_value(array: &dyn Array, row: usize, out: &mut String) -> bool {
    let text = match array.data_type() {
        ArrowType::Struct(_) => {
            write_struct(array.as_struct(), row, out);
            return true;
        }
        ArrowType::Boolean => Some(array.as_boolean().value(row).to_string()),
        ArrowType::Int8 => Some(array.as_primitive::<Int8Type>().value(row).to_string()),
        ArrowType::Int16 => Some(array.as_primitive::<Int16Type>().value(row).to_string()),
        ArrowType::Int32 => Some(array.as_primitive::<Int32Type>().value(row).to_string()),
        ArrowType::Int64 => Some(array.as_primitive::<Int64Type>().value(row).to_string()),
        ArrowType::Float32 => finite(array.as_primitive::<Float32Type>().value(row)),
        ArrowType::Float64 => finite(array.as_primitive::<Float64Type>().value(row)),
        ArrowType::Utf8 => Some(quoted(array.as_string::<i32>().value(row))),
        ArrowType::Decimal128(_, scale) => u8::try_from(*scale)
            .ok()
            .map(|scale| decimal_text(array.as_primitive::<Decimal128Type>().value(row), scale)),
        ArrowType::Date32 => date(array.as_primitive::<Date32Type>().value(row)),
        ArrowType::Timestamp(TimeUnit::Microsecond, zone) => {
            time(array.as_primitive::<TimestampMicrosecondType>().value(row), zone.is_some())
        }
        ArrowType::Timestamp(TimeUnit::Millisecond, zone) => {
            let millis = array.as_primitive::<TimestampMillisecondType>().value(row);
            millis.checked_mul(1000).and_then(|micros| time(micros, zone.is_some()))
        }
        _ => None,
    };
    text.inspect(|text| out.push_str(text)).is_some()
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a text is JSON")
}

fn finite<T: Into<f64> + Copy + std::fmt::Debug>(x: T) -> Option<String> {
    x.into().is_finite().then(|| format!("{x:?}"))
}

fn readable_year(days: i32) -> bool {
    (1..=9999).contains(&civil_from_days(days).0)
}

fn date(days: i32) -> Option<String> {
    readable_year(days).then(|| format!("\"{}\"", date_text(days)))
}

fn time(micros: i64, is_instant: bool) -> Option<String> {
    let seconds = micros.div_euclid(1_000_000);
    let days = i32::try_from(seconds.div_euclid(86_400)).ok()?;
    readable_year(days).then(|| {
        let mut text = format!("\"{}.{:06}", seconds_text(seconds, 'T'), micros.rem_euclid(1_000_000));
        let _ = write!(text, "{}\"", if is_instant { "Z" } else { "" });
        text
    })
}
