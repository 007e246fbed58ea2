//! The report of a search.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::{
    Style, Subject, Verdict,
    grid::{Align, Grid},
    heading,
    replay::subject,
    text::{count, grouped, paragraph},
    timeline,
};
use crate::{
    explore::WorldModel,
    failure::{Failure, Replayed},
    search::Exploration,
};

/// Contents of all tables: of each the digest of its rows.
pub type Contents = BTreeMap<String, String>;

/// What a search came to.
#[derive(Clone, Debug)]
pub struct Searched {
    /// States seen.
    pub states: usize,
    /// Events tried.
    pub transitions: u64,
    /// States in which every writer has finished.
    pub ends: usize,
    /// Ends in which nobody knows of some call whether it committed.
    pub unknown_ends: usize,
    /// Ends in which a writer crashed in some call.
    pub crashed_ends: usize,
    /// The greatest number of steps on a shortest way to a state.
    pub depth: u32,
    /// Bytes taken, by the search's own account.
    pub bytes: usize,
    /// What stopped it, if it did not see everything.
    pub stopped: Option<Stopped>,
    /// By the number of committed calls the distinct final contents.
    pub outcomes: BTreeMap<usize, BTreeSet<Contents>>,
    /// Names of writers that are alike, by class; states that differ only in which of them did what were counted as one.
    pub alike: Vec<Vec<String>>,
    /// The shortest of each kind.
    pub violations: Vec<Shortest>,
}

/// What stopped a search.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Stopped {
    /// It may take so many megabytes (of 1,048,576 bytes), and would need more.
    Memory(u64),
    /// The user.
    Interrupted,
}

/// A violation with the shortest schedule to it.
#[derive(Clone, Debug)]
pub struct Shortest {
    /// The violation and its schedule.
    pub failure: Failure,
    /// The schedule, followed.
    pub replayed: Replayed,
    /// The file that it was written to.
    pub file: Option<String>,
}

impl Searched {
    /// What a model's exploration came to.
    pub fn new(
        model: &mut WorldModel,
        exploration: &Exploration<WorldModel>,
        stopped: Option<Stopped>,
        violations: Vec<Shortest>,
    ) -> Self {
        let mut outcomes: BTreeMap<usize, BTreeSet<Contents>> = BTreeMap::new();
        // Many ends share their tables, and the digest of rows is the slow part.
        let mut known: FxHashMap<u32, Contents> = FxHashMap::default();
        // An end may stand for others, whose rows need not be the same: a clock may be in them.
        for end in &exploration.ends {
            for end in model.orbit(end) {
                let tables = model.tables_number(&end);
                let contents = known.entry(tables).or_insert_with(|| model.contents(&end));
                let finals = outcomes.entry(model.committed(&end)).or_default();
                if !finals.contains(contents) {
                    finals.insert(contents.clone());
                }
            }
        }
        Self {
            states: exploration.states,
            transitions: exploration.transitions,
            ends: exploration.ends.len(),
            unknown_ends: exploration.ends.iter().filter(|end| model.unknown(end) > 0).count(),
            crashed_ends: exploration.ends.iter().filter(|end| model.crashed(end) > 0).count(),
            depth: exploration.depth,
            bytes: exploration.bytes,
            stopped,
            outcomes,
            alike: model.alike(),
            violations,
        }
    }

    /// What it says in the end.
    pub fn verdict(&self) -> Verdict {
        match (self.violations.is_empty(), self.stopped) {
            (false, _) => Verdict::Violation,
            (true, Some(_)) => Verdict::Incomplete,
            (true, None) => Verdict::Pass,
        }
    }
}

/// The whole report. Where a violation was written to a file, the command that replays it stands with it if `show_files`.
pub fn explore(subject: &Subject<'_>, searched: &Searched, show_files: bool, style: Style) -> String {
    let mut text = format!("{}\n{}\n", heading(subject, style), outcomes(searched, style));
    text.push_str(&paragraph("", &size(searched), style.width));
    if subject.setting.faults.total > 0 {
        text.push_str(&paragraph("", &indefinite(searched), style.width));
    }
    let faults = if subject.setting.faults.total > 0 { FAULTS } else { "" };
    text.push_str(&paragraph("", &format!("{STATE}{faults}"), style.width));
    for class in &searched.alike {
        text.push_str(&paragraph("", &alike(class), style.width));
    }
    if subject.setting.scenario.schedule.is_some() {
        let note = "The scenario's own schedule is for a run; the search tried all of them.";
        text.push_str(&paragraph("", note, style.width));
    }
    for shortest in &searched.violations {
        text.push('\n');
        text.push_str(&violation(shortest, show_files, style));
    }
    text.push('\n');
    text.push_str(&searched.verdict().line(searched.violations.iter().map(|found| found.failure.kind), style));
    text
}

/// What is counted.
const STATE: &str = "A state is what the tables hold and where each writer stands. A step takes one writer from one scheduling point to the \
                     next: to a listing of the log, to a put, to the listing after a lost put. Everything else commutes with the other \
                     writers and runs with the step before.";

/// What is counted besides, where faults may happen.
const FAULTS: &str = " A fault takes the place of a step, and a late put that lands is one.";

fn alike(class: &[String]) -> String {
    let names = match class {
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
        [] => String::new(),
    };
    format!(
        "Writers {names} have the same statements: states, steps and ends that differ only in which of them did what are \
         counted as one. Outcomes, final contents and schedules are those of all."
    )
}

fn outcomes(searched: &Searched, style: Style) -> String {
    let mut grid = Grid::new([("committed", Align::Right), ("final contents", Align::Right)]);
    for (committed, finals) in &searched.outcomes {
        grid.row([committed.to_string(), grouped(finals.len() as u64)]);
    }
    let text = grid.render(0, style.width);
    if searched.outcomes.is_empty() { format!("{text}no end was reached\n") } else { text }
}

fn size(searched: &Searched) -> String {
    let seen = match searched.stopped {
        None => "exhausted: every interleaving is among them".to_owned(),
        Some(Stopped::Memory(megabytes)) => {
            format!("not exhausted: more than {megabytes} MB would be needed, see --memory-mb")
        }
        Some(Stopped::Interrupted) => "not exhausted: interrupted".to_owned(),
    };
    format!(
        "{}, {}, {}, at most {} from the start; {seen}.",
        count(searched.states as u64, "state"),
        count(searched.transitions, "step"),
        count(searched.ends as u64, "end"),
        count(u64::from(searched.depth), "step"),
    )
}

/// What faults leave open.
fn indefinite(searched: &Searched) -> String {
    let ends = |number: usize| match number {
        0 => "in no end".to_owned(),
        number => format!("in {}", count(number as u64, "end")),
    };
    format!(
        "A writer crashed in one of its calls {}; whether a call committed is known to nobody {}.",
        ends(searched.crashed_ends),
        ends(searched.unknown_ends)
    )
}

fn violation(shortest: &Shortest, show_files: bool, style: Style) -> String {
    let Shortest { failure, replayed, file } = shortest;
    let steps = count(failure.schedule.len() as u64, "step");
    let subject = subject(failure, replayed);
    let mut text = style.heading(&format!("violation, {}: the shortest schedule has {steps}", failure.kind));
    text.push_str(&timeline(&subject, &replayed.result.history, style));
    text.push_str(&paragraph("", &failure.message, style.width));
    text.push_str(&paragraph("schedule: ", &failure.schedule.join(" "), style.width));
    if let Some(file) = file.as_ref().filter(|_| show_files) {
        text.push_str(&format!("again with: contend replay {file}\n"));
    }
    text
}
