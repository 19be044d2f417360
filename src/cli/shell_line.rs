//! Command lines that can be pasted into a POSIX shell.

use std::borrow::Cow;
use std::path::Path;

use shlex::Quoter;

/// A command line under construction. Every word is quoted for the shell.
#[derive(Debug, Clone)]
pub struct ShellLine(String);

impl ShellLine {
    pub fn comail(subcommand: &str, session: Option<&Path>) -> Self {
        Self::of(None, subcommand, session)
    }

    /// The same, with the path of the program if it is given.
    pub fn of(program: Option<&Path>, subcommand: &str, session: Option<&Path>) -> Self {
        let program = program.unwrap_or(Path::new("comail")).to_string_lossy();
        let line = Self(format!("{} {subcommand}", quoted(&program)));
        match session {
            Some(dir) => line.flag("session", &dir.to_string_lossy()),
            None => line,
        }
    }

    pub fn flag(mut self, name: &str, value: &str) -> Self {
        // clap takes a value that begins with `-` only if it is joined to its flag.
        let joint = if value.starts_with('-') { "=" } else { " " };
        self.0.extend([" --", name, joint, &quoted(value)]);
        self
    }

    /// Adds `--name NAME`, with a word for the reader to replace.
    pub fn blank(mut self, name: &str) -> Self {
        self.0.extend([" --", name, " ", &name.to_uppercase()]);
        self
    }

    pub fn text(&self) -> &str {
        &self.0
    }

    pub fn into_text(self) -> String {
        self.0
    }
}

pub fn words(words: &[String]) -> String {
    let quoted: Vec<_> = words.iter().map(|word| quoted(word)).collect();
    quoted.join(" ")
}

pub fn quoted(value: &str) -> String {
    // No program can get an argument with a NUL, so it does not matter how one is quoted.
    let quoted = Quoter::new().allow_nul(true).quote(value);
    quoted.map_or_else(|_| String::from("''"), Cow::into_owned)
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
}
