//! A line of a commit, read without copying what stands in it.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{Error, IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::{
    action::{Metadata, Protocol},
    deletion_vector::DeletionVector,
};

/// What a line says, as far as live files depend on it.
pub(super) enum Line<'a> {
    /// A file joins the table.
    Add(AddLine<'a>),
    /// A file leaves the table.
    Remove(RemoveLine<'a>),
    /// "Change Metadata".
    Metadata(Box<Metadata>),
    /// "Protocol Evolution".
    Protocol(Protocol),
    /// Nothing of the kind.
    Other,
}

/// The fields of an add that are asked for; the others are stepped over.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AddLine<'a> {
    #[serde(borrow)]
    pub(super) path: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) partition_values: Pairs<'a>,
    pub(super) size: i64,
    pub(super) modification_time: i64,
    /// Not asked for, but an add without it is none.
    #[serde(rename = "dataChange")]
    _data_change: bool,
    /// As JSON: a text with its quotes and escapes, or something else.
    #[serde(borrow, default)]
    pub(super) stats: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) deletion_vector: Option<DeletionVector>,
}

/// The fields of a remove that are asked for.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RemoveLine<'a> {
    #[serde(borrow)]
    pub(super) path: Cow<'a, str>,
    /// Not asked for, but a remove without it is none.
    #[serde(rename = "dataChange")]
    _data_change: bool,
    #[serde(default)]
    pub(super) deletion_vector: Option<DeletionVector>,
}

/// The entries of a map from texts to texts or null, in their order.
#[derive(Default)]
pub(super) struct Pairs<'a>(pub(super) Vec<(Cow<'a, str>, Option<Cow<'a, str>>)>);

/// A text that is borrowed where it has no escapes. Serde's own `Cow` borrows only where it is a field.
#[derive(Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Pairs<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PairsVisitor;

        impl<'de> Visitor<'de> for PairsVisitor {
            type Value = Pairs<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of texts")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<'de>, A::Error> {
                let mut pairs = Vec::new();
                while let Some((Text(name), value)) = map.next_entry::<Text<'de>, Option<Text<'de>>>()? {
                    pairs.push((name, value.map(|Text(value)| value)));
                }
                Ok(Pairs(pairs))
            }
        }

        deserializer.deserialize_map(PairsVisitor)
    }
}

impl<'a> Line<'a> {
    /// Reads one line, as [`Action::parse`](crate::action::Action::parse) does. Without `with_files` adds and removes are stepped over.
    ///
    /// # Errors
    /// When the text is not one JSON object, when it holds two known actions, and when one of those that are asked for lacks a field that it needs.
    pub(super) fn parse(text: &'a str, with_files: bool) -> serde_json::Result<Self> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let line = deserializer.deserialize_map(LineVisitor { with_files })?;
        deserializer.end()?;
        Ok(line)
    }
}

struct LineVisitor {
    with_files: bool,
}

impl<'de> Visitor<'de> for LineVisitor {
    type Value = Line<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object that holds one action")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Line<'de>, A::Error> {
        let mut line = Line::Other;
        let mut first: Option<Cow<'de, str>> = None;
        while let Some(Text(name)) = map.next_key::<Text<'de>>()? {
            let known = match &*name {
                "add" if self.with_files => map.next_value::<Option<_>>()?.map(Line::Add),
                "remove" if self.with_files => map.next_value::<Option<_>>()?.map(Line::Remove),
                "metaData" => map.next_value::<Option<_>>()?.map(Line::Metadata),
                "protocol" => map.next_value::<Option<_>>()?.map(Line::Protocol),
                "add" | "remove" | "commitInfo" | "txn" | "domainMetadata" => {
                    map.next_value::<Option<IgnoredAny>>()?.map(|_| Line::Other)
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    None
                }
            };
            let Some(known) = known else { continue };
            if let Some(first) = first {
                return Err(A::Error::custom(format!(
                    "a line holds one action, this one holds '{first}' and '{name}'"
                )));
            }
            (line, first) = (known, Some(name));
        }
        Ok(line)
    }
}

/// The text of a JSON value; `None` when it is of another kind. `buffer` holds the text where it cannot be borrowed.
///
/// # Errors
/// When an escape stands for half a character.
pub(super) fn text<'a>(json: &'a RawValue, buffer: &'a mut String) -> serde_json::Result<Option<&'a str>> {
    let json = json.get();
    let Some(inner) = json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else { return Ok(None) };
    if !inner.contains('\\') {
        return Ok(Some(inner));
    }
    *buffer = serde_json::from_str(json)?;
    Ok(Some(buffer))
}
