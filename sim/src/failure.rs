//! Failure files: a scenario, the rules, and the schedule that leads to a violation. That is all that it takes to see it again.
//!
//! ```json
//! {
//!   "granularity": "points",
//!   "kind": "not-serializable",
//!   "message": "...",
//!   "program": "contend 0.1.0",
//!   "rules": { "name": "delta-spark", "without": ["added-files"] },
//!   "scenario": "name = \"...\" ...",
//!   "schedule": ["a.load", "b.load", "b.put", "a.put"],
//!   "schema": 1
//! }
//! ```
//!
//! A step of the schedule is `WRITER.STEP`. The step says what the writer does there; a file whose steps are not what the writers do is refused, so
//! a file of another program cannot lead somewhere else unnoticed.

mod parse;
mod replay;

use crate::{
    judge::{Violation, ViolationKind},
    rule_choice::RuleChoice,
    scenario::Scenario,
    world::{Environment, Event, Granularity, Setting, World, WorldError},
};

pub use parse::FailureError;
pub use replay::{ReplayError, Replayed};

/// The version of the form of these files.
pub const SCHEMA: u64 = 1;

/// This program and its version.
pub const PROGRAM: &str = concat!("contend ", env!("CARGO_PKG_VERSION"));

/// A violation, and all that it takes to see it again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The program that wrote the file.
    pub program: String,
    /// The kind of the violation.
    pub kind: ViolationKind,
    /// What happened.
    pub message: String,
    /// What ran, every override already in it.
    pub scenario: Scenario,
    /// By which rules.
    pub rules: RuleChoice,
    /// How much happens in one step.
    pub granularity: Granularity,
    /// The steps, as [`World::label`] calls them.
    pub schedule: Vec<String>,
}

impl Failure {
    /// The failure that a search found.
    ///
    /// # Errors
    /// When the events cannot be followed, which a search that has just done so does not meet.
    pub fn new(
        setting: &std::sync::Arc<Setting>,
        rules: &RuleChoice,
        violation: &Violation,
        events: &[Event],
    ) -> Result<Self, WorldError> {
        let mut environment = Environment::default();
        let mut world = World::new(setting.clone(), &mut environment)?;
        let mut schedule = Vec::with_capacity(events.len());
        for event in events {
            schedule.push(world.label(*event));
            world.apply(&mut environment, *event)?;
        }
        Ok(Self {
            program: PROGRAM.to_owned(),
            kind: violation.kind,
            message: violation.message.clone(),
            scenario: setting.scenario.clone(),
            rules: rules.clone(),
            granularity: setting.granularity,
            schedule,
        })
    }

    /// The name of its file: the scenario and the kind.
    pub fn file_name(&self) -> String {
        format!("{}-{}.json", slug(&self.scenario.name), self.kind)
    }

    /// The text of its file.
    pub fn to_json(&self) -> String {
        let granularity = match self.granularity {
            Granularity::Puts => "puts",
            Granularity::Points => "points",
            Granularity::Requests => "requests",
            Granularity::Needs => "needs",
        };
        let document = serde_json::json!({
            "schema": SCHEMA,
            "program": self.program,
            "kind": self.kind.name(),
            "message": self.message,
            "scenario": self.scenario.to_string(),
            "rules": { "name": self.rules.name, "without": self.rules.without },
            "granularity": granularity,
            "schedule": self.schedule,
        });
        format!("{document:#}\n")
    }
}

/// A text as part of a file name: lower-case ASCII letters and digits, with dashes between, at most 60 characters.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    for character in text.chars().map(|character| character.to_ascii_lowercase()) {
        if character.is_ascii_alphanumeric() {
            slug.push(character);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(60);
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "scenario".to_owned() } else { slug.to_owned() }
}

#[cfg(test)]
mod tests;
