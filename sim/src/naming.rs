//! Who makes a call, and the names that follow from it.
//!
//! Names must be unique over the life of a table, and yet a search must not tell two states apart that differ in names only. So everything that is
//! named gets its name from who made it, never from a counter, a clock or a random generator: two schedules that lead to the same commits lead to
//! the same bytes.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// One execution of one statement of one writer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CallId {
    /// The writer's position in the scenario; [`SETUP`] for the statements before the writers.
    pub writer: usize,
    /// The statement's position in the writer's list.
    pub statement: usize,
    /// How many executions of it came before: 0, unless the writer retries.
    pub execution: u32,
}

/// The writer that runs the setup.
pub const SETUP: usize = usize::MAX;

/// The names that belong to one call.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Naming {
    /// Unique among all runs over one table; empty where a table sees one run only.
    run: String,
    writer: String,
    id: CallId,
}

impl Naming {
    /// The names of a call of a writer.
    pub fn new(run: &str, writer: &str, id: CallId) -> Self {
        Self { run: run.to_owned(), writer: writer.to_owned(), id }
    }

    /// A text that no other transaction on the table has.
    pub fn txn_id(&self) -> String {
        let run = if self.run.is_empty() { String::new() } else { format!("{}-", self.run) };
        format!("{run}{}-{}-{}", self.writer, self.id.statement, self.id.execution)
    }

    /// The call that a transaction id of the same run belongs to: writer's name, statement, execution.
    pub fn parse_txn_id<'a>(run: &str, txn_id: &'a str) -> Option<(&'a str, usize, u32)> {
        let rest = if run.is_empty() { txn_id } else { txn_id.strip_prefix(run)?.strip_prefix('-')? };
        let (rest, execution) = rest.rsplit_once('-')?;
        let (writer, statement) = rest.rsplit_once('-')?;
        Some((writer, statement.parse().ok()?, execution.parse().ok()?))
    }

    /// The name of a data file, without its folder. `content` is a digest of the file's rows, so two executions that write different rows never
    /// share a name.
    pub fn data_file(&self, ordinal: usize, content: &str) -> String {
        format!("part-{ordinal:05}-{}-{}.c000.snappy.parquet", self.txn_id(), &content[..12])
    }

    /// The id of a table that the call creates: a UUID.
    pub fn table_id(&self, table: &str) -> String {
        let digest = Sha256::digest(format!("{table}\n{}", self.txn_id()));
        let mut id = String::with_capacity(36);
        for (i, byte) in digest[..16].iter().enumerate() {
            // RFC 9562, version 8 (the digest is our own), variant 10.
            let byte = match i {
                6 => byte & 0x0f | 0x80,
                8 => byte & 0x3f | 0x80,
                _ => *byte,
            };
            if matches!(i, 4 | 6 | 8 | 10) {
                id.push('-');
            }
            write!(id, "{byte:02x}").expect("a string takes every text");
        }
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_id_names_its_call() {
        let id = CallId { writer: 1, statement: 2, execution: 3 };
        for run in ["", "20260101-7"] {
            let txn_id = Naming::new(run, "loader-b", id).txn_id();
            assert_eq!(Naming::parse_txn_id(run, &txn_id), Some(("loader-b", 2, 3)));
        }
        assert_eq!(Naming::parse_txn_id("other", "run-a-0-0"), None);
    }

    #[test]
    fn a_table_id_is_a_uuid_of_its_own() {
        let id = CallId { writer: 0, statement: 0, execution: 0 };
        let first = Naming::new("", "a", id).table_id("t");
        assert_eq!(first.len(), 36);
        assert_ne!(first, Naming::new("", "b", id).table_id("t"));
        assert_ne!(first, Naming::new("", "a", id).table_id("u"));
    }
}
