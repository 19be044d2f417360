//! What `status` shows, part by part.

use std::path::Path;

use super::{bar, noted, states};
use crate::base::text::Escaped;
use crate::base::text::plural;
use crate::cli::next;
use crate::cli::output::{Paper, Tone};
use crate::cli::shell_line::ShellLine;
use crate::cli::terminal::{lines, tinted};
use crate::report::{Overview, Pace, Status};
use crate::session::Effective;

/// What it is written for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sheet<'a> {
    /// In how many columns, where it is as wide as there is room.
    pub(super) columns: usize,
    /// The session that `--session` named, which commands must name too.
    pub(super) session: Option<&'a Path>,
}

/// A part of what is shown.
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
    /// All of them, from top to bottom.
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

    /// Writes it, each of its lines as long as it is.
    pub(super) fn write(self, paper: &mut Paper, status: &Status, sheet: Sheet<'_>) {
        let overview = &status.overview;
        match self {
            Self::Head => head(paper, overview),
            Self::Bar => bar::write_bar(paper, &overview.tally, sheet.columns),
            Self::States => states::write_states(paper, overview),
            Self::Paused if overview.paused => {
                paper.line(next::paused(overview.streak, sheet.session));
            }
            Self::Paused => {}
            Self::Pace => pace(paper, status),
            Self::Tries => tries(paper, status),
            Self::Reviews => reviews(paper, overview, sheet.session),
            Self::Blocked => noted::blocked(paper, overview),
            Self::People => noted::people(paper, overview),
            Self::Runs => runs(paper, status),
            Self::Claims => claims(paper, status),
            Self::Rules => rules(paper, overview),
            Self::Ledger => paper.line(format!("ledger head {}", overview.head)),
        }
    }
}

/// The most rules that are shown.
const MOST_RULES: usize = 8;

/// The most claims that are shown, and the most runs.
const MOST_CLAIMS: usize = 5;

/// Writes all of it.
pub(super) fn all(paper: &mut Paper, status: &Status, sheet: Sheet<'_>) {
    for part in Part::ALL {
        part.write(paper, status, sheet);
    }
}

/// Writes all of it for a terminal of that many columns.
pub(super) fn wrap(paper: &mut Paper, status: &Status, sheet: Sheet<'_>) {
    for part in Part::ALL {
        let mut wide = paper.like();
        part.write(&mut wide, status, sheet);
        for line in lines(&wide) {
            let rows = match part {
                // A hash that is to be copied stays in one piece.
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

/// How fast it goes, as long as anything is left.
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

/// `3.5 an hour`, or `2.1 a minute` where it is fast.
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

/// Says how many are not shown of so many.
fn more(paper: &mut Paper, all: usize, shown: usize) {
    if all > shown {
        paper.line(format!("  and {} more", all - shown));
    }
}

/// A time span in its two largest units, as far as anybody cares.
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::cli::status::sample;

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
        let mut standings = sample::standings();
        standings.overview.paused = true;
        let status = standings.at(sample::now(), &BTreeSet::new());
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
        let status = sample::status();
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
