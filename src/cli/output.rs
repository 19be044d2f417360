//! Where commands write: text or one JSON document to stdout, notes and errors to stderr.

use std::borrow::Cow;
use std::cell::RefCell;
use std::io::{self, IsTerminal as _, Write};
use std::ops::ControlFlow;
use std::rc::Rc;

use clap::ColorChoice;
use clap::builder::StyledStr;
use jiff::SignedDuration;
use minijinja::value::Value;
use minijinja::{Environment, Error, ErrorKind};
use serde::Serialize;

use super::exit::{ErrorReply, hint_of};
use super::fit::fit;
use super::pager::Pager;
use super::progress;
use super::terminal::{is_dumb, size};
use crate::base::text::{Escaped, EscapedLines, escape_json};
use crate::report::template;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tone {
    Good,
    Doubt,
    Bad,
    Strong,
}

/// Each tone with its name in templates and its code for a terminal.
const TONES: [(Tone, &str, &str); 4] = [
    (Tone::Good, "good", "[32m"),
    (Tone::Doubt, "doubt", "[33m"),
    (Tone::Bad, "bad", "[31m"),
    (Tone::Strong, "strong", "[1m"),
];

const ESCAPE: char = '\u{1b}';

const END: &str = "[0m";

#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts about where the output goes"
)]
pub struct Output {
    out: Box<dyn Write>,
    pub(super) json: bool,
    pub(super) colour: bool,
    quiet: bool,
    /// Whether stdout is a terminal.
    pub(super) terminal: bool,
    /// Whether lines are broken to fit the terminal.
    fits: bool,
}

impl Output {
    pub fn of_process(json: bool, colour: ColorChoice, quiet: bool) -> Self {
        if quiet || is_dumb() {
            progress::hide_bars();
        }
        let terminal = io::stdout().is_terminal();
        let no_colour = || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self {
            out: Box::new(io::stdout()),
            json,
            colour: match colour {
                ColorChoice::Always => true,
                ColorChoice::Never => false,
                ColorChoice::Auto => terminal && !no_colour() && !is_dumb(),
            },
            quiet,
            terminal,
            fits: terminal && !json,
        }
    }

    /// Stops breaking lines, because the output is meant for a file or another program.
    pub(super) fn keep_lines(&mut self) {
        self.fits = false;
    }

    /// Whether lines can be redrawn on a terminal.
    pub(super) fn is_watched(&self) -> bool {
        self.terminal && !self.json && !self.quiet && !is_dumb()
    }

    /// Sends text that is longer than the terminal through the user's pager from now on.
    pub(super) fn page(&mut self) {
        if self.terminal
            && !self.json
            && !is_dumb()
            && let Some(pager) = Pager::of_environment()
        {
            self.out = Box::new(pager);
        }
    }

    /// An output of text that is kept in memory.
    pub(super) fn kept(&self) -> (Self, Kept) {
        let kept = Kept::default();
        let output = Self {
            out: Box::new(kept.clone()),
            json: false,
            terminal: false,
            fits: false,
            ..*self
        };
        (output, kept)
    }

    /// An output in memory for a client of `serve`.
    pub(super) fn for_client(json: bool, colour: bool) -> (Self, Kept) {
        let kept = Kept::default();
        let output = Self {
            out: Box::new(kept.clone()),
            json,
            colour,
            quiet: false,
            terminal: false,
            fits: false,
        };
        (output, kept)
    }

    pub fn out(&self) -> TextOutput {
        TextOutput {
            colour: self.colour,
            columns: self.fits.then(|| size().columns),
            ..TextOutput::default()
        }
    }

    /// Writes the text so far, and breaks if stdout is a closed pipe.
    pub fn go_on(&mut self, out: &mut TextOutput) -> io::Result<ControlFlow<()>> {
        self.write(&std::mem::take(&mut out.text))
    }

    /// Writes `value` as JSON, or as `text` renders it. A closed pipe is not an error, because the
    /// command has done its work.
    pub fn show<T: Serialize>(
        &mut self,
        value: &T,
        text: impl FnOnce(&mut TextOutput, &T),
    ) -> io::Result<()> {
        let mut out = self.out();
        if self.json {
            out.line(escape_json(&serde_json::to_string(value)?));
        } else {
            text(&mut out, value);
        }
        self.write(&out.text).map(drop)
    }

    /// Writes `value` as JSON, or as a template renders it.
    pub(super) fn show_as<T: Serialize>(
        &mut self,
        value: &T,
        template: &'static str,
    ) -> io::Result<()> {
        self.show(value, |out, value| out.template(template, value))
    }

    pub(super) fn print(&mut self, text: &StyledStr) -> io::Result<()> {
        let mut out = self.out();
        out.styled(text);
        self.write(&out.text).map(drop)
    }

    /// Writes what a server printed.
    pub(super) fn pass_on(&mut self, text: &str) -> io::Result<()> {
        self.write(text).map(drop)
    }

    /// Writes the document of an error, which is on stderr as text.
    pub(super) fn fail(&mut self, reply: &ErrorReply) {
        if self.json {
            // An error that cannot be written must not change how the command ends.
            let _ = self.show(reply, |_, _| {});
        }
    }

    fn write(&mut self, text: &str) -> io::Result<ControlFlow<()>> {
        let text = if self.fits {
            Cow::from(fit(text, size().columns))
        } else {
            text.into()
        };
        let written = self.out.write_all(text.as_bytes());
        match written.and_then(|()| self.out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ControlFlow::Break(())),
            ended => ended.map(ControlFlow::Continue),
        }
    }

    pub fn note(&mut self, text: &str) {
        if !self.quiet {
            write_message("note", text);
        }
    }

    pub fn hint(&mut self, text: &str) {
        if !self.quiet {
            write_message("hint", text);
        }
    }
}

pub(super) fn write_error(error: &anyhow::Error) {
    write_message("error", &format!("{error:#}"));
    if let Some(hint) = hint_of(error) {
        write_message("hint", hint);
    }
}

pub(super) fn write_message(kind: &str, text: &str) {
    // Messages repeat arguments and file names. Their line breaks are escaped, so that they cannot
    // forge another message.
    write_to_stderr(&format!("{kind}: {}\n", Escaped(text)));
}

pub(super) fn write_to_stderr(text: &str) {
    let text = if io::stderr().is_terminal() {
        Cow::from(fit(text, size().columns))
    } else {
        text.into()
    };
    // A message that cannot be written must not change how the command ends.
    let _ = io::stderr().write_all(text.as_bytes());
}

#[derive(Debug, Clone, Default)]
pub(super) struct Kept(Rc<RefCell<Vec<u8>>>);

impl Kept {
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.borrow()).into_owned()
    }
}

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Text for a terminal or a file.
#[derive(Default)]
pub struct TextOutput {
    text: String,
    colour: bool,
    /// The width of the terminal that it is for.
    columns: Option<usize>,
    /// Made for the first template.
    environment: Option<Environment<'static>>,
}

impl TextOutput {
    pub(super) fn plain() -> Self {
        Self::default()
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// The width for text that usually has `usual` columns.
    pub(super) fn columns(&self, usual: usize) -> usize {
        self.columns.unwrap_or(usual).min(usual)
    }

    /// Adds a line. Text from outside goes through [`Escaped`] first.
    pub fn line(&mut self, line: impl AsRef<str>) {
        self.text.push_str(line.as_ref());
        self.text.push('\n');
    }

    pub fn gap(&mut self) {
        self.text.push('\n');
    }

    pub(super) fn styled(&mut self, text: &StyledStr) {
        self.text.push_str(&if self.colour {
            text.ansi().to_string()
        } else {
            text.to_string()
        });
    }

    /// Adds the text that a template renders from the values that `--json` prints.
    pub(super) fn template(&mut self, template: &'static str, values: impl Serialize) {
        let text = self.rendered(template, values);
        if !text.trim().is_empty() {
            self.line(text.trim_end_matches('\n'));
        }
    }

    /// The text that a template renders from `values`. All text in them is escaped.
    pub(super) fn rendered(&mut self, template: &'static str, values: impl Serialize) -> String {
        let colour = self.colour;
        let environment = self
            .environment
            .get_or_insert_with(|| self::environment(colour));
        // The text serves as the name, so that a template in a loop is compiled once.
        let added = match environment.get_template(template) {
            Ok(_) => Ok(()),
            Err(_) => environment.add_template(template, template),
        };
        let made = added.and_then(|()| environment.get_template(template)?.render(values));
        // A bug in a template must not hide the result of the command.
        made.unwrap_or_else(|error| format!("this text could not be made: {error}"))
    }

    pub fn tint(&self, tone: Tone, word: &str) -> String {
        tinted(self.colour, tone, word)
    }

    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// The pieces of each line, with their colours.
    pub(super) fn pieces(&self) -> impl Iterator<Item = Vec<(Option<Tone>, &str)>> {
        self.text.lines().map(pieces)
    }
}

fn environment(colour: bool) -> Environment<'static> {
    let mut environment = template::environment(|text| Escaped(text).to_string());
    // A mistake in it is reported when a template imports it.
    let _ = environment.add_template("common.txt", include_str!("text/common.txt"));
    environment.add_filter("tint", move |word: &str, name: &str| {
        let found = TONES.iter().find(|(_, known, _)| *known == name);
        let (tone, ..) = found.ok_or_else(|| Error::new(ErrorKind::InvalidOperation, "no tone"))?;
        let word = Escaped(word).to_string();
        Ok::<_, Error>(Value::from_safe_string(tinted(colour, *tone, &word)))
    });
    environment.add_filter("seconds", |seconds: i64| {
        format!("{:#}", SignedDuration::from_secs(seconds))
    });
    environment.add_filter("verbatim", |text: &str| {
        Value::from_safe_string(EscapedLines(text.trim_end()).to_string())
    });
    // Further lines begin with a mark, so that none of them looks like a line of comail.
    environment.add_filter("in_lines", |text: &str, indent: usize| {
        let lines: Vec<_> = text
            .trim_end()
            .lines()
            .map(|line| Escaped(line).to_string())
            .collect();
        let joint = format!("\n{:indent$}| ", "");
        Value::from_safe_string(lines.join(&joint))
    });
    environment
}

fn tinted(colour: bool, tone: Tone, word: &str) -> String {
    match TONES.iter().find(|(of, ..)| *of == tone) {
        Some((_, _, code)) if colour => format!("{ESCAPE}{code}{word}{ESCAPE}{END}"),
        _ => word.to_owned(),
    }
}

fn pieces(line: &str) -> Vec<(Option<Tone>, &str)> {
    let mut parts = line.split(ESCAPE);
    let mut pieces = vec![(None, parts.next().unwrap_or_default())];
    for part in parts {
        let begins = |(tone, _, code): &(Tone, &str, &str)| {
            let text = part.strip_prefix(code)?;
            Some((Some(*tone), text))
        };
        let plain = || (None, part.strip_prefix(END).unwrap_or(part));
        pieces.push(TONES.iter().find_map(begins).unwrap_or_else(plain));
    }
    pieces.retain(|(_, text)| !text.is_empty());
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tinted_text_splits_into_its_pieces() {
        let tinted = |tone, word| tinted(true, tone, word);
        let (doubt, bad) = (tinted(Tone::Doubt, "m[0m"), tinted(Tone::Bad, "y"));
        let expected = [
            (None, "  "),
            (Some(Tone::Doubt), "m[0m"),
            (None, " x "),
            (Some(Tone::Bad), "y"),
        ];
        assert_eq!(pieces(&format!("  {doubt} x {bad}")), expected);
        assert_eq!(pieces("plain"), [(None, "plain")]);
        assert_eq!(pieces(""), []);
    }
}
