//! `comail resume`: a person resumes a paused session.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::context::{self, Context};
use super::exit::Exit;
use super::person;
use crate::session::{Event, Resumed, SessionError};

/// Resume a paused session
///
/// Only a person may do this. If the session was scanned with --operator-key, the key file is
/// required. Otherwise comail asks on a terminal, which stops a careless program but does not prove
/// that a person is present.
#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// The key file that was passed to `scan --operator-key`
    #[arg(long, value_name = "FILE")]
    operator_key: Option<PathBuf>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "status", rename_all = "kebab-case")]
pub(super) enum ResumeReply {
    Resumed { streak: u32 },
    NotPaused { streak: u32 },
}

pub(super) fn run(context: &mut Context, args: &ResumeArgs) -> Result<Exit> {
    let mut session = context.open_session()?;
    let streak = session.totals().streak;
    let mut reply = ResumeReply::NotPaused { streak };
    if session.paused() {
        let what = format!("resume after {streak} quests in a row without a result");
        let key = args.operator_key.as_deref();
        person::authorise(&session, key, &what, Some("resume"))?;
        reply = session.append(&mut context::clock(), |session, _| {
            // While the person typed, another may have resumed the session.
            if !session.paused() {
                return Ok((Vec::new(), ResumeReply::NotPaused { streak: 0 }));
            }
            let resumed = Event::Resumed(Resumed { streak });
            Ok::<_, SessionError>((vec![resumed], ResumeReply::Resumed { streak }))
        })?;
    }
    context.output.show(&reply, |out, reply| {
        out.line(match reply {
            ResumeReply::Resumed { .. } => "resumed",
            ResumeReply::NotPaused { .. } => "the session is not paused",
        });
    })?;
    Ok(Exit::Done)
}
