//! What can be wrong with a scenario, and where.

use std::{error::Error, fmt, io};

use conflict::isolation::UnknownLevel;

use crate::sql::SqlError;

/// A scenario that cannot be read: where it came from, the place in it, and the problem.
#[derive(Debug)]
pub struct ScenarioError {
    /// The file, or the `@name`.
    pub origin: String,
    /// The place in it.
    pub place: Place,
    /// What is wrong.
    pub problem: Box<Problem>,
}

/// A place in a scenario.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// The scenario as a whole.
    Whole,
    /// A line of the text, from 1.
    Line(usize),
    /// The path of a setting that was put over the text.
    Set(String),
}

/// What is wrong with a scenario. Keys are full paths, as an override takes them.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// The file cannot be read.
    #[error("{}", unreadable(.shipped, .source))]
    Unreadable {
        /// The scenario that ships under the name of the file that is missing.
        shipped: Option<&'static str>,
        /// What the file system says.
        source: io::Error,
    },
    /// `@name` names none of the scenarios that ship.
    #[error("no scenario of this name ships{}", names(.meant, .known))]
    UnknownShipped {
        /// The nearest name.
        meant: Option<String>,
        /// All names.
        known: Vec<String>,
    },
    /// The text is not TOML.
    #[error("not TOML: {}", .0.message())]
    Syntax(toml::de::Error),
    /// A key that a scenario does not have.
    #[error("unknown key '{key}'{}", hint(.meant, .known))]
    UnknownKey {
        /// The key.
        key: String,
        /// The nearest key, as a full path too.
        meant: Option<String>,
        /// Every key that could stand there, without the path.
        known: Vec<String>,
    },
    /// A key that must be there is not.
    #[error("'{key}' is missing: {expected}")]
    Missing {
        /// The key.
        key: String,
        /// What it would say.
        expected: &'static str,
    },
    /// A value of another type or out of range.
    #[error("'{key}' must be {expected}, not {found}")]
    Value {
        /// The key.
        key: String,
        /// What it must be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// A word that is none of those that may stand there.
    #[error("'{key}' has the unknown {what} '{found}'{}", names(.meant, .known))]
    UnknownWord {
        /// The key.
        key: String,
        /// What the word should name.
        what: &'static str,
        /// The word.
        found: String,
        /// The nearest word.
        meant: Option<String>,
        /// Every word that may stand there.
        known: Vec<String>,
    },
    /// Two writers have one name.
    #[error("two writers are called '{0}', after 'count' is spelled out")]
    DuplicateWriter(String),
    /// A range that ends before it starts.
    #[error("'{key}' goes from {min} to {max}: the first must not be above the second")]
    Inverted {
        /// The key.
        key: String,
        /// Its start.
        min: u32,
        /// Its end.
        max: u32,
    },
    /// Not an isolation level.
    #[error("'isolation': {0}")]
    Level(UnknownLevel),
    /// SQL that cannot be parsed.
    #[error("{statement} cannot be parsed")]
    Sql {
        /// Which statement it is, such as `writer 'a', statement 2`.
        statement: String,
        /// Why, with the statement's text.
        source: SqlError,
    },
    /// An override whose path does not lead to a key.
    #[error("a setting is PATH=VALUE with keys between dots, such as store.latency=s3; {0}")]
    Path(String),
    /// A setting that only a later version honours.
    #[error("{0}")]
    NotYet(String),
}

/// A problem at a place of a text whose origin the caller knows.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) place: Place,
    pub(super) problem: Box<Problem>,
}

impl Refusal {
    pub(super) fn of(self, origin: &str) -> ScenarioError {
        ScenarioError { origin: origin.to_owned(), place: self.place, problem: self.problem }
    }
}

impl Problem {
    /// The problem at a place.
    pub(super) fn at(self, place: &Place) -> Refusal {
        Refusal { place: place.clone(), problem: Box::new(self) }
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::Whole => write!(f, "{}: {}", self.origin, self.problem),
            Place::Line(line) => write!(f, "{}, line {line}: {}", self.origin, self.problem),
            Place::Set(path) => write!(f, "{}, --set {path}: {}", self.origin, self.problem),
        }
    }
}

impl Error for ScenarioError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        // The problem's own text is part of the message above; what it stems from is not.
        self.problem.source()
    }
}

/// What follows a key that is not known: the nearest, or all when none is near.
fn hint(meant: &Option<String>, known: &[String]) -> String {
    match meant {
        Some(_) => names(meant, &[]),
        None => names(&None, known),
    }
}

/// What follows a word that is not known: all that are, and the nearest.
fn names(meant: &Option<String>, known: &[String]) -> String {
    let known = if known.is_empty() { String::new() } else { format!(" (known: {})", known.join(", ")) };
    let meant = meant.as_ref().map(|name| format!(", did you mean '{name}'?")).unwrap_or_default();
    known + &meant
}

fn unreadable(shipped: &Option<&str>, source: &io::Error) -> String {
    match (source.kind(), shipped) {
        (io::ErrorKind::NotFound, Some(name)) => {
            format!("no such file; did you mean '@{name}', the scenario that ships?")
        }
        (io::ErrorKind::NotFound, None) => "no such file; the scenarios that ship are named with @".to_owned(),
        (io::ErrorKind::IsADirectory, _) => "this is a directory, not a scenario file".to_owned(),
        (io::ErrorKind::InvalidData, _) => "this is not a text file in UTF-8".to_owned(),
        _ => "the file cannot be read".to_owned(),
    }
}
