//! Whether anybody still reads what goes on.

use std::thread;
use std::time::Duration;

use super::exit::Exit;
use super::interrupt::Interrupt;

/// Waits so long, or until Ctrl-C or the reader's leaving ends the command, and says how it ended.
pub(super) fn ended_within(patience: Duration, interrupt: Interrupt) -> Option<Exit> {
    let left = !interrupt.is_asked() && leaves_within(patience);
    // Ctrl-C ends a reader behind a pipe too, so that it is asked for first.
    if interrupt.is_asked() {
        return Some(Exit::Interrupted);
    }
    left.then_some(Exit::Done)
}

/// Waits so long, or until the reader of stdout has gone; whether they have.
///
/// What is written to a pipe shows it too, but only once there is something to write.
#[cfg(unix)]
fn leaves_within(patience: Duration) -> bool {
    use std::os::fd::AsFd as _;

    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

    let stdout = std::io::stdout();
    let mut asked = [PollFd::new(stdout.as_fd(), PollFlags::empty())];
    let timeout = PollTimeout::try_from(patience).unwrap_or(PollTimeout::ZERO);
    // None of it says anything; nor does a signal that came in, at which whoever waits looks.
    if !matches!(poll(&mut asked, timeout), Ok(1..)) {
        return false;
    }
    let gone = PollFlags::POLLERR | PollFlags::POLLHUP;
    let said = asked[0].revents();
    let is_gone = said.is_some_and(|said| said.intersects(gone));
    if !is_gone {
        // What else it says, it would say again at once.
        thread::sleep(patience);
    }
    is_gone
}

/// Elsewhere it shows when something is written.
#[cfg(not(unix))]
fn leaves_within(patience: Duration) -> bool {
    thread::sleep(patience);
    false
}
