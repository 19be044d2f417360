//! Which lines of which files ran, as coverage tools report it.

mod lcov;
mod line_cover;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use self::line_cover::{LineCover, LineRuns, Lines};
use super::text::decoded;
use super::unread::Unread;

/// What a coverage report says, by file as it spells them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Coverage {
    files: BTreeMap<String, Lines>,
}

impl Coverage {
    /// Reads an LCOV report.
    pub fn read(bytes: &[u8]) -> Result<Self, Unread> {
        lcov::read(&decoded(bytes))
    }

    /// The lines of the file that the report spells so.
    #[must_use]
    pub fn file(&self, spelled: &str) -> Option<&Lines> {
        self.files.get(spelled)
    }

    /// The files, as the report spells them.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    fn of(&mut self, path: &str) -> &mut Lines {
        self.files.entry(path.to_owned()).or_default()
    }
}
