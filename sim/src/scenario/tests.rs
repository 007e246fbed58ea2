use std::{collections::HashSet, error::Error, io, path::Path};

use expect_test::{Expect, expect};

use super::*;

/// A scenario without anything that need not be there, after `head` and before `tail`.
fn around(head: &str, tail: &str) -> String {
    format!("{head}\n[[writer]]\nname = \"a\"\nstatements = [\"DELETE FROM t\"]\n{tail}\n")
}

fn read(text: &str) -> Scenario {
    Scenario::parse(text, "s.toml").unwrap_or_else(|error| panic!("{error}"))
}

fn refused(text: &str, expected: Expect) {
    expected.assert_eq(&Scenario::parse(text, "s.toml").expect_err("it is not a valid scenario").to_string());
}

fn set(text: &str, overrides: &[(&str, &str)]) -> Result<Scenario, ScenarioError> {
    let owned: Vec<_> = overrides.iter().map(|(path, value)| (path.to_string(), value.to_string())).collect();
    Scenario::parse_with(text, "s.toml", &owned)
}

fn not_set(overrides: &[(&str, &str)], expected: Expect) {
    expected.assert_eq(&set(&around("", ""), overrides).expect_err("it is not a valid setting").to_string());
}

#[test]
fn a_scenario_that_says_nothing_gets_the_defaults() {
    let scenario = read(&around("", ""));
    assert_eq!(scenario.name, "s.toml");
    assert_eq!(scenario.isolation, None);
    assert_eq!((scenario.setup.len(), &scenario.schedule), (0, &None));
    assert_eq!(scenario.store.latency, "adls".parse().unwrap());
    assert_eq!(scenario.store.latency.profile(), Some(Latency::DEFAULT_PROFILE));
    assert_eq!(scenario.store.existing, Existing::Refuse);
    assert_eq!(scenario.expect, super::Expect::default());
    let [writer] = scenario.writers.as_slice() else { panic!("one writer") };
    assert_eq!((writer.on_conflict, writer.commit_retries), (OnConflict::Continue, DEFAULT_COMMIT_RETRIES));
}

#[test]
fn every_key_is_read() {
    let text = r#"
        name = "all"
        isolation = "writeserializable"
        setup = ["CREATE TABLE t (id INT)"]
        schedule = ["w1.read", "w2.put", "w2.commit", "w1.crash"]
        [[writer]]
        name = "w"
        count = 2
        statements = ["DELETE FROM t", "UPDATE t SET id = 1"]
        on_conflict = { retry = 5 }
        commit_retries = 7
        [[writer]]
        name = "x"
        statements = ["DELETE FROM t"]
        on_conflict = "stop"
        [store]
        latency = { put_ms = [1, 2], compute_ms = [0, 0] }
        fault_rate = { put_lost = 0.0, reply_lost = 0, put_late = 0.0, crash = 0.0, list_lag = 0.0 }
        fault_budget = {}
        existing = "continue"
        [expect]
        committed = { max = 3 }
    "#;
    let scenario = read(text);
    assert_eq!(scenario.isolation, Some(IsolationLevel::WriteSerializable));
    assert_eq!(scenario.setup[0].text, "CREATE TABLE t (id INT)");
    let names: Vec<_> = scenario.writers.iter().map(|writer| writer.name.as_str()).collect();
    assert_eq!(names, ["w1", "w2", "x"]);
    assert_eq!(scenario.writers[1].statements[1].text, "UPDATE t SET id = 1");
    assert_eq!(scenario.writers[1].on_conflict, OnConflict::Retry(5));
    assert_eq!(scenario.writers[1].commit_retries, 7);
    assert_eq!(scenario.writers[2].on_conflict, OnConflict::Stop);
    let steps: Vec<_> = scenario.schedule.iter().flatten().map(|pinned| pinned.step).collect();
    assert_eq!(steps, [PinnedStep::Read, PinnedStep::Put, PinnedStep::Commit, PinnedStep::Crash]);
    let adls = Latency::default();
    assert_eq!(scenario.store.latency, Latency { put_ms: [1, 2], compute_ms: [0, 0], ..adls });
    assert_eq!(scenario.store.existing, Existing::Continue);
    assert_eq!(scenario.expect.committed, Some(Range { min: None, max: Some(3) }));
    assert_eq!(read(&scenario.to_string()), scenario);
}

#[test]
fn bad_keys_name_the_line_and_the_nearest_key() {
    refused(
        &around("\nisolaton = 'x'", ""),
        expect!["s.toml, line 2: unknown key 'isolaton', did you mean 'isolation'?"],
    );
    refused(
        &around("", "statement = []"),
        expect!["s.toml, line 5: unknown key 'writer.a.statement', did you mean 'writer.a.statements'?"],
    );
    refused(
        &around("", "[store]\nlatancy = 's3'"),
        expect!["s.toml, line 6: unknown key 'store.latancy', did you mean 'store.latency'?"],
    );
    refused(
        &around("", "[store.latency]\nput = [1, 2]"),
        expect!["s.toml, line 6: unknown key 'store.latency.put' (known: put_ms, get_ms, list_ms, compute_ms)"],
    );
    refused(
        &around("", "[store]\nfault_rate = { gremlins = 0.5 }"),
        expect![
            "s.toml, line 6: unknown key 'store.fault_rate.gremlins' (known: put_lost, reply_lost, put_late, crash, list_lag)"
        ],
    );
    refused(
        &around("", "on_conflict = { retries = 5 }"),
        expect!["s.toml, line 5: unknown key 'writer.a.on_conflict.retries' (known: retry)"],
    );
    refused(
        &around("", "[expect]\ncommitted = { minimum = 5 }"),
        expect!["s.toml, line 6: unknown key 'expect.committed.minimum' (known: min, max)"],
    );
}

#[test]
fn bad_values_name_the_line_and_what_is_wanted() {
    refused("name = 'x", expect!["s.toml, line 1: not TOML: invalid literal string, expected `'`"]);
    refused("name = 'x'\nname = 'y'", expect!["s.toml, line 2: not TOML: duplicate key"]);
    refused(&around("name = 1", ""), expect!["s.toml, line 1: 'name' must be a string, not 1"]);
    refused(
        &around("isolation = 'Serialisable'", ""),
        expect![
            "s.toml, line 1: 'isolation': 'Serialisable' is not an isolation level; there are Serializable, WriteSerializable and SnapshotIsolation"
        ],
    );
    refused(
        &around("setup = 'DELETE FROM t'", ""),
        expect!["s.toml, line 1: 'setup' must be a list of SQL strings, not the string 'DELETE FROM t'"],
    );
    refused(
        &around("setup = [\n'DELETE FROM t',\n1]", ""),
        expect!["s.toml, line 3: 'setup' must be a list of SQL strings, not 1 as item 2"],
    );
    refused(
        &around("setup = ['DELETE FROM t',\n'SELEC 1']", ""),
        expect!["s.toml, line 2: setup, statement 2 cannot be parsed"],
    );
    refused(
        &around("setup = { version = 12 }", ""),
        expect!["s.toml, line 1: 'setup.table' is missing: the path of a table"],
    );
    refused(
        &around("setup = { table = 'p/t', version = 12 }", ""),
        expect!["s.toml, line 1: starting from a real table ('p/t', version 12) is not supported by this version"],
    );
    refused(
        &around("", "count = 0"),
        expect!["s.toml, line 5: 'writer.a.count' must be an integer from 1 to 64, not 0"],
    );
    refused(
        &around("", "count = 65"),
        expect!["s.toml, line 5: 'writer.a.count' must be an integer from 1 to 64, not 65"],
    );
    refused(
        &around("", "count = -1"),
        expect!["s.toml, line 5: 'writer.a.count' must be an integer from 1 to 64, not -1"],
    );
    refused(
        &around("", "count = 99999999999999999999"),
        expect!["s.toml, line 5: 'writer.a.count' must be an integer from 1 to 64, not 99999999999999999999"],
    );
    refused(
        &around("", "commit_retries = 0"),
        expect!["s.toml, line 5: 'writer.a.commit_retries' must be an integer from 1 to 4294967295, not 0"],
    );
    refused(
        &around("", "commit_retries = 2.5"),
        expect!["s.toml, line 5: 'writer.a.commit_retries' must be an integer from 1 to 4294967295, not 2.5"],
    );
    refused(
        &around("", "on_conflict = 'contniue'"),
        expect![
            "s.toml, line 5: 'writer.a.on_conflict' has the unknown answer to a conflict 'contniue' (known: continue, stop, { retry = N }), did you mean 'continue'?"
        ],
    );
    refused(
        &around("", "on_conflict = true"),
        expect![[
            r#"s.toml, line 5: 'writer.a.on_conflict' must be "continue", "stop" or { retry = N }, not a boolean"#
        ]],
    );
    refused(
        &around("", "on_conflict = {}"),
        expect!["s.toml, line 5: 'writer.a.on_conflict.retry' is missing: how often a statement runs again"],
    );
    refused(
        &around("", "on_conflict = { retry = -5 }"),
        expect!["s.toml, line 5: 'writer.a.on_conflict.retry' must be an integer from 0 to 4294967295, not -5"],
    );
    refused(
        &around("", "[store]\nlatency = 'adsl'"),
        expect![
            "s.toml, line 6: 'store.latency' has the unknown profile 'adsl' (known: adls, azure-premium, s3, s3-express, gcs, local)"
        ],
    );
    refused(
        &around("", "[store]\nlatency = 5"),
        expect!["s.toml, line 6: 'store.latency' must be the name of a profile or a table of ranges, not 5"],
    );
    refused(
        &around("", "[store]\nlatency = { put_ms = [600, 100] }"),
        expect!["s.toml, line 6: 'store.latency.put_ms' goes from 600 to 100: the first must not be above the second"],
    );
    refused(
        &around("", "[store]\nlatency = { put_ms = 600 }"),
        expect!["s.toml, line 6: 'store.latency.put_ms' must be [least, greatest] in milliseconds, not 600"],
    );
    refused(
        &around("", "[store]\nlatency = { put_ms = [-1, 100] }"),
        expect!["s.toml, line 6: 'store.latency.put_ms' must be an integer from 0 to 4294967295, not -1"],
    );
    refused(
        &around("", "[store]\nfault_rate = { crash = 1.5 }"),
        expect!["s.toml, line 6: 'store.fault_rate.crash' must be a probability: 0, or from 0.000001 to 1, not 1.5"],
    );
    refused(
        &around("", "[store]\nfault_rate = { crash = 0.0000001 }"),
        expect![
            "s.toml, line 6: 'store.fault_rate.crash' must be a probability: 0, or from 0.000001 to 1, not 0.0000001"
        ],
    );
    refused(
        &around("", "[store]\nfault_rate = { crash = nan }"),
        expect!["s.toml, line 6: 'store.fault_rate.crash' must be a probability: 0, or from 0.000001 to 1, not nan"],
    );
    refused(
        &around("", "[store]\nfault_budget = { crash = 0.1 }"),
        expect!["s.toml, line 6: 'store.fault_budget.crash' must be an integer from 0 to 1000, not 0.1"],
    );
    refused(
        &around("", "[store]\nexisting = 'replace'"),
        expect![
            "s.toml, line 6: 'store.existing' has the unknown answer to a table 'replace' (known: refuse, continue)"
        ],
    );
    refused(
        &around("", "[expect]\ncommitted = { min = 9, max = 3 }"),
        expect!["s.toml, line 6: 'expect.committed' goes from 9 to 3: the first must not be above the second"],
    );
    refused(
        &around("", "[expect]\ncommitted = 9"),
        expect!["s.toml, line 6: 'expect.committed' must be a table, not 9"],
    );
}

#[test]
fn bad_writers_are_refused() {
    refused("", expect!["s.toml: 'writer' is missing: at least one [[writer]]"]);
    refused(
        "writer = []",
        expect!["s.toml, line 1: 'writer' must be a list of tables, each under [[writer]], not an empty list"],
    );
    refused(
        "writer = { name = 'a' }",
        expect!["s.toml, line 1: 'writer' must be a list of tables, each under [[writer]], not a table"],
    );
    refused(
        "[[writer]]\nstatements = ['DELETE FROM t']",
        expect!["s.toml, line 1: 'writer.1.name' is missing: a name of ASCII letters, digits, '_' and '-'"],
    );
    refused(
        "[[writer]]\nname = 'a.b'\nstatements = ['DELETE FROM t']",
        expect![
            "s.toml, line 2: 'writer.a.b.name' must be a name of ASCII letters, digits, '_' and '-', not the string 'a.b'"
        ],
    );
    refused(
        "[[writer]]\nname = 'a'",
        expect!["s.toml, line 1: 'writer.a.statements' is missing: a list of SQL strings"],
    );
    refused(
        "[[writer]]\nname = 'a'\nstatements = []",
        expect!["s.toml, line 3: 'writer.a.statements' must be a list of at least one SQL string, not an empty list"],
    );
    refused(
        "[[writer]]\nname = 'a'\nstatements = ['']",
        expect!["s.toml, line 3: writer 'a', statement 1 cannot be parsed"],
    );
    refused(
        &around("", "[[writer]]\nname = 'a'\nstatements = ['DELETE FROM t']"),
        expect!["s.toml, line 5: two writers are called 'a', after 'count' is spelled out"],
    );
    refused(
        &around("", "count = 2\n[[writer]]\nname = 'a2'\nstatements = ['DELETE FROM t']"),
        expect!["s.toml, line 6: two writers are called 'a2', after 'count' is spelled out"],
    );
}

#[test]
fn bad_schedules_list_what_is_known() {
    refused(
        &around("schedule = 'a.read'", ""),
        expect![[r#"s.toml, line 1: 'schedule' must be a list of strings such as "a.read", not the string 'a.read'"#]],
    );
    refused(
        &around("schedule = ['read']", ""),
        expect![[r#"s.toml, line 1: 'schedule' must be a list of strings such as "a.read", not the string 'read'"#]],
    );
    refused(
        &around("schedule = [\n'a.read',\n'b.read']", ""),
        expect!["s.toml, line 3: 'schedule' has the unknown writer 'b' (known: a), did you mean 'a'?"],
    );
    refused(
        &around("schedule = ['a.reed']", ""),
        expect![
            "s.toml, line 1: 'schedule' has the unknown step 'reed' (known: read, put, commit, crash), did you mean 'read'?"
        ],
    );
    refused(
        &around("schedule = ['a.read']", "count = 2"),
        expect!["s.toml, line 1: 'schedule' has the unknown writer 'a' (known: a1, a2), did you mean 'a1'?"],
    );
}

#[test]
fn sql_errors_keep_their_source() {
    let error =
        Scenario::parse("[[writer]]\nname = 'a'\nstatements = ['DELETE FROM t', 'SELEC 1']", "s.toml").unwrap_err();
    expect!["s.toml, line 3: writer 'a', statement 2 cannot be parsed"].assert_eq(&error.to_string());
    let source: &SqlError = error.source().and_then(|source| source.downcast_ref()).expect("it has a source");
    assert_eq!((source.text.as_str(), source.line, source.column), ("SELEC 1", 1, 1));
}

#[test]
fn settings_come_over_the_text() {
    let text = around("isolation = 'Serializable'", "[[writer]]\nname = 'b'\nstatements = ['DELETE FROM t']");
    let settings = [
        ("isolation", "WriteSerializable"),
        ("store.latency", "s3"),
        ("writer.a.on_conflict", "stop"),
        ("writer.b.on_conflict", "{ retry = 3 }"),
        ("writer.b.count", "2"),
        ("expect.committed.min", "1"),
        ("setup", "['DELETE FROM t']"),
    ];
    let scenario = set(&text, &settings).unwrap();
    assert_eq!(scenario.isolation, Some(IsolationLevel::WriteSerializable));
    assert_eq!(scenario.store.latency.profile(), Some("s3"));
    let conflicts: Vec<_> = scenario.writers.iter().map(|writer| writer.on_conflict).collect();
    assert_eq!(conflicts, [OnConflict::Stop, OnConflict::Retry(3), OnConflict::Retry(3)]);
    assert_eq!(scenario.expect.committed, Some(Range { min: Some(1), max: None }));
    assert_eq!(scenario.setup.len(), 1);
    let later = set(&text, &[("store.latency", "s3"), ("store.latency", "gcs")]).unwrap();
    assert_eq!(later.store.latency.profile(), Some("gcs"));
}

#[test]
fn bad_settings_are_the_same_errors() {
    not_set(
        &[("isolaton", "Serializable")],
        expect!["s.toml, --set isolaton: unknown key 'isolaton', did you mean 'isolation'?"],
    );
    not_set(
        &[("stor.latency", "s3")],
        expect!["s.toml, --set stor.latency: unknown key 'stor', did you mean 'store'?"],
    );
    not_set(
        &[("store.latency", "s4")],
        expect![
            "s.toml, --set store.latency: 'store.latency' has the unknown profile 's4' (known: adls, azure-premium, s3, s3-express, gcs, local), did you mean 's3'?"
        ],
    );
    not_set(
        &[("store.latency", "s3"), ("store.latency.put_ms", "[1, 2]")],
        expect![
            "s.toml, --set store.latency.put_ms: a setting is PATH=VALUE with keys between dots, such as store.latency=s3; 'store.latency' is the string 's3', which has no keys"
        ],
    );
    not_set(
        &[("store..latency", "s3")],
        expect![
            "s.toml, --set store..latency: a setting is PATH=VALUE with keys between dots, such as store.latency=s3; this path has an empty key"
        ],
    );
    not_set(
        &[("", "s3")],
        expect![
            "s.toml, --set : a setting is PATH=VALUE with keys between dots, such as store.latency=s3; this path has an empty key"
        ],
    );
    not_set(
        &[("writer.b.on_conflict", "stop")],
        expect![
            "s.toml, --set writer.b.on_conflict: 'writer' has the unknown writer 'b' (known: a), did you mean 'a'?"
        ],
    );
    not_set(
        &[("writer.a.on_conflct", "stop")],
        expect![
            "s.toml, --set writer.a.on_conflct: unknown key 'writer.a.on_conflct', did you mean 'writer.a.on_conflict'?"
        ],
    );
    not_set(
        &[("writer.a.commit_retries", "many")],
        expect![
            "s.toml, --set writer.a.commit_retries: 'writer.a.commit_retries' must be an integer from 1 to 4294967295, not the string 'many'"
        ],
    );
    not_set(
        &[("schedule", "['a.reed']")],
        expect![
            "s.toml, --set schedule: 'schedule' has the unknown step 'reed' (known: read, put, commit, crash), did you mean 'read'?"
        ],
    );
}

#[test]
fn every_scenario_that_ships_reads_and_reads_again() {
    for Shipped { name, text, summary } in shipped() {
        let scenario = load(&format!("@{name}"), &[], &|_| unreachable!()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(read(&scenario.to_string()), scenario, "{name}");
        assert!(text.starts_with(&format!("# {summary}\n")) && summary.ends_with('.'), "{name}: {summary}");
        assert!(scenario.expect.committed.is_some(), "{name} expects nothing");
    }
    let names: HashSet<_> = shipped().iter().map(|shipped| shipped.name).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<_> = files.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    assert_eq!(files.iter().map(String::as_str).collect::<HashSet<_>>(), names);
}

#[test]
fn every_explored_scenario_reads() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/explore");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<_> = files.filter(|path| path.extension().is_some_and(|extension| extension == "toml")).collect();
    assert_eq!(files.len(), 12);
    for path in files {
        load(&path.to_string_lossy(), &[], &|path| std::fs::read_to_string(path))
            .unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn a_scenario_is_loaded_by_name_or_path() {
    let fails = |kind: io::ErrorKind| move |_: &Path| -> io::Result<String> { Err(kind.into()) };
    let refused = |reference: &str, kind: io::ErrorKind, expected: Expect| {
        expected.assert_eq(&load(reference, &[], &fails(kind)).unwrap_err().to_string());
    };
    refused(
        "@write-conflct",
        io::ErrorKind::Other,
        expect![
            "@write-conflct: no scenario of this name ships (known: @write-conflict, @insert-only, @single-writer, @delete-all-against-insert, @disjoint-partitions, @reordered), did you mean '@write-conflict'?"
        ],
    );
    refused(
        "@nothing-like-it",
        io::ErrorKind::Other,
        expect![
            "@nothing-like-it: no scenario of this name ships (known: @write-conflict, @insert-only, @single-writer, @delete-all-against-insert, @disjoint-partitions, @reordered)"
        ],
    );
    refused(
        "write-conflict",
        io::ErrorKind::NotFound,
        expect!["write-conflict: no such file; did you mean '@write-conflict', the scenario that ships?"],
    );
    refused(
        "my.toml",
        io::ErrorKind::NotFound,
        expect!["my.toml: no such file; the scenarios that ship are named with @"],
    );
    refused("scenarios", io::ErrorKind::IsADirectory, expect!["scenarios: this is a directory, not a scenario file"]);
    refused("my.png", io::ErrorKind::InvalidData, expect!["my.png: this is not a text file in UTF-8"]);
    refused("my.toml", io::ErrorKind::PermissionDenied, expect!["my.toml: the file cannot be read"]);
    let text = around("", "");
    let scenario = load("my.toml", &[("isolation".into(), "Serializable".into())], &|_| Ok(text.clone())).unwrap();
    assert_eq!((scenario.name.as_str(), scenario.isolation), ("my.toml", Some(IsolationLevel::Serializable)));
}

#[test]
fn any_statement_is_written_so_that_it_reads_again() {
    let mut scenario = read(&around("", ""));
    scenario.name = "quotes \" ' and \\ \u{1}\u{1F980}".to_owned();
    for text in [
        "DELETE FROM t -- it's \"t\"\n",
        "DELETE FROM t\n  WHERE x = '\\\\'\n",
        "DELETE FROM `t` WHERE x = ''''''''",
        "DELETE\r\nFROM\tt",
    ] {
        scenario.setup.push(SqlText { text: text.to_owned(), ..scenario.writers[0].statements[0].clone() });
    }
    let again = read(&scenario.to_string());
    let texts = |scenario: &Scenario| scenario.setup.iter().map(|sql| sql.text.clone()).collect::<Vec<_>>();
    assert_eq!((&again.name, texts(&again)), (&scenario.name, texts(&scenario)));
}

#[test]
fn editors_that_mark_and_end_lines_their_own_way_are_fine() {
    assert_eq!(read(&format!("\u{feff}{}", around("", "").replace('\n', "\r\n"))), read(&around("", "")));
}

#[test]
fn probabilities_are_kept_in_millionths() {
    assert_eq!(PartsPerMillion::from_rate(0.25), Some(PartsPerMillion(250_000)));
    assert_eq!(PartsPerMillion::from_rate(1.0), Some(PartsPerMillion(1_000_000)));
    assert_eq!(PartsPerMillion::from_rate(-0.0), Some(PartsPerMillion(0)));
    assert_eq!(PartsPerMillion::from_rate(-0.1), None);
}

#[test]
fn a_range_includes_its_ends() {
    let range = Range { min: Some(3), max: Some(9) };
    assert_eq!([2, 3, 9, 10].map(|count| range.contains(count)), [false, true, true, false]);
    assert!(Range::default().contains(u64::MAX));
}
