//! The rules by which a table is checked, by name.

use std::fmt;

/// What can be wrong with a table, or worth a note. Which sentence of the protocol each one stands on is written in `sim/docs/check.md`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "the identifiers say it, and the documentation of the program has a line for each")]
pub enum Rule {
    TornCommit,
    EmptyCommit,
    UnreadableFile,
    Gap,
    UnknownState,
    DuplicateAction,
    MisplacedAction,
    MissingProtocol,
    MissingMetadata,
    Schema,
    InvalidProtocol,
    UnsupportedFeature,
    RemoveMatchesNothing,
    LiveTwice,
    AlreadyLive,
    AppendOnly,
    RearrangedRows,
    RowIds,
    InCommitTimestamp,
    ClockRegression,
    RepeatedTransaction,
    ReadVersion,
    BlindAppend,
    UndeclaredFeature,
    FileSize,
    PartitionValues,
    Statistics,
    Checksum,
    CheckpointUnreadable,
    CheckpointIncomplete,
    CheckpointDiffers,
    CompactionUnreadable,
    CompactionDiffers,
    LastCheckpoint,
    EmptyFile,
    StrayFile,
    DataPath,
    DataMissing,
    DataSize,
    DataUnreadable,
    DeletionVector,
    NumRecords,
    Bounds,
    NullCount,
    PartitionColumnStored,
    OrphanFile,
    YoungFile,
    NotChecked,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Self; 48] = [
        Self::TornCommit,
        Self::EmptyCommit,
        Self::UnreadableFile,
        Self::Gap,
        Self::UnknownState,
        Self::DuplicateAction,
        Self::MisplacedAction,
        Self::MissingProtocol,
        Self::MissingMetadata,
        Self::Schema,
        Self::InvalidProtocol,
        Self::UnsupportedFeature,
        Self::RemoveMatchesNothing,
        Self::LiveTwice,
        Self::AlreadyLive,
        Self::AppendOnly,
        Self::RearrangedRows,
        Self::RowIds,
        Self::InCommitTimestamp,
        Self::ClockRegression,
        Self::RepeatedTransaction,
        Self::ReadVersion,
        Self::BlindAppend,
        Self::UndeclaredFeature,
        Self::FileSize,
        Self::PartitionValues,
        Self::Statistics,
        Self::Checksum,
        Self::CheckpointUnreadable,
        Self::CheckpointIncomplete,
        Self::CheckpointDiffers,
        Self::CompactionUnreadable,
        Self::CompactionDiffers,
        Self::LastCheckpoint,
        Self::EmptyFile,
        Self::StrayFile,
        Self::DataPath,
        Self::DataMissing,
        Self::DataSize,
        Self::DataUnreadable,
        Self::DeletionVector,
        Self::NumRecords,
        Self::Bounds,
        Self::NullCount,
        Self::PartitionColumnStored,
        Self::OrphanFile,
        Self::YoungFile,
        Self::NotChecked,
    ];

    /// Its name in reports.
    pub fn id(self) -> &'static str {
        match self {
            Self::TornCommit => "torn-commit",
            Self::EmptyCommit => "empty-commit",
            Self::UnreadableFile => "unreadable-file",
            Self::Gap => "gap",
            Self::UnknownState => "unknown-state",
            Self::DuplicateAction => "duplicate-action",
            Self::MisplacedAction => "misplaced-action",
            Self::MissingProtocol => "missing-protocol",
            Self::MissingMetadata => "missing-metadata",
            Self::Schema => "schema",
            Self::InvalidProtocol => "invalid-protocol",
            Self::UnsupportedFeature => "unsupported-feature",
            Self::RemoveMatchesNothing => "remove-matches-nothing",
            Self::LiveTwice => "live-twice",
            Self::AlreadyLive => "already-live",
            Self::AppendOnly => "append-only",
            Self::RearrangedRows => "rearranged-rows",
            Self::RowIds => "row-ids",
            Self::InCommitTimestamp => "in-commit-timestamp",
            Self::ClockRegression => "clock-regression",
            Self::RepeatedTransaction => "repeated-transaction",
            Self::ReadVersion => "read-version",
            Self::BlindAppend => "blind-append",
            Self::UndeclaredFeature => "undeclared-feature",
            Self::FileSize => "file-size",
            Self::PartitionValues => "partition-values",
            Self::Statistics => "statistics",
            Self::Checksum => "checksum",
            Self::CheckpointUnreadable => "checkpoint-unreadable",
            Self::CheckpointIncomplete => "checkpoint-incomplete",
            Self::CheckpointDiffers => "checkpoint-differs",
            Self::CompactionUnreadable => "compaction-unreadable",
            Self::CompactionDiffers => "compaction-differs",
            Self::LastCheckpoint => "last-checkpoint",
            Self::EmptyFile => "empty-file",
            Self::StrayFile => "stray-file",
            Self::DataPath => "data-path",
            Self::DataMissing => "data-missing",
            Self::DataSize => "data-size",
            Self::DataUnreadable => "data-unreadable",
            Self::DeletionVector => "deletion-vector",
            Self::NumRecords => "num-records",
            Self::Bounds => "bounds",
            Self::NullCount => "null-count",
            Self::PartitionColumnStored => "partition-column-stored",
            Self::OrphanFile => "orphan-file",
            Self::YoungFile => "young-file",
            Self::NotChecked => "not-checked",
        }
    }

    /// Is it no defect of the table, but something that its owner may want to know?
    pub fn is_note(self) -> bool {
        matches!(
            self,
            Self::EmptyCommit
                | Self::UnknownState
                | Self::UnsupportedFeature
                | Self::AlreadyLive
                | Self::ClockRegression
                | Self::ReadVersion
                | Self::BlindAppend
                | Self::Statistics
                | Self::CheckpointIncomplete
                | Self::LastCheckpoint
                | Self::EmptyFile
                | Self::StrayFile
                | Self::PartitionColumnStored
                | Self::OrphanFile
                | Self::YoungFile
                | Self::NotChecked
        )
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.id())
    }
}
