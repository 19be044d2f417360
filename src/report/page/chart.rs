//! The geometry of the charts.
//!
//! Lengths are in hundredths of a percent of the chart's width or height.

use std::fmt::Write as _;
use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

use crate::report::picture::Remaining;
use crate::report::template::number;

pub(super) const WHOLE: u32 = 10_000;

pub(super) fn portion(part: u64, whole: u64) -> u32 {
    let whole = u128::from(whole.max(1));
    let hundredths = (u128::from(part) * 10_000 + whole / 2) / whole;
    u32::try_from(hundredths).map_or(WHOLE, |it| it.min(WHOLE))
}

/// A length as an attribute of SVG, such as `33.33%`.
pub(super) fn length(hundredths: u32) -> String {
    let (percent, hundredths) = (hundredths / 100, hundredths % 100);
    match hundredths {
        0 => format!("{percent}%"),
        _ => format!("{percent}.{hundredths:02}%"),
    }
}

const MIN_STRIPE: u32 = 60;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stripe {
    pub(super) x: u32,
    pub(super) width: u32,
}

/// Adjacent stripes for these counts, over the whole width.
///
/// Every count above 0 has a minimum width, at the cost of the widest stripe.
pub(super) fn stripes<const N: usize>(counts: [u32; N]) -> [Stripe; N] {
    let total: u64 = counts.iter().map(|count| u64::from(*count)).sum();
    let mut widths = counts.map(|count| match count {
        0 => 0,
        count => portion(count.into(), total).max(MIN_STRIPE),
    });
    let used: u32 = widths.iter().sum();
    if let Some(widest) = widths.iter_mut().max() {
        let whole = if total > 0 { WHOLE } else { 0 };
        *widest = (*widest + whole).saturating_sub(used);
    }
    let mut x = 0;
    widths.map(|width| {
        x += width;
        Stripe {
            x: x - width,
            width,
        }
    })
}

const MAX_TICKS: u32 = 4;

/// A few evenly spaced round numbers above 0, up to `most` or the next one.
fn ticks(most: u32) -> Vec<u32> {
    let mut tens: u32 = 1;
    let step = loop {
        let steps = [1, 2, 5].map(|digit| tens.saturating_mul(digit));
        let step = steps
            .into_iter()
            .find(|step| most.div_ceil(*step) <= MAX_TICKS);
        if let Some(step) = step {
            break step;
        }
        tens = tens.saturating_mul(10);
    };
    let times = 1..=most.div_ceil(step);
    times.map(|times| times.saturating_mul(step)).collect()
}

const HEIGHT: u32 = 1_000;

/// The width of a digit and of the gap next to a label, in pixels.
const FIGURE: u32 = 8;
const GAP: u32 = 8;

/// The rows of the table below the chart.
const MAX_LINES: usize = 24;

/// Below this length, times are shown with seconds.
const BRIEF: Duration = Duration::from_mins(4);

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct BurnDown {
    line: String,
    area: String,
    levels: Vec<Level>,
    gutter: u32,
    growths: Vec<u32>,
    from: Timestamp,
    middle: Timestamp,
    to: Timestamp,
    /// Whether times need seconds to differ.
    brief: bool,
    first: u32,
    last: u32,
    /// Some of the steps, with the first and the last.
    table: Vec<Remaining>,
    steps: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Level {
    text: String,
    y: u32,
}

impl BurnDown {
    /// The chart at this time; none without steps.
    pub(super) fn of(steps: &[Remaining], now: Timestamp) -> Option<Self> {
        let (first, last) = (steps.first()?, steps.last()?);
        // A flat line at 0 after the end would add nothing.
        let to = match last.left {
            0 => last.at,
            _ => now.max(last.at),
        };
        let (begin, end) = (first.at.as_millisecond(), to.as_millisecond());
        let x = |at: Timestamp| {
            let length = i128::from((end - begin).max(1));
            let gone = i128::from(at.as_millisecond() - begin) * i128::from(WHOLE) / length;
            u32::try_from(gone).map_or(0, |x| x.min(WHOLE))
        };
        let most = steps.iter().map(|step| step.left).max()?;
        let ticks = ticks(most);
        // The scale ends at a number that has a label.
        let top = ticks.last().copied().unwrap_or(most);
        let mut line = String::new();
        for (index, step) in steps.iter().enumerate() {
            let (x, y) = (x(step.at), y(step.left, top));
            // Writing to a string cannot fail.
            let _ = match index {
                0 => write!(line, "M0 {y}"),
                _ => write!(line, "H{x}V{y}"),
            };
        }
        let _ = write!(line, "H{WHOLE}");
        let levels = ticks.into_iter().map(|tick| Level {
            text: number(tick.into()),
            y: WHOLE - portion(tick.into(), top.into()),
        });
        let levels: Vec<Level> = levels.collect();
        let longest = levels.iter().map(|level| level.text.len()).max();
        let growths = steps.iter().filter(|step| step.grew);
        Some(Self {
            area: format!("{line}V{HEIGHT}H0Z"),
            line,
            levels,
            gutter: GAP + FIGURE * u32::try_from(longest.unwrap_or(0)).unwrap_or(0),
            growths: growths.map(|step| x(step.at)).collect(),
            from: first.at,
            middle: Timestamp::from_millisecond(begin + (end - begin) / 2).unwrap_or_default(),
            to,
            brief: end - begin < BRIEF.as_millis().try_into().unwrap_or(i64::MAX),
            first: first.left,
            last: last.left,
            table: spaced(steps),
            steps: steps.len(),
        })
    }
}

fn y(left: u32, top: u32) -> u32 {
    let down = u64::from(top - left.min(top)) * u64::from(HEIGHT) / u64::from(top.max(1));
    let down = u32::try_from(down).unwrap_or(HEIGHT);
    if top == 0 { HEIGHT } else { down }
}

/// A few evenly spaced steps, with the first and the last.
fn spaced(steps: &[Remaining]) -> Vec<Remaining> {
    let last = steps.len().saturating_sub(1);
    let lines = steps.len().min(MAX_LINES);
    let indices = (0..lines).map(|line| line * last / (lines - 1).max(1));
    indices
        .filter_map(|index| steps.get(index).copied())
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ticks_are_round() {
        assert_eq!(ticks(0), [0; 0]);
        assert_eq!(ticks(1), [1]);
        assert_eq!(ticks(4), [1, 2, 3, 4]);
        assert_eq!(ticks(5), [2, 4, 6]);
        assert_eq!(ticks(75), [20, 40, 60, 80]);
        assert_eq!(ticks(527), [200, 400, 600]);
        assert_eq!(ticks(10_000), [5000, 10_000]);
    }

    #[test]
    fn lengths_are_in_percent() {
        let lengths = [(0, 0), (1, 3), (1, 2), (3, 2), (u64::MAX, u64::MAX)];
        let lengths = lengths.map(|(part, whole)| length(portion(part, whole)));
        assert_eq!(lengths, ["0%", "33.33%", "50%", "100%", "100%"]);
        assert_eq!(length(5), "0.05%");
    }

    #[test]
    fn small_counts_have_a_visible_stripe() {
        let widths = stripes([99_999, 1, 0, 0]).map(|stripe| stripe.width);
        assert_eq!(widths, [9940, 60, 0, 0]);
        assert_eq!(stripes([0, 0]).map(|stripe| stripe.width), [0; 2]);
    }

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
        assert_eq!(drawn.to, at(500), "it ends with the last quest");
        let levels = drawn.levels.iter().map(|level| level.y);
        assert_eq!(levels.collect::<Vec<_>>(), [7500, 5000, 2500, 0]);
    }

    #[test]
    fn continues_until_now_while_quests_are_left() {
        let drawn = BurnDown::of(&steps(&[(0, 4), (250, 2)]), at(1000)).unwrap();
        assert_eq!(drawn.line, "M0 0H2500V500H10000");
        assert_eq!((drawn.first, drawn.last), (4, 2));
        assert_eq!(drawn.middle, at(500));
        assert!(drawn.brief);
        let long = BurnDown::of(&steps(&[(0, 4)]), at(240_000)).unwrap();
        assert!(!long.brief, "minutes tell its ends apart");
    }

    #[test]
    fn shows_where_the_list_grew_on_a_scale_that_covers_it() {
        let drawn = BurnDown::of(&steps(&[(0, 2), (100, 1), (500, 4)]), at(1000)).unwrap();
        assert_eq!(drawn.growths, [5000]);
        assert_eq!(drawn.line, "M0 500H1000V750H5000V0H10000");
        let grown = steps(&[(0, 60), (100, 54), (500, 75)]);
        let drawn = BurnDown::of(&grown, at(500)).unwrap();
        let levels: Vec<_> = drawn.levels.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(levels, ["20", "40", "60", "80"]);
        assert_eq!(drawn.levels[3].y, 0);
        assert_eq!(drawn.line, "M0 250H2000V325H10000V62H10000");
        assert_eq!(drawn.gutter, 8 + 2 * 8);
    }

    #[test]
    fn is_flat_if_nothing_happened() {
        assert_eq!(BurnDown::of(&[], at(0)), None);
        let one = BurnDown::of(&steps(&[(7, 3)]), at(7)).unwrap();
        assert_eq!((one.line.as_str(), one.table.len()), ("M0 0H10000", 1));
        let none = BurnDown::of(&steps(&[(7, 0)]), at(9)).unwrap();
        assert_eq!(none.line, "M0 1000H10000");
    }

    proptest! {
        #[test]
        fn ticks_are_few_and_only_the_last_is_beyond(most in 1u32..) {
            let ticks = ticks(most);
            prop_assert!((1..=4).contains(&ticks.len()), "{ticks:?}");
            prop_assert!(ticks.iter().rev().skip(1).all(|tick| *tick < most));
            prop_assert!(ticks.last().is_some_and(|tick| *tick >= most));
            prop_assert!(ticks.windows(2).all(|pair| pair[0] < pair[1]));
        }

        #[test]
        fn stripes_fill_the_width(counts in any::<[u32; 4]>()) {
            let stripes = stripes(counts);
            let total: u32 = stripes.iter().map(|stripe| stripe.width).sum();
            let full = counts.iter().any(|count| *count > 0);
            prop_assert_eq!(total, if full { WHOLE } else { 0 });
            for pair in stripes.windows(2) {
                prop_assert_eq!(pair[0].x + pair[0].width, pair[1].x);
            }
        }

        #[test]
        fn a_list_that_does_not_grow_makes_a_line_that_only_falls(
            mut times in proptest::collection::vec(0i64..100_000, 1..400),
        ) {
            times.sort_unstable();
            let count = u32::try_from(times.len()).unwrap();
            let lefts: Vec<_> = times.iter().copied().zip((0..count).rev()).collect();
            let drawn = BurnDown::of(&steps(&lefts), at(100_000)).unwrap();
            let heights: Vec<u32> = drawn.line.split('V').skip(1)
                .map(|part| part.split('H').next().unwrap().parse().unwrap()).collect();
            prop_assert!(heights.is_sorted(), "{heights:?}");
            prop_assert!(drawn.table.len() <= MAX_LINES);
            prop_assert_eq!(drawn.table.last().map(|step| step.left), Some(0));
        }
    }
}
