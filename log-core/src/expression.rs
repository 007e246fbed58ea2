//! The one home of [`Expression`]: a typed tree over the columns of a row, and its three-valued evaluator on single values.
//!
//! Partition predicates, constraints and the oracle evaluate here. The executor of statements walks the same tree with Arrow kernels; a property
//! test holds the two equal.
//!
//! A tree is **typed when it is built**: both sides of a comparison or of an arithmetic operation have one type, the operands of AND, OR and NOT
//! are boolean, every branch of a CASE has the type of the whole. Whoever builds one puts a [`Cast`](Expression::Cast) where types differ.
//! Names are resolved too: a column is a position in the row.

mod display;
mod evaluate;

pub use display::sql_type;
pub use evaluate::{EvaluateError, cast};

use crate::{schema::PrimitiveType, value::Value};

/// A typed expression.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Expression {
    /// A column of the row.
    Column {
        /// The position in the table's schema.
        index: usize,
        /// The name as the schema spells it.
        name: String,
        /// Its type.
        data_type: PrimitiveType,
    },
    /// A constant. NULL has a type as well.
    Literal {
        /// The value, of type `data_type` or NULL.
        value: Value,
        /// Its type.
        data_type: PrimitiveType,
    },
    /// `NOT x`: NULL when `x` is.
    Not(Box<Expression>),
    /// `-x`; an error when the result does not fit.
    Negate(Box<Expression>),
    /// `x IS NULL`, never NULL. `IS NOT NULL` is its `Not`.
    IsNull(Box<Expression>),
    /// Two operands.
    Binary {
        /// The operation.
        operator: BinaryOperator,
        /// The left operand.
        left: Box<Expression>,
        /// The right operand, of the same type (for `/` on decimals, see [`BinaryOperator`]).
        right: Box<Expression>,
    },
    /// `x IN (a, b, ...)`; all of one type. True when some item equals, else NULL when `x` or some item is NULL, else false.
    In {
        /// What is looked for.
        value: Box<Expression>,
        /// Where.
        list: Vec<Expression>,
    },
    /// `x LIKE pattern`: `%` any text, `_` one character, `escape` takes the next character literally. All three are strings.
    Like {
        /// The text.
        value: Box<Expression>,
        /// The pattern, any string expression.
        pattern: Box<Expression>,
        /// The escape character; Spark's default is a backslash.
        escape: char,
        /// ILIKE.
        ignore_case: bool,
    },
    /// `CASE WHEN c THEN v ... ELSE e END`. A branch that is not taken is not evaluated, so its errors do not count.
    Case {
        /// Condition and value; the first condition that is true decides.
        branches: Vec<(Expression, Expression)>,
        /// The value when no condition is true (a NULL literal when there is no ELSE).
        otherwise: Box<Expression>,
    },
    /// `CAST(x AS type)`, an error where the value cannot be represented; `TRY_CAST` gives NULL instead.
    Cast {
        /// The operand.
        value: Box<Expression>,
        /// The type to reach.
        to: PrimitiveType,
        /// NULL instead of an error.
        lenient: bool,
    },
    /// A function of the standard set.
    Function {
        /// Which.
        function: Function,
        /// The arguments, already of the types that the function wants.
        arguments: Vec<Expression>,
    },
}

/// Operations of two operands. All but AND, OR and `<=>` give NULL when an operand is NULL.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum BinaryOperator {
    /// Three-valued AND. The right side is not evaluated when the left is false.
    And,
    /// Three-valued OR. The right side is not evaluated when the left is true.
    Or,
    /// `=`
    Equal,
    /// `<>`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `<=>`: equality in which NULL equals NULL; never NULL.
    NullSafeEqual,
    /// `+` on two numbers of one type; an overflow is an error.
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/` on two doubles or two decimals; division by zero is an error, as in Spark's ANSI mode. Integers are cast to double first.
    Divide,
    /// `DIV`: integral division of two longs, towards zero; by zero an error.
    IntegerDivide,
    /// `%`, with the sign of the left operand; by zero an error.
    Remainder,
}

/// Functions. The type of each result is that of [`Expression::data_type`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Function {
    /// The first argument that is not NULL; later ones are not evaluated. All of one type.
    Coalesce,
    /// NULL when both arguments are equal, else the first.
    NullIf,
    /// The greatest argument that is not NULL.
    Greatest,
    /// The least argument that is not NULL.
    Least,
    /// Absolute value of a number; an overflow is an error.
    Abs,
    /// Text in upper case.
    Upper,
    /// Text in lower case.
    Lower,
    /// Characters of a text, as integer.
    Length,
    /// Text without spaces at both ends.
    Trim,
    /// All arguments (strings) in a row; NULL when one is.
    Concat,
    /// `substring(text, start [, length])`, counted in characters from 1; negative `start` counts from the end; arguments: string, integer, integer.
    Substring,
    /// `date_add(date, days)`: a date; arguments: date, integer.
    DateAdd,
    /// `add_months(date, months)`: a date; the last day of the month where the day does not exist.
    AddMonths,
    /// The year of a date, as integer.
    Year,
    /// The month of a date, 1 to 12, as integer.
    Month,
    /// The day of the month of a date, as integer.
    Day,
    /// `timestamp + microseconds`: arguments timestamp (or timestamp without zone) and long. `INTERVAL` arithmetic becomes this.
    AddMicroseconds,
}

/// Decimal precision is bounded; a type that would need more loses digits after the point (but keeps six), as in Spark.
pub fn decimal_type(precision: u32, scale: u32) -> PrimitiveType {
    if precision <= 38 {
        return PrimitiveType::Decimal { precision: precision as u8, scale: scale as u8 };
    }
    let integral = precision - scale;
    let scale = scale.min(38u32.saturating_sub(integral).max(scale.min(6)));
    PrimitiveType::Decimal { precision: 38, scale: scale as u8 }
}

impl Expression {
    /// The constant TRUE.
    pub fn truth() -> Self {
        Self::literal(Value::Boolean(true))
    }

    /// A constant that is not NULL.
    ///
    /// # Panics
    /// When the value is NULL: that has no type of its own.
    pub fn literal(value: Value) -> Self {
        let data_type = value.primitive_type().expect("a literal that is not NULL");
        Self::Literal { value, data_type }
    }

    /// NULL of a type.
    pub fn null(data_type: PrimitiveType) -> Self {
        Self::Literal { value: Value::Null, data_type }
    }

    /// `left operator right`.
    pub fn binary(operator: BinaryOperator, left: Self, right: Self) -> Self {
        Self::Binary { operator, left: Box::new(left), right: Box::new(right) }
    }

    /// `left AND right`.
    pub fn and(self, right: Self) -> Self {
        Self::binary(BinaryOperator::And, self, right)
    }

    /// `a operator b operator c`, for an operator for which brackets make no difference, in a tree that is not deeper than it must be. `None` of nothing.
    pub fn joined(operator: BinaryOperator, mut parts: Vec<Self>) -> Option<Self> {
        if parts.len() < 2 {
            return parts.pop();
        }
        let right = parts.split_off(parts.len().div_ceil(2));
        let (left, right) = (Self::joined(operator, parts)?, Self::joined(operator, right)?);
        Some(Self::binary(operator, left, right))
    }

    /// This expression brought to a type; itself when it has that type.
    pub fn cast_to(self, to: PrimitiveType) -> Self {
        if self.data_type() == to {
            return self;
        }
        if let Self::Literal { value: Value::Null, .. } = self {
            return Self::null(to);
        }
        Self::Cast { value: Box::new(self), to, lenient: false }
    }

    /// The type of the result.
    pub fn data_type(&self) -> PrimitiveType {
        use PrimitiveType as T;
        match self {
            Self::Column { data_type, .. } | Self::Literal { data_type, .. } => *data_type,
            Self::Not(_) | Self::IsNull(_) | Self::In { .. } | Self::Like { .. } => T::Boolean,
            Self::Negate(value) => value.data_type(),
            Self::Binary { operator, left, right } => operator.result_type(left.data_type(), right.data_type()),
            Self::Case { otherwise, .. } => otherwise.data_type(),
            Self::Cast { to, .. } => *to,
            Self::Function { function, arguments } => match function {
                Function::Coalesce
                | Function::NullIf
                | Function::Greatest
                | Function::Least
                | Function::Abs
                | Function::AddMicroseconds => arguments[0].data_type(),
                Function::Upper | Function::Lower | Function::Trim | Function::Concat | Function::Substring => {
                    T::String
                }
                Function::Length | Function::Year | Function::Month | Function::Day => T::Integer,
                Function::DateAdd | Function::AddMonths => T::Date,
            },
        }
    }

    /// Calls `visit` for this node and every node below it, parents first.
    pub fn visit<'a>(&'a self, visit: &mut impl FnMut(&'a Expression)) {
        visit(self);
        match self {
            Self::Column { .. } | Self::Literal { .. } => {}
            Self::Not(value) | Self::Negate(value) | Self::IsNull(value) | Self::Cast { value, .. } => {
                value.visit(visit)
            }
            Self::Binary { left, right, .. } => {
                left.visit(visit);
                right.visit(visit);
            }
            Self::In { value, list } => {
                value.visit(visit);
                list.iter().for_each(|item| item.visit(visit));
            }
            Self::Like { value, pattern, .. } => {
                value.visit(visit);
                pattern.visit(visit);
            }
            Self::Case { branches, otherwise } => {
                for (condition, value) in branches {
                    condition.visit(visit);
                    value.visit(visit);
                }
                otherwise.visit(visit);
            }
            Self::Function { arguments, .. } => arguments.iter().for_each(|a| a.visit(visit)),
        }
    }

    /// The operands of the outermost ANDs, left to right; the expression itself when it is no AND.
    pub fn conjuncts(&self) -> Vec<&Expression> {
        match self {
            Self::Binary { operator: BinaryOperator::And, left, right } => {
                let mut parts = left.conjuncts();
                parts.extend(right.conjuncts());
                parts
            }
            other => vec![other],
        }
    }
}

impl BinaryOperator {
    /// Is the result a boolean?
    pub fn is_predicate(self) -> bool {
        use BinaryOperator as B;
        !matches!(self, B::Add | B::Subtract | B::Multiply | B::Divide | B::IntegerDivide | B::Remainder)
    }

    /// The type of the result for operands of the given types.
    ///
    /// Arithmetic keeps the (one) type of its operands, except on decimals, whose operands may differ in precision and scale and whose result
    /// follows Spark's rules (`DecimalPrecision`).
    pub fn result_type(self, left: PrimitiveType, right: PrimitiveType) -> PrimitiveType {
        use PrimitiveType::Decimal;
        if self.is_predicate() {
            return PrimitiveType::Boolean;
        }
        let (Decimal { precision: p1, scale: s1 }, Decimal { precision: p2, scale: s2 }) = (left, right) else {
            return left;
        };
        let (p1, s1, p2, s2) = (u32::from(p1), u32::from(s1), u32::from(p2), u32::from(s2));
        match self {
            Self::Add | Self::Subtract => {
                let scale = s1.max(s2);
                decimal_type((p1 - s1).max(p2 - s2) + scale + 1, scale)
            }
            Self::Multiply => decimal_type(p1 + p2 + 1, s1 + s2),
            Self::Divide => {
                let scale = 6.max(s1 + p2 + 1);
                decimal_type(p1 - s1 + s2 + scale, scale)
            }
            Self::Remainder => decimal_type((p1 - s1).min(p2 - s2) + s1.max(s2), s1.max(s2)),
            Self::IntegerDivide => PrimitiveType::Long,
            _ => unreachable!("predicates were handled above"),
        }
    }
}
