//! Statements over a table `(a int, b int)` by hand, and histories of them.

mod brute_force;
mod histories;
mod queries;

use std::sync::Arc;

use conflict::isolation::IsolationLevel;
use log_core::{
    expression::{BinaryOperator, Expression},
    schema::PrimitiveType,
    value::Value,
};

use super::{
    AnsweredQuery, Judgement, Operation, Oracle, Row, Rows, TableHistory,
    interpreter::{self, Effect, InterpretError},
    rows::MissingRow,
};
use crate::sql::bound::{
    Aggregate, Bound, BoundBody, BoundDelete, BoundFrom, BoundInsert, BoundOrderBy, BoundQuery, BoundSelect,
    BoundUpdate,
};

const A: usize = 0;
const B: usize = 1;

fn column(index: usize) -> Expression {
    Expression::Column { index, name: ["a", "b"][index].to_owned(), data_type: PrimitiveType::Integer }
}

fn int(value: i32) -> Expression {
    Expression::literal(Value::Integer(value))
}

fn binary(operator: BinaryOperator, left: Expression, right: Expression) -> Expression {
    Expression::binary(operator, left, right)
}

fn equal(index: usize, value: i32) -> Expression {
    binary(BinaryOperator::Equal, column(index), int(value))
}

fn plus(index: usize, value: i32) -> Expression {
    binary(BinaryOperator::Add, column(index), int(value))
}

/// `value DIV column = 1`: fails where the column is 0.
fn division(value: i32, index: usize) -> Expression {
    let long = |expression: Expression| expression.cast_to(PrimitiveType::Long);
    let quotient = binary(BinaryOperator::IntegerDivide, long(int(value)), long(column(index)));
    binary(BinaryOperator::Equal, quotient, Expression::literal(Value::Long(1)))
}

fn row(a: i32, b: i32) -> Row {
    vec![Value::Integer(a), Value::Integer(b)]
}

fn rows(list: &[(i32, i32)]) -> Rows {
    list.iter().map(|&(a, b)| row(a, b)).collect()
}

fn insert(list: &[(i32, i32)]) -> Bound {
    Bound::Insert(BoundInsert::Values(list.iter().map(|&(a, b)| vec![int(a), int(b)]).collect()))
}

fn delete(predicate: Option<Expression>) -> Bound {
    Bound::Delete(BoundDelete { predicate })
}

fn update(index: usize, value: Expression, predicate: Option<Expression>) -> Bound {
    let mut assignments = vec![None, None];
    assignments[index] = Some(value);
    Bound::Update(BoundUpdate { assignments, predicate })
}

fn select(predicate: Option<Expression>, items: Vec<Expression>) -> BoundSelect {
    BoundSelect { from: BoundFrom::Snapshot, predicate, aggregates: None, items, hidden: Vec::new(), distinct: false }
}

/// `SELECT count(*) WHERE predicate`, as an integer.
fn count_rows(predicate: Option<Expression>) -> BoundSelect {
    let total = Expression::Column { index: 0, name: "count".to_owned(), data_type: PrimitiveType::Long };
    BoundSelect { aggregates: Some(vec![Aggregate::CountRows]), ..select(predicate, vec![total]) }
}

fn query(select: BoundSelect) -> BoundQuery {
    let output = select.items.iter().map(|item| ("c".to_owned(), item.data_type())).collect();
    BoundQuery { output, body: BoundBody::Select(Box::new(select)), order_by: Vec::new(), limit: None }
}

/// `INSERT INTO t SELECT a, count FROM (SELECT count(*) AS count FROM t WHERE predicate)`.
fn insert_count(a: i32, predicate: Option<Expression>) -> Bound {
    let count = Expression::Column { index: 0, name: "count".to_owned(), data_type: PrimitiveType::Long };
    let columns = vec![int(a), count.cast_to(PrimitiveType::Integer)];
    Bound::Insert(BoundInsert::Query { query: query(count_rows(predicate)), columns })
}

fn order_by(index: usize, descending: bool, nulls_first: bool) -> BoundOrderBy {
    BoundOrderBy { expression: column(index), descending, nulls_first }
}

/// A history while it grows, with its contents spelled out.
struct Log {
    oracle: Oracle,
    history: TableHistory,
    contents: Vec<Rows>,
    statements: Vec<Arc<Bound>>,
}

#[derive(Debug)]
enum NoCommit {
    Fails,
    Gone,
}

impl From<InterpretError> for NoCommit {
    fn from(_: InterpretError) -> Self {
        Self::Fails
    }
}

impl From<MissingRow> for NoCommit {
    fn from(_: MissingRow) -> Self {
        Self::Gone
    }
}

impl Log {
    /// A log whose version 0 left these rows.
    fn new(base: Rows) -> Self {
        Self::with_oracle(Oracle::new(), base)
    }

    fn with_oracle(mut oracle: Oracle, base: Rows) -> Self {
        let history = TableHistory {
            level: IsolationLevel::Serializable,
            first_version: 1,
            base: oracle.intern(base.clone()),
            before: Vec::new(),
            operations: Vec::new(),
            queries: Vec::new(),
        };
        Self { oracle, history, contents: vec![base], statements: Vec::new() }
    }

    fn effect(&self, bound: &Bound, rows: &Rows) -> Result<Effect, InterpretError> {
        interpreter::effect(bound, rows, &|version| self.contents.get(usize::try_from(version).ok()?))
    }

    /// Commits the effect of a statement on the snapshot with the first `seen` operations.
    fn try_write(&mut self, seen: usize, bound: Bound) -> Result<(), NoCommit> {
        let effect = self.effect(&bound, &self.contents[seen])?;
        let next = step(&self.contents[self.contents.len() - 1], &effect)?;
        self.write_as(seen, bound, next);
        Ok(())
    }

    /// Commits a statement and the contents that its version is said to have.
    fn write_as(&mut self, seen: usize, bound: Bound, contents: Rows) {
        let bound = Arc::new(bound);
        let version = self.history.operations.len() + 1;
        self.history.operations.push(Operation {
            name: format!("w{version}").into(),
            seen,
            statement: Some(self.oracle.statement(&bound)),
            after: self.oracle.intern(contents.clone()),
        });
        self.contents.push(contents);
        self.statements.push(bound);
    }

    fn write(mut self, seen: usize, bound: Bound) -> Self {
        self.try_write(seen, bound).expect("a history that can happen");
        self
    }

    fn read(mut self, seen: usize, query: BoundQuery, answer: &[Row]) -> Self {
        let number = self.history.queries.len() + 1;
        self.history.queries.push(AnsweredQuery {
            name: format!("q{number}").into(),
            seen,
            statement: self.oracle.statement(&Arc::new(Bound::Select(query))),
            answer: answer.into(),
        });
        self
    }

    fn judge(&mut self, level: IsolationLevel) -> Judgement {
        self.history.level = level;
        self.oracle.judge(&self.history)
    }

    /// Does every operation have its effect in this order?
    fn replays(&self, order: &[usize]) -> bool {
        let mut rows = self.contents[0].clone();
        for &index in order {
            let recorded = self.recorded(index);
            let again = self.effect(&self.statements[index], &rows);
            match step(&rows, &recorded) {
                Ok(next) if again.as_ref() == Ok(&recorded) => rows = next,
                _ => return false,
            }
        }
        true
    }

    fn recorded(&self, index: usize) -> Effect {
        let seen = self.history.operations[index].seen;
        self.effect(&self.statements[index], &self.contents[seen]).expect("it was committed")
    }
}

fn step(rows: &Rows, effect: &Effect) -> Result<Rows, MissingRow> {
    let mut rows = rows.clone();
    for (row, count) in effect.deleted.iter() {
        rows.remove(row, count)?;
    }
    for (row, count) in effect.inserted.iter() {
        rows.add(row.clone(), count);
    }
    Ok(rows)
}
