//! A condition that is cut at its ANDs and ORs before anything in it is parsed, so that a part which this grammar does not know leaves the others
//! readable, and a chain of any length is no deep tree.

use std::ops::Range;

use sqlparser::{
    ast::Expr,
    tokenizer::{Location, Token, TokenWithSpan},
};

use super::{Place, TOO_DEEP, is_spoken, parse_expression, tokenize};
use crate::sql::error::SqlError;

/// Parentheses around ANDs and ORs, one in the other.
const MAX_NESTING: usize = 200;

/// A condition, or a part of one.
pub(crate) struct Condition<'a> {
    /// Its text.
    pub(crate) text: &'a str,
    /// Where that begins.
    pub(crate) start: Location,
    pub(crate) kind: Kind<'a>,
}

pub(crate) enum Kind<'a> {
    And(Vec<Condition<'a>>),
    Or(Vec<Condition<'a>>),
    /// What holds no AND and no OR, but inside of a function, a CASE or under a NOT. Positions count in its own text.
    Leaf(Box<Result<Expr, SqlError>>),
}

/// Reads the text of a condition; what is wrong with a leaf stands in the leaf.
///
/// # Errors
/// When the text cannot be cut into tokens.
pub(crate) fn parse_condition(text: &str) -> Result<Condition<'_>, SqlError> {
    let tokens = tokenize(text).map_err(|error| error.with_text(text))?;
    let mut place = Place::start(text);
    let spoken = tokens.iter().filter(|token| is_spoken(token));
    let pieces: Vec<Piece> =
        spoken.map(|token| (token, place.of(token.span.start)..place.of(token.span.end))).collect();
    Ok(cut(text, &pieces, 0))
}

/// A token, and the bytes where it stands.
type Piece<'t> = (&'t TokenWithSpan, Range<usize>);

fn cut<'a>(text: &'a str, pieces: &[Piece<'_>], nesting: usize) -> Condition<'a> {
    let (own, start) = match (pieces.first(), pieces.last()) {
        (Some((first, from)), Some((_, to))) => (&text[from.start..to.end], first.span.start),
        _ => ("", Location::new(1, 1)),
    };
    let condition = |kind| Condition { text: own, start, kind };
    let parts = |at: &[usize]| {
        let starts = std::iter::once(0).chain(at.iter().map(|at| at + 1));
        let ends = at.iter().copied().chain([pieces.len()]);
        starts.zip(ends).map(|(start, end)| cut(text, &pieces[start..end], nesting)).collect()
    };
    let joints = Joints::of(pieces);
    if !joints.ors.is_empty() {
        return condition(Kind::Or(parts(&joints.ors)));
    }
    if !joints.ands.is_empty() {
        return condition(Kind::And(parts(&joints.ands)));
    }
    let leaf = |parsed| condition(Kind::Leaf(Box::new(parsed)));
    match pieces {
        [_, inside @ .., _] if joints.is_group => {
            if nesting < MAX_NESTING {
                cut(text, inside, nesting + 1)
            } else {
                leaf(Err(SqlError::at(TOO_DEEP, pieces[0].0.span).with_text(text)))
            }
        }
        _ => leaf(parse_expression(own)),
    }
}

/// Where the outer ANDs and ORs of a text stand.
#[derive(Default)]
struct Joints {
    ands: Vec<usize>,
    ors: Vec<usize>,
    /// The whole text is one pair of parentheses.
    is_group: bool,
}

impl Joints {
    fn of(pieces: &[Piece<'_>]) -> Self {
        let mut joints = Self::default();
        // An AND behind BETWEEN belongs to that.
        let (mut depth, mut betweens) = (0_usize, 0_usize);
        for (position, (TokenWithSpan { token, .. }, _)) in pieces.iter().enumerate() {
            let word = match token {
                Token::Word(word) if word.quote_style.is_none() => word.value.to_uppercase(),
                _ => String::new(),
            };
            match (token, word.as_str()) {
                (Token::LParen | Token::LBracket | Token::LBrace, _) | (_, "CASE") => depth += 1,
                (Token::RParen | Token::RBracket | Token::RBrace, _) | (_, "END") => depth = depth.saturating_sub(1),
                (_, "BETWEEN") if depth == 0 => betweens += 1,
                (_, "AND") if depth == 0 && betweens > 0 => betweens -= 1,
                (_, "AND") if depth == 0 => joints.ands.push(position),
                (_, "OR") if depth == 0 => {
                    joints.ors.push(position);
                    betweens = 0;
                }
                _ => {}
            }
            let opens = position == 0 && *token == Token::LParen;
            joints.is_group = opens || joints.is_group && (depth > 0 || position + 1 == pieces.len());
        }
        joints.is_group &= depth == 0;
        joints
    }
}
