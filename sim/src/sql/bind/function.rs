//! Functions and aggregates.

use log_core::{
    expression::{BinaryOperator, Expression, Function},
    schema::PrimitiveType,
    value::Value,
};
use sqlparser::ast::{
    DuplicateTreatment, Expr, Function as Call, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments,
    Spanned,
};

use super::{
    coerce::{Operand, convert, convert_text},
    expression::{Scope, shown, unified, unsupported},
    literal::negated,
};
use crate::sql::{bound::Aggregate, error::SqlError, nearest::nearest};

/// Every name that [`Scope::function`] knows.
const NAMES: &[&str] = &[
    "abs",
    "add_months",
    "char_length",
    "character_length",
    "coalesce",
    "concat",
    "count",
    "curdate",
    "current_date",
    "current_timestamp",
    "date_add",
    "date_sub",
    "dateadd",
    "day",
    "dayofmonth",
    "greatest",
    "if",
    "ifnull",
    "iff",
    "lcase",
    "least",
    "len",
    "length",
    "lower",
    "max",
    "min",
    "month",
    "now",
    "nullif",
    "nvl",
    "substr",
    "substring",
    "sum",
    "trim",
    "ucase",
    "upper",
    "year",
];

/// Microseconds of a day.
const DAY_US: i64 = 86_400_000_000;

impl Scope<'_> {
    pub(super) fn function(&mut self, call: &Call, whole: &Expr) -> Result<Operand, SqlError> {
        let Call { name, uses_odbc_syntax, parameters, args, filter, null_treatment, over, within_group } = call;
        let [part] = name.0.as_slice() else { return Err(unsupported("a function name of several parts", whole)) };
        let Some(ident) = part.as_ident() else { return Err(unsupported("a computed function name", whole)) };
        let plain = !*uses_odbc_syntax
            && *parameters == FunctionArguments::None
            && filter.is_none()
            && null_treatment.is_none()
            && within_group.is_empty();
        if over.is_some() {
            return Err(unsupported("OVER (a window function)", whole));
        }
        if !plain {
            return Err(unsupported(&format!("a clause of the function call `{}`", shown(whole)), whole));
        }
        let name = ident.value.to_lowercase();
        let (arguments, distinct) = match args {
            FunctionArguments::None => (Vec::new(), false),
            FunctionArguments::Subquery(_) => return Err(unsupported("a subquery", whole)),
            FunctionArguments::List(FunctionArgumentList { duplicate_treatment, args, clauses }) => {
                if !clauses.is_empty() {
                    return Err(unsupported(&format!("a clause in the arguments of {name}"), whole));
                }
                (args.iter().collect(), *duplicate_treatment == Some(DuplicateTreatment::Distinct))
            }
        };
        if distinct {
            return Err(unsupported(&format!("{name}(DISTINCT ...)"), whole));
        }
        if matches!(name.as_str(), "count" | "sum" | "min" | "max") {
            return self.aggregate(&name, &arguments, whole);
        }
        let mut values = Vec::new();
        for argument in arguments {
            match argument {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(value)) => values.push(value),
                _ => return Err(unsupported(&format!("the argument `{argument}` of {name}"), whole)),
            }
        }
        self.scalar(&name, &values, whole)
    }

    fn scalar(&mut self, name: &str, arguments: &[&Expr], whole: &Expr) -> Result<Operand, SqlError> {
        use PrimitiveType as T;
        let typed = |function, arguments| Ok(Operand::Typed(Expression::Function { function, arguments }));
        match name {
            "current_timestamp" | "now" => {
                arity(name, arguments, 0..=0, whole)?;
                Ok(Operand::Typed(Expression::literal(Value::Timestamp(self.constants.now_us))))
            }
            "current_date" | "curdate" => {
                arity(name, arguments, 0..=0, whole)?;
                let days = self.constants.now_us.div_euclid(DAY_US);
                let days = i32::try_from(days).map_err(|_| SqlError::at("the clock is out of range", whole.span()))?;
                Ok(Operand::Typed(Expression::literal(Value::Date(days))))
            }
            "coalesce" => self.same_type(Function::Coalesce, name, arguments, 1, whole),
            "ifnull" | "nvl" => {
                arity(name, arguments, 2..=2, whole)?;
                self.same_type(Function::Coalesce, name, arguments, 2, whole)
            }
            "greatest" => self.same_type(Function::Greatest, name, arguments, 2, whole),
            "least" => self.same_type(Function::Least, name, arguments, 2, whole),
            "nullif" => self.null_if(arguments, whole),
            "if" | "iff" => {
                arity(name, arguments, 3..=3, whole)?;
                let condition = self.condition(arguments[0], "the condition of IF")?;
                let values =
                    vec![(self.operand(arguments[1])?, arguments[1]), (self.operand(arguments[2])?, arguments[2])];
                let Some((values, data_type)) = unified(values, "the branches of IF")? else {
                    return Ok(Operand::Null);
                };
                let mut values = values.into_iter();
                let mut next = || values.next().unwrap_or(Expression::null(data_type));
                let branches = vec![(condition, next())];
                Ok(Operand::Typed(Expression::Case { branches, otherwise: Box::new(next()) }))
            }
            "abs" => {
                arity(name, arguments, 1..=1, whole)?;
                match self.operand(arguments[0])? {
                    Operand::Null => Ok(Operand::Null),
                    operand => {
                        let value = operand.expression(T::Integer, whole.span())?;
                        if !value.data_type().is_numeric() {
                            return Err(mismatch(name, arguments[0], value.data_type(), "a number"));
                        }
                        typed(Function::Abs, vec![value])
                    }
                }
            }
            "upper" | "ucase" => typed(Function::Upper, self.texts(name, arguments, 1..=1, whole)?),
            "lower" | "lcase" => typed(Function::Lower, self.texts(name, arguments, 1..=1, whole)?),
            "trim" => typed(Function::Trim, self.texts(name, arguments, 1..=1, whole)?),
            "length" | "len" | "char_length" | "character_length" => {
                typed(Function::Length, self.texts(name, arguments, 1..=1, whole)?)
            }
            "concat" => typed(Function::Concat, self.texts(name, arguments, 1..=usize::MAX, whole)?),
            "substring" | "substr" => {
                arity(name, arguments, 2..=3, whole)?;
                let mut values = self.texts(name, &arguments[..1], 1..=1, whole)?;
                for argument in &arguments[1..] {
                    values.push(self.whole_number(name, argument)?);
                }
                typed(Function::Substring, values)
            }
            "date_add" | "dateadd" | "date_sub" | "add_months" => {
                arity(name, arguments, 2..=2, whole)?;
                let date = self.date(name, arguments[0])?;
                let count = self.whole_number(name, arguments[1])?;
                match name {
                    "add_months" => typed(Function::AddMonths, vec![date, count]),
                    "date_sub" => typed(Function::DateAdd, vec![date, negated(count)]),
                    _ => typed(Function::DateAdd, vec![date, count]),
                }
            }
            "year" | "month" | "day" | "dayofmonth" => {
                arity(name, arguments, 1..=1, whole)?;
                let function = match name {
                    "year" => Function::Year,
                    "month" => Function::Month,
                    _ => Function::Day,
                };
                typed(function, vec![self.date(name, arguments[0])?])
            }
            _ => {
                let hint = nearest(name, NAMES.iter().copied())
                    .map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                Err(SqlError::at(format!("unknown function `{name}`{hint}"), whole.span()))
            }
        }
    }

    /// A function whose arguments all have one type, which is also its own.
    fn same_type(
        &mut self,
        function: Function,
        name: &str,
        arguments: &[&Expr],
        least: usize,
        whole: &Expr,
    ) -> Result<Operand, SqlError> {
        arity(name, arguments, least..=usize::MAX, whole)?;
        let values =
            arguments.iter().map(|&value| Ok((self.operand(value)?, value))).collect::<Result<_, SqlError>>()?;
        let unified = unified(values, &format!("the arguments of {name}"))?;
        Ok(unified.map_or(Operand::Null, |(arguments, _)| Operand::Typed(Expression::Function { function, arguments })))
    }

    /// NULLIF has the type of its first argument, whatever type both are compared in.
    fn null_if(&mut self, arguments: &[&Expr], whole: &Expr) -> Result<Operand, SqlError> {
        arity("nullif", arguments, 2..=2, whole)?;
        let value = match self.operand(arguments[0])? {
            Operand::Null => return Ok(Operand::Null),
            operand => operand.expression(PrimitiveType::String, arguments[0].span())?,
        };
        let data_type = value.data_type();
        match self.compared(BinaryOperator::Equal, arguments[0], arguments[1])? {
            Operand::Typed(Expression::Binary { left, right, .. }) if left.data_type() == data_type => {
                let arguments = vec![*left, *right];
                Ok(Operand::Typed(Expression::Function { function: Function::NullIf, arguments }))
            }
            equal => {
                let equal = equal.expression(PrimitiveType::Boolean, whole.span())?;
                let branches = vec![(equal, Expression::null(data_type))];
                Ok(Operand::Typed(Expression::Case { branches, otherwise: Box::new(value) }))
            }
        }
    }

    fn texts(
        &mut self,
        name: &str,
        arguments: &[&Expr],
        count: std::ops::RangeInclusive<usize>,
        whole: &Expr,
    ) -> Result<Vec<Expression>, SqlError> {
        arity(name, arguments, count, whole)?;
        arguments.iter().map(|argument| self.text(argument)).collect()
    }

    fn whole_number(&mut self, name: &str, argument: &Expr) -> Result<Expression, SqlError> {
        let value = self.operand(argument)?.expression(PrimitiveType::Integer, argument.span())?;
        if !value.data_type().is_integral() {
            return Err(mismatch(name, argument, value.data_type(), "an integer"));
        }
        Ok(convert(value, PrimitiveType::Integer))
    }

    fn date(&mut self, name: &str, argument: &Expr) -> Result<Expression, SqlError> {
        use PrimitiveType as T;
        let value = self.operand(argument)?.expression(T::Date, argument.span())?;
        match value.data_type() {
            T::Date | T::Timestamp | T::TimestampNtz | T::String => convert_text(value, T::Date, argument.span()),
            other => Err(mismatch(name, argument, other, "a date")),
        }
    }

    /// An aggregate becomes a column of the row of results.
    fn aggregate(&mut self, name: &str, arguments: &[&FunctionArg], whole: &Expr) -> Result<Operand, SqlError> {
        if self.inside_aggregate {
            return Err(SqlError::at(format!("the aggregate {name} stands inside another aggregate"), whole.span()));
        }
        if let Err(place) = &self.aggregates {
            return Err(SqlError::at(format!("the aggregate {name} cannot stand {place}"), whole.span()));
        }
        let aggregate = match arguments {
            [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)] if name == "count" => Aggregate::CountRows,
            [FunctionArg::Unnamed(FunctionArgExpr::Expr(argument))] => {
                self.inside_aggregate = true;
                let operand = self.operand(argument);
                self.inside_aggregate = false;
                let otherwise = if name == "sum" { PrimitiveType::Long } else { PrimitiveType::String };
                let value = operand?.expression(otherwise, argument.span())?;
                match name {
                    "count" => Aggregate::Count(value),
                    "min" => Aggregate::Min(value),
                    "max" => Aggregate::Max(value),
                    _ if value.data_type().is_numeric() => Aggregate::Sum(value),
                    _ => return Err(mismatch(name, argument, value.data_type(), "a number")),
                }
            }
            _ => {
                let message = format!("{name} takes one argument, not {}", arguments.len());
                return Err(SqlError::at(message, whole.span()));
            }
        };
        let data_type = aggregate.data_type();
        let Ok(aggregates) = &mut self.aggregates else { return Err(unsupported("an aggregate here", whole)) };
        let index = aggregates.iter().position(|other| *other == aggregate).unwrap_or_else(|| {
            aggregates.push(aggregate);
            aggregates.len() - 1
        });
        Ok(Operand::Typed(Expression::Column { index, name: whole.to_string(), data_type }))
    }
}

fn arity(
    name: &str,
    arguments: &[&Expr],
    count: std::ops::RangeInclusive<usize>,
    whole: &Expr,
) -> Result<(), SqlError> {
    if count.contains(&arguments.len()) {
        return Ok(());
    }
    let wanted = match (*count.start(), *count.end()) {
        (0, 0) => "no argument".to_owned(),
        (1, 1) => "one argument".to_owned(),
        (1, usize::MAX) => "at least one argument".to_owned(),
        (least, usize::MAX) => format!("at least {least} arguments"),
        (least, most) if least == most => format!("{least} arguments"),
        (least, most) => format!("{least} or {most} arguments"),
    };
    Err(SqlError::at(format!("{name} takes {wanted}, not {}", arguments.len()), whole.span()))
}

fn mismatch(name: &str, argument: &Expr, found: PrimitiveType, wanted: &str) -> SqlError {
    SqlError::at(format!("{name} needs {wanted}, but `{}` is {found}; use CAST", shown(argument)), argument.span())
}
