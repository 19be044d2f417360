//! The tokens of a language with braces, as far as telling code from text needs them.

use super::super::NoBody;
use super::super::scan;
use super::Kind;

/// One token; comments are none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Word(&'a str),
    /// A string, a character, a template or a regular expression.
    Text,
    /// `=>`
    Arrow,
    Open(char),
    Close(char),
    Sign(char),
}

/// A source, read token by token.
#[derive(Debug)]
pub(super) struct Tokens<'a> {
    source: &'a str,
    kind: Kind,
    at: usize,
    before: Option<Token<'a>>,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(source: &'a str, kind: Kind) -> Self {
        let before = None;
        Self {
            source,
            kind,
            at: 0,
            before,
        }
    }

    /// Where the next token is looked for.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Goes back to a token that began at `at`.
    pub(super) fn back(&mut self, at: usize) {
        self.at = at;
    }

    /// Whether a line ends between two places.
    pub(super) fn breaks(&self, from: usize, to: usize) -> bool {
        self.source
            .get(from..to)
            .is_some_and(|between| between.contains('\n'))
    }

    /// The next token and where it begins.
    pub(super) fn next(&mut self) -> Result<Option<(usize, Token<'a>)>, NoBody> {
        loop {
            let rest = self.source.get(self.at..).unwrap_or_default();
            let Some(letter) = rest.chars().next() else {
                return Ok(None);
            };
            let start = self.at;
            if letter.is_whitespace() {
                self.at += letter.len_utf8();
            } else if rest.starts_with("//") {
                self.at = scan::line(self.source, start);
            } else if rest.starts_with("/*") {
                self.at = self.comment(start).ok_or(NoBody::CutOff)?;
            } else {
                let (end, token) = self.token(start, letter).ok_or(NoBody::CutOff)?;
                self.at = end;
                self.before = Some(token);
                return Ok(Some((start, token)));
            }
        }
    }

    /// Reads on to the end of the bracket that the last token opened; gives where it ends.
    pub(super) fn close(&mut self) -> Result<usize, NoBody> {
        let Some(Token::Open(first)) = self.before else {
            return Err(NoBody::NoFunction);
        };
        let mut open = vec![first];
        while let Some(last) = open.last().copied() {
            let (_, token) = self.next()?.ok_or(NoBody::CutOff)?;
            match token {
                Token::Open(bracket) => open.push(bracket),
                Token::Close(bracket) if closing(last) == bracket => drop(open.pop()),
                Token::Close(_) => return Err(NoBody::NoFunction),
                _ => {}
            }
        }
        Ok(self.at)
    }

    /// Where a comment ends; Rust's hold one another.
    fn comment(&self, start: usize) -> Option<usize> {
        if self.kind != Kind::Rust {
            return scan::until(self.source, start + 2, "*/");
        }
        let mut depth = 1_u32;
        let mut at = start + 2;
        while depth > 0 {
            match self.source.as_bytes().get(at..at + 2)? {
                b"/*" => depth += 1,
                b"*/" => depth -= 1,
                _ => {
                    at += 1;
                    continue;
                }
            }
            at += 2;
        }
        Some(at)
    }

    fn token(&self, start: usize, letter: char) -> Option<(usize, Token<'a>)> {
        let one = start + letter.len_utf8();
        let text = |end: Option<usize>| Some((end?, Token::Text));
        match (self.kind, letter) {
            (_, '(' | '[' | '{') => Some((one, Token::Open(letter))),
            (_, ')' | ']' | '}') => Some((one, Token::Close(letter))),
            (Kind::Rust, '"') => text(scan::quoted(self.source, start, "\"", false)),
            (Kind::Rust, '\'') => Some(self.rust_quote(start)),
            (Kind::Go, '`') => text(scan::until(self.source, one, "`")),
            (Kind::Javascript, '`') => text(self.template(start)),
            (_, '"' | '\'') => text(scan::quoted(self.source, start, &letter.to_string(), true)),
            (Kind::Javascript, '/') if self.regex_may_begin() => text(self.regex(start)),
            (_, '=' | '-') if self.source.get(one..)?.starts_with('>') => {
                // An arrow to a type is no bracket either.
                let token = if letter == '=' {
                    Token::Arrow
                } else {
                    Token::Sign('-')
                };
                Some((one + 1, token))
            }
            _ if scan::is_word(letter) => {
                let word = scan::word(self.source, start);
                let end = start + word.len();
                let raw = matches!(word, "r" | "br" | "cr") && self.kind == Kind::Rust;
                match raw.then(|| self.raw(end)).flatten() {
                    Some(hashes) => {
                        let close = format!("\"{}", "#".repeat(hashes));
                        text(scan::until(self.source, end + hashes + 1, &close))
                    }
                    None => Some((end, Token::Word(word))),
                }
            }
            _ => Some((one, Token::Sign(letter))),
        }
    }

    /// How many `#` stand before the quote of a raw string.
    fn raw(&self, at: usize) -> Option<usize> {
        let rest = self.source.get(at..)?;
        let hashes = rest.len() - rest.trim_start_matches('#').len();
        rest.get(hashes..)?.starts_with('"').then_some(hashes)
    }

    /// A character or a lifetime.
    fn rust_quote(&self, start: usize) -> (usize, Token<'a>) {
        let rest = self.source.get(start + 1..).unwrap_or_default();
        let mut letters = rest.char_indices();
        let first = letters.next().map(|(_, letter)| letter);
        let second = letters.next();
        if first == Some('\\') {
            let end = scan::quoted(self.source, start, "'", true);
            return (end.unwrap_or(self.source.len()), Token::Text);
        }
        match second {
            Some((at, '\'')) => (start + 1 + at + 1, Token::Text),
            _ => (start + 1, Token::Sign('\'')),
        }
    }

    /// Where a template ends; the code within it can hold strings and templates again.
    fn template(&self, start: usize) -> Option<usize> {
        // How many braces are open in each piece of code that holds what is read.
        let mut code: Vec<u32> = Vec::new();
        let mut in_text = true;
        let mut at = start + 1;
        loop {
            let rest = self.source.get(at..)?;
            let letter = rest.chars().next()?;
            let mut step = letter.len_utf8();
            match letter {
                '\\' => step += rest.chars().nth(1)?.len_utf8(),
                '`' if in_text && code.is_empty() => return Some(at + 1),
                '`' => in_text = !in_text,
                '$' if in_text && rest.starts_with("${") => {
                    code.push(0);
                    in_text = false;
                    step = 2;
                }
                _ if in_text => {}
                '"' | '\'' => step = scan::quoted(self.source, at, &letter.to_string(), true)? - at,
                '{' => *code.last_mut()? += 1,
                '}' => match code.last_mut()? {
                    0 => {
                        code.pop();
                        in_text = true;
                    }
                    open => *open -= 1,
                },
                _ => {}
            }
            at += step;
        }
    }

    /// Whether a slash begins a regular expression rather than dividing.
    fn regex_may_begin(&self) -> bool {
        match self.before {
            None | Some(Token::Arrow | Token::Open(_) | Token::Sign(_)) => true,
            Some(Token::Word(word)) => {
                matches!(
                    word,
                    "return" | "typeof" | "case" | "in" | "of" | "throw" | "await" | "void"
                )
            }
            Some(Token::Text | Token::Close(_)) => false,
        }
    }

    fn regex(&self, start: usize) -> Option<usize> {
        let mut class = false;
        let mut at = start + 1;
        loop {
            let rest = self.source.get(at..)?;
            let letter = rest.chars().next()?;
            at += letter.len_utf8();
            match letter {
                '\n' => return None,
                '\\' => at += rest.chars().nth(1)?.len_utf8(),
                '[' => class = true,
                ']' => class = false,
                '/' if !class => return Some(at),
                _ => {}
            }
        }
    }
}

fn closing(open: char) -> char {
    match open {
        '(' => ')',
        '[' => ']',
        _ => '}',
    }
}
