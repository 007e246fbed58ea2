//! `CREATE TABLE`.

use sqlparser::tokenizer::Token;

use super::{cursor::Cursor, primitive_type};
use crate::sql::{
    error::SqlError,
    statement::{ColumnDefinition, CreateTable},
};

pub(super) fn create(cursor: &mut Cursor<'_>) -> Result<CreateTable, SqlError> {
    if cursor.nth_word(1).as_deref() != Some("TABLE") {
        let kind = cursor.words(&[
            "OR",
            "REPLACE",
            "TEMP",
            "TEMPORARY",
            "GLOBAL",
            "EXTERNAL",
            "TABLE",
            "VIEW",
            "MATERIALIZED",
            "DATABASE",
            "SCHEMA",
            "FUNCTION",
            "CATALOG",
            "STREAMING",
            "BLOOMFILTER",
            "INDEX",
        ]);
        return Err(if kind == "CREATE" {
            cursor.advance();
            cursor.expected("TABLE")
        } else {
            cursor.unsupported(&kind)
        });
    }
    cursor.advance();
    cursor.advance();
    let if_not_exists = cursor.take_words(&["IF", "NOT", "EXISTS"]);
    let mut create = CreateTable {
        table: cursor.table_name()?,
        if_not_exists,
        columns: Vec::new(),
        partitioned_by: Vec::new(),
        properties: Vec::new(),
        comment: None,
    };
    if cursor.take(&Token::LParen) {
        columns(cursor, &mut create.columns)?;
    }
    clauses(cursor, &mut create)?;
    if create.columns.is_empty() {
        return Err(cursor.expected("the columns of the table, as in `(id INT)`"));
    }
    Ok(create)
}

/// Columns up to and with the closing parenthesis.
fn columns(cursor: &mut Cursor<'_>, columns: &mut Vec<ColumnDefinition>) -> Result<(), SqlError> {
    loop {
        if let Some(word @ ("CONSTRAINT" | "PRIMARY" | "FOREIGN" | "CHECK" | "UNIQUE")) = cursor.word().as_deref()
            && (matches!(cursor.nth_word(1).as_deref(), Some("KEY"))
                || word == "CONSTRAINT"
                || cursor.nth_is(1, &Token::LParen))
        {
            return Err(cursor.unsupported(&format!("{word} in CREATE TABLE")));
        }
        let span = cursor.span();
        let column = column(cursor)?;
        if columns.iter().any(|other| same(&other.name, &column.name)) {
            return Err(SqlError::at(format!("the column `{}` is defined twice", column.name), span));
        }
        columns.push(column);
        if !cursor.take(&Token::Comma) {
            return cursor.expect(&Token::RParen);
        }
    }
}

fn column(cursor: &mut Cursor<'_>) -> Result<ColumnDefinition, SqlError> {
    let name = cursor.simple_name("the name of a column")?;
    let data_type = data_type(cursor)?;
    let mut column = ColumnDefinition { name, data_type, nullable: true, comment: None };
    loop {
        let span = cursor.span();
        if cursor.take_words(&["NOT", "NULL"]) {
            if !column.nullable {
                return Err(SqlError::at("NOT NULL stands twice", span));
            }
            column.nullable = false;
        } else if cursor.take_word("COMMENT") {
            if column.comment.is_some() {
                return Err(SqlError::at("COMMENT stands twice", span));
            }
            column.comment = Some(cursor.string("the text of the comment")?);
        } else if cursor.is(&Token::Comma) || cursor.is(&Token::RParen) {
            return Ok(column);
        } else {
            return Err(match cursor.word().as_deref() {
                Some("DEFAULT") => cursor.unsupported("DEFAULT of a column"),
                Some("GENERATED") => cursor.unsupported("GENERATED (a generated column)"),
                Some(
                    word @ ("CHECK" | "COLLATE" | "CONSTRAINT" | "MASK" | "NULL" | "PRIMARY" | "REFERENCES" | "UNIQUE"),
                ) => cursor.unsupported(&format!("{word} of a column")),
                _ => cursor.expected("`,` or `)`"),
            });
        }
    }
}

fn data_type(cursor: &mut Cursor<'_>) -> Result<log_core::schema::PrimitiveType, SqlError> {
    let span = cursor.span();
    let Some(word) = cursor.word() else { return Err(cursor.expected("the type of the column")) };
    if matches!(word.as_str(), "ARRAY" | "MAP" | "STRUCT") {
        return Err(cursor.unsupported(&format!("the nested type {word}")));
    }
    let mut text = cursor.name("the type of the column")?;
    if cursor.take(&Token::LParen) {
        text.push('(');
        loop {
            text.push_str(&cursor.unsigned("a number")?.to_string());
            if !cursor.take(&Token::Comma) {
                break;
            }
            text.push(',');
        }
        cursor.expect(&Token::RParen)?;
        text.push(')');
    }
    primitive_type(&text).map_err(|message| SqlError::at(message, span))
}

/// What follows the columns, in any order, each at most once.
fn clauses(cursor: &mut Cursor<'_>, create: &mut CreateTable) -> Result<(), SqlError> {
    let mut seen: Vec<String> = Vec::new();
    while !cursor.at_end() && !cursor.is(&Token::SemiColon) {
        let Some(word) = cursor.word() else { return Err(cursor.expected("a clause of CREATE TABLE")) };
        if seen.contains(&word) {
            return Err(cursor.error(format!("{word} stands twice")));
        }
        match word.as_str() {
            "USING" => {
                cursor.advance();
                if !cursor.take_word("DELTA") {
                    return Err(cursor.unsupported(&format!("USING {}", cursor.found())));
                }
            }
            "PARTITIONED" => {
                cursor.advance();
                cursor.expect_word("BY")?;
                cursor.expect(&Token::LParen)?;
                partition_columns(cursor, create)?;
            }
            "TBLPROPERTIES" => {
                cursor.advance();
                cursor.expect(&Token::LParen)?;
                properties(cursor, &mut create.properties)?;
            }
            "COMMENT" => {
                cursor.advance();
                create.comment = Some(cursor.string("the text of the comment")?);
            }
            "AS" | "SELECT" => return Err(cursor.unsupported("CREATE TABLE AS SELECT")),
            "LIKE" => return Err(cursor.unsupported("CREATE TABLE LIKE")),
            "SHALLOW" | "DEEP" | "CLONE" => return Err(cursor.unsupported("CLONE")),
            "CLUSTER" => return Err(cursor.unsupported("CLUSTER BY")),
            "CLUSTERED" => return Err(cursor.unsupported("CLUSTERED BY")),
            "ROW" | "STORED" => return Err(cursor.unsupported(&format!("{word} in CREATE TABLE"))),
            "LOCATION" | "OPTIONS" | "WITH" => return Err(cursor.unsupported(&word)),
            _ => return Err(cursor.expected("a clause of CREATE TABLE")),
        }
        seen.push(word);
    }
    Ok(())
}

fn partition_columns(cursor: &mut Cursor<'_>, create: &mut CreateTable) -> Result<(), SqlError> {
    loop {
        let span = cursor.span();
        let name = cursor.simple_name("the name of a column")?;
        if cursor.is(&Token::LParen) {
            return Err(SqlError::at("a partition transform is not supported by this version", span));
        }
        if !cursor.is(&Token::Comma) && !cursor.is(&Token::RParen) {
            return Err(cursor.unsupported("a type in PARTITIONED BY"));
        }
        let Some(column) = create.columns.iter().find(|column| same(&column.name, &name)) else {
            let names: Vec<&str> = create.columns.iter().map(|column| column.name.as_str()).collect();
            let message = format!("PARTITIONED BY names `{name}`, which is none of the columns ({})", names.join(", "));
            return Err(SqlError::at(message, span));
        };
        if create.partitioned_by.contains(&column.name) {
            return Err(SqlError::at(format!("PARTITIONED BY names `{}` twice", column.name), span));
        }
        create.partitioned_by.push(column.name.clone());
        if create.partitioned_by.len() == create.columns.len() {
            return Err(SqlError::at("PARTITIONED BY names every column: at least one must be left", span));
        }
        if !cursor.take(&Token::Comma) {
            return cursor.expect(&Token::RParen);
        }
    }
}

/// `'key' = 'value'` or `key.part = value`, up to and with the closing parenthesis.
fn properties(cursor: &mut Cursor<'_>, properties: &mut Vec<(String, String)>) -> Result<(), SqlError> {
    loop {
        let span = cursor.span();
        let key = match cursor.string("the key of a property") {
            Ok(key) => key,
            Err(_) => {
                let mut key = cursor.name("the key of a property")?;
                while cursor.take(&Token::Period) {
                    key.push('.');
                    key.push_str(&cursor.name("the next part of the key")?);
                }
                key
            }
        };
        if properties.iter().any(|(other, _)| *other == key) {
            return Err(SqlError::at(format!("the property '{key}' is set twice"), span));
        }
        // Hive's grammar lets the `=` away.
        let _ = cursor.take(&Token::Eq);
        let value = property_value(cursor)?;
        properties.push((key, value));
        if !cursor.take(&Token::Comma) {
            return cursor.expect(&Token::RParen);
        }
    }
}

fn property_value(cursor: &mut Cursor<'_>) -> Result<String, SqlError> {
    const WHAT: &str = "the value of the property: a string, a number, true or false";
    if let Some(word @ ("TRUE" | "FALSE")) = cursor.word().as_deref() {
        cursor.advance();
        return Ok(word.to_lowercase());
    }
    let sign = if cursor.take(&Token::Minus) { "-" } else { "" };
    let token = cursor.advance();
    match token.token {
        Token::Number(digits, false) => Ok(format!("{sign}{digits}")),
        Token::SingleQuotedString(text) | Token::DoubleQuotedString(text) if sign.is_empty() => Ok(text),
        _ => Err(SqlError::at(format!("expected {WHAT}"), token.span)),
    }
}

fn same(a: &str, b: &str) -> bool {
    a.to_lowercase() == b.to_lowercase()
}
