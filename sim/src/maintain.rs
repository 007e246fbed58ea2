//! Keeping a real table in order: its checkpoints, and the feature that those of the second kind need.

mod render;

use std::{
    collections::hash_map::RandomState,
    hash::{BuildHasher, Hasher},
    process,
    sync::Arc,
};

use conflict::{
    commit_loop::{CommitLoop, CommitLoopError, DEFAULT_COMMIT_RETRIES, Outcome},
    isolation::{IsolationLevel, UnknownLevel},
    rules::{Conflict, RuleSet},
    transaction::{Operation, ReadSet, Transaction},
};
use log_core::{
    action::{Action, CommitInfo},
    checkpoint::{CheckpointKind, V2_FEATURE},
    commit::Commit,
    load::{LoadError, LoadSnapshot},
    path::{Version, commit_path},
    protocol::{CLIENT, Unsupported},
    snapshot::Snapshot,
    store::{Answer, Request, Response, drive},
    time_travel::{InCommitTimestamps, PropertyError},
    write_checkpoint::{WriteCheckpoint, WriteCheckpointError, WrittenCheckpoint},
};
use serde_json::json;
use sha2::{Digest, Sha256};

pub use render::{maintained_json, maintained_text};

use crate::real::local_directory::now_ms;

/// In-commit timestamps before they were final.
const TIMESTAMP_PREVIEW: &str = "inCommitTimestamp-preview";

/// What was done.
#[derive(Debug)]
pub struct Maintained {
    /// The version of the commit that added the feature; `None` where there was nothing to add.
    pub upgraded: Option<Version>,
    /// The checkpoint. Where a commit was made before it, that it could not be written does not undo the commit.
    pub checkpoint: Result<WrittenCheckpoint, WriteCheckpointError>,
}

/// Why nothing was done.
#[derive(Debug, thiserror::Error)]
pub enum MaintainError {
    /// There is no table.
    #[error("it is not a Delta table: it has no commits in _delta_log")]
    NotATable,
    /// It cannot be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// It may not be written.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// Its isolation level is none.
    #[error(transparent)]
    Level(#[from] UnknownLevel),
    /// The table's commits must be later than one of which the time is not known.
    #[error(
        "the feature {V2_FEATURE} was not added: the commits of the table carry their time, and that of version {version} cannot be read, so nobody knows what \
         comes after it; restore the commit from a copy of the table"
    )]
    NoTimestamp {
        /// The commit.
        version: Version,
    },
    /// The table's properties make no sense.
    #[error(transparent)]
    Property(#[from] PropertyError),
    /// No checkpoint was written, and no commit was made.
    #[error(transparent)]
    Checkpoint(#[from] WriteCheckpointError),
    /// The commit met a log that is damaged.
    #[error("the feature {V2_FEATURE} was not added")]
    Commit(#[from] CommitLoopError),
    /// Another commit stands against it.
    #[error("the feature {V2_FEATURE} was not added, and nothing was written: {0}; try again")]
    Conflict(Box<Conflict>),
    /// There was no getting through.
    #[error(
        "the feature {V2_FEATURE} was not added in {attempts} attempts, and nothing was written: {last}; try again"
    )]
    Exhausted {
        /// How many puts were made.
        attempts: u32,
        /// What stood against the last one.
        last: String,
    },
    /// Nobody knows.
    #[error(
        "it is not known whether the feature {V2_FEATURE} was added: the store did not say whether version {version} was written; look at it later"
    )]
    Unknown {
        /// The version of the unclear put.
        version: Version,
    },
}

/// Writes a checkpoint of a version, or of the newest; before that, where `upgrade` names a transaction, adds the feature that v2 checkpoints need, unless
/// the table has it.
///
/// # Errors
/// When nothing was written. A checkpoint that fails after a commit is no error of the whole.
pub fn checkpoint(
    answer: &mut dyn FnMut(Request) -> Response,
    version: Option<Version>,
    kind: CheckpointKind,
    upgrade: Option<String>,
) -> Result<Maintained, MaintainError> {
    let upgraded = match upgrade {
        Some(txn_id) => add_v2_feature(answer, txn_id)?,
        None => None,
    };
    let checkpoint = match drive(WriteCheckpoint::new(version, kind), &mut *answer) {
        Ok(Some(written)) => Ok(written),
        Ok(None) => return Err(MaintainError::NotATable),
        Err(error) if upgraded.is_none() => return Err(error.into()),
        Err(error) => Err(error),
    };
    Ok(Maintained { upgraded, checkpoint })
}

/// Commits the protocol with the feature; `None` where the table has it.
fn add_v2_feature(
    answer: &mut dyn FnMut(Request) -> Response,
    txn_id: String,
) -> Result<Option<Version>, MaintainError> {
    let mut now_ms = 0;
    let mut timed = |request| {
        let response = answer(request);
        now_ms = response.now_ms;
        response
    };
    let snapshot = drive(LoadSnapshot::latest(), &mut timed)?.ok_or(MaintainError::NotATable)?;
    if snapshot.protocol.features().contains(V2_FEATURE) {
        return Ok(None);
    }
    let rules = RuleSet::delta_spark();
    let mut transaction = upgrade(snapshot.clone(), &rules, txn_id)?;
    if InCommitTimestamps::of(&snapshot.metadata.configuration)?.is_some() {
        transaction.rebased.after_ms = Some(in_commit_timestamp(snapshot.version, &mut timed)?);
    }
    let machine = CommitLoop::new(Arc::new(transaction), Arc::new(rules), DEFAULT_COMMIT_RETRIES, now_ms)?;
    match drive(machine, answer)? {
        Outcome::Committed { version, .. } => Ok(Some(version)),
        Outcome::Conflict(conflict) => Err(MaintainError::Conflict(Box::new(conflict))),
        Outcome::Exhausted { attempts, last } => Err(MaintainError::Exhausted { attempts, last }),
        Outcome::Unknown { version } => Err(MaintainError::Unknown { version }),
    }
}

/// When a commit was made, as it says itself.
fn in_commit_timestamp(version: Version, answer: &mut dyn FnMut(Request) -> Response) -> Result<i64, MaintainError> {
    let content = match answer(Request::Get { path: commit_path(version) }).answer {
        Answer::Content(content) => content,
        Answer::Unavailable { cause } => return Err(LoadError::Store { cause }.into()),
        other => panic!("the driver answered a get with {other:?}"),
    };
    let commit = content.and_then(|bytes| Commit::parse(version, &bytes).ok());
    let own = commit.as_ref().and_then(Commit::info).and_then(CommitInfo::in_commit_timestamp);
    own.ok_or(MaintainError::NoTimestamp { version })
}

/// The protocol is all that is committed, so it needs no more of a writer than a checkpoint does: no feature asks anything of a commit without files, but for its time.
fn upgrade(snapshot: Arc<Snapshot>, rules: &RuleSet, txn_id: String) -> Result<Transaction, MaintainError> {
    snapshot.protocol.check_checkpointable()?;
    // Its property has another name, and what exactly its commits must say is written nowhere.
    if snapshot.protocol.features().contains(TIMESTAMP_PREVIEW) {
        let needs = format!("the writer features {TIMESTAMP_PREVIEW}");
        return Err(Unsupported { what: "written", needs, client: CLIENT }.into());
    }
    let level = IsolationLevel::of_table(&snapshot.metadata.configuration, rules.default_level)?;
    let protocol = snapshot.protocol.with_feature(V2_FEATURE);
    let parameters = json!({ "newProtocol": serde_json::to_string(&protocol).expect("a protocol is JSON") });
    let operation = Operation {
        name: "UPGRADE PROTOCOL".to_owned(),
        parameters: parameters.as_object().expect("it was written as one").clone(),
        ..Operation::default()
    };
    let actions = vec![Action::Protocol(protocol)];
    Ok(Transaction::new(Some(snapshot), ReadSet::default(), operation, actions, level, txn_id))
}

/// A UUID that nobody else has: version 8 of RFC 9562, from the randomness of the system, the clock and the process.
pub fn unique_id() -> u128 {
    let random = || RandomState::new().build_hasher().finish();
    let digest = Sha256::digest(format!("{} {} {} {}", random(), random(), now_ms(), process::id()));
    let bytes = u128::from_be_bytes(digest[..16].try_into().expect("it has 32 bytes"));
    bytes & !(0xf << 76) & !(0x3 << 62) | 0x8 << 76 | 0x2 << 62
}

#[cfg(test)]
mod tests;
