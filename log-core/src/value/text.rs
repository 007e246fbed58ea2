//! Values and their text.

use std::fmt;

use super::Value;
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

/// Reads a value of a type from text, as CAST does.
///
/// # Errors
/// When the text is not of the type.
pub fn parse_text(_text: &str, _data_type: PrimitiveType) -> Result<Value, ParseValueError> {
    unimplemented!()
}

/// Days since 1970-01-01 of a date of the proleptic Gregorian calendar; `month` 1 to 12, `day` 1 to 31 (not checked).
pub fn days_from_civil(_year: i32, _month: u32, _day: u32) -> i32 {
    unimplemented!()
}

/// Year, month and day of a number of days since 1970-01-01.
pub fn civil_from_days(_days: i32) -> (i32, u32, u32) {
    unimplemented!()
}

/// As CAST to string gives it; NULL is `NULL`.
impl fmt::Display for Value {
    fn fmt(&self, _f: &mut fmt::Formatter<'_>) -> fmt::Result {
        unimplemented!()
    }
}
