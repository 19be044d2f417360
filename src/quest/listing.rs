//! Turning rows of a list into quests: blanks skipped, repeats merged.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use serde::Serialize;

use super::anchor::site_core;
use super::{Anchor, FoldedKey, Key, Quest, QuestId, Shown};

/// What a list adds up to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct ListingCounts {
    /// Data rows read, those without any text included.
    pub rows: u32,
    /// Rows whose key is blank.
    pub blanks: u32,
    /// Rows whose key, with no other anchor, had come before in the list.
    pub repeats: u32,
    /// Rows that are the first of a quest which was there before the list was read.
    pub known: u32,
}

/// More quests than can be numbered.
#[derive(Debug, thiserror::Error)]
#[error("the list has more quests than can be numbered (4,294,967,295)")]
pub struct TooManyQuests;

/// Quests in the making.
///
/// Keys are compared folded. A key that comes again is the same quest, unless both rows name
/// an anchor and the anchors differ; a row without an anchor goes to the key's first quest.
#[derive(Debug, Default)]
pub struct Listing {
    quests: Vec<Quest>,
    by_key: HashMap<FoldedKey, Places>,
    counts: ListingCounts,
}

/// Where the quests of one key stand: one, nearly always.
#[derive(Debug)]
enum Places {
    One(usize),
    Several(Vec<usize>),
}

impl Places {
    fn as_slice(&self) -> &[usize] {
        match self {
            Self::One(place) => std::slice::from_ref(place),
            Self::Several(places) => places,
        }
    }

    fn push(&mut self, place: usize) {
        match self {
            Self::One(first) => *self = Self::Several(vec![*first, place]),
            Self::Several(places) => places.push(place),
        }
    }
}

impl Listing {
    /// A listing of no rows.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in a quest that is there already, with rows of its own or none.
    pub fn seed(&mut self, quest: Quest) {
        let place = self.quests.len();
        self.by_key
            .entry(quest.key.folded())
            .and_modify(|places| places.push(place))
            .or_insert(Places::One(place));
        self.quests.push(quest);
    }

    /// The quests that have no anchor as yet.
    #[must_use]
    pub fn without_anchor(&self) -> Vec<QuestId> {
        let bare = self.quests.iter().filter(|quest| quest.anchor.is_none());
        bare.map(|quest| quest.id).collect()
    }

    /// Takes in rows that hold no text at all.
    pub fn skip(&mut self, rows: u32) {
        self.counts.rows += rows;
        self.counts.blanks += rows;
    }

    /// Takes in one row; the parts of its key are the cells of the key's columns.
    pub fn add(
        &mut self,
        row: u32,
        key_parts: &[&str],
        anchor: &str,
        shown: impl FnOnce() -> Vec<Shown>,
    ) -> Result<(), TooManyQuests> {
        self.counts.rows += 1;
        let parts = key_parts.iter().map(|part| part.trim());
        let text = parts
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(" / ");
        let Ok(key) = Key::new(&text) else {
            self.counts.blanks += 1;
            return Ok(());
        };
        let anchor = Some(anchor.trim()).filter(|text| !text.is_empty());
        let quests = &mut self.quests;
        let entry = self.by_key.entry(key.folded());
        if let Entry::Occupied(known) = &entry
            && let Some(place) = matching(known.get().as_slice(), quests, anchor)
        {
            if quests[place].rows.is_empty() {
                self.counts.known += 1;
            } else {
                self.counts.repeats += 1;
            }
            quests[place].rows.push(row);
            if quests[place].anchor.is_none() {
                quests[place].anchor = anchor.map(|text| Anchor::Site(text.to_owned()));
            }
            return Ok(());
        }
        let id = QuestId::from_index(quests.len()).ok_or(TooManyQuests)?;
        let place = quests.len();
        entry
            .and_modify(|places| places.push(place))
            .or_insert(Places::One(place));
        quests.push(Quest {
            id,
            key,
            anchor: anchor.map(|text| Anchor::Site(text.to_owned())),
            shown: shown(),
            known: Vec::new(),
            rows: vec![row],
        });
        Ok(())
    }

    /// The quests, numbered in the order of their first rows, and the counts.
    #[must_use]
    pub fn finish(self) -> (Vec<Quest>, ListingCounts) {
        (self.quests, self.counts)
    }
}

/// The quest among `places` that a row with this anchor belongs to.
fn matching(places: &[usize], quests: &[Quest], anchor: Option<&str>) -> Option<usize> {
    let Some(text) = anchor else {
        return places.first().copied();
    };
    let wanted = site_core(text);
    let anchored = |place: &usize| quests[*place].anchor.as_ref();
    let same = places.iter().find(
        |place| matches!(anchored(place), Some(Anchor::Site(known)) if site_core(known) == wanted),
    );
    // A quest that was made without an anchor takes the first one that comes.
    let open = || places.iter().find(|place| anchored(place).is_none());
    same.or_else(open).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Key, anchor and rows.
    type Plain = (String, Option<String>, Vec<u32>);

    fn listed(rows: &[(&str, &str)]) -> (Vec<Plain>, ListingCounts) {
        let mut listing = Listing::new();
        for (row, (key, anchor)) in (2..).zip(rows) {
            listing.add(row, &[key], anchor, Vec::new).unwrap();
        }
        let (quests, counts) = listing.finish();
        let plain = |quest: Quest| {
            let anchor = quest.anchor.map(|Anchor::Site(text)| text);
            (quest.key.to_string(), anchor, quest.rows)
        };
        (quests.into_iter().map(plain).collect(), counts)
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
            blanks: 1,
            repeats: 1,
            known: 0,
        };
        assert_eq!(counts, expected);
    }

    #[test]
    fn the_first_row_of_a_known_quest_is_no_repeat() {
        let mut before = Listing::new();
        before.add(2, &["Acme"], "", Vec::new).unwrap();
        let (quests, _) = before.finish();
        let mut listing = Listing::new();
        for quest in quests {
            listing.seed(Quest {
                rows: Vec::new(),
                ..quest
            });
        }
        for (row, key) in [(2, "Beta"), (3, "Acme"), (7, "Acme")] {
            listing.add(row, &[key], "", Vec::new).unwrap();
        }
        listing.skip(3);
        let (quests, counts) = listing.finish();
        assert_eq!(quests[0].rows, [3, 7]);
        assert_eq!(quests[1].rows, [2]);
        let expected = ListingCounts {
            rows: 6,
            blanks: 3,
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
        listing.add(1, &["Acme", " Seoul "], "", Vec::new).unwrap();
        listing.add(2, &["Acme", ""], "", Vec::new).unwrap();
        listing.add(3, &["", " "], "", Vec::new).unwrap();
        let (quests, counts) = listing.finish();
        let keys: Vec<_> = quests.iter().map(|quest| quest.key.as_str()).collect();
        assert_eq!(keys, ["Acme / Seoul", "Acme"]);
        assert_eq!(counts.blanks, 1);
    }
}
