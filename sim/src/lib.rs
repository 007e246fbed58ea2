//! Run it, judge it, show it.

pub mod call;
pub mod digest;
pub mod execute;
pub mod explore;
pub mod failure;
pub mod history;
#[cfg(feature = "real")]
pub mod inspect;
pub mod judge;
pub mod naming;
pub mod oracle;
pub mod random;
#[cfg(any(feature = "real", loom))]
pub mod real;
pub mod report;
pub mod rule_choice;
pub mod run;
pub mod scenario;
pub mod search;
pub mod sql;
pub mod walk;
pub mod world;
