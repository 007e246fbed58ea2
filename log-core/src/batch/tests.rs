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
    nested.fields[0].data_type =
        DataType::Array { element: Box::new(DataType::Primitive(PrimitiveType::Long)), contains_null: true };
    check(
        arrow_schema(&nested).unwrap_err(),
        "column 'c0' is array<long>: nested types are not supported in data, only in the schema",
    );
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
