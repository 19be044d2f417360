//! Which lines of which files ran, as coverage tools report it.

mod cobertura;
mod go_cover;
mod lcov;
mod line_cover;
mod paths;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use self::line_cover::{LineCover, LineRuns, Lines};
pub use self::paths::NoFile;
use super::text::decoded;
use super::unread::Unread;

/// A format of coverage reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CoverageFormat {
    /// LCOV's trace files.
    Lcov,
    /// Cobertura's XML.
    Cobertura,
    /// The profiles of `go test -coverprofile`.
    Go,
}

/// What a coverage report says, by file as it spells them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Coverage {
    files: BTreeMap<String, Lines>,
}

impl Coverage {
    /// Reads a report.
    pub fn read(format: CoverageFormat, bytes: &[u8]) -> Result<Self, Unread> {
        let text = decoded(bytes);
        match format {
            CoverageFormat::Lcov => lcov::read(&text),
            CoverageFormat::Cobertura => cobertura::read(&text),
            CoverageFormat::Go => go_cover::read(&text),
        }
    }

    /// The lines of a file: of the path as it is, else of the only path that ends as this one
    /// does, or that this one ends as.
    pub fn file(&self, path: &str) -> Result<&Lines, NoFile> {
        let spelled = paths::meant(path, self.files.keys().map(String::as_str))?;
        self.files.get(spelled).ok_or_else(NoFile::unknown)
    }

    /// The files, as the report spells them.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    fn of(&mut self, path: &str) -> &mut Lines {
        self.files.entry(path.to_owned()).or_default()
    }
}
