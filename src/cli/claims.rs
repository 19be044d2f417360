//! `comail claims`: which worker holds which quest.

use anyhow::Result;
use clap::Args;
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use super::context::{self, Context};
use super::exit::Exit;
use super::output::TextOutput;
use crate::base::text::{Escaped, plural};
use crate::report::HeldClaim;
use crate::session::{Claim, Session, SessionError};

/// List the quests that workers hold
///
/// A claim with an expired lease is still listed until another worker gets the quest or the worker
/// answers.
#[derive(Debug, Args)]
pub struct ClaimsArgs {}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Listed {
    claims: Vec<HeldClaim>,
}

pub(super) fn run(context: &mut Context, _args: &ClaimsArgs) -> Result<Exit> {
    let session = context.open_session()?;
    let now = context::now();
    let claims = session.claims()?;
    let claims = claims.iter().map(|claim| held(&session, claim, now));
    let listed = Listed {
        claims: claims.collect::<Result<_, _>>()?,
    };
    context.output.show(&listed, text)?;
    Ok(Exit::Done)
}

fn held(store: &Session, claim: &Claim, now: Timestamp) -> Result<HeldClaim, SessionError> {
    let key = store.standing(claim.quest)?.map(|standing| standing.key);
    Ok(HeldClaim::of(claim, key.as_ref(), now))
}

fn text(paper: &mut TextOutput, listed: &Listed) {
    if listed.claims.is_empty() {
        paper.line("no quest is claimed");
        return;
    }
    let count = u32::try_from(listed.claims.len()).unwrap_or(u32::MAX);
    paper.line(format!("{} claimed", plural(count, "quest")));
    for held in &listed.claims {
        let left = if held.left_seconds > 0 {
            format!("{} left", duration(held.left_seconds))
        } else {
            String::from("expired; any worker can get it")
        };
        paper.line(format!(
            "  quest {}, {}: {} since {}, {left}",
            held.quest,
            Escaped(&held.key),
            held.worker,
            duration(held.age_seconds),
        ));
    }
}

fn duration(seconds: i64) -> String {
    format!("{:#}", SignedDuration::from_secs(seconds))
}
