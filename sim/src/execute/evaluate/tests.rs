use log_core::{
    batch::{batch, values},
    expression::{BinaryOperator as B, EvaluateError, Function},
    schema::{DataType, Field, PrimitiveType as T, Schema},
    value::Value,
};

use super::*;

mod known;
mod random;

/// A schema of nullable columns `c0`, `c1`, ...
pub(super) fn schema(types: &[T]) -> Schema {
    let field = |(i, t): (usize, &T)| Field {
        name: format!("c{i}"),
        data_type: DataType::Primitive(*t),
        nullable: true,
        metadata: Default::default(),
    };
    Schema { fields: types.iter().enumerate().map(field).collect() }
}

pub(super) fn col(index: usize, data_type: T) -> Expression {
    Expression::Column { index, name: format!("c{index}"), data_type }
}

/// What went wrong, by kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Overflow,
    DivisionByZero,
    Cast,
}

fn kind(error: &EvaluateError) -> Kind {
    match error {
        EvaluateError::Overflow { .. } => Kind::Overflow,
        EvaluateError::DivisionByZero => Kind::DivisionByZero,
        EvaluateError::Cast { .. } => Kind::Cast,
    }
}

/// Holds [`evaluate`] against the evaluator on single values, and gives back whether it succeeded.
fn agree(expression: &Expression, schema: &Schema, rows: &[Vec<Value>]) -> bool {
    let rows_batch = batch(schema, rows).expect("rows of the schema");
    let single: Vec<_> = rows.iter().map(|row| expression.evaluate(row)).collect();
    let errors: Vec<Kind> = single.iter().filter_map(|result| result.as_ref().err()).map(kind).collect();
    match evaluate(expression, &rows_batch) {
        Ok(array) => {
            let expected: Vec<String> = single
                .into_iter()
                .map(|r| {
                    format!("{:?}", r.unwrap_or_else(|e| panic!("{expression:#?}\n{rows:?}\nhas no error, not {e}")))
                })
                .collect();
            // By their text, which tells zeros apart too.
            let found: Vec<String> =
                values(&array, expression.data_type()).expect("the type").map(|v| format!("{v:?}")).collect();
            assert_eq!(found, expected, "{expression:#?}\n{rows:?}");
            true
        }
        Err(error) => {
            let found = match error {
                ExecuteError::Overflow { .. } => Kind::Overflow,
                ExecuteError::DivisionByZero => Kind::DivisionByZero,
                ExecuteError::Cast { .. } => Kind::Cast,
                other => panic!("{other:?}: {expression:#?}"),
            };
            assert!(errors.contains(&found), "{found:?}, not {errors:?}: {expression:#?}\n{rows:?}");
            false
        }
    }
}
