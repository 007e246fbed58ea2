//! Deletion vectors: so far only their descriptor, which is part of a file's identity.

use serde::{Deserialize, Serialize};

use crate::action::Extra;

/// Where a deletion vector is stored ("Deletion Vector Descriptor Schema").
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeletionVector {
    /// `u` = a file beside the data, `i` = inline, `p` = an absolute path.
    pub storage_type: String,
    /// The file's random prefix and id, the bytes, or the path.
    pub path_or_inline_dv: String,
    /// Where in the file it begins, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<i32>,
    /// Bytes.
    pub size_in_bytes: i32,
    /// Deleted rows.
    pub cardinality: i64,
    /// What else stood there.
    #[serde(flatten)]
    pub extra: Extra,
}

impl DeletionVector {
    /// The id that, with the path, names a logical file ("Action Reconciliation").
    pub fn unique_id(&self) -> String {
        match self.offset {
            Some(offset) => format!("{}{}@{offset}", self.storage_type, self.path_or_inline_dv),
            None => format!("{}{}", self.storage_type, self.path_or_inline_dv),
        }
    }
}
