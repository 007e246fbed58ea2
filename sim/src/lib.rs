//! Run it, judge it, show it.

pub mod execute;
pub mod oracle;
pub mod scenario;
pub mod sql;
