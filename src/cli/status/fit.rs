//! Fits the status into a screen, the most important parts first.

use std::path::Path;

use super::text;
use super::text::{Part, Sheet};
use crate::cli::output::Paper;
use crate::cli::terminal::lines;
use crate::cli::terminal::{Frame, Line, Size};
use crate::report::Status;

/// The order in which parts get room on a small screen.
const BY_RANK: [Part; 13] = [
    Part::Head,
    Part::Bar,
    Part::States,
    Part::Paused,
    Part::Pace,
    Part::Reviews,
    Part::Runs,
    Part::Claims,
    Part::Blocked,
    Part::People,
    Part::Tries,
    Part::Rules,
    Part::Ledger,
];

/// If one of these does not fit, the parts before it are shortened.
const WANTED: [Part; 4] = [Part::States, Part::Paused, Part::Pace, Part::Reviews];

const KEYS: &str = "q quits";

/// The hint when parts are left out.
const KEYS_BELOW_SOME: [&str; 2] = ["… more on a taller screen; q quits", "… more; q quits"];

const ROOMY: usize = 4;

/// What a screen of this size shows of a session that `--session` named or not, written on papers
/// like `paper`.
pub(super) fn frame(
    status: &Status,
    session: Option<&Path>,
    size: Size,
    paper: &dyn Fn() -> Paper,
) -> Frame {
    let room = if size.rows < ROOMY {
        size.rows
    } else {
        size.rows - 1
    };
    let sheet = Sheet {
        columns: size.columns,
        session,
    };
    let chosen = fitting(status, sheet, room, paper);
    let is_all = chosen.iter().all(|shown| shown.is_all);
    let mut rows: Vec<Line> = chosen.into_iter().flat_map(|shown| shown.rows).collect();
    rows.resize(room, Line::default());
    if size.rows >= ROOMY {
        rows.push(keys(is_all, size.columns));
    }
    let rows = rows.iter().map(|line| line.clipped(size.columns));
    Frame {
        rows: rows.collect(),
        cursor: None,
    }
}

fn keys(is_all: bool, columns: usize) -> Line {
    let [long, short] = KEYS_BELOW_SOME.map(Line::plain);
    match is_all {
        true => Line::plain(KEYS),
        false if long.width() <= columns => long,
        false => short,
    }
}

struct Shown {
    part: Part,
    rows: Vec<Line>,
    is_all: bool,
}

fn fitting(
    status: &Status,
    sheet: Sheet<'_>,
    room: usize,
    paper: &dyn Fn() -> Paper,
) -> Vec<Shown> {
    let written = |part: Part| {
        let mut paper = paper();
        part.write(&mut paper, status, sheet);
        lines(&paper)
    };
    let mut chosen = chosen(&written, sheet.columns, room);
    if chosen
        .iter()
        .any(|it| WANTED.contains(&it.part) && !it.is_all)
    {
        let in_short = |part: Part| match part {
            Part::Head => first_clipped(&written(part), sheet.columns),
            Part::States => {
                let mut paper = paper();
                text::short(&mut paper, &status.overview);
                lines(&paper)
            }
            _ => written(part),
        };
        chosen = self::chosen(&in_short, sheet.columns, room);
        // A shortened part does not count as complete.
        for shown in &mut chosen {
            shown.is_all &= shown.part != Part::States;
        }
    }
    let place = |part: Part| Part::ALL.iter().position(|other| *other == part);
    chosen.sort_by_key(|shown| place(shown.part));
    chosen
}

fn chosen(written: &dyn Fn(Part) -> Vec<Line>, columns: usize, room: usize) -> Vec<Shown> {
    let mut left = room;
    let shown = BY_RANK.map(|part| {
        let lines = written(part);
        let mut rows: Vec<Line> = lines.iter().flat_map(|it| it.wrapped(columns)).collect();
        let is_all = rows.len() <= left;
        if !is_all {
            rows = lessened(part, rows, left, columns);
        }
        left -= rows.len();
        Shown { part, rows, is_all }
    });
    shown.into()
}

/// The beginning of a part that does not fit, in at most `left` rows.
fn lessened(part: Part, mut rows: Vec<Line>, left: usize, columns: usize) -> Vec<Line> {
    const A_HEADING_AND_ONE: usize = 2;
    let least = match part {
        Part::Claims | Part::Rules | Part::Blocked => A_HEADING_AND_ONE,
        // A part of a hash is useless.
        Part::States | Part::Ledger => usize::MAX,
        _ => 1,
    };
    if left < least {
        return Vec::new();
    }
    rows.truncate(left);
    if let Some(last) = rows.last_mut() {
        *last = last.broken_off(columns);
    }
    rows
}

/// The first line, cut to the width.
fn first_clipped(lines: &[Line], columns: usize) -> Vec<Line> {
    let first = lines.first().map(|line| line.clipped(columns));
    first.into_iter().collect()
}

#[cfg(test)]
mod tests;
