use super::*;
use crate::{
    expression::Function,
    value::{Value as V, parse_text},
};

/// A literal from the text of its type; `NULL` is NULL.
fn lit(data_type: &str, text: &str) -> Expression {
    let data_type = data_type.parse().unwrap();
    match text {
        "NULL" => Expression::null(data_type),
        text => Expression::literal(parse_text(text, data_type).unwrap()),
    }
}

fn long(x: i64) -> Expression {
    Expression::literal(V::Long(x))
}

fn text(x: &str) -> Expression {
    lit("string", x)
}

fn truth(x: Option<bool>) -> Expression {
    x.map_or(Expression::null(PrimitiveType::Boolean), |x| Expression::literal(V::Boolean(x)))
}

/// An expression of type boolean whose evaluation fails.
fn failing() -> Expression {
    Expression::binary(BinaryOperator::Equal, failing_long(), long(0))
}

fn failing_long() -> Expression {
    Expression::binary(BinaryOperator::IntegerDivide, long(1), long(0))
}

fn call(function: Function, arguments: Vec<Expression>) -> Expression {
    Expression::Function { function, arguments }
}

/// The value of an expression without columns, or the text of its error; the type of the value must be what the expression promises.
#[track_caller]
fn check(expression: &Expression, shown: &str) {
    let result = expression.evaluate(&[]);
    if let Ok(value) = &result {
        assert!(value.is_null() || value.primitive_type() == Some(expression.data_type()), "{value:?}: {expression:?}");
    }
    assert_eq!(result.map_or_else(|error| error.to_string(), |value| value.to_string()), shown, "{expression:?}");
}

#[track_caller]
fn check_binary(data_type: &str, left: &str, operator: BinaryOperator, right: &str, shown: &str) {
    check(&Expression::binary(operator, lit(data_type, left), lit(data_type, right)), shown);
}

#[track_caller]
fn check_cast(from: &str, value: &str, to: &str, shown: &str) {
    let to = to.parse().unwrap();
    let cast = |lenient| Expression::Cast { value: Box::new(lit(from, value)), to, lenient };
    let failed = format!("'{}' cannot be cast to {to}", lit(from, value).evaluate(&[]).unwrap());
    check(&cast(false), if shown == "error" { &failed } else { shown });
    check(&cast(true), if shown == "error" { "NULL" } else { shown });
}

#[test]
fn connectives_have_three_values() {
    use BinaryOperator::{And, Or};
    let rank = |x: Option<bool>| match x {
        Some(false) => 0,
        None => 1,
        Some(true) => 2,
    };
    let all = [Some(false), None, Some(true)];
    for a in all {
        for b in all {
            let value = |operator| match Expression::binary(operator, truth(a), truth(b)).evaluate(&[]).unwrap() {
                V::Boolean(x) => Some(x),
                _ => None,
            };
            assert_eq!(rank(value(And)), rank(a).min(rank(b)), "{a:?} AND {b:?}");
            assert_eq!(rank(value(Or)), rank(a).max(rank(b)), "{a:?} OR {b:?}");
        }
        check(&Expression::Not(Box::new(truth(a))), &a.map_or("NULL".to_owned(), |a| (!a).to_string()));
    }
}

#[test]
fn only_the_lazy_forms_leave_an_operand_out() {
    use BinaryOperator as B;
    check(&Expression::binary(B::And, truth(Some(false)), failing()), "false");
    check(&Expression::binary(B::Or, truth(Some(true)), failing()), "true");
    check(&Expression::binary(B::And, truth(None), failing()), "division by zero");
    check(&Expression::binary(B::And, failing(), truth(Some(false))), "division by zero");
    check(&call(Function::Coalesce, vec![lit("long", "NULL"), long(1), failing_long()]), "1");
    check(&call(Function::Greatest, vec![long(1), failing_long()]), "division by zero");
    check(&Expression::binary(B::Add, lit("long", "NULL"), failing_long()), "division by zero");
    let in_list = Expression::In { value: Box::new(long(1)), list: vec![long(1), failing_long()] };
    check(&in_list, "division by zero");
    let case = |first, second| Expression::Case {
        branches: vec![(first, long(1)), (second, failing_long())],
        otherwise: Box::new(long(3)),
    };
    check(&case(truth(Some(true)), failing()), "1");
    check(&case(truth(None), truth(Some(false))), "3");
    check(&case(truth(None), truth(Some(true))), "division by zero");
}

#[test]
fn comparisons() {
    use BinaryOperator as B;
    check_binary("long", "1", B::Less, "2", "true");
    check_binary("long", "2", B::LessOrEqual, "2", "true");
    check_binary("string", "a", B::Greater, "B", "true");
    check_binary("string", "a", B::NotEqual, "a", "false");
    check_binary("double", "NaN", B::Equal, "NaN", "true");
    check_binary("double", "NaN", B::Greater, "Infinity", "true");
    check_binary("double", "-0.0", B::GreaterOrEqual, "0.0", "true");
    check_binary("long", "NULL", B::Equal, "NULL", "NULL");
    check_binary("long", "NULL", B::NotEqual, "1", "NULL");
    check_binary("long", "NULL", B::NullSafeEqual, "NULL", "true");
    check_binary("long", "NULL", B::NullSafeEqual, "1", "false");
    check_binary("long", "1", B::NullSafeEqual, "1", "true");
    let scales = Expression::binary(B::Equal, lit("decimal(5,2)", "1.50"), lit("decimal(3,1)", "1.5"));
    check(&scales, "true");
}

#[test]
fn membership_is_unknown_beside_null() {
    let within = |value, list: &[&str]| Expression::In {
        value: Box::new(lit("long", value)),
        list: list.iter().map(|item| lit("long", item)).collect(),
    };
    check(&within("1", &["2", "1", "NULL"]), "true");
    check(&within("1", &["2", "NULL"]), "NULL");
    check(&within("1", &["2", "3"]), "false");
    check(&within("NULL", &["2"]), "NULL");
}

#[test]
fn integer_arithmetic_is_checked() {
    use BinaryOperator as B;
    check_binary("byte", "127", B::Add, "1", "127 + 1 overflows byte");
    check_binary("short", "-32768", B::Subtract, "1", "-32768 - 1 overflows short");
    check_binary("integer", "65536", B::Multiply, "65536", "65536 * 65536 overflows integer");
    check_binary("long", "9223372036854775807", B::Multiply, "-1", "-9223372036854775807");
    check_binary("long", "-9223372036854775808", B::IntegerDivide, "-1", "-9223372036854775808 DIV -1 overflows long");
    check_binary("long", "-9223372036854775808", B::Remainder, "-1", "0");
    check_binary("long", "-7", B::IntegerDivide, "2", "-3");
    check_binary("long", "-7", B::Remainder, "2", "-1");
    check_binary("long", "7", B::Remainder, "0", "division by zero");
    check_binary("long", "NULL", B::Remainder, "0", "NULL");
    check(&Expression::Negate(Box::new(lit("byte", "-128"))), "-(-128) overflows byte");
    check(&Expression::Negate(Box::new(lit("byte", "NULL"))), "NULL");
    check(&Expression::Negate(Box::new(lit("decimal(3,1)", "1.5"))), "-1.5");
}

#[test]
fn floating_arithmetic_is_native_but_for_zero_divisors() {
    use BinaryOperator as B;
    check_binary("double", "0.1", B::Add, "0.2", "0.30000000000000004");
    check_binary("float", "0.1", B::Add, "0.2", "0.3");
    check_binary("double", "1e308", B::Multiply, "10", "Infinity");
    check_binary("double", "1", B::Divide, "0", "division by zero");
    check_binary("double", "NaN", B::Divide, "-0.0", "division by zero");
    check_binary("double", "-7.5", B::Remainder, "2", "-1.5");
}

#[test]
fn decimal_arithmetic_is_exact_and_rounded_once() {
    use BinaryOperator as B;
    let nines = "9".repeat(38);
    let tiny = format!("0.{}1", "0".repeat(37));
    check_binary("decimal(5,2)", "1.25", B::Add, "2.50", "3.75");
    check_binary("decimal(5,2)", "999.99", B::Add, "999.99", "1999.98");
    check_binary("decimal(5,2)", "1.25", B::Multiply, "-2.50", "-3.1250");
    check_binary("decimal(5,2)", "1.00", B::Divide, "3.00", "0.33333333");
    check_binary("decimal(5,2)", "-2.00", B::Divide, "3.00", "-0.66666667");
    check_binary("decimal(5,2)", "1.00", B::Divide, "0.00", "division by zero");
    check_binary("decimal(5,2)", "-7.50", B::Remainder, "2.00", "-1.50");
    check_binary("decimal(5,2)", "-7.50", B::IntegerDivide, "2.00", "-3");
    check_binary("decimal(38,0)", &nines, B::Subtract, &nines, "0");
    check_binary("decimal(38,0)", &nines, B::Add, "1", &format!("{nines} + 1 overflows decimal(38,0)"));
    check_binary("decimal(38,0)", &nines, B::Multiply, &nines, &format!("{nines} * {nines} overflows decimal(38,0)"));
    check_binary("decimal(38,0)", &nines, B::Divide, &nines, "1.000000");
    check_binary("decimal(38,38)", &tiny, B::Multiply, &tiny, &format!("0.{}", "0".repeat(37)));
    check_binary("decimal(38,38)", &tiny, B::Divide, &tiny, "1.000000");
    let mixed = |left: &str, right: &str| {
        Expression::binary(B::Divide, lit("decimal(38,0)", left), lit("decimal(38,38)", right))
    };
    check(&mixed("1", "0.5"), "2.000000");
    let overflow = format!("{nines} / {tiny} overflows decimal(38,6)");
    check(&mixed(&nines, &tiny), &overflow);
}

#[test]
fn decimal_division_agrees_with_integers() {
    // `a / b` of two decimals(9,0) has 10 places: compare with the same in 128-bit integers.
    let ty = PrimitiveType::Decimal { precision: 9, scale: 0 };
    for a in [-999_999_999, -12_345, -1, 0, 1, 2, 7, 999_999_999_i128] {
        for b in [-999_999_999, -7, -1, 1, 3, 8, 11, 64, 999_999_998_i128] {
            let literal = |unscaled| Expression::Literal {
                value: V::Decimal { unscaled, precision: 9, scale: 0 },
                data_type: ty,
            };
            let quotient = Expression::binary(BinaryOperator::Divide, literal(a), literal(b)).evaluate(&[]).unwrap();
            let V::Decimal { unscaled, scale: 10, .. } = quotient else { panic!("{quotient:?}") };
            let (top, bottom) = (a.abs() * 10_i128.pow(10), b.abs());
            assert_eq!(unscaled, a.signum() * b.signum() * ((2 * top + bottom) / (2 * bottom)), "{a} / {b}");
        }
    }
}

#[test]
fn like_matches_characters() {
    #[track_caller]
    fn like(value: &str, pattern: &str, ignore_case: bool, expected: bool) {
        let (value, pattern) = (Box::new(text(value)), Box::new(text(pattern)));
        check(&Expression::Like { value, pattern, escape: '\\', ignore_case }, &expected.to_string());
    }
    like("abc", "abc", false, true);
    like("abc", "a%", false, true);
    like("abc", "%b%", false, true);
    like("abc", "a_c", false, true);
    like("abc", "a_", false, false);
    like("abc", "b", false, false);
    like("", "", false, true);
    like("", "%", false, true);
    like("", "_", false, false);
    like("aüc", "a_c", false, true);
    like("🦀", "_", false, true);
    like("a\nb", "a%b", false, true);
    like("aab", "%ab", false, true);
    like("mississippi", "m%iss%pi", false, true);
    like("mississippi", "m%iss%iss%iss%", false, false);
    like("50%", "50\\%", false, true);
    like("500", "50\\%", false, false);
    like("a_b", "a\\_b", false, true);
    like("axb", "a\\_b", false, false);
    like("a\\", "a\\", false, true);
    like("ABC", "abc", false, false);
    like("ÄBC", "äb%", true, true);
    like(&"a".repeat(5000), &"%a".repeat(200), false, true);
    let unknown = |value: &str, pattern: &str| Expression::Like {
        value: Box::new(lit("string", value)),
        pattern: Box::new(lit("string", pattern)),
        escape: '!',
        ignore_case: false,
    };
    check(&unknown("NULL", "%"), "NULL");
    check(&unknown("a", "NULL"), "NULL");
    check(&unknown("%!", "!%!!"), "true");
}

#[test]
fn choosing_functions() {
    let longs = |items: &[&str]| items.iter().map(|item| lit("long", item)).collect::<Vec<_>>();
    check(&call(Function::Coalesce, longs(&["NULL", "NULL"])), "NULL");
    check(&call(Function::NullIf, longs(&["1", "1"])), "NULL");
    check(&call(Function::NullIf, longs(&["1", "NULL"])), "1");
    check(&call(Function::Greatest, longs(&["1", "NULL", "3"])), "3");
    check(&call(Function::Least, longs(&["2", "NULL", "3"])), "2");
    check(&call(Function::Least, longs(&["NULL", "NULL"])), "NULL");
    check(&call(Function::Greatest, vec![lit("double", "1"), lit("double", "NaN")]), "NaN");
}

#[test]
fn number_functions() {
    check(&call(Function::Abs, vec![long(-3)]), "3");
    check(&call(Function::Abs, vec![lit("long", "-9223372036854775808")]), "-(-9223372036854775808) overflows long");
    check(&call(Function::Abs, vec![lit("double", "-0.0")]), "0.0");
    check(&call(Function::Abs, vec![lit("decimal(3,1)", "-1.5")]), "1.5");
}

#[test]
fn string_functions_count_characters() {
    check(&call(Function::Upper, vec![text("straße")]), "STRASSE");
    check(&call(Function::Lower, vec![text("ÄB")]), "äb");
    check(&call(Function::Length, vec![text("aü🦀")]), "3");
    check(&call(Function::Trim, vec![text("  a\t ")]), "a\t");
    check(&call(Function::Concat, vec![text("a"), text(""), text("b")]), "ab");
    check(&call(Function::Concat, vec![text("a"), lit("string", "NULL")]), "NULL");
    check(&call(Function::Concat, vec![]), "");
}

#[test]
fn substring_counts_from_either_end() {
    #[track_caller]
    fn substring(start: i32, length: Option<i32>, expected: &str) {
        let mut arguments = vec![text("aücd"), Expression::literal(V::Integer(start))];
        arguments.extend(length.map(|length| Expression::literal(V::Integer(length))));
        check(&call(Function::Substring, arguments), expected);
    }
    substring(1, Some(2), "aü");
    substring(0, Some(2), "aü");
    substring(2, None, "ücd");
    substring(-3, Some(2), "üc");
    substring(-5, Some(2), "a");
    substring(-9, Some(2), "");
    substring(-9, None, "aücd");
    substring(5, None, "");
    substring(2, Some(0), "");
    substring(2, Some(-1), "");
    substring(i32::MIN, Some(i32::MIN), "");
    substring(i32::MAX, Some(i32::MAX), "");
}

#[test]
fn date_functions() {
    #[track_caller]
    fn dated(function: Function, date: &str, number: i32, expected: &str) {
        check(&call(function, vec![lit("date", date), Expression::literal(V::Integer(number))]), expected);
    }
    dated(Function::DateAdd, "2024-02-28", 2, "2024-03-01");
    dated(Function::DateAdd, "2024-03-01", -1, "2024-02-29");
    dated(Function::DateAdd, "2024-03-01", i32::MAX, "date_add(2024-03-01, 2147483647) overflows date");
    dated(Function::AddMonths, "2024-01-31", 1, "2024-02-29");
    dated(Function::AddMonths, "2023-02-28", 1, "2023-03-28");
    dated(Function::AddMonths, "2024-01-15", -13, "2022-12-15");
    dated(Function::AddMonths, "2024-01-15", i32::MAX, "add_months(2024-01-15, 2147483647) overflows date");
    for (function, expected) in [(Function::Year, "1969"), (Function::Month, "12"), (Function::Day, "31")] {
        check(&call(function, vec![lit("date", "1969-12-31")]), expected);
    }
    check(
        &call(Function::AddMicroseconds, vec![lit("timestamp", "2024-01-01"), long(-1)]),
        "2023-12-31 23:59:59.999999",
    );
    check(
        &call(Function::AddMicroseconds, vec![lit("timestamp_ntz", "2024-01-01"), long(1)]),
        "2024-01-01 00:00:00.000001",
    );
    check(
        &call(Function::AddMicroseconds, vec![lit("timestamp", "2024-01-01"), long(i64::MAX)]),
        "2024-01-01 00:00:00 + 9223372036854775807 microseconds overflows timestamp",
    );
}

#[test]
fn casts_between_numbers() {
    check_cast("long", "127", "byte", "127");
    check_cast("long", "128", "byte", "error");
    check_cast("double", "-1.9", "integer", "-1");
    check_cast("double", "2147483647.9", "integer", "2147483647");
    check_cast("double", "2147483648", "integer", "error");
    check_cast("double", "9223372036854775808", "long", "error");
    check_cast("double", "-9223372036854775808", "long", "-9223372036854775808");
    check_cast("double", "NaN", "long", "error");
    check_cast("float", "Infinity", "short", "error");
    check_cast("long", "9007199254740993", "double", "9.007199254740992E15");
    check_cast("long", "16777217", "float", "1.6777216E7");
    check_cast("double", "1e300", "float", "Infinity");
    check_cast("float", "0.1", "double", "0.10000000149011612");
    check_cast("double", "0.1", "decimal(20,18)", "0.100000000000000000");
    check_cast("double", "0.125", "decimal(5,2)", "0.13");
    check_cast("double", "NaN", "decimal(5,2)", "error");
    check_cast("integer", "1000", "decimal(5,2)", "error");
    check_cast("integer", "-999", "decimal(5,2)", "-999.00");
    check_cast("decimal(5,2)", "-1.99", "integer", "-1");
    check_cast("decimal(38,0)", "9223372036854775808", "long", "error");
    check_cast("decimal(5,2)", "1.25", "decimal(5,1)", "1.3");
    check_cast("decimal(5,2)", "999.95", "decimal(4,1)", "error");
    check_cast("decimal(5,2)", "1.25", "double", "1.25");
    check_cast("decimal(38,38)", "0.1", "float", "0.1");
}

#[test]
fn casts_of_booleans() {
    check_cast("boolean", "true", "byte", "1");
    check_cast("boolean", "true", "decimal(3,1)", "1.0");
    check_cast("boolean", "false", "double", "0.0");
    check_cast("integer", "-5", "boolean", "true");
    check_cast("double", "0", "boolean", "false");
    check_cast("decimal(3,1)", "0.0", "boolean", "false");
    check_cast("boolean", "true", "timestamp", "error");
    check_cast("boolean", "true", "date", "error");
}

#[test]
fn casts_of_times() {
    check_cast("date", "2024-06-26", "timestamp", "2024-06-26 00:00:00");
    check_cast("date", "2024-06-26", "timestamp_ntz", "2024-06-26 00:00:00");
    check_cast("timestamp", "1969-12-31 23:59:59.5", "date", "1969-12-31");
    check_cast("timestamp", "1969-12-31 23:59:59.5", "long", "-1");
    check_cast("timestamp", "1969-12-31 23:59:59.5", "double", "-0.5");
    check_cast("timestamp", "1969-12-31 23:59:59.5", "decimal(10,2)", "-0.50");
    check_cast("timestamp", "2024-06-26 12:00:00", "short", "error");
    check_cast("timestamp", "2024-06-26 12:00:00", "timestamp_ntz", "2024-06-26 12:00:00");
    check_cast("timestamp_ntz", "2024-06-26 12:00:00", "timestamp", "2024-06-26 12:00:00");
    check_cast("timestamp_ntz", "2024-06-26 12:00:00", "date", "2024-06-26");
    check_cast("timestamp_ntz", "2024-06-26 12:00:00", "long", "error");
    check_cast("timestamp", "2024-06-26 12:00:00", "boolean", "error");
    check_cast("date", "2024-06-26", "integer", "error");
    check_cast("long", "1", "timestamp", "1970-01-01 00:00:01");
    check_cast("long", "9223372036854775807", "timestamp", "error");
    check_cast("double", "-0.5", "timestamp", "1969-12-31 23:59:59.5");
    check_cast("double", "NaN", "timestamp", "error");
    check_cast("decimal(10,2)", "1.25", "timestamp", "1970-01-01 00:00:01.25");
    check_cast("decimal(10,8)", "-1.00000099", "timestamp", "1969-12-31 23:59:59");
    check_cast("long", "1", "timestamp_ntz", "error");
    check_cast("long", "1", "date", "error");
}

#[test]
fn casts_from_and_to_string() {
    check_cast("string", " 12 ", "integer", "12");
    check_cast("string", "12.5", "integer", "error");
    check_cast("string", "yes", "boolean", "true");
    check_cast("string", "2024-06-26", "date", "2024-06-26");
    check_cast("double", "1e10", "string", "1.0E10");
    check_cast("decimal(5,2)", "1.5", "string", "1.50");
    check_cast("timestamp", "2024-06-26T12:00:00.120Z", "string", "2024-06-26 12:00:00.12");
    check_cast("binary", "ü", "string", "ü");
    check_cast("string", "ü", "binary", "0xc3bc");
    check_cast("integer", "1", "binary", "error");
    check_cast("binary", "1", "integer", "error");
    check_cast("integer", "NULL", "binary", "NULL");
    assert!(cast(&V::Binary(vec![0xff]), PrimitiveType::String).is_err());
}

#[test]
fn every_pair_of_types_casts_or_fails_without_panic() {
    let samples = [
        V::Boolean(true),
        V::Byte(i8::MIN),
        V::Short(i16::MAX),
        V::Integer(i32::MIN),
        V::Long(i64::MIN),
        V::Long(i64::MAX),
        V::Float(f32::MAX),
        V::Double(f64::NAN),
        V::Double(-f64::MAX),
        V::Decimal { unscaled: 10_i128.pow(38) - 1, precision: 38, scale: 0 },
        V::Decimal { unscaled: 1 - 10_i128.pow(38), precision: 38, scale: 38 },
        V::String(String::new()),
        V::Binary(vec![0xff]),
        V::Date(i32::MIN),
        V::Date(i32::MAX),
        V::Timestamp(i64::MIN),
        V::TimestampNtz(i64::MAX),
    ];
    for value in &samples {
        for to in samples.iter().filter_map(V::primitive_type) {
            if let Ok(result) = cast(value, to) {
                assert_eq!(result.primitive_type(), Some(to), "{value:?}");
            }
        }
    }
}

#[test]
fn lenient_casts_forgive_only_themselves() {
    let value = Box::new(failing_long());
    check(&Expression::Cast { value, to: PrimitiveType::Byte, lenient: true }, "division by zero");
}

#[test]
fn columns_are_positions_and_null_is_no_match() {
    let column = |index| Expression::Column { index, name: "x".to_owned(), data_type: PrimitiveType::Long };
    let less = Expression::binary(BinaryOperator::Less, column(0), column(1));
    assert_eq!(less.matches(&[V::Long(1), V::Long(2)]), Ok(true));
    assert_eq!(less.matches(&[V::Long(2), V::Long(2)]), Ok(false));
    assert_eq!(less.matches(&[V::Null, V::Long(2)]), Ok(false));
    assert_eq!(Expression::IsNull(Box::new(column(0))).matches(&[V::Null]), Ok(true));
}
