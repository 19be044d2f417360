//! `comail hook tool`: whether an agent may use a tool.

use std::path::{Path, PathBuf, absolute};

use anyhow::{Context as _, Result};
use clap::Args;

use super::{agent, answer, in_a_run, said};
use crate::base::files;
use crate::cli::config;
use crate::cli::context::{Context, WORKER_VARIABLE};
use crate::cli::exit::Exit;
use crate::hook::{
    Ground, HookAgent, Ruled, Rules, Ruling, ToolCall, WriteZone, has_further_names, judge_call,
    real_path, zone_of,
};
use crate::session::read_manifest;

/// Check the commands and edits of an agent by rules
///
/// Every command of a shell line counts, wherever it stands, and the strictest rule wins. Without
/// rules the agent's own permissions decide, but for what reaches the session directory or is a
/// person's to run. What does not read is refused.
#[derive(Debug, Args)]
#[command(after_long_help = RULES)]
pub(super) struct ToolArgs {
    /// The agent: claude, codex or gemini
    #[arg(long, value_name = "NAME", default_value_t, value_parser = agent())]
    agent: HookAgent,

    /// The rules for commands
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,

    /// Deny what would otherwise ask a person
    #[arg(long)]
    unattended: bool,
}

pub(super) const RULES: &str = "\
Examples:
  comail hook tool < call.json
  comail hook tool --rules commands.toml --unattended < call.json

A file of rules:
  default = \"prompt\"      # what no rule names; else the agent's own permissions
  unreadable = \"forbid\"   # what cannot be told before it runs; else \"prompt\"

  [[rule]]
  prefix = [\"git\", [\"push\", \"fetch\"]]
  decision = \"forbid\"     # or allow, or prompt
  why = \"a person's\"";

pub(super) fn run(context: &mut Context, args: &ToolArgs) -> Exit {
    let ruled = judged(context, args).unwrap_or_else(|error| Ruled {
        ruling: Ruling::Forbid,
        why: format!("it cannot be judged: {error:#}"),
    });
    let ruled = if args.unattended || in_a_run() {
        ruled.unattended()
    } else {
        ruled
    };
    match answer(&mut context.output, &ruled.json(args.agent)) {
        Ok(()) => Exit::Done,
        // The one exit at which no agent goes on.
        Err(_) => Exit::Usage,
    }
}

fn judged(context: &Context, args: &ToolArgs) -> Result<Ruled> {
    let call = ToolCall::read(&said()?)?;
    let rules = args
        .rules
        .as_deref()
        .map_or_else(|| Ok(Rules::default()), rules)?;
    let session = absolute(context.session_dir())?;
    let ground = Ground {
        here: absolute(call.here.as_deref().unwrap_or(Path::new(".")))?,
        home: std::env::var_os("HOME").map(PathBuf::from),
        session: real_path(&session)?,
        zone: zone(&session)?,
        worker: std::env::var(WORKER_VARIABLE).ok(),
        steering: steering(args.rules.as_deref())?,
        leads: &real_path,
        shared: &has_further_names,
    };
    Ok(judge_call(&call, &rules, &ground))
}

/// The files that steer this program: the rules, and the user's own defaults.
fn steering(rules: Option<&Path>) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    if let Some(file) = rules {
        files.push(real_path(&absolute(file)?)?);
    }
    let own = config::user_file();
    // One that leads nowhere names no session either.
    files.extend(own.map(|file| real_path(&file).unwrap_or(file)));
    Ok(files)
}

/// The most bytes of a file of rules: a person writes them.
const MOST_RULES_BYTES: u64 = 1024 * 1024;

/// The rules that a file holds.
pub(super) fn rules(file: &Path) -> Result<Rules> {
    let bytes = files::read(file, MOST_RULES_BYTES).with_context(|| file.display().to_string())?;
    let text = String::from_utf8(bytes).with_context(|| file.display().to_string())?;
    Rules::parse(&text).with_context(|| file.display().to_string())
}

fn zone(session: &Path) -> Result<Option<WriteZone>> {
    if !session.try_exists()? {
        return Ok(None);
    }
    let (manifest, _) = read_manifest(session)?;
    Ok(zone_of(&manifest, &real_path)?)
}
