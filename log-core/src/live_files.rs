//! The live files of a version, shown one by one and not kept ("Action Reconciliation" of the protocol).
//!
//! A [`Snapshot`](crate::snapshot::Snapshot) holds every file. Who only wants to look at each of them once reads from the newest commit to the oldest and then
//! the checkpoint: the first action that speaks of a file says whether it is live, so that all that must be kept is of which files there was talk.

mod file;
mod line;
mod parquet_file;
mod plain_add;
mod seen;

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    sync::Arc,
};

pub use file::{LiveFile, PartitionTexts};
use line::Line;
use parquet_file::{ParquetFile, Sink};
use seen::Seen;

use crate::{
    action::{Action, Metadata, Protocol},
    checkpoint::{Checkpoint, CheckpointError},
    commit::CommitError,
    error_chain::error_chain,
    load::{LoadError, Useless, hinted_version, missing, unexpected, useless},
    log_note::LogNote,
    path::{CheckpointNaming, LAST_CHECKPOINT, LOG_FOLDER, LogFile, Version, before_version},
    schema::Schema,
    segment::{Segment, SegmentError},
    snapshot::{ReplayError, schema_of},
    store::{Answer, Bytes, Machine, ObjectMeta, Request, Response, Step},
};

/// Bytes of commits that are asked for at once, unless a single one has more.
const CHUNK_BYTES: u64 = 8 << 20;
/// Commits that are asked for at once.
const CHUNK_COMMITS: usize = 1024;

/// What the log says of a table at a version, apart from its files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableDescription {
    /// The version.
    pub version: Version,
    /// What a client must implement.
    pub protocol: Protocol,
    /// Schema text, partition columns and properties.
    pub metadata: Metadata,
    /// The schema, parsed.
    pub schema: Schema,
}

/// Who is shown the live files.
///
/// Files come in no order that means something. Where reading ends with an error, what was shown before does not count.
pub trait LiveFileVisitor {
    /// Why it does not want to go on.
    type Error;

    /// Must the description come before the first file? The commits are then read twice.
    fn wants_table_first(&self) -> bool {
        false
    }

    /// Are statistics wanted? Where they are not, they need not be read.
    fn wants_stats(&self) -> bool {
        true
    }

    /// Does [`may_want`](Self::may_want) ever say no?
    fn filters_partitions(&self) -> bool {
        false
    }

    /// Everything is read anew, since a file of the log turned out to be of no use: what was shown does not count.
    fn restart(&mut self);

    /// The description of the table, once, unless reading begins anew.
    ///
    /// # Errors
    /// When nothing more is wanted.
    fn table(&mut self, table: &Arc<TableDescription>) -> Result<(), Self::Error>;

    /// Can a file of this partition be one that is wanted? Where it says no, the file is not shown; it may be asked several times of a file.
    fn may_want(&mut self, partition_values: &PartitionTexts<'_>) -> bool {
        let _ = partition_values;
        true
    }

    /// A live file.
    ///
    /// # Errors
    /// When nothing more is wanted.
    fn file(&mut self, file: &LiveFile<'_>) -> Result<(), Self::Error>;
}

/// Why live files could not be shown.
#[derive(Debug, thiserror::Error)]
pub enum LiveFilesError<E> {
    /// The log could not be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// Who was shown them did not want to go on.
    #[error("{0}")]
    Visitor(E),
}

/// Lists the log, reads the commits from the newest to the oldest, then the newest checkpoint, and shows the live files to a visitor. Comes to `None` when there is no table.
///
/// What it keeps at a time is some megabytes of commits or of columns, and 16 bytes for each file that a commit speaks of. It answers as
/// [`LoadSnapshot`](crate::load::LoadSnapshot) does, except that what it has no use for, such as tags and transactions, need only be JSON.
#[derive(Debug)]
pub struct ReadLiveFiles<V> {
    wanted: Option<Version>,
    hinted: bool,
    /// The version from which on the log was listed; `None` = from the start.
    from: Option<Version>,
    scan: Scan<V>,
    stage: Stage,
    listing: Vec<ObjectMeta>,
    segment: Segment,
    /// Bytes of the segment's commits.
    sizes: Vec<u64>,
    parts: Vec<Part>,
    unusable: BTreeSet<String>,
    notes: BTreeSet<LogNote>,
}

/// What the outstanding request is about.
#[derive(Debug)]
enum Stage {
    Hint,
    Listing,
    /// What a file of the checkpoint says besides its adds.
    Actions {
        part: usize,
        actions: Vec<Action>,
    },
    /// Protocol and metadata of some commits.
    Head {
        chunk: Range<usize>,
    },
    /// Some commits.
    Commits {
        chunk: Range<usize>,
    },
    /// The size of a sidecar.
    Size {
        part: usize,
    },
    /// The adds of a file of the checkpoint.
    Adds {
        part: usize,
    },
}

/// A file of the checkpoint.
#[derive(Debug)]
struct Part {
    path: String,
    content: Content,
}

#[derive(Debug)]
enum Content {
    /// A JSON file, with the adds that it holds.
    Json(Vec<Action>),
    Parquet(Box<ParquetFile>),
    /// A Parquet file of which the size is not known.
    Sidecar,
}

/// What does not change with the files that are read.
#[derive(Debug)]
struct Scan<V> {
    visitor: V,
    seen: Seen,
    /// Identities that a commit removes.
    removed: Vec<u128>,
    text: String,
    plain: Vec<u8>,
    protocol: Option<Protocol>,
    metadata: Option<(Version, Metadata)>,
    /// Those of the checkpoint, which count where no commit has any.
    checkpoint: (Option<Protocol>, Option<Metadata>),
    table: Option<Arc<TableDescription>>,
    with_stats: bool,
    by_partition: bool,
}

/// What keeps reading from going on as it was meant to.
enum Stop<E> {
    Load(LoadError),
    Visitor(E),
    Useless(Useless),
}

impl<E> From<LoadError> for Stop<E> {
    fn from(error: LoadError) -> Self {
        Self::Load(error)
    }
}

/// Why a file of a checkpoint is not read on.
enum Broken<E> {
    Checkpoint(CheckpointError),
    Visitor(E),
}

impl<E> From<CheckpointError> for Broken<E> {
    fn from(error: CheckpointError) -> Self {
        Self::Checkpoint(error)
    }
}

/// Why a commit is not read on.
enum BadCommit<E> {
    Line { line: usize, source: Option<serde_json::Error> },
    Visitor(E),
}

type Next<E> = Result<Step<Option<Arc<TableDescription>>>, Stop<E>>;

impl<V: LiveFileVisitor> ReadLiveFiles<V> {
    /// Those of the newest version, or of a given one.
    pub fn new(version: Option<Version>, visitor: V) -> Self {
        let (with_stats, by_partition) = (visitor.wants_stats(), visitor.filters_partitions());
        Self {
            wanted: version,
            hinted: false,
            from: None,
            scan: Scan {
                visitor,
                seen: Seen::default(),
                removed: Vec::new(),
                text: String::new(),
                plain: Vec::new(),
                protocol: None,
                metadata: None,
                checkpoint: (None, None),
                table: None,
                with_stats,
                by_partition,
            },
            stage: Stage::Listing,
            listing: Vec::new(),
            segment: Segment { version: Version(0), checkpoint: None, commits: Vec::new() },
            sizes: Vec::new(),
            parts: Vec::new(),
            unusable: BTreeSet::new(),
            notes: BTreeSet::new(),
        }
    }

    /// Reads `_last_checkpoint` first, so that less must be listed. What it says is checked against the listing.
    pub fn hinted(self) -> Self {
        Self { hinted: true, ..self }
    }

    /// What was odd about the log; whole when the machine is done.
    pub fn notes(&self) -> &BTreeSet<LogNote> {
        &self.notes
    }

    /// The visitor; to ask when the machine is done.
    pub fn into_visitor(self) -> V {
        self.scan.visitor
    }

    fn hint(&mut self, answer: Answer) -> Next<V::Error> {
        self.from = hinted_version(answer, self.wanted, &mut self.notes)?;
        Ok(Step::Request(self.list()))
    }

    fn list(&mut self) -> Request {
        self.stage = Stage::Listing;
        Request::List { after: self.from.map_or_else(|| LOG_FOLDER.to_owned(), before_version) }
    }

    fn listed(&mut self, answer: Answer) -> Next<V::Error> {
        let Answer::Listed(objects) = answer else { return Err(unexpected(answer).into()) };
        self.listing = Segment::files(objects, &mut self.notes);
        self.choose()
    }

    /// Picks files from the listing, as far as they are of use.
    fn choose(&mut self) -> Next<V::Error> {
        self.segment = match (Segment::select(&self.listing, None, self.wanted, &self.unusable), self.from.take()) {
            (Ok(Some(segment)), from) => {
                self.from = from;
                segment
            }
            // What the hint left out of the listing may be what is missing.
            (Ok(None) | Err(SegmentError::Gap { .. }), Some(version)) => {
                self.notes.insert(LogNote::MisleadingHint { version });
                return Ok(Step::Request(self.list()));
            }
            (Ok(None), None) => return Ok(Step::Done(None)),
            (Err(error), _) => return Err(missing(error, &self.notes).into()),
        };
        let sizes: BTreeMap<&str, u64> =
            self.listing.iter().map(|object| (object.path.as_str(), object.size)).collect();
        let size = |path: &String| sizes.get(path.as_str()).copied().unwrap_or(0);
        self.sizes = self.segment.commits.iter().map(size).collect();
        let mut parts = Vec::new();
        for path in self.segment.checkpoint.iter().flat_map(|checkpoint| &checkpoint.paths) {
            let content = match LogFile::of(path) {
                LogFile::Checkpoint(file) if file.naming == CheckpointNaming::UuidJson => Content::Json(Vec::new()),
                _ => parquet(size(path)).map_err(|error| Stop::Useless(useless(path, error_chain(&error))))?,
            };
            parts.push(Part { path: path.clone(), content });
        }
        self.parts = parts;
        match self.parts.is_empty() {
            true => self.after_actions(),
            false => self.actions_of(0, Vec::new()),
        }
    }

    /// Goes on without a file.
    fn without(&mut self, useless: Useless) -> Next<V::Error> {
        self.unusable.insert(useless.path);
        self.notes.insert(useless.note);
        self.scan.restart();
        self.choose()
    }

    /// A file of the checkpoint that cannot be used. Of a sidecar the checkpoint gets the blame.
    fn broken(&self, part: usize, broken: Broken<V::Error>) -> Stop<V::Error> {
        match broken {
            Broken::Visitor(error) => Stop::Visitor(error),
            Broken::Checkpoint(error) => Stop::Useless(self.useless(part, error_chain(&error), "cannot be read: ")),
        }
    }

    fn useless(&self, part: usize, cause: String, of_sidecar: &str) -> Useless {
        let checkpoint = self.segment.checkpoint.as_ref().expect("who has parts is a checkpoint");
        match part < checkpoint.paths.len() {
            true => useless(&self.parts[part].path, cause),
            false => useless(&checkpoint.paths[0], format!("a sidecar {of_sidecar}{cause}")),
        }
    }

    /// Reads on in a file of the checkpoint, for actions other than adds.
    fn actions_of(&mut self, part: usize, mut actions: Vec<Action>) -> Next<V::Error> {
        let Part { path, content } = &mut self.parts[part];
        let request = match content {
            Content::Json(_) => Some(Request::Get { path: path.clone() }),
            Content::Parquet(file) => match file.actions(&mut actions) {
                Ok(range) => range.map(|range| get_range(path, range)),
                Err(error) => return Err(self.broken(part, error.into())),
            },
            Content::Sidecar => panic!("a sidecar is read for its adds only"),
        };
        match request {
            Some(request) => {
                self.stage = Stage::Actions { part, actions };
                Ok(Step::Request(request))
            }
            None => self.after_actions_of(part, actions),
        }
    }

    fn actions_came(&mut self, part: usize, actions: Vec<Action>, answer: Answer) -> Next<V::Error> {
        let Answer::Content(bytes) = answer else { return Err(unexpected(answer).into()) };
        let Some(bytes) = bytes else {
            return Err(Stop::Useless(self.useless(part, "it was deleted meanwhile".to_owned(), "")));
        };
        match &mut self.parts[part].content {
            Content::Parquet(file) => {
                if let Err(error) = file.push(bytes) {
                    return Err(self.broken(part, error.into()));
                }
                self.actions_of(part, actions)
            }
            Content::Json(_) => match crate::checkpoint::json(&bytes) {
                Ok(found) => self.after_actions_of(part, found),
                Err(error) => Err(self.broken(part, error.into())),
            },
            Content::Sidecar => panic!("a sidecar is read for its adds only"),
        }
    }

    fn after_actions_of(&mut self, part: usize, actions: Vec<Action>) -> Next<V::Error> {
        let version = self.segment.checkpoint.as_ref().expect("who has parts is a checkpoint").version;
        let Checkpoint { actions, sidecars } = match Checkpoint::from_actions(version, actions) {
            Ok(checkpoint) => checkpoint,
            Err(error) => return Err(self.broken(part, error.into())),
        };
        let mut adds = Vec::new();
        for action in actions {
            match action {
                Action::Protocol(protocol) => self.scan.checkpoint.0 = Some(protocol),
                Action::Metadata(metadata) => self.scan.checkpoint.1 = Some(metadata),
                Action::Add(_) => adds.push(action),
                _ => {}
            }
        }
        if let Content::Json(of_part) = &mut self.parts[part].content {
            *of_part = adds;
        }
        self.parts.extend(sidecars.into_iter().map(|path| Part { path, content: Content::Sidecar }));
        let listed = self.segment.checkpoint.as_ref().map_or(0, |checkpoint| checkpoint.paths.len());
        if part + 1 < listed {
            return self.actions_of(part + 1, Vec::new());
        }
        let lacks = match &self.scan.checkpoint {
            (None, _) => "protocol",
            (_, None) => "metaData",
            _ => return self.after_actions(),
        };
        Err(LoadError::from(ReplayError::MissingInCheckpoint { version, action: lacks }).into())
    }

    fn after_actions(&mut self) -> Next<V::Error> {
        match self.scan.visitor.wants_table_first() {
            true => self.head(self.segment.commits.len()),
            false => self.commits(self.segment.commits.len()),
        }
    }

    /// The commits before `end` that are asked for at once.
    fn chunk(&self, end: usize) -> (Range<usize>, Request) {
        let (mut begin, mut bytes) = (end, 0_u64);
        while begin > 0 && end - begin < CHUNK_COMMITS && bytes < CHUNK_BYTES {
            begin -= 1;
            bytes = bytes.saturating_add(self.sizes[begin]);
        }
        (begin..end, Request::GetMany { paths: self.segment.commits[begin..end].to_vec() })
    }

    /// Looks for protocol and metadata in the commits before `end`.
    fn head(&mut self, end: usize) -> Next<V::Error> {
        if end > 0 && !self.scan.is_known() {
            let (chunk, request) = self.chunk(end);
            self.stage = Stage::Head { chunk };
            return Ok(Step::Request(request));
        }
        self.describe()?;
        self.commits(self.segment.commits.len())
    }

    /// Reads the commits before `end`.
    fn commits(&mut self, end: usize) -> Next<V::Error> {
        if end > 0 {
            let (chunk, request) = self.chunk(end);
            self.stage = Stage::Commits { chunk };
            return Ok(Step::Request(request));
        }
        if self.scan.table.is_none() {
            self.describe()?;
        }
        self.adds_of(0)
    }

    fn commits_came(&mut self, chunk: Range<usize>, with_files: bool, answer: Answer) -> Result<(), Stop<V::Error>> {
        let Answer::Contents(contents) = answer else { return Err(unexpected(answer).into()) };
        assert_eq!(contents.len(), chunk.len(), "the driver answers every path that was asked for");
        for (index, bytes) in chunk.clone().zip(contents).rev() {
            let path = &self.segment.commits[index];
            let compaction = |cause: String| {
                let note = LogNote::UnusableCompaction { path: path.clone(), cause };
                Stop::Useless(Useless { path: path.clone(), note })
            };
            let (version, is_commit) = match LogFile::of(path) {
                LogFile::Commit(version) => (version, true),
                LogFile::Compaction { last, .. } => (last, false),
                other => panic!("a segment has commits and compactions, and not {other:?}"),
            };
            let bytes = match bytes {
                Some(bytes) => bytes,
                None if is_commit => return Err(LoadError::Vanished(path.clone()).into()),
                None => return Err(compaction("it was deleted meanwhile".to_owned())),
            };
            if bytes.is_empty() && is_commit {
                self.notes.insert(LogNote::EmptyCommit { version });
            }
            let said = match self.scan.commit(version, &bytes, with_files) {
                Ok(said) => said,
                Err(BadCommit::Visitor(error)) => return Err(Stop::Visitor(error)),
                Err(BadCommit::Line { line, .. }) if !is_commit => {
                    return Err(compaction(format!("line {line} is not a whole action")));
                }
                Err(BadCommit::Line { line, source: Some(source) }) => {
                    return Err(LoadError::from(CommitError::Line { version, line, source }).into());
                }
                Err(BadCommit::Line { line, source: None }) => {
                    return Err(LoadError::from(CommitError::NotText { version, line }).into());
                }
            };
            if index == 0 && self.segment.checkpoint.is_none() {
                let lacks = match said {
                    (false, _) => "protocol",
                    (_, false) => "metaData",
                    _ => continue,
                };
                return Err(LoadError::from(ReplayError::Missing { version, action: lacks }).into());
            }
        }
        Ok(())
    }

    /// Tells the visitor what table it is.
    fn describe(&mut self) -> Result<(), Stop<V::Error>> {
        let scan = &mut self.scan;
        let protocol = scan.protocol.take().or_else(|| scan.checkpoint.0.take());
        let protocol = protocol.expect("the oldest commit, or the checkpoint, was checked for it");
        protocol.check_readable().map_err(LoadError::from)?;
        let of_checkpoint = || {
            let version = self.segment.checkpoint.as_ref().map(|checkpoint| checkpoint.version);
            version.zip(scan.checkpoint.1.take())
        };
        let (version, metadata) = scan
            .metadata
            .take()
            .or_else(of_checkpoint)
            .expect("the oldest commit, or the checkpoint, was checked for it");
        let schema = schema_of(&metadata, version).map_err(LoadError::from)?;
        let table = Arc::new(TableDescription { version: self.segment.version, protocol, metadata, schema });
        scan.table = Some(table.clone());
        scan.visitor.table(&table).map_err(Stop::Visitor)
    }

    /// Reads on in a file of the checkpoint, for adds.
    fn adds_of(&mut self, part: usize) -> Next<V::Error> {
        let Some(Part { path, content }) = self.parts.get_mut(part) else {
            return Ok(Step::Done(self.scan.table.clone()));
        };
        let (stage, request) = match content {
            Content::Json(adds) => {
                for action in std::mem::take(adds) {
                    let Action::Add(add) = action else { continue };
                    self.scan.show(&LiveFile::of(&add)).map_err(Stop::Visitor)?;
                }
                return self.adds_of(part + 1);
            }
            Content::Sidecar => (Stage::Size { part }, Request::Head { path: path.clone() }),
            Content::Parquet(file) => match file.adds(&mut self.scan) {
                Ok(Some(range)) => (Stage::Adds { part }, get_range(path, range)),
                Ok(None) => return self.adds_of(part + 1),
                Err(broken) => return Err(self.broken(part, broken)),
            },
        };
        self.stage = stage;
        Ok(Step::Request(request))
    }

    fn size_came(&mut self, part: usize, answer: Answer) -> Next<V::Error> {
        let Answer::Meta(meta) = answer else { return Err(unexpected(answer).into()) };
        let Some(meta) = meta else { return Err(Stop::Useless(self.useless(part, "is missing".to_owned(), ""))) };
        match parquet(meta.size) {
            Ok(content) => self.parts[part].content = content,
            Err(error) => return Err(self.broken(part, error.into())),
        }
        self.adds_of(part)
    }

    fn adds_came(&mut self, part: usize, answer: Answer) -> Next<V::Error> {
        let Answer::Content(bytes) = answer else { return Err(unexpected(answer).into()) };
        let Some(bytes) = bytes else {
            return Err(Stop::Useless(self.useless(part, "it was deleted meanwhile".to_owned(), "was deleted: ")));
        };
        let pushed = push(&mut self.parts[part].content, bytes);
        pushed.map_err(|error| self.broken(part, error.into()))?;
        self.adds_of(part)
    }

    fn go(&mut self, answer: Answer) -> Next<V::Error> {
        match std::mem::replace(&mut self.stage, Stage::Listing) {
            Stage::Hint => self.hint(answer),
            Stage::Listing => self.listed(answer),
            Stage::Actions { part, actions } => self.actions_came(part, actions, answer),
            Stage::Head { chunk } => {
                self.commits_came(chunk.clone(), false, answer)?;
                self.head(chunk.start)
            }
            Stage::Commits { chunk } => {
                self.commits_came(chunk.clone(), true, answer)?;
                self.commits(chunk.start)
            }
            Stage::Size { part } => self.size_came(part, answer),
            Stage::Adds { part } => self.adds_came(part, answer),
        }
    }
}

impl<V: LiveFileVisitor> Machine for ReadLiveFiles<V> {
    type Output = Result<Option<Arc<TableDescription>>, LiveFilesError<V::Error>>;

    fn start(&mut self) -> Request {
        if self.hinted {
            self.stage = Stage::Hint;
            return Request::Get { path: LAST_CHECKPOINT.to_owned() };
        }
        self.list()
    }

    fn advance(&mut self, response: Response) -> Step<Self::Output> {
        let mut next = self.go(response.answer);
        loop {
            match next {
                Ok(Step::Request(request)) => return Step::Request(request),
                Ok(Step::Done(table)) => return Step::Done(Ok(table)),
                Err(Stop::Load(error)) => return Step::Done(Err(error.into())),
                Err(Stop::Visitor(error)) => return Step::Done(Err(LiveFilesError::Visitor(error))),
                // Every turn is with one file less.
                Err(Stop::Useless(useless)) => next = self.without(useless),
            }
        }
    }
}

impl<V: LiveFileVisitor> Scan<V> {
    fn restart(&mut self) {
        self.seen.clear();
        (self.protocol, self.metadata, self.checkpoint, self.table) = (None, None, (None, None), None);
        self.visitor.restart();
    }

    fn is_known(&self) -> bool {
        self.protocol.is_some() && self.metadata.is_some()
    }

    /// Reads a commit from its last line to its first, so that of several actions about one thing the last counts. Says whether it has a protocol and metadata.
    fn commit(
        &mut self,
        version: Version,
        bytes: &[u8],
        with_files: bool,
    ) -> Result<(bool, bool), BadCommit<V::Error>> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let mut said = (false, false);
        let mut end = bytes.len();
        self.removed.clear();
        loop {
            let begin = memchr::memrchr(b'\n', &bytes[..end]).map_or(0, |at| at + 1);
            let bad = |source| {
                let line = 1 + memchr::memchr_iter(b'\n', &bytes[..begin]).count();
                BadCommit::Line { line, source }
            };
            let text = std::str::from_utf8(&bytes[begin..end]).map_err(|_| bad(None))?;
            let text = text.trim_matches([' ', '\t', '\r']);
            if with_files && let Some(add) = plain_add::parse(text, &mut self.plain) {
                if self.seen.is_new(add.path, None) {
                    let file = LiveFile {
                        path: add.path,
                        size: add.size,
                        modification_time: add.modification_time,
                        partition_values: PartitionTexts::of_pairs(&add.partition_values),
                        stats: add.stats.filter(|_| self.with_stats),
                        deletion_vector: None,
                    };
                    if !self.by_partition || self.visitor.may_want(&file.partition_values) {
                        self.visitor.file(&file).map_err(BadCommit::Visitor)?;
                    }
                }
                if begin == 0 {
                    break;
                }
                end = begin - 1;
                continue;
            }
            let line = if text.is_empty() { Ok(Line::Other) } else { Line::parse(text, with_files) };
            match line.map_err(|error| bad(Some(error)))? {
                Line::Add(add) => {
                    let partition_values = PartitionTexts::of_pairs(&add.partition_values);
                    let is_new = self.seen.is_new(&add.path, add.deletion_vector.as_ref());
                    if is_new && (!self.by_partition || self.visitor.may_want(&partition_values)) {
                        let stats = match add.stats.filter(|_| self.with_stats) {
                            Some(json) => line::text(json, &mut self.text).map_err(|error| bad(Some(error)))?,
                            None => None,
                        };
                        let file = LiveFile {
                            path: &add.path,
                            size: add.size,
                            modification_time: add.modification_time,
                            partition_values,
                            stats,
                            deletion_vector: add.deletion_vector.as_ref(),
                        };
                        self.visitor.file(&file).map_err(BadCommit::Visitor)?;
                    }
                }
                // Removes of a commit count before its adds, so they are kept until the adds were looked at.
                Line::Remove(remove) => {
                    let hash = self.seen.hash_of(&remove.path, remove.deletion_vector.as_ref());
                    self.removed.push(hash);
                }
                Line::Protocol(protocol) => {
                    said.0 = true;
                    if self.protocol.is_none() && self.table.is_none() {
                        self.protocol = Some(protocol);
                    }
                }
                Line::Metadata(metadata) => {
                    said.1 = true;
                    if self.metadata.is_none() && self.table.is_none() {
                        self.metadata = Some((version, *metadata));
                    }
                }
                Line::Other => {}
            }
            if begin == 0 {
                break;
            }
            end = begin - 1;
        }
        for hash in self.removed.drain(..) {
            self.seen.insert(hash);
        }
        Ok(said)
    }

    /// Shows an add of the checkpoint unless newer commits spoke of its file.
    fn show(&mut self, file: &LiveFile<'_>) -> Result<(), V::Error> {
        if !self.seen.is_empty() {
            let hash = self.seen.hash_of(file.path, file.deletion_vector);
            if self.seen.contains(hash) {
                return Ok(());
            }
        }
        if self.by_partition && !self.visitor.may_want(&file.partition_values) {
            return Ok(());
        }
        let stats = file.stats.filter(|_| self.with_stats);
        self.visitor.file(&LiveFile { stats, ..*file })
    }
}

impl<V: LiveFileVisitor> Sink for Scan<V> {
    type Error = Broken<V::Error>;

    fn with_stats(&self) -> bool {
        self.with_stats
    }

    fn by_partition(&self) -> bool {
        self.by_partition
    }

    fn may_want(&mut self, values: &PartitionTexts<'_>) -> bool {
        self.visitor.may_want(values)
    }

    fn show(&mut self, file: &LiveFile<'_>) -> Result<(), Self::Error> {
        self.show(file).map_err(Broken::Visitor)
    }
}

fn parquet(length: u64) -> Result<Content, CheckpointError> {
    ParquetFile::new(length).map(|file| Content::Parquet(Box::new(file)))
}

fn push(content: &mut Content, bytes: Bytes) -> Result<(), CheckpointError> {
    match content {
        Content::Parquet(file) => file.push(bytes),
        Content::Json(_) | Content::Sidecar => {
            panic!("{} bytes come only to a file that needs some", bytes.len())
        }
    }
}

fn get_range(path: &str, range: Range<u64>) -> Request {
    Request::GetRange { path: path.to_owned(), start: range.start, end: range.end }
}

#[cfg(test)]
mod tests;
