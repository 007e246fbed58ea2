//! Run it, judge it, show it.

pub mod call;
pub mod digest;
pub mod execute;
pub mod explore;
pub mod history;
pub mod judge;
pub mod models;
pub mod naming;
pub mod oracle;
pub mod random;
pub mod run;
pub mod scenario;
pub mod search;
pub mod sql;
pub mod world;
