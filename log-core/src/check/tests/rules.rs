//! Rules about what commits say.

use expect_test::expect;

use super::{Log, PROTOCOL, commit, first, line, metadata};
use crate::{
    check::Rule,
    path::{Version, commit_path},
};

#[test]
fn a_clean_log_gives_nothing() {
    let log = Log::of(&["+a +b", "-a +a@1", "-a@1 ~-b ~+c", r#"{"txn":{"appId":"s","version":5}}"#])
        .put("_last_checkpoint.crc", "")
        .without("_delta_log/_last_checkpoint.crc");
    let checked = log.walk();
    assert_eq!(checked.findings, []);
    assert_eq!(checked.newest.unwrap().version, Version(4));
    assert_eq!(checked.mentioned.files.iter().collect::<Vec<_>>(), ["a", "b", "c"]);
    assert_eq!(checked.mentioned.vectors.len(), 1);
}

#[test]
fn every_rule_has_a_name_of_its_own() {
    let names: std::collections::BTreeSet<&str> = Rule::ALL.iter().map(|rule| rule.id()).collect();
    assert_eq!(names.len(), Rule::ALL.len());
    assert!(
        Rule::ALL.windows(2).all(|pair| pair[0] < pair[1]),
        "the list has the order of the enum, so none is left out twice"
    );
}

#[test]
fn there_is_one_action_of_a_kind() {
    let txn = r#"{"txn":{"appId":"s","version":5}}"#;
    let domain = r#"{"domainMetadata":{"domain":"d","configuration":"","removed":false}}"#;
    let twice = format!("{}\n{}\n{txn}\n{txn}\n{domain}\n{domain}\n{PROTOCOL}\n{PROTOCOL}", metadata(""), metadata(""));
    Log::of(&["+a +b +c", "+d +d -a -a", "-b +b", "-c@1 -c +c@2 +c@3", &twice]).check(&expect![[r#"
        duplicate-action 2 00000000000000000002.json: 2 add actions of 'd' where there can be one
        duplicate-action 2 00000000000000000002.json: 2 remove actions of 'a' where there can be one
        duplicate-action 3 00000000000000000003.json: 'b' is both added and removed
        note already-live 3 00000000000000000003.json: it adds 'b' as a change of data, and that is live already: its rows do not count twice
        duplicate-action 4 00000000000000000004.json: 2 add actions of 'c' where there can be one
        duplicate-action 4 00000000000000000004.json: 2 remove actions of 'c' where there can be one
        remove-matches-nothing 4 00000000000000000004.json: it removes 'c' with deletion vector 'uv@1', and live is 'c'
        live-twice 4 00000000000000000004.json: after it are live: 'c' with deletion vector 'uv@2', and 'c' with deletion vector 'uv@3'
        duplicate-action 5 00000000000000000005.json: 2 domainMetadata actions of 'd' where there can be one
        duplicate-action 5 00000000000000000005.json: 2 metaData actions where there can be one
        duplicate-action 5 00000000000000000005.json: 2 protocol actions where there can be one
        duplicate-action 5 00000000000000000005.json: 2 txn actions of 's' where there can be one
    "#]]);
}

#[test]
fn what_a_feature_brings_needs_the_feature() {
    let domain = r#"{"domainMetadata":{"domain":"d","configuration":"","removed":false}}"#;
    let tracked = r#"{"add":{"path":"r","partitionValues":{},"size":1,"modificationTime":1,"dataChange":true,"baseRowId":0,"defaultRowCommitVersion":2}}"#;
    let lists = r#"{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["deletionVectors"],"writerFeatures":["deletionVectors","domainMetadata","rowTracking"]}}"#;
    let plain = r#"{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}"#;
    let all = format!("{domain}\n{tracked}\n{}", line("+v@1"));
    Log::of(&[&format!("{plain}\n{all}"), &format!("{lists}\n{}", line("+w@1"))]).check(&expect![[r#"
        undeclared-feature 1 00000000000000000001.json: it has base row ids (1, the first is that of 'r'), and the protocol does not list rowTracking
        undeclared-feature 1 00000000000000000001.json: it has deletion vectors (1, the first is that of 'v'), and the protocol does not list deletionVectors
        undeclared-feature 1 00000000000000000001.json: it has domains (1, the first is that of 'd'), and the protocol does not list domainMetadata
        partition-values 1 00000000000000000001.json: the add of 'r' has no value for partition column 'p'
        row-ids 2 00000000000000000002.json: row tracking is supported, and the add of 'w' has no baseRowId
    "#]]);
}

/// Report 32.
#[test]
fn statistics_that_are_no_text_count_as_none() {
    let add = |path: &str, stats: &str| {
        format!(
            r#"{{"add":{{"path":"{path}","partitionValues":{{"p":"1"}},"size":1,"modificationTime":1,"dataChange":true,"stats":{stats}}}}}"#
        )
    };
    let lines = [add("a", r#"{"numRecords":1}"#), add("b", "5"), add("c", "null"), add("d", r#""{\"numRecords\":1}""#)];
    Log::of(&[&lines.join("\n")]).check(&expect![[r#"
        note statistics 1 00000000000000000001.json: the statistics of 'a' are no text but {"numRecords":1}, and count as none
        note statistics 1 00000000000000000001.json: the statistics of 'b' are no text but 5, and count as none
    "#]]);
}

#[test]
fn a_file_has_no_negative_size() {
    let add = |size: i64| {
        format!(
            r#"{{"add":{{"path":"a","partitionValues":{{}},"size":{size},"modificationTime":1,"dataChange":true}}}}"#
        )
    };
    Log::of(&[&add(-1), &add(0)]).check(&expect![[r#"
        file-size 1 00000000000000000001.json: the add of 'a' says that it has -1 bytes
        partition-values 1 00000000000000000001.json: the add of 'a' has no value for partition column 'p'
        note already-live 2 00000000000000000002.json: it adds 'a' as a change of data, and that is live already: its rows do not count twice
        partition-values 2 00000000000000000002.json: the add of 'a' has no value for partition column 'p'
    "#]]);
}

#[test]
fn names_differ_in_more_than_letter_case() {
    let metadata = r#"{"metaData":{"id":"i","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"p\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}},{\"name\":\"P\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}]}","partitionColumns":["p","p"],"configuration":{}}}"#;
    Log::of(&[metadata]).check(&expect![[r#"
        schema 1 00000000000000000001.json: the columns 'p' and 'P' are one name, as letter case does not count
        schema 1 00000000000000000001.json: the partition columns 'p' and 'p' are one name, as letter case does not count
    "#]]);
}

#[test]
fn a_commit_of_blanks_and_a_checksum_of_nothing_are_seen() {
    Log::of(&["+a"]).put(&commit_path(Version(1)), " \n\n").put("00000000000000000001.crc", "{}").check(&expect![[r#"
        checksum 1 00000000000000000001.crc: it has none of the fields that it must have: tableSizeBytes, numFiles, numMetadata, numProtocol, metadata, protocol; the file may be deleted
        note empty-commit 1 00000000000000000001.json: it holds nothing but blanks: a version without actions
    "#]]);
}

#[test]
fn actions_of_checkpoints_are_misplaced_in_commits() {
    Log::of(&[r#"{"checkpointMetadata":{"version":1}}"#, r#"{"futureAction":{}}"#]).check(&expect![[r#"
        misplaced-action 1 00000000000000000001.json: it has a checkpointMetadata action, which only checkpoints may have
    "#]]);
}

#[test]
fn protocol_and_metadata_are_there_from_the_start() {
    let base = |text: &str| Log::default().put(&commit_path(Version(0)), text);
    base(PROTOCOL).check(&expect![[r#"
        missing-metadata 0 00000000000000000000.json: no metaData action up to here; the first commit of a table has one
    "#]]);
    base(&metadata("")).check(&expect![[r#"
        missing-protocol 0 00000000000000000000.json: no protocol action up to here; the first commit of a table has one
    "#]]);
}

#[test]
fn the_schema_can_be_read() {
    let broken = metadata("").replace("long", "nosuch");
    let ghost = metadata("").replace(r#"["p"]"#, r#"["ghost"]"#);
    // Types that come with a feature that is not known are not at fault.
    let future = r#"{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["future"],"writerFeatures":["future"]}}"#;
    Log::of(&[&format!("{future}\n{broken}")]).check(&expect![[r#"
        note unsupported-feature 1 00000000000000000001.json: the table cannot be read: it needs the reader features future, which this build of contend does not implement
    "#]]);
    Log::of(&[&broken, &ghost]).check(&expect![[r#"
        schema 1 00000000000000000001.json: commit 1: the schema of its metaData action cannot be read: column 'id': 'nosuch' is not a primitive type of the Delta protocol
        schema 2 00000000000000000002.json: commit 2: partition column 'ghost' is not a column of the schema
    "#]]);
}

/// Report 21.
#[test]
fn a_protocol_has_the_lists_that_its_versions_ask_for() {
    for (protocol, expected) in [
        (
            r#"{"protocol":{"minReaderVersion":1,"minWriterVersion":2,"readerFeatures":[],"writerFeatures":[]}}"#,
            expect![[r#"
                invalid-protocol 1 00000000000000000001.json: it has a list of reader features, which only reader version 3 may have, and it is 1
                invalid-protocol 1 00000000000000000001.json: it has a list of writer features, which only writer version 7 may have, and it is 2
            "#]],
        ),
        (
            r#"{"protocol":{"minReaderVersion":3,"minWriterVersion":7}}"#,
            expect![[r#"
                invalid-protocol 1 00000000000000000001.json: reader version 3 needs a list of reader features
                invalid-protocol 1 00000000000000000001.json: writer version 7 needs a list of writer features
                note unsupported-feature 1 00000000000000000001.json: the table cannot be read: it needs reader version 3 with a list of features, which is missing, which this build of contend does not implement
            "#]],
        ),
        (r#"{"protocol":{"minReaderVersion":1,"minWriterVersion":7,"writerFeatures":["appendOnly"]}}"#, expect![""]),
        (
            r#"{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["neverHeardOfIt"],"writerFeatures":[]}}"#,
            expect![[r#"
                invalid-protocol 1 00000000000000000001.json: reader features that are not listed for writers: neverHeardOfIt
                note unsupported-feature 1 00000000000000000001.json: the table cannot be read: it needs the reader features neverHeardOfIt, which this build of contend does not implement
            "#]],
        ),
        (
            r#"{"protocol":{"minReaderVersion":3,"minWriterVersion":0,"readerFeatures":[]}}"#,
            expect![[r#"
                invalid-protocol 1 00000000000000000001.json: reader version 3 and writer version 0: versions are counted from 1
                invalid-protocol 1 00000000000000000001.json: reader version 3 needs writer version 7, and it is 0
            "#]],
        ),
    ] {
        Log::of(&[protocol]).check(&expected);
    }
}

#[test]
fn a_remove_takes_out_what_is_in() {
    // Report 27: another spelling is the same file.
    Log::of(&["+a%20b", "-a%20b", "+c@1", "-c", "-d"]).check(&expect![[r#"
        remove-matches-nothing 4 00000000000000000004.json: it removes 'c', and live is 'c' with deletion vector 'uv@1'
        remove-matches-nothing 5 00000000000000000005.json: it removes 'd', which is not live
    "#]]);
    Log::of(&[&line("+p=New%2520Town/f"), &line("-p=New%2520Town/f")]).check(&expect![[""]]);
}

#[test]
fn a_path_is_live_once() {
    Log::of(&["+a", "+a@1"]).check(&expect![[r#"
        live-twice 2 00000000000000000002.json: after it are live: 'a', and 'a' with deletion vector 'uv@1'
    "#]]);
    Log::of(&["+a", "-a +a@1"]).check(&expect![""]);
}

#[test]
fn what_is_live_is_not_added_as_a_change_of_data() {
    Log::of(&["+a", "~+a", "+a"]).check(&expect![[r#"
        note already-live 3 00000000000000000003.json: it adds 'a' as a change of data, and that is live already: its rows do not count twice
    "#]]);
}

#[test]
fn nothing_leaves_an_append_only_table() {
    let only = format!("{}\n{}", metadata(r#""delta.appendOnly":"true""#), commit("+a"));
    Log::of(&[&only, "~-a ~+b", "-b"]).check(&expect![[r#"
        append-only 3 00000000000000000003.json: the table is append-only, and it removes 'b'
    "#]]);
}

/// Report 3.
#[test]
fn a_commit_that_changes_no_data_keeps_the_rows() {
    Log::of(&["+a*3 +b*4", "~-a ~-b ~+c*8", "~-c ~+d@1*9", "~-d@1 ~+e*9", "+f*2 ~-e"]).check(&expect![[r#"
        rearranged-rows 2 00000000000000000002.json: it changes no data, removes 7 rows and adds 8, as the statistics of its files say
        rearranged-rows 4 00000000000000000004.json: it changes no data, removes 8 rows and adds 9, as the statistics of its files say
    "#]]);
}

#[test]
fn live_files_have_row_ids_of_their_own() {
    let features = r#""readerFeatures":[],"writerFeatures":["rowTracking","domainMetadata"]"#;
    let protocol = format!(r#"{{"protocol":{{"minReaderVersion":3,"minWriterVersion":7,{features}}}}}"#);
    let mark = |mark: &str| {
        format!(
            r#"{{"domainMetadata":{{"domain":"delta.rowTracking","configuration":"{{\"rowIdHighWaterMark\":{mark}}}","removed":false}}}}"#
        )
    };
    let add = |name: &str, first: i64, rows: u64, version: u64| {
        line(&format!("+{name}*{rows}"))
            .replace(r#""size""#, &format!(r#""baseRowId":{first},"defaultRowCommitVersion":{version},"size""#))
    };
    let join = |lines: &[String]| lines.join("\n");
    Log::of(&[
        &join(&[protocol, add("a", 0, 5, 1), add("b", 5, 5, 1), mark("9")]),
        &join(&[add("c", 9, 2, 2), mark("10")]),
        &join(&[add("d", 11, 2, 3), line("-c")]),
        &join(&[line("+e"), add("f", -1, 0, 9), mark(r#"\"x\""#)]),
    ])
    .check(&expect![[r#"
        row-ids 2 00000000000000000002.json: 'c' and 'b' have row ids in common
        row-ids 3 00000000000000000003.json: 'd' has row ids up to 12, above the high-water mark 10
        row-ids 4 00000000000000000004.json: row tracking is supported, and the add of 'e' has no baseRowId
        row-ids 4 00000000000000000004.json: the baseRowId of 'f' is -1, and row ids are not negative
        row-ids 4 00000000000000000004.json: the defaultRowCommitVersion of 'f' is 9, a version that is not made yet
        row-ids 4 00000000000000000004.json: the domain delta.rowTracking does not tell rowIdHighWaterMark
    "#]]);
}

#[test]
fn in_commit_timestamps_increase() {
    let on = metadata(r#""delta.enableInCommitTimestamps":"true""#);
    let info = |ms: i64| format!(r#"{{"commitInfo":{{"inCommitTimestamp":{ms}}}}}"#);
    Log::of(&[
        &format!("{}\n{on}", info(5)),
        &info(6),
        &info(6),
        &format!("{}\n{}", line("+a"), info(7)),
        "+b",
        &metadata(r#""delta.enableInCommitTimestamps":"true","delta.inCommitTimestampEnablementVersion":"x""#),
    ])
    .check(&expect![[r#"
        in-commit-timestamp 3 00000000000000000003.json: its inCommitTimestamp 6 is not greater than 6, that of version 2
        in-commit-timestamp 4 00000000000000000004.json: in-commit timestamps are on, and commitInfo is not its first action
        in-commit-timestamp 5 00000000000000000005.json: in-commit timestamps are on, and it has none
        in-commit-timestamp 6 00000000000000000006.json: the table property delta.inCommitTimestampEnablementVersion is 'x', and must be a whole number where delta.enableInCommitTimestamps is true
    "#]]);
}

#[test]
fn times_of_files_that_run_backwards_are_noted() {
    Log::default()
        .put_at(&commit_path(Version(0)), first(), 9)
        .put_at(&commit_path(Version(1)), commit("+a"), 9)
        .put_at(&commit_path(Version(2)), commit("+b"), 5)
        .check(&expect![[r#"
            note clock-regression 2 00000000000000000002.json: its file is 4 ms older than that of version 1; time travel counts it as made after that
        "#]]);
}

#[test]
fn what_commit_info_says_of_itself_can_be_true() {
    let info = |fields: &str| format!(r#"{{"commitInfo":{{{fields}}}}}"#);
    Log::of(&[
        &info(r#""readVersion":0,"txnId":"x""#),
        &info(r#""readVersion":2"#),
        &info(r#""txnId":"x""#),
        &format!("{}\n{}", info(r#""isBlindAppend":true"#), line("+a")),
        &format!("{}\n{}", info(r#""isBlindAppend":true"#), line("-a")),
        &info(r#""readVersion":-1"#),
    ])
    .check(&expect![[r#"
        note read-version 2 00000000000000000002.json: its commitInfo says that it read version 2, which is not older than itself
        repeated-transaction 3 00000000000000000003.json: its txnId 'x' is that of version 1 too: a transaction landed twice
        note blind-append 5 00000000000000000005.json: its commitInfo says that it is a blind append, and it removes 1 files
    "#]]);
}

/// Report 30.
#[test]
fn partition_columns_have_values_of_their_types() {
    let with = |values: &str| line("+f").replace(r#"{"p":"1"}"#, values);
    Log::of(&[&with("{}"), &with(r#"{"p":"x"}"#)]).check(&expect![[r#"
        partition-values 1 00000000000000000001.json: the add of 'f' has no value for partition column 'p'
        note already-live 2 00000000000000000002.json: it adds 'f' as a change of data, and that is live already: its rows do not count twice
        partition-values 2 00000000000000000002.json: the add of 'f', partition column 'p': 'x' is not a value of type long
    "#]]);
    for legal in [r#"{"p":null}"#, r#"{"p":""}"#, r#"{"p":" 7 "}"#] {
        Log::of(&[&with(legal)]).check(&expect![[""]]);
    }
}

/// Report 32.
#[test]
fn statistics_make_sense() {
    let with = |stats: &str| {
        let text = serde_json::to_string(stats).unwrap();
        line("+f").replace(r#""{\"numRecords\":1}""#, &text)
    };
    for (stats, expected) in [
        (
            "",
            expect![[r#"
            note statistics 1 00000000000000000001.json: the statistics of 'f': not a JSON object: EOF while parsing a value at line 1 column 0
        "#]],
        ),
        (
            "not json",
            expect![[r#"
            note statistics 1 00000000000000000001.json: the statistics of 'f': not a JSON object: expected ident at line 1 column 2
        "#]],
        ),
        (
            r#"{"numRecords":"1"}"#,
            expect![[r#"
            note statistics 1 00000000000000000001.json: the statistics of 'f': numRecords is "1", and must be a number from 0
        "#]],
        ),
        (
            r#"{"numRecords":1,"minValues":[]}"#,
            expect![[r#"
            note statistics 1 00000000000000000001.json: the statistics of 'f': minValues is [], and must be an object
        "#]],
        ),
        (
            r#"{"numRecords":1,"maxValues":{"id":"Infinity"}}"#,
            expect![[r#"
            note statistics 1 00000000000000000001.json: the statistics of 'f': the maximum of column 'id' is "Infinity", which is not a value of type long
        "#]],
        ),
        (
            r#"{"numRecords":3,"minValues":{"id":[1]}}"#,
            expect![[r#"
            note statistics 1 00000000000000000001.json: the statistics of 'f': the minimum of column 'id' is [1], which is not a value of type long
        "#]],
        ),
        (
            r#"{"numRecords":3,"minValues":{"id":2},"maxValues":{"id":1}}"#,
            expect![[r#"
            note statistics 1 00000000000000000001.json: the statistics of 'f': the minimum of column 'id' is 2, and the maximum is 1
        "#]],
        ),
        (
            r#"{"numRecords":3,"nullCount":{"id":4}}"#,
            expect![[r#"
            note statistics 1 00000000000000000001.json: the statistics of 'f': column 'id' has 4 NULLs in 3 rows
        "#]],
        ),
        (
            r#"{"numRecords":3,"nullCount":{"id":-4}}"#,
            expect![[r#"
            note statistics 1 00000000000000000001.json: the statistics of 'f': the nullCount of column 'id' is -4, and must be a number from 0
        "#]],
        ),
        (r#"{}"#, expect![[""]]),
        (r#"{"numRecords":3,"minValues":{"ghost":[1],"id":null},"nullCount":{"id":3}}"#, expect![[""]]),
    ] {
        Log::of(&[&with(stats)]).check(&expected);
    }
}
