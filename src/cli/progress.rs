//! Progress bars, Ctrl-C, and closed pipes.
//!
//! The first Ctrl-C asks a command to stop cleanly if it handles that, and otherwise ends the
//! process. The second one always ends it.

use std::fmt;
use std::os::fd::AsFd as _;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::thread;
use std::time::Duration;

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::exit::Exit;
use crate::session::Watch;

/// Set if the user or the terminal does not allow bars.
static ARE_HIDDEN: AtomicBool = AtomicBool::new(false);

/// Shows no bar from now on.
pub(super) fn hide_bars() {
    ARE_HIDDEN.store(true, Ordering::SeqCst);
}

/// A bar that appears only if the work takes a while.
#[derive(Debug)]
pub(super) struct WorkBar {
    bar: ProgressBar,
    shown: Once,
}

impl WorkBar {
    const PATIENCE: Duration = Duration::from_millis(300);

    fn new(template: &str, total: Option<u64>) -> Self {
        // It counts from the start, so that the rate is correct when the bar appears.
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template(template);
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        // A key that cannot be written leaves its place in the bar empty.
        let style = style
            .with_key("rate", |bar: &ProgressState, out: &mut dyn fmt::Write| {
                let _ = write!(out, "{:.0}/s", bar.per_sec());
            })
            .with_key("left", |bar: &ProgressState, out: &mut dyn fmt::Write| {
                // An estimate is unknown before the first steps, and useless near the end.
                if bar.eta().as_secs() > 0 {
                    let _ = write!(out, ", {:#} left", HumanDuration(bar.eta()));
                }
            });
        Self {
            bar: bar.with_style(style),
            shown: Once::new(),
        }
    }

    pub(super) fn of(doing: &str, total: u64) -> Self {
        let rest = "{bar:20} {human_pos} of {human_len}, {rate}{left}";
        Self::new(&format!("{doing} {rest}"), Some(total))
    }

    pub(super) fn endless(doing: &str) -> Self {
        let rest = "{spinner} {human_pos}, {rate}, {elapsed} elapsed";
        Self::new(&format!("{doing} {rest}"), None)
    }

    pub(super) fn count(&self) {
        self.bar.inc(1);
        self.show_if_it_takes_long();
    }

    /// Counts a step, and stops after Ctrl-C.
    pub(super) fn step(&self) -> Result<(), Stopped> {
        self.count();
        go_on()
    }

    fn show_if_it_takes_long(&self) {
        let is_late = || self.bar.elapsed() >= Self::PATIENCE;
        if !self.shown.is_completed() && is_late() && !ARE_HIDDEN.load(Ordering::SeqCst) {
            let show = || self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.shown.call_once(show);
        }
    }
}

impl Drop for WorkBar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// The bars of long work on a session, which handles Ctrl-C while one exists.
#[derive(Debug, Default)]
pub(super) struct SessionBar(Mutex<Option<(WorkBar, CtrlCGuard)>>);

impl SessionBar {
    fn tell(&self, template: &str, done: u64, total: u64) {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let begin = || (WorkBar::new(template, Some(total)), CtrlCGuard::begin());
        let (late, _) = told.get_or_insert_with(begin);
        late.bar.set_position(done);
        late.show_if_it_takes_long();
    }
}

impl Watch for SessionBar {
    fn reading(&self, done: u64, total: u64) {
        self.tell("reading the ledger {bar:20} {percent} %{left}", done, total);
    }

    fn writing(&self, done: u64, total: u64) {
        let template = "writing the session {bar:20} {human_pos} of {human_len}, {rate}{left}";
        self.tell(template, done, total);
    }

    fn ended(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn stops(&self) -> bool {
        is_asked()
    }
}

static ASKED: AtomicBool = AtomicBool::new(false);

/// How many parts of the program handle Ctrl-C now.
static HANDLING: AtomicUsize = AtomicUsize::new(0);

/// Whether Ctrl-C is meant for another program at the terminal.
static IS_IGNORED: AtomicBool = AtomicBool::new(false);

/// The handler can be installed only once.
static CAUGHT: Once = Once::new();

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("stopped before its end; nothing was changed")]
pub(super) struct Stopped;

/// Handles Ctrl-C from now on. The caller must stop once [`is_asked`] is true.
pub(super) fn handle_ctrl_c() {
    HANDLING.fetch_add(1, Ordering::SeqCst);
    catch_ctrl_c();
}

fn catch_ctrl_c() {
    CAUGHT.call_once(|| {
        // Without a handler, Ctrl-C ends the process, and what is on disk stays whole.
        let _ = ctrlc::set_handler(|| {
            if IS_IGNORED.load(Ordering::SeqCst) {
                return;
            }
            let is_handled = HANDLING.load(Ordering::SeqCst) > 0;
            if ASKED.swap(true, Ordering::SeqCst) || !is_handled {
                std::process::exit(Exit::Interrupted.code().into());
            }
        });
    });
}

/// Ctrl-C is handled as long as this exists.
#[derive(Debug)]
struct CtrlCGuard(());

impl CtrlCGuard {
    fn begin() -> Self {
        handle_ctrl_c();
        Self(())
    }
}

impl Drop for CtrlCGuard {
    fn drop(&mut self) {
        HANDLING.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Ctrl-C does nothing as long as this exists.
#[derive(Debug)]
pub(super) struct CtrlCIgnored(());

impl CtrlCIgnored {
    pub(super) fn begin() -> Self {
        IS_IGNORED.store(true, Ordering::SeqCst);
        catch_ctrl_c();
        Self(())
    }
}

impl Drop for CtrlCIgnored {
    fn drop(&mut self) {
        IS_IGNORED.store(false, Ordering::SeqCst);
    }
}

pub(super) fn is_asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}

pub(super) fn go_on() -> Result<(), Stopped> {
    if is_asked() { Err(Stopped) } else { Ok(()) }
}

const MOMENT: Duration = Duration::from_millis(50);

/// Waits for `patience`. Returns earlier, with the exit, after Ctrl-C or if stdout is closed.
///
/// Ctrl-C ends both sides of a pipe, and the end of the other side may be noticed first.
pub(super) fn ends_within(patience: Duration) -> Option<Exit> {
    let has_left = leaves_within(patience);
    if has_left {
        thread::sleep(MOMENT);
    }
    if is_asked() {
        Some(Exit::Interrupted)
    } else {
        has_left.then_some(Exit::Done)
    }
}

/// Waits for `patience`, and returns true as soon as stdout is closed. Writing would show that too, but
/// only if there is something to write.
fn leaves_within(patience: Duration) -> bool {
    let stdout = std::io::stdout();
    let mut asked = [PollFd::new(stdout.as_fd(), PollFlags::empty())];
    let timeout = PollTimeout::try_from(patience).unwrap_or(PollTimeout::ZERO);
    match poll(&mut asked, timeout) {
        Ok(1..) => {
            let gone = PollFlags::POLLERR | PollFlags::POLLHUP;
            let said = asked[0].revents();
            let is_gone = said.is_some_and(|said| said.intersects(gone));
            if !is_gone {
                // Any other event would be reported again at once.
                thread::sleep(patience);
            }
            is_gone
        }
        // A timeout, or a signal, which the caller checks.
        _ => false,
    }
}
