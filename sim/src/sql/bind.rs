//! Names to positions, operands to types: from a parsed statement and a schema to a [`Bound`] statement.

mod coerce;
mod expression;
mod function;
mod literal;
mod query;
mod registration;
mod write;

use log_core::{expression::Expression, schema::Schema, value::Value};
use sqlparser::ast::{Expr, Spanned};

use self::expression::Scope;
pub use self::registration::{Registration, bind_registration};
use super::{bound::Bound, dialect::string_text, error::SqlError, parse::parse_expression, statement::Statement};

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

/// Parses and binds an expression of constants. A literal of a date or timestamp that is the whole text comes out as its text, since only whoever asks
/// knows the zone that it is in.
///
/// # Errors
/// When the text is no expression, when it names a column, and when its type stays open, as that of a bare NULL or INTERVAL.
pub fn bind_constant(text: &str, constants: &Constants) -> Result<Expression, SqlError> {
    let expression = parse_expression(text)?;
    if let Expr::TypedString(typed) = &expression {
        // It must be one, whatever its zone.
        literal::typed_string(typed).map_err(|error| error.with_text(text))?;
        let inner = string_text(&typed.value).unwrap_or_default().to_owned();
        return Ok(Expression::literal(Value::String(inner)));
    }
    let schema = Schema::default();
    let mut scope = Scope::new(&schema, constants).without_columns("only constants can stand here");
    let bound = scope.operand(&expression).and_then(|operand| match operand.data_type() {
        Some(data_type) => operand.expression(data_type, expression.span()),
        None => Err(SqlError::at(format!("{} has no value here", operand.type_name()), expression.span())),
    });
    bound.map_err(|error| error.with_text(text))
}

#[cfg(test)]
mod tests;
