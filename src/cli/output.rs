//! Where commands write: text or one JSON document to stdout, notes to stderr.

use std::cell::RefCell;
use std::io::{self, IsTerminal as _, Write};
use std::ops::ControlFlow;
use std::rc::Rc;

use clap::ColorChoice;
use clap::builder::StyledStr;
use serde::Serialize;

use super::tint;
use crate::base::text::{Escaped, escape_json};
pub use crate::report::Tone;

/// What is written, and how.
pub struct Output {
    out: Box<dyn Write>,
    notes: Box<dyn Write>,
    json: bool,
    colour: bool,
    terminal: bool,
    told: Told,
}

/// Which notes are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// All.
    All,
    /// Errors alone.
    Errors,
}

impl Output {
    /// The process's own streams.
    #[must_use]
    pub fn of_process(json: bool, colour: ColorChoice) -> Self {
        let wanted = match colour {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
                    && io::stdout().is_terminal()
            }
        };
        Self {
            out: Box::new(io::stdout()),
            notes: Box::new(io::stderr()),
            json,
            colour: wanted,
            terminal: io::stdout().is_terminal(),
            told: Told::All,
        }
    }

    /// The same, without notes that are no errors where `quiet`.
    #[must_use]
    pub fn quiet(self, quiet: bool) -> Self {
        let told = if quiet { Told::Errors } else { Told::All };
        Self { told, ..self }
    }

    /// An output of the same form whose stdout is kept, and what it keeps.
    #[must_use]
    pub(super) fn kept(&self) -> (Self, Kept) {
        let kept = Kept::default();
        let output = Self {
            out: Box::new(kept.clone()),
            notes: Box::new(io::stderr()),
            json: self.json,
            colour: self.colour,
            terminal: false,
            told: self.told,
        };
        (output, kept)
    }

    /// Whether the caller asked for JSON.
    #[must_use]
    pub fn is_json(&self) -> bool {
        self.json
    }

    /// Whether a person's terminal is at the other end of stdout.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// An empty paper, for [`Output::go_on`].
    #[must_use]
    pub fn paper(&self) -> Paper {
        Paper {
            text: String::new(),
            colour: self.colour,
        }
    }

    /// Writes what is on the paper at once, as part of what goes on, and empties it; breaks when
    /// nobody reads any more.
    pub fn go_on(&mut self, paper: &mut Paper) -> io::Result<ControlFlow<()>> {
        let written = self.out.write_all(paper.text.as_bytes());
        paper.text.clear();
        match written.and_then(|()| self.out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ControlFlow::Break(())),
            ended => ended.map(ControlFlow::Continue),
        }
    }

    /// Writes `value` as the one JSON document, or what `text` makes of it.
    ///
    /// A reader who has gone is no error: there is nobody left to tell, and how the command
    /// ended is so all the same.
    pub fn show<T: Serialize>(
        &mut self,
        value: &T,
        text: impl FnOnce(&mut Paper, &T),
    ) -> io::Result<()> {
        let written = if self.json {
            let json = serde_json::to_string(value)?;
            writeln!(self.out, "{}", escape_json(&json))
        } else {
            let mut paper = self.paper();
            text(&mut paper, value);
            self.out.write_all(paper.text.as_bytes())
        };
        match written.and_then(|()| self.out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            ended => ended,
        }
    }

    /// Writes a note for people to stderr, unless nobody wants any.
    pub fn note(&mut self, text: &str) {
        if self.told == Told::All {
            self.error(text);
        }
    }

    /// Writes what went wrong to stderr.
    pub fn error(&mut self, text: &str) {
        // A note that cannot be written must not change what the command does.
        // Whatever it repeats stays on its line: another would pass for this program's own.
        let _ = writeln!(self.notes, "comail: {}", Escaped(text));
    }
}

/// What was written to stdout, kept in memory.
#[derive(Debug, Clone, Default)]
pub(super) struct Kept(Rc<RefCell<Vec<u8>>>);

impl Kept {
    /// What was written so far.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.borrow()).into_owned()
    }
}

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Text in the making.
pub struct Paper {
    text: String,
    colour: bool,
}

impl Paper {
    /// An empty paper without colours, for who is no person.
    #[must_use]
    pub(super) fn plain() -> Self {
        Self {
            text: String::new(),
            colour: false,
        }
    }

    /// An empty one for the same reader.
    #[must_use]
    pub(super) fn like(&self) -> Self {
        Self {
            text: String::new(),
            colour: self.colour,
        }
    }

    /// What is on it.
    #[must_use]
    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// Adds a line. Text from outside goes through [`Escaped`] first.
    pub fn line(&mut self, line: impl AsRef<str>) {
        self.text.push_str(line.as_ref());
        self.text.push('\n');
    }

    /// Adds what the parser wrote, in its own colours where colours are wanted.
    pub(super) fn styled(&mut self, text: &StyledStr) {
        self.text.push_str(&if self.colour {
            text.ansi().to_string()
        } else {
            text.to_string()
        });
    }

    /// Whether colours are wanted.
    #[must_use]
    pub(super) fn has_colour(&self) -> bool {
        self.colour
    }

    /// How many bytes are on it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// Whether nothing is on it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Adds an empty line.
    pub fn gap(&mut self) {
        self.text.push('\n');
    }

    /// The word in its tone's colour, where colours are wanted.
    #[must_use]
    pub fn tint(&self, tone: Tone, word: &str) -> String {
        if self.colour {
            tint::tinted(tone, word)
        } else {
            word.to_owned()
        }
    }

    /// Its lines, each in pieces of one colour.
    pub(super) fn pieces(&self) -> impl Iterator<Item = Vec<(Option<Tone>, &str)>> {
        self.text.lines().map(tint::pieces)
    }
}
