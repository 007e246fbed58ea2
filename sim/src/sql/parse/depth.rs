//! Bounds on how deep an expression may be.

use sqlparser::{
    keywords::Keyword,
    tokenizer::{Token, TokenWithSpan},
};

use super::{RESERVED, cursor::Cursor};
use crate::sql::error::SqlError;

/// What is said of an expression that would overflow the stack of whoever walks it.
pub(crate) const TOO_DEEP: &str = "the expression is nested too deeply; split the statement";

/// Parentheses in parentheses; below sqlparser's own limit.
const PARENTHESES: usize = 40;

/// Operators in one chain (`a OR b OR ...`), that is levels of the tree. A list (`IN (...)`) has no such limit.
const OPERATORS: usize = 400;

impl Cursor<'_> {
    /// Looks ahead over the expression that comes next: refuses subqueries and nested types where they stand, and trees that are too deep.
    ///
    /// The number of operators seen is an upper bound of the depth: one list item starts again where its list began, and what follows a closing
    /// parenthesis stands on top of what was inside.
    pub(super) fn check_depth(&self) -> Result<(), SqlError> {
        let mut levels: Vec<(usize, usize)> = Vec::new();
        let (mut count, mut base) = (0, 0);
        let tokens = self.ahead();
        for (n, TokenWithSpan { token, span }) in tokens.iter().enumerate() {
            let next = tokens.get(n + 1).map(|token| &token.token);
            let refuse = |what: &str| Err(SqlError::at(format!("{what} is not supported by this version"), *span));
            match token {
                Token::SemiColon => break,
                Token::LParen => {
                    if matches!(next, Some(Token::Word(word)) if matches!(word.keyword, Keyword::SELECT | Keyword::WITH))
                    {
                        return refuse("a subquery");
                    }
                    levels.push((count, base));
                    base = count;
                    if levels.len() > PARENTHESES {
                        return Err(SqlError::at(TOO_DEEP, *span));
                    }
                }
                Token::RParen => {
                    let Some((_, outer)) = levels.pop() else { break };
                    base = outer;
                }
                Token::Comma if levels.is_empty() => break,
                Token::Comma => count = base,
                Token::LBracket => return refuse("`[` (an array)"),
                Token::LBrace => return refuse("`{`"),
                Token::Word(word) if word.quote_style.is_none() => {
                    let upper = word.value.to_uppercase();
                    if matches!(upper.as_str(), "ARRAY" | "MAP" | "STRUCT") && next == Some(&Token::Lt) {
                        return refuse(&format!("the nested type {upper}"));
                    }
                    let ends = matches!(upper.as_str(), "FROM" | "WHERE" | "ORDER" | "GROUP" | "UNION" | "LIMIT");
                    if levels.is_empty() && ends {
                        break;
                    }
                    // Names are leaves; other words are operators or branches.
                    count += usize::from(RESERVED.contains(&upper.as_str()) || upper == "CASE");
                }
                Token::Word(_)
                | Token::Number(..)
                | Token::SingleQuotedString(_)
                | Token::DoubleQuotedString(_)
                | Token::Period => {}
                _ => count += 1,
            }
            if count > OPERATORS {
                return Err(SqlError::at(TOO_DEEP, *span));
            }
        }
        Ok(())
    }
}
