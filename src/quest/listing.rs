//! Turns the rows of a list into quests: skips blank rows and merges repeats.

use std::collections::{BTreeMap, HashMap};

use itertools::Itertools as _;
use schemars::JsonSchema;
use serde::Serialize;

use super::dependencies::{DependencyError, circle, names};
use super::{Anchor, FoldedKey, Key, Nearest, Quest, QuestId, Shown, meant};

/// What a list adds up to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct ListingCounts {
    /// Data rows read, those without any text included.
    pub rows: u32,
    /// Rows without any text.
    pub blanks: u32,
    /// Rows with text, but none in the columns of the key.
    pub without_key: u32,
    /// Rows whose key, with no other anchor, had come before in the list.
    pub repeats: u32,
    /// Rows that are the first of a quest which was there before the list was read.
    pub known: u32,
}

#[derive(Debug, thiserror::Error)]
pub enum ListingError {
    #[error("the list has more quests than can be numbered (4,294,967,295)")]
    TooManyQuests,
    #[error(transparent)]
    Dependency(#[from] DependencyError),
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Row<'a> {
    pub number: u32,
    pub key_parts: &'a [&'a str],
    /// What is known of it beforehand; may be blank.
    pub anchor: &'a str,
    /// The keys that come before it, separated by `;` or line breaks; may be blank.
    pub after: &'a str,
}

/// The other cells of the first row of a quest.
#[derive(Debug, Clone, Default)]
pub struct OtherCells {
    /// For the prompt.
    pub shown: Vec<Shown>,
    /// For checks.
    pub known: Vec<Shown>,
}

/// Builds quests from rows.
///
/// Keys are compared folded. A repeated key is the same quest, unless both rows name an anchor and
/// the anchors differ. A row without an anchor belongs to the key's first quest.
#[derive(Debug, Default)]
pub struct Listing {
    /// The indices of the quests with each key, in order.
    by_key: HashMap<FoldedKey, Vec<usize>>,
    listed: Listed,
    dependencies: Vec<Dependency>,
}

/// The quests of a list, after those that existed before it was read.
#[derive(Debug, Default)]
pub struct Listed {
    /// Every quest, in the order of their numbers.
    pub quests: Vec<Quest>,
    pub counts: ListingCounts,
    /// How many quests existed before.
    seeded: usize,
    /// The anchors that the list adds to quests which existed without one.
    pub newly_anchored: BTreeMap<QuestId, Anchor>,
}

/// A cell that names the quests before its quest.
#[derive(Debug)]
struct Dependency {
    quest: usize,
    row: u32,
    cell: Box<str>,
}

impl Listing {
    /// Adds a quest that already exists and has no row of this list yet.
    pub fn seed(&mut self, quest: Quest) {
        self.push(quest.key.folded(), quest);
        self.listed.seeded += 1;
    }

    /// Counts rows without text.
    pub fn skip(&mut self, rows: u32) {
        self.listed.counts.rows += rows;
        self.listed.counts.blanks += rows;
    }

    /// Adds one row. The first row of a quest gives its `other` cells.
    pub fn add(
        &mut self,
        row: Row<'_>,
        other: impl FnOnce() -> OtherCells,
    ) -> Result<(), ListingError> {
        self.listed.counts.rows += 1;
        let Some(key) = key_of(row.key_parts) else {
            self.listed.counts.without_key += 1;
            return Ok(());
        };
        let quest = self.quest_of(key, row, other)?;
        if !row.after.trim().is_empty() && quest >= self.listed.seeded {
            self.dependencies.push(Dependency {
                quest,
                row: row.number,
                cell: row.after.into(),
            });
        }
        Ok(())
    }

    /// The index of the row's quest, which may be new.
    fn quest_of(
        &mut self,
        key: Key,
        row: Row<'_>,
        other: impl FnOnce() -> OtherCells,
    ) -> Result<usize, ListingError> {
        let anchor = Some(row.anchor.trim()).filter(|text| !text.is_empty());
        let anchor = anchor.map(|text| Anchor::Site(text.to_owned()));
        let folded = key.folded();
        let Listed {
            quests,
            counts,
            seeded,
            newly_anchored,
        } = &mut self.listed;
        let namesakes = self.by_key.get(&folded).map_or(&[][..], Vec::as_slice);
        if let Some(at) = matching(quests, namesakes, anchor.as_ref()) {
            let quest = &mut quests[at];
            if quest.rows.is_empty() {
                counts.known += 1;
            } else {
                counts.repeats += 1;
            }
            quest.rows.push(row.number);
            if quest.anchor.is_none()
                && let Some(anchor) = anchor
            {
                if at < *seeded {
                    newly_anchored.insert(quest.id, anchor.clone());
                }
                quest.anchor = Some(anchor);
            }
            return Ok(at);
        }
        let id = QuestId::from_index(quests.len()).ok_or(ListingError::TooManyQuests)?;
        let OtherCells { shown, known } = other();
        let quest = Quest {
            anchor,
            shown,
            known,
            rows: vec![row.number],
            ..Quest::new(id, key)
        };
        Ok(self.push(folded, quest))
    }

    fn push(&mut self, folded: FoldedKey, quest: Quest) -> usize {
        let at = self.listed.quests.len();
        self.by_key.entry(folded).or_default().push(at);
        self.listed.quests.push(quest);
        at
    }

    /// The quests, numbered in the order of their first rows, with the dependencies of new quests.
    /// Quests that existed before gain none.
    pub fn finish(mut self) -> Result<Listed, ListingError> {
        for dependency in std::mem::take(&mut self.dependencies) {
            for name in names(&dependency.cell) {
                let before = self.named(name, dependency.row)?;
                self.listed.quests[dependency.quest].after.push(before);
            }
        }
        for quest in &mut self.listed.quests {
            quest.after.sort_unstable();
            quest.after.dedup();
        }
        let quests = &self.listed.quests;
        if let Some(circle) = circle(quests.len(), |at| &quests[at].after[..]) {
            let keys = circle.into_iter().map(|at| quests[at].key.clone());
            return Err(DependencyError::Circle(keys.collect()).into());
        }
        Ok(self.listed)
    }

    /// The only quest that `name` in this row can mean.
    fn named(&self, name: Key, row: u32) -> Result<QuestId, DependencyError> {
        let quests = &self.listed.quests;
        let namesakes = self.by_key.get(&name.folded()).into_iter().flatten();
        let namesakes: Vec<_> = namesakes
            .map(|at| (quests[*at].id, quests[*at].key.clone()))
            .collect();
        if let [(quest, _)] = namesakes.as_slice() {
            return Ok(*quest);
        }
        let meant = meant(&name, &namesakes);
        match meant.as_slice() {
            [] => {
                let mut nearest = Nearest::to(&name);
                for quest in quests {
                    nearest.offer(&quest.key);
                }
                let nearest = nearest.keys().cloned().collect();
                Err(DependencyError::Unknown { row, name, nearest })
            }
            [quest] => Ok(*quest),
            _ => Err(DependencyError::Ambiguous {
                row,
                name,
                quests: meant,
            }),
        }
    }
}

impl Listed {
    fn seeded(&self) -> &[Quest] {
        &self.quests[..self.seeded]
    }

    /// The quests that the list added.
    pub fn added(&self) -> &[Quest] {
        &self.quests[self.seeded..]
    }

    /// How many earlier quests have no row in the list.
    pub fn without_row(&self) -> usize {
        let seeded = self.seeded().iter();
        seeded.filter(|quest| quest.rows.is_empty()).count()
    }

    /// The rows of earlier quests, in order.
    pub fn known_rows(&self) -> Vec<(u32, QuestId)> {
        let seeded = self.seeded().iter();
        let rows = seeded.flat_map(|quest| quest.rows.iter().map(|row| (*row, quest.id)));
        let mut rows: Vec<_> = rows.collect();
        rows.sort_unstable();
        rows
    }
}

/// The key that these cells form, unless all are blank.
fn key_of(parts: &[&str]) -> Option<Key> {
    let parts = parts.iter().map(|part| part.trim());
    Key::new(&parts.filter(|part| !part.is_empty()).join(" / ")).ok()
}

/// Which of the quests with the same key a row with this anchor belongs to.
fn matching(quests: &[Quest], namesakes: &[usize], anchor: Option<&Anchor>) -> Option<usize> {
    let find = |fits: &dyn Fn(Option<&Anchor>) -> bool| {
        let mut namesakes = namesakes.iter().copied();
        namesakes.find(|at| fits(quests[*at].anchor.as_ref()))
    };
    let Some(wanted) = anchor.map(Anchor::folded) else {
        return namesakes.first().copied();
    };
    let is_same = |known: Option<&Anchor>| known.is_some_and(|it| it.folded() == wanted);
    // A quest without an anchor gets the first anchor of its rows.
    find(&is_same).or_else(|| find(&|known| known.is_none()))
}

#[cfg(test)]
mod tests;
