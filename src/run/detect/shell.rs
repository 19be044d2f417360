//! A shell's command line, read as far as it tells which programs are called.
//!
//! It is read to count calls, never to judge them, so what is too clever is simply not counted.

const BEFORE: [&str; 14] = [
    "while", "until", "if", "then", "elif", "else", "do", "!", "time", "exec", "env", "nohup",
    "command", "{",
];

const AFTER: [&str; 5] = ["done", "fi", "esac", "}", "break"];

const SHELLS: [&str; 5] = ["sh", "bash", "dash", "zsh", "ksh"];

const MOST_BYTES: usize = 64 * 1024;

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
        if at > MOST_BYTES {
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
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn called(line: &str) -> Vec<String> {
        simple_commands(line)
            .iter()
            .filter_map(|simple| simple.called())
            .map(|(program, rest)| format!("{program}({})", rest.join(",")))
            .collect()
    }

    #[test]
    fn finds_the_programs_that_are_called() {
        assert_eq!(called("a b 'c d' \"e\\\"f\" g\\ h"), ["a(b,c d,e\"f,g h)"]);
        assert_eq!(
            called("a;b&&c||d|e&f\ng"),
            ["a()", "b()", "c()", "d()", "e()", "f()", "g()"]
        );
        assert_eq!(called("X=1 /usr/bin/a b # c; d"), ["a(b)"]);
        assert_eq!(called("while a; do b; done"), ["a()", "b()"]);
        assert_eq!(called("a 2>&1 b"), ["a(2>&1,b)"]);
        assert_eq!(called("timeout 5 a"), ["a()"]);
        assert_eq!(called("a '; b'"), ["a(; b)"]);
    }

    #[test]
    fn a_shell_is_given_a_script() {
        let words = |words: &[&str]| {
            words
                .iter()
                .map(|&word| word.to_owned())
                .collect::<Vec<_>>()
        };
        let given = words(&["-l", "-c", "a b"]);
        assert_eq!(script_of("bash", &given), Some("a b"));
        assert_eq!(script_of("python", &given), None);
        assert_eq!(script_of("bash", &words(&["x.sh"])), None);
    }

    proptest! {
        #[test]
        fn never_panics(line in any::<String>()) {
            for simple in simple_commands(&line) {
                let _ = simple.called();
            }
        }
    }
}
