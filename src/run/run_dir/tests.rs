use super::*;
use crate::base::Digest;
use crate::run::run_dir::worker_of;

const RUN: RunId = RunId::new(7);

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        let dir = runs_dir(place.0.path()).join(RUN.to_string());
        std::fs::create_dir_all(dir).unwrap();
        place
    }

    fn note(&self, start: u32, call: SelfCall) {
        note(self.0.path(), RUN, &worker_of(RUN, start).unwrap(), call);
    }

    fn file(&self, start: u32) -> PathBuf {
        place(self.0.path(), RUN, start)
    }
}

#[test]
fn what_is_noted_is_told_once_and_in_order() {
    let place = Place::new();
    let mut calls = Calls::of(place.0.path(), RUN, 3).unwrap();
    assert_eq!(calls.since(), []);
    let submit = SelfCall::Submit(Digest::of(b"a"));
    let all = [
        SelfCall::Next,
        submit,
        SelfCall::Judged,
        SelfCall::NoNetwork,
        SelfCall::Status,
    ];
    for noted in all {
        place.note(3, noted);
    }
    assert_eq!(calls.since(), all);
    assert_eq!(calls.since(), []);
    place.note(3, SelfCall::Status);
    assert_eq!(calls.since(), [SelfCall::Status]);
}

#[test]
fn nothing_is_noted_where_no_run_waits_for_it() {
    let place = Place::new();
    place.note(4, SelfCall::Next);
    assert!(!place.file(4).exists());
    let mut calls = Calls::of(place.0.path(), RUN, 5).unwrap();
    let other = worker_of(RunId::new(8), 5).unwrap();
    note(place.0.path(), RUN, &other, SelfCall::Next);
    note(place.0.path(), RUN, &"me".parse().unwrap(), SelfCall::Next);
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
    assert_eq!(calls.since(), [SelfCall::Next]);
    std::fs::write(place.file(1), "\n").unwrap();
    assert_eq!(calls.since(), [], "it was cut");
    std::fs::write(place.file(1), "next\n".repeat(100_000)).unwrap();
    place.note(1, SelfCall::Next);
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
    place.note(1, SelfCall::Next);
    assert_eq!(calls.unwrap().since(), []);
}

#[test]
fn a_run_whose_process_ended_is_dead_and_one_that_goes_on_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let free = || RunLock::if_free(dir.path(), RUN).unwrap();
    assert!(free().is_none());
    let lock = RunLock::take(dir.path(), RUN).unwrap();
    assert!(free().is_none(), "it is held");
    drop(lock);
    let lock = free().unwrap();
    assert!(free().is_none(), "somebody is at it");
    lock.remove();
    assert!(free().is_none());
}

#[test]
fn a_name_tells_its_run_and_its_start() {
    let run = RunId::new(0x7f3a_09c2);
    let worker = worker_of(run, 17).unwrap();
    assert_eq!(worker.as_str(), "run-7f3a09c2.17");
    assert_eq!(start_of(&worker), Some((run, 17)));
}
