//! The dialect: Spark's SQL as far as sqlparser's tokenizer and expression parser need to know it.
//!
//! sqlparser only reads tokens and operators here. Every expression that starts with a word is read by `prefix` below, since sqlparser's own
//! code tries several readings of a word one after the other, which takes exponential time on nested calls and drops clauses (`FILTER`) silently.

use std::any::TypeId;

use sqlparser::{
    ast::{
        BinaryOperator, DataType, DateTimeField, DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr,
        FunctionArgumentList, FunctionArguments, Ident, Interval, ObjectName, TimezoneInfo, TypedString, UnaryOperator,
        Value, ValueWithSpan,
    },
    dialect::{DatabricksDialect, Dialect, Precedence},
    keywords::Keyword,
    parser::{Parser, ParserError},
    tokenizer::{Span, Token, TokenWithSpan, Word},
};

use super::parse::RESERVED;

/// The SQL that statements are written in.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeltaDialect;

impl Dialect for DeltaDialect {
    fn dialect(&self) -> TypeId {
        TypeId::of::<DatabricksDialect>()
    }

    fn is_delimited_identifier_start(&self, ch: char) -> bool {
        ch == '`'
    }

    fn is_identifier_start(&self, ch: char) -> bool {
        ch.is_ascii_alphabetic() || ch == '_'
    }

    /// `@` makes `t@v1` one word, which the grammar of table names takes apart.
    fn is_identifier_part(&self, ch: char) -> bool {
        ch.is_ascii_alphanumeric() || ch == '_' || ch == '@'
    }

    fn supports_string_literal_backslash_escape(&self) -> bool {
        true
    }

    /// `'\%'` keeps its backslash, so that LIKE sees it.
    fn ignores_wildcard_escapes(&self) -> bool {
        true
    }

    fn supports_string_literal_concatenation(&self) -> bool {
        true
    }

    fn supports_nested_comments(&self) -> bool {
        true
    }

    fn supports_bang_not_operator(&self) -> bool {
        true
    }

    fn supports_long_type_as_bigint(&self) -> bool {
        true
    }

    fn parse_prefix(&self, parser: &mut Parser) -> Option<Result<Expr, ParserError>> {
        let token = parser.peek_token_ref().clone();
        let Token::Word(word) = token.token else { return None };
        Some(prefix(parser, &word, token.span))
    }

    fn parse_infix(&self, parser: &mut Parser, left: &Expr, precedence: u8) -> Option<Result<Expr, ParserError>> {
        parser.parse_keyword(Keyword::DIV).then(|| {
            let right = parser.parse_subexpr(precedence)?;
            let (left, right) = (Box::new(left.clone()), Box::new(right));
            Ok(Expr::BinaryOp { left, op: BinaryOperator::MyIntegerDivide, right })
        })
    }

    /// `||` is as strong as `+`, as in Spark.
    fn get_next_precedence(&self, parser: &Parser) -> Option<Result<u8, ParserError>> {
        (parser.peek_token_ref().token == Token::StringConcat).then(|| Ok(self.prec_value(Precedence::PlusMinus)))
    }
}

/// Reads an expression that starts with a word.
fn prefix(parser: &mut Parser, word: &Word, span: Span) -> Result<Expr, ParserError> {
    let next = parser.peek_nth_token_ref(1).token.clone();
    let called = next == Token::LParen;
    let upper = match word.quote_style {
        None => word.value.to_uppercase(),
        Some(_) => String::new(),
    };
    match upper.as_str() {
        "TRUE" | "FALSE" | "NULL" => Ok(Expr::Value(parser.parse_value()?)),
        "NOT" => advanced(parser, Parser::parse_not),
        "CASE" => advanced(parser, Parser::parse_case_expr),
        "CAST" if called => advanced(parser, |p| p.parse_cast_expr(sqlparser::ast::CastKind::Cast)),
        "TRY_CAST" if called => advanced(parser, |p| p.parse_cast_expr(sqlparser::ast::CastKind::TryCast)),
        "INTERVAL" if starts_interval(&next) => interval(parser),
        "DATE" | "TIMESTAMP" | "TIMESTAMP_NTZ" if is_string(&next) => {
            parser.advance_token();
            let data_type = match upper.as_str() {
                "DATE" => DataType::Date,
                "TIMESTAMP" => DataType::Timestamp(None, TimezoneInfo::None),
                _ => DataType::TimestampNtz(None),
            };
            let value = parser.parse_value()?;
            Ok(Expr::TypedString(TypedString { data_type, value, uses_odbc_syntax: false }))
        }
        "EXISTS" if called => Err(unsupported("a subquery (EXISTS)", span)),
        // A word in front of a string would be the type of a literal, or its encoding.
        _ if is_string(&next) => Err(unsupported(&format!("a literal of the form {} '...'", word.value), span)),
        _ if called => call(parser, word, span),
        "CURRENT_TIMESTAMP" | "CURRENT_DATE" | "CURRENT_TIME" | "LOCALTIMESTAMP" => {
            parser.advance_token();
            Ok(Expr::Function(function(word, span, FunctionArguments::None)))
        }
        reserved if RESERVED.contains(&reserved) => {
            Err(located(&format!("expected an expression, found {word}"), span))
        }
        _ => {
            parser.advance_token();
            Ok(Expr::Identifier(word.clone().into_ident(span)))
        }
    }
}

/// Reads `name([DISTINCT | ALL] arguments)`.
fn call(parser: &mut Parser, word: &Word, span: Span) -> Result<Expr, ParserError> {
    parser.advance_token();
    parser.expect_token(&Token::LParen)?;
    let duplicate_treatment = match parser.parse_one_of_keywords(&[Keyword::DISTINCT, Keyword::ALL]) {
        Some(Keyword::DISTINCT) => Some(DuplicateTreatment::Distinct),
        Some(_) => Some(DuplicateTreatment::All),
        None => None,
    };
    let mut args = Vec::new();
    if parser.peek_token_ref().token != Token::RParen {
        loop {
            args.push(FunctionArg::Unnamed(if parser.consume_token(&Token::Mul) {
                FunctionArgExpr::Wildcard
            } else {
                FunctionArgExpr::Expr(parser.parse_expr()?)
            }));
            if !parser.consume_token(&Token::Comma) {
                break;
            }
        }
    }
    parser.expect_token(&Token::RParen)?;
    let TokenWithSpan { token, span: after } = parser.peek_token_ref();
    if let Token::Word(word) = token {
        match word.value.to_uppercase().as_str() {
            "OVER" => return Err(unsupported("OVER (a window function)", *after)),
            clause @ ("FILTER" | "WITHIN" | "IGNORE" | "RESPECT") => return Err(unsupported(clause, *after)),
            _ => {}
        }
    }
    let list = FunctionArgumentList { duplicate_treatment, args, clauses: Vec::new() };
    Ok(Expr::Function(function(word, span, FunctionArguments::List(list))))
}

fn function(word: &Word, span: Span, args: FunctionArguments) -> Function {
    Function {
        name: ObjectName::from(vec![Ident { value: word.value.clone(), quote_style: word.quote_style, span }]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args,
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    }
}

/// Reads `INTERVAL [+|-] number|string [unit]`.
fn interval(parser: &mut Parser) -> Result<Expr, ParserError> {
    parser.advance_token();
    let negative = parser.consume_token(&Token::Minus);
    if !negative {
        let _ = parser.consume_token(&Token::Plus);
    }
    let mut value = Expr::Value(parser.parse_value()?);
    if negative {
        value = Expr::UnaryOp { op: UnaryOperator::Minus, expr: Box::new(value) };
    }
    let mut leading_field = None;
    if let TokenWithSpan { token: Token::Word(unit), span } = parser.peek_token_ref().clone()
        && !RESERVED.contains(&unit.value.to_uppercase().as_str())
    {
        leading_field = Some(DateTimeField::Custom(unit.into_ident(span)));
        parser.advance_token();
    }
    if let TokenWithSpan { token: Token::Word(word), span } = parser.peek_token_ref()
        && word.keyword == Keyword::TO
    {
        return Err(unsupported("INTERVAL ... TO", *span));
    }
    let (leading_precision, last_field, fractional_seconds_precision) = (None, None, None);
    let value = Box::new(value);
    Ok(Expr::Interval(Interval { value, leading_field, leading_precision, last_field, fractional_seconds_precision }))
}

fn starts_interval(token: &Token) -> bool {
    matches!(token, Token::Number(..) | Token::Minus | Token::Plus) || is_string(token)
}

fn is_string(token: &Token) -> bool {
    matches!(token, Token::SingleQuotedString(_) | Token::DoubleQuotedString(_))
}

/// The text of a string literal.
pub(crate) fn string_text(value: &ValueWithSpan) -> Option<&str> {
    match &value.value {
        Value::SingleQuotedString(text) | Value::DoubleQuotedString(text) => Some(text),
        _ => None,
    }
}

fn advanced<'a, T>(
    parser: &mut Parser<'a>,
    read: impl FnOnce(&mut Parser<'a>) -> Result<T, ParserError>,
) -> Result<T, ParserError> {
    parser.advance_token();
    read(parser)
}

fn unsupported(what: &str, span: Span) -> ParserError {
    located(&format!("{what} is not supported by this version"), span)
}

fn located(message: &str, span: Span) -> ParserError {
    ParserError::ParserError(format!("{message}{}", span.start))
}
