//! Input that cannot be run: one clear error, exit 2, nothing written.

use expect_test::{Expect, expect};

use super::support::refuses;

/// A scenario whose writer executes a statement.
fn scenario(statement: &str) -> String {
    format!(
        "name = \"test\"\nsetup = [\"CREATE TABLE t (id INT, name STRING)\"]\n\n[[writer]]\nname = \"a\"\n\
         statements = [\"{statement}\"]\n"
    )
}

fn check(text: &str, expected: Expect) {
    refuses(&[("s.toml", text)], &["run", "s.toml"], expected);
}

#[test]
fn a_file_that_is_no_scenario() {
    refuses(
        &[],
        &["run", "none.toml"],
        expect![[r#"
            error: none.toml: no such file; the scenarios that ship are named with @
        "#]],
    );
    refuses(
        &[],
        &["run", "write-conflict"],
        expect![[r#"
            error: write-conflict: no such file; did you mean '@write-conflict', the scenario that ships?
        "#]],
    );
    refuses(
        &[],
        &["run", "."],
        expect![[r#"
            error: .: this is a directory, not a scenario file
        "#]],
    );
    refuses(
        &[],
        &["explore", "@write-conflicts"],
        expect![[r#"
        error: @write-conflicts: no scenario of this name ships (known: @write-conflict, @insert-only, @single-writer, @delete-all-against-insert, @disjoint-partitions, @reordered), did you mean '@write-conflict'?
    "#]],
    );
    refuses(
        &[],
        &["scenarios", "write-conflicts"],
        expect![[r#"
        error: @write-conflicts: no scenario of this name ships (known: @write-conflict, @insert-only, @single-writer, @delete-all-against-insert, @disjoint-partitions, @reordered), did you mean '@write-conflict'?
    "#]],
    );
    check(
        "name = ",
        expect![[r#"
        error: s.toml, line 1: not TOML: string values must be quoted, expected literal string
    "#]],
    );
    check(
        "",
        expect![[r#"
        error: s.toml: 'writer' is missing: at least one [[writer]]
    "#]],
    );
}

#[test]
fn a_key_that_does_not_exist() {
    check(
        &scenario("DELETE FROM t").replace("statements", "statments"),
        expect![[r#"
        error: s.toml, line 6: unknown key 'writer.a.statments', did you mean 'writer.a.statements'?
    "#]],
    );
    check(
        &scenario("DELETE FROM t").replace("setup", "colour"),
        expect![[r#"
        error: s.toml, line 2: unknown key 'colour' (known: name, isolation, setup, writer, schedule, store, expect)
    "#]],
    );
}

#[test]
fn sql_that_cannot_be_parsed() {
    check(
        &scenario("UPDATE t SET id == 1"),
        expect![[r#"
        error: s.toml, line 6: writer 'a', statement 1 cannot be parsed
          because: expected `=`, found `==` at line 1, column 17
            UPDATE t SET id == 1
                            ^
    "#]],
    );
    check(
        &scenario("UPDAT t SET id = 1"),
        expect![[r#"
        error: s.toml, line 6: writer 'a', statement 1 cannot be parsed
          because: expected a statement, found `UPDAT` at line 1, column 1
            UPDAT t SET id = 1
            ^
    "#]],
    );
}

#[test]
fn a_statement_that_does_not_fit_its_table() {
    check(
        &scenario("UPDATE t SET idd = 1"),
        expect![[r#"
        error: s.toml: writer 'a', statement 1 (`UPDATE t SET idd = 1`)
          because: unknown column `idd`; did you mean `id`? (columns: id, name) at line 1, column 20
            UPDATE t SET idd = 1
                               ^
    "#]],
    );
    check(
        &scenario("UPDATE t SET id = 'one'"),
        expect![[r#"
        error: s.toml: writer 'a', statement 1 (`UPDATE t SET id = 'one'`)
          because: the column `id` is integer, but the value is string; use CAST at line 1, column 19
            UPDATE t SET id = 'one'
                              ^
    "#]],
    );
    check(
        &scenario("INSERT INTO t VALUES (1)"),
        expect![[r#"
        error: s.toml: writer 'a', statement 1 (`INSERT INTO t VALUES (1)`)
          because: the table `t` has 2 columns, but the row has 1 value at line 1, column 23
            INSERT INTO t VALUES (1)
                                  ^
    "#]],
    );
    check(
        &scenario("DELETE FROM u"),
        expect![[r#"
        error: s.toml: writer 'a', statement 1: table 'u' does not exist; the scenario creates t
    "#]],
    );
}

#[test]
fn a_setup_that_does_not_succeed() {
    check(
        &scenario("DELETE FROM t")
            .replace("name STRING)\"]", "name STRING)\", \"INSERT INTO t VALUES (1 DIV 0, '')\"]"),
        expect![[r#"
            error: s.toml: setup, statement 2 (`INSERT INTO t VALUES (1 DIV 0, '')`): failed: division by zero
        "#]],
    );
}

#[test]
fn flags_that_do_not_fit() {
    let run = |more: &[&str], expected| refuses(&[], &[&["run", "@reordered"], more].concat(), expected);
    run(
        &["--isolation", "serialisable"],
        expect![[r#"
            error: @reordered, --isolation: 'isolation': 'serialisable' is not an isolation level; there are Serializable, WriteSerializable and SnapshotIsolation
        "#]],
    );
    run(
        &["--latency", "s4"],
        expect![[r#"
            error: @reordered, --latency: 'store.latency' has the unknown profile 's4' (known: adls, azure-premium, s3, s3-express, gcs, local), did you mean 's3'?
        "#]],
    );
    run(
        &["--rules", "delta-sparc"],
        expect![[r#"
        error: no rule set is called 'delta-sparc'; there are delta-spark, statistics, delta-spark-4.0.0; did you mean 'delta-spark'?
    "#]],
    );
    run(
        &["--without", "added-file"],
        expect![[r#"
            error: rule set 'delta-spark' has no rule 'added-file'; it has never-rebased, protocol, feature-drop, metadata, domain-metadata, application-transaction, backfill, added-files, removed-and-read, removed-twice, own-commit, put-if-absent; did you mean 'added-files'?
        "#]],
    );
    run(
        &["--set", "store.latency"],
        expect![[r#"
        error: --set store.latency: a setting is PATH=VALUE, such as store.latency=s3
    "#]],
    );
    run(
        &["--set", "writer.c.on_conflict=stop"],
        expect![[r#"
        error: @reordered, --set writer.c.on_conflict: 'writer' has the unknown writer 'c' (known: a, b), did you mean 'a'?
    "#]],
    );
    run(
        &["--set", "schedule=['a.put']"],
        expect![[r#"
            error: @reordered: schedule, step 1 'a.put': its call has no commit ready yet; possible are a.read, a.crash, b.read, b.crash
        "#]],
    );
    run(
        &["--seed", "-1"],
        expect![[r#"
            error: invalid value '-1' for '--seed <N>': invalid digit found in string

            For more information, try '--help'.
        "#]],
    );
}

#[test]
fn what_would_go_wrong_later_is_refused_at_once() {
    check(
        &scenario("INSERT INTO t VALUES (2147483648, 'x')"),
        expect![[r#"
        error: s.toml: writer 'a', statement 1 (`INSERT INTO t VALUES (2147483648, 'x')`): row 1, column 'id': '2147483648' cannot be cast to integer
    "#]],
    );
    check(
        "setup = [\"CREATE TABLE t (id INT)\"]\n[[writer]]\nname = \"setup\"\nstatements = [\"DELETE FROM t\"]\n",
        expect![[r#"
            error: s.toml, line 3: 'writer.setup.name' must be a name of its own: 'setup' is what the setup goes by, not the string 'setup'
        "#]],
    );
    check(
        "setup = [\"CREATE TABLE t (id INT) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')\"]\n[[writer]]\nname = \"a\"\n\
         statements = [\"DELETE FROM t\"]\n",
        expect![[r#"
            error: s.toml: setup, statement 1: table property 'delta.enableDeletionVectors' is not supported by this build of contend; it knows delta.isolationLevel, delta.appendOnly, delta.checkpointInterval, delta.dataSkippingNumIndexedCols, delta.deletedFileRetentionDuration, delta.logRetentionDuration, delta.randomizeFilePrefixes, delta.targetFileSize, delta.tuneFileSizesForRewrites
        "#]],
    );
    check(
        "setup = [\"CREATE TABLE t (id INT) TBLPROPERTIES ('Delta.IsolationLevel' = 'foo')\"]\n[[writer]]\nname = \"a\"\n\
         statements = [\"DELETE FROM t\"]\n",
        expect![[r#"
            error: s.toml: setup, statement 1: property delta.isolationLevel: 'foo' is not an isolation level; there are Serializable, WriteSerializable and SnapshotIsolation
        "#]],
    );
    check(
        "setup = [\"CREATE TABLE t (id INT, p INT) PARTITIONED BY (p)\"]\n[[writer]]\nname = \"a\"\n\
         statements = [\"CREATE TABLE IF NOT EXISTS t (id INT, p INT)\"]\n",
        expect![[r#"
            error: s.toml: writer 'a', statement 1: table 't' is created with other partition columns elsewhere in the scenario
        "#]],
    );
}
