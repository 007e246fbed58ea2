//! How long a checkpoint keeps what is over: tombstones of files, and the progress of applications.

use crate::{
    action::{RemoveFile, SetTransaction},
    snapshot::Snapshot,
};

/// The property that says how long a tombstone is kept.
pub const TOMBSTONES: &str = "delta.deletedFileRetentionDuration";
/// The property that says how long an application's progress is kept; without it, for ever.
pub const TRANSACTIONS: &str = "delta.setTransactionRetentionDuration";

const MS_PER_DAY: i64 = 86_400_000;
/// How long a tombstone is kept where the table does not say: a week.
const TOMBSTONES_MS: i64 = 7 * MS_PER_DAY;

/// What is older than these times, in milliseconds since the epoch, has expired.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Retention {
    tombstones_after_ms: i64,
    transactions_after_ms: Option<i64>,
}

/// A property that is no duration.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "the table property {property} is '{text}', which is no duration such as 'interval 1 week' or '30 days' (months and years have no fixed length); \
     correct the property"
)]
pub struct DurationError {
    /// The property.
    pub property: &'static str,
    /// Its text.
    pub text: String,
}

impl Retention {
    /// What a table keeps at a time, in milliseconds since the epoch.
    ///
    /// # Errors
    /// When one of its properties is no duration.
    pub fn of(snapshot: &Snapshot, now_ms: i64) -> Result<Self, DurationError> {
        let tombstones_ms = property(snapshot, TOMBSTONES)?.unwrap_or(TOMBSTONES_MS);
        let transactions_ms = property(snapshot, TRANSACTIONS)?;
        Ok(Self {
            tombstones_after_ms: now_ms.saturating_sub(tombstones_ms),
            transactions_after_ms: transactions_ms.map(|ms| now_ms.saturating_sub(ms)),
        })
    }

    /// Is a tombstone kept? One that does not say when its file was removed is as old as can be, as in Delta Spark.
    pub fn keeps_tombstone(&self, remove: &RemoveFile) -> bool {
        remove.deletion_timestamp.unwrap_or(0) > self.tombstones_after_ms
    }

    /// Is an application's progress kept? Where it does not say when it was made nobody knows that it is over, and forgetting it would have its
    /// application write everything twice.
    pub fn keeps_transaction(&self, transaction: &SetTransaction) -> bool {
        match (self.transactions_after_ms, transaction.last_updated) {
            (Some(after_ms), Some(updated)) => updated > after_ms,
            _ => true,
        }
    }
}

fn property(snapshot: &Snapshot, property: &'static str) -> Result<Option<i64>, DurationError> {
    let Some(text) = snapshot.property(property) else { return Ok(None) };
    match duration_ms(text) {
        Some(ms) => Ok(Some(ms)),
        None => Err(DurationError { property, text: text.to_owned() }),
    }
}

/// The milliseconds of `[interval] N unit [N unit ...]`, of any letter case; `None` when it is none, is negative or does not fit. Parts of a
/// millisecond are cut off.
pub(super) fn duration_ms(text: &str) -> Option<i64> {
    let lower = text.to_lowercase();
    let mut words = lower.split_whitespace().peekable();
    words.next_if_eq(&"interval");
    words.peek()?;
    let mut micros: i64 = 0;
    while let Some(number) = words.next() {
        let number: i64 = number.parse().ok()?;
        let unit = words.next()?;
        let unit_micros: i64 = match unit.strip_suffix('s').unwrap_or(unit) {
            "week" => 7 * MS_PER_DAY * 1000,
            "day" => MS_PER_DAY * 1000,
            "hour" => 3_600_000_000,
            "minute" => 60_000_000,
            "second" => 1_000_000,
            "millisecond" => 1000,
            "microsecond" => 1,
            _ => return None,
        };
        micros = micros.checked_add(number.checked_mul(unit_micros)?)?;
    }
    (micros >= 0).then_some(micros / 1000)
}

#[cfg(test)]
mod tests;
