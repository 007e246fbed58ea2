use expect_test::{Expect, expect};

use super::*;
use crate::sql::statement::{InsertSource, QueryBody, SetOperator};

#[test]
fn an_error_says_where() {
    let texts = [
        "",
        "  -- nothing\n",
        "FOO t",
        "1",
        "SELECT",
        "SELECT\n  FROM t",
        "SELECT 1 +",
        "SELECT 'a",
        "SELECT 1 1",
        "SELECT a b c FROM t",
        "SELECT 1; SELECT 2",
        "SELECT (1",
        "SELECT * FROM t WHERE",
        "SELECT * FROM",
        "SELECT * FROM t@x",
        "SELECT * FROM t VERSION AS OF -1",
        "SELECT * FROM t@v1 VERSION AS OF 1",
        "SELECT * FROM t x VERSION AS OF 1",
        "SELECT x.* FROM t",
        "SELECT * FROM t LIMIT x",
        "INSERT INTO t",
        "INSERT t VALUES (1)",
        "INSERT INTO t@v1 VALUES (1)",
        "INSERT INTO t VALUES (1,)",
        "UPDATE t",
        "UPDATE t SET x.a = 1",
        "DELETE t",
        "CREATE TABLE t",
        "CREATE TABLE t (a INT, A INT)",
        "CREATE TABLE t (a)",
        "CREATE TABLE t (a INT) PARTITIONED BY (b)",
        "CREATE TABLE t (a INT) PARTITIONED BY (a)",
        "CREATE TABLE t (a INT) USING DELTA USING DELTA",
        "CREATE TABLE t (a INT) TBLPROPERTIES ('a' = 'b', a = 'c')",
        "CREATE x",
    ];
    let mut errors = String::new();
    for text in texts {
        let error = parse_statement(text).expect_err(text);
        errors.push_str(&format!("{text:?}: {error}\n"));
    }
    expect![[r#"
        "": expected a statement, found nothing at line 1, column 1
        "  -- nothing\n": expected a statement, found nothing at line 1, column 1
        "FOO t": expected a statement, found `FOO` at line 1, column 1
        "1": expected a statement, found `1` at line 1, column 1
        "SELECT": expected an expression, found the end at line 1, column 7
        "SELECT\n  FROM t": expected an expression, found FROM at line 2, column 3
        "SELECT 1 +": expected an expression, found the end at line 1, column 11
        "SELECT 'a": unterminated string literal at line 1, column 8
        "SELECT 1 1": expected the end of the statement, found `1` at line 1, column 10
        "SELECT a b c FROM t": expected the end of the statement, found `c` at line 1, column 12
        "SELECT 1; SELECT 2": expected one statement, found another after `;` at line 1, column 11
        "SELECT (1": expected ), found the end at line 1, column 10
        "SELECT * FROM t WHERE": expected an expression, found the end at line 1, column 22
        "SELECT * FROM": expected the name of a table, found the end at line 1, column 14
        "SELECT * FROM t@x": `t@x` names no version: write `table@v1` at line 1, column 15
        "SELECT * FROM t VERSION AS OF -1": expected the number of a version, found `-` at line 1, column 31
        "SELECT * FROM t@v1 VERSION AS OF 1": the table has two versions: keep one of `@v` and VERSION AS OF at line 1, column 15
        "SELECT * FROM t x VERSION AS OF 1": VERSION AS OF stands before the alias at line 1, column 19
        "SELECT x.* FROM t": there is no table `x` in the query, only `t` at line 1, column 8
        "SELECT * FROM t LIMIT x": expected the number of rows, found `x` at line 1, column 23
        "INSERT INTO t": expected VALUES or SELECT, found the end at line 1, column 14
        "INSERT t VALUES (1)": expected INTO, found `t` at line 1, column 8
        "INSERT INTO t@v1 VALUES (1)": `t@v1`: only a query can read another version of a table at line 1, column 13
        "INSERT INTO t VALUES (1,)": expected an expression, found `)` at line 1, column 25
        "UPDATE t": expected SET, found the end at line 1, column 9
        "UPDATE t SET x.a = 1": there is no table `x` in the statement, only `t` at line 1, column 14
        "DELETE t": expected FROM, found `t` at line 1, column 8
        "CREATE TABLE t": expected the columns of the table, as in `(id INT)`, found the end at line 1, column 15
        "CREATE TABLE t (a INT, A INT)": the column `A` is defined twice at line 1, column 24
        "CREATE TABLE t (a)": expected the type of the column, found `)` at line 1, column 18
        "CREATE TABLE t (a INT) PARTITIONED BY (b)": PARTITIONED BY names `b`, which is none of the columns (a) at line 1, column 40
        "CREATE TABLE t (a INT) PARTITIONED BY (a)": PARTITIONED BY names every column: at least one must be left at line 1, column 40
        "CREATE TABLE t (a INT) USING DELTA USING DELTA": USING stands twice at line 1, column 36
        "CREATE TABLE t (a INT) TBLPROPERTIES ('a' = 'b', a = 'c')": the property 'a' is set twice at line 1, column 50
        "CREATE x": expected TABLE, found `x` at line 1, column 8
    "#]].assert_eq(&errors);
}

#[test]
fn numbers_and_strings() {
    let item = |text: &str| {
        let Statement::Select(query) = parse_statement(text).unwrap() else { panic!("{text}") };
        let QueryBody::Select(select) = query.body else { panic!("{text}") };
        format!("{:?}", select.items[0])
    };
    for (text, part) in [
        ("SELECT 1L", "Number(\"1\", true)"),
        ("SELECT 1l", "Number(\"1\", true)"),
        ("SELECT 1.5e3", "Number(\"1.5e3\", false)"),
        (r"SELECT 'it\'s'", r#"SingleQuotedString("it's")"#),
        (r"SELECT 'a\%b\n'", r#"SingleQuotedString("a\\%b\n")"#),
        ("SELECT \"a b\"", r#"DoubleQuotedString("a b")"#),
        ("SELECT 'a' 'b'", r#"SingleQuotedString("ab")"#),
        ("SELECT a DIV 2", "MyIntegerDivide"),
        ("SELECT a == 2", "op: Eq"),
        ("SELECT a <=> 2", "Spaceship"),
        ("SELECT date", "Identifier(Ident { value: \"date\""),
        ("SELECT `select`", "Identifier(Ident { value: \"select\""),
        ("SELECT interval", "Identifier(Ident { value: \"interval\""),
    ] {
        assert!(item(text).contains(part), "{text}: {}", item(text));
    }
}

#[test]
fn intersect_is_stronger_than_union() {
    let Statement::Select(query) =
        parse_statement("SELECT 1 UNION SELECT 2 INTERSECT SELECT 3 EXCEPT ALL SELECT 4").unwrap()
    else {
        panic!()
    };
    let QueryBody::SetOperation { operator: SetOperator::Except, all: true, left, .. } = query.body else { panic!() };
    let QueryBody::SetOperation { operator: SetOperator::Union, all: false, right, .. } = *left else { panic!() };
    assert!(matches!(*right, QueryBody::SetOperation { operator: SetOperator::Intersect, .. }));
}

#[test]
fn equality_ignores_where_a_statement_stood() {
    let parse = |text| parse_statement(text).unwrap();
    assert_eq!(parse("UPDATE t SET a = 1 WHERE b"), parse("update t\nset a =1 -- x\nwhere b;"));
}

#[test]
fn default_stands_for_a_value() {
    let Statement::Insert(insert) = parse_statement("INSERT INTO t (a, b) VALUES (DEFAULT, 1), (2, default)").unwrap()
    else {
        panic!()
    };
    let InsertSource::Values(rows) = insert.source else { panic!() };
    let given: Vec<Vec<bool>> = rows.iter().map(|row| row.iter().map(Option::is_some).collect()).collect();
    assert_eq!(given, [[false, true], [true, false]]);
    assert_eq!(insert.columns, ["a", "b"]);
}

fn check_create(text: &str, expected: Expect) {
    expected.assert_debug_eq(&parse_statement(text).unwrap());
}

#[test]
fn create_table_keeps_all_that_it_says() {
    check_create(
        "CREATE TABLE IF NOT EXISTS t (a INT NOT NULL COMMENT 'x', `b c` DECIMAL(5,2) COMMENT \"y\" NOT NULL, p DATE) \
         USING delta PARTITIONED BY (P) TBLPROPERTIES ('k' = 'v', a.b = 1, c = TRUE, d = -1.5) COMMENT 'z'",
        expect![[r#"
            CreateTable(
                CreateTable {
                    table: "t",
                    if_not_exists: true,
                    columns: [
                        ColumnDefinition {
                            name: "a",
                            data_type: Integer,
                            nullable: false,
                            comment: Some(
                                "x",
                            ),
                        },
                        ColumnDefinition {
                            name: "b c",
                            data_type: Decimal {
                                precision: 5,
                                scale: 2,
                            },
                            nullable: false,
                            comment: Some(
                                "y",
                            ),
                        },
                        ColumnDefinition {
                            name: "p",
                            data_type: Date,
                            nullable: true,
                            comment: None,
                        },
                    ],
                    partitioned_by: [
                        "p",
                    ],
                    properties: [
                        (
                            "k",
                            "v",
                        ),
                        (
                            "a.b",
                            "1",
                        ),
                        (
                            "c",
                            "true",
                        ),
                        (
                            "d",
                            "-1.5",
                        ),
                    ],
                    comment: Some(
                        "z",
                    ),
                },
            )
        "#]],
    );
}

#[test]
fn a_script_keeps_the_text_of_each_statement() {
    let script = parse_script("-- one\nDELETE FROM t; /* two */;;\n  SELECT ';', '表' FROM t -- x\n;").unwrap();
    let texts: Vec<&str> = script.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts, ["DELETE FROM t", "SELECT ';', '表' FROM t"]);
    assert_eq!(parse_script(" ; -- nothing").unwrap(), []);

    let error = parse_script("DELETE FROM t; SELECT 1\n; DELETE FROM t\nWHERE a = ").unwrap_err();
    assert_eq!((error.line, error.column), (3, 10));
    let error = parse_script("DELETE FROM t; MERGE").unwrap_err();
    assert_eq!(error.to_string(), "MERGE is not supported by this version at line 1, column 16");
    assert_eq!(error.snippet().unwrap(), "DELETE FROM t; MERGE\n               ^");
}

#[test]
fn deep_text_is_an_error_and_takes_no_time() {
    let nested = |open: &str, close: &str, n: usize| format!("SELECT {}1{}", open.repeat(n), close.repeat(n));
    for text in [
        nested("(", ")", 41),
        nested("(", ")", 100_000),
        nested("NOT ", "", 1_000),
        nested("- ", "", 100_000),
        nested("CAST(", " AS INT)", 45),
        nested("abs(", ")", 1_000),
        nested("CASE WHEN true THEN ", " END", 100),
        nested("", " + 1", 100_000),
        nested("", " OR 1", 100_000),
        nested("", "::int", 100_000),
        nested("", " IS NULL", 100_000),
        nested("", " UNION SELECT 1", 100_000),
        nested("INTERVAL ", "", 1_000),
        nested("(", "", 100_000),
        format!("{}SELECT 1", "(".repeat(100_000)),
        format!("INSERT INTO t {}SELECT 1", "(".repeat(100_000)),
        format!("SELECT CAST(1 AS {}", "ARRAY<".repeat(100_000)),
        format!("SELECT CAST(1 AS {}", "x(".repeat(100_000)),
        format!("SELECT {}", "CAST(".repeat(38)),
        format!("SELECT {}x y", "date(".repeat(38)),
        format!("SELECT {}", "CASE ".repeat(45)),
        format!("SELECT {}x y z", "INTERVAL -".repeat(45)),
    ] {
        let error = parse_statement(&text).expect_err(&text[..60.min(text.len())]);
        assert!(error.line > 0, "{error}: {}", &text[..60]);
    }
    parse_statement(&nested("(", ")", 30)).unwrap();
    parse_statement(&format!("SELECT * FROM t WHERE a = 0{}", " OR a = 1".repeat(190))).unwrap();
    parse_statement(&format!("SELECT * FROM t WHERE a IN (0{})", ", 1 + 1".repeat(10_000))).unwrap();
    parse_statement(&format!("INSERT INTO t VALUES (1){}", ", (1 + 2, -3)".repeat(10_000))).unwrap();
}

/// No text may panic, however it is cut.
#[test]
fn every_prefix_of_a_statement_is_parsed_or_refused() {
    let supported = include_str!("../../../tests/sql/supported.sql");
    let unsupported = include_str!("../../../tests/sql/unsupported.sql");
    for text in [supported, unsupported].into_iter().flat_map(|file| file.split("\n\n")) {
        for (end, _) in text.char_indices() {
            if let Err(error) = parse_statement(&text[..end]) {
                let _ = (error.snippet(), error.to_string());
            }
            let _ = parse_statement(&text[end..]);
            let _ = parse_script(&format!("{};{}", &text[..end], &text[end..]));
        }
    }
}
