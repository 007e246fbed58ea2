//! `contend check` on tables of other clients: what is found is known and explained, so that a rule that cries wolf is noticed.

use std::{collections::BTreeMap, path::Path};

use expect_test::expect;
use log_core::check::Rule;
use sim::{
    inspect::{CheckOptions, InspectError, TableFolder},
    real::local_directory::AbsolutePaths,
};

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tables"))
}

/// By table, the rules that fire and how often. Times of files are those of the checkout, so rules that look at them are left out.
fn found(findings: bool) -> String {
    let mut names: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().unwrap().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    let mut text = String::new();
    for name in names {
        let table = TableFolder::open(&folder().join(&name)).unwrap();
        let options = CheckOptions { data: true, absolute_paths: AbsolutePaths::Refuse, now_ms: i64::MAX };
        let checked = match table.check(options, |_, _| {}) {
            Ok(checked) => checked,
            Err(error @ InspectError::NotATable { .. }) => panic!("{name}: {error}"),
            Err(error) => panic!("{name}: {error}"),
        };
        let mut counts: BTreeMap<Rule, (usize, String)> = BTreeMap::new();
        let list = if findings { checked.findings } else { checked.notes };
        for finding in list {
            let count = counts.entry(finding.rule).or_insert_with(|| {
                let version = finding.version.map_or(String::new(), |version| format!("{version} "));
                (0, format!("{version}{}: {}", finding.file, finding.message))
            });
            count.0 += 1;
        }
        counts.remove(&Rule::ClockRegression);
        for (rule, (count, first)) in counts {
            text.push_str(&format!("{name} {rule} {count}, as {first}\n"));
        }
    }
    text
}

#[test]
fn findings_on_tables_of_other_clients_are_known() {
    expect![[r#"
    "#]]
    .assert_eq(&found(true));
}

#[test]
fn notes_on_tables_of_other_clients_are_known() {
    expect![[r#"
    "#]]
    .assert_eq(&found(false));
}
