//! The commands, and the way from argv to an exit code.

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io;
use std::io::Write as _;
use std::path::PathBuf;
use std::rc::Rc;

use anyhow::Result;
use clap::error::ErrorKind;
use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use super::context::{Context, SESSION_VARIABLE, WORKER_VARIABLE};
use super::exit::Exit;
use super::logging::LOG_VARIABLE;
#[cfg(unix)]
use super::noted;
use super::output::Output;
use super::{
    audit, claims, completions, config, context, demo, dispute, doctor, exit, export, forget, help,
    hook, insights, log, logging, man, next, progress, prompt, prove, quest, recheck, release,
    report, resume, review, rules, scan, schema, status, submit, submit_flags,
};
use crate::base::text::{Escaped, EscapedLines};
use crate::quest::{QuestKind, email};
use crate::world::evidence::recorded::RecordedWorld;

const GLOBAL: &str = "Global options";

/// A quest runner that verifies every answer of an agent
///
/// `scan` turns a list into quests, `next` prints one quest at a time, and `submit` sends an answer
/// to a gate that verifies it. Only the gate can lock a quest as PASS.
#[derive(Debug, Parser)]
#[command(name = "comail", version, after_help = exit::after_help(),
          max_term_width = 100, disable_help_subcommand = true)]
struct Cli {
    /// The session directory [env: `COMAIL_SESSION`] [default: .comail]
    #[arg(long, global = true, value_name = "DIR", help_heading = GLOBAL)]
    session: Option<PathBuf>,

    /// Print JSON
    #[arg(long, global = true, help_heading = GLOBAL)]
    json: bool,

    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = GLOBAL)]
    color: clap::ColorChoice,

    /// Print log messages to stderr; repeat for more detail [env: `COMAIL_LOG`]
    #[arg(short, global = true, action = clap::ArgAction::Count, conflicts_with = "quiet",
          help_heading = GLOBAL)]
    verbose: u8,

    /// Print errors only, without notes
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
    if let Some(exit) = completions::answered(&args) {
        return exit;
    }
    let exit = run_parsed(&args);
    #[cfg(unix)]
    noted::note_call(&args, exit);
    exit
}

fn run_parsed(args: &[OsString]) -> Exit {
    let kind = context::kind_of_args(args);
    let matches = match parser(&kind).try_get_matches_from(args) {
        Ok(matches) => matches,
        Err(error) => {
            let exit = hook::bearable(args, tell(&error, args));
            if error.kind() == ErrorKind::UnknownArgument
                && let Some(note) = context::without_session(args)
            {
                let _ = write!(io::stderr(), "\nnote: {}\n", Escaped(&note));
            }
            return exit;
        }
    };
    let (matches, notes) = match config::apply(&kind, args, matches) {
        Ok(applied) => applied,
        Err(error) => {
            Output::of_process(false, clap::ColorChoice::Never).error(&error);
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
    if let Err(why) = logging::begin(cli.verbose, std::env::var_os(LOG_VARIABLE)) {
        output.note(&format!("{LOG_VARIABLE} is ignored: {why}"));
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
        // After Ctrl-C, an error is a consequence of it.
        Err(error) if progress::is_asked() => {
            context.output.note(&format!("{error:#}"));
            Exit::Interrupted
        }
        Err(error) => {
            context.output.error(&error);
            exit::of_error(&error)
        }
    }
}

/// Makes a write beyond the file size limit an error, like a full disk, instead of a signal that
/// ends the process.
fn heed_file_size_limits() {
    #[cfg(unix)]
    {
        let seen = std::sync::Arc::default();
        // If this fails, the signal ends the process, and what is on disk stays whole.
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, seen);
    }
}

/// Prints help, a version, or what is wrong with a command line.
fn tell(error: &clap::Error, args: &[OsString]) -> Exit {
    // A message that cannot be written must not change the exit code.
    if error.use_stderr() {
        // clap repeats arguments in its messages, and they may hold text from outside.
        let text = on_its_lines(error.render().to_string(), args);
        let _ = write!(io::stderr(), "{}", EscapedLines(&text));
        Exit::Usage
    } else {
        let _ = error.print();
        Exit::Done
    }
}

/// The message, in which no repeated argument can begin a line of its own.
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

/// Runs the command line `args` on a recorded world, without the environment of the process.
pub(super) fn rehearse(args: &[String], output: Output, world: Rc<RecordedWorld>) -> Result<Exit> {
    let matches = parser(&email::kind()).try_get_matches_from(args)?;
    let cli = Cli::from_arg_matches(&matches)?;
    let mut context = Context::new(cli.session, None, output).before(world);
    dispatch(&mut context, &cli.command, &matches)
}

/// The parser, where `submit` has the fields of `kind`.
pub(super) fn parser(kind: &QuestKind) -> clap::Command {
    let parser = grouped(Cli::command());
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

/// Every command that is shown, each in one group.
pub(super) const GROUPS: &[(&str, &[&str])] = &[
    ("Set up", &["scan", "quest", "prove", "demo"]),
    ("Work (for agents)", &["next", "submit", "run", "hook"]),
    (
        "Watch and settle",
        &[
            "status", "insights", "log", "claims", "review", "recheck", "dispute", "release",
            "resume", "forget",
        ],
    ),
    (
        "Verify and deliver",
        &["export", "report", "audit", "rules"],
    ),
    (
        "Tools",
        &[
            "doctor",
            "config",
            "prompt",
            "schema",
            "completions",
            "man",
            "help",
        ],
    ),
];

/// What is said of the command that the parser adds by itself.
const ABOUT_HELP: &str = "Print help for a command or a topic";

/// The parser, whose help lists its commands in groups.
pub(super) fn grouped(parser: clap::Command) -> clap::Command {
    let header = parser.get_styles().get_header();
    let mut template =
        String::from("{before-help}{about-with-newline}\n{usage-heading} {usage}\n\n");
    for (title, names) in GROUPS {
        let _ = writeln!(template, "{header}{title}:{header:#}");
        for name in *names {
            template.extend(line(&parser, name));
        }
        template.push('\n');
    }
    let _ = write!(
        template,
        "{header}Options:{header:#}\n{{options}}{{after-help}}"
    );
    parser.help_template(template)
}

/// The line of a command; none where this system has no such command.
fn line(parser: &clap::Command, name: &str) -> Option<String> {
    let about = match parser.find_subcommand(name) {
        Some(command) => command.get_about().map(ToString::to_string)?,
        None if name == "help" => ABOUT_HELP.to_owned(),
        None => return None,
    };
    let literal = parser.get_styles().get_literal();
    let width = GROUPS
        .iter()
        .flat_map(|(_, names)| *names)
        .map(|name| name.len());
    let width = width.max().unwrap_or(0);
    let gap = width - name.len();
    Some(format!(
        "  {literal}{name}{literal:#}{:gap$}  {about}\n",
        ""
    ))
}
