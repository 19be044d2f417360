//! What follows a failing point of TAP: a YAML block, or comments as Perl's harness writes them.

use std::sync::LazyLock;

use regex::Regex;

use super::super::complaint::Complaint;
use super::super::text::{brief, constant};

static PERL_PLACE: LazyLock<Regex> =
    LazyLock::new(|| constant(r"\bat (?<file>\S.*?) line (?<line>[0-9]+)\.?$"));

/// The details of one failure, read line by line.
#[derive(Debug, Default)]
pub(super) struct Diagnosis {
    expected: Option<String>,
    actual: Option<String>,
    message: Option<String>,
    location: Option<String>,
    file: Option<String>,
    line: Option<String>,
    column: Option<String>,
    /// Whether a YAML block is open.
    open: bool,
    /// Whether the next line is the first of a text block that `message` begins.
    block: bool,
}

impl Diagnosis {
    /// Takes a line that belongs to the failure; says whether it did.
    pub(super) fn take(&mut self, line: &str) -> bool {
        let text = line.trim();
        if self.open {
            self.open = text != "...";
            self.yaml(text);
            true
        } else if text == "---" && line.starts_with(' ') {
            self.open = true;
            true
        } else if let Some(comment) = text.strip_prefix('#') {
            self.comment(comment.trim());
            true
        } else {
            false
        }
    }

    fn yaml(&mut self, text: &str) {
        if std::mem::take(&mut self.block) && !text.is_empty() {
            self.message = Some(brief(text));
            return;
        }
        let Some((name, value)) = text.split_once(':') else {
            return;
        };
        let value = value.trim();
        if value.starts_with(['|', '>']) {
            self.block = matches!(name, "message" | "error") && self.message.is_none();
            return;
        }
        let value = brief(unquoted(value));
        let part = match name.trim() {
            "message" | "error" => &mut self.message,
            "expected" | "wanted" => &mut self.expected,
            "actual" | "found" | "got" => &mut self.actual,
            "location" => &mut self.location,
            "file" => &mut self.file,
            "line" => &mut self.line,
            "column" => &mut self.column,
            _ => return,
        };
        if !value.is_empty() {
            part.get_or_insert(value);
        }
    }

    fn comment(&mut self, text: &str) {
        if let Some(value) = text.strip_prefix("got:") {
            self.actual.get_or_insert(brief(unquoted(value.trim())));
        } else if let Some(value) = text.strip_prefix("expected:") {
            self.expected.get_or_insert(brief(unquoted(value.trim())));
        } else if let Some(place) = PERL_PLACE.captures(text) {
            self.file.get_or_insert(brief(&place["file"]));
            self.line.get_or_insert(place["line"].to_owned());
        }
    }

    /// The complaint with what was found.
    pub(super) fn applied(self, complaint: Complaint) -> Complaint {
        let parts = [self.file, self.line, self.column];
        let place: Vec<String> = parts.into_iter().map_while(|part| part).collect();
        let place = self.location.unwrap_or_else(|| place.join(":"));
        let mut complaint = complaint.at(Some(&place));
        if let (Some(expected), Some(actual)) = (self.expected, &self.actual) {
            complaint.expected = expected;
            complaint.actual.clone_from(actual);
        } else if let Some(said) = self.message.or(self.actual) {
            complaint.actual = said;
        }
        complaint
    }
}

fn unquoted(text: &str) -> &str {
    for quote in ['\'', '"'] {
        let inner = text
            .strip_prefix(quote)
            .and_then(|rest| rest.strip_suffix(quote));
        if let Some(inner) = inner {
            return inner;
        }
    }
    text
}
