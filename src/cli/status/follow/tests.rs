//! Lines for changes, and none for what is none.

use std::collections::BTreeSet;

use jiff::SignedDuration;

use super::*;
use crate::cli::status::sample;
use crate::session::RunId;

#[test]
fn a_line_says_where_it_stands() {
    assert_eq!(
        line(&sample::status(), sample::now()),
        "2026-01-02T03:04:05Z  20 PASS, 6 REVIEW, 3 DONE, 498 TODO; 61 submissions judged; 4 open; \
         2 claimed; 1 running; 57.0 settled an hour, about 8h 44m left"
    );
    let mut done = sample::status();
    done.overview.tally.todo = 0;
    (done.claims, done.runs) = (Vec::new(), Vec::new());
    done.overview.paused = true;
    assert!(
        line(&done, sample::now()).ends_with("0 TODO; 61 submissions judged; 4 open; paused"),
        "{}",
        line(&done, sample::now())
    );
}

#[test]
fn time_alone_is_no_news_but_what_it_ends_is() {
    let standings = sample::standings();
    let lives = BTreeSet::from([RunId::new(7)]);
    let at = |minutes| sample::now() + SignedDuration::from_mins(minutes);
    let before = standings.at(at(0), &lives);
    let later = standings.at(at(11), &lives);
    assert_ne!(later, before);
    assert!(!later.is_news(&before));
    // A lease runs out, a run dies, a quest is settled.
    assert!(standings.at(at(13), &lives).is_news(&before));
    assert!(standings.at(at(0), &BTreeSet::new()).is_news(&before));
    let mut settled = sample::standings();
    settled.overview.tally.pass += 1;
    assert!(settled.at(at(0), &lives).is_news(&before));
}
