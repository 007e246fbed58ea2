//! A live file as it is shown to who reads them.

use std::ops::Range;
use std::{borrow::Cow, collections::btree_map};

use arrow::array::{Array, StringArray};

use super::line::Pairs;
use crate::{
    action::{AddFile, PartitionValues},
    deletion_vector::DeletionVector,
};

/// A file that is live, borrowed from the log for as long as it is looked at.
#[derive(Clone, Copy, Debug)]
pub struct LiveFile<'a> {
    /// As in the log: relative to the table, or a URI; percent-encoded.
    pub path: &'a str,
    /// Bytes.
    pub size: i64,
    /// Milliseconds since the epoch.
    pub modification_time: i64,
    /// A value for every partition column.
    pub partition_values: PartitionTexts<'a>,
    /// Statistics as JSON text; `None` also when they are not asked for.
    pub stats: Option<&'a str>,
    /// The rows of the file that are deleted.
    pub deletion_vector: Option<&'a DeletionVector>,
}

/// Partition values, as texts of the log, by (physical) column name.
#[derive(Clone, Copy, Debug)]
pub struct PartitionTexts<'a>(Source<'a>);

#[derive(Clone, Copy, Debug)]
enum Source<'a> {
    Pairs(&'a [(Cow<'a, str>, Option<Cow<'a, str>>)]),
    Map(&'a PartitionValues),
    Arrays { keys: &'a StringArray, values: &'a StringArray, begin: usize, end: usize },
}

impl<'a> LiveFile<'a> {
    /// An add as it stands in a log.
    pub fn of(add: &'a AddFile) -> Self {
        Self {
            path: &add.path,
            size: add.size,
            modification_time: add.modification_time,
            partition_values: PartitionTexts(Source::Map(&add.partition_values)),
            stats: add.stats.as_deref(),
            deletion_vector: add.deletion_vector.as_ref(),
        }
    }
}

impl<'a> PartitionTexts<'a> {
    pub(super) fn of_pairs(pairs: &'a Pairs<'a>) -> Self {
        Self(Source::Pairs(&pairs.0))
    }

    pub(crate) fn of_arrays(keys: &'a StringArray, values: &'a StringArray, range: Range<usize>) -> Self {
        Self(Source::Arrays { keys, values, begin: range.start, end: range.end })
    }

    /// Columns and values as they stand in the log; `None` is null. Where a column is there twice, its last value counts.
    pub fn iter(&self) -> impl Iterator<Item = (&'a str, Option<&'a str>)> + use<'a> {
        match self.0 {
            Source::Pairs(pairs) => Texts::Pairs(pairs.iter()),
            Source::Map(map) => Texts::Map(map.iter()),
            Source::Arrays { keys, values, begin, end } => Texts::Arrays { keys, values, rows: begin..end },
        }
    }

    /// The value of a column; `None` when it is null or not given.
    pub fn get(&self, column: &str) -> Option<&'a str> {
        self.iter().filter(|(name, _)| *name == column).last().and_then(|(_, value)| value)
    }

    /// A copy.
    pub fn to_owned(&self) -> PartitionValues {
        self.iter().map(|(name, value)| (name.to_owned(), value.map(str::to_owned))).collect()
    }
}

enum Texts<'a> {
    Pairs(std::slice::Iter<'a, (Cow<'a, str>, Option<Cow<'a, str>>)>),
    Map(btree_map::Iter<'a, String, Option<String>>),
    Arrays { keys: &'a StringArray, values: &'a StringArray, rows: Range<usize> },
}

impl<'a> Iterator for Texts<'a> {
    type Item = (&'a str, Option<&'a str>);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Pairs(pairs) => pairs.next().map(|(name, value)| (&**name, value.as_deref())),
            Self::Map(map) => map.next().map(|(name, value)| (name.as_str(), value.as_deref())),
            Self::Arrays { keys, values, rows } => {
                let row = rows.next()?;
                Some((keys.value(row), values.is_valid(row).then(|| values.value(row))))
            }
        }
    }
}
