//! The queue and `status --watch` at a terminal, driven in tmux: what their screens show, what they
//! leave behind, and the terminal as it was however they end.

use std::fs;

use serde_json::{Value, json};

use crate::harness::agents::Driven;
use crate::harness::email_net::{ACME, page};
use crate::harness::follower::{Follower, taken_one};
use crate::harness::tmux::Tmux;
use crate::harness::{EmailNet, Place, poll};

const NAMES: [&str; 2] = [ACME, "한빛상사"];

const USUAL: (u16, u16) = (80, 24);

/// The last row of a screen on which an item is looked at.
const KEYS: &str = "? help  a accept  r reject  s skip  u undo  q quit";

/// Two companies that are REVIEWs of one rule.
fn world(flags: &[&str]) -> EmailNet {
    let world = EmailNet::unscanned();
    world.place.scan(&NAMES, &world.flags_with(flags));
    world.company("hanbit.co.kr", NAMES[1]);
    for (id, domain, name) in [(1, "acme", ACME), (2, "hanbit", NAMES[1])] {
        let www = format!("www.{domain}.co.kr");
        let text = format!("Sales<br>info [at] {domain} [dot] co [dot] kr<br>Seoul");
        world.net.web.page(&www, "/contact", &page(name, &text));
        let right = world.right(&format!("{domain}.co.kr"));
        world.expect(id, &right, "REVIEW", &["email-obfuscated"]);
    }
    world
}

fn keyed() -> EmailNet {
    let place = Place::new();
    let key = place.write("operator.key", [7; 32]).display().to_string();
    let world = world(&["--operator-key", &key]);
    world.place.write("operator.key", [7; 32]);
    world
}

fn sits(world: &EmailNet, args: &[&str]) -> Tmux {
    Tmux::run(&world.place, USUAL, &[], &[&["review"], args].concat())
}

fn snapshot(name: &str, screen: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "[TIME]");
    settings.add_filter(r"kr:\d+/", "kr:[PORT]/");
    settings.add_filter("ledger head [0-9a-f]{64}", "ledger head [HASH]");
    settings.add_filter("since \\d+s", "since [SECONDS]");
    settings.bind(|| insta::assert_snapshot!(name, screen));
}

/// The decisions in the ledger: quest, what, why.
fn decisions(place: &Place) -> Vec<(u64, String, String)> {
    let ledger = String::from_utf8(place.ledger()).expect("a ledger is UTF-8");
    let lines = ledger.lines().map(|line| {
        let line: Value = serde_json::from_str(line).expect("a ledger line is JSON");
        line
    });
    let settled = lines.filter(|line| line["type"] == "settled");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    settled
        .map(|line| {
            let body = &line["body"];
            let quest = body["quests"][0]["quest"].as_u64().expect("a number");
            (quest, text(&body["decision"]), text(&body["note"]))
        })
        .collect()
}

fn decided(quest: u64, what: &str, why: &str) -> (u64, String, String) {
    (quest, what.to_owned(), why.to_owned())
}

#[test]
fn a_person_goes_through_the_queue_by_single_keys() {
    let world = world(&[]);
    let tmux = sits(&world, &["--by", "kim"]);
    snapshot("review_first", &tmux.shows(&["1 of 2", KEYS]));
    tmux.press(&["a", "Enter"]);
    tmux.shows(&["write a note", "accept, because:"]);
    tmux.types("read the 연락처 page");
    snapshot("review_note", &tmux.shows(&["연락처 page"]));
    tmux.press(&["Enter"]);
    snapshot(
        "review_accepted",
        &tmux.shows(&["2 of 2", "한빛상사", KEYS]),
    );
    tmux.press(&["u"]);
    snapshot("review_undone", &tmux.shows(&["1 of 2", "withdrawn", KEYS]));
    tmux.press(&["End"]);
    tmux.shows(&["accepted by kim: read the 연락처 page", KEYS]);
    tmux.press(&["?"]);
    snapshot(
        "review_help",
        &tmux.shows(&["withdrawn", "any key goes back"]),
    );
    tmux.press(&["x", "s", "r"]);
    tmux.shows(&["2 of 2", "reject, because:"]);
    tmux.types("no such shop");
    tmux.press(&["Enter"]);
    snapshot("review_end", &tmux.shows(&["the end of the queue"]));
    tmux.press(&["q"]);
    assert_eq!(tmux.ends(), 0);
    tmux.shows(&["0 accepted, 1 rejected; 1 REVIEW still waits for a person"]);
    let expected = [
        decided(1, "accepted", "read the 연락처 page"),
        decided(1, "reopened", "withdrawn in the queue"),
        decided(2, "rejected", "no such shop"),
    ];
    assert_eq!(decisions(&world.place), expected);
    let (_, status) = world.place.json(["status"]);
    let effective = &status["effective"];
    assert_eq!([&effective["open"], &effective["rejected"]], [1, 1]);
}

#[test]
fn screens_of_all_sizes_are_filled_anew_when_they_change() {
    let world = world(&[]);
    let narrow = (40, 24);
    let tmux = Tmux::run(&world.place, narrow, &[], &["review"]);
    snapshot("review_narrow", &tmux.shows(&["1 of 2", "? help"]));
    tmux.press(&["a"]);
    tmux.types(&format!("{}end", "한 ".repeat(30)));
    snapshot("review_narrow_note", &tmux.shows(&["end", "Esc goes back"]));
    tmux.press(&["Escape"]);
    tmux.resize(80, 10);
    snapshot("review_resized", &tmux.shows(&["lines 1-8 of", KEYS]));
    tmux.press(&["j", "PageDown"]);
    tmux.shows(&["lines 9-16 of", KEYS]);
    tmux.press(&["a", "x"]);
    for size in [(80, 3), (1, 1), (2, 2), (80, 24)] {
        tmux.resize(size.0, size.1);
        tmux.press(&["y", "BSpace"]);
    }
    tmux.shows(&["accept, because: x"]);
    tmux.press(&["Escape"]);
    tmux.shows(&["1 of 2", KEYS]);
    tmux.press(&["q"]);
    poll::until("it ends", || world.place.at("code").exists());
    assert_eq!(decisions(&world.place), []);
}

/// What ends the program.
type End = fn(&Tmux, &Place);

#[test]
fn the_terminal_is_given_back_however_it_ends() {
    let world = world(&[]);
    let ways: [(&str, i32, End); 4] = [
        ("Ctrl-C", 130, |tmux, _| tmux.press(&["C-c"])),
        ("SIGTERM", 143, |tmux, _| tmux.signal("TERM")),
        ("SIGHUP", 129, |tmux, _| tmux.signal("HUP")),
        ("q", 0, |tmux, _| {
            tmux.press(&["Escape"]);
            tmux.shows(&[KEYS]);
            tmux.press(&["q"]);
        }),
    ];
    for (way, code, end) in ways {
        let tmux = sits(&world, &[]);
        tmux.shows(&["1 of 2", KEYS]);
        assert_eq!(tmux.asks("#{alternate_on}"), "1");
        tmux.press(&["a"]);
        tmux.types("half a note");
        tmux.shows(&["half a note"]);
        end(&tmux, &world.place);
        assert_eq!(tmux.ends(), code, "{way}");
    }
    assert_eq!(decisions(&world.place), []);
}

#[test]
fn the_terminal_is_given_back_after_an_error_and_it_is_told() {
    let world = world(&[]);
    world.spoils();
    let tmux = sits(&world, &[]);
    tmux.shows(&["1 of 2", KEYS]);
    let ledger = world.place.ledger();
    let half = &ledger[..ledger.len() / 2];
    fs::write(world.place.at(".comail/ledger.jsonl"), half).expect("a cut ledger");
    tmux.press(&["s"]);
    assert_eq!(tmux.ends(), 1);
    tmux.shows(&["error:"]);
}

#[test]
fn what_is_pasted_decides_nothing() {
    let world = world(&[]);
    let tmux = sits(&world, &[]);
    tmux.shows(&["1 of 2", KEYS]);
    tmux.pastes("ax\nq");
    tmux.press(&["r"]);
    tmux.shows(&["reject, because:"]);
    tmux.pastes("first line\nsecond");
    tmux.shows(&["because: first line second"]);
    tmux.press(&["C-c"]);
    assert_eq!(tmux.ends(), 130);
    assert_eq!(decisions(&world.place), []);
}

#[test]
fn where_a_key_is_frozen_it_is_named_at_the_start() {
    let world = keyed();
    let tmux = sits(&world, &[]);
    assert_eq!(tmux.ends(), 0);
    tmux.shows(&["2 REVIEWs wait for a person", "--operator-key FILE"]);
    drop(tmux);
    world.place.write("other.key", [8; 32]);
    let tmux = sits(&world, &["--operator-key=other.key"]);
    assert_eq!(tmux.ends(), 2);
    drop(tmux);
    let tmux = sits(&world, &["--operator-key=operator.key"]);
    tmux.shows(&["1 of 2", KEYS]);
    tmux.press(&["a"]);
    tmux.types("seen");
    tmux.press(&["Enter"]);
    tmux.shows(&["2 of 2", KEYS]);
    tmux.press(&["u"]);
    tmux.shows(&["1 of 2", "withdrawn", KEYS]);
    tmux.press(&["q"]);
    assert_eq!(tmux.ends(), 0);
    let what: Vec<_> = decisions(&world.place)
        .into_iter()
        .map(|(quest, what, _)| (quest, what))
        .collect();
    let expected = [(1, "accepted".to_owned()), (1, "reopened".to_owned())];
    assert_eq!(what, expected);
    let (_, status) = world.place.json(["status"]);
    assert_eq!(status["effective"]["open"], json!(2));
}

#[test]
fn elsewhere_than_at_a_terminal_it_lists() {
    let world = world(&[]);
    let list = world.place.run(["review"]).ok();
    assert!(list.starts_with("2 REVIEWs wait for a person"), "{list}");
    world.place.run(["review", "--by=kim"]).exits(2);
    world
        .place
        .run(["review", "--by=kim", "accept", "1", "--note=x"])
        .exits(2);
    let tmux = sits(&world, &["--json"]);
    assert_eq!(tmux.ends(), 0);
    tmux.shows(&["{\"open\":2,"]);
    drop(tmux);
    let env = [("TERM", "dumb")];
    let tmux = Tmux::run(&world.place, USUAL, &env, &["review"]);
    assert_eq!(tmux.ends(), 0);
    tmux.shows(&["2 REVIEWs wait for a person"]);
}

#[test]
fn what_others_settle_meanwhile_is_passed_by_and_left_to_them() {
    let world = keyed();
    let settles = |what: &str, id: &str| {
        let key = "--operator-key=operator.key";
        world
            .place
            .run(["review", what, id, "--note=mine", key])
            .ok();
    };
    let tmux = sits(&world, &["--operator-key=operator.key"]);
    tmux.shows(&["1 of 2", KEYS]);
    settles("reject", "1");
    tmux.press(&["a"]);
    tmux.types("seen");
    tmux.press(&["Enter"]);
    tmux.shows(&["2 of 2", "quest 1 is no longer waiting", KEYS]);
    tmux.press(&["a"]);
    tmux.types("seen too");
    tmux.press(&["Enter"]);
    tmux.shows(&["the end of the queue"]);
    settles("reject", "2");
    tmux.press(&["u"]);
    tmux.shows(&["quest 2 was settled again by somebody else"]);
    tmux.press(&["q"]);
    assert_eq!(tmux.ends(), 0);
    let expected = [
        decided(1, "rejected", "mine"),
        decided(2, "accepted", "seen too"),
        decided(2, "rejected", "mine"),
    ];
    assert_eq!(decisions(&world.place), expected);
}

const WATCHED: [&str; 3] = ["Acme Foods", "한빛상사", "Cargo\u{1b}[2J Ring"];

fn place() -> Place {
    let place = Place::new();
    place.scan(&WATCHED, &[]);
    place
}

fn watches(place: &Place) -> Tmux {
    let tmux = Tmux::run(place, USUAL, &[], &["status", "--watch"]);
    tmux.shows(&["3 quests, ", "q quits"]);
    tmux
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

#[test]
fn the_terminal_is_given_back_however_a_watch_ends() {
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
    run.says("no session found");
    run.exits(1);
    let tmux = Tmux::run(&place, USUAL, &[], &["status", "--watch"]);
    assert_eq!(tmux.ends(), 1);
    tmux.shows(&["no session found"]);
}

/// Says what it does, and answers once it may.
const WORKS: &str = r#"id=$(sed -n 's/^quest \([0-9]*\) of .*/\1/p' | head -n 1)
echo '{"type":"tool_use","name":"Bash","input":{"command":
"look here and there and everywhere in the whole house and in the garden, to its end"}}' |
tr '\n' ' '; echo; until [ -e go$id ]; do sleep 0.05; done; comail submit --id $id --answer right"#;

fn works(driven: &Driven, size: (u16, u16), env: &[(&str, &str)]) -> Tmux {
    let args = ["run", "--set=poll=10ms", "--", "sh", "-c", WORKS];
    Tmux::run(&driven.place, size, env, &args)
}

#[test]
fn a_run_shows_what_each_agent_does() {
    for size in [USUAL, (50, 24)] {
        let driven = Driven::new(2);
        let tmux = works(&driven, size, &[]);
        let screen = tmux.glimpses(&[
            " 0 of 2",
            "0 PASS, 0 REVIEW, 0 DONE, 2 TODO",
            "quest 1, word 1, start 1, ",
            " tokens: Bash",
        ]);
        // One line each, whatever the width.
        assert!(!screen.contains("its end"), "{screen}");
        let invents = screen.contains(" left");
        assert!(!invents, "nothing to estimate from: {screen}");
        driven.place.write("go1", "");
        tmux.glimpses(&[" 1 of 2", "quest 2, word 2, start 1, ", " tokens: Bash"]);
        driven.place.write("go2", "");
        assert_eq!(tmux.ends(), 0);
        let screen = tmux.shows(&["2 PASS, 0 REVIEW, 0 DONE, 0 TODO", "COMPLETE"]);
        for live in [" of 2", "tokens: Bash", "waiting"] {
            assert!(!screen.contains(live), "{live} in {screen}");
        }
    }
}

#[test]
fn a_run_that_is_interrupted_says_all_below_its_lines() {
    let driven = Driven::new(1);
    let tmux = works(&driven, USUAL, &[]);
    tmux.glimpses(&["quest 1, word 1, start 1, ", " tokens: Bash"]);
    tmux.press(&["C-c"]);
    assert_eq!(tmux.ends(), 130);
    let screen = tmux.shows(&["\nquest 1, word 1: start 1 ended", "NOT COMPLETE"]);
    // The lines are left whole, none of them twice.
    for live in [" 0 of 1", "quest 1, word 1, start 1, "] {
        assert_eq!(screen.matches(live).count(), 1, "{live} in {screen}");
    }
    assert!(
        screen.contains("\n0 PASS, 0 REVIEW, 0 DONE, 1 TODO"),
        "{screen}"
    );
}

#[test]
fn a_run_at_a_terminal_that_is_dumb_prints_lines() {
    let driven = Driven::new(1);
    let tmux = works(&driven, USUAL, &[("TERM", "dumb")]);
    tmux.shows(&["1 agent at a time"]);
    driven.place.write("go1", "");
    assert_eq!(tmux.ends(), 0);
    let screen = tmux.shows(&["tokens: PASS", "1 PASS, 0 REVIEW, 0 DONE, 0 TODO"]);
    assert!(!screen.contains(" of 1"), "{screen}");
    assert!(!screen.contains("start 1, "), "{screen}");
}

#[test]
fn a_quiet_run_draws_nothing() {
    let driven = Driven::new(1);
    let args = ["-q", "run", "--set=poll=10ms", "--", "sh", "-c", WORKS];
    let tmux = Tmux::run(&driven.place, USUAL, &[], &args);
    driven.place.write("recorded", "");
    tmux.records(&driven.place.at("recorded"));
    tmux.shows(&["1 agent at a time"]);
    driven.place.write("go1", "");
    assert_eq!(tmux.ends(), 0);
    let recorded = std::fs::read(driven.place.at("recorded")).expect("what it wrote");
    let recorded = String::from_utf8_lossy(&recorded);
    assert!(recorded.contains("tokens: PASS"), "{recorded}");
    assert!(!recorded.contains(" of 1"), "{recorded}");
    assert!(!recorded.contains("tokens: Bash"), "{recorded}");
}
