//! Which files lie in the partitions that a predicate speaks of.

use log_core::{
    action::{Metadata, PartitionValues},
    expression::{EvaluateError, Expression},
    layout::{ColumnMapping, partition_value},
    live_files::PartitionTexts,
    schema::{PrimitiveType, Schema},
    value::{PartitionValueError, Value, parse_partition_value},
};

use rustc_hash::FxHashMap;

use crate::sql::{Constants, SqlError, bind_predicate};

/// A predicate over the partition columns of a table.
#[derive(Clone, Debug)]
pub struct PartitionFilter {
    predicate: Expression,
    columns: Vec<Column>,
    width: usize,
}

#[derive(Clone, Debug)]
struct Column {
    index: usize,
    /// The name in `partitionValues`.
    key: String,
    data_type: PrimitiveType,
}

/// A filter that remembers its answers: files of one partition come together, and partitions are few.
#[derive(Clone, Debug)]
pub struct RememberingFilter {
    filter: PartitionFilter,
    answers: FxHashMap<Vec<u8>, bool>,
    /// What the answers of a partition stand under: its names and values with their lengths.
    key: Vec<u8>,
}

/// Partitions that are remembered.
const REMEMBERED: usize = 4096;

impl RememberingFilter {
    /// Has no answers yet.
    pub fn new(filter: PartitionFilter) -> Self {
        Self { filter, answers: FxHashMap::default(), key: Vec::new() }
    }

    /// The same as [`PartitionFilter::keeps`].
    ///
    /// # Errors
    /// The same.
    pub fn keeps(&mut self, file: &str, texts: &PartitionTexts<'_>) -> Result<bool, PartitionFilterError> {
        self.key.clear();
        for (name, value) in texts.iter() {
            self.key.extend((name.len() as u64).to_le_bytes());
            self.key.extend(name.as_bytes());
            self.key.extend(value.map_or(u64::MAX, |value| value.len() as u64).to_le_bytes());
            self.key.extend(value.unwrap_or_default().as_bytes());
        }
        if let Some(answer) = self.answers.get(&self.key) {
            return Ok(*answer);
        }
        let answer = self.filter.keeps(file, &texts.to_owned())?;
        if self.answers.len() >= REMEMBERED {
            self.answers.clear();
        }
        self.answers.insert(self.key.clone(), answer);
        Ok(answer)
    }
}

/// A predicate that does not choose partitions.
#[derive(Debug, thiserror::Error)]
pub enum PartitionFilterError {
    /// It is no predicate over the table's columns.
    #[error("the predicate '{text}' cannot be used")]
    Sql {
        /// The text.
        text: String,
        /// Why.
        source: SqlError,
    },
    /// It speaks of a column whose values the log does not have.
    #[error("the predicate '{text}' names the column '{column}', which is not a partition column: {}", match partitions.as_slice() {
        [] => "the table is not partitioned".to_owned(),
        names => format!("those are {}", names.join(", ")),
    })]
    NotAPartitionColumn {
        /// The predicate.
        text: String,
        /// The column.
        column: String,
        /// The partition columns.
        partitions: Vec<String>,
    },
    /// A file has a partition value that is none of the column's type.
    #[error("file '{file}', partition column '{column}'")]
    Value {
        /// The file, as the log spells it.
        file: String,
        /// The column.
        column: String,
        /// What is wrong.
        source: PartitionValueError,
    },
    /// It has no value for a file.
    #[error("the predicate has no value for file '{file}'")]
    Evaluate {
        /// The file, as the log spells it.
        file: String,
        /// Why.
        source: EvaluateError,
    },
}

impl PartitionFilter {
    /// The filter of a predicate in SQL. `now_ms` is the clock, in milliseconds since the epoch.
    ///
    /// # Errors
    /// When the text is no predicate over the columns of the table, and when it names one that is not of the partition.
    pub fn new(text: &str, schema: &Schema, metadata: &Metadata, now_ms: i64) -> Result<Self, PartitionFilterError> {
        let constants = Constants { now_us: now_ms.saturating_mul(1000) };
        let predicate = bind_predicate(text, schema, &constants)
            .map_err(|source| PartitionFilterError::Sql { text: text.to_owned(), source })?;
        let partitions = &metadata.partition_columns;
        let is_partition = |index: usize| partitions.iter().any(|name| schema.index_of(name) == Some(index));
        let mut other = None;
        predicate.visit(&mut |part| {
            if let Expression::Column { index, name, .. } = part
                && !is_partition(*index)
            {
                other.get_or_insert_with(|| name.clone());
            }
        });
        if let Some(column) = other {
            let partitions = partitions.clone();
            return Err(PartitionFilterError::NotAPartitionColumn { text: text.to_owned(), column, partitions });
        }
        let mapping = ColumnMapping::of(&metadata.configuration).unwrap_or_default();
        let columns = (0..schema.fields.len()).filter(|index| is_partition(*index)).filter_map(|index| {
            let field = &schema.fields[index];
            Some(Column { index, key: mapping.name_in_log(field).to_owned(), data_type: field.data_type.primitive()? })
        });
        Ok(Self { predicate, columns: columns.collect(), width: schema.fields.len() })
    }

    /// Is the predicate true for the partition of a file, which is named in errors? A value that the file does not give is NULL.
    ///
    /// # Errors
    /// When a value is not of its column's type, and when the predicate cannot be computed.
    pub fn keeps(&self, file: &str, partition_values: &PartitionValues) -> Result<bool, PartitionFilterError> {
        let mut row = vec![Value::Null; self.width];
        for Column { index, key, data_type } in &self.columns {
            let text = partition_value(partition_values, key).and_then(Option::as_deref);
            row[*index] = parse_partition_value(text, *data_type).map_err(|source| PartitionFilterError::Value {
                file: file.to_owned(),
                column: key.clone(),
                source,
            })?;
        }
        let value = self.predicate.evaluate(&row);
        let value = value.map_err(|source| PartitionFilterError::Evaluate { file: file.to_owned(), source })?;
        Ok(value == Value::Boolean(true))
    }
}
