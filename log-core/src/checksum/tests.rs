use expect_test::expect;

use super::*;
use crate::{commit::Commit, path::Version};

fn snapshot(properties: &str, lines: &str) -> Snapshot {
    let metadata = serde_json::json!({"metaData": {
        "id": "i", "format": {"provider": "parquet", "options": {}}, "partitionColumns": [],
        "schemaString": "{\"type\":\"struct\",\"fields\":[]}",
        "configuration": serde_json::from_str::<serde_json::Value>(properties).unwrap(),
    }});
    let text = format!("{{\"protocol\":{{\"minReaderVersion\":1,\"minWriterVersion\":2}}}}\n{metadata}\n{lines}");
    let commit = Commit::parse(Version(0), text.as_bytes()).unwrap();
    Snapshot::replay(None, &[commit]).unwrap()
}

fn info(text: &str) -> CommitInfo {
    serde_json::from_str(text).unwrap()
}

fn add(path: &str, size: i64) -> String {
    format!(
        "{{\"add\":{{\"path\":\"{path}\",\"partitionValues\":{{}},\"size\":{size},\"modificationTime\":1,\"dataChange\":true}}}}\n"
    )
}

#[test]
fn a_checksum_says_what_the_version_adds_up_to() {
    let lines = add("a", 3) + &add("b", 4) + "{\"txn\":{\"appId\":\"x\",\"version\":7}}\n";
    let bytes = checksum(&snapshot("{}", &lines), Some(&info(r#"{"txnId":"t"}"#))).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    expect![[r#"{"txnId":"t","tableSizeBytes":7,"numFiles":2,"numMetadata":1,"numProtocol":1,"setTransactions":[{"appId":"x","version":7}],"domainMetadata":[],"metadata":{"id":"i","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[]}","partitionColumns":[],"configuration":{}},"protocol":{"minReaderVersion":1,"minWriterVersion":2}}"#]]
    .assert_eq(&text);
}

#[test]
fn without_all_that_is_required_there_is_no_checksum() {
    let timed = snapshot(r#"{"delta.enableInCommitTimestamps":"true"}"#, "");
    assert_eq!(checksum(&timed, None), None);
    assert_eq!(checksum(&timed, Some(&info("{}"))), None);
    let known = checksum(&timed, Some(&info(r#"{"inCommitTimestamp":5}"#))).unwrap();
    assert!(String::from_utf8(known).unwrap().contains(r#""inCommitTimestampOpt":5"#));
    let huge = snapshot("{}", &(add("a", i64::MAX) + &add("b", 1)));
    assert_eq!(checksum(&huge, None), None);
    assert!(checksum(&snapshot("{}", ""), None).is_some());
}
