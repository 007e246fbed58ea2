//! Exact arithmetic on decimals: in 256 bits, rounded once, half-up.

use arrow::datatypes::i256;

use super::arithmetic::integral_value;
use crate::{expression::BinaryOperator, schema::PrimitiveType, value::Value};

/// `left operator right`, each an unscaled number and its scale, as a value of the type that the operator gives; `None` when it does not
/// fit. The right side of a division is not zero.
pub(super) fn evaluate(
    operator: BinaryOperator,
    (left, left_scale): (i128, u8),
    (right, right_scale): (i128, u8),
    to: PrimitiveType,
) -> Option<Value> {
    let (a, b) = (i256::from_i128(left), i256::from_i128(right));
    let common = left_scale.max(right_scale);
    let align = |x: i256, scale: u8| x.checked_mul(power_of_ten(u32::from(common - scale))?);
    match operator {
        BinaryOperator::Add => rescale(align(a, left_scale)?.checked_add(align(b, right_scale)?)?, common.into(), to),
        BinaryOperator::Subtract => {
            rescale(align(a, left_scale)?.checked_sub(align(b, right_scale)?)?, common.into(), to)
        }
        BinaryOperator::Multiply => rescale(a.checked_mul(b)?, u32::from(left_scale) + u32::from(right_scale), to),
        BinaryOperator::Remainder => {
            rescale(align(a, left_scale)?.checked_rem(align(b, right_scale)?)?, common.into(), to)
        }
        BinaryOperator::IntegerDivide => {
            let quotient = align(a, left_scale)?.checked_div(align(b, right_scale)?)?;
            integral_value(quotient.to_i128()?, to)
        }
        BinaryOperator::Divide => {
            let PrimitiveType::Decimal { precision, scale } = to else { return None };
            let quotient = divide(align(a, left_scale)?, align(b, right_scale)?, scale)?;
            decimal_value(quotient, precision, scale)
        }
        _ => panic!("{operator:?} on decimals"),
    }
}

/// A number brought to another decimal type; `None` when it does not fit.
pub(super) fn convert(unscaled: i128, scale: u8, to: PrimitiveType) -> Option<Value> {
    rescale(i256::from_i128(unscaled), scale.into(), to)
}

fn rescale(unscaled: i256, from_scale: u32, to: PrimitiveType) -> Option<Value> {
    let PrimitiveType::Decimal { precision, scale } = to else { return None };
    let to_scale = u32::from(scale);
    let unscaled = if to_scale >= from_scale {
        unscaled.checked_mul(power_of_ten(to_scale - from_scale)?)?
    } else {
        divide(unscaled, power_of_ten(from_scale - to_scale)?, 0)?
    };
    decimal_value(unscaled, precision, scale)
}

/// `a / b` with `digits` places after the point, rounded half-up (away from zero).
fn divide(a: i256, b: i256, digits: u8) -> Option<i256> {
    let negative = a.is_negative() != b.is_negative();
    let (a, b) = (a.checked_abs()?, b.checked_abs()?);
    let ten = i256::from_i128(10);
    let mut quotient = a.checked_div(b)?;
    let mut remainder = a.checked_rem(b)?;
    // Digit by digit, as on paper: the dividend with all its digits would not fit.
    for _ in 0..digits {
        let (digit, rest) = next_digit(remainder, b)?;
        quotient = quotient.checked_mul(ten)?.checked_add(digit)?;
        remainder = rest;
    }
    if remainder >= b.checked_sub(remainder)? {
        quotient = quotient.checked_add(i256::ONE)?;
    }
    if negative { quotient.checked_neg() } else { Some(quotient) }
}

/// The digit that follows in a long division, and the remainder after it.
fn next_digit(remainder: i256, divisor: i256) -> Option<(i256, i256)> {
    // Both numbers have at most 76 digits, and ten times 76 digits just overflows: double and add instead of multiplying.
    let mut digit = 0;
    let mut rest = i256::ZERO;
    for bit in [true, false, true, false] {
        // 10 is 1010 in binary.
        digit *= 2;
        let (doubled, over) = add_below(rest, rest, divisor)?;
        rest = doubled;
        digit += over;
        if bit {
            let (sum, over) = add_below(rest, remainder, divisor)?;
            rest = sum;
            digit += over;
        }
    }
    Some((i256::from_i128(digit), rest))
}

/// `a + b` less `limit` if it reaches it, and how often that was taken off; `a` and `b` are below `limit`.
fn add_below(a: i256, b: i256, limit: i256) -> Option<(i256, i128)> {
    let room = limit.checked_sub(a)?;
    if b >= room { Some((b.checked_sub(room)?, 1)) } else { Some((a.checked_add(b)?, 0)) }
}

fn decimal_value(unscaled: i256, precision: u8, scale: u8) -> Option<Value> {
    let unscaled = unscaled.to_i128()?;
    let fits = unscaled.unsigned_abs() < 10_u128.pow(precision.into());
    fits.then_some(Value::Decimal { unscaled, precision, scale })
}

fn power_of_ten(exponent: u32) -> Option<i256> {
    i256::from_i128(10).checked_pow(exponent)
}
