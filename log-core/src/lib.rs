//! What a Delta Lake transaction log is: bytes in, values out.
//!
//! This crate reads and writes the files of a log and rebuilds from them what a table holds. It never opens a file, reads a clock, starts a
//! thread or draws a random number: what it needs from outside it says as a [`store::Request`], and time comes with the [`store::Response`].
//!
//! ```
//! use log_core::{load::LoadSnapshot, store::{ObjectMap, Request, Response, drive}};
//!
//! let mut store = ObjectMap::default();
//! let commit = concat!(
//!     r#"{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}"#, "\n",
//!     r#"{"metaData":{"id":"6b7a","format":{"provider":"parquet","options":{}},"partitionColumns":[],"configuration":{},"#,
//!     r#""schemaString":"{\"type\":\"struct\",\"fields\":[]}"}}"#,
//! );
//! let path = log_core::path::commit_path(log_core::path::Version(0));
//! store.answer(&Request::PutIfAbsent { path, bytes: commit.as_bytes().into() }, 0);
//!
//! let answer = |request| Response { now_ms: 0, answer: store.answer(&request, 0) };
//! let snapshot = drive(LoadSnapshot::latest(), answer)?.expect("a table");
//! assert_eq!(snapshot.version.0, 0);
//! # Ok::<(), log_core::load::LoadError>(())
//! ```
//!
//! Where to look next: [`action`] for the lines of a commit, [`segment`] for the files that make up a version, [`checkpoint`] for those that stand in for
//! commits, [`snapshot`] for what they add up to, [`expression`] for predicates over rows and
//! partitions, [`store`] for the seam to the outside.

// Tests may look on from outside, for example to note in which order rules are asked.
#![cfg_attr(test, allow(clippy::disallowed_types))]

pub mod action;
pub mod check;
pub mod checkpoint;
pub mod checksum;
pub mod commit;
pub mod deletion_vector;
pub mod error_chain;
pub mod history;
pub mod last_checkpoint;
pub mod layout;
#[cfg(feature = "parquet")]
pub mod live_files;
pub mod load;
pub mod log_note;
pub mod path;
pub mod protocol;
pub mod segment;
pub mod snapshot;
pub mod store;
pub mod time_travel;
#[cfg(feature = "parquet")]
pub mod write_checkpoint;

pub mod batch;
#[cfg(feature = "parquet")]
pub mod data_file;
pub mod expression;
#[cfg(feature = "parquet")]
pub mod guard;
pub mod schema;
pub mod statistics;
pub mod value;
