use expect_test::{Expect, expect};

use super::*;

const BASE: &str = concat!(
    r#"{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}"#,
    "\n",
    r#"{"metaData":{"id":"i","schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"long\",\"nullable\":true,"#,
    r#"\"metadata\":{}}]}","partitionColumns":[],"configuration":{"k":"v"}}}"#,
    "\n",
);

/// The commits of a log from version 0 on. A file action is written `+f` or `-f`, with a deletion vector `+f@1`; all else is a line of the log.
fn commits(texts: &[&str]) -> Vec<Commit> {
    let line = |word: &str| {
        let (path, vector) = match word[1..].split_once('@') {
            None => (&word[1..], String::new()),
            Some((path, offset)) => (
                path,
                format!(
                    r#","deletionVector":{{"storageType":"u","pathOrInlineDv":"x","offset":{offset},"sizeInBytes":1,"cardinality":1}}"#
                ),
            ),
        };
        match word.as_bytes()[0] {
            b'+' => format!(
                r#"{{"add":{{"path":"{path}","partitionValues":{{}},"size":1,"modificationTime":1,"dataChange":true{vector}}}}}"#
            ),
            b'-' => format!(r#"{{"remove":{{"path":"{path}","dataChange":true{vector}}}}}"#),
            _ => word.to_owned(),
        }
    };
    let commit = |(version, text): (usize, &&str)| {
        let lines = if text.starts_with(['+', '-']) {
            text.split(' ').map(line).collect::<Vec<_>>().join("\n")
        } else {
            (*text).to_owned()
        };
        Commit::parse(Version(version as u64), lines.as_bytes()).unwrap()
    };
    texts.iter().enumerate().map(commit).collect()
}

#[track_caller]
fn replay(texts: &[&str]) -> Snapshot {
    let commits = commits(texts);
    let whole = Snapshot::replay(None, &commits).unwrap();
    // However a log is cut, replaying one part on top of the other gives the same.
    for cut in 1..=commits.len() {
        let base = Snapshot::replay(None, &commits[..cut]).unwrap();
        assert_eq!(Snapshot::replay(Some(&base), &commits[cut..]).unwrap(), whole, "cut at {cut}");
    }
    whole
}

/// The live files after commits of file actions.
#[track_caller]
fn check_files(texts: &[&str], expected: &[&str]) {
    let snapshot = replay(&[&[BASE], texts].concat());
    let shown = |(path, vector): &FileKey| match vector {
        None => path.clone(),
        Some(vector) => format!("{path} {vector}"),
    };
    assert_eq!(snapshot.files.keys().map(shown).collect::<Vec<_>>(), expected, "{texts:?}");
    assert_eq!(snapshot.version, Version(texts.len() as u64));
}

#[test]
fn a_file_is_its_path_and_its_deletion_vector() {
    check_files(&["+a +b", "-a"], &["b"]);
    check_files(&["+b +a"], &["a", "b"]);
    check_files(&["+a", "-a", "+a"], &["a"]);
    check_files(&["+a", "+a"], &["a"]);
    check_files(&["+a@1", "-a"], &["a ux@1"]);
    check_files(&["+a@1", "-a@2"], &["a ux@1"]);
    check_files(&["+a@1", "-a@1"], &[]);
    check_files(&["-a", "+b"], &["b"]);
}

#[test]
fn one_commit_replaces_the_deletion_vector_of_a_file() {
    for replacement in ["-a +a@1", "+a@1 -a"] {
        check_files(&["+a", replacement], &["a ux@1"]);
        check_files(&["+a", replacement, "-a@1 +a@2"], &["a ux@2"]);
    }
    check_files(&["+a@1", "+a -a@1"], &["a"]);
}

#[test]
fn the_last_add_of_a_file_counts() {
    let add = r#"{"add":{"path":"a","partitionValues":{},"size":77,"modificationTime":1,"dataChange":false}}"#;
    let snapshot = replay(&[BASE, "+a", add]);
    assert_eq!(snapshot.adds().map(|add| add.size).collect::<Vec<_>>(), [77]);
}

#[test]
fn the_last_word_of_an_application_and_of_a_domain_counts() {
    let snapshot = replay(&[
        BASE,
        concat!(
            r#"{"txn":{"appId":"a","version":5}}"#,
            "\n",
            r#"{"txn":{"appId":"b","version":1}}"#,
            "\n",
            r#"{"domainMetadata":{"domain":"d","configuration":"1","removed":false}}"#,
            "\n",
            r#"{"domainMetadata":{"domain":"e","configuration":"1","removed":false}}"#,
        ),
        concat!(
            r#"{"txn":{"appId":"a","version":2}}"#,
            "\n",
            r#"{"domainMetadata":{"domain":"d","configuration":"","removed":true}}"#,
            "\n",
            r#"{"domainMetadata":{"domain":"e","configuration":"2","removed":false}}"#,
        ),
    ]);
    assert_eq!(
        [snapshot.transaction("a"), snapshot.transaction("b"), snapshot.transaction("c")],
        [Some(2), Some(1), None]
    );
    let domains: Vec<_> = snapshot.domains.values().map(|domain| (&*domain.domain, &*domain.configuration)).collect();
    assert_eq!(domains, [("e", "2")]);
}

#[test]
fn the_last_protocol_and_metadata_count_and_the_schema_follows() {
    let snapshot = replay(&[
        BASE,
        concat!(
            r#"{"metaData":{"id":"j","schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"P\",\"type\":\"date\",\"nullable\":true,"#,
            r#"\"metadata\":{}}]}","partitionColumns":["p"]}}"#,
        ),
        r#"{"protocol":{"minReaderVersion":1,"minWriterVersion":7,"writerFeatures":["appendOnly"]}}"#,
        "+f",
    ]);
    assert_eq!(snapshot.metadata.id, "j");
    assert_eq!(snapshot.property("k"), None);
    assert_eq!(snapshot.partition_columns(), ["p"]);
    assert_eq!(snapshot.schema.fields[0].name, "P");
    assert_eq!(snapshot.protocol.min_writer_version, 7);
    assert_eq!(replay(&[BASE]).property("k"), Some("v"));
}

#[test]
fn unknown_actions_and_commits_without_actions_only_count_as_versions() {
    let snapshot = replay(&[BASE, r#"{"futureAction":{"a":1}}"#, ""]);
    assert_eq!(Snapshot { version: Version(0), ..snapshot }, replay(&[BASE]));
}

#[track_caller]
fn check_error(texts: &[&str], expected: &Expect) {
    expected.assert_eq(&Snapshot::replay(None, &commits(texts)).unwrap_err().to_string());
}

#[test]
fn a_table_needs_a_protocol_and_a_readable_schema_with_its_partition_columns() {
    let (protocol, metadata) = BASE.split_once('\n').unwrap();
    check_error(
        &[""],
        &expect![
            "commit 0 has no protocol action, and no commit before it has one; every table needs one in its first commit"
        ],
    );
    check_error(
        &[metadata, protocol],
        &expect![
            "commit 0 has no protocol action, and no commit before it has one; every table needs one in its first commit"
        ],
    );
    check_error(
        &[protocol, metadata],
        &expect![
            "commit 0 has no metaData action, and no commit before it has one; every table needs one in its first commit"
        ],
    );
    check_error(
        &[BASE, r#"{"metaData":{"id":"i","schemaString":"{","partitionColumns":[]}}"#],
        &expect!["commit 1: the schema of its metaData action cannot be read"],
    );
    check_error(
        &[
            BASE,
            r#"{"metaData":{"id":"i","schemaString":"{\"type\":\"struct\",\"fields\":[]}","partitionColumns":["p"]}}"#,
        ],
        &expect!["commit 1: partition column 'p' is not a column of the schema"],
    );
}

#[test]
#[should_panic(expected = "commits are replayed in order")]
fn commits_out_of_order_are_our_own_bug() {
    let commits = commits(&[BASE, "+a", "+b"]);
    let _ = Snapshot::replay(None, &[commits[0].clone(), commits[2].clone()]);
}

/// Report 27: a remove names its file in its own spelling, and the file keeps the bytes of its path.
#[test]
fn a_remove_in_another_spelling_removes_the_file() {
    let add = |path: &str| {
        format!(
            r#"{{"add":{{"path":"{path}","partitionValues":{{}},"size":1,"modificationTime":1,"dataChange":true}}}}"#
        )
    };
    let remove = |path: &str| format!(r#"{{"remove":{{"path":"{path}","dataChange":true}}}}"#);
    let check = |added: &str, removed: &str, left: usize| {
        let snapshot = replay(&[&format!("{BASE}\n{}", add(added)), &remove(removed)]);
        assert_eq!(snapshot.files.len(), left, "{added}, {removed}");
        let snapshot = replay(&[&format!("{BASE}\n{}", add(added)), &add(removed)]);
        assert_eq!(snapshot.files.len(), 1 + left, "{added}, {removed}");
    };
    check("p=New%2520Town/f", "p=New%2520Town/f", 0);
    check("p=New%2520Town/f", "p=New%20Town/f", 1);
    check("p=a%20b/f", "p=a b/f", 0);
    check("/a/with%20space/p@%23h", "file:/a/with%20space/p@%23h", 0);
    check("p=%C3%A4/f", "p=ä/f", 0);
    check("p=100%25/f", "p=100%/f", 0);
    check("a+b", "a%20b", 1);
    let snapshot = replay(&[&format!("{BASE}\n{}", add("p=New%2520Town/f%31"))]);
    assert_eq!(snapshot.adds().next().unwrap().path, "p=New%2520Town/f%31");
}

#[test]
fn metadata_without_a_schema_is_a_table_without_columns() {
    let text = r#"{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}
{"metaData":{"id":"i","partitionColumns":[]}}"#;
    assert!(replay(&[text]).schema.fields.is_empty());
    let text = text.replace("[]", r#"["p"]"#);
    let error = Snapshot::replay(None, &commits(&[&text])).unwrap_err().to_string();
    assert!(error.contains("partition column 'p'"), "{error}");
}
