//! What has been heard of an agent that runs: from its supervisor, and on its two streams.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::output::Output;
use super::wire::{HowEnded, Tell};
use crate::world::sandbox::receive;

// A process that escaped the supervisor may hold the streams open for ever.
pub(super) const OPEN_AFTER_THE_END: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, Copy)]
pub(super) enum Pipe {
    Out,
    Err,
}

#[derive(Debug)]
pub(super) struct Known {
    pub started: Option<Result<i32, String>>,
    pub ended: Option<HowEnded>,
    pub gone: Option<Instant>,
    pub output: Output,
    open: u8,
}

#[derive(Debug)]
pub(super) struct ProcessState {
    known: Mutex<Known>,
    changed: Condvar,
}

impl ProcessState {
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

    pub(super) fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

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
    pub(super) fn is_over(&self) -> bool {
        self.gone
            .is_some_and(|gone| self.open == 0 || gone.elapsed() >= OPEN_AFTER_THE_END)
    }
}
