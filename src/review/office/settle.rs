//! Settling the rows that fit.

use crate::base::clock::Clock;

use super::decided::{Decided, Refused, Why};
use super::fit::Fitting;
use crate::review::settle::settle_seen;
use crate::review::{NotSettled, Person};
use crate::session::{Decision, Session, SigningKey, Standing};

/// What became of the rows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settled {
    /// Rows that were settled.
    pub rows: Vec<Decided>,
    /// Rows that settle nothing, in order.
    pub refused: Vec<Refused>,
    /// How many rows decide nothing.
    pub undecided: usize,
}

/// Rows of one decision and one note.
struct Group {
    decision: Decision,
    note: String,
    rows: Vec<(Decided, Standing)>,
}

/// Settles what fits, each decision with its note at once. What changes meanwhile is refused.
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
            let seen: Vec<&Standing> = rows.iter().map(|(_, standing)| standing).collect();
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
fn groups(rows: Vec<(Decided, Standing)>) -> Vec<Group> {
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
