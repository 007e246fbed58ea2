//! Statistics and partition values of adds as columns of the table's own types: `stats_parsed` and `partitionValues_parsed`.

use std::{collections::BTreeMap, sync::Arc};

use arrow::{
    array::{ArrayRef, BooleanArray, Int64Array, StructArray},
    buffer::NullBuffer,
    datatypes::{Field as ArrowField, Fields},
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::write::EncodeError;
use crate::{
    action::AddFile,
    batch::column,
    layout::Layout,
    schema::{DataType, PrimitiveType, Schema},
    snapshot::Snapshot,
    statistics::parse_bound,
    value::{Value, parse_partition_value},
};

/// The columns that go beside the texts of an add.
#[derive(Clone, Debug)]
pub(super) struct Parsed {
    /// Partition columns by physical name, in the order of the table's list.
    partition: Vec<(String, PrimitiveType)>,
    /// The other columns by physical name.
    data: Schema,
    tight_bounds: bool,
    fields: Fields,
}

/// What of a column's statistics.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Bound,
    NullCount,
}

/// A part of the statistics of one file: JSON values by column.
type Raw<'a> = BTreeMap<String, &'a RawValue>;

/// The statistics of one file.
#[derive(Default)]
struct Document<'a> {
    num_records: Option<i64>,
    tight_bounds: Option<bool>,
    min: Option<Raw<'a>>,
    max: Option<Raw<'a>>,
    null_count: Option<Raw<'a>>,
}

impl<'a> Document<'a> {
    /// What makes no sense is left out: statistics are optional.
    fn of(text: &'a str) -> Option<Self> {
        let document: Raw = serde_json::from_str(text).ok()?;
        let part = |name| document.get(name).and_then(|raw| read(raw));
        Some(Self {
            num_records: document.get("numRecords").and_then(|raw| read(raw)),
            tight_bounds: document.get("tightBounds").and_then(|raw| read(raw)),
            min: part("minValues"),
            max: part("maxValues"),
            null_count: part("nullCount"),
        })
    }
}

fn read<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Option<T> {
    serde_json::from_str(raw.get()).ok()
}

impl Parsed {
    /// The columns for a table.
    ///
    /// # Errors
    /// When a partition column has a nested type, or when column mapping leaves a column without a name.
    pub(super) fn of(snapshot: &Snapshot) -> Result<Self, EncodeError> {
        let Layout { physical, .. } = Layout::of(snapshot)?;
        let mut is_partition = vec![false; physical.fields.len()];
        let mut partition = Vec::new();
        for name in snapshot.partition_columns() {
            let index = snapshot.schema.index_of(name).expect("replay has looked for every partition column");
            let field = &physical.fields[index];
            let data_type =
                field.data_type.primitive().ok_or_else(|| EncodeError::NestedPartition { column: name.clone() })?;
            is_partition[index] = true;
            partition.push((field.name.clone(), data_type));
        }
        let fields = physical.fields.into_iter().zip(is_partition).filter(|(_, is_partition)| !is_partition);
        let data = Schema { fields: fields.map(|(field, _)| field).collect() };
        let tight_bounds = snapshot.protocol.features().contains("deletionVectors");
        let mut parsed = Self { partition, data, tight_bounds, fields: Fields::empty() };
        let columns = parsed.columns(&[])?;
        parsed.fields =
            columns.iter().map(|(name, column)| ArrowField::new(*name, column.data_type().clone(), true)).collect();
        Ok(parsed)
    }

    /// The fields that an add gets.
    pub(super) fn fields(&self) -> &Fields {
        &self.fields
    }

    /// The values of these fields for some adds.
    ///
    /// # Errors
    /// When a partition value is not of its column's type.
    pub(super) fn arrays(&self, adds: &[Arc<AddFile>]) -> Result<Vec<ArrayRef>, EncodeError> {
        Ok(self.columns(adds)?.into_iter().map(|(_, column)| column).collect())
    }

    fn columns(&self, adds: &[Arc<AddFile>]) -> Result<Vec<(&'static str, ArrayRef)>, EncodeError> {
        let mut columns: Vec<(&'static str, ArrayRef)> = Vec::new();
        if !self.partition.is_empty() {
            columns.push(("partitionValues_parsed", Arc::new(self.partition_values(adds)?)));
        }
        columns.push(("stats_parsed", Arc::new(self.statistics(adds)?)));
        Ok(columns)
    }

    fn partition_values(&self, adds: &[Arc<AddFile>]) -> Result<StructArray, EncodeError> {
        let mut columns = Vec::with_capacity(self.partition.len());
        for (name, data_type) in &self.partition {
            let mut values = Vec::with_capacity(adds.len());
            for add in adds {
                let text = add.partition_values.get(name).and_then(|text| text.as_deref());
                let value = parse_partition_value(text, *data_type).map_err(|source| EncodeError::PartitionValue {
                    path: add.path.clone(),
                    column: name.clone(),
                    source,
                })?;
                values.push(value);
            }
            columns.push((name.as_str(), column(*data_type, &values)?));
        }
        structure(columns, adds.len(), None)
    }

    fn statistics(&self, adds: &[Arc<AddFile>]) -> Result<StructArray, EncodeError> {
        let documents: Vec<Option<Document>> =
            adds.iter().map(|add| add.stats.as_deref().and_then(Document::of)).collect();
        let one = |document: &Option<Document>| document.as_ref().and_then(|document| document.num_records);
        let mut columns: Vec<(&str, ArrayRef)> =
            vec![("numRecords", Arc::new(documents.iter().map(one).collect::<Int64Array>()))];
        if self.tight_bounds {
            let one = |document: &Option<Document>| document.as_ref().and_then(|document| document.tight_bounds);
            columns.push(("tightBounds", Arc::new(documents.iter().map(one).collect::<BooleanArray>())));
        }
        fn rows<'d, 'a>(
            documents: &'d [Option<Document<'a>>],
            part: impl Fn(&'d Document<'a>) -> Option<&'d Raw<'a>>,
        ) -> Vec<Option<Raw<'a>>> {
            documents.iter().map(|document| document.as_ref().and_then(&part).cloned()).collect()
        }
        for (name, rows, part) in [
            ("minValues", rows(&documents, |document| document.min.as_ref()), Part::Bound),
            ("maxValues", rows(&documents, |document| document.max.as_ref()), Part::Bound),
            ("nullCount", rows(&documents, |document| document.null_count.as_ref()), Part::NullCount),
        ] {
            columns.extend(by_column(&self.data, &rows, part)?.map(|column| (name, column)));
        }
        let valid = documents.iter().map(Option::is_some).collect();
        structure(columns, adds.len(), Some(valid))
    }
}

/// A part of the statistics by column; `None` where no column of the schema has such, as Parquet has no structs without fields.
fn by_column(schema: &Schema, rows: &[Option<Raw>], part: Part) -> Result<Option<ArrayRef>, EncodeError> {
    let mut columns: Vec<(&str, ArrayRef)> = Vec::new();
    for field in &schema.fields {
        let values = rows.iter().map(|row| row.as_ref().and_then(|row| row.get(&field.name)).copied());
        let array: Option<ArrayRef> = match (&field.data_type, part) {
            (DataType::Struct(inner), _) => {
                let rows: Vec<Option<Raw>> = values.map(|raw| raw.and_then(read)).collect();
                by_column(inner, &rows, part)?
            }
            (_, Part::NullCount) => {
                let counts: Int64Array = values.map(|raw| raw.and_then(read)).collect();
                Some(Arc::new(counts))
            }
            (DataType::Primitive(data_type), Part::Bound) if has_bounds(*data_type) => {
                let bound = |raw: Option<&RawValue>| raw.and_then(|raw| parse_bound(raw.get(), *data_type));
                let values: Vec<Value> = values.map(|raw| bound(raw).unwrap_or(Value::Null)).collect();
                Some(column(*data_type, &values)?)
            }
            _ => None,
        };
        columns.extend(array.map(|array| (field.name.as_str(), array)));
    }
    if columns.is_empty() {
        return Ok(None);
    }
    let valid = rows.iter().map(Option::is_some).collect();
    Ok(Some(Arc::new(structure(columns, rows.len(), Some(valid))?)))
}

/// Does the protocol know bounds of such values?
fn has_bounds(data_type: PrimitiveType) -> bool {
    !matches!(data_type, PrimitiveType::Boolean | PrimitiveType::Binary)
}

fn structure(
    columns: Vec<(&str, ArrayRef)>,
    length: usize,
    valid: Option<Vec<bool>>,
) -> Result<StructArray, EncodeError> {
    let fields = columns.iter().map(|(name, column)| ArrowField::new(*name, column.data_type().clone(), true));
    let fields: Fields = fields.collect();
    let arrays = columns.into_iter().map(|(_, column)| column).collect();
    Ok(StructArray::try_new_with_length(fields, arrays, valid.map(NullBuffer::from), length)?)
}
