//! `comail insights`: what costs tries.

use std::num::NonZeroU32;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;

use super::context::Context;
use super::exit::Exit;
use crate::report::{self, Insights, SessionTally};
use crate::session::{Ledger, SessionError};

/// Show what uses up tries, in one or several sessions
///
/// Prints the tries for each quest and rule, the share that passes on the first try, the time and
/// tokens for each PASS, and the facts that recur; by agent and model for sessions of `comail run`.
/// Recent sessions count more. The sessions are not changed.
#[derive(Debug, Args)]
pub struct InsightsArgs {
    /// The session directories [default: the current session]
    #[arg(value_name = "SESSION")]
    sessions: Vec<PathBuf>,

    /// Age in days at which a session counts half as much as the newest one
    #[arg(long, value_name = "DAYS", default_value = "30")]
    half_life: NonZeroU32,
}

pub(super) fn run(context: &mut Context, args: &InsightsArgs) -> Result<Exit> {
    let own = [context.dir.clone()];
    let dirs = match &args.sessions[..] {
        [] => &own[..],
        named => named,
    };
    let insights = insights_of(context, dirs, args.half_life.get())?;
    context.output.page();
    context
        .output
        .show_as(&insights, include_str!("text/insights.txt"))?;
    Ok(Exit::Done)
}

pub(super) fn insights_of(
    context: &Context,
    dirs: &[PathBuf],
    half_life_days: u32,
) -> Result<Insights> {
    let tallies: Result<Vec<_>, _> = dirs.iter().map(|dir| tally(context, dir)).collect();
    Ok(report::combine(tallies?, half_life_days))
}

fn tally(context: &Context, dir: &Path) -> Result<SessionTally, SessionError> {
    let (manifest, mut log) = Ledger::open(dir)?;
    let mut tally = SessionTally::new(dir.display().to_string(), manifest.kind.name);
    log.read_while(&*context.watch(), &mut |entry| {
        tally.take(&entry.event, entry.line.at());
        ControlFlow::Continue(())
    })?;
    Ok(tally)
}
