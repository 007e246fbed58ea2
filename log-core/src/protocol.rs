//! What a client must implement to read or write a table.

use std::collections::BTreeSet;

use crate::action::Protocol;

/// The reader version of a table that contend creates.
pub const READER_VERSION: i32 = 1;
/// The newest reader version without a list of features that this crate reads: 2 brought column mapping.
const PLAIN_READER_VERSION: i32 = 2;
/// The newest protocol that this crate writes without table features.
pub const WRITER_VERSION: i32 = 2;
/// Reader features that this crate implements (reader version 3). Of variants it reads what is stored, and carries it through.
const READER_FEATURES: [&str; 10] = [
    "columnMapping",
    "deletionVectors",
    "timestampNtz",
    "typeWidening",
    "typeWidening-preview",
    "v2Checkpoint",
    "vacuumProtocolCheck",
    "variantType",
    "variantType-preview",
    "variantShredding-preview",
];
/// Writer features that this crate implements (writer version 7). The last three ask nothing of one who appends and rewrites files: v2 checkpoints
/// may be written, domains that nobody mentions stay as they are, and nothing is vacuumed.
const WRITER_FEATURES: [&str; 5] =
    ["appendOnly", "invariants", "v2Checkpoint", "domainMetadata", "vacuumProtocolCheck"];

/// Features of which it is known what a checkpoint must hold of them. None but the last needs more than the actions themselves: what those
/// say (row ids, domains, properties of columns, deletion vectors) has its column. A feature that is not here may bring actions or fields that a checkpoint would lose.
const CHECKPOINT_FEATURES: [&str; 28] = [
    "allowColumnDefaults",
    "appendOnly",
    "changeDataFeed",
    "checkConstraints",
    "clustering",
    "columnMapping",
    "deletionVectors",
    "domainMetadata",
    "generatedColumns",
    "icebergCompatV1",
    "icebergCompatV2",
    "icebergCompatV3",
    "identityColumns",
    "inCommitTimestamp",
    "inCommitTimestamp-preview",
    "invariants",
    "materializePartitionColumns",
    "rowTracking",
    "timestampNtz",
    "typeWidening",
    "typeWidening-preview",
    "vacuumProtocolCheck",
    "variantType",
    "variantType-preview",
    "variantShredding",
    "variantShredding-preview",
    "checkpointProtection",
    "v2Checkpoint",
];

/// Features that version numbers brought before there were lists, with the least reader and writer version that has each ("Valid Feature Names
/// in Table Features").
const IMPLIED_FEATURES: [(&str, i32, i32); 7] = [
    ("appendOnly", 1, 2),
    ("invariants", 1, 2),
    ("checkConstraints", 1, 3),
    ("changeDataFeed", 1, 4),
    ("generatedColumns", 1, 4),
    ("columnMapping", 2, 5),
    ("identityColumns", 1, 6),
];

/// A table that needs more than a client implements.
#[derive(Clone, PartialEq, Eq, Hash, Debug, thiserror::Error)]
#[error("the table cannot be {what}: it needs {needs}, which {client} does not implement")]
pub struct Unsupported {
    /// `read`, `written` or `given a checkpoint`.
    pub what: &'static str,
    /// Versions or features.
    pub needs: String,
    /// Who does not implement them; [`CLIENT`] is this crate.
    pub client: &'static str,
}

/// This crate, where it is named beside other clients.
pub const CLIENT: &str = "this build of contend";

impl Protocol {
    /// The protocol of a table that contend creates.
    pub fn of_new_table() -> Self {
        Self { min_reader_version: READER_VERSION, min_writer_version: WRITER_VERSION, ..Self::default() }
    }

    /// The features of the table: those listed, and below writer version 7 those that the version numbers imply.
    pub fn features(&self) -> BTreeSet<&str> {
        let listed = [&self.reader_features, &self.writer_features].into_iter().flatten().flatten().map(String::as_str);
        let implied = IMPLIED_FEATURES.into_iter().filter(|(_, reader, writer)| {
            (*writer..7).contains(&self.min_writer_version) && self.min_reader_version >= *reader
        });
        listed.chain(implied.map(|(feature, ..)| feature)).collect()
    }

    /// The protocol with another feature for readers and writers, by lists: what the version numbers implied is listed too.
    pub fn with_feature(&self, feature: &str) -> Self {
        let mut all: BTreeSet<&str> = self.features();
        all.insert(feature);
        let is_for_readers = |name: &&str| {
            *name == feature
                || READER_FEATURES.contains(name)
                || self.reader_features.iter().flatten().any(|listed| listed == name)
        };
        let owned = |names: Vec<&str>| Some(names.into_iter().map(str::to_owned).collect());
        Self {
            min_reader_version: 3,
            min_writer_version: 7,
            reader_features: owned(all.iter().copied().filter(is_for_readers).collect()),
            writer_features: owned(all.into_iter().collect()),
            extra: self.extra.clone(),
        }
    }

    /// May this crate read the table?
    ///
    /// # Errors
    /// When it may not, naming the version or the features.
    pub fn check_readable(&self) -> Result<(), Unsupported> {
        let features = self.reader_features.as_deref();
        check("read", "reader", self.min_reader_version, PLAIN_READER_VERSION, 3, features, &READER_FEATURES)
    }

    /// May this crate write checkpoints of the table? That changes nothing of the table, so less is needed than for
    /// [writing](Self::check_writable) it: to read it, and to know of each feature what a checkpoint must hold.
    ///
    /// # Errors
    /// When it may not, naming the version or the features.
    pub fn check_checkpointable(&self) -> Result<(), Unsupported> {
        self.check_readable()?;
        let what = "given a checkpoint";
        let features = self.writer_features.as_deref();
        // Below 7, versions stand for features that are all known.
        check(what, "writer", self.min_writer_version, 6, 7, features, &CHECKPOINT_FEATURES)?;
        let features = self.reader_features.as_deref();
        check(what, "reader", self.min_reader_version, PLAIN_READER_VERSION, 3, features, &CHECKPOINT_FEATURES)
    }

    /// May this crate write the table? Whoever writes must be able to read as well, and keep to what readers are told.
    ///
    /// # Errors
    /// When it may not, naming the version or the features.
    pub fn check_writable(&self) -> Result<(), Unsupported> {
        self.check_readable()?;
        let features = self.writer_features.as_deref();
        check("written", "writer", self.min_writer_version, WRITER_VERSION, 7, features, &WRITER_FEATURES)?;
        // What readers must know stands in both lists. Should it be missing in the writers', it counts all the same.
        let features = self.reader_features.as_deref();
        check("written", "reader", self.min_reader_version, READER_VERSION, 3, features, &WRITER_FEATURES)
    }
}

fn check(
    what: &'static str,
    role: &str,
    version: i32,
    plain: i32,
    by_features: i32,
    features: Option<&[String]>,
    known: &[&str],
) -> Result<(), Unsupported> {
    if version <= plain {
        return Ok(());
    }
    let refuse = |needs| Err(Unsupported { what, needs, client: CLIENT });
    if version != by_features {
        return refuse(format!("{role} version {version}"));
    }
    let Some(features) = features else {
        return refuse(format!("{role} version {version} with a list of features, which is missing"));
    };
    let unknown: Vec<&str> = features.iter().map(String::as_str).filter(|feature| !known.contains(feature)).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    refuse(format!("the {role} features {}", unknown.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn features(names: &[&str]) -> Option<Vec<String>> {
        Some(names.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn an_unknown_reader_feature_refuses_reading_and_writing() {
        let protocol = Protocol {
            min_reader_version: 3,
            min_writer_version: 7,
            reader_features: features(&["neverHeardOfIt"]),
            writer_features: features(&["neverHeardOfIt"]),
            ..Protocol::default()
        };
        let message = protocol.check_readable().unwrap_err().to_string();
        assert!(message.contains("neverHeardOfIt"), "{message}");
        assert!(protocol.check_writable().is_err());
    }

    #[test]
    fn an_unknown_writer_feature_refuses_writing_only() {
        let protocol = Protocol {
            min_reader_version: 1,
            min_writer_version: 7,
            writer_features: features(&["appendOnly", "rowTracking"]),
            ..Protocol::default()
        };
        assert_eq!(protocol.check_readable(), Ok(()));
        assert_eq!(protocol.check_writable().unwrap_err().needs, "the writer features rowTracking");
    }

    #[test]
    fn below_lists_the_versions_imply_the_features() {
        let check = |reader, writer, list: &[&str], expected: &[&str]| {
            let protocol = Protocol {
                min_reader_version: reader,
                min_writer_version: writer,
                writer_features: features(list),
                ..Protocol::default()
            };
            assert_eq!(protocol.features().into_iter().collect::<Vec<_>>(), expected, "{reader}, {writer}, {list:?}");
        };
        check(1, 1, &[], &[]);
        check(1, 2, &[], &["appendOnly", "invariants"]);
        check(1, 7, &[], &[]);
        check(1, 7, &["invariants", "invariants"], &["invariants"]);
        check(1, 5, &[], &["appendOnly", "changeDataFeed", "checkConstraints", "generatedColumns", "invariants"]);
        check(2, 4, &[], &["appendOnly", "changeDataFeed", "checkConstraints", "generatedColumns", "invariants"]);
        check(
            2,
            6,
            &[],
            &[
                "appendOnly",
                "changeDataFeed",
                "checkConstraints",
                "columnMapping",
                "generatedColumns",
                "identityColumns",
                "invariants",
            ],
        );
    }

    #[test]
    fn with_a_feature_more_everything_is_listed() {
        let check = |reader, writer, lists: [&[&str]; 2], expected: [&[&str]; 2]| {
            let protocol = Protocol {
                min_reader_version: reader,
                min_writer_version: writer,
                reader_features: (reader == 3).then(|| features(lists[0])).flatten(),
                writer_features: (writer == 7).then(|| features(lists[1])).flatten(),
                ..Protocol::default()
            };
            let more = protocol.with_feature("v2Checkpoint");
            assert_eq!((more.min_reader_version, more.min_writer_version), (3, 7));
            assert_eq!([more.reader_features, more.writer_features], expected.map(features), "{protocol:?}");
        };
        check(1, 2, [&[], &[]], [&["v2Checkpoint"], &["appendOnly", "invariants", "v2Checkpoint"]]);
        check(1, 7, [&[], &["domainMetadata"]], [&["v2Checkpoint"], &["domainMetadata", "v2Checkpoint"]]);
        check(
            2,
            5,
            [&[], &[]],
            [
                &["columnMapping", "v2Checkpoint"],
                &[
                    "appendOnly",
                    "changeDataFeed",
                    "checkConstraints",
                    "columnMapping",
                    "generatedColumns",
                    "invariants",
                    "v2Checkpoint",
                ],
            ],
        );
        check(
            3,
            7,
            [&["odd"], &["odd", "appendOnly"]],
            [&["odd", "v2Checkpoint"], &["appendOnly", "odd", "v2Checkpoint"]],
        );
    }

    /// Report 21.
    #[test]
    fn lists_that_no_version_asks_for_are_tolerated() {
        let lists = (features(&[]), features(&[]));
        let protocol = Protocol { reader_features: lists.0, writer_features: lists.1, ..Protocol::of_new_table() };
        assert_eq!(protocol.check_writable(), Ok(()));
    }

    #[test]
    fn a_version_with_features_needs_its_list() {
        let protocol = Protocol { min_reader_version: 3, min_writer_version: 7, ..Protocol::default() };
        assert!(protocol.check_readable().is_err());
    }

    /// Report 21, and which features of which tables are read or written.
    #[test]
    fn features_go_by_their_names() {
        let check = |reader, writer, listed: [&[&str]; 2], expected: [&str; 2]| {
            let protocol = Protocol {
                min_reader_version: reader,
                min_writer_version: writer,
                reader_features: (reader == 3).then(|| features(listed[0])).flatten(),
                writer_features: (writer == 7).then(|| features(listed[1])).flatten(),
                ..Protocol::default()
            };
            let needs = |result: Result<(), Unsupported>| result.err().map_or(String::new(), |error| error.needs);
            let found = [needs(protocol.check_readable()), needs(protocol.check_writable())];
            assert_eq!(found, expected, "{protocol:?}");
        };
        check(1, 2, [&[], &[]], ["", ""]);
        check(2, 5, [&[], &[]], ["", "writer version 5"]);
        check(2, 2, [&[], &[]], ["", "reader version 2"]);
        check(99, 7, [&[], &[]], ["reader version 99", "reader version 99"]);
        check(3, 7, [&[], &[]], ["", ""]);
        check(3, 7, [&["v2Checkpoint"], &["v2Checkpoint", "appendOnly", "invariants", "domainMetadata"]], ["", ""]);
        let vectors: [&[&str]; 2] = [&["deletionVectors", "columnMapping"], &["deletionVectors", "columnMapping"]];
        check(3, 7, vectors, ["", "the writer features deletionVectors, columnMapping"]);
        check(3, 7, [&["timestampNtz"], &[]], ["", "the reader features timestampNtz"]);
        let managed: [&[&str]; 2] = [&["catalogManaged", "variantType", "geospatial"], &["catalogManaged"]];
        let refused = "the reader features catalogManaged, geospatial";
        check(3, 7, managed, [refused, refused]);
        check(3, 7, [&["catalogOwned-preview"], &[]], ["the reader features catalogOwned-preview"; 2]);
        check(
            1,
            7,
            [&[], &["inCommitTimestamp", "rowTracking"]],
            ["", "the writer features inCommitTimestamp, rowTracking"],
        );
    }
}
