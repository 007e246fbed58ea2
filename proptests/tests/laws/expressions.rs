//! Expressions: two evaluators, and text.

use std::cell::Cell;

use log_core::{
    batch::{batch, values},
    expression::{EvaluateError, Expression},
    value::Value,
};
use proptest::prelude::*;
use proptests::{
    check,
    expressions::{expressions, sayable_predicates},
    values::{rows, schema},
};
use sim::{
    execute::{ExecuteError, evaluate::evaluate},
    sql::bind::{Constants, bind_predicate},
};

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

fn single(expression: &Expression, rows: &[Vec<Value>]) -> Vec<Result<Value, Kind>> {
    rows.iter().map(|row| expression.evaluate(row).map_err(|error| kind(&error))).collect()
}

#[test]
fn kernels_agree_with_single_values() {
    let schema = schema();
    let (succeeded, failed) = (Cell::new(0), Cell::new(0));
    check(1200, (expressions(3), rows(4)), |(expression, rows)| {
        let single = single(&expression, &rows);
        match evaluate(&expression, &batch(&schema, &rows).expect("rows of the schema")) {
            Ok(array) => {
                succeeded.set(succeeded.get() + 1);
                // By their text, which tells zeros apart too.
                let found = values(&array, expression.data_type()).expect("of the type of the tree");
                let found: Vec<String> = found.map(|value| format!("{:?}", Ok::<_, Kind>(value))).collect();
                let expected: Vec<String> = single.iter().map(|value| format!("{value:?}")).collect();
                prop_assert_eq!(found, expected);
            }
            Err(error) => {
                failed.set(failed.get() + 1);
                let found = match error {
                    ExecuteError::Overflow { .. } => Kind::Overflow,
                    ExecuteError::DivisionByZero => Kind::DivisionByZero,
                    ExecuteError::Cast { .. } => Kind::Cast,
                    other => return Err(TestCaseError::fail(format!("{other:?}"))),
                };
                prop_assert!(single.contains(&Err(found)), "{:?} is none of {:?}", found, single);
            }
        }
        Ok(())
    });
    assert!(succeeded.get() > 200 && failed.get() > 50, "{succeeded:?} trees have values, {failed:?} have none");
}

/// The parser may fold constants and choose another way to the same type, so the trees need not be equal; what they say has to be.
#[test]
fn an_expression_reads_back_from_its_text_with_the_same_values() {
    let schema = schema();
    let informative = Cell::new(0);
    check(600, (sayable_predicates(2), rows(4)), |(expression, rows)| {
        let text = expression.to_string();
        let read = match bind_predicate(&text, &schema, &Constants { now_us: 0 }) {
            Ok(read) => read,
            Err(error) => return Err(TestCaseError::fail(format!("{text}\n{error}"))),
        };
        let values = single(&expression, &rows);
        informative
            .set(informative.get() + values.iter().filter(|value| matches!(value, Ok(Value::Boolean(_)))).count());
        prop_assert_eq!(single(&read, &rows), values, "{}", text);
        Ok(())
    });
    assert!(informative.get() > 300, "{informative:?} rows have a truth value");
}
