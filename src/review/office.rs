//! The queue as a workbook: exported, filled in by a person, and read back.
//!
//! A row is bound to the session, the quest, its key, the attempt and the time of its judgement. A row
//! that no longer matches all of them is refused.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools as _;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::base::Digest;
use crate::base::clock::Clock;
use crate::base::text::single_spaced;
use crate::judge::JudgeError;
use crate::quest::{QuestId, Submission};
use crate::review::settle::settle_if;
use crate::review::{Item, NotSettled, Person, Queue, SeenFact, Viewer, Waiting};
use crate::session::{
    Decision, Effective, QuestRecord, Session, SessionError, SettledQuest, SigningKey,
};
use crate::table::new_workbook::{ColumnRole, Form, FormCell, FormColumn, unambiguous};
use crate::table::shortened;

pub const SHEET: &str = "review";

/// The columns that are read back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Id,
    Key,
    Judged,
    Attempt,
    Decision,
    Note,
    Session,
}

const HEADINGS: [&str; 7] = [
    "id", "key", "judged", "attempt", "decision", "note", "session",
];

const WORDS: [&str; 2] = ["accept", "reject"];

/// Separates the session in its cell from the decision that was withdrawn.
const WITHDRAWN: char = '@';

/// The columns of every workbook: place, heading, width. Columns of the list, of the submission and of
/// the reviewers have the places between.
const COLUMNS: [(u8, &str, u8); 11] = [
    (0, "id", 6),
    (1, "key", 24),
    (OF_SUBMISSION + 1, "source", 36),
    (OF_SUBMISSION + 2, "rules", 20),
    (OF_SUBMISSION + 3, "facts", 52),
    (OF_SUBMISSION + 4, "excerpt", 52),
    (OF_REVIEWERS + 1, "decision", 11),
    (OF_REVIEWERS + 2, "note", 36),
    (OF_REVIEWERS + 3, "judged", 24),
    (OF_REVIEWERS + 4, "attempt", 9),
    (OF_REVIEWERS + 5, "session", 64),
];
const OF_LIST: u8 = 2;
const OF_SUBMISSION: u8 = 3;
const OF_REVIEWERS: u8 = 8;

/// The column of sampled PASSes, which other workbooks lack, and its text.
const SAMPLE: (u8, &str) = (1, "sample");
const SAMPLED: &str = "PASS drawn at random: accept if it is right";

/// A row of the workbook: its cells by place and heading.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OfficeRow(Vec<(u8, String, FormCell)>);

/// The rows of all REVIEWs and sampled PASSes that wait for a person.
pub fn rows(session: &Session) -> Result<Vec<OfficeRow>, JudgeError> {
    let queue = Queue::read(session)?;
    let ids: BTreeSet<QuestId> = queue.all().map(|one| one.id).collect();
    let mut viewer = Viewer::new(session, &ids)?;
    let policy = session.config().policy.session;
    let mut rows = Vec::new();
    for one in queue.all() {
        if let Some(record) = session.quest_record(one.id)? {
            let settled = record.settled.map(|settled| settled.line.offset);
            let item = viewer.item(&record)?;
            rows.push(OfficeRow::of(&item, &bound(policy, settled)));
        }
    }
    Ok(rows)
}

pub fn form(rows: &[OfficeRow]) -> Form {
    let mut columns: Vec<(u8, &str, u8)> = COLUMNS.to_vec();
    for (place, heading, _) in rows.iter().flat_map(|row| &row.0) {
        if !columns.iter().any(|column| column.1 == heading) {
            let width = if *place == OF_REVIEWERS { 36 } else { 28 };
            columns.push((*place, heading, width));
        }
    }
    // Columns of the list keep their order, and fields are sorted by name.
    columns.sort_by_key(|(place, heading, _)| {
        let name = (*place == OF_SUBMISSION).then_some(*heading);
        (*place, name)
    });
    let cell = |row: &OfficeRow, heading: &str| {
        let cell = row.0.iter().find(|(_, name, _)| name == heading);
        cell.map_or_else(|| FormCell::text(""), |(.., cell)| cell.clone())
    };
    let row = |row| columns.iter().map(|column| cell(row, column.1)).collect();
    let role = |heading: &str| match heading {
        "decision" => ColumnRole::Choice(&WORDS),
        "session" => ColumnRole::Hidden,
        _ => ColumnRole::Free,
    };
    Form {
        sheet: SHEET,
        rows: rows.iter().map(row).collect(),
        columns: columns
            .iter()
            .map(|(_, heading, width)| FormColumn {
                heading: (*heading).to_owned(),
                width: *width,
                role: role(heading),
            })
            .collect(),
    }
}

/// What a row is bound to: the session and, if a decision was withdrawn, its place in the ledger.
fn bound(session: Digest, settled: Option<u64>) -> String {
    match settled {
        None => session.to_string(),
        Some(line) => format!("{session}{WITHDRAWN}{line}"),
    }
}

impl OfficeRow {
    fn of(item: &Item, bound: &str) -> Self {
        let mut row = Self::default();
        row.push(0, "id", FormCell::number(item.id.index() as u64 + 1));
        row.push_text(1, "key", item.key.as_str());
        if item.effective == Effective::Pass {
            row.push_text(SAMPLE.0, SAMPLE.1, SAMPLED);
        }
        // Columns of the list and of the submission have a prefix, so that none is mistaken for a column
        // of the queue.
        let mut listed: Vec<(String, String)> = Vec::new();
        for cell in item.listed() {
            match listed.iter_mut().find(|(label, _)| *label == cell.label) {
                Some((_, text)) => *text = format!("{text}\n{}", cell.text),
                None => listed.push((cell.label, cell.text)),
            }
        }
        for (label, text) in listed {
            row.push_text(OF_LIST, &format!("list: {label}"), &text);
        }
        match &item.submission {
            Some(Submission::Fields(fields)) => {
                for (name, text) in fields {
                    row.push_text(OF_SUBMISSION, &format!("submitted: {name}"), text);
                }
            }
            Some(Submission::None(why)) => {
                row.push_text(OF_SUBMISSION, "submitted: nothing, because", why);
            }
            None => {}
        }
        if let Some(source) = item.source_page() {
            row.push(OF_SUBMISSION + 1, "source", FormCell::Link(source.into()));
        }
        let rules = item.facts.iter().map(|seen| &seen.fact.rule);
        row.push_text(OF_SUBMISSION + 2, "rules", &rules.unique().join(", "));
        let facts = item.facts.iter().map(fact).join("\n\n");
        row.push_text(OF_SUBMISSION + 3, "facts", &facts);
        row.push_text(OF_SUBMISSION + 4, "excerpt", &excerpts(item));
        let doubts = item.panel.as_ref().map(doubts).unwrap_or_default();
        if !doubts.is_empty() {
            row.push_text(OF_REVIEWERS, "reviewers", &doubts);
        }
        let since = item.since.map(|since| since.to_string());
        row.push_text(OF_REVIEWERS + 3, "judged", &since.unwrap_or_default());
        let attempt = FormCell::number(item.attempt);
        row.push(OF_REVIEWERS + 4, "attempt", attempt);
        row.push_text(OF_REVIEWERS + 5, "session", bound);
        row
    }

    pub fn is_sampled(&self) -> bool {
        self.0
            .iter()
            .any(|(place, heading, _)| (*place, heading.as_str()) == SAMPLE)
    }

    fn push(&mut self, place: u8, heading: &str, cell: FormCell) {
        self.0.push((place, heading.to_owned(), cell));
    }

    fn push_text(&mut self, place: u8, heading: &str, text: &str) {
        self.push(place, heading, FormCell::text(text));
    }
}

fn fact(seen: &SeenFact) -> String {
    let fact = &seen.fact;
    let place = fact.location.as_ref().map(|place| format!(" at {place}"));
    let times = match fact.count {
        0 | 1 => String::new(),
        count => format!(" ({count} times)"),
    };
    format!(
        "{} {}{}{times}\nexpected: {}\nactual: {}",
        fact.level,
        fact.rule,
        place.unwrap_or_default(),
        fact.expected,
        fact.actual
    )
}

fn excerpts(item: &Item) -> String {
    if let Some(damage) = &item.damage {
        return format!("the evidence cannot be shown: {damage}");
    }
    let excerpts = item.facts.iter().filter_map(|seen| seen.excerpt.as_ref());
    let texts = excerpts.map(|excerpt| {
        let lines = excerpt.lines.iter().map(|line| {
            let mark = if line.found { '>' } else { ' ' };
            format!("\n{mark} {}", line.text)
        });
        format!("in {}{}", excerpt.of, lines.collect::<String>())
    });
    texts.unique().join("\n\n")
}

/// The doubts and questions of reviewers, one per line.
fn doubts(panel: &Value) -> String {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut lines = Vec::new();
    for reviewer in list(&panel["reviewers"]) {
        for on in list(&reviewer["votes"]) {
            for (vote, verb) in [("doubt", "doubts"), ("unsure", "asks")] {
                let passage = &on["vote"][vote];
                if passage.is_object() {
                    let (name, question) = (text(&reviewer["name"]), text(&on["question"]));
                    let quotation = text(&passage["quotation"]);
                    lines.push(format!("{name} {verb} {question}: \"{quotation}\""));
                }
            }
        }
    }
    lines.join("\n")
}

/// A sheet that is not a queue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotFilled {
    #[error("it has no column {}; use the workbook that was exported", .0.join(", "))]
    Missing(Vec<&'static str>),
    #[error("it has two columns {0}; keep the one that you filled in")]
    Twice(&'static str),
    #[error("its ids, keys, decisions and notes are longer than {MAX_BYTES} bytes")]
    TooLarge,
}

impl NotFilled {
    pub fn all_missing() -> Self {
        Self::Missing(HEADINGS.to_vec())
    }
}

const MAX_BYTES: usize = 64 << 20;

/// A row that was filled in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filled {
    pub row: u32,
    /// The cells in the order of the columns.
    cells: [String; HEADINGS.len()],
}

impl Filled {
    fn text(&self, column: Column) -> &str {
        &self.cells[column as usize]
    }

    /// The session that the row is bound to, and the decision that was withdrawn.
    fn bound(&self) -> (&str, &str) {
        let bound = self.text(Column::Session);
        bound.split_once(WITHDRAWN).unwrap_or((bound, ""))
    }

    fn is_of(&self, session: &str) -> bool {
        self.bound().0.eq_ignore_ascii_case(session)
    }
}

/// Reads a filled sheet row by row.
#[derive(Debug, Default)]
pub struct Filling {
    /// Where each column is; `None` before the row of headings.
    places: Option<[usize; HEADINGS.len()]>,
    bytes: usize,
    rows: Vec<Filled>,
}

impl Filling {
    pub fn take(&mut self, row: u32, cells: &[String]) -> Result<(), NotFilled> {
        let Some(places) = self.places else {
            self.places = places(cells)?;
            return Ok(());
        };
        let text = |place: usize| cells.get(place).map_or("", |text| text.trim());
        let mut filled = Filled {
            row,
            cells: places.map(|place| text(place).to_owned()),
        };
        if filled.text(Column::Decision).is_empty() {
            if filled.text(Column::Id).is_empty() {
                return Ok(());
            }
            // An undecided row needs only its id.
            for column in [Column::Key, Column::Judged, Column::Attempt, Column::Note] {
                filled.cells[column as usize] = String::new();
            }
        }
        let bytes: usize = filled.cells.iter().map(String::len).sum();
        self.bytes = self.bytes.saturating_add(size_of::<Filled>() + bytes);
        if self.bytes > MAX_BYTES {
            return Err(NotFilled::TooLarge);
        }
        self.rows.push(filled);
        Ok(())
    }

    pub fn finish(self) -> Result<Vec<Filled>, NotFilled> {
        self.places.ok_or_else(NotFilled::all_missing)?;
        Ok(self.rows)
    }
}

/// The places of the columns, if this is the row of headings.
fn places(row: &[String]) -> Result<Option<[usize; HEADINGS.len()]>, NotFilled> {
    let named = |cell: &String| single_spaced(cell).to_lowercase();
    let row: Vec<String> = row.iter().map(named).collect();
    let of = |heading: &str| -> Vec<usize> {
        let cells = row.iter().enumerate();
        let found = cells.filter(|(_, cell)| *cell == heading);
        found.map(|(at, _)| at).collect()
    };
    let all = HEADINGS.map(of);
    // A title may contain one of the words.
    if all.iter().filter(|found| !found.is_empty()).count() < 2 {
        return Ok(None);
    }
    let headings = || HEADINGS.into_iter().zip(&all);
    let missing = headings().filter(|(_, found)| found.is_empty());
    let missing: Vec<_> = missing.map(|(heading, _)| heading).collect();
    if !missing.is_empty() {
        return Err(NotFilled::Missing(missing));
    }
    if let Some((heading, _)) = headings().find(|(_, found)| found.len() > 1) {
        return Err(NotFilled::Twice(heading));
    }
    Ok(Some(all.map(|found| found[0])))
}

/// The rows of a sheet, sorted by their result.
#[derive(Debug, Default)]
pub struct Sorted {
    pub rows: Vec<Decided>,
    pub refused: Vec<Refused>,
    /// The number of rows without a decision.
    pub undecided: usize,
}

/// A row with a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    pub decision: Decision,
    pub filled: Filled,
    /// The quest as it was when the row was compared with it.
    pub record: QuestRecord,
}

/// A row that was refused: `{"row":4,"id":"3","key":"…","why":"no-note","text":"…"}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Refused {
    pub row: u32,
    pub id: String,
    pub key: String,
    pub why: Why,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    UnknownWord,
    OtherSession,
    NoId,
    Twice,
    NoNote,
    UnknownQuest,
    OtherKey,
    Settled,
    NotOpen,
    OtherAttempt,
    JudgedAgain,
    SettledSince,
    Forgotten,
    Meanwhile,
}

/// Why a row is refused, as a code and as a sentence.
type Misfit = (Why, String);

fn refused(filled: Filled, (why, text): Misfit) -> Refused {
    let [id, key, ..] = filled.cells;
    Refused {
        row: filled.row,
        id,
        key,
        why,
        text,
    }
}

/// Reads the decision of each row, and compares it with the session.
pub fn check(session: &Session, rows: Vec<Filled>) -> Result<Sorted, SessionError> {
    // Read before the queue, so that settling notices a change between the two.
    let mut records = BTreeMap::new();
    for filled in &rows {
        if let Ok(id) = filled.text(Column::Id).parse()
            && !filled.text(Column::Decision).is_empty()
            && let Some(record) = session.quest_record(id)?
        {
            records.insert(id, record);
        }
    }
    let queue = Queue::read(session)?;
    let waiting = queue.all().map(|one| (one.id, one)).collect();
    let policy = session.config().policy.session;
    Ok(sorted(rows, policy, &records, &waiting))
}

fn sorted(
    rows: Vec<Filled>,
    session: Digest,
    records: &BTreeMap<QuestId, QuestRecord>,
    waiting: &BTreeMap<QuestId, &Waiting>,
) -> Sorted {
    let session = session.to_string();
    let mut places: BTreeMap<QuestId, Vec<u32>> = BTreeMap::new();
    for filled in rows.iter().filter(|filled| filled.is_of(&session)) {
        if let Ok(id) = filled.text(Column::Id).parse() {
            places.entry(id).or_default().push(filled.row);
        }
    }
    let mut sorted = Sorted::default();
    for filled in rows {
        if filled.text(Column::Decision).is_empty() {
            sorted.undecided += 1;
            continue;
        }
        let fitting = decision(&filled, &session, &places).and_then(|(quest, decision)| {
            let record = fit(quest, &filled, records.get(&quest), waiting.get(&quest))?;
            Ok((decision, record.clone()))
        });
        match fitting {
            Ok((decision, record)) => sorted.rows.push(Decided {
                decision,
                filled,
                record,
            }),
            Err(why) => sorted.refused.push(refused(filled, why)),
        }
    }
    sorted
}

fn decision(
    filled: &Filled,
    session: &str,
    places: &BTreeMap<QuestId, Vec<u32>>,
) -> Result<(QuestId, Decision), Misfit> {
    if !filled.is_of(session) {
        let text = "it belongs to another session".to_owned();
        return Err((Why::OtherSession, text));
    }
    let id = filled.text(Column::Id);
    let quest: QuestId = id.parse().map_err(|_| {
        let text = format!("{id:?} is not the number of a quest");
        (Why::NoId, text)
    })?;
    let rows = places.get(&quest).map_or(&[][..], Vec::as_slice);
    if let Some(other) = rows.iter().find(|row| **row != filled.row) {
        let text = format!("quest {quest} is also in row {other}: keep one of the two");
        return Err((Why::Twice, text));
    }
    let word = filled.text(Column::Decision);
    let folded = single_spaced(word).to_lowercase();
    let decision = match WORDS.iter().position(|it| *it == folded) {
        Some(0) => Decision::Accepted,
        Some(_) => Decision::Rejected,
        None => {
            let [yes, no] = WORDS;
            let text =
                format!("{word:?} is not a decision: write {yes} or {no}, or leave it empty");
            return Err((Why::UnknownWord, text));
        }
    };
    if filled.text(Column::Note).is_empty() {
        let text = "it has no note: say what you looked at, and what it shows";
        return Err((Why::NoNote, text.to_owned()));
    }
    Ok((quest, decision))
}

/// The quest of a row, if the row still matches it.
fn fit<'a>(
    quest: QuestId,
    filled: &Filled,
    record: Option<&'a QuestRecord>,
    waiting: Option<&&Waiting>,
) -> Result<&'a QuestRecord, Misfit> {
    let Some(record) = record else {
        return Err((Why::UnknownQuest, format!("there is no quest {quest}")));
    };
    let key = record.key.as_str();
    if !is_same(key, filled.text(Column::Key)) {
        let text = format!("quest {quest} has the key {key:?}, but the row has another");
        return Err((Why::OtherKey, text));
    }
    let Some(waiting) = waiting else {
        let effective = Effective::of(record);
        let is = effective.name();
        return Err(match effective {
            Effective::Accepted | Effective::Rejected => {
                let text = format!("quest {quest} is settled already: it is {is}");
                (Why::Settled, text)
            }
            _ if record.waits_for_a_person() => {
                let reject = format!("`comail review reject {quest}` rejects it");
                let text = format!("the answer of quest {quest} was forgotten: {reject}");
                (Why::Forgotten, text)
            }
            _ if record.sampled => {
                let text = format!("quest {quest} was checked already");
                (Why::Settled, text)
            }
            _ => {
                let text = format!("quest {quest} is {is}: only an open REVIEW can be settled");
                (Why::NotOpen, text)
            }
        });
    };
    if filled.text(Column::Attempt) != waiting.attempt.to_string() {
        let attempt = waiting.attempt;
        let text =
            format!("quest {quest} is waiting with attempt {attempt}, but the row has another");
        return Err((Why::OtherAttempt, text));
    }
    if filled.text(Column::Judged) != waiting.since.to_string() {
        let text = format!("quest {quest} was judged again since: look at it again");
        return Err((Why::JudgedAgain, text));
    }
    let settled = record.settled.map(|settled| settled.line.offset);
    if filled.bound().1 != settled.map(|line| line.to_string()).unwrap_or_default() {
        let text = format!("quest {quest} was settled and reopened since: look at it again");
        return Err((Why::SettledSince, text));
    }
    Ok(record)
}

/// Whether a cell contains `key` as far as a workbook can hold it: shortened, with other white space,
/// and without control characters.
fn is_same(key: &str, cell: &str) -> bool {
    let key = shortened(key);
    let key = unambiguous(&key);
    key.split_whitespace().eq(cell.split_whitespace())
}

/// Records the decisions, one ledger line for all rows with the same decision and note.
pub fn settle_rows(
    session: &mut Session,
    sorted: Sorted,
    (by, key): (&str, Option<&SigningKey>),
    clock: &mut dyn Clock,
) -> Result<Sorted, NotSettled> {
    let mut settled = Sorted {
        rows: Vec::new(),
        ..sorted
    };
    let mut groups: Vec<Vec<Decided>> = Vec::new();
    for decided in sorted.rows {
        let note = decided.filled.text(Column::Note);
        let same = groups.iter_mut().find(|group| {
            let first = &group[0];
            first.decision == decided.decision && first.filled.text(Column::Note) == note
        });
        match same {
            Some(group) => group.push(decided),
            None => groups.push(vec![decided]),
        }
    }
    for mut rows in groups {
        while let Some(first) = rows.first() {
            let (decision, note) = (first.decision, first.filled.text(Column::Note));
            let person = Person { by, note, key };
            let seen: BTreeMap<QuestId, &QuestRecord> = rows
                .iter()
                .map(|row| (row.record.id, &row.record))
                .collect();
            let quests = seen.values().map(|seen| SettledQuest {
                quest: seen.id,
                attempt: seen.attempts,
            });
            let is_unchanged = |record: &QuestRecord| seen.get(&record.id) == Some(&record);
            match settle_if(
                session,
                quests.collect(),
                decision,
                person,
                clock,
                &is_unchanged,
            ) {
                Ok(()) => settled.rows.append(&mut rows),
                Err(meanwhile @ NotSettled::Meanwhile(id)) => {
                    let why = || (Why::Meanwhile, meanwhile.to_string());
                    let moved = rows.extract_if(.., |row| row.record.id == id);
                    let moved = moved.map(|row| refused(row.filled, why()));
                    settled.refused.extend(moved);
                }
                Err(other) => return Err(other),
            }
        }
    }
    settled.rows.sort_by_key(|decided| decided.filled.row);
    settled.refused.sort_by_key(|refused| refused.row);
    Ok(settled)
}
