use super::*;
use crate::{
    expression::{BinaryOperator, Expression},
    schema::{DataType, Field},
    value::Value as V,
};

/// One column `x`.
fn schema_of(data_type: PrimitiveType) -> Schema {
    let field = Field {
        name: "x".to_owned(),
        data_type: DataType::Primitive(data_type),
        nullable: true,
        metadata: BTreeMap::new(),
    };
    Schema { fields: vec![field] }
}

fn column(data_type: PrimitiveType) -> Expression {
    Expression::Column { index: 0, name: "x".to_owned(), data_type }
}

fn is_null(data_type: PrimitiveType) -> Expression {
    Expression::IsNull(Box::new(column(data_type)))
}

fn value(data_type: PrimitiveType, text: &str) -> V {
    if text == "NULL" { V::Null } else { parse_text(text, data_type).unwrap() }
}

/// Reads statistics for a column `x`, and shows its bounds, the count of its NULLs and the rows.
#[track_caller]
fn check_parse(data_type: &str, text: &str, expected: [&str; 4]) {
    let statistics = Statistics::parse(text, &schema_of(data_type.parse().unwrap()));
    let shown = |value: Option<String>| value.unwrap_or("-".to_owned());
    let found = [
        shown(statistics.min.get("x").map(V::to_string)),
        shown(statistics.max.get("x").map(V::to_string)),
        shown(statistics.null_count.get("x").map(u64::to_string)),
        shown(statistics.num_records.as_ref().map(u64::to_string)),
    ];
    assert_eq!(found, expected, "{text}");
}

/// 3.4 as a float is 3.4000000953674316 as a double, above the bound that was written when the column was a float.
#[test]
fn bounds_of_a_column_that_was_a_float_are_not_used() {
    let mut schema = schema_of(PrimitiveType::Double);
    let changes = serde_json::json!([{"fromType": "float", "toType": "double"}]);
    schema.fields[0].metadata.insert("delta.typeChanges".to_owned(), changes);
    let text = r#"{"numRecords":1,"minValues":{"x":3.4},"maxValues":{"x":3.4},"nullCount":{"x":0}}"#;
    let statistics = Statistics::parse(text, &schema);
    assert_eq!((statistics.min.len(), statistics.max.len(), statistics.null_count.len()), (0, 0, 1));
    assert_eq!(Statistics::parse(text, &schema_of(PrimitiveType::Double)).max.len(), 1);
}

#[test]
fn what_makes_no_sense_is_absent() {
    let nothing = ["-", "-", "-", "-"];
    for text in
        ["", "null", "{}", "[]", "not json", "{\"numRecords\":1", "{\"numRecords\":1,\"maxValues\":{\"x\":NaN}}"]
    {
        check_parse("double", text, nothing);
    }
    check_parse("double", r#"{"numRecords":1,"maxValues":{"x":"Infinity"}}"#, ["-", "-", "-", "1"]);
    check_parse("double", r#"{"numRecords":1,"maxValues":{"x":1e999}}"#, ["-", "-", "-", "1"]);
    check_parse("double", r#"{"numRecords":"1"}"#, nothing);
    check_parse("double", r#"{"numRecords":-1}"#, nothing);
    check_parse("double", r#"{"numRecords":3,"minValues":{"x":[1]}}"#, ["-", "-", "-", "3"]);
    check_parse("double", r#"{"numRecords":3,"minValues":[],"maxValues":{"x":2}}"#, ["-", "2.0", "-", "3"]);
    check_parse("double", r#"{"minValues":{"x":3},"maxValues":{"x":2}}"#, nothing);
    check_parse("double", r#"{"minValues":{"y":3},"maxValues":{"X":2}}"#, nothing);
    check_parse("double", r#"{"nullCount":{"x":2}}"#, ["-", "-", "2", "-"]);
    check_parse("double", r#"{"numRecords":3,"nullCount":{"x":4}}"#, ["-", "-", "-", "3"]);
    check_parse("double", r#"{"numRecords":3,"nullCount":{"x":{"y":1}}}"#, ["-", "-", "-", "3"]);
    check_parse("long", r#"{"minValues":{"x":"1"},"maxValues":{"x":1.5}}"#, nothing);
    check_parse("byte", r#"{"minValues":{"x":-129},"maxValues":{"x":127}}"#, ["-", "127", "-", "-"]);
    check_parse("string", r#"{"minValues":{"x":null},"maxValues":{"x":7}}"#, nothing);
    check_parse("date", r#"{"minValues":{"x":"2024-02-30"},"maxValues":{"x":19000}}"#, nothing);
    check_parse("binary", r#"{"minValues":{"x":"a"},"maxValues":{"x":"b"}}"#, nothing);
}

#[test]
fn bounds_have_the_type_of_their_column() {
    check_parse("string", r#"{"minValues":{"x":" a\n"},"maxValues":{"x":"b"}}"#, [" a\n", "b", "-", "-"]);
    check_parse("boolean", r#"{"minValues":{"x":false},"maxValues":{"x":true}}"#, ["false", "true", "-", "-"]);
    check_parse(
        "timestamp",
        r#"{"minValues":{"x":"2024-06-01T12:00:00.000Z"},"maxValues":{"x":"2024-06-01T14:00:00.001+02:00"}}"#,
        ["2024-06-01 12:00:00", "2024-06-01 12:00:00.001", "-", "-"],
    );
    check_parse("date", r#"{"maxValues":{"x":"2024-06-01"}}"#, ["-", "2024-06-01", "-", "-"]);
    // More digits than a double has.
    let decimal = "12345678901234567890123456.789012345678";
    check_parse("decimal(38,12)", &format!(r#"{{"maxValues":{{"x":{decimal}}}}}"#), ["-", decimal, "-", "-"]);
    check_parse("double", r#"{"maxValues":{"x":0.30000000000000004}}"#, ["-", "0.30000000000000004", "-", "-"]);
}

/// Writes a value as both bounds of `x`, and shows their JSON; `-` where a bound is left out.
#[track_caller]
fn check_write(value: &V, min: &str, max: &str) {
    let bounds = BTreeMap::from([("x".to_owned(), value.clone())]);
    let text = Statistics { min: bounds.clone(), max: bounds, ..Statistics::default() }.to_json();
    let part = |bound: &str| if bound == "-" { "{}".to_owned() } else { format!("{{\"x\":{bound}}}") };
    assert_eq!(text, format!(r#"{{"minValues":{},"maxValues":{},"nullCount":{{}}}}"#, part(min), part(max)));
}

#[test]
fn bounds_that_json_cannot_express_are_widened_or_left_out() {
    check_write(&V::Long(i64::MIN), "-9223372036854775808", "-9223372036854775808");
    check_write(&V::Double(1e300), "1e300", "1e300");
    check_write(&V::Float(0.1), "0.1", "0.1");
    check_write(&V::Decimal { unscaled: -1, precision: 38, scale: 3 }, "-0.001", "-0.001");
    for value in [V::Double(f64::NAN), V::Float(f32::INFINITY), V::Null, V::Boolean(true), V::Binary(vec![1])] {
        check_write(&value, "-", "-");
    }
    check_write(&V::Date(0), r#""1970-01-01""#, r#""1970-01-01""#);
    check_write(&V::Date(i32::MAX), "-", "-");
    check_write(&V::Timestamp(0), r#""1970-01-01T00:00:00.000Z""#, r#""1970-01-01T00:00:00.000Z""#);
    check_write(&V::Timestamp(1), r#""1970-01-01T00:00:00.000Z""#, r#""1970-01-01T00:00:00.001Z""#);
    check_write(&V::TimestampNtz(-1), r#""1969-12-31T23:59:59.999""#, r#""1970-01-01T00:00:00.000""#);
    check_write(&V::Timestamp(i64::MAX), "-", "-");
    check_write(&V::String("a\"b".to_owned()), r#""a\"b""#, r#""a\"b""#);
}

#[test]
fn long_strings_are_cut_to_sound_bounds() {
    let last = char::MAX;
    let prefix = "ü".repeat(32);
    let check = |rest: &str, upper: String| {
        check_write(&V::String(format!("{prefix}{rest}")), &format!("{prefix:?}"), &format!("\"{upper}\""));
        assert!(upper >= format!("{prefix}{rest}"));
    };
    check("", prefix.clone());
    check("abc", format!("{prefix}\x7f"));
    check("üa", format!("{prefix}{last}"));
    check("\x7f", format!("{prefix}{last}"));
    check(&format!("{last}a"), format!("{prefix}{last}\x7f"));
    check(&format!("{last}{last}"), format!("{prefix}{last}{last}"));
}

#[test]
fn the_whole_document() {
    let schema = schema_of(PrimitiveType::Long);
    let text = r#"{"numRecords":3,"tightBounds":true,"minValues":{"x":1},"maxValues":{"x":2},"nullCount":{"x":1}}"#;
    assert_eq!(Statistics::parse(text, &schema).to_json(), text);
}

/// May a file whose column `x` has these statistics match `x operator literal`, and the same with its sides exchanged?
#[track_caller]
fn check_skip(data_type: &str, bounds: [&str; 2], operator: BinaryOperator, literal: &str, expected: bool) {
    let data_type: PrimitiveType = data_type.parse().unwrap();
    let one = |text| BTreeMap::from([("x".to_owned(), value(data_type, text))]);
    let statistics = Statistics { min: one(bounds[0]), max: one(bounds[1]), ..Statistics::default() };
    let constant = Expression::Literal { value: value(data_type, literal), data_type };
    let predicate = Expression::binary(operator, column(data_type), constant);
    assert_eq!(statistics.may_match(&predicate, &schema_of(data_type), &|_| None), expected, "{predicate:?}");
}

#[test]
fn comparisons_skip_outside_of_the_bounds() {
    use BinaryOperator as B;
    let bounds = ["2", "4"];
    for (operator, literal, expected) in [
        (B::Equal, "1", false),
        (B::Equal, "2", true),
        (B::Equal, "4", true),
        (B::Equal, "5", false),
        (B::NullSafeEqual, "5", false),
        (B::NullSafeEqual, "NULL", true),
        (B::Equal, "NULL", false),
        (B::NotEqual, "NULL", false),
        (B::NotEqual, "3", true),
        (B::Less, "2", false),
        (B::Less, "3", true),
        (B::LessOrEqual, "1", false),
        (B::LessOrEqual, "2", true),
        (B::Greater, "4", false),
        (B::Greater, "3", true),
        (B::GreaterOrEqual, "5", false),
        (B::GreaterOrEqual, "4", true),
    ] {
        check_skip("long", bounds, operator, literal, expected);
        check_skip("decimal(5,2)", bounds, operator, literal, expected);
        check_skip("string", bounds, operator, literal, expected);
    }
}

#[test]
fn a_finite_bound_does_not_exclude_nan() {
    use BinaryOperator as B;
    for (operator, literal, expected) in [
        (B::Greater, "5", true),
        (B::GreaterOrEqual, "5", true),
        (B::Greater, "NaN", false),
        (B::GreaterOrEqual, "NaN", true),
        (B::Equal, "5", false),
        (B::Equal, "NaN", true),
        (B::Less, "1", false),
        (B::LessOrEqual, "1", false),
        (B::Equal, "1", false),
    ] {
        check_skip("double", ["2", "3"], operator, literal, expected);
        check_skip("float", ["2", "3"], operator, literal, expected);
    }
}

#[test]
fn a_timestamp_bound_stands_for_its_millisecond() {
    use BinaryOperator as B;
    for data_type in ["timestamp", "timestamp_ntz"] {
        let cut = ["2024-06-01 12:00:00", "2024-06-01 12:00:00.001"];
        check_skip(data_type, cut, B::Equal, "2024-06-01 12:00:00.001999", true);
        check_skip(data_type, cut, B::Greater, "2024-06-01 12:00:00.001998", true);
        check_skip(data_type, cut, B::Greater, "2024-06-01 12:00:00.001999", false);
        check_skip(data_type, cut, B::Less, "2024-06-01 12:00:00", false);
        let exact = ["2024-06-01 12:00:00", "2024-06-01 12:00:00.000001"];
        check_skip(data_type, exact, B::Equal, "2024-06-01 12:00:00.000002", false);
    }
}

#[test]
fn counts_of_nulls_decide_about_null() {
    let data_type = PrimitiveType::Long;
    let present = Expression::Not(Box::new(is_null(data_type)));
    let equal = Expression::binary(BinaryOperator::Equal, column(data_type), Expression::literal(V::Long(1)));
    let same_as_null =
        Expression::binary(BinaryOperator::NullSafeEqual, Expression::null(data_type), column(data_type));
    for (records, nulls, may_be_null, may_be_present) in [
        (Some(3), Some(0), false, true),
        (Some(3), Some(1), true, true),
        (Some(3), Some(3), true, false),
        (None, Some(3), true, true),
        (Some(3), None, true, true),
        (None, None, true, true),
    ] {
        let statistics = Statistics {
            num_records: records,
            null_count: nulls.map(|nulls| ("x".to_owned(), nulls)).into_iter().collect(),
            ..Statistics::default()
        };
        let may_match = |predicate: &Expression| statistics.may_match(predicate, &schema_of(data_type), &|_| None);
        assert_eq!(may_match(&is_null(data_type)), may_be_null);
        assert_eq!(may_match(&same_as_null), may_be_null);
        assert_eq!(may_match(&present), may_be_present);
        assert_eq!(may_match(&equal), may_be_present);
    }
}

#[test]
fn values_of_the_partition_decide_exactly() {
    let data_type = PrimitiveType::String;
    let equal = |text: &str| {
        Expression::binary(BinaryOperator::Equal, column(data_type), Expression::literal(V::String(text.to_owned())))
    };
    let differs = Expression::Not(Box::new(equal("a")));
    let may_match = |predicate: &Expression, partition: V| {
        Statistics::default().may_match(predicate, &schema_of(data_type), &|_| Some(partition.clone()))
    };
    assert!(may_match(&equal("a"), V::String("a".to_owned())));
    assert!(!may_match(&equal("a"), V::String("b".to_owned())));
    assert!(may_match(&differs, V::String("b".to_owned())));
    assert!(!may_match(&differs, V::Null));
    assert!(may_match(&is_null(data_type), V::Null));
    // A value of another type than its column decides nothing.
    assert!(may_match(&equal("a"), V::Long(1)));
    // An error decides nothing either: the reader of the file will see it.
    let failing = Expression::Cast { value: Box::new(column(data_type)), to: PrimitiveType::Boolean, lenient: false };
    assert!(may_match(&failing, V::String("a".to_owned())));
    // Constants need no columns.
    assert!(!Statistics::default().may_match(&Expression::null(PrimitiveType::Boolean), &Schema::default(), &|_| None));
    assert!(Statistics::default().may_match(&Expression::truth(), &Schema::default(), &|_| None));
}

/// A file is skipped only if no row matches: for all files of up to two rows of the samples, and all simple predicates on the samples, after
/// a round trip by way of JSON.
#[track_caller]
fn check_sound(data_type: &str, samples: &[&str]) {
    use BinaryOperator as B;
    let data_type: PrimitiveType = data_type.parse().unwrap();
    let schema = schema_of(data_type);
    let samples: Vec<V> = samples.iter().chain(&["NULL"]).map(|text| value(data_type, text)).collect();
    let literal = |value: &V| Expression::Literal { value: value.clone(), data_type };
    let operators = [B::Equal, B::NotEqual, B::Less, B::LessOrEqual, B::Greater, B::GreaterOrEqual, B::NullSafeEqual];
    let mut predicates = vec![is_null(data_type), Expression::Not(Box::new(is_null(data_type)))];
    for sample in &samples {
        for operator in operators {
            predicates.push(Expression::binary(operator, column(data_type), literal(sample)));
            predicates.push(Expression::binary(operator, literal(sample), column(data_type)));
        }
        let list = vec![literal(&samples[0]), literal(sample)];
        predicates.push(Expression::In { value: Box::new(column(data_type)), list });
    }
    let simple = predicates.clone();
    for pair in simple.windows(2) {
        predicates.push(pair[0].clone().and(pair[1].clone()));
        predicates.push(Expression::binary(B::Or, pair[0].clone(), pair[1].clone()));
    }
    let mut skipped = 0;
    for first in &samples {
        for second in &samples {
            let rows = [first, second];
            let known = || rows.into_iter().filter(|value| !value.is_null() && value.to_string() != "NaN");
            let one = |value: Option<&V>| value.map(|value| ("x".to_owned(), value.clone())).into_iter().collect();
            let statistics = Statistics {
                num_records: Some(2),
                min: one(known().min()),
                max: one(known().max()),
                null_count: BTreeMap::from([(
                    "x".to_owned(),
                    rows.iter().filter(|value| value.is_null()).count() as u64,
                )]),
                tight_bounds: Some(true),
            };
            let read_back = Statistics::parse(&statistics.to_json(), &schema);
            for predicate in &predicates {
                let matches = rows.iter().any(|row| predicate.matches(&[(*row).clone()]).unwrap());
                for statistics in [&statistics, &read_back] {
                    let kept = statistics.may_match(predicate, &schema, &|_| None);
                    assert!(kept || !matches, "{predicate:?} skips {rows:?} by {statistics:?}");
                    skipped += usize::from(!kept);
                }
            }
        }
    }
    assert!(skipped > 0, "nothing was skipped for {data_type}");
}

#[test]
fn a_skipped_file_has_no_matching_row() {
    check_sound("long", &["-9223372036854775808", "0", "1", "9223372036854775807"]);
    check_sound("double", &["-Infinity", "-0.0", "0.0", "1.5", "Infinity", "NaN"]);
    check_sound("float", &["-3.4028235E38", "0.1", "NaN"]);
    check_sound("decimal(38,2)", &["-1.01", "0", "999999999999999999999999999999999999.99"]);
    check_sound("date", &["0001-01-01", "1970-01-01", "9999-12-31"]);
    let times =
        ["1969-12-31 23:59:59.999999", "1970-01-01", "1970-01-01 00:00:00.000001", "1970-01-01 00:00:00.001999"];
    check_sound("timestamp", &times);
    check_sound("timestamp_ntz", &times);
    check_sound("boolean", &["false", "true"]);
    let (a, z) = ("a".repeat(40), format!("{}{}", "a".repeat(32), char::MAX.to_string().repeat(3)));
    check_sound("string", &["", &a, &a[..32], &z, "ü", "\u{10FFFF}"]);
    check_sound("binary", &["", "a"]);
}
