//! Turning rows of a list into quests: blanks skipped, repeats merged.
//!
//! A list may have millions of rows, so quests wait in a temporary file. Memory holds a few bytes
//! for each: the hash of its key, where it starts in the file, and the rows that joined it later.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{
    self, BufRead as _, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write as _,
};
use std::ops::ControlFlow;

use schemars::JsonSchema;
use serde::Serialize;
use tempfile::SpooledTempFile;

use super::dependencies::{DependencyError, circle, names};
use super::kind::site_core;
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
    #[error(
        "cannot write a temporary file in {}; check that the directory exists and that the disk has room",
        std::env::temp_dir().display()
    )]
    Temporary(#[from] io::Error),
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

/// Quests that are read one after the other, in the order of their numbers.
pub trait Quests {
    fn count(&self) -> usize;

    /// Hands on every quest until `take` breaks.
    fn each(&self, take: &mut dyn FnMut(Quest) -> ControlFlow<()>) -> io::Result<()>;

    fn get(&self, id: QuestId) -> io::Result<Quest>;
}

impl Quests for Vec<Quest> {
    fn count(&self) -> usize {
        self.len()
    }

    fn each(&self, take: &mut dyn FnMut(Quest) -> ControlFlow<()>) -> io::Result<()> {
        let (ControlFlow::Continue(()) | ControlFlow::Break(())) =
            self.iter().cloned().try_for_each(take);
        Ok(())
    }

    fn get(&self, id: QuestId) -> io::Result<Quest> {
        let quest = <[Quest]>::get(self, id.index());
        quest.cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// Quests in the making.
///
/// Keys are compared folded. A key that comes again is the same quest, unless both rows name
/// an anchor and the anchors differ; a row without an anchor goes to the key's first quest.
#[derive(Debug, Default)]
pub struct Listing {
    hasher: RandomState,
    /// The first quest of every hash of a folded key, and the others of the same hash.
    by_hash: HashMap<u32, u32>,
    namesakes: HashMap<u32, Vec<u32>>,
    listed: Listed,
    wishes: Vec<Wish>,
}

#[derive(Debug, Default)]
pub struct Listed {
    spool: RefCell<Spool>,
    counts: ListingCounts,
    /// Whether each quest that was there before the list was read has a row in it.
    seeded: Vec<bool>,
    /// The rows that joined a quest after its first one.
    rows: Vec<(u32, u32)>,
    /// The anchors that came after the first row of their quests.
    anchors: HashMap<u32, Anchor>,
    after: HashMap<u32, Vec<QuestId>>,
}

/// The cell of a row that names what comes before its quest.
#[derive(Debug)]
struct Wish {
    place: u32,
    row: u32,
    cell: Box<str>,
}

impl Listing {
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in a quest that is there already, with no rows of this list as yet.
    pub fn seed(&mut self, quest: &Quest) -> Result<(), ListingError> {
        self.push(&quest.key.folded(), quest)?;
        self.listed.seeded.push(!quest.rows.is_empty());
        Ok(())
    }

    /// Takes in rows that hold no text at all.
    pub fn skip(&mut self, rows: u32) {
        self.listed.counts.rows += rows;
        self.listed.counts.blanks += rows;
    }

    /// Takes in one row; the first row of a quest gives its `other` cells.
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
        let place = self.place(key, row, other)?;
        if !row.after.trim().is_empty() && place as usize >= self.listed.seeded.len() {
            self.wishes.push(Wish {
                place,
                row: row.number,
                cell: row.after.into(),
            });
        }
        Ok(())
    }

    /// Where the quest of this row is; a new one takes the last place.
    fn place(
        &mut self,
        key: Key,
        row: Row<'_>,
        other: impl FnOnce() -> OtherCells,
    ) -> Result<u32, ListingError> {
        let anchor = Some(row.anchor.trim()).filter(|text| !text.is_empty());
        let anchor = anchor.map(|text| Anchor::Site(text.to_owned()));
        let folded = key.folded();
        let same_key = self.of_key(&folded)?;
        if let Some((place, known)) = matching(&same_key, anchor.as_ref()) {
            let listed = &mut self.listed;
            match listed.seeded.get_mut(place as usize) {
                Some(has_row @ false) => {
                    *has_row = true;
                    listed.counts.known += 1;
                }
                _ => listed.counts.repeats += 1,
            }
            listed.rows.push((place, row.number));
            if let (None, Some(anchor)) = (known, anchor) {
                listed.anchors.insert(place, anchor);
            }
            return Ok(place);
        }
        let count = self.listed.count();
        let id = QuestId::from_index(count).ok_or(ListingError::TooManyQuests)?;
        let OtherCells { shown, known } = other();
        let quest = Quest {
            anchor,
            shown,
            known,
            rows: vec![row.number],
            ..Quest::new(id, key)
        };
        self.push(&folded, &quest)
    }

    fn push(&mut self, folded: &FoldedKey, quest: &Quest) -> Result<u32, ListingError> {
        let place = self.listed.spool.get_mut().push(quest)?;
        let hash = self.hash(folded);
        let first = *self.by_hash.entry(hash).or_insert(place);
        if first != place {
            self.namesakes.entry(first).or_default().push(place);
        }
        Ok(place)
    }

    /// Half a hash halves the table of a million keys, and costs a few hundred more collisions.
    #[expect(clippy::cast_possible_truncation, reason = "half of a hash is a hash")]
    fn hash(&self, folded: &FoldedKey) -> u32 {
        self.hasher.hash_one(folded) as u32
    }

    /// The quests whose keys fold to `folded`, with their anchors, in order.
    fn of_key(&self, folded: &FoldedKey) -> io::Result<Vec<(u32, Quest)>> {
        let Some(first) = self.by_hash.get(&self.hash(folded)) else {
            return Ok(Vec::new());
        };
        let others = self.namesakes.get(first).into_iter().flatten();
        let mut quests = Vec::new();
        for place in std::iter::once(first).chain(others) {
            let quest = self.listed.read(*place)?;
            // Two keys can have one hash.
            if quest.key.folds_to(folded) {
                quests.push((*place, quest));
            }
        }
        Ok(quests)
    }

    /// The quests, numbered in the order of their first rows, with every new quest after those
    /// that its rows name. Quests that were there already gain none.
    pub fn finish(mut self) -> Result<Listed, ListingError> {
        let mut after: HashMap<u32, Vec<QuestId>> = HashMap::new();
        for wish in std::mem::take(&mut self.wishes) {
            for name in names(&wish.cell) {
                let before = self.named(name, wish.row)?;
                after.entry(wish.place).or_default().push(before);
            }
        }
        for before in after.values_mut() {
            before.sort_unstable();
            before.dedup();
        }
        if !after.is_empty() {
            let of = |place: usize| {
                let place = u32::try_from(place).unwrap_or(u32::MAX);
                after.get(&place).map_or(&[][..], Vec::as_slice)
            };
            if let Some(places) = circle(self.listed.count(), of) {
                let key = |place: usize| {
                    let place = u32::try_from(place).unwrap_or(u32::MAX);
                    self.listed.read(place).map(|quest| quest.key)
                };
                let keys = places.into_iter().map(key).collect::<io::Result<_>>()?;
                return Err(DependencyError::Circle(keys).into());
            }
        }
        let mut listed = self.listed;
        listed.after = after;
        listed.rows.sort_unstable();
        Ok(listed)
    }

    /// The one quest that `name` in this row means.
    fn named(&self, name: Key, row: u32) -> Result<QuestId, ListingError> {
        let namesakes = self.of_key(&name.folded())?.into_iter();
        let namesakes: Vec<_> = namesakes.map(|(_, quest)| (quest.id, quest.key)).collect();
        if let [(quest, _)] = namesakes.as_slice() {
            return Ok(*quest);
        }
        let quests = meant(&name, &namesakes);
        match quests.as_slice() {
            [] => {
                let mut nearest = Nearest::to(&name);
                self.listed.each(&mut |quest| {
                    nearest.offer(&quest.key);
                    ControlFlow::Continue(())
                })?;
                let nearest = nearest.keys().cloned().collect();
                Err(DependencyError::Unknown { row, name, nearest }.into())
            }
            [quest] => Ok(*quest),
            _ => Err(DependencyError::Ambiguous { row, name, quests }.into()),
        }
    }
}

impl Listed {
    pub fn counts(&self) -> ListingCounts {
        self.counts
    }

    /// How many quests were there before the list was read.
    pub fn seeded(&self) -> usize {
        self.seeded.len()
    }

    /// How many of those have no row in the list.
    pub fn without_row(&self) -> usize {
        self.seeded.iter().filter(|has_row| !**has_row).count()
    }

    /// What the list names for those of them that had no anchor, in the order of the quests.
    pub fn newly_anchored(&self) -> Vec<(QuestId, Anchor)> {
        let anchors = self.anchors.iter();
        let seeded = anchors.filter(|(place, _)| (**place as usize) < self.seeded());
        let known = |(place, anchor): (&u32, &Anchor)| {
            Some((QuestId::from_index(*place as usize)?, anchor.clone()))
        };
        let mut anchors: Vec<_> = seeded.filter_map(known).collect();
        anchors.sort_unstable();
        anchors
    }

    /// The quests that were not there before the list was read.
    pub fn added(&self) -> io::Result<Vec<Quest>> {
        let mut added = Vec::new();
        self.each(&mut |quest| {
            if quest.id.index() >= self.seeded() {
                added.push(quest);
            }
            ControlFlow::Continue(())
        })?;
        Ok(added)
    }

    /// The rows that belong to quests which were there before, in order of the rows.
    pub fn known_rows(self) -> Vec<(u32, QuestId)> {
        let seeded = self.seeded();
        let mut rows: Vec<_> = self
            .rows
            .into_iter()
            .filter(|(place, _)| (*place as usize) < seeded)
            .filter_map(|(place, row)| Some((row, QuestId::from_index(place as usize)?)))
            .collect();
        rows.sort_unstable();
        rows
    }

    /// The quest at `place` as it is so far.
    fn read(&self, place: u32) -> io::Result<Quest> {
        let mut quest = self.spool.borrow_mut().read(place)?;
        self.complete(place, &mut quest);
        Ok(quest)
    }

    /// Adds what was found after the quest went into the spool.
    fn complete(&self, place: u32, quest: &mut Quest) {
        if let Some(anchor) = self.anchors.get(&place) {
            quest.anchor = Some(anchor.clone());
        }
        if let Some(after) = self.after.get(&place) {
            quest.after.clone_from(after);
        }
    }
}

impl Quests for Listed {
    fn count(&self) -> usize {
        self.spool.borrow().starts.len()
    }

    fn each(&self, take: &mut dyn FnMut(Quest) -> ControlFlow<()>) -> io::Result<()> {
        let mut rows = self.rows.iter().peekable();
        let mut place = 0;
        self.spool.borrow_mut().each(&mut |mut quest| {
            while let Some((_, row)) = rows.next_if(|(of, _)| *of == place) {
                quest.rows.push(*row);
            }
            self.complete(place, &mut quest);
            place += 1;
            take(quest)
        })
    }

    fn get(&self, id: QuestId) -> io::Result<Quest> {
        let place = u32::try_from(id.index()).map_err(io::Error::other)?;
        let mut quest = self.spool.borrow_mut().read(place)?;
        let first = self.rows.partition_point(|(of, _)| *of < place);
        let rows = self.rows[first..].iter();
        let rows = rows.take_while(|(of, _)| *of == place);
        quest.rows.extend(rows.map(|(_, row)| *row));
        self.complete(place, &mut quest);
        Ok(quest)
    }
}

/// How much of the spool stays in memory, and how much waits there before it is written.
const SPOOL_BYTES: usize = 1024 * 1024;
const BUFFER_BYTES: usize = 64 * 1024;

/// Quests in a temporary file, one JSON document a line. Between calls the file is at its end.
struct Spool {
    file: BufWriter<SpooledTempFile>,
    starts: Vec<u64>,
    end: u64,
}

impl Default for Spool {
    fn default() -> Self {
        let file = SpooledTempFile::new(SPOOL_BYTES);
        Self {
            file: BufWriter::with_capacity(BUFFER_BYTES, file),
            starts: Vec::new(),
            end: 0,
        }
    }
}

impl std::fmt::Debug for Spool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} quests", self.starts.len())
    }
}

impl Spool {
    fn push(&mut self, quest: &Quest) -> io::Result<u32> {
        let place = u32::try_from(self.starts.len()).map_err(io::Error::other)?;
        let mut line = serde_json::to_vec(quest)?;
        line.push(b'\n');
        self.file.write_all(&line)?;
        self.starts.push(self.end);
        self.end += line.len() as u64;
        Ok(place)
    }

    fn read(&mut self, place: u32) -> io::Result<Quest> {
        let place = place as usize;
        let start = *self.starts.get(place).ok_or(io::ErrorKind::NotFound)?;
        let end = self.starts.get(place + 1).unwrap_or(&self.end);
        let mut line = vec![0; usize::try_from(end - start).map_err(io::Error::other)?];
        // Seeking writes what the buffer holds.
        self.file.seek(SeekFrom::Start(start))?;
        self.file.get_mut().read_exact(&mut line)?;
        self.file.seek(SeekFrom::End(0))?;
        Ok(serde_json::from_slice(&line)?)
    }

    fn each(&mut self, take: &mut dyn FnMut(Quest) -> ControlFlow<()>) -> io::Result<()> {
        self.file.rewind()?;
        let mut lines = BufReader::with_capacity(BUFFER_BYTES, self.file.get_mut());
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line)? > 0 {
            if take(serde_json::from_slice(&line)?).is_break() {
                break;
            }
            line.clear();
        }
        self.file.seek(SeekFrom::End(0))?;
        Ok(())
    }
}

/// The key that these cells spell together, unless all are blank.
fn key_of(parts: &[&str]) -> Option<Key> {
    let parts = parts.iter().map(|part| part.trim());
    let filled: Vec<_> = parts.filter(|part| !part.is_empty()).collect();
    Key::new(&filled.join(" / ")).ok()
}

/// The quest, of those with one key, that a row with this anchor belongs to, and its own anchor.
fn matching<'a>(
    quests: &'a [(u32, Quest)],
    anchor: Option<&Anchor>,
) -> Option<(u32, Option<&'a Anchor>)> {
    let found = match anchor {
        None => quests.first(),
        Some(Anchor::Site(wanted)) => {
            let wanted = site_core(wanted);
            let same = quests.iter().find(|(_, quest)| {
                matches!(&quest.anchor, Some(Anchor::Site(known)) if site_core(known) == wanted)
            });
            // A quest that was made without an anchor takes the first one that comes.
            same.or_else(|| quests.iter().find(|(_, quest)| quest.anchor.is_none()))
        }
    };
    found.map(|(place, quest)| (*place, quest.anchor.as_ref()))
}

#[cfg(test)]
mod tests;
