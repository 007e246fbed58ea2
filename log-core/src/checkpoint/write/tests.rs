use std::collections::BTreeSet;

use expect_test::{Expect, expect};
use parquet::{DecodeResult, file::metadata::ParquetMetaDataPushDecoder, schema::printer::print_schema};

use super::*;
use crate::{
    action::Action,
    checkpoint::Checkpoint,
    commit::Commit,
    path::LogFile,
    snapshot::{Replay, Snapshot},
};

const ID: CheckpointId = CheckpointId(0x80a0_83e8_7026_4e79_81be_64bd_76c4_3a11);
const NOW_MS: i64 = 1_000 * 86_400_000;
const V2: CheckpointKind = CheckpointKind::V2 { id: ID, actions_per_sidecar: None };

/// A table of these properties, columns and lines.
fn table(protocol: &str, properties: &[(&str, &str)], fields: &str, partition: &[&str], lines: &[&str]) -> Snapshot {
    let configuration: serde_json::Map<String, serde_json::Value> =
        properties.iter().map(|(key, value)| ((*key).to_owned(), (*value).into())).collect();
    let metadata = serde_json::json!({"metaData": {
        "id": "i", "format": {"provider": "parquet", "options": {}}, "partitionColumns": partition,
        "schemaString": format!("{{\"type\":\"struct\",\"fields\":[{fields}]}}"), "configuration": configuration,
    }});
    let text = format!("{{\"protocol\":{protocol}}}\n{metadata}\n{}", lines.join("\n"));
    let commit = Commit::parse(Version(0), text.as_bytes()).unwrap();
    let mut replay = Replay::keeping_tombstones();
    replay.apply(Version(0), commit.actions).unwrap();
    replay.finish().unwrap()
}

const PLAIN: &str = r#"{"minReaderVersion":1,"minWriterVersion":2}"#;
const WITH_V2: &str = r#"{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["v2Checkpoint"],"writerFeatures":["v2Checkpoint"]}"#;

/// What the files say, put together again.
fn decode(encoded: &EncodedCheckpoint) -> (Vec<Action>, Snapshot) {
    let (own, sidecars) = encoded.files.split_last().unwrap();
    let LogFile::Checkpoint(name) = LogFile::of(&own.path) else { panic!("{}", own.path) };
    let mut checkpoint = Checkpoint::parse(name, &own.bytes).unwrap();
    assert_eq!(checkpoint.sidecars, sidecars.iter().map(|file| file.path.clone()).collect::<Vec<_>>());
    for file in sidecars {
        checkpoint.actions.extend(Checkpoint::sidecar(&file.bytes).unwrap());
    }
    let mut replay = Replay::keeping_tombstones();
    replay.apply_checkpoint(encoded.version, checkpoint.actions.clone()).unwrap();
    (checkpoint.actions, replay.finish().unwrap())
}

fn schema_of(bytes: &Bytes) -> String {
    let mut decoder = ParquetMetaDataPushDecoder::try_new(bytes.len() as u64).unwrap();
    decoder.push_range(0..bytes.len() as u64, bytes.to_vec().into()).unwrap();
    let DecodeResult::Data(metadata) = decoder.try_decode().unwrap() else { panic!("the footer is there") };
    let mut text = Vec::new();
    print_schema(&mut text, metadata.file_metadata().schema());
    String::from_utf8(text).unwrap()
}

const LINES: [&str; 8] = [
    r#"{"add":{"path":"a%20b","partitionValues":{},"size":1,"modificationTime":2,"dataChange":true,"stats":"{\"numRecords\":3}","tags":{"k":null},"baseRowId":4,"defaultRowCommitVersion":5,"clusteringProvider":"c","notKnown":1}}"#,
    r#"{"add":{"path":"v","partitionValues":{},"size":1,"modificationTime":2,"dataChange":true,"deletionVector":{"storageType":"u","pathOrInlineDv":"x","offset":1,"sizeInBytes":2,"cardinality":3,"maxRowIndex":9}}}"#,
    r#"{"remove":{"path":"young","deletionTimestamp":86399999999,"dataChange":true,"extendedFileMetadata":true,"partitionValues":{"p":null},"size":7,"stats":"{}","tags":{}}}"#,
    r#"{"remove":{"path":"old","deletionTimestamp":85795200000,"dataChange":true}}"#,
    r#"{"remove":{"path":"timeless","dataChange":true}}"#,
    r#"{"txn":{"appId":"app","version":-7,"lastUpdated":1}}"#,
    r#"{"domainMetadata":{"domain":"d","configuration":"{}","removed":false}}"#,
    r#"{"domainMetadata":{"domain":"gone","configuration":"{}","removed":true}}"#,
];

/// What a checkpoint keeps of these lines.
fn kept(snapshot: &Snapshot) -> Snapshot {
    let mut kept = snapshot.clone();
    for add in Arc::make_mut(&mut kept.files).values_mut() {
        let add = Arc::make_mut(add);
        (add.data_change, add.extra) = (false, Extra::new());
        if let Some(vector) = &mut add.deletion_vector {
            vector.extra.clear();
        }
    }
    let tombstones = Arc::make_mut(kept.tombstones.as_mut().unwrap());
    tombstones.retain(|(path, _), _| path == "young");
    for remove in tombstones.values_mut() {
        let remove = Arc::make_mut(remove);
        (remove.stats, remove.tags) = (None, None);
    }
    kept
}

#[test]
fn a_checkpoint_holds_all_state_and_the_tombstones_that_have_not_expired() {
    for (protocol, kind) in [(PLAIN, CheckpointKind::Classic), (WITH_V2, CheckpointKind::Classic), (WITH_V2, V2)] {
        let snapshot = table(protocol, &[], "", &[], &LINES);
        let encoded = encode(&snapshot, kind, NOW_MS).unwrap();
        let (actions, decoded) = decode(&encoded);
        assert_eq!(decoded, kept(&snapshot), "{kind:?}");
        // The description and the sidecar of a v2 checkpoint are actions too.
        let more = if kind == V2 { 2 } else { 0 };
        assert_eq!((encoded.actions, encoded.add_files), (actions.len() as u64 + more, 2));
        assert_eq!(encode(&snapshot, kind, NOW_MS).unwrap(), encoded, "the same snapshot gives the same bytes");
    }
}

#[test]
fn retention_is_what_the_properties_say() {
    let check = |property: (&str, &str), expected: (&[&str], usize)| {
        let (_, decoded) =
            decode(&encode(&table(PLAIN, &[property], "", &[], &LINES), CheckpointKind::Classic, NOW_MS).unwrap());
        let tombstones: Vec<&str> = decoded.tombstones.as_ref().unwrap().keys().map(|(path, _)| &**path).collect();
        assert_eq!((&*tombstones, decoded.transactions.len()), expected, "{property:?}");
    };
    check(("other", ""), (&["young"], 1));
    check(("delta.deletedFileRetentionDuration", "interval 0 days"), (&[], 1));
    check(("delta.deletedFileRetentionDuration", "interval 8 days"), (&["old", "young"], 1));
    check(("delta.setTransactionRetentionDuration", "interval 1 day"), (&["young"], 0));
    check(("delta.setTransactionRetentionDuration", "interval 1001 days"), (&["young"], 1));
}

#[test]
fn file_actions_are_split_into_sidecars_of_so_many() {
    let snapshot = table(WITH_V2, &[], "", &[], &LINES);
    let kind = CheckpointKind::V2 { id: ID, actions_per_sidecar: NonZeroUsize::new(2) };
    let encoded = encode(&snapshot, kind, NOW_MS).unwrap();
    let paths: Vec<&str> = encoded.files.iter().map(|file| &*file.path).collect();
    assert_eq!(
        paths,
        [
            "_delta_log/_sidecars/00000000000000000000.checkpoint.0000000001.0000000002.80a083e8-7026-4e79-81be-64bd76c43a11.parquet",
            "_delta_log/_sidecars/00000000000000000000.checkpoint.0000000002.0000000002.80a083e8-7026-4e79-81be-64bd76c43a11.parquet",
            "_delta_log/00000000000000000000.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.parquet",
        ]
    );
    assert_eq!(decode(&encoded).1, kept(&snapshot));
    // Without file actions there are no sidecars.
    let empty = encode(&table(WITH_V2, &[], "", &[], &[]), kind, NOW_MS).unwrap();
    assert_eq!((empty.files.len(), decode(&empty).1.files.len()), (1, 0));
}

#[test]
fn more_rows_than_a_batch_holds_come_back() {
    let lines: Vec<String> = (0..2 * ACTIONS_PER_BATCH + 1)
        .map(|i| format!(r#"{{"add":{{"path":"f{i}","partitionValues":{{}},"size":{i},"modificationTime":0,"dataChange":false,"stats":"{{\"numRecords\":{i}}}"}}}}"#))
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let snapshot = table(PLAIN, &[(STATS_AS_STRUCT, "true")], "", &[], &lines);
    let (_, decoded) = decode(&encode(&snapshot, CheckpointKind::Classic, NOW_MS).unwrap());
    assert_eq!(decoded, snapshot);
}

const FIELDS: &str = r#"{"name":"p","type":"timestamp","nullable":true,"metadata":{}},
    {"name":"i","type":"integer","nullable":true,"metadata":{}},
    {"name":"n","type":{"type":"struct","fields":[{"name":"d","type":"decimal(20,2)","nullable":true,"metadata":{}},
        {"name":"l","type":{"type":"array","elementType":"long","containsNull":true},"nullable":true,"metadata":{}}]},"nullable":true,"metadata":{}},
    {"name":"b","type":"boolean","nullable":true,"metadata":{}}"#;

const STATS: &str = r#"{\"numRecords\":3,\"minValues\":{\"i\":-2,\"n\":{\"d\":-123456789012345678.25},\"b\":false,\"x\":1},\"maxValues\":{\"i\":\"y\",\"n\":{\"d\":0.00}},\"nullCount\":{\"i\":1,\"n\":{\"d\":0,\"l\":2},\"b\":3}}"#;

fn with_statistics(properties: &[(&str, &str)]) -> (String, Vec<Option<String>>) {
    let add = |path: &str, p: &str, stats: &str| {
        format!(
            r#"{{"add":{{"path":"{path}","partitionValues":{{"p":{p}}},"size":1,"modificationTime":2,"dataChange":true{stats}}}}}"#
        )
    };
    let lines = [
        add("a", r#""2024-06-01 12:00:00""#, &format!(r#","stats":"{STATS}""#)),
        add("b", "null", ""),
        add("c", r#""2024-06-01T12:00:00Z""#, r#","stats":"torn {""#),
    ];
    let lines = lines.each_ref().map(String::as_str);
    let encoded = encode(&table(PLAIN, properties, FIELDS, &["p"], &lines), CheckpointKind::Classic, NOW_MS).unwrap();
    let stats = decode(&encoded).1.adds().map(|add| add.stats.clone()).collect();
    (schema_of(&encoded.files[0].bytes), stats)
}

#[test]
fn statistics_are_written_as_text_and_as_columns_as_the_properties_say() {
    let has =
        |schema: &str| ["stats (STRING)", "stats_parsed", "partitionValues_parsed"].map(|name| schema.contains(name));
    let text = Some(STATS.replace('\\', ""));
    let (schema, stats) = with_statistics(&[]);
    assert_eq!((has(&schema), &stats), ([true, false, false], &vec![text.clone(), None, Some("torn {".to_owned())]));
    let (schema, stats) = with_statistics(&[(STATS_AS_STRUCT, "TRUE")]);
    assert_eq!((has(&schema), &stats[0]), ([true, true, true], &text));
    let (schema, stats) = with_statistics(&[(STATS_AS_STRUCT, "true"), (STATS_AS_JSON, "false")]);
    assert_eq!(has(&schema), [false, true, true]);
    // What is of no use is left out: a bound of another type, bounds of booleans, columns that the schema does not have.
    let expected = r#"{"numRecords":3,"minValues":{"i":-2,"n":{"d":-123456789012345678.25}},"maxValues":{"n":{"d":0.00}},"nullCount":{"i":1,"n":{"d":0,"l":2},"b":3}}"#;
    assert_eq!(stats, [Some(expected.to_owned()), None, None]);
    let (schema, stats) = with_statistics(&[(STATS_AS_JSON, "false")]);
    assert_eq!((has(&schema), stats), ([false, false, false], vec![None, None, None]));
}

#[test]
fn the_columns_are_those_of_the_protocol() {
    let check = |schema: &str, expected: Expect| expected.assert_eq(schema);
    check(
        &with_statistics(&[(STATS_AS_STRUCT, "true")]).0,
        expect![[r#"
        message arrow_schema {
          OPTIONAL group metaData {
            REQUIRED BYTE_ARRAY id (STRING);
            OPTIONAL BYTE_ARRAY name (STRING);
            OPTIONAL BYTE_ARRAY description (STRING);
            REQUIRED group format {
              REQUIRED BYTE_ARRAY provider (STRING);
              REQUIRED group options (MAP) {
                REPEATED group key_value {
                  REQUIRED BYTE_ARRAY key (STRING);
                  OPTIONAL BYTE_ARRAY value (STRING);
                }
              }
            }
            OPTIONAL BYTE_ARRAY schemaString (STRING);
            REQUIRED group partitionColumns (LIST) {
              REPEATED group list {
                OPTIONAL BYTE_ARRAY element (STRING);
              }
            }
            REQUIRED group configuration (MAP) {
              REPEATED group key_value {
                REQUIRED BYTE_ARRAY key (STRING);
                OPTIONAL BYTE_ARRAY value (STRING);
              }
            }
            OPTIONAL INT64 createdTime;
          }
          OPTIONAL group protocol {
            REQUIRED INT32 minReaderVersion;
            REQUIRED INT32 minWriterVersion;
            OPTIONAL group readerFeatures (LIST) {
              REPEATED group list {
                OPTIONAL BYTE_ARRAY element (STRING);
              }
            }
            OPTIONAL group writerFeatures (LIST) {
              REPEATED group list {
                OPTIONAL BYTE_ARRAY element (STRING);
              }
            }
          }
          OPTIONAL group txn {
            REQUIRED BYTE_ARRAY appId (STRING);
            REQUIRED INT64 version;
            OPTIONAL INT64 lastUpdated;
          }
          OPTIONAL group domainMetadata {
            REQUIRED BYTE_ARRAY domain (STRING);
            REQUIRED BYTE_ARRAY configuration (STRING);
            REQUIRED BOOLEAN removed;
          }
          OPTIONAL group add {
            REQUIRED BYTE_ARRAY path (STRING);
            REQUIRED group partitionValues (MAP) {
              REPEATED group key_value {
                REQUIRED BYTE_ARRAY key (STRING);
                OPTIONAL BYTE_ARRAY value (STRING);
              }
            }
            REQUIRED INT64 size;
            REQUIRED INT64 modificationTime;
            REQUIRED BOOLEAN dataChange;
            OPTIONAL BYTE_ARRAY stats (STRING);
            OPTIONAL group tags (MAP) {
              REPEATED group key_value {
                REQUIRED BYTE_ARRAY key (STRING);
                OPTIONAL BYTE_ARRAY value (STRING);
              }
            }
            OPTIONAL group deletionVector {
              REQUIRED BYTE_ARRAY storageType (STRING);
              REQUIRED BYTE_ARRAY pathOrInlineDv (STRING);
              OPTIONAL INT32 offset;
              REQUIRED INT32 sizeInBytes;
              REQUIRED INT64 cardinality;
            }
            OPTIONAL INT64 baseRowId;
            OPTIONAL INT64 defaultRowCommitVersion;
            OPTIONAL BYTE_ARRAY clusteringProvider (STRING);
            OPTIONAL group partitionValues_parsed {
              OPTIONAL INT64 p (TIMESTAMP(MICROS,true));
            }
            OPTIONAL group stats_parsed {
              OPTIONAL INT64 numRecords;
              OPTIONAL group minValues {
                OPTIONAL INT32 i;
                OPTIONAL group n {
                  OPTIONAL FIXED_LEN_BYTE_ARRAY (9) d (DECIMAL(20,2));
                }
              }
              OPTIONAL group maxValues {
                OPTIONAL INT32 i;
                OPTIONAL group n {
                  OPTIONAL FIXED_LEN_BYTE_ARRAY (9) d (DECIMAL(20,2));
                }
              }
              OPTIONAL group nullCount {
                OPTIONAL INT64 i;
                OPTIONAL group n {
                  OPTIONAL INT64 d;
                  OPTIONAL INT64 l;
                }
                OPTIONAL INT64 b;
              }
            }
          }
          OPTIONAL group remove {
            REQUIRED BYTE_ARRAY path (STRING);
            OPTIONAL INT64 deletionTimestamp;
            REQUIRED BOOLEAN dataChange;
            OPTIONAL BOOLEAN extendedFileMetadata;
            OPTIONAL group partitionValues (MAP) {
              REPEATED group key_value {
                REQUIRED BYTE_ARRAY key (STRING);
                OPTIONAL BYTE_ARRAY value (STRING);
              }
            }
            OPTIONAL INT64 size;
            OPTIONAL group deletionVector {
              REQUIRED BYTE_ARRAY storageType (STRING);
              REQUIRED BYTE_ARRAY pathOrInlineDv (STRING);
              OPTIONAL INT32 offset;
              REQUIRED INT32 sizeInBytes;
              REQUIRED INT64 cardinality;
            }
            OPTIONAL INT64 baseRowId;
            OPTIONAL INT64 defaultRowCommitVersion;
          }
        }
    "#]],
    );
    let encoded = encode(&table(WITH_V2, &[], "", &[], &[]), V2, NOW_MS).unwrap();
    check(
        schema_of(&encoded.files[0].bytes).split_inclusive("OPTIONAL group metaData").next().unwrap(),
        expect![[r#"
            message arrow_schema {
              OPTIONAL group checkpointMetadata {
                REQUIRED INT64 version;
                OPTIONAL group tags (MAP) {
                  REPEATED group key_value {
                    REQUIRED BYTE_ARRAY key (STRING);
                    OPTIONAL BYTE_ARRAY value (STRING);
                  }
                }
              }
              OPTIONAL group sidecar {
                REQUIRED BYTE_ARRAY path (STRING);
                REQUIRED INT64 sizeInBytes;
                REQUIRED INT64 modificationTime;
                OPTIONAL group tags (MAP) {
                  REPEATED group key_value {
                    REQUIRED BYTE_ARRAY key (STRING);
                    OPTIONAL BYTE_ARRAY value (STRING);
                  }
                }
              }
              OPTIONAL group metaData"#]],
    );
}

#[test]
fn under_column_mapping_columns_have_their_physical_names() {
    let field = |name: &str, physical: &str, data_type: &str| {
        format!(
            r#"{{"name":"{name}","type":{data_type},"nullable":true,"metadata":{{"delta.columnMapping.id":1,"delta.columnMapping.physicalName":"{physical}"}}}}"#
        )
    };
    let inner = format!(r#"{{"type":"struct","fields":[{}]}}"#, field("in", "col-3", r#""long""#));
    let fields = [field("P", "col-1", r#""date""#), field("s", "col-2", &inner)].join(",");
    let protocol = r#"{"minReaderVersion":2,"minWriterVersion":5}"#;
    let properties = [("delta.columnMapping.mode", "name"), (STATS_AS_STRUCT, "true"), (STATS_AS_JSON, "false")];
    let stats = r#"{\"numRecords\":1,\"minValues\":{\"col-2\":{\"col-3\":5}}}"#;
    let line = format!(
        r#"{{"add":{{"path":"a","partitionValues":{{"col-1":"2024-06-01"}},"size":1,"modificationTime":2,"dataChange":true,"stats":"{stats}"}}}}"#
    );
    let encoded =
        encode(&table(protocol, &properties, &fields, &["p"], &[&line]), CheckpointKind::Classic, NOW_MS).unwrap();
    let schema = schema_of(&encoded.files[0].bytes);
    let words: BTreeSet<&str> = schema.split([' ', ';', '\n']).filter(|word| word.starts_with("col-")).collect();
    assert_eq!(words.into_iter().collect::<Vec<_>>(), ["col-1", "col-2", "col-3"]);
    let (_, decoded) = decode(&encoded);
    let expected = r#"{"numRecords":1,"minValues":{"col-2":{"col-3":5}}}"#;
    assert_eq!(decoded.adds().next().unwrap().stats.as_deref(), Some(expected));
}

#[test]
fn what_cannot_be_kept_is_refused_with_a_remedy() {
    let check = |snapshot: Snapshot, kind, expected: &str| {
        let error = encode(&snapshot, kind, NOW_MS).unwrap_err();
        assert_eq!(error.to_string(), expected);
    };
    check(
        table(PLAIN, &[], "", &[], &[]),
        V2,
        "a v2 checkpoint needs the table feature v2Checkpoint, which the table does not have; write a classic one, or add the feature to the table first",
    );
    check(
        table(
            r#"{"minReaderVersion":1,"minWriterVersion":7,"writerFeatures":["appendOnly","newThing"]}"#,
            &[],
            "",
            &[],
            &[],
        ),
        CheckpointKind::Classic,
        "the table cannot be given a checkpoint: it needs the writer features newThing, which this build of contend does not implement",
    );
    check(
        table(PLAIN, &[("delta.deletedFileRetentionDuration", "1 month")], "", &[], &[]),
        CheckpointKind::Classic,
        "the table property delta.deletedFileRetentionDuration is '1 month', which is no duration such as 'interval 1 week' or '30 days' \
         (months and years have no fixed length); correct the property",
    );
    check(
        table(PLAIN, &[(STATS_AS_JSON, "maybe")], "", &[], &[]),
        CheckpointKind::Classic,
        "the table property delta.checkpoint.writeStatsAsJson is 'maybe', which is neither true nor false; correct the property",
    );
    let line = r#"{"add":{"path":"f","partitionValues":{"p":"noon"},"size":1,"modificationTime":1,"dataChange":true}}"#;
    let odd = |properties: &[(&str, &str)]| table(PLAIN, properties, FIELDS, &["p"], &[line]);
    check(
        odd(&[(STATS_AS_STRUCT, "true")]),
        CheckpointKind::Classic,
        "file 'f', partition column 'p': the value has no place in a column of the table's type, which the property \
         delta.checkpoint.writeStatsAsStruct asks for",
    );
    // As text it is kept as it stands.
    let kept = decode(&encode(&odd(&[]), CheckpointKind::Classic, NOW_MS).unwrap()).1;
    assert_eq!(kept.adds().next().unwrap().partition_values["p"].as_deref(), Some("noon"));
}

/// A table that may not be written may be given a checkpoint all the same, when it is known what that must hold.
#[test]
fn a_checkpoint_needs_less_than_a_commit() {
    let protocol = r#"{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["deletionVectors"],"writerFeatures":["deletionVectors","rowTracking","domainMetadata","inCommitTimestamp"]}"#;
    let snapshot = table(protocol, &[], "", &[], &LINES);
    assert!(snapshot.protocol.check_writable().is_err());
    assert_eq!(decode(&encode(&snapshot, CheckpointKind::Classic, NOW_MS).unwrap()).1, kept(&snapshot));
    for protocol in [r#"{"minReaderVersion":2,"minWriterVersion":6}"#, r#"{"minReaderVersion":1,"minWriterVersion":4}"#]
    {
        assert!(encode(&table(protocol, &[], "", &[], &[]), CheckpointKind::Classic, NOW_MS).is_ok());
    }
}
