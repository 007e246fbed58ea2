//! Table features, and which of them a client implements.

use std::collections::BTreeMap;

use log_core::{action::Protocol, protocol::Unsupported};

/// Row ids and row commit versions.
pub const ROW_TRACKING: &str = "rowTracking";
/// Configuration by domain.
pub const DOMAIN_METADATA: &str = "domainMetadata";
/// Deleted rows of a file, in a file of their own.
pub const DELETION_VECTORS: &str = "deletionVectors";
/// Logical names of columns apart from those in the data files.
pub const COLUMN_MAPPING: &str = "columnMapping";
/// Checkpoints of the second kind.
pub const V2_CHECKPOINT: &str = "v2Checkpoint";
/// Times of commits that the log itself orders.
pub const IN_COMMIT_TIMESTAMP: &str = "inCommitTimestamp";
/// Clustered tables.
pub const CLUSTERING: &str = "clustering";
/// History is kept readable after a feature was dropped.
pub const CHECKPOINT_PROTECTION: &str = "checkpointProtection";
/// Conditions that every row meets.
pub const CHECK_CONSTRAINTS: &str = "checkConstraints";
/// The catalog decides which commit wins.
pub const CATALOG_MANAGED: &str = "catalogManaged";
/// Column types that were widened.
pub const TYPE_WIDENING: [&str; 2] = ["typeWidening", "typeWidening-preview"];

/// The domain of row tracking, which is merged and never conflicts.
pub const ROW_TRACKING_DOMAIN: &str = "delta.rowTracking";
/// The domain of clustering.
pub const CLUSTERING_DOMAIN: &str = "delta.clustering";

/// The property that switches row tracking on.
pub const ROW_TRACKING_ENABLED: &str = "delta.enableRowTracking";
/// The property that switches type widening on.
pub const TYPE_WIDENING_ENABLED: &str = "delta.enableTypeWidening";

/// Is the value of a boolean property true?
pub(crate) fn is_true(value: &str) -> bool {
    value.eq_ignore_ascii_case("true")
}

/// Is a boolean property set to true?
pub(crate) fn is_on(properties: &BTreeMap<String, String>, key: &str) -> bool {
    properties.get(key).is_some_and(|value| is_true(value))
}

/// What Delta Spark 4 reads and writes.
const DELTA_SPARK: [&str; 30] = [
    "allowColumnDefaults",
    "appendOnly",
    "catalogManaged",
    "catalogOwned-preview",
    "changeDataFeed",
    "checkConstraints",
    "checkpointProtection",
    "clustering",
    "columnMapping",
    "coordinatedCommits-preview",
    "deletionVectors",
    "domainMetadata",
    "generatedColumns",
    "icebergCompatV1",
    "icebergCompatV2",
    "icebergCompatV3",
    "identityColumns",
    "inCommitTimestamp",
    "invariants",
    "materializePartitionColumns",
    "rowTracking",
    "timestampNtz",
    "typeWidening",
    "typeWidening-preview",
    "v2Checkpoint",
    "vacuumProtocolCheck",
    "variantShredding",
    "variantShredding-preview",
    "variantType",
    "variantType-preview",
];

/// Features that change nothing for a transaction that was prepared before they were there (Delta Spark,
/// `failConcurrentTransactionsAtUpgrade`).
const HARMLESS_WHEN_ADDED: [&str; 16] = [
    "appendOnly",
    "catalogManaged",
    "changeDataFeed",
    "columnMapping",
    "deletionVectors",
    "domainMetadata",
    "icebergCompatV1",
    "icebergCompatV2",
    "icebergCompatV3",
    "inCommitTimestamp",
    "rowTracking",
    "timestampNtz",
    "typeWidening",
    "typeWidening-preview",
    "v2Checkpoint",
    "vacuumProtocolCheck",
];

/// Who carries a transaction out, and so which protocols it can go on under.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Client {
    /// This program, which writes what [`Protocol::check_writable`] says.
    #[default]
    Contend,
    /// Delta Spark 4, as far as the rules need to know it: for judging what it would do.
    DeltaSpark,
}

impl Client {
    /// Can it read and write under a protocol?
    ///
    /// # Errors
    /// When it cannot, naming the versions or the features.
    pub fn check(self, protocol: &Protocol) -> Result<(), Unsupported> {
        match self {
            Self::Contend => protocol.check_writable(),
            Self::DeltaSpark => {
                let versions = (protocol.min_reader_version, protocol.min_writer_version);
                let unknown: Vec<&str> =
                    protocol.features().into_iter().filter(|feature| !DELTA_SPARK.contains(feature)).collect();
                let needs = match unknown.as_slice() {
                    _ if versions.0 > 3 || versions.1 > 7 => {
                        format!("reader version {} and writer version {}", versions.0, versions.1)
                    }
                    [] => return Ok(()),
                    unknown => format!("the features {}", unknown.join(", ")),
                };
                Err(Unsupported { what: "written", needs, client: "Delta Spark 4" })
            }
        }
    }
}

/// Does a protocol list a feature? Exact for features that came after the lists; for older ones ask [`supports`].
pub fn lists(protocol: &Protocol, feature: &str) -> bool {
    [&protocol.writer_features, &protocol.reader_features].into_iter().flatten().flatten().any(|name| name == feature)
}

/// Does a protocol have a feature, listed or implied by its versions?
pub fn supports(protocol: &Protocol, feature: &str) -> bool {
    lists(protocol, feature) || protocol.features().contains(feature)
}

/// Features of one protocol that another does not have.
pub fn missing<'a>(from: &Protocol, of: &'a Protocol) -> Vec<&'a str> {
    let kept = from.features();
    of.features().into_iter().filter(|feature| !kept.contains(feature)).collect()
}

/// Does a feature that is new ask something of every transaction, also of one that was prepared without it?
pub fn fails_at_upgrade(feature: &str) -> bool {
    !HARMLESS_WHEN_ADDED.contains(&feature)
}

#[cfg(test)]
mod tests;
