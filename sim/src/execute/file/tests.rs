use log_core::{
    batch::{batch, rows},
    expression::BinaryOperator as B,
    schema::{DataType, Field, PrimitiveType as T},
    value::Value,
};

use super::*;

/// Id and amount.
type Row = (i32, Option<i32>);

/// `id INT NOT NULL, amount INT`.
fn schema() -> Schema {
    let field = |name: &str, nullable| Field {
        name: name.to_owned(),
        data_type: DataType::Primitive(T::Integer),
        nullable,
        metadata: Default::default(),
    };
    Schema { fields: vec![field("id", false), field("amount", true)] }
}

fn int(x: Option<i32>) -> Value {
    x.map_or(Value::Null, Value::Integer)
}

fn table(input: &[Row]) -> RecordBatch {
    let rows: Vec<_> = input.iter().map(|(id, amount)| vec![Value::Integer(*id), int(*amount)]).collect();
    batch(&schema(), &rows).expect("a batch")
}

fn amount() -> Expression {
    Expression::Column { index: 1, name: "amount".to_owned(), data_type: T::Integer }
}

fn literal(x: i32) -> Expression {
    Expression::literal(Value::Integer(x))
}

fn amount_above(x: i32) -> Option<Expression> {
    Some(Expression::binary(B::Greater, amount(), literal(x)))
}

fn check_update(statement: &BoundUpdate, input: &[Row], expected: Option<&[Row]>) {
    let result = update(statement, &schema(), &table(input)).expect("no error");
    let found = result.map(|r| rows(&r.batch, &schema()).expect("rows"));
    assert_eq!(found, expected.map(|rows_| rows(&table(rows_), &schema()).expect("rows")));
}

#[test]
fn an_update_changes_the_rows_that_match() {
    let double = Expression::binary(B::Add, amount(), amount());
    let statement = BoundUpdate { assignments: vec![None, Some(double)], predicate: amount_above(5) };
    check_update(&statement, &[(1, Some(5)), (2, Some(6)), (3, None)], Some(&[(1, Some(5)), (2, Some(12)), (3, None)]));
    check_update(&statement, &[(1, Some(7))], Some(&[(1, Some(14))]));
    check_update(&statement, &[(1, Some(5)), (3, None)], None);
    check_update(&statement, &[], None);
    let all = BoundUpdate { assignments: vec![None, Some(literal(0))], predicate: None };
    check_update(&all, &[(1, None), (2, Some(6))], Some(&[(1, Some(0)), (2, Some(0))]));
}

#[test]
fn an_assignment_does_not_fail_on_rows_that_do_not_match() {
    let quotient = Expression::binary(B::Remainder, literal(100), amount());
    let statement = BoundUpdate { assignments: vec![None, Some(quotient)], predicate: amount_above(0) };
    let input = [(1, Some(0)), (2, Some(30)), (3, None), (4, Some(7))];
    check_update(&statement, &input, Some(&[(1, Some(0)), (2, Some(10)), (3, None), (4, Some(2))]));
    let on_all = BoundUpdate { predicate: None, ..statement };
    assert!(matches!(update(&on_all, &schema(), &table(&input)), Err(ExecuteError::DivisionByZero)));
}

#[test]
fn null_for_a_not_null_column_is_an_error() {
    let statement = BoundUpdate { assignments: vec![Some(amount()), None], predicate: None };
    let error = update(&statement, &schema(), &table(&[(1, Some(1)), (2, None)])).unwrap_err();
    assert_eq!(error.to_string(), "NULL for column 'id', which is NOT NULL");
    // Only where it is written.
    let some = BoundUpdate { predicate: amount_above(0), ..statement };
    check_update(&some, &[(1, Some(9)), (2, None)], Some(&[(9, Some(9)), (2, None)]));
}

#[test]
fn assignments_see_the_old_row() {
    let id = Expression::Column { index: 0, name: "id".to_owned(), data_type: T::Integer };
    let swap = BoundUpdate { assignments: vec![Some(amount()), Some(id)], predicate: None };
    check_update(&swap, &[(1, Some(2))], Some(&[(2, Some(1))]));
}

#[test]
fn a_delete_keeps_the_others() {
    let check = |predicate, input: &[_], expected: Option<(usize, &[Row])>| {
        let result = delete(&BoundDelete { predicate }, &table(input)).expect("no error");
        let found = result.map(|r| (r.matched, rows(&r.batch, &schema()).expect("rows")));
        assert_eq!(found, expected.map(|(n, stay)| (n, rows(&table(stay), &schema()).expect("rows"))));
    };
    let input = [(1, Some(5)), (2, Some(6)), (3, None)];
    check(amount_above(5), &input, Some((1, &[(1, Some(5)), (3, None)])));
    check(amount_above(6), &input, None);
    check(None, &input, Some((3, &[])));
    check(None, &[], None);
}
