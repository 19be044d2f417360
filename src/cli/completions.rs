//! `comail completions`, and the answers to a shell that completes a command line.
//!
//! The script that a shell sources calls the program again at each press of Tab, as
//! `COMAIL_COMPLETE=SHELL comail -- WORDS…`. `clap_complete` writes the scripts and completes
//! commands, flags and paths; [`OFFERS`] adds what the session holds.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use clap::{Args, Command};
use clap_complete::engine::complete;
use clap_complete::env::Shells;
use clap_complete::{ArgValueCompleter, CompletionCandidate};
use schemars::JsonSchema;
use serde::Serialize;

use super::answer_form::UNIT;
use super::config::session_of_args;
use super::context::Context;
use super::exit::Exit;
use super::help::{self, Named};
use super::remote::kind_of_args;
use super::settings;
use crate::base::text::{Escaped, is_unsafe};
use crate::gate::GateSettings;
use crate::gate::email::email_gate;
use crate::gate::{Gate as _, common_rules};
use crate::quest::{Key, QuestKind};
use crate::session::{Effective, Projection, QuestRecord, SessionError, State};

const VARIABLE: &str = "COMAIL_COMPLETE";

const SHELLS: [&str; 3] = ["bash", "zsh", "fish"];

/// Print a shell completion script
///
/// The script completes commands, flags and values. From the session it also completes quest keys
/// and numbers, the fields of the quest kind, rules, workers and runs. Completing a command line
/// never changes the session.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell to print the script for
    #[arg(value_name = "SHELL", value_parser = SHELLS)]
    shell: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Script {
    shell: String,
    script: String,
}

pub(super) fn run(context: &mut Context, args: &CompletionsArgs) -> Result<Exit> {
    let shells = Shells::builtins();
    let shell = shells.completer(&args.shell).context("unknown shell")?;
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, "comail", "comail", "comail", &mut script)?;
    let script = Script {
        shell: args.shell.clone(),
        script: String::from_utf8(script)?,
    };
    context.output.keep_lines();
    context.output.show(&script, |out, script| {
        out.line(script.script.trim_end());
    })?;
    Ok(Exit::Done)
}

/// Answers `args` if a shell asks for completions with them.
///
/// Errors are dropped: whatever is wrong, the line that is being typed must stay as it is.
pub(super) fn answer(args: &[OsString], parser: fn(&QuestKind) -> Command) -> Option<Exit> {
    let shell = std::env::var(VARIABLE).ok()?;
    if !SHELLS.contains(&&*shell) || args.get(1).is_none_or(|arg| arg != "--") {
        return None;
    }
    if let Some(answer) = offered(&shell, args.get(2..)?, parser) {
        let _ = io::stdout().write_all(&answer);
    }
    Some(Exit::Done)
}

fn offered(shell: &str, words: &[OsString], parser: fn(&QuestKind) -> Command) -> Option<Vec<u8>> {
    let (last, complete_words) = words.split_last()?;
    // Bash and zsh pass every word as it was typed, with its quotes; fish only the last one.
    let typed: Vec<OsString> = match shell {
        "fish" => [complete_words, &[unquoted(last)?]].concat(),
        _ => words.iter().map(unquoted).collect::<Option<_>>()?,
    };
    let parser = parser(&kind_of_args(&typed).ok()?);
    let mut parser = attach(parser, &session_of_args(&typed), &typed);
    let here = std::env::current_dir().ok();
    if shell != "bash" {
        let mut answer = Vec::new();
        let shells = Shells::builtins();
        let shell = shells.completer(shell)?;
        let written = shell.write_complete(&mut parser, typed, here.as_deref(), &mut answer);
        return written.ok().map(|()| answer);
    }
    // clap_complete writes values for bash unquoted, which inserts what it reads as it is. A key
    // such as `$(rm -r .)` would become a command.
    let index = std::env::var("_CLAP_COMPLETE_INDEX").ok();
    let index = index.and_then(|index| index.parse().ok());
    let index = index.unwrap_or(typed.len() - 1);
    let offers = complete(&mut parser, typed, index, here.as_deref()).ok()?;
    let values = offers.iter().filter_map(|offer| offer.get_value().to_str());
    let values: Vec<String> = values.map(quoted_for_bash).collect();
    let separator = std::env::var("_CLAP_IFS").unwrap_or_else(|_| "\n".to_owned());
    Some(values.join(&separator).into_bytes())
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
        let is_plain = character.is_ascii_alphanumeric()
            || matches!(character, '_' | '-' | '.' | '/' | '+' | '%')
            || !character.is_ascii() && !character.is_whitespace();
        if !is_plain {
            quoted.push('\\');
        }
        quoted.push(character);
    }
    quoted
}

const MAX_VALUES: usize = 200;

// A person waits for the answer.
const MAX_SEARCH: Duration = Duration::from_millis(40);

/// Which quests an argument accepts.
type Which = (Option<State>, fn(&QuestRecord) -> bool);

const ANY: Which = (None, |_| true);
const TODO: Which = (Some(State::Todo), |_| true);
const OPEN: Which = (Some(State::Review), |it| Effective::of(it).is_open());
const LOCKED: Which = (None, |it| it.progress.state != State::Todo);
const RIGHT: Which = (None, |it| Effective::of(it).holds());
const SETTLED: Which = (Some(State::Review), |it| {
    let effective = Effective::of(it);
    matches!(effective, Effective::Accepted | Effective::Rejected)
});

#[derive(Debug, Clone, Copy)]
pub(super) enum Offer {
    Keys(Which),
    Ids(Which),
    /// A number or a key.
    Quests(Which),
    ClaimedIds,
    Workers,
    Rules,
}

pub(super) const OFFERS: &[(&str, &str, Offer)] = &[
    ("submit", UNIT, Offer::Keys(TODO)),
    ("submit", "id", Offer::Ids(TODO)),
    ("submit", "worker", Offer::Workers),
    ("next", "worker", Offer::Workers),
    ("hook stop", "worker", Offer::Workers),
    ("release", "quest", Offer::ClaimedIds),
    ("release", "worker", Offer::Workers),
    ("dispute", "quest", Offer::Quests(RIGHT)),
    ("reopen", "quests", Offer::Quests(LOCKED)),
    ("token new", "worker", Offer::Workers),
    ("list", "rule", Offer::Rules),
    ("list", "worker", Offer::Workers),
    ("show", "quest", Offer::Quests(ANY)),
    ("review accept", "quests", Offer::Quests(OPEN)),
    ("review accept", "rule", Offer::Rules),
    ("review reject", "quests", Offer::Quests(OPEN)),
    ("review reject", "rule", Offer::Rules),
    ("review reopen", "quests", Offer::Quests(SETTLED)),
    ("rules", "rule", Offer::Rules),
];

/// The parser, whose arguments take values from the session in `dir`.
fn attach(parser: Command, dir: &Path, typed: &[OsString]) -> Command {
    let typed = typed.iter().filter_map(|word| word.to_str());
    let mut words: Vec<&str> = typed.skip_while(|word| *word != "help").skip(1).collect();
    // The last word is being typed.
    words.pop();
    words.retain(|word| !word.starts_with('-'));
    let names = help::names(&parser, &words);
    let names = completer(move |_| names.clone());
    let parser = parser.mut_subcommand("help", |help| help.mut_arg("words", |arg| arg.add(names)));
    let parser = ["scan", "run"].into_iter().fold(parser, |parser, name| {
        let keys = settings::keys_of(name, &parser).into_iter().map(|key| {
            let own = key.strip_prefix(name).and_then(|key| key.strip_prefix('.'));
            value(&format!("{}=", own.unwrap_or(&key)), &"")
        });
        let keys: Vec<Named> = keys.collect();
        let keys = completer(move |_| keys.clone());
        parser.mut_subcommand(name, |command| command.mut_arg("set", |arg| arg.add(keys)))
    });
    OFFERS.iter().fold(parser, |parser, (path, arg, offer)| {
        let dir = dir.to_owned();
        // Nothing is offered where the session cannot be read.
        let values = completer(move |typed| offer.values(&dir, typed).unwrap_or_default());
        help::at(parser, path, |command| {
            command.mut_arg(*arg, |known| known.add(values))
        })
    })
}

fn completer(values: impl Fn(&str) -> Vec<Named> + Send + Sync + 'static) -> ArgValueCompleter {
    ArgValueCompleter::new(move |typed: &OsStr| {
        let Some(typed) = typed.to_str() else {
            return Vec::new();
        };
        let mut values = values(typed);
        // A value with invisible characters could not be recognised in a terminal.
        values.retain(|value| value.name.starts_with(typed) && !value.name.contains(is_unsafe));
        values.truncate(MAX_VALUES);
        let candidates = values.into_iter().map(|Named { name, about }| {
            let help = Escaped(&about).to_string();
            CompletionCandidate::new(name).help(Some(help.into()))
        });
        candidates.collect()
    })
}

fn value(name: &impl ToString, about: &impl ToString) -> Named {
    Named {
        name: name.to_string(),
        about: about.to_string(),
    }
}

impl Offer {
    fn values(self, dir: &Path, typed: &str) -> Result<Vec<Named>, SessionError> {
        let index = || Projection::read_only(dir);
        Ok(match self {
            Self::Rules => {
                let all = common_rules::rules()
                    .into_iter()
                    .chain(email_gate(GateSettings::default()).rules());
                all.map(|rule| value(&rule.id, &rule.meaning)).collect()
            }
            Self::Keys((state, wanted)) => {
                let name = |quest: &QuestRecord| {
                    let about = format!("quest {}, {}", quest.id, quest.progress.state);
                    Some(value(&typeable(&quest.key)?, &about))
                };
                quests(&index()?, typed, state, |quest| {
                    name(quest).filter(|_| wanted(quest))
                })?
            }
            Self::Ids((state, wanted)) => quests(&index()?, "", state, |quest| {
                let named = value(&quest.id, &quest.key.as_str());
                Some(named).filter(|named| wanted(quest) && named.name.starts_with(typed))
            })?,
            Self::Quests(which) => {
                let ids = Self::Ids(which).values(dir, typed)?;
                let keys = Self::Keys(which).values(dir, typed)?;
                ids.into_iter().chain(keys).collect()
            }
            Self::Workers | Self::ClaimedIds => {
                let claims = index()?.claims()?;
                let values = claims.iter().map(|claim| match self {
                    Self::Workers => value(&claim.worker, &format!("holds quest {}", claim.quest)),
                    _ => value(&claim.quest, &format!("held by {}", claim.worker)),
                });
                values.collect()
            }
        })
    }
}

fn quests(
    index: &Projection,
    prefix: &str,
    state: Option<State>,
    offered: impl Fn(&QuestRecord) -> Option<Named>,
) -> Result<Vec<Named>, SessionError> {
    let end = Instant::now() + MAX_SEARCH;
    let mut found = Vec::new();
    index.search(prefix, state, &mut |quest| {
        found.extend(offered(&quest));
        found.len() < MAX_VALUES && Instant::now() <= end
    })?;
    Ok(found)
}

/// A key as it can be typed: as it is or, if a line break in it would end the command line,
/// folded, which finds the quest too. A key with other invisible characters has to be named by
/// its number.
fn typeable(key: &Key) -> Option<String> {
    let folded = key.folded();
    let forms = [key.as_str(), folded.as_str()];
    let typed = forms.into_iter().find(|text| !text.contains(is_unsafe));
    typed.map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_typed_word_is_unquoted_like_in_a_shell() {
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

    proptest! {
        #[test]
        fn a_value_quoted_for_bash_is_one_word(text in "[a-c \\\\$`\"'!*?#~{}();&|<>=:@^한]{1,8}") {
            prop_assert_eq!(shlex::split(&quoted_for_bash(&text)), Some(vec![text]));
        }
    }

    #[test]
    fn a_key_is_offered_as_it_can_be_typed() {
        let typed = |key: &str| typeable(&Key::new(key).unwrap());
        assert_eq!(typed("$(x) 'y'").unwrap(), "$(x) 'y'");
        assert_eq!(typed("a\n \tb").unwrap(), "a b");
        assert_eq!(typed("a\u{1b}[2J"), None);
        assert_eq!(typed("a\u{202e}b"), None);
    }
}
