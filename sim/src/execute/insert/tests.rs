use log_core::{
    batch::{batch, rows as values},
    expression::BinaryOperator as B,
    schema::{DataType, Field, PrimitiveType as T},
};

use super::*;
use crate::sql::bound::{BoundBody, BoundQuery, BoundSelect};

/// `id INT NOT NULL, name STRING`.
fn schema() -> Schema {
    let field = |name: &str, data_type, nullable| Field {
        name: name.to_owned(),
        data_type: DataType::Primitive(data_type),
        nullable,
        metadata: Default::default(),
    };
    Schema { fields: vec![field("id", T::Integer, false), field("name", T::String, true)] }
}

fn int(x: i32) -> Expression {
    Expression::literal(Value::Integer(x))
}

fn text(x: &str) -> Expression {
    Expression::literal(Value::String(x.to_owned()))
}

fn insert(statement: &BoundInsert) -> Result<Vec<Vec<Value>>, ExecuteError> {
    let mut source = |_| {
        let row = |x, y: &str| vec![Value::Integer(x), Value::String(y.to_owned())];
        Ok::<_, ExecuteError>(vec![batch(&schema(), &[row(1, "a"), row(2, "b")])?])
    };
    Ok(values(&rows(statement, &schema(), &mut source)?, &schema())?)
}

#[test]
fn values_become_rows() {
    let sum = Expression::binary(B::Add, int(1), int(2));
    let statement = BoundInsert::Values(vec![vec![int(1), text("a")], vec![sum, Expression::null(T::String)]]);
    let expected = [vec![Value::Integer(1), Value::String("a".to_owned())], vec![Value::Integer(3), Value::Null]];
    assert_eq!(insert(&statement).expect("rows"), expected);
    assert_eq!(insert(&BoundInsert::Values(vec![])).expect("rows"), Vec::<Vec<Value>>::new());
}

#[test]
fn a_query_becomes_rows() {
    let column = |index, data_type| Expression::Column { index, name: "c".to_owned(), data_type };
    let select = BoundSelect {
        from: BoundFrom::Snapshot,
        predicate: None,
        aggregates: None,
        items: vec![column(1, T::String), column(0, T::Integer)],
        hidden: vec![],
        distinct: false,
    };
    let query = BoundQuery {
        output: vec![("name".to_owned(), T::String), ("id".to_owned(), T::Integer)],
        body: BoundBody::Select(Box::new(select)),
        order_by: vec![],
        limit: Some(1),
    };
    let columns = vec![Expression::binary(B::Add, column(1, T::Integer), int(10)), column(0, T::String)];
    let statement = BoundInsert::Query { query, columns };
    assert_eq!(insert(&statement).expect("rows"), [vec![Value::Integer(11), Value::String("a".to_owned())]]);
}

#[test]
fn bad_rows_are_named() {
    let check = |row: Vec<Expression>, expected: &str| {
        assert_eq!(insert(&BoundInsert::Values(vec![row])).unwrap_err().to_string(), expected);
    };
    check(vec![Expression::null(T::Integer), text("a")], "NULL for column 'id', which is NOT NULL");
    check(vec![int(1)], "1 columns where 2 belong");
    check(vec![text("1"), text("a")], "arrow failed at building rows");
    check(vec![Expression::binary(B::Add, int(i32::MAX), int(1)), text("a")], "+ overflows integer");
}
