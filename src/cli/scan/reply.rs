//! The reply of `scan`: how the list was read, its first quests, and the next step.

use std::path::Path;

use anyhow::Result;
use minijinja::context;
use schemars::JsonSchema;
use serde::Serialize;

use super::super::context::Context;
use super::super::exit::UsageError;
use super::super::shell_line::ShellLine;
use super::super::source_list::PlannedList;
use crate::base::text::{plural, truncate};
use crate::gate::email::site::is_anchored;
use crate::judge::CarryCounts;
use crate::quest::{Anchor, ListingCounts, Quest};
use crate::session::{SourceRecord, WorldKind};
use crate::table::SourceFormat;

/// What tells one column of the list from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum ListForm {
    #[default]
    Columns,
    /// The keys of JSON Lines.
    Objects,
    /// There is one column only.
    Lines,
}

/// The JSON form of `scan`.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(in crate::cli) struct Scanned {
    pub(super) session: String,
    pub(super) source: String,
    /// The sheet that was read, of a workbook.
    pub(super) sheet: Option<String>,
    /// The row of headings, if there is one.
    pub(super) header_row: Option<u32>,
    #[serde(skip)]
    pub(super) form: ListForm,
    /// What one quest is about.
    #[serde(skip)]
    pub(super) unit: String,
    /// What the columns of the key are called.
    pub(super) key: Vec<String>,
    /// The keys of the first quests that are new.
    pub(super) first_keys: Vec<String>,
    #[serde(flatten)]
    pub(super) counts: ListingCounts,
    /// The first rows that were merged, for people.
    #[serde(skip)]
    pub(super) merged: Vec<String>,
    /// How many quests the session has.
    pub(super) quests: usize,
    /// How many of them are new.
    pub(super) added: usize,
    /// How many have no row in this list.
    pub(super) gone: usize,
    pub(super) updated: bool,
    /// How many quests that were scanned without a site have one now.
    pub(super) sites_added: usize,
    /// Whether an operator's key was added.
    pub(super) key_added: bool,
    /// Whether there are reviewers, none of whom was asked.
    #[serde(skip)]
    pub(super) reviewers: bool,
    /// How many agents of a run the quest file names.
    #[serde(skip)]
    pub(super) agents: usize,
    /// What an earlier session brought.
    pub(super) carried: Option<CarriedOver>,
    /// What the session is judged by.
    pub(super) world: WorldKind,
}

/// The JSON form of what was carried.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct CarriedOver {
    /// The earlier session.
    pub(super) from: String,
    #[serde(flatten)]
    pub(super) counts: CarryCounts,
}

/// How many keys are shown, so that a person can see that the right column was read, and how long
/// each may be.
const SHOWN_KEYS: usize = 3;
const MAX_KEY: usize = 40;

/// How many quests are named whose sites are no domains.
const SHOWN_SITES: usize = 5;

impl Scanned {
    pub(super) fn new(
        session: &Path,
        source: &SourceRecord,
        planned: &PlannedList,
        unit: String,
    ) -> Self {
        let list = &planned.list;
        let form = match list.format() {
            SourceFormat::Lines { .. } => ListForm::Lines,
            _ if list.keys().is_some() => ListForm::Objects,
            _ => ListForm::Columns,
        };
        let header = list.header().filter(|_| form != ListForm::Objects);
        Self {
            session: session.display().to_string(),
            source: source.path.clone(),
            sheet: list.sheet().map(str::to_owned),
            header_row: header.map(|header| header.row),
            form,
            unit,
            key: planned.key_labels(),
            ..Self::default()
        }
    }

    pub(super) fn show(&self, context: &mut Context) {
        let session = context.named_session.as_deref();
        let shown = self.first_keys.iter();
        let mut first: Vec<String> = shown
            .map(|key| format!("\"{}\"", truncate(key, MAX_KEY)))
            .collect();
        if self.added > first.len() {
            first.push("…".to_owned());
        }
        let run = match self.agents {
            0 => "run --agent claude",
            _ => "run",
        };
        // The session is made; a closed pipe does not change the exit code.
        let _ = context.output.show(self, |out, scan| {
            let values = context! {
                scan,
                source => scan.source,
                keyed => scan.form == ListForm::Objects,
                has_columns => scan.form != ListForm::Lines,
                unit => scan.unit,
                first => first.join(", "),
                merged => scan.merged,
                reviewers => scan.reviewers,
                run => ShellLine::comail(run, session).text(),
                next => ShellLine::comail("next", session).text(),
            };
            out.template(include_str!("../text/scan.txt"), values);
        });
    }
}

pub(super) fn first_keys(quests: &[Quest]) -> Vec<String> {
    let keys = quests.iter().map(|quest| quest.key.to_string());
    keys.take(SHOWN_KEYS).collect()
}

/// Which rows were merged into which: the first ones.
pub(super) fn merged_rows(quests: &[Quest]) -> Vec<String> {
    let merged = quests.iter().flat_map(|quest| {
        let others = quest.rows.iter().skip(1);
        others.map(move |row| {
            let key = truncate(quest.key.as_str(), MAX_KEY);
            format!("row {row} into row {} ({key})", quest.rows[0])
        })
    });
    merged.take(SHOWN_KEYS).collect()
}

/// Refuses a column of sites without a single website, and notes how many values are not domains, so
/// that answers cannot be compared with them.
pub(super) fn check_sites(
    context: &mut Context,
    quests: &[Quest],
    column: Option<String>,
) -> Result<()> {
    let Some(column) = column else {
        return Ok(());
    };
    let (mut usable, mut others, mut first) = (0_u32, 0_u32, None);
    let mut places = Vec::new();
    for quest in quests {
        if is_anchored(quest) {
            usable += 1;
        } else if quest.anchor.is_some() {
            others += 1;
            if places.len() < SHOWN_SITES {
                let row = quest.rows.first().copied().unwrap_or_default();
                places.push(format!("{} in row {row}", quest.key));
            }
            first.get_or_insert(quest);
        }
    }
    let Some(first) = first else {
        if usable == 0 {
            let note = format!("the column `{column}` is empty, so that no website is known");
            context.output.note(&note);
        }
        return Ok(());
    };
    if usable == 0 {
        let value = first.anchor.as_ref().map_or("", Anchor::text);
        let text = format!(
            "the column `{column}` names no website: the first value is \"{}\"",
            truncate(value, MAX_KEY)
        );
        let hint = "name the column of websites with --site-col, or leave --site-col out";
        return Err(UsageError(text).hint(hint).into());
    }
    if others as usize > places.len() {
        places.push("…".to_owned());
    }
    context.output.note(&format!(
        "{} with a site that is not a valid domain ({}); their answers are judged as if no site \
         were known",
        plural(others, "quest"),
        places.join(", ")
    ));
    Ok(())
}
