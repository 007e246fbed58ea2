//! Operators of two operands.

use log_core::{
    expression::{BinaryOperator, Expression, Function},
    schema::PrimitiveType,
    value::Value,
};
use sqlparser::{
    ast::{BinaryOperator as Parsed, Expr, Spanned},
    tokenizer::Span,
};

use super::{Scope, shown, unsupported};
use crate::sql::{
    bind::{
        coerce::{Interval, Operand, as_decimal, common_type, convert, convert_text, exact},
        literal,
    },
    error::SqlError,
};

impl Scope<'_> {
    /// A chain such as `a AND b AND c`, which leans to the left: walked in a loop, so that its length costs no stack.
    pub(super) fn chain(&mut self, expr: &Expr) -> Result<Operand, SqlError> {
        let mut links = Vec::new();
        let mut first = expr;
        while let Expr::BinaryOp { left, op, right } = first {
            links.push((op, left.as_ref(), right.as_ref()));
            first = left;
        }
        let mut result = self.operand(first)?;
        while let Some((operator, left, right)) = links.pop() {
            let operand = self.operand(right)?;
            result = self.binary(operator, (result, left), (operand, right))?;
        }
        Ok(result)
    }

    /// `left operator right` for a comparison.
    pub(in crate::sql::bind) fn compared(
        &mut self,
        operator: BinaryOperator,
        left: &Expr,
        right: &Expr,
    ) -> Result<Operand, SqlError> {
        let operands = ((self.operand(left)?, left), (self.operand(right)?, right));
        compare(operator, operands.0, operands.1)
    }

    fn binary(
        &mut self,
        operator: &Parsed,
        left: (Operand, &Expr),
        right: (Operand, &Expr),
    ) -> Result<Operand, SqlError> {
        use BinaryOperator as B;
        match operator {
            Parsed::And => logical(B::And, left, right),
            Parsed::Or => logical(B::Or, left, right),
            Parsed::Eq => compare(B::Equal, left, right),
            Parsed::NotEq => compare(B::NotEqual, left, right),
            Parsed::Lt => compare(B::Less, left, right),
            Parsed::LtEq => compare(B::LessOrEqual, left, right),
            Parsed::Gt => compare(B::Greater, left, right),
            Parsed::GtEq => compare(B::GreaterOrEqual, left, right),
            Parsed::Spaceship => compare(B::NullSafeEqual, left, right),
            Parsed::Plus | Parsed::Minus if is_temporal(&left.0) || is_temporal(&right.0) => {
                shift(*operator == Parsed::Minus, left, right)
            }
            Parsed::Plus => arithmetic(B::Add, left, right),
            Parsed::Minus => arithmetic(B::Subtract, left, right),
            Parsed::Multiply => arithmetic(B::Multiply, left, right),
            Parsed::Divide => arithmetic(B::Divide, left, right),
            Parsed::Modulo => arithmetic(B::Remainder, left, right),
            Parsed::MyIntegerDivide => arithmetic(B::IntegerDivide, left, right),
            Parsed::StringConcat => {
                let mut arguments = Vec::new();
                for (operand, expr) in [left, right] {
                    let text = operand.expression(PrimitiveType::String, expr.span())?;
                    arguments.push(convert(text, PrimitiveType::String));
                }
                Ok(Operand::Typed(Expression::Function { function: Function::Concat, arguments }))
            }
            other => Err(unsupported(&format!("the operator {other}"), left.1)),
        }
    }
}

/// The type that two operands are compared in: a string takes the type of the other side, and so does a number that is a literal when it is one of
/// that type as well, so that `small = 1` compares the column as it is.
pub(super) fn comparison_type(
    left: (&Operand, PrimitiveType),
    right: (&Operand, PrimitiveType),
) -> Option<PrimitiveType> {
    use PrimitiveType as T;
    match (left.1, right.1) {
        (T::String, T::String) => Some(T::String),
        (T::String, T::Binary) | (T::Binary, T::String) => None,
        (T::String, other) | (other, T::String) => Some(other),
        (a, _) if fits(right.0, a) && !is_literal(left.0) => Some(a),
        (_, b) if fits(left.0, b) && !is_literal(right.0) => Some(b),
        (a, b) => common_type(a, b),
    }
}

fn is_literal(operand: &Operand) -> bool {
    matches!(operand, Operand::Typed(Expression::Literal { .. }))
}

/// Is it a literal that a type holds without loss?
fn fits(operand: &Operand, data_type: PrimitiveType) -> bool {
    matches!(operand, Operand::Typed(Expression::Literal { value, .. }) if exact(value, data_type).is_some())
}

pub(super) fn compare(
    operator: BinaryOperator,
    (left, left_expr): (Operand, &Expr),
    (right, right_expr): (Operand, &Expr),
) -> Result<Operand, SqlError> {
    let target = match (left.data_type(), right.data_type()) {
        (Some(a), Some(b)) => comparison_type((&left, a), (&right, b)).ok_or_else(|| {
            let (left, right) = (shown(left_expr), shown(right_expr));
            SqlError::at(format!("cannot compare `{left}` ({a}) with `{right}` ({b}); use CAST"), left_expr.span())
        })?,
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => PrimitiveType::Boolean,
    };
    let left = convert_text(left.expression(target, left_expr.span())?, target, left_expr.span())?;
    let right = convert_text(right.expression(target, right_expr.span())?, target, right_expr.span())?;
    Ok(Operand::Typed(Expression::binary(operator, left, right)))
}

fn logical(operator: BinaryOperator, left: (Operand, &Expr), right: (Operand, &Expr)) -> Result<Operand, SqlError> {
    let name = if operator == BinaryOperator::And { "AND" } else { "OR" };
    let check = |(operand, expr): (Operand, &Expr)| match operand.data_type() {
        None | Some(PrimitiveType::Boolean) => operand.expression(PrimitiveType::Boolean, expr.span()),
        Some(other) => {
            let message = format!(
                "an operand of {name} must be boolean, but `{}` is {other}; compare it with something",
                shown(expr)
            );
            Err(SqlError::at(message, expr.span()))
        }
    };
    Ok(Operand::Typed(Expression::binary(operator, check(left)?, check(right)?)))
}

fn arithmetic(
    operator: BinaryOperator,
    (left, left_expr): (Operand, &Expr),
    (right, right_expr): (Operand, &Expr),
) -> Result<Operand, SqlError> {
    use PrimitiveType as T;
    let symbol = symbol(operator);
    for (operand, expr) in [(&left, left_expr), (&right, right_expr)] {
        if operand.data_type().map_or(matches!(operand, Operand::Interval(_)), |data_type| !data_type.is_numeric()) {
            let message =
                format!("`{symbol}` needs numbers, but `{}` is {}; use CAST", shown(expr), operand.type_name());
            return Err(SqlError::at(message, expr.span()));
        }
    }
    let (a, b) = match (left.data_type(), right.data_type()) {
        (None, None) => return Ok(Operand::Null),
        (a, b) => (a.or(b).unwrap_or(T::Integer), b.or(a).unwrap_or(T::Integer)),
    };
    let left = left.expression(a, left_expr.span())?;
    let right = right.expression(b, right_expr.span())?;
    let floating = |data_type| matches!(data_type, T::Float | T::Double);
    let decimal = matches!(a, T::Decimal { .. }) || matches!(b, T::Decimal { .. });
    let (left, right) = match operator {
        BinaryOperator::IntegerDivide if decimal || floating(a) || floating(b) => {
            let message = format!("`DIV` needs integers, but divides {a} by {b}; use CAST");
            return Err(SqlError::at(message, left_expr.span()));
        }
        BinaryOperator::IntegerDivide => (convert(left, T::Long), convert(right, T::Long)),
        // Decimals keep their own digits: the type of the result follows from both.
        _ if decimal && !floating(a) && !floating(b) => (as_decimal(left), as_decimal(right)),
        BinaryOperator::Divide => (convert(left, T::Double), convert(right, T::Double)),
        _ => {
            let target = common_type(a, b).unwrap_or(T::Double);
            (convert(left, target), convert(right, target))
        }
    };
    Ok(Operand::Typed(Expression::binary(operator, left, right)))
}

fn symbol(operator: BinaryOperator) -> &'static str {
    match operator {
        BinaryOperator::Add => "+",
        BinaryOperator::Subtract => "-",
        BinaryOperator::Multiply => "*",
        BinaryOperator::Divide => "/",
        BinaryOperator::Remainder => "%",
        _ => "DIV",
    }
}

fn is_temporal(operand: &Operand) -> bool {
    use PrimitiveType as T;
    match operand {
        Operand::Interval(_) => true,
        Operand::Null => false,
        Operand::Typed(expression) => matches!(expression.data_type(), T::Date | T::Timestamp | T::TimestampNtz),
    }
}

/// `date + days`, `days + date`, `date - days`, and `+ INTERVAL` or `- INTERVAL` on a date or timestamp.
fn shift(
    minus: bool,
    (left, left_expr): (Operand, &Expr),
    (right, right_expr): (Operand, &Expr),
) -> Result<Operand, SqlError> {
    let symbol = if minus { "-" } else { "+" };
    let mismatch = |left: &Operand, right: &Operand| {
        let (a, b) = (left.type_name(), right.type_name());
        let (left, right) = (shown(left_expr), shown(right_expr));
        let message = format!(
            "`{symbol}` takes a date and days, or a date or timestamp and an INTERVAL, but `{left}` is {a} and `{right}` is {b}"
        );
        SqlError::at(message, left_expr.span())
    };
    // `days + date` is `date + days`.
    let (moment, moment_expr, amount, amount_expr) =
        if !minus && (matches!(left, Operand::Interval(_)) || !is_temporal(&left)) {
            (right, right_expr, left, left_expr)
        } else {
            (left, left_expr, right, right_expr)
        };
    let refused = |moment: &Operand, amount: &Operand| {
        if std::ptr::eq(moment_expr, left_expr) { mismatch(moment, amount) } else { mismatch(amount, moment) }
    };
    match (moment, amount) {
        (Operand::Null, Operand::Null | Operand::Interval(_)) => Ok(Operand::Null),
        (Operand::Typed(moment), Operand::Interval(length)) if is_temporal(&Operand::Typed(moment.clone())) => {
            let length = if minus { literal::negate(length) } else { Some(length) };
            let length = length.ok_or_else(|| SqlError::at("the INTERVAL is too long", amount_expr.span()))?;
            shift_by(moment, length, amount_expr.span()).map(Operand::Typed)
        }
        (Operand::Typed(date), amount) if date.data_type() == PrimitiveType::Date => {
            use PrimitiveType as T;
            if !matches!(amount.data_type(), None | Some(T::Byte | T::Short | T::Integer)) {
                return Err(refused(&Operand::Typed(date), &amount));
            }
            let days = convert(amount.expression(T::Integer, amount_expr.span())?, T::Integer);
            Ok(Operand::Typed(date_add(date, if minus { literal::negated(days) } else { days })))
        }
        (moment, amount) => Err(refused(&moment, &amount)),
    }
}

fn date_add(date: Expression, days: Expression) -> Expression {
    Expression::Function { function: Function::DateAdd, arguments: vec![date, days] }
}

/// A date or timestamp moved by a length of time: a date stays one as long as whole days are added.
fn shift_by(mut moment: Expression, length: Interval, span: Span) -> Result<Expression, SqlError> {
    let too_long = || SqlError::at("the INTERVAL is too long", span);
    let number = |count: i64| i32::try_from(count).map(Value::Integer).map(Expression::literal).map_err(|_| too_long());
    let date = moment.data_type() == PrimitiveType::Date;
    if length.months != 0 {
        if !date {
            let message =
                "months and years on a timestamp are not supported by this version; use days, or add_months on a date";
            return Err(SqlError::at(message, span));
        }
        let arguments = vec![moment, number(length.months)?];
        moment = Expression::Function { function: Function::AddMonths, arguments };
    }
    let mut microseconds = length.microseconds;
    if date && length.days != 0 {
        moment = date_add(moment, number(length.days)?);
    } else if !date {
        let days = length.days.checked_mul(86_400_000_000).ok_or_else(too_long)?;
        microseconds = microseconds.checked_add(days).ok_or_else(too_long)?;
    }
    if microseconds == 0 {
        return Ok(moment);
    }
    if date {
        moment = moment.cast_to(PrimitiveType::Timestamp);
    }
    let arguments = vec![moment, Expression::literal(Value::Long(microseconds))];
    Ok(Expression::Function { function: Function::AddMicroseconds, arguments })
}
