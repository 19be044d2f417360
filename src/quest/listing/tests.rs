//! What rows of a list add up to.

use super::*;

type Plain = (String, Option<String>, Vec<u32>);

fn row_of<'a>(number: u32, key_parts: &'a [&'a str], anchor: &'a str) -> Row<'a> {
    Row {
        number,
        key_parts,
        anchor,
        after: "",
    }
}

fn add(listing: &mut Listing, number: u32, key_parts: &[&str], anchor: &str) {
    let row = row_of(number, key_parts, anchor);
    listing.add(row, OtherCells::default).unwrap();
}

fn listed(rows: &[(&str, &str)]) -> (Vec<Plain>, ListingCounts) {
    let mut listing = Listing::default();
    for (row, (key, anchor)) in (2..).zip(rows) {
        add(&mut listing, row, &[key], anchor);
    }
    let listed = listing.finish().unwrap();
    let plain = |quest: Quest| {
        let anchor = quest.anchor.map(|Anchor::Site(text)| text);
        (quest.key.to_string(), anchor, quest.rows)
    };
    let quests = listed.quests.iter().cloned().map(plain);
    (quests.collect(), listed.counts)
}

#[test]
fn skips_blank_rows_and_merges_repeats() {
    let (quests, counts) = listed(&[("Acme", ""), (" ", ""), ("Ａcme ", ""), ("Beta", "")]);
    assert_eq!(
        quests,
        [
            ("Acme".into(), None, vec![2, 4]),
            ("Beta".into(), None, vec![5])
        ]
    );
    let expected = ListingCounts {
        rows: 4,
        blanks: 0,
        without_key: 1,
        repeats: 1,
        known: 0,
    };
    assert_eq!(counts, expected);
}

#[test]
fn first_row_of_a_known_quest_is_not_a_repeat() {
    let mut before = Listing::default();
    add(&mut before, 2, &["Acme"], "");
    let mut listing = Listing::default();
    for quest in before.finish().unwrap().quests {
        let rows = Vec::new();
        listing.seed(Quest { rows, ..quest });
    }
    for (row, key) in [(2, "Beta"), (3, "Acme"), (7, "Acme")] {
        add(&mut listing, row, &[key], "");
    }
    listing.skip(3);
    let listed = listing.finish().unwrap();
    let (quests, counts) = (&listed.quests, listed.counts);
    assert_eq!((listed.seeded().len(), listed.without_row()), (1, 0));
    assert_eq!(*listed.added(), quests[1..]);
    assert_eq!(
        listed.known_rows(),
        [(3, QuestId::FIRST), (7, QuestId::FIRST)]
    );
    assert_eq!(quests[0].rows, [3, 7]);
    assert_eq!(quests[1].rows, [2]);
    let expected = ListingCounts {
        rows: 6,
        blanks: 3,
        without_key: 0,
        repeats: 1,
        known: 1,
    };
    assert_eq!(counts, expected);
}

#[test]
fn different_anchors_are_different_quests_but_spellings_are_not() {
    let (quests, _) = listed(&[
        ("Acme", "acme.com"),
        ("Acme", "https://www.Acme.com/"),
        ("Acme", "acme.de"),
        ("Acme", ""),
    ]);
    assert_eq!(
        quests,
        [
            ("Acme".into(), Some("acme.com".into()), vec![2, 3, 5]),
            ("Acme".into(), Some("acme.de".into()), vec![4]),
        ]
    );
}

#[test]
fn a_late_anchor_joins_the_quest_without_one() {
    let (quests, _) = listed(&[("Acme", ""), ("Acme", "acme.com"), ("Acme", "acme.de")]);
    assert_eq!(
        quests,
        [
            ("Acme".into(), Some("acme.com".into()), vec![2, 3]),
            ("Acme".into(), Some("acme.de".into()), vec![4]),
        ]
    );
}

#[test]
fn joins_the_nonblank_parts_of_a_key() {
    let mut listing = Listing::default();
    add(&mut listing, 1, &["Acme", " Seoul "], "");
    add(&mut listing, 2, &["Acme", ""], "");
    add(&mut listing, 3, &["", " "], "");
    let listed = listing.finish().unwrap();
    let (quests, counts) = (&listed.quests, listed.counts);
    let keys: Vec<_> = quests.iter().map(|quest| quest.key.as_str()).collect();
    assert_eq!(keys, ["Acme / Seoul", "Acme"]);
    assert_eq!(counts.without_key, 1);
}

/// The quests of these rows of key, anchor and what comes before; after quests of these keys.
fn linked(
    before: &[&str],
    rows: &[(&str, &str, &str)],
) -> Result<Vec<(String, Vec<String>)>, String> {
    let mut listing = Listing::default();
    for (row, key) in (2..).zip(before) {
        add(&mut listing, row, &[key], "");
    }
    let seeded = listing.finish().unwrap().quests;
    let mut listing = Listing::default();
    for quest in seeded {
        listing.seed(quest);
    }
    for (row, (key, anchor, after)) in (2..).zip(rows) {
        let key_parts = [*key];
        let row = Row {
            after,
            ..row_of(row, &key_parts, anchor)
        };
        listing.add(row, OtherCells::default).unwrap();
    }
    let listed = listing.finish().map_err(|error| error.to_string())?;
    let plain = |quest: &Quest| {
        let after = quest.after.iter().map(ToString::to_string).collect();
        (quest.key.to_string(), after)
    };
    Ok(listed.quests.iter().map(plain).collect())
}

fn after(key: &str, before: &[&str]) -> (String, Vec<String>) {
    let before = before.iter().map(ToString::to_string).collect();
    (key.to_owned(), before)
}

#[test]
fn merges_the_dependencies_of_repeated_rows() {
    let rows = [
        ("a", "", "c; Ｂ\nc"),
        ("B", "", ""),
        ("c", "", " "),
        ("a", "", "d"),
        ("d", "", "B"),
    ];
    let expected = [
        after("a", &["2", "3", "4"]),
        after("B", &[]),
        after("c", &[]),
        after("d", &["2"]),
    ];
    assert_eq!(linked(&[], &rows).unwrap(), expected);
}

#[test]
fn rejects_an_unknown_or_ambiguous_dependency() {
    let refused = |rows| linked(&[], rows).unwrap_err();
    assert_eq!(
        refused(&[("build", "", ""), ("test", "", "biuld")]),
        "row 3 comes after `biuld`, but no quest has that key (did you mean build?); correct the list"
    );
    let twice = [("a", "a.kr", ""), ("a", "a.de", ""), ("b", "", "a")];
    assert_eq!(
        refused(&twice),
        "row 4 comes after `a`, which is the key of 2 quests (1, 2); give each its own key"
    );
    let folded = [("a b", "x.kr", ""), ("a  b", "x.de", ""), ("c", "", "a  b")];
    let quests = linked(&[], &folded).unwrap();
    assert_eq!(quests[2], after("c", &["2"]));
    assert!(refused(&[("a", "", "b"), ("b", "", "a")]).contains("a → b → a"));
    assert!(refused(&[("a", "", "a")]).contains("a → a"));
}

#[test]
fn new_quests_can_depend_on_old_ones_but_not_the_reverse() {
    let rows = [("old", "", "new"), ("new", "", "old")];
    let expected = [after("old", &[]), after("new", &["1"])];
    assert_eq!(linked(&["old"], &rows).unwrap(), expected);
}
