use super::{IsolationLevel as L, *};
use crate::{testing::actions, transaction::Operation};

/// The level of a commit on a Serializable table, and on a WriteSerializable one.
#[track_caller]
fn check(operation: &str, text: &str, expected: [L; 2]) {
    let operation = Operation { name: operation.to_owned(), ..Operation::default() };
    let found =
        [L::Serializable, L::WriteSerializable].map(|level| level.of_commit(&actions(text), operation.changes_data()));
    assert_eq!(found, expected, "{operation:?} {text}");
}

const KEPT: [L; 2] = [L::Serializable, L::WriteSerializable];
const DOWNGRADED: [L; 2] = [L::SnapshotIsolation; 2];

#[test]
fn a_commit_that_only_moves_rows_runs_at_snapshot_isolation() {
    check("OPTIMIZE", "-~a -~b +~c", DOWNGRADED);
    check("OPTIMIZE", "-~a +~c domain:delta.rowTracking", DOWNGRADED);
    check("OPTIMIZE", "-~a +~c cdc", DOWNGRADED);
    check("OPTIMIZE", "", DOWNGRADED);
}

#[test]
fn changed_data_keeps_the_level_of_the_table() {
    check("OPTIMIZE", "-~a +c", KEPT);
    check("OPTIMIZE", "-a +~c", KEPT);
}

#[test]
fn an_action_that_is_no_file_keeps_the_level_of_the_table() {
    for action in ["txn:a", "metadata", "protocol:1,2", "domain:d", "info:OPTIMIZE"] {
        check("OPTIMIZE", &format!("-~a +~c {action}"), KEPT);
        check("OPTIMIZE", action, KEPT);
    }
}

#[test]
fn at_write_serializable_the_operation_may_declare_that_it_changes_data() {
    for operation in [
        "WRITE",
        "STREAMING UPDATE",
        "DELETE",
        "TRUNCATE",
        "CONVERT",
        "MERGE",
        "UPDATE",
        "CREATE TABLE AS SELECT",
        "REPLACE TABLE AS SELECT",
        "RESTORE",
        "CLONE",
    ] {
        check(operation, "-~a +~c", [L::SnapshotIsolation, L::WriteSerializable]);
        check(operation, "", [L::SnapshotIsolation, L::WriteSerializable]);
    }
    for operation in ["OPTIMIZE", "REORG", "VACUUM START", "COMPUTE STATS", "SET TBLPROPERTIES", "neverHeardOfIt"] {
        check(operation, "-~a +~c", DOWNGRADED);
    }
}

#[test]
fn a_table_at_snapshot_isolation_stays_there() {
    assert_eq!(L::SnapshotIsolation.of_commit(&actions("-a +b metadata"), true), L::SnapshotIsolation);
}

fn of_table(text: &str) -> Result<L, UnknownLevel> {
    L::of_table(&BTreeMap::from([(LEVEL_PROPERTY.to_owned(), text.to_owned())]), L::Serializable)
}

#[test]
fn the_property_sets_the_level_in_any_case_of_letters() {
    for level in [L::SnapshotIsolation, L::WriteSerializable, L::Serializable] {
        let text = level.to_string();
        for text in [text.to_lowercase(), text.to_uppercase(), text] {
            assert_eq!(of_table(&text), Ok(level), "{text}");
        }
    }
    for default in [L::WriteSerializable, L::Serializable] {
        assert_eq!(L::of_table(&BTreeMap::new(), default), Ok(default));
    }
}

#[test]
fn a_text_that_is_no_level_is_an_error() {
    for text in ["", "serialisable", " Serializable", "SERIALIZABLE READ"] {
        assert_eq!(of_table(text), Err(UnknownLevel(text.to_owned())));
    }
    expect_test::expect![
        "'ReadCommitted' is not an isolation level; there are Serializable, WriteSerializable and SnapshotIsolation"
    ]
    .assert_eq(&of_table("ReadCommitted").unwrap_err().to_string());
}

#[test]
fn levels_are_ordered_by_strictness() {
    assert!(L::SnapshotIsolation < L::WriteSerializable && L::WriteSerializable < L::Serializable);
}
