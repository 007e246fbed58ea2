//! Exactly once: what callers were told against what the log says.

use std::{collections::BTreeMap, fmt::Debug};

/// A call of commit, by the transaction id that it wrote, and what its caller was told.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Call<T> {
    /// The transaction id.
    pub id: T,
    /// What the caller was told.
    pub outcome: CallOutcome,
}

/// What the caller of a commit was told.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CallOutcome {
    /// Committed as this version.
    Acknowledged(u64),
    /// Not committed: a conflict, retries used up, an error before anything was written.
    Rejected,
    /// Nothing certain, or nothing yet: the call is running, the writer died, or a write was never answered.
    Unknown,
}

/// A log that does not agree with what callers were told.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum OnceProblem<T: Debug> {
    /// One transaction is in the log twice.
    #[error("transaction {id:?} was committed twice, as version {first} and as version {second}")]
    Twice {
        /// The transaction.
        id: T,
        /// Its first version.
        first: u64,
        /// The version that repeats it.
        second: u64,
    },
    /// A commit that was acknowledged is not in the log.
    #[error("transaction {id:?} was acknowledged as version {version}, but it is not in the log: the commit is lost")]
    Lost {
        /// The transaction.
        id: T,
        /// The version that its caller was told.
        version: u64,
    },
    /// A commit is in the log at another version than its caller was told.
    #[error("transaction {id:?} was acknowledged as version {told}, but it is version {found} of the log")]
    Elsewhere {
        /// The transaction.
        id: T,
        /// The version that its caller was told.
        told: u64,
        /// The version that it has.
        found: u64,
    },
    /// A commit that was rejected is in the log.
    #[error("transaction {id:?} was rejected, but it is version {version} of the log")]
    Resurrected {
        /// The transaction.
        id: T,
        /// The version that it has.
        version: u64,
    },
}

/// Checks that every acknowledged commit is in the log once and at its version, every rejected one absent, and no transaction there twice.
///
/// `log` holds the transaction id of each version from `first_version` on, `None` where a commit has none. Transactions of the log that no call
/// speaks of are nobody's fault, but may not repeat either.
///
/// # Errors
/// The first problem: repetitions in log order, then the calls in their order.
pub fn check<T: Ord + Clone + Debug>(
    first_version: u64,
    log: &[Option<T>],
    calls: &[Call<T>],
) -> Result<(), OnceProblem<T>> {
    let mut places = BTreeMap::new();
    for (version, id) in (first_version..).zip(log) {
        let Some(id) = id else { continue };
        if let Some(first) = places.insert(id, version) {
            return Err(OnceProblem::Twice { id: id.clone(), first, second: version });
        }
    }
    for Call { id, outcome } in calls {
        let place = places.get(id).copied();
        match (*outcome, place) {
            (CallOutcome::Acknowledged(told), Some(found)) if told != found => {
                return Err(OnceProblem::Elsewhere { id: id.clone(), told, found });
            }
            (CallOutcome::Acknowledged(version), None) if version >= first_version => {
                return Err(OnceProblem::Lost { id: id.clone(), version });
            }
            (CallOutcome::Rejected, Some(version)) => {
                return Err(OnceProblem::Resurrected { id: id.clone(), version });
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(outcome: CallOutcome) -> Vec<Call<u32>> {
        vec![Call { id: 7, outcome }]
    }

    #[test]
    fn a_log_that_agrees_with_its_callers_passes() {
        let log = [None, Some(3), Some(7)];
        assert_eq!(check(0, &log, &told(CallOutcome::Acknowledged(2))), Ok(()));
        assert_eq!(check(0, &log, &told(CallOutcome::Unknown)), Ok(()));
        assert_eq!(check(0, &log[..2], &told(CallOutcome::Unknown)), Ok(()));
        assert_eq!(check(0, &log[..2], &told(CallOutcome::Rejected)), Ok(()));
        assert_eq!(
            check(5, &[None], &told(CallOutcome::Acknowledged(4))),
            Ok(()),
            "before the part of the log in sight"
        );
    }

    #[test]
    fn a_double_commit_fires() {
        let log = [Some(7), None, Some(7)];
        let problem = check(4, &log, &told(CallOutcome::Acknowledged(4))).unwrap_err();
        assert_eq!(problem, OnceProblem::Twice { id: 7, first: 4, second: 6 });
        assert_eq!(problem.to_string(), "transaction 7 was committed twice, as version 4 and as version 6");
        assert!(check(4, &log, &[]).is_err(), "also when no call speaks of it");
    }

    #[test]
    fn a_lost_commit_fires() {
        let problem = check(0, &[Some(3)], &told(CallOutcome::Acknowledged(0)));
        assert_eq!(problem, Err(OnceProblem::Lost { id: 7, version: 0 }));
    }

    #[test]
    fn a_commit_at_another_version_fires() {
        let problem = check(0, &[Some(7)], &told(CallOutcome::Acknowledged(1)));
        assert_eq!(problem, Err(OnceProblem::Elsewhere { id: 7, told: 1, found: 0 }));
    }

    #[test]
    fn a_rejected_commit_in_the_log_fires() {
        let problem = check(0, &[Some(7)], &told(CallOutcome::Rejected));
        assert_eq!(problem, Err(OnceProblem::Resurrected { id: 7, version: 0 }));
    }
}
