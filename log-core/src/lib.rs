//! What a Delta Lake transaction log is.

pub mod batch;
#[cfg(feature = "parquet")]
pub mod data_file;
pub mod expression;
pub mod schema;
pub mod statistics;
pub mod value;
