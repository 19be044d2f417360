//! How a number is spread over the quests: a histogram and its middle.

use serde::Serialize;

/// How a number is spread.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Spread {
    /// Of how many quests the number is known.
    pub known: u32,
    /// The least, the middle, that of nine in ten, and the greatest; none where nothing is known.
    pub marks: Option<Marks>,
    /// The bars, from the least number on; empty ones between are there.
    pub bars: Vec<Bar>,
}

/// What says most of a spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Marks {
    /// The least.
    pub least: u64,
    /// Half of the quests have no more.
    pub median: u64,
    /// Nine in ten have no more.
    pub ninth: u64,
    /// The greatest.
    pub most: u64,
}

/// A bar of a histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Bar {
    /// The least number that it counts.
    pub from: u64,
    /// The greatest number that it counts.
    pub to: u64,
    /// How many quests.
    pub quests: u32,
}
