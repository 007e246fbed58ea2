//! What a read predicate says about partitions.

mod compiled;

use std::cell::RefCell;

use log_core::{
    action::{AddFile, Metadata, PartitionValues},
    expression::{BinaryOperator, Expression},
    layout::ColumnMapping,
    schema::{Field, Schema},
    snapshot::Snapshot,
    statistics::Statistics,
    value::{Value, parse_partition_value},
};

use self::compiled::Compiled;

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
/// As [`PartitionFilter::first_match`], for one predicate and one file.
pub fn may_match(predicate: &Expression, read: &Snapshot, add: &AddFile) -> bool {
    PartitionFilter::new(std::slice::from_ref(predicate), read).first_match(add).is_some()
}

/// The partition parts of some read predicates, ready to be asked about many files.
///
/// Each predicate is cut at its outer ANDs. A part that speaks of partition columns only is evaluated, over the columns of the snapshot that was
/// read; NULL is no match. Every other part counts as true, and so a disjunction of a partition column and a data column narrows nothing:
/// `p = 1 OR x = 5` may be true in any partition. A part that cannot be evaluated, or a partition value that is not of its type, counts as true
/// too: what cannot be shown disjoint is a conflict.
pub struct PartitionFilter<'a> {
    columns: Vec<PartitionColumn<'a>>,
    predicates: Vec<Vec<Compiled<'a>>>,
    /// A row of the table in which only the partition columns have values: those of the file that was looked at last. Kept, so that a file costs no memory.
    row: RefCell<Vec<Value>>,
}

/// A partition column of the table that was read.
struct PartitionColumn<'a> {
    /// The key of `partitionValues`.
    key: &'a str,
    /// The position in the schema; `None` where the schema does not have it.
    index: Option<usize>,
    field: Option<&'a Field>,
}

impl<'a> PartitionFilter<'a> {
    /// The filter of predicates that were registered on a snapshot.
    pub fn new(predicates: &'a [Expression], read: &'a Snapshot) -> Self {
        let names = read.partition_columns();
        let columns: Vec<_> = partition_columns(read).collect();
        let compile = |predicate: &'a Expression| {
            let truth = Expression::truth();
            let narrows = |part: &&Expression| is_partition_predicate(part, names) && **part != truth;
            let parts = predicate.conjuncts().into_iter().filter(narrows);
            parts.map(|part| Compiled::new(part, &columns)).collect()
        };
        let predicates = predicates.iter().map(compile).collect();
        Self { columns, predicates, row: RefCell::new(vec![Value::Null; read.schema.fields.len()]) }
    }

    /// The first predicate that may be true for some row of a file.
    pub fn first_match(&self, add: &AddFile) -> Option<usize> {
        let (mut row, mut readable) = (self.row.borrow_mut(), None);
        self.predicates.iter().position(|parts| {
            parts.iter().all(|part| match part.by_text(add) {
                Some(verdict) => verdict,
                None => {
                    let readable = *readable.get_or_insert_with(|| self.fill(&mut row, add).is_some());
                    part.by_value(readable.then_some(row.as_slice()))
                }
            })
        })
    }

    /// Which predicates say nothing about partitions, and so may be true in any?
    pub fn unbounded(&self) -> impl Iterator<Item = usize> {
        self.predicates.iter().enumerate().filter(|(_, parts)| parts.is_empty()).map(|(position, _)| position)
    }

    /// Puts the partition values of a file into a row. `None` when one is missing or cannot be read.
    fn fill(&self, row: &mut [Value], add: &AddFile) -> Option<()> {
        for column in &self.columns {
            let text = add.partition_values.get(column.key)?;
            let data_type = column.field?.data_type.primitive()?;
            row[column.index?] = parse_partition_value(text.as_deref(), data_type).ok()?;
        }
        Some(())
    }
}

/// The partition columns of a snapshot, in its order.
fn partition_columns(read: &Snapshot) -> impl Iterator<Item = PartitionColumn<'_>> {
    let mapping = mapping(&read.metadata);
    read.partition_columns().iter().map(move |name| {
        let index = read.schema.index_of(name);
        let field = index.map(|index| &read.schema.fields[index]);
        // Without a mapping, the name is as `partitionColumns` spells it.
        let physical = field.filter(|_| mapping != ColumnMapping::None).map(|field| mapping.name_in_log(field));
        PartitionColumn { key: physical.unwrap_or(name), index, field }
    })
}

/// Partition values for people, as Delta shows them: `[p=a, q=null]`, by logical names. `None` without partition columns, or when a file does not
/// say its values.
pub fn shown_partition(read: &Snapshot, values: &PartitionValues) -> Option<String> {
    let value = |(name, column): (&String, PartitionColumn<'_>)| {
        let value = values.get(column.key)?.as_deref().unwrap_or("null");
        Some(format!("{name}={value}"))
    };
    let shown: Option<Vec<String>> = read.partition_columns().iter().zip(partition_columns(read)).map(value).collect();
    shown.filter(|shown| !shown.is_empty()).map(|shown| format!("[{}]", shown.join(", ")))
}

/// The condition that holds for the rows of one partition: `(p = 'a') AND (q IS NULL)`. `None` without partition columns, or when a value is missing or cannot
/// be read.
pub fn partition_condition(read: &Snapshot, values: &PartitionValues) -> Option<Expression> {
    let parts: Option<Vec<Expression>> = partition_columns(read)
        .map(|PartitionColumn { key, index, field }| {
            let (index, field) = (index?, field?);
            let data_type = field.data_type.primitive()?;
            let column = Box::new(Expression::Column { index, name: field.name.clone(), data_type });
            Some(match parse_partition_value(values.get(key)?.as_deref(), data_type).ok()? {
                Value::Null => Expression::IsNull(column),
                value => Expression::binary(BinaryOperator::Equal, *column, Expression::Literal { value, data_type }),
            })
        })
        .collect();
    parts?.into_iter().reduce(Expression::and)
}

/// How columns are found in the log of a table. A mode that the protocol does not know maps nothing: such a table cannot be read anyway.
fn mapping(metadata: &Metadata) -> ColumnMapping {
    ColumnMapping::of(&metadata.configuration).unwrap_or_default()
}

/// Statistics of files, as a second look at what partition values let pass.
///
/// Delta Spark does not do this. It is sound: a file that it leaves out has no row for which the predicate is true, so the transaction would have
/// read the same rows with that file there.
pub struct StatisticsFilter<'a> {
    predicates: &'a [Expression],
    partitions: PartitionFilter<'a>,
    /// The schema by the names that the statistics use.
    schema: Schema,
}

impl<'a> StatisticsFilter<'a> {
    /// The filter of predicates that were registered on a snapshot.
    pub fn new(predicates: &'a [Expression], read: &'a Snapshot) -> Self {
        let mapping = mapping(&read.metadata);
        let physical = |field: &Field| Field { name: mapping.name_in_log(field).to_owned(), ..field.clone() };
        let schema = Schema { fields: read.schema.fields.iter().map(physical).collect() };
        Self { predicates, partitions: PartitionFilter::new(predicates, read), schema }
    }

    /// The first predicate that may be true for some row of a file.
    pub fn first_match(&self, add: &AddFile) -> Option<usize> {
        let by_partition = self.partitions.first_match(add)?;
        let Some(text) = &add.stats else { return Some(by_partition) };
        let statistics = Statistics::parse(text, &self.schema);
        let mut row = self.partitions.row.borrow_mut();
        let readable = self.partitions.fill(&mut row, add).is_some();
        let value = |index: usize| {
            let of_partition = self.partitions.columns.iter().any(|column| column.index == Some(index));
            (readable && of_partition).then(|| row[index].clone())
        };
        self.predicates.iter().position(|predicate| statistics.may_match(predicate, &self.schema, &value))
    }
}

#[cfg(test)]
mod tests;
