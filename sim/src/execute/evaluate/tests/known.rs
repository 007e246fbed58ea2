//! Known cases, where the two evaluators could be wrong together, and calls that are put together wrongly.

use super::*;

fn int(x: i32) -> Expression {
    Expression::literal(Value::Integer(x))
}

fn text(x: &str) -> Expression {
    Expression::literal(Value::String(x.to_owned()))
}

fn double(x: f64) -> Expression {
    Expression::literal(Value::Double(x))
}

fn decimal(unscaled: i128, precision: u8, scale: u8) -> Expression {
    Expression::literal(Value::Decimal { unscaled, precision, scale })
}

fn function(function: Function, arguments: Vec<Expression>) -> Expression {
    Expression::Function { function, arguments }
}

/// `10 / x > 1`, which fails where x is 0.
fn risky() -> Expression {
    let quotient = Expression::binary(B::Divide, double(10.0), col(0, T::Integer).cast_to(T::Double));
    Expression::binary(B::Greater, quotient, double(1.0))
}

fn x_is_not_zero() -> Expression {
    Expression::binary(B::NotEqual, col(0, T::Integer), int(0))
}

/// The rows 0, 4, 20 and NULL of one column.
fn rows() -> RecordBatch {
    let values = [Value::Integer(0), Value::Integer(4), Value::Integer(20), Value::Null];
    batch(&schema(&[T::Integer]), &values.map(|value| vec![value])).expect("a batch")
}

#[test]
fn known_values() {
    let check = |expression: Expression, expected: &str| {
        let found = match evaluate(&expression, &rows().slice(0, 1)) {
            Ok(array) => {
                let value = values(&array, expression.data_type()).expect("the type").next().expect("a row");
                value.to_string()
            }
            Err(error) => format!("error: {error}"),
        };
        assert_eq!(found, expected, "{expression:?}");
        agree(&expression, &schema(&[T::Integer]), &[vec![Value::Integer(0)]]);
    };
    check(Expression::binary(B::Add, int(i32::MAX), int(1)), "error: + overflows integer");
    check(Expression::binary(B::Divide, double(1.0), double(-0.0)), "error: division by zero");
    check(Expression::binary(B::Remainder, int(i32::MIN), int(-1)), "0");
    check(Expression::binary(B::Remainder, int(-7), int(3)), "-1");
    check(Expression::binary(B::Equal, double(f64::NAN), double(-f64::NAN)), "true");
    check(Expression::binary(B::Greater, double(f64::NAN), double(f64::INFINITY)), "true");
    check(Expression::binary(B::Less, double(-0.0), double(0.0)), "false");
    check(Expression::binary(B::NullSafeEqual, Expression::null(T::Long), Expression::null(T::Long)), "true");
    // 2.345 + 0.05, 0.05 * 0.5, 1 / 3, 2 / 3 to six digits, 5.5 % 2.
    check(Expression::binary(B::Add, decimal(2345, 4, 3), decimal(5, 3, 2)), "2.395");
    check(Expression::binary(B::Multiply, decimal(5, 3, 2), decimal(5, 2, 1)), "0.025");
    check(Expression::binary(B::Divide, decimal(1, 1, 0), decimal(-3, 1, 0)), "-0.333333");
    check(Expression::binary(B::Divide, decimal(-2, 1, 0), decimal(3, 1, 0)), "-0.666667");
    check(Expression::binary(B::Remainder, decimal(55, 2, 1), decimal(-2, 1, 0)), "1.5");
    check(
        Expression::binary(B::Multiply, decimal(10_i128.pow(37), 38, 0), decimal(10, 38, 0)),
        "error: * overflows decimal(38,0)",
    );
    check(function(Function::Substring, vec![text("añb"), int(2), int(1)]), "ñ");
    check(function(Function::Substring, vec![text("abc"), int(-5), int(3)]), "a");
    check(function(Function::Length, vec![text("añb")]), "3");
    check(function(Function::AddMonths, vec![Expression::literal(Value::Date(19_753)), int(1)]), "2024-02-29");
    check(function(Function::Greatest, vec![Expression::null(T::Integer), int(1), int(3)]), "3");
    let like = |value, pattern, escape, ignore_case| Expression::Like {
        value: Box::new(text(value)),
        pattern: Box::new(text(pattern)),
        escape,
        ignore_case,
    };
    check(like("a_c", "a!_c", '!', false), "true");
    check(like("abc", "a!_c", '!', false), "false");
    check(like("ÄBC\n", "ä%_", '\\', true), "true");
    check(like("aXbXc", "%X%X%X%", '\\', false), "false");
    check(text("2147483648").cast_to(T::Integer), "error: '2147483648' cannot be cast to integer");
    check(int(300).cast_to(T::Byte), "error: '300' cannot be cast to byte");
}

#[test]
fn branches_that_are_not_taken_do_not_fail() {
    let check = |expression: Expression, expected: [&str; 4]| {
        let array = evaluate(&expression, &rows()).expect("no error counts");
        let found: Vec<_> =
            values(&array, expression.data_type()).expect("the type").map(|value| value.to_string()).collect();
        assert_eq!(found, expected, "{expression:?}");
    };
    let is_zero = || Expression::Not(Box::new(x_is_not_zero()));
    check(x_is_not_zero().and(risky()), ["false", "true", "false", "NULL"]);
    check(Expression::binary(B::Or, is_zero(), risky()), ["true", "true", "false", "NULL"]);
    let case =
        Expression::Case { branches: vec![(is_zero(), Expression::null(T::Boolean))], otherwise: Box::new(risky()) };
    check(case.clone(), ["NULL", "true", "false", "NULL"]);
    let seven =
        Expression::Case { branches: vec![(is_zero(), int(7))], otherwise: Box::new(Expression::null(T::Integer)) };
    let fails = Expression::binary(B::Remainder, int(9), col(0, T::Integer));
    check(function(Function::Coalesce, vec![seven, fails, int(5)]), ["7", "1", "9", "5"]);
    // Lazily inside of lazily.
    check(x_is_not_zero().and(case), ["false", "true", "false", "NULL"]);
}

#[test]
fn errors_on_rows_that_are_evaluated_count() {
    let order_matters = risky().and(x_is_not_zero());
    assert!(matches!(evaluate(&order_matters, &rows()), Err(ExecuteError::DivisionByZero)));
    // No row, no error, also of constants.
    assert_eq!(evaluate(&order_matters, &rows().slice(0, 0)).expect("nothing").len(), 0);
}

#[test]
fn null_is_no_match() {
    let mask = matching(&x_is_not_zero(), &rows()).expect("a mask");
    assert_eq!(mask, BooleanArray::from(vec![false, true, true, false]));
    assert_eq!(matching(&Expression::null(T::Boolean), &rows()).expect("a mask").true_count(), 0);
    assert_eq!(matching(&Expression::truth(), &rows()).expect("a mask").true_count(), 4);
}

#[test]
fn wrong_calls_are_errors_not_panics() {
    let check = |expression: Expression, expected: &str| {
        assert_eq!(evaluate(&expression, &rows()).unwrap_err().to_string(), expected);
    };
    check(col(7, T::Integer), "column 'c7' (position 7) is not among the 1 columns of the rows");
    check(col(0, T::Long), "column 'c0' is Int32, expected long");
    check(Expression::Not(Box::new(int(1))), "an operand is Int32, expected boolean");
    check(int(1).and(Expression::truth()), "an operand is Int32, expected boolean");
    check(Expression::binary(B::Divide, int(1), int(1)), "an operand is Int32, expected a double or a decimal, for /");
    check(Expression::binary(B::Add, text("a"), text("b")), "an operand is Utf8, expected a number, for +");
    check(Expression::binary(B::Equal, text("a"), int(1)), "arrow failed at a comparison");
    check(function(Function::Upper, vec![int(1)]), "an operand is Int32, expected string");
    check(function(Function::DateAdd, vec![int(1)]), "DateAdd with 1 arguments");
    check(Expression::Literal { value: Value::Long(1), data_type: T::Integer }, "rows do not fit their schema");
}
