//! What has been learnt of a command that runs: what it wrote, and what its supervisor told.

use std::collections::VecDeque;
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::confinement::Confinement;
use super::ran::End;
use super::wire::{self, Tell};

/// Which of a command's streams.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// What is kept of more output than there may be.
#[derive(Debug, Clone, Copy)]
pub(super) enum Keep {
    /// Its beginning, of both streams together, since the command is killed for the rest.
    Head(u64),
    /// The end of each stream, half of this each.
    Tail(u64),
}

/// What is known so far.
#[derive(Debug)]
pub(super) struct Known {
    /// What was in force, once the command has started.
    pub started: Option<Confinement>,
    /// How it ended, by its supervisor's word.
    pub ended: Option<End>,
    /// Whether the supervisor, and with it all that it started, is gone.
    pub gone: bool,
    /// How many of the two streams are still open.
    pub open: u8,
    /// Whether more was written than may be.
    pub too_much: bool,
    stdout: VecDeque<u8>,
    stderr: VecDeque<u8>,
    keep: Keep,
}

/// What is known so far, and the means to wait for more.
#[derive(Debug)]
pub(super) struct Told {
    known: Mutex<Known>,
    changed: Condvar,
}

impl Told {
    /// Nothing yet.
    pub(super) fn new(keep: Keep) -> Self {
        let known = Known {
            started: None,
            ended: None,
            gone: false,
            open: 2,
            too_much: false,
            stdout: VecDeque::new(),
            stderr: VecDeque::new(),
            keep,
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

    /// Waits until `seen` finds something, at the longest until `end`.
    pub(super) fn wait<T>(
        &self,
        end: Option<Instant>,
        seen: impl Fn(&Known) -> Option<T>,
    ) -> Option<T> {
        let mut known = self.known();
        loop {
            if let Some(found) = seen(&known) {
                return Some(found);
            }
            known = match end {
                None => self.changed.wait(known),
                Some(end) => {
                    let left = end.checked_duration_since(Instant::now())?;
                    let waited = self.changed.wait_timeout(known, left);
                    waited
                        .map(|(known, _)| known)
                        .map_err(|poisoned| PoisonError::new(poisoned.into_inner().0))
                }
            }
            .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Reads a stream to its end.
    pub(super) fn drain(&self, stream: Stream, mut from: impl Read) {
        let mut chunk = vec![0; 64 << 10];
        loop {
            match from.read(&mut chunk) {
                Ok(0) => break,
                Ok(read) => self.change(|known| known.write(stream, &chunk[..read])),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        self.change(|known| known.open -= 1);
    }

    /// Takes what the supervisor tells until it is gone.
    pub(super) fn listen(&self, mut from: UnixStream) {
        while let Ok(tell) = wire::receive(&mut from) {
            self.change(|known| match tell {
                Tell::Started(confinement) => known.started = Some(confinement),
                Tell::NotStarted(why) => known.ended = Some(End::NotStarted(why)),
                Tell::Ended(end) => known.ended = Some(end),
            });
        }
        self.change(|known| known.gone = true);
    }

    fn change(&self, change: impl FnOnce(&mut Known)) {
        change(&mut self.known());
        self.changed.notify_all();
    }
}

impl Known {
    /// What of a stream was kept.
    pub(super) fn kept(&self, stream: Stream) -> Vec<u8> {
        let kept = match stream {
            Stream::Out => &self.stdout,
            Stream::Err => &self.stderr,
        };
        kept.iter().copied().collect()
    }

    fn write(&mut self, stream: Stream, bytes: &[u8]) {
        let before = self.stdout.len() + self.stderr.len();
        let kept = match stream {
            Stream::Out => &mut self.stdout,
            Stream::Err => &mut self.stderr,
        };
        match self.keep {
            Keep::Head(most) => {
                let room = in_memory(most).saturating_sub(before);
                kept.extend(&bytes[..room.min(bytes.len())]);
                self.too_much |= room < bytes.len();
            }
            Keep::Tail(most) => {
                kept.extend(bytes);
                let over = kept.len().saturating_sub(in_memory(most / 2));
                kept.drain(..over);
            }
        }
    }
}

/// As a length in memory, which no order can make longer than there is.
fn in_memory(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drained(keep: Keep, stdout: &[u8], stderr: &[u8]) -> (Vec<u8>, Vec<u8>, bool) {
        let told = Told::new(keep);
        told.drain(Stream::Out, stdout);
        told.drain(Stream::Err, stderr);
        let known = told.known();
        assert_eq!(known.open, 0);
        (
            known.kept(Stream::Out),
            known.kept(Stream::Err),
            known.too_much,
        )
    }

    #[test]
    fn keeps_all_up_to_the_last_byte_allowed() {
        let all = drained(Keep::Head(6), b"abc", b"def");
        assert_eq!(all, (b"abc".to_vec(), b"def".to_vec(), false));
    }

    #[test]
    fn keeps_the_beginning_of_what_is_too_much() {
        let some = drained(Keep::Head(4), b"abc", b"def");
        assert_eq!(some, (b"abc".to_vec(), b"d".to_vec(), true));
    }

    #[test]
    fn keeps_the_end_of_what_goes_on() {
        let end = drained(Keep::Tail(4), b"abc", b"d");
        assert_eq!(end, (b"bc".to_vec(), b"d".to_vec(), false));
    }
}
