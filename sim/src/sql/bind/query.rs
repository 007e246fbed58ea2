//! Queries.

use log_core::{
    expression::Expression,
    schema::{DataType, Field, PrimitiveType, Schema},
    value::Value,
};
use sqlparser::{
    ast::{Expr, Spanned, Value as Parsed, ValueWithSpan},
    tokenizer::Span,
};

use super::{
    Constants,
    coerce::{Operand, common_type, convert},
    expression::{Scope, column_expression},
};
use crate::sql::{
    bound::{BoundBody, BoundFrom, BoundOrderBy, BoundQuery, BoundSelect},
    error::SqlError,
    statement::{OrderBy, Query, QueryBody, Select, SelectItem, SetOperator},
};

/// Name and type of an output column; a column of bare NULLs has no type yet.
type Output = (String, Option<PrimitiveType>);

pub(super) fn query(query: &Query, schema: &Schema, constants: &Constants) -> Result<BoundQuery, SqlError> {
    one_table(query)?;
    let (mut body, output, order_by) = match &query.body {
        QueryBody::Select(parsed) => {
            let (bound, output, order_by) = select(parsed, &query.order_by, schema, constants)?;
            (BoundBody::Select(Box::new(bound)), output, order_by)
        }
        operation => {
            let (bound, output) = set_operation(operation, schema, constants)?;
            let order_by = order_by_output(&query.order_by, &output, constants)?;
            (bound, output, order_by)
        }
    };
    // What is NULL in every row has to have some type.
    let output: Vec<_> =
        output.into_iter().map(|(name, data_type)| (name, data_type.unwrap_or(PrimitiveType::String))).collect();
    let types: Vec<_> = output.iter().map(|(_, data_type)| *data_type).collect();
    widen(&mut body, &types);
    Ok(BoundQuery { output, body, order_by, limit: query.limit })
}

/// The tables of a query are one, perhaps in several versions: there is one schema.
fn one_table(query: &Query) -> Result<(), SqlError> {
    let tables = query.tables();
    let Some(first) = tables.first() else { return Ok(()) };
    match tables.iter().find(|other| other.table.to_lowercase() != first.table.to_lowercase()) {
        None => Ok(()),
        Some(other) => {
            let message = format!(
                "a query that reads two tables (`{}` and `{}`) is not supported by this version",
                first.table, other.table
            );
            Err(SqlError::at(message, first_span(query)))
        }
    }
}

/// Where the first item of a query stands, for an error about the whole.
pub(super) fn first_span(query: &Query) -> Span {
    let mut body = &query.body;
    while let QueryBody::SetOperation { left, .. } = body {
        body = left;
    }
    let QueryBody::Select(select) = body else { return Span::empty() };
    select
        .items
        .iter()
        .find_map(|item| match item {
            SelectItem::Expression { expression, .. } => Some(expression.span()),
            SelectItem::All => None,
        })
        .unwrap_or(Span::empty())
}

/// Is an output column NULL whatever the rows are?
pub(super) fn always_null(body: &BoundBody, index: usize) -> bool {
    match body {
        BoundBody::Select(select) => matches!(select.items[index], Expression::Literal { value: Value::Null, .. }),
        BoundBody::SetOperation { operator: SetOperator::Union, left, right, .. } => {
            always_null(left, index) && always_null(right, index)
        }
        BoundBody::SetOperation { left, .. } => always_null(left, index),
    }
}

fn set_operation(
    body: &QueryBody,
    schema: &Schema,
    constants: &Constants,
) -> Result<(BoundBody, Vec<Output>), SqlError> {
    match body {
        QueryBody::Select(parsed) => {
            let (bound, output, _) = select(parsed, &[], schema, constants)?;
            Ok((BoundBody::Select(Box::new(bound)), output))
        }
        QueryBody::SetOperation { operator, all, left, right } => {
            let (left, left_output) = set_operation(left, schema, constants)?;
            let (right, right_output) = set_operation(right, schema, constants)?;
            let name = match operator {
                SetOperator::Union => "UNION",
                SetOperator::Except => "EXCEPT",
                SetOperator::Intersect => "INTERSECT",
            };
            if left_output.len() != right_output.len() {
                let (a, b) = (left_output.len(), right_output.len());
                let message = format!("the sides of {name} have {a} and {b} columns");
                return Err(SqlError::at(message, body_span(body)));
            }
            let mut output = Vec::new();
            for ((column, a), (_, b)) in left_output.into_iter().zip(right_output) {
                let data_type = match (a, b) {
                    (None, other) | (other, None) => other,
                    (Some(a), Some(b)) => Some(common_type(a, b).ok_or_else(|| {
                        let message =
                            format!("the sides of {name} have {a} and {b} in the column `{column}`; use CAST");
                        SqlError::at(message, body_span(body))
                    })?),
                };
                output.push((column, data_type));
            }
            let (left, right) = (Box::new(left), Box::new(right));
            let mut bound = BoundBody::SetOperation { operator: *operator, all: *all, left, right };
            // Brought to one type here, so that an inner operation compares what it shows.
            let types: Vec<_> =
                output.iter().map(|(_, data_type)| data_type.unwrap_or(PrimitiveType::String)).collect();
            widen(&mut bound, &types);
            Ok((bound, output))
        }
    }
}

fn body_span(body: &QueryBody) -> Span {
    match body {
        QueryBody::SetOperation { right, .. } => body_span(right),
        QueryBody::Select(select) => match select.items.first() {
            Some(SelectItem::Expression { expression, .. }) => expression.span(),
            _ => Span::empty(),
        },
    }
}

/// Brings every output column to its type.
fn widen(body: &mut BoundBody, types: &[PrimitiveType]) {
    match body {
        BoundBody::Select(select) => {
            for (item, to) in select.items.iter_mut().zip(types) {
                let taken = std::mem::replace(item, Expression::truth());
                *item = convert(taken, *to);
            }
        }
        BoundBody::SetOperation { left, right, .. } => {
            widen(left, types);
            widen(right, types);
        }
    }
}

fn select(
    select: &Select,
    order_by: &[OrderBy],
    schema: &Schema,
    constants: &Constants,
) -> Result<(BoundSelect, Vec<Output>, Vec<BoundOrderBy>), SqlError> {
    let new_scope = || match &select.from {
        Some(from) => Scope::new(schema, constants).named(from.alias.as_ref().unwrap_or(&from.table)),
        None => Scope::new(schema, constants).without_columns("the query has no FROM"),
    };
    let mut filter = new_scope();
    filter.aggregates = Err("in WHERE");
    let predicate =
        select.predicate.as_ref().map(|expr| filter.condition(expr, "the condition of WHERE")).transpose()?;

    let mut scope = new_scope();
    scope.aggregates = Ok(Vec::new());
    let mut items = Vec::new();
    let mut output: Vec<Output> = Vec::new();
    for item in &select.items {
        match item {
            SelectItem::All => {
                if select.from.is_none() {
                    return Err(SqlError::at("`*` needs a table: the query has no FROM", Span::empty()));
                }
                for index in 0..schema.fields.len() {
                    let column = column_expression(schema, index, Span::empty())?;
                    let name = schema.fields[index].name.clone();
                    scope.loose_column.get_or_insert((name.clone(), Span::empty()));
                    output.push((name, Some(column.data_type())));
                    items.push(column);
                }
            }
            SelectItem::Expression { expression, alias } => {
                let operand = scope.operand(expression)?;
                let data_type = operand.data_type();
                let bound = operand.expression(PrimitiveType::String, expression.span())?;
                let name = match (alias, &bound) {
                    (Some(alias), _) => alias.clone(),
                    (None, Expression::Column { name, .. }) => name.clone(),
                    (None, _) => expression.to_string(),
                };
                output.push((name, data_type));
                items.push(bound);
            }
        }
    }
    let mut hidden = Vec::new();
    let mut keys = Vec::new();
    scope.outputs = output.iter().map(|(name, _)| name.clone()).zip(items.iter().cloned()).collect();
    for key in order_by {
        let position = match ordinal(key, output.len())? {
            Some(position) => position,
            None => {
                let bound = scope.operand(&key.expression)?.expression(PrimitiveType::String, key.expression.span())?;
                let known = items.iter().chain(&hidden).position(|item| *item == bound);
                known.unwrap_or_else(|| {
                    hidden.push(bound);
                    items.len() + hidden.len() - 1
                })
            }
        };
        if select.distinct && position >= items.len() {
            let message = format!("with DISTINCT, ORDER BY can only name output columns, not `{}`", key.expression);
            return Err(SqlError::at(message, key.expression.span()));
        }
        let row_item = |position: usize| items.iter().chain(&hidden).nth(position).map(Expression::data_type);
        let data_type = output
            .get(position)
            .map_or(row_item(position), |(_, data_type)| *data_type)
            .unwrap_or(PrimitiveType::String);
        let name = output.get(position).map_or(key.expression.to_string(), |(name, _)| name.clone());
        keys.push(bound_key(key, Expression::Column { index: position, name, data_type }));
    }

    let aggregates = scope.aggregates.unwrap_or_default();
    let aggregates = if aggregates.is_empty() { None } else { Some(aggregates) };
    if let (Some(_), Some((column, span))) = (&aggregates, scope.loose_column) {
        let message = format!(
            "the column `{column}` stands beside an aggregate: put it inside one (GROUP BY is not supported by this version)"
        );
        return Err(SqlError::at(message, span));
    }
    let from = match &select.from {
        None => BoundFrom::Nothing,
        Some(from) => from.version.map_or(BoundFrom::Snapshot, BoundFrom::Version),
    };
    let bound = BoundSelect { from, predicate, aggregates, items, hidden, distinct: select.distinct };
    Ok((bound, output, keys))
}

/// `ORDER BY 2`: a position in the output, counted from 1.
fn ordinal(key: &OrderBy, columns: usize) -> Result<Option<usize>, SqlError> {
    let Expr::Value(ValueWithSpan { value: Parsed::Number(digits, _), span }) = &key.expression else {
        return Ok(None);
    };
    match digits.parse::<usize>() {
        Ok(position) if (1..=columns).contains(&position) => Ok(Some(position - 1)),
        _ => Err(SqlError::at(format!("ORDER BY {digits} is no output column: the query has {columns}"), *span)),
    }
}

/// The keys of a set operation: expressions over its output columns.
fn order_by_output(
    order_by: &[OrderBy],
    output: &[Output],
    constants: &Constants,
) -> Result<Vec<BoundOrderBy>, SqlError> {
    let fields = output.iter().map(|(name, data_type)| Field {
        name: name.clone(),
        data_type: DataType::Primitive(data_type.unwrap_or(PrimitiveType::String)),
        nullable: true,
        metadata: std::collections::BTreeMap::new(),
    });
    let schema = Schema { fields: fields.collect() };
    let mut scope = Scope::new(&schema, constants);
    scope.aggregates = Err("in the ORDER BY of a set operation");
    order_by
        .iter()
        .map(|key| {
            let expression = match ordinal(key, output.len())? {
                Some(position) => column_expression(&schema, position, key.expression.span())?,
                None => match scope.operand(&key.expression)? {
                    Operand::Null => Expression::null(PrimitiveType::String),
                    operand => operand.expression(PrimitiveType::String, key.expression.span())?,
                },
            };
            Ok(bound_key(key, expression))
        })
        .collect()
}

fn bound_key(key: &OrderBy, expression: Expression) -> BoundOrderBy {
    BoundOrderBy { expression, descending: key.descending, nulls_first: key.nulls_first }
}
