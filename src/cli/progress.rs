//! Progress bars on stderr, on a terminal alone.

use std::sync::OnceLock;

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

/// A style of this template; the plain bar where the template does not read.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
