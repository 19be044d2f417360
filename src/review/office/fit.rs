//! Whether what was decided still fits what the session holds.

use std::collections::BTreeMap;

use super::decided::{Decided, Decisions, Refused, Why};
use crate::quest::QuestId;
use crate::review::{Queue, Waiting};
use crate::session::{Effective, Session, SessionError, Standing, Store as _};
use crate::table::shortened;

/// What fits, and what does not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fitting {
    /// Rows that fit, each with where its quest stood when it was looked at.
    pub rows: Vec<(Decided, Standing)>,
    /// Rows that settle nothing, in order.
    pub refused: Vec<Refused>,
    /// How many rows decide nothing.
    pub undecided: usize,
}

/// Holds all rows against `session`.
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
    standing: Option<Standing>,
    waiting: Option<&Waiting>,
) -> Result<Standing, Why> {
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

/// Whether a cell holds `key`, as far as a sheet can: cut, and with other white space.
fn is_same(key: &str, cell: &str) -> bool {
    let key = shortened(key);
    key.split_whitespace().eq(cell.split_whitespace())
}

impl Decided {
    /// The row, refused.
    pub(super) fn refused(self, why: Why) -> Refused {
        Refused {
            row: self.row,
            id: self.quest.to_string(),
            key: self.key,
            why,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quest::{Key, Quest};
    use crate::session::{Decision, Progress, Span, State};

    const JUDGED: &str = "2026-01-02T03:04:05.678Z";

    fn standing(state: State, key: &str) -> Standing {
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
        Standing {
            progress,
            attempts: 2,
            ..Standing::new(&quest, line)
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
        assert!(!is_same(&long, &"k".repeat(32_767)));
    }
}
