//! Values of `partitionValues`: text or null in the log ("Partition Value Serialization" of the protocol).

use super::{ParseValueError, Value};
use crate::schema::PrimitiveType;

/// A partition value that is not of its column's type.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(transparent)]
pub struct PartitionValueError(#[from] pub ParseValueError);

/// The value of a partition text: null and the empty text are NULL.
///
/// # Errors
/// When the text is not of the type.
pub fn parse_partition_value(_text: Option<&str>, _data_type: PrimitiveType) -> Result<Value, PartitionValueError> {
    unimplemented!()
}

/// The text of a value for `partitionValues`: `None` for NULL.
pub fn partition_text(_value: &Value) -> Option<String> {
    unimplemented!()
}
