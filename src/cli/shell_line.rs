//! Command lines that can be pasted into a POSIX shell.

use std::path::Path;

use shlex::Quoter;

/// A command line in the making; every word of it is quoted as the shell needs it.
#[derive(Debug, Clone)]
pub struct ShellLine(String);

impl ShellLine {
    /// `comail SUBCOMMAND`, reaching the session that `--session` named.
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
        // A value that begins like a flag must hang on its own flag to be read as a value.
        let joint = if value.starts_with('-') { "=" } else { " " };
        self.0.extend([" --", name, joint, &quoted(value)]);
        self
    }

    /// Adds a path as a word of its own.
    #[must_use]
    pub fn path(mut self, path: &Path) -> Self {
        let path = path.to_string_lossy();
        // One that begins like a flag would be read as one.
        let here = if path.starts_with('-') { "./" } else { "" };
        self.0.extend([" ", &quoted(&format!("{here}{path}"))]);
        self
    }

    /// Adds `--name WORD`, the word left for somebody to replace.
    #[must_use]
    pub fn blank(mut self, name: &str) -> Self {
        self.0.extend([" --", name, " ", &name.to_uppercase()]);
        self
    }

    /// The line.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The line, by value.
    #[must_use]
    pub fn into_text(self) -> String {
        self.0
    }
}

/// Words as a shell would have to be told them.
#[must_use]
pub fn words(words: &[String]) -> String {
    let quoted: Vec<_> = words.iter().map(|word| quoted(word)).collect();
    quoted.join(" ")
}

fn quoted(value: &str) -> String {
    // A NUL cannot be an argument of any program, so nothing is lost in letting it through.
    let quoter = Quoter::new().allow_nul(true);
    match quoter.quote(value) {
        Ok(word) => word.into_owned(),
        Err(_) => String::from("''"),
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
