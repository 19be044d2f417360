//! `comail prompt`: the instruction block for an agent.

use anyhow::Result;
use clap::{Args, ValueEnum};

use super::agent_block::{AgentBlock, OfSession};
use super::command;
use super::context::Context;
use super::exit::Exit;
use crate::base::text::EscapedLines;
use crate::judge;
use crate::quest::email;
use crate::session::{SessionError, read_manifest};

/// Print what to tell an agent: the commands, the exit codes, the rules
///
/// Where there is a session its fields are told too, and the line that answers a quest of it.
/// `comail run` tells its agents all of this by itself, quest by quest.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct PromptArgs {
    /// For whom it is written
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    format: Format,
}

const EXAMPLES: &str = "\
Examples:
  comail prompt > AGENTS.txt
  comail prompt --format skill";

/// For whom a block is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Any agent: to be put into its instructions, such as an AGENTS.md
    Text,
    /// An agent that reads skills: a SKILL.md, with a name and when to use it
    Skill,
}

pub(super) fn run(context: &mut Context, args: &PromptArgs) -> Result<Exit> {
    let session = of_session(context)?;
    let block = AgentBlock::new(&command::parser(&email::kind()), session);
    let block = match args.format {
        Format::Text => block,
        Format::Skill => block.into_skill(),
    };
    context.output.show(&block, |paper, block| {
        paper.line(EscapedLines(block.text().trim_end()).to_string());
    })?;
    Ok(Exit::Done)
}

/// What the session asks for; nothing where there is none and none was named.
fn of_session(context: &Context) -> Result<Option<OfSession>> {
    let manifest = match read_manifest(context.session_dir()) {
        Ok((manifest, _)) => manifest,
        Err(SessionError::Missing { .. }) if context.named_session().is_none() => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let kind = judge::kind_of(&manifest)?;
    let max_tries = manifest.frozen.max_tries.get();
    Ok(Some(OfSession::new(
        &kind,
        max_tries,
        &context.reaching(None),
    )))
}
