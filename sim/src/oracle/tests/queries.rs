use PrimitiveType::Long;

use super::*;
use crate::{
    oracle::query::{Answer, answer},
    sql::statement::SetOperator,
};

fn ask(query: &BoundQuery, table: &Rows) -> Answer {
    answer(query, table, &|_| None).expect("an answer")
}

fn both() -> BoundSelect {
    select(None, vec![column(A), column(B)])
}

fn null_b(a: i32) -> Row {
    vec![Value::Integer(a), Value::Null]
}

#[test]
fn an_order_leaves_ties_open() {
    let mut sorted = query(both());
    sorted.order_by = vec![order_by(A, true, false)];
    sorted.limit = Some(2);
    let answer = ask(&sorted, &rows(&[(1, 1), (2, 2), (1, 3), (0, 0)]));
    assert_eq!(answer.taken(), [row(2, 2), row(1, 1)]);
    assert!(answer.accepts(&[row(2, 2), row(1, 1)]));
    assert!(answer.accepts(&[row(2, 2), row(1, 3)]), "either of the two rows of a = 1");
    assert!(!answer.accepts(&[row(1, 1), row(2, 2)]), "order");
    assert!(!answer.accepts(&[row(2, 2), row(0, 0)]), "not the next row");
    assert!(!answer.accepts(&[row(2, 2)]), "too few");
    assert!(!answer.accepts(&[row(2, 2), row(1, 1), row(1, 3)]), "too many");
}

#[test]
fn a_limit_without_an_order_takes_any_rows() {
    let mut some = query(both());
    some.limit = Some(2);
    let answer = ask(&some, &rows(&[(1, 1), (1, 1), (2, 2)]));
    assert!(answer.accepts(&[row(2, 2), row(1, 1)]));
    assert!(answer.accepts(&[row(1, 1), row(1, 1)]));
    assert!(!answer.accepts(&[row(2, 2), row(2, 2)]), "only one such row is there");
    assert_eq!(answer.taken(), [row(1, 1), row(1, 1)]);
}

#[test]
fn nulls_sort_where_the_query_says() {
    let table: Rows = [null_b(1), row(1, 5), row(1, 7)].into_iter().collect();
    for (descending, nulls_first, expected) in [
        (false, true, [null_b(1), row(1, 5), row(1, 7)]),
        (false, false, [row(1, 5), row(1, 7), null_b(1)]),
        (true, true, [null_b(1), row(1, 7), row(1, 5)]),
        (true, false, [row(1, 7), row(1, 5), null_b(1)]),
    ] {
        let mut sorted = query(both());
        sorted.order_by = vec![order_by(B, descending, nulls_first)];
        assert_eq!(ask(&sorted, &table).taken(), expected);
    }
}

#[test]
fn a_hidden_column_sorts_and_is_not_shown() {
    let mut sorted = query(BoundSelect { hidden: vec![column(B)], ..select(None, vec![column(A)]) });
    sorted.order_by = vec![BoundOrderBy { expression: column(1), descending: true, nulls_first: false }];
    let answer = ask(&sorted, &rows(&[(1, 1), (2, 9), (3, 5)]));
    assert_eq!(answer.taken(), [[Value::Integer(2)], [Value::Integer(3)], [Value::Integer(1)]]);
}

#[test]
fn aggregates_leave_nulls_out() {
    let aggregates = || {
        vec![
            Aggregate::CountRows,
            Aggregate::Count(column(B)),
            Aggregate::Sum(column(B)),
            Aggregate::Min(column(B)),
            Aggregate::Max(column(B)),
        ]
    };
    let items = || {
        let result = |(index, one): (usize, Aggregate)| Expression::Column {
            index,
            name: String::new(),
            data_type: one.data_type(),
        };
        aggregates().into_iter().enumerate().map(result).collect()
    };
    let totals = query(BoundSelect { aggregates: Some(aggregates()), ..select(None, items()) });
    let table: Rows = [null_b(1), row(1, 5), row(1, 5), row(2, -7)].into_iter().collect();
    let long = Value::Long;
    assert_eq!(ask(&totals, &table).taken(), [vec![long(4), long(3), long(3), Value::Integer(-7), Value::Integer(5)]]);
    assert_eq!(ask(&totals, &Rows::new()).taken(), [vec![long(0), long(0), Value::Null, Value::Null, Value::Null]]);
}

#[test]
fn a_sum_that_does_not_fit_is_an_error() {
    let big = Expression::Literal { value: Value::Long(i64::MAX), data_type: Long };
    let item = Expression::Column { index: 0, name: String::new(), data_type: Long };
    let total = query(BoundSelect { aggregates: Some(vec![Aggregate::Sum(big)]), ..select(None, vec![item]) });
    assert!(answer(&total, &rows(&[(1, 1), (1, 1)]), &|_| None).is_err());
    assert_eq!(ask(&total, &rows(&[(1, 1)])).taken(), [vec![Value::Long(i64::MAX)]]);
}

#[test]
fn set_operations_count_duplicates_only_with_all() {
    let table = rows(&[(1, 1), (1, 1), (1, 1), (2, 1), (3, 2), (1, 2)]);
    // The left side holds a: 1, 1, 1, 2; the right side 3, 1.
    let side = |b| Box::new(BoundBody::Select(Box::new(select(Some(equal(B, b)), vec![column(A)]))));
    for (operator, all, expected) in [
        (SetOperator::Union, true, vec![1, 1, 1, 1, 2, 3]),
        (SetOperator::Union, false, vec![1, 2, 3]),
        (SetOperator::Except, true, vec![1, 1, 2]),
        (SetOperator::Except, false, vec![2]),
        (SetOperator::Intersect, true, vec![1]),
        (SetOperator::Intersect, false, vec![1]),
    ] {
        let mut both = query(select(None, vec![column(A)]));
        both.body = BoundBody::SetOperation { operator, all, left: side(1), right: side(2) };
        let expected: Vec<Row> = expected.into_iter().map(|a| vec![Value::Integer(a)]).collect();
        assert_eq!(ask(&both, &table).taken(), expected, "{operator:?} all: {all}");
    }
}

#[test]
fn distinct_drops_duplicates() {
    let table = rows(&[(1, 1), (1, 2), (2, 2)]);
    let once = query(BoundSelect { distinct: true, ..select(None, vec![column(A)]) });
    assert_eq!(ask(&once, &table).taken(), [[Value::Integer(1)], [Value::Integer(2)]]);
}

#[test]
fn a_query_without_a_table_has_one_row() {
    let one = query(BoundSelect { from: BoundFrom::Nothing, ..select(None, vec![int(5)]) });
    assert_eq!(ask(&one, &Rows::new()).taken(), [[Value::Integer(5)]]);
}

#[test]
fn an_update_sees_the_old_row_and_null_is_no_match() {
    let swap = Bound::Update(BoundUpdate {
        assignments: vec![Some(column(B)), Some(column(A))],
        predicate: Some(binary(BinaryOperator::Greater, column(B), int(0))),
    });
    let table: Rows = [row(1, 5), row(1, 5), null_b(3)].into_iter().collect();
    let effect = interpreter::effect(&swap, &table, &|_| None).unwrap();
    assert_eq!(effect, Effect { deleted: rows(&[(1, 5), (1, 5)]), inserted: rows(&[(5, 1), (5, 1)]) });
}

#[test]
fn rows_that_are_not_there_cannot_be_taken() {
    let mut table = rows(&[(1, 1)]);
    assert_eq!(table.remove(&row(1, 1), 2), Err(MissingRow(row(1, 1))));
    assert_eq!(table, rows(&[(1, 1)]));
    let net = rows(&[(1, 1)]).difference(&rows(&[(2, 2), (2, 2)]));
    assert_eq!(table.apply(&net), Ok(rows(&[(2, 2), (2, 2)])));
    assert_eq!(Rows::new().apply(&net), Err(MissingRow(row(1, 1))));
}
