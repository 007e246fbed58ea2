//! What is wrong with a statement, and where.

use sqlparser::{
    parser::ParserError,
    tokenizer::{Location, Span, TokenizerError},
};
use unicode_width::UnicodeWidthStr;

/// A statement that cannot be parsed or bound.
///
/// An error of the binder does not know the text that it stands in: see [`with_text`](SqlError::with_text).
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}{}", self.place())]
pub struct SqlError {
    /// What was found and what to do; no position.
    pub message: String,
    /// The line of the text, from 1; 0 when the position is not known.
    pub line: usize,
    /// The column in characters, from 1; 0 when the position is not known.
    pub column: usize,
    /// The text that `line` and `column` count in; empty when it is not known.
    pub text: String,
}

impl SqlError {
    /// An error at a position; an empty span is no position.
    pub(crate) fn at(message: impl Into<String>, span: Span) -> Self {
        Self::at_location(message, span.start)
    }

    /// An error at a position.
    pub(crate) fn at_location(message: impl Into<String>, location: Location) -> Self {
        Self {
            message: message.into(),
            line: location.line as usize,
            column: location.column as usize,
            text: String::new(),
        }
    }

    /// An error of sqlparser, whose position stands at the end of its message; `otherwise` is the position when it gives none.
    pub(crate) fn from_parser(error: ParserError, otherwise: Location) -> Self {
        let message = match error {
            ParserError::TokenizerError(message) | ParserError::ParserError(message) => message,
            ParserError::RecursionLimitExceeded => super::parse::TOO_DEEP.to_owned(),
        };
        let (message, location) = split_location(&message);
        Self::at_location(plain(message), location.unwrap_or(otherwise))
    }

    /// An error of sqlparser's tokenizer.
    pub(crate) fn from_tokenizer(error: TokenizerError) -> Self {
        Self::at_location(lower_first(&error.message), error.location)
    }

    /// The same error, with the text that it stands in.
    #[must_use]
    pub fn with_text(mut self, text: &str) -> Self {
        text.clone_into(&mut self.text);
        self
    }

    /// The same error in a longer text, in which its own text starts at `start`.
    #[must_use]
    pub(crate) fn within(mut self, text: &str, start: Location) -> Self {
        if self.line == 1 {
            self.column += (start.column as usize).saturating_sub(1);
        }
        if self.line > 0 {
            self.line += (start.line as usize).saturating_sub(1);
        }
        self.with_text(text)
    }

    /// The line of the text with a caret under the column, for the program; `None` when the position or the text is not known.
    pub fn snippet(&self) -> Option<String> {
        let source = self.text.split('\n').nth(self.line.checked_sub(1)?)?.trim_end_matches('\r');
        let before: String = source.chars().take(self.column.checked_sub(1)?).collect();
        // A tab is as wide as the terminal says, so it is repeated, and wide characters take two columns.
        let padding: String = before
            .split_inclusive('\t')
            .flat_map(|part| {
                let tab = if part.ends_with('\t') { "\t" } else { "" };
                [" ".repeat(part.trim_end_matches('\t').width()), tab.to_owned()]
            })
            .collect();
        Some(format!("{source}\n{padding}^"))
    }

    fn place(&self) -> String {
        if self.line == 0 { String::new() } else { format!(" at line {}, column {}", self.line, self.column) }
    }
}

/// Takes ` at Line: L, Column: C` off the end of a message.
fn split_location(message: &str) -> (&str, Option<Location>) {
    let parsed = message.rsplit_once(" at Line: ").and_then(|(head, tail)| {
        let (line, column) = tail.split_once(", Column: ")?;
        Some((head, Location::new(line.trim().parse().ok()?, column.trim().parse().ok()?)))
    });
    match parsed {
        Some((head, location)) => (head, (location.line > 0).then_some(location)),
        None => (message, None),
    }
}

/// sqlparser's `Expected: x, found: y` in our words.
fn plain(message: &str) -> String {
    match message.strip_prefix("Expected: ").and_then(|rest| rest.rsplit_once(", found: ")) {
        Some((expected, "EOF")) => format!("expected {expected}, found the end"),
        Some((expected, found)) => format!("expected {expected}, found `{found}`"),
        None => lower_first(message),
    }
}

/// `Unterminated string` becomes `unterminated string`; a word in capitals stays.
fn lower_first(message: &str) -> String {
    let mut characters = message.chars();
    match (characters.next(), characters.clone().next()) {
        (Some(first), Some(second)) if first.is_uppercase() && !second.is_uppercase() => {
            first.to_lowercase().chain(characters).collect()
        }
        _ => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_under_the_column() {
        let error = SqlError::at_location("x", Location::new(2, 4)).with_text("a\n\tbc d\n");
        assert_eq!(error.snippet().unwrap(), "\tbc d\n\t  ^");
        let error = SqlError::at_location("x", Location::new(1, 3)).with_text("表 d");
        assert_eq!(error.snippet().unwrap(), "表 d\n   ^");
        assert_eq!(SqlError::at("x", Span::empty()).with_text("a").snippet(), None);
        assert_eq!(SqlError::at("x", Span::empty()).to_string(), "x");
    }
}
