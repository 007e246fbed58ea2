//! Values of `partitionValues`: text or null in the log ("Partition Value Serialization" of the protocol).

#[cfg(test)]
mod tests;

use super::{
    ParseValueError, Value,
    calendar::{MICROS_PER_SECOND, seconds_text},
    parse_text,
};
use crate::schema::PrimitiveType;

/// A partition value that is not of its column's type.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(transparent)]
pub struct PartitionValueError(#[from] pub ParseValueError);

/// The value of a partition text: null and the empty text are NULL. All other text is taken as it stands: `null` and
/// `__HIVE_DEFAULT_PARTITION__` are strings, not NULL.
///
/// A timestamp may be written with or without a zone (`2024-06-01 12:00:00`, `2024-06-01T12:00:00.000000Z`); without one it is UTC. Compare
/// values, never texts: these two are one partition.
///
/// # Errors
/// When the text is not of the type.
pub fn parse_partition_value(text: Option<&str>, data_type: PrimitiveType) -> Result<Value, PartitionValueError> {
    match text {
        None | Some("") => Ok(Value::Null),
        Some(text) => Ok(parse_text(text, data_type)?),
    }
}

/// The text of a value for `partitionValues`: `None` for NULL.
///
/// Two values do not come back as they were, since the protocol has no text for them: the empty string (or binary) becomes NULL, and bytes
/// that are not UTF-8 lose the parts that are not, as in Spark.
pub fn partition_text(value: &Value) -> Option<String> {
    let text = match value {
        Value::Null => return None,
        Value::Binary(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::Timestamp(micros) => {
            let (seconds, fraction) = (micros.div_euclid(MICROS_PER_SECOND), micros.rem_euclid(MICROS_PER_SECOND));
            format!("{}.{fraction:06}Z", seconds_text(seconds, 'T'))
        }
        other => other.to_string(),
    };
    (!text.is_empty()).then_some(text)
}
