use log_core::schema::{DataType, Field};

use super::*;

fn schema() -> Schema {
    let field = |(name, data_type): (&str, &str)| Field {
        name: name.to_owned(),
        data_type: DataType::Primitive(data_type.parse().unwrap()),
        nullable: true,
        metadata: Default::default(),
    };
    let columns = [("id", "long"), ("p", "string"), ("d", "date"), ("ts", "timestamp")];
    Schema { fields: columns.into_iter().map(field).collect() }
}

/// Partitioned by p and d: what is left of a text, and how many parts count as true.
#[track_caller]
fn check(text: &str, expected: &str, widened: usize) {
    let found = bind_registration(text, &schema(), &["p".to_owned(), "d".to_owned()]);
    assert_eq!(
        (found.predicate.to_string().as_str(), found.widened.len()),
        (expected, widened),
        "{text}: {:?}",
        found.widened
    );
}

#[test]
fn what_can_be_resolved_is_kept() {
    check("p = 'a'", "(p = 'a')", 0);
    check("t.P = 'a' AND T.id = 1", "((p = 'a') AND (id = 1L))", 0);
    check("p = 'it''s'", r"(p = 'it\'s')", 0);
    check("(p = 'a' OR p = 'b')", "((p = 'a') OR (p = 'b'))", 0);
}

#[test]
fn what_cannot_be_resolved_counts_as_true_and_its_neighbours_do_not() {
    check("t.id = s.id AND t.p = s.p AND t.p = 'b'", "((true AND true) AND (p = 'b'))", 2);
    check("nosuch = 1 AND p = 'a'", "(true AND (p = 'a'))", 1);
    check("p IN (SELECT x FROM u)", "true", 1);
    check("p = = 'a'", "true", 1);
    check("t.id = 5 OR s.x = 1", "true", 1);
    check("p = 'a' OR s.x = 1", "true", 1);
}

#[test]
fn random_parts_count_as_true_where_that_is_wider() {
    check("p = 'a' AND rand() < 0.5", "((p = 'a') AND true)", 1);
    check("p = 'a' OR rand() < 0.5", "((p = 'a') OR true)", 1);
    check("(p = 'a' AND rand() < 0.5) OR p = 'b'", "(((p = 'a') AND true) OR (p = 'b'))", 1);
    check("NOT (p = 'a' AND rand() < 0.5)", "true", 1);
    check("NOT (p = 'a' OR mine(p) = 'x')", "true", 1);
    check("mine(p) = 'x' OR p = 'b'", "(true OR (p = 'b'))", 1);
    // With a data column, the part says nothing about partitions as a whole.
    check("id = 1 OR rand() < 0.5", "true", 1);
}

#[test]
fn the_clock_counts_as_true() {
    check("d = current_date()", "true", 1);
    check("d = DATE '2024-01-01' OR d < current_date", "((d = DATE '2024-01-01') OR true)", 1);
    check("ts < now() AND p = 'a'", "(true AND (p = 'a'))", 1);
}
