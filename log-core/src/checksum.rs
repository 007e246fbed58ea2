//! Version checksum files: what a version adds up to, so that whoever reads it can check ("Version Checksum File" of the protocol).

use serde::Serialize;

use crate::{
    action::{CommitInfo, DomainMetadata, Metadata, Protocol, SetTransaction},
    snapshot::Snapshot,
};

/// The property by which commits have times of their own.
const IN_COMMIT_TIMESTAMPS: &str = "delta.enableInCommitTimestamps";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Checksum<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    txn_id: Option<&'a str>,
    table_size_bytes: i64,
    num_files: usize,
    num_metadata: u8,
    num_protocol: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    in_commit_timestamp_opt: Option<i64>,
    set_transactions: Vec<&'a SetTransaction>,
    domain_metadata: Vec<&'a DomainMetadata>,
    metadata: &'a Metadata,
    protocol: &'a Protocol,
}

/// The bytes of the checksum of a version. `info` is the provenance of the version's own commit, `None` where that is gone or has none.
///
/// `None` where not all that is required is known: the sizes add up to no 64-bit number, or the version needs an in-commit timestamp that nobody
/// knows any more.
pub fn checksum(snapshot: &Snapshot, info: Option<&CommitInfo>) -> Option<Vec<u8>> {
    let mut table_size_bytes: i64 = 0;
    for add in snapshot.adds() {
        table_size_bytes = table_size_bytes.checked_add(add.size)?;
    }
    let timed = snapshot.property(IN_COMMIT_TIMESTAMPS).is_some_and(|text| text.eq_ignore_ascii_case("true"));
    let in_commit_timestamp_opt = match timed {
        true => Some(info?.in_commit_timestamp()?),
        false => None,
    };
    let checksum = Checksum {
        txn_id: info.and_then(CommitInfo::txn_id),
        table_size_bytes,
        num_files: snapshot.files.len(),
        num_metadata: 1,
        num_protocol: 1,
        in_commit_timestamp_opt,
        set_transactions: snapshot.transactions.values().collect(),
        domain_metadata: snapshot.domains.values().collect(),
        metadata: &snapshot.metadata,
        protocol: &snapshot.protocol,
    };
    Some(serde_json::to_vec(&checksum).expect("structs with text keys are JSON"))
}

#[cfg(test)]
mod tests;
