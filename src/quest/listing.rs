//! Turning rows of a list into quests: blanks skipped, repeats merged.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use schemars::JsonSchema;
use serde::Serialize;

use super::dependencies::{DependencyError, circle, names};
use super::kind::site_core;
use super::{Anchor, FoldedKey, Key, Nearest, Quest, QuestId, Shown, meant};

/// What a list adds up to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
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

#[derive(Debug, thiserror::Error)]
#[error("the list has more quests than can be numbered (4,294,967,295)")]
pub struct TooManyQuests;

#[derive(Debug, Clone, Copy, Default)]
pub struct Row<'a> {
    pub number: u32,
    pub key_parts: &'a [&'a str],
    pub anchor: &'a str,
    /// The keys that come before it, parted by `;` or line breaks; may be blank.
    pub after: &'a str,
}

/// What else a row tells of the quest that it is the first of.
#[derive(Debug, Clone, Default)]
pub struct Told {
    pub shown: Vec<Shown>,
    pub known: Vec<Shown>,
}

/// Quests in the making.
///
/// Keys are compared folded. A key that comes again is the same quest, unless both rows name
/// an anchor and the anchors differ; a row without an anchor goes to the key's first quest.
#[derive(Debug, Default)]
pub struct Listing {
    quests: Vec<Quest>,
    by_key: HashMap<FoldedKey, Places>,
    counts: ListingCounts,
    seeded: usize,
    wishes: Vec<Wish>,
}

/// The cell of a row that names what comes before its quest.
#[derive(Debug)]
struct Wish {
    place: usize,
    row: u32,
    cell: Box<str>,
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
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    pub fn seed(&mut self, quest: Quest) {
        let place = self.quests.len();
        self.by_key
            .entry(quest.key.folded())
            .and_modify(|places| places.push(place))
            .or_insert(Places::One(place));
        self.quests.push(quest);
        self.seeded = self.quests.len();
    }

    #[must_use]
    pub fn without_anchor(&self) -> Vec<QuestId> {
        let bare = self.quests.iter().filter(|quest| quest.anchor.is_none());
        bare.map(|quest| quest.id).collect()
    }

    pub fn skip(&mut self, rows: u32) {
        self.counts.rows += rows;
        self.counts.blanks += rows;
    }

    /// Takes in one row; the first row of a quest tells what else there is of it.
    pub fn add(&mut self, row: Row<'_>, told: impl FnOnce() -> Told) -> Result<(), TooManyQuests> {
        self.counts.rows += 1;
        let Some(key) = key_of(row.key_parts) else {
            self.counts.blanks += 1;
            return Ok(());
        };
        let place = self.place(key, row, told)?;
        if !row.after.trim().is_empty() && place >= self.seeded {
            self.wishes.push(Wish {
                place,
                row: row.number,
                cell: row.after.into(),
            });
        }
        Ok(())
    }

    /// Where the quest of this row stands; a new one takes the last place.
    fn place(
        &mut self,
        key: Key,
        row: Row<'_>,
        told: impl FnOnce() -> Told,
    ) -> Result<usize, TooManyQuests> {
        let anchor = Some(row.anchor.trim()).filter(|text| !text.is_empty());
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
            quests[place].rows.push(row.number);
            if quests[place].anchor.is_none() {
                quests[place].anchor = anchor.map(|text| Anchor::Site(text.to_owned()));
            }
            return Ok(place);
        }
        let id = QuestId::from_index(quests.len()).ok_or(TooManyQuests)?;
        let place = quests.len();
        entry
            .and_modify(|places| places.push(place))
            .or_insert(Places::One(place));
        let Told { shown, known } = told();
        quests.push(Quest {
            id,
            key,
            anchor: anchor.map(|text| Anchor::Site(text.to_owned())),
            shown,
            known,
            after: Vec::new(),
            rows: vec![row.number],
        });
        Ok(place)
    }

    /// The same as [`Listing::finish`], with every new quest after those that its rows name.
    ///
    /// Quests that were there already gain none.
    pub fn finish_linked(mut self) -> Result<(Vec<Quest>, ListingCounts), DependencyError> {
        let wishes = std::mem::take(&mut self.wishes);
        if wishes.is_empty() {
            return Ok(self.finish());
        }
        for wish in wishes {
            for name in names(&wish.cell) {
                let before = self.named(name, wish.row)?;
                self.quests[wish.place].after.push(before);
            }
        }
        for quest in &mut self.quests[self.seeded..] {
            quest.after.sort_unstable();
            quest.after.dedup();
        }
        match circle(&self.quests, self.seeded) {
            Some(keys) => Err(DependencyError::Circle(keys)),
            None => Ok(self.finish()),
        }
    }

    fn named(&self, name: Key, row: u32) -> Result<QuestId, DependencyError> {
        let places = self.by_key.get(&name.folded());
        let places = places.map_or(&[][..], Places::as_slice);
        if let [place] = places {
            return Ok(self.quests[*place].id);
        }
        let quests = places.iter().map(|place| &self.quests[*place]);
        let namesakes: Vec<_> = quests.map(|quest| (quest.id, quest.key.clone())).collect();
        let quests = meant(&name, &namesakes);
        match quests.as_slice() {
            [] => {
                let mut nearest = Nearest::to(&name);
                self.quests
                    .iter()
                    .for_each(|quest| nearest.offer(&quest.key));
                let nearest = nearest.keys().cloned().collect();
                Err(DependencyError::Unknown { row, name, nearest })
            }
            [quest] => Ok(*quest),
            _ => Err(DependencyError::Ambiguous { row, name, quests }),
        }
    }

    #[must_use]
    pub fn finish(self) -> (Vec<Quest>, ListingCounts) {
        (self.quests, self.counts)
    }
}

/// The key that these cells spell together, unless all are blank.
fn key_of(parts: &[&str]) -> Option<Key> {
    let parts = parts.iter().map(|part| part.trim());
    let filled: Vec<_> = parts.filter(|part| !part.is_empty()).collect();
    Key::new(&filled.join(" / ")).ok()
}

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
mod tests;
