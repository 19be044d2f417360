//! `comail resume`: a person resumes a paused session.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::context::{self, Context};
use super::exit::{Exit, UsageError};
use super::person::{self, Authority};
use crate::session::{Appended, Event, Resumed, Session, Store as _};

/// Resume a paused session
///
/// Only a person may do this. If the session was scanned with --operator-key, the key file is
/// required. Otherwise comail asks on a terminal, which stops a careless program but does not prove
/// that a person is present.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct ResumeArgs {
    /// The key file that was passed to `scan --operator-key`
    #[arg(long, value_name = "FILE")]
    operator_key: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  comail resume
  comail resume --operator-key operator.key";

/// The JSON form: `{"status":"resumed","streak":25}` or `{"status":"not-paused","streak":0}`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "status", rename_all = "kebab-case")]
pub(super) enum Answer {
    Resumed { streak: u32 },
    NotPaused { streak: u32 },
}

pub(super) fn run(context: &mut Context, args: &ResumeArgs) -> Result<Exit> {
    let mut session = context.open_session()?;
    let streak = session.totals().streak.length();
    if !session.paused() {
        context
            .output
            .show(&Answer::NotPaused { streak }, |paper, _| {
                paper.line("the session is not paused");
            })?;
        return Ok(Exit::Done);
    }
    authorise(&session, args.operator_key.as_deref(), streak)?;
    let appended = session.append(&mut context::clock(), |session| {
        if session.paused() {
            Ok(vec![Event::Resumed(Resumed { streak })])
        } else {
            Err(())
        }
    })?;
    let answer = match appended {
        Appended::Done => Answer::Resumed { streak },
        Appended::Refused(()) => Answer::NotPaused { streak: 0 },
    };
    context.output.show(&answer, |paper, _| {
        paper.line("resumed");
    })?;
    Ok(Exit::Done)
}

fn authorise(session: &Session, key: Option<&Path>, streak: u32) -> Result<()> {
    match person::authority(session, key)? {
        Authority::Key(_) => Ok(()),
        Authority::NoneFrozen if io::stdin().is_terminal() && io::stderr().is_terminal() => {
            ask(streak)
        }
        Authority::NoneFrozen => Err(UsageError(
            "only a person can resume a session: run this on a terminal (or scan with \
             --operator-key, and pass that key file)"
                .to_owned(),
        )
        .into()),
    }
}

fn ask(streak: u32) -> Result<()> {
    let mut terminal = io::stderr();
    write!(
        terminal,
        "{streak} quests in a row ended without proof. Type `resume` to continue: "
    )?;
    terminal.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    if answer.trim() == "resume" {
        Ok(())
    } else {
        bail!("not confirmed; the session is still paused")
    }
}
