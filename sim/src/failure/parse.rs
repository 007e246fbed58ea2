//! The text of a failure file to a [`Failure`].

use serde_json::{Map, Value};

use super::{Failure, PROGRAM, SCHEMA};
use crate::{
    judge::ViolationKind,
    rule_choice::RuleChoice,
    scenario::{Scenario, ScenarioError},
    world::Granularity,
};

/// A failure file that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FailureError {
    /// It is no JSON.
    #[error("not a failure file: it is not JSON")]
    Json(#[from] serde_json::Error),
    /// It is JSON, but no object.
    #[error("not a failure file: it is {0}, not a JSON object")]
    NotAnObject(&'static str),
    /// A field is missing.
    #[error("not a failure file: field '{0}' is missing")]
    Missing(&'static str),
    /// A field holds something else.
    #[error("field '{field}' must be {expected}, not {found}")]
    Field {
        /// The field.
        field: &'static str,
        /// What it must be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// The form of the file is another one.
    #[error("the file has schema {0}, and this program reads schema {SCHEMA}; it was written by {1}")]
    Schema(u64, String),
    /// The scenario in it cannot be read.
    #[error("the scenario in it cannot be read: {0}")]
    Scenario(#[source] Box<ScenarioError>),
}

impl Failure {
    /// Reads the text of a failure file.
    ///
    /// # Errors
    /// When it is none.
    pub fn parse(text: &str) -> Result<Self, FailureError> {
        let value: Value = serde_json::from_str(text)?;
        let Value::Object(object) = &value else { return Err(FailureError::NotAnObject(kind_of(&value))) };
        let program = string(object, "program")?;
        let schema = get(object, "schema")?;
        match schema.as_u64() {
            Some(SCHEMA) => {}
            Some(other) => return Err(FailureError::Schema(other, program)),
            None => return Err(wrong("schema", "an integer", schema)),
        }
        let scenario = string(object, "scenario")?;
        let scenario = Scenario::parse(&scenario, "scenario").map_err(|error| FailureError::Scenario(error.into()))?;
        let rules = get(object, "rules")?;
        let Value::Object(rules) = rules else { return Err(wrong("rules", "an object", rules)) };
        Ok(Self {
            program,
            kind: word(object, "kind", ViolationKind::ALL.map(|kind| (kind.name(), kind)).as_slice())?,
            message: string(object, "message")?,
            scenario,
            rules: RuleChoice { name: string(rules, "name")?, without: strings(rules, "without")? },
            granularity: word(
                object,
                "granularity",
                &[
                    ("puts", Granularity::Puts),
                    ("points", Granularity::Points),
                    ("requests", Granularity::Requests),
                    ("needs", Granularity::Needs),
                ],
            )?,
            schedule: strings(object, "schedule")?,
        })
    }

    /// What to tell who replays a file of another version of the program.
    pub fn note(&self) -> Option<String> {
        (self.program != PROGRAM).then(|| {
            format!("the file was written by {}, this is {PROGRAM}: what the writers do may have changed", self.program)
        })
    }
}

fn get<'a>(object: &'a Map<String, Value>, field: &'static str) -> Result<&'a Value, FailureError> {
    object.get(field).ok_or(FailureError::Missing(field))
}

fn string(object: &Map<String, Value>, field: &'static str) -> Result<String, FailureError> {
    match get(object, field)? {
        Value::String(text) => Ok(text.clone()),
        other => Err(wrong(field, "a string", other)),
    }
}

fn strings(object: &Map<String, Value>, field: &'static str) -> Result<Vec<String>, FailureError> {
    let value = get(object, field)?;
    let texts = value
        .as_array()
        .and_then(|items| items.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<Vec<String>>>());
    texts.ok_or_else(|| wrong(field, "a list of strings", value))
}

fn word<T: Copy>(
    object: &Map<String, Value>,
    field: &'static str,
    known: &[(&'static str, T)],
) -> Result<T, FailureError> {
    let text = string(object, field)?;
    known.iter().find(|(name, _)| *name == text).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        FailureError::Field { field, expected: format!("one of {}", names.join(", ")), found: format!("'{text}'") }
    })
}

fn wrong(field: &'static str, expected: &str, found: &Value) -> FailureError {
    FailureError::Field { field, expected: expected.to_owned(), found: kind_of(found).to_owned() }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
