//! Forms of their own grammar: IN, LIKE, CASE, CAST.

use log_core::{
    expression::{BinaryOperator, Expression},
    schema::PrimitiveType,
    value::{Value, parse_text},
};
use sqlparser::ast::{CaseWhen, CastKind, Expr, Spanned, ValueWithSpan};

use super::{Scope, operator, shown, unsupported};
use crate::sql::{
    bind::coerce::{Operand, castable, common_type, convert, convert_text},
    dialect::string_text,
    error::SqlError,
    parse::primitive_type,
};

impl Scope<'_> {
    pub(super) fn in_list(&mut self, value: &Expr, list: &[Expr]) -> Result<Operand, SqlError> {
        let looked_for = self.operand(value)?;
        let items = list.iter().map(|item| self.operand(item)).collect::<Result<Vec<_>, _>>()?;
        // A literal in front must not pull the items to its own narrow type: `1 IN (big, small)`.
        let meet = |a: PrimitiveType, operand: &Operand, b: PrimitiveType| match &looked_for {
            Operand::Typed(Expression::Literal { .. }) => {
                operator::comparison_type((&Operand::Null, a), (&Operand::Null, b))
            }
            value => operator::comparison_type((value, a), (operand, b)),
        };
        let mut target = looked_for.data_type();
        for (operand, item) in items.iter().zip(list) {
            target = match (target, operand.data_type()) {
                (None, other) | (other, None) => other,
                (Some(a), Some(b)) => Some(meet(a, operand, b).ok_or_else(|| {
                    let message =
                        format!("IN cannot compare `{}` ({a}) with `{}` ({b}); use CAST", shown(value), shown(item));
                    SqlError::at(message, item.span())
                })?),
            };
        }
        let target = target.unwrap_or(PrimitiveType::Boolean);
        let bring = |operand: Operand, expr: &Expr| {
            operand.expression(target, expr.span()).and_then(|x| convert_text(x, target, expr.span()))
        };
        let looked_for = bring(looked_for, value)?;
        let list = items.into_iter().zip(list).map(|(item, expr)| bring(item, expr)).collect::<Result<_, _>>()?;
        Ok(Operand::Typed(Expression::In { value: Box::new(looked_for), list }))
    }

    pub(super) fn like(
        &mut self,
        value: &Expr,
        pattern: &Expr,
        escape: Option<&ValueWithSpan>,
        ignore_case: bool,
    ) -> Result<Operand, SqlError> {
        let escape = match escape {
            None => '\\',
            Some(literal) => {
                let mut characters = string_text(literal).unwrap_or_default().chars();
                match (characters.next(), characters.next()) {
                    (Some(escape), None) => escape,
                    _ => return Err(SqlError::at("ESCAPE takes a string of one character", literal.span)),
                }
            }
        };
        let value = Box::new(self.text(value)?);
        let pattern = Box::new(self.text(pattern)?);
        Ok(Operand::Typed(Expression::Like { value, pattern, escape, ignore_case }))
    }

    /// A string; other types are brought to it, as Spark does.
    pub(in crate::sql::bind) fn text(&mut self, expr: &Expr) -> Result<Expression, SqlError> {
        let operand = self.operand(expr)?.expression(PrimitiveType::String, expr.span())?;
        Ok(convert(operand, PrimitiveType::String))
    }

    pub(super) fn case(
        &mut self,
        compared: Option<&Expr>,
        conditions: &[CaseWhen],
        otherwise: Option<&Expr>,
        whole: &Expr,
    ) -> Result<Operand, SqlError> {
        let mut tests = Vec::new();
        let mut results = Vec::new();
        for CaseWhen { condition, result } in conditions {
            tests.push(match compared {
                Some(value) => self
                    .compared(BinaryOperator::Equal, value, condition)?
                    .expression(PrimitiveType::Boolean, whole.span())?,
                None => self.condition(condition, "the condition of WHEN")?,
            });
            results.push((self.operand(result)?, result));
        }
        if let Some(otherwise) = otherwise {
            results.push((self.operand(otherwise)?, otherwise));
        }
        let Some((mut values, data_type)) = unified(results, "the branches of CASE")? else { return Ok(Operand::Null) };
        let otherwise = match otherwise {
            Some(_) => values.pop(),
            None => None,
        };
        let otherwise = Box::new(otherwise.unwrap_or(Expression::null(data_type)));
        Ok(Operand::Typed(Expression::Case { branches: tests.into_iter().zip(values).collect(), otherwise }))
    }

    pub(super) fn cast(&mut self, kind: &CastKind, value: &Expr, type_name: &str) -> Result<Operand, SqlError> {
        let to = primitive_type(type_name).map_err(|message| SqlError::at(message, value.span()))?;
        let lenient = match kind {
            CastKind::Cast | CastKind::DoubleColon => false,
            CastKind::TryCast => true,
            CastKind::SafeCast => return Err(unsupported("SAFE_CAST", value)),
        };
        let operand = self.operand(value)?.expression(to, value.span())?;
        let from = operand.data_type();
        if !castable(from, to) {
            return Err(SqlError::at(format!("CAST cannot bring `{}` ({from}) to {to}", shown(value)), value.span()));
        }
        // A text that is no value of the type fails only where the CAST is evaluated, which a CASE may avoid.
        if let Expression::Literal { value: Value::String(text), .. } = &operand
            && to != PrimitiveType::String
            && let Ok(value) = parse_text(text, to)
        {
            return Ok(Operand::Typed(Expression::literal(value)));
        }
        Ok(Operand::Typed(match convert(operand, to) {
            Expression::Cast { value, to, .. } if lenient => Expression::Cast { value, to, lenient },
            other => other,
        }))
    }
}

/// Brings values to the type that they have in common; `None` when all are NULL.
#[allow(clippy::type_complexity)]
pub(in crate::sql::bind) fn unified(
    values: Vec<(Operand, &Expr)>,
    what: &str,
) -> Result<Option<(Vec<Expression>, PrimitiveType)>, SqlError> {
    let mut target: Option<PrimitiveType> = None;
    for (operand, expr) in &values {
        target = match (target, operand.data_type()) {
            (None, other) | (other, None) => other,
            (Some(a), Some(b)) => Some(common_type(a, b).ok_or_else(|| {
                let message = format!("{what} have no common type: {a}, and {b} for `{}`; use CAST", shown(expr));
                SqlError::at(message, expr.span())
            })?),
        };
    }
    let Some(target) = target else {
        for (operand, expr) in values {
            // An interval is not NULL.
            operand.expression(PrimitiveType::String, expr.span())?;
        }
        return Ok(None);
    };
    let values = values
        .into_iter()
        .map(|(operand, expr)| Ok(convert(operand.expression(target, expr.span())?, target)))
        .collect::<Result<_, SqlError>>()?;
    Ok(Some((values, target)))
}
