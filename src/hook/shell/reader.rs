//! Reading a line as a shell would.

use super::heredoc::Pending;
use super::part::{Part, Script, Sight, Word};

/// The longest line that is taken apart, in characters.
const MOST_CHARS: usize = 100_000;

/// How deep commands may stand in one another.
const MOST_DEPTH: usize = 24;

/// A line that is not understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(in crate::hook) enum Unread {
    #[error("it is too long")]
    Long,
    #[error("commands stand in one another too deep")]
    Deep,
    #[error("it has a control character")]
    Control,
    #[error("a quote, a bracket or a here-document has no end")]
    Unended,
    #[error("`case` stands in a bracket")]
    CaseInside,
}

/// Takes a line apart.
pub(in crate::hook) fn read(line: &str) -> Result<Script, Unread> {
    if line.chars().nth(MOST_CHARS).is_some() {
        return Err(Unread::Long);
    }
    if line.contains(|c: char| c.is_control() && c != '\n' && c != '\t') {
        return Err(Unread::Control);
    }
    let mut script = Script::default();
    Reader::new(line.chars().collect(), 0, &mut script)?.script(End::Input)?;
    Ok(script)
}

/// Where commands end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Input,
    Bracket,
}

/// A place in a text, and what was found before it.
pub(super) struct Reader<'a> {
    pub(super) chars: Vec<char>,
    pub(super) at: usize,
    pub(super) depth: usize,
    pub(super) script: &'a mut Script,
    pub(super) pending: Vec<Pending>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(
        chars: Vec<char>,
        depth: usize,
        script: &'a mut Script,
    ) -> Result<Self, Unread> {
        if depth > MOST_DEPTH {
            return Err(Unread::Deep);
        }
        Ok(Self {
            chars,
            at: 0,
            depth,
            script,
            pending: Vec::new(),
        })
    }

    /// Notes that it is not sure whether all is seen; the first ground counts.
    pub(super) fn doubt(&mut self, why: &'static str) {
        self.script.doubt.get_or_insert(why);
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.ahead(0)
    }

    pub(super) fn ahead(&self, by: usize) -> Option<char> {
        self.chars.get(self.at + by).copied()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let next = self.peek();
        self.at += usize::from(next.is_some());
        next
    }

    /// Reads commands up to their end.
    pub(super) fn script(&mut self, end: End) -> Result<(), Unread> {
        let mut part = Part::default();
        loop {
            match self.peek() {
                None if end == End::Input && self.pending.is_empty() => {
                    return self.finish(&mut part);
                }
                None => return Err(Unread::Unended),
                Some(' ' | '\t') => self.at += 1,
                Some('\\') if self.ahead(1) == Some('\n') => self.at += 2,
                Some('#') => {
                    if self.at > 0 && self.chars[self.at - 1] == ')' {
                        self.doubt("a `#` stands behind a bracket");
                    }
                    self.comment();
                }
                Some('\n') => {
                    self.at += 1;
                    self.finish(&mut part)?;
                    self.bodies()?;
                }
                Some('&') if self.ahead(1) == Some('>') => {
                    self.at += 1;
                    self.redirect(&mut part)?;
                }
                Some(';' | '|' | '&') => {
                    self.at += 1;
                    self.finish(&mut part)?;
                }
                Some('(') => {
                    self.at += 1;
                    self.finish(&mut part)?;
                    if self.peek() == Some('(') {
                        self.doubt("arithmetic stands in it");
                    }
                    self.inside()?;
                }
                Some(')') => {
                    self.at += 1;
                    self.finish(&mut part)?;
                    if end == End::Bracket {
                        return Ok(());
                    }
                }
                Some('<' | '>') => self.redirect(&mut part)?,
                Some(_) => self.argument(&mut part)?,
            }
        }
    }

    /// Reads the commands of a bracket that was just opened.
    pub(super) fn inside(&mut self) -> Result<(), Unread> {
        if self.depth >= MOST_DEPTH {
            return Err(Unread::Deep);
        }
        self.depth += 1;
        let pending = self.pending.len();
        self.script(End::Bracket)?;
        if self.pending.len() > pending {
            self.doubt("a here-document goes on behind its bracket");
        }
        self.depth -= 1;
        Ok(())
    }

    fn finish(&mut self, part: &mut Part) -> Result<(), Unread> {
        // The brackets of its patterns would be taken for the end of the one it stands in.
        if self.depth > 0 && part.words.iter().any(|word| word.is("case")) {
            return Err(Unread::CaseInside);
        }
        if !part.is_empty() {
            self.script.parts.push(std::mem::take(part));
        }
        Ok(())
    }

    fn comment(&mut self) {
        while self.peek().is_some_and(|c| c != '\n') {
            self.at += 1;
        }
    }

    fn argument(&mut self, part: &mut Part) -> Result<(), Unread> {
        let word = self.word()?;
        let of_redirect = matches!(self.peek(), Some('<' | '>'))
            && !word.text.is_empty()
            && word.text.bytes().all(|b| b.is_ascii_digit());
        let named = matches!(self.peek(), Some('<' | '>'))
            && word.text.len() > 2
            && word.text.starts_with('{')
            && word.text.ends_with('}');
        if named {
            self.doubt("a descriptor has a name");
        } else if !of_redirect {
            part.words.push(word);
        }
        Ok(())
    }

    fn redirect(&mut self, part: &mut Part) -> Result<(), Unread> {
        let mut sign = String::new();
        while let Some(c @ ('<' | '>' | '&' | '|' | '-')) = self.peek() {
            let grown = format!("{sign}{c}");
            let known = ["<", "<<", "<<-", "<<<", "<&", "<>", ">", ">>", ">&", ">|"];
            if !known.contains(&grown.as_str()) {
                break;
            }
            self.at += 1;
            sign = grown;
        }
        if matches!(sign.as_str(), "<" | ">") && self.peek() == Some('(') {
            self.at += 1;
            self.doubt("a command stands in the place of a file");
            self.inside()?;
            part.words.push(Word {
                text: String::new(),
                sight: Sight::Hidden,
            });
            return Ok(());
        }
        while matches!(self.peek(), Some(' ' | '\t')) {
            self.at += 1;
        }
        let from = self.at;
        let word = self.word()?;
        let quoted = self.chars[from..self.at]
            .iter()
            .any(|c| "'\"\\".contains(*c));
        match sign.as_str() {
            "<<" | "<<-" => self.promise(part, word, quoted, sign.ends_with('-'))?,
            "<<<" => part.fed.push(word),
            "<" => part.reads.push(word),
            "<&" => {}
            ">&" if is_descriptor(&word) => {}
            _ => part.writes.push(word),
        }
        Ok(())
    }
}

fn is_descriptor(word: &Word) -> bool {
    word.is_plain() && !word.text.is_empty() && word.text.chars().all(|c| "0123456789-".contains(c))
}
