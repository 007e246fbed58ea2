//! Judges a history. Never calls the conflict rules, the rebase or the executor.
//!
//! A committed operation has an *effect*: the rows that it deleted and the rows that it inserted, computed by an interpreter of its own on the
//! snapshot that the operation read. The [`Oracle`] asks three things of a table's history: does the log do what the effects say, were the plain
//! queries answered right, and is there a serial order in which every operation, run again, has its effect.
//!
//! - [`rows`]: rows as plain values, counted.
//! - [`interpreter`], [`query`]: what a statement does and what a query answers, one row at a time.
//! - [`memo`]: the [`Oracle`], which remembers everything that it computed from one judgement to the next.
//! - [`judge`]: a history and its judgement.
//! - [`arrange`]: looks for an order other than the log's.
//! - [`problem`]: what is wrong, in words.
//! - [`exactly_once`], [`dense`]: structure of the log; no statement is looked at.

pub mod arrange;
pub mod dense;
pub mod exactly_once;
pub mod interpreter;
pub mod judge;
pub mod memo;
pub mod problem;
pub mod query;
pub mod rows;

#[cfg(test)]
mod tests;

pub use dense::{RewriteProblem, VersionsWatch};
pub use exactly_once::{Call, CallOutcome, OnceProblem};
pub use interpreter::{Effect, InterpretError};
pub use judge::{AnsweredQuery, Judgement, Operation, TableHistory};
pub use memo::{Oracle, RowsId, StatementId};
pub use problem::{Edge, OperationRef, Problem, Why};
pub use rows::{Net, Row, Rows};
