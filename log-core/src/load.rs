//! Loading a snapshot from a store.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    action::Action,
    checkpoint::{Checkpoint, CheckpointError},
    commit::{self, Commit, CommitError},
    error_chain::error_chain,
    last_checkpoint::LastCheckpoint,
    log_note::LogNote,
    path::{LAST_CHECKPOINT, LOG_FOLDER, LogFile, Version, before_version, commit_path},
    protocol::Unsupported,
    segment::{CheckpointParts, Segment, SegmentError},
    snapshot::{Replay, ReplayError, Snapshot},
    store::{Answer, Bytes, Machine, ObjectMeta, Request, Response, Step},
};

/// Lists the log, reads the newest checkpoint and what came after it, replays it. Comes to `None` when there is no table.
///
/// It asks for a listing, then for the contents of the checkpoint's files and the commits at once, then, where a checkpoint has sidecars, for those. A checkpoint or
/// compaction that turns out to be of no use is noted, and older files are read instead; only when no files are left that make up the version is it an error.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct LoadSnapshot {
    base: Option<Arc<Snapshot>>,
    wanted: Option<Version>,
    hinted: bool,
    tombstones: bool,
    state: State,
    /// Checkpoints and compactions that are of no use.
    unusable: BTreeSet<String>,
    notes: BTreeSet<LogNote>,
}

/// What the outstanding request is about.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum State {
    /// The hint.
    Hint,
    /// A listing, of all or from this version on, which the hint named.
    Listing { from: Option<Version> },
    /// The files of a segment.
    Reading { segment: Segment, listed: Listed },
    /// The sidecars of its checkpoint.
    Sidecars { segment: Segment, listed: Listed, actions: Vec<Action>, tail: Vec<Commit> },
}

/// What was listed, for a second choice; empty where there is none.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Listed {
    from: Option<Version>,
    objects: Vec<ObjectMeta>,
}

/// Why a snapshot could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Files of the log are missing.
    #[error(transparent)]
    Segment(#[from] SegmentError),
    /// Files of the log are missing, and those that could have stood in for them are of no use.
    #[error("{gap}; {}", unusable.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Unusable {
        /// What is missing.
        gap: SegmentError,
        /// What could have stood in.
        unusable: Vec<LogNote>,
    },
    /// A commit is damaged.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// The commits make up no table.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// The table needs more than we have.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// A commit was listed, and gone when it was read.
    #[error("commit {0} was listed, but could not be read: it was deleted meanwhile; try again")]
    Vanished(String),
    /// The store could not answer.
    #[error("the store could not answer: {cause}")]
    Store {
        /// What the store said.
        cause: String,
    },
}

type Next = Result<Step<Option<Arc<Snapshot>>>, LoadError>;

/// A checkpoint or compaction that is of no use.
pub(crate) struct Useless {
    pub(crate) path: String,
    pub(crate) note: LogNote,
}

impl LoadSnapshot {
    /// The newest version.
    pub fn latest() -> Self {
        Self {
            base: None,
            wanted: None,
            hinted: false,
            tombstones: false,
            state: State::Listing { from: None },
            unusable: BTreeSet::new(),
            notes: BTreeSet::new(),
        }
    }

    /// A given version.
    pub fn at(version: Version) -> Self {
        Self { wanted: Some(version), ..Self::latest() }
    }

    /// The newest version, replaying only what came after `base`, a snapshot of the same table.
    pub fn newer_than(base: Arc<Snapshot>) -> Self {
        Self { base: Some(base), ..Self::latest() }
    }

    /// Reads `_last_checkpoint` first, so that less must be listed. What it says is checked against the listing. With a base there is no need
    /// for it, and it is not read.
    pub fn hinted(self) -> Self {
        Self { hinted: true, ..self }
    }

    /// Keeps tombstones in the snapshot. A base without them is of no use then, and everything is read.
    pub fn with_tombstones(mut self) -> Self {
        self.base = self.base.filter(|base| base.tombstones.is_some());
        Self { tombstones: true, ..self }
    }

    /// What was odd about the log; whole when the machine is done. To ask after [`drive`](crate::store::drive), give that a `&mut` of the machine.
    pub fn notes(&self) -> &BTreeSet<LogNote> {
        &self.notes
    }

    fn list(&mut self, from: Option<Version>) -> Request {
        let after = match (&self.base, from) {
            (Some(base), _) => commit_path(base.version),
            (None, Some(from)) => before_version(from),
            (None, None) => LOG_FOLDER.to_owned(),
        };
        self.state = State::Listing { from };
        Request::List { after }
    }

    fn hint(&mut self, answer: Answer) -> Next {
        let from = hinted_version(answer, self.wanted, &mut self.notes)?;
        Ok(Step::Request(self.list(from)))
    }

    fn listed(&mut self, from: Option<Version>, answer: Answer) -> Next {
        let Answer::Listed(objects) = answer else { return Err(unexpected(answer)) };
        let objects = Segment::files(objects, &mut self.notes);
        self.choose(Listed { from, objects })
    }

    /// Picks files from a listing, as far as they are of use.
    fn choose(&mut self, listed: Listed) -> Next {
        let base = self.base.as_ref().map(|base| base.version);
        let segment = match (Segment::select(&listed.objects, base, self.wanted, &self.unusable), listed.from) {
            (Ok(Some(segment)), _) => segment,
            // What the hint left out of the listing may be what is missing.
            (Ok(None) | Err(SegmentError::Gap { .. }), Some(version)) => {
                self.notes.insert(LogNote::MisleadingHint { version });
                return Ok(Step::Request(self.list(None)));
            }
            (Ok(None), None) => return Ok(Step::Done(self.base.take())),
            (Err(error), _) => return Err(missing(error, &self.notes)),
        };
        let mut paths = segment.checkpoint.as_ref().map(|checkpoint| checkpoint.paths.clone()).unwrap_or_default();
        paths.extend(segment.commits.iter().cloned());
        let only_commits = paths.iter().all(|path| matches!(LogFile::of(path), LogFile::Commit(_)));
        let listed = if only_commits { Listed::default() } else { listed };
        self.state = State::Reading { segment, listed };
        Ok(Step::Request(Request::GetMany { paths }))
    }

    /// Goes on without a file.
    fn without(&mut self, useless: Useless, listed: Listed) -> Next {
        self.unusable.insert(useless.path);
        self.notes.insert(useless.note);
        self.choose(listed)
    }

    fn read(&mut self, segment: Segment, listed: Listed, answer: Answer) -> Next {
        let Answer::Contents(mut contents) = answer else { return Err(unexpected(answer)) };
        let parts = segment.checkpoint.as_ref().map_or(0, |checkpoint| checkpoint.paths.len());
        assert_eq!(contents.len(), parts + segment.commits.len(), "the driver answers every path that was asked for");
        let commits = contents.split_off(parts);
        let tail = match self.tail(&segment, commits)? {
            Ok(tail) => tail,
            Err(useless) => return self.without(useless, listed),
        };
        // The protocol comes first: what a table holds that may not be read need not make sense to us.
        check_protocol(tail.iter().flat_map(|commit| &commit.actions))?;
        let Some(parts) = &segment.checkpoint else {
            return self.finish(None, tail);
        };
        let checkpoint = match checkpoint(parts, contents) {
            Ok(checkpoint) => checkpoint,
            Err(useless) => return self.without(useless, listed),
        };
        check_protocol(checkpoint.actions.iter().chain(tail.iter().flat_map(|commit| &commit.actions)))?;
        if checkpoint.sidecars.is_empty() {
            return self.finish(Some((parts.version, checkpoint.actions)), tail);
        }
        self.state = State::Sidecars { segment, listed, actions: checkpoint.actions, tail };
        Ok(Step::Request(Request::GetMany { paths: checkpoint.sidecars }))
    }

    /// The commits and compactions after the checkpoint or the base.
    fn tail(
        &mut self,
        segment: &Segment,
        contents: Vec<Option<Bytes>>,
    ) -> Result<Result<Vec<Commit>, Useless>, LoadError> {
        let mut tail = Vec::with_capacity(contents.len());
        for (path, bytes) in segment.commits.iter().zip(contents) {
            match LogFile::of(path) {
                LogFile::Commit(version) => {
                    let bytes = bytes.ok_or_else(|| LoadError::Vanished(path.clone()))?;
                    if bytes.is_empty() {
                        self.notes.insert(LogNote::EmptyCommit { version });
                    }
                    tail.push(Commit::parse(version, &bytes)?);
                }
                LogFile::Compaction { last, .. } => match compaction(last, bytes) {
                    Ok(commit) => tail.push(commit),
                    Err(cause) => {
                        let note = LogNote::UnusableCompaction { path: path.clone(), cause };
                        return Ok(Err(Useless { path: path.clone(), note }));
                    }
                },
                other => panic!("a segment has commits and compactions, and not {other:?}"),
            }
        }
        Ok(Ok(tail))
    }

    fn sidecars(
        &mut self,
        segment: &Segment,
        listed: Listed,
        (mut actions, tail): (Vec<Action>, Vec<Commit>),
        answer: Answer,
    ) -> Next {
        let Answer::Contents(contents) = answer else { return Err(unexpected(answer)) };
        let checkpoint = segment.checkpoint.as_ref().expect("who has sidecars is a checkpoint");
        for bytes in contents {
            let cause = match bytes.map(|bytes| Checkpoint::sidecar(&bytes)) {
                Some(Ok(more)) => {
                    actions.extend(more);
                    continue;
                }
                Some(Err(error)) => format!("a sidecar cannot be read: {}", error_chain(&error)),
                None => "a sidecar is missing".to_owned(),
            };
            return self.without(useless(&checkpoint.paths[0], cause), listed);
        }
        self.finish(Some((checkpoint.version, actions)), tail)
    }

    fn finish(&mut self, checkpoint: Option<(Version, Vec<Action>)>, tail: Vec<Commit>) -> Next {
        let mut replay = match (&checkpoint, self.tombstones) {
            (None, _) if self.base.is_some() => Replay::of(self.base.take()),
            (_, true) => Replay::keeping_tombstones(),
            (_, false) => Replay::of(None),
        };
        if let Some((version, actions)) = checkpoint {
            replay.apply_checkpoint(version, actions)?;
        }
        for commit in tail {
            replay.apply(commit.version, commit.actions)?;
        }
        Ok(Step::Done(Some(Arc::new(replay.finish()?))))
    }
}

fn check_protocol<'a>(actions: impl DoubleEndedIterator<Item = &'a Action>) -> Result<(), Unsupported> {
    let protocol = actions.rev().find_map(|action| match action {
        Action::Protocol(protocol) => Some(protocol),
        _ => None,
    });
    protocol.map_or(Ok(()), |protocol| protocol.check_readable())
}

/// The actions that lead up to `last`.
fn compaction(last: Version, bytes: Option<Bytes>) -> Result<Commit, String> {
    let bytes = bytes.ok_or("it was deleted meanwhile")?;
    let actions = commit::actions(&bytes).map_err(|bad| format!("line {} is not a whole action", bad.line))?;
    Ok(Commit { version: last, actions })
}

fn checkpoint(parts: &CheckpointParts, contents: Vec<Option<Bytes>>) -> Result<Checkpoint, Useless> {
    let mut whole = Checkpoint::default();
    for (path, bytes) in parts.paths.iter().zip(contents) {
        let bytes = bytes.ok_or_else(|| useless(path, "it was deleted meanwhile".to_owned()))?;
        let LogFile::Checkpoint(file) = LogFile::of(path) else {
            panic!("a segment has checkpoints, and not '{path}'")
        };
        let part =
            Checkpoint::parse(file, &bytes).map_err(|error: CheckpointError| useless(path, error_chain(&error)))?;
        whole.actions.extend(part.actions);
        whole.sidecars.extend(part.sidecars);
    }
    Ok(whole)
}

/// The version from which on it is enough to list, by what the hint says.
pub(crate) fn hinted_version(
    answer: Answer,
    wanted: Option<Version>,
    notes: &mut BTreeSet<LogNote>,
) -> Result<Option<Version>, LoadError> {
    let hint = match answer {
        Answer::Content(None) => None,
        Answer::Content(Some(bytes)) => match LastCheckpoint::parse(&bytes) {
            Ok(hint) => Some(hint.version),
            Err(error) => {
                notes.insert(LogNote::UnusableHint { cause: error.to_string() });
                None
            }
        },
        // The log can be read without it.
        Answer::Unavailable { cause } => {
            notes.insert(LogNote::UnusableHint { cause });
            None
        }
        other => return Err(unexpected(other)),
    };
    Ok(hint.filter(|hint| wanted.is_none_or(|wanted| *hint <= wanted)))
}

/// No files make up the version; was that so from the start?
pub(crate) fn missing(error: SegmentError, notes: &BTreeSet<LogNote>) -> LoadError {
    let is_unusable =
        |note: &&LogNote| matches!(note, LogNote::UnusableCheckpoint { .. } | LogNote::UnusableCompaction { .. });
    let unusable: Vec<LogNote> = notes.iter().filter(is_unusable).cloned().collect();
    match error {
        SegmentError::Gap { .. } if !unusable.is_empty() => LoadError::Unusable { gap: error, unusable },
        error => error.into(),
    }
}

/// The checkpoint that begins with this file is of no use.
pub(crate) fn useless(path: &str, cause: String) -> Useless {
    Useless { path: path.to_owned(), note: LogNote::UnusableCheckpoint { path: path.to_owned(), cause } }
}

pub(crate) fn unexpected(answer: Answer) -> LoadError {
    match answer {
        Answer::Unavailable { cause } => LoadError::Store { cause },
        other => panic!("the driver answered with {other:?}, which was not asked for"),
    }
}

impl Machine for LoadSnapshot {
    type Output = Result<Option<Arc<Snapshot>>, LoadError>;

    fn start(&mut self) -> Request {
        if self.hinted && self.base.is_none() {
            self.state = State::Hint;
            return Request::Get { path: LAST_CHECKPOINT.to_owned() };
        }
        self.list(None)
    }

    fn advance(&mut self, response: Response) -> Step<Self::Output> {
        let answer = response.answer;
        let result = match std::mem::replace(&mut self.state, State::Listing { from: None }) {
            State::Hint => self.hint(answer),
            State::Listing { from } => self.listed(from, answer),
            State::Reading { segment, listed } => self.read(segment, listed, answer),
            State::Sidecars { segment, listed, actions, tail } => {
                self.sidecars(&segment, listed, (actions, tail), answer)
            }
        };
        match result {
            Ok(Step::Request(request)) => Step::Request(request),
            Ok(Step::Done(snapshot)) => Step::Done(Ok(snapshot)),
            Err(error) => Step::Done(Err(error)),
        }
    }
}

#[cfg(test)]
mod tests;
