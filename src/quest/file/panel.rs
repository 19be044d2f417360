//! The reviewers of a quest file, or of a file of their own, read whole.

use toml::de::DeTable;

use super::mistake::Mistake;
use super::panel_table::PanelTable;
use super::plant::PlantTable;
use super::question::QuestionTable;
use super::read::{RawTable, take_tables};
use super::reviewer::ReviewerTable;

const TABLES: [&str; 4] = ["panel", "reviewer", "question", "plant"];

/// The reviewers, what they are asked, and what they are judged by.
#[derive(Debug, Clone)]
pub struct Panel<'t> {
    pub(super) text: &'t str,
    pub head: PanelTable,
    pub reviewers: Vec<ReviewerTable>,
    pub questions: Vec<QuestionTable>,
    pub plants: Vec<PlantTable>,
    pub(super) head_table: Option<RawTable<'t>>,
    pub(super) reviewer_tables: Vec<RawTable<'t>>,
    pub(super) question_tables: Vec<RawTable<'t>>,
    pub(super) plant_tables: Vec<RawTable<'t>>,
}

impl<'t> Panel<'t> {
    /// Reads the text of a file that holds reviewers and nothing else.
    pub fn parse(text: &'t str) -> Result<Self, Mistake> {
        let document =
            DeTable::parse(text).map_err(|error| Mistake::of_toml(text, &(0..0), &error))?;
        let mut tables = document.into_inner();
        let panel = Self::take(&mut tables, text)?;
        if let Some((name, _)) = tables.iter().next() {
            let what = super::unknown_name("table", name.get_ref(), &TABLES);
            return Err(Mistake::at(text, &name.span(), what));
        }
        panel.ok_or_else(|| Mistake::at(text, &(0..0), "there is no [[reviewer]] in it"))
    }

    pub(super) fn take(document: &mut DeTable<'t>, text: &'t str) -> Result<Option<Self>, Mistake> {
        let there = TABLES.iter().any(|name| document.contains_key(*name));
        if !there {
            return Ok(None);
        }
        let head_table = document.remove("panel").map(|found| {
            let spot = found.span();
            let inner = found.get_ref().as_table().cloned();
            let inner = inner.map(|inner| RawTable::new(toml::Spanned::new(spot.clone(), inner)));
            inner.ok_or_else(|| Mistake::at(text, &spot, "`panel` is written as [panel]"))
        });
        let head_table = head_table.transpose()?;
        let reviewer_tables = take_tables(document, "reviewer", text)?;
        let question_tables = take_tables(document, "question", text)?;
        let plant_tables = take_tables(document, "plant", text)?;
        let head = head_table.as_ref().map(|table| table.read(text));
        let panel = Self {
            text,
            head: head.transpose()?.unwrap_or_default(),
            reviewers: super::document::read_all(&reviewer_tables, text)?,
            questions: super::document::read_all(&question_tables, text)?,
            plants: super::document::read_all(&plant_tables, text)?,
            head_table,
            reviewer_tables,
            question_tables,
            plant_tables,
        };
        panel.holds_together()?;
        Ok(Some(panel))
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.reviewers.iter().map(|reviewer| reviewer.name.as_str())
    }

    pub fn placed_reviewers(&self) -> impl Iterator<Item = (&ReviewerTable, &RawTable<'t>)> {
        self.reviewers.iter().zip(&self.reviewer_tables)
    }

    #[must_use]
    pub fn text(&self) -> &'t str {
        self.text
    }
}

#[cfg(test)]
mod tests;
