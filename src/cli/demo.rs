//! `comail demo`: the e-mail quest played on a bundled workbook, offline.
//!
//! Every step is a command line that the program's own parser and commands carry out; what is
//! shown is what was run. The world alone is recorded.

mod place;
mod script;

use std::path::PathBuf;
use std::rc::Rc;

use anyhow::{Context as _, Result};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;

use super::command;
use super::context::Context;
use super::destination::refuse_in_session;
use super::exit::Exit;
use super::output::{Paper, Tone};
use super::shell_line::ShellLine;
use crate::base::text::Escaped;
use crate::world::evidence::recorded::RecordedWorld;
use place::Place;
use script::{Step, script};

/// Play the e-mail quest on a bundled workbook and a recorded world, offline
///
/// Five invented companies: addresses that pass, a made-up one that is refused and corrected,
/// one that is left to a person, and one that is not found. Only the world is recorded; the
/// rest is what every session runs.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct DemoArgs {
    /// The directory to make [default: comail-demo, or comail-demo-2, …]
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    dir: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  comail demo
  comail demo --dir look-at-it";

/// What the bundled companies' sites and name servers answer.
const WORLD: &str = include_str!("demo/world.json");

/// The JSON form of `demo`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Played {
    directory: String,
    workbook: String,
    session: String,
    results: String,
    status_command: String,
    steps: Vec<PlayedStep>,
}

/// One command of the demo, and what it said.
#[derive(Debug, Serialize, JsonSchema)]
struct PlayedStep {
    about: &'static str,
    command: String,
    exit: u8,
    /// What it printed: the document of its command.
    #[schemars(with = "serde_json::Value")]
    output: Said,
}

/// What a command wrote to stdout.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Said {
    Json(Box<RawValue>),
    Text(String),
}

pub(super) fn run(context: &mut Context, args: &DemoArgs) -> Result<Exit> {
    let world = RecordedWorld::from_json(WORLD).context("the demo's world cannot be read")?;
    let world = Rc::new(world);
    if let Some(dir) = &args.dir {
        refuse_in_session(dir, context.session_dir())?;
    }
    let place = Place::make(args.dir.as_deref())?;
    let steps = script(&place)
        .into_iter()
        .map(|step| play(context, step, &world))
        .collect::<Result<_>>()?;
    let show = |path: PathBuf| path.display().to_string();
    let played = Played {
        directory: show(place.dir().to_owned()),
        workbook: show(place.workbook()),
        session: show(place.session()),
        results: show(place.results()),
        status_command: ShellLine::comail("status", Some(&place.session())).into_text(),
        steps,
    };
    context.output.show(&played, text)?;
    Ok(Exit::Done)
}

fn play(context: &Context, step: Step, world: &Rc<RecordedWorld>) -> Result<PlayedStep> {
    let command = step.line.into_text();
    let failed = || format!("the demo stopped at `{command}`");
    let words = shlex::split(&command).with_context(failed)?;
    let (output, kept) = context.output.kept();
    let json = output.is_json();
    let exit = command::rehearse(&words, output, Rc::clone(world)).with_context(failed)?;
    let text = kept.text();
    Ok(PlayedStep {
        about: step.about,
        exit: exit.code(),
        output: if json {
            Said::Json(serde_json::from_str(&text).with_context(failed)?)
        } else {
            Said::Text(text)
        },
        command,
    })
}

fn text(paper: &mut Paper, played: &Played) {
    paper.line("The e-mail quest, on invented companies and a recorded world: no network is used.");
    for step in &played.steps {
        paper.gap();
        paper.line(format!("# {}", step.about));
        let command = Escaped(&step.command).to_string();
        let command = paper.tint(Tone::Strong, &command);
        paper.line(format!("$ {command}"));
        if let Said::Text(said) = &step.output {
            // The command has made it safe for a terminal already.
            paper.line(said.trim_end());
        }
        if step.exit != 0 {
            paper.line(format!("[exit code {}]", step.exit));
        }
    }
    paper.gap();
    paper.line(format!(
        "The workbook with its results: {}",
        Escaped(&played.results)
    ));
    paper.line(format!(
        "The session stays:              {}",
        Escaped(&played.status_command)
    ));
}

#[cfg(test)]
mod tests;
