//! What a person means by a time.

use log_core::{
    expression::{EvaluateError, Expression},
    schema::PrimitiveType,
    time_travel::{Instant, InstantError, Zone},
    value::Value,
};

use crate::sql::{Constants, SqlError, bind_constant};

/// A text that means no time.
#[derive(Debug, thiserror::Error)]
pub enum WhenError {
    /// It begins like a date, and is none.
    #[error(transparent)]
    Instant(#[from] InstantError),
    /// It is no expression either.
    #[error(
        "'{text}' is neither an instant nor an expression of constants; write it like 2024-06-26T12:34:45.000Z or \
         current_timestamp() - INTERVAL 24 HOURS"
    )]
    Expression {
        /// The text.
        text: String,
        /// What is wrong with it as an expression.
        source: SqlError,
    },
    /// The expression has no value.
    #[error("'{text}' cannot be computed")]
    Evaluate {
        /// The text.
        text: String,
        /// Why.
        source: EvaluateError,
    },
    /// The value of the expression is no time.
    #[error("'{text}' is {found}, and a timestamp, a date or the text of one is needed")]
    NoTime {
        /// The text.
        text: String,
        /// What it is.
        found: String,
    },
    /// The expression converts between dates and times, which depends on the zone.
    #[error(
        "'{text}' converts between timestamps and other types, which expressions do in UTC only, and the time zone is {zone}; write the instant with \
         its offset, or leave --time-zone out"
    )]
    NeedsUtc {
        /// The text.
        text: String,
        /// The zone that was asked for.
        zone: Zone,
    },
}

/// The instant of a text: one that [`Instant::parse`] reads, or a constant expression such as `current_timestamp() - INTERVAL 24 HOURS`,
/// `date_sub(current_date(), 1)` or `timestamp '2024-06-26 12:00:00'`. `now_ms` is the clock, in milliseconds since the epoch.
///
/// A date is the start of that day in the zone, and `current_date()` is the day there.
///
/// # Errors
/// When the text is neither, and when its value is no time.
pub fn instant(text: &str, zone: Zone, now_ms: i64) -> Result<Instant, WhenError> {
    let trimmed = text.trim();
    if trimmed.is_empty() || trimmed.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '+' | '-')) {
        return Ok(Instant::parse(text, zone)?);
    }
    let owned = || text.to_owned();
    let now_us = now_ms.saturating_mul(1000);
    let bound = |now_us| {
        bind_constant(trimmed, &Constants { now_us }).map_err(|source| WhenError::Expression { text: owned(), source })
    };
    let mut expression = bound(now_us)?;
    let mut now = now_us;
    if expression.data_type() != PrimitiveType::Timestamp {
        // Dates, and texts made of dates, follow the wall clock of the zone.
        now = zone.local_of(now_us);
        expression = bound(now)?;
    }
    if zone.local_of(now_us) != now_us && !holds_in_every_zone(&expression, now) {
        return Err(WhenError::NeedsUtc { text: owned(), zone });
    }
    let value = expression.evaluate(&[]).map_err(|source| WhenError::Evaluate { text: owned(), source })?;
    match value {
        Value::Timestamp(micros) => Ok(Instant { micros }),
        Value::Date(days) => {
            Ok(Instant::start_of_day(days, zone).ok_or_else(|| InstantError::Skipped { text: owned(), zone })?)
        }
        Value::String(text) => Ok(Instant::parse(&text, zone)?),
        Value::Null => Err(WhenError::NoTime { text: owned(), found: "NULL".to_owned() }),
        other => Err(WhenError::NoTime {
            text: owned(),
            found: other.primitive_type().map_or(String::new(), |data_type| format!("a value of type {data_type}")),
        }),
    }
}

/// Is the only timestamp in it the clock, and is the type of a date or timestamp never changed? Then the zone in which it is computed does not matter, but
/// for what day it is.
fn holds_in_every_zone(expression: &Expression, now: i64) -> bool {
    use PrimitiveType as T;
    let mut holds = true;
    let is_date = expression.data_type() != T::Timestamp;
    expression.visit(&mut |part| match part {
        Expression::Literal { value: Value::Timestamp(at), .. } => holds &= *at == now,
        Expression::Cast { value, to, .. } => {
            let timestamp = value.data_type() == T::Timestamp || *to == T::Timestamp;
            // The clock as a date is the day by the wall clock, which is what `now` is then.
            holds &= !timestamp || (is_date && *to == T::Date);
        }
        _ => {}
    });
    holds
}
