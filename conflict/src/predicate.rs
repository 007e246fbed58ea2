//! What a read predicate says about partitions.

use log_core::{
    action::{AddFile, PartitionValues},
    expression::Expression,
    schema::Schema,
    snapshot::Snapshot,
    value::{Value, parse_partition_value},
};

/// Does an expression speak of partition columns only? Constants do.
pub fn is_partition_predicate(predicate: &Expression, partition_columns: &[String]) -> bool {
    let mut only = true;
    predicate.visit(&mut |node| {
        if let Expression::Column { name, .. } = node {
            only &= partition_columns.iter().any(|column| column.eq_ignore_ascii_case(name));
        }
    });
    only
}

/// May a file that is not known yet hold rows for which a read predicate is true, going by its partition values?
///
/// The predicate is cut at its outer ANDs. A part that speaks of partition columns only is evaluated; NULL is no match. Every other part counts as
/// true, and so a disjunction of a partition column and a data column narrows nothing: `p = 1 OR x = 5` may be true in any partition. A part that
/// cannot be evaluated, or a partition value that is not of its type, counts as true too: what cannot be shown disjoint is a conflict.
pub fn may_match(predicate: &Expression, read: &Snapshot, add: &AddFile) -> bool {
    let columns = read.partition_columns();
    let Some(row) = partition_row(&read.schema, columns, &add.partition_values) else {
        return true;
    };
    predicate
        .conjuncts()
        .into_iter()
        .filter(|part| is_partition_predicate(part, columns))
        .all(|part| part.matches(&row).unwrap_or(true))
}

/// A row of the table in which only the partition columns have values. `None` when a value is missing or cannot be read.
fn partition_row(schema: &Schema, columns: &[String], values: &PartitionValues) -> Option<Vec<Value>> {
    let mut row = vec![Value::Null; schema.fields.len()];
    for column in columns {
        let index = schema.index_of(column)?;
        let text = values.get(column)?;
        row[index] = parse_partition_value(text.as_deref(), schema.fields[index].data_type.primitive()?).ok()?;
    }
    Some(row)
}

#[cfg(test)]
mod tests;
