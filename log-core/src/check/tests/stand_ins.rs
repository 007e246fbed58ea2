//! Checkpoints, compactions and checksums say what the commits come to.

use expect_test::expect;

use super::{Log, PROTOCOL, commit, first, line, metadata};

const CHECKPOINT: &str = "00000000000000000002.checkpoint.01234567-0123-0123-0123-0123456789ab.json";

fn with_checkpoint(text: &str) -> Log {
    Log::of(&["+a +b", "-a"]).put(CHECKPOINT, text)
}

#[test]
fn a_checkpoint_holds_what_the_commits_come_to() {
    let same = format!("{}\n{}", first(), commit("+b"));
    with_checkpoint(&same).check(&expect![[""]]);
    with_checkpoint(&format!("{same}\n{}", commit("-a"))).check(&expect![[""]]);
    for (text, expected) in [
        (
            format!("{}\n{}", first(), commit("+a +b")),
            expect![[r#"
            checkpoint-differs 2 00000000000000000002.checkpoint.01234567-0123-0123-0123-0123456789ab.json: live files should not be there: 'a'
        "#]],
        ),
        (
            first(),
            expect![[r#"
            checkpoint-differs 2 00000000000000000002.checkpoint.01234567-0123-0123-0123-0123456789ab.json: live files are missing: 'b'
        "#]],
        ),
        (
            format!("{same}\n{}", commit("+b@1")),
            expect![[r#"
            checkpoint-differs 2 00000000000000000002.checkpoint.01234567-0123-0123-0123-0123456789ab.json: it has 2 add actions of 'b'
            checkpoint-differs 2 00000000000000000002.checkpoint.01234567-0123-0123-0123-0123456789ab.json: live files should not be there: 'b' with deletion vector 'uv@1'
        "#]],
        ),
        (
            format!("{same}\n{}", commit("-z")),
            expect![[r#"
            checkpoint-differs 2 00000000000000000002.checkpoint.01234567-0123-0123-0123-0123456789ab.json: tombstones should not be there: 'z'
        "#]],
        ),
        (
            same.replace(r#""size":10"#, r#""size":11"#).replace(r#"{"p":"1"}"#, r#"{"p":"2"}"#),
            expect![[r#"
            checkpoint-differs 2 00000000000000000002.checkpoint.01234567-0123-0123-0123-0123456789ab.json: the live file 'b' differs in size, partition values
        "#]],
        ),
        (
            same.replace(r#""minWriterVersion":7"#, r#""minWriterVersion":6"#),
            expect![[r#"
                checkpoint-differs 2 00000000000000000002.checkpoint.01234567-0123-0123-0123-0123456789ab.json: the protocol is 3/6 [deletionVectors] [appendOnly, deletionVectors, domainMetadata, invariants], and should be 3/7 [deletionVectors] [appendOnly, deletionVectors, domainMetadata, invariants]
            "#]],
        ),
        (
            same.replace(r#""configuration":{}"#, r#""configuration":{"k":"v"}"#).replace(r#""id":"i""#, r#""id":"j""#),
            expect![[r#"
            checkpoint-differs 2 00000000000000000002.checkpoint.01234567-0123-0123-0123-0123456789ab.json: the metadata differs in id, configuration
        "#]],
        ),
        (
            format!("{same}\n{}", r#"{"txn":{"appId":"s","version":1}}"#),
            expect![[r#"
            checkpoint-differs 2 00000000000000000002.checkpoint.01234567-0123-0123-0123-0123456789ab.json: application 's' should not be there
        "#]],
        ),
        (
            format!("{same}\n{}", r#"{"domainMetadata":{"domain":"d","configuration":"","removed":false}}"#),
            expect![[r#"
                checkpoint-differs 2 00000000000000000002.checkpoint.01234567-0123-0123-0123-0123456789ab.json: domain 'd' should not be there
            "#]],
        ),
        (
            PROTOCOL.to_owned(),
            expect![[r#"
            checkpoint-unreadable 2 00000000000000000002.checkpoint.01234567-0123-0123-0123-0123456789ab.json: the checkpoint of version 2 has no metaData action; every checkpoint needs one: write it anew, or delete it if every commit up to its version is still there
        "#]],
        ),
        (
            "{".to_owned(),
            expect![[r#"
            checkpoint-unreadable 2 00000000000000000002.checkpoint.01234567-0123-0123-0123-0123456789ab.json: line 1: it is not a whole action: EOF while parsing an object at line 1 column 1
        "#]],
        ),
    ] {
        with_checkpoint(&text).check(&expected);
    }
}

#[test]
fn a_parquet_checkpoint_that_is_none_is_found() {
    Log::of(&["+a"]).put("00000000000000000001.checkpoint.parquet", "PAR1 is not enough").check(&expect![[r#"
        checkpoint-unreadable 1 00000000000000000001.checkpoint.parquet: it is not a readable Parquet file: Parquet error: Invalid Parquet file. Corrupt footer
    "#]]);
}

#[test]
fn a_sidecar_that_is_missing_is_found() {
    let text = format!("{}\n{}", first(), r#"{"sidecar":{"path":"s.parquet","sizeInBytes":1,"modificationTime":1}}"#);
    with_checkpoint(&text).check(&expect![[r#"
        checkpoint-unreadable 2 00000000000000000002.checkpoint.01234567-0123-0123-0123-0123456789ab.json: its sidecar '_delta_log/_sidecars/s.parquet' is missing
    "#]]);
    let text = text.replace("s.parquet", "../../../etc/passwd");
    with_checkpoint(&text).check(&expect![[r#"
        checkpoint-unreadable 2 00000000000000000002.checkpoint.01234567-0123-0123-0123-0123456789ab.json: its sidecar '../../../etc/passwd' is not in the folder _delta_log/_sidecars of the table; nothing outside of the table is read
    "#]]);
}

#[test]
fn an_application_that_is_missing_from_a_checkpoint_is_found() {
    let log = |configuration: &str| {
        let table = format!("{}\n{}", metadata(configuration), r#"{"txn":{"appId":"s","version":1}}"#);
        Log::of(&["+a", &table]).put(CHECKPOINT, format!("{PROTOCOL}\n{}\n{}", metadata(configuration), commit("+a")))
    };
    log("").check(&expect![[r#"
        checkpoint-differs 2 00000000000000000002.checkpoint.01234567-0123-0123-0123-0123456789ab.json: application 's' is missing
    "#]]);
    log(r#""delta.setTransactionRetentionDuration":"interval 1 day""#).check(&expect![[""]]);
}

#[test]
fn a_compaction_holds_what_its_commits_come_to() {
    const COMPACTION: &str = "00000000000000000001.00000000000000000003.compacted.json";
    let log = |text: &str| Log::of(&["+a +b", "-a", "+c", "+d"]).put(COMPACTION, text);
    log(&commit("+b +c -a")).check(&expect![[""]]);
    log(&commit("+b +c")).check(&expect![[r#"
        compaction-differs 3 00000000000000000001.00000000000000000003.compacted.json: tombstones are missing: 'a'
    "#]]);
    log(&commit("+a +b +c -x")).check(&expect![[r#"
        compaction-differs 3 00000000000000000001.00000000000000000003.compacted.json: live files should not be there: 'a'
        compaction-differs 3 00000000000000000001.00000000000000000003.compacted.json: tombstones are missing: 'a'
        compaction-differs 3 00000000000000000001.00000000000000000003.compacted.json: tombstones should not be there: 'x'
    "#]]);
    log("{").check(&expect![[r#"
        compaction-unreadable 3 00000000000000000001.00000000000000000003.compacted.json: line 1 is not a whole action; the file may be deleted
    "#]]);
    // Two that overlap, each with its own commits.
    log(&commit("+b +c -a")).put("00000000000000000002.00000000000000000004.compacted.json", commit("+c +d")).check(
        &expect![[r#"
            compaction-differs 4 00000000000000000002.00000000000000000004.compacted.json: tombstones are missing: 'a'
        "#]],
    );
}

#[test]
fn a_compaction_keeps_that_a_domain_was_removed() {
    let domain =
        |removed: bool| format!(r#"{{"domainMetadata":{{"domain":"d","configuration":"","removed":{removed}}}}}"#);
    Log::of(&[&domain(false), &domain(true), "+a"])
        .put("00000000000000000002.00000000000000000003.compacted.json", commit("+a"))
        .check(&expect![[r#"
            compaction-differs 3 00000000000000000002.00000000000000000003.compacted.json: it does not say that domain 'd' was removed
        "#]]);
}

#[test]
fn a_checksum_says_what_its_version_comes_to() {
    let log = |text: &str| Log::of(&["+a +b", "-a +a@1"]).put("00000000000000000002.crc", text);
    let number = r#""numMetadata":1,"numProtocol":1"#;
    let right = format!(
        r#"{{"tableSizeBytes":20,"numFiles":2,{number},"numDeletedRecordsOpt":1,"numDeletionVectorsOpt":1,"setTransactions":[],"domainMetadata":[],{},{},"allFiles":[{},{}]}}"#,
        &metadata("")[1..metadata("").len() - 1].replace("metaData", "metadata"),
        &PROTOCOL[1..PROTOCOL.len() - 1],
        line("+b").trim_start_matches(r#"{"add":"#).strip_suffix('}').unwrap(),
        line("+a@1").trim_start_matches(r#"{"add":"#).strip_suffix('}').unwrap(),
    );
    log(&right).check(&expect![[""]]);
    for (from, to, expected) in [
        (
            r#""numFiles":2"#,
            r#""numFiles":3"#,
            expect![[r#"
            checksum 2 00000000000000000002.crc: numFiles is 3, and the log comes to 2
        "#]],
        ),
        (
            r#""tableSizeBytes":20"#,
            r#""tableSizeBytes":0"#,
            expect![[r#"
            checksum 2 00000000000000000002.crc: tableSizeBytes is 0, and the log comes to 20
        "#]],
        ),
        (
            number,
            r#""numMetadata":2,"numProtocol":0"#,
            expect![[r#"
            checksum 2 00000000000000000002.crc: numMetadata is 2, and the log comes to 1
            checksum 2 00000000000000000002.crc: numProtocol is 0, and the log comes to 1
        "#]],
        ),
        (
            r#""numDeletedRecordsOpt":1,"numDeletionVectorsOpt":1"#,
            r#""numDeletedRecordsOpt":2,"numDeletionVectorsOpt":0"#,
            expect![[r#"
                checksum 2 00000000000000000002.crc: numDeletedRecordsOpt is 2, and the log comes to 1
                checksum 2 00000000000000000002.crc: numDeletionVectorsOpt is 0, and the log comes to 1
            "#]],
        ),
        (
            r#""setTransactions":[]"#,
            r#""setTransactions":[{"appId":"s","version":1}]"#,
            expect![[r#"
            checksum 2 00000000000000000002.crc: setTransactions are {"s": 1}, and the log comes to {}
        "#]],
        ),
        (
            r#""domainMetadata":[]"#,
            r#""domainMetadata":[{"domain":"d","configuration":"","removed":false}]"#,
            expect![[r#"
                checksum 2 00000000000000000002.crc: domainMetadata is that of [d], and the log comes to other contents, of []
            "#]],
        ),
        (
            r#""configuration":{}"#,
            r#""configuration":{"k":"v"}"#,
            expect![[r#"
            checksum 2 00000000000000000002.crc: the metadata differs in configuration
        "#]],
        ),
        (
            r#""minReaderVersion":3"#,
            r#""minReaderVersion":2"#,
            expect![[r#"
                checksum 2 00000000000000000002.crc: the protocol is 2/7 [deletionVectors] [appendOnly, deletionVectors, domainMetadata, invariants], and should be 3/7 [deletionVectors] [appendOnly, deletionVectors, domainMetadata, invariants]
            "#]],
        ),
        (
            r#""path":"b""#,
            r#""path":"c""#,
            expect![[r#"
            checksum 2 00000000000000000002.crc: allFiles has 2 files, of which 1 are not live or of another size, and the log comes to 2
        "#]],
        ),
        (
            r#"{"tableSize"#,
            r#"["tableSize"#,
            expect![[r#"
            checksum 2 00000000000000000002.crc: it cannot be read: invalid type: sequence, expected a map at line 1 column 0; the file may be deleted
        "#]],
        ),
    ] {
        assert!(right.contains(from), "{from}");
        log(&right.replace(from, to)).check(&expected);
    }
}

/// Report 34.
#[test]
fn an_empty_checksum_is_noted() {
    Log::of(&["+a"]).put("00000000000000000001.crc", "").check(&expect![[r#"
        note empty-file - 00000000000000000001.crc: '_delta_log/00000000000000000001.crc' is empty and was ignored; it may be deleted
    "#]]);
}
