//! The lines of one file that ran and those that did not.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

/// How often each executable line of a file ran.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lines(BTreeMap<u32, u64>);

/// How much of a range of lines ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineCover {
    /// How many lines ran.
    pub covered: u32,
    /// How many lines could run; never 0.
    pub executable: u32,
    /// The lines that could and did not, ascending.
    pub uncovered: Vec<u32>,
}

impl Lines {
    /// Adds to how often a line ran. Lines count from 1; some tools report a line 0 for code that
    /// stands nowhere.
    pub(super) fn add(&mut self, line: u32, hits: u64) {
        if line > 0 {
            let sum = self.0.entry(line).or_default();
            *sum = sum.saturating_add(hits);
        }
    }

    /// Adds up with what another record says of the file.
    pub(super) fn merge(&mut self, other: &Self) {
        for (&line, &hits) in &other.0 {
            self.add(line, hits);
        }
    }

    /// How often a line ran, if it is executable.
    #[must_use]
    pub fn hits(&self, line: u32) -> Option<u64> {
        self.0.get(&line).copied()
    }

    /// How much of `range` ran; `None` where the report knows no executable line in it, so that
    /// nothing can be said.
    #[must_use]
    pub fn cover(&self, range: &RangeInclusive<u32>) -> Option<LineCover> {
        if range.is_empty() {
            return None;
        }
        let mut cover = LineCover {
            covered: 0,
            executable: 0,
            uncovered: Vec::new(),
        };
        for (&line, &hits) in self.0.range(range.clone()) {
            cover.executable += 1;
            if hits > 0 {
                cover.covered += 1;
            } else {
                cover.uncovered.push(line);
            }
        }
        (cover.executable > 0).then_some(cover)
    }
}

impl LineCover {
    /// Whether every executable line ran.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.uncovered.is_empty()
    }
}

/// Lines as a person writes them: `41-44, 70`.
#[derive(Debug, Clone, Copy)]
pub struct LineRuns<'a>(pub &'a [u32]);

/// How many runs are shown.
const MOST_RUNS: usize = 20;

impl fmt::Display for LineRuns<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut left = self.0.len();
        let runs = self
            .0
            .chunk_by(|one, next| one.checked_add(1) == Some(*next));
        for (index, run) in runs.enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            if index == MOST_RUNS {
                return write!(f, "and {left} more");
            }
            left -= run.len();
            match run {
                [first, .., last] => write!(f, "{first}-{last}")?,
                [only] => write!(f, "{only}")?,
                [] => {}
            }
        }
        Ok(())
    }
}
