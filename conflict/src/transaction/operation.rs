//! Operations, by the names under which they stand in the log.

use serde_json::{Map, Value as Json};

/// What a transaction calls itself in the log.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Operation {
    /// The name, as Delta Spark spells it: `WRITE`, `UPDATE`, `OPTIMIZE`, ...
    pub name: String,
    /// `commitInfo.operationParameters`.
    pub parameters: Map<String, Json>,
    /// `commitInfo.operationMetrics`: texts, as other clients expect.
    pub metrics: Map<String, Json>,
}

/// Operations that declare that they change data (Delta Spark, `DeltaOperations`).
const CHANGING_OPERATIONS: [&str; 14] = [
    "WRITE",
    "STREAMING UPDATE",
    "DELETE",
    "TRUNCATE",
    "CONVERT",
    "MERGE",
    "UPDATE",
    "CREATE TABLE AS SELECT",
    "REPLACE TABLE AS SELECT",
    "CREATE OR REPLACE TABLE AS SELECT",
    "REPLACE TABLE",
    "CREATE OR REPLACE TABLE",
    "RESTORE",
    "CLONE",
];

/// Operations that write a whole table in one go and are never moved past a winner (Delta Spark, `commitLarge`).
const UNMOVABLE_OPERATIONS: [&str; 3] = ["RESTORE", "CLONE", "CONVERT"];

/// Gives every file of a table its row ids after row tracking was switched on.
pub(super) const BACKFILL: &str = "ROW TRACKING BACKFILL";
/// Takes the row ids away again before row tracking is dropped.
pub(super) const UNBACKFILL: &str = "ROW TRACKING UNBACKFILL";

impl Operation {
    /// An operation of this name, without parameters and metrics.
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// Does it lose to every winner, whatever that did?
    pub fn is_never_rebased(&self) -> bool {
        UNMOVABLE_OPERATIONS.contains(&self.name.as_str())
    }

    /// Does it put a new table in the place of the old one?
    pub fn replaces_table(&self) -> bool {
        let name = self.name.strip_prefix("CREATE OR ").unwrap_or(&self.name);
        matches!(name, "REPLACE TABLE" | "REPLACE TABLE AS SELECT")
    }

    /// Does it give files their row ids?
    pub fn is_backfill(&self) -> bool {
        self.name == BACKFILL
    }

    /// Does it take row ids away from files?
    pub fn is_unbackfill(&self) -> bool {
        self.name == UNBACKFILL
    }

    /// Does the operation declare that it changes data?
    pub fn changes_data(&self) -> bool {
        CHANGING_OPERATIONS.contains(&self.name.as_str())
    }
}
