//! `comail claims`: which worker holds which quest.

use anyhow::Result;
use clap::Args;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::context::{self, Context};
use super::counted::counted;
use super::escape::Plain;
use super::exit::Exit;
use super::output::Paper;
use crate::quest::QuestId;
use crate::session::{Claim, SessionError, Store, Worker};

/// Print which worker holds which quest, and for how long
///
/// A claim whose lease has run out is free to anybody; it is listed until somebody takes the
/// quest or its worker answers.
#[derive(Debug, Args)]
pub struct ClaimsArgs {}

/// The JSON form: `{"claims":[…]}`.
#[derive(Debug, Serialize)]
struct Listed {
    claims: Vec<Held>,
}

/// One claim.
#[derive(Debug, Serialize)]
struct Held {
    quest: QuestId,
    key: String,
    worker: Worker,
    /// When it was taken or last renewed.
    at: Timestamp,
    lease_seconds: u32,
    age_seconds: i64,
    /// 0 once the lease has run out.
    left_seconds: i64,
}

pub(super) fn run(context: &mut Context, _args: &ClaimsArgs) -> Result<Exit> {
    let session = context.open_session()?;
    let now = context::now();
    let claims = session.claims()?;
    let claims = claims.into_iter().map(|claim| held(&session, claim, now));
    let listed = Listed {
        claims: claims.collect::<Result<_, _>>()?,
    };
    context.output.show(&listed, text)?;
    Ok(Exit::Done)
}

fn held(store: &dyn Store, claim: Claim, now: Timestamp) -> Result<Held, SessionError> {
    let standing = store.standing(claim.quest)?;
    Ok(Held {
        quest: claim.quest,
        key: standing.map_or_else(String::new, |standing| standing.key.to_string()),
        at: claim.at,
        lease_seconds: claim.lease.seconds(),
        age_seconds: now.duration_since(claim.at).as_secs(),
        left_seconds: claim.left(now).as_secs(),
        worker: claim.worker,
    })
}

fn text(paper: &mut Paper, listed: &Listed) {
    if listed.claims.is_empty() {
        paper.line("no quest is claimed");
        return;
    }
    let count = u32::try_from(listed.claims.len()).unwrap_or(u32::MAX);
    paper.line(format!("{} claimed", counted(count, "quest")));
    for held in &listed.claims {
        let left = if held.left_seconds > 0 {
            format!("{} left", duration(held.left_seconds))
        } else {
            String::from("run out, free to anybody")
        };
        paper.line(format!(
            "  quest {}, {}: {} since {}, {left}",
            held.quest,
            Plain(&held.key),
            held.worker,
            duration(held.age_seconds),
        ));
    }
}

fn duration(seconds: i64) -> String {
    format!("{:#}", SignedDuration::from_secs(seconds))
}
