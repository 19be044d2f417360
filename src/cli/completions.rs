//! `comail completions`, and the answers to a shell that completes a command line.
//!
//! The script that a shell sources calls the program again at each press of Tab, as
//! `COMAIL_COMPLETE=SHELL comail -- WORDS…`. `clap_complete` writes the scripts and completes
//! commands, flags and paths; [`values`] offers what the session holds.

mod values;

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::{MAIN_SEPARATOR, Path};

use anyhow::Result;
use clap::{Args, ValueEnum};
use clap_complete::engine::complete;
use clap_complete::env::{Bash, Elvish, EnvCompleter, Fish, Powershell, Zsh};
use schemars::JsonSchema;
use serde::Serialize;

use super::context::Context;
use super::exit::Exit;
use super::{command, context};

/// The variable that a shell sets to its own name when it asks.
const VARIABLE: &str = "COMAIL_COMPLETE";

/// Print a shell completion script
///
/// The script completes commands, flags and values. From the session it also completes quest keys
/// and numbers, the fields of the quest kind, rules, workers and runs. Completing a command line
/// never changes the session.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct CompletionsArgs {
    /// The shell to print the script for
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  comail completions bash > ~/.local/share/bash-completion/completions/comail
  comail completions fish > ~/.config/fish/completions/comail.fish

Where to put the script (print it again after an upgrade):
  bash        the file above (needs bash-completion), or in ~/.bashrc
                source <(comail completions bash)
  zsh         in ~/.zshrc, after compinit
                source <(comail completions zsh)
  fish        the file above
  PowerShell  in the file that $PROFILE names
                comail completions powershell | Out-String | Invoke-Expression
  Elvish      in ~/.config/elvish/rc.elv
                eval (comail completions elvish | slurp)";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Shell {
    /// GNU Bash
    Bash,
    /// Z shell
    Zsh,
    /// The friendly interactive shell
    Fish,
    /// `PowerShell`
    Powershell,
    /// Elvish
    Elvish,
}

/// The JSON form: `{"shell":"bash","script":"…"}`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Script {
    shell: &'static str,
    script: String,
}

pub(super) fn run(context: &mut Context, args: &CompletionsArgs) -> Result<Exit> {
    let here = std::env::current_dir().ok();
    let completer = completer(std::env::args_os().next(), here.as_deref());
    let adapter = args.shell.adapter();
    let mut script = Vec::new();
    adapter.write_registration(VARIABLE, "comail", "comail", &completer, &mut script)?;
    let script = Script {
        shell: adapter.name(),
        script: String::from_utf8(script)?,
    };
    context.output.show(&script, |paper, script| {
        paper.line(script.script.trim_end());
    })?;
    Ok(Exit::Done)
}

/// How a script calls the program that was called as `called`: by its name where the search path
/// finds it, else by its whole path.
fn completer(called: Option<OsString>, here: Option<&Path>) -> String {
    let called = called.map(|called| called.to_string_lossy().into_owned());
    let called = called.filter(|called| !called.is_empty());
    let called = called.unwrap_or_else(|| "comail".to_owned());
    match here {
        Some(here) if called.contains(MAIN_SEPARATOR) => {
            here.join(&called).to_string_lossy().into_owned()
        }
        _ => called,
    }
}

/// Answers `args` if a shell asks for completions with them.
///
/// Errors are dropped: whatever is wrong, the line that is being typed must stay as it is.
pub(super) fn answered(args: &[OsString]) -> Option<Exit> {
    let name = std::env::var(VARIABLE).ok()?;
    let shell = Shell::from_str(&name, false).ok()?;
    if args.get(1).is_none_or(|arg| arg != "--") {
        return None;
    }
    if let Some(Ok(answer)) = answer(shell, args.get(2..).unwrap_or_default()) {
        let _ = io::stdout().write_all(&answer);
    }
    Some(Exit::Done)
}

fn answer(shell: Shell, words: &[OsString]) -> Option<io::Result<Vec<u8>>> {
    let (last, complete_words) = words.split_last()?;
    // Bash and zsh pass every word as it was typed, with its quotes; fish only the last one.
    let typed: Vec<OsString> = match shell {
        Shell::Bash | Shell::Zsh => words.iter().map(unquoted).collect::<Option<_>>()?,
        Shell::Fish => [complete_words, &[unquoted(last)?]].concat(),
        Shell::Powershell | Shell::Elvish => words.to_vec(),
    };
    let kind = context::kind_of_args(&typed);
    let session = context::dir_of_args(&typed);
    let mut parser = values::attach(command::parser(&kind), &session, &typed);
    let here = std::env::current_dir().ok();
    let quote: fn(&str) -> Option<String> = match shell {
        Shell::Bash => |value| Some(quoted_for_bash(value)),
        Shell::Powershell => quoted_for_powershell,
        Shell::Zsh | Shell::Fish | Shell::Elvish => {
            let mut answer = Vec::new();
            let adapter = shell.adapter();
            let written = adapter.write_complete(&mut parser, typed, here.as_deref(), &mut answer);
            return Some(written.map(|()| answer));
        }
    };
    // clap_complete writes values for these two unquoted, but they insert what they read as it
    // is. A key such as `$(rm -r .)` would become a command.
    let index = std::env::var("_CLAP_COMPLETE_INDEX").ok();
    let index = index.and_then(|index| index.parse().ok());
    let index = index.unwrap_or(typed.len() - 1);
    let offers = complete(&mut parser, typed, index, here.as_deref());
    Some(offers.map(|offers| {
        let values = offers.iter().filter_map(|offer| offer.get_value().to_str());
        let values: Vec<String> = values.filter_map(quote).collect();
        let separator = std::env::var("_CLAP_IFS").unwrap_or_else(|_| "\n".to_owned());
        values.join(&separator).into_bytes()
    }))
}

/// What a word says that was typed with quotes; nothing while a quote is open.
fn unquoted(word: &OsString) -> Option<OsString> {
    let word = word.to_str()?;
    if word.is_empty() {
        return Some(OsString::new());
    }
    // For shlex a leading `#` begins a comment.
    let comment = if word.starts_with('#') { "\\" } else { "" };
    match shlex::split(&format!("{comment}{word}"))?.as_slice() {
        [one] => match (word.strip_prefix("~/"), std::env::var_os("HOME")) {
            (Some(_), Some(home)) => Some(Path::new(&home).join(&one[2..]).into()),
            _ => Some(one.into()),
        },
        _ => None,
    }
}

fn quoted_for_bash(value: &str) -> String {
    let mut quoted = String::with_capacity(value.len());
    for character in value.chars() {
        if !is_plain(character) {
            quoted.push('\\');
        }
        quoted.push(character);
    }
    quoted
}

/// The value as one word; nothing if it holds what `PowerShell` takes for a quote.
fn quoted_for_powershell(value: &str) -> Option<String> {
    if value.chars().all(is_plain) && !value.is_empty() {
        return Some(value.to_owned());
    }
    let is_quote = |character: char| ('\u{2018}'..='\u{201f}').contains(&character);
    (!value.contains(is_quote)).then(|| format!("'{}'", value.replace('\'', "''")))
}

/// Whether a character means itself wherever it is in a word.
fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric()
        || matches!(character, '_' | '-' | '.' | '/' | '+' | '%')
        || (!character.is_ascii()
            && !character.is_whitespace()
            && !('\u{2018}'..='\u{201f}').contains(&character))
}

impl Shell {
    fn adapter(self) -> &'static dyn EnvCompleter {
        match self {
            Self::Bash => &Bash,
            Self::Zsh => &Zsh,
            Self::Fish => &Fish,
            Self::Powershell => &Powershell,
            Self::Elvish => &Elvish,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_script_calls_the_program_as_it_was_called() {
        let called = |called: &str| completer(Some(called.into()), Some(Path::new("/w")));
        assert_eq!(called("comail"), "comail");
        assert_eq!(called("/opt/my bin/comail"), "/opt/my bin/comail");
        assert_eq!(called("target/comail"), "/w/target/comail");
        assert_eq!(completer(None, None), "comail");
    }

    #[test]
    fn a_typed_word_is_read_as_a_shell_reads_it() {
        let read = |word: &str| unquoted(&word.into());
        for (typed, said) in [
            ("", ""),
            ("Acme\\ Co", "Acme Co"),
            ("'it'\\''s'", "it's"),
            ("#1", "#1"),
            ("\"a b\"c", "a bc"),
        ] {
            assert_eq!(read(typed), Some(said.into()), "{typed}");
        }
        for open in ["'a", "\"Acme Co", "a b"] {
            assert_eq!(read(open), None, "{open}");
        }
    }

    #[test]
    fn powershell_gets_one_word_or_none() {
        assert_eq!(quoted_for_powershell("Acme").unwrap(), "Acme");
        assert_eq!(quoted_for_powershell("$(x)'").unwrap(), "'$(x)'''");
        assert_eq!(quoted_for_powershell("a;b").unwrap(), "'a;b'");
        assert_eq!(quoted_for_powershell("it\u{2019}s"), None);
    }

    proptest! {
        #[test]
        fn a_value_quoted_for_bash_is_one_word(text in "[a-c \\\\$`\"'!*?#~{}();&|<>=:@^한]{1,8}") {
            prop_assert_eq!(shlex::split(&quoted_for_bash(&text)), Some(vec![text]));
        }
    }
}
