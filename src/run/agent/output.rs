//! Everything that an agent prints: copied to its log, read, and never kept as a whole.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::{fs, io};

use anstream::adapter::strip_str;
use serde::de::IgnoredAny;
use serde_json::{Deserializer, Value};

use super::formats::{Reader, Stream};
use super::provider::ProviderError;
use super::transcript::{AgentEvent, BYTES_OF_A_TOKEN, Tail, Totals, end_of};
use super::usage::{spent, used_in};
use crate::base::process::{Exit, Pipe};
use crate::quest::json;
use crate::session::Spent;

const TAIL_BYTES: usize = 8 << 10;

// The end of the output of a known agent contains the error that ended it.
const LAST_WORDS: usize = 500;

// The line that reports usage is itself output.
const SLACK: u64 = 1_000;

#[derive(Debug)]
pub(super) struct Output {
    stream: Stream,
    log: CappedLog,
    lines: Lines,
    reader: Reader,
    errors: Tail,
    read: u64,
    written: u64,
}

impl Output {
    pub(super) fn new(
        stream: Stream,
        log: CappedLog,
        read: u64,
        resumed: Option<(String, Totals)>,
    ) -> Self {
        Self {
            stream,
            log,
            lines: Lines::default(),
            reader: Reader::new(stream, read, resumed),
            errors: Tail::new(TAIL_BYTES),
            read,
            written: 0,
        }
    }

    pub(super) fn take(&mut self, pipe: Pipe, bytes: &[u8]) {
        self.log.write(bytes);
        self.written += bytes.len() as u64;
        match pipe {
            Pipe::Out => self.lines.take(bytes, |line| self.reader.line(line)),
            Pipe::Err => self.errors.push(bytes),
        }
    }

    pub(super) fn written(&self) -> u64 {
        self.written
    }

    pub(super) fn events(&mut self) -> Vec<AgentEvent> {
        let mut events = self.reader.transcript.events();
        if self.reader.is_guessed() {
            // Any program could have printed this, so it counts as an estimate.
            for event in &mut events {
                if let AgentEvent::Spent(spent) = event {
                    spent.told = false;
                }
            }
        }
        events
    }

    pub(super) fn doing(&mut self) -> Option<String> {
        self.reader.transcript.doing()
    }

    pub(super) fn end(&mut self, how: Option<Exit>) -> AgentEnd {
        self.lines.end(|line| self.reader.line(line));
        self.reader.end();
        let transcript = &self.reader.transcript;
        let said = transcript.said.text();
        let (complaints, errors) = (transcript.complaints.text(), self.errors.text());
        let tail = last_of(&said, &complaints, &errors);
        let (last, told) = unwrapped(last_object(&said));
        let (answer, bad_answer) = match last.transpose() {
            Ok(answer) => (answer, None),
            Err(why) => (None, Some(why)),
        };
        let provider = transcript.provider.or_else(|| {
            let is_silent = said.is_empty() && complaints.is_empty();
            match self.stream {
                // Gemini CLI retries without an event.
                Stream::Events if is_silent && !transcript.has_answered() => {
                    ProviderError::of_lines(&errors)
                }
                // Its errors are mixed with its text.
                Stream::Text if answer.is_none() && bad_answer.is_none() => {
                    ProviderError::of_lines(end_of(&tail, LAST_WORDS))
                }
                _ => None,
            }
        });
        let (exit, signal) = match how {
            Some(Exit::Exited(code)) => (Some(code), None),
            Some(Exit::Signalled(signal)) => (None, Some(signal)),
            None => (None, None),
        };
        AgentEnd {
            exit,
            signal,
            answer,
            bad_answer,
            spent: self.spent(transcript.used.or(told)),
            tail,
            conversation: transcript.conversation.clone(),
            denied: transcript.denied,
            provider,
            totals: transcript.totals,
        }
    }

    // In a plain stream any program may have printed the usage line, so it is an estimate and
    // never less than what the output itself implies.
    fn spent(&self, told: Option<Spent>) -> Spent {
        let Some(told) = told else {
            return self.estimate();
        };
        if !self.reader.is_guessed() {
            return told;
        }
        let written = self.written / BYTES_OF_A_TOKEN;
        let believed = told.tokens.saturating_add(SLACK) >= written;
        Spent {
            tokens: told.tokens.max(if believed { 0 } else { written }),
            cost: told.cost,
            told: false,
        }
    }

    fn estimate(&self) -> Spent {
        let printed = self.read.saturating_add(self.written) / BYTES_OF_A_TOKEN;
        Spent {
            tokens: printed.max(self.reader.transcript.estimate()),
            cost: None,
            told: false,
        }
    }
}

/// The answer in a document about the whole work, which some agents print, with the reported usage.
fn unwrapped(last: LastObject) -> (LastObject, Option<Spent>) {
    let Some(Ok(document)) = &last else {
        return (last, None);
    };
    let told = used_in(document).map(|(tokens, cost)| spent(tokens.all, cost));
    if document["is_error"] == true {
        return (None, told);
    }
    let text = match (document["type"].as_str(), &document["stats"]) {
        (Some("result"), _) => document["result"].as_str(),
        (_, Value::Object(_)) => document["response"].as_str(),
        _ => None,
    };
    match text {
        Some(text) => (last_object(text), told),
        None => (last, told),
    }
}

fn last_of(said: &str, complaints: &str, errors: &str) -> String {
    let said = [said.trim(), complaints.trim()].join("\n");
    let text = if said.trim().is_empty() {
        errors
    } else {
        &said
    };
    let plain = strip_str(text).to_string();
    end_of(plain.trim(), TAIL_BYTES).to_owned()
}

const MAX_LINE_BYTES: usize = 4 << 20;

#[derive(Debug, Default)]
pub(super) struct Lines {
    line: Vec<u8>,
    too_long: bool,
}

impl Lines {
    // Lines without a brace or a colon carry no event, so they are handed on together: an agent
    // that prints a gigabyte of progress dots must not cost a call per line.
    pub(super) fn take(&mut self, mut piece: &[u8], mut each: impl FnMut(&[u8])) {
        let telling = piece.contains(&b'{') || piece.contains(&b':');
        if !telling && piece.contains(&b'\n') {
            let last = piece.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
            let (together, rest) = piece.split_at(last);
            if let Some((line, more)) = first_line(together) {
                self.grow(line);
                self.end(&mut each);
                if !more.is_empty() {
                    each(more);
                }
                piece = rest.get(1..).unwrap_or_default();
            }
        }
        while let Some((line, more)) = first_line(piece) {
            self.grow(line);
            self.end(&mut each);
            piece = more;
        }
        self.grow(piece);
    }

    pub(super) fn end(&mut self, mut each: impl FnMut(&[u8])) {
        if !self.too_long && !self.line.is_empty() {
            each(&self.line);
        }
        self.line.clear();
        // Frees the memory of one very long line.
        self.line.shrink_to(64 << 10);
        self.too_long = false;
    }

    fn grow(&mut self, piece: &[u8]) {
        self.too_long |= self.line.len() + piece.len() > MAX_LINE_BYTES;
        if self.too_long {
            self.line.clear();
        } else {
            self.line.extend_from_slice(piece);
        }
    }
}

fn first_line(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut rest = text;
    // The library looks at many bytes at once.
    let length = rest.skip_until(b'\n').ok()?;
    Some((text[..length].strip_suffix(b"\n")?, rest))
}

#[derive(Debug)]
pub(super) struct CappedLog {
    file: Option<File>,
    most: u64,
    left: u64,
}

impl CappedLog {
    // The agent may have created a file of this name, and must not choose what is written to.
    pub(super) fn create(path: &Path, most: u64) -> io::Result<Self> {
        const MAX_NAMES: u32 = 100;
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let mut opened = options.open(path);
        for number in 2..MAX_NAMES {
            if !matches!(&opened, Err(error) if error.kind() == io::ErrorKind::AlreadyExists) {
                break;
            }
            opened = options.open(path.with_extension(format!("{number}.log")));
        }
        let file = opened?;
        Ok(Self {
            file: Some(file),
            most,
            left: most,
        })
    }

    // A full disk must not end the agent: the log stops there.
    pub(super) fn write(&mut self, bytes: &[u8]) {
        let Some(file) = &mut self.file else { return };
        let room = usize::try_from(self.left).unwrap_or(usize::MAX);
        let taken = &bytes[..bytes.len().min(room)];
        self.left -= taken.len() as u64;
        let mut done = file.write_all(taken);
        let cut = taken.len() < bytes.len();
        if cut && done.is_ok() {
            done = writeln!(file, "\n[cut by comail: the log holds {} bytes]", self.most);
        }
        if cut || done.is_err() {
            self.file = None;
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct AgentEnd {
    pub exit: Option<i32>,
    // Neither `exit` nor `signal` is set when the agent's supervisor was killed.
    pub signal: Option<i32>,
    pub answer: Option<Value>,
    pub bad_answer: Option<String>,
    pub spent: Spent,
    pub tail: String,
    pub conversation: Option<String>,
    pub denied: bool,
    pub provider: Option<ProviderError>,
    pub totals: Totals,
}

/// A JSON object, or why its value may not be submitted.
type LastObject = Option<Result<Value, String>>;

/// Finds the last top-level JSON object that is complete. An object that breaks off at the end of
/// the text does not count.
fn last_object(text: &str) -> LastObject {
    let bytes = text.as_bytes();
    let (mut at, mut last) = (0, None);
    while let Some(found) = bytes[at..].iter().position(|byte| *byte == b'{') {
        let open = at + found;
        let rest = &text[open..];
        let mut values = Deserializer::from_str(rest).into_iter::<IgnoredAny>();
        match values.next() {
            Some(Ok(_)) => {
                at = open + values.byte_offset();
                last = Some(open..at);
            }
            // Continue after the part that was read, so that no byte is read twice.
            Some(Err(error)) if !error.is_eof() => at = open + error_offset(rest, &error).max(1),
            Some(Err(_)) | None => break,
        }
    }
    last.map(|range| json::value(&text[range]).map_err(|error| error.to_string()))
}

// The byte at which parsing failed: `line` and `column` count from 1.
fn error_offset(text: &str, error: &serde_json::Error) -> usize {
    let before = text
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1));
    before.map(str::len).sum::<usize>() + error.column().saturating_sub(1)
}

#[cfg(test)]
mod tests;
