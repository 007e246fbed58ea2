//! `contend check` on tables of other clients: what is found is known and explained, so that a rule that cries wolf is noticed.

use std::{collections::BTreeMap, path::Path};

use expect_test::expect;
use log_core::check::Rule;
use sim::{
    inspect::{CheckOptions, TableFolder},
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
        let checked = table.check(options, |_, _| {}).unwrap_or_else(|error| panic!("{name}: {error}"));
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

/// Each is as it should be. Where data is missing the table came without its files, or with names only. The two without protocol or metadata, the
/// hole and the in-commit timestamps are what those tables were made to show; in `db-basic_catalog_managed` one was left out, in `rs-cdc_ict_table` one was
/// edited and its checksum not. The statistics of `rs-issue_1374` are those of a fault in delta-rs: the file has timestamps below its minimum.
#[test]
fn findings_on_tables_of_other_clients_are_known() {
    expect![[r#"
        d-delete-re-add-same-file-different-transactions data-missing 2, as 3 bar: it is live, and there is no such file; most likely it was deleted
        d-deltalog-invalid-protocol-version data-missing 1, as 0 abc: it is live, and there is no such file; most likely it was deleted
        d-deltalog-state-reconstruction-from-checkpoint-missing-protocol checkpoint-unreadable 1, as 10 _delta_log/00000000000000000010.checkpoint.parquet: the checkpoint of version 10 has no protocol action; every checkpoint needs one: write it anew, or delete it if every commit up to its version is still there
        d-deltalog-state-reconstruction-from-checkpoint-missing-protocol data-missing 11, as 10 0: it is live, and there is no such file; most likely it was deleted
        d-deltalog-state-reconstruction-without-metadata missing-metadata 1, as 0 _delta_log/00000000000000000000.json: no metaData action up to here; the first commit of a table has one
        d-versions-not-contiguous gap 1, as 1 _delta_log/00000000000000000001.json: this commit is missing, and versions are contiguous; restore the files from a copy of the table
        db-basic_catalog_managed in-commit-timestamp 1, as 1 _delta_log/00000000000000000001.json: in-commit timestamps are on, and it has none
        rs-cdc_ict_table in-commit-timestamp 1, as 1 _delta_log/00000000000000000001.json: its inCommitTimestamp 1683874206883 is not greater than 1783874203271, that of version 0
        rs-cdc_ict_table checksum 1, as 1 _delta_log/00000000000000000001.crc: inCommitTimestampOpt is 1783874206883, and the log comes to 1683874206883
        rs-issue_1374 bounds 1, as 1 date=2023-05-24/part-00000-e2b01fc6-a906-4008-82df-e98efdcdd47d-c000.snappy.parquet: the minimum of column 'timestamp' is 2023-05-24 00:01:25.014, and there is 2023-05-24 00:01:25.010301
        rs-with_checkpoint_no_last_checkpoint data-missing 1, as 3 part-00000-70b1dcdf-0236-4f63-a072-124cdbafd8a0-c000.snappy.parquet: it is live, and there is no such file; most likely it was deleted
    "#]]
    .assert_eq(&found(true));
}

/// Orphans were looked for in the logs of their tables: deletion vectors that Spark wrote beside those that it committed, an empty file of a DELETE, a
/// second copy of a file, and a text of those who made the table.
#[test]
fn notes_on_tables_of_other_clients_are_known() {
    expect![[r#"
        d-corrupted-last-checkpoint-kernel last-checkpoint 1, as _delta_log/_last_checkpoint: it is not a JSON object with a version: EOF while parsing a value at line 1 column 0; readers find the checkpoints without it
        d-deltalog-invalid-protocol-version unsupported-feature 1, as 0 _delta_log/00000000000000000000.json: the table cannot be read: it needs reader version 99, which this build of contend does not implement
        d-deltalog-invalid-protocol-version not-checked 1, as 0 : what is in the data files: the table cannot be read: it needs reader version 99, which this build of contend does not implement
        d-deltalog-state-reconstruction-without-metadata not-checked 1, as : the data files: the log does not tell which are live
        d-dv-with-columnmapping orphan-file 5, as deletion_vector_1e48ba87-5a06-4e67-bc8a-b4453535f6d4.bin: the log does not speak of it, and it is older than files are kept for
        d-spark-variant-checkpoint orphan-file 1, as info.txt: the log does not speak of it, and it is older than files are kept for
        d-versions-not-contiguous unknown-state 1, as 2 _delta_log/00000000000000000002.json: from here on nobody can say what the table holds, so rules that compare with it rest to the end of the log
        d-versions-not-contiguous not-checked 1, as : the data files: the log does not tell which are live
        db-basic_catalog_managed unsupported-feature 1, as 0 _delta_log/00000000000000000000.json: the table cannot be read: it needs the reader features catalogManaged, which this build of contend does not implement
        db-basic_catalog_managed not-checked 1, as 1 : what is in the data files: the table cannot be read: it needs the reader features catalogManaged, which this build of contend does not implement
        k-table-with-geo unsupported-feature 1, as 0 _delta_log/00000000000000000000.json: the table cannot be read: it needs the reader features geospatial, which this build of contend does not implement
        k-table-with-geo not-checked 1, as : the data files: the log does not tell which are live
        rs-simple_table orphan-file 1, as part-00000-c1777d7d-89d9-4790-b38a-6ee7e24456b1-c001.snappy.parquet: the log does not speak of it, and it is older than files are kept for
        sp-ict-mid orphan-file 1, as part-00000-79b94581-a047-4e51-aad1-820ea5c360f5-c000.snappy.parquet: the log does not speak of it, and it is older than files are kept for
    "#]]
    .assert_eq(&found(false));
}

#[test]
fn every_rule_is_documented() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/check.md")).unwrap();
    for rule in Rule::ALL {
        let row = text.lines().find(|line| line.starts_with('|') && line.contains(&format!("`{rule}`")));
        let row = row.unwrap_or_else(|| panic!("docs/check.md has no row for {rule}"));
        let kind = row.split('|').nth(2).unwrap().trim();
        assert_eq!(kind.starts_with("note"), rule.is_note(), "{rule}: {kind}");
    }
}
