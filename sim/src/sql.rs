//! SQL text to [`Statement`], and a statement to a [`Bound`] one.

pub mod bound;
pub mod statement;

pub use bound::Bound;
pub use statement::Statement;
