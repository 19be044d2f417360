//! `email-format` to `email-identity`: the steps of the e-mail gate, for any quest file.
//!
//! A step has rules of its own, several of them, each with its level. All steps of one judgement
//! share the pages that they read.

use std::rc::Rc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;

use super::kind::{Check, CheckHead, Flaw, Kind, Parsed, Source, Verifies};
use super::takes::Takes;
use crate::gate::Rule;
use crate::gate::email::step::{Context, EMAIL, Places, SITE, SOURCE, Step};
use crate::gate::email::{format, identity};
use crate::quest::FieldName;
use crate::quest::file::{Mistake, RawTable, unknown_name};

/// The keys of all steps; each reads those that it names.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct StepTable {
    /// The field that holds the company's site. Default: `site`.
    site: Option<String>,
    /// The field that holds the address. Default: `email`.
    email: Option<String>,
    /// The field that holds the page that shows the address. Default: `source`.
    source: Option<String>,
    /// The column that names the expected site, if the list itself names no site of the quest.
    anchor: Option<String>,
    /// Whether an address that looks like a person's own is left to a person.
    role_only: bool,
}

impl Kind for Step {
    fn name(&self) -> &'static str {
        self.name
    }

    fn verifies(&self) -> Verifies {
        self.verifies
    }

    fn build(
        &'static self,
        ours: &RawTable<'_>,
        rest: &RawTable<'_>,
        source: &Source<'_>,
    ) -> Result<Check, Mistake> {
        let text = source.file.text();
        let mut words = ["level", "means", "remedy"].into_iter();
        if let Some(key) = words.find(|key| ours.has(key)) {
            let what = format!(
                "a check `{}` has rules of its own, and no `{key}`; `scan --set gate.level=RULE=LEVEL` sets theirs",
                self.name
            );
            return Err(Mistake::at(text, &ours.spot_of(key), what));
        }
        if let Some(key) = rest.keys().find(|key| !self.keys.contains(key)) {
            let what = unknown_name("key", key, self.keys);
            return Err(Mistake::at(text, &rest.spot_of(key), what));
        }
        let table: StepTable = rest.read(text)?;
        let places = self.places(&table, source).map_err(|Flaw { key, what }| {
            let what = format!("{what}; `{key}` says which it is");
            Mistake::at(text, &rest.spot_of(key), what)
        })?;
        let parses = [
            ("site", Parsed::WebUrl(places.site.clone())),
            ("email", Parsed::Mailbox(places.email.clone())),
            ("source", Parsed::WebUrl(places.source.clone())),
        ];
        let parses = parses
            .into_iter()
            .filter(|(key, _)| self.keys.contains(key));
        let is_last = self.name == identity::STEP.name;
        Ok(Check {
            cost: self.cost,
            needs: source.head.needs.clone(),
            rules: self.rules().to_vec(),
            verifies: self.verifies,
            takes: is_last.then(|| Takes::Mailbox(places.email.clone())),
            parses: parses.map(|(_, parsed)| parsed).collect(),
            reports_unparsed: self.name == format::STEP.name,
            run: Rc::new(move |base| self.facts(&Context::new(base, &places, table.role_only))),
            ..Check::named(&source.head.name)
        })
    }

    fn rules(&self) -> &'static [Rule] {
        Step::rules(self)
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        let mut schema = StepTable::json_schema(generator);
        let properties = schema.get_mut("properties");
        if let Some(properties) = properties.and_then(serde_json::Value::as_object_mut) {
            properties.retain(|key, _| self.keys.contains(&key.as_str()));
        }
        schema
    }

    fn head_keys(&self) -> &'static [&'static str] {
        CheckHead::KEYS_OF_MANY_RULES
    }
}

impl Step {
    fn places(&self, table: &StepTable, source: &Source<'_>) -> Result<Places, Flaw> {
        let field = |key: &'static str, named: &Option<String>, own: FieldName| {
            if named.is_none() && !self.keys.contains(&key) {
                return Ok(own);
            }
            let name = named.as_deref().unwrap_or(own.as_str());
            source.field(key, name).map(|field| field.name)
        };
        let anchor = table.anchor.as_deref();
        Ok(Places {
            site: field("site", &table.site, SITE)?,
            email: field("email", &table.email, EMAIL)?,
            source: field("source", &table.source, SOURCE)?,
            anchor: anchor
                .map(|column| source.column("anchor", column))
                .transpose()?,
        })
    }
}
