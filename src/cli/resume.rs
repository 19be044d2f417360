//! `comail resume`: a person lifts a pause.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use serde::Serialize;

use super::context::{self, Context};
use super::exit::{Exit, UsageError};
use crate::quest::Digest;
use crate::session::{Appended, Event, Resumed, Session};

/// Lift a pause
///
/// This is a person's to decide: it asks for a terminal, or for the key file that `scan` was
/// given with --operator-key.
#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// The operator's key file, instead of a terminal
    #[arg(long, value_name = "FILE")]
    operator_key: Option<PathBuf>,
}

/// The JSON form: `{"status":"resumed","streak":25}` or `{"status":"not-paused","streak":0}`.
#[derive(Debug, Serialize)]
#[serde(tag = "status", rename_all = "kebab-case")]
enum Answer {
    Resumed { streak: u32 },
    NotPaused { streak: u32 },
}

/// Whether somebody may act for the operator.
#[derive(Debug, PartialEq, Eq)]
enum Authority {
    /// By the operator's key.
    Key,
    /// By answering at a terminal.
    Terminal,
    /// Not at all, and why.
    Refused(&'static str),
}

pub(super) fn run(context: &mut Context, args: &ResumeArgs) -> Result<Exit> {
    let mut session = context.open_session()?;
    let streak = session.board().streak().length();
    if !session.paused() {
        context
            .output
            .show(&Answer::NotPaused { streak }, |paper, _| {
                paper.line("the session is not paused");
            })?;
        return Ok(Exit::Done);
    }
    authorise(&session, args.operator_key.as_deref(), streak)?;
    let appended = session.append(context::now(), &mut context::salt, |session| {
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
    let shown = key.map(key_digest).transpose()?;
    let frozen = session.manifest().frozen.operator_key;
    let terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
    match authority(shown, frozen, terminal) {
        Authority::Key => Ok(()),
        Authority::Refused(why) => Err(UsageError(why.to_owned()).into()),
        Authority::Terminal => ask(streak),
    }
}

/// Decides who may lift a pause.
fn authority(shown: Option<Digest>, frozen: Option<Digest>, terminal: bool) -> Authority {
    match (shown, frozen) {
        (Some(shown), Some(frozen)) if shown == frozen => Authority::Key,
        (Some(_), Some(_)) => Authority::Refused("that is not the key file that `scan` was given"),
        (Some(_), None) => Authority::Refused("`scan` was given no --operator-key"),
        (None, _) if terminal => Authority::Terminal,
        (None, _) => Authority::Refused(
            "lifting a pause is a person's to decide: run it at a terminal, or name the key \
             file that `scan` was given with --operator-key",
        ),
    }
}

/// The digest of the operator's key file.
pub(super) fn key_digest(path: &Path) -> Result<Digest> {
    let bytes = std::fs::read(path)
        .with_context(|| format!("cannot read the operator's key {}", path.display()))?;
    if bytes.len() < 16 {
        bail!(
            "{}: an operator's key has at least 16 bytes; make one with \
             `head -c 32 /dev/urandom > FILE`",
            path.display()
        );
    }
    Ok(Digest::of(&bytes))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_operator_lifts_a_pause() {
        let key = Some(Digest::of(b"key"));
        let other = Some(Digest::of(b"other"));
        assert_eq!(authority(key, key, false), Authority::Key);
        assert_eq!(authority(None, key, true), Authority::Terminal);
        assert_eq!(authority(None, None, true), Authority::Terminal);
        for refused in [
            authority(other, key, true),
            authority(key, None, true),
            authority(None, key, false),
            authority(None, None, false),
        ] {
            assert!(matches!(refused, Authority::Refused(_)), "{refused:?}");
        }
    }
}
