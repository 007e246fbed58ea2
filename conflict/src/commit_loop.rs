//! The commit loop: put, and when that was lost, judge every winner and put again.

use std::{collections::BTreeMap, sync::Arc};

use log_core::{
    commit::{Commit, CommitError},
    path::{LogFile, Version, commit_path},
    store::{Answer, Machine, Request, Response, Step, WriteAnswer},
};

use crate::{
    rebase::{RebaseError, rebase},
    rules::{Conflict, RuleSet},
    transaction::{InvalidTransaction, Transaction, Winner},
};

/// How often a put is repeated when nobody says otherwise. Kernel Java's limit; Delta Spark's is 10,000,000, delta-rs's 15.
pub const DEFAULT_COMMIT_RETRIES: u32 = 200;

/// How often a store that does not answer a read is asked again before the loop gives up.
pub const READ_RETRIES: u32 = 10;

/// How a commit ended. Losing a race is an outcome, not an error.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Outcome {
    /// It is in the log.
    Committed {
        /// Where.
        version: Version,
        /// How many puts it took.
        attempts: u32,
    },
    /// A winner stands against it. Nothing of it is in the log.
    Conflict(Conflict),
    /// The retries are used up. Nothing of it is in the log.
    Exhausted {
        /// How many puts were made.
        attempts: u32,
        /// What stood against the last one.
        last: String,
    },
    /// It may be in the log at this version, or come there later: the store did not say, and did not answer when asked. Nothing may be
    /// cleaned up.
    Unknown {
        /// The version of the unclear put.
        version: Version,
    },
}

/// A log that a transaction cannot be checked against.
#[derive(Debug, thiserror::Error)]
pub enum CommitLoopError {
    /// A winner cannot be read.
    #[error(transparent)]
    Winner(#[from] CommitError),
    /// A winner that the transaction cannot be carried past.
    #[error(transparent)]
    Rebase(#[from] RebaseError),
    /// The transaction holds what no commit may hold together, or would after it was carried past a winner. Nothing was written.
    #[error(transparent)]
    Invalid(#[from] InvalidTransaction),
    /// A later commit is there and one before it is missing. A writer must not fill the hole.
    #[error(
        "commit {missing} is missing while commit {present} exists; versions are contiguous, so nothing was written; restore it from a copy of the table"
    )]
    Gap {
        /// The first missing version.
        missing: Version,
        /// A later one.
        present: Version,
    },
}

/// Commits one transaction. Every commit between the version it read and the version it lands at is checked once, in order; the transaction that
/// passed one is the one that is checked against the next.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct CommitLoop {
    transaction: Arc<Transaction>,
    rules: Arc<RuleSet>,
    /// Puts that may still be made.
    retries: u32,
    attempts: u32,
    /// A put at the version that is tried now was unclear, and nobody has looked since: the object there may be ours, or may still come.
    unclear: bool,
    now_ms: i64,
    /// When the files of listed winners were written, for a transaction that has to go by that: one that switches in-commit timestamps on, which
    /// those before it do not have. Empty for all others.
    modified_ms: BTreeMap<Version, i64>,
    state: State,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum State {
    /// A put of `version` is on its way.
    Putting { version: Version },
    /// The put of `version` was unclear: is the object there?
    Probing { version: Version, asked: u32 },
    /// Which commits are there from `version` on? When it is taken, at least that one.
    Listing { version: Version, taken: bool, asked: u32 },
    /// Winners from `next` to `last` are read one by one.
    Reading { next: Version, last: Version, asked: u32 },
    /// Some time goes by.
    BackingOff { then: AfterWait },
}

/// What follows a pause.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum AfterWait {
    Put { version: Version },
    Probe { version: Version, asked: u32 },
    List { version: Version, taken: bool, asked: u32 },
    Read { next: Version, last: Version, asked: u32 },
}

type Next = Step<Result<Outcome, CommitLoopError>>;

impl CommitLoop {
    /// A loop that makes at most `retries` + 1 puts. `now_ms` is the time of the first put, in milliseconds since the epoch.
    ///
    /// # Errors
    /// When actions of the transaction contradict each other.
    pub fn new(
        transaction: Arc<Transaction>,
        rules: Arc<RuleSet>,
        retries: u32,
        now_ms: i64,
    ) -> Result<Self, CommitLoopError> {
        transaction.check()?;
        let version = Version::after(transaction.read_version());
        let (modified_ms, state) = (BTreeMap::new(), State::Putting { version });
        Ok(Self { transaction, rules, retries, attempts: 0, unclear: false, now_ms, modified_ms, state })
    }

    /// The transaction as it stands, rebased over the winners that it passed.
    pub fn transaction(&self) -> &Arc<Transaction> {
        &self.transaction
    }

    /// Is it asking for an object that may not exist?
    pub fn is_probing(&self) -> bool {
        matches!(self.state, State::Probing { .. })
    }

    /// Forgets how many puts were made, so that two ways to the same place are the same state. For a search in which the limit cannot be
    /// reached; `attempts` in the outcome then counts from here.
    pub fn forget_attempts(&mut self) {
        self.attempts = 0;
    }

    fn put(&mut self, version: Version) -> Request {
        self.attempts += 1;
        self.state = State::Putting { version };
        Request::PutIfAbsent { path: commit_path(version), bytes: self.transaction.commit_bytes(self.now_ms).into() }
    }

    fn back_off(&mut self, then: AfterWait) -> Next {
        self.state = State::BackingOff { then };
        Step::Request(Request::Backoff { attempt: self.attempts })
    }

    fn proceed(&mut self, then: AfterWait) -> Next {
        Step::Request(match then {
            AfterWait::Put { version } => self.put(version),
            AfterWait::Probe { version, asked } => {
                self.state = State::Probing { version, asked };
                Request::Get { path: commit_path(version) }
            }
            AfterWait::List { version, taken, asked } => {
                self.state = State::Listing { version, taken, asked };
                // A listing after the commit before it begins at `version`.
                let after = match version.0.checked_sub(1) {
                    Some(before) => commit_path(Version(before)),
                    None => log_core::path::LOG_FOLDER.to_owned(),
                };
                Request::List { after }
            }
            AfterWait::Read { next, last, asked } => {
                self.state = State::Reading { next, last, asked };
                Request::Get { path: commit_path(next) }
            }
        })
    }

    /// Gives up at a version, for the last reason.
    fn give_up(&self, version: Version, last: String) -> Next {
        Step::Done(Ok(match self.unclear {
            true => Outcome::Unknown { version },
            false => Outcome::Exhausted { attempts: self.attempts, last },
        }))
    }

    fn after_put(&mut self, version: Version, answer: WriteAnswer) -> Next {
        match answer {
            WriteAnswer::Happened => Step::Done(Ok(Outcome::Committed { version, attempts: self.attempts })),
            // It may be our own from before: that is settled before anything else can end the loop.
            WriteAnswer::AlreadyExists if self.unclear => self.proceed(AfterWait::Probe { version, asked: 0 }),
            WriteAnswer::AlreadyExists => self.back_off(AfterWait::List { version, taken: true, asked: 0 }),
            WriteAnswer::Unknown { .. } => {
                self.unclear = true;
                self.proceed(AfterWait::Probe { version, asked: 0 })
            }
            WriteAnswer::DidNotHappen { cause } if self.attempts > self.retries => self.give_up(version, cause),
            WriteAnswer::DidNotHappen { .. } => self.back_off(AfterWait::Put { version }),
        }
    }

    fn after_probe(&mut self, version: Version, asked: u32, answer: Answer) -> Next {
        match answer {
            Answer::Content(Some(bytes)) => self.judge(version, None, &bytes),
            // Not there, but the put may still be on its way. Putting again at the same version is safe: one of the two wins, and both are ours.
            Answer::Content(None) if self.attempts <= self.retries => self.back_off(AfterWait::Put { version }),
            Answer::Unavailable { .. } if asked < READ_RETRIES => {
                self.back_off(AfterWait::Probe { version, asked: asked + 1 })
            }
            Answer::Content(None) => self.give_up(version, "the put was unclear".to_owned()),
            Answer::Unavailable { cause } => self.give_up(version, cause),
            other => panic!("the driver answered a get with {other:?}"),
        }
    }

    fn after_list(&mut self, version: Version, taken: bool, asked: u32, answer: Answer) -> Next {
        let listing = match answer {
            Answer::Listed(listing) => listing,
            Answer::Unavailable { .. } if asked < READ_RETRIES => {
                return self.back_off(AfterWait::List { version, taken, asked: asked + 1 });
            }
            Answer::Unavailable { cause } => return self.give_up(version, cause),
            other => panic!("the driver answered a list with {other:?}"),
        };
        // A version that is taken exists, whether the listing already shows it or not.
        let mut last = taken.then_some(version);
        for object in &listing {
            let LogFile::Commit(listed) = LogFile::of(&object.path) else { continue };
            let expected = last.map_or(version, Version::next);
            if listed > expected {
                if asked < READ_RETRIES {
                    return self.back_off(AfterWait::List { version, taken, asked: asked + 1 });
                }
                return Step::Done(Err(CommitLoopError::Gap { missing: expected, present: listed }));
            }
            last = last.max(Some(listed));
            if self.transaction.enables_timestamps() {
                self.modified_ms.insert(listed, object.modified_ms);
            }
        }
        self.proceed(match last {
            Some(last) => AfterWait::Read { next: version, last, asked: 0 },
            None => AfterWait::Put { version },
        })
    }

    fn after_read(&mut self, next: Version, last: Version, asked: u32, answer: Answer) -> Next {
        match answer {
            Answer::Content(Some(bytes)) => self.judge(next, Some(last), &bytes),
            Answer::Content(None) | Answer::Unavailable { .. } if asked < READ_RETRIES => {
                self.back_off(AfterWait::Read { next, last, asked: asked + 1 })
            }
            Answer::Content(None) => self.give_up(next, format!("commit {next} exists, but could not be read")),
            Answer::Unavailable { cause } => self.give_up(next, cause),
            other => panic!("the driver answered a get with {other:?}"),
        }
    }

    /// Judges the commit at `version`; `last` is the newest one that a listing showed, `None` when nobody has listed.
    fn judge(&mut self, version: Version, last: Option<Version>, bytes: &[u8]) -> Next {
        let winner = match Commit::parse(version, bytes) {
            // Our own put may be there by half: whoever takes that for a rival's commit commits twice.
            Err(_) if self.unclear => return Step::Done(Ok(Outcome::Unknown { version })),
            Ok(_) if self.unclear && bytes.is_empty() => return Step::Done(Ok(Outcome::Unknown { version })),
            Ok(commit) => Winner { modified_ms: self.modified_ms.remove(&version), ..Winner::new(commit) },
            Err(error) => return Step::Done(Err(error.into())),
        };
        let own = winner.commit.info().and_then(|info| info.txn_id()) == Some(&self.transaction.txn_id);
        if own && self.rules.recognises_own {
            return Step::Done(Ok(Outcome::Committed { version, attempts: self.attempts }));
        }
        // The version belongs to somebody else, so a put of ours that is still on its way cannot land there any more.
        self.unclear = false;
        if let Some(conflict) = self.rules.check(&self.transaction, &winner) {
            return Step::Done(Ok(Outcome::Conflict(conflict)));
        }
        if let Err(error) = rebase(&mut self.transaction, &winner) {
            return Step::Done(Err(error.into()));
        }
        if let Some(last) = last
            && version < last
        {
            return self.proceed(AfterWait::Read { next: version.next(), last, asked: 0 });
        }
        // What was taken over from the winners may contradict what the transaction holds.
        if let Err(error) = self.transaction.check() {
            return Step::Done(Err(error.into()));
        }
        if self.attempts > self.retries {
            return self.give_up(version, format!("version {version} was taken by {}", winner.operation()));
        }
        let version = version.next();
        self.proceed(match last {
            Some(_) => AfterWait::Put { version },
            None => AfterWait::List { version, taken: false, asked: 0 },
        })
    }
}

impl Machine for CommitLoop {
    type Output = Result<Outcome, CommitLoopError>;

    fn start(&mut self) -> Request {
        let State::Putting { version } = self.state else { panic!("a commit loop is started once") };
        self.put(version)
    }

    fn advance(&mut self, response: Response) -> Next {
        self.now_ms = response.now_ms;
        match (self.state.clone(), response.answer) {
            (State::Putting { version }, Answer::Write(answer)) => self.after_put(version, answer),
            (State::Probing { version, asked }, answer) => self.after_probe(version, asked, answer),
            (State::Listing { version, taken, asked }, answer) => self.after_list(version, taken, asked, answer),
            (State::Reading { next, last, asked }, answer) => self.after_read(next, last, asked, answer),
            (State::BackingOff { then }, Answer::Waited) => self.proceed(then),
            (state, answer) => panic!("the driver answered {answer:?} in state {state:?}"),
        }
    }
}

#[cfg(test)]
mod tests;
