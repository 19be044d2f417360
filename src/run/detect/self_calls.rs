//! The calls of comail itself, as an agent makes them through a shell.

use serde_json::Value;

use super::self_calls;
use crate::base::Digest;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SelfCall {
    Next,
    Status,
    Submit(Digest),
}

const PROGRAM: &str = "comail";

const COMMAND_KEYS: [&str; 3] = ["command", "cmd", "script"];

// A line that only waits and asks is polling, whatever it pipes the answer through.
const IDLE: [&str; 15] = [
    "sleep", "wait", "cd", "pwd", "true", ":", "echo", "printf", "date", "cat", "head", "tail",
    "grep", "jq", "export",
];

const WITH_VALUE: [&str; 2] = ["--session", "--color"];

impl SelfCall {
    #[must_use]
    pub fn in_arguments(arguments: &Value) -> Option<Self> {
        let mut commands = COMMAND_KEYS.iter().filter_map(|key| arguments.get(key));
        commands.find_map(|command| match command {
            Value::String(line) => Self::in_command(line),
            Value::Array(words) => {
                let words: Option<Vec<_>> = words.iter().map(Value::as_str).collect();
                Self::in_simple(&[Simple::of_words(words?)])
            }
            _ => None,
        })
    }

    /// The call of comail in a shell command line. A submission always counts; `next` or `status`
    /// counts only if the line does nothing else.
    #[must_use]
    pub fn in_command(line: &str) -> Option<Self> {
        Self::in_simple(&self_calls::simple_commands(line))
    }

    fn in_simple(commands: &[Simple]) -> Option<Self> {
        let mut asked = None;
        let mut does_more = false;
        for command in commands {
            let Some((program, rest)) = command.called() else {
                continue;
            };
            if let Some(line) = self_calls::script_of(program, rest) {
                match Self::in_command(line) {
                    Some(submit @ Self::Submit(_)) => return Some(submit),
                    Some(question) => asked = Some(question),
                    None => does_more = true,
                }
            } else if program == PROGRAM {
                match Self::of_words(rest) {
                    Some(submit @ Self::Submit(_)) => return Some(submit),
                    Some(question) => asked = Some(question),
                    None => does_more = true,
                }
            } else {
                does_more |= !IDLE.contains(&program);
            }
        }
        asked.filter(|_| !does_more)
    }

    #[must_use]
    pub fn of_words<S: AsRef<str>>(words: &[S]) -> Option<Self> {
        let mut words = words.iter().map(AsRef::as_ref);
        let command = loop {
            let word = words.next()?;
            if WITH_VALUE.contains(&word) {
                words.next()?;
            } else if !word.starts_with('-') {
                break word;
            }
        };
        match command {
            "next" => Some(Self::Next),
            "status" => Some(Self::Status),
            "submit" => Some(Self::Submit(digest_of_flags(words))),
            _ => None,
        }
    }
}

fn digest_of_flags<'a>(words: impl Iterator<Item = &'a str>) -> Digest {
    let mut words = words.peekable();
    let mut flags = Vec::new();
    while let Some(word) = words.next() {
        if let Some((flag, value)) = word.split_once('=')
            && flag.starts_with("--")
        {
            flags.push((flag, value));
        } else if word.starts_with("--") {
            let value = words.next_if(|next| !next.starts_with("--"));
            flags.push((word, value.unwrap_or_default()));
        } else {
            flags.push(("", word));
        }
    }
    flags.sort_unstable();
    let parts: Vec<_> = flags
        .iter()
        .flat_map(|(flag, value)| [*flag, *value])
        .collect();
    Digest::of(serde_json::json!(parts).to_string().as_bytes())
}

const BEFORE: [&str; 14] = [
    "while", "until", "if", "then", "elif", "else", "do", "!", "time", "exec", "env", "nohup",
    "command", "{",
];

const AFTER: [&str; 5] = ["done", "fi", "esac", "}", "break"];

const SHELLS: [&str; 5] = ["sh", "bash", "dash", "zsh", "ksh"];

const MAX_BYTES: usize = 64 * 1024;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Simple {
    words: Vec<String>,
}

impl Simple {
    pub(super) fn of_words(words: Vec<&str>) -> Self {
        Self {
            words: words.into_iter().map(str::to_owned).collect(),
        }
    }

    pub(super) fn called(&self) -> Option<(&str, &[String])> {
        let mut words = self.words.as_slice();
        while let Some((first, rest)) = words.split_first() {
            if AFTER.contains(&first.as_str()) {
                return None;
            }
            if first == "timeout" {
                words = rest.get(1..)?;
            } else if BEFORE.contains(&first.as_str()) || is_assignment(first) {
                words = rest;
            } else {
                let name = first.rsplit(['/', '\\']).next()?;
                return Some((name.strip_suffix(".exe").unwrap_or(name), rest));
            }
        }
        None
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        !name.is_empty() && name.chars().all(plain)
    })
}

pub(super) fn script_of<'a>(program: &str, rest: &'a [String]) -> Option<&'a str> {
    let is_script = |flag: &&String| flag.starts_with('-') && flag.ends_with('c');
    let place = rest.iter().position(|word| is_script(&word))?;
    let script = rest.get(place + 1)?;
    SHELLS.contains(&program).then_some(script.as_str())
}

pub(super) fn simple_commands(line: &str) -> Vec<Simple> {
    let mut reader = Reader::default();
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if at > MAX_BYTES {
            break;
        }
        match (reader.quote, c) {
            (Some(quote), _) if c == quote => reader.quote = None,
            (None, '\'' | '"') => {
                reader.quote = Some(c);
                reader.word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => {
                let escaped = chars.next().map(|(_, c)| c);
                reader.add(escaped.filter(|c| *c != '\n'));
            }
            (Some(_), _) => reader.add(Some(c)),
            (None, '#') if reader.word.is_none() => {
                while chars.next_if(|(_, c)| *c != '\n').is_some() {}
            }
            // Not the end where it redirects: `2>&1`.
            (None, '&') if reader.redirects() => reader.add(Some(c)),
            (None, '&' | ';' | '|' | '\n' | '(' | ')' | '`') => reader.end_command(),
            (None, c) if c.is_whitespace() => reader.end_word(),
            (None, c) => reader.add(Some(c)),
        }
    }
    reader.end_command();
    reader.commands
}

#[derive(Debug, Default)]
struct Reader {
    commands: Vec<Simple>,
    command: Simple,
    word: Option<String>,
    quote: Option<char>,
}

impl Reader {
    fn add(&mut self, c: Option<char>) {
        self.word.get_or_insert_default().extend(c);
    }

    fn redirects(&self) -> bool {
        let word = self.word.as_deref().unwrap_or_default();
        word.ends_with(['>', '<'])
    }

    fn end_word(&mut self) {
        self.command.words.extend(self.word.take());
    }

    fn end_command(&mut self) {
        self.end_word();
        // `x=$(comail next)` calls what is in the parentheses.
        if !self.command.words.is_empty() {
            self.commands.push(std::mem::take(&mut self.command));
        }
    }
}

#[cfg(test)]
mod tests;
