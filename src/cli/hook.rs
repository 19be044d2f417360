//! `comail hook`: what the hooks of coding agents are answered.

pub(super) mod install;
mod stop;
mod tool;

use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Read as _};

use anyhow::Result;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};

use self::install::InstallArgs;
use self::stop::StopArgs;
use self::tool::ToolArgs;
use super::context::Context;
use super::exit::Exit;
use super::output::Output;
use crate::base::text::escape_json;
use crate::hook::{HookAgent, MOST_CALL_BYTES};

/// The variable that names the run that started an agent.
pub(super) const RUN_VARIABLE: &str = "COMAIL_RUN";

/// Answer the hooks of a coding agent
///
/// `hook install` adds the hooks to the settings of an agent, which then runs `hook stop` and `hook
/// tool` with JSON on standard input. Hooks are a convenience, not a protection: a program that the
/// agent writes and runs can do what the rules forbid. Only the gate decides.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct HookArgs {
    #[command(subcommand)]
    what: What,
}

const EXAMPLES: &str = "\
Examples:
  comail hook install --agent claude           # shows the change, and asks
  comail hook stop < call.json                 # as the agent calls it";

#[derive(Debug, Subcommand)]
enum What {
    /// Keep an agent from stopping while quests are TODO
    Stop(StopArgs),
    /// Check the commands and edits of an agent by rules
    Tool(ToolArgs),
    /// Add the hooks to the settings of an agent
    Install(InstallArgs),
}

pub(super) fn run(context: &mut Context, args: &HookArgs) -> Result<Exit> {
    match &args.what {
        What::Stop(args) => stop::run(context, args),
        What::Tool(args) => Ok(tool::run(context, args)),
        What::Install(args) => install::run(context, args),
    }
}

/// The exit of a command line that was not understood.
///
/// To an agent that asks whether it may stop, the usual one says that it may not: settings that an
/// older version wrote would hold it for ever.
pub(super) fn bearable(args: &[OsString], exit: Exit) -> Exit {
    let stops = args
        .windows(2)
        .any(|pair| pair[0] == "hook" && pair[1] == "stop");
    if stops && exit == Exit::Usage {
        Exit::Error
    } else {
        exit
    }
}

/// What the agent says; nothing where a person sits at the other end.
fn said() -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if !io::stdin().is_terminal() {
        io::stdin()
            .take(MOST_CALL_BYTES + 1)
            .read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Writes the one JSON document that an agent reads.
fn answer(output: &mut Output, reply: &serde_json::Value) -> io::Result<()> {
    output.show(reply, |paper, reply| {
        paper.line(escape_json(&reply.to_string()));
    })
}

/// The agents whose hooks are known.
fn agent() -> impl TypedValueParser<Value = HookAgent> {
    let names = [HookAgent::Claude, HookAgent::Codex, HookAgent::Gemini].map(HookAgent::name);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<HookAgent>())
}

/// Whether an agent was started by a run, in which nobody can be asked.
fn in_a_run() -> bool {
    std::env::var_os(RUN_VARIABLE).is_some_and(|run| !run.is_empty())
}
