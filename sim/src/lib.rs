//! Run it, judge it, show it.

pub mod digest;
pub mod naming;
pub mod sql;
pub mod scenario;
pub mod execute;
pub mod call;
pub mod history;
pub mod world;
pub mod oracle;
pub mod judge;
