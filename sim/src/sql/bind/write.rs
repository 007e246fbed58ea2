//! `INSERT`, `UPDATE` and `DELETE`.

use log_core::{
    expression::Expression,
    schema::{Field, PrimitiveType, Schema},
    value::Value,
};
use sqlparser::{ast::Spanned, tokenizer::Span};

use super::{
    Constants,
    coerce::{Operand, assignable, convert},
    expression::{Scope, unknown_column},
    query,
};
use crate::sql::{
    bound::{BoundDelete, BoundInsert, BoundUpdate},
    error::SqlError,
    statement::{Delete, Insert, InsertSource, Update},
};

pub(super) fn insert(insert: &Insert, schema: &Schema, constants: &Constants) -> Result<BoundInsert, SqlError> {
    let targets = targets(insert, schema)?;
    match &insert.source {
        InsertSource::Values(rows) => {
            let mut bound = Vec::with_capacity(rows.len());
            for (number, row) in rows.iter().enumerate() {
                let span = row.iter().flatten().next().map_or(Span::empty(), Spanned::span);
                let what = if rows.len() == 1 { "the row".to_owned() } else { format!("row {}", number + 1) };
                check_arity(row.len(), &what, &targets, insert, span)?;
                let mut scope = Scope::new(schema, constants).without_columns("the VALUES of an INSERT read no table");
                scope.aggregates = Err("in VALUES");
                let mut values = vec![None; schema.fields.len()];
                for (value, target) in row.iter().zip(&targets) {
                    let (operand, span) = match value {
                        Some(expr) => (scope.operand(expr)?, expr.span()),
                        None => (Operand::Null, span),
                    };
                    values[*target] = Some(assign(operand, &schema.fields[*target], span)?);
                }
                bound.push(complete(values, schema)?);
            }
            Ok(BoundInsert::Values(bound))
        }
        InsertSource::Query(source) => {
            for reference in source.tables() {
                if reference.table.to_lowercase() != insert.table.to_lowercase() {
                    let message = format!(
                        "an INSERT into `{}` that reads another table (`{}`) is not supported by this version",
                        insert.table, reference.table
                    );
                    return Err(SqlError::at(message, Span::empty()));
                }
            }
            let query = query::query(source, schema, constants)?;
            let span = query::first_span(source);
            check_arity(query.output.len(), "the query", &targets, insert, span)?;
            let mut columns = vec![None; schema.fields.len()];
            for (index, ((name, data_type), target)) in query.output.iter().zip(&targets).enumerate() {
                let operand = if query::always_null(&query.body, index) {
                    Operand::Null
                } else {
                    Operand::Typed(Expression::Column { index, name: name.clone(), data_type: *data_type })
                };
                columns[*target] = Some(assign(operand, &schema.fields[*target], span)?);
            }
            Ok(BoundInsert::Query { query, columns: complete(columns, schema)? })
        }
    }
}

/// The columns that the source gives, as positions.
fn targets(insert: &Insert, schema: &Schema) -> Result<Vec<usize>, SqlError> {
    if insert.columns.is_empty() {
        return Ok((0..schema.fields.len()).collect());
    }
    let mut targets = Vec::new();
    for name in &insert.columns {
        let index = schema.index_of(name).ok_or_else(|| unknown_column(name, schema, Span::empty()))?;
        if targets.contains(&index) {
            return Err(SqlError::at(format!("the column `{name}` stands twice in the INSERT"), Span::empty()));
        }
        targets.push(index);
    }
    Ok(targets)
}

fn check_arity(found: usize, what: &str, targets: &[usize], insert: &Insert, span: Span) -> Result<(), SqlError> {
    if found == targets.len() {
        return Ok(());
    }
    let who = if insert.columns.is_empty() {
        format!("the table `{}` has", insert.table)
    } else {
        "the INSERT names".to_owned()
    };
    let plural = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let message = format!("{who} {}, but {what} has {}", plural(targets.len(), "column"), plural(found, "value"));
    Err(SqlError::at(message, span))
}

/// Columns that the source does not give are NULL.
fn complete(values: Vec<Option<Expression>>, schema: &Schema) -> Result<Vec<Expression>, SqlError> {
    let fields = values.into_iter().zip(&schema.fields);
    fields
        .map(|(value, field)| match value {
            Some(value) => Ok(value),
            None if !field.nullable => Err(SqlError::at(
                format!("the column `{}` is NOT NULL, but the INSERT gives no value for it", field.name),
                Span::empty(),
            )),
            None => column_type(field, Span::empty()).map(Expression::null),
        })
        .collect()
}

fn column_type(field: &Field, span: Span) -> Result<PrimitiveType, SqlError> {
    field.data_type.primitive().ok_or_else(|| {
        let message = format!(
            "the column `{}` has the nested type {}, which is not supported by this version",
            field.name, field.data_type
        );
        SqlError::at(message, span)
    })
}

/// A value for a column, by the rules of Spark's ANSI store assignment. A number that does not fit fails when it is evaluated.
fn assign(operand: Operand, field: &Field, span: Span) -> Result<Expression, SqlError> {
    let to = column_type(field, span)?;
    let value = operand.expression(to, span)?;
    if !field.nullable && matches!(value, Expression::Literal { value: Value::Null, .. }) {
        return Err(SqlError::at(format!("the column `{}` is NOT NULL, but the value is NULL", field.name), span));
    }
    let from = value.data_type();
    if !assignable(from, to) {
        let message = format!("the column `{}` is {to}, but the value is {from}; use CAST", field.name);
        return Err(SqlError::at(message, span));
    }
    Ok(convert(value, to))
}

pub(super) fn update(update: &Update, schema: &Schema, constants: &Constants) -> Result<BoundUpdate, SqlError> {
    let name = update.alias.as_ref().unwrap_or(&update.table);
    let mut assignments = vec![None; schema.fields.len()];
    for (column, value) in &update.assignments {
        let index = schema.index_of(column).ok_or_else(|| unknown_column(column, schema, value.span()))?;
        if assignments[index].is_some() {
            return Err(SqlError::at(format!("the column `{column}` is assigned twice"), value.span()));
        }
        let mut scope = Scope::new(schema, constants).named(name);
        scope.aggregates = Err("in UPDATE");
        let operand = scope.operand(value)?;
        assignments[index] = Some(assign(operand, &schema.fields[index], value.span())?);
    }
    let predicate = update.predicate.as_ref().map(|expr| condition(expr, name, schema, constants)).transpose()?;
    Ok(BoundUpdate { assignments, predicate })
}

pub(super) fn delete(delete: &Delete, schema: &Schema, constants: &Constants) -> Result<BoundDelete, SqlError> {
    let name = delete.alias.as_ref().unwrap_or(&delete.table);
    let predicate = delete.predicate.as_ref().map(|expr| condition(expr, name, schema, constants)).transpose()?;
    Ok(BoundDelete { predicate })
}

fn condition(
    expr: &sqlparser::ast::Expr,
    table: &str,
    schema: &Schema,
    constants: &Constants,
) -> Result<Expression, SqlError> {
    let mut scope = Scope::new(schema, constants).named(table);
    scope.aggregates = Err("in WHERE");
    scope.condition(expr, "the condition of WHERE")
}
