//! What lies between the writers and the store: requests that get lost, or late.

use std::sync::Arc;

use log_core::store::{Bytes, Request};

use super::Tables;
use crate::{naming::CallId, scenario::Faults};

/// A fault that happens to one request of a writer, or to the writer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Fault {
    /// The put does not happen, and nobody says so.
    PutLost,
    /// The put happens if it can, and nobody says so.
    ReplyLost,
    /// Nobody says what became of the put; it may happen at any later time, or never.
    PutLate,
    /// The writer is killed before its request leaves.
    Crash,
    /// The writer is killed when its put has happened and before it hears of it.
    CrashAfterPut,
    /// The listing does not show the newest commits yet.
    ListLag {
        /// How many it does not show.
        missing: u8,
    },
}

/// Kinds of fault, as a scenario counts them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FaultKind {
    /// See [`Fault::PutLost`].
    PutLost,
    /// See [`Fault::ReplyLost`].
    ReplyLost,
    /// See [`Fault::PutLate`].
    PutLate,
    /// See [`Fault::Crash`] and [`Fault::CrashAfterPut`].
    Crash,
    /// See [`Fault::ListLag`].
    ListLag,
}

impl Fault {
    /// Its kind.
    pub fn kind(self) -> FaultKind {
        match self {
            Self::PutLost => FaultKind::PutLost,
            Self::ReplyLost => FaultKind::ReplyLost,
            Self::PutLate => FaultKind::PutLate,
            Self::Crash | Self::CrashAfterPut => FaultKind::Crash,
            Self::ListLag { .. } => FaultKind::ListLag,
        }
    }

    /// The word for it in a schedule.
    pub fn name(self) -> String {
        match self {
            Self::PutLost => "put_lost".to_owned(),
            Self::ReplyLost => "reply_lost".to_owned(),
            Self::PutLate => "put_late".to_owned(),
            Self::Crash => "crash".to_owned(),
            Self::CrashAfterPut => "crash_after_put".to_owned(),
            Self::ListLag { missing } => format!("list_lag_{missing}"),
        }
    }
}

impl FaultKind {
    /// Every kind, in the order of [`Faults::KINDS`].
    pub const ALL: [Self; 5] = [Self::PutLost, Self::ReplyLost, Self::PutLate, Self::Crash, Self::ListLag];

    /// The key of the kind in a scenario.
    pub fn name(self) -> &'static str {
        Faults::<u32>::KINDS[self as usize]
    }
}

/// How many faults may still happen.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct FaultBudget {
    /// Of all kinds together.
    pub total: u32,
    /// Of each kind.
    pub each: Faults<u32>,
}

impl FaultBudget {
    /// So many of each kind.
    pub fn of_kinds(each: Faults<u32>) -> Self {
        Self { total: each.iter().map(|(_, count)| count).sum(), each }
    }

    /// So many in any mix of some kinds; of all kinds when none is named.
    pub fn of_mix(total: u32, kinds: &[FaultKind]) -> Self {
        let mut each = Faults::default();
        for ((_, count), kind) in each.iter_mut().zip(FaultKind::ALL) {
            *count = if kinds.is_empty() || kinds.contains(&kind) { total } else { 0 };
        }
        Self { total, each }
    }

    /// May one of a kind happen?
    pub fn allows(&self, kind: FaultKind) -> bool {
        self.total > 0 && self.each.iter().nth(kind as usize).is_some_and(|(_, count)| *count > 0)
    }

    /// One more of a kind may happen.
    pub fn allow(&mut self, kind: FaultKind) {
        self.total += 1;
        let (_, count) = self.each.iter_mut().nth(kind as usize).expect("every kind has a count");
        *count += 1;
    }

    /// Takes one of a kind.
    pub(crate) fn spend(&mut self, kind: FaultKind) {
        assert!(self.allows(kind), "a fault of kind {} is not allowed", kind.name());
        self.total -= 1;
        let (_, count) = self.each.iter_mut().nth(kind as usize).expect("every kind has a count");
        *count -= 1;
    }
}

/// A put that nobody waits for any more.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LatePut {
    /// The table.
    pub table: usize,
    /// The commit file.
    pub path: String,
    /// Its content.
    pub bytes: Bytes,
    /// Who sent it.
    pub call: CallId,
}

/// Puts on their way, and the faults that may still happen.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Network {
    /// The faults that may still happen.
    pub budget: FaultBudget,
    /// Puts on their way, in order of table and path.
    pub late: Vec<LatePut>,
    /// Of each table the number of commits that every listing shows: those of the setup.
    pub shown: Arc<[u64]>,
}

impl Network {
    /// A network in which so many faults may happen.
    pub fn new(budget: FaultBudget, tables: &Tables) -> Self {
        Self { budget, late: Vec::new(), shown: tables.iter().map(|table| table.commits()).collect() }
    }

    /// A put goes on its way.
    pub(crate) fn delay(&mut self, put: LatePut) {
        let at = self.late.partition_point(|other| *other < put);
        self.late.insert(at, put);
    }

    /// Drops puts that cannot land any more, since somebody has taken their place.
    pub(crate) fn drop_hopeless(&mut self, tables: &Tables) {
        self.late.retain(|put| tables.get(put.table).objects().get(&put.path).is_none());
    }

    /// A put lands.
    pub(crate) fn land(&mut self, position: usize, tables: &mut Tables, now_ms: i64) {
        let put = self.late.remove(position);
        tables.answer(put.table, &Request::PutIfAbsent { path: put.path, bytes: put.bytes }, now_ms);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_spent_by_kind_and_in_all() {
        let mut budget = FaultBudget::of_mix(2, &[FaultKind::Crash, FaultKind::ListLag]);
        assert!(!budget.allows(FaultKind::PutLost));
        budget.spend(Fault::CrashAfterPut.kind());
        assert!(budget.allows(FaultKind::Crash) && budget.allows(FaultKind::ListLag));
        budget.spend(FaultKind::ListLag);
        assert!(!budget.allows(FaultKind::Crash) && !budget.allows(FaultKind::ListLag));
    }

    #[test]
    fn every_kind_has_the_key_of_its_place() {
        let names: Vec<&str> = FaultKind::ALL.iter().map(|kind| kind.name()).collect();
        assert_eq!(names, Faults::<u32>::KINDS);
    }
}
