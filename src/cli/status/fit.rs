//! As much of what `status` shows as a screen has room for, the most important first.

use super::states;
use super::text::Part;
use crate::cli::output::Paper;
use crate::cli::terminal::lines;
use crate::report::Status;
use crate::report::screen::{Frame, Line, Size};

/// What is shown first where not all of it can be.
const BY_RANK: [Part; 13] = [
    Part::Head,
    Part::Bar,
    Part::States,
    Part::Paused,
    Part::Pace,
    Part::Runs,
    Part::Claims,
    Part::Reviews,
    Part::Blocked,
    Part::People,
    Part::Tries,
    Part::Rules,
    Part::Ledger,
];

/// What says how to leave.
const KEYS: &str = "q quits";

/// From how many rows on there is one for the keys.
const ROOMY: usize = 4;

/// What a screen of this size shows, written on papers like `paper`.
pub(super) fn frame(status: &Status, size: Size, paper: &dyn Fn() -> Paper) -> Frame {
    let room = if size.rows < ROOMY {
        size.rows
    } else {
        size.rows - 1
    };
    let mut rows = fitting(status, size.columns, room, paper);
    rows.resize(room, Line::default());
    if size.rows >= ROOMY {
        rows.push(Line::plain(KEYS));
    }
    let rows = rows.iter().map(|line| line.clipped(size.columns));
    Frame {
        rows: rows.collect(),
        cursor: None,
    }
}

/// As many lines as there is room for.
fn fitting(status: &Status, columns: usize, room: usize, paper: &dyn Fn() -> Paper) -> Vec<Line> {
    let written = |part: Part| {
        let mut paper = paper();
        part.write(&mut paper, status, columns);
        lines(&paper)
    };
    let mut left = room;
    let mut chosen: Vec<(Part, Vec<Line>)> = Vec::new();
    for part in BY_RANK {
        let mut lines = written(part);
        if lines.len() > left {
            lines = lessened(part, lines, left, status, paper);
        }
        left -= lines.len();
        chosen.push((part, lines));
    }
    let place = |part: Part| Part::ALL.iter().position(|other| *other == part);
    chosen.sort_by_key(|(part, _)| place(*part));
    chosen.into_iter().flat_map(|(_, lines)| lines).collect()
}

/// What is shown of a part that has no room, in `left` lines at most.
fn lessened(
    part: Part,
    mut lines: Vec<Line>,
    left: usize,
    status: &Status,
    paper: &dyn Fn() -> Paper,
) -> Vec<Line> {
    const A_HEADING_AND_ONE: usize = 2;
    match part {
        Part::States if left > 0 => {
            let mut paper = paper();
            states::short(&mut paper, &status.overview);
            self::lines(&paper)
        }
        Part::Claims | Part::Rules | Part::Runs | Part::Blocked if left >= A_HEADING_AND_ONE => {
            lines.truncate(left);
            lines
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
