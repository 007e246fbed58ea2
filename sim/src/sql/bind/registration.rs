//! A read predicate, as a transaction registers it: what says nothing about partitions that can be evaluated counts as true.

use std::{fmt, ops::ControlFlow};

use log_core::{
    expression::{
        BinaryOperator::{self, And, Or},
        Expression,
    },
    schema::Schema,
};
use sqlparser::ast::{Expr, Spanned, visit_expressions};

use super::{Constants, expression::Scope};
use crate::sql::{
    error::SqlError,
    parse::{Condition, Kind, parse_condition},
};

/// The name that the table may have in a registration.
const TABLE: &str = "t";

/// Functions of the clock: evaluated again, they give another value.
const CLOCK: [&str; 7] =
    ["current_timestamp", "current_date", "current_time", "curdate", "localtimestamp", "now", "unix_timestamp"];

/// A read predicate over the columns of a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Registration {
    /// What is left of the text.
    pub predicate: Expression,
    /// Parts of the text that count as true, each with the reason.
    pub widened: Vec<String>,
}

/// Binds a read predicate to the schema of the version that was read. Names may have the qualifier `t`.
///
/// The text is cut at its outer ANDs. A part that cannot be resolved (another table's column, an unknown name or function, a subquery, a text that
/// this grammar does not know) counts as true, never as false. In a part that speaks of partition columns only, AND and OR are entered: only the
/// operand that cannot be evaluated again, such as one with a random or user-defined function or the clock, counts as true. NOT is not entered, since
/// under it true would be no widening.
pub fn bind_registration(text: &str, schema: &Schema, partition_columns: &[String]) -> Registration {
    let mut binder = Binder { text, schema, partition_columns, widened: Vec::new() };
    let predicate = match parse_condition(text) {
        Ok(condition) => binder.conjunction(&condition),
        Err(error) => binder.truth(text, &error),
    };
    Registration { predicate, widened: binder.widened }
}

struct Binder<'a> {
    text: &'a str,
    schema: &'a Schema,
    partition_columns: &'a [String],
    widened: Vec<String>,
}

impl Binder<'_> {
    fn truth(&mut self, text: &str, why: &dyn fmt::Display) -> Expression {
        self.widened.push(format!("`{text}` counts as true: {why}"));
        Expression::truth()
    }

    fn conjunction(&mut self, condition: &Condition<'_>) -> Expression {
        match &condition.kind {
            Kind::And(parts) => joined(And, parts.iter().map(|part| self.conjunction(part)).collect()),
            _ if self.speaks_of_partitions(condition) => self.widened_part(condition),
            _ => self.bound_or_true(condition),
        }
    }

    fn bound_or_true(&mut self, part: &Condition<'_>) -> Expression {
        self.bound(part).unwrap_or_else(|error| self.truth(part.text, &error))
    }

    /// Does a part name nothing but partition columns, as far as it can be read?
    fn speaks_of_partitions(&self, part: &Condition<'_>) -> bool {
        let is_partition = |name: &str| self.partition_columns.iter().any(|column| column.eq_ignore_ascii_case(name));
        let expression = match &part.kind {
            Kind::And(parts) | Kind::Or(parts) => return parts.iter().all(|part| self.speaks_of_partitions(part)),
            Kind::Leaf(parsed) => parsed.as_ref(),
        };
        let Ok(expression) = expression else { return false };
        let foreign = visit_expressions(expression, |node| {
            let known = match node {
                Expr::Identifier(name) => is_partition(&name.value),
                Expr::CompoundIdentifier(parts) => match parts.as_slice() {
                    [table, name] => table.value.eq_ignore_ascii_case(TABLE) && is_partition(&name.value),
                    _ => false,
                },
                _ => true,
            };
            if known { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        foreign.is_continue()
    }

    fn widened_part(&mut self, part: &Condition<'_>) -> Expression {
        match &part.kind {
            Kind::And(parts) => joined(And, parts.iter().map(|part| self.widened_part(part)).collect()),
            Kind::Or(parts) => joined(Or, parts.iter().map(|part| self.widened_part(part)).collect()),
            Kind::Leaf(_) => self.bound_or_true(part),
        }
    }

    /// A part of which everything can be resolved.
    fn bound(&self, part: &Condition<'_>) -> Result<Expression, SqlError> {
        let all = |parts: &[Condition<'_>]| parts.iter().map(|part| self.bound(part)).collect::<Result<_, _>>();
        match &part.kind {
            Kind::And(parts) => Ok(joined(And, all(parts)?)),
            Kind::Or(parts) => Ok(joined(Or, all(parts)?)),
            Kind::Leaf(parsed) => {
                self.leaf(parsed.as_ref().as_ref()).map_err(|error| error.within(self.text, part.start))
            }
        }
    }

    fn leaf(&self, parsed: Result<&Expr, &SqlError>) -> Result<Expression, SqlError> {
        let expression = parsed.map_err(Clone::clone)?;
        if reads_the_clock(expression) {
            return Err(SqlError::at("it reads the clock", expression.span()));
        }
        let constants = Constants { now_us: 0 };
        Scope::new(self.schema, &constants).named(TABLE).condition(expression, "a read predicate")
    }
}

/// Parts in one, without those that count as true where that changes nothing.
fn joined(operator: BinaryOperator, mut parts: Vec<Expression>) -> Expression {
    let truth = Expression::truth();
    if operator == Or && parts.contains(&truth) {
        return truth;
    }
    parts.retain(|part| *part != truth);
    Expression::joined(operator, parts).unwrap_or(truth)
}

fn reads_the_clock(part: &Expr) -> bool {
    let found = visit_expressions(part, |node| match node {
        Expr::Function(function) if CLOCK.contains(&function.name.to_string().to_lowercase().as_str()) => {
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    });
    found.is_break()
}

#[cfg(test)]
mod tests;
