//! Statistics of rows.

use arrow::array::{Array, RecordBatch};

use super::Statistics;
use crate::{
    batch::{BatchError, values},
    schema::{PrimitiveType, Schema},
    value::Value,
};

impl Statistics {
    /// The statistics of a file with these rows. The batch has all columns of the schema; partition columns are left out.
    ///
    /// # Errors
    /// When the batch is not of the schema.
    pub fn collect(schema: &Schema, partition_columns: &[String], batch: &RecordBatch) -> Result<Self, BatchError> {
        if batch.num_columns() != schema.fields.len() {
            return Err(BatchError::Width { found: batch.num_columns(), wanted: schema.fields.len() });
        }
        let mut statistics = Self { num_records: Some(batch.num_rows() as u64), ..Self::default() };
        for (field, column) in schema.fields.iter().zip(batch.columns()) {
            if partition_columns.iter().any(|name| name.eq_ignore_ascii_case(&field.name)) {
                continue;
            }
            let Some(data_type) = field.data_type.primitive() else { continue };
            statistics.null_count.insert(field.name.clone(), column.null_count() as u64);
            // No reader looks for bounds of these.
            if matches!(data_type, PrimitiveType::Boolean | PrimitiveType::Binary) {
                continue;
            }
            let values = values(column, data_type).ok_or_else(|| BatchError::ColumnType {
                column: field.name.clone(),
                found: column.data_type().clone(),
                wanted: data_type.into(),
            })?;
            if let Some((min, max)) = bounds(values) {
                statistics.min.insert(field.name.clone(), min);
                statistics.max.insert(field.name.clone(), max);
            }
        }
        Ok(statistics)
    }
}

/// Least and greatest; `None` when there is no value, or a NaN: readers disagree about where that belongs.
fn bounds(values: impl Iterator<Item = Value>) -> Option<(Value, Value)> {
    let mut bounds: Option<(Value, Value)> = None;
    for value in values {
        match &value {
            Value::Null => continue,
            Value::Float(x) if x.is_nan() => return None,
            Value::Double(x) if x.is_nan() => return None,
            _ => {}
        }
        match &mut bounds {
            None => bounds = Some((value.clone(), value)),
            Some((min, _)) if value < *min => *min = value,
            Some((_, max)) if value > *max => *max = value,
            Some(_) => {}
        }
    }
    bounds
}
