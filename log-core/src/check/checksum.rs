//! Version checksums ("Version Checksum File" of the protocol).

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::{
    Findings, Rule,
    difference::{metadata, protocols},
    state::State,
};
use crate::{
    action::{AddFile, DomainMetadata, FileKey, Metadata, Protocol, SetTransaction},
    path::Version,
};

/// What a checksum file says. Older writers leave out more than the protocol lets them, so nothing is required. Histograms are not compared.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Checksum {
    table_size_bytes: Option<i64>,
    num_files: Option<i64>,
    num_metadata: Option<i64>,
    num_protocol: Option<i64>,
    in_commit_timestamp_opt: Option<i64>,
    set_transactions: Option<Vec<SetTransaction>>,
    domain_metadata: Option<Vec<DomainMetadata>>,
    metadata: Option<Metadata>,
    protocol: Option<Protocol>,
    all_files: Option<Vec<AddFile>>,
    num_deleted_records_opt: Option<i64>,
    num_deletion_vectors_opt: Option<i64>,
}

/// Fields that the protocol requires.
const REQUIRED: [&str; 6] = ["tableSizeBytes", "numFiles", "numMetadata", "numProtocol", "metadata", "protocol"];

/// A checksum says what its version comes to.
pub(super) fn checksum(version: Version, bytes: &[u8], state: Option<&State>, findings: &mut Findings) {
    let fields: Result<serde_json::Map<String, serde_json::Value>, _> = serde_json::from_slice(bytes);
    if fields.as_ref().is_ok_and(|fields| !fields.keys().any(|key| REQUIRED.contains(&key.as_str()))) {
        let required = REQUIRED.join(", ");
        findings.report(
            Rule::Checksum,
            format!("it has none of the fields that it must have: {required}; the file may be deleted"),
        );
        return;
    }
    let checksum: Checksum = match fields.and_then(|fields| serde_json::from_value(fields.into())) {
        Ok(checksum) => checksum,
        Err(error) => {
            findings.report(Rule::Checksum, format!("it cannot be read: {error}; the file may be deleted"));
            return;
        }
    };
    let Some(state) = state.filter(|state| state.version() == Some(version)) else { return };
    for difference in differences(&checksum, state) {
        findings.report(Rule::Checksum, difference);
    }
}

fn differences(checksum: &Checksum, state: &State) -> Vec<String> {
    let mut found = Vec::new();
    let files = state.replay.files();
    let mut number = |name: &str, stored: Option<i64>, computed: i128| {
        if let Some(stored) = stored
            && i128::from(stored) != computed
        {
            found.push(format!("{name} is {stored}, and the log comes to {computed}"));
        }
    };
    number("numFiles", checksum.num_files, files.len() as i128);
    number("tableSizeBytes", checksum.table_size_bytes, state.size);
    number("numMetadata", checksum.num_metadata, 1);
    number("numProtocol", checksum.num_protocol, 1);
    if checksum.num_deleted_records_opt.is_some() || checksum.num_deletion_vectors_opt.is_some() {
        let vectors = || files.values().filter_map(|add| add.deletion_vector.as_ref());
        let deleted = vectors().map(|vector| i128::from(vector.cardinality)).sum();
        number("numDeletedRecordsOpt", checksum.num_deleted_records_opt, deleted);
        number("numDeletionVectorsOpt", checksum.num_deletion_vectors_opt, vectors().count() as i128);
    }
    if let Some(own) = state.timestamp() {
        number("inCommitTimestampOpt", checksum.in_commit_timestamp_opt, own.into());
    }
    if checksum.protocol.is_some() {
        protocols(checksum.protocol.as_ref(), state.protocol(), &mut found);
    }
    if checksum.metadata.is_some() {
        metadata(checksum.metadata.as_ref(), state.metadata(), &mut found);
    }
    if let Some(stored) = &checksum.set_transactions {
        let stored: BTreeMap<&str, i64> =
            stored.iter().map(|transaction| (transaction.app_id.as_str(), transaction.version)).collect();
        let computed: BTreeMap<&str, i64> =
            state.replay.transactions().iter().map(|(app, transaction)| (app.as_str(), transaction.version)).collect();
        if stored != computed {
            found.push(format!("setTransactions are {stored:?}, and the log comes to {computed:?}"));
        }
    }
    if let Some(stored) = &checksum.domain_metadata {
        let stored: BTreeMap<&str, &str> = stored
            .iter()
            .filter(|domain| !domain.removed)
            .map(|domain| (domain.domain.as_str(), domain.configuration.as_str()))
            .collect();
        let computed: BTreeMap<&str, &str> = state
            .replay
            .domains()
            .iter()
            .map(|(name, domain)| (name.as_str(), domain.configuration.as_str()))
            .collect();
        if stored != computed {
            let names = |domains: &BTreeMap<&str, &str>| domains.keys().copied().collect::<Vec<_>>().join(", ");
            found.push(format!(
                "domainMetadata is that of [{}], and the log comes to other contents, of [{}]",
                names(&stored),
                names(&computed)
            ));
        }
    }
    if let Some(stored) = &checksum.all_files {
        let stored: BTreeSet<(FileKey, i64)> = stored.iter().map(|add| (add.key(), add.size)).collect();
        let wrong = stored.iter().filter(|(key, size)| files.get(key).is_none_or(|add| add.size != *size)).count();
        if wrong > 0 || stored.len() != files.len() {
            found.push(format!(
                "allFiles has {} files, of which {wrong} are not live or of another size, and the log comes to {}",
                stored.len(),
                files.len()
            ));
        }
    }
    found
}
