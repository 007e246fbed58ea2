//! Judges a history. Never calls the conflict rules, the rebase or the executor.
//!
//! A committed operation has an *effect*: the rows that it deleted and the rows that it inserted, computed by an interpreter of its own on the
//! snapshot that the operation read. The [`Oracle`] asks three things of a table's history: does the log do what the effects say, were the plain
//! queries answered right, and is there a serial order in which every operation, run again, has its effect.
//!
//! ```
//! use std::sync::Arc;
//!
//! use conflict::isolation::IsolationLevel;
//! use log_core::{expression::Expression, value::Value};
//! use sim::{
//!     oracle::{Operation, Oracle, Rows, TableHistory},
//!     sql::bound::{Bound, BoundDelete, BoundInsert},
//! };
//!
//! let mut oracle = Oracle::new();
//! let empty = oracle.intern(Rows::new());
//! let one_row = oracle.intern(Rows::from_iter([vec![Value::Integer(4)]]));
//! let insert = Bound::Insert(BoundInsert::Values(vec![vec![Expression::literal(Value::Integer(4))]]));
//! let delete_all = Bound::Delete(BoundDelete { predicate: None });
//!
//! // Both read version 0, which is empty. The insert commits version 1; the delete, which did not see its row, version 2.
//! let mut operation = |name: &str, bound: Bound| Operation {
//!     name: name.into(),
//!     seen: 0,
//!     statement: Some(oracle.statement(&Arc::new(bound))),
//!     after: one_row,
//! };
//! let operations = vec![operation("insert", insert), operation("delete", delete_all)];
//! let level = IsolationLevel::WriteSerializable;
//! let mut history =
//!     TableHistory { level, first_version: 1, base: empty, before: Vec::new(), operations, queries: Vec::new() };
//!
//! assert_eq!(oracle.judge(&history).witness, Some(vec![1, 0]), "as if the delete had come first");
//! history.level = IsolationLevel::Serializable;
//! println!("{}", oracle.judge(&history).problem.expect("in the order of the log it deletes the row"));
//! ```
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
mod graph;
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
