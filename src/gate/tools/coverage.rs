//! Which lines of which files ran, as coverage tools report it.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::{Unread, decoded, lines_of};

/// The files of a report.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Coverage {
    files: BTreeMap<String, Lines>,
}

/// The executable lines of a file, and whether each ran.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lines(BTreeMap<u32, bool>);

const FORMAT: &str = "LCOV report";

impl Coverage {
    /// Reads LCOV's trace files.
    pub fn read(bytes: &[u8]) -> Result<Self, Unread> {
        let text = decoded(bytes);
        let mut coverage = Self::default();
        let mut record: Option<&str> = None;
        for (index, line) in lines_of(&text).enumerate() {
            let damaged = |why| Unread::damaged(FORMAT, &format!("line {}: {why}", index + 1));
            let line = line.trim();
            if let Some(path) = line.strip_prefix("SF:") {
                if record.replace(path).is_some() {
                    return Err(damaged("a record begins within another"));
                }
                coverage.files.entry(path.to_owned()).or_default();
            } else if let Some(data) = line.strip_prefix("DA:") {
                let path = record.ok_or_else(|| damaged("a line outside of any file"))?;
                let (line, ran) = hit(data).ok_or_else(|| damaged("no line and count"))?;
                // Some tools report a line 0 for code that has no place.
                if line > 0 {
                    let lines = coverage.files.entry(path.to_owned()).or_default();
                    *lines.0.entry(line).or_default() |= ran;
                }
            } else if line == "end_of_record" {
                record = None;
            }
        }
        if record.is_some() {
            return Err(Unread::damaged(FORMAT, "it is cut off within a record"));
        }
        if coverage.files.is_empty() {
            return Err(Unread::nothing(FORMAT));
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

/// A line, and whether it ran. A count may be larger than any integer type, and broken counters
/// report one below zero.
fn hit(data: &str) -> Option<(u32, bool)> {
    let mut parts = data.split(',').map(str::trim);
    let line = parts.next()?.parse().ok()?;
    let count: f64 = parts.next()?.parse().ok()?;
    Some((line, count > 0.0))
}

impl Lines {
    /// Whether the report says of this line that it can run.
    pub fn knows(&self, line: u32) -> bool {
        self.0.contains_key(&line)
    }

    /// The lines of `range` that could run and did not, ascending. `None` where the report knows no
    /// line there that could, so that nothing can be said.
    pub fn uncovered(&self, range: &RangeInclusive<u32>) -> Option<Vec<u32>> {
        if range.is_empty() {
            return None;
        }
        let mut lines = self.0.range(range.clone()).peekable();
        lines.peek()?;
        let uncovered = lines.filter(|(_, ran)| !**ran).map(|(line, _)| *line);
        Some(uncovered.collect())
    }
}

/// How many runs of lines are shown.
const MAX_RUNS: usize = 20;

/// Lines as a person writes them: `41-44, 70`.
pub fn line_runs(lines: &[u32]) -> String {
    let runs = lines.chunk_by(|one, next| one.checked_add(1) == Some(*next));
    let (mut shown, mut left) = (Vec::new(), lines.len());
    for run in runs.take(MAX_RUNS) {
        left -= run.len();
        shown.push(match run {
            [first, .., last] => format!("{first}-{last}"),
            _ => run[0].to_string(),
        });
    }
    if left > 0 {
        shown.push(format!("and {left} more"));
    }
    shown.join(", ")
}
