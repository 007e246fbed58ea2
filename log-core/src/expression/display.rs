//! Expressions as SQL text.

use std::fmt;

use super::{BinaryOperator, Expression, Function};
use crate::{schema::PrimitiveType, value::Value};

/// SQL that reads back as the same tree, but for names of casts between types of one name.
impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column { name, .. } => write_name(f, name),
            Self::Literal { value, data_type } => write_literal(f, value, *data_type),
            Self::Not(value) => match &**value {
                Self::IsNull(inner) => write!(f, "({inner} IS NOT NULL)"),
                other => write!(f, "(NOT {other})"),
            },
            Self::Negate(value) => write!(f, "(- {value})"),
            Self::IsNull(value) => write!(f, "({value} IS NULL)"),
            Self::Binary { operator, left, right } => write!(f, "({left} {operator} {right})"),
            Self::In { value, list } => {
                write!(f, "({value} IN (")?;
                write_list(f, list)?;
                f.write_str("))")
            }
            Self::Like { value, pattern, escape, ignore_case } => {
                let word = if *ignore_case { "ILIKE" } else { "LIKE" };
                write!(f, "({value} {word} {pattern}")?;
                if *escape != '\\' {
                    write!(f, " ESCAPE '{escape}'")?;
                }
                f.write_str(")")
            }
            Self::Case { branches, otherwise } => {
                f.write_str("CASE")?;
                for (condition, value) in branches {
                    write!(f, " WHEN {condition} THEN {value}")?;
                }
                write!(f, " ELSE {otherwise} END")
            }
            Self::Cast { value, to, lenient } => {
                let word = if *lenient { "TRY_CAST" } else { "CAST" };
                write!(f, "{word}({value} AS {})", sql_type(*to))
            }
            Self::Function { function, arguments } => {
                write!(f, "{}(", function.name())?;
                write_list(f, arguments)?;
                f.write_str(")")
            }
        }
    }
}

fn write_list(f: &mut fmt::Formatter<'_>, list: &[Expression]) -> fmt::Result {
    for (i, item) in list.iter().enumerate() {
        let comma = if i == 0 { "" } else { ", " };
        write!(f, "{comma}{item}")?;
    }
    Ok(())
}

fn write_name(f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && name.chars().next().is_some_and(|c| !c.is_ascii_digit());
    if plain { f.write_str(name) } else { write!(f, "`{}`", name.replace('`', "``")) }
}

fn write_literal(f: &mut fmt::Formatter<'_>, value: &Value, data_type: PrimitiveType) -> fmt::Result {
    match value {
        Value::Null => write!(f, "CAST(NULL AS {})", sql_type(data_type)),
        Value::String(text) => write!(f, "'{}'", text.replace('\\', "\\\\").replace('\'', "\\'")),
        Value::Date(_) => write!(f, "DATE '{value}'"),
        Value::Timestamp(_) => write!(f, "TIMESTAMP '{value}'"),
        Value::TimestampNtz(_) => write!(f, "TIMESTAMP_NTZ '{value}'"),
        Value::Boolean(_) | Value::Integer(_) | Value::Decimal { .. } => write!(f, "{value}"),
        Value::Long(_) => write!(f, "{value}L"),
        Value::Binary(bytes) => {
            f.write_str("X'")?;
            bytes.iter().try_for_each(|byte| write!(f, "{byte:02X}"))?;
            f.write_str("'")
        }
        Value::Byte(_) | Value::Short(_) | Value::Float(_) | Value::Double(_) => {
            write!(f, "CAST('{value}' AS {})", sql_type(data_type))
        }
        Value::Struct(_) | Value::Array(_) | Value::Map(_) | Value::Variant(_) => {
            unreachable!("a literal is of a primitive type, this one is {value:?}")
        }
    }
}

/// The name of a type in SQL.
pub fn sql_type(data_type: PrimitiveType) -> String {
    match data_type {
        PrimitiveType::Byte => "TINYINT".to_owned(),
        PrimitiveType::Short => "SMALLINT".to_owned(),
        PrimitiveType::Integer => "INT".to_owned(),
        PrimitiveType::Long => "BIGINT".to_owned(),
        other => other.to_string().to_uppercase(),
    }
}

impl fmt::Display for BinaryOperator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::And => "AND",
            Self::Or => "OR",
            Self::Equal => "=",
            Self::NotEqual => "<>",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::NullSafeEqual => "<=>",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::IntegerDivide => "DIV",
            Self::Remainder => "%",
        })
    }
}

impl Function {
    /// The name in SQL.
    pub fn name(self) -> &'static str {
        match self {
            Self::Coalesce => "coalesce",
            Self::NullIf => "nullif",
            Self::Greatest => "greatest",
            Self::Least => "least",
            Self::Abs => "abs",
            Self::Upper => "upper",
            Self::Lower => "lower",
            Self::Length => "length",
            Self::Trim => "trim",
            Self::Concat => "concat",
            Self::Substring => "substring",
            Self::DateAdd => "date_add",
            Self::AddMonths => "add_months",
            Self::Year => "year",
            Self::Month => "month",
            Self::Day => "day",
            Self::AddMicroseconds => "add_microseconds",
        }
    }
}
