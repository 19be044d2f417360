//! A REVIEW as the office reads it: everything as text.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::Value;
use url::Url;

use crate::judge::JudgeError;
use crate::quest::email::SOURCE;
use crate::quest::{Key, QuestId, Shown, Submission};
use crate::review::{Excerpt, Item, Queue, SeenFact, Viewer};
use crate::session::{Session, Store as _};

/// A REVIEW as the office reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfficeRow {
    /// The quest.
    pub id: QuestId,
    /// Its key.
    pub key: Key,
    /// The attempt that is to be settled.
    pub attempt: u32,
    /// When it was judged last.
    pub since: Timestamp,
    /// Where the decision lies that was taken back, where one was.
    pub settled: Option<u64>,
    /// What the list says beside the key: each heading once, in order.
    pub shown: Vec<(String, String)>,
    /// What was submitted, by field.
    pub fields: BTreeMap<String, String>,
    /// Why nothing was found, where that was submitted.
    pub nothing: String,
    /// The rules that fired.
    pub rules: String,
    /// What fired, one block for each fact.
    pub facts: String,
    /// The lines that the facts are about.
    pub excerpt: String,
    /// What reviewers doubt.
    pub doubts: String,
    /// Where it is to be looked at.
    pub source: Option<Url>,
}

/// Every open REVIEW in the order of the queue.
pub type Rows = Vec<OfficeRow>;

/// The rows of the queue of `session`.
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
    /// The row of an item.
    #[must_use]
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

/// The excerpts of all facts, each once.
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
