//! Rows as plain values, counted: a table is a multiset of rows.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    fmt,
};

use log_core::value::Value;

/// The values of one row, in the order of the schema.
pub type Row = Vec<Value>;

/// A multiset of rows.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub struct Rows(BTreeMap<Row, u64>);

/// A row was to be taken out that is not there (often enough).
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the row {} is not there", ShownRow(.0))]
pub struct MissingRow(pub Row);

impl Rows {
    /// No rows.
    pub fn new() -> Self {
        Self::default()
    }

    /// No rows at all?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many rows, duplicates counted.
    pub fn len(&self) -> u64 {
        self.0.values().sum()
    }

    /// How often a row is there.
    pub fn count(&self, row: &[Value]) -> u64 {
        self.0.get(row).copied().unwrap_or(0)
    }

    /// The different rows in order, each with its count, which is never 0.
    pub fn iter(&self) -> impl Iterator<Item = (&Row, u64)> {
        self.0.iter().map(|(row, count)| (row, *count))
    }

    /// Adds a row `count` times.
    pub fn add(&mut self, row: Row, count: u64) {
        if count > 0 {
            *self.0.entry(row).or_insert(0) += count;
        }
    }

    /// Takes a row out `count` times.
    ///
    /// # Errors
    /// When it is there less often; then nothing was taken.
    pub fn remove(&mut self, row: &[Value], count: u64) -> Result<(), MissingRow> {
        let there = self.count(row);
        if there < count {
            return Err(MissingRow(row.to_vec()));
        }
        if there > count {
            *self.0.get_mut(row).expect("counted above") -= count;
        } else {
            self.0.remove(row);
        }
        Ok(())
    }

    /// The first row of `part` that is not here as often as there.
    pub fn first_missing<'a>(&self, part: &'a Rows) -> Option<&'a Row> {
        part.iter().find(|(row, count)| self.count(row) < *count).map(|(row, _)| row)
    }

    /// What has to be applied to `self` to reach `to`.
    pub fn difference(&self, to: &Rows) -> Net {
        let mut net = Net::default();
        for (row, count) in &self.0 {
            net.add(row, -signed(*count));
        }
        for (row, count) in &to.0 {
            net.add(row, signed(*count));
        }
        net
    }

    /// These rows after a change.
    ///
    /// # Errors
    /// When the change takes out a row that is not there.
    pub fn apply(&self, net: &Net) -> Result<Rows, MissingRow> {
        let mut rows = self.clone();
        for (row, count) in net.iter() {
            if count < 0 {
                rows.remove(row, count.unsigned_abs())?;
            } else {
                rows.add(row.clone(), count.unsigned_abs());
            }
        }
        Ok(rows)
    }
}

impl FromIterator<Row> for Rows {
    fn from_iter<I: IntoIterator<Item = Row>>(rows: I) -> Self {
        let mut all = Self::new();
        rows.into_iter().for_each(|row| all.add(row, 1));
        all
    }
}

/// A change of a multiset of rows: per row by how much its count grows (or, below 0, shrinks).
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub struct Net(BTreeMap<Row, i64>);

impl Net {
    /// No change?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The rows whose count changes, in order, each with its change, which is never 0.
    pub fn iter(&self) -> impl Iterator<Item = (&Row, i64)> {
        self.0.iter().map(|(row, count)| (row, *count))
    }

    /// By how much the count of a row changes.
    pub fn count(&self, row: &[Value]) -> i64 {
        self.0.get(row).copied().unwrap_or(0)
    }

    fn add(&mut self, row: &Row, count: i64) {
        match self.0.entry(row.clone()) {
            Entry::Vacant(entry) => {
                entry.insert(count);
            }
            Entry::Occupied(mut entry) => {
                *entry.get_mut() += count;
                if *entry.get() == 0 {
                    entry.remove();
                }
            }
        }
    }

    /// The first row on which two changes differ.
    pub fn first_difference<'a>(&'a self, other: &'a Net) -> Option<&'a Row> {
        let differs = |row: &&Row| self.count(row) != other.count(row);
        self.0.keys().find(differs).into_iter().chain(other.0.keys().find(differs)).min()
    }
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).expect("fewer than 2^63 rows")
}

/// A row as SQL would write its values: `(4, 'x', NULL)`.
pub struct ShownRow<'a>(pub &'a [Value]);

impl fmt::Display for ShownRow<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (position, value) in self.0.iter().enumerate() {
            if position > 0 {
                f.write_str(", ")?;
            }
            match value {
                Value::Null => f.write_str("NULL")?,
                Value::String(text) => write!(f, "'{}'", text.replace('\'', "''"))?,
                value => write!(f, "{value}")?,
            }
        }
        f.write_str(")")
    }
}
