//! `comail status`: the progress of a session.

#[cfg(test)]
mod fixtures;
mod text;
mod watch;

use anyhow::Result;
use clap::Args;

use super::context::{self, Context};
use super::exit::Exit;
use super::remote::Remote;
use super::screen::is_possible;
use super::terminal::size;
use crate::serve::Call;
use watch::Observer;

/// Show the progress of the session
///
/// Prints the states of the quests, the rate at which they are settled, and the rules that fired. The
/// rate is that of the last hour, or of the last day if few quests were settled.
#[derive(Debug, Args)]
pub struct StatusArgs {
    /// Update the output until Ctrl-C
    ///
    /// On a terminal, the status fills the screen; press q or Esc to leave. Otherwise, and with --json,
    /// each change prints a line. The command does not end when no quest is TODO, because `scan
    /// --update` may add some.
    #[arg(long)]
    pub(super) watch: bool,
}

const USUAL_COLUMNS: usize = 64;

pub(super) fn run(context: &mut Context, args: &StatusArgs) -> Result<Exit> {
    match args.watch {
        true if is_possible(&context.output) => watch::watch(context),
        true => watch::follow(context),
        false => match Remote::of_environment()? {
            Some(remote) => remote.run(context, &Call::Status),
            None => once(context),
        },
    }
}

/// Prints the status as it is now.
pub(super) fn once(context: &mut Context) -> Result<Exit> {
    let session = context.open_session()?;
    let status = Observer::of(&session)?.status(context::now());
    let session = context.named_session.clone();
    let columns = context.output.terminal.then(|| size().columns);
    context.output.show(&status, |out, status| {
        let columns = columns.unwrap_or(USUAL_COLUMNS);
        text::write(out, status, session.as_deref(), columns);
    })?;
    Ok(Exit::Done)
}
