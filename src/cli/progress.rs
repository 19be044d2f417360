//! Progress bars on stderr, on a terminal alone.

use std::sync::OnceLock;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::session::Watch;

/// A bar for reading the ledger; not there before there is something to wait for.
#[derive(Debug, Default)]
pub(super) struct ReadingBar(OnceLock<ProgressBar>);

impl Watch for ReadingBar {
    fn reading(&self, done: u64, total: u64) {
        let bar = self.0.get_or_init(|| {
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
            bar.with_style(style(
                "reading the ledger {bar:30} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left",
            ))
        });
        bar.set_position(done);
    }
}

impl Drop for ReadingBar {
    fn drop(&mut self) {
        if let Some(bar) = self.0.get() {
            bar.finish_and_clear();
        }
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
            "judging again {bar:30} {pos} of {len}, {elapsed} gone, {eta} left",
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
