//! Comparisons. Arrow orders floating-point numbers by their bits, SQL does not: see [`canonical`].

use arrow::{
    array::{ArrayRef, AsArray, BooleanArray, Datum},
    compute::{kernels::cmp, or_kleene},
    datatypes::{DataType as ArrowType, Float32Type, Float64Type},
    error::ArrowError,
};
use log_core::expression::BinaryOperator;

use super::operand::{Operand, boolean, shape, shared};
use crate::execute::ExecuteError;

/// Floating-point numbers made comparable by bits, as Arrow compares them: one zero and one NaN, which is then the greatest number. Other
/// columns as they are.
pub(in crate::execute) fn canonical(array: &ArrayRef) -> ArrayRef {
    match array.data_type() {
        ArrowType::Float32 => shared(
            array
                .as_primitive::<Float32Type>()
                .unary::<_, Float32Type>(|x| if x.is_nan() { f32::NAN } else { x + 0.0 }),
        ),
        ArrowType::Float64 => shared(
            array
                .as_primitive::<Float64Type>()
                .unary::<_, Float64Type>(|x| if x.is_nan() { f64::NAN } else { x + 0.0 }),
        ),
        _ => array.clone(),
    }
}

fn canonical_operand(operand: &Operand) -> Operand {
    match operand.get().0.data_type() {
        ArrowType::Float32 | ArrowType::Float64 => Operand::result(canonical(&operand.array()), operand.is_scalar()),
        _ => operand.clone(),
    }
}

/// A kernel of Arrow on two operands, made fit for floating-point numbers.
pub(super) fn compare(operator: BinaryOperator, left: &Operand, right: &Operand) -> Result<Operand, ExecuteError> {
    let kernel = match operator {
        BinaryOperator::Equal => cmp::eq,
        BinaryOperator::NotEqual => cmp::neq,
        BinaryOperator::Less => cmp::lt,
        BinaryOperator::LessOrEqual => cmp::lt_eq,
        BinaryOperator::Greater => cmp::gt,
        BinaryOperator::GreaterOrEqual => cmp::gt_eq,
        BinaryOperator::NullSafeEqual => cmp::not_distinct,
        _ => {
            let source = ArrowError::InvalidArgumentError(format!("{operator:?} compares nothing"));
            return Err(ExecuteError::plumbing("a comparison")(source));
        }
    };
    let result =
        kernel(&canonical_operand(left), &canonical_operand(right)).map_err(ExecuteError::plumbing("a comparison"))?;
    Ok(Operand::result(shared(result), left.is_scalar() && right.is_scalar()))
}

/// `value IN (items)`.
pub(super) fn is_in(
    value: &Operand,
    items: impl Iterator<Item = Result<Operand, ExecuteError>>,
) -> Result<Operand, ExecuteError> {
    let mut found: Option<Operand> = None;
    for item in items {
        let equal = compare(BinaryOperator::Equal, value, &item?)?;
        found = Some(match found {
            None => equal,
            Some(before) => either(before, equal)?,
        });
    }
    match found {
        Some(found) => Ok(found),
        // Nothing is in an empty list, not even NULL.
        None => value.map(|array| Ok(shared(BooleanArray::from(vec![false; array.len()])))),
    }
}

fn either(left: Operand, right: Operand) -> Result<Operand, ExecuteError> {
    let (rows, single) = shape([&left, &right]);
    let (left, right) = (left.into_array(rows)?, right.into_array(rows)?);
    let result = or_kleene(boolean(&left)?, boolean(&right)?).map_err(ExecuteError::plumbing("IN"))?;
    Ok(Operand::result(shared(result), single))
}
