//! The commands, and the way from argv to an exit code.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::rc::Rc;

use anyhow::Result;
use clap::error::ErrorKind;
use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use super::context::{Context, SESSION_VARIABLE, WORKER_VARIABLE};
use super::escape::PlainLines;
use super::exit::{self, Exit};
use super::output::Output;
use super::{
    audit, claims, demo, dispute, export, forget, hook, insights, log, next, prove, quest, recheck,
    release, report, resume, review, rules, scan, session_kind, status, submit, submit_flags,
};
#[cfg(unix)]
use super::{noted, run_args};
use crate::quest::{QuestKind, email};
use crate::world::recorded::RecordedWorld;

const AFTER_HELP: &str = "\
Exit codes:
  0  done; next gave a quest; submit locked PASS or REVIEW
  1  error, nothing changed          2  bad usage, nothing changed
  3  next: complete                  4  next: nothing free, the rest is claimed or waits
  5  submit: FAIL or doubts sent back, still TODO
  6  submit: FAIL, now DONE
  7  submit: locked, or claimed by another worker; nothing changed
  8  audit, export, prove, quest check, scan --carry: a finding, such as a changed ledger;
     review --import: rows refused; report, run: the session is not complete
  9  next, submit: the session is paused until a person runs `comail resume`
  130  audit, log --follow, recheck, report, review, run: ended by Ctrl-C, what was done is kept

An agent's loop: while comail next; do …; comail submit …; done";

const GLOBAL: &str = "Everywhere";

/// A quest runner that takes the decision "done" away from the agent
///
/// A list becomes quests; an agent is handed one at a time (next) and answers (submit); a gate
/// re-verifies the facts in the world. Only the machine locks PASS.
#[derive(Debug, Parser)]
#[command(name = "comail", version, after_help = AFTER_HELP, max_term_width = 100)]
struct Cli {
    /// The session directory, else that of `COMAIL_SESSION` [default: .comail]
    #[arg(long, global = true, value_name = "DIR", help_heading = GLOBAL)]
    session: Option<PathBuf>,

    /// Print one JSON document
    #[arg(long, global = true, help_heading = GLOBAL)]
    json: bool,

    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = GLOBAL)]
    color: clap::ColorChoice,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Scan(Box<scan::ScanArgs>),
    #[cfg(unix)]
    Run(Box<run_args::RunArgs>),
    Next(next::NextArgs),
    Submit(submit::SubmitArgs),
    Status(status::StatusArgs),
    Export(export::ExportArgs),
    Audit(audit::AuditArgs),
    Recheck(recheck::RecheckArgs),
    Report(report::ReportArgs),
    Rules(rules::RulesArgs),
    Quest(quest::QuestArgs),
    Prove(prove::ProveArgs),
    Resume(resume::ResumeArgs),
    Review(review::ReviewArgs),
    Dispute(dispute::DisputeArgs),
    Forget(forget::ForgetArgs),
    Claims(claims::ClaimsArgs),
    Release(release::ReleaseArgs),
    Log(log::LogArgs),
    Insights(insights::InsightsArgs),
    Hook(hook::HookArgs),
    Demo(demo::DemoArgs),
}

/// Parses `args`, runs the command and returns how it ended.
pub fn run(args: impl IntoIterator<Item = OsString>) -> Exit {
    heed_file_size_limits();
    let args: Vec<OsString> = args.into_iter().collect();
    let exit = run_parsed(&args);
    #[cfg(unix)]
    noted::note_call(&args, exit);
    exit
}

fn run_parsed(args: &[OsString]) -> Exit {
    let kind = session_kind::of(args);
    let matches = match command(&kind).try_get_matches_from(args) {
        Ok(matches) => matches,
        Err(error) => {
            let exit = hook::bearable(args, tell(&error));
            if error.kind() == ErrorKind::UnknownArgument
                && let Some(note) = session_kind::without_session(args)
            {
                let _ = write!(io::stderr(), "\n{}\n", PlainLines(&note));
            }
            return exit;
        }
    };
    let cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => return tell(&error),
    };
    let environment = std::env::var_os(SESSION_VARIABLE)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from);
    let output = Output::of_process(cli.json, cli.color);
    let worker = std::env::var_os(WORKER_VARIABLE)
        .filter(|value| !value.is_empty())
        .map(|value| value.to_string_lossy().into_owned());
    let mut context = Context::new(cli.session, environment, output).by_worker(worker);
    match dispatch(&mut context, &cli.command, &matches) {
        Ok(exit) => exit,
        Err(error) => {
            context.output.note(&format!("error: {error:#}"));
            exit::of_error(&error)
        }
    }
}

/// Makes a write beyond the limit of file sizes an error, as a full disk is, rather than the end of
/// the process.
fn heed_file_size_limits() {
    #[cfg(unix)]
    {
        let seen = std::sync::Arc::default();
        // Where it cannot be heeded the process ends; what is on disk stays whole.
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, seen);
    }
}

/// Prints help and versions, which are no errors, and says what is wrong with a command line.
fn tell(error: &clap::Error) -> Exit {
    // What cannot be written must not change how it ends.
    if error.use_stderr() {
        // It repeats arguments, which may hold what came from outside.
        let text = error.render().to_string();
        let _ = write!(io::stderr(), "{}", PlainLines(&text));
        Exit::Usage
    } else {
        let _ = error.print();
        Exit::Done
    }
}

/// Runs the command line `args` before a recorded world, without the process's environment.
pub(super) fn rehearse(args: &[String], output: Output, world: Rc<RecordedWorld>) -> Result<Exit> {
    let matches = command(&email::kind()).try_get_matches_from(args)?;
    let cli = Cli::from_arg_matches(&matches)?;
    let mut context = Context::new(cli.session, None, output).before(world);
    dispatch(&mut context, &cli.command, &matches)
}

/// The parser, in which `submit` has the fields of `kind`.
fn command(kind: &QuestKind) -> clap::Command {
    Cli::command().mut_subcommand("submit", |command| submit_flags::with_fields(command, kind))
}

fn dispatch(context: &mut Context, command: &Command, matches: &ArgMatches) -> Result<Exit> {
    match command {
        Command::Scan(args) => scan::run(context, args),
        #[cfg(unix)]
        Command::Run(args) => super::run::run(context, args),
        Command::Next(args) => next::run(context, args),
        Command::Submit(args) => {
            let fields = matches.subcommand_matches("submit");
            submit::run(context, args, fields)
        }
        Command::Status(args) => status::run(context, args),
        Command::Export(args) => export::run(context, args),
        Command::Audit(args) => audit::run(context, args),
        Command::Recheck(args) => recheck::run(context, args),
        Command::Report(args) => report::run(context, args),
        Command::Rules(args) => rules::run(context, args),
        Command::Quest(args) => quest::run(context, args),
        Command::Prove(args) => prove::run(context, args),
        Command::Resume(args) => resume::run(context, args),
        Command::Review(args) => review::run(context, args),
        Command::Dispute(args) => dispute::run(context, args),
        Command::Forget(args) => forget::run(context, args),
        Command::Claims(args) => claims::run(context, args),
        Command::Release(args) => release::run(context, args),
        Command::Log(args) => log::run(context, args),
        Command::Insights(args) => insights::run(context, args),
        Command::Hook(args) => hook::run(context, args),
        Command::Demo(args) => demo::run(context, args),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parser_is_sound() {
        command(&email::kind()).debug_assert();
    }

    #[test]
    fn fields_may_be_called_what_the_parser_calls_its_own() {
        let mut kind = email::kind();
        let names = ["input", "levels", "unit", "why", "command"];
        let field = kind.fields[0].clone();
        let fields = names.map(|name| crate::quest::Field {
            name: crate::quest::FieldName::known(name),
            ..field.clone()
        });
        kind.fields = fields.to_vec();
        command(&kind).debug_assert();
    }
}
