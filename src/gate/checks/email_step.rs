//! `email-format` to `email-identity`: the steps of the e-mail gate, for any quest file.
//!
//! A step has rules of its own, several of them, each with its level. Steps that name the same
//! fields share what they parsed and the pages that they read.

use std::rc::Rc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;

use super::kind::{Check, CheckHead, Flaw, Kind, Parsed, Shows, Source};
use super::takes::Takes;
use crate::gate::Rule;
use crate::gate::email::context::{self as email, Places};
use crate::gate::email::step::Step;
use crate::gate::email::{domain, format, freemail, identity, mail, placeholder, source};
use crate::quest::FieldName;
use crate::quest::file::{Mistake, RawTable, unknown_name};

pub struct StepKind {
    name: &'static str,
    shows: Shows,
    /// The keys of [`StepTable`] that it reads.
    keys: &'static [&'static str],
    step: &'static Step,
}

const fn step(
    name: &'static str,
    shows: Shows,
    keys: &'static [&'static str],
    step: &'static Step,
) -> StepKind {
    StepKind {
        name,
        shows,
        keys,
        step,
    }
}

/// The keys of the fields that a step parses.
const FIELDS: &[&str] = &["site", "email", "source"];

pub static FORMAT: StepKind = step("email-format", Shows::Form, FIELDS, &format::STEP);

pub static PLACEHOLDER: StepKind = step(
    "email-placeholder",
    Shows::Form,
    &["site", "email", "role_only"],
    &placeholder::STEP,
);

pub static FREEMAIL: StepKind = step(
    "email-freemail",
    Shows::Form,
    &["site", "email"],
    &freemail::STEP,
);

pub static DOMAIN: StepKind = step(
    "email-domain",
    Shows::Form,
    &["site", "email", "anchor"],
    &domain::STEP,
);

pub static SOURCE: StepKind = step("email-source", Shows::Fact, FIELDS, &source::STEP);

// It shows nothing of the company, since every domain of a provider takes mail.
pub static MAIL: StepKind = step("email-mail", Shows::Form, &["email"], &mail::STEP);

pub static IDENTITY: StepKind = step(
    "email-identity",
    Shows::Fact,
    &["site", "email", "source", "anchor"],
    &identity::STEP,
);

/// A step's own keys.
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

impl Kind for StepKind {
    fn name(&self) -> &'static str {
        self.name
    }

    fn shows(&self) -> Shows {
        self.shows
    }

    fn build(
        &self,
        ours: &RawTable<'_>,
        rest: &RawTable<'_>,
        source: &Source<'_>,
    ) -> Result<Check, Mistake> {
        let text = source.file.text();
        let mut words = ["level", "means", "remedy"].into_iter();
        if let Some(key) = words.find(|key| ours.has(key)) {
            let what = format!(
                "a check `{}` has rules of its own, and no `{key}`; `scan --level` sets theirs",
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
        let step = self.step;
        Ok(Check {
            cost: step.cost,
            needs: source.head.needs.clone(),
            rules: step.rules().to_vec(),
            shows: self.shows,
            takes: (self.name == IDENTITY.name).then(|| Takes::Mailbox(places.email.clone())),
            parses: parses.map(|(_, parsed)| parsed).collect(),
            reports_unparsed: self.name == FORMAT.name,
            run: Rc::new(move |context| {
                let shared = context.email(&places, table.role_only);
                let found = (step.run)(&shared).into_iter();
                found.map(|fact| shared.told(fact)).collect()
            }),
            ..Check::named(&source.head.name)
        })
    }

    fn rules(&self) -> &'static [Rule] {
        self.step.rules()
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

impl StepKind {
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
            site: field("site", &table.site, email::SITE)?,
            email: field("email", &table.email, email::EMAIL)?,
            source: field("source", &table.source, email::SOURCE)?,
            anchor: anchor
                .map(|column| source.column("anchor", column))
                .transpose()?,
        })
    }
}
