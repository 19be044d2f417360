//! Whether anybody still reads what goes on.

use std::thread;
use std::time::Duration;

use super::exit::Exit;
use super::interrupt::Interrupt;

/// How long Ctrl-C takes at most to be heard of.
const MOMENT: Duration = Duration::from_millis(50);

/// Waits so long, or until something ends it; how it ends then.
///
/// Ctrl-C ends both sides of a pipe, and that the other has ended may be heard of first.
pub(super) fn ends_within(patience: Duration, interrupt: Interrupt) -> Option<Exit> {
    let has_left = leaves_within(patience);
    if has_left {
        thread::sleep(MOMENT);
    }
    if interrupt.is_asked() {
        Some(Exit::Interrupted)
    } else {
        has_left.then_some(Exit::Done)
    }
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
    match poll(&mut asked, timeout) {
        Ok(1..) => {
            let gone = PollFlags::POLLERR | PollFlags::POLLHUP;
            let said = asked[0].revents();
            let is_gone = said.is_some_and(|said| said.intersects(gone));
            if !is_gone {
                // What else it says, it would say again at once.
                thread::sleep(patience);
            }
            is_gone
        }
        // The time is over, or a signal came in, which whoever waits looks at.
        _ => false,
    }
}

/// Elsewhere it shows when something is written.
#[cfg(not(unix))]
fn leaves_within(patience: Duration) -> bool {
    thread::sleep(patience);
    false
}
