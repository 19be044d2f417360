//! `status --watch` at a terminal: one screen that is kept up to date.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::Result;
use jiff::Timestamp;
use minijinja::context;

use super::text::{rate, view};
use crate::base::text::escape_json;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::output::TextOutput;
use crate::cli::screen::{Key, Screen};
use crate::cli::terminal::size;
use crate::cli::{context, progress};
use crate::judge::live_runs::live_runs;
use crate::report::{Standings, Status, forgotten};
use crate::session::{Forgetting, LedgerWatch, Session, SessionError};

const REDRAW_INTERVAL: Duration = Duration::from_millis(500);

pub(super) fn watch(context: &mut Context) -> Result<Exit> {
    // Errors of the session are printed before the screen opens.
    let mut observer = Observer::open(&context.dir)?;
    let mut screen = Screen::enter(&context.output)?;
    let ended = watch_on(&mut observer, &mut screen, context);
    drop(screen);
    observer.report_repairs(context);
    ended
}

fn watch_on(observer: &mut Observer, screen: &mut Screen, context: &Context) -> Result<Exit> {
    let (output, session) = (&context.output, context.named_session.as_deref());
    loop {
        observer.update()?;
        let status = observer.status(context::now());
        screen.show(view(&status, session, size(), &|| output.out()))?;
        match screen.key_within(REDRAW_INTERVAL)? {
            Some(Key::Char('q') | Key::Escape) => return Ok(Exit::Done),
            Some(Key::Interrupt) => return Ok(Exit::Interrupted),
            _ => {}
        }
    }
}

pub(super) struct Observer {
    dir: PathBuf,
    watch: LedgerWatch,
    records: Standings,
    forgetting: Forgetting,
    repairs: Vec<String>,
}

const RETRY_DELAY: Duration = Duration::from_millis(200);

impl Observer {
    pub(super) fn of(session: &Session) -> Result<Self> {
        Ok(Self {
            dir: session.dir().to_owned(),
            watch: LedgerWatch::of(session.dir()),
            records: Standings::of(session, count_forgotten(session)?)?,
            forgetting: session.forgetting(),
            repairs: repairs(session),
        })
    }

    fn open(dir: &Path) -> Result<Self> {
        let mut watch = LedgerWatch::of(dir);
        // Lines added from here on trigger another read.
        watch.has_changed();
        let session = opened(dir)?;
        Ok(Self {
            watch,
            ..Self::of(&session)?
        })
    }

    fn update(&mut self) -> Result<()> {
        if !self.watch.has_changed() {
            return Ok(());
        }
        let session = opened(&self.dir)?;
        let forgetting = session.forgetting();
        let forgotten = if forgetting == self.forgetting {
            // Only `forget` changes the count, because a settled quest keeps its answer.
            self.records.overview.forgotten
        } else {
            count_forgotten(&session)?
        };
        self.records = Standings::of(&session, forgotten)?;
        self.forgetting = forgetting;
        self.repairs.extend(repairs(&session));
        Ok(())
    }

    pub(super) fn status(&self, now: Timestamp) -> Status {
        let lives = live_runs(&self.dir, &self.records.runs);
        self.records.at(now, &lives)
    }

    fn report_repairs(&mut self, context: &mut Context) {
        for repair in self.repairs.drain(..) {
            context.output.note(&repair);
        }
    }
}

fn opened(dir: &Path) -> Result<Session, SessionError> {
    match Session::open(dir) {
        // A torn line may have been repaired during the read, which looks like damage. Real
        // damage is still there on the second try.
        Err(SessionError::Damaged { .. }) => {
            thread::sleep(RETRY_DELAY);
            Session::open(dir)
        }
        opened => opened,
    }
}

fn repairs(session: &Session) -> Vec<String> {
    session.repairs().iter().map(ToString::to_string).collect()
}

fn count_forgotten(session: &Session) -> Result<u32> {
    // This reads the whole ledger, so it is done only if something was forgotten.
    if session.forgetting().is_empty() {
        return Ok(0);
    }
    Ok(forgotten(session, &session.projection()?)?)
}

const POLL_INTERVAL: Duration = Duration::from_millis(200);

pub(super) fn follow(context: &mut Context) -> Result<Exit> {
    let mut observer = Observer::open(&context.dir)?;
    progress::handle_ctrl_c();
    let mut told: Option<Status> = None;
    loop {
        observer.report_repairs(context);
        let now = context::now();
        let status = observer.status(now);
        if told.as_ref().is_none_or(|told| status.is_news(told)) {
            let mut out = context.output.out();
            if context.output.json {
                out.line(escape_json(&serde_json::to_string(&status)?));
            } else {
                write_line(&mut out, &status, now);
            }
            if context.output.go_on(&mut out)?.is_break() {
                return Ok(Exit::Done);
            }
            told = Some(status);
        }
        if let Some(exit) = progress::ends_within(POLL_INTERVAL) {
            return Ok(exit);
        }
        observer.update()?;
    }
}

fn write_line(out: &mut TextOutput, status: &Status, now: Timestamp) {
    let values = context! { now => now.to_string(), status, rate => status.pace.map(rate) };
    out.template(include_str!("../text/status_line.txt"), values);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use jiff::SignedDuration;

    use super::*;
    use crate::cli::status::fixtures;
    use crate::session::RunId;

    #[test]
    fn a_status_line_shows_the_progress() {
        let line = |status: &Status| {
            let mut out = TextOutput::plain();
            write_line(&mut out, status, fixtures::now());
            out.into_text()
        };
        assert_eq!(
            line(&fixtures::status()),
            "2026-01-02T03:04:05Z  20 PASS, 6 REVIEW, 3 DONE, 498 TODO; 61 submissions judged; 4 open; \
             2 claimed; 1 running; 57.0 settled an hour, about 8h 44m left\n"
        );
        let mut done = fixtures::status();
        done.overview.tally.todo = 0;
        (done.claims, done.runs) = (Vec::new(), Vec::new());
        done.overview.paused = true;
        let line = line(&done);
        let end = "0 TODO; 61 submissions judged; 4 open; paused\n";
        assert!(line.ends_with(end), "{line}");
    }

    #[test]
    fn only_changes_beyond_the_passing_of_time_are_news() {
        let records = fixtures::records();
        let lives = BTreeSet::from([RunId::new(7)]);
        let at = |minutes| fixtures::now() + SignedDuration::from_mins(minutes);
        let before = records.at(at(0), &lives);
        let later = records.at(at(11), &lives);
        assert_ne!(later, before);
        assert!(!later.is_news(&before));
        // A lease runs out, a run dies, a quest is settled.
        assert!(records.at(at(13), &lives).is_news(&before));
        assert!(records.at(at(0), &BTreeSet::new()).is_news(&before));
        let mut settled = fixtures::records();
        settled.overview.tally.pass += 1;
        assert!(settled.at(at(0), &lives).is_news(&before));
    }
}
