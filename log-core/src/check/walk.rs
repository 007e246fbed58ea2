//! The walk over a log.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{
    CheckedLog, Findings, Mentioned, Rule, checkpoint, checksum, commit, files,
    plan::{Item, Plan},
    protocol, row_ids,
    state::State,
    times, values,
};
use crate::{
    action::Action,
    checkpoint::Checkpoint,
    commit::{Commit, CommitError},
    error_chain::error_chain,
    last_checkpoint::LastCheckpoint,
    path::{LAST_CHECKPOINT, LOG_FOLDER, LogFile, SIDECAR_FOLDER, Version, commit_path},
    store::{Answer, Bytes, Machine, ObjectMeta, Request, Response, Step},
};

/// Rules about a commit by itself.
const ALONE: [fn(&Commit, &mut Findings); 5] = [
    commit::duplicate_actions,
    commit::misplaced_actions,
    commit::read_version,
    commit::blind_append,
    commit::file_sizes,
];

/// Rules about a commit and what the table held before it.
const BEFORE: [fn(&Commit, &State, &mut Findings); 4] =
    [files::removes_match, files::adds_are_new, files::append_only, files::rearranged_rows];

/// Rules about a commit and what the table holds after it.
const AFTER: [fn(&Commit, &State, &mut Findings); 9] = [
    protocol::presence,
    protocol::protocol,
    protocol::undeclared_features,
    protocol::schema,
    files::live_once,
    row_ids::row_ids,
    times::in_commit_timestamp,
    values::partition_values,
    values::statistics,
];

/// Walks a log. Comes to `None` when there is no table.
///
/// It asks for a listing, then for one file after the other, oldest version first, and holds no more than the state of one version, one file, and
/// the commits of compactions that end later.
#[derive(Debug)]
pub struct CheckLog {
    findings: Findings,
    pending: Pending,
    items: VecDeque<(Version, Item)>,
    plan: Plan,
    total: usize,
    /// What the table holds; `None` where nobody knows.
    state: Option<State>,
    /// Was it said already that nobody knows?
    said_unknown: bool,
    /// First and last version of the compactions to come.
    compactions: Vec<(Version, Version)>,
    /// Commits that they stand in for.
    kept: BTreeMap<Version, Commit>,
    transaction_ids: BTreeMap<String, Version>,
    mentioned: Mentioned,
    sidecars: BTreeSet<String>,
}

/// What the outstanding request is about.
#[derive(Debug)]
enum Pending {
    Listing,
    Item(Version, Item),
    /// The sidecars of a checkpoint, and what stands in itself.
    Sidecars {
        version: Version,
        paths: Vec<String>,
        actions: Vec<Action>,
    },
    SidecarFolder,
    Hint,
}

/// Why a log could not be walked at all. Of single files that cannot be read the walk tells in its findings.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CheckError {
    /// The log folder could not be listed.
    #[error("the log folder cannot be listed: {cause}")]
    List {
        /// What the store said.
        cause: String,
    },
}

impl Default for CheckLog {
    fn default() -> Self {
        Self::new()
    }
}

impl CheckLog {
    /// A walk from the oldest file to the newest.
    pub fn new() -> Self {
        Self {
            findings: Findings::new(),
            pending: Pending::Listing,
            items: VecDeque::new(),
            plan: Plan::default(),
            total: 0,
            state: None,
            said_unknown: false,
            compactions: Vec::new(),
            kept: BTreeMap::new(),
            transaction_ids: BTreeMap::new(),
            mentioned: Mentioned::default(),
            sidecars: BTreeSet::new(),
        }
    }

    /// How many steps are done, and how many there are; both 0 before the listing is there.
    pub fn progress(&self) -> (usize, usize) {
        (self.total - self.items.len(), self.total)
    }

    fn listed(&mut self, listing: Vec<ObjectMeta>) -> bool {
        let Some(mut plan) = Plan::of(listing, &mut self.findings) else { return false };
        times::clock_regressions(&plan.commits, &mut self.findings);
        self.items = std::mem::take(&mut plan.items).into();
        let compactions = self.items.iter().filter_map(|(last, item)| match item {
            Item::Compaction { first, .. } => Some((*first, *last)),
            _ => None,
        });
        self.compactions = compactions.collect();
        self.total = self.items.len();
        self.state = (plan.first == Some(Version(0))).then(State::new);
        self.plan = plan;
        true
    }

    /// The next request.
    fn next(&mut self) -> Request {
        while let Some((version, item)) = self.items.pop_front() {
            let paths = match &item {
                Item::Gap(last) => {
                    self.gap(version, *last);
                    continue;
                }
                Item::Commit(path) | Item::Compaction { path, .. } | Item::Checksum(path) => vec![path.clone()],
                Item::Checkpoint(paths) => paths.clone(),
            };
            self.pending = Pending::Item(version, item);
            return Request::GetMany { paths };
        }
        self.pending = Pending::SidecarFolder;
        Request::List { after: SIDECAR_FOLDER.to_owned() }
    }

    fn gap(&mut self, first: Version, last: Version) {
        self.findings.about(Some(first), commit_path(first));
        let which = if first == last { "this commit is".to_owned() } else { format!("commits {first} to {last} are") };
        self.findings.report(
            Rule::Gap,
            format!("{which} missing, and versions are contiguous; restore the files from a copy of the table"),
        );
        self.lose_state();
    }

    fn lose_state(&mut self) {
        self.state = None;
        self.said_unknown = false;
    }

    fn item(&mut self, version: Version, item: Item, contents: Result<Vec<Option<Bytes>>, String>) {
        let (path, paths) = match &item {
            Item::Gap(_) => unreachable!("nothing is read for a gap"),
            Item::Commit(path) | Item::Compaction { path, .. } | Item::Checksum(path) => (path.clone(), Vec::new()),
            Item::Checkpoint(paths) => (paths[0].clone(), paths.clone()),
        };
        self.findings.about(Some(version), path);
        if let Item::Compaction { first, .. } = &item {
            self.compactions.retain(|compaction| *compaction != (*first, version));
        }
        let contents = contents.and_then(|contents| {
            contents.into_iter().collect::<Option<Vec<Bytes>>>().ok_or("it was listed, and is gone".to_owned())
        });
        let contents = match contents {
            Ok(contents) => contents,
            Err(cause) => {
                self.findings.report(Rule::UnreadableFile, cause);
                if matches!(item, Item::Commit(_)) {
                    self.lose_state();
                }
                return;
            }
        };
        match item {
            Item::Gap(_) => {}
            Item::Commit(_) => self.commit(version, &contents[0]),
            Item::Compaction { first, .. } => self.compaction(first, version, &contents[0]),
            Item::Checkpoint(_) => self.checkpoint(version, paths, &contents),
            Item::Checksum(_) => checksum::checksum(version, &contents[0], self.state.as_ref(), &mut self.findings),
        }
        let needed = self.compactions.iter().map(|(first, _)| *first).min();
        self.kept = needed.map_or_else(BTreeMap::new, |needed| self.kept.split_off(&needed));
    }

    fn commit(&mut self, version: Version, bytes: &[u8]) {
        if bytes.is_empty() {
            self.findings.report(Rule::EmptyCommit, "it is empty: a version without actions; its writer may have died");
        } else if bytes.iter().all(u8::is_ascii_whitespace) {
            self.findings.report(Rule::EmptyCommit, "it holds nothing but blanks: a version without actions");
        }
        let commit = match Commit::parse(version, bytes) {
            Ok(commit) => commit,
            Err(error) => {
                self.torn(&error, bytes);
                return;
            }
        };
        checkpoint::mention(&commit.actions, &mut self.mentioned);
        values::statistics_are_texts(&commit, bytes, &mut self.findings);
        for rule in ALONE {
            rule(&commit, &mut self.findings);
        }
        self.transaction_id(&commit);
        let follows = |state: &State| Version::after(state.version()) == version;
        if !self.state.as_ref().is_some_and(follows) {
            self.state = None;
        }
        match &mut self.state {
            Some(state) => {
                for rule in BEFORE {
                    rule(&commit, state, &mut self.findings);
                }
                state.apply(&commit);
                for rule in AFTER {
                    rule(&commit, state, &mut self.findings);
                }
            }
            None => self.unknown(version),
        }
        if self.compactions.iter().any(|(first, last)| *first <= version && version <= *last) {
            self.kept.insert(version, commit);
        }
    }

    fn torn(&mut self, error: &CommitError, bytes: &[u8]) {
        self.findings.report(Rule::TornCommit, error_chain(error));
        // What can be read still tells which files are no orphans.
        for line in bytes.split(|byte| *byte == b'\n') {
            let action = std::str::from_utf8(line).ok().and_then(|line| Action::parse(line.trim()).ok().flatten());
            checkpoint::mention(action.as_slice(), &mut self.mentioned);
        }
        self.lose_state();
    }

    /// Says once that rules rest, and until when.
    fn unknown(&mut self, version: Version) {
        // Where a checkpoint of the very version follows there is nothing to say.
        if self.plan.checkpoints.contains_key(&version) || std::mem::replace(&mut self.said_unknown, true) {
            return;
        }
        let until = match self.plan.checkpoints.range(version..).next() {
            Some((version, _)) => format!("until the checkpoint of version {version}"),
            None => "to the end of the log".to_owned(),
        };
        self.findings.report(
            Rule::UnknownState,
            format!("from here on nobody can say what the table holds, so rules that compare with it rest {until}"),
        );
    }

    fn transaction_id(&mut self, commit: &Commit) {
        let Some(id) = commit.info().and_then(|info| info.txn_id()) else { return };
        match self.transaction_ids.get(id) {
            Some(before) => self.findings.report(
                Rule::RepeatedTransaction,
                format!("its txnId '{id}' is that of version {before} too: a transaction landed twice"),
            ),
            None => {
                self.transaction_ids.insert(id.to_owned(), commit.version);
            }
        }
    }

    fn compaction(&mut self, first: Version, last: Version, bytes: &[u8]) {
        let commits: Vec<&Commit> = self.kept.range(first..=last).map(|(_, commit)| commit).collect();
        // Where commits are gone or torn there is nothing to compare with.
        if commits.len() as u64 == last.0 - first.0 + 1 {
            checkpoint::compaction(last, bytes, &commits, &mut self.findings);
        }
    }

    fn checkpoint(&mut self, version: Version, paths: Vec<String>, contents: &[Bytes]) {
        let mut whole = Checkpoint::default();
        for (path, bytes) in paths.iter().zip(contents) {
            let LogFile::Checkpoint(file) = LogFile::of(path) else { unreachable!("the plan has it as a checkpoint") };
            match Checkpoint::parse(file, bytes) {
                Ok(part) => {
                    whole.actions.extend(part.actions);
                    whole.sidecars.extend(part.sidecars);
                }
                Err(error) => {
                    self.findings.about(Some(version), path.clone());
                    self.findings.report(Rule::CheckpointUnreadable, error_chain(&error));
                    return;
                }
            }
        }
        if whole.sidecars.is_empty() {
            self.whole_checkpoint(version, whole.actions);
            return;
        }
        self.sidecars.extend(whole.sidecars.iter().cloned());
        self.pending = Pending::Sidecars { version, paths: whole.sidecars, actions: whole.actions };
    }

    fn sidecars(
        &mut self,
        version: Version,
        (paths, mut actions): (Vec<String>, Vec<Action>),
        contents: Result<Vec<Option<Bytes>>, String>,
    ) {
        let contents = match contents {
            Ok(contents) => contents,
            Err(cause) => {
                self.findings.report(Rule::CheckpointUnreadable, format!("a sidecar cannot be read: {cause}"));
                return;
            }
        };
        for (path, bytes) in paths.iter().zip(contents) {
            match bytes.map(|bytes| Checkpoint::sidecar(&bytes)) {
                Some(Ok(more)) => actions.extend(more),
                Some(Err(error)) => {
                    let message = format!("its sidecar '{path}' cannot be read: {}", error_chain(&error));
                    self.findings.report(Rule::CheckpointUnreadable, message);
                    return;
                }
                None => {
                    self.findings.report(Rule::CheckpointUnreadable, format!("its sidecar '{path}' is missing"));
                    return;
                }
            }
        }
        self.whole_checkpoint(version, actions);
    }

    fn whole_checkpoint(&mut self, version: Version, actions: Vec<Action>) {
        checkpoint::mention(&actions, &mut self.mentioned);
        checkpoint::checkpoint(version, actions, &mut self.state, &mut self.findings);
    }

    fn sidecar_folder(&mut self, listing: Vec<ObjectMeta>) {
        for object in listing {
            let name = object.path.rsplit('/').next().unwrap_or_default();
            if !self.sidecars.contains(&object.path) && !name.starts_with('.') {
                self.findings.about(None, object.path.clone());
                self.findings.report(Rule::StrayFile, "no checkpoint that is there names this sidecar");
            }
        }
    }

    fn hint(&mut self, answer: Result<Option<Bytes>, String>) {
        self.findings.about(None, LAST_CHECKPOINT);
        let advice = "readers find the checkpoints without it";
        let version = match answer {
            Err(cause) => {
                self.findings.report(Rule::LastCheckpoint, format!("it cannot be read: {cause}; {advice}"));
                return;
            }
            Ok(None) => return,
            Ok(Some(bytes)) => match LastCheckpoint::parse(&bytes) {
                Ok(hint) => hint.version,
                Err(error) => {
                    self.findings.report(Rule::LastCheckpoint, format!("{}; {advice}", error_chain(&error)));
                    return;
                }
            },
        };
        let message = match self.plan.newest_checkpoint {
            _ if !self.plan.checkpoints.contains_key(&version) => {
                format!("it names version {version}, which has no whole checkpoint; {advice}")
            }
            Some(newest) if newest > version => {
                format!("it names the checkpoint of version {version}, and that of version {newest} is newer; {advice}")
            }
            _ => return,
        };
        self.findings.report(Rule::LastCheckpoint, message);
    }

    fn finish(&mut self) -> CheckedLog {
        CheckedLog {
            findings: std::mem::replace(&mut self.findings, Findings::new()).finish(),
            newest: self.state.take().and_then(State::snapshot),
            mentioned: std::mem::take(&mut self.mentioned),
        }
    }
}

impl Machine for CheckLog {
    type Output = Result<Option<CheckedLog>, CheckError>;

    fn start(&mut self) -> Request {
        Request::List { after: LOG_FOLDER.to_owned() }
    }

    fn advance(&mut self, response: Response) -> Step<Self::Output> {
        match (std::mem::replace(&mut self.pending, Pending::Listing), response.answer) {
            (Pending::Listing, Answer::Unavailable { cause }) => return Step::Done(Err(CheckError::List { cause })),
            (Pending::Listing, Answer::Listed(listing)) => {
                if !self.listed(listing) {
                    return Step::Done(Ok(None));
                }
            }
            (Pending::Item(version, item), answer) => self.item(version, item, contents(answer)),
            (Pending::Sidecars { version, paths, actions }, answer) => {
                self.sidecars(version, (paths, actions), contents(answer));
            }
            (Pending::SidecarFolder, answer) => {
                match answer {
                    Answer::Listed(listing) => self.sidecar_folder(listing),
                    Answer::Unavailable { cause } => {
                        self.findings.about(None, SIDECAR_FOLDER);
                        self.findings.report(Rule::UnreadableFile, cause);
                    }
                    other => panic!("the driver answered with {other:?}, which was not asked for"),
                }
                if self.plan.has_hint {
                    self.pending = Pending::Hint;
                    return Step::Request(Request::Get { path: LAST_CHECKPOINT.to_owned() });
                }
                return Step::Done(Ok(Some(self.finish())));
            }
            (Pending::Hint, answer) => {
                match answer {
                    Answer::Content(bytes) => self.hint(Ok(bytes)),
                    Answer::Unavailable { cause } => self.hint(Err(cause)),
                    other => panic!("the driver answered with {other:?}, which was not asked for"),
                }
                return Step::Done(Ok(Some(self.finish())));
            }
            (pending, other) => panic!("the driver answered {pending:?} with {other:?}"),
        }
        // A checkpoint that has sidecars asks for them before the walk goes on.
        if let Pending::Sidecars { paths, .. } = &self.pending {
            return Step::Request(Request::GetMany { paths: paths.clone() });
        }
        Step::Request(self.next())
    }
}

fn contents(answer: Answer) -> Result<Vec<Option<Bytes>>, String> {
    match answer {
        Answer::Contents(contents) => Ok(contents),
        Answer::Unavailable { cause } => Err(cause),
        other => panic!("the driver answered with {other:?}, which was not asked for"),
    }
}
