//! Time zones: what a wall clock shows at an instant, and when it shows it.

use std::{fmt, str::FromStr};

use chrono::{DateTime, MappedLocalTime, NaiveDateTime, Offset, TimeZone};
use chrono_tz::{TZ_VARIANTS, Tz};

use crate::value::MICROS_PER_SECOND;

/// Java's bound, and so Spark's.
const OFFSET_SECONDS_MAX: i32 = 18 * 3600;
/// Words that mean UTC, alone or before an offset.
const UTC_WORDS: [&str; 3] = ["UTC", "GMT", "UT"];

/// A time zone.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Zone {
    /// So many seconds east of UTC, always.
    Offset(i32),
    /// A region of the IANA time zone database.
    Region(Tz),
}

/// A text that names no time zone.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("'{text}' is no time zone; write UTC, an offset such as +02:00, or a region such as Europe/Berlin")]
pub struct ZoneError {
    /// The text.
    pub text: String,
}

impl Zone {
    /// Coordinated Universal Time.
    pub const UTC: Self = Self::Offset(0);

    /// Microseconds since the epoch as the zone's wall clock shows them at an instant that is given in microseconds since the epoch.
    pub fn local_of(self, micros: i64) -> i64 {
        micros.saturating_add(i64::from(self.offset_at(micros)) * MICROS_PER_SECOND)
    }

    /// Seconds east of UTC at an instant.
    pub(super) fn offset_at(self, micros: i64) -> i32 {
        match self {
            Self::Offset(seconds) => seconds,
            // Hundreds of thousands of years from now the calendar of zones ends.
            Self::Region(zone) => {
                naive(micros).map_or(0, |at| zone.offset_from_utc_datetime(&at).fix().local_minus_utc())
            }
        }
    }

    /// The instant at which the wall clock shows a local time, both in microseconds since the epoch: the earlier one where it shows the time twice,
    /// `None` where it skips it.
    pub(super) fn instant_of(self, local: i64) -> Option<i64> {
        let offset = match self {
            Self::Offset(seconds) => seconds,
            Self::Region(zone) => match zone.offset_from_local_datetime(&naive(local)?) {
                MappedLocalTime::Single(offset) => offset.fix().local_minus_utc(),
                // The greater offset is the earlier instant, whichever of the two comes first here.
                MappedLocalTime::Ambiguous(one, other) => {
                    one.fix().local_minus_utc().max(other.fix().local_minus_utc())
                }
                MappedLocalTime::None => return None,
            },
        };
        local.checked_sub(i64::from(offset) * MICROS_PER_SECOND)
    }
}

fn naive(micros: i64) -> Option<NaiveDateTime> {
    DateTime::from_timestamp_micros(micros).map(|at| at.naive_utc())
}

impl FromStr for Zone {
    type Err = ZoneError;

    /// Reads `Z`, `UTC`, `GMT`, `UT`, an offset with or without such a word before it (`+02:00`, `-0500`, `UTC+10`), or the name of a region.
    fn from_str(text: &str) -> Result<Self, ZoneError> {
        if text == "Z" || UTC_WORDS.contains(&text) {
            return Ok(Self::UTC);
        }
        if let Some(seconds) = offset(without_word(text)) {
            return Ok(Self::Offset(seconds));
        }
        let region = TZ_VARIANTS.iter().find(|zone| zone.name().eq_ignore_ascii_case(text));
        region.map(|zone| Self::Region(*zone)).ok_or_else(|| ZoneError { text: text.to_owned() })
    }
}

/// `Z`, an offset or the name of a region, so that it reads back.
impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Offset(0) => f.pad("UTC"),
            Self::Offset(seconds) => f.pad(&offset_text(*seconds)),
            Self::Region(zone) => f.pad(zone.name()),
        }
    }
}

/// A text without a word for UTC at its front.
pub(super) fn without_word(text: &str) -> &str {
    UTC_WORDS.iter().find_map(|word| text.strip_prefix(word)).unwrap_or(text)
}

/// Seconds of `+h`, `+hh`, `+hh:mm`, `+hhmm`, `+hh:mm:ss` or `+hhmmss`, with either sign.
pub(super) fn offset(text: &str) -> Option<i32> {
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let digits = text.strip_prefix(['+', '-'])?;
    let compact = matches!(digits.len(), 4 | 6) && digits.bytes().all(|digit| digit.is_ascii_digit());
    let parts: Vec<&str> = match compact {
        true => (0..digits.len()).step_by(2).map(|start| &digits[start..start + 2]).collect(),
        false => digits.split(':').collect(),
    };
    if parts.len() > 3 {
        return None;
    }
    let mut seconds = 0;
    for (part, unit) in parts.iter().zip([3600, 60, 1]) {
        let plain = matches!(part.len(), 1 | 2) && part.bytes().all(|digit| digit.is_ascii_digit());
        let number: i32 = part.parse().ok().filter(|number| plain && (unit == 3600 || *number < 60))?;
        seconds += number * unit;
    }
    (seconds <= OFFSET_SECONDS_MAX).then_some(sign * seconds)
}

/// `Z`, `+02:00`, or with seconds where there are any.
pub(super) fn offset_text(seconds: i32) -> String {
    let sign = if seconds < 0 { '-' } else { '+' };
    let (hours, minutes, rest) = (seconds.abs() / 3600, seconds.abs() / 60 % 60, seconds.abs() % 60);
    match (seconds, rest) {
        (0, _) => "Z".to_owned(),
        (_, 0) => format!("{sign}{hours:02}:{minutes:02}"),
        _ => format!("{sign}{hours:02}:{minutes:02}:{rest:02}"),
    }
}
