//! How much of its quests a page has room for, taken together.
//!
//! Each piece of a row has a bound of its own; thousands of rows at their bounds are more than
//! anybody can open.

use super::facts::{bytes, leave_out};
use crate::report::picture::{ExcerptRow, Labelled, QuestRow};

/// The most bytes that the facts of earlier submissions have in all.
const EARLIER: usize = 8 << 20;

/// The most bytes that cells, facts and excerpts have in all, as texts.
const DETAILS: usize = 48 << 20;

/// Said in place of what there is no room for.
const ENOUGH: &str = "it is left out here, for enough is shown of other quests";

/// The bytes that are left.
#[derive(Debug)]
pub(super) struct Room {
    earlier: usize,
    details: usize,
}

impl Room {
    /// All of it.
    #[must_use]
    pub(super) const fn new() -> Self {
        Self {
            earlier: EARLIER,
            details: DETAILS,
        }
    }

    /// Leaves out of `row` what there is no room for: of its history the oldest facts first, then
    /// its cells, its facts and what the gate saw.
    pub(super) fn fit(&mut self, row: &mut QuestRow) {
        for step in row.history.iter_mut().rev() {
            if !took(&mut self.earlier, bytes(&step.facts)) {
                leave_out(&mut step.facts);
            }
        }
        if !took(&mut self.details, cells(&row.shown)) {
            row.shown = vec![Labelled {
                label: "…".to_owned(),
                text: ENOUGH.to_owned(),
            }];
        }
        if !took(&mut self.details, bytes(&row.facts)) {
            leave_out(&mut row.facts);
        }
        if !took(&mut self.details, lines(&row.excerpts)) {
            row.excerpts.clear();
            row.damage.get_or_insert_with(|| ENOUGH.to_owned());
        }
    }
}

/// Takes so many bytes of what is left, if there are as many.
fn took(left: &mut usize, bytes: usize) -> bool {
    let rest = left.checked_sub(bytes);
    *left = rest.unwrap_or(*left);
    rest.is_some()
}

fn cells(cells: &[Labelled]) -> usize {
    let both = |cell: &Labelled| cell.label.len() + cell.text.len();
    cells.iter().map(both).sum()
}

fn lines(excerpts: &[ExcerptRow]) -> usize {
    let pieces = excerpts.iter().flat_map(|it| it.lines.iter().flatten());
    pieces.map(|piece| piece.text.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quest::Key;
    use crate::report::draw::bench::{at, id};
    use crate::report::picture::{FactRow, FactRows, Piece, Step};
    use crate::session::{Effective, State};

    fn facts() -> FactRows {
        let fact = FactRow {
            rule: "some-rule".to_owned(),
            fails: true,
            field: None,
            place: None,
            expected: "this".to_owned(),
            actual: "that".to_owned(),
        };
        FactRows {
            shown: vec![fact],
            left_out: 2,
        }
    }

    fn row() -> QuestRow {
        let step = |second| Step {
            at: at(second),
            what: "FAIL".to_owned(),
            by: None,
            notes: Vec::new(),
            facts: facts(),
        };
        let piece = Piece {
            text: "seen".to_owned(),
            marked: false,
        };
        QuestRow {
            id: id(1),
            key: Key::new("Acme").unwrap(),
            state: State::Done,
            effective: Effective::Done,
            disputed: false,
            tries: 2,
            last: None,
            took: None,
            worker: None,
            answer: Vec::new(),
            worth: None,
            shown: vec![Labelled {
                label: "city".to_owned(),
                text: "Seoul".to_owned(),
            }],
            facts: facts(),
            again: false,
            fired: Vec::new(),
            excerpts: vec![ExcerptRow {
                of: "https://acme.example/".to_owned(),
                first: 1,
                lines: vec![vec![piece]],
            }],
            history: vec![step(1), step(2)],
            damage: None,
        }
    }

    #[test]
    fn what_there_is_room_for_stays() {
        let (mut row, whole) = (row(), row());
        let mut room = Room::new();
        room.fit(&mut row);
        assert_eq!(row, whole);
        assert_eq!(room.earlier, EARLIER - 2 * bytes(&facts()));
        assert_eq!(room.details, DETAILS - 9 - bytes(&facts()) - 4);
    }

    #[test]
    fn of_the_history_the_oldest_facts_go_first() {
        let mut row = row();
        let mut room = Room {
            earlier: bytes(&facts()) + 9,
            details: DETAILS,
        };
        room.fit(&mut row);
        let left_out = row.history.iter().map(|step| step.facts.left_out);
        assert_eq!(
            (left_out.collect::<Vec<_>>(), room.earlier),
            (vec![3, 2], 9)
        );
    }

    #[test]
    fn what_there_is_no_room_for_is_said() {
        let mut row = row();
        let mut room = Room {
            earlier: EARLIER,
            details: 8,
        };
        room.fit(&mut row);
        assert_eq!(row.shown[0].text, ENOUGH);
        assert_eq!((row.facts.shown.len(), row.facts.left_out), (0, 3));
        // Four bytes of an excerpt still have room.
        assert_eq!((row.excerpts.len(), row.damage.as_deref()), (1, None));
        room.details = 3;
        room.fit(&mut row);
        assert_eq!(
            (row.excerpts.len(), row.damage.as_deref()),
            (0, Some(ENOUGH))
        );
    }
}
