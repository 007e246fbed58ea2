//! A TOML document whose values know where they stand, and settings put over it.

use toml::{Spanned, de};

use super::{
    error::{Place, Problem, Refusal},
    fields,
};

/// A value and its place.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) place: Place,
    pub(super) value: Value,
}

/// A TOML value.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Text(String),
    /// Its text, and the number unless that has more than 64 bits.
    Integer(String, Option<i64>),
    Float(String, f64),
    /// A boolean or a date, which no key of a scenario takes.
    Other(&'static str),
    List(Vec<Node>),
    /// In the order of the text.
    Table(Vec<Entry>),
}

/// A key with its value.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) place: Place,
    pub(super) node: Node,
}

/// Parses a document. Its lines are the places.
pub(super) fn parse(text: &str) -> Result<Node, Refusal> {
    // The byte order mark that some editors write is not part of the text.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let place = |offset: usize| {
        let before = &text.as_bytes()[..offset.min(text.len())];
        Place::Line(1 + before.iter().filter(|byte| **byte == b'\n').count())
    };
    let table = de::DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(Place::Whole, |span| place(span.start));
        Problem::Syntax(error).at(&at)
    })?;
    Ok(Node { place: Place::Whole, value: table_value(table.into_inner(), &place) })
}

fn node(value: Spanned<de::DeValue<'_>>, place: &dyn Fn(usize) -> Place) -> Node {
    let at = place(value.span().start);
    let value = match value.into_inner() {
        de::DeValue::String(text) => Value::Text(text.into_owned()),
        de::DeValue::Integer(number) => {
            Value::Integer(number.to_string(), i64::from_str_radix(number.as_str(), number.radix()).ok())
        }
        de::DeValue::Float(number) => Value::Float(number.to_string(), number.as_str().parse().unwrap_or(f64::NAN)),
        de::DeValue::Boolean(_) => Value::Other("a boolean"),
        de::DeValue::Datetime(_) => Value::Other("a date or time"),
        de::DeValue::Array(items) => Value::List(items.into_iter().map(|item| node(item, place)).collect()),
        de::DeValue::Table(table) => table_value(table, place),
    };
    Node { place: at, value }
}

fn table_value(table: de::DeTable<'_>, place: &dyn Fn(usize) -> Place) -> Value {
    let mut entries: Vec<_> = table.into_iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    let entry = |(key, value): (Spanned<de::DeString<'_>>, _)| Entry {
        place: place(key.span().start),
        key: key.into_inner().into_owned(),
        node: node(value, place),
    };
    Value::Table(entries.into_iter().map(entry).collect())
}

impl Node {
    /// Sets the value at `path`, making the tables that it goes through. Whether the keys exist in a scenario is for the reader to say.
    pub(super) fn set(&mut self, path: &str, value: &str) -> Result<(), Refusal> {
        let place = Place::Set(path.to_owned());
        let keys: Vec<&str> = path.split('.').map(str::trim).collect();
        if keys.iter().any(|key| key.is_empty()) {
            return Err(Problem::Path("this path has an empty key".to_owned()).at(&place));
        }
        let mut at = self;
        for (depth, &key) in keys.iter().enumerate() {
            let into = keys[..depth].join(".");
            let found = at.value.describe();
            at = match &mut at.value {
                Value::Table(entries) => child(entries, key, &place),
                // Writers are a list of tables; a path names one by its name, before `count` makes several of it.
                Value::List(writers) if into == "writer" => writer(writers, key, &place)?,
                _ => return Err(Problem::Path(format!("'{into}' is {found}, which has no keys")).at(&place)),
            };
        }
        *at = setting(value, &place);
        Ok(())
    }
}

/// The value under `key`, an empty table if there was none.
fn child<'a>(entries: &'a mut Vec<Entry>, key: &str, place: &Place) -> &'a mut Node {
    let index = entries.iter().position(|entry| entry.key == key).unwrap_or_else(|| {
        let node = Node { place: place.clone(), value: Value::Table(Vec::new()) };
        entries.push(Entry { key: key.to_owned(), place: place.clone(), node });
        entries.len() - 1
    });
    &mut entries[index].node
}

/// The writer that is called `name`.
fn writer<'a>(writers: &'a mut [Node], name: &str, place: &Place) -> Result<&'a mut Node, Refusal> {
    let names: Vec<Option<&str>> = writers.iter().map(Node::name).collect();
    match names.iter().position(|known| *known == Some(name)) {
        Some(index) => Ok(&mut writers[index]),
        None => Err(fields::unknown_word("writer", "writer", name, names.into_iter().flatten()).at(place)),
    }
}

impl Node {
    /// The text under the key `name` of a table.
    pub(super) fn name(&self) -> Option<&str> {
        let Value::Table(entries) = &self.value else { return None };
        entries.iter().find_map(|entry| match &entry.node.value {
            Value::Text(name) if entry.key == "name" => Some(name.as_str()),
            _ => None,
        })
    }
}

/// The value of a setting: TOML if it is some, else a string.
fn setting(text: &str, place: &Place) -> Node {
    match de::DeValue::parse(text.trim()) {
        Ok(value) => node(value, &|_| place.clone()),
        Err(_) => Node { place: place.clone(), value: Value::Text(text.to_owned()) },
    }
}

impl Value {
    /// The value in an error: what type it has, and which number it is.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Text(text) => format!("the string '{text}'"),
            Self::Integer(text, _) | Self::Float(text, _) => text.clone(),
            Self::Other(what) => (*what).to_owned(),
            Self::List(items) if items.is_empty() => "an empty list".to_owned(),
            Self::List(_) => "a list".to_owned(),
            Self::Table(_) => "a table".to_owned(),
        }
    }
}
