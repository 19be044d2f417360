//! What commands print at a terminal of 50 columns: no word is broken, and no row is lost.

use std::collections::BTreeSet;

use crate::harness::email_net::ACME;
use crate::harness::tmux::Tmux;
use crate::harness::{EmailNet, Place};

/// A terminal that nothing scrolls out of.
const NARROW: (u16, u16) = (50, 400);

const LONG: &str = "Bolt Toys and Other Fine Things Made of Wood";

fn world() -> EmailNet {
    let world = EmailNet::with(&[ACME, LONG], &[]);
    world.place.run(world.acme().args(1)).ok();
    assert_eq!(world.place.give_up(2), 5);
    world
}

fn at_terminal(place: &Place, size: (u16, u16), args: &[&str]) -> String {
    let tmux = Tmux::run(place, size, &[("COMAIL_PAGER", "cat")], args);
    tmux.ends();
    tmux.shows(&["what was there before"])
        .trim_start_matches("what was there before\n")
        .trim_end()
        .to_owned()
}

/// The words of a text, without the frame of a table and the mark of a field or of a command that
/// goes on below.
fn words(text: &str) -> BTreeSet<&str> {
    let words = text.split_whitespace();
    let words = words.map(|word| word.trim_matches([':', '|', '\\']));
    words.filter(|word| !word.is_empty()).collect()
}

#[test]
fn no_word_is_broken_in_the_middle() {
    let world = world();
    for line in [
        "",
        "--help",
        "help",
        "help workers",
        "help reviews",
        "help contains",
        "submit --help",
        "rules",
        "next",
        "show 2",
        "report",
        "submit --id 77 --none why",
        "review acept 2",
    ] {
        let args: Vec<&str> = line.split_whitespace().collect();
        let run = world.place.run(&args);
        let whole = run.stdout + &run.stderr;
        let shown = at_terminal(&world.place, NARROW, &args);
        let (shown, expected) = (words(&shown), words(&whole));
        // A digest, a path, an address of a page: they are longer than a row.
        let is_long = whole.split_whitespace().any(|word| word.len() > 40);
        // Times and free space differ from one run to the next.
        let is_number = |word: &&&str| word.contains(|c: char| c.is_ascii_digit());
        let broken = shown.difference(&expected).filter(|word| !is_number(word));
        let broken: Vec<&&str> = broken.collect();
        assert!(
            broken.is_empty() || is_long && broken.len() <= 2,
            "{line}: {broken:?}"
        );
        assert!(
            shown.len() + 30 >= expected.len(),
            "{line} is cut: {shown:?}"
        );
    }
}

#[test]
fn a_table_that_does_not_fit_has_a_field_in_each_line() {
    let world = world();
    let wide = world.place.run(["report"]).exits(8);
    assert!(wide.contains("\n| 1 | Acme Foods | PASS |"), "{wide}");
    let shown = at_terminal(&world.place, NARROW, &["report"]);
    assert!(!shown.contains("\n| 1 |"), "{shown}");
    assert!(
        shown.contains("\nquest: 1\n  key: Acme Foods\n  state: PASS\n"),
        "{shown}"
    );
}

#[test]
fn a_list_shows_its_addresses_whole_and_leaves_out_empty_columns() {
    let world = world();
    let at = |columns| at_terminal(&world.place, (columns, 24), &["list"]);
    let table = [
        "id  key                           status  email            rule",
        "1   Acme Foods                    PASS    info@acme.co.kr",
        "2   Bolt Toys and Other Fine Th…  TODO                     no-result",
    ];
    assert_eq!(at(68), table.join("\n"));
    let narrower = [
        "id  key         status  email            rule",
        "1   Acme Foods  PASS    info@acme.co.kr",
        "2   Bolt Toys…  TODO                     no-result",
    ];
    assert_eq!(at(50), narrower.join("\n"));
    let fields = [
        "1  Acme Foods",
        "    status: PASS",
        "    email: info@acme.co.kr",
        "2  Bolt Toys and Other Fine Things Made of",
        "   Wood",
        "    status: TODO",
        "    rule: no-result",
    ];
    assert_eq!(at(46), fields.join("\n"));
}
