//! The geometry of the charts, and numbers as people read them.

use std::fmt;
use std::fmt::Write as _;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Serialize, Serializer};

use crate::report::picture::{Bar, Remaining, Spread};

const SECOND: u64 = 1000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

pub(super) fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

pub(super) fn counted(count: u64, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", number(count))
}

/// A time span in at most two units.
pub(super) fn span(milliseconds: u64) -> String {
    match milliseconds {
        0..SECOND => format!("{milliseconds} ms"),
        SECOND..MINUTE => format!("{} s", milliseconds / SECOND),
        MINUTE..HOUR => both(milliseconds, (MINUTE, "min"), (SECOND, "s")),
        HOUR..DAY => both(milliseconds, (HOUR, "h"), (MINUTE, "min")),
        DAY.. => both(milliseconds, (DAY, "d"), (HOUR, "h")),
    }
}

fn both(milliseconds: u64, large: (u64, &str), small: (u64, &str)) -> String {
    let whole = format!("{} {}", number(milliseconds / large.0), large.1);
    match milliseconds % large.0 / small.0 {
        0 => whole,
        rest => format!("{whole} {rest} {}", small.1),
    }
}

/// The share in percent. It is 0 % or 100 % only if the part is nothing or everything.
pub(super) fn percent(part: u64, whole: u64) -> String {
    let (part, whole) = (u128::from(part), u128::from(whole.max(1)));
    match (part * 100 + whole / 2) / whole {
        0 if part > 0 => "<1 %".to_owned(),
        100 if part < whole => ">99 %".to_owned(),
        percent => format!("{percent} %"),
    }
}

pub(super) fn moment(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M").to_string()
}

pub(super) fn second(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

const MOST: u32 = 4;

/// Evenly spaced round numbers above 0, up to `most` or the next one; few enough to be read.
pub fn ticks(most: u32) -> Vec<u32> {
    let step = step(most);
    let times = 1..=most.div_ceil(step);
    times.map(|times| times.saturating_mul(step)).collect()
}

fn step(most: u32) -> u32 {
    let mut tens: u32 = 1;
    loop {
        for digit in [1, 2, 5] {
            let step = tens.saturating_mul(digit);
            if most.div_ceil(step) <= MOST {
                return step;
            }
        }
        tens = tens.saturating_mul(10);
    }
}

/// A part of a width or height, in hundredths of a percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Portion(u32);

impl Portion {
    pub const WHOLE: Self = Self(10_000);

    /// The share of `part` in `whole`, at most the whole.
    pub fn of(part: u64, whole: u64) -> Self {
        let whole = u128::from(whole.max(1));
        let hundredths = (u128::from(part) * 10_000 + whole / 2) / whole;
        Self(u32::try_from(hundredths).map_or(10_000, |it| it.min(10_000)))
    }

    /// A number of hundredths of a percent, at most the whole.
    pub fn hundredths(count: u32) -> Self {
        Self(count.min(10_000))
    }

    /// The number of its hundredths of a percent.
    pub fn count(self) -> u32 {
        self.0
    }

    pub fn rest(self) -> Self {
        Self(10_000 - self.0)
    }
}

impl fmt::Display for Portion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (percent, hundredths) = (self.0 / 100, self.0 % 100);
        match hundredths {
            0 => write!(f, "{percent}%"),
            _ => write!(f, "{percent}.{hundredths:02}%"),
        }
    }
}

impl Serialize for Portion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The least width of a stripe, in hundredths of a percent.
const LEAST: u32 = 60;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Stripe {
    pub x: Portion,
    pub width: Portion,
}

/// Adjacent stripes for these counts, over the whole width.
///
/// Every count above 0 has a least width, at the cost of the widest stripe.
pub fn stripes<const N: usize>(counts: [u32; N]) -> [Stripe; N] {
    let total: u64 = counts.iter().map(|count| u64::from(*count)).sum();
    let mut widths = counts.map(|count| {
        let width = Portion::of(count.into(), total).count();
        if count > 0 { width.max(LEAST) } else { 0 }
    });
    let used: u32 = widths.iter().sum();
    if let Some(widest) = widths.iter_mut().max() {
        let whole = if total > 0 { Portion::WHOLE.count() } else { 0 };
        *widest = (*widest + whole).saturating_sub(used);
    }
    let mut x = 0;
    widths.map(|width| {
        let stripe = Stripe {
            x: Portion::hundredths(x),
            width: Portion::hundredths(width),
        };
        x += width;
        stripe
    })
}

const MOST_COUNTED: usize = 10;

const MOST_NAMED: usize = 5;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Histogram {
    pub columns: Vec<Column>,
    /// The marks as text; none if nothing is known.
    pub marks: Option<Summary>,
    pub known: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summary {
    pub least: String,
    pub median: String,
    pub ninth: String,
    pub most: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Column {
    pub x: Portion,
    pub width: Portion,
    pub middle: Portion,
    pub y: Portion,
    pub height: Portion,
    pub range: String,
    pub quests: u32,
    pub counted: bool,
    pub name: Option<String>,
}

impl Histogram {
    pub fn of(spread: &Spread, say: fn(u64) -> String) -> Self {
        let most = spread.bars.iter().map(|bar| bar.quests).max().unwrap_or(0);
        let columns = spread.bars.iter().enumerate();
        let columns = columns.map(|(index, bar)| column(bar, index, spread.bars.len(), most, say));
        let marks = spread.marks.map(|marks| Summary {
            least: say(marks.least),
            median: say(marks.median),
            ninth: say(marks.ninth),
            most: say(marks.most),
        });
        Self {
            columns: columns.collect(),
            marks,
            known: spread.known,
        }
    }
}

fn column(bar: &Bar, index: usize, count: usize, most: u32, say: fn(u64) -> String) -> Column {
    // A slot is ten parts wide: one for the gap on either side of the bar.
    let place = |tenths: usize| Portion::of((index * 10 + tenths) as u64, (count * 10) as u64);
    let height = match bar.quests {
        0 => Portion::default(),
        quests => Portion::of(quests.into(), most.into()).max(Portion::hundredths(100)),
    };
    let every = count.div_ceil(MOST_NAMED);
    Column {
        x: place(1),
        width: Portion::hundredths(place(9).count() - place(1).count()),
        middle: place(5),
        y: height.rest(),
        height,
        range: range(bar, say),
        quests: bar.quests,
        counted: count <= MOST_COUNTED && bar.quests > 0,
        name: index.is_multiple_of(every).then(|| say(bar.from)),
    }
}

fn range(bar: &Bar, say: fn(u64) -> String) -> String {
    let (from, to) = (say(bar.from), say(bar.to));
    if from == to {
        return from;
    }
    format!("{from} to {to}")
}

pub const WIDTH: u32 = 10_000;

pub const HEIGHT: u32 = 1_000;

const FIGURE: u32 = 8;
const GAP: u32 = 8;

/// The most steps that are drawn, without those at which the list grew. A screen cannot show more.
const COLUMNS: u32 = 500;

const MOST_LINES: usize = 24;

/// Below this length, times are shown with seconds.
const BRIEF: Duration = Duration::from_secs(4 * 60);

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BurnDown {
    pub line: String,
    pub area: String,
    pub levels: Vec<Level>,
    pub gutter: u32,
    pub growths: Vec<u32>,
    pub from: Timestamp,
    pub middle: Timestamp,
    pub to: Timestamp,
    /// Whether times need seconds to differ.
    pub brief: bool,
    /// How many were left at first.
    pub first: u32,
    pub last: u32,
    /// Some of the steps, with the first and the last.
    pub table: Vec<Remaining>,
    pub steps: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Level {
    pub text: String,
    pub y: Portion,
}

impl BurnDown {
    /// The burn-down at this time; none without steps.
    pub fn of(steps: &[Remaining], now: Timestamp) -> Option<Self> {
        let (first, last) = (steps.first()?, steps.last()?);
        // After the end, a flat line at 0 adds nothing.
        let to = if last.left == 0 {
            last.at
        } else {
            now.max(last.at)
        };
        let axis = Axis::new(first.at, to);
        let most = steps.iter().map(|step| step.left).max()?;
        let ticks = ticks(most);
        // The scale ends at a number that has a label.
        let top = ticks.last().copied().unwrap_or(most);
        let points = thinned(steps, axis);
        let line = line(&points, top);
        let growths = steps.iter().filter(|step| step.grew);
        let levels = ticks.into_iter().map(|tick| Level {
            text: number(tick.into()),
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

/// The points of the line: the last step of each column, and every step at which the list grew.
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

fn line(points: &[(u32, u32)], top: u32) -> String {
    let mut path = String::new();
    for (index, (x, left)) in points.iter().enumerate() {
        let y = y(*left, top);
        // Writing to a string cannot fail.
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

/// A few evenly spaced steps, with the first and the last.
fn spaced(steps: &[Remaining]) -> Vec<Remaining> {
    let last = steps.len().saturating_sub(1);
    let lines = steps.len().min(MOST_LINES);
    let indices = (0..lines).map(|line| line * last / (lines - 1).max(1));
    indices
        .filter_map(|index| steps.get(index).copied())
        .collect()
}

#[cfg(test)]
mod tests_words {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        let texts = [0, 999, 1000, 1_234_567].map(number);
        assert_eq!(texts, ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(counted(1, "quest"), "1 quest");
        assert_eq!(counted(1000, "quest"), "1,000 quests");
    }

    #[test]
    fn spans_have_two_units_at_most() {
        let spans = [
            0,
            999,
            1000,
            59_999,
            60_000,
            61_500,
            HOUR,
            HOUR + MINUTE,
            DAY,
            3 * DAY + 5 * HOUR + 1,
        ];
        assert_eq!(
            spans.map(span),
            [
                "0 ms",
                "999 ms",
                "1 s",
                "59 s",
                "1 min",
                "1 min 1 s",
                "1 h",
                "1 h 1 min",
                "1 d",
                "3 d 5 h"
            ]
        );
    }

    #[test]
    fn a_share_is_neither_none_nor_all_unless_it_is() {
        let shares = [(0, 0), (0, 9), (1, 1000), (1, 3), (999, 1000), (9, 9)];
        assert_eq!(
            shares.map(|(part, whole)| percent(part, whole)),
            ["0 %", "0 %", "<1 %", "33 %", ">99 %", "100 %"]
        );
    }

    #[test]
    fn times_are_told_in_utc() {
        let at = "2026-03-01T09:05:59.5+09:00".parse().unwrap();
        assert_eq!(moment(at), "2026-03-01 00:05");
        assert_eq!(second(at), "2026-03-01 00:05:59");
    }
}

#[cfg(test)]
mod tests_scale {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn are_round() {
        assert_eq!(ticks(0), [0; 0]);
        assert_eq!(ticks(1), [1]);
        assert_eq!(ticks(4), [1, 2, 3, 4]);
        assert_eq!(ticks(5), [2, 4, 6]);
        assert_eq!(ticks(75), [20, 40, 60, 80]);
        assert_eq!(ticks(527), [200, 400, 600]);
        assert_eq!(ticks(10_000), [5000, 10_000]);
    }

    proptest! {
        #[test]
        fn are_few_and_only_the_last_is_beyond(most in 1u32..) {
            let ticks = ticks(most);
            prop_assert!((1..=4).contains(&ticks.len()), "{ticks:?}");
            prop_assert!(ticks.iter().rev().skip(1).all(|tick| *tick < most));
            prop_assert!(ticks.last().is_some_and(|tick| *tick >= most));
            prop_assert!(ticks.windows(2).all(|pair| pair[0] < pair[1]));
        }
    }
}

#[cfg(test)]
mod tests_portion {
    use super::*;

    #[test]
    fn is_told_in_percent() {
        let told = [(0, 0), (1, 3), (1, 2), (3, 2), (u64::MAX, u64::MAX)];
        let told = told.map(|(part, whole)| Portion::of(part, whole).to_string());
        assert_eq!(told, ["0%", "33.33%", "50%", "100%", "100%"]);
        assert_eq!(Portion::of(1, 3).rest().to_string(), "66.67%");
        assert_eq!(Portion::hundredths(5).to_string(), "0.05%");
    }
}

#[cfg(test)]
mod tests_bars {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_there_is_seen() {
        let widths = stripes([99_999, 1, 0, 0]).map(|stripe| stripe.width.to_string());
        assert_eq!(widths, ["99.40%", "0.60%", "0%", "0%"]);
        let none = stripes([0, 0]).map(|stripe| stripe.width);
        assert_eq!(none, [Portion::default(); 2]);
    }

    proptest! {
        #[test]
        fn fill_the_width(counts in any::<[u32; 4]>()) {
            let stripes = stripes(counts);
            let total: u32 = stripes.iter().map(|stripe| stripe.width.count()).sum();
            let full = counts.iter().any(|count| *count > 0);
            prop_assert_eq!(total, if full { 10_000 } else { 0 });
            for pair in stripes.windows(2) {
                prop_assert_eq!(pair[0].x.count() + pair[0].width.count(), pair[1].x.count());
            }
        }
    }
}

#[cfg(test)]
mod tests_histogram {
    use super::*;

    fn spread(counts: &[u32]) -> Spread {
        let bars = (1..).zip(counts).map(|(number, quests)| Bar {
            from: number,
            to: number,
            quests: *quests,
        });
        Spread {
            known: counts.iter().sum(),
            marks: None,
            bars: bars.collect(),
        }
    }

    #[test]
    fn the_highest_bar_is_as_high_as_the_plot() {
        let drawn = Histogram::of(&spread(&[50, 100, 0]), number);
        let heights: Vec<_> = drawn
            .columns
            .iter()
            .map(|it| it.height.to_string())
            .collect();
        assert_eq!(heights, ["50%", "100%", "0%"]);
        let tops: Vec<_> = drawn.columns.iter().map(|it| it.y.to_string()).collect();
        assert_eq!(tops, ["50%", "0%", "100%"]);
        assert!(!drawn.columns[2].counted);
    }

    #[test]
    fn one_quest_among_many_is_seen() {
        let drawn = Histogram::of(&spread(&[100_000, 1]), number);
        assert_eq!(drawn.columns[1].height.to_string(), "1%");
    }

    #[test]
    fn bars_stand_apart_and_within() {
        let drawn = Histogram::of(&spread(&[1; 7]), number);
        for pair in drawn.columns.windows(2) {
            assert!(pair[0].x.count() + pair[0].width.count() < pair[1].x.count());
        }
        let last = drawn.columns.last().unwrap();
        assert!(last.x.count() + last.width.count() < 10_000);
    }

    #[test]
    fn few_names_are_written_below() {
        let named = |count| {
            let drawn = Histogram::of(&spread(&vec![1; count]), number);
            drawn.columns.iter().filter(|it| it.name.is_some()).count()
        };
        assert_eq!([0, 1, 5, 6, 20, 21].map(named), [0, 1, 5, 3, 5, 5]);
    }

    #[test]
    fn a_range_of_one_number_is_that_number() {
        let bar = |from, to| Bar {
            from,
            to,
            quests: 1,
        };
        assert_eq!(range(&bar(2, 2), number), "2");
        assert_eq!(range(&bar(60_000, 119_999), span), "1 min to 1 min 59 s");
    }
}

#[cfg(test)]
mod tests_burn_down {
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
