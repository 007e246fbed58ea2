//! The grammar of statements.
//!
//! sqlparser reads expressions; everything around them is read here, so that no clause can be parsed and then forgotten.

mod condition;
mod create;
mod cursor;
mod data_type;
mod depth;
mod query;
mod write;

use sqlparser::{
    ast::Expr,
    tokenizer::{Location, Token, TokenWithSpan, Tokenizer},
};

use self::cursor::Cursor;
pub(crate) use self::{
    condition::{Condition, Kind, parse_condition},
    data_type::primitive_type,
    depth::TOO_DEEP,
};
use super::{dialect::DeltaDialect, error::SqlError, statement::Statement};

/// Words that end an expression or an alias: unquoted, they are no name.
pub(crate) const RESERVED: &[&str] = &[
    "AND",
    "ANTI",
    "AS",
    "ASC",
    "BETWEEN",
    "CLUSTER",
    "CROSS",
    "DESC",
    "DISTRIBUTE",
    "DIV",
    "ELSE",
    "END",
    "EXCEPT",
    "FETCH",
    "FOR",
    "FROM",
    "FULL",
    "GROUP",
    "HAVING",
    "ILIKE",
    "IN",
    "INNER",
    "INTERSECT",
    "INTO",
    "IS",
    "JOIN",
    "LATERAL",
    "LEFT",
    "LIKE",
    "LIMIT",
    "MINUS",
    "NATURAL",
    "NOT",
    "OFFSET",
    "ON",
    "OR",
    "ORDER",
    "OVER",
    "PIVOT",
    "QUALIFY",
    "REGEXP",
    "RETURNING",
    "RIGHT",
    "RLIKE",
    "SELECT",
    "SEMI",
    "SET",
    "SORT",
    "TABLESAMPLE",
    "THEN",
    "UNION",
    "UNPIVOT",
    "USING",
    "VALUES",
    "WHEN",
    "WHERE",
    "WINDOW",
    "WITH",
];

/// Parses a text that holds exactly one statement; comments and a `;` at the end do not count.
///
/// # Errors
/// When the text is not one statement, or one that this version does not support.
pub fn parse_statement(text: &str) -> Result<Statement, SqlError> {
    one_statement(text).map_err(|error| error.with_text(text))
}

/// Parses a text of any number of statements with `;` between them, each with its own text. Positions in a statement's expressions count in
/// that text, those of an error in the whole.
///
/// # Errors
/// When one of them is not a statement, or one that this version does not support.
pub fn parse_script(text: &str) -> Result<Vec<(Statement, String)>, SqlError> {
    let tokens = tokenize(text).map_err(|error| error.with_text(text))?;
    let offsets = LineOffsets::new(text);
    let mut statements = Vec::new();
    for piece in tokens.split(|token| token.token == Token::SemiColon) {
        let mut words = piece.iter().filter(|token| !matches!(token.token, Token::Whitespace(_) | Token::EOF));
        let Some(first) = words.next() else { continue };
        let last = words.next_back().unwrap_or(first);
        let own = &text[offsets.of(first.span.start)..offsets.of(last.span.end)];
        let statement = one_statement(own).map_err(|error| error.within(text, first.span.start))?;
        statements.push((statement, own.to_owned()));
    }
    Ok(statements)
}

/// Parses a bare expression.
pub(crate) fn parse_expression(text: &str) -> Result<Expr, SqlError> {
    let read = || {
        let mut cursor = Cursor::new(tokenize(text)?)?;
        let expression = cursor.expression()?;
        if cursor.is(&Token::SemiColon) {
            return Err(cursor.expected("the end of the expression"));
        }
        cursor.end("the expression")?;
        Ok(expression)
    };
    read().map_err(|error: SqlError| error.with_text(text))
}

fn one_statement(text: &str) -> Result<Statement, SqlError> {
    let mut cursor = Cursor::new(tokenize(text)?)?;
    let statement = statement(&mut cursor)?;
    if cursor.take(&Token::SemiColon) {
        while cursor.take(&Token::SemiColon) {}
        if !cursor.at_end() {
            return Err(cursor.error("expected one statement, found another after `;`"));
        }
    }
    cursor.end("the statement")?;
    Ok(statement)
}

fn tokenize(text: &str) -> Result<Vec<TokenWithSpan>, SqlError> {
    Tokenizer::new(&DeltaDialect, text).tokenize_with_location().map_err(SqlError::from_tokenizer)
}

fn statement(cursor: &mut Cursor<'_>) -> Result<Statement, SqlError> {
    if cursor.at_end() {
        return Err(cursor.error("expected a statement, found nothing"));
    }
    if cursor.is(&Token::LParen) || cursor.is_word("SELECT") {
        return query::query(cursor).map(Statement::Select);
    }
    let Some(first) = cursor.word() else {
        return Err(cursor.error(format!("expected a statement, found {}", cursor.found())));
    };
    match first.as_str() {
        "CREATE" => create::create(cursor).map(Statement::CreateTable),
        "INSERT" => write::insert(cursor).map(Statement::Insert),
        "UPDATE" => write::update(cursor).map(Statement::Update),
        "DELETE" => write::delete(cursor).map(Statement::Delete),
        "WITH" => Err(cursor.unsupported("WITH (a common table expression)")),
        "TABLE" | "VALUES" | "FROM" => Err(cursor.unsupported(&format!("a statement that starts with {first}"))),
        "DESC" => Err(cursor.unsupported("DESCRIBE")),
        "ALTER" | "DROP" | "TRUNCATE" | "REPLACE" | "DESCRIBE" | "SHOW" | "EXPLAIN" => {
            let kind =
                cursor.words(&["TABLE", "VIEW", "DATABASE", "SCHEMA", "HISTORY", "DETAIL", "TABLES", "DATABASES"]);
            Err(cursor.unsupported(&kind))
        }
        other if OTHER_STATEMENTS.contains(&other) => Err(cursor.unsupported(other)),
        _ => Err(cursor.error(format!("expected a statement, found {}", cursor.found()))),
    }
}

/// Statements of Delta and Spark that are none of ours.
const OTHER_STATEMENTS: &[&str] = &[
    "ANALYZE", "BEGIN", "CACHE", "CALL", "CLEAR", "COMMENT", "COMMIT", "CONVERT", "COPY", "DECLARE", "EXECUTE", "FSCK",
    "GENERATE", "GRANT", "LOAD", "MERGE", "MSCK", "OPTIMIZE", "REFRESH", "REORG", "REPAIR", "RESET", "RESTORE",
    "REVOKE", "ROLLBACK", "SET", "START", "SYNC", "UNCACHE", "UNDROP", "USE", "VACUUM",
];

/// Where each line of a text starts, to find the byte of a line and column.
struct LineOffsets<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> LineOffsets<'a> {
    fn new(text: &'a str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { text, starts }
    }

    fn of(&self, location: Location) -> usize {
        let line = (location.line as usize).saturating_sub(1);
        let start = self.starts.get(line).copied().unwrap_or(self.text.len());
        let rest = &self.text[start..];
        let column = (location.column as usize).saturating_sub(1);
        rest.char_indices().nth(column).map_or(self.text.len(), |(at, _)| start + at)
    }
}

#[cfg(test)]
mod tests;
