//! Applying what a patch says of one file to the text that the file has.

use super::super::text::MOST_CHARS;
use super::{Change, FilePatch, Hunk, Step};

/// Why a patch does not apply to a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    /// It would create a file that there is.
    #[error("the patch creates the file, and there is one")]
    Exists,
    /// It would change or delete a file that there is not.
    #[error("the patch changes the file, and there is none")]
    Missing,
    /// It deletes the file, and does not know all of its lines.
    #[error("the patch deletes the file and leaves {left} of its lines")]
    Remains {
        /// How many lines are left.
        left: usize,
    },
    /// A line is not as it says.
    #[error("hunk {hunk} does not fit at line {line}: expected {expected:?}, found {actual:?}")]
    Hunk {
        /// Which hunk, from 1.
        hunk: usize,
        /// The line of the old file, from 1.
        line: usize,
        /// The line that the patch expects there.
        expected: String,
        /// The line that is there.
        actual: String,
    },
}

/// What stands where a file has no more lines.
const END: &str = "(end of file)";

impl FilePatch {
    /// Applies it to a file's text, `None` where there is no file; gives the text that the file
    /// has afterwards, `None` where it is gone.
    pub fn apply(&self, old: Option<&str>) -> Result<Option<String>, Rejected> {
        let old = match (self.change, old) {
            (Change::Create, Some(_)) => return Err(Rejected::Exists),
            (Change::Create, None) => "",
            (_, None) => return Err(Rejected::Missing),
            (_, Some(old)) => old,
        };
        let new = patched(old, &self.hunks)?;
        if self.change != Change::Delete {
            return Ok(Some(new));
        }
        match new.lines().count() {
            0 => Ok(None),
            left => Err(Rejected::Remains { left }),
        }
    }
}

fn patched(old: &str, hunks: &[Hunk]) -> Result<String, Rejected> {
    let lines: Vec<&str> = old.split_inclusive('\n').collect();
    let mut new = String::with_capacity(old.len());
    let mut at = 0;
    for (index, hunk) in hunks.iter().enumerate() {
        let mut applying = Applying {
            hunk: index + 1,
            lines: &lines,
            at,
            new: &mut new,
        };
        applying.skip_to(hunk.before)?;
        for step in &hunk.lines {
            applying.step(step)?;
        }
        at = applying.at;
    }
    if lines.len() > at {
        let mut rest = Applying {
            hunk: hunks.len(),
            lines: &lines,
            at,
            new: &mut new,
        };
        rest.skip_to(lines.len())?;
    }
    Ok(new)
}

struct Applying<'a> {
    hunk: usize,
    lines: &'a [&'a str],
    at: usize,
    new: &'a mut String,
}

impl Applying<'_> {
    fn skip_to(&mut self, line: usize) -> Result<(), Rejected> {
        let Some(between) = self.lines.get(self.at..line) else {
            self.at = self.lines.len();
            return Err(self.rejected(&format!("line {line}"), END));
        };
        for text in between {
            self.push(text)?;
            self.at += 1;
        }
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<(), Rejected> {
        let (Step::Keep(text) | Step::Drop(text)) = step else {
            let Step::Add(text) = step else { return Ok(()) };
            return self.push(text);
        };
        let found = self.lines.get(self.at).copied();
        if found != Some(text) {
            return Err(self.rejected(text, found.unwrap_or(END)));
        }
        if matches!(step, Step::Keep(_)) {
            self.push(text)?;
        }
        self.at += 1;
        Ok(())
    }

    /// Adds a line; nothing comes after one that nothing ends.
    fn push(&mut self, text: &str) -> Result<(), Rejected> {
        if !self.new.is_empty() && !self.new.ends_with('\n') {
            return Err(self.rejected(END, text));
        }
        self.new.push_str(text);
        Ok(())
    }

    fn rejected(&self, expected: &str, actual: &str) -> Rejected {
        let alike = expected.trim_end_matches('\n') == actual.trim_end_matches('\n');
        let shown = |text: &str| {
            let line = text
                .trim_end_matches('\n')
                .chars()
                .take(MOST_CHARS)
                .collect();
            if alike && !text.ends_with('\n') {
                format!("{line} (without a line end)")
            } else {
                line
            }
        };
        Rejected::Hunk {
            hunk: self.hunk,
            line: self.at + 1,
            expected: shown(expected),
            actual: shown(actual),
        }
    }
}
