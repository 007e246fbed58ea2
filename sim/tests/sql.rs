//! Statements as users write them: each file of `sim/tests/sql` holds one per paragraph.

use std::path::Path;

use sim::sql::{parse_script, parse_statement};

/// The statements of a file: those between empty lines, with their comments.
fn statements(file: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sql").join(file);
    let text = std::fs::read_to_string(path).unwrap();
    text.split("\n\n").map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

/// The text without `;` at its end; in capitals and small letters, but for what stands in quotes; with comments around it.
fn variants(text: &str) -> Vec<String> {
    let bare = text.trim_end_matches(';').trim_end();
    let change = |upper: bool| {
        let mut quote = None;
        bare.chars()
            .map(|character| match quote {
                Some(end) => {
                    if character == end {
                        quote = None;
                    }
                    character
                }
                None => {
                    if matches!(character, '\'' | '"' | '`') {
                        quote = Some(character);
                    }
                    if upper { character.to_ascii_uppercase() } else { character.to_ascii_lowercase() }
                }
            })
            .collect::<String>()
    };
    vec![
        bare.to_owned(),
        format!("{bare};"),
        format!("{bare} ;\n-- the end"),
        format!("-- first\n/* and /* nested */ */ {bare} /* last */;"),
        change(true),
        change(false),
    ]
}

#[test]
fn the_statements_of_the_experiments_parse_as_they_stand() {
    for text in statements("supported.sql") {
        for variant in variants(&text) {
            if let Err(error) = parse_statement(&variant) {
                panic!("{variant}\n{error}\n{}", error.snippet().unwrap_or_default());
            }
        }
    }
}

#[test]
fn what_this_version_does_not_support_is_named() {
    for case in statements("unsupported.sql") {
        let (expected, text) = case.split_once('\n').expect("a comment and a statement");
        let expected = expected.strip_prefix("-- ").expect("a comment");
        for variant in variants(text) {
            let error = parse_statement(&variant).expect_err(&variant);
            assert!(error.message.to_lowercase().starts_with(&expected.to_lowercase()), "{variant}\n{error}");
            assert!(error.line > 0 && error.column > 0, "{variant}\n{error}");
            assert!(error.snippet().is_some(), "{variant}\n{error}");
        }
    }
}

#[test]
fn a_file_of_statements_is_a_script() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sql/supported.sql");
    let text = std::fs::read_to_string(path).unwrap();
    let script = parse_script(&text).unwrap();
    assert_eq!(script.len(), statements("supported.sql").len());
    for (statement, own) in script {
        assert_eq!(parse_statement(&own).unwrap(), statement, "{own}");
    }
}
