//! `comail release`: a person frees a claimed quest.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use anyhow::Result;
use clap::{ArgGroup, Args};
use schemars::JsonSchema;
use serde::Serialize;

use super::context::{self, Context};
use super::exit::{Exit, UsageError};
use super::person::{self, Authority};
use crate::quest::QuestId;
use crate::session::{Appended, Claim, Event, Released, Session, SessionError, Store, Worker};

/// Release a quest that a worker holds
///
/// Only a person may do this: with the operator's key file or, without one, on a terminal.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES,
          group(ArgGroup::new("which").args(["id", "worker"]).required(true)))]
pub struct ReleaseArgs {
    /// The number of the quest
    #[arg(long, value_name = "N")]
    id: Option<QuestId>,

    /// The worker that holds it
    #[arg(long, value_name = "NAME")]
    worker: Option<Worker>,

    /// The key file that was passed to `scan --operator-key`
    #[arg(long, value_name = "FILE")]
    operator_key: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  comail release --id 17
  comail release --worker w1 --operator-key operator.key";

/// The JSON form: `{"status":"released","quest":3,"worker":"w1"}` or `{"status":"not-claimed"}`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "status", rename_all = "kebab-case")]
pub(super) enum Answer {
    Released { quest: QuestId, worker: Worker },
    NotClaimed {},
}

pub(super) fn run(context: &mut Context, args: &ReleaseArgs) -> Result<Exit> {
    let mut session = context.open_session()?;
    authorise(&session, args)?;
    let mut released = None;
    let appended = session.append(&mut context::clock(), |session| {
        let claim = wanted(session, args)?;
        released.clone_from(&claim);
        let event = claim.map(|claim| {
            Event::Released(Released {
                quest: claim.quest,
                worker: claim.worker,
            })
        });
        Ok::<_, SessionError>(event.into_iter().collect())
    })?;
    if let Appended::Refused(error) = appended {
        return Err(error.into());
    }
    let answer = match released {
        Some(Claim { quest, worker, .. }) => Answer::Released { quest, worker },
        None => Answer::NotClaimed {},
    };
    // What was freed is free; a reader who has gone does not change how it ended.
    let _ = context.output.show(&answer, |paper, answer| {
        paper.line(match answer {
            Answer::Released { quest, worker } => {
                format!("released: quest {quest} is free, {worker} holds it no more")
            }
            Answer::NotClaimed {} => String::from("nobody holds it; nothing changed"),
        });
    });
    Ok(Exit::Done)
}

fn wanted(store: &dyn Store, args: &ReleaseArgs) -> Result<Option<Claim>, SessionError> {
    match (args.id, &args.worker) {
        (Some(id), _) => store.claim_on(id),
        (None, Some(worker)) => store.claim_of(worker),
        (None, None) => Ok(None),
    }
}

fn authorise(session: &Session, args: &ReleaseArgs) -> Result<()> {
    let authority = person::authority(session, args.operator_key.as_deref())?;
    if matches!(authority, Authority::Key(_)) || std::io::stdin().is_terminal() {
        return Ok(());
    }
    Err(UsageError(
        "freeing a worker's quest is a person's to decide: run it at a terminal (a session that \
         is scanned with --operator-key asks for that key file instead)"
            .to_owned(),
    )
    .into())
}
