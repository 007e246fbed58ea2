//! A read predicate, as a transaction registers it: what says nothing about partitions that can be evaluated counts as true.

use std::ops::ControlFlow;

use log_core::{expression::Expression, schema::Schema};
use sqlparser::ast::{BinaryOperator, Expr, visit_expressions};

use super::{Constants, expression::Scope};
use crate::sql::{error::SqlError, parse::parse_expression};

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
    let mut binder = Binder { schema, partition_columns, widened: Vec::new() };
    let predicate = match parse_expression(text) {
        Ok(expression) => binder.conjunction(&expression),
        Err(error) => binder.truth(text, &error.to_string()),
    };
    Registration { predicate, widened: binder.widened }
}

struct Binder<'a> {
    schema: &'a Schema,
    partition_columns: &'a [String],
    widened: Vec<String>,
}

impl Binder<'_> {
    fn truth(&mut self, text: &str, why: &str) -> Expression {
        self.widened.push(format!("`{text}` counts as true: {why}"));
        Expression::truth()
    }

    fn conjunction(&mut self, expr: &Expr) -> Expression {
        match expr {
            Expr::Nested(inner) => self.conjunction(inner),
            Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
                self.conjunction(left).and(self.conjunction(right))
            }
            part if self.speaks_of_partitions(part) => self.widened_part(part),
            part => self.bound(part),
        }
    }

    /// Does a part name nothing but partition columns?
    fn speaks_of_partitions(&self, part: &Expr) -> bool {
        let is_partition = |name: &str| self.partition_columns.iter().any(|column| column.eq_ignore_ascii_case(name));
        let foreign = visit_expressions(part, |node| {
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

    fn widened_part(&mut self, part: &Expr) -> Expression {
        match part {
            Expr::Nested(inner) => self.widened_part(inner),
            Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
                self.widened_part(left).and(self.widened_part(right))
            }
            Expr::BinaryOp { left, op: BinaryOperator::Or, right } => Expression::binary(
                log_core::expression::BinaryOperator::Or,
                self.widened_part(left),
                self.widened_part(right),
            ),
            leaf => self.bound(leaf),
        }
    }

    fn bound(&mut self, part: &Expr) -> Expression {
        if reads_the_clock(part) {
            return self.truth(&part.to_string(), "it reads the clock");
        }
        let constants = Constants { now_us: 0 };
        let bound: Result<Expression, SqlError> =
            Scope::new(self.schema, &constants).named(TABLE).condition(part, "a read predicate");
        bound.unwrap_or_else(|error| self.truth(&part.to_string(), &error.to_string()))
    }
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
