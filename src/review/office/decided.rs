//! What rows decide, as far as the rows themselves tell.

use std::collections::BTreeMap;

use super::filled::Filled;
use crate::base::Digest;
use crate::base::text::single_spaced;
use crate::quest::QuestId;
use crate::session::{Decision, Effective};

/// The words that decide; an empty cell decides nothing.
pub(super) const WORDS: [&str; 2] = ["accept", "reject"];

/// A row that decides something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// Its number, as the sheet shows it.
    pub row: u32,
    /// The quest.
    pub quest: QuestId,
    /// Its key, as the row has it.
    pub key: String,
    /// The attempt, as the row has it.
    pub attempt: String,
    /// When that was judged, as the row has it.
    pub judged: String,
    /// Where the decision lies that was taken back before the row was made, as the row has it.
    pub settled: String,
    /// What is decided.
    pub decision: Decision,
    /// Why.
    pub note: String,
}

/// A row that settles nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Its number, as the sheet shows it.
    pub row: u32,
    /// The quest, as the row has it.
    pub id: String,
    /// Its key, as the row has it.
    pub key: String,
    /// Why.
    pub why: Why,
}

/// Why a row settles nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// The word is none that decides.
    #[error("{0:?} decides nothing: write {yes} or {no}, or leave it empty", yes = WORDS[0], no = WORDS[1])]
    UnknownWord(String),
    /// It is of another session.
    #[error("it is of another session")]
    OtherSession,
    /// Its id is no number of a quest.
    #[error("{0:?} is no number of a quest")]
    NoId(String),
    /// The quest stands in several rows.
    #[error("quest {0} stands in row {other} too: leave one of them", other = .1)]
    Twice(QuestId, u32),
    /// It does not say why.
    #[error("it has no note: say what was looked at, and what it shows")]
    NoNote,
    /// There is no such quest.
    #[error("there is no quest {0}")]
    UnknownQuest(QuestId),
    /// The quest has another key.
    #[error("quest {0} has the key {1:?}, and the row another")]
    OtherKey(QuestId, String),
    /// It was settled already.
    #[error("quest {0} is settled already: it is {is}", is = .1.name())]
    Settled(QuestId, Effective),
    /// It is no REVIEW that waits for a person.
    #[error("quest {0} is {is}: only an open REVIEW is settled", is = .1.name())]
    NotOpen(QuestId, Effective),
    /// Another attempt is to be settled.
    #[error("quest {0} waits with its attempt {1}, and the row has another")]
    OtherAttempt(QuestId, u32),
    /// It was judged again.
    #[error("quest {0} was judged again since: look at it anew")]
    JudgedAgain(QuestId),
    /// A decision was made and taken back.
    #[error("quest {0} was settled and reopened since: look at it anew")]
    SettledSince(QuestId),
    /// What was answered was blotted out.
    #[error("the answer of quest {0} was forgotten: `comail review reject {0}` rejects it")]
    Forgotten(QuestId),
    /// Something happened to it while the rows were settled.
    #[error("something happened to quest {0} just now: look at it anew")]
    Meanwhile(QuestId),
}

impl Why {
    /// Its name, as JSON spells it.
    #[must_use]
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

/// What the rows of a sheet decide.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Decisions {
    /// Those that decide something, in order.
    pub decided: Vec<Decided>,
    /// Those that settle nothing, in order.
    pub refused: Vec<Refused>,
    /// How many decide nothing.
    pub undecided: usize,
}

/// What these rows decide, for the session whose `session.json` has this digest.
#[must_use]
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

/// What stands between the session and the decision that was taken back, in one cell.
const BEHIND: char = '@';

/// What a row is bound to: the session and, where a decision was taken back, that one.
pub(super) fn bound(session: &str, settled: Option<u64>) -> String {
    match settled {
        None => session.to_owned(),
        Some(line) => format!("{session}{BEHIND}{line}"),
    }
}

/// The decision that was taken back, as a row has it.
fn settled_of(bound: &str) -> &str {
    bound.split_once(BEHIND).map_or("", |(_, settled)| settled)
}

#[cfg(test)]
mod tests {
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
