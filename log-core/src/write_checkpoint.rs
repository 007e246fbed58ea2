//! Writing a checkpoint of a table in a store.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    checkpoint::{CheckpointKind, EncodeError, EncodedCheckpoint, EncodedFile, encode},
    checksum::checksum,
    commit::Commit,
    last_checkpoint::{CheckpointFacts, LastCheckpoint, V2File},
    load::{LoadError, LoadSnapshot},
    log_note::LogNote,
    path::{
        CheckpointNaming, LAST_CHECKPOINT, LOG_FOLDER, LogFile, Version, before_version, checksum_path, commit_path,
    },
    segment::Listed,
    snapshot::Snapshot,
    store::{Answer, Bytes, Machine, Request, Response, Step, WriteAnswer},
};

/// How often a put that did not succeed for sure is made again.
pub const PUT_RETRIES: u32 = 3;

/// Loads a version and writes its checkpoint, then its version checksum and the hint. Comes to `None` when there is no table.
///
/// Sidecars are put first and the checkpoint's own file last, so that it is there as a whole or not at all; the hint follows when it is there.
/// Cut off anywhere, it leaves a log that reads as before. What it wrote until then is never taken for part of a checkpoint, and may stay.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct WriteCheckpoint {
    kind: CheckpointKind,
    load: LoadSnapshot,
    state: State,
}

/// What the outstanding request is about.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum State {
    /// The snapshot.
    Loading,
    /// The version's own commit.
    Commit { snapshot: Arc<Snapshot> },
    /// A file of the checkpoint.
    File { work: Work, index: usize, attempts: u32 },
    /// Some time goes by before a file is put again.
    Waiting { work: Work, index: usize, attempts: u32 },
    /// The version checksum.
    Checksum { work: Work },
    /// The hint that is there.
    OldHint { work: Work, checksum: ChecksumOutcome },
    /// What checkpoints there are, to decide what becomes of the hint.
    Beside { work: Work, checksum: ChecksumOutcome, old: OldHint },
    /// The hint, which is written, or removed.
    Hint { work: Work, checksum: ChecksumOutcome, then: HintOutcome },
    /// Nothing more.
    Done,
}

/// The hint that is there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum OldHint {
    None,
    Unreadable,
    Names(Version),
}

/// What is to be written.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Work {
    encoded: Arc<EncodedCheckpoint>,
    checksum: Option<Bytes>,
    now_ms: i64,
}

/// A checkpoint that was written.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct WrittenCheckpoint {
    /// The version whose state it holds.
    pub version: Version,
    /// Its files with their bytes, in the order in which they were written.
    pub files: Vec<(String, u64)>,
    /// Actions in it.
    pub actions: u64,
    /// Live files in it.
    pub add_files: u64,
    /// What became of the version checksum.
    pub checksum: ChecksumOutcome,
    /// What became of the hint.
    pub hint: HintOutcome,
    /// What was odd about the log.
    pub notes: BTreeSet<LogNote>,
}

/// What became of a version checksum.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ChecksumOutcome {
    /// It was written.
    Written,
    /// There was one, and they are never replaced.
    Present,
    /// Not all that is required is known.
    Unknown,
    /// The store did not take it. Nothing depends on it.
    Failed {
        /// What the store said.
        cause: String,
    },
}

/// What became of `_last_checkpoint`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum HintOutcome {
    /// It names the checkpoint.
    Replaced,
    /// It names a newer one, which is there, and stays.
    Newer {
        /// The version that it names.
        version: Version,
    },
    /// It was removed, or was not there: beside the checkpoint is one of the same version in several parts. DuckDB 1.5.5 takes one of the two at random, and
    /// refuses the table when the hint names another number of parts; without a hint it reads either.
    Removed,
    /// The store did not take it, or did not say what it is. Nothing depends on it.
    Failed {
        /// What the store said.
        cause: String,
    },
}

/// Why no checkpoint was written.
#[derive(Debug, thiserror::Error)]
pub enum WriteCheckpointError {
    /// The version cannot be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// No checkpoint can be made of it.
    #[error("version {version} cannot be given a checkpoint")]
    Encode {
        /// The version.
        version: Version,
        /// Why.
        #[source]
        source: EncodeError,
    },
    /// The store did not take a file.
    #[error(
        "the checkpoint of version {version} was not written: '{path}' could not be stored in {attempts} attempts: {cause}; the table reads as before"
    )]
    Put {
        /// The version.
        version: Version,
        /// The file.
        path: String,
        /// How often it was tried.
        attempts: u32,
        /// What the store said last.
        cause: String,
    },
}

type Next = Step<Result<Option<WrittenCheckpoint>, WriteCheckpointError>>;

impl WriteCheckpoint {
    /// A checkpoint of a version, or of the newest.
    pub fn new(version: Option<Version>, kind: CheckpointKind) -> Self {
        let load = version.map_or_else(LoadSnapshot::latest, LoadSnapshot::at).with_tombstones();
        Self { kind, load, state: State::Loading }
    }

    fn loading(&mut self, response: Response) -> Next {
        match self.load.advance(response) {
            Step::Request(request) => {
                self.state = State::Loading;
                Step::Request(request)
            }
            Step::Done(Err(error)) => Step::Done(Err(error.into())),
            Step::Done(Ok(None)) => Step::Done(Ok(None)),
            Step::Done(Ok(Some(snapshot))) => {
                let path = commit_path(snapshot.version);
                self.state = State::Commit { snapshot };
                Step::Request(Request::Get { path })
            }
        }
    }

    fn encode(&mut self, snapshot: &Snapshot, now_ms: i64, answer: Answer) -> Next {
        let version = snapshot.version;
        let encoded = match encode(snapshot, self.kind, now_ms) {
            Ok(encoded) => Arc::new(encoded),
            Err(source) => return Step::Done(Err(WriteCheckpointError::Encode { version, source })),
        };
        // Where the commit is gone the checkpoint that stands in for it was read, and where it is damaged the snapshot was not loaded from it.
        let commit = match answer {
            Answer::Content(Some(bytes)) => Commit::parse(version, &bytes).ok(),
            Answer::Content(None) | Answer::Unavailable { .. } => None,
            other => panic!("the driver answered a get with {other:?}"),
        };
        let checksum = checksum(snapshot, commit.as_ref().and_then(Commit::info)).map(Bytes::from);
        self.put(Work { encoded, checksum, now_ms }, 0, 0)
    }

    fn put(&mut self, work: Work, index: usize, attempts: u32) -> Next {
        let EncodedFile { path, bytes } = work.encoded.files[index].clone();
        self.state = State::File { work, index, attempts: attempts + 1 };
        // Whoever else writes a file of this name writes the same state: those of v2 checkpoints are named by a UUID, and of two classic ones
        // either may stay.
        Step::Request(Request::Put { path, bytes })
    }

    fn after_put(&mut self, work: Work, index: usize, attempts: u32, answer: Answer) -> Next {
        match written(answer) {
            WriteAnswer::Happened if index + 1 < work.encoded.files.len() => self.put(work, index + 1, 0),
            WriteAnswer::Happened => self.checksum(work),
            // Putting the same bytes again does no harm.
            _ if attempts <= PUT_RETRIES => {
                self.state = State::Waiting { work, index, attempts };
                Step::Request(Request::Backoff { attempt: attempts })
            }
            other => Step::Done(Err(WriteCheckpointError::Put {
                version: work.encoded.version,
                path: work.encoded.files[index].path.clone(),
                attempts,
                cause: cause(other),
            })),
        }
    }

    fn checksum(&mut self, work: Work) -> Next {
        let Some(bytes) = work.checksum.clone() else { return self.old_hint(work, ChecksumOutcome::Unknown) };
        let path = checksum_path(work.encoded.version);
        self.state = State::Checksum { work };
        Step::Request(Request::PutIfAbsent { path, bytes })
    }

    fn old_hint(&mut self, work: Work, checksum: ChecksumOutcome) -> Next {
        self.state = State::OldHint { work, checksum };
        Step::Request(Request::Get { path: LAST_CHECKPOINT.to_owned() })
    }

    fn after_old_hint(&mut self, work: Work, checksum: ChecksumOutcome, answer: Answer) -> Next {
        let old = match answer {
            Answer::Content(None) => OldHint::None,
            Answer::Content(Some(bytes)) => {
                LastCheckpoint::parse(&bytes).map_or(OldHint::Unreadable, |hint| OldHint::Names(hint.version))
            }
            Answer::Unavailable { cause } => return self.done(&work, checksum, HintOutcome::Failed { cause }),
            other => panic!("the driver answered a get with {other:?}"),
        };
        let after = before_version(work.encoded.version);
        self.state = State::Beside { work, checksum, old };
        Step::Request(Request::List { after })
    }

    /// A hint never goes back. One that leads nowhere is no hint.
    fn after_beside(&mut self, work: Work, checksum: ChecksumOutcome, old: OldHint, answer: Answer) -> Next {
        let listing = match answer {
            Answer::Listed(listing) => listing,
            Answer::Unavailable { cause } => return self.done(&work, checksum, HintOutcome::Failed { cause }),
            other => panic!("the driver answered a list with {other:?}"),
        };
        let version = work.encoded.version;
        let is_of = |path: &str, of| matches!(LogFile::of(path), LogFile::Checkpoint(file) if file.version == of);
        if let OldHint::Names(named) = old
            && named > version
            && listing.iter().any(|object| is_of(&object.path, named))
        {
            return self.done(&work, checksum, HintOutcome::Newer { version: named });
        }
        let whole = Listed::of(&listing).checkpoints;
        if whole.keys().any(|(of, naming, _)| *of == version && matches!(naming, CheckpointNaming::Part { .. })) {
            if old == OldHint::None {
                return self.done(&work, checksum, HintOutcome::Removed);
            }
            self.state = State::Hint { work, checksum, then: HintOutcome::Removed };
            return Step::Request(Request::Delete { path: LAST_CHECKPOINT.to_owned() });
        }
        self.hint(work, checksum)
    }

    fn hint(&mut self, work: Work, checksum: ChecksumOutcome) -> Next {
        let encoded = &work.encoded;
        let own = encoded.files.last().expect("a checkpoint has a file");
        let v2 = match self.kind {
            CheckpointKind::Classic => None,
            CheckpointKind::V2 { .. } => Some(V2File {
                name: own.path[LOG_FOLDER.len()..].to_owned(),
                size: own.bytes.len() as u64,
                modified_ms: work.now_ms,
            }),
        };
        let facts = CheckpointFacts {
            version: encoded.version,
            actions: encoded.actions,
            size: encoded.size(),
            add_files: encoded.add_files,
            v2,
        };
        self.state = State::Hint { work, checksum, then: HintOutcome::Replaced };
        Step::Request(Request::Put { path: LAST_CHECKPOINT.to_owned(), bytes: facts.hint().into() })
    }

    fn done(&self, work: &Work, checksum: ChecksumOutcome, hint: HintOutcome) -> Next {
        let encoded = &work.encoded;
        Step::Done(Ok(Some(WrittenCheckpoint {
            version: encoded.version,
            files: encoded.files.iter().map(|file| (file.path.clone(), file.bytes.len() as u64)).collect(),
            actions: encoded.actions,
            add_files: encoded.add_files,
            checksum,
            hint,
            notes: self.load.notes().clone(),
        })))
    }
}

fn written(answer: Answer) -> WriteAnswer {
    match answer {
        Answer::Write(answer) => answer,
        other => panic!("the driver answered a put with {other:?}"),
    }
}

/// What a store said that did not write.
fn cause(answer: WriteAnswer) -> String {
    match answer {
        WriteAnswer::DidNotHappen { cause } => cause,
        WriteAnswer::Unknown { cause } => format!("it is not known whether it was stored: {cause}"),
        WriteAnswer::AlreadyExists => "the store refuses to replace it".to_owned(),
        WriteAnswer::Happened => panic!("what happened has no cause"),
    }
}

impl Machine for WriteCheckpoint {
    type Output = Result<Option<WrittenCheckpoint>, WriteCheckpointError>;

    fn start(&mut self) -> Request {
        self.load.start()
    }

    fn advance(&mut self, response: Response) -> Next {
        let now_ms = response.now_ms;
        match std::mem::replace(&mut self.state, State::Done) {
            State::Loading => self.loading(response),
            State::Commit { snapshot } => self.encode(&snapshot, now_ms, response.answer),
            State::File { work, index, attempts } => self.after_put(work, index, attempts, response.answer),
            State::Waiting { work, index, attempts } => self.put(work, index, attempts),
            State::Checksum { work } => {
                let checksum = match written(response.answer) {
                    WriteAnswer::Happened => ChecksumOutcome::Written,
                    WriteAnswer::AlreadyExists => ChecksumOutcome::Present,
                    other => ChecksumOutcome::Failed { cause: cause(other) },
                };
                self.old_hint(work, checksum)
            }
            State::OldHint { work, checksum } => self.after_old_hint(work, checksum, response.answer),
            State::Beside { work, checksum, old } => self.after_beside(work, checksum, old, response.answer),
            State::Hint { work, checksum, then } => {
                let hint = match written(response.answer) {
                    WriteAnswer::Happened => then,
                    other => HintOutcome::Failed { cause: cause(other) },
                };
                self.done(&work, checksum, hint)
            }
            State::Done => panic!("a machine that is done takes no answers"),
        }
    }
}

#[cfg(test)]
mod tests;
