//! The report of a failure file that was followed again.

use super::{Origin, Style, Subject, Verdict, heading, run, text::paragraph};
use crate::failure::{Failure, Replayed};

/// The whole report.
pub fn replay(failure: &Failure, replayed: &Replayed, style: Style) -> String {
    let subject = subject(failure, replayed);
    let mut text = format!("{}\n{}", heading(&subject, style), run::body(&subject, &replayed.result, style));
    text.push_str(&super::violations(&replayed.result.violations, style));
    text.push_str(&paragraph("", &finding(failure, replayed), style.width));
    let verdict = Verdict::of(&replayed.result.violations);
    text.push_str(&verdict.line(replayed.result.violations.iter().map(|violation| violation.kind), style));
    text
}

/// What a report of a failure is about.
pub(super) fn subject<'a>(failure: &'a Failure, replayed: &'a Replayed) -> Subject<'a> {
    let origin = Origin::Schedule(&failure.schedule);
    Subject { origin, setting: &replayed.setting, rules: &failure.rules }
}

/// Was the violation met again?
fn finding(failure: &Failure, replayed: &Replayed) -> String {
    let (kind, steps) = (failure.kind, failure.schedule.len());
    match replayed.reproduced {
        Some(0) => format!("reproduced: {kind} is there before the first step"),
        Some(step) => format!("reproduced: {kind} is there after step {step} of {steps}"),
        None => format!("not reproduced: the schedule of {steps} steps was followed to its end, and no {kind} was met"),
    }
}
