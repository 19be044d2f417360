//! The values that a session offers for an argument.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::{Duration, Instant};

use clap::Command;
use clap_complete::engine::{PathCompleter, ValueCompleter};
use clap_complete::{ArgValueCompleter, CompletionCandidate};

use crate::base::text::Escaped;
use crate::base::text::is_unsafe;
use crate::cli::help;
use crate::cli::submit_flags::UNIT;
use crate::gate::email::EmailGate;
use crate::gate::{Gate as _, house};
use crate::quest::Key;
use crate::session::{Effective, Glance, Prefix, SessionError, Sought, Standing, State};

const MAX_VALUES: usize = 200;

/// How long the index is searched: a person waits for the answer.
const MAX_SEARCH: Duration = Duration::from_millis(40);

/// What an argument names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Offer {
    Key(Which),
    Id(Which),
    ClaimedId,
    Worker,
    Run,
    FiredRule,
    /// A rule of the e-mail gate with a level, as `scan --level` takes it.
    RuleLevel,
    Rule,
    SessionDir,
}

/// Which quests an argument accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    Todo,
    OpenReview,
    AnyReview,
    Settled,
    Right,
}

/// The arguments with values from the session: command, id of the argument, values.
const OFFERS: &[(&[&str], &str, Offer)] = &[
    (&["submit"], UNIT, Offer::Key(Which::Todo)),
    (&["submit"], "key", Offer::Key(Which::Todo)),
    (&["submit"], "id", Offer::Id(Which::Todo)),
    (&["submit"], "worker", Offer::Worker),
    (&["next"], "worker", Offer::Worker),
    (&["hook", "stop"], "worker", Offer::Worker),
    (&["release"], "id", Offer::ClaimedId),
    (&["release"], "worker", Offer::Worker),
    (&["dispute"], "id", Offer::Id(Which::Right)),
    (&["review", "show"], "id", Offer::Id(Which::AnyReview)),
    (&["review", "show"], "key", Offer::Key(Which::AnyReview)),
    (&["review", "accept"], "ids", Offer::Id(Which::OpenReview)),
    (&["review", "accept"], "keys", Offer::Key(Which::OpenReview)),
    (&["review", "accept"], "rule", Offer::FiredRule),
    (&["review", "reject"], "ids", Offer::Id(Which::OpenReview)),
    (&["review", "reject"], "keys", Offer::Key(Which::OpenReview)),
    (&["review", "reject"], "rule", Offer::FiredRule),
    (&["review", "reopen"], "ids", Offer::Id(Which::Settled)),
    (&["review", "reopen"], "keys", Offer::Key(Which::Settled)),
    (&["report"], "run", Offer::Run),
    (&["scan"], "levels", Offer::RuleLevel),
    (&["scan"], "carry", Offer::SessionDir),
    (&["rules"], "rule", Offer::Rule),
    (&["insights"], "sessions", Offer::SessionDir),
    #[cfg(unix)]
    (&["run"], "lessons_from", Offer::SessionDir),
    (&[], "session", Offer::SessionDir),
];

/// The parser, whose arguments take values from the session in `dir`.
pub(super) fn attach(parser: Command, dir: &Path, typed: &[OsString]) -> Command {
    let words: Vec<&str> = typed.iter().filter_map(|word| word.to_str()).collect();
    let names = help::names(&parser, &words_after_help(&words));
    let parser = with_values(parser, &["help"], "words", move |typed| {
        candidates(names.clone(), typed)
    });
    OFFERS.iter().fold(parser, |parser, (path, arg, offer)| {
        let (offer, dir) = (*offer, dir.to_owned());
        with_values(parser, path, arg, move |typed| offer.values(&dir, typed))
    })
}

/// The complete words after `help`, without flags.
fn words_after_help<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let complete = words.split_last().map_or(&[][..], |(_, complete)| complete);
    let after = complete.iter().skip_while(|word| **word != "help").skip(1);
    after
        .filter(|word| !word.starts_with('-'))
        .copied()
        .collect()
}

fn with_values(
    command: Command,
    path: &[&str],
    arg: &str,
    values: impl Fn(&str) -> Vec<CompletionCandidate> + Send + Sync + 'static,
) -> Command {
    fn add(command: Command, path: &[&str], arg: &str, completer: ArgValueCompleter) -> Command {
        match path.split_first() {
            Some((name, rest)) if command.find_subcommand(name).is_some() => {
                command.mut_subcommand(name, |inner| add(inner, rest, arg, completer))
            }
            Some(_) => command,
            None => command.mut_args(|known| {
                if known.get_id() == arg {
                    known.add(completer.clone())
                } else {
                    known
                }
            }),
        }
    }

    let completer =
        ArgValueCompleter::new(move |typed: &OsStr| typed.to_str().map_or_else(Vec::new, &values));
    add(command, path, arg, completer)
}

impl Offer {
    /// The values that begin with `typed`; none where the session cannot be read.
    fn values(self, dir: &Path, typed: &str) -> Vec<CompletionCandidate> {
        let values = match self {
            Self::SessionDir => return session_dirs(typed),
            Self::Rule => Ok(rules(&[])),
            Self::RuleLevel => Ok(rules(&["=review", "=fail"])),
            Self::Key(which) => quests(dir, Prefix::Key(typed), which),
            Self::Id(which) => quests(dir, Prefix::Number(typed), which),
            Self::ClaimedId | Self::Worker | Self::Run | Self::FiredRule => self.of_session(dir),
        };
        candidates(values.unwrap_or_default(), typed)
    }

    fn of_session(self, dir: &Path) -> Values {
        let index = Glance::at(dir)?;
        let totals = index.totals();
        Ok(match self {
            Self::Run => {
                let runs = totals.runs.keys();
                runs.map(|run| (run.to_string(), "running".to_owned()))
                    .collect()
            }
            Self::FiredRule => {
                let rules = totals.counts.rules.iter();
                rules
                    .map(|(rule, count)| (rule.clone(), format!("fired {count}×")))
                    .collect()
            }
            _ => {
                let claims = index.claims()?;
                let values = claims.iter().map(|claim| match self {
                    Self::Worker => (
                        claim.worker.to_string(),
                        format!("holds quest {}", claim.quest),
                    ),
                    _ => (claim.quest.to_string(), format!("held by {}", claim.worker)),
                });
                values.collect()
            }
        })
    }
}

impl Which {
    fn state(self) -> Option<State> {
        match self {
            Self::Todo => Some(State::Todo),
            Self::OpenReview | Self::AnyReview | Self::Settled => Some(State::Review),
            Self::Right => None,
        }
    }

    fn accepts(self) -> fn(&Standing) -> bool {
        match self {
            Self::Todo | Self::AnyReview => |_| true,
            Self::OpenReview => |standing| Effective::of(standing).is_open(),
            Self::Settled => |standing| {
                let effective = Effective::of(standing);
                matches!(effective, Effective::Accepted | Effective::Rejected)
            },
            Self::Right => |standing| Effective::of(standing).holds(),
        }
    }
}

/// Values, each with the text that a shell shows next to it.
type Values = Result<Vec<(String, String)>, SessionError>;

fn candidates(mut values: Vec<(String, String)>, typed: &str) -> Vec<CompletionCandidate> {
    // What a terminal would not show as it is could not be recognised either.
    values.retain(|(value, _)| value.starts_with(typed) && !value.contains(is_unsafe));
    values.truncate(MAX_VALUES);
    let candidates = values.into_iter().map(|(value, help)| {
        let help = Escaped(&help).to_string();
        CompletionCandidate::new(value).help(Some(help.into()))
    });
    candidates.collect()
}

/// Directories; hidden ones only if they hold a session.
fn session_dirs(typed: &str) -> Vec<CompletionCandidate> {
    let found = PathCompleter::dir().complete(OsStr::new(typed)).into_iter();
    let found = found.filter(|dir| dir.get_value() != ".");
    let shown = found.map(|dir| {
        let is_session = Path::new(dir.get_value()).join("session.json").is_file();
        let hidden = dir.is_hide_set() && !is_session;
        dir.hide(hidden)
    });
    shown.collect()
}

fn quests(dir: &Path, by: Prefix<'_>, which: Which) -> Values {
    let end = Instant::now() + MAX_SEARCH;
    let sought = Sought {
        by,
        state: which.state(),
        wanted: which.accepts(),
        most: MAX_VALUES,
    };
    let found = Glance::at(dir)?.quests(&sought, &|| Instant::now() > end)?;
    let values = found.into_iter().filter_map(|quest| match by {
        Prefix::Key(_) => {
            let state = quest.progress.state;
            Some((
                typeable(&quest.key)?,
                format!("quest {}, {state}", quest.id),
            ))
        }
        Prefix::Number(_) => Some((quest.id.to_string(), quest.key.as_str().to_owned())),
    });
    Ok(values.collect())
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

/// The rules of every gate; with suffixes, those whose level `scan` can set.
fn rules(suffixes: &[&str]) -> Vec<(String, String)> {
    let own = EmailGate::default().rules();
    if suffixes.is_empty() {
        let all = house::rules().into_iter().chain(own);
        return all
            .map(|rule| (rule.id.to_string(), rule.meaning.to_string()))
            .collect();
    }
    let pairs = own.iter().flat_map(|rule| {
        let pair = |suffix| (format!("{}{suffix}", rule.id), rule.meaning.to_string());
        suffixes.iter().map(pair)
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::command;
    use crate::quest::email;

    #[test]
    fn every_offer_has_its_argument() {
        let parser = command::parser(&email::kind());
        for (path, arg, _) in OFFERS {
            let inner = path
                .iter()
                .try_fold(&parser, |inner, name| inner.find_subcommand(name));
            let inner = inner.unwrap_or_else(|| panic!("no command {path:?}"));
            assert!(
                inner.get_arguments().any(|known| known.get_id() == arg),
                "{path:?} {arg}"
            );
        }
    }

    #[test]
    fn every_argument_that_names_a_part_of_the_session_has_an_offer() {
        const NAMES: [&str; 10] = [
            "id", "ids", "key", "keys", "worker", "run", "rule", "levels", UNIT, "quests",
        ];
        fn walk(command: &Command, path: &mut Vec<String>, found: &mut Vec<String>) {
            for arg in command.get_arguments() {
                if NAMES.contains(&arg.get_id().as_str()) {
                    found.push(format!("{} {}", path.join(" "), arg.get_id()));
                }
            }
            for inner in command.get_subcommands() {
                path.push(inner.get_name().to_owned());
                walk(inner, path, found);
                path.pop();
            }
        }
        let mut found = Vec::new();
        walk(
            &command::parser(&email::kind()),
            &mut Vec::new(),
            &mut found,
        );
        // `review reopen` shares its arguments with `accept`, and refuses this one.
        found.retain(|name| name != "review reopen rule");
        for name in found {
            let offered = OFFERS
                .iter()
                .any(|(path, arg, _)| name == format!("{} {arg}", path.join(" ")));
            assert!(offered, "nothing is offered for {name}");
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
