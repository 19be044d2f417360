//! The built-in kind: find the e-mail address of each company.
//!
//! It is an ordinary quest file that is compiled in.

use std::sync::LazyLock;

use super::file::QuestFile;
use super::{FieldName, QuestKind};

pub const NAME: &str = "email";
pub const SITE: FieldName = FieldName::known("site");
pub const EMAIL: FieldName = FieldName::known("email");
pub const SOURCE: FieldName = FieldName::known("source");

pub const TEXT: &str = include_str!("email.toml");

const CONTROLS: &str = "\n[[control]]\n";

static FILE: LazyLock<QuestFile<'static>> = LazyLock::new(|| {
    let text = TEXT.split(CONTROLS).next().unwrap_or(TEXT);
    let file = QuestFile::parse(text);
    file.unwrap_or_else(|mistake| unreachable!("the built-in quest file: {mistake}"))
});

static KIND: LazyLock<QuestKind> = LazyLock::new(|| FILE.kind());

/// The quest file without its controls, which are slow to parse and which few commands need.
pub fn file() -> &'static QuestFile<'static> {
    &FILE
}

pub fn kind() -> QuestKind {
    KIND.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_without_controls_has_everything_else() {
        let whole = QuestFile::parse(TEXT).unwrap();
        assert_eq!(whole.kind(), kind());
        assert_eq!(whole.name, NAME);
        assert_eq!(whole.checks.len(), file().checks.len());
        assert!(file().controls.is_empty());
        assert!(!whole.controls.is_empty());
    }

    #[test]
    fn the_file_has_the_known_fields() {
        let kind = kind();
        let names: Vec<_> = kind.fields.iter().map(|field| &field.name).collect();
        assert_eq!(names, [&SITE, &EMAIL, &SOURCE]);
        assert_eq!(kind.answer, Some(EMAIL));
        assert!(kind.fields.iter().all(|field| field.required));
    }
}
