//! `INSERT`, `UPDATE` and `DELETE`.

use sqlparser::{ast::Expr, tokenizer::Token};

use super::{cursor::Cursor, query::query};
use crate::sql::{
    error::SqlError,
    statement::{Delete, Insert, InsertSource, Update},
};

pub(super) fn insert(cursor: &mut Cursor<'_>) -> Result<Insert, SqlError> {
    cursor.expect_word("INSERT")?;
    if cursor.is_word("OVERWRITE") {
        return Err(cursor.unsupported("INSERT OVERWRITE"));
    }
    if cursor.is_word("WITH") {
        return Err(cursor.unsupported("INSERT WITH SCHEMA EVOLUTION"));
    }
    cursor.expect_word("INTO")?;
    let _ = cursor.take_word("TABLE");
    let table = cursor.table_name()?;
    match cursor.word().as_deref() {
        Some("PARTITION") => return Err(cursor.unsupported("PARTITION in INSERT")),
        Some("REPLACE") => return Err(cursor.unsupported("INSERT REPLACE")),
        Some("BY") => return Err(cursor.unsupported("INSERT BY NAME")),
        Some("DEFAULT") => return Err(cursor.unsupported("DEFAULT VALUES")),
        _ => {}
    }
    let mut columns = Vec::new();
    if cursor.is(&Token::LParen) && !query_in_parentheses(cursor) {
        cursor.advance();
        loop {
            columns.push(cursor.simple_name("the name of a column")?);
            if !cursor.take(&Token::Comma) {
                break;
            }
        }
        cursor.expect(&Token::RParen)?;
    }
    let source = match cursor.word().as_deref() {
        Some("VALUES") => {
            cursor.advance();
            InsertSource::Values(rows(cursor)?)
        }
        Some("SELECT") => InsertSource::Query(query(cursor)?),
        Some("TABLE") => return Err(cursor.unsupported("INSERT ... TABLE")),
        Some("FROM") => return Err(cursor.unsupported("INSERT ... FROM")),
        Some("WITH") => return Err(cursor.unsupported("WITH (a common table expression)")),
        Some("PARTITION") => return Err(cursor.unsupported("PARTITION in INSERT")),
        Some("DEFAULT") => return Err(cursor.unsupported("DEFAULT VALUES")),
        _ if cursor.is(&Token::LParen) => InsertSource::Query(query(cursor)?),
        _ => return Err(cursor.expected("VALUES or SELECT")),
    };
    Ok(Insert { table, columns, source })
}

/// Does a parenthesis open a query (rather than a list of columns)?
fn query_in_parentheses(cursor: &Cursor<'_>) -> bool {
    cursor.nth_is(1, &Token::LParen) || matches!(cursor.nth_word(1).as_deref(), Some("SELECT" | "WITH" | "VALUES"))
}

fn rows(cursor: &mut Cursor<'_>) -> Result<Vec<Vec<Option<Expr>>>, SqlError> {
    let mut rows = Vec::new();
    loop {
        rows.push(row(cursor)?);
        if !cursor.take(&Token::Comma) {
            return Ok(rows);
        }
    }
}

/// `(a, b)`, or a bare `a`.
fn row(cursor: &mut Cursor<'_>) -> Result<Vec<Option<Expr>>, SqlError> {
    if !cursor.take(&Token::LParen) {
        return Ok(vec![value(cursor)?]);
    }
    let mut row = Vec::new();
    loop {
        row.push(value(cursor)?);
        if !cursor.take(&Token::Comma) {
            cursor.expect(&Token::RParen)?;
            return Ok(row);
        }
    }
}

/// An expression, or `DEFAULT`.
fn value(cursor: &mut Cursor<'_>) -> Result<Option<Expr>, SqlError> {
    let alone = [Token::Comma, Token::RParen, Token::SemiColon, Token::EOF].iter().any(|end| cursor.nth_is(1, end));
    if alone && cursor.take_word("DEFAULT") { Ok(None) } else { cursor.expression().map(Some) }
}

pub(super) fn update(cursor: &mut Cursor<'_>) -> Result<Update, SqlError> {
    cursor.expect_word("UPDATE")?;
    let table = cursor.table_name()?;
    let alias = cursor.alias(&[])?;
    cursor.expect_word("SET")?;
    let mut assignments = Vec::new();
    loop {
        if cursor.is(&Token::LParen) {
            return Err(cursor.unsupported("an assignment to several columns at once"));
        }
        let column = qualified_column(cursor, &table, alias.as_deref())?;
        if !cursor.take(&Token::Eq) {
            return Err(cursor.expected("`=`"));
        }
        if cursor.is_word("DEFAULT") {
            return Err(cursor.unsupported("DEFAULT in UPDATE"));
        }
        assignments.push((column, cursor.expression()?));
        if !cursor.take(&Token::Comma) {
            break;
        }
    }
    Ok(Update { table, alias, assignments, predicate: condition(cursor)? })
}

/// `[table.]column`: the qualifier must be the name that the table has in the statement.
fn qualified_column(cursor: &mut Cursor<'_>, table: &str, alias: Option<&str>) -> Result<String, SqlError> {
    let span = cursor.span();
    let name = cursor.name("the name of a column")?;
    if !cursor.take(&Token::Period) {
        return Ok(name);
    }
    let known = alias.unwrap_or(table);
    if name.to_lowercase() != known.to_lowercase() {
        return Err(SqlError::at(format!("there is no table `{name}` in the statement, only `{known}`"), span));
    }
    let name = cursor.name("the name of a column")?;
    if cursor.is(&Token::Period) {
        return Err(cursor.unsupported("a field of a nested column"));
    }
    Ok(name)
}

pub(super) fn delete(cursor: &mut Cursor<'_>) -> Result<Delete, SqlError> {
    cursor.expect_word("DELETE")?;
    cursor.expect_word("FROM")?;
    let table = cursor.table_name()?;
    let alias = cursor.alias(&[])?;
    Ok(Delete { table, alias, predicate: condition(cursor)? })
}

fn condition(cursor: &mut Cursor<'_>) -> Result<Option<Expr>, SqlError> {
    if cursor.take_word("WHERE") { cursor.expression().map(Some) } else { Ok(None) }
}
