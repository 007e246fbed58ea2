//! The rows of an INSERT.

use arrow::{
    array::{Array, ArrayRef, RecordBatch},
    compute::concat,
};
use log_core::{
    batch::{arrow_schema, arrow_type, column, from_columns},
    expression::Expression,
    schema::{PrimitiveType, Schema},
    value::Value,
};

use super::{
    ExecuteError,
    evaluate::evaluate,
    query::{self, one_row},
};
use crate::sql::bound::{BoundFrom, BoundInsert};

/// The rows that an INSERT appends, with the table's columns in order. `source` gives the rows of the table for a query.
///
/// # Errors
/// When an expression fails, when a NOT NULL column would be NULL, and what `source` says.
pub fn rows<E: From<ExecuteError>>(
    statement: &BoundInsert,
    schema: &Schema,
    source: &mut dyn FnMut(BoundFrom) -> Result<Vec<RecordBatch>, E>,
) -> Result<RecordBatch, E> {
    let (columns, length) = match statement {
        BoundInsert::Values(rows) => (constants(rows, schema)?, rows.len()),
        BoundInsert::Query { query, columns } => {
            let answer = query::run(query, source)?;
            let columns = columns.iter().map(|column| evaluate(column, &answer)).collect::<Result<Vec<_>, _>>()?;
            (columns, answer.num_rows())
        }
    };
    Ok(checked(columns, length, schema)?)
}

/// A batch of a table's columns, NOT NULL checked.
fn checked(columns: Vec<ArrayRef>, length: usize, schema: &Schema) -> Result<RecordBatch, ExecuteError> {
    if columns.len() != schema.fields.len() {
        return Err(ExecuteError::Width { found: columns.len(), wanted: schema.fields.len() });
    }
    for (column, field) in columns.iter().zip(&schema.fields) {
        if !field.nullable && column.null_count() > 0 {
            return Err(ExecuteError::NotNull { column: field.name.clone() });
        }
    }
    from_columns(arrow_schema(schema), columns, length).map_err(ExecuteError::plumbing("building rows"))
}

fn constants(rows: &[Vec<Expression>], schema: &Schema) -> Result<Vec<ArrayRef>, ExecuteError> {
    let width = schema.fields.len();
    if let Some(row) = rows.iter().find(|row| row.len() != width) {
        return Err(ExecuteError::Width { found: row.len(), wanted: width });
    }
    let nothing = one_row()?;
    let mut columns = Vec::with_capacity(width);
    for index in 0..width {
        let expressions = || rows.iter().map(|row| &row[index]);
        let Some(data_type) = expressions().next().map(Expression::data_type) else {
            // No row at all.
            let data_type = schema.fields[index].data_type.primitive().unwrap_or(PrimitiveType::String);
            columns.push(arrow::array::new_empty_array(&arrow_type(data_type)));
            continue;
        };
        if let Some(values) = literals(expressions()) {
            columns.push(column(data_type, &values)?);
            continue;
        }
        let values = expressions().map(|e| evaluate(e, &nothing)).collect::<Result<Vec<_>, _>>()?;
        let values: Vec<&dyn Array> = values.iter().map(|value| value.as_ref()).collect();
        columns.push(concat(&values).map_err(ExecuteError::plumbing("joining rows"))?);
    }
    Ok(columns)
}

/// The values, when all expressions are literals.
fn literals<'a>(expressions: impl Iterator<Item = &'a Expression>) -> Option<Vec<Value>> {
    expressions
        .map(|expression| match expression {
            Expression::Literal { value, .. } => Some(value.clone()),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests;
