//! `comail review --sample`: draws PASSes for a person to check by hand.

use std::num::NonZeroU32;

use anyhow::{Context as _, Result};
use schemars::JsonSchema;
use serde::Serialize;

use crate::base::text::plural;
use crate::cli::context::{self, Context};
use crate::cli::dispute::usage_error;
use crate::cli::exit::{Exit, refuse};
use crate::cli::person::{PersonArgs, is_on_terminal, refuse_bare_yes};
use crate::quest::QuestId;
use crate::review::{NotSettled, draw_sample, pool};
use crate::session::Seed;

/// The JSON form: `{"drawn":[3,17,40],"left":352,"by":"kim"}`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct DrawReply<'a> {
    /// The quests, in order.
    drawn: Vec<QuestId>,
    /// How many PASSes can still be drawn.
    left: usize,
    by: &'a str,
}

pub(super) fn run(
    context: &mut Context,
    most: NonZeroU32,
    person: &PersonArgs,
    yes: bool,
) -> Result<Exit> {
    refuse_bare_yes(yes, person)?;
    let mut session = context.open_folded()?;
    let projection = session.projection()?;
    let pool = pool(&session, &projection)?.len();
    if pool == 0 {
        return Err(usage_error(NotSettled::NothingToDraw));
    }
    let most = most.get() as usize;
    let plain = format!("draw {} of {pool} PASSes to check by hand", most.min(pool));
    let todo = projection.remaining();
    let is_early = todo > 0 && projection.totals().sample.is_none();
    let early = format!(
        "{} still TODO, and the sample will never cover their PASSes",
        plural(todo, "quest")
    );
    if is_early && !yes && !is_on_terminal() {
        return refuse(format!(
            "{early}: draw when they are settled, or now with --yes and --operator-key"
        ));
    }
    let question = if is_early {
        format!("{plain}; {early}")
    } else {
        plain
    };
    let key = person.authorise_many(&session, &question, "sample", yes || !is_early)?;
    let by = person.name();
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).context("the operating system gives no randomness")?;
    let by_whom = (by.as_str(), key.as_ref());
    let clock = &mut context::clock();
    let drawn = draw_sample(&mut session, most, Seed(seed), by_whom, clock);
    let drawn = drawn.map_err(usage_error)?;
    let answer = DrawReply {
        left: pool.saturating_sub(drawn.len()),
        drawn,
        by: &by,
    };
    context
        .output
        .show_as(&answer, include_str!("../text/review-sample.txt"))?;
    Ok(Exit::Done)
}
