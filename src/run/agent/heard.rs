//! What has been heard of an agent that runs: from its supervisor, and on its two streams.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::output::Output;
use super::wire::{HowEnded, Tell};
use crate::world::sandbox::receive;

/// How long streams may stay open after all that could write there is gone.
///
/// Something that got away from its supervisor may hold them for ever.
pub(super) const OPEN_AFTER_THE_END: Duration = Duration::from_secs(2);

/// Which of an agent's streams.
#[derive(Debug, Clone, Copy)]
pub(super) enum Pipe {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// What is known so far.
#[derive(Debug)]
pub(super) struct Known {
    /// Its process group, or why there is none.
    pub started: Option<Result<i32, String>>,
    /// How it ended, by its supervisor's word.
    pub ended: Option<HowEnded>,
    /// When its supervisor, and with it all that it started, was found gone.
    pub gone: Option<Instant>,
    /// What it printed.
    pub output: Output,
    open: u8,
}

/// What is known so far, and the means to wait for more.
#[derive(Debug)]
pub(super) struct Heard {
    known: Mutex<Known>,
    changed: Condvar,
}

impl Heard {
    /// Nothing yet.
    pub(super) fn new(output: Output) -> Self {
        let known = Known {
            started: None,
            ended: None,
            gone: None,
            output,
            open: 2,
        };
        Self {
            known: Mutex::new(known),
            changed: Condvar::new(),
        }
    }

    /// What is known now.
    pub(super) fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `seen` finds something, at the longest so long.
    pub(super) fn wait<T>(
        &self,
        within: Duration,
        seen: impl Fn(&Known) -> Option<T>,
    ) -> Option<T> {
        let known = self.known();
        let waited = self
            .changed
            .wait_timeout_while(known, within, |known| seen(known).is_none());
        seen(&waited.unwrap_or_else(PoisonError::into_inner).0)
    }

    /// Reads a stream to its end, however much comes.
    pub(super) fn drain(&self, pipe: Pipe, mut from: impl Read) {
        let mut chunk = vec![0; 64 << 10];
        loop {
            match from.read(&mut chunk) {
                Ok(0) => break,
                Ok(read) => self.known().output.take(pipe, &chunk[..read]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        self.change(|known| known.open -= 1);
    }

    /// Takes what the supervisor tells until it is gone.
    pub(super) fn listen(&self, mut from: UnixStream) {
        while let Ok(tell) = receive(&mut from) {
            self.change(|known| match tell {
                Tell::Started(group) => known.started = Some(Ok(group)),
                Tell::NotStarted(why) => known.started = Some(Err(why)),
                Tell::Ended(how) => known.ended = Some(how),
            });
        }
        self.change(|known| known.gone = Some(Instant::now()));
    }

    fn change(&self, change: impl FnOnce(&mut Known)) {
        change(&mut self.known());
        self.changed.notify_all();
    }
}

impl Known {
    /// Whether nothing more will come.
    pub(super) fn is_over(&self) -> bool {
        self.gone
            .is_some_and(|gone| self.open == 0 || gone.elapsed() >= OPEN_AFTER_THE_END)
    }
}
