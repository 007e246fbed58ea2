//! What leaves a file out must be sure of it.

use std::{cell::Cell, collections::BTreeMap, sync::Arc};

use conflict::predicate::may_match;
use log_core::{
    action::AddFile,
    batch::batch,
    expression::Expression,
    schema::PrimitiveType,
    snapshot::Snapshot,
    statistics::Statistics,
    value::{Value, parse_partition_value, partition_text},
};
use proptest::{prelude::*, sample::subsequence};
use proptests::{
    check,
    expressions::{filters, predicates},
    tables,
    values::{self, TYPES, schema},
};

fn any_predicate() -> impl Strategy<Value = Expression> {
    prop_oneof![3 => filters(2), 1 => predicates(2)]
}

/// Positions of partition columns. Bytes that are not text lose something on their way through the log.
fn partitioning() -> impl Strategy<Value = Vec<usize>> {
    let fit = (0..TYPES.len()).filter(|index| TYPES[*index] != PrimitiveType::Binary);
    subsequence(fit.collect::<Vec<_>>(), 1..6)
}

/// A row as it reads back from a file of the partition that it belongs to, and what the log says of that. `None` when the log cannot say it.
fn in_partition(row: &[Value], partitioning: &[usize]) -> Option<(Vec<Value>, AddFile)> {
    let mut row = row.to_vec();
    let mut partition_values = BTreeMap::new();
    for index in partitioning {
        let text = partition_text(&row[*index]);
        row[*index] = parse_partition_value(text.as_deref(), TYPES[*index]).ok()?;
        partition_values.insert(format!("c{index}"), text);
    }
    Some((row, AddFile { path: "f".to_owned(), partition_values, ..AddFile::default() }))
}

#[test]
fn a_partition_that_is_left_out_has_no_row_that_is_meant() {
    let (left_out, meant) = (Cell::new(0), Cell::new(0));
    let snapshots = move |partitioning: &[usize]| {
        let names: Vec<String> = (0..TYPES.len()).map(|index| format!("c{index}")).collect();
        let columns: Vec<_> = names.iter().map(String::as_str).zip(TYPES).collect();
        let by: Vec<&str> = partitioning.iter().map(|index| names[*index].as_str()).collect();
        Arc::new(Snapshot::replay(None, &[tables::create(&columns, &by)]).expect("a table"))
    };
    check(1500, (any_predicate(), partitioning(), values::row()), |(predicate, partitioning, row)| {
        let Some((row, add)) = in_partition(&row, &partitioning) else { return Ok(()) };
        let matches = predicate.matches(&row).unwrap_or(false);
        meant.set(meant.get() + usize::from(matches));
        if !may_match(&predicate, &snapshots(&partitioning), &add) {
            left_out.set(left_out.get() + 1);
            prop_assert!(!matches, "{predicate}");
        }
        Ok(())
    });
    assert!(left_out.get() > 50 && meant.get() > 200, "{left_out:?} were left out, {meant:?} rows were meant");
}

#[test]
fn a_file_that_is_skipped_has_no_row_that_is_meant() {
    let schema = schema();
    let (skipped, meant) = (Cell::new(0), Cell::new(0));
    check(1500, (any_predicate(), values::rows(3)), |(predicate, rows)| {
        let batch = batch(&schema, &rows).expect("rows of the schema");
        let text = Statistics::collect(&schema, &[], &batch).expect("statistics").to_json();
        let matches = rows.iter().filter(|row| predicate.matches(row).unwrap_or(false)).count();
        meant.set(meant.get() + matches);
        if !Statistics::parse(&text, &schema).may_match(&predicate, &schema, &|_| None) {
            skipped.set(skipped.get() + 1);
            prop_assert_eq!(matches, 0, "{} with {}", predicate, text);
        }
        Ok(())
    });
    assert!(skipped.get() > 100 && meant.get() > 200, "{skipped:?} were skipped, {meant:?} rows were meant");
}
