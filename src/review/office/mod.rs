//! The queue as a workbook: written out, filled in by a person, and read back row by row.
//!
//! A row binds the session, the quest, its key, the attempt and the time of its judgement. A row
//! that no longer fits all of them is refused and settles nothing.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::Value;
use url::Url;

use crate::base::Digest;
use crate::base::clock::Clock;
use crate::base::text::single_spaced;
use crate::judge::JudgeError;
use crate::judge::excerpts::Excerpt;
use crate::quest::email::SOURCE;
use crate::quest::{Key, QuestId, Shown, Submission};
use crate::review::settle::settle_seen;
use crate::review::{Item, NotSettled, Person, Queue, SeenFact, Viewer, Waiting};
use crate::session::{Decision, Effective, QuestRecord, Session, SessionError, SigningKey};
use crate::table::new_workbook::{ColumnRole, Form, FormCell, FormColumn, unambiguous};
use crate::table::shortened;

pub const SHEET: &str = "review";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Id,
    Key,
    Judged,
    Attempt,
    Decision,
    Note,
    Session,
}

impl Column {
    pub(super) const ALL: [Self; 7] = [
        Self::Id,
        Self::Key,
        Self::Judged,
        Self::Attempt,
        Self::Decision,
        Self::Note,
        Self::Session,
    ];

    pub(super) fn heading(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Key => "key",
            Self::Judged => "judged",
            Self::Attempt => "attempt",
            Self::Decision => "decision",
            Self::Note => "note",
            Self::Session => "session",
        }
    }
}

/// A sheet that is none of the queue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WrongColumns {
    #[error("it has no column {}; take the workbook that was exported", .0.join(", "))]
    Missing(Vec<&'static str>),
    #[error("it has two columns {0}; leave the one that counts")]
    Twice(&'static str),
}

/// Where the columns stand, in a sheet whose other columns do not matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Places([usize; Column::ALL.len()]);

impl Places {
    /// The places that this row of headings gives; none of a row that is no such row, as a title.
    pub fn find(row: &[String]) -> Option<Result<Self, WrongColumns>> {
        let headings: Vec<String> = row
            .iter()
            .map(|cell| single_spaced(cell).to_lowercase())
            .collect();
        let all = Column::ALL.map(|column| {
            let headings = headings.iter().enumerate();
            let found = headings.filter(|(_, heading)| *heading == column.heading());
            found.map(|(at, _)| at).collect::<Vec<_>>()
        });
        // A single word may stand in any row.
        (all.iter().filter(|found| !found.is_empty()).count() > 1).then(|| Self::of(&all))
    }

    fn of(all: &[Vec<usize>; Column::ALL.len()]) -> Result<Self, WrongColumns> {
        let named = || Column::ALL.iter().zip(all);
        let missing = named().filter(|(_, found)| found.is_empty());
        let missing: Vec<_> = missing.map(|(column, _)| column.heading()).collect();
        if !missing.is_empty() {
            return Err(WrongColumns::Missing(missing));
        }
        if let Some((column, _)) = named().find(|(_, found)| found.len() > 1) {
            return Err(WrongColumns::Twice(column.heading()));
        }
        Ok(Self(std::array::from_fn(|at| all[at][0])))
    }

    pub(super) fn text(self, row: &[String], column: Column) -> &str {
        row.get(self.0[column as usize])
            .map_or("", |text| text.trim())
    }
}

impl WrongColumns {
    pub fn all_missing() -> Self {
        Self::Missing(Column::ALL.map(Column::heading).to_vec())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filled {
    pub row: u32,
    pub id: String,
    pub key: String,
    pub judged: String,
    pub attempt: String,
    pub decision: String,
    pub note: String,
    pub session: String,
}

const MOST_BYTES: usize = 64 << 20;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotFilled {
    /// It is none of the queue.
    #[error(transparent)]
    Columns(#[from] WrongColumns),
    #[error("its ids, keys, decisions and notes are more than {MOST_BYTES} bytes")]
    TooLarge,
}

#[derive(Debug, Default)]
pub struct Filling {
    places: Option<Places>,
    bytes: usize,
    rows: Vec<Filled>,
}

impl Filling {
    pub fn take(&mut self, row: u32, cells: &[String]) -> Result<(), NotFilled> {
        let Some(places) = self.places else {
            self.places = Places::find(cells).transpose()?;
            return Ok(());
        };
        let text = |column| places.text(cells, column).to_owned();
        let decision = text(Column::Decision);
        let mut filled = Filled {
            row,
            id: text(Column::Id),
            session: text(Column::Session),
            decision,
            ..Filled::default()
        };
        if filled.decision.is_empty() {
            if filled.id.is_empty() {
                return Ok(());
            }
        } else {
            filled.key = text(Column::Key);
            filled.judged = text(Column::Judged);
            filled.attempt = text(Column::Attempt);
            filled.note = text(Column::Note);
        }
        self.bytes = self.bytes.saturating_add(filled.bytes());
        if self.bytes > MOST_BYTES {
            return Err(NotFilled::TooLarge);
        }
        self.rows.push(filled);
        Ok(())
    }

    pub fn finish(self) -> Result<Vec<Filled>, NotFilled> {
        match self.places {
            Some(_) => Ok(self.rows),
            None => Err(WrongColumns::all_missing().into()),
        }
    }
}

impl Filled {
    fn bytes(&self) -> usize {
        let texts = [
            &self.id,
            &self.key,
            &self.judged,
            &self.attempt,
            &self.decision,
            &self.note,
            &self.session,
        ];
        size_of::<Self>() + texts.map(String::len).iter().sum::<usize>()
    }
}

/// What fits, and what does not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fitting {
    pub rows: Vec<(Decided, QuestRecord)>,
    pub refused: Vec<Refused>,
    pub undecided: usize,
}

pub fn check(session: &Session, decisions: Decisions) -> Result<Fitting, SessionError> {
    // Before the queue, so that whatever happens between the two shows when they are settled.
    let mut standings = BTreeMap::new();
    for decided in &decisions.decided {
        if let Some(standing) = session.standing(decided.quest)? {
            standings.insert(decided.quest, standing);
        }
    }
    let queue = Queue::read(session)?;
    let waiting: BTreeMap<QuestId, &Waiting> = queue.all().map(|one| (one.id, one)).collect();
    let mut fitting = Fitting {
        rows: Vec::new(),
        refused: decisions.refused,
        undecided: decisions.undecided,
    };
    for decided in decisions.decided {
        let standing = standings.remove(&decided.quest);
        match fit(&decided, standing, waiting.get(&decided.quest).copied()) {
            Ok(standing) => fitting.rows.push((decided, standing)),
            Err(why) => fitting.refused.push(decided.refused(why)),
        }
    }
    fitting.refused.sort_by_key(|refused| refused.row);
    Ok(fitting)
}

fn fit(
    decided: &Decided,
    standing: Option<QuestRecord>,
    waiting: Option<&Waiting>,
) -> Result<QuestRecord, Why> {
    let quest = decided.quest;
    let Some(standing) = standing else {
        return Err(Why::UnknownQuest(quest));
    };
    let key = standing.key.as_str();
    if !is_same(key, &decided.key) {
        return Err(Why::OtherKey(quest, key.to_owned()));
    }
    let Some(waiting) = waiting else {
        return Err(match Effective::of(&standing) {
            settled @ (Effective::Accepted | Effective::Rejected) => Why::Settled(quest, settled),
            other if other.is_open() => Why::Forgotten(quest),
            other => Why::NotOpen(quest, other),
        });
    };
    if decided.attempt != waiting.attempt.to_string() {
        return Err(Why::OtherAttempt(quest, waiting.attempt));
    }
    if decided.judged != waiting.since.to_string() {
        return Err(Why::JudgedAgain(quest));
    }
    let settled = standing.settled.map(|settled| settled.line.offset);
    if decided.settled != settled.map(|line| line.to_string()).unwrap_or_default() {
        return Err(Why::SettledSince(quest));
    }
    Ok(standing)
}

/// Whether a cell holds `key` as far as a workbook can: cut, with other white space, and without
/// control characters that it cannot spell.
fn is_same(key: &str, cell: &str) -> bool {
    let key = shortened(key);
    let key = unambiguous(&key);
    key.split_whitespace().eq(cell.split_whitespace())
}

impl Decided {
    pub(super) fn refused(self, why: Why) -> Refused {
        Refused {
            row: self.row,
            id: self.quest.to_string(),
            key: self.key,
            why,
        }
    }
}

pub fn form(rows: &[OfficeRow], session: Digest) -> Form {
    let columns = columns(rows);
    let session = session.to_string();
    let cells = |row| {
        let cells = columns.iter().map(|column| column.cell(row, &session));
        cells.collect()
    };
    let rows = rows.iter().map(cells).collect();
    Form {
        sheet: SHEET,
        columns: columns.iter().map(Shows::column).collect(),
        rows,
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Shows {
    Own(Column),
    List(String),
    Field(String),
    Nothing,
    Rules,
    Facts,
    Excerpt,
    Doubts,
    Source,
}

/// All columns. Those that most rows cannot have stand there only where one has them.
fn columns(rows: &[OfficeRow]) -> Vec<Shows> {
    let mut shown: Vec<&String> = Vec::new();
    for (label, _) in rows.iter().flat_map(|row| &row.shown) {
        if !shown.contains(&label) {
            shown.push(label);
        }
    }
    let fields: BTreeSet<&String> = rows.iter().flat_map(|row| row.fields.keys()).collect();
    let mut columns = vec![Shows::Own(Column::Id), Shows::Own(Column::Key)];
    columns.extend(shown.into_iter().cloned().map(Shows::List));
    columns.extend(fields.into_iter().cloned().map(Shows::Field));
    if rows.iter().any(|row| !row.nothing.is_empty()) {
        columns.push(Shows::Nothing);
    }
    columns.extend([Shows::Source, Shows::Rules, Shows::Facts, Shows::Excerpt]);
    if rows.iter().any(|row| !row.doubts.is_empty()) {
        columns.push(Shows::Doubts);
    }
    let own = [Column::Decision, Column::Note, Column::Judged];
    columns.extend(own.map(Shows::Own));
    columns.extend([Column::Attempt, Column::Session].map(Shows::Own));
    columns
}

impl Shows {
    fn column(&self) -> FormColumn {
        let role = match self {
            Self::Own(Column::Decision) => ColumnRole::Choice(&WORDS),
            Self::Own(Column::Session) => ColumnRole::Hidden,
            _ => ColumnRole::Free,
        };
        FormColumn {
            heading: self.heading(),
            width: self.width(),
            role,
        }
    }

    /// What stands above it. What the list or the submission names is marked as theirs, so that
    /// nothing of theirs is taken for a column of the queue.
    fn heading(&self) -> String {
        match self {
            Self::Own(column) => column.heading().to_owned(),
            Self::List(label) => format!("list: {label}"),
            Self::Field(name) => format!("submitted: {name}"),
            Self::Nothing => "submitted: nothing, because".to_owned(),
            Self::Rules => "rules".to_owned(),
            Self::Facts => "facts".to_owned(),
            Self::Excerpt => "excerpt".to_owned(),
            Self::Doubts => "reviewers".to_owned(),
            Self::Source => "source".to_owned(),
        }
    }

    fn width(&self) -> u8 {
        match self {
            Self::Own(Column::Id) => 6,
            Self::Own(Column::Attempt) => 9,
            Self::Own(Column::Decision) => 11,
            Self::Own(Column::Key | Column::Judged) | Self::List(_) => 24,
            Self::Rules => 20,
            Self::Field(_) | Self::Nothing => 28,
            Self::Own(Column::Note) | Self::Source | Self::Doubts => 36,
            Self::Facts | Self::Excerpt => 52,
            Self::Own(Column::Session) => 64,
        }
    }

    fn cell(&self, row: &OfficeRow, session: &str) -> FormCell {
        let text = |text: Option<&String>| FormCell::text(text.map_or("", String::as_str));
        match self {
            Self::Own(Column::Id) => FormCell::number(row.id.index() as u64 + 1),
            Self::Own(Column::Key) => FormCell::text(row.key.as_str()),
            Self::Own(Column::Judged) => FormCell::text(row.since.to_string()),
            Self::Own(Column::Attempt) => FormCell::number(row.attempt),
            Self::Own(Column::Decision | Column::Note) => FormCell::text(""),
            Self::Own(Column::Session) => FormCell::text(bound(session, row.settled)),
            Self::List(label) => {
                let mut shown = row.shown.iter();
                text(shown.find(|(it, _)| it == label).map(|(_, text)| text))
            }
            Self::Field(name) => text(row.fields.get(name)),
            Self::Nothing => FormCell::text(&*row.nothing),
            Self::Rules => FormCell::text(&*row.rules),
            Self::Facts => FormCell::text(&*row.facts),
            Self::Excerpt => FormCell::text(&*row.excerpt),
            Self::Doubts => FormCell::text(&*row.doubts),
            Self::Source => {
                let link = row.source.clone().map(FormCell::Link);
                link.unwrap_or_else(|| FormCell::text(""))
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfficeRow {
    pub id: QuestId,
    pub key: Key,
    pub attempt: u32,
    pub since: Timestamp,
    pub settled: Option<u64>,
    /// What the list says beside the key: each heading once, in order.
    pub shown: Vec<(String, String)>,
    pub fields: BTreeMap<String, String>,
    pub nothing: String,
    pub rules: String,
    pub facts: String,
    pub excerpt: String,
    pub doubts: String,
    pub source: Option<Url>,
}

pub type Rows = Vec<OfficeRow>;

pub fn rows(session: &Session) -> Result<Rows, JudgeError> {
    let queue = Queue::read(session)?;
    let ids: BTreeSet<QuestId> = queue.all().map(|one| one.id).collect();
    let mut viewer = Viewer::new(session, &ids)?;
    let mut rows = Vec::new();
    for one in queue.all() {
        if let Some(standing) = session.standing(one.id)? {
            let settled = standing.settled.map(|settled| settled.line.offset);
            let item = viewer.item(&standing)?;
            rows.extend(item.as_ref().map(|item| OfficeRow {
                settled,
                ..OfficeRow::of(item)
            }));
        }
    }
    Ok(rows)
}

impl OfficeRow {
    pub fn of(item: &Item) -> Self {
        let (fields, nothing) = match &item.submission {
            Submission::Fields(fields) => {
                let fields = fields.iter();
                let fields = fields.map(|(name, text)| (name.as_str().to_owned(), text.clone()));
                (fields.collect(), String::new())
            }
            Submission::None(why) => (BTreeMap::new(), why.clone()),
        };
        Self {
            id: item.id,
            key: item.key.clone(),
            attempt: item.attempt,
            since: item.since,
            settled: None,
            shown: shown(&item.listed()),
            fields,
            nothing,
            rules: rules(&item.facts),
            facts: blocks(item.facts.iter().map(fact)),
            excerpt: excerpts(item),
            doubts: item.panel.as_ref().map(doubts).unwrap_or_default(),
            source: source(item),
        }
    }
}

/// What the list says; what stands under one heading twice, in two lines.
fn shown(cells: &[Shown]) -> Vec<(String, String)> {
    let mut shown: Vec<(String, String)> = Vec::new();
    for cell in cells {
        match shown.iter_mut().find(|(label, _)| *label == cell.label) {
            Some((_, text)) => {
                text.push('\n');
                text.push_str(&cell.text);
            }
            None => shown.push((cell.label.clone(), cell.text.clone())),
        }
    }
    shown
}

fn blocks(blocks: impl Iterator<Item = String>) -> String {
    blocks.collect::<Vec<_>>().join("\n\n")
}

fn rules(facts: &[SeenFact]) -> String {
    let mut rules: Vec<&str> = Vec::new();
    for seen in facts {
        if !rules.contains(&seen.fact.rule.as_str()) {
            rules.push(seen.fact.rule.as_str());
        }
    }
    rules.join(", ")
}

fn fact(seen: &SeenFact) -> String {
    let fact = &seen.fact;
    let place = fact.location.as_ref().map(|place| format!(" at {place}"));
    let times = if fact.count > 1 {
        format!(" ({} times)", fact.count)
    } else {
        String::new()
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
        return format!("what the gate saw is not shown: {damage}");
    }
    let mut texts: Vec<String> = Vec::new();
    for excerpt in item.facts.iter().filter_map(|seen| seen.excerpt.as_ref()) {
        let text = self::excerpt(excerpt);
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    blocks(texts.into_iter())
}

fn excerpt(excerpt: &Excerpt) -> String {
    let lines = excerpt.lines.iter().map(|line| {
        let mark = if line.found { '>' } else { ' ' };
        format!("{mark} {}", line.text)
    });
    let lines: Vec<String> = std::iter::once(format!("in {}", excerpt.of))
        .chain(lines)
        .collect();
    lines.join("\n")
}

/// What reviewers doubt, and what they ask: a line for each of their votes that says so.
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

/// Where it is to be looked at: the source that was submitted, else where a fact shows, else
/// another address that was submitted, else the first page that was asked for.
fn source(item: &Item) -> Option<Url> {
    let named = item.submission.field(SOURCE.as_str()).and_then(web);
    let locations = item
        .facts
        .iter()
        .filter_map(|seen| seen.fact.location.as_deref());
    let mut locations = locations.filter_map(web);
    let fields = match &item.submission {
        Submission::Fields(fields) => Some(fields.values()),
        Submission::None(_) => None,
    };
    let mut fields = fields.into_iter().flatten().filter_map(|text| web(text));
    named
        .or_else(|| locations.next())
        .or_else(|| fields.next())
        .or_else(|| item.pages.iter().find_map(|page| web(page.url.as_str())))
}

fn web(text: &str) -> Option<Url> {
    let url = Url::parse(text.trim()).ok()?;
    matches!(url.scheme(), "http" | "https").then_some(url)
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settled {
    pub rows: Vec<Decided>,
    pub refused: Vec<Refused>,
    pub undecided: usize,
}

struct Group {
    decision: Decision,
    note: String,
    rows: Vec<(Decided, QuestRecord)>,
}

pub fn settle_rows(
    session: &mut Session,
    fitting: Fitting,
    (by, key): (&str, Option<&SigningKey>),
    clock: &mut dyn Clock,
) -> Result<Settled, NotSettled> {
    let mut settled = Settled {
        rows: Vec::new(),
        refused: fitting.refused,
        undecided: fitting.undecided,
    };
    for Group {
        decision,
        note,
        mut rows,
    } in groups(fitting.rows)
    {
        let note = note.as_str();
        let person = Person { by, note, key };
        while !rows.is_empty() {
            let seen: Vec<&QuestRecord> = rows.iter().map(|(_, standing)| standing).collect();
            match settle_seen(session, &seen, decision, person, clock) {
                Ok(()) => settled.rows.extend(rows.drain(..).map(|(row, _)| row)),
                Err(NotSettled::Meanwhile(id)) => {
                    let moved = rows.extract_if(.., |(row, _)| row.quest == id);
                    let refused = moved.map(|(row, _)| row.refused(Why::Meanwhile(id)));
                    settled.refused.extend(refused);
                }
                Err(other) => return Err(other),
            }
        }
    }
    settled.rows.sort_by_key(|decided| decided.row);
    settled.refused.sort_by_key(|refused| refused.row);
    Ok(settled)
}

/// The rows by what they say, in the order in which each is said first.
fn groups(rows: Vec<(Decided, QuestRecord)>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut places = std::collections::BTreeMap::new();
    for (decided, standing) in rows {
        let said = (decided.decision.name(), decided.note.clone());
        let at = *places.entry(said).or_insert(groups.len());
        if at == groups.len() {
            groups.push(Group {
                decision: decided.decision,
                note: decided.note.clone(),
                rows: Vec::new(),
            });
        }
        groups[at].rows.push((decided, standing));
    }
    groups
}

/// The words that decide; an empty cell decides nothing.
pub(super) const WORDS: [&str; 2] = ["accept", "reject"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    pub row: u32,
    pub quest: QuestId,
    pub key: String,
    pub attempt: String,
    pub judged: String,
    /// Where the decision lies that was taken back before the row was made, as the row has it.
    pub settled: String,
    pub decision: Decision,
    pub note: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    pub row: u32,
    pub id: String,
    pub key: String,
    pub why: Why,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// The word is none that decides.
    #[error("{0:?} decides nothing: write {yes} or {no}, or leave it empty", yes = WORDS[0], no = WORDS[1])]
    UnknownWord(String),
    #[error("it is of another session")]
    OtherSession,
    #[error("{0:?} is no number of a quest")]
    NoId(String),
    #[error("quest {0} stands in row {other} too: leave one of them", other = .1)]
    Twice(QuestId, u32),
    /// It does not say why.
    #[error("it has no note: say what was looked at, and what it shows")]
    NoNote,
    #[error("there is no quest {0}")]
    UnknownQuest(QuestId),
    #[error("quest {0} has the key {1:?}, and the row another")]
    OtherKey(QuestId, String),
    #[error("quest {0} is settled already: it is {is}", is = .1.name())]
    Settled(QuestId, Effective),
    #[error("quest {0} is {is}: only an open REVIEW is settled", is = .1.name())]
    NotOpen(QuestId, Effective),
    #[error("quest {0} waits with its attempt {1}, and the row has another")]
    OtherAttempt(QuestId, u32),
    #[error("quest {0} was judged again since: look at it anew")]
    JudgedAgain(QuestId),
    #[error("quest {0} was settled and reopened since: look at it anew")]
    SettledSince(QuestId),
    #[error("the answer of quest {0} was forgotten: `comail review reject {0}` rejects it")]
    Forgotten(QuestId),
    #[error("something happened to quest {0} just now: look at it anew")]
    Meanwhile(QuestId),
}

impl Why {
    pub fn name(&self) -> &'static str {
        match self {
            Self::UnknownWord(_) => "unknown-word",
            Self::OtherSession => "other-session",
            Self::NoId(_) => "no-id",
            Self::Twice(..) => "twice",
            Self::NoNote => "no-note",
            Self::UnknownQuest(_) => "unknown-quest",
            Self::OtherKey(..) => "other-key",
            Self::Settled(..) => "settled",
            Self::NotOpen(..) => "not-open",
            Self::OtherAttempt(..) => "other-attempt",
            Self::JudgedAgain(_) => "judged-again",
            Self::SettledSince(_) => "settled-since",
            Self::Forgotten(_) => "forgotten",
            Self::Meanwhile(_) => "meanwhile",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Decisions {
    pub decided: Vec<Decided>,
    pub refused: Vec<Refused>,
    pub undecided: usize,
}

pub fn decisions(rows: Vec<Filled>, session: Digest) -> Decisions {
    let session = session.to_string();
    let mut places: BTreeMap<QuestId, Vec<u32>> = BTreeMap::new();
    for filled in rows.iter().filter(|filled| filled.is_of(&session)) {
        if let Ok(id) = filled.id.parse() {
            places.entry(id).or_default().push(filled.row);
        }
    }
    let mut decisions = Decisions::default();
    for filled in rows {
        if filled.decision.is_empty() {
            decisions.undecided += 1;
            continue;
        }
        match judged(&filled, &session, &places) {
            Ok((quest, decision)) => decisions.decided.push(Decided {
                row: filled.row,
                quest,
                key: filled.key,
                attempt: filled.attempt,
                settled: settled_of(&filled.session).to_owned(),
                judged: filled.judged,
                decision,
                note: filled.note,
            }),
            Err(why) => decisions.refused.push(Refused {
                row: filled.row,
                id: filled.id,
                key: filled.key,
                why,
            }),
        }
    }
    decisions
}

fn judged(
    filled: &Filled,
    session: &str,
    places: &BTreeMap<QuestId, Vec<u32>>,
) -> Result<(QuestId, Decision), Why> {
    if !filled.is_of(session) {
        return Err(Why::OtherSession);
    }
    let no_id = |_| Why::NoId(filled.id.clone());
    let quest: QuestId = filled.id.parse().map_err(no_id)?;
    let rows = places.get(&quest).map_or(&[][..], Vec::as_slice);
    if let Some(other) = rows.iter().find(|row| **row != filled.row) {
        return Err(Why::Twice(quest, *other));
    }
    let word = single_spaced(&filled.decision).to_lowercase();
    let decision = match WORDS.iter().position(|it| *it == word) {
        Some(0) => Decision::Accepted,
        Some(_) => Decision::Rejected,
        None => return Err(Why::UnknownWord(filled.decision.clone())),
    };
    if filled.note.is_empty() {
        return Err(Why::NoNote);
    }
    Ok((quest, decision))
}

impl Filled {
    fn is_of(&self, session: &str) -> bool {
        let own = self.session.split(BEHIND).next();
        own.is_some_and(|own| own.eq_ignore_ascii_case(session))
    }
}

const BEHIND: char = '@';

/// What a row is bound to: the session and, where a decision was taken back, that one.
pub(super) fn bound(session: &str, settled: Option<u64>) -> String {
    match settled {
        None => session.to_owned(),
        Some(line) => format!("{session}{BEHIND}{line}"),
    }
}

fn settled_of(bound: &str) -> &str {
    bound.split_once(BEHIND).map_or("", |(_, settled)| settled)
}

#[cfg(test)]
mod tests_columns {
    use super::*;

    fn row(cells: &[&str]) -> Vec<String> {
        cells.iter().map(|cell| (*cell).to_owned()).collect()
    }

    #[test]
    fn headings_are_found_wherever_they_stand_and_however_they_are_spelled() {
        let headings = row(&[
            "NOTE ", "who", "Decision", "ＩＤ", " key", "Attempt", "session", "judged",
        ]);
        let places = Places::find(&headings).unwrap().unwrap();
        let cells = row(&["n", "w", " accept ", "3", "k", "1"]);
        let texts = Column::ALL.map(|column| places.text(&cells, column));
        assert_eq!(texts, ["3", "k", "", "1", "accept", "n", ""]);
    }

    #[test]
    fn what_is_no_row_of_headings_is_passed_over_or_refused() {
        assert_eq!(Places::find(&row(&["Decision", "of May"])), None);
        assert_eq!(Places::find(&[]), None);
        let missing = Places::find(&row(&["id", "key", "judged", "note", "decision"]));
        let expected = WrongColumns::Missing(vec!["attempt", "session"]);
        assert_eq!(missing, Some(Err(expected)));
        let mut twice = row(&Column::ALL.map(Column::heading));
        twice.push("Note".to_owned());
        assert_eq!(Places::find(&twice), Some(Err(WrongColumns::Twice("note"))));
    }
}

#[cfg(test)]
mod tests_filled {
    use super::*;

    fn row(cells: &[&str]) -> Vec<String> {
        cells.iter().map(|cell| (*cell).to_owned()).collect()
    }

    fn headed() -> Filling {
        let mut filling = Filling::default();
        let headings = row(&Column::ALL.map(Column::heading));
        filling.take(1, &row(&["a title"])).unwrap();
        filling.take(2, &headings).unwrap();
        filling
    }

    #[test]
    fn rows_that_neither_name_a_quest_nor_decide_are_passed_over() {
        let mut filling = headed();
        filling.take(3, &row(&["", "total", "3"])).unwrap();
        filling.take(4, &row(&["", "", "", "", "accept"])).unwrap();
        filling.take(5, &row(&["1"])).unwrap();
        let rows = filling.finish().unwrap();
        let rows: Vec<u32> = rows.iter().map(|filled| filled.row).collect();
        assert_eq!(rows, [4, 5]);
    }

    #[test]
    fn more_than_any_queue_is_refused() {
        let mut filling = headed();
        let note = "n".repeat(1 << 20);
        let decided = row(&["1", "k", "", "1", "accept", &note]);
        let taken = (3..)
            .take(64)
            .find_map(|at| filling.take(at, &decided).err());
        assert_eq!(taken, Some(NotFilled::TooLarge));
    }

    #[test]
    fn a_sheet_without_headings_is_refused() {
        let missing = Filling::default().finish();
        let expected = NotFilled::Columns(WrongColumns::all_missing());
        assert_eq!(missing, Err(expected));
    }
}

#[cfg(test)]
mod tests_fit {
    use super::*;
    use crate::quest::{Key, Quest};
    use crate::session::{Decision, Progress, Span, State};

    const JUDGED: &str = "2026-01-02T03:04:05.678Z";

    fn standing(state: State, key: &str) -> QuestRecord {
        let quest = Quest {
            id: QuestId::FIRST,
            key: Key::new(key).unwrap(),
            anchor: None,
            shown: Vec::new(),
            known: Vec::new(),
            after: Vec::new(),
            rows: vec![2],
        };
        let line = Span {
            offset: 0,
            length: 1,
        };
        let progress = Progress { state, tries: 1 };
        QuestRecord {
            progress,
            attempts: 2,
            ..QuestRecord::new(&quest, line)
        }
    }

    fn waiting(key: &str) -> Waiting {
        Waiting {
            id: QuestId::FIRST,
            key: Key::new(key).unwrap(),
            attempt: 2,
            effective: Effective::Open,
            since: JUDGED.parse().unwrap(),
            rules: Vec::new(),
        }
    }

    fn decided(key: &str) -> Decided {
        Decided {
            row: 2,
            quest: QuestId::FIRST,
            key: key.to_owned(),
            attempt: "2".to_owned(),
            judged: JUDGED.to_owned(),
            settled: String::new(),
            decision: Decision::Accepted,
            note: "called".to_owned(),
        }
    }

    fn why(decided: &Decided, state: State) -> &'static str {
        let waiting = (state == State::Review).then(|| waiting("Acme Foods"));
        let fit = fit(
            decided,
            Some(standing(state, "Acme Foods")),
            waiting.as_ref(),
        );
        fit.err().map_or("fits", |why| why.name())
    }

    #[test]
    fn a_row_fits_the_attempt_that_it_was_made_of_alone() {
        let row = decided("Acme Foods");
        assert_eq!(why(&row, State::Review), "fits");
        assert_eq!(why(&row, State::Pass), "not-open");
        assert_eq!(why(&row, State::Todo), "not-open");
        assert_eq!(why(&decided("Acme"), State::Review), "other-key");
        for attempt in ["1", "", "2.0"] {
            let row = Decided {
                attempt: attempt.to_owned(),
                ..row.clone()
            };
            assert_eq!(why(&row, State::Review), "other-attempt", "{attempt}");
        }
        let row = Decided {
            judged: "2026-01-02T03:04:05Z".to_owned(),
            ..row
        };
        assert_eq!(why(&row, State::Review), "judged-again");
        assert_eq!(
            fit(&row, None, None),
            Err(Why::UnknownQuest(QuestId::FIRST))
        );
    }

    #[test]
    fn a_key_is_the_same_as_far_as_a_sheet_holds_it() {
        assert!(is_same("a  b\r\nc", "a b\nc "));
        assert!(!is_same("ACME", "Acme"));
        let long = "k".repeat(40_000);
        assert!(is_same(&long, &shortened(&long)));
        assert!(is_same("_x\0a", "_x a"));
        assert!(!is_same("x\0a", "x a"));
        assert!(!is_same(&long, &"k".repeat(32_767)));
    }
}

#[cfg(test)]
mod tests_decided {
    use super::*;

    fn filled(row: u32, id: &str, decision: &str) -> Filled {
        Filled {
            row,
            id: id.to_owned(),
            decision: decision.to_owned(),
            note: "called".to_owned(),
            session: Digest::of(b"session").to_string(),
            ..Filled::default()
        }
    }

    fn read(rows: Vec<Filled>) -> Decisions {
        decisions(rows, Digest::of(b"session"))
    }

    fn names(decisions: &Decisions) -> Vec<(u32, &'static str)> {
        let refused = decisions.refused.iter();
        refused.map(|it| (it.row, it.why.name())).collect()
    }

    #[test]
    fn words_decide_however_they_are_spelled() {
        let words = ["accept", "ACCEPT", "Reject", "ａｃｃｅｐｔ"];
        let rows = (2..).zip(words);
        let rows = rows.map(|(row, word)| filled(row, &row.to_string(), word));
        let read = read(rows.collect());
        let found: Vec<Decision> = read.decided.iter().map(|it| it.decision).collect();
        let [yes, no] = [Decision::Accepted, Decision::Rejected];
        assert_eq!(found, [yes, yes, no, yes]);
        assert!(read.refused.is_empty());
    }

    #[test]
    fn an_empty_decision_is_none_and_no_row_is_refused_for_it() {
        let mut blank = filled(2, "1", "");
        blank.note.clear();
        let read = read(vec![blank, filled(3, "x", "")]);
        assert_eq!((read.undecided, names(&read)), (2, vec![]));
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        let other = Filled {
            session: Digest::of(b"other").to_string(),
            ..filled(2, "1", "accept")
        };
        let silent = Filled {
            note: String::new(),
            ..filled(3, "2", "accept")
        };
        let read = read(vec![
            other,
            silent,
            filled(4, "0", "accept"),
            filled(5, "=3", "accept"),
            filled(6, "4", "yes"),
            filled(7, "1", "reject"),
        ]);
        let expected = [
            (2, "other-session"),
            (3, "no-note"),
            (4, "no-id"),
            (5, "no-id"),
            (6, "unknown-word"),
        ];
        assert_eq!(names(&read), expected);
        assert_eq!(
            read.decided.len(),
            1,
            "the other session's row is no second one"
        );
    }

    #[test]
    fn a_quest_in_two_rows_is_settled_by_neither() {
        let read = read(vec![
            filled(2, "1", "accept"),
            filled(5, "1", "accept"),
            filled(3, "2", "reject"),
            filled(4, "2", ""),
        ]);
        assert_eq!(names(&read), [(2, "twice"), (5, "twice"), (3, "twice")]);
        let text = read.refused[0].why.to_string();
        assert_eq!(text, "quest 1 stands in row 5 too: leave one of them");
    }
}
