//! The calls of comail itself, as an agent makes them through a shell.

use serde_json::Value;

use super::shell::{self, Simple};
use crate::base::Digest;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Own {
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

impl Own {
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
        Self::in_simple(&shell::simple_commands(line))
    }

    fn in_simple(commands: &[Simple]) -> Option<Self> {
        let mut asked = None;
        let mut does_more = false;
        for command in commands {
            let Some((program, rest)) = command.called() else {
                continue;
            };
            if let Some(line) = shell::script_of(program, rest) {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn bash(line: &str) -> Option<Own> {
        Own::in_arguments(&json!({"command": line, "description": "what it is for"}))
    }

    #[test]
    fn questions_are_known_wherever_they_stand() {
        for line in [
            "comail next",
            "comail --json next --worker w",
            "/opt/bin/comail --session 'a dir' next",
            "cd /tmp/it && comail next | head -40",
            "COMAIL_WORKER=a comail next 2>&1",
            "sleep 5; comail next",
            "timeout 5 comail next",
            "bash -lc 'comail next'",
            "while comail next; do sleep 1; done",
            "x=$(comail next)",
        ] {
            assert_eq!(bash(line), Some(Own::Next), "{line}");
        }
        assert_eq!(bash("comail status --json"), Some(Own::Status));
        let codex = json!({"command": ["bash", "-lc", "comail status"]});
        assert_eq!(Own::in_arguments(&codex), Some(Own::Status));
        let words = json!({"cmd": ["comail", "status"]});
        assert_eq!(Own::in_arguments(&words), Some(Own::Status));
    }

    #[test]
    fn work_is_no_question() {
        for line in [
            "cargo test && comail status",
            "comail status; make",
            "echo comail next",
            "grep 'comail next' README.md",
            "ls # comail next",
            "comail rules",
            "comailx next",
            "",
        ] {
            assert_eq!(bash(line), None, "{line}");
        }
        assert_eq!(Own::in_arguments(&json!({"path": "comail next"})), None);
        assert_eq!(Own::in_arguments(&json!("comail next")), None);
    }

    #[test]
    fn an_answer_is_known_by_its_flags_whatever_their_order() {
        let one = bash("comail submit --id 3 --email 'a@b.c' --site=https://b.c");
        assert!(matches!(one, Some(Own::Submit(_))));
        for same in [
            "comail submit --site https://b.c --email a@b.c --id 3",
            "make && comail --json submit --email \"a@b.c\" --id=3 --site=https://b.c || true",
            "comail next; sh -c \"comail submit --id 3 --email a@b.c --site https://b.c\"",
        ] {
            assert_eq!(bash(same), one, "{same}");
        }
        for other in [
            "comail submit --id 4 --email a@b.c --site https://b.c",
            "comail submit --id 3 --email https://b.c --site a@b.c",
            "comail submit --id 3",
        ] {
            assert_ne!(bash(other), one, "{other}");
        }
    }
}
