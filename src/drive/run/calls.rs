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
use crate::drive::detect::Own;
use crate::session::{RunId, Worker};

/// How many bytes are noted at the most: the calls beyond are not told.
const MOST_BYTES: u64 = 256 * 1024;

/// A call that was noted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Noted {
    /// The call.
    pub own: Own,
    /// Whether the gate judged what it submitted.
    pub judged: bool,
}

/// Notes a call by the agent that holds its quest as `worker`, where a run waits for it.
///
/// Nothing depends on it: a note that cannot be made is none.
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

/// What a line says; nothing where it is none that [`note`] writes.
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

/// The calls that one start of the agent makes.
#[derive(Debug)]
pub struct Calls {
    file: File,
    /// How much was read, in whole lines.
    read: u64,
}

impl Calls {
    /// Of a start that is yet to come.
    pub fn of(session: &Path, run: RunId, start: u32) -> Result<Self, RunError> {
        let path = place(session, run, start);
        let mut options = OpenOptions::new();
        options.read(true).append(true).create_new(true).mode(0o600);
        let file = options.open(&path).map_err(RunError::io("make", &path))?;
        Ok(Self { file, read: 0 })
    }

    /// The calls since this was last asked.
    ///
    /// Whoever writes something else into it tells nothing by that.
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
mod tests {
    use super::*;
    use crate::drive::run::name::worker_of;
    use crate::quest::Digest;

    const RUN: RunId = RunId::new(7);

    struct Place(tempfile::TempDir);

    impl Place {
        fn new() -> Self {
            let place = Self(tempfile::tempdir().unwrap());
            let dir = runs_dir(place.0.path()).join(RUN.to_string());
            std::fs::create_dir_all(dir).unwrap();
            place
        }

        fn note(&self, start: u32, noted: Noted) {
            note(self.0.path(), RUN, &worker_of(RUN, start).unwrap(), noted);
        }

        fn file(&self, start: u32) -> PathBuf {
            place(self.0.path(), RUN, start)
        }
    }

    fn asked(own: Own) -> Noted {
        let judged = false;
        Noted { own, judged }
    }

    #[test]
    fn what_is_noted_is_told_once_and_in_order() {
        let place = Place::new();
        let mut calls = Calls::of(place.0.path(), RUN, 3).unwrap();
        assert_eq!(calls.since(), []);
        let submit = Own::Submit(Digest::of(b"a"));
        let all = [
            asked(Own::Next),
            asked(submit),
            Noted {
                own: submit,
                judged: true,
            },
            asked(Own::Status),
        ];
        for noted in all {
            place.note(3, noted);
        }
        assert_eq!(calls.since(), all);
        assert_eq!(calls.since(), []);
        place.note(3, asked(Own::Status));
        assert_eq!(calls.since(), [asked(Own::Status)]);
    }

    #[test]
    fn nothing_is_noted_where_no_run_waits_for_it() {
        let place = Place::new();
        place.note(4, asked(Own::Next));
        assert!(!place.file(4).exists());
        let mut calls = Calls::of(place.0.path(), RUN, 5).unwrap();
        let other = worker_of(RunId::new(8), 5).unwrap();
        note(place.0.path(), RUN, &other, asked(Own::Next));
        note(
            place.0.path(),
            RUN,
            &"me".parse().unwrap(),
            asked(Own::Next),
        );
        assert_eq!(calls.since(), []);
    }

    #[test]
    fn what_somebody_else_writes_tells_nothing_and_the_file_is_bounded() {
        let place = Place::new();
        let mut calls = Calls::of(place.0.path(), RUN, 1).unwrap();
        std::fs::write(
            place.file(1),
            "nexts\nsubmit\nsubmit x\n\u{1b}[0m\nnext\nsta",
        )
        .unwrap();
        assert_eq!(calls.since(), [asked(Own::Next)]);
        std::fs::write(place.file(1), "\n").unwrap();
        assert_eq!(calls.since(), [], "it was cut");
        std::fs::write(place.file(1), "next\n".repeat(100_000)).unwrap();
        place.note(1, asked(Own::Next));
        let long = std::fs::metadata(place.file(1)).unwrap().len();
        assert_eq!(long, 500_000);
        assert!(calls.since().len() < 60_000);
    }

    #[test]
    fn a_pipe_in_its_place_stops_nobody() {
        let place = Place::new();
        let calls = Calls::of(place.0.path(), RUN, 1);
        std::fs::remove_file(place.file(1)).unwrap();
        nix::unistd::mkfifo(&place.file(1), nix::sys::stat::Mode::S_IRWXU).unwrap();
        place.note(1, asked(Own::Next));
        assert_eq!(calls.unwrap().since(), []);
    }
}
