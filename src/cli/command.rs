//! The commands, and the way from argv to an exit code.

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Result;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, ColorChoice, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use itertools::Itertools as _;

use super::config::{Applied, variable};
use super::context::{
    Context, DEFAULT_SESSION, SESSION_VARIABLE, WORKER_VARIABLE, kind_in, nearest_session,
};
use super::exit::{ErrorReply, Exit, Hinted, UsageError};
use super::help::groups;
use super::logging::{LOG_VARIABLE, Watched};
use super::output::{Output, write_error, write_message, write_to_stderr};
use super::remote::{SERVER_VARIABLE, kind_of_args};
use super::settings::{self, Settings};
use super::traces::Traces;
use super::{
    answer_form, audit, claims, completions, config, demo, dispute, doctor, exit, export, forget,
    help, hook, insights, list, log, logging, man, mcp, next, notify, progress, prompt, prove,
    quest, recheck, release, remote, reopen, report, resume, review, rules, scan, schema, serve,
    session, show, status, submit, token, tree, until,
};
use crate::base::text::{Escaped, EscapedLines};
use crate::quest::{QuestKind, email};
use crate::serve::recorder;
use crate::session::{self as store, SessionError};

const GLOBAL: &str = "Global options";

/// A quest runner that verifies every answer of an agent
///
/// `scan` turns a list into quests, `next` prints one quest at a time, and `submit` sends an answer
/// to a gate that verifies it. Only the gate can lock a quest as PASS.
#[derive(Debug, Parser)]
#[command(name = "comail", version, after_help = exit::after_help(),
          max_term_width = 100, disable_help_subcommand = true)]
struct Cli {
    /// The session directory or address [env: `COMAIL_SESSION`] [default: .comail]
    ///
    /// The address of a session in PostgreSQL is `postgres://USER@HOST/DATABASE?session=NAME`;
    /// `comail help fleet` says more.
    #[arg(long, global = true, value_name = "DIR", value_hint = clap::ValueHint::DirPath,
          help_heading = GLOBAL)]
    session: Option<PathBuf>,

    /// Print JSON
    #[arg(long, global = true, help_heading = GLOBAL)]
    json: bool,

    /// When to use colour
    ///
    /// The environment variables `NO_COLOR` and `TERM=dumb` turn colours off.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = GLOBAL)]
    color: ColorChoice,

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

/// Defines each command once: its name, its arguments, and the call that runs it. The man page has
/// them in this order.
macro_rules! commands {
    (|$context:ident, $args:ident, $matches:ident| $($(#[$meta:meta])* $name:ident($of:ty) => $run:expr,)*) => {
        #[derive(Debug, Subcommand)]
        enum Command {
            $($(#[$meta])* $name($of),)*
        }

        fn dispatch($context: &mut Context, command: &Command, $matches: &ArgMatches) -> Result<Exit> {
            match command {
                $(Command::$name($args) => $run,)*
            }
        }
    };
}

commands! { |context, args, matches|
    Scan(Box<scan::ScanArgs>) => scan::run(context, args),
    Quest(quest::QuestArgs) => quest::run(context, args),
    Session(session::SessionArgs) => session::run(context, args),
    Demo(demo::DemoArgs) => demo::run(context, args, rehearse),
    Next(next::NextArgs) => next::run(context, args),
    Submit(submit::SubmitArgs) => submit::run(context, args, matches.subcommand_matches("submit")),
    Run(Box<super::run::RunArgs>) => super::run::run(context, args),
    Until(Box<until::UntilArgs>) => until::run(context, args),
    Hook(hook::HookArgs) => hook::run(context, args),
    Claims(claims::ClaimsArgs) => claims::run(context, args),
    Serve(serve::ServeArgs) => serve::run(context, args),
    Token(token::TokenArgs) => token::run(context, args),
    Mcp(mcp::McpArgs) => mcp::run(context, args),
    Status(status::StatusArgs) => status::run(context, args),
    List(list::ListArgs) => list::run(context, args),
    Show(show::ShowArgs) => show::run(context, args),
    Log(log::LogArgs) => log::run(context, args),
    Insights(insights::InsightsArgs) => insights::run(context, args),
    Review(review::ReviewArgs) => review::run(context, args),
    Recheck(recheck::RecheckArgs) => recheck::run(context, args),
    Dispute(dispute::DisputeArgs) => dispute::run(context, args),
    Reopen(reopen::ReopenArgs) => reopen::run(context, args),
    Release(release::ReleaseArgs) => release::run(context, args),
    Resume(resume::ResumeArgs) => resume::run(context, args),
    Forget(forget::ForgetArgs) => forget::run(context, args),
    Report(report::ReportArgs) => report::run(context, args),
    Export(export::ExportArgs) => export::run(context, args),
    Tree(tree::TreeArgs) => tree::run(context, args),
    Audit(audit::AuditArgs) => audit::run(context, args),
    Rules(rules::RulesArgs) => rules::run(context, args),
    Doctor(doctor::DoctorArgs) => doctor::run(context, args),
    Config(config::ConfigArgs) => config::run(context, args),
    Notify(notify::NotifyArgs) => notify::run(context, args),
    Prompt(prompt::PromptArgs) => prompt::run(context, args),
    Schema(schema::SchemaArgs) => schema::run(context, args),
    Completions(completions::CompletionsArgs) => completions::run(context, args),
    Man(man::ManArgs) => man::run(context, args),
    Help(help::HelpArgs) => help::run(context, args),
    #[command(hide = true)]
    Prove(prove::ProveArgs) => prove::run(context, args),
}

/// What a command does with the session that is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SessionPlace {
    Unused,
    Existing,
    New,
}

impl Command {
    /// Whether the command makes a session, and therefore does not search parent directories for one.
    fn makes_a_session(&self) -> bool {
        match self {
            Self::Scan(args) => !args.update,
            Self::Until(_) => true,
            _ => false,
        }
    }

    /// What the command does with the session that is named.
    fn place(&self) -> SessionPlace {
        match self {
            Self::Completions(_)
            | Self::Config(_)
            | Self::Demo(_)
            | Self::Man(_)
            | Self::Mcp(_)
            | Self::Notify(_)
            | Self::Session(_)
            | Self::Help(_) => SessionPlace::Unused,
            command if command.makes_a_session() => SessionPlace::New,
            _ => SessionPlace::Existing,
        }
    }

    /// Whether the command works on an existing session, and not through a server.
    fn needs_the_session(&self) -> bool {
        match self {
            Self::Scan(args) => args.update,
            Self::Status(args) => args.watch,
            Self::Run(_)
            | Self::Serve(_)
            | Self::Token(_)
            | Self::List(_)
            | Self::Show(_)
            | Self::Log(_)
            | Self::Insights(_)
            | Self::Review(_)
            | Self::Recheck(_)
            | Self::Dispute(_)
            | Self::Reopen(_)
            | Self::Release(_)
            | Self::Resume(_)
            | Self::Forget(_)
            | Self::Report(_)
            | Self::Export(_)
            | Self::Tree(_)
            | Self::Prompt(_)
            | Self::Audit(_) => true,
            _ => false,
        }
    }
}

pub fn run(args: impl IntoIterator<Item = OsString>) -> Exit {
    // A write beyond the file size limit becomes an error, like a full disk. If this fails, a
    // signal ends the process, and what is on disk stays whole.
    let seen = std::sync::Arc::default();
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, seen);
    let args: Vec<OsString> = args.into_iter().collect();
    if let Some(exit) = completions::answer(&args, parser) {
        return exit;
    }
    if args.len() < 2 {
        // A closed pipe does not change how the command ends.
        let _ = plain_output().print(&WELCOME.into());
        return Exit::Done;
    }
    run_parsed(&args).unwrap_or_else(|error| exit::of_error(&error))
}

/// Runs the command line; an error has been printed.
fn run_parsed(args: &[OsString]) -> Result<Exit> {
    let kind = kind_of_args(args).inspect_err(|error| {
        write_error(error);
        fail(error, args);
    })?;
    let parser = parser(&kind);
    let matches = match parser.clone().try_get_matches_from(args) {
        Ok(matches) => matches,
        Err(error) => {
            let exit = print(error, args);
            if exit == Exit::Usage {
                remote::report_refused(args);
            }
            return Ok(hook::exit_of_bad_command_line(args, exit));
        }
    };
    let applied = match config::apply(&parser, args, matches) {
        Ok(applied) => applied,
        Err(error) => {
            write_error(&error);
            fail(&error, args);
            return Ok(hook::exit_of_bad_command_line(args, Exit::Usage));
        }
    };
    let Applied {
        matches,
        settings,
        notes,
    } = applied;
    let cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => return Ok(print(error, args)),
    };
    let mut output = Output::of_process(cli.json, cli.color, cli.quiet);
    let serves = matches!(cli.command, Command::Serve(_));
    let traces = serves.then(Traces::begin).transpose();
    let traces = traces.unwrap_or_else(|why| {
        output.note(&format!("no traces are sent: {why}"));
        None
    });
    let traces = traces.flatten();
    let watched = serves.then(|| Watched {
        measured: recorder(),
        traces: traces.as_ref(),
    });
    if let Err(why) = logging::begin(cli.verbose, std::env::var_os(LOG_VARIABLE), watched) {
        output.note(&format!("{LOG_VARIABLE} is ignored: {why}"));
    }
    for note in notes {
        output.note(&note);
    }
    let dir = match &cli.session {
        Some(named) => named.clone(),
        None => match variable(SESSION_VARIABLE) {
            Some(named) => named.into(),
            None if cli.command.makes_a_session() => DEFAULT_SESSION.into(),
            None => nearest_session(),
        },
    };
    let is_named = cli.session.is_some() || variable(SESSION_VARIABLE).is_some();
    let unserved = cli.command.needs_the_session() && !is_named;
    let mut context = Context {
        named_worker: variable(WORKER_VARIABLE).map(|name| name.to_string_lossy().into_owned()),
        settings,
        ..context(dir, cli.session, parser, output)
    };
    let ended = remote::refuse_with_server(unserved)
        .and_then(|()| locate(&mut context, cli.command.place()))
        .and_then(|()| dispatch(&mut context, &cli.command, &matches));
    match ended {
        Ok(exit) => Ok(exit),
        // After Ctrl-C, an error is a consequence of it.
        Err(error) if progress::is_asked() => {
            context.output.note(&format!("{error:#}"));
            context.output.fail(&ErrorReply::interrupted(&error));
            Ok(Exit::Interrupted)
        }
        Err(error) => {
            write_error(&error);
            context.output.fail(&ErrorReply::of(&error));
            Err(error)
        }
    }
}

/// Finds the directory in which to work, if the session is in a database.
fn locate(context: &mut Context, place: SessionPlace) -> Result<()> {
    // An agent's commands reach the session through its server alone.
    if variable(SERVER_VARIABLE).is_some() {
        return Ok(());
    }
    let found = match place {
        SessionPlace::Unused => return Ok(()),
        SessionPlace::New => store::locate_new(&context.dir)?,
        SessionPlace::Existing => match store::locate(&context.dir) {
            // The command says what is missing for what.
            Err(SessionError::Missing(named)) => named,
            found => found?,
        },
    };
    if found != context.dir {
        context.address = Some(std::mem::replace(&mut context.dir, found));
    }
    Ok(())
}

fn context(
    dir: PathBuf,
    named_session: Option<PathBuf>,
    parser: clap::Command,
    output: Output,
) -> Context {
    Context {
        dir,
        address: None,
        named_session,
        named_worker: None,
        parser,
        settings: Settings::default(),
        repairs_reported: 0,
        output,
    }
}

/// The output before clap has parsed its flags.
fn plain_output() -> Output {
    Output::of_process(false, ColorChoice::Auto, false)
}

fn print(mut error: clap::Error, args: &[OsString]) -> Exit {
    // A message that cannot be written must not change the exit code.
    if !error.use_stderr() {
        let _ = plain_output().print(&error.render());
        return Exit::Done;
    }
    let hint = setting_instead(&error, args).or_else(|| quotes_instead(&error, args));
    if hint.is_some() {
        // The nearest flag has another meaning.
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::Suggested);
    }
    // clap repeats arguments, which may contain text from outside. None of it may start a new line.
    let mut text = error.render().to_string();
    for arg in args.iter().map(|arg| arg.to_string_lossy()) {
        let value = arg.split_once('=').map(|(_, value)| value);
        for part in std::iter::once(arg.as_ref()).chain(value) {
            if part.contains('\n') {
                text = text.replace(part, &Escaped(part).to_string());
            }
        }
    }
    let text = EscapedLines(&text).to_string();
    write_to_stderr(&text);
    let note = missing_session(&error, args);
    for (label, text) in [("note", &note), ("hint", &hint)] {
        if let Some(text) = text {
            write_to_stderr("\n");
            write_message(label, text);
        }
    }
    fail(&rejected(&text, note.or(hint)).into(), args);
    Exit::Usage
}

/// Why `submit` may not know a flag: without a session it has the flags of the e-mail quest.
fn missing_session(error: &clap::Error, args: &[OsString]) -> Option<String> {
    let dir = config::session_of_args(args);
    let submits = args.iter().any(|arg| arg == "submit");
    let is_local = config::variable(SERVER_VARIABLE).is_none();
    let unknown = submits && is_local && error.kind() == ErrorKind::UnknownArgument;
    (unknown && kind_in(&dir).is_none()).then(|| {
        format!(
            "no session found at {}; without one, `submit` has only the fields of the e-mail quest",
            dir.display()
        )
    })
}

/// The setting that has the name of a flag which `scan` or `run` lacks.
fn setting_instead(error: &clap::Error, args: &[OsString]) -> Option<String> {
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let mut words = args.iter().filter_map(|arg| arg.to_str());
    let command = words.find(|word| matches!(*word, "scan" | "run"))?;
    let key = settings::key_named(flag.strip_prefix("--")?, command)?;
    let (table, name) = settings::parts(&key);
    (error.kind() == ErrorKind::UnknownArgument).then(|| {
        format!(
            "write it as --set {key}=VALUE, or set `{name}` under [{table}] in your configuration \
             file; `comail config --example` explains it"
        )
    })
}

/// A hint for a flag of the command that `until` got without quotes.
fn quotes_instead(error: &clap::Error, args: &[OsString]) -> Option<String> {
    let mut words = args.iter().skip(1).filter_map(|arg| arg.to_str());
    let is_until = words.find(|word| !word.starts_with('-')) == Some("until");
    (is_until && error.kind() == ErrorKind::UnknownArgument).then(|| {
        "write a command and its arguments in quotes, such as 'cargo test --workspace'".to_owned()
    })
}

/// The error of clap about a rejected command line. Its hint is `note`, or else clap's tip, or else the
/// usage.
fn rejected(text: &str, note: Option<String>) -> Hinted {
    let joined = |paragraph: &str| paragraph.lines().map(str::trim).join(" ");
    let paragraphs: Vec<String> = text.split("\n\n").map(joined).collect();
    let said = |mark: &str| {
        let mut paragraphs = paragraphs.iter();
        paragraphs.find_map(|paragraph| paragraph.strip_prefix(mark))
    };
    let usage = || paragraphs.iter().find(|it| it.starts_with("Usage: "));
    let hint = note.or_else(|| said("tip: ").map(str::to_owned));
    let hint = hint.or_else(|| usage().cloned());
    let message = said("error: ").unwrap_or(text.trim()).to_owned();
    UsageError(message).hint(hint.unwrap_or_else(|| "`--help` says what is allowed".to_owned()))
}

/// Writes the document of an error before clap has said whether to print JSON.
fn fail(error: &anyhow::Error, args: &[OsString]) {
    // What follows `--` belongs to another program.
    let mut own = args.iter().take_while(|arg| *arg != "--");
    let json = own.any(|arg| arg == "--json");
    Output::of_process(json, ColorChoice::Never, true).fail(&ErrorReply::of(error));
}

/// Runs the command line `args` without the environment of the process.
pub(super) fn rehearse(args: &[String], output: Output) -> Result<Exit> {
    let parser = parser(&email::kind());
    let matches = parser.clone().try_get_matches_from(args)?;
    let cli = Cli::from_arg_matches(&matches)?;
    let dir = cli.session.clone();
    let dir = dir.unwrap_or_else(|| DEFAULT_SESSION.into());
    let mut context = context(dir, cli.session, parser, output);
    dispatch(&mut context, &cli.command, &matches)
}

/// The parser, where `submit` has the fields of `kind`.
pub(super) fn parser(kind: &QuestKind) -> clap::Command {
    let sections = EXAMPLES
        .split("\n== ")
        .map(|it| it.trim_start_matches("== "));
    let parser = sections.fold(grouped(Cli::command()), |parser, section| {
        let (path, text) = section.split_once('\n').unwrap_or((section, ""));
        help::at(parser, path, |command| {
            command.after_long_help(text.trim_end())
        })
    });
    help::at(parser, "submit", |command| {
        answer_form::with_fields(command, kind)
    })
}

/// What `comail` prints without arguments.
const WELCOME: &str = include_str!("text/welcome.txt");

/// What the help of commands ends with, in a section for each command.
const EXAMPLES: &str = include_str!("help/examples.txt");

fn grouped(parser: clap::Command) -> clap::Command {
    let header = parser.get_styles().get_header();
    let literal = parser.get_styles().get_literal();
    let mut template =
        String::from("{before-help}{about-with-newline}\n{usage-heading} {usage}\n\n");
    for (title, names) in groups() {
        let _ = writeln!(template, "{header}{title}:{header:#}");
        for name in names.split_whitespace() {
            let command = parser.find_subcommand(name);
            if let Some(about) = command.and_then(clap::Command::get_about) {
                let gap = LONGEST_NAME - name.len();
                let _ = writeln!(template, "  {literal}{name}{literal:#}{:gap$}  {about}", "");
            }
        }
        template.push('\n');
    }
    let _ = write!(
        template,
        "{header}Options:{header:#}\n{{options}}{{after-help}}"
    );
    parser.help_template(template)
}

const LONGEST_NAME: usize = "completions".len();
