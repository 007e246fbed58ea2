//! The report of many seeded runs.

use super::{
    Style, Subject, Verdict,
    grid::{Align, Grid},
    heading,
    text::{count, grouped, paragraph},
};
use crate::{
    walk::{Walk, Work},
    world::FaultKind,
};

/// A bar of the distribution is at most so wide.
const BAR_MAX: usize = 40;

/// The whole report; `replay` gives the command that runs one seed alone.
pub fn walk(subject: &Subject<'_>, walk: &Walk, replay: &dyn Fn(u64) -> String, style: Style) -> String {
    let mut text = format!("{}\n{}\n", heading(subject, style), distribution(walk, style));
    for line in figures(walk) {
        text.push_str(&paragraph("", &line, style.width));
    }
    if walk.interrupted {
        text.push_str(&paragraph("", "interrupted: not every seed was run", style.width));
    }
    let unseen = unseen(subject, walk);
    if !unseen.is_empty() {
        text.push_str(&paragraph("", &format!("never seen: {}.", unseen.join(", ")), style.width));
    }
    for (kind, violated) in &walk.violations {
        let runs = count(violated.runs, "run");
        let line = format!("{kind} in {runs}, first with seed {}: {}", violated.seed, violated.message);
        text.push_str(&paragraph("\n", &line, style.width));
        text.push_str(&format!("    {}\n", replay(violated.seed)));
    }
    text.push('\n');
    text.push_str(&verdict(walk).line(walk.violations.keys().copied(), style));
    text
}

/// What it says in the end.
pub fn verdict(walk: &Walk) -> Verdict {
    match (walk.violations.is_empty(), walk.interrupted) {
        (false, _) => Verdict::Violation,
        (true, true) => Verdict::Incomplete,
        (true, false) => Verdict::Pass,
    }
}

fn distribution(walk: &Walk, style: Style) -> String {
    let room = style.width.saturating_sub(30).clamp(4, BAR_MAX);
    let most = walk.outcomes.values().copied().max().unwrap_or(1);
    let mut grid =
        Grid::new([("committed", Align::Right), ("runs", Align::Right), ("share", Align::Right), ("", Align::Left)]);
    for (committed, runs) in &walk.outcomes {
        let length = (runs * room as u64).div_ceil(most) as usize;
        grid.row([committed.to_string(), grouped(*runs), percent(*runs, walk.seeds), "█".repeat(length)]);
    }
    grid.render(0, style.width)
}

/// The figures under the distribution, a sentence each.
fn figures(walk: &Walk) -> Vec<String> {
    let ends = &walk.ends;
    let tried = ends.committed + ends.conflicts + ends.exhausted;
    let mut lines = vec![format!(
        "{}: {} committed, {} conflicts, abort rate {}.",
        count(ends.all(), "execution"),
        grouped(ends.committed),
        grouped(ends.conflicts),
        percent(ends.conflicts + ends.exhausted, tried),
    )];
    let others = [
        (ends.nothing, "had nothing to commit"),
        (ends.answered, "answered a query"),
        (ends.exhausted, "used up their puts"),
        (ends.unknown, "ended unknown"),
        (ends.crashed, "crashed"),
        (ends.failed, "failed"),
    ];
    let others: Vec<String> = others
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, what)| format!("{} {what}", grouped(*number)))
        .collect();
    if !others.is_empty() {
        lines.push(format!("Of the executions {}.", others.join(", ")));
    }
    let puts = &walk.puts;
    lines.push(format!("{}: {} lost, {} unclear.", count(puts.made, "put"), grouped(puts.lost), grouped(puts.unclear)));
    let wasted = |part: fn(&Work) -> u64| percent(part(&walk.wasted), part(&walk.wasted) + part(&walk.useful));
    lines.push(format!(
        "Wasted: {} ({}) of work and {} ({}) of data files by executions that did not commit; {} left behind.",
        seconds(walk.wasted.ms),
        wasted(|work| work.ms),
        count(walk.wasted.bytes, "byte"),
        wasted(|work| work.bytes),
        count(walk.orphans, "orphan file"),
    ));
    if let (Some(half), Some(most), Some(rare), Some(all)) =
        (walk.latency_ms(500), walk.latency_ms(900), walk.latency_ms(990), walk.latency_ms(1000))
    {
        lines.push(format!(
            "A commit took {half} ms or less in half of the cases, {most} ms in 90 %, {rare} ms in 99 %, {all} ms at most (virtual time)."
        ));
    }
    let rules: Vec<String> = walk.rules.iter().map(|(rule, number)| format!("{rule} {}", grouped(*number))).collect();
    if !rules.is_empty() {
        lines.push(format!("Rules that found a conflict: {}.", rules.join(", ")));
    }
    let faults: Vec<String> =
        walk.faults.iter().map(|(kind, number)| format!("{} {}", kind.name(), grouped(*number))).collect();
    if !faults.is_empty() {
        lines.push(format!("Faults: {}.", faults.join(", ")));
    }
    lines
}

/// Rules that never found a conflict, and faults with a probability that never happened.
pub(super) fn unseen(subject: &Subject<'_>, walk: &Walk) -> Vec<String> {
    let rules = subject.setting.rules.rules.iter().map(|rule| rule.id).filter(|id| !walk.rules.contains_key(*id));
    let mut unseen: Vec<String> = rules.map(|id| format!("rule {id}")).collect();
    let rates = subject.setting.scenario.store.fault_rate;
    for (kind, (name, rate)) in FaultKind::ALL.into_iter().zip(rates.iter()) {
        if rate.0 > 0 && !walk.faults.contains_key(&kind) {
            unseen.push(format!("fault {name}"));
        }
    }
    unseen
}

/// A share with one digit after the point, in integers only.
fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "0.0 %".to_owned();
    }
    let tenths = (part * 2000 + whole) / (2 * whole);
    format!("{}.{} %", tenths / 10, tenths % 10)
}

fn seconds(ms: u64) -> String {
    format!("{}.{} s", grouped(ms / 1000), ms % 1000 / 100)
}
