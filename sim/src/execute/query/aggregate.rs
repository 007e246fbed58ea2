//! Aggregates over all rows.

use std::sync::Arc;

use arrow::{
    array::{Array, ArrayRef, AsArray, Float64Array, Int64Array, RecordBatch, new_null_array},
    compute::{cast, kernels::cmp},
    datatypes::{DataType as ArrowType, Decimal128Type, Float64Type, Int64Type, i256},
};
use log_core::{
    batch::{arrow_type, column},
    schema::PrimitiveType,
    value::Value,
};

use crate::{
    execute::{
        ExecuteError,
        evaluate::{canonical, evaluate},
    },
    sql::bound::Aggregate,
};

/// An aggregate over the rows of all batches, as a column of one value.
pub(super) fn compute(aggregate: &Aggregate, batches: &[RecordBatch]) -> Result<ArrayRef, ExecuteError> {
    let expression = match aggregate {
        Aggregate::CountRows => {
            let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
            return Ok(Arc::new(Int64Array::from(vec![rows as i64])));
        }
        Aggregate::Count(x) | Aggregate::Sum(x) | Aggregate::Min(x) | Aggregate::Max(x) => x,
    };
    let columns = batches.iter().map(|batch| evaluate(expression, batch)).collect::<Result<Vec<_>, _>>()?;
    match aggregate {
        Aggregate::Sum(_) => sum(&columns, aggregate.data_type()),
        Aggregate::Min(_) => extreme(&columns, aggregate.data_type(), cmp::lt),
        Aggregate::Max(_) => extreme(&columns, aggregate.data_type(), cmp::gt),
        _ => {
            let count: usize = columns.iter().map(|column| column.len() - column.null_count()).sum();
            Ok(Arc::new(Int64Array::from(vec![count as i64])))
        }
    }
}

/// The sum. Integers and decimals are added without a bound and checked at the end, so the order of the rows does not decide about overflow.
fn sum(columns: &[ArrayRef], data_type: PrimitiveType) -> Result<ArrayRef, ExecuteError> {
    let overflow = || ExecuteError::Overflow { operation: "sum".to_owned(), data_type };
    let none = columns.iter().all(|column| column.null_count() == column.len());
    if none {
        return Ok(new_null_array(&arrow_type(data_type), 1));
    }
    let widened =
        |to: ArrowType| columns.iter().map(move |column| cast(column, &to).map_err(ExecuteError::plumbing("sum")));
    match data_type {
        PrimitiveType::Double => {
            let mut total = 0.0;
            for column in widened(ArrowType::Float64) {
                total = column?.as_primitive::<Float64Type>().iter().flatten().fold(total, |total, x| total + x);
            }
            Ok(Arc::new(Float64Array::from(vec![total])))
        }
        PrimitiveType::Decimal { precision, scale } => {
            let mut total = i256::ZERO;
            for column in columns {
                let column = column.as_primitive_opt::<Decimal128Type>().ok_or_else(|| ExecuteError::Type {
                    place: "the argument of sum".to_owned(),
                    found: column.data_type().clone(),
                    wanted: "a decimal".to_owned(),
                })?;
                for x in column.iter().flatten() {
                    total = total.wrapping_add(i256::from_i128(x));
                }
            }
            let limit = 10_i128.pow(u32::from(precision));
            let unscaled = total.to_i128().filter(|x| -limit < *x && *x < limit).ok_or_else(overflow)?;
            Ok(column(data_type, &[Value::Decimal { unscaled, precision, scale }])?)
        }
        _ => {
            let mut total: i128 = 0;
            for column in widened(ArrowType::Int64) {
                total += column?.as_primitive::<Int64Type>().iter().flatten().map(i128::from).sum::<i128>();
            }
            Ok(Arc::new(Int64Array::from(vec![i64::try_from(total).map_err(|_| overflow())?])))
        }
    }
}

type Comparison = fn(
    &dyn arrow::array::Datum,
    &dyn arrow::array::Datum,
) -> Result<arrow::array::BooleanArray, arrow::error::ArrowError>;

/// The least or greatest value; the first of those that are equal.
fn extreme(columns: &[ArrayRef], data_type: PrimitiveType, beats: Comparison) -> Result<ArrayRef, ExecuteError> {
    let mut best: Option<ArrayRef> = None;
    for column in columns {
        let keys = canonical(column);
        for row in (0..column.len()).filter(|row| column.is_valid(*row)) {
            let better = match &best {
                None => true,
                Some(best) => {
                    beats(&keys.slice(row, 1), &canonical(best)).map_err(ExecuteError::plumbing("min or max"))?.value(0)
                }
            };
            if better {
                best = Some(column.slice(row, 1));
            }
        }
    }
    Ok(best.unwrap_or_else(|| new_null_array(&arrow_type(data_type), 1)))
}
