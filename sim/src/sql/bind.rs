//! Names to positions, operands to types: from a parsed statement and a schema to a [`Bound`] statement.

mod coerce;
mod expression;
mod function;
mod literal;
mod query;
mod registration;
mod write;

use log_core::{expression::Expression, schema::Schema};

use self::expression::Scope;
pub use self::registration::{Registration, bind_registration};
use super::{bound::Bound, error::SqlError, parse::parse_expression, statement::Statement};

/// What statements take from outside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Constants {
    /// `current_timestamp()`, in microseconds since 1970-01-01T00:00:00Z.
    pub now_us: i64,
}

/// Resolves the names and types of an INSERT, UPDATE, DELETE or query on a table with this schema.
///
/// # Errors
/// Unknown names, types that do not fit, and a CREATE TABLE, which has nothing to bind. The error does not know the statement's text:
/// [`SqlError::with_text`] adds it.
pub fn bind(statement: &Statement, schema: &Schema, constants: &Constants) -> Result<Bound, SqlError> {
    match statement {
        Statement::CreateTable(_) => {
            Err(SqlError::at("CREATE TABLE has no names to bind", sqlparser::tokenizer::Span::empty()))
        }
        Statement::Insert(insert) => write::insert(insert, schema, constants).map(Bound::Insert),
        Statement::Update(update) => write::update(update, schema, constants).map(Bound::Update),
        Statement::Delete(delete) => write::delete(delete, schema, constants).map(Bound::Delete),
        Statement::Select(select) => query::query(select, schema, constants).map(Bound::Select),
    }
}

/// Parses and binds a bare condition, such as a CHECK constraint or the predicate of a command line.
///
/// # Errors
/// When the text is no expression, when a name is unknown, and when it is not boolean.
pub fn bind_predicate(text: &str, schema: &Schema, constants: &Constants) -> Result<Expression, SqlError> {
    let expression = parse_expression(text)?;
    Scope::new(schema, constants).condition(&expression, "the predicate").map_err(|error| error.with_text(text))
}

#[cfg(test)]
mod tests;
