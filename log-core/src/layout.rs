//! Where the columns of a table are in its files and statistics ("Column Mapping" of the protocol).
//!
//! A table's users see logical names. Under column mapping its files, partition values and statistics use physical names or ids instead, so that a
//! column can be renamed or dropped without a file being written anew.

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    action::PartitionValues,
    schema::{DataType, Field, Schema},
    snapshot::Snapshot,
};

const MODE: &str = "delta.columnMapping.mode";
const PHYSICAL_NAME: &str = "delta.columnMapping.physicalName";
const ID: &str = "delta.columnMapping.id";

/// How columns are found in the files of a table (property `delta.columnMapping.mode`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ColumnMapping {
    /// By name.
    #[default]
    None,
    /// By physical name.
    Name,
    /// By the id that the file's schema gives each field; partition values and statistics by physical name.
    Id,
}

/// A table whose columns cannot be found in its files.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LayoutError {
    /// The mode is none of the protocol.
    #[error("the table property {MODE} is '{0}', and the protocol knows none, name and id")]
    Mode(String),
    /// A column lacks what the mode needs.
    #[error("column '{column}' has no {key} in its metadata, which column mapping needs")]
    Missing {
        /// The column, with the columns that it is in.
        column: String,
        /// The key.
        key: &'static str,
    },
}

impl ColumnMapping {
    /// The mode of a table with these properties.
    ///
    /// # Errors
    /// When the mode is none of the protocol.
    pub fn of(properties: &BTreeMap<String, String>) -> Result<Self, LayoutError> {
        let Some(mode) = properties.get(MODE) else { return Ok(Self::None) };
        match mode.to_ascii_lowercase().as_str() {
            "none" => Ok(Self::None),
            "name" => Ok(Self::Name),
            "id" => Ok(Self::Id),
            _ => Err(LayoutError::Mode(mode.clone())),
        }
    }

    /// The name that partition values and statistics use for a column; its own where it has no physical one.
    pub fn name_in_log(self, field: &Field) -> &str {
        match self {
            Self::None => &field.name,
            Self::Name | Self::Id => physical_name(field).unwrap_or(&field.name),
        }
    }
}

/// A table's columns, by the names its users see and by those its files use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    /// The columns by logical name.
    pub schema: Arc<Schema>,
    /// The same columns in the same order by the names that files, partition values and statistics use.
    pub physical: Schema,
    /// How columns are found in files.
    pub mapping: ColumnMapping,
    /// Which columns are partition columns.
    is_partition: Vec<bool>,
}

impl Layout {
    /// The layout of a table.
    ///
    /// # Errors
    /// When its column mapping is of an unknown mode, or lacks a name or an id.
    pub fn of(snapshot: &Snapshot) -> Result<Self, LayoutError> {
        let mapping = ColumnMapping::of(&snapshot.metadata.configuration)?;
        Self::new(snapshot.schema.clone(), snapshot.partition_columns(), mapping)
    }

    /// The layout of a table with these columns; `partition_columns` are logical names.
    ///
    /// # Errors
    /// When a column lacks the name or the id that the mode needs.
    pub fn new(schema: Arc<Schema>, partition_columns: &[String], mapping: ColumnMapping) -> Result<Self, LayoutError> {
        let physical = match mapping {
            ColumnMapping::None => Schema::clone(&schema),
            ColumnMapping::Name | ColumnMapping::Id => physical(&schema, mapping, "")?,
        };
        let partition: Vec<usize> = partition_columns.iter().filter_map(|name| schema.index_of(name)).collect();
        let is_partition = (0..schema.fields.len()).map(|index| partition.contains(&index)).collect();
        Ok(Self { schema, physical, mapping, is_partition })
    }

    /// A layout of some columns only, in the order of the positions that are given.
    pub fn select(&self, columns: &[usize]) -> Self {
        let of =
            |schema: &Schema| Schema { fields: columns.iter().map(|index| schema.fields[*index].clone()).collect() };
        Self {
            schema: Arc::new(of(&self.schema)),
            physical: of(&self.physical),
            mapping: self.mapping,
            is_partition: columns.iter().map(|index| self.is_partition[*index]).collect(),
        }
    }

    /// Is the column a partition column?
    pub fn is_partition(&self, index: usize) -> bool {
        self.is_partition[index]
    }

    /// Physical names of partition columns.
    pub fn partition_names(&self) -> Vec<String> {
        let fields = self.physical.fields.iter().zip(&self.is_partition);
        fields.filter(|(_, is_partition)| **is_partition).map(|(field, _)| field.name.clone()).collect()
    }

    /// The text that a file's partition has for a column: `None` when the file's values are in the file.
    ///
    /// A partition column of which the log says nothing is NULL: the protocol demands a value for each, and so reads whoever wrote it otherwise.
    pub fn partition_text<'a>(&self, values: &'a PartitionValues, index: usize) -> Option<Option<&'a str>> {
        match partition_value(values, &self.physical.fields[index].name) {
            Some(text) => Some(text.as_deref()),
            None => self.is_partition[index].then_some(None),
        }
    }
}

/// The value of a partition column; where its name is not there, that of the same name in another letter case.
pub fn partition_value<'a>(values: &'a PartitionValues, name: &str) -> Option<&'a Option<String>> {
    values.get(name).or_else(|| {
        let lower = name.to_lowercase();
        values.iter().find(|(key, _)| key.to_lowercase() == lower).map(|(_, value)| value)
    })
}

/// The id of a field under column mapping.
pub fn column_id(field: &Field) -> Option<i64> {
    field.metadata.get(ID)?.as_i64()
}

/// The name of a field in files, partition values and statistics under column mapping.
pub fn physical_name(field: &Field) -> Option<&str> {
    field.metadata.get(PHYSICAL_NAME)?.as_str()
}

/// The schema by physical names.
fn physical(schema: &Schema, mapping: ColumnMapping, inside: &str) -> Result<Schema, LayoutError> {
    let mut fields = Vec::with_capacity(schema.fields.len());
    for field in &schema.fields {
        let column = || format!("{inside}{}", field.name);
        let Some(name) = physical_name(field) else {
            return Err(LayoutError::Missing { column: column(), key: PHYSICAL_NAME });
        };
        if mapping == ColumnMapping::Id && column_id(field).is_none() {
            return Err(LayoutError::Missing { column: column(), key: ID });
        }
        let data_type = physical_type(&field.data_type, mapping, &format!("{}.", column()))?;
        fields.push(Field { name: name.to_owned(), data_type, ..field.clone() });
    }
    Ok(Schema { fields })
}

fn physical_type(data_type: &DataType, mapping: ColumnMapping, inside: &str) -> Result<DataType, LayoutError> {
    Ok(match data_type {
        DataType::Primitive(_) | DataType::Variant | DataType::Void => data_type.clone(),
        DataType::Struct(schema) => DataType::Struct(physical(schema, mapping, inside)?),
        DataType::Array { element, contains_null } => DataType::Array {
            element: Box::new(physical_type(element, mapping, &format!("{inside}element."))?),
            contains_null: *contains_null,
        },
        DataType::Map { key, value, value_contains_null } => DataType::Map {
            key: Box::new(physical_type(key, mapping, &format!("{inside}key."))?),
            value: Box::new(physical_type(value, mapping, &format!("{inside}value."))?),
            value_contains_null: *value_contains_null,
        },
    })
}
