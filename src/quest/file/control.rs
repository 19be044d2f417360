//! `[[control]]`: a known submission with the verdict that it must get.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;
use toml::de::DeTable;

use super::read::{Mistake, RawTable, Spot, read_all, take_tables, unknown_name};
use crate::quest::Verdict;

/// `[[control]]`.
///
/// Paths in it are relative to the quest file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ControlTable {
    /// Its name.
    pub name: String,
    /// The key of its quest.
    pub key: String,
    /// The cells of its quest's row that checks and the prompt go by.
    #[serde(default)]
    pub input: BTreeMap<String, String>,
    /// The site that the list names for its quest.
    pub anchor_site: Option<String>,
    /// Whether it is judged as with `scan --role-only`.
    #[serde(default)]
    pub role_only: bool,
    /// The fields that are submitted.
    #[serde(default)]
    pub submit: BTreeMap<String, String>,
    /// The verdict that it must get.
    #[schemars(with = "String", extend("enum" = ["PASS", "REVIEW", "FAIL"]))]
    pub verdict: Verdict,
    /// The rules that must fire, and no others. Where it is not said any may.
    pub fires: Option<Vec<String>>,
    /// A directory that stands in for the tree as `scan` finds it.
    pub tree: Option<String>,
    /// A directory whose files stand in for what the agent wrote into the tree.
    pub writes: Option<String>,
    /// A recorded world, as JSON, that stands in for pages and DNS.
    pub world: Option<String>,
    /// Values that count as taken by quests which passed before, by the field's name; an address
    /// takes its domain as well.
    #[serde(default)]
    pub taken: BTreeMap<String, String>,
    /// What each reviewer answers, by its name: nobody is asked. Where it is not said no reviewer
    /// is heard.
    pub reviewed: Option<BTreeMap<String, String>>,
}

/// `[[final.control]]`: a known result with the verdict that the final gate must give it.
///
/// Paths in it are relative to the quest file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FinalControlTable {
    /// Its name.
    pub name: String,
    /// The verdict that it must get.
    #[schemars(with = "String", extend("enum" = ["PASS", "REVIEW", "FAIL"]))]
    pub verdict: Verdict,
    /// The rules that must fire, and no others. Where it is not said any may.
    pub fires: Option<Vec<String>>,
    /// A directory that stands in for the tree as `scan` finds it.
    pub tree: Option<String>,
    /// A directory whose files stand in for what the agents wrote into the tree.
    pub writes: Option<String>,
    /// A recorded world, as JSON, that stands in for pages and DNS.
    pub world: Option<String>,
}

/// `[final.negative]`: edits that the final gate must notice.
///
/// After it has passed, it judges the result once more with these laid over a copy of it. If it
/// does not fail then, it would pass anything, and counts as not passed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NegativeTable {
    /// Files of the tree, inside the zones or not, with the text that each has then.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Files of the tree that are not there then.
    #[serde(default)]
    pub remove: Vec<String>,
    /// The rules that must fire, and no others. Where it is not said any may.
    pub fires: Option<Vec<String>>,
}

/// `[final]`, read.
#[derive(Debug, Clone)]
pub struct FinalPart<'t> {
    pub checks: Vec<RawTable<'t>>,
    pub controls: Vec<FinalControlTable>,
    pub negative: Option<NegativeTable>,
    control_tables: Vec<RawTable<'t>>,
    negative_table: Option<RawTable<'t>>,
}

/// What `[final]` may hold.
const PARTS: [&str; 3] = ["check", "control", "negative"];

impl<'t> FinalPart<'t> {
    /// Takes `[final]` out of a document; none where it has none.
    pub(super) fn take(document: &mut DeTable<'t>, text: &'t str) -> Result<Option<Self>, Mistake> {
        let Some(found) = document.remove("final") else {
            return Ok(None);
        };
        let spot = found.span();
        let mut inner = table(found, text, "`final` is written as [final]")?.into_inner();
        if let Some(name) = inner
            .keys()
            .find(|key| !PARTS.contains(&key.get_ref().as_ref()))
        {
            let what = unknown_name("part of [final]", name.get_ref(), &PARTS);
            return Err(Mistake::at(text, &name.span(), what));
        }
        let checks = take_tables(&mut inner, "check", text)?;
        let control_tables = take_tables(&mut inner, "control", text)?;
        let negative = inner.remove("negative");
        let negative_table = negative
            .map(|found| table(found, text, "`negative` is written as [final.negative]"))
            .transpose()?
            .map(RawTable::new);
        if checks.is_empty() {
            let what = "[final] without a [[final.check]] would pass anything";
            return Err(Mistake::at(text, &spot, what));
        }
        let negative = negative_table.as_ref().map(|table| table.read(text));
        let part = Self {
            checks,
            controls: read_all(&control_tables, text)?,
            control_tables,
            negative: negative.transpose()?,
            negative_table,
        };
        part.hold_together(text)?;
        Ok(Some(part))
    }

    pub fn placed_controls(&self) -> impl Iterator<Item = (&FinalControlTable, &RawTable<'t>)> {
        self.controls.iter().zip(&self.control_tables)
    }

    #[must_use]
    pub fn placed_negative(&self) -> Option<(&NegativeTable, &RawTable<'t>)> {
        self.negative.as_ref().zip(self.negative_table.as_ref())
    }

    fn hold_together(&self, text: &str) -> Result<(), Mistake> {
        let mut names = BTreeSet::new();
        for (control, raw) in self.placed_controls() {
            if !names.insert(&control.name) {
                let what = format!("there are two controls `{}` in [final]", control.name);
                return Err(Mistake::at(text, &raw.spot_of("name"), what));
            }
        }
        match self.placed_negative() {
            Some((table, raw)) if table.files.is_empty() && table.remove.is_empty() => {
                let what = "it changes nothing: name a file in `files` or in `remove`";
                Err(Mistake::at(text, &raw.spot(), what))
            }
            _ => Ok(()),
        }
    }
}

fn table<'t>(
    found: Spanned<toml::de::DeValue<'t>>,
    text: &str,
    how: &str,
) -> Result<Spanned<DeTable<'t>>, Mistake> {
    let spot: Spot = found.span();
    match found.into_inner() {
        toml::de::DeValue::Table(inner) => Ok(Spanned::new(spot, inner)),
        _ => Err(Mistake::at(text, &spot, how)),
    }
}
