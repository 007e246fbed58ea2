//! A statement with its names resolved and its expressions typed against the schema of one table.

use log_core::{expression::Expression, schema::PrimitiveType};

use super::statement::SetOperator;

/// A bound INSERT, UPDATE, DELETE or query.
///
/// Columns in its expressions are positions in the schema it was bound to. What the statement takes from outside (the clock) is a constant in
/// it, so running it again gives the same effect on the same rows.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Bound {
    /// Rows to append.
    Insert(BoundInsert),
    /// Rows to change.
    Update(BoundUpdate),
    /// Rows to drop.
    Delete(BoundDelete),
    /// Rows to show.
    Select(BoundQuery),
}

/// Where the rows of an INSERT come from. Every row has the table's columns in order, each of the column's type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum BoundInsert {
    /// Constant expressions, a row each.
    Values(Vec<Vec<Expression>>),
    /// The answer of a query, whose output columns `columns` turn into the table's.
    Query {
        /// The query.
        query: BoundQuery,
        /// One expression per table column, over the query's output columns (positions in the output).
        columns: Vec<Expression>,
    },
}

/// A bound UPDATE.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct BoundUpdate {
    /// Per column of the schema its new value, or `None` where it stays. All see the old row.
    pub assignments: Vec<Option<Expression>>,
    /// The rows that are meant; all when absent. NULL is no match.
    pub predicate: Option<Expression>,
}

/// A bound DELETE.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct BoundDelete {
    /// The rows that are meant; all when absent. NULL is no match.
    pub predicate: Option<Expression>,
}

/// A bound query.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct BoundQuery {
    /// Names and types of the output columns.
    pub output: Vec<(String, PrimitiveType)>,
    /// What it is made of.
    pub body: BoundBody,
    /// Keys over the output columns, followed by `hidden` ones (positions `output.len()..`).
    pub order_by: Vec<BoundOrderBy>,
    /// At most so many rows.
    pub limit: Option<u64>,
}

/// One key of an ORDER BY.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct BoundOrderBy {
    /// An expression over the row that `BoundSelect::items` (and then `BoundSelect::hidden`) make.
    pub expression: Expression,
    /// `DESC`.
    pub descending: bool,
    /// NULLs come first.
    pub nulls_first: bool,
}

/// What a bound query is made of.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum BoundBody {
    /// One SELECT.
    Select(Box<BoundSelect>),
    /// Two bodies of the same output types.
    SetOperation {
        /// How.
        operator: SetOperator,
        /// Duplicates are kept (for EXCEPT and INTERSECT: counted, multiset semantics).
        all: bool,
        /// The left side.
        left: Box<BoundBody>,
        /// The right side.
        right: Box<BoundBody>,
    },
}

/// A bound SELECT.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct BoundSelect {
    /// Does it read the table (else one row without columns), and at which version (else the snapshot's)?
    pub from: BoundFrom,
    /// The rows that are meant, over the table's columns.
    pub predicate: Option<Expression>,
    /// When it aggregates: what is computed over the rows that are meant. Then `items` and `hidden` are expressions over the one row of their
    /// results.
    pub aggregates: Option<Vec<Aggregate>>,
    /// One expression per output column.
    pub items: Vec<Expression>,
    /// Further expressions that only ORDER BY needs.
    pub hidden: Vec<Expression>,
    /// Duplicates are dropped.
    pub distinct: bool,
}

/// What a SELECT reads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BoundFrom {
    /// Nothing: one row without columns.
    Nothing,
    /// The snapshot of the transaction.
    Snapshot,
    /// Another version of the table; such a read is not registered with the transaction.
    Version(u64),
}

/// An aggregate over all rows that are meant. NULLs are left out; over no row, `Count` gives 0 and the others NULL.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Aggregate {
    /// `count(*)`.
    CountRows,
    /// `count(x)`: a long.
    Count(Expression),
    /// `sum(x)`: a long over integers, a double over floating-point numbers, a decimal with ten more digits over decimals. Overflow is an error.
    Sum(Expression),
    /// `min(x)`.
    Min(Expression),
    /// `max(x)`.
    Max(Expression),
}

impl Aggregate {
    /// The type of the result.
    pub fn data_type(&self) -> PrimitiveType {
        match self {
            Self::CountRows | Self::Count(_) => PrimitiveType::Long,
            Self::Sum(value) => match value.data_type() {
                PrimitiveType::Float | PrimitiveType::Double => PrimitiveType::Double,
                PrimitiveType::Decimal { precision, scale } => {
                    PrimitiveType::Decimal { precision: (precision + 10).min(38), scale }
                }
                _ => PrimitiveType::Long,
            },
            Self::Min(value) | Self::Max(value) => value.data_type(),
        }
    }
}
