use super::*;
use crate::schema::Field;
use crate::statistics::Statistics;

/// A schema of nullable columns `c0`, `c1`, ...
fn schema(types: &[PrimitiveType]) -> Schema {
    let field = |(i, t): (usize, &PrimitiveType)| Field {
        name: format!("c{i}"),
        data_type: DataType::Primitive(*t),
        nullable: true,
        metadata: Default::default(),
    };
    Schema { fields: types.iter().enumerate().map(field).collect() }
}

#[test]
fn rows_of_every_type_come_back() {
    let row = vec![
        Value::Boolean(true),
        Value::Byte(-1),
        Value::Short(2),
        Value::Integer(3),
        Value::Long(i64::MIN),
        Value::Float(1.5),
        Value::Double(f64::NAN),
        Value::Decimal { unscaled: 1234, precision: 10, scale: 2 },
        Value::String("ä".into()),
        Value::Binary(vec![0, 255]),
        Value::Date(-1),
        Value::Timestamp(5),
        Value::TimestampNtz(6),
    ];
    let types: Vec<_> = row.iter().map(|value| value.primitive_type().expect("not NULL")).collect();
    let schema = schema(&types);
    let input = vec![row, vec![Value::Null; types.len()]];
    let batch = batch(&schema, &input).expect("a batch");
    assert!(batch.schema().fields().iter().zip(&types).all(|(f, t)| is_arrow_type(f.data_type(), *t)));
    assert_eq!(rows(&batch, &schema).expect("rows"), input);
}

#[test]
fn a_batch_without_columns_keeps_its_rows() {
    let schema = schema(&[]);
    let batch = batch(&schema, &[vec![], vec![]]).expect("a batch");
    assert_eq!(rows(&batch, &schema).expect("rows").len(), 2);
}

#[test]
fn wrong_shapes_are_named() {
    let check = |error: BatchError, expected: &str| assert_eq!(error.to_string(), expected);
    let one = schema(&[PrimitiveType::Integer]);
    check(batch(&one, &[vec![]]).unwrap_err(), "0 columns where the schema has 1");
    check(batch(&one, &[vec![Value::Long(1)]]).unwrap_err(), "value Long(1) where a integer belongs");
    let longs = batch(&schema(&[PrimitiveType::Long]), &[vec![Value::Long(1)]]).expect("a batch");
    check(rows(&longs, &one).unwrap_err(), "column 'c0' of the batch is Int64, the schema says integer");
    let mut nested = one;
    nested.fields[0].data_type = list(PrimitiveType::Long.into());
    check(rows(&longs, &nested).unwrap_err(), "column 'c0' of the batch is Int64, the schema says array<long>");
    let text = Value::Array([Value::String("a".into())].into());
    check(batch(&nested, &[vec![text]]).unwrap_err(), "value String(\"a\") where a long belongs");
}

fn list(element: DataType) -> DataType {
    DataType::Array { element: Box::new(element), contains_null: true }
}

#[test]
fn nested_rows_come_back() {
    let text: DataType = PrimitiveType::String.into();
    let long: DataType = PrimitiveType::Long.into();
    let pair = DataType::Struct(schema(&[PrimitiveType::Long, PrimitiveType::String]));
    let map = |value: DataType| DataType::Map {
        key: Box::new(text.clone()),
        value: Box::new(value),
        value_contains_null: true,
    };
    let types =
        [pair.clone(), list(long), list(list(pair.clone())), map(list(pair)), DataType::Variant, DataType::Void];
    let mut schema = schema(&[PrimitiveType::Long; 6]);
    for (field, data_type) in schema.fields.iter_mut().zip(types) {
        field.data_type = data_type;
    }
    let pair = |x: i64| Value::Struct([Value::Long(x), Value::Null].into());
    let array = |values: &[Value]| Value::Array(values.into());
    let variant = Value::Variant(Arc::new(crate::value::Variant { metadata: vec![1, 0, 0], value: vec![0] }));
    let key = |text: &str| Value::String(text.to_owned());
    let input = vec![
        vec![
            pair(1),
            array(&[Value::Long(1), Value::Null]),
            array(&[array(&[pair(2), Value::Null]), array(&[]), Value::Null]),
            Value::Map([(key("b"), array(&[pair(3)])), (key("a"), Value::Null)].into()),
            variant,
            Value::Null,
        ],
        vec![Value::Null; 6],
        vec![
            Value::Struct([Value::Null, Value::Null].into()),
            array(&[]),
            array(&[]),
            Value::Map([].into()),
            Value::Null,
            Value::Null,
        ],
    ];
    let batch = batch(&schema, &input).expect("a batch");
    assert_eq!(rows(&batch, &schema).expect("rows"), input);
    assert_eq!(rows(&batch.slice(1, 2), &schema).expect("rows"), input[1..], "a slice has offsets");
}

#[test]
fn the_entries_of_a_map_have_no_order() {
    let entry = |key: i64| (Value::Long(key), Value::Null);
    let (a, b) = (Value::Map([entry(1), entry(2)].into()), Value::Map([entry(2), entry(1)].into()));
    assert_eq!(a, b);
    assert_eq!(std::collections::BTreeSet::from([a, b]).len(), 1);
}

#[test]
fn statistics_speak_of_columns_that_are_not_partition_columns() {
    let schema = schema(&[PrimitiveType::Long, PrimitiveType::Long, PrimitiveType::Boolean]);
    let row = |x: Option<i64>| vec![x.map_or(Value::Null, Value::Long), Value::Long(0), Value::Null];
    let batch = batch(&schema, &[row(Some(2)), row(None), row(Some(-3)), row(Some(1))]).expect("a batch");
    let found = Statistics::collect(&schema, &["C1".to_owned()], &batch).expect("statistics");
    let one = |value| std::collections::BTreeMap::from([("c0".to_owned(), value)]);
    assert_eq!(found.num_records, Some(4));
    assert_eq!((found.min, found.max), (one(Value::Long(-3)), one(Value::Long(2))));
    assert_eq!(found.null_count, [("c0".to_owned(), 1), ("c2".to_owned(), 4)].into());
}
