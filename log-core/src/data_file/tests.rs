use std::collections::BTreeMap;

use arrow::{
    array::{ArrayRef, Date32Array, Decimal128Array},
    array::{
        Float32Array, Int16Array, Int32Array, Int64Array, LargeStringArray, StringArray, TimestampMillisecondArray,
        TimestampNanosecondArray,
    },
};
use bytes::Bytes;
use expect_test::{Expect, expect};
use parquet::{
    data_type::{Int96, Int96Type},
    file::writer::SerializedFileWriter,
    schema::parser::parse_message_type,
};

use super::*;
use crate::{
    action::PartitionValues,
    batch::{batch, rows},
    deletion_vector::DeletedRows,
    layout::ColumnMapping,
    schema::{DataType, Field, PrimitiveType as T},
    value::Value,
};

/// A table without column mapping.
fn layout(schema: &Schema, partition_columns: &[&str]) -> Layout {
    let names: Vec<String> = partition_columns.iter().map(|name| (*name).to_owned()).collect();
    Layout::new(Arc::new(schema.clone()), &names, ColumnMapping::None).expect("nothing can be missing")
}

fn written(schema: &Schema, rows: &[Vec<Value>]) -> Vec<u8> {
    encode(&layout(schema, &[]), &batch(schema, rows).expect("a batch")).expect("a file").bytes
}

fn read(bytes: &[u8], schema: &Schema, partition_values: &PartitionValues) -> Result<RecordBatch, DataFileError> {
    decode(Bytes::copy_from_slice(bytes), &layout(schema, &[]), partition_values, None)
}

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
    let layout = layout(&schema, &["C3"]);
    let file = encode(&layout, &batch).expect("a file");
    assert_eq!(encode(&layout, &batch).expect("a file"), file, "the same rows give the same bytes");
    let back = read(&file.bytes, &schema, &partition()).expect("rows");
    assert_eq!(rows(&back, &schema).expect("rows"), input);
    expect![[r#"{"numRecords":3,"minValues":{"c1":1,"c10":"s1","c12":"1970-01-02","c13":"1970-01-01T00:00:01.000Z","c14":"1969-12-31T23:59:59.999","c2":-3,"c4":1,"c5":1,"c6":1.5,"c7":-3.0,"c8":0.0001,"c9":0.01},"maxValues":{"c1":3,"c10":"s3","c12":"1970-01-04","c13":"1970-01-01T00:00:03.001Z","c14":"1970-01-01T00:00:00.000","c2":-1,"c4":3,"c5":3,"c6":3.5,"c7":-1.0,"c8":0.0003,"c9":0.03},"nullCount":{"c0":1,"c1":1,"c10":1,"c11":1,"c12":1,"c13":1,"c14":1,"c2":1,"c4":1,"c5":1,"c6":1,"c7":1,"c8":1,"c9":1}}"#]]
    .assert_eq(&file.statistics);
}

#[test]
fn a_file_without_rows_is_read_with_all_columns() {
    let (schema, _) = table();
    let file = encode(&layout(&schema, &["c3"]), &batch(&schema, &[]).expect("a batch")).expect("a file");
    let back = read(&file.bytes, &schema, &partition()).expect("rows");
    assert_eq!((back.num_rows(), back.num_columns()), (0, 15));
}

#[test]
fn columns_are_matched_by_name_and_missing_ones_are_null() {
    let bytes = written(&schema(&[("b", T::Long), ("A", T::Long)]), &[vec![Value::Long(1), Value::Long(2)]]);
    let check = |columns: &[(&str, T)], expected: &[Value]| {
        let schema = schema(columns);
        let back = read(&bytes, &schema, &BTreeMap::new()).expect("rows");
        assert_eq!(rows(&back, &schema).expect("rows"), [expected.to_vec()]);
    };
    check(&[("a", T::Long), ("new", T::String), ("b", T::Long)], &[Value::Long(2), Value::Null, Value::Long(1)]);
    check(&[("new", T::Date)], &[Value::Null]);
}

#[test]
fn partition_values_of_the_log_win() {
    let schema = schema(&[("p", T::Integer), ("x", T::Long)]);
    let bytes = written(&schema, &[vec![Value::Integer(1), Value::Long(2)]]);
    let read = |text: Option<&str>| {
        let values = BTreeMap::from([("p".to_owned(), text.map(str::to_owned))]);
        read(&bytes, &schema, &values).map(|back| rows(&back, &schema).expect("rows")[0][0].clone())
    };
    assert_eq!(read(Some("7")).expect("rows"), Value::Integer(7));
    assert_eq!(read(None).expect("rows"), Value::Null);
    assert_eq!(read(Some("x")).expect_err("no integer").to_string(), "partition column 'p'");
}

#[test]
fn a_nan_takes_the_bounds_away() {
    let schema = schema(&[("x", T::Double)]);
    let rows = [vec![Value::Double(1.0)], vec![Value::Double(f64::NAN)]];
    let file = encode(&layout(&schema, &[]), &batch(&schema, &rows).expect("a batch")).expect("a file");
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
    let found = match read(bytes, &schema, &BTreeMap::new()) {
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
    let whole = encode(&layout(&schema, &["c3"]), &batch(&schema, &input).expect("a batch")).expect("a file").bytes;
    for length in [0, 1, 4, 8, 12, whole.len() / 2, whole.len() - 1] {
        assert!(read(&whole[..length], &schema, &partition()).is_err(), "the first {length} bytes are no file");
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
        let _ = read(&bytes, &schema, &partition());
    }
}

#[test]
fn a_table_of_partition_columns_only_has_no_data_file() {
    let schema = schema(&[("p", T::Long)]);
    let batch = batch(&schema, &[vec![Value::Long(1)]]).expect("a batch");
    let error = encode(&layout(&schema, &["p"]), &batch).expect_err("no columns");
    assert_eq!(error.to_string(), "a data file needs a column that is not a partition column");
}

#[test]
fn only_timestamps_with_a_zone_are_adjusted_to_utc() {
    let schema = schema(&[("at", T::Timestamp), ("local", T::TimestampNtz), ("small", T::Byte)]);
    let bytes = written(&schema, &[]);
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

/// A schema as the log has it.
fn parsed(text: &str) -> Schema {
    Schema::parse(text).expect("a schema")
}

const NESTED: &str = r#"{"type":"struct","fields":[
    {"name":"s","nullable":true,"metadata":{"delta.columnMapping.id":1,"delta.columnMapping.physicalName":"col-1"},
     "type":{"type":"struct","fields":[
        {"name":"day","type":"string","nullable":true,"metadata":{"delta.columnMapping.id":2,"delta.columnMapping.physicalName":"col-2"}},
        {"name":"n","type":"long","nullable":true,"metadata":{"delta.columnMapping.id":3,"delta.columnMapping.physicalName":"col-3"}}]}},
    {"name":"day","type":"string","nullable":true,"metadata":{"delta.columnMapping.id":4,"delta.columnMapping.physicalName":"col-4"}},
    {"name":"a.b","nullable":true,"metadata":{"delta.columnMapping.id":5,"delta.columnMapping.physicalName":"col-5"},
     "type":{"type":"array","containsNull":true,"elementType":{"type":"map","keyType":"string","valueType":"integer","valueContainsNull":true}}},
    {"name":"v","type":"variant","nullable":true,"metadata":{"delta.columnMapping.id":6,"delta.columnMapping.physicalName":"col-6"}},
    {"name":"nothing","type":"void","nullable":true,"metadata":{"delta.columnMapping.id":7,"delta.columnMapping.physicalName":"col-7"}}]}"#;

/// Rows of [`NESTED`], all with the partition `day = "d"`.
fn nested_rows() -> Vec<Vec<Value>> {
    let text = |text: &str| Value::String(text.to_owned());
    let map = |entries: &[(&str, Option<i32>)]| {
        let entry = |(key, value): &(&str, Option<i32>)| (text(key), value.map_or(Value::Null, Value::Integer));
        Value::Map(entries.iter().map(entry).collect())
    };
    let variant =
        |byte| Value::Variant(Arc::new(crate::value::Variant { metadata: vec![1, 0, 0], value: vec![12, byte] }));
    let list = |values: &[Value]| Value::Array(values.into());
    vec![
        vec![
            Value::Struct([text("inner"), Value::Long(1)].into()),
            text("d"),
            list(&[map(&[("x", Some(1)), ("y", None)]), Value::Null, map(&[])]),
            variant(1),
            Value::Null,
        ],
        vec![Value::Null, text("d"), Value::Null, Value::Null, Value::Null],
        vec![Value::Struct([Value::Null, Value::Null].into()), text("d"), list(&[]), variant(2), Value::Null],
    ]
}

/// Report 40: `day` is a partition column and a field of `s`; `a.b` is one name.
#[test]
fn nested_rows_survive_parquet_under_every_column_mapping() {
    let schema = parsed(NESTED);
    let input = nested_rows();
    let batch = batch(&schema, &input).expect("a batch");
    for (mapping, name) in [(ColumnMapping::None, "day"), (ColumnMapping::Name, "col-4"), (ColumnMapping::Id, "col-4")]
    {
        let layout = Layout::new(Arc::new(schema.clone()), &["day".to_owned()], mapping).expect("a layout");
        let file = encode(&layout, &batch).expect("a file");
        let values = PartitionValues::from([(name.to_owned(), Some("d".to_owned()))]);
        let back = decode(file.bytes.into(), &layout, &values, None).expect("rows");
        assert_eq!(rows(&back, &schema).expect("rows"), input, "{mapping:?}");
    }
}

#[test]
fn a_mapped_file_has_physical_names_and_ids() {
    let schema = parsed(NESTED);
    let layout = Layout::new(Arc::new(schema.clone()), &["day".to_owned()], ColumnMapping::Name).expect("a layout");
    let bytes = encode(&layout, &batch(&schema, &nested_rows()).expect("a batch")).expect("a file").bytes;
    let length = bytes.len() as u64;
    let mut decoder = parquet::file::metadata::ParquetMetaDataPushDecoder::try_new(length).expect("a decoder");
    decoder.push_range(0..length, bytes.into()).expect("bytes");
    let Ok(parquet::DecodeResult::Data(metadata)) = decoder.try_decode() else { panic!("no footer") };
    let mut text = Vec::new();
    parquet::schema::printer::print_schema(&mut text, metadata.file_metadata().schema());
    expect![[r#"
        message arrow_schema {
          OPTIONAL group col-1 [1] {
            OPTIONAL BYTE_ARRAY col-2 [2] (STRING);
            OPTIONAL INT64 col-3 [3];
          }
          OPTIONAL group col-5 [5] (LIST) {
            REPEATED group list {
              OPTIONAL group element (MAP) {
                REPEATED group key_value {
                  REQUIRED BYTE_ARRAY key (STRING);
                  OPTIONAL INT32 value;
                }
              }
            }
          }
          OPTIONAL group col-6 [6] {
            REQUIRED BYTE_ARRAY metadata;
            REQUIRED BYTE_ARRAY value;
          }
        }
    "#]]
    .assert_eq(&String::from_utf8(text).expect("text"));
}

#[test]
fn columns_are_found_by_id_whatever_they_are_called() {
    let column = |name: &str, physical: &str, id: i64| {
        format!(
            r#"{{"name":"{name}","type":"long","nullable":true,"metadata":{{"delta.columnMapping.id":{id},"delta.columnMapping.physicalName":"{physical}"}}}}"#
        )
    };
    let layout = |columns: &[String], mapping| {
        let schema = parsed(&format!(r#"{{"type":"struct","fields":[{}]}}"#, columns.join(",")));
        Layout::new(Arc::new(schema), &[], mapping).expect("a layout")
    };
    let old = layout(&[column("a", "x", 1), column("b", "y", 2)], ColumnMapping::Id);
    let values = vec![vec![Value::Long(1), Value::Long(2)]];
    let bytes = encode(&old, &batch(&old.schema, &values).expect("a batch")).expect("a file").bytes;
    let read = |layout: &Layout, bytes: Vec<u8>| {
        decode(bytes.into(), layout, &BTreeMap::new(), None).map(|back| rows(&back, &layout.schema).expect("rows"))
    };
    let (one, two) = (Value::Long(1), Value::Long(2));
    // The names are exchanged; a third column came later.
    let columns = [column("a", "y", 1), column("c", "z", 3), column("b", "x", 2)];
    let by_id = read(&layout(&columns, ColumnMapping::Id), bytes.clone()).expect("rows");
    assert_eq!(by_id, [[one.clone(), Value::Null, two.clone()]]);
    let by_name = read(&layout(&columns, ColumnMapping::Name), bytes).expect("rows");
    assert_eq!(by_name, [[two, Value::Null, one]]);
    let without_ids = written(&schema(&[("x", T::Long), ("y", T::Long)]), &values);
    let error = read(&old, without_ids).expect_err("it cannot be known which column is which");
    assert_eq!(
        error.to_string(),
        "the schema of the Parquet file has no field ids, and the table's columns are found by id"
    );
}

#[test]
fn deleted_rows_are_left_out_across_batches() {
    let schema = schema(&[("x", T::Long)]);
    let input: Vec<_> = (0..20_000).map(|x| vec![Value::Long(x)]).collect();
    let bytes: Bytes = written(&schema, &input).into();
    let deleted: DeletedRows = [0, 8_191, 8_192, 19_999, 1 << 40].into_iter().collect();
    let layout = layout(&schema, &[]);
    let back = decode(bytes.clone(), &layout, &BTreeMap::new(), Some(deleted.clone())).expect("rows");
    let kept: Vec<_> = (0..20_000).filter(|x| !deleted.contains(*x as u64)).map(|x| vec![Value::Long(x)]).collect();
    assert_eq!(rows(&back, &schema).expect("rows"), kept);
    let batches = open(bytes, &layout, &BTreeMap::new(), None).expect("a file");
    let sizes: Vec<usize> = batches.map(|batch| batch.expect("rows").num_rows()).collect();
    assert!(sizes.len() > 1, "the file is read in parts: {sizes:?}");
}

#[test]
fn only_the_columns_of_a_selection_are_there() {
    let schema = schema(&[("a", T::Long), ("p", T::String), ("b", T::Long)]);
    let bytes = written(&schema, &[vec![Value::Long(1), Value::Null, Value::Long(2)]]);
    let layout = layout(&schema, &["p"]).select(&[2, 1]);
    let values = PartitionValues::from([("p".to_owned(), Some("x".to_owned()))]);
    let back = decode(bytes.into(), &layout, &values, None).expect("rows");
    assert_eq!(rows(&back, &layout.schema).expect("rows"), [[Value::Long(2), Value::String("x".into())]]);
    let none = decode(written(&schema, &vec![vec![Value::Null; 3]; 9_000]).into(), &layout.select(&[]), &values, None);
    assert_eq!(none.expect("rows").num_rows(), 9_000);
}

/// A Parquet file whose schema is given as text and whose one INT32 or INT64 leaf holds one value.
fn handmade(message: &str, write: impl FnOnce(&mut parquet::file::writer::SerializedColumnWriter<'_>)) -> Vec<u8> {
    let message = Arc::new(parse_message_type(message).expect("a schema"));
    let mut writer = SerializedFileWriter::new(Vec::new(), message, Default::default()).expect("a writer");
    let mut group = writer.next_row_group().expect("a row group");
    let mut column = group.next_column().expect("a column").expect("a column");
    write(&mut column);
    column.close().expect("closed");
    group.close().expect("closed");
    writer.into_inner().expect("a file")
}

#[test]
fn int96_and_legacy_lists_are_read_inside_of_others() {
    let schema = parsed(
        r#"{"type":"struct","fields":[{"name":"x","nullable":true,"type":
            {"type":"struct","fields":[{"name":"l","nullable":true,"type":{"type":"array","elementType":"timestamp","containsNull":true}}]}}]}"#,
    );
    for message in [
        "message m { optional group x { optional group l (LIST) { repeated group list { optional int96 element; } } } }",
        "message m { optional group x { optional group l (LIST) { repeated int96 array; } } }",
    ] {
        let two_levels = message.contains("array");
        let bytes = handmade(message, |column| {
            let mut day = Int96::new();
            day.set_data(1_000, 0, 5_373_484);
            let level = if two_levels { 3 } else { 4 };
            column.typed::<Int96Type>().write_batch(&[day], Some(&[level]), Some(&[0])).expect("written");
        });
        let back = read(&bytes, &schema, &BTreeMap::new()).expect("rows");
        let list = Value::Array([Value::Timestamp(253_402_214_400_000_001)].into());
        assert_eq!(rows(&back, &schema).expect("rows"), [[Value::Struct([list].into())]], "{message}");
    }
}

#[test]
fn decimals_are_read_however_they_are_stored() {
    use parquet::data_type::{ByteArray, ByteArrayType, FixedLenByteArrayType, Int32Type, Int64Type};
    let check = |bytes: Vec<u8>| {
        let decimal = T::Decimal { precision: 12, scale: 3 };
        check_foreign(&bytes, decimal, expect!["[[Decimal { unscaled: -1230, precision: 12, scale: 3 }]]"]);
    };
    check(handmade("message m { required int32 x (DECIMAL(9,2)); }", |column| {
        column.typed::<Int32Type>().write_batch(&[-123], None, None).expect("written");
    }));
    check(handmade("message m { required int64 x (DECIMAL(12,3)); }", |column| {
        column.typed::<Int64Type>().write_batch(&[-1230], None, None).expect("written");
    }));
    check(handmade("message m { required binary x (DECIMAL(10,2)); }", |column| {
        let value = ByteArray::from(vec![0x85]);
        column.typed::<ByteArrayType>().write_batch(&[value], None, None).expect("written");
    }));
    check(handmade("message m { required fixed_len_byte_array(3) x (DECIMAL(5,2)); }", |column| {
        let value = ByteArray::from(vec![0xff, 0xff, 0x85]).into();
        column.typed::<FixedLenByteArrayType>().write_batch(&[value], None, None).expect("written");
    }));
}

#[test]
fn a_variant_that_is_shredded_is_refused() {
    let schema = parsed(r#"{"type":"struct","fields":[{"name":"x","nullable":true,"type":"variant"}]}"#);
    let message = "message m { optional group x { optional int64 typed_value; } }";
    let bytes = handmade(message, |column| {
        column.typed::<parquet::data_type::Int64Type>().write_batch(&[1], Some(&[2]), None).expect("written");
    });
    let error = read(&bytes, &schema, &BTreeMap::new()).expect_err("only a part of it is there");
    assert_eq!(error.to_string(), "column 'x' is a shredded variant, which this build of contend does not read");
}

#[test]
fn nested_types_that_do_not_fit_are_named_by_their_path() {
    let found = parsed(
        r#"{"type":"struct","fields":[{"name":"x","nullable":true,"type":{"type":"array","containsNull":true,"elementType":
            {"type":"struct","fields":[{"name":"y","nullable":true,"type":"string"}]}}}]}"#,
    );
    let wanted = parsed(
        r#"{"type":"struct","fields":[{"name":"x","nullable":true,"type":{"type":"array","containsNull":true,"elementType":
            {"type":"struct","fields":[{"name":"y","nullable":true,"type":"long"}]}}}]}"#,
    );
    let error = read(&written(&found, &[vec![Value::Null]]), &wanted, &BTreeMap::new()).expect_err("text is no number");
    assert_eq!(error.to_string(), "column 'x.element.y' is Utf8 in the file, which cannot be read as long");
}

#[test]
fn a_list_of_nothing_is_refused_by_the_writer() {
    let schema = parsed(
        r#"{"type":"struct","fields":[{"name":"x","nullable":true,"type":{"type":"array","containsNull":true,"elementType":"void"}}]}"#,
    );
    let batch = batch(&schema, &[vec![Value::Null]]).expect("a batch");
    let error = encode(&layout(&schema, &[]), &batch).expect_err("there is nothing to write");
    assert_eq!(
        error.to_string(),
        "column 'x.element' is void, which a data file cannot hold inside of a list or a map"
    );
}
