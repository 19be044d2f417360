//! Which argument names what: the offers, tied to the parser.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::Command;
use clap_complete::ArgValueCompleter;

use super::offers::{Offer, Which, candidates};
use crate::cli::help;
use crate::cli::submit_flags::UNIT;

/// The arguments that name something of the session, each by its command and by what the parser
/// knows it by.
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
    (&["review", "show"], "id", Offer::Id(Which::Review)),
    (&["review", "show"], "key", Offer::Key(Which::Review)),
    (&["review", "accept"], "ids", Offer::Id(Which::Open)),
    (&["review", "accept"], "keys", Offer::Key(Which::Open)),
    (&["review", "accept"], "rule", Offer::FiredRule),
    (&["review", "reject"], "ids", Offer::Id(Which::Open)),
    (&["review", "reject"], "keys", Offer::Key(Which::Open)),
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

/// The parser, with what the session in `dir` offers where these words were typed.
pub(super) fn with_offers(parser: Command, dir: &Path, typed: &[OsString]) -> Command {
    let names = help::offers(&parser, &behind_help(typed));
    let of_help = move |typed: &OsStr| {
        let typed = typed.to_str();
        typed.map_or_else(Vec::new, |typed| candidates(names.clone(), typed))
    };
    let of_help = ArgValueCompleter::new(of_help);
    let parser = attached(parser, &["help"], "words", of_help);
    let offers = OFFERS.iter();
    offers.fold(parser, |parser, (path, arg, offer)| {
        let (offer, dir) = (*offer, dir.to_owned());
        let complete = move |typed: &OsStr| {
            let typed = typed.to_str();
            typed.map_or_else(Vec::new, |typed| offer.of(&dir, typed))
        };
        attached(parser, path, arg, ArgValueCompleter::new(complete))
    })
}

/// The words behind `help` that are typed already.
fn behind_help(typed: &[OsString]) -> Vec<&str> {
    let whole = typed.split_last().map_or(&[][..], |(_, whole)| whole);
    let words = whole.iter().map(|word| word.to_str().unwrap_or_default());
    let behind = words.skip_while(|word| *word != "help").skip(1);
    behind.filter(|word| !word.starts_with('-')).collect()
}

fn attached(command: Command, path: &[&str], arg: &str, complete: ArgValueCompleter) -> Command {
    let Some((first, rest)) = path.split_first() else {
        return command.mut_args(|known| {
            if known.get_id() == arg {
                known.add(complete.clone())
            } else {
                known
            }
        });
    };
    if command.find_subcommand(first).is_none() {
        return command;
    }
    command.mut_subcommand(first, |inner| attached(inner, rest, arg, complete))
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

    /// The arguments that name quests, workers and runs, wherever a command has one.
    #[test]
    fn no_argument_of_these_names_is_without_its_offer() {
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
        // It means open REVIEWs, and is refused here.
        found.retain(|name| name != "review reopen rule");
        for name in found {
            let offered = OFFERS
                .iter()
                .any(|(path, arg, _)| name == format!("{} {arg}", path.join(" ")));
            assert!(offered, "nothing is offered for {name}");
        }
    }
}
