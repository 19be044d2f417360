//! Which lines of which files ran, as coverage tools report it.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;

use super::{Unread, decoded, lines_of};

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Coverage {
    files: BTreeMap<String, Lines>,
}

const FORMAT: &str = "LCOV report";

impl Coverage {
    pub fn read(bytes: &[u8]) -> Result<Self, Unread> {
        let text = decoded(bytes);
        let mut coverage = Self::default();
        let mut record: Option<(&str, Lines)> = None;
        for (index, line) in lines_of(&text).enumerate() {
            let damaged = |why| Unread::damaged(FORMAT, &format!("line {}: {why}", index + 1));
            let line = line.trim();
            if let Some(path) = line.strip_prefix("SF:") {
                if record.replace((path, Lines::default())).is_some() {
                    return Err(damaged("a record begins within another"));
                }
            } else if let Some(data) = line.strip_prefix("DA:") {
                let record = record.as_mut();
                let (_, known) = record.ok_or_else(|| damaged("a line outside of any file"))?;
                let (line, hits) = hit(data).ok_or_else(|| damaged("no line and count"))?;
                known.add(line, hits);
            } else if line == "end_of_record"
                && let Some((path, known)) = record.take()
            {
                let lines = coverage.files.entry(path.to_owned()).or_default();
                for (line, hits) in known.0 {
                    lines.add(line, hits);
                }
            }
        }
        if record.is_some() {
            return Err(Unread::damaged(FORMAT, "it is cut off within a record"));
        }
        if coverage.files.is_empty() {
            return Err(Unread::Nothing { format: FORMAT });
        }
        Ok(coverage)
    }

    pub fn file(&self, spelled: &str) -> Option<&Lines> {
        self.files.get(spelled)
    }

    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }
}

/// A line and how often it ran; below zero, as broken counters report, is never.
fn hit(data: &str) -> Option<(u32, u64)> {
    let mut parts = data.split(',');
    let line = parts.next()?.trim().parse().ok()?;
    Some((line, count(parts.next()?.trim())?))
}

/// A count of any size, the largest that there is standing for all that are larger.
fn count(text: &str) -> Option<u64> {
    let (digits, negative) = match text.strip_prefix('-') {
        Some(digits) => (digits, true),
        None => (text, false),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(if negative {
        0
    } else {
        digits.parse().unwrap_or(u64::MAX)
    })
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lines(BTreeMap<u32, u64>);

#[derive(Debug, Clone, PartialEq, Eq)]
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
    fn add(&mut self, line: u32, hits: u64) {
        if line > 0 {
            let sum = self.0.entry(line).or_default();
            *sum = sum.saturating_add(hits);
        }
    }

    pub fn hits(&self, line: u32) -> Option<u64> {
        self.0.get(&line).copied()
    }

    /// How much of `range` ran; `None` where the report knows no executable line in it, so that
    /// nothing can be said.
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
    pub fn is_whole(&self) -> bool {
        self.uncovered.is_empty()
    }
}

/// Lines as a person writes them: `41-44, 70`.
#[derive(Debug, Clone, Copy)]
pub struct LineRuns<'a>(pub &'a [u32]);

/// How many runs are shown.
const MAX_RUNS: usize = 20;

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
            if index == MAX_RUNS {
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
