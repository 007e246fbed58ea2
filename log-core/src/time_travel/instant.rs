//! A point in time, and the texts that mean one.

use std::fmt;

use super::zone::{Zone, ZoneError, offset, offset_text, without_word};
use crate::value::{MICROS_PER_DAY, MICROS_PER_SECOND, days_from_civil, days_in_month, seconds_text};

const MICROS_PER_MINUTE: i64 = 60 * MICROS_PER_SECOND;

/// A point in time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Instant {
    /// Microseconds since 1970-01-01T00:00:00Z.
    pub micros: i64,
}

/// A text that means no instant, or more than one.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InstantError {
    /// A text of no form that is known.
    #[error(
        "'{text}' is no instant; write it like 2024-06-26, 2024-06-26 12:34:45, 2024-06-26T12:34:45.000Z or 2024-06-26 12:34:45+02:00"
    )]
    Malformed {
        /// The text.
        text: String,
    },
    /// A number: of seconds, of milliseconds, or a version?
    #[error(
        "'{text}' is a bare number, which could be a version, a year, seconds or milliseconds; write a date and time, such as \
         2024-06-26T12:34:45.000Z{}", milliseconds.map(|at| format!("; as milliseconds since 1970 it is {at}")).unwrap_or_default()
    )]
    BareNumber {
        /// The text.
        text: String,
        /// What it is as milliseconds since the epoch.
        milliseconds: Option<Instant>,
    },
    /// Digits of the `@` form that are not seventeen.
    #[error(
        "'{text}' is not seventeen digits; the instant after @ is written yyyyMMddHHmmssSSS, such as 20240626123445000"
    )]
    NotCompact {
        /// The text.
        text: String,
    },
    /// A month 13, a 30th of February, an hour 24.
    #[error("'{text}' is no instant: there is no {what}")]
    NotInCalendar {
        /// The text.
        text: String,
        /// The part that does not exist.
        what: String,
    },
    /// An offset without its sign, which is often one that a URL or a form has turned into a blank.
    #[error("'{text}' has lost the sign of its offset: write '{plus}', or '{minus}' where it is west of UTC")]
    SignMissing {
        /// The text.
        text: String,
        /// The nearest text that works.
        plus: String,
        /// The same with the other sign.
        minus: String,
    },
    /// A zone that is not known.
    #[error("'{text}' is no instant: {source}")]
    Zone {
        /// The text.
        text: String,
        /// What is wrong with its zone.
        source: ZoneError,
    },
    /// A local time that the zone skips.
    #[error(
        "'{text}' does not exist in the time zone {zone}, whose clocks are put forward over it; write the offset that is meant, such as +02:00"
    )]
    Skipped {
        /// The text.
        text: String,
        /// The zone.
        zone: Zone,
    },
}

impl Instant {
    /// The instant of a number of milliseconds since the epoch.
    pub fn of_millis(millis: i64) -> Self {
        Self { micros: millis.saturating_mul(1000) }
    }

    /// Whole milliseconds since the epoch; what is less is cut off, never rounded up. Commits have times in milliseconds, so this is what an instant is
    /// compared by: it can never fall behind a commit that it is not behind.
    pub fn millis(self) -> i64 {
        self.micros.div_euclid(1000)
    }

    /// Reads a date, or a date with a time, as in `2019-01-01`, `2022-09-01 12:00:00`, `2024-06-26T12:34:45.000Z`,
    /// `2022-09-01 12:00:00.999999UTC+10:00`, `2024-06-26 12:00 Europe/Berlin`.
    ///
    /// A zone in the text wins over `zone`, which holds where there is none. A date alone is the start of that day. A local time that a zone has
    /// twice is the earlier of the two, as in Spark. Digits behind the microseconds are cut off.
    ///
    /// # Errors
    /// Everything that is not exactly one instant; in particular a bare number, a date that no calendar has, and a local time that the zone skips.
    pub fn parse(text: &str, zone: Zone) -> Result<Self, InstantError> {
        let owned = || text.to_owned();
        let malformed = || InstantError::Malformed { text: owned() };
        let trimmed = text.trim();
        if !trimmed.is_empty() && trimmed.bytes().all(|byte| byte.is_ascii_digit()) {
            let milliseconds = trimmed.parse().ok().filter(|ms| *ms >= 100_000_000_000).map(Self::of_millis);
            return Err(InstantError::BareNumber { text: owned(), milliseconds });
        }
        let (date, rest) = match trimmed.split_once(['T', ' ']) {
            Some((date, rest)) => (date, Some(rest.trim_start())),
            None => (trimmed, None),
        };
        let [year, month, day] = date.split('-').collect::<Vec<_>>()[..] else { return Err(malformed()) };
        let year = Some(year).filter(|year| year.len() == 4).and_then(|year| number(year, 4)).ok_or_else(malformed)?;
        let (month, day) = number(month, 2).zip(number(day, 2)).ok_or_else(malformed)?;
        let days = days_of(text, year, month, day)?;
        let Some(rest) = rest else { return Self::start_of_day(days, zone).ok_or_else(|| skipped(text, zone)) };

        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == ':' || c == '.')).unwrap_or(rest.len());
        let (clock, tail) = rest.split_at(end);
        let (clock, fraction) = match clock.split_once('.') {
            Some((clock, fraction)) => (clock, Some(fraction)),
            None => (clock, None),
        };
        let parts = clock.split(':').map(|part| number(part, 2)).collect::<Option<Vec<_>>>().ok_or_else(malformed)?;
        let (hour, minute, second) = match (parts.as_slice(), fraction) {
            ([hour, minute], None) => (*hour, *minute, 0),
            ([hour, minute, second], _) => (*hour, *minute, *second),
            _ => return Err(malformed()),
        };
        let fraction = fraction.map_or(Some(0), micros_of_fraction).ok_or_else(malformed)?;
        let local = local_micros(text, days, [hour, minute, second], fraction)?;

        let name = tail.trim_start();
        let zone = match name {
            "" => zone,
            _ => name.parse().map_err(|source| {
                sign_missing(trimmed, name).unwrap_or_else(|| InstantError::Zone { text: owned(), source })
            })?,
        };
        zone.instant_of(local).map(|micros| Self { micros }).ok_or_else(|| skipped(text, zone))
    }

    /// Reads `yyyyMMddHHmmssSSS`, the form behind an `@`, in a zone.
    ///
    /// # Errors
    /// When the text is not seventeen digits, and as [`parse`](Self::parse) does.
    pub fn parse_compact(text: &str, zone: Zone) -> Result<Self, InstantError> {
        if text.len() != 17 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(InstantError::NotCompact { text: text.to_owned() });
        }
        let part = |start: usize, end: usize| number(&text[start..end], end - start).unwrap_or_default();
        let days = days_of(text, part(0, 4), part(4, 6), part(6, 8))?;
        let clock = [part(8, 10), part(10, 12), part(12, 14)];
        let local = local_micros(text, days, clock, i64::from(part(14, 17)) * 1000)?;
        zone.instant_of(local).map(|micros| Self { micros }).ok_or_else(|| skipped(text, zone))
    }

    /// The start of a day, given in days since the epoch: its first minute in the zone, which is not midnight where the clocks skip that; `None` for a
    /// day that the zone skips whole.
    pub fn start_of_day(days: i32, zone: Zone) -> Option<Self> {
        let midnight = i64::from(days) * MICROS_PER_DAY;
        let mut minutes = (0..24 * 60).map(|minute| midnight + minute * MICROS_PER_MINUTE);
        minutes.find_map(|local| zone.instant_of(local)).map(|micros| Self { micros })
    }

    /// The instant by the wall clock of a zone, with its offset: a text without blanks that [`parse`](Self::parse)
    /// reads back, unless its year has more than four digits or none.
    pub fn text(self, zone: Zone) -> String {
        let local = zone.local_of(self.micros);
        let (seconds, fraction) = (local.div_euclid(MICROS_PER_SECOND), local.rem_euclid(MICROS_PER_SECOND));
        let fraction = match fraction % 1000 {
            0 => format!("{:03}", fraction / 1000),
            _ => format!("{fraction:06}"),
        };
        format!("{}.{fraction}{}", seconds_text(seconds, 'T'), offset_text(zone.offset_at(self.micros)))
    }
}

/// In UTC, as in `2024-06-26T12:34:45.000Z`.
impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text(Zone::UTC))
    }
}

fn skipped(text: &str, zone: Zone) -> InstantError {
    InstantError::Skipped { text: text.to_owned(), zone }
}

fn days_of(text: &str, year: u32, month: u32, day: u32) -> Result<i32, InstantError> {
    let missing = |what: String| Err(InstantError::NotInCalendar { text: text.to_owned(), what });
    // Four digits at most, so it fits.
    let signed = year as i32;
    match () {
        () if year == 0 => missing("year 0000".to_owned()),
        () if !(1..=12).contains(&month) => missing(format!("month {month:02}")),
        () if !(1..=days_in_month(signed, month)).contains(&day) => {
            missing(format!("day {day:02} in {year:04}-{month:02}"))
        }
        () => Ok(days_from_civil(signed, month, day)),
    }
}

fn local_micros(text: &str, days: i32, clock: [u32; 3], fraction: i64) -> Result<i64, InstantError> {
    for (number, (name, most)) in clock.into_iter().zip([("hour", 23), ("minute", 59), ("second", 59)]) {
        if number > most {
            return Err(InstantError::NotInCalendar { text: text.to_owned(), what: format!("{name} {number:02}") });
        }
    }
    let [hour, minute, second] = clock.map(i64::from);
    Ok(i64::from(days) * MICROS_PER_DAY + (hour * 3600 + minute * 60 + second) * MICROS_PER_SECOND + fraction)
}

/// One to nine digits; those behind the sixth are cut off.
fn micros_of_fraction(digits: &str) -> Option<i64> {
    number(digits, 9)?;
    let digit = |place: usize| digits.as_bytes().get(place).map_or(0, |digit| i64::from(digit - b'0'));
    Some((0..6).fold(0, |micros, place| micros * 10 + digit(place)))
}

/// The error for a zone that would be an offset if it had a sign.
fn sign_missing(text: &str, zone: &str) -> Option<InstantError> {
    let digits = without_word(zone).trim_start();
    offset(&format!("+{digits}"))?;
    let before = text.strip_suffix(digits)?.trim_end();
    Some(InstantError::SignMissing {
        text: text.to_owned(),
        plus: format!("{before}+{digits}"),
        minus: format!("{before}-{digits}"),
    })
}

/// An unsigned number of one to `most` digits and nothing else.
fn number(text: &str, most: usize) -> Option<u32> {
    let plain = (1..=most).contains(&text.len()) && text.bytes().all(|digit| digit.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}
