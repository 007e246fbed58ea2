//! Expressions.

mod form;
mod operator;

pub(super) use self::form::unified;

use log_core::{
    expression::{BinaryOperator, Expression},
    schema::{DataType, PrimitiveType, Schema},
    value::Value,
};
use sqlparser::{
    ast::{Expr, Ident, Spanned, UnaryOperator, Value as Parsed, ValueWithSpan},
    tokenizer::Span,
};

use super::{Constants, coerce::Operand, literal};
use crate::sql::{bound::Aggregate, error::SqlError, nearest::nearest, parse::TOO_DEEP};

/// Levels of the tree, a chain of operators counted once: a bit more than sqlparser nests.
const MAX_DEPTH: usize = 60;

/// What the names of an expression mean, and what was found in it.
pub(super) struct Scope<'a> {
    schema: &'a Schema,
    pub(super) constants: &'a Constants,
    /// The name that the table has in the statement; any qualifier is an error without one.
    table: Option<&'a str>,
    /// What says that there are no columns: a query without FROM, the VALUES of an INSERT.
    no_columns: Option<&'static str>,
    /// Output columns that ORDER BY may name; they come before the table's.
    pub(super) outputs: Vec<(String, Expression)>,
    /// Where aggregates may stand, those found so far; `Err` is the place that refuses them.
    pub(super) aggregates: Result<Vec<Aggregate>, &'static str>,
    /// The first column that stands outside of every aggregate.
    pub(super) loose_column: Option<(String, Span)>,
    pub(super) inside_aggregate: bool,
    depth: usize,
}

impl<'a> Scope<'a> {
    pub(super) fn new(schema: &'a Schema, constants: &'a Constants) -> Self {
        Self {
            schema,
            constants,
            table: None,
            no_columns: None,
            outputs: Vec::new(),
            aggregates: Err("here"),
            loose_column: None,
            inside_aggregate: false,
            depth: 0,
        }
    }

    /// The same, with the name that qualifiers must have.
    pub(super) fn named(mut self, table: &'a str) -> Self {
        self.table = Some(table);
        self
    }

    /// The same without columns; `why` ends the error of whoever names one.
    pub(super) fn without_columns(mut self, why: &'static str) -> Self {
        self.no_columns = Some(why);
        self
    }

    /// A boolean expression; `what` names it in the error.
    pub(super) fn condition(&mut self, expr: &Expr, what: &str) -> Result<Expression, SqlError> {
        let operand = self.operand(expr)?;
        match operand.data_type() {
            Some(PrimitiveType::Boolean) | None => operand.expression(PrimitiveType::Boolean, expr.span()),
            Some(other) => {
                let message =
                    format!("{what} must be boolean, but `{}` is {other}; compare it with something", shown(expr));
                Err(SqlError::at(message, expr.span()))
            }
        }
    }

    pub(super) fn operand(&mut self, expr: &Expr) -> Result<Operand, SqlError> {
        self.depth += 1;
        let operand = if self.depth > MAX_DEPTH { Err(SqlError::at(TOO_DEEP, expr.span())) } else { self.node(expr) };
        self.depth -= 1;
        operand
    }

    fn node(&mut self, expr: &Expr) -> Result<Operand, SqlError> {
        match expr {
            Expr::Identifier(name) => self.column(None, name),
            Expr::CompoundIdentifier(parts) => match parts.as_slice() {
                [qualifier, name] => self.column(Some(qualifier), name),
                _ => Err(unsupported("a name of more than two parts", expr)),
            },
            Expr::Nested(inner) => self.operand(inner),
            Expr::Value(value) => literal::literal(value),
            Expr::TypedString(typed) => literal::typed_string(typed),
            Expr::Interval(interval) => literal::interval(interval),
            Expr::UnaryOp { op, expr: inner } => self.unary(*op, inner, expr),
            Expr::BinaryOp { .. } => self.chain(expr),
            Expr::IsNull(inner) | Expr::IsUnknown(inner) => self.is_null(inner),
            Expr::IsNotNull(inner) | Expr::IsNotUnknown(inner) => self.is_null(inner).map(not),
            Expr::IsTrue(inner) => self.is_truth(inner, true),
            Expr::IsNotTrue(inner) => self.is_truth(inner, true).map(not),
            Expr::IsFalse(inner) => self.is_truth(inner, false),
            Expr::IsNotFalse(inner) => self.is_truth(inner, false).map(not),
            Expr::IsNotDistinctFrom(left, right) => self.compared(BinaryOperator::NullSafeEqual, left, right),
            Expr::IsDistinctFrom(left, right) => self.compared(BinaryOperator::NullSafeEqual, left, right).map(not),
            Expr::InList { expr: value, list, negated } => self.in_list(value, list).map(|x| negated_if(x, *negated)),
            Expr::Between { expr: value, negated, low, high } => {
                let low = self.compared(BinaryOperator::GreaterOrEqual, value, low)?;
                let high = self.compared(BinaryOperator::LessOrEqual, value, high)?;
                Ok(negated_if(both(low, high), *negated))
            }
            Expr::Like { negated, any: false, expr: value, pattern, escape_char } => {
                self.like(value, pattern, escape_char.as_ref(), false).map(|x| negated_if(x, *negated))
            }
            Expr::ILike { negated, any: false, expr: value, pattern, escape_char } => {
                self.like(value, pattern, escape_char.as_ref(), true).map(|x| negated_if(x, *negated))
            }
            Expr::Case { operand, conditions, else_result, .. } => {
                self.case(operand.as_deref(), conditions, else_result.as_deref(), expr)
            }
            Expr::Cast { kind, expr: value, data_type, array: false, format: None } => {
                self.cast(kind, value, &data_type.to_string())
            }
            Expr::Function(function) => self.function(function, expr),
            Expr::Like { .. } | Expr::ILike { .. } => Err(unsupported("LIKE ANY", expr)),
            Expr::RLike { expr, .. } => Err(unsupported("RLIKE", expr)),
            Expr::Subquery(_) | Expr::InSubquery { .. } | Expr::Exists { .. } => Err(unsupported("a subquery", expr)),
            Expr::Tuple(_) => Err(unsupported("a list in parentheses as a value", expr)),
            _ => Err(unsupported(&format!("the expression `{}`", shown(expr)), expr)),
        }
    }

    fn column(&mut self, qualifier: Option<&Ident>, name: &Ident) -> Result<Operand, SqlError> {
        if let Some(qualifier) = qualifier
            && self.table.is_none_or(|table| table.to_lowercase() != qualifier.value.to_lowercase())
        {
            let known =
                self.table.map_or("the columns have no qualifier here".to_owned(), |table| format!("only `{table}`"));
            return Err(SqlError::at(format!("unknown table `{}`: {known}", qualifier.value), qualifier.span));
        }
        // Inside an aggregate there are only the rows of the table.
        if qualifier.is_none() && !self.inside_aggregate {
            let mut outputs =
                self.outputs.iter().filter(|(output, _)| output.to_lowercase() == name.value.to_lowercase());
            if let Some((_, expression)) = outputs.next() {
                if outputs.any(|(_, other)| other != expression) {
                    return Err(SqlError::at(
                        format!("`{}` is the name of more than one output column", name.value),
                        name.span,
                    ));
                }
                return Ok(Operand::Typed(expression.clone()));
            }
        }
        if let Some(why) = self.no_columns {
            return Err(SqlError::at(format!("unknown column `{}`: {why}", name.value), name.span));
        }
        let Some(index) = self.schema.index_of(&name.value) else {
            return Err(unknown_column(&name.value, self.schema, name.span));
        };
        let field = &self.schema.fields[index];
        if !self.inside_aggregate && self.loose_column.is_none() {
            self.loose_column = Some((field.name.clone(), name.span));
        }
        column_expression(self.schema, index, name.span).map(Operand::Typed)
    }

    fn unary(&mut self, operator: UnaryOperator, inner: &Expr, whole: &Expr) -> Result<Operand, SqlError> {
        match operator {
            UnaryOperator::Not | UnaryOperator::BangNot => {
                self.condition(inner, "the operand of NOT").map(|x| Operand::Typed(Expression::Not(Box::new(x))))
            }
            UnaryOperator::Minus => {
                if let Expr::Value(ValueWithSpan { value: Parsed::Number(text, long), span }) = inner {
                    let value = literal::number(&format!("-{text}"), *long, *span)?;
                    return Ok(Operand::Typed(Expression::literal(value)));
                }
                match self.operand(inner)? {
                    Operand::Interval(interval) => literal::negate(interval)
                        .map(Operand::Interval)
                        .ok_or_else(|| SqlError::at("the INTERVAL is too long", inner.span())),
                    operand => self.numeric(operand, "-", inner).map(|operand| match operand {
                        Operand::Typed(expression) => Operand::Typed(literal::negated(expression)),
                        other => other,
                    }),
                }
            }
            UnaryOperator::Plus => match self.operand(inner)? {
                interval @ Operand::Interval(_) => Ok(interval),
                operand => self.numeric(operand, "+", inner),
            },
            other => Err(unsupported(&format!("the operator {other}"), whole)),
        }
    }

    fn numeric(&self, operand: Operand, operator: &str, expr: &Expr) -> Result<Operand, SqlError> {
        match operand.data_type() {
            Some(data_type) if !data_type.is_numeric() => {
                let message = format!("`{operator}` needs a number, but `{}` is {data_type}; use CAST", shown(expr));
                Err(SqlError::at(message, expr.span()))
            }
            _ => Ok(operand),
        }
    }

    fn is_null(&mut self, inner: &Expr) -> Result<Operand, SqlError> {
        let value = self.operand(inner)?.expression(PrimitiveType::Boolean, inner.span())?;
        Ok(Operand::Typed(Expression::IsNull(Box::new(value))))
    }

    fn is_truth(&mut self, inner: &Expr, truth: bool) -> Result<Operand, SqlError> {
        let value = self.condition(inner, "the operand of IS TRUE or IS FALSE")?;
        let truth = Expression::literal(Value::Boolean(truth));
        Ok(Operand::Typed(Expression::binary(BinaryOperator::NullSafeEqual, value, truth)))
    }
}

/// The column of a schema as an expression; a nested one is an error.
pub(super) fn column_expression(schema: &Schema, index: usize, span: Span) -> Result<Expression, SqlError> {
    let field = &schema.fields[index];
    match &field.data_type {
        DataType::Primitive(data_type) => {
            Ok(Expression::Column { index, name: field.name.clone(), data_type: *data_type })
        }
        nested => {
            let message = format!(
                "the column `{}` has the nested type {nested}, which is not supported by this version",
                field.name
            );
            Err(SqlError::at(message, span))
        }
    }
}

pub(super) fn unknown_column(name: &str, schema: &Schema, span: Span) -> SqlError {
    let names: Vec<&str> = schema.fields.iter().map(|field| field.name.as_str()).collect();
    let hint = nearest(name, names.iter().copied()).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    SqlError::at(format!("unknown column `{name}`{hint} (columns: {})", names.join(", ")), span)
}

/// The text of an expression for an error, cut when it is long.
pub(super) fn shown(expr: &Expr) -> String {
    let text = expr.to_string();
    if text.chars().count() <= 60 { text } else { text.chars().take(57).chain("...".chars()).collect() }
}

pub(super) fn unsupported(what: &str, expr: &Expr) -> SqlError {
    SqlError::at(format!("{what} is not supported by this version"), expr.span())
}

/// NOT of a boolean operand.
fn not(operand: Operand) -> Operand {
    match operand {
        Operand::Typed(expression) => Operand::Typed(Expression::Not(Box::new(expression))),
        other => other,
    }
}

fn negated_if(operand: Operand, negated: bool) -> Operand {
    if negated { not(operand) } else { operand }
}

/// AND of two boolean operands.
fn both(left: Operand, right: Operand) -> Operand {
    match (left, right) {
        (Operand::Typed(left), Operand::Typed(right)) => Operand::Typed(left.and(right)),
        (_, other) => other,
    }
}
