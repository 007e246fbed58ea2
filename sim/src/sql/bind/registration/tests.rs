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
    check("t.id = s.id AND t.p = s.p AND t.p = 'b'", "(p = 'b')", 2);
    check("nosuch = 1 AND p = 'a'", "(p = 'a')", 1);
    check("p IN (SELECT x FROM u)", "true", 1);
    check("p = = 'a'", "true", 1);
    check("t.id = 5 OR s.x = 1", "true", 1);
    check("p = 'a' AND id IN (SELECT x FROM s WHERE y = 1 AND z = 2)", "(p = 'a')", 1);
    check("EXISTS (SELECT 1 FROM s) AND (p = 'a' OR p = 'b')", "((p = 'a') OR (p = 'b'))", 1);
    check("p = 'a' AND arr[0] = 1 AND id = 5.0D", "(p = 'a')", 2);
    check("p = 'a' OR p IN (SELECT x FROM s)", "true", 1);
    check("(p = 'a' AND d IN (SELECT x FROM s)) OR p = 'b'", "true", 1);
    check("p = 'a' AND", "(p = 'a')", 1);
    check("p = 'a' AND (p = 'b'", "(p = 'a')", 1);
    check("p = 'a' AND p = 'b')", "(p = 'a')", 1);
    check("", "true", 1);
    check("p = 'a", "true", 1);
    check("p = 'a' OR s.x = 1", "true", 1);
}

#[test]
fn a_condition_is_cut_at_its_own_ands_and_ors() {
    let between = "(((p >= 'a') AND (p <= 'c')) AND (id = 1L))";
    check("p BETWEEN 'a' AND 'c' AND id = 1", between, 0);
    check("(p BETWEEN 'a' AND 'c') and (id = 1)", between, 0);
    check("p = 'a' or p = 'b' and d is null", "((p = 'a') OR ((p = 'b') AND (d IS NULL)))", 0);
    check("NOT p = 'a' AND NOT (p = 'b' OR p = 'c')", "((NOT (p = 'a')) AND (NOT ((p = 'b') OR (p = 'c'))))", 0);
    check("p = 'a' -- AND p = 'b'\n AND p = 'x AND y'", "((p = 'a') AND (p = 'x AND y'))", 0);
    let case = "CASE WHEN ((p = 'a') AND (id = 1L)) THEN true ELSE false END";
    check("CASE WHEN p = 'a' AND id = 1 THEN true ELSE false END AND p = 'b'", &format!("({case} AND (p = 'b'))"), 0);
    check("((p)) = 'a' AND (((p = 'b')))", "((p = 'a') AND (p = 'b'))", 0);
}

/// Chains and parentheses are no deep trees, neither here nor for whoever walks the expression.
#[test]
fn chains_of_any_length_are_read() {
    for operator in ["AND", "OR"] {
        let terms: Vec<String> = (0..20_000).map(|n| format!("p = '{n}'")).collect();
        let found = bind_registration(&terms.join(&format!(" {operator} ")), &schema(), &["p".to_owned()]);
        assert_eq!(found.widened, [""; 0]);
        assert_eq!(found.predicate.to_string().matches("(p = '").count(), 20_000);
    }
    check(&format!("{}p = 'a'{}", "(".repeat(150), ")".repeat(150)), "(p = 'a')", 0);
    check(&format!("p = 'b' AND {}p = 'a'{}", "(".repeat(100_000), ")".repeat(100_000)), "(p = 'b')", 1);
    check(&format!("p = 'b' AND {}p = 'a'", "NOT ".repeat(100_000)), "(p = 'b')", 1);
}

#[test]
fn an_error_says_where_it_is() {
    let found = bind_registration("p = 'a' AND\n  p = 'b' AND nosuch = 1", &schema(), &["p".to_owned()]);
    let why = found.widened[0].clone();
    assert!(why.starts_with("`nosuch = 1` counts as true: ") && why.contains("line 2, column 15"), "{why}");
}

#[test]
fn random_parts_count_as_true_where_that_is_wider() {
    check("p = 'a' AND rand() < 0.5", "(p = 'a')", 1);
    check("p = 'a' OR rand() < 0.5", "true", 1);
    check("(p = 'a' AND rand() < 0.5) OR p = 'b'", "((p = 'a') OR (p = 'b'))", 1);
    check("NOT (p = 'a' AND rand() < 0.5)", "true", 1);
    check("NOT (p = 'a' OR mine(p) = 'x')", "true", 1);
    check("mine(p) = 'x' OR p = 'b'", "true", 1);
    // With a data column, the part says nothing about partitions as a whole.
    check("id = 1 OR rand() < 0.5", "true", 1);
}

#[test]
fn the_clock_counts_as_true() {
    check("d = current_date()", "true", 1);
    check("d = DATE '2024-01-01' OR d < current_date", "true", 1);
    check("ts < now() AND p = 'a'", "(p = 'a')", 1);
}
