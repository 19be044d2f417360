//! `status --watch` where no terminal is: one line for each change.

use std::time::Duration;

use anyhow::Result;
use jiff::Timestamp;

use super::eye::Eye;
use super::text::{rate, span};
use crate::base::text::escape_json;
use crate::base::text::plural;
use crate::cli::context::{self, Context};
use crate::cli::exit::Exit;
use crate::cli::progress;
use crate::cli::progress::Interrupt;
use crate::report::Status;
use crate::session::{Effective, State};

/// How long nothing is looked at.
const PATIENCE: Duration = Duration::from_millis(200);

pub(super) fn run(context: &mut Context) -> Result<Exit> {
    let mut eye = Eye::open(context.session_dir())?;
    let interrupt = Interrupt::heed();
    let mut told: Option<Status> = None;
    loop {
        for mended in eye.mended() {
            context.output.note(&mended);
        }
        let now = context::now();
        let status = eye.status(now);
        if told.as_ref().is_none_or(|told| status.is_news(told)) {
            let mut paper = context.output.paper();
            paper.line(if context.output.is_json() {
                escape_json(&serde_json::to_string(&status)?)
            } else {
                line(&status, now)
            });
            if context.output.go_on(&mut paper)?.is_break() {
                return Ok(Exit::Done);
            }
            told = Some(status);
        }
        if let Some(exit) = progress::ends_within(PATIENCE, interrupt) {
            return Ok(exit);
        }
        eye.look()?;
    }
}

/// Where the session stands, on one line.
fn line(status: &Status, now: Timestamp) -> String {
    let overview = &status.overview;
    let tally = State::ALL.map(|state| format!("{} {state}", overview.tally.of(state)));
    let mut said = vec![
        tally.join(", "),
        format!("{} judged", plural(overview.attempts, "submission")),
    ];
    let open = overview.effective.get(&Effective::Open).copied();
    let claims = status.claims.len();
    let lives = status.runs.iter().filter(|run| run.lives).count();
    let counts = [
        (open.unwrap_or(0) as usize, "open"),
        (claims, "claimed"),
        (lives, "running"),
    ];
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    said.extend(counts.map(|(count, what)| format!("{count} {what}")));
    if overview.paused {
        said.push("paused".to_owned());
    }
    if let Some(pace) = status.pace.filter(|_| overview.tally.todo > 0) {
        let left = span(pace.left_seconds);
        said.push(format!("{}, about {left} left", rate(pace)));
    }
    format!("{now}  {}", said.join("; "))
}

#[cfg(test)]
mod tests;
