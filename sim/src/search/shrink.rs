//! Schedules without the events that do not matter.

use super::{Model, replay};

/// A schedule from which no single event can be dropped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shrunk<M: Model> {
    /// What is wrong at its end.
    pub violation: M::Violation,
    /// Its events.
    pub schedule: Vec<M::Event>,
    /// Schedules that were tried.
    pub replays: usize,
}

/// Drops events from a schedule while a violation of the same kind stays, until none of those left can be dropped alone.
///
/// What is tried is always a schedule without some of its events, in order; events that are then no longer possible are left out as well. It is cut
/// where the violation is met. Larger pieces are tried first (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", 2002). There may still
/// be a shorter schedule that is no part of this one: [`explore`](super::explore) finds it.
///
/// `None` when the schedule does not show a violation of the kind.
///
/// # Errors
/// When the model cannot go on.
pub fn shrink_schedule<M: Model>(
    model: &mut M,
    schedule: &[M::Event],
    kind: &M::Kind,
) -> Result<Option<Shrunk<M>>, M::Error> {
    let mut replays = 0;
    let mut shown = |model: &mut M, schedule: &[M::Event]| {
        replays += 1;
        let mut replayed = replay(model, schedule, Some(kind))?;
        let violation = replayed.violations.remove(kind);
        Ok(violation.map(|(_, violation)| (violation, replayed.schedule)))
    };
    let Some((mut violation, mut best)) = shown(model, schedule)? else { return Ok(None) };
    let mut pieces = 2;
    let mut candidate = Vec::new();
    while !best.is_empty() {
        pieces = pieces.min(best.len());
        let size = best.len().div_ceil(pieces);
        let mut smaller = None;
        for start in (0..best.len()).step_by(size) {
            let end = best.len().min(start + size);
            candidate.clear();
            candidate.extend_from_slice(&best[..start]);
            candidate.extend_from_slice(&best[end..]);
            smaller = shown(model, &candidate)?;
            if smaller.is_some() {
                break;
            }
        }
        if let Some(found) = smaller {
            (violation, best) = found;
            pieces = (pieces - 1).max(2);
        } else if size == 1 {
            break;
        } else {
            pieces *= 2;
        }
    }
    Ok(Some(Shrunk { violation, schedule: best, replays }))
}
