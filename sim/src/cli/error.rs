//! What is wrong with the input, for people.

use std::{error::Error, fmt, io};

use sim::{
    sql::SqlError,
    world::{SettingError, WorldError},
};

/// Anything that ends the program with exit code 2.
pub type CliError = Box<dyn Error>;

/// An error with words before it that say what it is about.
#[derive(Debug)]
struct About {
    what: String,
    error: CliError,
}

impl fmt::Display for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.error)
    }
}

impl Error for About {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}

/// Puts what an error is about before it.
pub fn about(what: impl Into<String>) -> impl FnOnce(CliError) -> CliError {
    let what = what.into();
    move |error| Box::new(About { what, error })
}

/// An error and what it stems from, each said once; SQL with a caret under the place.
pub fn explain(error: &CliError) -> String {
    let mut text = format!("error: {error}\n");
    let mut said = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let message = cause.to_string();
        if !said.contains(&message) && !says_no_more(cause) {
            for (i, line) in message.trim_end().lines().enumerate() {
                text.push_str(&format!("{}{line}\n", if i == 0 { "  because: " } else { "    " }));
            }
        }
        if let Some(snippet) = cause.downcast_ref::<SqlError>().and_then(SqlError::snippet) {
            for line in snippet.lines() {
                text.push_str(&format!("    {line}\n"));
            }
        }
        said = message;
        source = cause.source();
    }
    text
}

/// Is it what the file system says of a path that is not there or not a file? Whoever met it has said so in better words.
fn says_no_more(cause: &(dyn Error + 'static)) -> bool {
    use io::ErrorKind::{IsADirectory, NotFound};
    cause.downcast_ref::<io::Error>().is_some_and(|error| matches!(error.kind(), NotFound | IsADirectory))
}

/// The error of a scenario that reads but cannot run, with the scenario's origin.
pub fn of_setting(origin: &str, error: SettingError) -> CliError {
    about(origin)(Box::new(error))
}

/// The error of a world that cannot go on, with the scenario's origin.
pub fn of_world(origin: &str, error: WorldError) -> CliError {
    about(origin)(Box::new(error))
}
