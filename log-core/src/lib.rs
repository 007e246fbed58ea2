//! What a Delta Lake transaction log is.

pub mod expression;
pub mod schema;
pub mod statistics;
pub mod value;
