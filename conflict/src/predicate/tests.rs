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

fn negated(expression: Expression) -> Expression {
    Expression::Not(Box::new(expression))
}

fn text_column(table: &Snapshot, index: usize) -> Expression {
    let name = table.schema.fields[index].name.clone();
    Expression::Column { index, name, data_type: table.schema.fields[index].data_type.primitive().unwrap() }
}

fn text(value: &str) -> Expression {
    Expression::literal(Value::String(value.to_owned()))
}

#[test]
fn texts_are_compared_as_they_stand() {
    let table = two_columns();
    let q = || text_column(&table, 2);
    let check = |predicate: &Expression, file: &str, expected: bool| {
        assert_eq!(matches(&table, predicate, file), expected, "{predicate} on {file}");
        // The careful way says the same.
        let careful = Expression::Not(Box::new(negated(predicate.clone())));
        assert_eq!(matches(&table, &careful, file), expected, "{careful} on {file}");
    };
    let differs = Expression::binary(BinaryOperator::NotEqual, q(), text("x"));
    check(&differs, "part=1,q=y", true);
    check(&differs, "part=1,q=x", false);
    check(&differs, "part=1,q=", false);
    let among = Expression::In { value: Box::new(q()), list: vec![text("x"), text("y")] };
    check(&among, "part=1,q=y", true);
    check(&among, "part=1,q=z", false);
    check(&among, "part=1,q=", false);
    check(&negated(among.clone()), "part=1,q=z", true);
    check(&negated(among), "part=1,q=", false);
    let equal = Expression::binary(BinaryOperator::Equal, q(), text(""));
    check(&equal, "part=1,q=", false);
    check(&Expression::binary(BinaryOperator::Equal, text("x"), q()), "part=1,q=x", true);
    check(&Expression::binary(BinaryOperator::Equal, text("x"), q()), "part=1,q=y", false);
    check(&Expression::binary(BinaryOperator::Greater, q(), text("x")), "part=1,q=y", true);
    let with_null = Expression::In {
        value: Box::new(q()),
        list: vec![text("x"), Expression::null(table.schema.fields[2].data_type.primitive().unwrap())],
    };
    check(&with_null, "part=1,q=x", true);
    check(&negated(with_null), "part=1,q=z", false);
}

#[test]
fn a_text_that_is_missing_may_be_any() {
    check("q=x", "part=1", true);
    check("q=x and part=1", "part=2", true);
    check("q=x and part=1", "q=x", true);
}

#[test]
fn the_first_predicate_that_matches_is_named() {
    let table = two_columns();
    let predicates = ["part=1", "q=x", "id=5"].map(|text| predicate(&table, text));
    let filter = PartitionFilter::new(&predicates, &table);
    let first = |file: &str| {
        let [Action::Add(add)] = &actions(&format!("+f[{file}]"))[..] else { panic!("{file}") };
        filter.first_match(add)
    };
    assert_eq!(first("part=1,q=x"), Some(0));
    assert_eq!(first("part=2,q=x"), Some(1));
    assert_eq!(first("part=2,q=y"), Some(2));
    assert_eq!(filter.unbounded().collect::<Vec<_>>(), [2]);
    let two = PartitionFilter::new(&predicates[..2], &table);
    let [Action::Add(add)] = &actions("+f[part=2,q=y]")[..] else { panic!("an add") };
    assert_eq!(two.first_match(add), None);
    assert_eq!(PartitionFilter::new(&[], &table).first_match(add), None);
}

/// The table with a physical name for each column.
fn mapped(table: &Snapshot, mode: &str) -> Snapshot {
    let mut schema = Schema::clone(&table.schema);
    for field in &mut schema.fields {
        field.metadata.insert("delta.columnMapping.physicalName".to_owned(), format!("c-{}", field.name).into());
    }
    let mut metadata = Metadata::clone(&table.metadata);
    metadata.configuration.insert("delta.columnMapping.mode".to_owned(), mode.to_owned());
    Snapshot { schema: Arc::new(schema), metadata: Arc::new(metadata), ..table.clone() }
}

#[test]
fn under_column_mapping_files_use_physical_names() {
    let table = two_columns();
    for mode in ["name", "id", "NAME"] {
        let mapped = mapped(&table, mode);
        assert!(matches(&mapped, &predicate(&mapped, "part=1"), "c-part=1,c-q=x"));
        assert!(!matches(&mapped, &predicate(&mapped, "part=1"), "c-part=2,c-q=x"));
        assert!(!matches(&mapped, &predicate(&mapped, "q=y"), "c-part=2,c-q=x"));
    }
    let off = mapped(&table, "none");
    assert!(!matches(&off, &predicate(&off, "part=1"), "part=2,q=x"));
    assert!(matches(&off, &predicate(&off, "part=1"), "c-part=2,c-q=x"), "these names mean nothing");
}

#[test]
fn partitions_are_shown_by_logical_names() {
    let shown = |table: &Snapshot, file: &str| {
        let [Action::Add(add)] = &actions(&format!("+f[{file}]"))[..] else { panic!("{file}") };
        shown_partition(table, &add.partition_values)
    };
    let table = two_columns();
    assert_eq!(shown(&table, "part=1,q=").as_deref(), Some("[part=1, q=null]"));
    assert_eq!(shown(&mapped(&table, "name"), "c-part=1,c-q=x").as_deref(), Some("[part=1, q=x]"));
    assert_eq!(shown(&table, "part=1"), None);
    assert_eq!(shown(&crate::testing::unpartitioned(), ""), None);
}

#[test]
fn statistics_speak_of_physical_names() {
    let table = two_columns();
    let check = |table: &Snapshot, name: &str, text: &str, file: &str, expected: bool| {
        let [Action::Add(add)] = &mut actions(&format!("+f[{file}]"))[..] else { panic!("{file}") };
        add.stats = Some(format!(r#"{{"numRecords":2,"minValues":{{"{name}":6}},"maxValues":{{"{name}":9}}}}"#));
        let predicates = [predicate(table, text)];
        let filter = StatisticsFilter::new(&predicates, table);
        assert_eq!(filter.first_match(add).is_some(), expected, "{text} on {file}, {name}");
        add.stats = None;
        assert_eq!(filter.first_match(add).is_some(), may_match(&predicates[0], table, add));
    };
    check(&table, "id", "id=5", "part=1,q=x", false);
    check(&table, "id", "id=7", "part=1,q=x", true);
    check(&table, "c-id", "id=5", "part=1,q=x", true);
    let mapped = mapped(&table, "name");
    check(&mapped, "c-id", "id=5", "c-part=1,c-q=x", false);
    check(&mapped, "id", "id=5", "c-part=1,c-q=x", true);
    // Partition values count as well, where they can be read.
    check(&table, "id", "part=1 or id=5", "part=1,q=x", true);
    check(&table, "id", "part=1 or id=5", "part=2,q=x", false);
    check(&table, "id", "part=1 or id=5", "part=two,q=x", true);
    check(&table, "id", "part=1 and id=7", "part=2,q=x", false);
    // Not of the partition columns, and without statistics: nothing is known of it.
    check(&table, "other", "id=5", "part=1,q=x", true);
}
