//! A simulated table: the objects of its log. Its data files are kept apart, by name, since no name ever means two contents.

use std::sync::Arc;

use log_core::{
    action::Action,
    commit::{Commit, CommitError},
    path::{LogFile, Version, commit_path},
    store::{Answer, ObjectMap, Request, WriteAnswer},
};
use sha2::{Digest, Sha256};

/// What a log says, in 128 bits: every action of every commit, but not the times and the versions that were read.
///
/// Two logs of one digest are the same for everything that a search asks: the same files with the same rows joined and left the table, by the same
/// calls in the same order. The version that a call read is left out because nothing that follows depends on it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct LogDigest(pub u128);

/// Objects that are no log.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// A commit cannot be read.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// A commit is missing.
    #[error("commit {missing} is missing while commit {present} is there")]
    Gap {
        /// The first that is missing.
        missing: Version,
        /// A later one.
        present: Version,
    },
}

/// One table.
#[derive(Clone, Debug, Default)]
pub struct Table {
    objects: ObjectMap,
    /// The digest of the log up to each version.
    digests: Vec<LogDigest>,
}

/// Equal when the logs say the same.
impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        self.digest() == other.digest()
    }
}

impl Eq for Table {}

impl std::hash::Hash for Table {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.digest().hash(state);
    }
}

/// All tables of a scenario, in order of name. A copy shares what is not changed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Tables(Vec<Arc<Table>>);

impl Tables {
    /// So many tables that do not exist yet.
    pub fn empty(count: usize) -> Self {
        Self(vec![Arc::default(); count])
    }

    /// These tables, in order of name.
    pub fn new(tables: Vec<Table>) -> Self {
        Self(tables.into_iter().map(Arc::new).collect())
    }

    /// A table.
    pub fn get(&self, index: usize) -> &Arc<Table> {
        &self.0[index]
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Table>> {
        self.0.iter()
    }

    /// Does what a request says to one table, at a time in milliseconds since the epoch.
    pub(super) fn answer(&mut self, index: usize, request: &Request, now_ms: i64) -> Answer {
        let writes = matches!(request, Request::PutIfAbsent { .. } | Request::Put { .. } | Request::Delete { .. });
        if !writes {
            return self.0[index].read(request);
        }
        let table = Arc::make_mut(&mut self.0[index]);
        let answer = table.objects.answer(request, now_ms);
        if let (Request::PutIfAbsent { path, .. } | Request::Put { path, .. }, Answer::Write(WriteAnswer::Happened)) =
            (request, &answer)
            && let LogFile::Commit(version) = LogFile::of(path)
        {
            table.digest_from(version);
        }
        answer
    }
}

impl Table {
    /// The table whose log is in these objects.
    ///
    /// # Errors
    /// When a commit cannot be read, or is missing while a later one is there.
    pub fn from_objects(objects: ObjectMap) -> Result<Self, TableError> {
        let mut digests = Vec::new();
        let mut digest = LogDigest::default();
        let commits: Vec<Version> = objects
            .paths()
            .filter_map(|path| match LogFile::of(path) {
                LogFile::Commit(version) => Some(version),
                _ => None,
            })
            .collect();
        for (position, version) in commits.into_iter().enumerate() {
            let expected = Version(position as u64);
            if version != expected {
                return Err(TableError::Gap { missing: expected, present: version });
            }
            let bytes = objects.get(&commit_path(version)).expect("the path was just listed");
            digest = digest_after(digest, &Commit::parse(version, &bytes)?);
            digests.push(digest);
        }
        Ok(Self { objects, digests })
    }

    /// The digest of the whole log; zero when there is none.
    pub fn digest(&self) -> LogDigest {
        self.digests.last().copied().unwrap_or_default()
    }

    /// The digest of the log up to each version.
    pub fn digests(&self) -> &[LogDigest] {
        &self.digests
    }

    /// How many commits the log has.
    pub fn commits(&self) -> u64 {
        self.digests.len() as u64
    }

    /// A commit of the log.
    ///
    /// # Panics
    /// When there is no such commit: a simulated log has no holes, and every commit in it was written by us.
    pub fn commit(&self, version: Version) -> Commit {
        let bytes = self.objects.get(&commit_path(version)).expect("a simulated log has no holes");
        Commit::parse(version, &bytes).expect("a simulated commit was written whole")
    }

    /// The objects.
    pub fn objects(&self) -> &ObjectMap {
        &self.objects
    }

    fn read(&self, request: &Request) -> Answer {
        self.objects.clone().answer(request, 0)
    }

    /// Brings the digests up to date after the commit of a version was written.
    fn digest_from(&mut self, version: Version) {
        let mut version = version;
        self.digests.truncate(version.0 as usize);
        while self.objects.get(&commit_path(version)).is_some() {
            let digest = digest_after(self.digest(), &self.commit(version));
            self.digests.push(digest);
            version = version.next();
        }
    }
}

fn digest_after(before: LogDigest, commit: &Commit) -> LogDigest {
    let mut hash = Sha256::new();
    hash.update(before.0.to_le_bytes());
    let mut line = Vec::new();
    for action in &commit.actions {
        line.clear();
        match action {
            Action::CommitInfo(info) => {
                let mut info = info.clone();
                info.0.remove("timestamp");
                info.0.remove("readVersion");
                Action::CommitInfo(info).write(&mut line);
            }
            other => other.write(&mut line),
        }
        line.push(b'\n');
        hash.update(&line);
    }
    let bytes = hash.finalize();
    LogDigest(u128::from_le_bytes(bytes[..16].try_into().expect("sixteen bytes")))
}
