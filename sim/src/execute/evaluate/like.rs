//! LIKE and ILIKE, with any escape character: Arrow's kernel knows only the backslash.

use arrow::array::BooleanArray;

use super::operand::{Operand, shape, shared, text};
use crate::execute::ExecuteError;

/// One element of a pattern.
#[derive(Clone, Copy)]
enum Part {
    /// `%`
    AnyText,
    /// `_`
    AnyCharacter,
    /// Itself.
    Character(char),
}

/// `value LIKE pattern ESCAPE escape`.
pub(super) fn like(
    value: &Operand,
    pattern: &Operand,
    escape: char,
    ignore_case: bool,
) -> Result<Operand, ExecuteError> {
    let (rows, single) = shape([value, pattern]);
    let constant = pattern.is_scalar();
    let (value, pattern) = (text(value)?, text(pattern)?);
    let mut parts: Option<Vec<Part>> = None;
    let mut result = Vec::with_capacity(rows);
    for row in 0..rows {
        let (Some(value), Some(pattern)) = (value.get(row), pattern.get(row)) else {
            result.push(None);
            continue;
        };
        if !constant {
            parts = None;
        }
        let parts = parts.get_or_insert_with(|| parse(pattern, escape, ignore_case));
        result.push(Some(matches(&characters(value, ignore_case), parts)));
    }
    Ok(Operand::result(shared(BooleanArray::from(result)), single))
}

/// ILIKE folds character by character, so that a fold does not depend on its neighbours.
fn characters(text: &str, ignore_case: bool) -> Vec<char> {
    if ignore_case { text.chars().flat_map(char::to_lowercase).collect() } else { text.chars().collect() }
}

/// An escape character at the end stands for itself.
fn parse(pattern: &str, escape: char, ignore_case: bool) -> Vec<Part> {
    let mut parts = Vec::with_capacity(pattern.len());
    let mut characters = pattern.chars();
    while let Some(c) = characters.next() {
        let literal = match c {
            c if c == escape => characters.next().unwrap_or(c),
            '%' => {
                parts.push(Part::AnyText);
                continue;
            }
            '_' => {
                parts.push(Part::AnyCharacter);
                continue;
            }
            c => c,
        };
        if ignore_case {
            parts.extend(literal.to_lowercase().map(Part::Character));
        } else {
            parts.push(Part::Character(literal));
        }
    }
    parts
}

/// Greedy with a single point to come back to (the last `%`), so never worse than text times pattern.
fn matches(text: &[char], parts: &[Part]) -> bool {
    let (mut at, mut part) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while at < text.len() {
        match parts.get(part) {
            Some(Part::AnyText) => {
                back = Some((at, part));
                part += 1;
            }
            Some(Part::AnyCharacter) => (at, part) = (at + 1, part + 1),
            Some(Part::Character(c)) if *c == text[at] => (at, part) = (at + 1, part + 1),
            _ => match back {
                Some((start, star)) => {
                    back = Some((start + 1, star));
                    (at, part) = (start + 1, star + 1);
                }
                None => return false,
            },
        }
    }
    parts[part..].iter().all(|part| matches!(part, Part::AnyText))
}
