//! What is caught by the text alone, beneath all that takes lines apart: a text that holds what is
//! a person's is no accident, however it would come to run.

use super::own::NAME;
use super::rules::program;

/// The words behind this program's name that are a person's.
const PERSONS: &[&str] = &[
    "resume", "review", "accept", "reject", "reopen", "forget", "dispute", "release", "scan",
    "run", "hook", "--import",
];

/// Files that lie in the session directory alone.
const KEPT: &[&str] = &["ledger.jsonl", "index.sqlite", "session.json"];

/// Programs that show files, and do nothing else with what they are given.
const SHOW: &[&str] = &[
    "cat", "less", "head", "tail", "ls", "grep", "egrep", "fgrep", "rg", "wc", "diff", "stat",
    "file", "cut", "jq",
];

/// Programs that do nothing with the name of another program that they are given.
const TELL: &[&str] = &[
    "echo", "printf", "which", "type", "man", "command", "cd", "test", "[",
];

/// What of `git` only shows or records.
const GIT: &[&str] = &[
    "status", "diff", "log", "show", "add", "commit", "blame", "grep",
];

/// Programs that run a text that they are given.
const INTERPRETERS: &[&str] = &[
    "python",
    "python2",
    "python3",
    "pypy",
    "pypy3",
    "perl",
    "ruby",
    "node",
    "nodejs",
    "deno",
    "bun",
    "php",
    "lua",
    "awk",
    "gawk",
    "mawk",
    "nawk",
    "tclsh",
    "osascript",
    "pwsh",
    "csh",
    "tcsh",
];

/// The words of a text, as far as a program's name may stand there.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || "-_./".contains(c)));
    let words = words.map(|word| program(word.trim_end_matches('.')));
    words.filter(|word| !word.is_empty())
}

fn is_ours(token: &str) -> bool {
    token.strip_suffix(".exe").unwrap_or(token) == NAME
}

/// Whether this program stands in a text.
pub(super) fn names_us(text: &str) -> bool {
    tokens(&text.to_lowercase()).any(is_ours)
}

/// Whether this program stands in a text, and behind it what is a person's.
pub(super) fn calls_as_person(text: &str) -> bool {
    let text = text.to_lowercase();
    let mut tokens = tokens(&text).skip_while(|token| !is_ours(token));
    tokens.any(|token| PERSONS.contains(&token))
}

/// Whether a file of the session directory is named in a text.
pub(super) fn names_kept(text: &str) -> bool {
    let text = text.to_lowercase();
    let mut tokens = tokens(&text);
    tokens.any(|token| KEPT.contains(&token))
}

/// Whether a program only shows what it is given.
pub(super) fn shows(program: &str, subcommand: Option<&str>) -> bool {
    SHOW.contains(&program)
        || TELL.contains(&program)
        || (program == "git" && subcommand.is_some_and(|it| GIT.contains(&it)))
}

/// Whether a program runs a text that it is given.
pub(super) fn interprets(program: &str) -> bool {
    let bare = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    INTERPRETERS.contains(&program) || INTERPRETERS.contains(&bare)
}

/// Whether a line is one command of plain words, with nothing that a shell does more with than
/// take off quotes and redirect what it prints.
pub(super) fn is_simple(line: &str) -> bool {
    let mut quote = None;
    let mut before = ' ';
    for c in line.trim().chars() {
        let fine = match (quote, c) {
            (Some(open), _) if c == open => {
                quote = None;
                true
            }
            (Some('\''), _) => true,
            (Some(_), _) => !"$`\\".contains(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                true
            }
            (None, '&') => before == '>',
            (None, _) => c.is_alphanumeric() || " \t-_./:=,@%+>".contains(c),
        };
        if !fine {
            return false;
        }
        before = c;
    }
    quote.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_has_us_do_what_is_a_persons_is_caught() {
        for text in [
            "comail resume",
            "os.system(\"/opt/comail  --json resume\")",
            "['comail', 'review', 'accept']",
            "COMAIL.exe run",
        ] {
            assert!(calls_as_person(text), "{text}");
        }
        for text in [
            "comail next",
            "resume comail",
            ".comail run",
            "comail-x resume",
            "comail next && python3 run.py",
        ] {
            assert!(!calls_as_person(text), "{text}");
        }
    }

    #[test]
    fn only_plain_words_are_simple() {
        for line in [
            "comail next",
            " comail submit --quote 'a $b\n' \"c d\" > /dev/null 2>&1",
        ] {
            assert!(is_simple(line), "{line}");
        }
        for line in [
            "a | b", "a; b", "a & b", "a\nb", "a $b", "a \"$b\"", "a `b`", "a <b", "a 'b", "a *",
            "a \\b", "a #b", "a >(b)", "{ a", "a() b", "! a", "~/a",
        ] {
            assert!(!is_simple(line), "{line}");
        }
    }
}
