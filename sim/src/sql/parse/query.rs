//! Queries over one table.

use sqlparser::tokenizer::Token;

use super::{cursor::Cursor, depth::TOO_DEEP};
use crate::sql::{
    error::SqlError,
    statement::{OrderBy, Query, QueryBody, Select, SelectItem, SetOperator, TableReference},
};

/// Set operations and parentheses of one query: levels of its tree.
const SET_OPERATIONS: usize = 100;

pub(super) fn query(cursor: &mut Cursor<'_>) -> Result<Query, SqlError> {
    let mut operations = 0;
    let body = unions(cursor, &mut operations)?;
    let mut order_by = Vec::new();
    if cursor.is_word("ORDER") {
        cursor.advance();
        cursor.expect_word("BY")?;
        loop {
            order_by.push(order_key(cursor)?);
            if !cursor.take(&Token::Comma) {
                break;
            }
        }
    }
    let mut limit = None;
    if cursor.take_word("LIMIT") && !cursor.take_word("ALL") {
        limit = Some(cursor.unsigned("the number of rows")?);
        if cursor.is(&Token::Comma) {
            return Err(cursor.unsupported("an offset in LIMIT"));
        }
    }
    Ok(Query { body, order_by, limit })
}

fn order_key(cursor: &mut Cursor<'_>) -> Result<OrderBy, SqlError> {
    if cursor.is_word("ALL") {
        return Err(cursor.unsupported("ORDER BY ALL"));
    }
    let expression = cursor.expression()?;
    let descending = cursor.take_word("DESC");
    if !descending {
        let _ = cursor.take_word("ASC");
    }
    let nulls_first = if cursor.take_word("NULLS") {
        let first = cursor.take_word("FIRST");
        if !first {
            cursor.expect_word("LAST")?;
        }
        first
    } else {
        !descending
    };
    Ok(OrderBy { expression, descending, nulls_first })
}

/// UNION and EXCEPT, from the left; INTERSECT is stronger.
fn unions(cursor: &mut Cursor<'_>, operations: &mut usize) -> Result<QueryBody, SqlError> {
    let mut left = intersections(cursor, operations)?;
    loop {
        let operator = match cursor.word().as_deref() {
            Some("UNION") => SetOperator::Union,
            Some("EXCEPT" | "MINUS") => SetOperator::Except,
            _ => return Ok(left),
        };
        let all = set_operator(cursor, operations)?;
        let right = Box::new(intersections(cursor, operations)?);
        left = QueryBody::SetOperation { operator, all, left: Box::new(left), right };
    }
}

fn intersections(cursor: &mut Cursor<'_>, operations: &mut usize) -> Result<QueryBody, SqlError> {
    let mut left = operand(cursor, operations)?;
    while cursor.is_word("INTERSECT") {
        let all = set_operator(cursor, operations)?;
        let right = Box::new(operand(cursor, operations)?);
        left = QueryBody::SetOperation { operator: SetOperator::Intersect, all, left: Box::new(left), right };
    }
    Ok(left)
}

/// Reads the operator and what qualifies it: are duplicates kept?
fn set_operator(cursor: &mut Cursor<'_>, operations: &mut usize) -> Result<bool, SqlError> {
    count(cursor, operations)?;
    cursor.advance();
    let all = cursor.take_word("ALL");
    if !all {
        let _ = cursor.take_word("DISTINCT");
    }
    if cursor.is_word("BY") {
        return Err(cursor.unsupported("BY NAME"));
    }
    Ok(all)
}

fn count(cursor: &Cursor<'_>, operations: &mut usize) -> Result<(), SqlError> {
    *operations += 1;
    if *operations > SET_OPERATIONS { Err(cursor.error(TOO_DEEP)) } else { Ok(()) }
}

fn operand(cursor: &mut Cursor<'_>, operations: &mut usize) -> Result<QueryBody, SqlError> {
    if cursor.is(&Token::LParen) {
        count(cursor, operations)?;
        cursor.advance();
        let inner = unions(cursor, operations)?;
        match cursor.word().as_deref() {
            Some("ORDER") => return Err(cursor.unsupported("ORDER BY inside parentheses")),
            Some("LIMIT") => return Err(cursor.unsupported("LIMIT inside parentheses")),
            _ => {}
        }
        if !cursor.is(&Token::RParen) {
            cursor.end("the query")?;
        }
        cursor.expect(&Token::RParen)?;
        return Ok(inner);
    }
    match cursor.word().as_deref() {
        Some("SELECT") => select(cursor).map(|select| QueryBody::Select(Box::new(select))),
        Some("WITH") => Err(cursor.unsupported("WITH (a common table expression)")),
        Some(word @ ("VALUES" | "TABLE" | "FROM")) => Err(cursor.unsupported(&format!("{word} as a query"))),
        _ => Err(cursor.expected("SELECT")),
    }
}

fn select(cursor: &mut Cursor<'_>) -> Result<Select, SqlError> {
    cursor.expect_word("SELECT")?;
    let distinct = cursor.take_word("DISTINCT");
    if distinct && cursor.is_word("ON") {
        return Err(cursor.unsupported("DISTINCT ON"));
    }
    if !distinct {
        let _ = cursor.take_word("ALL");
    }
    let mut items = Vec::new();
    // The table's name is only known later, so the qualifiers of `t.*` wait.
    let mut qualifiers = Vec::new();
    loop {
        items.push(item(cursor, &mut qualifiers)?);
        if !cursor.take(&Token::Comma) {
            break;
        }
    }
    let from = if cursor.take_word("FROM") { Some(table(cursor)?) } else { None };
    for (qualifier, span) in qualifiers {
        let known = from.as_ref().map(|from| from.alias.as_ref().unwrap_or(&from.table));
        if known.is_none_or(|known| known.to_lowercase() != qualifier.to_lowercase()) {
            let message = match known {
                Some(known) => format!("there is no table `{qualifier}` in the query, only `{known}`"),
                None => format!("there is no table `{qualifier}` in the query, which has no FROM"),
            };
            return Err(SqlError::at(message, span));
        }
    }
    let predicate = if cursor.take_word("WHERE") { Some(cursor.expression()?) } else { None };
    Ok(Select { distinct, items, from, predicate })
}

type Qualifier = (String, sqlparser::tokenizer::Span);

fn item(cursor: &mut Cursor<'_>, qualifiers: &mut Vec<Qualifier>) -> Result<SelectItem, SqlError> {
    let span = cursor.span();
    let star = if cursor.take(&Token::Mul) {
        true
    } else if cursor.nth_is(1, &Token::Period) && cursor.nth_is(2, &Token::Mul) {
        qualifiers.push((cursor.name("the name of a table")?, span));
        cursor.advance();
        cursor.advance();
        true
    } else {
        false
    };
    if star {
        if let Some(word @ ("EXCEPT" | "EXCLUDE" | "REPLACE" | "RENAME")) = cursor.word().as_deref()
            && cursor.nth_is(1, &Token::LParen)
            && cursor.nth_word(2).as_deref() != Some("SELECT")
        {
            return Err(cursor.unsupported(&format!("* {word}")));
        }
        return Ok(SelectItem::All);
    }
    let expression = cursor.expression()?;
    let alias = cursor.alias(&[])?;
    Ok(SelectItem::Expression { expression, alias })
}

/// A table, with the version and the alias that it may have.
fn table(cursor: &mut Cursor<'_>) -> Result<TableReference, SqlError> {
    if cursor.is(&Token::LParen) {
        return Err(cursor.unsupported("a subquery in FROM"));
    }
    if let Some(word @ ("VALUES" | "LATERAL")) = cursor.word().as_deref() {
        return Err(cursor.unsupported(&format!("{word} in FROM")));
    }
    let span = cursor.span();
    let quoted = cursor.word().is_none();
    let mut table = cursor.simple_name("the name of a table")?;
    if cursor.is(&Token::LParen) {
        return Err(SqlError::at(format!("the table function {table} is not supported by this version"), span));
    }
    let mut version = None;
    if !quoted && let Some((name, suffix)) = table.split_once('@') {
        let number = suffix.strip_prefix(['v', 'V']).and_then(|digits| digits.parse().ok());
        if number.is_none() && !suffix.is_empty() && suffix.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(SqlError::at("TIMESTAMP AS OF (`table@timestamp`) is not supported by this version", span));
        }
        let Some(number) = number.filter(|_| !name.is_empty()) else {
            return Err(SqlError::at(format!("`{table}` names no version: write `table@v1`"), span));
        };
        version = Some(number);
        table = name.to_owned();
    }
    if let Some(number) = time_travel(cursor)? {
        if version.is_some() {
            return Err(SqlError::at("the table has two versions: keep one of `@v` and VERSION AS OF", span));
        }
        version = Some(number);
    }
    let alias = cursor.alias(&["VERSION", "TIMESTAMP", "SYSTEM_VERSION", "SYSTEM_TIME"])?;
    if time_travel_follows(cursor) {
        return Err(cursor.error("VERSION AS OF stands before the alias"));
    }
    if cursor.is(&Token::Comma) {
        return Err(cursor.unsupported("a second table in FROM (a join)"));
    }
    Ok(TableReference { table, version, alias })
}

fn time_travel_follows(cursor: &Cursor<'_>) -> bool {
    let start = usize::from(cursor.is_word("FOR"));
    matches!(cursor.nth_word(start).as_deref(), Some("VERSION" | "TIMESTAMP" | "SYSTEM_VERSION" | "SYSTEM_TIME"))
        && cursor.nth_word(start + 1).as_deref() == Some("AS")
        && cursor.nth_word(start + 2).as_deref() == Some("OF")
}

/// `[FOR] VERSION AS OF n`.
fn time_travel(cursor: &mut Cursor<'_>) -> Result<Option<u64>, SqlError> {
    if !time_travel_follows(cursor) {
        return Ok(None);
    }
    let _ = cursor.take_word("FOR");
    if !cursor.is_word("VERSION") && !cursor.is_word("SYSTEM_VERSION") {
        return Err(cursor.unsupported("TIMESTAMP AS OF"));
    }
    for _ in 0..3 {
        cursor.advance();
    }
    if let Some("TIMESTAMP" | "DATE") = cursor.word().as_deref() {
        return Err(cursor.error("VERSION AS OF takes the number of a version; for an instant write TIMESTAMP AS OF"));
    }
    // Spark takes the number as a text too.
    if let Ok(text) = cursor.string("") {
        return match text.trim().parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => {
                Err(cursor
                    .error(format!("'{text}' is not the number of a version; for an instant write TIMESTAMP AS OF")))
            }
        };
    }
    cursor.unsigned("the number of a version").map(Some)
}
