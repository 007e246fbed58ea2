use std::collections::BTreeMap;

use arrow::{
    array::{ArrayRef, Date32Array, Decimal128Array},
    array::{
        Float32Array, Int16Array, Int32Array, Int64Array, LargeStringArray, StringArray, TimestampMillisecondArray,
        TimestampNanosecondArray,
    },
};
use expect_test::{Expect, expect};
use parquet::{
    data_type::{Int96, Int96Type},
    file::writer::SerializedFileWriter,
    schema::parser::parse_message_type,
};

use super::*;
use crate::{
    batch::{batch, rows},
    schema::{DataType, Field, PrimitiveType as T},
    value::Value,
};

fn schema(columns: &[(&str, T)]) -> Schema {
    let field = |(name, t): &(&str, T)| Field {
        name: (*name).to_owned(),
        data_type: DataType::Primitive(*t),
        nullable: true,
        metadata: Default::default(),
    };
    Schema { fields: columns.iter().map(field).collect() }
}

fn row(seed: i64) -> Vec<Value> {
    vec![
        Value::Boolean(seed > 1),
        Value::Byte(seed as i8),
        Value::Short(-seed as i16),
        Value::Integer(seed as i32),
        Value::Long(seed),
        Value::Float(seed as f32 + 0.5),
        Value::Double(-seed as f64),
        Value::Decimal { unscaled: seed.into(), precision: 38, scale: 4 },
        Value::Decimal { unscaled: seed.into(), precision: 9, scale: 2 },
        Value::String(format!("s{seed}")),
        Value::Binary(vec![seed as u8]),
        Value::Date(seed as i32),
        Value::Timestamp(seed * 1_000_001),
        Value::TimestampNtz(-seed),
    ]
}

/// Rows of all types with a partition column in the middle.
fn table() -> (Schema, Vec<Vec<Value>>) {
    let names: Vec<String> = (0..15).map(|i| format!("c{i}")).collect();
    let mut types: Vec<T> = row(1).iter().map(|v| v.primitive_type().expect("not NULL")).collect();
    types.insert(3, T::String);
    let columns: Vec<_> = names.iter().map(String::as_str).zip(types).collect();
    let mut input: Vec<_> = [row(1), vec![Value::Null; 14], row(3)].into();
    input.iter_mut().for_each(|row| row.insert(3, Value::String("x y".into())));
    (schema(&columns), input)
}

fn partition() -> BTreeMap<String, Option<String>> {
    BTreeMap::from([("c3".to_owned(), Some("x y".to_owned()))])
}

#[test]
fn rows_of_every_type_survive_parquet() {
    let (schema, input) = table();
    let batch = batch(&schema, &input).expect("a batch");
    let file = encode(&schema, &["c3".to_owned()], &batch).expect("a file");
    assert_eq!(encode(&schema, &["c3".to_owned()], &batch).expect("a file"), file, "the same rows give the same bytes");
    let back = decode(&file.bytes, &schema, &partition()).expect("rows");
    assert_eq!(rows(&back, &schema).expect("rows"), input);
    expect![[r#"{"numRecords":3,"minValues":{"c1":1,"c10":"s1","c12":"1970-01-02","c13":"1970-01-01T00:00:01.000Z","c14":"1969-12-31T23:59:59.999","c2":-3,"c4":1,"c5":1,"c6":1.5,"c7":-3.0,"c8":0.0001,"c9":0.01},"maxValues":{"c1":3,"c10":"s3","c12":"1970-01-04","c13":"1970-01-01T00:00:03.001Z","c14":"1970-01-01T00:00:00.000","c2":-1,"c4":3,"c5":3,"c6":3.5,"c7":-1.0,"c8":0.0003,"c9":0.03},"nullCount":{"c0":1,"c1":1,"c10":1,"c11":1,"c12":1,"c13":1,"c14":1,"c2":1,"c4":1,"c5":1,"c6":1,"c7":1,"c8":1,"c9":1}}"#]]
    .assert_eq(&file.statistics);
}

#[test]
fn a_file_without_rows_is_read_with_all_columns() {
    let (schema, _) = table();
    let file = encode(&schema, &["c3".to_owned()], &batch(&schema, &[]).expect("a batch")).expect("a file");
    let back = decode(&file.bytes, &schema, &partition()).expect("rows");
    assert_eq!((back.num_rows(), back.num_columns()), (0, 15));
}

#[test]
fn columns_are_matched_by_name_and_missing_ones_are_null() {
    let written = schema(&[("b", T::Long), ("A", T::Long)]);
    let bytes = encode(&written, &[], &batch(&written, &[vec![Value::Long(1), Value::Long(2)]]).expect("a batch"))
        .expect("a file")
        .bytes;
    let check = |columns: &[(&str, T)], expected: &[Value]| {
        let schema = schema(columns);
        let back = decode(&bytes, &schema, &BTreeMap::new()).expect("rows");
        assert_eq!(rows(&back, &schema).expect("rows"), [expected.to_vec()]);
    };
    check(&[("a", T::Long), ("new", T::String), ("b", T::Long)], &[Value::Long(2), Value::Null, Value::Long(1)]);
    check(&[("new", T::Date)], &[Value::Null]);
}

#[test]
fn partition_values_of_the_log_win() {
    let schema = schema(&[("p", T::Integer), ("x", T::Long)]);
    let bytes = encode(&schema, &[], &batch(&schema, &[vec![Value::Integer(1), Value::Long(2)]]).expect("a batch"))
        .expect("a file")
        .bytes;
    let read = |text: Option<&str>| {
        let values = BTreeMap::from([("p".to_owned(), text.map(str::to_owned))]);
        decode(&bytes, &schema, &values).map(|back| rows(&back, &schema).expect("rows")[0][0].clone())
    };
    assert_eq!(read(Some("7")).expect("rows"), Value::Integer(7));
    assert_eq!(read(None).expect("rows"), Value::Null);
    assert_eq!(read(Some("x")).expect_err("no integer").to_string(), "partition column 'p'");
}

#[test]
fn a_nan_takes_the_bounds_away() {
    let schema = schema(&[("x", T::Double)]);
    let rows = [vec![Value::Double(1.0)], vec![Value::Double(f64::NAN)]];
    let file = encode(&schema, &[], &batch(&schema, &rows).expect("a batch")).expect("a file");
    assert_eq!(file.statistics, r#"{"numRecords":2,"minValues":{},"maxValues":{},"nullCount":{"x":0}}"#);
}

/// A Parquet file of one column `x`, as another writer makes it.
fn foreign(array: ArrayRef) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter([("x", array)]).expect("a batch");
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).expect("a writer");
    writer.write(&batch).expect("written");
    writer.into_inner().expect("a file")
}

fn check_foreign(bytes: &[u8], data_type: T, expected: Expect) {
    let schema = schema(&[("x", data_type)]);
    let found = match decode(bytes, &schema, &BTreeMap::new()) {
        Ok(back) => format!("{:?}", rows(&back, &schema).expect("rows")),
        Err(error) => error.to_string(),
    };
    expected.assert_eq(&found);
}

#[test]
fn other_types_are_brought_to_the_tables_type_when_nothing_is_lost() {
    let check = |array: ArrayRef, data_type, expected| check_foreign(&foreign(array), data_type, expected);
    check(Arc::new(Int16Array::from(vec![1])), T::Long, expect!["[[Long(1)]]"]);
    check(Arc::new(Int64Array::from(vec![1])), T::Byte, expect!["[[Byte(1)]]"]);
    check(Arc::new(Int64Array::from(vec![1, 300])), T::Byte, expect!["column 'x', row 1: the value does not fit byte"]);
    check(Arc::new(Int32Array::from(vec![1])), T::Double, expect!["[[Double(1.0)]]"]);
    check(
        Arc::new(Int64Array::from(vec![1])),
        T::Double,
        expect!["column 'x' is Int64 in the file, which cannot be read as double"],
    );
    check(Arc::new(Float32Array::from(vec![0.5])), T::Double, expect!["[[Double(0.5)]]"]);
    check(Arc::new(LargeStringArray::from(vec!["a"])), T::String, expect![[r#"[[String("a")]]"#]]);
    check(
        Arc::new(StringArray::from(vec!["a"])),
        T::Long,
        expect!["column 'x' is Utf8 in the file, which cannot be read as long"],
    );
    check(Arc::new(TimestampMillisecondArray::from(vec![-1])), T::Timestamp, expect!["[[Timestamp(-1000)]]"]);
    check(
        Arc::new(TimestampMillisecondArray::from(vec![i64::MAX])),
        T::TimestampNtz,
        expect!["column 'x', row 0: the value does not fit timestamp_ntz"],
    );
    check(
        Arc::new(TimestampNanosecondArray::from(vec![-1]).with_timezone("+02:00")),
        T::TimestampNtz,
        expect!["[[TimestampNtz(-1)]]"],
    );
    check(Arc::new(Date32Array::from(vec![1])), T::TimestampNtz, expect!["[[TimestampNtz(86400000000)]]"]);
    let decimal = Decimal128Array::from(vec![123]).with_precision_and_scale(5, 2).expect("a decimal");
    check(
        Arc::new(decimal.clone()),
        T::Decimal { precision: 10, scale: 3 },
        expect!["[[Decimal { unscaled: 1230, precision: 10, scale: 3 }]]"],
    );
    check(
        Arc::new(decimal),
        T::Decimal { precision: 10, scale: 1 },
        expect!["column 'x' is Decimal128(5, 2) in the file, which cannot be read as decimal(10,1)"],
    );
}

#[test]
fn int96_reaches_beyond_nanoseconds() {
    let message = Arc::new(parse_message_type("message m { required int96 x; }").expect("a schema"));
    let mut writer = SerializedFileWriter::new(Vec::new(), message, Default::default()).expect("a writer");
    let mut group = writer.next_row_group().expect("a row group");
    let mut column = group.next_column().expect("a column").expect("a column");
    let mut day = Int96::new();
    // Nanoseconds of the day, then the Julian day of 9999-12-31.
    day.set_data(1_000, 0, 5_373_484);
    column.typed::<Int96Type>().write_batch(&[day], None, None).expect("written");
    column.close().expect("closed");
    group.close().expect("closed");
    let bytes = writer.into_inner().expect("a file");
    check_foreign(&bytes, T::Timestamp, expect!["[[Timestamp(253402214400000001)]]"]);
}

#[test]
fn broken_bytes_are_an_error_not_a_panic() {
    let (schema, input) = table();
    let whole = encode(&schema, &["c3".to_owned()], &batch(&schema, &input).expect("a batch")).expect("a file").bytes;
    for length in [0, 1, 4, 8, 12, whole.len() / 2, whole.len() - 1] {
        assert!(decode(&whole[..length], &schema, &partition()).is_err(), "the first {length} bytes are no file");
    }
    let mut seed = 0x5eed_u64;
    println!("seed {seed}");
    for _ in 0..4_000 {
        let mut bytes = whole.clone();
        for _ in 0..1 + seed % 3 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = (seed >> 33) as usize % bytes.len();
            bytes[at] = (seed >> 24) as u8;
        }
        // Either is fine: not every byte matters.
        let _ = decode(&bytes, &schema, &partition());
    }
}

#[test]
fn a_table_of_partition_columns_only_has_no_data_file() {
    let schema = schema(&[("p", T::Long)]);
    let batch = batch(&schema, &[vec![Value::Long(1)]]).expect("a batch");
    let error = encode(&schema, &["p".to_owned()], &batch).expect_err("no columns");
    assert_eq!(error.to_string(), "a data file needs a column that is not a partition column");
}

#[test]
fn only_timestamps_with_a_zone_are_adjusted_to_utc() {
    let schema = schema(&[("at", T::Timestamp), ("local", T::TimestampNtz), ("small", T::Byte)]);
    let bytes = encode(&schema, &[], &batch(&schema, &[]).expect("a batch")).expect("a file").bytes;
    let length = bytes.len() as u64;
    let mut decoder = parquet::file::metadata::ParquetMetaDataPushDecoder::try_new(length).expect("a decoder");
    decoder.push_range(0..length, bytes.into()).expect("bytes");
    let Ok(parquet::DecodeResult::Data(metadata)) = decoder.try_decode() else { panic!("no footer") };
    let mut text = Vec::new();
    parquet::schema::printer::print_schema(&mut text, metadata.file_metadata().schema());
    expect![[r#"
        message arrow_schema {
          OPTIONAL INT64 at (TIMESTAMP(MICROS,true));
          OPTIONAL INT64 local (TIMESTAMP(MICROS,false));
          OPTIONAL INT32 small (INTEGER(8,true));
        }
    "#]]
    .assert_eq(&String::from_utf8(text).expect("text"));
}
