//! The place in the tokens of a statement.

use sqlparser::{
    ast::Expr,
    parser::Parser,
    tokenizer::{Location, Span, Token, TokenWithSpan},
};

use super::{RESERVED, is_spoken};
use crate::sql::{dialect::DeltaDialect, error::SqlError};

/// Tokens of one statement and how far they are read.
pub(super) struct Cursor<'a> {
    parser: Parser<'a>,
    /// The same tokens, to look ahead in.
    tokens: Vec<TokenWithSpan>,
    /// Right after the last token.
    end: Location,
}

impl Cursor<'_> {
    pub(super) fn new(tokens: Vec<TokenWithSpan>) -> Result<Self, SqlError> {
        let mut joined: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len());
        for token in tokens {
            if !is_spoken(&token) {
                continue;
            }
            // A word right after a number is its suffix: else `1S` would be `1 AS S`.
            if let (Some(TokenWithSpan { token: Token::Number(number, long), span }), Token::Word(word)) =
                (joined.last_mut(), &token.token)
                && span.end == token.span.start
            {
                if word.value != "l" || *long {
                    let message =
                        format!("the number {number}{} is not supported by this version; use CAST", word.value);
                    return Err(SqlError::at(message, *span));
                }
                *long = true;
                span.end = token.span.end;
                continue;
            }
            // The tokenizer takes `0x1F` for `X'1F'`.
            if let Token::HexStringLiteral(digits) = &token.token
                && token.span.end.column - token.span.start.column == digits.len() as u64 + 2
            {
                let message = format!("the number 0x{digits} is not supported by this version");
                return Err(SqlError::at(message, token.span));
            }
            joined.push(token);
        }
        let end = joined.last().map_or(Location::new(1, 1), |token| token.span.end);
        let parser = Parser::new(&DeltaDialect).with_tokens_with_locations(joined.clone());
        Ok(Self { parser, tokens: joined, end })
    }

    /// Where the next token stands; at the end, the place right after the last one.
    pub(super) fn span(&self) -> Span {
        if self.at_end() { Span::new(self.end, self.end) } else { self.parser.peek_token_ref().span }
    }

    pub(super) fn error(&self, message: impl Into<String>) -> SqlError {
        SqlError::at(message, self.span())
    }

    pub(super) fn unsupported(&self, what: &str) -> SqlError {
        self.error(format!("{what} is not supported by this version"))
    }

    /// The next token as it is shown in an error.
    pub(super) fn found(&self) -> String {
        match &self.parser.peek_token_ref().token {
            Token::EOF => "the end".to_owned(),
            token => format!("`{token}`"),
        }
    }

    pub(super) fn expected(&self, what: &str) -> SqlError {
        self.error(format!("expected {what}, found {}", self.found()))
    }

    pub(super) fn is(&self, token: &Token) -> bool {
        self.parser.peek_token_ref().token == *token
    }

    /// All tokens from the next one on.
    pub(super) fn ahead(&self) -> &[TokenWithSpan] {
        &self.tokens[self.parser.index().min(self.tokens.len())..]
    }

    pub(super) fn at_end(&self) -> bool {
        self.is(&Token::EOF)
    }

    pub(super) fn take(&mut self, token: &Token) -> bool {
        let found = self.is(token);
        if found {
            self.parser.advance_token();
        }
        found
    }

    pub(super) fn expect(&mut self, token: &Token) -> Result<(), SqlError> {
        if self.take(token) { Ok(()) } else { Err(self.expected(&format!("`{token}`"))) }
    }

    pub(super) fn advance(&mut self) -> TokenWithSpan {
        self.parser.next_token()
    }

    /// The next token in capitals, when it is a word without quotes.
    pub(super) fn word(&self) -> Option<String> {
        self.nth_word(0)
    }

    pub(super) fn nth_word(&self, n: usize) -> Option<String> {
        match &self.parser.peek_nth_token_ref(n).token {
            Token::Word(word) if word.quote_style.is_none() => Some(word.value.to_uppercase()),
            _ => None,
        }
    }

    pub(super) fn nth_is(&self, n: usize, token: &Token) -> bool {
        self.parser.peek_nth_token_ref(n).token == *token
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        self.word().as_deref() == Some(word)
    }

    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.parser.advance_token();
        }
        found
    }

    /// Takes all of the words, or none.
    pub(super) fn take_words(&mut self, words: &[&str]) -> bool {
        let found = words.iter().enumerate().all(|(n, word)| self.nth_word(n).as_deref() == Some(word));
        if found {
            words.iter().for_each(|_| self.parser.advance_token());
        }
        found
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Result<(), SqlError> {
        if self.take_word(word) { Ok(()) } else { Err(self.expected(word)) }
    }

    /// The next word, with those that follow it as long as they are some of `more`: the name of a statement for an error.
    pub(super) fn words(&self, more: &[&str]) -> String {
        let mut name = self.word().unwrap_or_default();
        for n in 1.. {
            match self.nth_word(n) {
                Some(word) if more.contains(&word.as_str()) => name = format!("{name} {word}"),
                _ => break,
            }
        }
        name
    }

    /// A name: any quoted identifier, or a word that is not reserved.
    pub(super) fn name(&mut self, what: &str) -> Result<String, SqlError> {
        match &self.parser.peek_token_ref().token {
            Token::Word(word)
                if word.quote_style.is_some() || !RESERVED.contains(&word.value.to_uppercase().as_str()) =>
            {
                let name = word.value.clone();
                if name.is_empty() {
                    return Err(self.expected(what));
                }
                self.parser.advance_token();
                Ok(name)
            }
            _ => Err(self.expected(what)),
        }
    }

    /// A name of one part.
    pub(super) fn simple_name(&mut self, what: &str) -> Result<String, SqlError> {
        let span = self.span();
        let name = self.name(what)?;
        if self.is(&Token::Period) {
            return Err(SqlError::at(
                format!("a name of several parts ({name}.…) is not supported by this version"),
                span,
            ));
        }
        Ok(name)
    }

    /// The name of the table that a statement writes.
    pub(super) fn table_name(&mut self) -> Result<String, SqlError> {
        let quoted = matches!(&self.parser.peek_token_ref().token, Token::Word(word) if word.quote_style.is_some());
        let span = self.span();
        let name = self.simple_name("the name of a table")?;
        if !quoted && name.contains('@') {
            return Err(SqlError::at(format!("`{name}`: only a query can read another version of a table"), span));
        }
        Ok(name)
    }

    /// `[AS] name`, when it is there; the word `except` is not taken for a name.
    pub(super) fn alias(&mut self, except: &[&str]) -> Result<Option<String>, SqlError> {
        if self.take_word("AS") {
            if self.is(&Token::LParen) {
                return Err(self.unsupported("a list of aliases"));
            }
            return self.simple_name("an alias").map(Some);
        }
        match &self.parser.peek_token_ref().token {
            Token::Word(word) if word.quote_style.is_some() => self.simple_name("an alias").map(Some),
            Token::Word(word) => {
                let upper = word.value.to_uppercase();
                if RESERVED.contains(&upper.as_str()) || except.contains(&upper.as_str()) {
                    return Ok(None);
                }
                self.simple_name("an alias").map(Some)
            }
            _ => Ok(None),
        }
    }

    /// A string literal.
    pub(super) fn string(&mut self, what: &str) -> Result<String, SqlError> {
        match &self.parser.peek_token_ref().token {
            Token::SingleQuotedString(text) | Token::DoubleQuotedString(text) => {
                let text = text.clone();
                self.parser.advance_token();
                Ok(text)
            }
            _ => Err(self.expected(what)),
        }
    }

    /// An integer without a sign.
    pub(super) fn unsigned(&mut self, what: &str) -> Result<u64, SqlError> {
        if let Token::Number(digits, false) = &self.parser.peek_token_ref().token
            && let Ok(number) = digits.parse()
        {
            self.parser.advance_token();
            return Ok(number);
        }
        Err(self.expected(what))
    }

    /// An expression, as far as it goes.
    pub(super) fn expression(&mut self) -> Result<Expr, SqlError> {
        self.check_depth()?;
        let start = self.span().start;
        self.parser.parse_expr().map_err(|error| {
            // sqlparser gives the end of the text no position.
            let at_end = error.to_string().ends_with("found: EOF");
            SqlError::from_parser(error, if at_end { self.end } else { start })
        })
    }

    /// The end of the text, or a `;`: anything else is an error that names it.
    pub(super) fn end(&self, what: &str) -> Result<(), SqlError> {
        if self.at_end() || self.is(&Token::SemiColon) {
            return Ok(());
        }
        if self.is(&Token::Comma) {
            return Err(self.expected(&format!("the end of {what}")));
        }
        match self.word().and_then(|word| CLAUSES.iter().find(|(first, _)| *first == word)) {
            Some((_, clause)) => Err(self.unsupported(clause)),
            None => Err(self.expected(&format!("the end of {what}"))),
        }
    }
}

/// Clauses that SQL has and we do not, by their first word.
const CLAUSES: &[(&str, &str)] = &[
    ("ANTI", "JOIN"),
    ("CLUSTER", "CLUSTER BY"),
    ("CROSS", "JOIN"),
    ("DISTRIBUTE", "DISTRIBUTE BY"),
    ("FETCH", "FETCH"),
    ("FILTER", "FILTER"),
    ("FOR", "FOR"),
    ("FROM", "FROM in this place"),
    ("FULL", "JOIN"),
    ("GROUP", "GROUP BY"),
    ("HAVING", "HAVING"),
    ("INNER", "JOIN"),
    ("INTO", "INTO"),
    ("JOIN", "JOIN"),
    ("LATERAL", "LATERAL VIEW"),
    ("LEFT", "JOIN"),
    ("NATURAL", "JOIN"),
    ("OFFSET", "OFFSET"),
    ("ON", "ON"),
    ("OVER", "OVER (a window function)"),
    ("PIVOT", "PIVOT"),
    ("QUALIFY", "QUALIFY"),
    ("RETURNING", "RETURNING"),
    ("RIGHT", "JOIN"),
    ("SEMI", "JOIN"),
    ("SORT", "SORT BY"),
    ("TABLESAMPLE", "TABLESAMPLE"),
    ("UNPIVOT", "UNPIVOT"),
    ("USING", "USING"),
    ("WINDOW", "WINDOW"),
];
