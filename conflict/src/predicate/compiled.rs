//! One part of a predicate, made ready for many files.

use log_core::{
    action::AddFile,
    expression::{BinaryOperator, Expression},
    schema::PrimitiveType,
    value::Value,
};

use super::PartitionColumn;

/// A part of a predicate that speaks of partition columns only.
pub(super) enum Compiled<'a> {
    /// `column = 'text'`, `column <> 'text'` and `column IN ('text', ...)` on a text column. Texts are compared as they stand in the log: most
    /// tables are partitioned by a text, and most files do not match.
    Text {
        /// The key of `partitionValues`.
        key: &'a str,
        /// What is looked for.
        texts: Vec<&'a str>,
        /// The answer for a text that is among them.
        found: bool,
    },
    /// Anything else.
    Part(&'a Expression),
}

impl<'a> Compiled<'a> {
    pub(super) fn new(part: &'a Expression, columns: &[PartitionColumn<'a>]) -> Self {
        let text = || {
            let (column, literals, found) = match part {
                Expression::Binary { operator: BinaryOperator::Equal, left, right } => {
                    (left.as_ref(), std::slice::from_ref(right.as_ref()), true)
                }
                Expression::Binary { operator: BinaryOperator::NotEqual, left, right } => {
                    (left.as_ref(), std::slice::from_ref(right.as_ref()), false)
                }
                Expression::In { value, list } => (value.as_ref(), list.as_slice(), true),
                _ => return None,
            };
            let Expression::Column { index, data_type: PrimitiveType::String, .. } = column else { return None };
            // A column that the schema lacks, or another one without a value, is for the careful way.
            let [PartitionColumn { key, .. }] =
                columns.iter().filter(|c| c.index == Some(*index)).collect::<Vec<_>>()[..]
            else {
                return None;
            };
            let texts = literals.iter().map(|literal| match literal {
                Expression::Literal { value: Value::String(text), .. } => Some(text.as_str()),
                _ => None,
            });
            Some(Self::Text { key, texts: texts.collect::<Option<_>>()?, found })
        };
        text().unwrap_or(Self::Part(part))
    }

    /// The answer for the texts of a file, where they are enough.
    pub(super) fn by_text(&self, add: &AddFile) -> Option<bool> {
        let Self::Text { key, texts, found } = self else { return None };
        // No value at all says nothing; null and the empty text are NULL, which is no match.
        let Some(value) = add.partition_values.get(*key) else { return Some(true) };
        let value = value.as_deref().filter(|text| !text.is_empty());
        Some(value.is_some_and(|text| texts.contains(&text) == *found))
    }

    /// The answer for the values of a file; `None` when they cannot be read.
    pub(super) fn by_value(&self, row: Option<&[Value]>) -> bool {
        match (self, row) {
            (Self::Part(part), Some(row)) => part.matches(row).unwrap_or(true),
            _ => true,
        }
    }
}
