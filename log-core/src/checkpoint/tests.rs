use super::*;
use crate::path::LogFile;

const UUID: &str = "80a083e8-7026-4e79-81be-64bd76c43a11";

fn parse(name: &str, bytes: &[u8]) -> Result<Checkpoint, CheckpointError> {
    let LogFile::Checkpoint(file) = LogFile::of(&format!("_delta_log/00000000000000000003.checkpoint.{name}")) else {
        panic!("{name}");
    };
    Checkpoint::parse(file, bytes)
}

fn json_file(text: &str) -> Result<Checkpoint, CheckpointError> {
    parse(&format!("{UUID}.json"), text.as_bytes())
}

#[test]
fn a_json_checkpoint_is_its_actions_and_the_paths_of_its_sidecars() {
    let text = r#"{"checkpointMetadata":{"version":3,"tags":{}}}
{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["v2Checkpoint"],"writerFeatures":["v2Checkpoint"]}}
{"futureAction":{"a":1}}
{"sidecar":{"path":"016ae953.parquet","sizeInBytes":1,"modificationTime":1}}
{"sidecar":{"path":"s3://b/t/_delta_log/_sidecars/3%2041.parquet","sizeInBytes":1,"modificationTime":1}}"#;
    let checkpoint = json_file(text).unwrap();
    assert_eq!(checkpoint.actions.iter().map(Action::name).collect::<Vec<_>>(), ["protocol"]);
    assert_eq!(checkpoint.sidecars, ["_delta_log/_sidecars/016ae953.parquet", "_delta_log/_sidecars/3 41.parquet"]);
}

#[test]
fn a_sidecar_is_in_the_tables_own_folder_or_refused() {
    for path in [
        "",
        ".",
        "..",
        "../../../etc/passwd",
        "%2e%2e%2fx",
        "/etc/passwd",
        "a/b.parquet",
        "/t/_delta_log/_sidecars/",
        "/t/_delta_log/_sidecars/..",
        "/t/_delta_log/_sidecars/a/b",
        "_delta_log/_sidecars/a",
        "C:\\x",
        "file:x",
        ".hidden",
        "a%00b",
    ] {
        let text = serde_json::json!({ "sidecar": { "path": path } }).to_string();
        let error = json_file(&text).unwrap_err();
        assert!(matches!(&error, CheckpointError::SidecarPath(found) if found == path), "{path}: {error}");
    }
    assert!(matches!(json_file(r#"{"sidecar":{}}"#), Err(CheckpointError::Body { action: "sidecar", .. })));
}

#[test]
fn a_damaged_json_checkpoint_is_an_error_with_the_line() {
    for (text, said) in [
        ("{}\n\n{\"txn\":{\"appId\":\"a\",", "line 3: it is not a whole action"),
        ("{\"checkpointMetadata\":{\"version\":4}}", "it says that it holds version 4"),
        ("{\"checkpointMetadata\":{\"version\":-1}}", "it says that it holds version -1"),
        ("{\"checkpointMetadata\":{}}", "its 'checkpointMetadata' action cannot be read"),
    ] {
        assert_eq!(json_file(text).unwrap_err().to_string(), said);
    }
    let name = format!("{UUID}.json");
    assert_eq!(parse(&name, b"{}\n\xff").unwrap_err().to_string(), "line 2: it is not a whole action");
}

#[cfg(not(feature = "parquet"))]
#[test]
fn without_parquet_a_parquet_checkpoint_says_which_feature_reads_it() {
    assert!(parse("parquet", b"PAR1").unwrap_err().to_string().contains("build with the feature `parquet`"));
}

#[cfg(feature = "parquet")]
mod parquet_files {
    use std::{io::Cursor, sync::Arc};

    use ::parquet::{
        arrow::{ArrowWriter, arrow_writer::ArrowWriterOptions},
        basic::Compression,
        file::properties::WriterProperties,
    };
    use arrow::{
        datatypes::{DataType as ArrowType, Field, Fields, Schema, TimeUnit},
        json::ReaderBuilder,
    };

    use super::*;

    fn field(name: &str, data_type: ArrowType) -> Field {
        Field::new(name, data_type, true)
    }

    fn record<const N: usize>(name: &str, fields: [(&str, ArrowType); N]) -> Field {
        let fields: Fields = fields.into_iter().map(|(name, data_type)| field(name, data_type)).collect();
        field(name, ArrowType::Struct(fields))
    }

    /// A map, named as old writers name its parts, or as new ones do.
    fn map(parts: [&str; 3]) -> ArrowType {
        let fields = vec![Field::new(parts[1], ArrowType::Utf8, false), field(parts[2], ArrowType::Utf8)];
        ArrowType::Map(Arc::new(Field::new(parts[0], ArrowType::Struct(fields.into()), false)), false)
    }

    fn texts() -> ArrowType {
        ArrowType::List(Arc::new(field("element", ArrowType::Utf8)))
    }

    fn vector() -> ArrowType {
        let fields = [
            ("cardinality", ArrowType::Int64),
            ("storageType", ArrowType::Utf8),
            ("pathOrInlineDv", ArrowType::Utf8),
            ("offset", ArrowType::Int32),
            ("sizeInBytes", ArrowType::Int32),
            ("maxRowIndex", ArrowType::Int64),
        ];
        record("", fields).data_type().clone()
    }

    /// Columns in an order that no writer has.
    fn columns() -> Vec<Field> {
        let (old, new) = (map(["key_value", "key", "value"]), map(["entries", "keys", "values"]));
        let format = record("format", [("options", old.clone()), ("provider", ArrowType::Utf8)]);
        vec![
            record(
                "domainMetadata",
                [("removed", ArrowType::Boolean), ("domain", ArrowType::Utf8), ("configuration", ArrowType::Utf8)],
            ),
            record("future", [("x", ArrowType::Int64)]),
            record(
                "remove",
                [
                    ("dataChange", ArrowType::Boolean),
                    ("path", ArrowType::Utf8),
                    ("deletionTimestamp", ArrowType::Int64),
                    ("extendedFileMetadata", ArrowType::Boolean),
                    ("partitionValues", old.clone()),
                    ("size", ArrowType::Int64),
                    ("deletionVector", vector()),
                ],
            ),
            record(
                "add",
                [
                    ("stats", ArrowType::Utf8),
                    ("newField", texts()),
                    ("newNumber", ArrowType::Float64),
                    ("newTime", ArrowType::Timestamp(TimeUnit::Microsecond, Some("+00:00".into()))),
                    ("path", ArrowType::Utf8),
                    ("partitionValues", old.clone()),
                    ("size", ArrowType::Int64),
                    ("modificationTime", ArrowType::Int64),
                    ("dataChange", ArrowType::Boolean),
                    ("tags", new.clone()),
                    ("deletionVector", vector()),
                    ("baseRowId", ArrowType::Int64),
                    ("defaultRowCommitVersion", ArrowType::Int64),
                    ("clusteringProvider", ArrowType::Utf8),
                ],
            ),
            record(
                "txn",
                [("appId", ArrowType::Utf8), ("version", ArrowType::Int64), ("lastUpdated", ArrowType::Int64)],
            ),
            record(
                "metaData",
                [
                    ("id", ArrowType::Utf8),
                    ("name", ArrowType::Utf8),
                    ("format", format.data_type().clone()),
                    ("schemaString", ArrowType::Utf8),
                    ("partitionColumns", texts()),
                    ("configuration", new),
                    ("createdTime", ArrowType::Int64),
                ],
            ),
            record(
                "protocol",
                [
                    ("minReaderVersion", ArrowType::Int32),
                    ("minWriterVersion", ArrowType::Int32),
                    ("readerFeatures", texts()),
                    ("writerFeatures", texts()),
                ],
            ),
            record("checkpointMetadata", [("version", ArrowType::Int64)]),
            record("sidecar", [("path", ArrowType::Utf8), ("sizeInBytes", ArrowType::Int64)]),
        ]
    }

    /// The lines as a Parquet file of these columns.
    fn file(columns: Vec<Field>, lines: &str) -> Vec<u8> {
        let schema = Arc::new(Schema::new(columns));
        let mut reader = ReaderBuilder::new(schema.clone()).build(Cursor::new(lines)).unwrap();
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let options = ArrowWriterOptions::new().with_properties(properties);
        let mut writer = ArrowWriter::try_new_with_options(Vec::new(), schema, options).unwrap();
        reader.try_for_each(|batch| writer.write(&batch.unwrap()).map_err(|error| panic!("{error}"))).unwrap_or(());
        writer.into_inner().unwrap()
    }

    const LINES: &str = r#"{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["v2Checkpoint"],"writerFeatures":["v2Checkpoint","appendOnly"]}}
{"checkpointMetadata":{"version":3}}
{"metaData":{"id":"i","format":{"provider":"parquet","options":{"a":"b"}},"schemaString":"{}","partitionColumns":["p","q"],"configuration":{"delta.appendOnly":"true"},"createdTime":5}}
{"txn":{"appId":"a","version":7,"lastUpdated":9}}
{"txn":{"appId":"b","version":-1}}
{"domainMetadata":{"domain":"d","configuration":"{}","removed":false}}
{"add":{"path":"p=1/f%20","partitionValues":{"p":"1","q":null},"size":5,"modificationTime":6,"dataChange":false,"stats":"{\"numRecords\":1}","tags":{"t":"u"}}}
{"add":{"path":"g","partitionValues":{},"size":9007199254740993,"modificationTime":6,"dataChange":false,"baseRowId":3,"defaultRowCommitVersion":2,"clusteringProvider":"liquid","newField":["x","y"],"newNumber":0.5,"newTime":"2024-06-01T12:00:00.000001Z"}}
{"add":{"path":"g","partitionValues":{},"size":1,"modificationTime":6,"dataChange":false,"deletionVector":{"storageType":"u","pathOrInlineDv":"ab","offset":4,"sizeInBytes":40,"cardinality":6,"maxRowIndex":9}}}
{"remove":{"path":"h","deletionTimestamp":17,"dataChange":true,"extendedFileMetadata":true,"partitionValues":{"p":"1"},"size":3}}
{"remove":{"path":"i","dataChange":false,"deletionVector":{"storageType":"i","pathOrInlineDv":"ab","sizeInBytes":40,"cardinality":6}}}
{"sidecar":{"path":"s.parquet","sizeInBytes":3}}
{"future":{"x":3}}
"#;

    /// In the order in which columns are read; it does not matter.
    fn sorted(mut checkpoint: Checkpoint) -> Checkpoint {
        checkpoint.actions.sort_by_key(|action| format!("{action:?}"));
        checkpoint
    }

    #[test]
    fn a_parquet_checkpoint_holds_what_the_same_lines_hold() {
        let bytes = file(columns(), LINES);
        let expected = sorted(json_file(LINES).unwrap());
        assert_eq!(expected.actions.len(), 10);
        assert_eq!(expected.sidecars, ["_delta_log/_sidecars/s.parquet"]);
        for name in ["parquet".to_owned(), format!("{UUID}.parquet"), "0000000001.0000000002.parquet".to_owned()] {
            assert_eq!(sorted(parse(&name, &bytes).unwrap()), expected, "{name}");
        }
        let sidecar = Checkpoint::sidecar(&bytes).unwrap();
        assert_eq!(sidecar.iter().filter(|action| action.is_file_action()).count(), 5);
        assert_eq!(sidecar.len(), 5);
    }

    #[test]
    fn columns_may_be_missing() {
        let few: Vec<Field> =
            columns().into_iter().filter(|field| ["add", "txn"].contains(&field.name().as_str())).collect();
        let checkpoint = parse("parquet", &file(few, LINES)).unwrap();
        assert_eq!(checkpoint.actions.len(), 5);
        let none = vec![field("x", ArrowType::Int64)];
        assert_eq!(parse("parquet", &file(none, "{\"x\":1}")).unwrap(), Checkpoint::default());
    }

    #[test]
    fn what_an_action_needs_must_be_there() {
        let no_size =
            record("add", [("path", ArrowType::Utf8), ("partitionValues", map(["key_value", "key", "value"]))]);
        let error = parse("parquet", &file(vec![no_size], r#"{"add":{"path":"f","partitionValues":{}}}"#)).unwrap_err();
        assert_eq!(error.to_string(), "column 'add', row 0: missing field `size`");
        let flat = vec![field("add", ArrowType::Utf8)];
        let error = parse("parquet", &file(flat, r#"{"add":"f"}"#)).unwrap_err();
        assert_eq!(error.to_string(), "column 'add' is not a struct");
    }

    #[test]
    fn statistics_that_are_columns_only_become_text() {
        let bounds = record(
            "",
            [
                ("i", ArrowType::Int32),
                ("s", ArrowType::Utf8),
                ("d", ArrowType::Date32),
                ("t", ArrowType::Timestamp(TimeUnit::Microsecond, Some("+00:00".into()))),
                ("n", ArrowType::Timestamp(TimeUnit::Microsecond, None)),
                ("m", ArrowType::Decimal128(20, 2)),
                ("f", ArrowType::Float64),
                ("nested", record("", [("x", ArrowType::Int64)]).data_type().clone()),
            ],
        );
        let stats = record(
            "stats_parsed",
            [
                ("numRecords", ArrowType::Int64),
                ("minValues", bounds.data_type().clone()),
                ("nullCount", record("", [("i", ArrowType::Int64)]).data_type().clone()),
            ],
        );
        let add = record(
            "add",
            [
                ("path", ArrowType::Utf8),
                ("partitionValues", map(["key_value", "key", "value"])),
                ("partitionValues_parsed", record("", [("p", ArrowType::Int32)]).data_type().clone()),
                ("size", ArrowType::Int64),
                ("modificationTime", ArrowType::Int64),
                ("dataChange", ArrowType::Boolean),
                ("stats", ArrowType::Utf8),
                ("stats_parsed", stats.data_type().clone()),
            ],
        );
        let line = |rest: &str| {
            format!(
                r#"{{"add":{{"path":"f","partitionValues":{{"p":"1"}},"partitionValues_parsed":{{"p":1}},"size":1,"modificationTime":1,"dataChange":false{rest}}}}}"#
            )
        };
        let check = |rest: &str, expected: Option<&str>| {
            let checkpoint = parse("parquet", &file(vec![add.clone()], &line(rest))).unwrap();
            let [Action::Add(add)] = checkpoint.actions.as_slice() else { panic!("{checkpoint:?}") };
            assert_eq!(add.stats.as_deref(), expected, "{rest}");
            assert_eq!(add.partition_values, [("p".to_owned(), Some("1".to_owned()))].into());
            assert!(add.extra.is_empty(), "{:?}", add.extra);
        };
        check("", None);
        check(r#","stats":"{\"numRecords\":2}","stats_parsed":{"numRecords":3}"#, Some(r#"{"numRecords":2}"#));
        check(r#","stats_parsed":{"numRecords":3}"#, Some(r#"{"numRecords":3}"#));
        check(
            concat!(
                r#","stats_parsed":{"numRecords":3,"minValues":{"i":-1,"s":"a\"b","d":"2024-06-01","t":"2024-06-01T12:00:00.000001Z","#,
                r#""n":"1969-12-31T23:59:59.5","m":-0.05,"f":1e300,"nested":{"x":4}},"nullCount":{"i":0}}"#,
            ),
            Some(concat!(
                r#"{"numRecords":3,"minValues":{"i":-1,"s":"a\"b","d":"2024-06-01","t":"2024-06-01T12:00:00.000001Z","#,
                r#""n":"1969-12-31T23:59:59.500000","m":-0.05,"f":1e300,"nested":{"x":4}},"nullCount":{"i":0}}"#,
            )),
        );
        // A day that no four digits tell has no bound, and what follows it does.
        check(r#","stats_parsed":{"minValues":{"i":1,"d":5000000,"m":1}}"#, Some(r#"{"minValues":{"i":1,"m":1.00}}"#));
    }

    /// Cut anywhere, and with any byte turned over, it is an error or still a checkpoint, and never a panic.
    #[test]
    fn damaged_bytes_are_an_error() {
        let bytes = file(columns(), LINES);
        for end in (0..bytes.len()).step_by(37) {
            assert!(parse("parquet", &bytes[..end]).is_err(), "{end}");
        }
        let mut errors = 0;
        for at in (0..bytes.len()).step_by(23) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0xff;
            errors += usize::from(parse("parquet", &damaged).is_err());
        }
        assert!(errors > 20, "{errors}");
    }

    /// A run of equal values takes no room, so few bytes could speak of very many rows.
    #[test]
    fn more_rows_than_bytes_are_refused() {
        let lines = "{}\n".repeat(100_000);
        let bytes = file(columns(), &lines);
        assert!(bytes.len() < 50_000, "{}", bytes.len());
        let error = parse("parquet", &bytes).unwrap_err().to_string();
        assert!(error.contains("cannot hold the 100000 rows"), "{error}");
    }
}
