//! Functions.

use arrow::{
    array::{Array, BooleanArray, Int32Array, PrimitiveArray, RecordBatch, StringArray},
    compute::{self, kernels::cmp},
    datatypes::{Date32Type, Int32Type, Int64Type, TimestampMicrosecondType},
};
use log_core::{
    expression::{BinaryOperator, Expression, Function},
    schema::PrimitiveType,
    value::{civil_from_days, days_from_civil},
};

use super::{
    Mode, arithmetic,
    arithmetic::{each, overflow},
    compare::{canonical, compare},
    logic::{choose, coalesce},
    node,
    operand::{Operand, boolean, numbers, primitive, shape, shared, text},
};
use crate::execute::ExecuteError;

/// A function of its arguments.
pub(super) fn call(
    function: Function,
    arguments: &[Expression],
    batch: &RecordBatch,
    mode: Mode,
) -> Result<Operand, ExecuteError> {
    let least = match function {
        Function::NullIf | Function::DateAdd | Function::AddMonths | Function::AddMicroseconds => 2,
        Function::Substring => 2,
        Function::Concat => 0,
        _ => 1,
    };
    if arguments.len() < least {
        return Err(ExecuteError::Arguments { function: format!("{function:?}"), found: arguments.len() });
    }
    if function == Function::Coalesce {
        return coalesce(arguments, batch, mode, arguments[0].data_type());
    }
    let data_type = arguments.first().map_or(PrimitiveType::String, Expression::data_type);
    let operands = arguments.iter().map(|argument| node(argument, batch, mode)).collect::<Result<Vec<_>, _>>()?;
    match (function, operands.as_slice()) {
        (Function::NullIf, [a, b, ..]) => null_if(a, b),
        (Function::Greatest, [first, rest @ ..]) => extreme(first, rest, cmp::gt_eq),
        (Function::Least, [first, rest @ ..]) => extreme(first, rest, cmp::lt),
        (Function::Abs, [value, ..]) => arithmetic::absolute(value, data_type),
        (Function::Upper, [value, ..]) => map_text(value, str::to_uppercase),
        (Function::Lower, [value, ..]) => map_text(value, str::to_lowercase),
        (Function::Trim, [value, ..]) => map_text(value, |text| text.trim_matches(' ').to_owned()),
        (Function::Length, [value, ..]) => length(value),
        (Function::Concat, operands) => concat(operands),
        (Function::Substring, [value, start, length @ ..]) => substring(value, start, length.first()),
        (Function::DateAdd, [date, days, ..]) => {
            let (result, single) = each::<Date32Type, Int32Type, Date32Type>(date, days, |date, days| {
                date.checked_add(days).ok_or_else(|| overflow("date_add", PrimitiveType::Date))
            })?;
            Ok(Operand::result(shared(result), single))
        }
        (Function::AddMonths, [date, months, ..]) => {
            let (result, single) = each::<Date32Type, Int32Type, Date32Type>(date, months, add_months)?;
            Ok(Operand::result(shared(result), single))
        }
        (Function::Year, [date, ..]) => part(date, |(year, _, _)| year),
        (Function::Month, [date, ..]) => part(date, |(_, month, _)| month as i32),
        (Function::Day, [date, ..]) => part(date, |(_, _, day)| day as i32),
        (Function::AddMicroseconds, [time, micros, ..]) => {
            let (result, single) =
                each::<TimestampMicrosecondType, Int64Type, TimestampMicrosecondType>(time, micros, |time, micros| {
                    time.checked_add(micros).ok_or_else(|| overflow("+", data_type))
                })?;
            Ok(Operand::result(shared(result.with_data_type(time.array().data_type().clone())), single))
        }
        _ => Err(ExecuteError::Arguments { function: format!("{function:?}"), found: arguments.len() }),
    }
}

fn null_if(a: &Operand, b: &Operand) -> Result<Operand, ExecuteError> {
    let (rows, single) = shape([a, b]);
    let equal = compare(BinaryOperator::Equal, a, b)?.into_array(rows)?;
    let a = a.clone().into_array(rows)?;
    let result = compute::nullif(&a, boolean(&equal)?).map_err(ExecuteError::plumbing("nullif"))?;
    Ok(Operand::result(result, single))
}

type Comparison =
    fn(&dyn arrow::array::Datum, &dyn arrow::array::Datum) -> Result<BooleanArray, arrow::error::ArrowError>;

/// The greatest or least that is not NULL; of equal ones (both zeros) the last greatest and the first least.
fn extreme(first: &Operand, rest: &[Operand], beats: Comparison) -> Result<Operand, ExecuteError> {
    let (rows, single) = shape(std::iter::once(first).chain(rest));
    let mut best = first.clone().into_array(rows)?;
    for next in rest {
        let next = next.clone().into_array(rows)?;
        let better =
            beats(&canonical(&next), &canonical(&best)).map_err(ExecuteError::plumbing("greatest or least"))?;
        // NULL when either is: then the one that is not.
        let better: BooleanArray = (0..rows)
            .map(|row| Some(if better.is_valid(row) { better.value(row) } else { best.is_null(row) }))
            .collect();
        best = choose(&better, &next, &best)?;
    }
    Ok(Operand::result(best, single))
}

fn map_text(value: &Operand, f: impl Fn(&str) -> String) -> Result<Operand, ExecuteError> {
    let (rows, single) = shape([value]);
    let value = text(value)?;
    let result: StringArray = (0..rows).map(|row| value.get(row).map(&f)).collect();
    Ok(Operand::result(shared(result), single))
}

fn length(value: &Operand) -> Result<Operand, ExecuteError> {
    let (rows, single) = shape([value]);
    let value = text(value)?;
    let result: Int32Array = (0..rows).map(|row| value.get(row).map(|text| text.chars().count() as i32)).collect();
    Ok(Operand::result(shared(result), single))
}

fn concat(operands: &[Operand]) -> Result<Operand, ExecuteError> {
    let (rows, single) = shape(operands);
    let columns = operands.iter().map(text).collect::<Result<Vec<_>, _>>()?;
    let one = |row| {
        let mut whole = String::new();
        for column in &columns {
            whole.push_str(column.get(row)?);
        }
        Some(whole)
    };
    let result: StringArray = (0..rows).map(one).collect();
    Ok(Operand::result(shared(result), single))
}

fn substring(value: &Operand, start: &Operand, length: Option<&Operand>) -> Result<Operand, ExecuteError> {
    let (rows, single) = shape([value, start].into_iter().chain(length));
    let (value, start) = (text(value)?, numbers::<Int32Type>(start)?);
    let length = length.map(numbers::<Int32Type>).transpose()?;
    let one = |row| {
        let (text, start) = (value.get(row)?, i64::from(start.get(row)?));
        let length = match &length {
            Some(length) => length.get(row)?,
            None => i32::MAX,
        };
        // Before the first character nothing is found, but it counts: substring('abc', -5, 3) is 'a'.
        let first = match start {
            1.. => start - 1,
            0 => 0,
            _ => start + text.chars().count() as i64,
        };
        // The greatest length is past the end of any text, however far before its start this begins.
        let end = if length == i32::MAX { i64::MAX } else { first + i64::from(length) };
        let (from, end) = (first.max(0), end.max(0));
        Some(text.chars().skip(from as usize).take((end - from).max(0) as usize).collect::<String>())
    };
    let result: StringArray = (0..rows).map(one).collect();
    Ok(Operand::result(shared(result), single))
}

fn part(date: &Operand, f: impl Fn((i32, u32, u32)) -> i32) -> Result<Operand, ExecuteError> {
    date.map(|array| {
        let result: PrimitiveArray<Int32Type> = primitive::<Date32Type>(array)?.unary(|days| f(civil_from_days(days)));
        Ok(shared(result))
    })
}

fn add_months(date: i32, months: i32) -> Result<i32, ExecuteError> {
    let overflow = || overflow("add_months", PrimitiveType::Date);
    let (year, month, day) = civil_from_days(date);
    let month = i64::from(year) * 12 + i64::from(month) - 1 + i64::from(months);
    let (year, month) = (month.div_euclid(12), month.rem_euclid(12) as u32 + 1);
    let year = i32::try_from(year).map_err(|_| overflow())?;
    let last = match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    let day = day.min(last);
    let days = days_from_civil(year, month, day);
    // Past the range of dates the days are those of another date.
    if civil_from_days(days) == (year, month, day) { Ok(days) } else { Err(overflow()) }
}
