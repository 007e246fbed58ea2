use expect_test::{Expect, expect};

use super::*;

/// The line that a line comes to when it is read and written again.
fn rewritten(line: &str) -> String {
    let action = Action::parse(line).unwrap().expect("an action");
    let mut out = Vec::new();
    action.write(&mut out);
    String::from_utf8(out).unwrap()
}

#[track_caller]
fn check_round_trip(name: &str, line: &str) {
    assert_eq!(Action::parse(line).unwrap().unwrap().name(), name);
    assert_eq!(rewritten(line), line);
}

#[test]
fn every_action_is_written_as_it_was_read_with_unknown_fields() {
    check_round_trip(
        "add",
        concat!(
            r#"{"add":{"path":"p=a/%20x.parquet","partitionValues":{"p":"a","q":null},"size":9007199254740993,"modificationTime":-1,"#,
            r#""dataChange":false,"stats":"{\"numRecords\":3}","tags":{"k":"v","n":null},"deletionVector":{"storageType":"u","#,
            r#""pathOrInlineDv":"ab^-aqEH.-t@S}K{vb[*k^","offset":4,"sizeInBytes":40,"cardinality":6,"maxRowIndex":7},"baseRowId":10,"#,
            r#""defaultRowCommitVersion":2,"clusteringProvider":"liquid","newField":{"x":[1,2,null,1.5,"\u001f"]},"nullField":null}}"#,
        ),
    );
    check_round_trip(
        "remove",
        concat!(
            r#"{"remove":{"path":"f","deletionTimestamp":1,"dataChange":true,"extendedFileMetadata":true,"partitionValues":{"p":null},"#,
            r#""size":2,"stats":"x","tags":{},"deletionVector":{"storageType":"i","pathOrInlineDv":"wi5b","sizeInBytes":1,"cardinality":0},"#,
            r#""baseRowId":0,"defaultRowCommitVersion":0,"later":18446744073709551615}}"#,
        ),
    );
    check_round_trip(
        "metaData",
        concat!(
            r#"{"metaData":{"id":"i","name":"n","description":"d","format":{"provider":"orc","options":{"a":"b"},"level":9},"#,
            r#""schemaString":"{}","partitionColumns":["p"],"configuration":{"delta.appendOnly":"true"},"createdTime":5,"owner":"o"}}"#,
        ),
    );
    check_round_trip(
        "protocol",
        r#"{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["x"],"writerFeatures":[],"more":true}}"#,
    );
    check_round_trip("txn", r#"{"txn":{"appId":"a","version":-3,"lastUpdated":7,"by":"b"}}"#);
    check_round_trip(
        "domainMetadata",
        r#"{"domainMetadata":{"domain":"d","configuration":"{}","removed":true,"since":{"v":1}}}"#,
    );
    check_round_trip("commitInfo", r#"{"commitInfo":{"isBlindAppend":"yes","operation":[1],"timestamp":null}}"#);
    check_round_trip("cdc", r#"{"cdc":{"dataChange":false,"path":"c"}}"#);
    check_round_trip("futureAction", r#"{"futureAction":{"a":1}}"#);
    check_round_trip("future\n\"action", r#"{"future\n\"action":null}"#);
}

/// Report 35: a string holds what it likes, also what some take for a line break.
#[test]
fn strings_keep_every_character() {
    check_round_trip("commitInfo", "{\"commitInfo\":{\"predicate\":\"a\\nb \u{2028}\u{85} c\\u0000\u{1f600}\"}}");
}

#[test]
fn an_optional_field_that_is_null_is_absent() {
    let check = |given: &str, same: &str| {
        assert_eq!(Action::parse(given).unwrap(), Action::parse(same).unwrap(), "{given}");
        assert_eq!(rewritten(given), same);
    };
    check(
        concat!(
            r#"{"add":{"path":"f","partitionValues":{},"size":1,"modificationTime":1,"dataChange":true,"stats":null,"tags":null,"#,
            r#""deletionVector":null,"baseRowId":null,"defaultRowCommitVersion":null,"clusteringProvider":null}}"#,
        ),
        r#"{"add":{"path":"f","partitionValues":{},"size":1,"modificationTime":1,"dataChange":true}}"#,
    );
    check(
        concat!(
            r#"{"remove":{"path":"f","deletionTimestamp":null,"dataChange":true,"extendedFileMetadata":null,"partitionValues":null,"#,
            r#""size":null,"stats":null,"tags":null,"deletionVector":null}}"#,
        ),
        r#"{"remove":{"path":"f","dataChange":true}}"#,
    );
    check(
        r#"{"metaData":{"id":"i","name":null,"description":null,"schemaString":null,"partitionColumns":[],"createdTime":null}}"#,
        concat!(
            r#"{"metaData":{"id":"i","format":{"provider":"parquet","options":{}},"partitionColumns":[],"#,
            r#""configuration":{}}}"#,
        ),
    );
    check(
        r#"{"protocol":{"minReaderVersion":1,"minWriterVersion":2,"readerFeatures":null,"writerFeatures":null}}"#,
        r#"{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}"#,
    );
    check(r#"{"txn":{"appId":"a","version":1,"lastUpdated":null}}"#, r#"{"txn":{"appId":"a","version":1}}"#);
}

#[test]
fn statistics_that_are_no_text_are_dropped() {
    for stats in [r#"{"numRecords":1}"#, "7", "[]", "true"] {
        let line = format!(
            r#"{{"add":{{"path":"f","partitionValues":{{}},"size":1,"modificationTime":1,"dataChange":true,"stats":{stats}}}}}"#
        );
        let Some(Action::Add(add)) = Action::parse(&line).unwrap() else { panic!("{line}") };
        assert_eq!(add.stats, None, "{line}");
    }
}

#[test]
fn an_empty_object_is_no_action() {
    assert_eq!(Action::parse("{}").unwrap(), None);
    assert_eq!(Action::parse(" { } ").unwrap(), None);
}

#[track_caller]
fn check_error(line: &str, expected: &Expect) {
    expected.assert_eq(&Action::parse(line).unwrap_err().to_string());
}

#[test]
fn a_line_that_is_not_one_whole_action_is_an_error() {
    check_error("", &expect!["EOF while parsing a value at line 1 column 0"]);
    check_error(
        "null",
        &expect!["invalid type: null, expected a JSON object that holds one action at line 1 column 4"],
    );
    check_error(
        "[]",
        &expect!["invalid type: sequence, expected a JSON object that holds one action at line 1 column 0"],
    );
    check_error(r#"{"txn":{"appId":"a","version":1}} {}"#, &expect!["trailing characters at line 1 column 35"]);
    check_error(
        r#"{"txn":{"appId":"a","version":1},"commitInfo":{}}"#,
        &expect!["a line holds one action, this one holds 'txn' and 'commitInfo' at line 1 column 49"],
    );
    check_error(
        r#"{"txn":{"appId":"a","appId":"b","version":1}}"#,
        &expect!["duplicate field `appId` at line 1 column 27"],
    );
    check_error(
        r#"{"txn":["a",1]}"#,
        &expect!["invalid type: sequence, expected struct SetTransaction at line 1 column 7"],
    );
    check_error(r#"{"txn":{"appId":"a"}}"#, &expect!["missing field `version` at line 1 column 20"]);
    check_error(
        r#"{"txn":{"appId":"a","version":1.5}}"#,
        &expect!["invalid type: floating point `1.5`, expected i64 at line 1 column 33"],
    );
    check_error(r#"{"txn":{"appId":"a","ver"#, &expect!["EOF while parsing a string at line 1 column 24"]);
    check_error("{", &expect!["EOF while parsing an object at line 1 column 1"]);
    check_error(
        r#"{"metaData":{"id":"i","format":["parquet",{}],"schemaString":"","partitionColumns":[]}}"#,
        &expect!["invalid type: sequence, expected struct Format at line 1 column 31"],
    );
}

#[test]
fn a_field_of_commit_info_counts_only_in_its_shape() {
    let info = |body: &str| {
        let Some(Action::CommitInfo(info)) = Action::parse(&format!(r#"{{"commitInfo":{body}}}"#)).unwrap() else {
            panic!("{body}")
        };
        info
    };
    let good = info(concat!(
        r#"{"timestamp":1,"inCommitTimestamp":2,"operation":"WRITE","readVersion":3,"isolationLevel":"Serializable","#,
        r#""isBlindAppend":true,"txnId":"t"}"#,
    ));
    assert_eq!((good.timestamp(), good.in_commit_timestamp(), good.read_version()), (Some(1), Some(2), Some(3)));
    assert_eq!(
        (good.operation(), good.isolation_level(), good.txn_id()),
        (Some("WRITE"), Some("Serializable"), Some("t"))
    );
    assert!(good.is_blind_append());

    let odd = info(concat!(
        r#"{"timestamp":"1","inCommitTimestamp":2.5,"operation":{},"readVersion":null,"isolationLevel":1,"#,
        r#""isBlindAppend":"true","txnId":7}"#,
    ));
    assert_eq!((odd.timestamp(), odd.in_commit_timestamp(), odd.read_version()), (None, None, None));
    assert_eq!((odd.operation(), odd.isolation_level(), odd.txn_id()), (None, None, None));
    assert!(!odd.is_blind_append());
}

#[test]
fn the_remove_of_a_file_names_all_that_the_add_said() {
    let line = concat!(
        r#"{"add":{"path":"f","partitionValues":{"p":null},"size":1,"modificationTime":2,"dataChange":true,"stats":"s","tags":{"k":"v"},"#,
        r#""deletionVector":{"storageType":"u","pathOrInlineDv":"x","offset":1,"sizeInBytes":2,"cardinality":3},"baseRowId":4,"#,
        r#""defaultRowCommitVersion":5}}"#,
    );
    let Some(Action::Add(add)) = Action::parse(line).unwrap() else { panic!("{line}") };
    let mut out = Vec::new();
    Action::Remove(add.to_remove(9, false)).write(&mut out);
    expect![[r#"{"remove":{"path":"f","deletionTimestamp":9,"dataChange":false,"extendedFileMetadata":true,"partitionValues":{"p":null},"size":1,"tags":{"k":"v"},"deletionVector":{"storageType":"u","pathOrInlineDv":"x","offset":1,"sizeInBytes":2,"cardinality":3},"baseRowId":4,"defaultRowCommitVersion":5}}"#]].assert_eq(&String::from_utf8(out).unwrap());
}

#[test]
fn a_deletion_vector_is_named_by_all_three_parts() {
    let vector = |storage: &str, path: &str, offset| DeletionVector {
        storage_type: storage.to_owned(),
        path_or_inline_dv: path.to_owned(),
        offset,
        ..DeletionVector::default()
    };
    assert_eq!(vector("u", "ab", Some(4)).unique_id(), "uab@4");
    assert_eq!(vector("i", "ab", None).unique_id(), "iab");
}

/// Report 35, and the table of Delta Spark that tests how a log may grow.
#[test]
fn beside_a_known_action_an_unknown_one_is_ignored() {
    let txn = Action::parse(r#"{"txn":{"appId":"a","version":1}}"#).unwrap();
    for line in [
        r#"{"txn":{"appId":"a","version":1},"future":["a","1"]}"#,
        r#"{"future":["a","1"],"txn":{"appId":"a","version":1}}"#,
        r#"{"future":1,"later":2,"txn":{"appId":"a","version":1},"last":{}}"#,
        r#"{"add":null,"txn":{"appId":"a","version":1},"remove":null}"#,
    ] {
        assert_eq!(Action::parse(line).unwrap(), txn, "{line}");
    }
    let unknown = Action::parse(r#"{"future":1,"later":2}"#).unwrap();
    assert_eq!(unknown, Some(Action::Unknown { name: "future".to_owned(), body: 1.into() }));
    assert_eq!(Action::parse(r#"{"add":null}"#).unwrap(), None);
}

#[test]
fn a_property_that_is_null_is_not_set() {
    let line = r#"{"metaData":{"id":"i","partitionColumns":[],"configuration":{"a":null,"b":"1"},"format":{"provider":"parquet","options":null}}}"#;
    let Some(Action::Metadata(metadata)) = Action::parse(line).unwrap() else { panic!("{line}") };
    assert_eq!(metadata.configuration, [("b".to_owned(), "1".to_owned())].into());
}

/// Report 41: `commitInfo` is free-form.
#[test]
fn commit_info_of_any_shape_does_not_damage_its_commit() {
    for body in [r#""text""#, "[1,2]", "5", "true"] {
        let line = format!(r#"{{"commitInfo":{body}}}"#);
        let action = Action::parse(&line).unwrap().expect("an action");
        assert_eq!(action.name(), "commitInfo");
        assert!(!matches!(action, Action::CommitInfo(_)), "{line}");
        let mut written = Vec::new();
        action.write(&mut written);
        assert_eq!(String::from_utf8(written).unwrap(), line);
    }
    assert_eq!(Action::parse(r#"{"commitInfo":null}"#).unwrap(), None);
}

/// Found by the fuzz target `commit_lines`: a number that was read a little wrong drifted on with every rewrite.
#[test]
fn numbers_that_nobody_knows_do_not_drift() {
    for number in
        ["16037e40", "0.1", "1.6037000000000001e44", "123456789.123456789", "-5e-324", "1.7976931348623157e308"]
    {
        let line = format!(r#"{{"future":{number}}}"#);
        let Some(Action::Unknown { body, .. }) = Action::parse(&line).unwrap() else { panic!("{line}") };
        assert_eq!(body.as_f64(), Some(number.parse().unwrap()), "{number}");
        let mut written = Vec::new();
        let action = Action::Unknown { name: "future".to_owned(), body };
        action.write(&mut written);
        assert_eq!(Action::parse(std::str::from_utf8(&written).unwrap()).unwrap(), Some(action), "{number}");
    }
}
