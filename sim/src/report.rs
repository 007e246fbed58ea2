//! What a run or a search came to, as text and as JSON.
//!
//! Everything here is a function of its arguments: the width and whether to use colours are among them, and no clock is read, so the same result is
//! the same text byte for byte.

pub mod explore;
pub(crate) mod grid;
pub mod json;
pub mod judge;
pub mod replay;
pub mod run;
pub mod scenarios;
pub mod shrink;
mod table;
pub(crate) mod text;
mod timeline;
pub mod walk;

use std::{fmt, ops::Range};

pub use timeline::timeline;

use crate::{
    judge::{Violation, ViolationKind},
    rule_choice::RuleChoice,
    world::{FaultKind, Setting},
};

/// How text is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Style {
    /// Columns of the terminal.
    pub width: usize,
    /// Are there colours?
    pub color: bool,
}

/// The width where nobody says another.
pub const DEFAULT_WIDTH: usize = 80;

impl Default for Style {
    fn default() -> Self {
        Self { width: DEFAULT_WIDTH, color: false }
    }
}

/// What a report is about.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// Where the events come from.
    pub origin: Origin<'a>,
    /// What ran.
    pub setting: &'a Setting,
    /// The rules, by name.
    pub rules: &'a RuleChoice,
}

/// Where the events of a history come from, and what its times are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin<'a> {
    /// A simulation with this seed; times are virtual milliseconds.
    Seed(u64),
    /// Threads over real tables in a directory; times are milliseconds.
    Store(&'a str),
    /// A schedule; times are the number of the step, from 1.
    Schedule(&'a [String]),
    /// All of them: a search.
    Search,
    /// Simulations with these seeds.
    Seeds(&'a Range<u64>),
}

impl Origin<'_> {
    /// What a time counts.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Seed(_) | Self::Seeds(_) | Self::Store(_) => "ms",
            Self::Schedule(_) | Self::Search => "step",
        }
    }
}

/// Two reports beside each other, each of a width, under their titles.
pub fn side_by_side(titles: &(String, String), left: &str, right: &str, width: usize) -> String {
    let fit = |line: &str| text::pad(&text::shorten(line, width), width);
    let mut both = String::new();
    let mut row = |left: &str, right: &str| {
        both.push_str(format!("{} │ {}", fit(left), text::shorten(right, width)).trim_end());
        both.push('\n');
    };
    row(&titles.0, &titles.1);
    row(&"─".repeat(width), &"─".repeat(width));
    let (mut left, mut right) = (left.lines(), right.lines());
    loop {
        match (left.next(), right.next()) {
            (None, None) => return both,
            (left, right) => row(left.unwrap_or_default(), right.unwrap_or_default()),
        }
    }
}

/// What a command says in the end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Verdict {
    /// All is well.
    Pass,
    /// Something is wrong, or an expectation is broken.
    Violation,
    /// Nothing is wrong so far, and something stopped the search.
    Incomplete,
}

impl Verdict {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Violation => "violation",
            Self::Incomplete => "incomplete",
        }
    }

    /// The verdict on a run with these violations.
    pub fn of(violations: &[Violation]) -> Self {
        if violations.is_empty() { Self::Pass } else { Self::Violation }
    }

    /// The last line of a report.
    pub fn line(self, kinds: impl IntoIterator<Item = ViolationKind>, style: Style) -> String {
        let mut names: Vec<&str> = kinds.into_iter().map(ViolationKind::name).collect();
        names.sort_unstable();
        names.dedup();
        let what = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
        let paint = match self {
            Self::Pass => Paint::Good,
            Self::Violation => Paint::Wrong,
            Self::Incomplete => Paint::Lost,
        };
        format!("verdict: {}{what}\n", style.paint(paint, self.name()))
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What a piece of text is, for its colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Paint {
    Plain,
    Heading,
    Quiet,
    Good,
    Lost,
    Wrong,
}

impl Style {
    fn paint(self, paint: Paint, text: &str) -> String {
        let code = match paint {
            _ if !self.color || text.is_empty() => return text.to_owned(),
            Paint::Plain => return text.to_owned(),
            Paint::Heading => "1",
            Paint::Quiet => "2",
            Paint::Good => "32",
            Paint::Lost => "33",
            Paint::Wrong => "31;1",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }

    fn heading(self, text: &str) -> String {
        format!("{}\n", self.paint(Paint::Heading, text))
    }
}

/// The first lines: what ran, by which seed or schedule, at which level, by which rules.
pub fn heading(subject: &Subject<'_>, style: Style) -> String {
    let scenario = &subject.setting.scenario;
    let mut facts = Vec::new();
    match subject.origin {
        Origin::Seed(seed) => facts.push(("seed", seed.to_string())),
        Origin::Store(directory) => facts.push(("store", text::one_line(directory))),
        Origin::Schedule(steps) => facts.push(("schedule", text::count(steps.len() as u64, "step"))),
        Origin::Search => facts.push(("schedules", "all".to_owned())),
        Origin::Seeds(seeds) => facts.push(("seeds", format!("{}..{}", seeds.start, seeds.end))),
    }
    facts.push(("scenario", text::one_line(&scenario.name)));
    facts.push(("level", level(subject.setting)));
    facts.push(("rules", subject.rules.to_string()));
    let faults = &subject.setting.faults;
    if faults.total > 0 && subject.origin.unit() == "step" {
        let kinds: Vec<&str> = faults.each.iter().filter(|(_, count)| **count > 0).map(|(kind, _)| kind).collect();
        let kinds = if kinds.len() == FaultKind::ALL.len() { "any kind".to_owned() } else { kinds.join(", ") };
        facts.push(("faults", format!("at most {} of {kinds}", faults.total)));
    }
    if let Origin::Seed(_) | Origin::Seeds(_) = subject.origin {
        let latency = scenario.store.latency.profile().unwrap_or("of the scenario");
        facts.push(("latency", latency.to_owned()));
    }
    let mut lines = String::new();
    let mut used = 0;
    for (name, value) in facts {
        let room = style.width.max(24).saturating_sub(text::width(name) + 1);
        let value = text::shorten(&value, room);
        let wide = text::width(name) + 1 + text::width(&value);
        if used > 0 && used + 2 + wide > style.width {
            lines.push('\n');
            used = 0;
        } else if used > 0 {
            lines.push_str("  ");
            used += 2;
        }
        lines.push_str(&format!("{} {value}", style.paint(Paint::Heading, name)));
        used += wide;
    }
    lines.push('\n');
    lines
}

/// The level of the scenario's tables.
fn level(setting: &Setting) -> String {
    match setting.level() {
        Some(level) => level.to_string(),
        None => format!("{} (default)", setting.rules.default_level),
    }
}

/// What is wrong, one paragraph each.
fn violations(found: &[Violation], style: Style) -> String {
    let mut text = String::new();
    for violation in found {
        let name = style.paint(Paint::Wrong, &format!("violation, {}:", violation.kind));
        text.push_str(&format!("{name}\n{}", text::paragraph("  ", &violation.message, style.width)));
    }
    text
}
