//! The text that a check holds another one against: what a template says, or a file as it was at
//! the scan.

use super::context::Context;
use super::made_up::rendered;
use super::probe::{Detail, Found};
use super::spec::{Flaw, Source};
use super::subject::{Place, State, file_text};
use crate::base::text::is_blank;
use crate::gate::Cost;
use crate::quest::template::Template;

/// Where such a text comes from.
#[derive(Debug)]
pub(super) enum Origin {
    /// A template, such as `{{ input.text }}`.
    Text(Template),
    /// A file that no agent has written.
    File(Place),
}

/// The text, and what facts call it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Original {
    /// What it says.
    pub(super) said: String,
    /// Its path, or `source`.
    name: String,
}

impl Origin {
    /// The origin that the keys `of` and `of_path` name, of which there must be one.
    pub(super) fn new(
        source: &Source<'_>,
        of: Option<&str>,
        of_path: Option<&str>,
    ) -> Result<Self, Flaw> {
        match (of, of_path) {
            (Some(text), None) => {
                let template = source.template("of", text)?;
                if template.is_fixed() {
                    let what = "it is the same for every quest: name a column, as {{ input.text }}";
                    return Err(Flaw::new("of", what));
                }
                Ok(Self::Text(template))
            }
            (None, Some(path)) => Ok(Self::File(Place::path(source, path)?)),
            _ => Err(Flaw::new("of", "say either `of` or `of_path`")),
        }
    }

    /// What looking at it costs.
    pub(super) fn cost(&self) -> Cost {
        match self {
            Self::Text(_) => Cost::Local,
            Self::File(_) => Cost::Tree,
        }
    }

    /// The text. One that says nothing leaves nothing to hold another against.
    pub(super) fn read(&self, context: &Context<'_>) -> Result<Original, Found> {
        let original = match self {
            Self::Text(template) => Original {
                said: rendered(context, template)?,
                name: String::from("source"),
            },
            Self::File(place) => of_file(place, context)?,
        };
        if is_blank(&original.said) {
            let detail = Detail::new("a source that says something", "a blank");
            return Err(detail.at(original.name).unconfirmed());
        }
        Ok(original)
    }
}

impl Original {
    /// A line of it, as facts name it.
    pub(super) fn line(&self, line: usize) -> String {
        format!("{}:{line}", self.name)
    }
}

fn of_file(place: &Place, context: &Context<'_>) -> Result<Original, Found> {
    let nowhere = || Detail::new("a path of a source", "none").unconfirmed();
    let path = place.resolve(context)?.ok_or_else(nowhere)?;
    let text = file_text(context, &path, State::Pinned)?;
    Ok(Original {
        said: text.said,
        name: path.to_string(),
    })
}
