use std::error::Error;

use expect_test::{Expect, expect};

use super::*;

const TXN: &str = r#"{"txn":{"appId":"a","version":1}}"#;
const INFO: &str = r#"{"commitInfo":{"operation":"WRITE"}}"#;

#[track_caller]
fn check_names(bytes: &[u8], expected: &[&str]) {
    let commit = Commit::parse(Version(3), bytes).unwrap();
    assert_eq!(commit.version, Version(3));
    assert_eq!(commit.actions.iter().map(Action::name).collect::<Vec<_>>(), expected);
}

/// Report 35.
#[test]
fn lines_end_with_a_line_feed_and_may_be_blank() {
    check_names(format!("{INFO}\n{TXN}\n").as_bytes(), &["commitInfo", "txn"]);
    check_names(format!("{INFO}\n{TXN}").as_bytes(), &["commitInfo", "txn"]);
    check_names(format!("{INFO}\r\n{TXN}\r\n").as_bytes(), &["commitInfo", "txn"]);
    check_names(format!("\n\r\n  \t \n{INFO}\n\n \n {TXN} \n\n").as_bytes(), &["commitInfo", "txn"]);
    check_names(format!("\u{feff}{INFO}\n{TXN}").as_bytes(), &["commitInfo", "txn"]);
    check_names(format!("{INFO}\n{{}}\n{TXN}\n").as_bytes(), &["commitInfo", "txn"]);
    check_names(b"{\"checkpointMetadata\":{\"version\":1}}\n", &["checkpointMetadata"]);
}

#[test]
fn a_file_without_lines_is_a_commit_without_actions() {
    check_names(b"", &[]);
    check_names(b"\n", &[]);
    check_names("\u{feff}".as_bytes(), &[]);
}

#[test]
fn only_a_line_feed_splits() {
    let line = "{\"commitInfo\":{\"predicate\":\"a b\u{2028}c\u{2029}d\u{85}e\\nf\"}}";
    let commit = Commit::parse(Version(0), line.as_bytes()).unwrap();
    assert_eq!(commit.info().unwrap().0["predicate"], "a b\u{2028}c\u{2029}d\u{85}e\nf");
}

#[track_caller]
fn check_error(bytes: &[u8], expected: &Expect) {
    let error = Commit::parse(Version(5), bytes).unwrap_err();
    let source = error.source().map(ToString::to_string).unwrap_or_default();
    expected.assert_eq(&format!("{error}\n{source}"));
}

/// Report 34.
#[test]
fn a_torn_line_is_an_error_with_version_and_line() {
    check_error(
        format!("{INFO}\n\n{TXN}\n{{\"add\":{{\"path\":\"f").as_bytes(),
        &expect![[r#"
        commit 5, line 4: the line is not a whole action; the file is damaged, restore it from a copy of the table
        EOF while parsing a string at line 1 column 17"#]],
    );
    check_error(
        format!("{INFO}\n{TXN}\n\0\0\0\0").as_bytes(),
        &expect![[r#"
        commit 5, line 3: the line is not a whole action; the file is damaged, restore it from a copy of the table
        expected value at line 1 column 1"#]],
    );
    check_error(
        b"{}\n{\"commitInfo\":{\"a\":\"\xc3",
        &expect![[r#"
        commit 5, line 2: not UTF-8 text; the file is damaged, restore it from a copy of the table
    "#]],
    );
}

#[test]
fn every_cut_of_a_last_line_is_an_error() {
    let whole = format!("{INFO}\n{TXN}");
    for end in INFO.len() + 2..whole.len() {
        let error = Commit::parse(Version(5), &whole.as_bytes()[..end]).unwrap_err();
        assert!(matches!(error, CommitError::Line { version: Version(5), line: 2, .. }), "{error}");
    }
}

#[test]
fn one_action_over_several_lines_is_an_error() {
    check_error(
        b"{\n  \"txn\": {\n    \"appId\": \"a\",\n    \"version\": 1\n  }\n}\n",
        &expect![[r#"
        commit 5, line 1: the line is not a whole action; the file is damaged, restore it from a copy of the table
        EOF while parsing an object at line 1 column 1"#]],
    );
}

#[test]
fn two_actions_in_a_line_are_an_error() {
    check_error(
        br#"{"txn":{"appId":"a","version":1},"commitInfo":{}}"#,
        &expect![[r#"
        commit 5, line 1: the line is not a whole action; the file is damaged, restore it from a copy of the table
        a line holds one action, this one holds 'txn' and 'commitInfo' at line 1 column 49"#]],
    );
    check_error(
        format!("{INFO}\r{TXN}").as_bytes(),
        &expect![[r#"
        commit 5, line 1: the line is not a whole action; the file is damaged, restore it from a copy of the table
        trailing characters at line 1 column 38"#]],
    );
}

#[test]
fn a_commit_is_written_as_lines_that_read_back() {
    let bytes = format!("{INFO}\n{TXN}\n{{\"later\":[1]}}\n").into_bytes();
    let commit = Commit::parse(Version(0), &bytes).unwrap();
    assert_eq!(Commit::serialise(&commit.actions), bytes);
    assert_eq!(Commit::serialise([]), b"");
}

#[test]
fn the_first_commit_info_counts_wherever_it_stands() {
    let bytes = format!("{TXN}\n{INFO}\n{{\"commitInfo\":{{}}}}\n");
    let commit = Commit::parse(Version(0), bytes.as_bytes()).unwrap();
    assert_eq!(commit.info().unwrap().operation(), Some("WRITE"));
    assert_eq!(Commit::parse(Version(0), TXN.as_bytes()).unwrap().info(), None);
}
