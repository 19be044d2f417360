//! `comail resume`: a person lifts a pause.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::context::{self, Context};
use super::exit::{Exit, UsageError};
use super::operator::{self, Authority};
use crate::session::{Appended, Event, Resumed, Session, Store as _};

/// Lift a pause
///
/// This is a person's to decide. A session that was scanned with --operator-key asks for that
/// key file. Any other asks for a terminal, which keeps a careless program out and is no proof
/// of a person: a program can make itself a terminal.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct ResumeArgs {
    /// The key file that `scan` was given with --operator-key
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
        paper.line("resumed: the streak counts from 0 again");
    })?;
    Ok(Exit::Done)
}

fn authorise(session: &Session, key: Option<&Path>, streak: u32) -> Result<()> {
    match operator::authority(session, key)? {
        Authority::Key(_) => Ok(()),
        Authority::NoneFrozen if io::stdin().is_terminal() && io::stderr().is_terminal() => {
            ask(streak)
        }
        Authority::NoneFrozen => Err(UsageError(
            "lifting a pause is a person's to decide: run it at a terminal (a session that is \
             scanned with --operator-key asks for that key file instead)"
                .to_owned(),
        )
        .into()),
    }
}

fn ask(streak: u32) -> Result<()> {
    let mut terminal = io::stderr();
    write!(
        terminal,
        "{streak} quests in a row ended with nothing proven. Type `resume` to go on: "
    )?;
    terminal.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    if answer.trim() == "resume" {
        Ok(())
    } else {
        bail!("the session stays paused")
    }
}
