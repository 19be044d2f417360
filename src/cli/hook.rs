//! `comail hook`: answers the hooks of coding agents, and installs them.

use std::ffi::OsString;
use std::fs;
use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::path::{Path, PathBuf, absolute};

use anyhow::{Context as _, Result, bail};
use clap::{Args, Subcommand};
use schemars::JsonSchema;
use serde::Serialize;

use super::config::{self, in_a_run};
use super::context::{self, Context, WORKER_VARIABLE};
use super::exit::{Exit, refuse};
use super::next;
use super::output::{Output, write_error};
use super::person;
use super::remote::{Remote, TREE_VARIABLE};
use super::shell_line::ShellLine;
use crate::base::files::{self, Overwrite, write_whole};
use crate::base::text::{Escaped, escape_json, plural};
use crate::hook::{
    DEFAULT_MAX_REFUSALS, Hook, HookAgent, HookCaller, HookRecord, HookReply, MAX_CALL_BYTES,
    PathPolicy, Permission, RefusalStore, StopCall, StopReply, ToolCall, ToolPolicy, ToolReply,
    ToolRules, WriteZone, real_path, with_hooks,
};
use crate::judge::{self, Assignment, Claimant};
use crate::run::agent::{AgentShell, Preset};
use crate::session::{Session, State, Worker, read_manifest};

const LAST_CALL_VARIABLE: &str = "COMAIL_LAST_CALL";

/// The most bytes of a rules file: a person writes it.
const MAX_RULES_BYTES: u64 = 1024 * 1024;

/// Answer the hooks of a coding agent
///
/// `install` adds the hooks to the agent's settings. The agent then calls `stop` and `tool`, sends
/// its JSON on stdin and reads a reply. Hooks guide the agent and do not confine it: a program
/// that the agent writes and runs can do things that no rule covers. Only what the gate finds
/// counts.
#[derive(Debug, Args)]
pub struct HookArgs {
    #[command(subcommand)]
    command: HookCommand,
}

#[derive(Debug, Subcommand)]
enum HookCommand {
    Install(InstallArgs),
    #[command(hide = true)]
    Stop(StopArgs),
    #[command(hide = true)]
    Tool(ToolArgs),
}

/// Keep an agent from stopping while quests are TODO
///
/// The agent gets the next quest instead. It may stop when no quest is TODO, when the session is
/// paused, when the ledger cannot be read, and when it was sent back --max-refusals times in a row
/// and the ledger did not change. If other workers hold the remaining quests, the agent gets a
/// message to wait instead, up to the same limit. The exit code is 0 in all of these cases.
#[derive(Debug, Args)]
struct StopArgs {
    /// The agent that calls
    #[arg(long, value_enum, value_name = "NAME", default_value_t = HookAgent::Claude)]
    agent: HookAgent,

    /// The worker name of the agent [env: `COMAIL_WORKER`]
    #[arg(long, value_name = "NAME")]
    worker: Option<Worker>,

    /// How often in a row a stop is refused while the ledger does not change
    #[arg(long, value_name = "N", default_value_t = DEFAULT_MAX_REFUSALS)]
    max_refusals: u32,
}

/// Check the commands and edits of an agent by rules
///
/// A shell line is split into its commands, and the strictest rule for any of them decides. Without
/// a rule, the agent's own permissions decide. A person is asked about a line that is not a plain
/// list of commands: one with a command substitution, a loop, or a program that runs another one.
/// Edits and redirections must stay in the write zone of the quest kind. The session directory, the
/// agent's settings and the commands that a person runs, such as `comail resume`, are denied. So is
/// a call that cannot be read.
#[derive(Debug, Args)]
struct ToolArgs {
    /// The agent that calls
    #[arg(long, value_enum, value_name = "NAME", default_value_t = HookAgent::Claude)]
    agent: HookAgent,

    /// The rules for commands
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,

    /// Deny what a person would be asked about
    #[arg(long)]
    unattended: bool,
}

/// Add the hooks to the settings of an agent
///
/// The command shows the change and makes it with --yes, or after you confirm it at a terminal. It
/// keeps everything else in the settings, and does not change settings that are not valid.
#[derive(Debug, Args)]
struct InstallArgs {
    /// The agent whose settings to change
    #[arg(long, value_enum, value_name = "NAME")]
    agent: HookAgent,

    /// The agent's working directory
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath, default_value = ".")]
    dir: PathBuf,

    /// The rules for commands that `hook tool` applies
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,

    /// Have `hook tool` deny what a person would be asked about
    #[arg(long)]
    unattended: bool,

    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
}

pub(super) fn run(context: &mut Context, args: &HookArgs) -> Result<Exit> {
    match &args.command {
        HookCommand::Stop(args) => stop(context, args),
        HookCommand::Tool(args) => Ok(tool(context, args)),
        HookCommand::Install(args) => install(context, args),
    }
}

/// The exit code for a command line that cannot be parsed.
///
/// Agents treat the usual code 2 of a stop hook as a refusal. With settings from another version that
/// have an unknown flag, the agent could then never stop.
pub(super) fn exit_of_bad_command_line(args: &[OsString], exit: Exit) -> Exit {
    let is_stop = args
        .windows(2)
        .any(|pair| pair[0] == "hook" && pair[1] == "stop");
    if is_stop && exit == Exit::Usage {
        Exit::Error
    } else {
        exit
    }
}

/// The call on stdin; empty if stdin is a terminal.
fn read_call() -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if !io::stdin().is_terminal() {
        io::stdin()
            .take(MAX_CALL_BYTES + 1)
            .read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

fn print_reply(output: &mut Output, reply: &HookReply) -> io::Result<()> {
    output.show(reply, |out, reply| {
        let json = serde_json::to_string(reply).unwrap_or_default();
        out.line(escape_json(&json));
    })
}

fn stop(context: &mut Context, args: &StopArgs) -> Result<Exit> {
    HookRecord::new(&context.dir).note_call(args.agent, Hook::Stop);
    // The ledger decides, so a call that cannot be read is answered too. Then only the limit of
    // refusals lets the agent stop.
    let call = || -> Result<_> { Ok(StopCall::parse(&read_call()?)?) };
    let call = call().unwrap_or_else(|error| {
        write_error(&error);
        StopCall::default()
    });
    let reply = stop_reply(context, args, &call).unwrap_or_else(|error| {
        StopReply::Stop(format!("comail: the session cannot be read: {error:#}"))
    });
    let next = ShellLine::comail("next", context.named_session.as_deref());
    let hint = format!("`{}` prints all of it", next.text());
    print_reply(&mut context.output, &reply.for_agent(args.agent, &hint))?;
    Ok(Exit::Done)
}

fn stop_reply(context: &mut Context, args: &StopArgs, call: &StopCall) -> Result<StopReply> {
    let stop = |why: &str| Ok(StopReply::Stop(format!("comail: {}", why.trim_end())));
    if !call.is_main_agent() {
        return stop("a subagent may stop");
    }
    if config::variable(LAST_CALL_VARIABLE).is_some() {
        return stop("a budget of the run is used up");
    }
    if let Some(remote) = Remote::of_environment()? {
        let (exit, text) = remote.next()?;
        // A run stops an agent that goes in circles. Outside a run, the agent is refused only once.
        let goes_on = exit == Exit::Done && (in_a_run() || call.was_refused == Some(false));
        if !goes_on {
            return stop(&text);
        }
        return Ok(StopReply::GoOn(format!(
            "comail: this quest is left, so you cannot stop yet. Continue with it.\n\n{text}"
        )));
    }
    let worker = context.worker_of(args.worker.as_ref())?;
    let mut session = context.open_session()?;
    let conversation = match (&*call.conversation, &worker) {
        ("", Some(worker)) => worker.as_str(),
        (conversation, _) => conversation,
    };
    let store = RefusalStore::new(session.dir(), conversation);
    let totals = session.totals();
    let todo = totals.tally.todo;
    let refusals = match store.load().next(&totals, args.max_refusals) {
        Err(times) if todo > 0 && !session.paused() => {
            store.clear();
            return stop(&format!(
                "{} left, but the ledger did not change after {times} times",
                plural(todo, "quest"),
            ));
        }
        counted => counted.ok(),
    };
    let Some(assignment) = assignment(&mut session, worker)? else {
        return stop("the run has no further quest for this agent");
    };
    context.report_repairs(&session);
    let preset = Preset::named(args.agent.hooks().name);
    let shell = preset.map_or(AgentShell::Inherited, |preset| preset.shell);
    let reaching = context.reaching(args.worker.as_ref()).in_shell(shell)?;
    let none_free = matches!(assignment, Assignment::AllClaimed | Assignment::Waiting(_));
    let has_quest = matches!(assignment, Assignment::Quest(..));
    let text = next::rendered(&session, assignment, &reaching)?;
    let goes_on = has_quest || (none_free && refusals.is_some());
    if !goes_on {
        store.clear();
        return stop(&text);
    }
    let saved = refusals.map_or(Ok(()), |refusals| store.save(refusals));
    if let Err(error) = saved
        && call.was_refused != Some(false)
    {
        // Without the count, the refusals would never end.
        return stop(&format!("the count of refusals cannot be saved: {error}"));
    }
    let todo = plural(session.totals().tally.todo, "quest");
    // The agent itself may hold the quests under another name.
    let advice = if none_free {
        "and other workers hold them. If you claimed one under another name, continue with it; \
         otherwise wait a while and stop again."
    } else {
        "so you cannot stop yet. Continue with this one."
    };
    Ok(StopReply::GoOn(format!(
        "comail: {todo} left, {advice}\n\n{text}"
    )))
}

/// The next assignment of the agent; none if it belongs to a run that has no quest for it.
fn assignment(session: &mut Session, worker: Option<Worker>) -> Result<Option<Assignment>> {
    if !in_a_run() {
        let claimant = worker.map(|worker| Claimant {
            worker,
            lease: None,
        });
        let clock = &mut context::clock();
        return Ok(Some(judge::assign(session, claimant.as_ref(), clock)?));
    }
    // An agent of a run that lost its claim must not take a new quest by itself.
    let claim = worker.map(|worker| session.claim_of(&worker)).transpose()?;
    let Some(claim) = claim
        .flatten()
        .filter(|claim| claim.is_live(context::now()))
    else {
        return Ok(None);
    };
    let record = session.quest_record(claim.quest)?;
    let todo = record.filter(|record| record.progress.state == State::Todo);
    let todo = todo.filter(|_| !session.paused());
    Ok(todo.map(|record| Assignment::Quest(Box::new(record), Some(claim))))
}

fn tool(context: &mut Context, args: &ToolArgs) -> Exit {
    HookRecord::new(&context.dir).note_call(args.agent, Hook::Tool);
    let reply = tool_reply(context, args).unwrap_or_else(|error| {
        Permission::Deny.because(format!("the call cannot be judged: {error:#}"))
    });
    let reply = if args.unattended || in_a_run() {
        reply.unattended()
    } else {
        reply
    };
    match print_reply(&mut context.output, &reply.for_agent(args.agent)) {
        Ok(()) => Exit::Done,
        // Agents treat every other exit code as a permission.
        Err(_) => Exit::Usage,
    }
}

fn tool_reply(context: &Context, args: &ToolArgs) -> Result<ToolReply> {
    let call = ToolCall::parse(&read_call()?)?;
    let rules = match &args.rules {
        Some(file) => read_rules(file)?,
        None => ToolRules::default(),
    };
    let session = absolute(&context.dir)?;
    let mut configuration = Vec::new();
    if let Some(file) = &args.rules {
        configuration.push(real_path(&absolute(file)?)?);
    }
    let user_file = config::user_file();
    configuration.extend(user_file.map(|file| real_path(&file).unwrap_or(file)));
    let paths = PathPolicy {
        cwd: absolute(call.cwd.as_deref().unwrap_or(Path::new(".")))?,
        home: std::env::var_os("HOME").map(PathBuf::from),
        session: real_path(&session)?,
        zone: if session.try_exists()? {
            let zone = WriteZone::of(&read_manifest(&session)?.0)?;
            match std::env::var_os(TREE_VARIABLE) {
                Some(worktree) => zone.map(|zone| zone.at(Path::new(&worktree))),
                None => zone,
            }
        } else {
            None
        },
        configuration,
    };
    let worker = std::env::var(WORKER_VARIABLE).ok();
    let policy = ToolPolicy {
        rules,
        paths,
        worker,
    };
    Ok(policy.judge(&call.action))
}

fn read_rules(file: &Path) -> Result<ToolRules> {
    let name = || file.display().to_string();
    let bytes = files::read(file, MAX_RULES_BYTES).with_context(name)?;
    let text = String::from_utf8(bytes).with_context(name)?;
    ToolRules::parse(&text).with_context(name)
}

/// The JSON form: `{"file":"…","change":"…","written":true,"trust":"…"}`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct Installed {
    file: PathBuf,
    /// The change as a unified diff; empty if the settings already have the hooks.
    change: String,
    written: bool,
    /// What the agent needs in addition: flags on its command line, or a variable in its
    /// environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    trust: Option<&'static str>,
}

fn install(context: &mut Context, args: &InstallArgs) -> Result<Exit> {
    let file = args.dir.join(args.agent.hooks().settings);
    let old = read_settings(&file)?;
    let new = with_hooks(&old, args.agent, &caller(context, args)?)
        .with_context(|| format!("{} was not changed", file.display()))?;
    let patch = diffy::create_patch(&old, &new).to_string();
    // The two lines with file names are placeholders.
    let change: String = patch.split_inclusive('\n').skip(2).collect();
    let written = args.yes && !change.is_empty();
    let installed = Installed {
        file,
        change,
        written,
        trust: args.agent.hooks().trust,
    };
    if written {
        write_settings(&installed.file, &old, &new)?;
    }
    context
        .output
        .show_as(&installed, include_str!("text/hook-install.txt"))?;
    if !written && !installed.change.is_empty() {
        if !person::is_on_terminal() {
            return refuse("nothing was written: run this at a terminal, or with --yes");
        }
        person::ask("Confirm this change.", "install")?;
        write_settings(&installed.file, &old, &new)?;
        context.output.note("written");
    }
    HookRecord::new(&context.dir)
        .note_installed(args.agent, &absolute(&installed.file)?)
        .context("cannot note in the session where the hooks are")?;
    Ok(Exit::Done)
}

/// The settings; empty if the file does not exist.
fn read_settings(file: &Path) -> Result<String> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", file.display())),
    }
}

fn caller(context: &Context, args: &InstallArgs) -> Result<HookCaller> {
    let session = absolute(&context.dir)?;
    read_manifest(&session)?;
    let mut tool_arguments = Vec::new();
    if let Some(file) = &args.rules {
        read_rules(file)?;
        tool_arguments.extend(["--rules".to_owned(), path_text(&absolute(file)?)?]);
    }
    if args.unattended {
        tool_arguments.push("--unattended".to_owned());
    }
    Ok(HookCaller {
        program: path_text(&context::this_program()?)?,
        session: path_text(&session)?,
        tool_arguments,
    })
}

/// The text of a path for the settings.
fn path_text(path: &Path) -> Result<String> {
    match path.to_str() {
        Some(text) if !text.contains(char::is_control) => Ok(text.to_owned()),
        _ => bail!(
            "the settings cannot contain the path {}; rename it",
            Escaped(&path.to_string_lossy())
        ),
    }
}

fn write_settings(file: &Path, old: &str, new: &str) -> Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
    }
    if read_settings(file)? != old {
        bail!("{} changed meanwhile; nothing was written", file.display());
    }
    write_whole(file, Overwrite::Replace, &[], |out| -> Result<()> {
        Ok(out.write_all(new.as_bytes())?)
    })
}
