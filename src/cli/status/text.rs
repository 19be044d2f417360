//! The status as text: on a terminal, in a file, and on a screen of any size.

use std::path::Path;

use ratatui::text::Line;
use serde::Serialize;

use crate::cli::next;
use crate::cli::output::TextOutput;
use crate::cli::screen::{View, clip, line, lines, wrap};
use crate::cli::shell_line::ShellLine;
use crate::cli::terminal::Size;
use crate::report::{Overview, Pace, Status};
use crate::session::{Effective, State};

/// With fewer rows, a screen has no row for the keys.
const ROOMY: usize = 4;

const KEYS: &str = "q quits";

/// The same, if something is left out.
const KEYS_BELOW_SOME: &str = "… more; q quits";

const MAX_BAR: usize = 60;

const BRACKETS: usize = 2;

/// Writes the whole status; `session` is the value of `--session`, which suggested commands repeat.
pub(super) fn write(out: &mut TextOutput, status: &Status, session: Option<&Path>, columns: usize) {
    progress(out, status, session, (columns, false));
    details(out, status);
}

pub(super) fn view(
    status: &Status,
    session: Option<&Path>,
    Size { columns, rows }: Size,
    out: &dyn Fn() -> TextOutput,
) -> View {
    let has_keys = rows >= ROOMY;
    let room = rows - usize::from(has_keys);
    let written = |write: &dyn Fn(&mut TextOutput)| {
        let mut out = out();
        write(&mut out);
        lines(&out)
    };
    let mut lines = written(&|out| progress(out, status, session, (columns, false)));
    let wrapped = lines.iter().map(|line| wrap(line, columns).len());
    let is_short = wrapped.sum::<usize>() > room;
    if is_short {
        lines = written(&|out| progress(out, status, session, (columns, true)));
        lines[0] = clip(&lines[0], columns);
    }
    lines.extend(written(&|out| details(out, status)));
    let mut shown = Vec::with_capacity(rows);
    let mut is_all = !is_short;
    for line in &lines {
        let is_cut = shown.len() < room;
        shown.extend(wrap(line, columns));
        if shown.len() > room {
            is_all = false;
            shown.truncate(room);
            if let Some(last) = shown.last_mut().filter(|_| is_cut) {
                last.push_span("…");
            }
            break;
        }
    }
    shown.resize(room, Line::default());
    if has_keys {
        shown.push(line(if is_all { KEYS } else { KEYS_BELOW_SOME }));
    }
    let rows = shown.iter().map(|row| clip(row, columns));
    View {
        rows: rows.collect(),
        cursor: None,
    }
}

/// Writes the most important part; `short` uses fewer rows.
fn progress(
    out: &mut TextOutput,
    status: &Status,
    session: Option<&Path>,
    (columns, short): (usize, bool),
) {
    let overview = &status.overview;
    let values = minijinja::context! {
        status,
        short,
        states => rows(overview, columns),
        paused => next::paused(overview.streak, session),
        rate => status.pace.map(rate),
        open => of(overview, Effective::Open),
        review => ShellLine::comail("review", session).text(),
        list => ShellLine::comail("list --state done", session).text(),
    };
    out.template(include_str!("../text/status_progress.txt"), values);
}

fn details(out: &mut TextOutput, status: &Status) {
    let details = include_str!("../text/status_details.txt");
    out.template(details, minijinja::context! { status });
}

#[derive(Debug, Serialize)]
struct StateRow {
    state: State,
    sign: char,
    tone: &'static str,
    count: u32,
    share: f64,
    bar: String,
    notes: Vec<String>,
}

fn rows(overview: &Overview, columns: usize) -> [StateRow; 4] {
    let width = columns.saturating_sub(BRACKETS).min(MAX_BAR);
    let counts = State::ALL.map(|state| overview.tally.of(state));
    let mut cells = cells(counts, width).unwrap_or_default().into_iter();
    State::ALL.map(|state| {
        let (sign, tone) = match state {
            State::Pass => ('#', "good"),
            State::Review => ('?', "doubt"),
            State::Done => ('x', "bad"),
            State::Todo => ('.', "strong"),
        };
        let count = overview.tally.of(state);
        StateRow {
            state,
            sign,
            tone,
            count,
            share: share(count, overview.total),
            bar: sign.to_string().repeat(cells.next().unwrap_or(0)),
            notes: notes(state, overview),
        }
    })
}

pub(super) fn rate(pace: Pace) -> String {
    const FAST: f64 = 60.0;
    if pace.per_hour < FAST {
        format!("{:.1} settled an hour", pace.per_hour)
    } else {
        format!("{:.1} settled a minute", pace.per_hour / 60.0)
    }
}

/// Divides `width` cells in proportion to the counts; every count above 0 gets at least one.
///
/// None if there are too few cells, or no counts.
fn cells<const N: usize>(counts: [u32; N], width: usize) -> Option<[usize; N]> {
    let total: u64 = counts.iter().copied().map(u64::from).sum();
    let some = counts.iter().filter(|count| **count > 0).count();
    if total == 0 || width < some {
        return None;
    }
    let exact = |count: u32| u64::from(count) * width as u64;
    let whole = |count: u32| usize::try_from(exact(count) / total).unwrap_or(width);
    let mut cells = counts.map(|count| whole(count).max(usize::from(count > 0)));
    // Spare cells go to the largest remainders; missing cells come from the longest part.
    let mut by_rest: Vec<usize> = (0..N).filter(|at| counts[*at] > 0).collect();
    by_rest.sort_by_key(|at| std::cmp::Reverse(exact(counts[*at]) % total));
    let mut next = by_rest.iter().cycle();
    while cells.iter().sum::<usize>() < width {
        cells[*next.next()?] += 1;
    }
    while cells.iter().sum::<usize>() > width {
        *cells.iter_mut().max()? -= 1;
    }
    Some(cells)
}

/// The share in percent. It is 0 or 100 only if the count is none or all.
fn share(count: u32, total: u32) -> f64 {
    const LEAST: f64 = 0.1;
    let share = f64::from(count) * 100.0 / f64::from(total.max(1));
    if count == 0 || count == total {
        share
    } else {
        share.clamp(LEAST, 100.0 - LEAST)
    }
}

fn of(overview: &Overview, effective: Effective) -> u32 {
    overview.effective.get(&effective).copied().unwrap_or(0)
}

fn notes(state: State, overview: &Overview) -> Vec<String> {
    let of = |effective| of(overview, effective);
    let open = of(Effective::Open);
    // If every REVIEW is open and none was judged again, their number is already shown.
    let untouched = open == overview.tally.review && overview.rechecked.undecided == 0;
    let said: &[(u32, &str)] = match state {
        State::Pass => &[
            (overview.unanchored, "without a known site"),
            (overview.rendered, "rendered"),
            (overview.from_markup, "from markup"),
            (overview.carried, "carried"),
        ],
        State::Review => &[
            (of(Effective::Accepted), "accepted"),
            (of(Effective::Confirmed), "confirmed"),
            (of(Effective::Refuted), "refuted"),
            (of(Effective::Rejected), "rejected"),
            (if untouched { 0 } else { open }, "open"),
        ],
        State::Done | State::Todo => &[],
    };
    let said = said.iter().filter(|(count, _)| *count > 0);
    said.map(|(count, what)| format!("{count} {what}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::cli::status::fixtures;
    use crate::session::Tally;

    #[test]
    fn a_paused_session_has_no_forecast() {
        let mut records = fixtures::records();
        records.overview.paused = true;
        let status = records.at(fixtures::now(), &BTreeSet::new());
        assert_eq!(status.pace, None);
        let mut out = TextOutput::plain();
        write(&mut out, &status, None, 64);
        let text = out.into_text();
        assert!(
            text.contains("paused: ") && !text.contains(" left: "),
            "{text}"
        );
    }

    #[test]
    fn a_rate_has_the_unit_that_suits_it() {
        let pace = |per_hour| Pace {
            settled: 1,
            seconds: 1,
            per_hour,
            left_seconds: 1,
        };
        assert_eq!(rate(pace(0.5)), "0.5 settled an hour");
        assert_eq!(rate(pace(59.0)), "59.0 settled an hour");
        assert_eq!(rate(pace(90.0)), "1.5 settled a minute");
    }

    #[test]
    fn cells_are_proportional_and_none_is_lost() {
        assert_eq!(cells([1, 1, 1, 1], 8), Some([2, 2, 2, 2]));
        assert_eq!(cells([2, 1, 0, 0], 6), Some([4, 2, 0, 0]));
        assert_eq!(cells([99_999, 0, 0, 1], 10), Some([9, 0, 0, 1]));
        assert_eq!(cells([1, 1, 1, 99_999], 4), Some([1, 1, 1, 1]));
        assert_eq!(cells([1, 1, 1, 1], 3), None);
        assert_eq!(cells([0, 0, 0, 0], 9), None);
    }

    #[test]
    fn the_bar_reads_without_colours() {
        let mut overview = fixtures::records().overview;
        overview.tally = Tally {
            todo: 5,
            pass: 3,
            review: 1,
            done: 1,
        };
        let shown = [12, 5].map(|columns| rows(&overview, columns).map(|row| row.bar).concat());
        assert_eq!(shown, ["###?x.....", ""]);
    }

    #[test]
    fn a_share_is_0_or_100_percent_only_for_none_or_all() {
        let said = |count, total| format!("{:.1}", share(count, total));
        assert_eq!(
            [said(0, 9), said(9, 9), said(0, 0)],
            ["0.0", "100.0", "0.0"]
        );
        let said = [1, 50_000, 99_999].map(|count| said(count, 100_000));
        assert_eq!(said, ["0.1", "50.0", "99.9"]);
    }

    fn shown_of(status: &Status, columns: usize, rows: usize) -> Vec<String> {
        let size = Size { columns, rows };
        let view = view(status, Some(Path::new(".two")), size, &TextOutput::plain);
        view.rows.iter().map(Line::to_string).collect()
    }

    fn shown(columns: usize, rows: usize) -> String {
        shown_of(&fixtures::status(), columns, rows).join("\n")
    }

    #[test]
    fn a_screen_shows_everything_that_fits() {
        insta::assert_snapshot!("status_80x24", shown(80, 24));
        insta::assert_snapshot!("status_80x14", shown(80, 14));
        insta::assert_snapshot!("status_40x10", shown(40, 10));
        insta::assert_snapshot!("status_20x5", shown(20, 5));
    }

    #[test]
    fn the_smallest_screen_shows_what_matters_most() {
        assert_eq!(shown(80, 1), "527 quests, 498 left, 61 submissions judged");
        assert_eq!(shown(1, 1), "…");
        assert!(shown(20, 3).ends_with("\n#20 ?6 x3 .498"));
        let mut status = fixtures::status();
        status.overview.paused = true;
        let rows = shown_of(&status, 30, 9);
        assert!(
            rows.iter().any(|row| row.starts_with("paused: ")),
            "{rows:?}"
        );
    }

    #[test]
    fn next_steps_are_whole_if_the_screen_is_high_enough() {
        let shown = |status: &Status, rows| {
            let lines = shown_of(status, 40, rows);
            let lines: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
            lines.join(" ")
        };
        let mut status = fixtures::status();
        for rows in [9, 10, 11, 16, 24] {
            let shown = shown(&status, rows);
            for wanted in [
                "about 8h 44m left: 57.0 settled an hour over the last 20m",
                "4 open REVIEWs wait for a person: `comail review --session .two`",
                "… more; q quits",
            ] {
                assert!(shown.contains(wanted), "{rows}: {shown}");
            }
        }
        let all = shown(&status, 40);
        assert!(all.ends_with("q quits") && !all.contains('…'), "{all}");
        (status.overview.paused, status.overview.streak) = (true, 25);
        let shown = shown(&status, 12);
        assert!(
            shown.contains("and run `comail resume --session .two`"),
            "{shown}"
        );
    }

    #[test]
    fn a_cut_is_marked() {
        let mut status = fixtures::status();
        (status.overview.paused, status.overview.streak) = (true, 25);
        let rows = shown_of(&status, 40, 6);
        assert!(rows[4].ends_with('…'), "{rows:?}");
        assert!(rows[5].starts_with("… more"), "{rows:?}");
    }

    #[test]
    fn text_from_outside_cannot_steer_the_terminal() {
        let mut status = fixtures::status();
        status.claims[0].key = "a\u{1b}[2J\u{202e}".to_owned();
        let text = shown_of(&status, 80, 24).concat();
        assert!(text.contains("a\\u{1b}[2J\\u{202e}"), "{text}");
    }

    proptest! {
        #[test]
        fn cells_fill_the_width(counts in any::<[u32; 4]>(), width in 0..200_usize) {
            if let Some(cells) = cells(counts, width) {
                prop_assert_eq!(cells.iter().sum::<usize>(), width);
                for (cells, count) in cells.iter().zip(counts) {
                    prop_assert_eq!(*cells > 0, count > 0);
                }
            }
        }

        #[test]
        fn no_screen_is_overrun(columns in 1..200_usize, rows in 1..60_usize) {
            let size = Size { columns, rows };
            let view = view(&fixtures::status(), None, size, &TextOutput::plain);
            prop_assert_eq!(view.rows.len(), rows);
            for line in &view.rows {
                prop_assert!(line.width() <= columns);
            }
        }
    }
}
