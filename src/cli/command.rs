//! The commands, and the way from argv to an exit code.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::rc::Rc;

use anyhow::Result;
use clap::error::ErrorKind;
use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use super::context::{Context, SESSION_VARIABLE, WORKER_VARIABLE};
use super::defaults::{self, Applied};
use super::exit::{self, Exit};
#[cfg(unix)]
use super::noted;
use super::output::Output;
use super::telling::LOG_VARIABLE;
use super::{
    audit, claims, completing, completions, config, demo, dispute, doctor, exit_codes, export,
    forget, help, help_groups, hook, insights, interrupt, log, man, next, prompt, prove, quest,
    recheck, release, report, resume, review, rules, scan, schema, session_kind, status, submit,
    submit_flags, telling,
};
use crate::base::text::{Escaped, EscapedLines};
use crate::quest::{QuestKind, email};
use crate::world::evidence::recorded::RecordedWorld;

const GLOBAL: &str = "Everywhere";

/// A quest runner that takes the decision "done" away from the agent
///
/// A list becomes quests; an agent is handed one at a time (next) and answers (submit); a gate
/// re-verifies the facts in the world. Only the machine locks PASS.
#[derive(Debug, Parser)]
#[command(name = "comail", version, after_help = exit_codes::after_help(),
          max_term_width = 100, disable_help_subcommand = true)]
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

    /// Say on stderr what goes on; -vv for more, or `COMAIL_LOG` for what is chosen
    #[arg(short, global = true, action = clap::ArgAction::Count, conflicts_with = "quiet",
          help_heading = GLOBAL)]
    verbose: u8,

    /// Leave out notes: what was mended, left aside or set by a comail.toml, what is noted of a
    /// result, and where a run's report lies; errors stay
    #[arg(short, global = true, help_heading = GLOBAL)]
    quiet: bool,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Scan(Box<scan::ScanArgs>),
    #[cfg(unix)]
    Run(Box<super::run::RunArgs>),
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
    Config(config::ConfigArgs),
    Doctor(doctor::DoctorArgs),
    Demo(demo::DemoArgs),
    Schema(schema::SchemaArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
    Prompt(prompt::PromptArgs),
    Help(help::HelpArgs),
}

/// Parses `args`, runs the command and returns how it ended.
pub fn run(args: impl IntoIterator<Item = OsString>) -> Exit {
    heed_file_size_limits();
    let args: Vec<OsString> = args.into_iter().collect();
    if let Some(exit) = completing::answered(&args) {
        return exit;
    }
    let exit = run_parsed(&args);
    #[cfg(unix)]
    noted::note_call(&args, exit);
    exit
}

fn run_parsed(args: &[OsString]) -> Exit {
    let kind = session_kind::of(args);
    let matches = match parser(&kind).try_get_matches_from(args) {
        Ok(matches) => matches,
        Err(error) => {
            let exit = hook::bearable(args, tell(&error, args));
            if error.kind() == ErrorKind::UnknownArgument
                && let Some(note) = session_kind::without_session(args)
            {
                let _ = write!(io::stderr(), "\n{}\n", Escaped(&note));
            }
            return exit;
        }
    };
    let (matches, notes) = match defaults::of_call(&|| parser(&email::kind()), args, matches) {
        Ok(Applied { matches, notes }) => (matches, notes),
        Err(error) => {
            Output::of_process(false, clap::ColorChoice::Never).error(&format!("error: {error}"));
            return hook::bearable(args, Exit::Usage);
        }
    };
    let cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => return tell(&error, args),
    };
    let environment = std::env::var_os(SESSION_VARIABLE)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from);
    let mut output = Output::of_process(cli.json, cli.color).quiet(cli.quiet);
    if let Err(why) = telling::begin(cli.verbose, std::env::var_os(LOG_VARIABLE)) {
        output.note(&format!("note: {LOG_VARIABLE} is left aside: {why}"));
    }
    for note in notes {
        output.note(&note);
    }
    let worker = std::env::var_os(WORKER_VARIABLE)
        .filter(|value| !value.is_empty())
        .map(|value| value.to_string_lossy().into_owned());
    let mut context = Context::new(cli.session, environment, output).by_worker(worker);
    match dispatch(&mut context, &cli.command, &matches) {
        Ok(exit) => exit,
        // What it ended with is what Ctrl-C asked for, or comes of it.
        Err(error) if interrupt::is_asked() => {
            context.output.note(&format!("{error:#}"));
            Exit::Interrupted
        }
        Err(error) => {
            context.output.error(&format!("error: {error:#}"));
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
fn tell(error: &clap::Error, args: &[OsString]) -> Exit {
    // What cannot be written must not change how it ends.
    if error.use_stderr() {
        // It repeats arguments, which may hold what came from outside.
        let text = on_its_lines(error.render().to_string(), args);
        let _ = write!(io::stderr(), "{}", EscapedLines(&text));
        Exit::Usage
    } else {
        let _ = error.print();
        Exit::Done
    }
}

/// A complaint in which no argument that it repeats begins a line.
fn on_its_lines(complaint: String, args: &[OsString]) -> String {
    let args = args.iter().map(|arg| arg.to_string_lossy());
    let long = args.filter(|arg| arg.contains('\n'));
    long.fold(complaint, |text, arg| {
        let value = arg.split_once('=').map(|(_, value)| value);
        let parts = std::iter::once(arg.as_ref()).chain(value);
        let parts = parts.filter(|part| part.contains('\n'));
        parts.fold(text, |text, part| {
            text.replace(part, &Escaped(part).to_string())
        })
    })
}

/// Runs the command line `args` before a recorded world, without the process's environment.
pub(super) fn rehearse(args: &[String], output: Output, world: Rc<RecordedWorld>) -> Result<Exit> {
    let matches = parser(&email::kind()).try_get_matches_from(args)?;
    let cli = Cli::from_arg_matches(&matches)?;
    let mut context = Context::new(cli.session, None, output).before(world);
    dispatch(&mut context, &cli.command, &matches)
}

/// The parser, in which `submit` has the fields of `kind`.
pub(super) fn parser(kind: &QuestKind) -> clap::Command {
    let parser = help_groups::grouped(Cli::command());
    parser.mut_subcommand("submit", |command| submit_flags::with_fields(command, kind))
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
        Command::Doctor(args) => doctor::run(context, args),
        Command::Config(args) => config::run(context, args, matches),
        Command::Demo(args) => demo::run(context, args),
        Command::Schema(args) => schema::run(context, args),
        Command::Completions(args) => completions::run(context, args),
        Command::Man(args) => man::run(context, args),
        Command::Prompt(args) => prompt::run(context, args),
        Command::Help(args) => help::run(context, args),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parser_is_sound() {
        parser(&email::kind()).debug_assert();
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
        parser(&kind).debug_assert();
    }
}
