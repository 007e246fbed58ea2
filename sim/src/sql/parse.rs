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

use std::str::CharIndices;

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
    let mut place = Place::start(text);
    let mut statements = Vec::new();
    for piece in tokens.split(|token| token.token == Token::SemiColon) {
        let mut words = piece.iter().filter(|token| is_spoken(token));
        let Some(first) = words.next() else { continue };
        let last = words.next_back().unwrap_or(first);
        let own = &text[place.of(first.span.start)..place.of(last.span.end)];
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

/// Does a token say anything? Spaces, comments and the end of the text do not.
fn is_spoken(token: &TokenWithSpan) -> bool {
    !matches!(token.token, Token::Whitespace(_) | Token::EOF)
}

/// A place in a text that moves forwards only, to find the bytes of locations in one pass.
struct Place<'a> {
    rest: CharIndices<'a>,
    at: Location,
}

impl<'a> Place<'a> {
    fn start(text: &'a str) -> Self {
        Self { rest: text.char_indices(), at: Location::new(1, 1) }
    }

    /// The byte of a location that is not before the last one.
    fn of(&mut self, location: Location) -> usize {
        while (self.at.line, self.at.column) < (location.line, location.column) {
            match self.rest.next() {
                Some((_, '\n')) => self.at = Location::new(self.at.line + 1, 1),
                Some(_) => self.at.column += 1,
                None => break,
            }
        }
        self.rest.offset()
    }
}

#[cfg(test)]
mod tests;
