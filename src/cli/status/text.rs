//! The parts of the status as text.

use std::path::Path;

use super::text;
use crate::base::text::{Escaped, plural};
use crate::cli::next;
use crate::cli::output::{Paper, Tone};
use crate::cli::shell_line::ShellLine;
use crate::cli::terminal::{lines, tinted};
use crate::report::{Overview, Pace, Status};
use crate::session::{Effective, State, Tally};

#[derive(Debug, Clone, Copy)]
pub(super) struct Sheet<'a> {
    pub(super) columns: usize,
    /// The value of `--session`, which suggested commands repeat.
    pub(super) session: Option<&'a Path>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Head,
    Bar,
    States,
    Paused,
    Pace,
    Tries,
    Reviews,
    Blocked,
    People,
    Runs,
    Claims,
    Rules,
    Ledger,
}

impl Part {
    pub(super) const ALL: [Self; 13] = [
        Self::Head,
        Self::Bar,
        Self::States,
        Self::Paused,
        Self::Pace,
        Self::Tries,
        Self::Reviews,
        Self::Blocked,
        Self::People,
        Self::Runs,
        Self::Claims,
        Self::Rules,
        Self::Ledger,
    ];

    pub(super) fn write(self, paper: &mut Paper, status: &Status, sheet: Sheet<'_>) {
        let overview = &status.overview;
        match self {
            Self::Head => head(paper, overview),
            Self::Bar => text::write_bar(paper, &overview.tally, sheet.columns),
            Self::States => text::write_states(paper, overview),
            Self::Paused if overview.paused => {
                paper.line(next::paused(overview.streak, sheet.session));
            }
            Self::Paused => {}
            Self::Pace => pace(paper, status),
            Self::Tries => tries(paper, status),
            Self::Reviews => reviews(paper, overview, sheet.session),
            Self::Blocked => text::blocked(paper, overview),
            Self::People => text::people(paper, overview),
            Self::Runs => runs(paper, status),
            Self::Claims => claims(paper, status),
            Self::Rules => rules(paper, overview),
            Self::Ledger => paper.line(format!("ledger head {}", overview.head)),
        }
    }
}

const MOST_RULES: usize = 8;

const MOST_CLAIMS: usize = 5;

pub(super) fn all(paper: &mut Paper, status: &Status, sheet: Sheet<'_>) {
    for part in Part::ALL {
        part.write(paper, status, sheet);
    }
}

pub(super) fn wrap(paper: &mut Paper, status: &Status, sheet: Sheet<'_>) {
    for part in Part::ALL {
        let mut wide = paper.like();
        part.write(&mut wide, status, sheet);
        for line in lines(&wide) {
            let rows = match part {
                // A hash must stay in one piece, so that it can be copied.
                Part::Ledger => vec![line],
                _ => line.wrapped(sheet.columns),
            };
            for row in rows {
                let row = tinted(&row, paper);
                paper.line(row);
            }
        }
    }
}

fn head(paper: &mut Paper, overview: &Overview) {
    paper.line(format!(
        "{}, {} left, {} judged",
        plural(overview.total, "quest"),
        overview.tally.todo,
        plural(overview.attempts, "submission")
    ));
}

fn pace(paper: &mut Paper, status: &Status) {
    if let Some(pace) = status.pace.filter(|_| status.overview.tally.todo > 0) {
        let over = span(pace.seconds);
        let left = span(pace.left_seconds);
        paper.line(format!(
            "about {left} left: {} over the last {over}",
            rate(pace)
        ));
    }
}

pub(super) fn rate(pace: Pace) -> String {
    const FAST: f64 = 60.0;
    if pace.per_hour < FAST {
        format!("{:.1} settled an hour", pace.per_hour)
    } else {
        format!("{:.1} settled a minute", pace.per_hour / 60.0)
    }
}

fn tries(paper: &mut Paper, status: &Status) {
    if status.tries > 0 {
        let tries = match status.tries {
            1 => String::from("1 try"),
            count => format!("{count} tries"),
        };
        paper.line(format!("{tries} used up by answers that failed"));
    }
}

fn reviews(paper: &mut Paper, overview: &Overview, session: Option<&Path>) {
    let open = overview.effective.get(&Effective::Open).copied();
    if let Some(open) = open.filter(|open| *open > 0) {
        let verb = if open == 1 { "waits" } else { "wait" };
        let reviews = plural(open, "open REVIEW");
        let reviews = paper.tint(Tone::Doubt, &reviews);
        let command = ShellLine::comail("review", session);
        let command = command.text();
        paper.line(format!("{reviews} {verb} for a person: `{command}`"));
    }
}

fn runs(paper: &mut Paper, status: &Status) {
    for run in status.runs.iter().take(MOST_CLAIMS) {
        let id = run.run;
        paper.line(if run.lives {
            format!("run {id} goes on")
        } else {
            let died = paper.tint(Tone::Bad, "died");
            format!("run {id} {died}: the next one takes up what it left")
        });
    }
    more(paper, status.runs.len(), MOST_CLAIMS);
}

fn claims(paper: &mut Paper, status: &Status) {
    if status.claims.is_empty() {
        return;
    }
    let count = u32::try_from(status.claims.len()).unwrap_or(u32::MAX);
    paper.line(format!("{} claimed", plural(count, "quest")));
    for held in status.claims.iter().take(MOST_CLAIMS) {
        paper.line(format!(
            "  {}: quest {}, {}, since {}, {} left",
            held.worker,
            held.quest,
            Escaped(&held.key),
            span(held.age_seconds),
            span(held.left_seconds)
        ));
    }
    more(paper, status.claims.len(), MOST_CLAIMS);
}

fn rules(paper: &mut Paper, overview: &Overview) {
    if overview.rules.is_empty() {
        return;
    }
    paper.line("rules that fired, in submissions");
    for count in overview.rules.iter().take(MOST_RULES) {
        let rule = Escaped(&count.rule);
        paper.line(format!("  {:>8}  {rule}", count.attempts));
    }
}

/// Prints how many lines are left out.
fn more(paper: &mut Paper, all: usize, shown: usize) {
    if all > shown {
        paper.line(format!("  and {} more", all - shown));
    }
}

pub(super) fn span(seconds: i64) -> String {
    let seconds = seconds.max(0);
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds}s"),
        (0, 0, _) => format!("{minutes}m"),
        (0, _, _) => format!("{hours}h {}m", minutes % 60),
        _ => format!("{days}d {}h", hours % 24),
    }
}

const WIDEST: usize = 60;

const BRACKETS: usize = 2;

pub(super) fn sign(state: State) -> char {
    match state {
        State::Pass => '#',
        State::Review => '?',
        State::Done => 'x',
        State::Todo => '.',
    }
}

pub(super) fn write_bar(paper: &mut Paper, tally: &Tally, columns: usize) {
    let width = columns.saturating_sub(BRACKETS).min(WIDEST);
    let counts = State::ALL.map(|state| tally.of(state));
    let Some(cells) = cells(counts, width) else {
        return;
    };
    let pieces = State::ALL.iter().zip(cells).map(|(state, cells)| {
        let signs = sign(*state).to_string().repeat(cells);
        if signs.is_empty() {
            signs
        } else {
            paper.tint(tone(*state), &signs)
        }
    });
    let pieces: String = pieces.collect();
    paper.line(format!("[{pieces}]"));
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

pub(super) fn write_states(paper: &mut Paper, overview: &Overview) {
    for state in State::ALL {
        let count = overview.tally.of(state);
        let (tone, sign) = (tone(state), sign(state));
        let sign = paper.tint(tone, &sign.to_string());
        let word = paper.tint(tone, &format!("{state:6}"));
        let share = share(count, overview.total);
        let note = note(state, overview);
        paper.line(format!("{sign} {word} {count:>8}  {share:>5.1} %{note}"));
    }
}

pub(super) fn short(paper: &mut Paper, overview: &Overview) {
    let counts = State::ALL.map(|state| {
        let count = format!("{}{}", sign(state), overview.tally.of(state));
        paper.tint(tone(state), &count)
    });
    paper.line(counts.join(" "));
}

pub(super) fn tone(state: State) -> Tone {
    match state {
        State::Pass => Tone::Good,
        State::Review => Tone::Doubt,
        State::Done => Tone::Bad,
        State::Todo => Tone::Strong,
    }
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

/// The number of open REVIEWs to print; 0 if every REVIEW is open and none was judged again, because
/// the number of REVIEWs then says the same.
fn said_open(overview: &Overview) -> u32 {
    let open = overview.effective.get(&Effective::Open).copied();
    let open = open.unwrap_or(0);
    let untouched = open == overview.tally.review && overview.resolutions.open == 0;
    if untouched { 0 } else { open }
}

fn note(state: State, overview: &Overview) -> String {
    let of = |effective| overview.effective.get(&effective).copied().unwrap_or(0);
    let said = match state {
        State::Pass => vec![
            (overview.unanchored, "unanchored"),
            (overview.carried, "carried"),
        ],
        State::Review => vec![
            (of(Effective::Accepted), "accepted"),
            (of(Effective::Confirmed), "confirmed"),
            (of(Effective::Refuted), "refuted"),
            (of(Effective::Rejected), "rejected"),
            (said_open(overview), "open"),
        ],
        State::Done | State::Todo => Vec::new(),
    };
    let said: Vec<String> = said
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if said.is_empty() {
        return String::new();
    }
    format!("  ({})", said.join(", "))
}

/// Prints disputes, forgotten answers and unsigned decisions.
pub(super) fn people(paper: &mut Paper, overview: &Overview) {
    if overview.disputed > 0 {
        let disputed = plural(overview.disputed, "quest");
        paper.line(format!(
            "disputed: the world contradicted {disputed} since; `export` tells which"
        ));
    }
    if overview.forgotten > 0 {
        let forgotten = plural(overview.forgotten, "quest");
        paper.line(format!(
            "forgotten: the answer of {forgotten} was blotted out; `export` tells which"
        ));
    }
    if overview.unsealed > 0 {
        let word = paper.tint(Tone::Bad, "not sealed");
        let unsealed = plural(overview.unsealed, "line");
        paper.line(format!(
            "{word}: {unsealed} of the ledger that only the operator's key could make, and that \
             changed nothing; `audit` tells which"
        ));
    }
}

pub(super) fn blocked(paper: &mut Paper, overview: &Overview) {
    if overview.blocked == 0 {
        return;
    }
    let count = paper.tint(Tone::Bad, &format!("blocked {}", overview.blocked));
    paper.line(format!(
        "{count}, of what is TODO: never handed out as it stands"
    ));
    for quest in &overview.first_blocked {
        let (key, by) = (Escaped(quest.key.as_str()), &quest.by);
        let by_key = Escaped(by.key.as_str());
        paper.line(format!(
            "  quest {} ({key}) waits for quest {} ({by_key}), which is {}",
            quest.id, by.id, by.state
        ));
    }
    let more = (overview.blocked as usize).saturating_sub(overview.first_blocked.len());
    if more > 0 {
        paper.line(format!("  and {more} more"));
    }
}

#[cfg(test)]
mod tests_text {
    use std::collections::BTreeSet;

    use super::*;
    use crate::cli::status::fixtures;

    #[test]
    fn spans_are_told_in_two_units() {
        let spans = [-5, 0, 59, 60, 3599, 3600, 7260, 86_399, 90_000].map(span);
        let expected = [
            "0s", "0s", "59s", "1m", "59m", "1h 0m", "2h 1m", "23h 59m", "1d 1h",
        ];
        assert_eq!(spans, expected);
    }

    #[test]
    fn nothing_promises_an_end_while_the_session_is_paused() {
        let mut standings = fixtures::standings();
        standings.overview.paused = true;
        let status = standings.at(fixtures::now(), &BTreeSet::new());
        assert_eq!(status.pace, None);
        let sheet = Sheet {
            columns: 64,
            session: None,
        };
        let mut paper = Paper::plain();
        all(&mut paper, &status, sheet);
        let text = paper.into_text();
        assert!(
            text.contains("paused: ") && !text.contains(" left: "),
            "{text}"
        );
    }

    #[test]
    fn a_narrow_terminal_is_told_all_in_rows_of_its_width() {
        let sheet = Sheet {
            columns: 40,
            session: None,
        };
        let status = fixtures::status();
        let (mut wide, mut narrow) = (Paper::plain(), Paper::plain());
        all(&mut wide, &status, sheet);
        wrap(&mut narrow, &status, sheet);
        let narrow = narrow.into_text();
        let (rows, last) = narrow.trim_end().rsplit_once('\n').unwrap();
        assert!(last.starts_with("ledger head "), "{narrow}");
        for row in rows.lines() {
            assert!(row.chars().count() <= 40, "{row}");
        }
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words(&narrow), words(&wide.into_text()));
    }

    #[test]
    fn a_rate_is_told_by_the_unit_that_suits_it() {
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
}

#[cfg(test)]
mod tests_bar {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn cells_are_in_proportion_and_nothing_is_lost() {
        assert_eq!(cells([1, 1, 1, 1], 8), Some([2, 2, 2, 2]));
        assert_eq!(cells([2, 1, 0, 0], 6), Some([4, 2, 0, 0]));
        assert_eq!(cells([99_999, 0, 0, 1], 10), Some([9, 0, 0, 1]));
        assert_eq!(cells([1, 1, 1, 99_999], 4), Some([1, 1, 1, 1]));
        assert_eq!(cells([1, 1, 1, 1], 3), None);
        assert_eq!(cells([0, 0, 0, 0], 9), None);
    }

    #[test]
    fn it_reads_without_colours() {
        let tally = Tally {
            todo: 5,
            pass: 3,
            review: 1,
            done: 1,
        };
        let mut paper = Paper::plain();
        write_bar(&mut paper, &tally, 12);
        write_bar(&mut paper, &tally, 5);
        assert_eq!(paper.into_text(), "[###?x.....]\n");
    }

    proptest! {
        #[test]
        fn they_fill_the_width(counts in any::<[u32; 4]>(), width in 0..200_usize) {
            if let Some(cells) = cells(counts, width) {
                prop_assert_eq!(cells.iter().sum::<usize>(), width);
                for (cells, count) in cells.iter().zip(counts) {
                    prop_assert_eq!(*cells > 0, count > 0);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests_states {
    use super::*;

    #[test]
    fn neither_all_nor_nothing_is_said_too_early() {
        let said = |count, total| format!("{:.1}", share(count, total));
        assert_eq!(
            [said(0, 9), said(9, 9), said(0, 0)],
            ["0.0", "100.0", "0.0"]
        );
        let said = [1, 50_000, 99_999].map(|count| said(count, 100_000));
        assert_eq!(said, ["0.1", "50.0", "99.9"]);
    }
}
