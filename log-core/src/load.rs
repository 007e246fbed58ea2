//! Loading a snapshot from a store.

use std::sync::Arc;

use crate::{
    action::Action,
    commit::{Commit, CommitError},
    path::{LOG_FOLDER, LogFile, Version, commit_path},
    protocol::Unsupported,
    segment::{Segment, SegmentError},
    snapshot::{ReplayError, Snapshot},
    store::{Answer, Machine, Request, Response, Step},
};

/// Lists the log, reads the commits, replays them. Comes to `None` when there is no table.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct LoadSnapshot {
    base: Option<Arc<Snapshot>>,
    wanted: Option<Version>,
    reading: Option<Segment>,
}

/// Why a snapshot could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Files of the log are missing.
    #[error(transparent)]
    Segment(#[from] SegmentError),
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

impl LoadSnapshot {
    /// The newest version.
    pub fn latest() -> Self {
        Self { base: None, wanted: None, reading: None }
    }

    /// A given version.
    pub fn at(version: Version) -> Self {
        Self { wanted: Some(version), ..Self::latest() }
    }

    /// The newest version, replaying only what came after `base`, a snapshot of the same table.
    pub fn newer_than(base: Arc<Snapshot>) -> Self {
        Self { base: Some(base), ..Self::latest() }
    }

    fn listed(&mut self, answer: Answer) -> Result<Step<Option<Arc<Snapshot>>>, LoadError> {
        let Answer::Listed(mut listing) = answer else { return Err(unexpected(answer)) };
        listing.retain(|object| LogFile::of(&object.path) != LogFile::Other);
        let base = self.base.as_ref().map(|base| base.version);
        Ok(match Segment::select(&listing, base, self.wanted)? {
            None => Step::Done(self.base.take()),
            Some(segment) => {
                let paths = segment.commits.clone();
                self.reading = Some(segment);
                Step::Request(Request::GetMany { paths })
            }
        })
    }

    fn read(&mut self, segment: &Segment, answer: Answer) -> Result<Arc<Snapshot>, LoadError> {
        let Answer::Contents(contents) = answer else { return Err(unexpected(answer)) };
        assert_eq!(contents.len(), segment.commits.len(), "the driver answers every path that was asked for");
        let mut commits = Vec::with_capacity(contents.len());
        let mut version = Version::after(self.base.as_ref().map(|base| base.version));
        for (path, bytes) in segment.commits.iter().zip(contents) {
            let bytes = bytes.ok_or_else(|| LoadError::Vanished(path.clone()))?;
            commits.push(Commit::parse(version, &bytes)?);
            version = version.next();
        }
        // The protocol comes first: what a table holds that may not be read need not make sense to us.
        let protocol = commits.iter().flat_map(|commit| &commit.actions).rev().find_map(|action| match action {
            Action::Protocol(protocol) => Some(protocol),
            _ => None,
        });
        if let Some(protocol) = protocol {
            protocol.check_readable()?;
        }
        Ok(Arc::new(Snapshot::replay(self.base.as_deref(), &commits)?))
    }
}

fn unexpected(answer: Answer) -> LoadError {
    match answer {
        Answer::Unavailable { cause } => LoadError::Store { cause },
        other => panic!("the driver answered with {other:?}, which was not asked for"),
    }
}

impl Machine for LoadSnapshot {
    type Output = Result<Option<Arc<Snapshot>>, LoadError>;

    fn start(&mut self) -> Request {
        let after = match &self.base {
            Some(base) => commit_path(base.version),
            None => LOG_FOLDER.to_owned(),
        };
        Request::List { after }
    }

    fn advance(&mut self, response: Response) -> Step<Self::Output> {
        let result = match self.reading.take() {
            None => self.listed(response.answer),
            Some(segment) => self.read(&segment, response.answer).map(|snapshot| Step::Done(Some(snapshot))),
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
