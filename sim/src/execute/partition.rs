//! Rows split into the partitions that their files go to.

use std::{collections::BTreeMap, fmt::Write};

use arrow::{
    array::{RecordBatch, UInt64Array},
    compute::take_record_batch,
};
use log_core::{
    batch::{is_arrow_type, value_at},
    schema::{PrimitiveType, Schema},
    value::{Value, partition_text},
};

use super::ExecuteError;

/// What `partitionValues` says of a file: per partition column its text, `None` for NULL.
pub type PartitionValues = BTreeMap<String, Option<String>>;

/// The rows of each partition, with all columns, sorted by partition values (NULL first); inside a partition in the order they had. Without
/// partition columns all rows are one group. No group is empty, so no rows make no group.
///
/// # Errors
/// When a partition column is missing or nested.
pub fn split(
    schema: &Schema,
    partition_columns: &[String],
    batch: &RecordBatch,
) -> Result<Vec<(PartitionValues, RecordBatch)>, ExecuteError> {
    if batch.num_rows() == 0 {
        return Ok(Vec::new());
    }
    if partition_columns.is_empty() {
        return Ok(vec![(PartitionValues::new(), batch.clone())]);
    }
    let columns = partition_columns.iter().map(|name| find(schema, name, batch)).collect::<Result<Vec<_>, _>>()?;
    let mut groups: BTreeMap<Vec<Value>, Vec<u64>> = BTreeMap::new();
    for row in 0..batch.num_rows() {
        let key = columns.iter().map(|(_, index, data_type)| key(value_at(batch.column(*index), *data_type, row)));
        groups.entry(key.collect()).or_default().push(row as u64);
    }
    let mut result = Vec::with_capacity(groups.len());
    for (key, rows) in groups {
        let values = columns.iter().zip(&key).map(|((name, ..), value)| ((*name).to_owned(), partition_text(value)));
        let rows = if rows.len() == batch.num_rows() {
            batch.clone()
        } else {
            take_record_batch(batch, &UInt64Array::from(rows)).map_err(ExecuteError::plumbing("splitting rows"))?
        };
        result.push((values.collect(), rows));
    }
    Ok(result)
}

/// A value by which to group. What the log cannot tell from NULL (the empty text) goes to the partition of NULL.
fn key(value: Value) -> Value {
    match partition_text(&value) {
        None => Value::Null,
        Some(text) if text.is_empty() => Value::Null,
        Some(_) => value,
    }
}

/// A partition column by the schema's spelling, with its position and type.
fn find<'a>(
    schema: &'a Schema,
    name: &str,
    batch: &RecordBatch,
) -> Result<(&'a str, usize, PrimitiveType), ExecuteError> {
    let missing = |index| ExecuteError::NoColumn { name: name.to_owned(), index, columns: batch.num_columns() };
    let index = schema.index_of(name).ok_or_else(|| missing(schema.fields.len()))?;
    let field = &schema.fields[index];
    let array = batch.columns().get(index).ok_or_else(|| missing(index))?;
    match field.data_type.primitive() {
        Some(data_type) if is_arrow_type(array.data_type(), data_type) => Ok((&field.name, index, data_type)),
        _ => Err(ExecuteError::Type {
            place: format!("partition column '{name}'"),
            found: array.data_type().clone(),
            wanted: field.data_type.to_string(),
        }),
    }
}

/// The directory of a partition, relative to the table, with a slash at the end: `country=AT/day=1/`; empty without partition columns.
///
/// This is the name in the store, escaped the way Hive does it (`%` and two digits for what file systems or URLs give a meaning). The log
/// escapes paths once more.
pub fn directory(values: &PartitionValues, partition_columns: &[String]) -> String {
    let mut path = String::new();
    for column in partition_columns {
        escape(&mut path, column);
        path.push('=');
        match values.get(column).and_then(Option::as_deref) {
            None | Some("") => path.push_str("__HIVE_DEFAULT_PARTITION__"),
            Some(text) => escape(&mut path, text),
        }
        path.push('/');
    }
    path
}

/// Hive's list, and the space.
fn escape(path: &mut String, text: &str) {
    for c in text.chars() {
        let special = matches!(
            c,
            '\0'..=' ' | '"' | '#' | '%' | '\'' | '*' | '/' | ':' | '=' | '?' | '\\' | '\x7f' | '{' | '[' | ']' | '^'
        );
        if special {
            let _ = write!(path, "%{:02X}", u32::from(c));
        } else {
            path.push(c);
        }
    }
}

#[cfg(test)]
mod tests;
