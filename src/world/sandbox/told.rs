//! How much of a command's output is kept.

use std::collections::VecDeque;

use super::confinement::Confinement;
use super::ran::End;
use crate::base::process::{Exit, Pipe, ProcessState, Sink};

/// What is known of a command that runs.
pub(super) type CommandState = ProcessState<Confinement, Captured>;

/// What is kept of more output than there may be.
#[derive(Debug, Clone, Copy)]
pub(super) enum Keep {
    /// The beginning of both streams together: the command is killed for more.
    Head(u64),
    /// The end of each stream, half of this each.
    Tail(u64),
}

/// The output of a command, as far as it is kept.
#[derive(Debug)]
pub(super) struct Captured {
    pub stdout: VecDeque<u8>,
    pub stderr: VecDeque<u8>,
    /// Whether more was written than may be.
    pub too_much: bool,
    keep: Keep,
}

impl Captured {
    pub(super) fn new(keep: Keep) -> Self {
        Self {
            stdout: VecDeque::new(),
            stderr: VecDeque::new(),
            too_much: false,
            keep,
        }
    }

    pub(super) fn kept(&self) -> (Vec<u8>, Vec<u8>) {
        let bytes = |kept: &VecDeque<u8>| kept.iter().copied().collect();
        (bytes(&self.stdout), bytes(&self.stderr))
    }
}

impl Sink for Captured {
    fn take(&mut self, pipe: Pipe, bytes: &[u8]) {
        let before = self.stdout.len() + self.stderr.len();
        let kept = match pipe {
            Pipe::Out => &mut self.stdout,
            Pipe::Err => &mut self.stderr,
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

// No order can ask for more than fits into memory.
fn in_memory(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// How a command ended, once it has or has to be ended.
pub(super) fn how_it_ended(state: &CommandState) -> Option<End> {
    if state.output.too_much {
        return Some(End::TooMuchOutput);
    }
    if let Some(why) = &state.not_started {
        return Some(End::NotStarted(why.clone()));
    }
    // A supervisor that is gone without a word was killed, and all that it watched with it.
    let silent = || match state.started {
        Some(_) => End::Signalled(nix::sys::signal::Signal::SIGKILL as i32),
        None => End::NotStarted("the process that was to start it ended".to_owned()),
    };
    match state.ended {
        Some(Exit::Exited(code)) => Some(End::Exited(code)),
        Some(Exit::Signalled(signal)) => Some(End::Signalled(signal)),
        None => state.gone.map(|_| silent()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_no_more_than_it_may() {
        for (keep, stdout, stderr, too_much) in [
            (Keep::Head(6), "abc", "def", false),
            (Keep::Head(4), "abc", "d", true),
            (Keep::Tail(4), "bc", "ef", false),
        ] {
            let mut captured = Captured::new(keep);
            captured.take(Pipe::Out, b"abc");
            captured.take(Pipe::Err, b"def");
            let expected = (stdout.into(), stderr.into());
            assert_eq!(captured.kept(), expected, "{keep:?}");
            assert_eq!(captured.too_much, too_much, "{keep:?}");
        }
    }
}
