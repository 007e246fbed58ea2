//! A statement as it was parsed: names are not resolved yet.

use sqlparser::ast::Expr;

/// One SQL statement.
///
/// Equality and hash ignore where in the text it stood, so a statement can be the key of a memo.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Statement {
    /// `CREATE TABLE`.
    CreateTable(CreateTable),
    /// `INSERT INTO`.
    Insert(Insert),
    /// `UPDATE`.
    Update(Update),
    /// `DELETE FROM`.
    Delete(Delete),
    /// `SELECT`, with what may surround it.
    Select(Query),
}

/// `CREATE TABLE [IF NOT EXISTS] name (columns) [USING DELTA] [PARTITIONED BY (names)] [TBLPROPERTIES (...)] [COMMENT '...']`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct CreateTable {
    /// The name of the table.
    pub table: String,
    /// Nothing happens when the table is there.
    pub if_not_exists: bool,
    /// The columns, partition columns among them.
    pub columns: Vec<ColumnDefinition>,
    /// Names of partition columns, each one of `columns`.
    pub partitioned_by: Vec<String>,
    /// Table properties, in the order given.
    pub properties: Vec<(String, String)>,
    /// The table's description.
    pub comment: Option<String>,
}

/// A column of `CREATE TABLE`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ColumnDefinition {
    /// The name.
    pub name: String,
    /// The type.
    pub data_type: log_core::schema::PrimitiveType,
    /// `NOT NULL` was not said.
    pub nullable: bool,
    /// The column's description.
    pub comment: Option<String>,
}

/// `INSERT INTO table [(columns)] VALUES ... | SELECT ...`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Insert {
    /// The name of the table.
    pub table: String,
    /// The columns that the source gives, in its order; empty = all, in the table's order.
    pub columns: Vec<String>,
    /// Where the rows come from.
    pub source: InsertSource,
}

/// The rows of an INSERT.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum InsertSource {
    /// Constant expressions, a row each. `DEFAULT` is `None`.
    Values(Vec<Vec<Option<Expr>>>),
    /// The answer of a query.
    Query(Query),
}

/// `UPDATE table [alias] SET column = expression, ... [WHERE predicate]`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Update {
    /// The name of the table.
    pub table: String,
    /// Another name for it inside the statement.
    pub alias: Option<String>,
    /// Column and new value.
    pub assignments: Vec<(String, Expr)>,
    /// The rows that are meant; all when absent.
    pub predicate: Option<Expr>,
}

/// `DELETE FROM table [alias] [WHERE predicate]`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Delete {
    /// The name of the table.
    pub table: String,
    /// Another name for it inside the statement.
    pub alias: Option<String>,
    /// The rows that are meant; all when absent.
    pub predicate: Option<Expr>,
}

/// A query over one table.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Query {
    /// One SELECT, or several put together.
    pub body: QueryBody,
    /// Expressions over the output columns (or, for a single SELECT, over the table's), with `descending` and `nulls_first`.
    pub order_by: Vec<OrderBy>,
    /// At most so many rows.
    pub limit: Option<u64>,
}

/// One key of an ORDER BY.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct OrderBy {
    /// What is compared.
    pub expression: Expr,
    /// `DESC`.
    pub descending: bool,
    /// NULLs come first: the default when ascending, not when descending (Spark).
    pub nulls_first: bool,
}

/// What a query is made of.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum QueryBody {
    /// One SELECT.
    Select(Box<Select>),
    /// Two queries put together.
    SetOperation {
        /// How.
        operator: SetOperator,
        /// Duplicates are kept.
        all: bool,
        /// The left side.
        left: Box<QueryBody>,
        /// The right side.
        right: Box<QueryBody>,
    },
}

/// How two queries are put together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SetOperator {
    /// Rows of either.
    Union,
    /// Rows of the left that the right does not have.
    Except,
    /// Rows of both.
    Intersect,
}

/// `SELECT [DISTINCT] items [FROM table [VERSION AS OF n] [alias]] [WHERE predicate]`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Select {
    /// Duplicates are dropped.
    pub distinct: bool,
    /// What is given back.
    pub items: Vec<SelectItem>,
    /// The table that is read; none for `SELECT 1`.
    pub from: Option<TableReference>,
    /// The rows that are meant.
    pub predicate: Option<Expr>,
}

/// One item of a SELECT list.
#[allow(clippy::large_enum_variant)] // `*` is rare, and a list is short.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum SelectItem {
    /// `*`, all columns.
    All,
    /// An expression, perhaps named.
    Expression {
        /// The expression; aggregates may stand in it.
        expression: Expr,
        /// `AS name`.
        alias: Option<String>,
    },
}

/// A table in a FROM clause.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TableReference {
    /// The name of the table.
    pub table: String,
    /// `VERSION AS OF n`, or `table@vN`.
    pub version: Option<u64>,
    /// Another name for it inside the statement.
    pub alias: Option<String>,
}

impl Query {
    /// Every table that the query reads, in the order of the text.
    pub fn tables(&self) -> Vec<&TableReference> {
        fn walk<'a>(body: &'a QueryBody, tables: &mut Vec<&'a TableReference>) {
            match body {
                QueryBody::Select(select) => tables.extend(&select.from),
                QueryBody::SetOperation { left, right, .. } => {
                    walk(left, tables);
                    walk(right, tables);
                }
            }
        }
        let mut tables = Vec::new();
        walk(&self.body, &mut tables);
        tables
    }
}

impl Statement {
    /// The table that the statement writes, or that a query reads first; `None` for `SELECT 1`.
    pub fn table(&self) -> Option<&str> {
        match self {
            Self::CreateTable(create) => Some(&create.table),
            Self::Insert(insert) => Some(&insert.table),
            Self::Update(update) => Some(&update.table),
            Self::Delete(delete) => Some(&delete.table),
            Self::Select(query) => query.tables().first().map(|reference| reference.table.as_str()),
        }
    }

    /// Every table that the statement reads from, in the order of the text; not the one that it writes, unless a query reads it too.
    pub fn tables_read(&self) -> Vec<&str> {
        let query = match self {
            Self::Select(query) | Self::Insert(Insert { source: InsertSource::Query(query), .. }) => query,
            _ => return Vec::new(),
        };
        query.tables().into_iter().map(|reference| reference.table.as_str()).collect()
    }

    /// Can it change a table?
    pub fn writes(&self) -> bool {
        !matches!(self, Self::Select(_))
    }

    /// The word that names the operation in the log (`commitInfo.operation`).
    pub fn operation(&self) -> &'static str {
        match self {
            Self::CreateTable(_) => "CREATE TABLE",
            Self::Insert(_) => "WRITE",
            Self::Update(_) => "UPDATE",
            Self::Delete(_) => "DELETE",
            Self::Select(_) => "SELECT",
        }
    }
}
