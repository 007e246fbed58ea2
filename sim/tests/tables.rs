//! Real tables of other clients: what they hold at every listed version, and what is said of those that cannot be read.
//!
//! `tables/manifest.json` names each table's source (public test suites of Delta Spark, Delta Kernel, delta-rs and delta-incubator/dat, all under
//! Apache-2.0, and some written with real clients) and the answers that independent clients gave; see `tables/README.md`.

use std::path::{Path, PathBuf};

use log_core::{error_chain::error_chain, path::Version};
use serde::Deserialize;
use sim::inspect::TableFolder;

#[derive(Deserialize)]
struct Manifest {
    tables: Vec<Table>,
}

#[derive(Deserialize)]
struct Table {
    name: String,
    expected: Expected,
}

#[derive(Deserialize)]
struct Expected {
    outcome: Outcome,
    error_kind: Option<String>,
    latest_version: Option<u64>,
    #[serde(flatten)]
    content: Content,
    versions: Vec<AtVersion>,
}

#[derive(Deserialize)]
struct AtVersion {
    version: u64,
    #[serde(flatten)]
    content: Content,
}

/// What is known of a version; `None` where no client could tell.
#[derive(Deserialize)]
struct Content {
    active_files: Option<usize>,
    rows: Option<u64>,
    rows_sha256: Option<String>,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    /// Rows can be read.
    Ok,
    /// The log can be read, the data files are not there.
    LogOnly,
    /// The table must be refused.
    Error,
}

/// Where the manifest is not followed, and why.
const EXCEPTIONS: [(&str, u64, &str); 1] = [(
    "d-canonicalized-paths-special-a",
    1,
    "the path of a remove is a URI as RFC 2396 has it and is to be decoded, so `file:/x` and `/x` are one file; the manifest takes the newest version for empty \
     as well",
)];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tables")
}

/// Compares one version; gives what differs.
fn check(table: &TableFolder, version: Option<u64>, wanted: &Content) -> Result<(), String> {
    let at = table.at(version.map(Version)).map_err(|error| error_chain(&error))?;
    let files = at.snapshot.files.len();
    if wanted.active_files.is_some_and(|wanted| wanted != files) {
        return Err(format!("{files} live files instead of {:?}", wanted.active_files));
    }
    let Some(digest) = &wanted.rows_sha256 else { return Ok(()) };
    let found = at.digest().map_err(|error| error_chain(&error))?;
    if wanted.rows != Some(found.rows) || *digest != found.rows_sha256 {
        return Err(format!(
            "{} rows of digest {} instead of {:?} of {digest}",
            found.rows, found.rows_sha256, wanted.rows
        ));
    }
    Ok(())
}

/// The words by which an error must name its cause.
fn words(kind: &str) -> &'static [&'static str] {
    match kind {
        "gap_in_log" => &["commits 1 to 1 are missing"],
        "catalog_managed_needs_catalog" => &["catalogManaged"],
        "unsupported_feature_to_read_rows" => &["geospatial"],
        "no_metadata" => &["metaData"],
        "no_protocol" => &["protocol"],
        "unsupported_protocol_version" => &["reader version 99"],
        other => panic!("the manifest has an error of kind '{other}', for which no words are known"),
    }
}

#[test]
fn every_table_is_read_as_independent_clients_read_it() {
    let manifest = std::fs::read_to_string(folder().join("manifest.json")).unwrap();
    let manifest: Manifest = serde_json::from_str(&manifest).unwrap();
    let (mut checked, mut failures) = (0, Vec::new());
    for Table { name, expected } in &manifest.tables {
        let table = TableFolder::open(&folder().join(name)).unwrap();
        let mut note = |version: Option<u64>, result: Result<(), String>| {
            checked += 1;
            let excepted = EXCEPTIONS.iter().any(|(table, at, _)| table == name && Some(*at) == version);
            if let Err(difference) = result.as_ref()
                && !excepted
            {
                failures.push(format!("{name} at {version:?}: {difference}"));
            }
            if excepted && result.is_ok() {
                failures.push(format!("{name} at {version:?} is as the manifest has it, and noted as an exception"));
            }
        };
        if expected.outcome == Outcome::Error {
            let words = words(expected.error_kind.as_deref().unwrap());
            note(
                None,
                match table.at(None) {
                    Ok(_) => Err("could be read".to_owned()),
                    Err(error) => {
                        let text = error_chain(&error);
                        let missing = words.iter().find(|word| !text.contains(**word));
                        missing.map_or(Ok(()), |word| Err(format!("the error does not say '{word}': {text}")))
                    }
                },
            );
            continue;
        }
        note(None, check(&table, None, &expected.content));
        let latest = table.at(None).map(|at| at.version().0);
        note(
            None,
            match latest {
                Ok(version) if Some(version) == expected.latest_version => Ok(()),
                Ok(version) => Err(format!("the newest version is {version} instead of {:?}", expected.latest_version)),
                Err(error) => Err(error_chain(&error)),
            },
        );
        for AtVersion { version, content } in &expected.versions {
            note(Some(*version), check(&table, Some(*version), content));
        }
    }
    assert!(checked > 400, "{checked} checks only");
    assert!(failures.is_empty(), "{} of {checked} differ:\n{}", failures.len(), failures.join("\n"));
}
