//! The outside world: threads, a local directory, the clock.
//!
//! Everything in here that locks, waits, counts or starts a thread does so through [`sync`], which loom can take the place of: what a model checks is
//! the code that runs. [`writer`] drives the calls of one writer over any [`Place`](writer::Place); a place is a set of tables in a
//! [`local_directory`], or in one [`shared_map`] for a model.

pub mod gate;
pub mod newest;
pub mod shared_map;
pub mod sync;
pub mod writer;

#[cfg(feature = "real")]
pub mod call_log;
#[cfg(feature = "real")]
pub mod data;
#[cfg(feature = "real")]
pub mod directories;
#[cfg(feature = "real")]
mod error;
#[cfg(feature = "real")]
pub mod local_directory;
#[cfg(feature = "real")]
mod preflight;
#[cfg(feature = "real")]
mod threads;
#[cfg(feature = "real")]
pub mod whole_file;

#[cfg(feature = "real")]
pub use error::RealError;
#[cfg(feature = "real")]
pub use threads::{RealOptions, fresh_run, run_on_threads};
