//! The text that a check looks at: a field's, or that of a file in the tree.

use super::context::Context;
use super::fields::shown;
use super::kind::{Flaw, Source};
use super::made_up::rendered;
use crate::gate::Cost;
use crate::gate::Fact;
use crate::quest::FieldName;
use crate::quest::template::Template;
use crate::world::sandbox::FileSeen;
use crate::world::tree::TreePath;

/// Why a file cannot be named without a tree.
const NO_TREE: &str = "a file belongs to a tree: add [tree]";

/// Where a text is.
#[derive(Debug)]
pub(super) enum Subject {
    /// In a field.
    Field(FieldName),
    /// In the file at this path.
    File(Place),
}

/// The path of a file in the tree, to be rendered.
#[derive(Debug)]
pub(super) enum Place {
    /// What a field says; a field that was left out names none.
    Field(FieldName),
    /// What a template says.
    Path(Template),
}

/// Which state of the tree is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// What is judged: with what the agent wrote in its zones.
    Judged,
    /// As it was at scan.
    Pinned,
}

/// A text, and how facts name where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text {
    /// What it says.
    pub(super) said: String,
    field: Option<FieldName>,
    path: Option<String>,
}

impl Subject {
    /// The subject that the keys `field` and `path` name, of which there must be one.
    pub(super) fn new(
        source: &Source<'_>,
        field: Option<&str>,
        path: Option<&str>,
    ) -> Result<Self, Flaw> {
        match (field, path) {
            (Some(field), None) => Ok(Self::Field(source.field("field", field)?)),
            (None, Some(path)) => Ok(Self::File(Place::path(source, path)?)),
            _ => Err(Flaw::new("field", "say either `field` or `path`")),
        }
    }

    /// What looking at it costs.
    pub(super) fn cost(&self) -> Cost {
        match self {
            Self::Field(_) => Cost::Local,
            Self::File(_) => Cost::Tree,
        }
    }

    /// The text; none where the field was left out.
    pub(super) fn read(&self, context: &Context<'_>) -> Result<Option<Text>, Fact> {
        match self {
            Self::Field(name) => Ok(context.field(name).map(|text| Text {
                said: text.to_owned(),
                field: Some(name.clone()),
                path: None,
            })),
            Self::File(place) => match place.resolve(context)? {
                Some(path) => file_text(context, &path, State::Judged).map(Some),
                None => Ok(None),
            },
        }
    }
}

impl Place {
    /// The place that the keys `field` and `path` name, of which there must be one.
    pub(super) fn new(
        source: &Source<'_>,
        field: Option<&str>,
        path: Option<&str>,
    ) -> Result<Self, Flaw> {
        match (field, path) {
            (Some(field), None) => {
                source.needs_tree("field", NO_TREE)?;
                Ok(Self::Field(source.field("field", field)?))
            }
            (None, Some(path)) => Self::path(source, path),
            _ => Err(Flaw::new("path", "say either `path` or `field`")),
        }
    }

    /// The place that the key `path` names.
    pub(super) fn path(source: &Source<'_>, path: &str) -> Result<Self, Flaw> {
        source.needs_tree("path", NO_TREE)?;
        let template = source.template("path", path)?;
        if template.is_fixed() {
            TreePath::parse(path).map_err(|bad| Flaw::new("path", bad.to_string()))?;
        }
        Ok(Self::Path(template))
    }

    /// The path; none where it is a field's, and that was left out.
    pub(super) fn resolve(&self, context: &Context<'_>) -> Result<Option<TreePath>, Fact> {
        let (text, field) = match self {
            Self::Field(name) => match context.field(name) {
                Some(text) => (text.to_owned(), Some(name)),
                None => return Ok(None),
            },
            Self::Path(template) => (rendered(context, template)?, None),
        };
        TreePath::parse(&text).map(Some).map_err(|bad| {
            let mut detail = Fact::wrong("a path inside the tree", bad.to_string());
            detail.field = field.cloned();
            detail
        })
    }
}

impl Text {
    /// The detail, with the place that `within` names inside the text.
    pub(super) fn detail(&self, detail: Fact, within: &str) -> Fact {
        let location = match (&self.path, within) {
            (None, "") => None,
            (None, within) => Some(within.to_owned()),
            (Some(path), "") => Some(path.clone()),
            (Some(path), within) => Some(format!("{path}:{within}")),
        };
        Fact {
            field: self.field.clone(),
            location,
            ..detail
        }
    }
}

/// The bytes of the file at `path`.
pub(super) fn file_bytes(
    context: &Context<'_>,
    path: &TreePath,
    state: State,
) -> Result<Vec<u8>, Fact> {
    let workshop = context.world.workshop;
    let (seen, expected) = match state {
        State::Judged => (workshop.file(path), "a file"),
        State::Pinned => (workshop.pinned(path), "a file that was there at the scan"),
    };
    let detail = |actual: String| Fact::wrong(expected, actual).at(path.as_str());
    match (seen, state) {
        (FileSeen::File(bytes), _) => Ok(bytes),
        (FileSeen::Absent, _) => Err(detail("nothing".to_owned())),
        (FileSeen::Other(what), State::Judged) => Err(detail(what)),
        // Nobody but the operator could have made it so.
        (FileSeen::Other(what), State::Pinned) => Err(detail(what).unconfirmed()),
    }
}

/// The text of the file at `path`.
pub(super) fn file_text(
    context: &Context<'_>,
    path: &TreePath,
    state: State,
) -> Result<Text, Fact> {
    let bytes = file_bytes(context, path, state)?;
    let text = String::from_utf8(bytes).map_err(|bad| {
        let line = line_of(bad.as_bytes(), bad.utf8_error().valid_up_to());
        Fact::wrong("a text in UTF-8", "bytes that are none").at(format!("{path}:{line}"))
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
    Ok(Text {
        said: text,
        field: None,
        path: Some(path.to_string()),
    })
}

/// The line, from 1, on which byte `at` stands.
pub(super) fn line_of(text: &[u8], at: usize) -> usize {
    let before = text.get(..at).unwrap_or(text);
    before.split(|byte| *byte == b'\n').count()
}

/// A value on one line, for a fact.
pub(super) fn brief(value: &serde_json::Value) -> String {
    shown(&value.to_string())
}
