//! The commands, and the way from argv to an exit code.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::rc::Rc;

use anyhow::Result;
use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use super::context::Context;
use super::exit::{self, Exit};
use super::output::Output;
use super::{demo, export, next, resume, rules, scan, status, submit};
use crate::quest::email;
use crate::world::recorded::RecordedWorld;

const AFTER_HELP: &str = "\
Exit codes:
  0  done; next gave a quest; submit locked PASS or REVIEW
  1  error, nothing changed          2  bad usage, nothing changed
  3  next: complete                  5  submit: FAIL, still TODO
  6  submit: FAIL, now DONE          7  submit: locked, nothing changed
  8  a finding: the ledger's chain is broken
  9  next, submit: the session is paused until a person runs `comail resume`

An agent's loop: while comail next; do …; comail submit …; done";

/// A quest runner that takes the decision \"done\" away from the agent
///
/// A list becomes quests; an agent is handed one at a time (next) and answers (submit); a gate
/// re-verifies the facts in the world. Only the machine locks PASS.
#[derive(Debug, Parser)]
#[command(name = "comail", version, after_help = AFTER_HELP, max_term_width = 100)]
struct Cli {
    /// The session directory [default: .comail, or COMAIL_SESSION]
    #[arg(long, global = true, value_name = "DIR")]
    session: Option<PathBuf>,

    /// Print one JSON document
    #[arg(long, global = true)]
    json: bool,

    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: clap::ColorChoice,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Scan(scan::ScanArgs),
    Next(next::NextArgs),
    Submit(submit::SubmitArgs),
    Status(status::StatusArgs),
    Export(export::ExportArgs),
    Rules(rules::RulesArgs),
    Resume(resume::ResumeArgs),
    Demo(demo::DemoArgs),
}

/// Parses `args`, runs the command and returns how it ended.
pub fn run(args: impl IntoIterator<Item = OsString>) -> Exit {
    let matches = match command().try_get_matches_from(args) {
        Ok(matches) => matches,
        Err(error) => {
            // Help and version are no errors; clap knows which stream each belongs on.
            let _ = error.print();
            return if error.use_stderr() {
                Exit::Usage
            } else {
                Exit::Done
            };
        }
    };
    let cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return Exit::Usage;
        }
    };
    let environment = std::env::var_os("COMAIL_SESSION")
        .filter(|value| !value.is_empty())
        .map(PathBuf::from);
    let output = Output::of_process(cli.json, cli.color);
    let mut context = Context::new(cli.session, environment, output);
    match dispatch(&mut context, &cli.command, &matches) {
        Ok(exit) => exit,
        // Whoever reads has gone: there is nobody left to tell.
        Err(error) if is_broken_pipe(&error) => Exit::Error,
        Err(error) => {
            context.output.note(&format!("error: {error:#}"));
            exit::of_error(&error)
        }
    }
}

/// Runs the command line `args` before a recorded world, without the process's environment.
pub(super) fn rehearse(args: &[String], output: Output, world: Rc<RecordedWorld>) -> Result<Exit> {
    let matches = command().try_get_matches_from(args)?;
    let cli = Cli::from_arg_matches(&matches)?;
    let mut context = Context::new(cli.session, None, output).before(world);
    dispatch(&mut context, &cli.command, &matches)
}

fn command() -> clap::Command {
    let kind = email::kind();
    Cli::command().mut_subcommand("submit", |command| submit::with_fields(command, &kind))
}

fn dispatch(context: &mut Context, command: &Command, matches: &ArgMatches) -> Result<Exit> {
    match command {
        Command::Scan(args) => scan::run(context, args),
        Command::Next(args) => next::run(context, args),
        Command::Submit(args) => {
            let fields = matches.subcommand_matches("submit");
            submit::run(context, args, fields)
        }
        Command::Status(args) => status::run(context, args),
        Command::Export(args) => export::run(context, args),
        Command::Rules(args) => rules::run(context, args),
        Command::Resume(args) => resume::run(context, args),
        Command::Demo(args) => demo::run(context, args),
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parser_is_sound() {
        command().debug_assert();
    }
}
