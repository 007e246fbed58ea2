//! Values and their text, by the rules of Spark's CAST from and to string.

#[cfg(test)]
mod tests;

use std::fmt::{self, Write as _};

use super::{
    Value,
    calendar::{MICROS_PER_DAY, MICROS_PER_SECOND, date_text, days_from_civil, days_in_month, seconds_text},
};
use crate::schema::PrimitiveType;

/// A text that is no value of a type.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("'{text}' is not a value of type {data_type}")]
pub struct ParseValueError {
    /// The text.
    pub text: String,
    /// The type that was asked for.
    pub data_type: PrimitiveType,
}

/// Reads a value of a type from text, as CAST does: blanks around it do not count, except for strings and binary.
///
/// A timestamp without a zone is UTC. A zone in the text of a `timestamp_ntz` is dropped. Zones are offsets or UTC; regions, and times
/// without a date, need a calendar of zones and a clock, and are errors.
///
/// # Errors
/// When the text is not of the type.
pub fn parse_text(text: &str, data_type: PrimitiveType) -> Result<Value, ParseValueError> {
    let trimmed = text.trim_matches(|c: char| c <= ' ' || c == '\x7f');
    let value = match data_type {
        PrimitiveType::Boolean => parse_boolean(trimmed).map(Value::Boolean),
        PrimitiveType::Byte => trimmed.parse().ok().map(Value::Byte),
        PrimitiveType::Short => trimmed.parse().ok().map(Value::Short),
        PrimitiveType::Integer => trimmed.parse().ok().map(Value::Integer),
        PrimitiveType::Long => trimmed.parse().ok().map(Value::Long),
        PrimitiveType::Float => floating_text(trimmed).and_then(|text| text.parse().ok()).map(Value::Float),
        PrimitiveType::Double => floating_text(trimmed).and_then(|text| text.parse().ok()).map(Value::Double),
        PrimitiveType::Decimal { precision, scale } => {
            parse_decimal(trimmed, precision, scale).map(|unscaled| Value::Decimal { unscaled, precision, scale })
        }
        PrimitiveType::String => Some(Value::String(text.to_owned())),
        PrimitiveType::Binary => Some(Value::Binary(text.as_bytes().to_vec())),
        PrimitiveType::Date => parse_date(trimmed).map(|(days, _)| Value::Date(days)),
        PrimitiveType::Timestamp => {
            parse_timestamp(trimmed).map(|(micros, offset)| Value::Timestamp(micros - offset * MICROS_PER_SECOND))
        }
        PrimitiveType::TimestampNtz => parse_timestamp(trimmed).map(|(micros, _)| Value::TimestampNtz(micros)),
    };
    value.ok_or_else(|| ParseValueError { text: text.to_owned(), data_type })
}

fn parse_boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "t" | "true" | "y" | "yes" | "1" => Some(true),
        "f" | "false" | "n" | "no" | "0" => Some(false),
        _ => None,
    }
}

/// The text of a floating-point number as Rust reads it: Java's suffixes cut off, Spark's spellings of the special values brought to one.
fn floating_text(text: &str) -> Option<&str> {
    match text.to_ascii_lowercase().as_str() {
        "inf" | "+inf" | "infinity" | "+infinity" => return Some("inf"),
        "-inf" | "-infinity" => return Some("-inf"),
        "nan" => return Some("nan"),
        _ => {}
    }
    let number = text.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(text);
    let plain = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-');
    number.chars().all(plain).then_some(number)
}

/// The unscaled number of a decimal text, rounded half-up to the scale; `None` when it is malformed or needs more digits than `precision`.
pub(crate) fn parse_decimal(text: &str, precision: u8, scale: u8) -> Option<i128> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, i64::from(exponent.parse::<i32>().ok()?)),
        None => (text, 0),
    };
    let negative = mantissa.starts_with('-');
    let mantissa = mantissa.strip_prefix(['+', '-']).unwrap_or(mantissa);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let leading = digits.iter().take_while(|&&digit| digit == b'0').count();
    let significant = &digits[leading..];
    if significant.is_empty() {
        return Some(0);
    }
    // How many of the significant digits stand left of the last place that the scale keeps; zeros follow where there are too few.
    let kept = significant.len() as i64 + exponent - fraction.len() as i64 + i64::from(scale);
    if kept > i64::from(precision) {
        return None;
    }
    let digit = |index: i64| {
        let digit = usize::try_from(index).ok().and_then(|index| significant.get(index));
        digit.map_or(0, |digit| i128::from(digit - b'0'))
    };
    let mut unscaled = (0..kept).fold(0, |sum, index| sum * 10 + digit(index));
    if digit(kept) >= 5 {
        unscaled += 1;
    }
    let fits = unscaled < 10_i128.pow(u32::from(precision));
    fits.then_some(if negative { -unscaled } else { unscaled })
}

/// Days since the epoch of the date at the front of a text, and what follows its `T` or blank.
fn parse_date(text: &str) -> Option<(i32, Option<&str>)> {
    let (date, rest) = match text.split_once(['T', ' ']) {
        Some((date, rest)) => (date, Some(rest)),
        None => (text, None),
    };
    let mut parts = date.strip_prefix('+').unwrap_or(date).split('-');
    let year = parts.next().filter(|year| year.len() == 4).and_then(|year| number(year, 4))?;
    let month = parts.next().map_or(Some(1), |month| number(month, 2))?;
    let day = parts.next().map_or(Some(1), |day| number(day, 2))?;
    // Only a whole date may have something behind it.
    let complete = date.matches('-').count() == 2;
    let exists = (complete || rest.is_none())
        && parts.next().is_none()
        && year >= 1
        && (1..=12).contains(&month)
        && (1..=days_in_month(year as i32, month)).contains(&day);
    exists.then(|| (days_from_civil(year as i32, month, day), rest))
}

/// Local microseconds since the epoch and the offset of the zone from UTC in seconds.
fn parse_timestamp(text: &str) -> Option<(i64, i64)> {
    let (days, rest) = parse_date(text)?;
    let midnight = i64::from(days) * MICROS_PER_DAY;
    let rest = rest.unwrap_or("").trim_start_matches(' ');
    if rest.is_empty() {
        return Some((midnight, 0));
    }
    let time_length = rest.find(|c: char| !(c.is_ascii_digit() || c == ':' || c == '.')).unwrap_or(rest.len());
    let (time, zone) = rest.split_at(time_length);
    Some((midnight + parse_time(time)?, parse_offset(zone.trim_start_matches(' '))?))
}

/// Microseconds since midnight of `h[:m[:s[.fraction]]]`.
fn parse_time(text: &str) -> Option<i64> {
    let (clock, fraction) = match text.split_once('.') {
        // Only seconds have a fraction.
        Some((clock, fraction)) => (clock.split(':').count() == 3).then_some((clock, fraction))?,
        None => (text, ""),
    };
    let mut parts = clock.split(':');
    let hour = parts.next().and_then(|hour| number(hour, 2)).filter(|&hour| hour < 24)?;
    let minute = parts.next().map_or(Some(0), |minute| number(minute, 2)).filter(|&minute| minute < 60)?;
    let second = parts.next().map_or(Some(0), |second| number(second, 2)).filter(|&second| second < 60)?;
    if parts.next().is_some() || fraction.len() > 9 || !fraction.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let micros = (0..6)
        .fold(0, |sum, index| sum * 10 + fraction.as_bytes().get(index).map_or(0, |digit| i64::from(digit - b'0')));
    Some((i64::from(hour) * 3600 + i64::from(minute) * 60 + i64::from(second)) * MICROS_PER_SECOND + micros)
}

/// Seconds east of UTC: nothing, `Z`, `UTC`, `GMT`, `UT`, or an offset with or without one of these words in front.
fn parse_offset(zone: &str) -> Option<i64> {
    let offset = ["UTC", "GMT", "UT", "Z"].iter().find_map(|word| zone.strip_prefix(word)).unwrap_or(zone);
    if offset.is_empty() {
        return Some(0);
    }
    if zone.starts_with('Z') {
        return None;
    }
    let sign = if offset.starts_with('-') { -1 } else { 1 };
    let offset = offset.strip_prefix(['+', '-'])?;
    let compact = matches!(offset.len(), 4 | 6) && offset.bytes().all(|digit| digit.is_ascii_digit());
    let parts: Vec<u32> = if compact {
        (0..offset.len()).step_by(2).map(|start| number(&offset[start..start + 2], 2)).collect::<Option<_>>()?
    } else {
        offset.split(':').map(|part| number(part, 2)).collect::<Option<_>>()?
    };
    let (hours, minutes, seconds) = match parts[..] {
        [hours] => (hours, 0, 0),
        [hours, minutes] => (hours, minutes, 0),
        [hours, minutes, seconds] => (hours, minutes, seconds),
        _ => return None,
    };
    let total = i64::from(hours) * 3600 + i64::from(minutes) * 60 + i64::from(seconds);
    (minutes < 60 && seconds < 60 && total <= 18 * 3600).then_some(sign * total)
}

/// An unsigned number of one to `most` digits and nothing else.
fn number(text: &str, most: usize) -> Option<u32> {
    let plain = (1..=most).contains(&text.len()) && text.bytes().all(|digit| digit.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

/// A UUID in groups of 8, 4, 4, 4 and 12 hexadecimal digits.
pub(crate) fn uuid_text(id: [u8; 16]) -> String {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    [&id[..4], &id[4..6], &id[6..8], &id[8..10], &id[10..]].map(hex).join("-")
}

/// As CAST to string gives it: a struct as `{1, a}`, a list as `[1, 2]`, a map as `{k -> v}`. NULL is `NULL` (`null` inside of something), binary
/// is shown in hexadecimal, as it need not be text, and a variant as JSON, or in hexadecimal where it is damaged.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Boolean(x) => x.fmt(f),
            Self::Byte(x) => x.fmt(f),
            Self::Short(x) => x.fmt(f),
            Self::Integer(x) => x.fmt(f),
            Self::Long(x) => x.fmt(f),
            Self::Float(x) => {
                write_floating(f, f64::from(*x), (1e-3..1e7).contains(&x.abs()), &format!("{x:?}"), &format!("{x:e}"))
            }
            Self::Double(x) => {
                write_floating(f, *x, (1e-3..1e7).contains(&x.abs()), &format!("{x:?}"), &format!("{x:e}"))
            }
            Self::Decimal { unscaled, scale, .. } => f.write_str(&decimal_text(*unscaled, *scale)),
            Self::String(x) => x.fmt(f),
            Self::Binary(bytes) => {
                f.write_str("0x")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
            Self::Date(days) => f.write_str(&date_text(*days)),
            Self::Timestamp(micros) | Self::TimestampNtz(micros) => {
                let (seconds, fraction) = (micros.div_euclid(MICROS_PER_SECOND), micros.rem_euclid(MICROS_PER_SECOND));
                f.write_str(&seconds_text(seconds, ' '))?;
                match fraction {
                    0 => Ok(()),
                    _ => f.write_str(format!(".{fraction:06}").trim_end_matches('0')),
                }
            }
            Self::Struct(fields) => write_parts(f, '{', '}', fields.iter(), write_part),
            Self::Array(elements) => write_parts(f, '[', ']', elements.iter(), write_part),
            Self::Map(entries) => write_parts(f, '{', '}', entries.iter(), |f, (key, value)| {
                write_part(f, key)?;
                f.write_str(" -> ")?;
                write_part(f, value)
            }),
            Self::Variant(variant) => variant.fmt(f),
        }
    }
}

fn write_parts<T>(
    f: &mut fmt::Formatter<'_>,
    open: char,
    close: char,
    parts: impl Iterator<Item = T>,
    write: impl Fn(&mut fmt::Formatter<'_>, T) -> fmt::Result,
) -> fmt::Result {
    f.write_char(open)?;
    for (i, part) in parts.enumerate() {
        if i > 0 {
            f.write_str(", ")?;
        }
        write(f, part)?;
    }
    f.write_char(close)
}

fn write_part(f: &mut fmt::Formatter<'_>, value: &Value) -> fmt::Result {
    if value.is_null() { f.write_str("null") } else { fmt::Display::fmt(value, f) }
}

/// Java's form: plain between 10^-3 and 10^7, else with an exponent; always a digit after the point. `plain` and `scientific` are the
/// shortest digits that read back as the number.
fn write_floating(f: &mut fmt::Formatter<'_>, x: f64, is_plain: bool, plain: &str, scientific: &str) -> fmt::Result {
    if x.is_nan() {
        return f.write_str("NaN");
    }
    if x.is_infinite() {
        return f.write_str(if x > 0.0 { "Infinity" } else { "-Infinity" });
    }
    if is_plain || x == 0.0 {
        return f.write_str(plain);
    }
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let point = if mantissa.contains('.') { "" } else { ".0" };
    write!(f, "{mantissa}{point}E{exponent}")
}

/// `unscaled` / 10^`scale` with exactly `scale` digits after the point.
pub(crate) fn decimal_text(unscaled: i128, scale: u8) -> String {
    let sign = if unscaled < 0 { "-" } else { "" };
    let scale = usize::from(scale);
    let digits = format!("{:0width$}", unscaled.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    let point = if scale == 0 { "" } else { "." };
    format!("{sign}{whole}{point}{fraction}")
}
