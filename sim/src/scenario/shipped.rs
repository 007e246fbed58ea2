//! The scenarios that are built into the program, and how one is found by name or by path.

use std::{io, path::Path};

use super::{
    Scenario, ScenarioError,
    error::{Place, Problem},
};
use crate::sql::nearest::nearest;

/// A scenario that is built in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shipped {
    /// Its name, without the `@` that refers to it.
    pub name: &'static str,
    /// Its TOML.
    pub text: &'static str,
    /// What it shows, in a sentence: the comment on its first line.
    pub summary: &'static str,
}

macro_rules! scenarios {
    ($($name:literal),* $(,)?) => {
        &[$({
            const TEXT: &str = include_str!(concat!("../../scenarios/", $name, ".toml"));
            Shipped { name: $name, text: TEXT, summary: first_comment(TEXT) }
        }),*]
    };
}

const SHIPPED: &[Shipped] = scenarios![
    "write-conflict",
    "insert-only",
    "single-writer",
    "delete-all-against-insert",
    "disjoint-partitions",
    "reordered",
];

/// The scenarios that are built in, the headline first.
pub fn shipped() -> &'static [Shipped] {
    SHIPPED
}

/// The built-in scenario called `name`.
pub fn find(name: &str) -> Option<&'static Shipped> {
    SHIPPED.iter().find(|shipped| shipped.name == name)
}

/// The scenario that `reference` names: `@name` is built in, anything else is the path of a file.
///
/// `read` gives the text of a file, and is the one way in which a scenario comes from outside: the program hands in
/// [`std::fs::read_to_string`], so this module touches no file itself.
pub fn load(
    reference: &str,
    overrides: &[(String, String)],
    read: &dyn Fn(&Path) -> io::Result<String>,
) -> Result<Scenario, ScenarioError> {
    let refuse = |problem: Problem| problem.at(&Place::Whole).of(reference);
    match reference.strip_prefix('@') {
        Some(name) => {
            let shipped = find(name).ok_or_else(|| {
                refuse(Problem::UnknownShipped {
                    meant: nearest(name, names()).map(|name| format!("@{name}")),
                    known: names().map(|name| format!("@{name}")).collect(),
                })
            })?;
            Scenario::parse_with(shipped.text, reference, overrides)
        }
        None => {
            let text = read(Path::new(reference)).map_err(|source| {
                refuse(Problem::Unreadable { shipped: find(reference).map(|shipped| shipped.name), source })
            })?;
            Scenario::parse_with(&text, reference, overrides)
        }
    }
}

fn names() -> impl Iterator<Item = &'static str> {
    SHIPPED.iter().map(|shipped| shipped.name)
}

/// The text of a comment on the first line.
const fn first_comment(text: &'static str) -> &'static str {
    let Some((first, rest)) = text.as_bytes().split_first_chunk::<2>() else {
        panic!("a scenario that ships is not empty");
    };
    assert!(first[0] == b'#' && first[1] == b' ', "a scenario that ships starts with a comment");
    let mut end = 0;
    while end < rest.len() && rest[end] != b'\n' {
        end += 1;
    }
    text.split_at(2 + end).0.split_at(2).1
}
