//! Ctrl-C: the first asks a command to stop cleanly, the second ends the process at once.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use super::exit::Exit;

/// Whether Ctrl-C was pressed.
static ASKED: AtomicBool = AtomicBool::new(false);

/// Set once the process heeds Ctrl-C, which it can begin to do but once.
static HEEDED: OnceLock<()> = OnceLock::new();

/// The wish to stop, heeded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Interrupt(&'static AtomicBool);

impl Interrupt {
    /// From now on Ctrl-C asks to stop, and no longer ends the process by itself.
    pub(super) fn heed() -> Self {
        HEEDED.get_or_init(|| {
            // Where it cannot be caught it ends the process at once; what is on disk stays.
            let _ = ctrlc::set_handler(|| {
                if ASKED.swap(true, Ordering::SeqCst) {
                    std::process::exit(Exit::Interrupted.code().into());
                }
            });
        });
        Self(&ASKED)
    }

    /// Whether it was pressed.
    pub(super) fn is_asked(self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
