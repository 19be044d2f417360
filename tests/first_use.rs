//! What a newcomer meets: `comail` alone, a session found from a directory below it, and a terminal.

use std::fs;

use crate::harness::tmux::Tmux;
use crate::harness::{Place, Run, poll};

const SIZE: (u16, u16) = (80, 24);

#[test]
fn without_arguments_it_says_what_to_start_with() {
    let place = Place::new();
    let text = Run::of(&mut place.command()).ok();
    insta::assert_snapshot!(text, @"
    comail verifies every answer of an agent, and it
    alone decides when the work is done.

      comail demo      run the whole process on five invented companies, offline
      comail scan      turn a list into quests
      comail run       run an agent on the quests
      comail status    show the progress
      comail export    write the results to a copy of the list

    `comail help` lists all commands and topics.
    ");
}

#[test]
fn a_session_is_found_from_below_its_directory() {
    let place = Place::new();
    place.scan(&["Acme Inc."], &[]);
    let below = place.at("notes/today");
    fs::create_dir_all(&below).expect("directories");
    let run = |args: &[&str]| Run::of(place.command().current_dir(&below).args(args));

    let shown = run(&["next"]).ok();
    assert!(shown.contains("Acme Inc."), "{shown}");

    // A new session is made here, and it is nearer from then on.
    fs::write(below.join("list.txt"), "Beta Ltd.\n").expect("a list");
    run(&["scan", "list.txt"]).ok();
    assert!(below.join(".comail").is_dir());
    let shown = run(&["next"]).ok();
    assert!(shown.contains("Beta Ltd."), "{shown}");

    let none = Place::new();
    none.run(["status"]).exits(1);
}

#[test]
fn a_directory_that_holds_no_session_does_not_end_the_search() {
    let place = Place::new();
    place.scan(&["Acme Inc."], &[]);
    let below = place.at("notes/today");
    fs::create_dir_all(below.join("../.comail")).expect("directories");
    let run = Run::of(place.command().current_dir(&below).arg("next"));
    assert!(run.ok().contains("Acme Inc."));
}

#[test]
fn a_session_is_not_replaced_and_the_error_says_how_to_start_over() {
    let place = Place::new();
    place.scan(&["Acme Inc."], &[]);
    let again = place.run(["scan", "companies.txt"]);
    again.says("to start over, move .comail away");
    assert_eq!(again.code, 1);
}

#[test]
fn long_help_goes_through_the_pager_and_a_quest_never_does() {
    let place = Place::new();
    let command = format!("cat >{}; echo paged", place.at("pager.txt").display());
    let env = [("COMAIL_PAGER", command.as_str())];
    let help = Tmux::run(&place, SIZE, &env, &["help", "email-gate"]);
    help.shows(&["paged"]);
    let (_, topic) = place.json(["help", "email-gate"]);
    let read = fs::read_to_string(place.at("pager.txt")).expect("what the pager read");
    assert_eq!(
        Some(read.trim_end()),
        topic["text"].as_str().map(str::trim_end)
    );

    // What fits on the screen needs none.
    fs::remove_file(place.at("pager.txt")).expect("it is there");
    let short = Tmux::run(&place, (80, 100), &env, &["help", "exit-codes"]);
    short.shows(&["130"]);
    assert_eq!(short.ends(), 0);

    // An agent at a terminal would wait in it for ever.
    place.scan(&["Acme Inc."], &[]);
    let next = Tmux::run(&place, (80, 5), &env, &["next"]);
    next.shows(&["comail submit"]);
    assert!(!place.at("pager.txt").exists());
}

/// A folder with a shell, and with no pager.
fn bare(place: &Place) -> String {
    fs::create_dir_all(place.at("bare")).expect("a folder");
    std::os::unix::fs::symlink("/bin/sh", place.at("bare/sh")).expect("a link");
    place.at("bare").display().to_string()
}

#[test]
fn without_a_pager_long_text_is_printed() {
    let place = Place::new();
    let (_, topic) = place.json(["help", "email-gate"]);
    let last = topic["text"]
        .as_str()
        .and_then(|text| text.trim_end().lines().last());
    let path = bare(&place);
    for pager in [None, Some("nosuch -x"), Some("/etc/passwd")] {
        let named = pager.map(|pager| ("COMAIL_PAGER", pager));
        let env: Vec<_> = [("PATH", path.as_str())].into_iter().chain(named).collect();
        let help = Tmux::run(&place, SIZE, &env, &["help", "email-gate"]);
        help.shows(&[last.expect("a last line")]);
    }
}

#[test]
fn ctrl_c_in_the_pager_is_for_the_pager() {
    let place = Place::new();
    let read = place.at("pager.txt");
    let command = format!("trap '' INT; cat >{}; read -r _ </dev/tty", read.display());
    let env = [("COMAIL_PAGER", command.as_str())];
    let help = Tmux::run(&place, SIZE, &env, &["help", "email-gate"]);
    poll::until("the pager has read all", || {
        fs::read_to_string(&read).is_ok_and(|text| text.contains("See also: "))
    });
    for _ in 0..2 {
        help.signal("INT");
    }
    help.press(&["Enter"]);
    assert_eq!(help.ends(), 0);
}

#[test]
fn a_dumb_terminal_gets_no_colours() {
    let place = Place::new();
    for (term, is_coloured) in [("xterm", true), ("dumb", false)] {
        let env = [("TERM", term), ("COMAIL_PAGER", "cat")];
        let help = Tmux::run(&place, (80, 100), &env, &["help", "rules"]);
        assert_eq!(help.ends(), 0);
        assert_eq!(help.coloured().contains('\u{1b}'), is_coloured, "{term}");
    }
}
