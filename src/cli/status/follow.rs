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
const POLL_INTERVAL: Duration = Duration::from_millis(200);

pub(super) fn follow(context: &mut Context) -> Result<Exit> {
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
        if let Some(exit) = progress::ends_within(POLL_INTERVAL, interrupt) {
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
mod tests {
    use std::collections::BTreeSet;

    use jiff::SignedDuration;

    use super::*;
    use crate::cli::status::sample;
    use crate::session::RunId;

    #[test]
    fn a_line_says_where_it_stands() {
        assert_eq!(
            line(&sample::status(), sample::now()),
            "2026-01-02T03:04:05Z  20 PASS, 6 REVIEW, 3 DONE, 498 TODO; 61 submissions judged; 4 open; \
         2 claimed; 1 running; 57.0 settled an hour, about 8h 44m left"
        );
        let mut done = sample::status();
        done.overview.tally.todo = 0;
        (done.claims, done.runs) = (Vec::new(), Vec::new());
        done.overview.paused = true;
        assert!(
            line(&done, sample::now()).ends_with("0 TODO; 61 submissions judged; 4 open; paused"),
            "{}",
            line(&done, sample::now())
        );
    }

    #[test]
    fn time_alone_is_no_news_but_what_it_ends_is() {
        let standings = sample::standings();
        let lives = BTreeSet::from([RunId::new(7)]);
        let at = |minutes| sample::now() + SignedDuration::from_mins(minutes);
        let before = standings.at(at(0), &lives);
        let later = standings.at(at(11), &lives);
        assert_ne!(later, before);
        assert!(!later.is_news(&before));
        // A lease runs out, a run dies, a quest is settled.
        assert!(standings.at(at(13), &lives).is_news(&before));
        assert!(standings.at(at(0), &BTreeSet::new()).is_news(&before));
        let mut settled = sample::standings();
        settled.overview.tally.pass += 1;
        assert!(settled.at(at(0), &lives).is_news(&before));
    }
}
