//! SQL statements: text to [`Statement`], statement and schema to [`Bound`].
//!
//! Parsing ([`parse_statement`], [`parse_script`]) resolves no name; binding ([`bind()`], [`bind_predicate`]) resolves names, types every
//! expression and turns the clock into constants. What is written is never dropped: a clause outside the grammar is an error that names it and its
//! position.

pub mod bind;
pub mod bound;
pub mod dialect;
pub mod error;
pub(crate) mod nearest;
pub mod parse;
pub mod statement;

pub use bind::{Constants, Registration, bind, bind_constant, bind_predicate, bind_registration};
pub use bound::Bound;
pub use error::SqlError;
pub use parse::{parse_script, parse_statement};
pub use statement::Statement;
