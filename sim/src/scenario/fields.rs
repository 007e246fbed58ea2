//! The keys of a TOML table, and values of the types that a scenario has.

use std::ops::RangeInclusive;

use super::{
    document::{Entry, Node, Value},
    error::{Place, Problem, Refusal},
};
use crate::sql::nearest::nearest;

pub(super) type Read<T> = Result<T, Refusal>;

/// The entries of a table, all of them known.
pub(super) struct Fields<'a> {
    prefix: String,
    pub(super) place: &'a Place,
    entries: &'a [Entry],
}

impl<'a> Fields<'a> {
    /// The table at the path `prefix`, which is empty for the document itself, if it has no keys but `known`.
    pub(super) fn open(node: &'a Node, prefix: String, known: &[&str]) -> Read<Self> {
        let Value::Table(entries) = &node.value else { return Err(wrong(&prefix, "a table", node)) };
        let fields = Self { prefix, place: &node.place, entries };
        match entries.iter().find(|entry| !known.contains(&entry.key.as_str())) {
            None => Ok(fields),
            Some(entry) => {
                let meant = nearest(&entry.key, known.iter().copied()).map(|key| fields.path(key));
                let known = known.iter().map(|&key| key.to_owned()).collect();
                Err(Problem::UnknownKey { key: fields.path(&entry.key), meant, known }.at(&entry.place))
            }
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<&'a Node> {
        self.entries.iter().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    /// The full path of a key.
    pub(super) fn path(&self, key: &str) -> String {
        if self.prefix.is_empty() { key.to_owned() } else { format!("{}.{key}", self.prefix) }
    }

    pub(super) fn text(&self, key: &str, expected: &str) -> Read<Option<(&'a str, &'a Node)>> {
        match self.get(key) {
            None => Ok(None),
            Some(node @ Node { value: Value::Text(text), .. }) => Ok(Some((text, node))),
            Some(node) => Err(wrong(&self.path(key), expected, node)),
        }
    }

    pub(super) fn required(&self, key: &str, expected: &str, missing: &'static str) -> Read<(&'a str, &'a Node)> {
        let absent = || Problem::Missing { key: self.path(key), expected: missing }.at(self.place);
        self.text(key, expected)?.ok_or_else(absent)
    }

    pub(super) fn integer(&self, key: &str, range: RangeInclusive<u32>) -> Read<Option<u32>> {
        self.get(key).map(|node| integer(node, &self.path(key), range)).transpose()
    }
}

pub(super) fn integer(node: &Node, key: &str, range: RangeInclusive<u32>) -> Read<u32> {
    let number = match node.value {
        Value::Integer(_, number) => number.and_then(|number| u32::try_from(number).ok()),
        _ => None,
    };
    let expected = || format!("an integer from {} to {}", range.start(), range.end());
    number.filter(|number| range.contains(number)).ok_or_else(|| wrong(key, &expected(), node))
}

/// The strings of a list.
pub(super) fn texts<'a>(node: &'a Node, key: &str, expected: &str) -> Read<Vec<(&'a Node, &'a str)>> {
    let Value::List(items) = &node.value else { return Err(wrong(key, expected, node)) };
    let text = |(index, item): (usize, &'a Node)| match &item.value {
        Value::Text(text) => Ok((item, text.as_str())),
        _ => Err(Problem::Value {
            key: key.to_owned(),
            expected: expected.to_owned(),
            found: format!("{} as item {}", item.value.describe(), index + 1),
        }
        .at(&item.place)),
    };
    items.iter().enumerate().map(text).collect()
}

pub(super) fn wrong(key: &str, expected: &str, node: &Node) -> Refusal {
    Problem::Value { key: key.to_owned(), expected: expected.to_owned(), found: node.value.describe() }.at(&node.place)
}

/// A word at `key` that is none of `known`.
pub(super) fn unknown_word<'a>(
    key: &str,
    what: &'static str,
    found: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Problem {
    let known: Vec<&str> = known.into_iter().collect();
    Problem::UnknownWord {
        key: key.to_owned(),
        what,
        found: found.to_owned(),
        meant: nearest(found, known.iter().copied()).map(str::to_owned),
        known: known.into_iter().map(str::to_owned).collect(),
    }
}
