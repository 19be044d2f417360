//! Here-documents, whose bodies stand after the line that asks for them.

use super::part::{Part, Sight, Word};
use super::reader::{Reader, Unread};

/// A here-document whose body is still to come.
#[derive(Debug)]
pub(super) struct Pending {
    end: String,
    /// Nothing is put in anything's place in its body.
    quoted: bool,
    /// Leading tabs do not count.
    tabbed: bool,
    body: usize,
}

impl Reader<'_> {
    /// Notes that a body comes after this line.
    pub(super) fn promise(
        &mut self,
        part: &mut Part,
        end: Word,
        quoted: bool,
        tabbed: bool,
    ) -> Result<(), Unread> {
        if end.sight == Sight::Hidden {
            return Err(Unread::Unended);
        }
        let body = self.script.bodies.len();
        self.script.bodies.push(Word::default());
        part.heredocs.push(body);
        self.pending.push(Pending {
            end: end.text,
            quoted,
            tabbed,
            body,
        });
        Ok(())
    }

    /// Reads the bodies that were promised.
    pub(super) fn bodies(&mut self) -> Result<(), Unread> {
        for pending in std::mem::take(&mut self.pending) {
            let mut text = String::new();
            loop {
                let line = self.line()?;
                let line = if pending.tabbed {
                    line.trim_start_matches('\t')
                } else {
                    &line
                };
                if line == pending.end {
                    break;
                }
                text.push_str(line);
                text.push('\n');
            }
            let mut word = Word::plain(&text);
            if !pending.quoted {
                if text.contains("\\\n") {
                    self.doubt("lines of a here-document are joined");
                }
                word = Word::default();
                let chars = text.chars().collect();
                Reader::new(chars, self.depth + 1, self.script)?.quoted(&mut word, None)?;
            }
            self.script.bodies[pending.body] = word;
        }
        Ok(())
    }

    fn line(&mut self) -> Result<String, Unread> {
        if self.peek().is_none() {
            return Err(Unread::Unended);
        }
        let mut line = String::new();
        while let Some(c) = self.next().filter(|&c| c != '\n') {
            line.push(c);
        }
        Ok(line)
    }
}
