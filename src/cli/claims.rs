//! `comail claims`: which worker holds which quest.

use anyhow::Result;
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::context::{self, Context};
use super::exit::Exit;
use super::remote::Remote;
use crate::report::HeldClaim;
use crate::serve::Call;
use crate::session::Worker;

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
    match Remote::of_environment()? {
        Some(remote) => remote.run(context, &Call::Claims),
        None => show(context, None),
    }
}

/// Shows the claims of one worker, or of all.
pub(super) fn show(context: &mut Context, only: Option<&Worker>) -> Result<Exit> {
    let session = context.open_session()?;
    let now = context::now();
    let mut claimed = session.claimed()?;
    claimed.retain(|(claim, _)| only.is_none_or(|only| claim.worker == *only));
    let claims = claimed.iter();
    let listed = Listed {
        claims: claims
            .map(|(claim, key)| HeldClaim::of(claim, key, now))
            .collect(),
    };
    context
        .output
        .show_as(&listed, include_str!("text/claims.txt"))?;
    Ok(Exit::Done)
}
