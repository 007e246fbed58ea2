use std::sync::Arc;

use log_core::{action::Action, expression::BinaryOperator};

use super::*;
use crate::testing::{actions, partitioned, predicate, table};

/// Partitioned by an integer and a text.
fn two_columns() -> Arc<Snapshot> {
    table("id long, part integer, q string", "part q", &[])
}

fn matches(table: &Snapshot, predicate: &Expression, file: &str) -> bool {
    let [Action::Add(add)] = &actions(&format!("+f[{file}]"))[..] else { panic!("{file}") };
    may_match(predicate, table, add)
}

#[track_caller]
fn check(text: &str, file: &str, expected: bool) {
    let table = two_columns();
    assert_eq!(matches(&table, &predicate(&table, text), file), expected, "{text} on {file}");
}

#[test]
fn a_partition_predicate_is_evaluated_by_type() {
    check("part=10", "part=10,q=x", true);
    check("part=10", "part=010,q=x", true);
    check("part=10", "part=9,q=x", false);
    check("part>9", "part=10,q=x", true);
    check("part<9", "part=10,q=x", false);
    check("q<9", "part=1,q=10", true);
    check("part=1 and q=x", "part=1,q=x", true);
    check("part=1 and q=x", "part=1,q=y", false);
    check("part=1 and q=x", "part=2,q=x", false);
    check("part=1 or q=x", "part=2,q=x", true);
    check("part=1 or q=x", "part=2,q=y", false);
}

#[test]
fn a_null_partition_value_matches_only_what_is_true_of_null() {
    check("part=1", "part=,q=x", false);
    check("part<1", "part=,q=x", false);
    check("part<=>", "part=,q=x", true);
    check("part<=>", "part=1,q=x", false);
    check("part=", "part=1,q=x", false);
    check("part=", "part=,q=x", false);
    check("part=1 or q=x", "part=,q=x", true);
    check("part=1 or q=y", "part=,q=x", false);
    let table = two_columns();
    let is_null = Expression::IsNull(Box::new(Expression::Column {
        index: 1,
        name: "part".to_owned(),
        data_type: table.schema.fields[1].data_type.primitive().unwrap(),
    }));
    assert!(matches(&table, &is_null, "part=,q=x"));
    assert!(!matches(&table, &is_null, "part=1,q=x"));
}

#[test]
fn data_columns_narrow_nothing() {
    check("id=5", "part=1,q=x", true);
    check("id=5 and part=1", "part=1,q=x", true);
    check("id=5 and part=1", "part=2,q=x", false);
    check("part=1 and id=5 and q=x", "part=1,q=y", false);
    // A mixed disjunction is a data predicate as a whole, and so is a comparison of a partition column with a data column.
    check("part=1 or id=5", "part=2,q=x", true);
    check("q=x and part=1 or q=x and id=5", "part=2,q=y", true);
    let table = table("id integer, part integer", "part", &[]);
    let column = |index, name: &str| Expression::Column {
        index,
        name: name.to_owned(),
        data_type: table.schema.fields[0].data_type.primitive().unwrap(),
    };
    let mixed = Expression::binary(BinaryOperator::Equal, column(0, "id"), column(1, "part"));
    assert!(matches(&table, &mixed, "part=7"));
    assert!(!matches(&table, &mixed.and(predicate(&table, "part=1")), "part=7"));
}

#[test]
fn a_constant_decides_alone() {
    check("true", "part=1,q=x", true);
    let table = two_columns();
    let never = Expression::Not(Box::new(Expression::truth()));
    assert!(!matches(&table, &never.and(predicate(&table, "id=5")), "part=1,q=x"));
}

#[test]
fn a_value_that_cannot_be_read_may_match() {
    check("part=1", "part=one,q=x", true);
    check("part=1", "part=1.5,q=x", true);
    check("part=1", "part=99999999999,q=x", true);
    check("part=1", "q=x", true);
    check("part=1", "", true);
}

#[test]
fn a_part_that_cannot_be_evaluated_may_match() {
    let table = two_columns();
    let data_type = table.schema.fields[1].data_type.primitive().unwrap();
    let column = Expression::Column { index: 1, name: "part".to_owned(), data_type };
    let zero = Expression::literal(Value::Integer(0));
    let remainder = Expression::binary(BinaryOperator::Remainder, zero.clone(), column);
    let part = Expression::binary(BinaryOperator::Equal, remainder, Expression::literal(Value::Integer(1)));
    assert!(!matches(&table, &part, "part=7,q=x"));
    assert!(matches(&table, &part, "part=0,q=x"));
    assert!(!matches(&table, &part.and(predicate(&table, "q=y")), "part=0,q=x"));
}

#[test]
fn letter_case_of_column_names_does_not_matter() {
    let table = table("id long, Part integer", "pART", &[]);
    let predicate = predicate(&table, "part=1");
    assert!(is_partition_predicate(&predicate, table.partition_columns()));
    assert!(matches(&table, &predicate, "pART=1"));
    assert!(!matches(&table, &predicate, "pART=2"));
}

#[test]
fn a_predicate_without_columns_speaks_of_partitions_only() {
    let table = partitioned();
    let check = |text: &str, expected: bool| {
        let found = is_partition_predicate(&predicate(&table, text), table.partition_columns());
        assert_eq!(found, expected, "{text}");
    };
    check("true", true);
    check("p=a and p>b", true);
    check("p=a and id=1", false);
    check("id=1", false);
}
