//! Progress bars on stderr, on a terminal alone, for work that Ctrl-C ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::interrupt::{self, Heed, Stopped};
use crate::session::Watch;

/// A bar that is not there before there is something to wait for.
#[derive(Debug)]
struct LateBar {
    bar: ProgressBar,
    begun: Instant,
    shown: AtomicBool,
}

impl LateBar {
    /// How long nobody minds to wait without being told for what.
    const PATIENCE: Duration = Duration::from_millis(300);

    /// A bar in the form of `template`, of `total` where that is known.
    fn of(template: &str, total: Option<u64>) -> Self {
        // It counts from the start, so that it knows the rate once it shows.
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        Self {
            bar: bar.with_style(style(template)),
            begun: Instant::now(),
            shown: AtomicBool::new(false),
        }
    }

    fn show_if_it_takes_long(&self) {
        if !self.shown.load(Ordering::Relaxed) && self.begun.elapsed() >= Self::PATIENCE {
            self.shown.store(true, Ordering::Relaxed);
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }
}

impl Drop for LateBar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// The bars of long work on a session, which heeds Ctrl-C as long as one is there.
#[derive(Debug, Default)]
pub(super) struct SessionBar(Mutex<Option<(LateBar, Heed)>>);

impl SessionBar {
    fn tell(&self, template: &str, done: u64, total: u64) {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let begin = || (LateBar::of(template, Some(total)), Heed::begin());
        let (late, _) = told.get_or_insert_with(begin);
        late.bar.set_position(done);
        late.show_if_it_takes_long();
    }
}

impl Watch for SessionBar {
    fn reading(&self, done: u64, total: u64) {
        let template =
            "reading the ledger {bar:20} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";
        self.tell(template, done, total);
    }

    fn writing(&self, done: u64, total: u64) {
        let template =
            "writing the session {bar:20} {human_pos} of {human_len}, {per_sec}, {eta} left";
        self.tell(template, done, total);
    }

    fn ended(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn stops(&self) -> bool {
        interrupt::is_asked()
    }
}

/// A bar for work that is done step by step.
#[derive(Debug)]
pub(super) struct WorkBar(LateBar);

impl WorkBar {
    /// A bar for `total` steps of what is being done, such as `writing the results`.
    pub(super) fn of(doing: &str, total: u64) -> Self {
        let rest = "{bar:20} {human_pos} of {human_len}, {per_sec}, {eta} left";
        Self(LateBar::of(&format!("{doing} {rest}"), Some(total)))
    }

    /// The same where nobody knows how many there are.
    pub(super) fn endless(doing: &str) -> Self {
        let rest = "{spinner} {human_pos}, {per_sec}, {elapsed} gone";
        Self(LateBar::of(&format!("{doing} {rest}"), None))
    }

    /// One more is done; ends what goes on once Ctrl-C was pressed.
    pub(super) fn step(&self) -> Result<(), Stopped> {
        self.0.bar.inc(1);
        self.0.show_if_it_takes_long();
        interrupt::go_on()
    }
}

/// A bar for judging many submissions.
#[derive(Debug)]
pub(super) struct JudgingBar(ProgressBar);

impl JudgingBar {
    /// How often it is drawn while nothing new is known: a lookup may take long.
    const TICK: Duration = Duration::from_millis(250);

    /// A bar for `total` submissions.
    pub(super) fn of(total: usize) -> Self {
        let target = ProgressDrawTarget::stderr();
        let bar = ProgressBar::with_draw_target(Some(total as u64), target);
        let bar = bar.with_style(style(
            "judging again {bar:20} {pos} of {len}, {per_sec}, {elapsed} gone, {eta} left",
        ));
        if total > 0 && !bar.is_hidden() {
            bar.enable_steady_tick(Self::TICK);
        }
        Self(bar)
    }

    /// One more was judged.
    pub(super) fn judged(&self) {
        self.0.inc(1);
    }
}

impl Drop for JudgingBar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// A style of this template; the plain bar where the template does not read.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
