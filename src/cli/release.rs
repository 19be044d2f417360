//! `comail release`: a person releases a claimed quest.

use std::path::PathBuf;

use anyhow::Result;
use clap::{ArgGroup, Args};
use schemars::JsonSchema;
use serde::Serialize;

use super::context::{self, Context};
use super::exit::Exit;
use super::person;
use crate::quest::QuestId;
use crate::session::{Claim, Event, Session, SessionError, Worker};

/// Release a quest that a worker holds
///
/// Only a person may do this: with the operator's key file or, without one, on a terminal.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("which").args(["quest", "worker"]).required(true)))]
pub struct ReleaseArgs {
    /// The number of the quest, or its key; a number is a key only if no quest has that number
    #[arg(value_name = "N|KEY")]
    quest: Option<String>,

    /// The worker that holds it
    #[arg(long, value_name = "NAME")]
    worker: Option<Worker>,

    /// The key file that was passed to `scan --operator-key`
    #[arg(long, value_name = "FILE")]
    operator_key: Option<PathBuf>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "status", rename_all = "kebab-case")]
pub(super) enum ReleaseReply {
    Released { quest: QuestId, worker: Worker },
    NotClaimed {},
}

pub(super) fn run(context: &mut Context, args: &ReleaseArgs) -> Result<Exit> {
    let mut session = context.open_session()?;
    let named = args.quest.as_deref();
    let quest = named
        .map(|name| context::find(&session, name))
        .transpose()?;
    let claim = |session: &Session| match (&quest, &args.worker) {
        (Some(quest), _) => session.claim_on(quest.id),
        (None, Some(worker)) => session.claim_of(worker),
        (None, None) => Ok(None),
    };
    let mut released = None;
    // Nobody is asked about a quest that no worker holds.
    if claim(&session)?.is_some() {
        let key = args.operator_key.as_deref();
        person::authorise(&session, key, "release a quest", None)?;
        released = session.append(&mut context::clock(), |session, _| {
            let released = claim(session)?;
            let event = released.clone().map(Claim::released).map(Event::Released);
            Ok::<_, SessionError>((event.into_iter().collect(), released))
        })?;
    }
    let answer = match released {
        Some(Claim { quest, worker, .. }) => ReleaseReply::Released { quest, worker },
        None => ReleaseReply::NotClaimed {},
    };
    // The quest is released even if the output cannot be written.
    let _ = context.output.show(&answer, |out, answer| {
        out.line(match answer {
            ReleaseReply::Released { quest, worker } => {
                format!("quest {quest} is released from {worker}")
            }
            ReleaseReply::NotClaimed {} => String::from("no worker holds it; nothing changed"),
        });
    });
    Ok(Exit::Done)
}
