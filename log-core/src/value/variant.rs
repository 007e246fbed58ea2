//! Values of any shape, in the Variant binary encoding that Parquet and Delta share ("Variant Data Type" of the protocol).

mod decode;
#[cfg(test)]
mod tests;

use std::fmt;

pub use decode::VariantError;

/// A variant as its two parts are stored. Nothing is checked until it is [decoded](Variant::to_json); identity is that of the bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Variant {
    /// The names of fields that occur in it.
    pub metadata: Vec<u8>,
    /// The value, which refers to the names by number.
    pub value: Vec<u8>,
}

impl Variant {
    /// The value as JSON: dates, times and binary (in Base64) as text, floating-point numbers that JSON has not as text too, fields in the order
    /// that the encoding gives, which is that of their names.
    ///
    /// # Errors
    /// When the bytes are no variant.
    pub fn to_json(&self) -> Result<serde_json::Value, VariantError> {
        decode::to_json(&self.metadata, &self.value)
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_json() {
            Ok(json) => json.fmt(f),
            Err(_) => {
                f.write_str("0x")?;
                self.metadata.iter().chain(&self.value).try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }
    }
}
