//! Strategies for the nouns of contend, so that other people's tests can draw them too, and a helper that says how often a law said anything.
//!
//! - [`values`]: values of every type, and rows of one table with a column of each;
//! - [`expressions`]: typed trees over that table, all of them or those that SQL text can say;
//! - [`actions`]: actions and commits, with fields and actions that nobody knows;
//! - [`tables`]: logs that make up a table;
//! - [`scenarios`]: writers that race, and schedules that let them;
//! - `fuzz`: what is done with bytes that may be anything.
//!
//! ```
//! use proptest::prelude::*;
//! use proptests::{check, expressions, values};
//!
//! // No predicate is true and false at once.
//! check(64, (expressions::predicates(2), values::row()), |(predicate, row)| {
//!     let not = log_core::expression::Expression::Not(Box::new(predicate.clone()));
//!     prop_assert!(!(predicate.matches(&row).unwrap_or(false) && not.matches(&row).unwrap_or(false)));
//!     Ok(())
//! });
//! ```
//!
//! The laws themselves are in `proptests/tests`. They run on a fixed seed, so that a failure in CI is a failure at home; `PROPTEST_SEED` sets another one, and
//! `PROPTEST_CASES` another number of cases.

pub mod actions;
pub mod cases;
pub mod expressions;
#[cfg(not(loom))]
pub mod fuzz;
pub mod scenarios;
pub mod tables;
pub mod values;

use std::fmt::Debug;

use proptest::{
    strategy::Strategy,
    test_runner::{Config, RngAlgorithm, RngSeed, TestCaseResult, TestError, TestRunner},
};

/// Holds a law on so many cases drawn from a strategy.
///
/// # Panics
/// With the smallest case found on which it does not hold.
pub fn check<S: Strategy<Value: Debug>>(cases: u32, strategy: S, law: impl Fn(S::Value) -> TestCaseResult) {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let seed: u64 = number("PROPTEST_SEED").unwrap_or(0x5eed);
    let cases = number("PROPTEST_CASES").map_or(cases, |cases| cases as u32);
    let config = Config {
        cases,
        rng_algorithm: RngAlgorithm::ChaCha,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        ..Config::default()
    };
    match TestRunner::new(config).run(&strategy, law) {
        Ok(()) => {}
        Err(TestError::Fail(reason, case)) => panic!("seed {seed}: {reason}\nsmallest case: {case:#?}"),
        Err(TestError::Abort(reason)) => panic!("seed {seed}: {reason}"),
    }
}
