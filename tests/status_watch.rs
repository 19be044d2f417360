//! `status --watch`: a screen that is kept up to date, driven in tmux, and lines elsewhere.

use std::fs;

use crate::harness::follower::{Follower, taken_one};
use crate::harness::tmux::Tmux;
use crate::harness::{Place, poll};

const NAMES: [&str; 3] = ["Acme Foods", "한빛상사", "Cargo\u{1b}[2J Ring"];

const USUAL: (u16, u16) = (80, 24);

fn place() -> Place {
    let place = Place::new();
    place.scan(&NAMES, &[]);
    place
}

fn watches(place: &Place) -> Tmux {
    let tmux = Tmux::run(place, USUAL, &[], &["status", "--watch"]);
    tmux.shows(&["3 quests, ", "q quits"]);
    tmux
}

fn snapshot(name: &str, screen: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.add_filter("ledger head [0-9a-f]{64}", "ledger head [HASH]");
    settings.add_filter("since \\d+s", "since [SECONDS]");
    settings.bind(|| insta::assert_snapshot!(name, screen));
}

#[test]
fn the_screen_follows_the_session_and_its_own_size() {
    let place = place();
    let tmux = watches(&place);
    snapshot("status_begin", &tmux.shows(&["0 submissions judged"]));
    for exit in [5, 5, 6] {
        assert_eq!(place.give_up(1), exit);
    }
    place.run(["next", "--worker=w1", "--lease=1h"]).ok();
    snapshot("status_later", &tmux.shows(&["x DONE          1", "w1: "]));
    tmux.resize(20, 5);
    snapshot("status_tiny", &tmux.shows(&["x1 .2", "q quits"]));
    tmux.resize(1, 1);
    tmux.resize(80, 24);
    snapshot("status_large_again", &tmux.shows(&["w1: ", "ledger head"]));
    tmux.press(&["x", "Enter"]);
    tmux.press(&["q"]);
    assert_eq!(tmux.ends(), 0);
}

#[test]
fn nothing_is_sent_but_what_changed() {
    let place = place();
    let tmux = watches(&place);
    let sent = place.at("sent");
    tmux.records(&sent);
    poll::until("it is recorded", || sent.exists());
    assert_eq!(place.give_up(1), 5);
    tmux.shows(&["1 submission judged"]);
    tmux.press(&["q"]);
    assert_eq!(tmux.ends(), 0);
    let sent = fs::read(&sent).expect("what was sent");
    let sent = String::from_utf8_lossy(&sent);
    // All at once, and no row that says what it said before.
    let (begin, end) = ("\u{1b}[?2026h", "\u{1b}[?2026l");
    assert!(sent.starts_with(begin), "{sent:?}");
    assert_eq!(
        [sent.matches(begin).count(), sent.matches(end).count()],
        [1, 1]
    );
    // "0 submissions judged" becomes "1 submission judged", cell by cell.
    assert!(
        sent.contains("\u{1b}[1;19H1\u{1b}[1;31H judged "),
        "{sent:?}"
    );
    assert!(!sent.contains("quests, 3 left"), "{sent:?}");
    assert!(!sent.contains("REVIEW"), "{sent:?}");
}

/// What ends the program.
type End = fn(&Tmux, &Place);

#[test]
fn the_terminal_is_given_back_however_it_ends() {
    let ways: [(&str, i32, End); 5] = [
        ("Ctrl-C", 130, |tmux, _| tmux.press(&["C-c"])),
        ("SIGTERM", 143, |tmux, _| tmux.signal("TERM")),
        ("SIGHUP", 129, |tmux, _| tmux.signal("HUP")),
        ("Esc", 0, |tmux, _| tmux.press(&["Escape"])),
        ("an error", 1, |_, place| {
            let damaged = [place.ledger(), b"no line\n".to_vec()].concat();
            fs::write(place.at(".comail/ledger.jsonl"), damaged).expect("a damaged ledger");
        }),
    ];
    let place = place();
    for (way, code, end) in ways {
        let tmux = watches(&place);
        assert_eq!(tmux.asks("#{alternate_on}"), "1");
        tmux.pastes("q");
        end(&tmux, &place);
        assert_eq!(tmux.ends(), code, "{way}");
        if code == 1 {
            tmux.shows(&["error:"]);
        }
    }
}

#[test]
fn elsewhere_every_change_is_a_line() {
    let place = place();
    let text = Follower::start(&place, &["status", "--watch"]);
    let json = Follower::start(&place, &["status", "--watch", "--json"]);
    let begin = text.next();
    assert!(
        begin.ends_with("Z  0 PASS, 0 REVIEW, 0 DONE, 3 TODO; 0 submissions judged"),
        "{begin}"
    );
    let begin = json.document();
    assert_eq!([&begin["tally"]["todo"], &begin["tries"]], [3, 0]);
    assert_eq!(place.give_up(1), 5);
    assert!(text.next().ends_with("3 TODO; 1 submission judged"));
    assert_eq!(json.document()["tries"], 1);
    place.run(["next", "--worker=w1", "--lease=2m"]).ok();
    assert!(text.next().ends_with("1 submission judged; 1 claimed"));
    let claimed = json.document();
    assert_eq!(claimed["claims"][0]["worker"], "w1");
    assert_eq!(claimed["claims"][0]["lease_seconds"], 120);
    text.interrupt();
    let run = text.end();
    assert_eq!((run.code, run.stderr.as_str()), (130, ""));
    // A reader who goes away ends it quietly, though nothing changes any more.
    let (_, run) = taken_one(&place, &["status", "--watch"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
}

#[test]
fn a_session_that_is_not_there_is_an_error_and_no_screen() {
    let place = Place::new();
    let run = place.run(["status", "--watch"]);
    run.says("there is no session");
    run.exits(1);
    let tmux = Tmux::run(&place, USUAL, &[], &["status", "--watch"]);
    assert_eq!(tmux.ends(), 1);
    tmux.shows(&["there is no session"]);
}
