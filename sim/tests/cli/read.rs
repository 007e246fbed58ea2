//! Rows of real tables: which, and in which form.

use std::{fs, path::PathBuf, sync::Arc};

use expect_test::{Expect, expect};
use log_core::{
    data_file,
    layout::{ColumnMapping, Layout},
    value::Value,
};
use sim::{
    digest::RowTexts,
    inspect::{Query, TableFolder},
};
use tempfile::TempDir;

use super::support::{contend, contend_in, files};

/// A table of another client.
fn table(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/tables").join(name)
}

fn check(name: &str, arguments: &[&str], expected: Expect) {
    let path = table(name);
    let ran = contend(&[&["read", path.to_str().unwrap()], arguments].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    expected.assert_eq(&ran.stdout.replace("\r\n", "\n"));
}

fn check_refused(arguments: &[&str], expected: Expect) {
    let path = table("dat-nested_types");
    let path = path.to_str().unwrap();
    let ran = contend(&[&["read", path], arguments].concat());
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    expected.assert_eq(&ran.stderr.replace(path, "TABLE"));
}

#[test]
fn nested_values_are_shown_and_are_json_in_csv() {
    check(
        "dat-nested_types",
        &["--limit", "2"],
        expect![[r#"
            pk  struct        array   map
             0  {0.0, true}   [0]     {}
             1  {1.0, false}  [0, 1]  {0 -> 0}
            (2 rows, version 0)
        "#]],
    );
    check(
        "dat-nested_types",
        &["--limit", "2", "--format", "csv"],
        expect![[r#"
            pk,struct,array,map
            0,"{""bool"":true,""float64"":0.0}",[0],[]
            1,"{""bool"":false,""float64"":1.0}","[0,1]","[{""key"":""0"",""value"":0}]"
        "#]],
    );
}

#[test]
fn columns_come_in_the_order_in_which_they_are_asked_for() {
    check(
        "d-data-reader-partition-values",
        &["--columns", "value, AS_INT", "--where", "as_int = 1 and as_string_lit_null = 'null'"],
        expect![[r#"
            value  as_int
            1           1
            (1 row, version 0)
        "#]],
    );
    check(
        "d-data-reader-partition-values",
        &["--columns", "value", "--where", "as_timestamp IS NULL", "--format", "csv"],
        expect![[r#"
            value
            2
        "#]],
    );
}

#[test]
fn what_cannot_be_answered_is_refused_before_a_row_is_shown() {
    check_refused(
        &["--columns", "pk,nope"],
        expect![[r#"
            error: table at 'TABLE'
              because: the table has no column 'nope'; it has 'pk', 'struct', 'array', 'map'
        "#]],
    );
    check_refused(
        &["--columns", "pk,PK"],
        expect![[r#"
            error: table at 'TABLE'
              because: column 'PK' is asked for twice
        "#]],
    );
    check_refused(
        &["--where", "pk >"],
        expect![[r#"
            error: table at 'TABLE'
              because: the predicate
              because: expected an expression, found the end at line 1, column 5
                pk >
                    ^
        "#]],
    );
    check_refused(
        &["--format", "parquet"],
        expect![[r#"
            error: --format parquet: Parquet is no text; say where with --output FILE
        "#]],
    );
    check_refused(
        &["--output", "x"],
        expect![[r#"
            error: --output: only CSV and Parquet are written to a file; add --format csv or --format parquet
        "#]],
    );
}

#[test]
fn a_parquet_file_holds_the_rows_and_never_replaces_another() {
    let path = table("d-data-reader-array-complex-objects");
    let folder = TempDir::new().unwrap();
    let arguments = ["read", path.to_str().unwrap(), "--format", "parquet", "--output", "out.parquet"];
    let ran = contend_in(folder.path(), &arguments);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "10 rows written to 'out.parquet'\n"), "{}", ran.stderr);
    let bytes = fs::read(folder.path().join("out.parquet")).unwrap();

    let table = TableFolder::open(&path).unwrap();
    let table = table.at(None).unwrap();
    let layout = Layout::new(Arc::new(table.schema().clone()), &[], ColumnMapping::None).unwrap();
    let back = data_file::decode(bytes.clone().into(), &layout, &Default::default(), None).unwrap();
    let mut texts = RowTexts::default();
    texts.push_batch(&back, table.schema());
    assert_eq!(texts.sha256(), table.digest().unwrap().rows_sha256);

    let again = contend_in(folder.path(), &arguments);
    assert_eq!((again.code, again.stdout.as_str()), (2, ""));
    assert!(again.stderr.contains("give another name"), "{}", again.stderr);
    assert_eq!(fs::read(folder.path().join("out.parquet")).unwrap(), bytes);
    assert_eq!(files(folder.path()), ["out.parquet"], "no temporary file is left");
}

#[test]
fn files_outside_of_the_table_are_read_only_when_that_is_allowed() {
    let original = table("db-basic_append");
    let folder = TempDir::new().unwrap();
    let log = folder.path().join("t/_delta_log");
    fs::create_dir_all(&log).unwrap();
    for version in 0..2 {
        let name = format!("{version:020}.json");
        let commit = fs::read_to_string(original.join("_delta_log").join(&name)).unwrap();
        let outside = format!("\"add\":{{\"path\":\"file://{}/", original.display());
        fs::write(log.join(name), commit.replace("\"add\":{\"path\":\"", &outside)).unwrap();
    }
    let refused = contend_in(folder.path(), &["digest", "t"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (2, ""));
    assert!(refused.stderr.contains("--allow-absolute-paths"), "{}", refused.stderr);
    let allowed = contend_in(folder.path(), &["digest", "t", "--allow-absolute-paths"]);
    assert_eq!(allowed.json(), contend(&["digest", original.to_str().unwrap()]).json());
}

/// Partition values and statistics leave out files; the rows must be those that a walk over all of them finds.
#[test]
fn a_predicate_finds_what_a_walk_over_all_rows_finds() {
    let mut found_some = 0;
    for (name, column) in [("d-basic-with-inserts-merge", "id"), ("rs-simple_table", "id"), ("rs-cdf-table", "id")] {
        let table = TableFolder::open(&table(name)).unwrap();
        let table = table.at(None).unwrap();
        let all = table.rows(usize::MAX).unwrap();
        let place = table.schema().index_of(column).unwrap();
        for bound in [-1_i64, 0, 3, 5, 7, 50, 1_000] {
            for (operator, holds) in
                [("<", (|a, b| a < b) as fn(i64, i64) -> bool), (">=", |a, b| a >= b), ("=", |a, b| a == b)]
            {
                let query = Query { predicate: Some(format!("{column} {operator} {bound}")), ..Query::default() };
                let found = table.query(&query).unwrap().rows(|_, _| ()).unwrap();
                let number = |row: &&Vec<Value>| match row[place] {
                    Value::Long(x) => holds(x, bound),
                    Value::Integer(x) => holds(x.into(), bound),
                    _ => panic!("{:?}", row[place]),
                };
                let wanted: Vec<Vec<Value>> = all.iter().filter(number).cloned().collect();
                assert_eq!(found, wanted, "{name}: {query:?}");
                found_some += usize::from(!found.is_empty() && found.len() < all.len());
            }
        }
    }
    assert!(found_some > 10, "{found_some}");
}
