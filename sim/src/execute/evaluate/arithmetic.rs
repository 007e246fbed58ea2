//! Arithmetic: Arrow's checked kernels where they mean what SQL means, loops where not.

use arrow::{
    array::{ArrayRef, ArrowNativeTypeOp, ArrowPrimitiveType, PrimitiveArray},
    compute::kernels::numeric,
    datatypes::{
        DataType as ArrowType, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    },
};
use log_core::{expression::BinaryOperator, schema::PrimitiveType};

use super::{
    decimal,
    operand::{Operand, mistyped, numbers, primitive, shape, shared},
};
use crate::execute::ExecuteError;

/// A result that its type cannot hold.
pub(super) fn overflow(operation: &str, data_type: PrimitiveType) -> ExecuteError {
    ExecuteError::Overflow { operation: operation.to_owned(), data_type }
}

/// The sign of an operator, for messages.
fn sign(operator: BinaryOperator) -> &'static str {
    match operator {
        BinaryOperator::Add => "+",
        BinaryOperator::Subtract => "-",
        BinaryOperator::Multiply => "*",
        BinaryOperator::Divide => "/",
        BinaryOperator::IntegerDivide => "DIV",
        BinaryOperator::Remainder => "%",
        _ => "a comparison",
    }
}

/// `left operator right` for the six arithmetic operators.
pub(super) fn binary(
    operator: BinaryOperator,
    left: &Operand,
    right: &Operand,
    left_type: PrimitiveType,
    right_type: PrimitiveType,
) -> Result<Operand, ExecuteError> {
    use BinaryOperator as B;
    if let (PrimitiveType::Decimal { .. }, PrimitiveType::Decimal { .. }) = (left_type, right_type) {
        return decimal::binary(operator, left, right, left_type, right_type);
    }
    let name = sign(operator);
    let kernel = match operator {
        B::Add => numeric::add,
        B::Subtract => numeric::sub,
        B::Multiply => numeric::mul,
        _ => {
            return match left_type {
                PrimitiveType::Byte => integers::<Int8Type>(operator, left, right, left_type),
                PrimitiveType::Short => integers::<Int16Type>(operator, left, right, left_type),
                PrimitiveType::Integer => integers::<Int32Type>(operator, left, right, left_type),
                PrimitiveType::Long => integers::<Int64Type>(operator, left, right, left_type),
                PrimitiveType::Float => floats::<Float32Type>(operator, left, right),
                PrimitiveType::Double => floats::<Float64Type>(operator, left, right),
                _ => Err(mistyped(&left.array(), &format!("a number, for {name}"))),
            };
        }
    };
    if !left_type.is_numeric() || !right_type.is_numeric() {
        return Err(mistyped(&left.array(), &format!("a number, for {name}")));
    }
    let result = kernel(left, right).map_err(ExecuteError::arrow(name, left_type))?;
    Ok(Operand::result(result, left.is_scalar() && right.is_scalar()))
}

/// Computes row by row; NULL where an operand is.
pub(super) fn each<T: ArrowPrimitiveType, U: ArrowPrimitiveType, O: ArrowPrimitiveType>(
    left: &Operand,
    right: &Operand,
    f: impl Fn(T::Native, U::Native) -> Result<O::Native, ExecuteError>,
) -> Result<(PrimitiveArray<O>, bool), ExecuteError> {
    let (rows, single) = shape([left, right]);
    let (left, right) = (numbers::<T>(left)?, numbers::<U>(right)?);
    let mut values = Vec::with_capacity(rows);
    for row in 0..rows {
        values.push(match (left.get(row), right.get(row)) {
            (Some(a), Some(b)) => Some(f(a, b)?),
            _ => None,
        });
    }
    Ok((PrimitiveArray::<O>::from_iter(values), single))
}

/// DIV and `%` on integers.
fn integers<T: ArrowPrimitiveType>(
    operator: BinaryOperator,
    left: &Operand,
    right: &Operand,
    data_type: PrimitiveType,
) -> Result<Operand, ExecuteError> {
    let (result, single) = each::<T, T, T>(left, right, |a, b| {
        if b.is_zero() {
            return Err(ExecuteError::DivisionByZero);
        }
        match operator {
            BinaryOperator::IntegerDivide => a.div_checked(b).map_err(|_| overflow("DIV", data_type)),
            // Also of the least integer by -1: that is 0, as in Java.
            BinaryOperator::Remainder => Ok(a.mod_wrapping(b)),
            _ => Err(mistyped(&left.array(), "a double or a decimal, for /")),
        }
    })?;
    Ok(Operand::result(shared(result), single))
}

/// `/` and `%` on floating-point numbers.
fn floats<T: ArrowPrimitiveType>(
    operator: BinaryOperator,
    left: &Operand,
    right: &Operand,
) -> Result<Operand, ExecuteError> {
    let zero = T::default_value();
    let (result, single) = each::<T, T, T>(left, right, |a, b| {
        // `==` of numbers, unlike `is_eq`, also knows -0.0.
        if b == zero {
            return Err(ExecuteError::DivisionByZero);
        }
        match operator {
            BinaryOperator::Divide => Ok(a.div_wrapping(b)),
            BinaryOperator::Remainder => Ok(a.mod_wrapping(b)),
            _ => Err(mistyped(&left.array(), "a long, for DIV")),
        }
    })?;
    Ok(Operand::result(shared(result), single))
}

/// `-x`.
pub(super) fn negate(value: &Operand, data_type: PrimitiveType) -> Result<Operand, ExecuteError> {
    value.map(|array| {
        if !data_type.is_numeric() {
            return Err(mistyped(array, "a number, for -"));
        }
        numeric::neg(array).map_err(ExecuteError::arrow("-", data_type))
    })
}

/// `abs(x)`.
pub(super) fn absolute(value: &Operand, data_type: PrimitiveType) -> Result<Operand, ExecuteError> {
    fn checked<T: ArrowPrimitiveType>(array: &ArrayRef, data_type: PrimitiveType) -> Result<ArrayRef, ExecuteError> {
        let zero = T::default_value();
        let result: PrimitiveArray<T> = primitive::<T>(array)?.try_unary(|x| {
            if x.is_lt(zero) { x.neg_checked().map_err(|_| overflow("abs", data_type)) } else { Ok(x) }
        })?;
        Ok(shared(result.with_data_type(array.data_type().clone())))
    }
    value.map(|array| match array.data_type() {
        ArrowType::Int8 => checked::<Int8Type>(array, data_type),
        ArrowType::Int16 => checked::<Int16Type>(array, data_type),
        ArrowType::Int32 => checked::<Int32Type>(array, data_type),
        ArrowType::Int64 => checked::<Int64Type>(array, data_type),
        ArrowType::Decimal128(..) => checked::<Decimal128Type>(array, data_type),
        ArrowType::Float32 => Ok(shared(primitive::<Float32Type>(array)?.unary::<_, Float32Type>(f32::abs))),
        ArrowType::Float64 => Ok(shared(primitive::<Float64Type>(array)?.unary::<_, Float64Type>(f64::abs))),
        _ => Err(mistyped(array, "a number, for abs")),
    })
}
