//! The conflict cases of `conflict/tests/cases`, judged by the reference.

use std::{fs, path::Path};

use conflict::rules::RuleSet;
use sim::conflict_case::{Case, judge};

/// Every case, by file name.
fn cases() -> Vec<(String, Case)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conflict/tests/cases");
    let mut cases = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let text = fs::read_to_string(&path).expect("readable");
            let name = path.file_stem().and_then(|name| name.to_str()).expect("a name").to_owned();
            let case = Case::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(case.name, name, "a case has the name of its file");
            cases.push((name, case));
        }
    }
    cases.sort_by(|a, b| a.0.cmp(&b.0));
    cases
}

#[test]
fn every_case_comes_out_as_expected() {
    let cases = cases();
    assert!(cases.len() >= 97, "{} cases", cases.len());
    let rules = RuleSet::delta_spark();
    let mut failures = Vec::new();
    for (name, case) in &cases {
        let verdict = judge(case, &rules).unwrap_or_else(|error| panic!("{name}: {error}"));
        failures.extend(verdict.differences.iter().map(|difference| format!("{name}: {difference}")));
    }
    assert!(failures.is_empty(), "{failures:#?}");
}
