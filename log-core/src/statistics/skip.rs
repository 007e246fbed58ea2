//! Data skipping: which files certainly hold no matching row.

use std::mem::discriminant;

use super::Statistics;
use crate::{
    expression::{BinaryOperator, Expression},
    schema::{PrimitiveType, Schema},
    value::Value,
};

/// Timestamps in statistics are cut to milliseconds: a bound without microseconds stands for all of its millisecond.
const LOST_MICROS: i64 = 999;

impl Statistics {
    /// May some row of the file make a predicate true? `false` only if it is certain that none does.
    ///
    /// `partition` gives the value of a column that the file's partition fixes (NULL included), and `None` for all other columns. A part of
    /// the predicate that needs no other columns is evaluated; a part that compares one column with constants is judged by the bounds;
    /// everything else may match. A skipped file also skips the errors that the predicate would have had on its rows.
    pub fn may_match(
        &self,
        predicate: &Expression,
        schema: &Schema,
        partition: &dyn Fn(usize) -> Option<Value>,
    ) -> bool {
        match predicate {
            Expression::Binary { operator: BinaryOperator::And, left, right } => {
                self.may_match(left, schema, partition) && self.may_match(right, schema, partition)
            }
            Expression::Binary { operator: BinaryOperator::Or, left, right } => {
                self.may_match(left, schema, partition) || self.may_match(right, schema, partition)
            }
            _ => match partition_row(predicate, partition) {
                Some(row) => predicate.matches(&row).unwrap_or(true),
                None => self.may_match_bounds(predicate, schema),
            },
        }
    }

    fn may_match_bounds(&self, predicate: &Expression, schema: &Schema) -> bool {
        match predicate {
            Expression::IsNull(value) => self.column(value, schema).is_none_or(|column| column.may_be_null()),
            Expression::Not(inner) => match &**inner {
                Expression::IsNull(value) => self.column(value, schema).is_none_or(|column| column.may_be_present()),
                _ => true,
            },
            Expression::Binary { operator, left, right } => match (&**left, &**right) {
                (column, Expression::Literal { value, .. }) => {
                    self.column(column, schema).is_none_or(|column| column.may_compare(*operator, value))
                }
                (Expression::Literal { value, .. }, column) => {
                    self.column(column, schema).is_none_or(|column| column.may_compare(mirrored(*operator), value))
                }
                _ => true,
            },
            Expression::In { value, list } => self.column(value, schema).is_none_or(|column| {
                list.iter().any(|item| match item {
                    Expression::Literal { value, .. } => column.may_compare(BinaryOperator::Equal, value),
                    _ => true,
                })
            }),
            _ => true,
        }
    }

    /// What is known of an expression, when that is a plain column.
    fn column(&self, expression: &Expression, schema: &Schema) -> Option<Column<'_>> {
        let Expression::Column { index, data_type, .. } = expression else { return None };
        let field = schema.fields.get(*index)?;
        let nulls = self.null_count.get(&field.name).copied();
        Some(Column {
            min: self.min.get(&field.name),
            max: self.max.get(&field.name),
            floating: matches!(data_type, PrimitiveType::Float | PrimitiveType::Double),
            no_nulls: nulls == Some(0),
            only_nulls: nulls.is_some() && nulls == self.num_records,
        })
    }
}

/// A row for a predicate whose columns all have a value from the partition; `None` when one has not.
fn partition_row(predicate: &Expression, partition: &dyn Fn(usize) -> Option<Value>) -> Option<Vec<Value>> {
    let mut row = Some(Vec::new());
    predicate.visit(&mut |node| {
        let Expression::Column { index, data_type, .. } = node else { return };
        let value =
            partition(*index).filter(|value| value.primitive_type().is_none_or(|of_value| of_value == *data_type));
        match (&mut row, value) {
            (Some(values), Some(value)) => {
                if values.len() <= *index {
                    values.resize(*index + 1, Value::Null);
                }
                values[*index] = value;
            }
            _ => row = None,
        }
    });
    row
}

struct Column<'a> {
    min: Option<&'a Value>,
    max: Option<&'a Value>,
    /// May hold NaN, which no bound counts.
    floating: bool,
    no_nulls: bool,
    only_nulls: bool,
}

impl Column<'_> {
    fn may_be_null(&self) -> bool {
        !self.no_nulls
    }

    fn may_be_present(&self) -> bool {
        !self.only_nulls
    }

    /// May `column operator literal` be true for some row?
    fn may_compare(&self, operator: BinaryOperator, literal: &Value) -> bool {
        use BinaryOperator as B;
        if literal.is_null() {
            return match operator {
                B::NullSafeEqual => self.may_be_null(),
                _ => !operator.is_predicate(),
            };
        }
        self.may_be_present()
            && match operator {
                B::Equal | B::NullSafeEqual => {
                    (is_nan(literal) || self.bound_reaches(literal)) && self.may_be_at_most(literal)
                }
                B::Less => self.may_be_below(literal),
                B::LessOrEqual => self.may_be_at_most(literal),
                B::Greater => self.may_exceed(literal),
                B::GreaterOrEqual => self.floating || self.bound_reaches(literal),
                _ => true,
            }
    }

    fn may_be_below(&self, literal: &Value) -> bool {
        comparable(self.min, literal).is_none_or(|min| min < literal)
    }

    fn may_be_at_most(&self, literal: &Value) -> bool {
        comparable(self.min, literal).is_none_or(|min| min <= literal)
    }

    /// May a value be greater than the literal? A NaN is greater than all but itself.
    fn may_exceed(&self, literal: &Value) -> bool {
        if self.floating {
            return !is_nan(literal);
        }
        comparable(self.max, literal).is_none_or(|max| whole_millisecond(max) > *literal)
    }

    /// May a value that is no NaN be the literal or greater?
    fn bound_reaches(&self, literal: &Value) -> bool {
        comparable(self.max, literal).is_none_or(|max| whole_millisecond(max) >= *literal)
    }
}

/// A bound that the literal can be compared with: one of its own type.
fn comparable<'a>(bound: Option<&'a Value>, literal: &Value) -> Option<&'a Value> {
    bound.filter(|bound| discriminant(*bound) == discriminant(literal))
}

/// An upper bound with what a writer may have cut off.
fn whole_millisecond(max: &Value) -> Value {
    let widened = |micros: i64| if micros % 1000 == 0 { micros.saturating_add(LOST_MICROS) } else { micros };
    match max {
        Value::Timestamp(micros) => Value::Timestamp(widened(*micros)),
        Value::TimestampNtz(micros) => Value::TimestampNtz(widened(*micros)),
        other => other.clone(),
    }
}

fn is_nan(value: &Value) -> bool {
    match value {
        Value::Float(x) => x.is_nan(),
        Value::Double(x) => x.is_nan(),
        _ => false,
    }
}

/// The operator with its sides exchanged.
fn mirrored(operator: BinaryOperator) -> BinaryOperator {
    use BinaryOperator as B;
    match operator {
        B::Less => B::Greater,
        B::LessOrEqual => B::GreaterOrEqual,
        B::Greater => B::Less,
        B::GreaterOrEqual => B::LessOrEqual,
        other => other,
    }
}
