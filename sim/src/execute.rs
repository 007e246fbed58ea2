//! Statements on Arrow batches: pure functions of a bound statement and the rows of data files.
//!
//! [`file`](mod@file) changes the rows of one data file, [`insert`] makes new rows, [`partition`] splits them into files, [`query`] answers a SELECT. All
//! evaluate expressions with [`evaluate`](mod@evaluate), by Arrow kernels; the evaluator on single values is the oracle's.

mod error;
pub mod evaluate;
pub mod file;
pub mod insert;
pub mod partition;
pub mod prepare;
pub mod query;

pub use error::ExecuteError;
