//! `comail config`: which defaults are in force, and where each comes from.

use anyhow::Result;
use clap::{ArgMatches, Args};
use schemars::JsonSchema;
use serde::Serialize;

use super::command;
use super::context::Context;
use super::defaults::{self, Author, InForce, Origin, State};
use super::exit::{Exit, UsageError};
use super::output::{Paper, Tone};
use crate::base::text::Escaped;
use crate::quest::email;

/// Print which defaults are in force, and where each comes from
///
/// They stand in for flags of a person's commands: scan, run, status, export, report, log,
/// insights. They come from comail.toml in this directory or above it, up to the root of the
/// repository, and from comail/config.toml in the user's directory for configuration. Nothing
/// that `scan` froze is changed by them. A command that judges takes of the user's file which session
/// is meant, as every command does, and nothing more.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct ConfigArgs {
    /// Print a commented file with every key
    #[arg(long)]
    example: bool,
}

const EXAMPLES: &str = "\
Examples:
  comail config
  comail config --example > comail.toml";

/// The JSON form of `config`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Configuration {
    files: Vec<FileSeen>,
    settings: Vec<InForce>,
}

/// A place where a file is looked for.
#[derive(Debug, Serialize, JsonSchema)]
struct FileSeen {
    of: Author,
    path: String,
    #[serde(flatten)]
    found: FileState,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "found", rename_all = "kebab-case")]
enum FileState {
    Read {},
    Absent {},
    LeftAside { why: &'static str },
}

/// The JSON form of `config --example`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Example {
    text: String,
}

pub(super) fn run(context: &mut Context, args: &ConfigArgs, matches: &ArgMatches) -> Result<Exit> {
    let root = || command::parser(&email::kind());
    if args.example {
        let example = Example {
            text: defaults::example(&root()),
        };
        context.output.show(&example, |paper, example| {
            for line in example.text.lines() {
                paper.line(line);
            }
        })?;
        return Ok(Exit::Done);
    }
    let usage = |error: defaults::BadFile| UsageError(error.to_string());
    let settings = defaults::here().map_err(usage)?;
    let in_force = defaults::in_force(&root, matches, &settings, &defaults::variable_of);
    let configuration = Configuration {
        files: settings.places.iter().map(seen).collect(),
        settings: in_force.map_err(usage)?,
    };
    context.output.show(&configuration, text)?;
    Ok(Exit::Done)
}

fn seen(found: &defaults::Found) -> FileSeen {
    FileSeen {
        of: found.place.author,
        path: found.place.path.display().to_string(),
        found: match found.state {
            State::Read(_) => FileState::Read {},
            State::Absent => FileState::Absent {},
            State::LeftAside(why) => FileState::LeftAside { why },
        },
    }
}

fn text(paper: &mut Paper, configuration: &Configuration) {
    for file in &configuration.files {
        let found = match file.found {
            FileState::Read {} => String::new(),
            FileState::Absent {} => " (not there)".to_owned(),
            FileState::LeftAside { why } => format!(" (left aside: {why})"),
        };
        paper.line(format!(
            "{:8} {}{found}",
            file.of.to_string(),
            Escaped(&file.path)
        ));
    }
    paper.gap();
    for setting in &configuration.settings {
        let value = match (&setting.values[..], &setting.usual) {
            ([], Some(usual)) => format!("({usual})"),
            ([], None) => "-".to_owned(),
            (values, _) => values.join(", "),
        };
        let from = match &setting.from {
            Origin::Flag {} => "by flag".to_owned(),
            Origin::Environment { name } => format!("by {name}"),
            Origin::File { path, line, .. } => format!("by {path}:{line}"),
            Origin::Default {} => String::new(),
        };
        let line = format!(
            "{:24} {:24} {}",
            setting.key,
            Escaped(&value).to_string(),
            Escaped(&from)
        );
        let line = line.trim_end();
        let set = setting.from != Origin::Default {};
        paper.line(if set {
            paper.tint(Tone::Strong, line)
        } else {
            line.to_owned()
        });
    }
}
