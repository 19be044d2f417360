//! The burn-down: a line in steps of how many quests were left when.

use std::fmt::Write as _;
use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

use super::{Portion, scale};
use crate::report::page::words;
use crate::report::picture::Remaining;

/// The width of the plot in its own units.
pub const WIDTH: u32 = 10_000;

/// The height of the plot in its own units.
pub const HEIGHT: u32 = 1_000;

/// How wide a figure beside the plot is, and the gap between them, in pixels.
const FIGURE: u32 = 8;
const GAP: u32 = 8;

/// How many steps are drawn at most but for those at which the list grew: more than that no
/// screen shows apart.
const COLUMNS: u32 = 500;

/// The most lines of the table beside the chart.
const MOST_LINES: usize = 24;

/// How long it is at least where minutes tell its times apart.
const BRIEF: Duration = Duration::from_secs(4 * 60);

/// The burn-down as it is drawn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BurnDown {
    /// The line, as SVG spells a path.
    pub line: String,
    /// What is under the line.
    pub area: String,
    /// The lines across.
    pub levels: Vec<Level>,
    /// How wide what stands beside them is, in pixels.
    pub gutter: u32,
    /// Where the list grew.
    pub growths: Vec<u32>,
    /// When it begins.
    pub from: Timestamp,
    /// The middle of it.
    pub middle: Timestamp,
    /// When it ends.
    pub to: Timestamp,
    /// Whether it is so short that minutes would not tell these apart.
    pub brief: bool,
    /// How many were left at first.
    pub first: u32,
    /// How many are left at last.
    pub last: u32,
    /// Some of its steps, the first and the last among them.
    pub table: Vec<Remaining>,
    /// How many steps there are.
    pub steps: usize,
}

/// A line across.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Level {
    /// What it stands for.
    pub text: String,
    /// How far down it is.
    pub y: Portion,
}

impl BurnDown {
    /// The burn-down of these steps at a time; none where there are none.
    pub fn of(steps: &[Remaining], now: Timestamp) -> Option<Self> {
        let (first, last) = (steps.first()?, steps.last()?);
        // What is over says no more by staying at nothing.
        let to = if last.left == 0 {
            last.at
        } else {
            now.max(last.at)
        };
        let axis = Axis::new(first.at, to);
        let most = steps.iter().map(|step| step.left).max()?;
        let ticks = scale::ticks(most);
        // The scale ends with a number that is written beside it.
        let top = ticks.last().copied().unwrap_or(most);
        let points = thinned(steps, axis);
        let line = line(&points, top);
        let growths = steps.iter().filter(|step| step.grew);
        let levels = ticks.into_iter().map(|tick| Level {
            text: words::number(tick.into()),
            y: Portion::of(tick.into(), top.into()).rest(),
        });
        let levels: Vec<Level> = levels.collect();
        let longest = levels.iter().map(|level| level.text.len()).max();
        Some(Self {
            area: format!("{line}V{HEIGHT}H0Z"),
            line,
            levels,
            gutter: GAP + FIGURE * u32::try_from(longest.unwrap_or(0)).unwrap_or(0),
            growths: growths.map(|step| axis.x(step.at)).collect(),
            from: first.at,
            middle: axis.middle(),
            to,
            brief: axis.is_brief(),
            first: first.left,
            last: last.left,
            table: spaced(steps),
            steps: steps.len(),
        })
    }
}

/// The axis of time.
#[derive(Debug, Clone, Copy)]
struct Axis {
    from: i64,
    to: i64,
}

impl Axis {
    fn new(from: Timestamp, to: Timestamp) -> Self {
        Self {
            from: from.as_millisecond(),
            to: to.as_millisecond(),
        }
    }

    fn x(self, at: Timestamp) -> u32 {
        let length = i128::from((self.to - self.from).max(1));
        let gone = i128::from(at.as_millisecond() - self.from) * i128::from(WIDTH) / length;
        u32::try_from(gone).map_or(0, |x| x.min(WIDTH))
    }

    fn is_brief(self) -> bool {
        self.to - self.from < BRIEF.as_millis().try_into().unwrap_or(i64::MAX)
    }

    fn middle(self) -> Timestamp {
        let middle = self.from + (self.to - self.from) / 2;
        Timestamp::from_millisecond(middle).unwrap_or_default()
    }
}

/// Where the line goes: of each column the last step, and every step at which the list grew.
fn thinned(steps: &[Remaining], axis: Axis) -> Vec<(u32, u32)> {
    let column = |step: &Remaining| axis.x(step.at) * COLUMNS / WIDTH;
    let nexts = steps.iter().skip(1).map(Some).chain([None]);
    let pairs = steps.iter().zip(nexts).enumerate();
    let kept = pairs.filter(|(index, (step, next))| {
        let is_last = next.is_none_or(|next| next.grew || column(next) != column(step));
        *index == 0 || step.grew || is_last
    });
    kept.map(|(_, (step, _))| (axis.x(step.at), step.left))
        .collect()
}

/// The line through these points in steps, to the end of the axis.
fn line(points: &[(u32, u32)], top: u32) -> String {
    let mut path = String::new();
    for (index, (x, left)) in points.iter().enumerate() {
        let y = y(*left, top);
        // Writing to a string does not fail.
        let _ = match index {
            0 => write!(path, "M0 {y}"),
            _ => write!(path, "H{x}V{y}"),
        };
    }
    let _ = write!(path, "H{WIDTH}");
    path
}

fn y(left: u32, top: u32) -> u32 {
    let down = u64::from(top - left.min(top)) * u64::from(HEIGHT) / u64::from(top.max(1));
    let down = u32::try_from(down).unwrap_or(HEIGHT);
    if top == 0 { HEIGHT } else { down }
}

/// A few of the steps, evenly, with the first and the last.
fn spaced(steps: &[Remaining]) -> Vec<Remaining> {
    let last = steps.len().saturating_sub(1);
    let lines = steps.len().min(MOST_LINES);
    let indices = (0..lines).map(|line| line * last / (lines - 1).max(1));
    indices
        .filter_map(|index| steps.get(index).copied())
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(millisecond: i64) -> Timestamp {
        Timestamp::from_millisecond(millisecond).unwrap()
    }

    fn steps(lefts: &[(i64, u32)]) -> Vec<Remaining> {
        let mut before = u32::MAX;
        let steps = lefts.iter().map(|(when, left)| {
            let grew = *left > before;
            before = *left;
            let (at, left) = (at(*when), *left);
            Remaining { at, left, grew }
        });
        steps.collect()
    }

    #[test]
    fn falls_in_steps() {
        let drawn = BurnDown::of(&steps(&[(0, 4), (250, 3), (500, 0)]), at(1000)).unwrap();
        assert_eq!(drawn.line, "M0 0H5000V250H10000V1000H10000");
        assert_eq!(drawn.to, at(500), "what is over ends with its last step");
        let levels = drawn.levels.iter().map(|level| level.y.to_string());
        assert_eq!(levels.collect::<Vec<_>>(), ["75%", "50%", "25%", "0%"]);
    }

    #[test]
    fn goes_on_to_now_while_something_is_left() {
        let drawn = BurnDown::of(&steps(&[(0, 4), (250, 2)]), at(1000)).unwrap();
        assert_eq!(drawn.line, "M0 0H2500V500H10000");
        assert_eq!((drawn.first, drawn.last), (4, 2));
        assert_eq!(drawn.middle, at(500));
        assert!(drawn.brief);
        let long = BurnDown::of(&steps(&[(0, 4)]), at(240_000)).unwrap();
        assert!(!long.brief, "minutes tell its ends apart");
    }

    #[test]
    fn shows_where_the_list_grew() {
        let drawn = BurnDown::of(&steps(&[(0, 2), (100, 1), (500, 4)]), at(1000)).unwrap();
        assert_eq!(drawn.growths, [5000]);
        assert_eq!(drawn.line, "M0 500H1000V750H5000V0H10000");
    }

    #[test]
    fn the_scale_covers_what_a_newer_list_brought() {
        let grown = steps(&[(0, 60), (100, 54), (500, 75)]);
        let drawn = BurnDown::of(&grown, at(500)).unwrap();
        let levels: Vec<_> = drawn.levels.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(levels, ["20", "40", "60", "80"]);
        assert_eq!(drawn.levels[3].y, Portion::default());
        assert_eq!(drawn.line, "M0 250H2000V325H10000V62H10000");
        assert_eq!(drawn.gutter, 8 + 2 * 8);
    }

    #[test]
    fn stands_where_nothing_happened() {
        assert_eq!(BurnDown::of(&[], at(0)), None);
        let one = BurnDown::of(&steps(&[(7, 3)]), at(7)).unwrap();
        assert_eq!((one.line.as_str(), one.table.len()), ("M0 0H10000", 1));
        let none = BurnDown::of(&steps(&[(7, 0)]), at(9)).unwrap();
        assert_eq!(none.line, "M0 1000H10000");
    }

    proptest! {
        #[test]
        fn a_list_that_does_not_grow_makes_a_short_line_that_only_falls(
            mut times in proptest::collection::vec(0i64..100_000, 1..3000),
        ) {
            times.sort_unstable();
            let count = u32::try_from(times.len()).unwrap();
            let lefts: Vec<_> = times.iter().copied().zip((0..count).rev()).collect();
            let drawn = BurnDown::of(&steps(&lefts), at(100_000)).unwrap();
            let heights: Vec<u32> = drawn.line.split('V').skip(1)
                .map(|part| part.split('H').next().unwrap().parse().unwrap()).collect();
            prop_assert!(heights.is_sorted(), "{heights:?}");
            prop_assert!(heights.len() <= 501);
            prop_assert!(drawn.table.len() <= MOST_LINES);
            prop_assert_eq!(drawn.table.last().map(|step| step.left), Some(0));
        }
    }
}
