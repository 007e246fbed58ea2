//! Decimal arithmetic: computed exactly, rounded half up to the scale of the result, an error beyond its precision.

use arrow::datatypes::{Decimal128Type, Int64Type, i256};
use log_core::{batch::arrow_type, expression::BinaryOperator, schema::PrimitiveType};

use super::{
    arithmetic::{each, overflow},
    operand::{Operand, mistyped, shared},
};
use crate::execute::ExecuteError;

/// `left operator right` on two decimals, whose types may differ.
pub(super) fn binary(
    operator: BinaryOperator,
    left: &Operand,
    right: &Operand,
    left_type: PrimitiveType,
    right_type: PrimitiveType,
) -> Result<Operand, ExecuteError> {
    let (PrimitiveType::Decimal { scale: s1, .. }, PrimitiveType::Decimal { scale: s2, .. }) = (left_type, right_type)
    else {
        return Err(mistyped(&left.array(), "a decimal"));
    };
    let (s1, s2) = (u32::from(s1), u32::from(s2));
    let common = s1.max(s2);
    let wide = |a: i128, scale: u32| i256::from_i128(a).wrapping_mul(power(common - scale));
    let result_type = operator.result_type(left_type, right_type);
    let PrimitiveType::Decimal { precision, scale } = result_type else {
        // DIV gives a long.
        let (result, single) = each::<Decimal128Type, Decimal128Type, Int64Type>(left, right, |a, b| {
            let quotient = wide(a, s1).checked_div(wide(b, s2)).ok_or(ExecuteError::DivisionByZero)?;
            quotient.to_i128().and_then(|q| i64::try_from(q).ok()).ok_or_else(|| overflow("DIV", result_type))
        })?;
        return Ok(Operand::result(shared(result), single));
    };
    let scale = u32::from(scale);
    let fit = |x: Option<i128>, operation| {
        let limit = 10_i128.pow(u32::from(precision));
        x.filter(|x| -limit < *x && *x < limit).ok_or_else(|| overflow(operation, result_type))
    };
    let (result, single) =
        each::<Decimal128Type, Decimal128Type, Decimal128Type>(left, right, |a, b| match operator {
            BinaryOperator::Add => fit(round(wide(a, s1).wrapping_add(wide(b, s2)), common, scale), "+"),
            BinaryOperator::Subtract => fit(round(wide(a, s1).wrapping_sub(wide(b, s2)), common, scale), "-"),
            BinaryOperator::Multiply => {
                fit(round(i256::from_i128(a).wrapping_mul(i256::from_i128(b)), s1 + s2, scale), "*")
            }
            BinaryOperator::Divide => {
                if b == 0 {
                    return Err(ExecuteError::DivisionByZero);
                }
                fit(divide(a, b, i64::from(scale) - i64::from(s1) + i64::from(s2)), "/")
            }
            BinaryOperator::Remainder => {
                let rest = wide(a, s1).checked_rem(wide(b, s2)).ok_or(ExecuteError::DivisionByZero)?;
                fit(round(rest, common, scale), "%")
            }
            _ => Err(mistyped(&left.array(), "an operand of arithmetic")),
        })?;
    Ok(Operand::result(shared(result.with_data_type(arrow_type(result_type))), single))
}

/// 10^exponent, for an exponent of at most 76.
fn power(exponent: u32) -> i256 {
    i256::from_i128(10).wrapping_pow(exponent)
}

/// Brings a number from one scale to another, half away from zero; `None` beyond 128 bits.
fn round(x: i256, from: u32, to: u32) -> Option<i128> {
    if to >= from {
        return x.checked_mul(power(to - from))?.to_i128();
    }
    let unit = power(from - to);
    let (quotient, rest) = (x.checked_div(unit)?, x.checked_rem(unit)?);
    away(quotient, rest, unit)?.to_i128()
}

/// One further from zero when the rest is half the divisor or more.
fn away(quotient: i256, rest: i256, divisor: i256) -> Option<i256> {
    // Signs as those of the exact result: the quotient itself may be zero.
    let negative = rest.is_negative() != divisor.is_negative();
    let (rest, divisor) = (rest.wrapping_abs(), divisor.wrapping_abs());
    if rest < divisor.wrapping_sub(rest) {
        return Some(quotient);
    }
    let one = i256::from_i128(if negative { -1 } else { 1 });
    quotient.checked_add(one)
}

/// `a * 10^exponent / b`, half away from zero; `None` beyond 128 bits. Digit by digit, since the product may need more than 256 bits.
fn divide(a: i128, b: i128, exponent: i64) -> Option<i128> {
    let (a, mut b) = (i256::from_i128(a), i256::from_i128(b));
    if exponent < 0 {
        b = b.checked_mul(power(exponent.unsigned_abs() as u32))?;
    }
    let ten = i256::from_i128(10);
    let (mut quotient, mut rest) = (a.checked_div(b)?, a.checked_rem(b)?);
    for _ in 0..exponent.max(0) {
        let next = rest.wrapping_mul(ten);
        quotient = quotient.wrapping_mul(ten).wrapping_add(next.checked_div(b)?);
        rest = next.checked_rem(b)?;
        quotient.to_i128()?;
    }
    away(quotient, rest, b)?.to_i128()
}
