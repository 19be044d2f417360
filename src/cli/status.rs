//! `comail status`: the progress of a session.

mod fit;
#[cfg(test)]
mod fixtures;
mod text;
mod watch;

use std::path::Path;

use anyhow::Result;
use clap::Args;

use self::text::Sheet;
use super::context::{self, Context};
use super::exit::Exit;
use super::terminal::{Terminal, is_possible};
use watch::Eye;

/// Show the progress of the session
///
/// Prints the states of the quests, the rate at which they are settled, and the rules that fired. The
/// rate is that of the last hour, or of the last day if few quests were settled.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct StatusArgs {
    /// Update the output until Ctrl-C
    ///
    /// On a terminal, the status fills the screen; press q or Esc to leave. Otherwise, and with --json,
    /// each change prints a line. The command does not end when no quest is TODO, because `scan
    /// --update` may add some.
    #[arg(long)]
    watch: bool,
}

const USUAL_COLUMNS: usize = 64;

const EXAMPLES: &str = "\
Examples:
  comail status
  comail status --watch
  comail status --json | jq .tally
  comail --session .comail-2 status";

pub(super) fn run(context: &mut Context, args: &StatusArgs) -> Result<Exit> {
    match args.watch {
        true if is_possible(&context.output) => watch::watch(context),
        true => watch::follow(context),
        false => once(context),
    }
}

fn once(context: &mut Context) -> Result<Exit> {
    let session = context.open_session()?;
    let status = Eye::of(&session)?.status(context::now());
    let session = context.named_session().map(Path::to_owned);
    let sheet = |columns| Sheet {
        columns,
        session: session.as_deref(),
    };
    if context.output.is_terminal() {
        let sheet = sheet(Terminal::size().columns);
        let shown = |paper: &mut _, status: &_| text::wrap(paper, status, sheet);
        context.output.show(&status, shown)?;
    } else {
        let sheet = sheet(USUAL_COLUMNS);
        let shown = |paper: &mut _, status: &_| text::all(paper, status, sheet);
        context.output.show(&status, shown)?;
    }
    Ok(Exit::Done)
}
