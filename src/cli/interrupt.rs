//! Ctrl-C: the first asks a command to stop cleanly, where it heeds that; else it ends the process
//! at once, and the second always does.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::exit::Exit;

/// Whether Ctrl-C was pressed.
static ASKED: AtomicBool = AtomicBool::new(false);

/// How much of what goes on heeds it.
static HEEDING: AtomicUsize = AtomicUsize::new(0);

/// Set once the process heeds Ctrl-C, which it can begin to do but once.
static CAUGHT: OnceLock<()> = OnceLock::new();

/// The wish to stop, heeded from now on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Interrupt(());

/// The wish to stop, heeded as long as this lives.
#[derive(Debug)]
pub(super) struct Heed(());

/// A command stopped, as Ctrl-C asked it to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("stopped before its end; nothing was changed")]
pub(super) struct Stopped;

impl Interrupt {
    /// From now on Ctrl-C asks to stop, and no longer ends the process by itself.
    pub(super) fn heed() -> Self {
        // It is never given up.
        std::mem::forget(Heed::begin());
        Self(())
    }

    /// Whether it was pressed.
    #[expect(clippy::unused_self, reason = "who asks must have begun to heed it")]
    pub(super) fn is_asked(self) -> bool {
        is_asked()
    }
}

impl Heed {
    /// From now on, as long as this lives.
    pub(super) fn begin() -> Self {
        HEEDING.fetch_add(1, Ordering::SeqCst);
        CAUGHT.get_or_init(|| {
            // Where it cannot be caught it ends the process at once; what is on disk stays.
            let _ = ctrlc::set_handler(|| {
                let heeded = HEEDING.load(Ordering::SeqCst) > 0;
                if ASKED.swap(true, Ordering::SeqCst) || !heeded {
                    std::process::exit(Exit::Interrupted.code().into());
                }
            });
        });
        Self(())
    }
}

impl Drop for Heed {
    fn drop(&mut self) {
        HEEDING.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Whether Ctrl-C was pressed while it was heeded.
pub(super) fn is_asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}

/// Ends what goes on, once Ctrl-C was pressed.
pub(super) fn go_on() -> Result<(), Stopped> {
    if is_asked() { Err(Stopped) } else { Ok(()) }
}
