//! Functions whose bodies stand in braces: Rust, JavaScript and Go.

mod tokens;

use self::tokens::{Token, Tokens};
use super::NoBody;

/// Which language's strings, comments and signatures to expect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Rust,
    Javascript,
    Go,
}

/// What a body is, by where it begins and ends.
#[derive(Debug, Clone, Copy)]
struct Body {
    start: usize,
    end: usize,
}

/// `function` with another body.
pub(super) fn replaced(function: &str, kind: Kind, with: &str) -> Result<String, NoBody> {
    let own_lines = with.contains('\n') || with.contains("//");
    let block = if own_lines {
        format!("{{\n{with}\n}}")
    } else {
        format!("{{ {with} }}")
    };
    check_block(&block, kind)?;
    let mut tokens = Tokens::new(function, kind);
    let body = match kind {
        Kind::Rust => declared(&mut tokens, "fn", rust_type),
        Kind::Go => declared(&mut tokens, "func", go_type),
        Kind::Javascript => javascript(&mut tokens),
    }?;
    check_rest(&mut tokens, kind)?;
    let (before, rest) = function.split_at(body.start);
    let (_, after) = rest.split_at(body.end - body.start);
    Ok([before, &block, after].concat())
}

/// The replacement opens and closes as one block.
fn check_block(block: &str, kind: Kind) -> Result<(), NoBody> {
    let bad = |_| NoBody::BadReplacement;
    let mut tokens = Tokens::new(block, kind);
    tokens.next().map_err(bad)?;
    let end = tokens.close().map_err(bad)?;
    if end == block.len() {
        Ok(())
    } else {
        Err(NoBody::BadReplacement)
    }
}

/// Nothing but what ends a statement follows the body.
fn check_rest(tokens: &mut Tokens<'_>, kind: Kind) -> Result<(), NoBody> {
    while let Some((_, token)) = tokens.next()? {
        let ends = match token {
            Token::Sign(';' | ',') => true,
            Token::Close(')') => kind == Kind::Javascript,
            _ => false,
        };
        if !ends {
            return Err(NoBody::More);
        }
    }
    Ok(())
}

/// The body of a function that a keyword declares. `is_type` tells of what stands before a brace
/// whether the brace belongs to a type.
fn declared(
    tokens: &mut Tokens<'_>,
    keyword: &str,
    is_type: fn(Option<Token<'_>>, usize) -> bool,
) -> Result<Body, NoBody> {
    let mut named = false;
    let mut before = None;
    let mut angles = 0_usize;
    while let Some((at, token)) = tokens.next()? {
        match token {
            Token::Word(word) if word == keyword => named = true,
            Token::Open('{') if !named => return Err(NoBody::NoFunction),
            Token::Open('{') if !is_type(before, angles) => {
                return Ok(Body {
                    start: at,
                    end: tokens.close()?,
                });
            }
            Token::Open(_) => {
                tokens.close()?;
            }
            Token::Close(_) => return Err(NoBody::NoFunction),
            Token::Sign(';') if named => return Err(NoBody::NoFunction),
            Token::Sign('<') if named => angles += 1,
            Token::Sign('>') => angles = angles.saturating_sub(1),
            _ => {}
        }
        before = Some(token);
    }
    Err(if named {
        NoBody::CutOff
    } else {
        NoBody::NoFunction
    })
}

/// A brace within generics is the value of a constant.
fn rust_type(_: Option<Token<'_>>, angles: usize) -> bool {
    angles > 0
}

/// A brace after these words is part of a type.
fn go_type(before: Option<Token<'_>>, _: usize) -> bool {
    matches!(before, Some(Token::Word("interface" | "struct")))
}

/// The body of a function, a method or an arrow function.
fn javascript(tokens: &mut Tokens<'_>) -> Result<Body, NoBody> {
    const NO_FUNCTION: [&str; 6] = ["if", "for", "while", "switch", "catch", "with"];
    let mut before = None;
    // What stood before the last parameters, and whether a type may follow them.
    let mut parameters: Option<Option<Token<'_>>> = None;
    while let Some((at, token)) = tokens.next()? {
        match token {
            Token::Arrow => return arrow(tokens),
            Token::Open('{') => {
                let is_type = matches!(before, Some(Token::Sign(':' | '|' | '&' | '<' | ',')));
                let called = parameters.flatten();
                let controls =
                    matches!(called, Some(Token::Word(word)) if NO_FUNCTION.contains(&word));
                match parameters {
                    Some(_) if is_type => drop(tokens.close()?),
                    Some(_) if !controls => {
                        return Ok(Body {
                            start: at,
                            end: tokens.close()?,
                        });
                    }
                    _ => return Err(NoBody::NoFunction),
                }
            }
            Token::Open(bracket) => {
                tokens.close()?;
                if bracket == '(' {
                    parameters = Some(before);
                }
            }
            Token::Close(_) | Token::Sign(';') => return Err(NoBody::NoFunction),
            _ => {}
        }
        before = Some(token);
    }
    Err(if parameters.is_some() {
        NoBody::CutOff
    } else {
        NoBody::NoFunction
    })
}

/// What follows an arrow: a block, or an expression up to what ends it.
fn arrow(tokens: &mut Tokens<'_>) -> Result<Body, NoBody> {
    let Some((start, first)) = tokens.next()? else {
        return Err(NoBody::CutOff);
    };
    if first == Token::Open('{') {
        return Ok(Body {
            start,
            end: tokens.close()?,
        });
    }
    let mut next = Some((start, first));
    let mut end = start;
    while let Some((at, token)) = next {
        match token {
            Token::Sign(';' | ',') | Token::Close(_) => {
                tokens.back(at);
                break;
            }
            Token::Word(word) if begins_statement(word) && tokens.breaks(end, at) => {
                return Err(NoBody::More);
            }
            Token::Open(_) => end = tokens.close()?,
            _ => end = tokens.at(),
        }
        next = tokens.next()?;
    }
    if end == start {
        Err(NoBody::NoFunction)
    } else {
        Ok(Body { start, end })
    }
}

/// Whether a word at the begin of a line begins a statement of its own.
fn begins_statement(word: &str) -> bool {
    const WORDS: [&str; 12] = [
        "const", "let", "var", "function", "class", "export", "import", "return", "if", "for",
        "while", "async",
    ];
    WORDS.contains(&word)
}
