//! Writes the page, row by row.

use std::io::{self, Write};

use minijinja::{Environment, context};
use serde::Serialize;

use super::head::Head;
use super::row::Row;
use super::templates;
use crate::report::picture::Picture;

/// Why a page could not be made.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// A template is wrong: a mistake of ours.
    #[error("the page's template does not fit what it shows")]
    Template(#[from] minijinja::Error),
    /// What it is written to.
    #[error("could not write the page")]
    Io(#[from] io::Error),
}

/// The page about `picture`, whole.
pub fn html(picture: &Picture) -> Result<String, PageError> {
    let mut page = Vec::new();
    write(picture, &mut page)?;
    String::from_utf8(page)
        .map_err(|error| PageError::Io(io::Error::new(io::ErrorKind::InvalidData, error)))
}

/// Writes the page about `picture` to `to`, which holds no more than a quest of it at once.
///
/// The same picture makes the same bytes.
pub fn write(picture: &Picture, to: &mut dyn Write) -> Result<(), PageError> {
    let templates = templates::environment()?;
    let page = context! {
        page => Head::of(picture),
        style => templates::trusted(templates::STYLE),
        script => templates::trusted(templates::SCRIPT),
    };
    piece(&templates, "top.html", &page, to)?;
    for quest in &picture.quests {
        let row = Row::of(quest, picture);
        piece(&templates, "quest.html", &context! { row => row }, to)?;
    }
    piece(&templates, "end.html", &page, to)
}

/// Writes what a template makes of these values.
fn piece(
    templates: &Environment<'_>,
    name: &str,
    values: &impl Serialize,
    to: &mut dyn Write,
) -> Result<(), PageError> {
    let made = templates.get_template(name)?.render(values)?;
    Ok(to.write_all(made.as_bytes())?)
}
