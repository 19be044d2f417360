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
    let mut listing = Listing::new();
    for (row, (key, anchor)) in (2..).zip(rows) {
        add(&mut listing, row, &[key], anchor);
    }
    let listed = listing.finish().unwrap();
    let plain = |quest: Quest| {
        let anchor = quest.anchor.map(|Anchor::Site(text)| text);
        (quest.key.to_string(), anchor, quest.rows)
    };
    let quests = listed.quests().iter().cloned().map(plain);
    (quests.collect(), listed.counts())
}

#[test]
fn blanks_are_skipped_and_repeats_merged() {
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
fn the_first_row_of_a_known_quest_is_no_repeat() {
    let mut before = Listing::new();
    add(&mut before, 2, &["Acme"], "");
    let mut listing = Listing::new();
    for quest in before.finish().unwrap().quests().to_vec() {
        let rows = Vec::new();
        listing.seed(Quest { rows, ..quest });
    }
    for (row, key) in [(2, "Beta"), (3, "Acme"), (7, "Acme")] {
        add(&mut listing, row, &[key], "");
    }
    listing.skip(3);
    let listed = listing.finish().unwrap();
    let (quests, counts) = (listed.quests(), listed.counts());
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
fn other_anchors_make_other_quests_and_other_spellings_do_not() {
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
fn an_anchor_that_comes_late_joins_the_quest_without_one() {
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
fn a_key_of_several_columns_joins_what_is_not_blank() {
    let mut listing = Listing::new();
    add(&mut listing, 1, &["Acme", " Seoul "], "");
    add(&mut listing, 2, &["Acme", ""], "");
    add(&mut listing, 3, &["", " "], "");
    let listed = listing.finish().unwrap();
    let (quests, counts) = (listed.quests(), listed.counts());
    let keys: Vec<_> = quests.iter().map(|quest| quest.key.as_str()).collect();
    assert_eq!(keys, ["Acme / Seoul", "Acme"]);
    assert_eq!(counts.without_key, 1);
}

/// The quests of these rows of key, anchor and what comes before; after quests of these keys.
fn linked(
    before: &[&str],
    rows: &[(&str, &str, &str)],
) -> Result<Vec<(String, Vec<String>)>, String> {
    let mut listing = Listing::new();
    for (row, key) in (2..).zip(before) {
        add(&mut listing, row, &[key], "");
    }
    let seeded = listing.finish().unwrap().quests().to_vec();
    let mut listing = Listing::new();
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
    Ok(listed.quests().iter().map(plain).collect())
}

fn after(key: &str, before: &[&str]) -> (String, Vec<String>) {
    let before = before.iter().map(ToString::to_string).collect();
    (key.to_owned(), before)
}

#[test]
fn rows_name_what_comes_before_them_earlier_or_later_and_merged_rows_unite() {
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
fn a_name_that_means_no_quest_or_several_is_refused() {
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
fn a_new_quest_comes_after_an_old_one_and_never_the_other_way_round() {
    let rows = [("old", "", "new"), ("new", "", "old")];
    let expected = [after("old", &[]), after("new", &["1"])];
    assert_eq!(linked(&["old"], &rows).unwrap(), expected);
}
