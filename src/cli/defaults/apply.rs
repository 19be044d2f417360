//! Letting what the files say stand in for flags that were not given.

use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches};
use schemars::JsonSchema;
use serde::Serialize;

use super::file::{BadFile, Setting};
use super::key::{KEYS, Key, has_session};
use super::places::Author;
use super::settings::Settings;

/// The commands that tell which of their defaults a project's file set: they freeze them, or
/// spend by them.
const TOLD: [&str; 2] = ["scan", "run"];

/// A command line with what the files say.
#[derive(Debug)]
pub(in crate::cli) struct Applied {
    pub(in crate::cli) matches: ArgMatches,
    /// What people should know of it.
    pub(in crate::cli) notes: Vec<String>,
}

/// What is in force of a key.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(in crate::cli) struct InForce {
    pub(in crate::cli) key: String,
    /// As flags take them; empty where the command decides by itself.
    pub(in crate::cli) values: Vec<String>,
    /// What the command decides by itself, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) usual: Option<String>,
    /// Whose file may set it: of both, or of the user alone.
    pub(in crate::cli) author: Author,
    pub(in crate::cli) from: Origin,
}

/// Where a value comes from.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "source", rename_all = "kebab-case")]
pub(in crate::cli) enum Origin {
    /// A flag of this call.
    Flag {},
    /// A variable of the environment.
    Environment { name: &'static str },
    /// A configuration file.
    File {
        of: Author,
        path: String,
        line: usize,
    },
    /// Nobody said anything.
    Default {},
}

/// Parses `args`, of which `matches` was made, again with what the files say.
///
/// `root` makes the parser; `variable` tells what the environment says of a key.
pub(in crate::cli) fn apply(
    root: &dyn Fn() -> clap::Command,
    args: &[OsString],
    matches: ArgMatches,
    settings: &Settings,
    variable: &dyn Fn(&Key) -> Option<(&'static str, String)>,
) -> Result<Applied, BadFile> {
    let Some((name, given)) = matches.subcommand() else {
        return Ok(plain(matches));
    };
    let of_it = |key: &&Key| key.command.is_none_or(|command| command == name);
    let mut chosen = Vec::new();
    for key in KEYS.iter().filter(of_it) {
        let Some(setting) = settings.of_key(key) else {
            continue;
        };
        check(root, setting)?;
        let excluded = key.unless.iter().any(|id| is_given(given, id));
        if !excluded && !is_given(given, &key.id()) && variable(key).is_none() {
            chosen.push(setting);
        }
    }
    if chosen.is_empty() {
        return Ok(plain(matches));
    }
    let notes = notes(name, &chosen);
    let parser = chosen
        .iter()
        .fold(root(), |parser, setting| with(parser, setting));
    match parser.try_get_matches_from(args) {
        Ok(matches) => Ok(Applied { matches, notes }),
        Err(error) => Err(chosen[0].refused(&first_line(&error))),
    }
}

fn plain(matches: ArgMatches) -> Applied {
    Applied {
        matches,
        notes: Vec::new(),
    }
}

/// Whether an argument was given on the command line.
fn is_given(matches: &ArgMatches, id: &str) -> bool {
    let known = matches.try_contains_id(id).is_ok();
    known && matches.value_source(id) == Some(ValueSource::CommandLine)
}

/// Refuses values that the flag would not take.
fn check(root: &dyn Fn() -> clap::Command, setting: &Setting) -> Result<(), BadFile> {
    use clap::error::ErrorKind::{
        InvalidValue, TooManyValues, ValueValidation, WrongNumberOfValues,
    };

    let key = setting.key;
    let parser = root();
    let many = key
        .argument(&parser)
        .is_some_and(|argument| matches!(argument.get_action(), ArgAction::Append));
    if !many && setting.values.len() != 1 {
        return Err(setting.refused("it is one value, and no list"));
    }
    let flags = setting.values.iter();
    let flags = flags.map(|value| format!("--{}={value}", key.flag));
    let words = ["comail", key.command.unwrap_or("status")];
    let line = words.map(str::to_owned).into_iter().chain(flags);
    match parser.try_get_matches_from(line) {
        Err(error)
            if matches!(
                error.kind(),
                InvalidValue | ValueValidation | TooManyValues | WrongNumberOfValues
            ) =>
        {
            Err(setting.refused(&first_line(&error)))
        }
        // What else is missing from such a line is not its business.
        _ => Ok(()),
    }
}

fn first_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

/// The parser in which these values are the flag's default.
fn with(parser: clap::Command, setting: &Setting) -> clap::Command {
    let (id, values) = (setting.key.id(), setting.values.clone());
    let set =
        |command: clap::Command| command.mut_arg(id, |argument| argument.default_values(values));
    match setting.key.command {
        Some(name) => parser.mut_subcommand(name, set),
        None => set(parser),
    }
}

/// What of the files a command goes by that people should know of.
fn notes(name: &str, chosen: &[&Setting]) -> Vec<String> {
    let session = chosen.iter().filter(|setting| setting.key.is_session());
    let session = session.filter(|_| has_session(name)).map(|setting| {
        let (path, values) = (setting.path.display(), setting.values.join(", "));
        format!("note: the session is {values}, by {path}:{}", setting.line)
    });
    session.chain(note_of_project(name, chosen)).collect()
}

/// What of a project's file a command goes by.
fn note_of_project(name: &str, chosen: &[&Setting]) -> Option<String> {
    let of_project = chosen
        .iter()
        .filter(|setting| setting.author == Author::Project);
    let keys: Vec<String> = of_project
        .clone()
        .map(|setting| setting.key.name())
        .collect();
    let path = of_project.map(|setting| setting.path.display()).next();
    let path = path.filter(|_| TOLD.contains(&name))?;
    Some(format!("note: {path} sets {}", keys.join(", ")))
}

/// What is in force of every key, for a call like the one that `matches` was made of.
pub(in crate::cli) fn in_force(
    root: &dyn Fn() -> clap::Command,
    matches: &ArgMatches,
    settings: &Settings,
    variable: &dyn Fn(&Key) -> Option<(&'static str, String)>,
) -> Result<Vec<InForce>, BadFile> {
    let parser = root();
    let given = matches.subcommand().map_or(matches, |(_, given)| given);
    let keys = KEYS.iter().filter(|key| key.argument(&parser).is_some());
    let told = keys.map(|key| {
        let (values, from) = if key.command.is_none() && is_given(given, &key.id()) {
            (raw(given, &key.id()), Origin::Flag {})
        } else if let Some((name, value)) = variable(key) {
            (vec![value], Origin::Environment { name })
        } else if let Some(setting) = settings.of_key(key) {
            check(root, setting)?;
            (setting.values.clone(), of_file(setting))
        } else {
            (defaults(key, &parser), Origin::Default {})
        };
        Ok(InForce {
            key: key.name(),
            usual: usual(key, &parser).filter(|_| values.is_empty()),
            values,
            author: key.author,
            from,
        })
    });
    told.collect()
}

fn of_file(setting: &Setting) -> Origin {
    Origin::File {
        of: setting.author,
        path: setting.path.display().to_string(),
        line: setting.line,
    }
}

fn raw(matches: &ArgMatches, id: &str) -> Vec<String> {
    let raw = matches.get_raw(id).into_iter().flatten();
    raw.map(|value| value.to_string_lossy().into_owned())
        .collect()
}

fn defaults(key: &Key, parser: &clap::Command) -> Vec<String> {
    let argument = key.argument(parser).into_iter();
    let values = argument.flat_map(clap::Arg::get_default_values);
    values
        .map(|value| value.to_string_lossy().into_owned())
        .collect()
}

/// What the flag's help says that the command does without it.
fn usual(key: &Key, parser: &clap::Command) -> Option<String> {
    let help = key.argument(parser)?.get_help()?.to_string();
    let (_, rest) = help.split_once("[default: ")?;
    let (usual, _) = rest.split_once(']')?;
    Some(usual.replace('\n', " "))
}
