use log_core::{
    batch::{batch, rows as values},
    expression::BinaryOperator as B,
    schema::{DataType, Field, PrimitiveType as T, Schema},
    value::Value,
};

use super::*;
use crate::sql::{bound::Aggregate, statement::SetOperator};

/// `id INT, x DOUBLE`.
fn schema(types: &[T]) -> Schema {
    let field = |(i, t): (usize, &T)| Field {
        name: format!("c{i}"),
        data_type: DataType::Primitive(*t),
        nullable: true,
        metadata: Default::default(),
    };
    Schema { fields: types.iter().enumerate().map(field).collect() }
}

fn id() -> Expression {
    Expression::Column { index: 0, name: "id".to_owned(), data_type: T::Integer }
}

fn x() -> Expression {
    Expression::Column { index: 1, name: "x".to_owned(), data_type: T::Double }
}

fn int(x: i32) -> Expression {
    Expression::literal(Value::Integer(x))
}

fn select(items: &[Expression]) -> BoundSelect {
    BoundSelect {
        from: BoundFrom::Snapshot,
        predicate: None,
        aggregates: None,
        items: items.to_vec(),
        hidden: Vec::new(),
        distinct: false,
    }
}

fn query(body: BoundBody, types: &[T]) -> BoundQuery {
    let output = types.iter().enumerate().map(|(i, t)| (format!("c{i}"), *t)).collect();
    BoundQuery { output, body, order_by: Vec::new(), limit: None }
}

fn by(expression: Expression) -> BoundOrderBy {
    BoundOrderBy { expression, descending: false, nulls_first: true }
}

/// Three files, one of them empty: (1, 0.0), (2, NULL) | (3, -0.0), (2, NaN), (NULL, NULL).
fn source(from: BoundFrom) -> Result<Vec<RecordBatch>, ExecuteError> {
    let row = |id: Option<i32>, x: Option<f64>| {
        vec![id.map_or(Value::Null, Value::Integer), x.map_or(Value::Null, Value::Double)]
    };
    let schema = schema(&[T::Integer, T::Double]);
    let files = match from {
        BoundFrom::Snapshot => vec![
            vec![row(Some(1), Some(0.0)), row(Some(2), None)],
            vec![],
            vec![row(Some(3), Some(-0.0)), row(Some(2), Some(f64::NAN)), row(None, None)],
        ],
        _ => vec![],
    };
    files.iter().map(|rows| Ok(batch(&schema, rows)?)).collect()
}

/// Runs a query; rows as text, columns with commas, rows with blanks.
fn answer(query: &BoundQuery) -> String {
    let batch = run(query, &mut source).expect("an answer");
    let types: Vec<_> = query.output.iter().map(|(_, t)| *t).collect();
    let rows = values(&batch, &schema(&types)).expect("rows of the output types");
    let row = |row: Vec<Value>| row.iter().map(Value::to_string).collect::<Vec<_>>().join(",");
    rows.into_iter().map(row).collect::<Vec<_>>().join(" ")
}

fn check(body: BoundSelect, types: &[T], change: impl FnOnce(&mut BoundQuery), expected: &str) {
    let mut query = query(BoundBody::Select(Box::new(body)), types);
    change(&mut query);
    assert_eq!(answer(&query), expected);
}

#[test]
fn rows_are_filtered_and_projected() {
    let all = || select(&[id()]);
    check(all(), &[T::Integer], |_| {}, "1 2 3 2 NULL");
    let big = Expression::binary(B::GreaterOrEqual, id(), int(2));
    let twice = Expression::binary(B::Add, id(), id());
    check(BoundSelect { predicate: Some(big), ..select(&[twice]) }, &[T::Integer], |_| {}, "4 6 4");
    check(all(), &[T::Integer], |q| q.limit = Some(2), "1 2");
    check(all(), &[T::Integer], |q| q.limit = Some(0), "");
    check(all(), &[T::Integer], |q| q.limit = Some(u64::MAX), "1 2 3 2 NULL");
    check(BoundSelect { from: BoundFrom::Version(0), ..all() }, &[T::Integer], |_| {}, "");
    let nothing = BoundSelect { from: BoundFrom::Nothing, ..select(&[int(7)]) };
    check(nothing.clone(), &[T::Integer], |_| {}, "7");
    let never = Expression::literal(Value::Boolean(false));
    check(BoundSelect { predicate: Some(never), ..nothing }, &[T::Integer], |_| {}, "");
}

#[test]
fn order_by_is_stable_and_knows_hidden_keys() {
    let types = [T::Integer, T::Double];
    let both = || select(&[id(), x()]);
    check(both(), &types, |q| q.order_by = vec![by(id())], "NULL,NULL 1,0.0 2,NULL 2,NaN 3,-0.0");
    let last = |expression| BoundOrderBy { expression, descending: true, nulls_first: false };
    check(both(), &types, |q| q.order_by = vec![last(x())], "2,NaN 1,0.0 3,-0.0 2,NULL NULL,NULL");
    check(both(), &types, |q| (q.order_by, q.limit) = (vec![last(x())], Some(3)), "2,NaN 1,0.0 3,-0.0");
    check(
        both(),
        &types,
        |q| (q.order_by, q.limit) = (vec![last(x())], Some(99)),
        "2,NaN 1,0.0 3,-0.0 2,NULL NULL,NULL",
    );
    check(both(), &types, |q| (q.order_by, q.limit) = (vec![last(x())], Some(0)), "");
    let hidden = BoundSelect { hidden: vec![x()], ..select(&[id()]) };
    check(hidden, &[T::Integer], |q| q.order_by = vec![by(x())], "2 NULL 1 3 2");
}

#[test]
fn aggregates_leave_nulls_out() {
    let of = |aggregate: Aggregate, from| {
        let data_type = aggregate.data_type();
        let item = Expression::Column { index: 0, name: "a".to_owned(), data_type };
        let select = BoundSelect { from, aggregates: Some(vec![aggregate]), ..select(&[item]) };
        answer(&query(BoundBody::Select(Box::new(select)), &[data_type]))
    };
    let (some, none) = (BoundFrom::Snapshot, BoundFrom::Version(0));
    for (aggregate, expected, empty) in [
        (Aggregate::CountRows, "5", "0"),
        (Aggregate::Count(id()), "4", "0"),
        (Aggregate::Sum(id()), "8", "NULL"),
        (Aggregate::Sum(id().cast_to(T::Decimal { precision: 5, scale: 1 })), "8.0", "NULL"),
        (Aggregate::Sum(x()), "NaN", "NULL"),
        (Aggregate::Min(id()), "1", "NULL"),
        (Aggregate::Max(id()), "3", "NULL"),
        (Aggregate::Min(x()), "0.0", "NULL"),
        (Aggregate::Max(x()), "NaN", "NULL"),
    ] {
        assert_eq!(of(aggregate.clone(), some), expected, "{aggregate:?}");
        assert_eq!(of(aggregate.clone(), none), empty, "{aggregate:?}");
    }
}

#[test]
fn a_sum_that_does_not_fit_is_an_error() {
    let huge = Aggregate::Sum(Expression::literal(Value::Long(i64::MAX)));
    let item = Expression::Column { index: 0, name: "a".to_owned(), data_type: T::Long };
    let select = BoundSelect { aggregates: Some(vec![huge]), ..select(&[item]) };
    let error = run(&query(BoundBody::Select(Box::new(select)), &[T::Long]), &mut source).unwrap_err();
    assert_eq!(error.to_string(), "sum overflows long");
}

#[test]
fn distinct_takes_null_and_both_zeros_as_equal() {
    check(BoundSelect { distinct: true, ..select(&[id()]) }, &[T::Integer], |_| {}, "1 2 3 NULL");
    check(BoundSelect { distinct: true, ..select(&[x()]) }, &[T::Double], |_| {}, "0.0 NULL NaN");
}

#[test]
fn set_operations_count_when_they_say_all() {
    // Left: 1 2 3 2 NULL. Right: the same where id is 2 or NULL, and one 2 less.
    let right = || {
        let two = Expression::binary(B::Equal, id(), int(2)).and(Expression::IsNull(Box::new(x())));
        let null = Expression::IsNull(Box::new(id()));
        BoundSelect { predicate: Some(Expression::binary(B::Or, two, null)), ..select(&[id()]) }
    };
    let side = |select| Box::new(BoundBody::Select(Box::new(select)));
    for (operator, all, expected) in [
        (SetOperator::Union, true, "1 2 3 2 NULL 2 NULL"),
        (SetOperator::Union, false, "1 2 3 NULL"),
        (SetOperator::Except, true, "1 3 2"),
        (SetOperator::Except, false, "1 3"),
        (SetOperator::Intersect, true, "2 NULL"),
        (SetOperator::Intersect, false, "2 NULL"),
    ] {
        let body = BoundBody::SetOperation { operator, all, left: side(select(&[id()])), right: side(right()) };
        assert_eq!(answer(&query(body, &[T::Integer])), expected, "{operator:?} {all}");
    }
}
