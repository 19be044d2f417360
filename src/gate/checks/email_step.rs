//! `email-format` to `email-identity`: the steps of the e-mail gate, for any quest file.
//!
//! A step has rules of its own, several of them, each with its level. Steps that name the same
//! fields share what they parsed and the pages that they read.

use std::rc::Rc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;

use super::context::Context;
use super::kind::Built;
use super::kind::CheckHead;
use super::kind::Parsed;
use super::kind::{Flaw, Shows, Source};
use super::takes::Takes;
use crate::gate::email::context::{self as email, Places};
use crate::gate::email::step::Step;
use crate::gate::email::{domain, format, freemail, identity, mail, placeholder, source};
use crate::gate::{Check, Cost, Fact, Rule};
use crate::quest::FieldName;
use crate::quest::file::{Mistake, RawTable, unknown_name};

pub struct StepKind {
    pub name: &'static str,
    pub shows: Shows,
    /// The keys of [`StepTable`] that it goes by.
    keys: &'static [&'static str],
    step: &'static Step,
}

/// Step 1.
pub static FORMAT: StepKind = StepKind {
    name: "email-format",
    shows: Shows::Form,
    keys: &["site", "email", "source"],
    step: &format::STEP,
};

/// Step 2.
pub static PLACEHOLDER: StepKind = StepKind {
    name: "email-placeholder",
    shows: Shows::Form,
    keys: &["site", "email", "role_only"],
    step: &placeholder::STEP,
};

/// Step 3.
pub static FREEMAIL: StepKind = StepKind {
    name: "email-freemail",
    shows: Shows::Form,
    keys: &["site", "email"],
    step: &freemail::STEP,
};

/// Step 4.
pub static DOMAIN: StepKind = StepKind {
    name: "email-domain",
    shows: Shows::Form,
    keys: &["site", "email", "anchor"],
    step: &domain::STEP,
};

/// Step 5.
pub static SOURCE: StepKind = StepKind {
    name: "email-source",
    shows: Shows::Fact,
    keys: &["site", "email", "source"],
    step: &source::STEP,
};

/// Step 6: it shows nothing of the company, since every domain of a provider takes mail.
pub static MAIL: StepKind = StepKind {
    name: "email-mail",
    shows: Shows::Form,
    keys: &["email"],
    step: &mail::STEP,
};

/// Step 7.
pub static IDENTITY: StepKind = StepKind {
    name: "email-identity",
    shows: Shows::Fact,
    keys: &["site", "email", "source", "anchor"],
    step: &identity::STEP,
};

/// A step's own keys.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct StepTable {
    /// The field that holds the company's site: `site` where it is not said.
    site: Option<String>,
    /// The field that holds the address: `email` where it is not said.
    email: Option<String>,
    /// The field that holds the page which shows it: `source` where it is not said.
    source: Option<String>,
    /// The column that names the site which is expected; one that the list itself gives as the
    /// quest's site comes first.
    anchor: Option<String>,
    /// Whether an address that reads as a person's is for a person to judge.
    role_only: bool,
}

struct EmailStep {
    head: CheckHead,
    step: &'static Step,
    places: Places,
    role_only: bool,
}

impl StepKind {
    /// The check of a table, whose keys that every check has are `head` and `ours`.
    pub(super) fn build(
        &self,
        head: CheckHead,
        ours: &RawTable<'_>,
        rest: &RawTable<'_>,
        source: &Source<'_>,
    ) -> Result<Built, Mistake> {
        let text = source.file.text();
        if let Some(key) = ["level", "means", "remedy"]
            .into_iter()
            .find(|key| ours.text_of(key).is_some())
        {
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
        let places = self.places(&table, source);
        let places = places.map_err(|Flaw { key, what }| {
            let what = format!("{what}; `{key}` says which it is");
            Mistake::at(text, &rest.spot_of(key), what)
        })?;
        let takes = self.is(&IDENTITY);
        let read = self.read(&places);
        Ok(Built {
            shows: self.shows,
            takes: takes.then(|| Takes::Mailbox(places.email.clone())),
            parses: read,
            reports_unparsed: self.is(&FORMAT),
            check: Rc::new(EmailStep {
                head,
                step: self.step,
                places,
                role_only: table.role_only,
            }),
        })
    }

    pub(super) fn rules(&self) -> &'static [Rule] {
        self.step.rules()
    }

    pub(super) fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        let mut schema = StepTable::json_schema(generator);
        let properties = schema.get_mut("properties");
        if let Some(properties) = properties.and_then(serde_json::Value::as_object_mut) {
            properties.retain(|key, _| self.keys.contains(&key.as_str()));
        }
        schema
    }

    fn is(&self, other: &Self) -> bool {
        self.name == other.name
    }

    /// The fields that the step parses. Of one that does not parse [`FORMAT`] alone says so.
    fn read(&self, places: &Places) -> Vec<Parsed> {
        let read = [
            ("site", Parsed::WebUrl(places.site.clone())),
            ("email", Parsed::Mailbox(places.email.clone())),
            ("source", Parsed::WebUrl(places.source.clone())),
        ];
        let read = read.into_iter().filter(|(key, _)| self.keys.contains(key));
        read.map(|(_, shaped)| shaped).collect()
    }

    fn places(&self, table: &StepTable, source: &Source<'_>) -> Result<Places, Flaw> {
        let field = |key: &'static str, named: &Option<String>, own: FieldName| match named {
            Some(name) => source.field(key, name),
            None if self.keys.contains(&key) => source.field(key, own.as_str()),
            None => Ok(own),
        };
        Ok(Places {
            site: field("site", &table.site, email::SITE)?,
            email: field("email", &table.email, email::EMAIL)?,
            source: field("source", &table.source, email::SOURCE)?,
            anchor: table
                .anchor
                .as_deref()
                .map(|column| source.column("anchor", column))
                .transpose()?,
        })
    }
}

impl Check<Context<'_>> for EmailStep {
    fn name(&self) -> &str {
        &self.head.name
    }

    fn cost(&self) -> Cost {
        self.step.cost()
    }

    fn rules(&self) -> &[Rule] {
        self.step.rules()
    }

    fn needs(&self) -> &[String] {
        &self.head.needs
    }

    fn run(&self, context: &Context<'_>) -> Vec<Fact> {
        let shared = context.email(&self.places, self.role_only);
        let found = self.step.run(&shared).into_iter();
        found.map(|finding| shared.told(finding)).collect()
    }
}
