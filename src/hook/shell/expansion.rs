//! Words, their quotes, and what the shell puts in the place of parts of them.

use super::part::{Sight, Word};
use super::reader::{End, Reader, Unread};

/// Shells differ in what quotes mean there.
const QUOTES: &str = "quotes stand in the braces of a variable";

impl Reader<'_> {
    /// Reads a word; an empty one where none begins.
    pub(super) fn word(&mut self) -> Result<Word, Unread> {
        let mut word = Word::default();
        let mut braced = false;
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>' => break,
                '\\' => {
                    self.at += 1;
                    match self.next() {
                        Some('\n') => {}
                        Some(c) => word.text.push(c),
                        None => word.text.push('\\'),
                    }
                }
                '\'' => {
                    self.at += 1;
                    self.single(&mut word)?;
                }
                '"' => {
                    self.at += 1;
                    self.quoted(&mut word, Some('"'))?;
                }
                '$' => self.dollar(&mut word, false)?,
                '`' => self.backtick(&mut word)?,
                _ => {
                    self.at += 1;
                    braced |= c == '{';
                    let listed = c == ',' || (c == '.' && self.peek() == Some('.'));
                    match c {
                        '*' | '?' | '[' => word.dim(Sight::Pattern),
                        '~' if word.text.is_empty() && !self.at_home() => word.dim(Sight::Hidden),
                        _ if braced && listed => word.dim(Sight::Hidden),
                        _ => {}
                    }
                    word.text.push(c);
                }
            }
        }
        Ok(word)
    }

    /// Whether a `~` that was just read stands for the home directory and nobody else's.
    fn at_home(&self) -> bool {
        self.peek().is_none_or(|c| " \t\n;&|()<>/".contains(c))
    }

    fn single(&mut self, word: &mut Word) -> Result<(), Unread> {
        loop {
            match self.next().ok_or(Unread::Unended)? {
                '\'' => return Ok(()),
                c => word.text.push(c),
            }
        }
    }

    /// Reads what stands in double quotes, or as in them up to the end of all.
    pub(super) fn quoted(&mut self, word: &mut Word, end: Option<char>) -> Result<(), Unread> {
        loop {
            match self.peek() {
                None if end.is_none() => return Ok(()),
                None => return Err(Unread::Unended),
                Some('$') => self.dollar(word, true)?,
                Some('`') => self.backtick(word)?,
                Some('\\') => {
                    self.at += 1;
                    match self.next().ok_or(Unread::Unended)? {
                        '\n' => {}
                        c @ ('$' | '`' | '"' | '\\') => word.text.push(c),
                        c => word.text.extend(['\\', c]),
                    }
                }
                c if c == end => {
                    self.at += 1;
                    return Ok(());
                }
                Some(c) => {
                    self.at += 1;
                    word.text.push(c);
                }
            }
        }
    }

    fn dollar(&mut self, word: &mut Word, quoted: bool) -> Result<(), Unread> {
        self.at += 1;
        match self.peek() {
            Some('(') => {
                self.at += 1;
                word.dim(Sight::Hidden);
                if self.peek() == Some('(') {
                    self.doubt("arithmetic stands in it");
                }
                self.inside()
            }
            Some('{') => {
                self.at += 1;
                word.dim(Sight::Hidden);
                self.braces(word)
            }
            Some('\'') if !quoted => {
                self.at += 1;
                word.dim(Sight::Hidden);
                self.escaped()
            }
            Some('"') if !quoted => Ok(()),
            Some(c) if c.is_alphanumeric() || "_@*#?-$!".contains(c) => {
                word.dim(Sight::Hidden);
                self.at += 1;
                while self.peek().is_some_and(|c| c.is_alphanumeric() || c == '_') {
                    self.at += 1;
                }
                Ok(())
            }
            Some('[') => {
                word.dim(Sight::Hidden);
                Ok(())
            }
            _ => {
                word.text.push('$');
                Ok(())
            }
        }
    }

    /// Reads `${…}` behind its first brace.
    fn braces(&mut self, word: &mut Word) -> Result<(), Unread> {
        loop {
            match self.peek().ok_or(Unread::Unended)? {
                '}' => {
                    self.at += 1;
                    return Ok(());
                }
                '\'' => {
                    self.doubt(QUOTES);
                    self.at += 1;
                }
                '\\' => {
                    self.doubt(QUOTES);
                    self.at += 2;
                }
                '"' => {
                    self.doubt(QUOTES);
                    self.at += 1;
                    self.quoted(word, Some('"'))?;
                }
                '$' => self.dollar(word, true)?,
                '`' => self.backtick(word)?,
                _ => self.at += 1,
            }
        }
    }

    /// Reads `$'…'` behind its first quote.
    fn escaped(&mut self) -> Result<(), Unread> {
        loop {
            match self.next().ok_or(Unread::Unended)? {
                '\'' => return Ok(()),
                '\\' => self.at += 1,
                _ => {}
            }
        }
    }

    fn backtick(&mut self, word: &mut Word) -> Result<(), Unread> {
        self.at += 1;
        word.dim(Sight::Hidden);
        let mut inner = Vec::new();
        loop {
            match self.next().ok_or(Unread::Unended)? {
                '`' => break,
                '\\' => match self.next().ok_or(Unread::Unended)? {
                    c @ ('`' | '\\' | '$' | '"') => inner.push(c),
                    c => inner.extend(['\\', c]),
                },
                c => inner.push(c),
            }
        }
        Reader::new(inner, self.depth + 1, self.script)?.script(End::Input)
    }
}
