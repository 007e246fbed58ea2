//! Who may still commit to a Delta Lake log.
//!
//! A [`transaction::Transaction`] says what was read and what shall be written. When commits landed meanwhile, the
//! [`rules`] judge them one by one, and [`rebase`](mod@rebase) carries the transaction past each that it does not conflict with.
//! [`commit_loop::CommitLoop`] puts it all together, and [`explain`](mod@explain) says of a conflict what it was and what would avoid it. Nothing here
//! opens a file, reads a clock or starts a thread.
//!
//! **Where to look next.** The rules themselves, with the smallest counterexample that justifies each: `rules/delta_spark.rs`, and the changes of
//! metadata that a transaction can live with: `rules/metadata.rs`. What they say of a hundred small logs: `tests/cases`.

// Tests may look on from outside, for example to note in which order rules are asked.
#![cfg_attr(test, allow(clippy::disallowed_types))]

pub mod application;
pub mod commit_loop;
pub mod explain;
pub mod feature;
pub mod isolation;
pub mod predicate;
pub mod rebase;
pub mod rules;
pub mod transaction;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod testing;
