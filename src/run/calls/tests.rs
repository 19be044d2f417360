//! Calls that note themselves, and what is made of the notes.

use super::*;
use crate::base::Digest;
use crate::run::name::worker_of;

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
