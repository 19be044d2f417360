//! The calls of this program by an agent, as they note themselves for the run that started it.
//!
//! `runs/RUN/N.calls` has a line for each call that the run's start N made: `next`, `status`,
//! `submit DIGEST`, and behind the last `judged` where the gate judged. The run makes the file
//! before the agent is started, and holds it open: what becomes of its name changes nothing.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::error::RunError;
use super::lock_file::runs_dir;
use super::name::start_of;
use crate::run::detect::Own;
use crate::session::{RunId, Worker};

const MOST_BYTES: u64 = 256 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Noted {
    pub own: Own,
    pub judged: bool,
}

/// Records a call of this program for the run that started the agent. Nothing depends on the
/// record, so failures are ignored.
pub fn note(session: &Path, run: RunId, worker: &Worker, noted: Noted) {
    let Some((_, start)) = start_of(worker).filter(|(of, _)| *of == run) else {
        return;
    };
    let mut options = OpenOptions::new();
    let flags = nix::fcntl::OFlag::O_NOFOLLOW | nix::fcntl::OFlag::O_NONBLOCK;
    // Only where the run has made it, and never waiting for whoever put something in its place.
    let file = options
        .append(true)
        .custom_flags(flags.bits())
        .open(place(session, run, start));
    if let Ok(mut file) = file
        && let Ok(about) = file.metadata()
        && about.is_file()
        && about.len() < MOST_BYTES
    {
        let _ = file.write_all(line(noted).as_bytes());
    }
}

fn place(session: &Path, run: RunId, start: u32) -> PathBuf {
    let dir = runs_dir(session).join(run.to_string());
    dir.join(format!("{start}.calls"))
}

fn line(noted: Noted) -> String {
    match noted.own {
        Own::Next => "next\n".to_owned(),
        Own::Status => "status\n".to_owned(),
        Own::Submit(digest) if noted.judged => format!("submit {digest} judged\n"),
        Own::Submit(digest) => format!("submit {digest}\n"),
    }
}

fn read(line: &str) -> Option<Noted> {
    let (own, judged) = match line {
        "next" => (Own::Next, false),
        "status" => (Own::Status, false),
        submit => {
            let digest = submit.strip_prefix("submit ")?;
            match digest.strip_suffix(" judged") {
                Some(digest) => (Own::Submit(digest.parse().ok()?), true),
                None => (Own::Submit(digest.parse().ok()?), false),
            }
        }
    };
    Some(Noted { own, judged })
}

#[derive(Debug)]
pub struct Calls {
    file: File,
    read: u64,
}

impl Calls {
    pub fn of(session: &Path, run: RunId, start: u32) -> Result<Self, RunError> {
        let path = place(session, run, start);
        let mut options = OpenOptions::new();
        options.read(true).append(true).create_new(true).mode(0o600);
        let file = options.open(&path).map_err(RunError::io("make", &path))?;
        Ok(Self { file, read: 0 })
    }

    // The agent can write into the file; lines that `note` would not write are ignored.
    pub fn since(&mut self) -> Vec<Noted> {
        let length = self.file.metadata().map_or(0, |about| about.len());
        // A line that was begun below the bound may end beyond it.
        let Ok(more) = usize::try_from(length.min(MOST_BYTES + 100).saturating_sub(self.read))
        else {
            return Vec::new();
        };
        let mut bytes = vec![0; more];
        if more == 0 || self.file.read_exact_at(&mut bytes, self.read).is_err() {
            return Vec::new();
        }
        let Some(last) = bytes.iter().rposition(|byte| *byte == b'\n') else {
            return Vec::new();
        };
        self.read += last as u64 + 1;
        let text = String::from_utf8_lossy(&bytes[..last]);
        text.lines().filter_map(read).collect()
    }
}

#[cfg(test)]
mod tests;
