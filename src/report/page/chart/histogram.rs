//! A histogram: how a number is spread over the quests.

use serde::Serialize;

use super::Portion;
use crate::report::picture::{Bar, Spread};

/// The most bars that have their counts written above them.
const MOST_COUNTED: usize = 10;

/// The most numbers below the bars.
const MOST_NAMED: usize = 5;

/// A histogram as it is drawn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Histogram {
    /// Its bars, from the least number on.
    pub columns: Vec<Column>,
    /// What says most of it; none where nothing is known.
    pub marks: Option<Summary>,
    /// Of how many quests the number is known.
    pub known: u32,
}

/// What says most of a spread, in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// The least.
    pub least: String,
    /// Half of the quests have no more.
    pub median: String,
    /// Nine in ten have no more.
    pub ninth: String,
    /// The greatest.
    pub most: String,
}

/// A bar.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Column {
    /// Where it begins.
    pub x: Portion,
    /// How wide it is.
    pub width: Portion,
    /// Its middle.
    pub middle: Portion,
    /// How far down it begins.
    pub y: Portion,
    /// How high it is.
    pub height: Portion,
    /// What it counts, in words.
    pub range: String,
    /// How many quests.
    pub quests: u32,
    /// Whether the count is written above it.
    pub counted: bool,
    /// What is written below it, where something is.
    pub name: Option<String>,
}

impl Histogram {
    /// The histogram of a spread, the numbers of which `say` puts in words.
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
    // A slot is ten parts wide, of which the gap beside the bar takes one on either side.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::page::words;

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
        let drawn = Histogram::of(&spread(&[50, 100, 0]), words::number);
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
        let drawn = Histogram::of(&spread(&[100_000, 1]), words::number);
        assert_eq!(drawn.columns[1].height.to_string(), "1%");
    }

    #[test]
    fn bars_stand_apart_and_within() {
        let drawn = Histogram::of(&spread(&[1; 7]), words::number);
        for pair in drawn.columns.windows(2) {
            assert!(pair[0].x.count() + pair[0].width.count() < pair[1].x.count());
        }
        let last = drawn.columns.last().unwrap();
        assert!(last.x.count() + last.width.count() < 10_000);
    }

    #[test]
    fn few_names_are_written_below() {
        let named = |count| {
            let drawn = Histogram::of(&spread(&vec![1; count]), words::number);
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
        assert_eq!(range(&bar(2, 2), words::number), "2");
        assert_eq!(
            range(&bar(60_000, 119_999), words::span),
            "1 min to 1 min 59 s"
        );
    }
}
