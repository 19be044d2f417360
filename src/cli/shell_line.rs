//! Command lines that can be pasted into a POSIX shell.

use std::path::Path;

use shlex::Quoter;

use super::context::Reaching;
use crate::base::text::Escaped;
use crate::quest::{Quest, QuestKind};

/// A command line under construction. Every word is quoted for the shell.
#[derive(Debug, Clone)]
pub struct ShellLine(String);

impl ShellLine {
    #[must_use]
    pub fn comail(subcommand: &str, session: Option<&Path>) -> Self {
        let line = Self(format!("comail {subcommand}"));
        match session {
            Some(dir) => line.flag("session", &dir.to_string_lossy()),
            None => line,
        }
    }

    /// Adds `--name value`.
    #[must_use]
    pub fn flag(mut self, name: &str, value: &str) -> Self {
        // clap takes a value that begins with `-` only if it is joined to its flag.
        let joint = if value.starts_with('-') { "=" } else { " " };
        self.0.extend([" --", name, joint, &quoted(value)]);
        self
    }

    #[must_use]
    pub fn path(mut self, path: &Path) -> Self {
        let path = path.to_string_lossy();
        // clap would take a path that begins with `-` for a flag.
        let here = if path.starts_with('-') { "./" } else { "" };
        self.0.extend([" ", &quoted(&format!("{here}{path}"))]);
        self
    }

    /// Adds `--name NAME`, with a word for the reader to replace.
    #[must_use]
    pub fn blank(mut self, name: &str) -> Self {
        self.0.extend([" --", name, " ", &name.to_uppercase()]);
        self
    }

    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }

    #[must_use]
    pub fn into_text(self) -> String {
        self.0
    }
}

#[must_use]
pub fn words(words: &[String]) -> String {
    let quoted: Vec<_> = words.iter().map(|word| quoted(word)).collect();
    quoted.join(" ")
}

fn quoted(value: &str) -> String {
    // No program can get an argument with a NUL, so it does not matter how one is quoted.
    let quoter = Quoter::new().allow_nul(true);
    match quoter.quote(value) {
        Ok(word) => word.into_owned(),
        Err(_) => String::from("''"),
    }
}

/// The command lines that submit an answer.
pub(super) struct AnswerLines<'a> {
    kind: &'a QuestKind,
    named: ShellLine,
    blank: ShellLine,
}

impl<'a> AnswerLines<'a> {
    /// The lines for `quest`; `namesakes` quests have a key like its own.
    pub(super) fn of_quest(
        kind: &'a QuestKind,
        quest: &Quest,
        namesakes: usize,
        reaching: &Reaching,
    ) -> Self {
        let blank = blank(reaching);
        // A key with escaped characters would name another quest when it is typed.
        let shown = Escaped(quest.key.as_str()).to_string();
        let named = if namesakes > 1 || shown != quest.key.as_str() {
            blank.clone().flag("id", &quest.id.to_string())
        } else {
            blank.clone().flag(&kind.unit, quest.key.as_str())
        };
        Self { kind, named, blank }
    }

    pub(super) fn of_any(kind: &'a QuestKind, reaching: &Reaching) -> Self {
        let blank = blank(reaching);
        Self {
            kind,
            named: blank.clone().flag("id", "N"),
            blank,
        }
    }

    /// The line with the required fields to fill in.
    pub(super) fn submit(&self) -> String {
        let fields = self.kind.fields.iter();
        let line = fields.fold(self.named.clone(), |line, field| {
            if field.required {
                line.blank(field.name.as_str())
            } else {
                line
            }
        });
        line.into_text()
    }

    /// The optional fields, as flags with their help.
    pub(super) fn optional(&self) -> Vec<String> {
        let fields = self.kind.fields.iter().filter(|field| !field.required);
        let flags = fields.map(|field| {
            let flag = format!("--{} {}", field.name, field.shape.placeholder());
            match &*field.help {
                "" => flag,
                help => format!("{flag}  {help}"),
            }
        });
        flags.collect()
    }

    pub(super) fn none(&self) -> String {
        let line = self.named.clone().flag("none", "what you tried");
        line.into_text()
    }

    pub(super) fn example(&self) -> String {
        let start = self.blank.clone();
        let start = start.flag(&self.kind.unit, &self.kind.example_key);
        let fields = self.kind.fields.iter();
        let fields = fields.filter(|field| field.required || field.has_example());
        let line = fields.fold(start, |line, field| {
            line.flag(field.name.as_str(), &field.example)
        });
        line.into_text()
    }
}

fn blank(reaching: &Reaching) -> ShellLine {
    let blank = ShellLine::comail("submit", reaching.session.as_deref());
    match &reaching.worker {
        Some(worker) => blank.flag("worker", worker.as_str()),
        None => blank,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_cannot_break_out() {
        for key in [
            "Acme",
            "O'Neill & Sons",
            "$(rm -rf ~)",
            "-rf",
            "a\nb",
            "`id`",
            "",
        ] {
            let line = ShellLine::comail("submit", None).flag("company", key);
            let words = shlex::split(line.text()).unwrap();
            let joined = words[2..].join("=");
            assert_eq!(joined, format!("--company={key}"), "{}", line.text());
        }
    }

    #[test]
    fn a_path_is_never_a_flag() {
        let line = ShellLine::comail("scan", None).path(Path::new("-a list.csv"));
        assert_eq!(line.text(), "comail scan './-a list.csv'");
    }

    #[test]
    fn names_the_session_when_a_flag_did() {
        let line = ShellLine::comail("next", Some(Path::new("my session")));
        assert_eq!(line.text(), "comail next --session 'my session'");
    }
}
