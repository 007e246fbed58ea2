use IsolationLevel::{Serializable, SnapshotIsolation, WriteSerializable};
use expect_test::{Expect, expect};

use super::*;
use crate::oracle::Problem;

fn refused(log: &mut Log, level: IsolationLevel, expected: &Expect) -> Problem {
    let judgement = log.judge(level);
    assert!(!judgement.explained, "{judgement:?}");
    assert_eq!(judgement.witness, None);
    let problem = judgement.problem.expect("a reason");
    expected.assert_eq(&problem.to_string());
    problem
}

fn explained(log: &mut Log, level: IsolationLevel, witness: &[usize]) {
    let judgement = log.judge(level);
    assert!(judgement.explained, "{}", judgement.problem.unwrap());
    assert_eq!(judgement.witness.as_deref(), Some(witness));
    assert!(log.replays(witness));
}

#[test]
fn an_empty_history_is_explained() {
    explained(&mut Log::new(rows(&[(1, 1)])), Serializable, &[]);
    explained(&mut Log::new(rows(&[(1, 1)])), WriteSerializable, &[]);
}

#[test]
fn a_serial_history_is_explained_by_the_log() {
    let mut log = Log::new(rows(&[(1, 1), (2, 2)]))
        .write(0, update(B, plus(B, 1), Some(equal(A, 1))))
        .write(1, delete(Some(equal(B, 2))))
        .write(2, insert_count(9, None));
    explained(&mut log, Serializable, &[0, 1, 2]);
    explained(&mut log, WriteSerializable, &[0, 1, 2]);
}

#[test]
fn write_skew_is_refused_at_both_levels_only() {
    let mut log =
        Log::new(Rows::new()).write(0, insert_count(1, Some(equal(A, 2)))).write(0, insert_count(2, Some(equal(A, 1))));
    let problem = refused(
        &mut log,
        Serializable,
        &expect![[
            r#"w2 does something else at its place in the log than what it did. It read an older version, on which it inserts 1 row, (2, 0). On the version before its own it inserts 1 row, (2, 1). It did not see w1, which changed rows that it reads."#
        ]],
    );
    assert!(matches!(problem, Problem::NotSerial { .. }));
    let problem = refused(
        &mut log,
        WriteSerializable,
        &expect![[r#"
            No serial order gives each write the effect that it had. Both orders of w1 and w2 were tried. These would all have to hold:
            - w1 before w2, because the former did not see (2, 0), a row that the latter inserted
            - w2 before w1, because the former did not see (1, 0), a row that the latter inserted"#]],
    );
    assert!(matches!(problem, Problem::Cycle { .. }));
    let judgement = log.judge(SnapshotIsolation);
    assert!(judgement.explained);
    assert_eq!(judgement.witness, None);
}

/// `conflict-semantics.md` 8.3 A.
#[test]
fn a_delete_that_missed_a_blind_insert_is_explained_in_another_order() {
    let mut log = Log::new(Rows::new()).write(0, insert(&[(4, 4)])).write(0, delete(None));
    explained(&mut log, WriteSerializable, &[1, 0]);
    refused(
        &mut log,
        Serializable,
        &expect![[
            r#"w2 does something else at its place in the log than what it did. It read an older version, on which it changes no row. On the version before its own it deletes 1 row, (4, 4). It did not see w1, which changed rows that it reads."#
        ]],
    );
}

#[test]
fn a_chain_of_missed_writes_is_a_cycle_of_three() {
    // w1 inserts what w2 counts, w2 what w3 counts, and w3 what w1 counts; nobody saw anybody.
    let mut log = Log::new(Rows::new())
        .write(0, insert_count(1, Some(equal(A, 3))))
        .write(0, insert_count(2, Some(equal(A, 1))))
        .write(0, insert_count(3, Some(equal(A, 2))));
    refused(
        &mut log,
        WriteSerializable,
        &expect![[r#"
            No serial order gives each write the effect that it had. All orders of w1, w2 and w3 were tried. These would all have to hold:
            - w1 before w3, because the former did not see (3, 0), a row that the latter inserted
            - w3 before w2, because the former did not see (2, 0), a row that the latter inserted
            - w2 before w1, because the former did not see (1, 0), a row that the latter inserted"#]],
    );
}

#[test]
fn a_cycle_names_what_was_seen_and_what_was_deleted() {
    // w2 saw w1's row and still the row that w3 deletes; w3 did not see w2's row, which it would have deleted.
    let mut log = Log::new(rows(&[(7, 7)]))
        .write(0, insert(&[(1, 1)]))
        .write(1, insert_count(7, None))
        .write(0, delete(Some(binary(BinaryOperator::GreaterOrEqual, column(A), int(1)))));
    refused(
        &mut log,
        WriteSerializable,
        &expect![[r#"
            No serial order gives each write the effect that it had. All orders of w1, w2 and w3 were tried. These would all have to hold:
            - w2 before w3, because the former still saw (7, 7), a row that the latter deleted
            - w3 before w2, because the former did not see (7, 2), a row that the latter inserted"#]],
    );
}

#[test]
fn a_lost_update_is_refused_at_every_level() {
    // Both read 1 and write 2; the second removed a file that was gone and added its own all the same.
    let mut log = Log::new(rows(&[(1, 1)])).write(0, update(B, plus(B, 1), None));
    log.write_as(0, update(B, plus(B, 1), None), rows(&[(1, 2), (1, 2)]));
    for level in [Serializable, WriteSerializable, SnapshotIsolation] {
        let problem = refused(
            &mut log,
            level,
            &expect![[
                r#"w2 did something else than what it does on the snapshot that it read. There it deletes 1 row, (1, 1), and inserts 1 row, (1, 2); version 2 should change the count of the row (1, 1) by -1, but changed it by 0. The row (1, 1), which it deletes, was not there any more before version 2: a write that it did not see had taken it away."#
            ]],
        );
        assert!(matches!(problem, Problem::WrongEffect { gone: Some(_), .. }));
    }
}

#[test]
fn a_row_that_was_taken_away_counts_even_when_the_contents_add_up() {
    // w2 "changes" a row to itself; w1 has deleted it, and w2 left it deleted.
    let mut log = Log::new(rows(&[(1, 1)])).write(0, delete(None));
    log.write_as(0, update(B, int(1), None), Rows::new());
    let judgement = log.judge(WriteSerializable);
    assert!(matches!(judgement.problem, Some(Problem::WrongEffect { gone: Some(_), .. })));
}

#[test]
fn a_wrong_effect_fires() {
    let mut log = Log::new(rows(&[(1, 1), (2, 2)]));
    log.write_as(0, delete(Some(equal(A, 1))), Rows::new());
    for level in [Serializable, WriteSerializable, SnapshotIsolation] {
        refused(
            &mut log,
            level,
            &expect![[
                r#"w1 did something else than what it does on the snapshot that it read. There it deletes 1 row, (1, 1); version 1 should change the count of the row (2, 2) by 0, but changed it by -1."#
            ]],
        );
    }
}

#[test]
fn a_statement_that_fails_on_its_snapshot_cannot_have_been_committed() {
    let mut log = Log::new(rows(&[(1, 0)]));
    log.write_as(0, delete(Some(division(1, B))), rows(&[(1, 0)]));
    refused(
        &mut log,
        SnapshotIsolation,
        &expect!["w1 was committed, but on the snapshot that it read it fails: division by zero."],
    );
}

#[test]
fn a_statement_that_fails_at_its_place_is_not_serial_but_may_come_first() {
    let mut log = Log::new(rows(&[(1, 1)])).write(0, insert(&[(0, 0)])).write(0, delete(Some(division(1, B))));
    refused(
        &mut log,
        Serializable,
        &expect![
            "w2 does something else at its place in the log than what it did. It read an older version, on which it deletes 1 row, (1, 1). On the version before its own it fails: division by zero. It did not see w1, which changed rows that it reads."
        ],
    );
    explained(&mut log, WriteSerializable, &[1, 0]);
}

#[test]
fn a_commit_without_a_statement_must_leave_the_rows_alone() {
    let mut log = Log::new(rows(&[(1, 1)])).write(0, insert(&[(2, 2)]));
    log.history.operations[0].statement = None;
    assert!(!log.judge(Serializable).explained);
    log.history.operations[0].after = log.history.base;
    assert!(log.judge(Serializable).explained);
}

/// Here w3 counted one row of a = 1, before w1 and w2. After both there is one as well, but another. w4 saw w1 and w2 and missed w3.
fn coincidence() -> Log {
    let any = |parts: [Expression; 3]| parts.into_iter().reduce(|a, b| binary(BinaryOperator::Or, a, b));
    Log::new(rows(&[(1, 1)]))
        .write(0, update(A, int(2), Some(equal(A, 1))))
        .write(0, insert(&[(1, 5)]))
        .write(0, insert_count(8, Some(equal(A, 1))))
        .write(2, insert_count(9, any([equal(A, 8), equal(A, 2), equal(B, 5)])))
}

#[test]
fn a_coincidence_is_explained_by_the_search() {
    let mut log = coincidence();
    assert!(log.oracle.has_cycle(&log.history));
    explained(&mut log, WriteSerializable, &[0, 1, 3, 2]);
    assert!(!log.judge(Serializable).explained);
}

#[test]
fn a_wrong_answer_fires_at_every_level() {
    let ones = || query(select(Some(equal(A, 1)), vec![column(A), column(B)]));
    let log = || Log::new(rows(&[(1, 1)])).write(0, insert(&[(1, 2)]));
    for level in [Serializable, WriteSerializable, SnapshotIsolation] {
        assert!(log().read(1, ones(), &[row(1, 2), row(1, 1)]).judge(level).explained, "in any order");
        refused(
            &mut log().read(0, ones(), &[row(1, 1), row(1, 2)]),
            level,
            &expect![
                "q1 read version 0 and answered 2 rows, where it should have answered 1 row; the row (1, 2) is wrong."
            ],
        );
    }
}

#[test]
fn a_read_that_no_state_of_the_witness_explains_is_counted() {
    let all = query(select(None, vec![column(A), column(B)]));
    let mut log = Log::new(rows(&[(1, 1)])).write(0, insert(&[(4, 4)])).write(0, delete(Some(equal(A, 4)))).read(
        1,
        all.clone(),
        &[row(1, 1), row(4, 4)],
    );
    let judgement = log.judge(WriteSerializable);
    assert_eq!((judgement.witness, judgement.reads_unexplained), (Some(vec![1, 0]), 0));
    let mut log = Log::new(rows(&[(1, 1)])).write(0, insert(&[(4, 4)])).write(0, delete(None)).read(
        1,
        all,
        &[row(1, 1), row(4, 4)],
    );
    let judgement = log.judge(WriteSerializable);
    assert!(judgement.explained);
    assert_eq!(judgement.reads_unexplained, 1, "the witness deletes before it inserts");
}

#[test]
fn a_read_by_version_is_a_constant() {
    let past = BoundSelect { from: BoundFrom::Version(0), ..select(None, vec![column(A), column(B)]) };
    let copy = Bound::Insert(BoundInsert::Query { query: query(past), columns: vec![column(A), column(B)] });
    let mut log = Log::new(rows(&[(1, 1)])).write(0, delete(None)).write(0, copy);
    explained(&mut log, Serializable, &[0, 1]);
    log.history.first_version = 5;
    let judgement = log.judge(Serializable);
    assert!(
        matches!(&judgement.problem, Some(Problem::WrongEffect { expected: Err(error), .. }) if **error == InterpretError::NoVersion(0)),
        "{judgement:?}"
    );
    let version_0 = log.oracle.intern(rows(&[(1, 1)]));
    let other = log.oracle.intern(rows(&[(3, 3)]));
    log.history.before = vec![version_0, other, other, other, log.history.base];
    assert!(log.judge(Serializable).explained);
}

#[test]
fn a_read_by_version_depends_on_nobody() {
    let past = BoundSelect { from: BoundFrom::Version(0), ..select(None, vec![column(A), column(B)]) };
    let copy = Bound::Insert(BoundInsert::Query { query: query(past), columns: vec![column(A), column(B)] });
    // w1 missed what w2 copied; w2 missed w1, and could not care less.
    let mut log = Log::new(rows(&[(1, 1)])).write(0, insert_count(1, Some(equal(A, 1)))).write(0, copy);
    assert!(!log.oracle.has_cycle(&log.history));
    explained(&mut log, Serializable, &[0, 1]);
}

#[test]
#[should_panic(expected = "saw itself or a later operation")]
fn an_operation_cannot_see_itself() {
    let mut log = Log::new(Rows::new()).write(0, insert(&[(1, 1)]));
    log.history.operations[0].seen = 1;
    log.judge(Serializable);
}

/// Blind inserts into many places, and write skew between two writers: more operations than are searched at once.
#[test]
fn independent_writes_do_not_hide_a_cycle() {
    let mut log = Log::new(Rows::new());
    for a in 10..30 {
        log = log.write(0, insert(&[(a, 0)]));
    }
    let log = log.write(0, insert_count(1, Some(equal(A, 2))));
    let mut log = log.write(0, insert_count(2, Some(equal(A, 1))));
    let problem = log.judge(WriteSerializable).problem.unwrap();
    assert!(matches!(problem, Problem::Cycle { ref operations, .. } if operations.len() == 2), "{problem}");
}

#[test]
fn a_large_tangle_is_undecided() {
    let mut log = Log::new(Rows::new());
    for a in 0..13 {
        log = log.write(0, insert_count(a, None));
    }
    refused(
        &mut log,
        WriteSerializable,
        &expect![[r#"
            Unexplained, coincidence not excluded: 13 writes depend on each other, too many to try all orders. These would all have to hold:
            - w1 before w2, because the former did not see (1, 0), a row that the latter inserted
            - w2 before w1, because the former did not see (0, 0), a row that the latter inserted"#]],
    );
}

/// A component that is small enough is searched even when what hangs together is not.
#[test]
fn a_coincidence_within_a_large_group_is_found() {
    let mut log = coincidence();
    for a in 20..30 {
        log = log.write(4, insert_count(a, Some(equal(A, 8))));
    }
    let witness = [0, 1, 3, 2].into_iter().chain(4..14).collect::<Vec<_>>();
    explained(&mut log, WriteSerializable, &witness);
}
