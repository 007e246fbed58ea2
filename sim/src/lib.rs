//! Run concurrent Delta Lake writers, judge the outcome, show it: the library behind the program `contend`.
//!
//! A [`scenario`] says who writes what. Its writers run the very commit code that real tables get ([`call`], on top of the crate
//! `conflict`), each stopped at everything it needs from outside. The [`world`] decides whose turn it is: by latencies drawn from a seed
//! ([`run`]), by a schedule ([`failure`]), or in every possible order ([`explore`]). Whatever happened is then judged by an [`oracle`] that knows
//! neither the conflict rules nor the executor: is there a serial order that explains the result, at the level that the table promises?
//!
//! ```
//! use std::sync::Arc;
//!
//! use conflict::rules::RuleSet;
//! use sim::{
//!     run::simulate,
//!     scenario::Scenario,
//!     world::{Clock, Granularity, Setting},
//! };
//!
//! let text = r#"
//!     setup = ["CREATE TABLE t (x INT)", "INSERT INTO t VALUES (1)"]
//!     schedule = ["a.read", "b.read", "a.commit", "b.commit"]
//!     [[writer]]
//!     name = "a"
//!     statements = ["UPDATE t SET x = x + 1"]
//!     [[writer]]
//!     name = "b"
//!     statements = ["UPDATE t SET x = x * 2"]
//! "#;
//! let scenario = Scenario::parse(text, "two updates")?;
//! let rules = RuleSet::delta_spark();
//! let setting = Setting::new(scenario, rules, String::new(), Clock::Virtual, Granularity::Needs)?;
//! let result = simulate(&Arc::new(setting), 0)?;
//! assert_eq!((result.committed, result.conflicts), (1, 1), "both read version 1, so the second one loses");
//! assert!(result.violations.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **What it never does.** Nothing in here reads a clock, draws from a random generator that was not seeded, depends on the order of a hash map or
//! touches a file: times, seeds and texts are arguments, and the same arguments give the same result byte for byte. Only the module `real`
//! (threads, directories) and the program are outside of that. Losing a race is a result, never an error.
//!
//! **Where to look next.** To see what a statement is: [`sql`]. What it does to a table: [`execute`]. How a run is told from a search: [`world`],
//! [`explore`]. When a result is wrong: [`oracle`], [`judge`]. What a user gets to see: [`report`].

// What is run.
pub mod naming;
pub mod scenario;
pub mod sql;

// One statement on one table.
pub mod call;
pub mod digest;
pub mod execute;

// Many writers, in one order or in all.
pub mod explore;
pub mod history;
pub mod models;
pub mod random;
pub mod run;
pub mod search;
pub mod walk;
pub mod world;

// Was it right?
pub mod conflict_case;
pub mod judge;
pub mod oracle;

// What is shown.
pub mod failure;
pub mod report;
pub mod rule_choice;
pub mod shrink;

// The outside world.
#[cfg(feature = "real")]
pub mod inspect;
#[cfg(feature = "real")]
pub mod maintain;
#[cfg(any(feature = "real", loom))]
pub mod real;
