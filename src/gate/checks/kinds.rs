//! The kinds of checks that a quest file may name.

use std::marker::PhantomData;

use schemars::{Schema, SchemaGenerator};

use super::citation::CitationConfig;
use super::command::CommandConfig;
use super::contains::ContainsConfig;
use super::count::CountConfig;
use super::coverage::CoverageConfig;
use super::http::HttpConfig;
use super::json::JsonSchemaConfig;
use super::kind::Verifies::{self, Fact, Form};
use super::kind::{Check, CheckConfig, Flaw, Kind, Source};
use super::matches::{MatchesConfig, UniqueConfig};
use super::mutation::MutationConfig;
use super::only_changed::OnlyChangedConfig;
use super::script::ScriptConfig;
use crate::gate::email::{domain, format, freemail, identity, mail, placeholder, source};
use crate::quest::file::{Mistake, RawTable};

pub static KINDS: &[&dyn Kind] = &[
    &table::<CitationConfig>("citation", Fact),
    &table::<CommandConfig>("command", Fact),
    &table::<ContainsConfig>("contains", Fact),
    &table::<CountConfig>("count", Form),
    &table::<CoverageConfig>("coverage", Fact),
    &domain::STEP,
    &format::STEP,
    &freemail::STEP,
    &identity::STEP,
    &mail::STEP,
    &placeholder::STEP,
    &source::STEP,
    &table::<HttpConfig>("http", Fact),
    &table::<JsonSchemaConfig>("json-schema", Form),
    &table::<MatchesConfig>("matches", Form),
    &table::<MutationConfig>("mutation", Fact),
    &table::<OnlyChangedConfig>("only-changed", Form),
    &table::<ScriptConfig>("script", Fact),
    &table::<UniqueConfig>("unique", Form),
];

/// A kind whose checks' names are their rules'.
struct Table<S> {
    name: &'static str,
    verifies: Verifies,
    config: PhantomData<fn() -> S>,
}

const fn table<S>(name: &'static str, verifies: Verifies) -> Table<S> {
    let config = PhantomData;
    Table {
        name,
        verifies,
        config,
    }
}

impl<S: CheckConfig> Kind for Table<S> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn verifies(&self) -> Verifies {
        self.verifies
    }

    fn build(
        &'static self,
        _ours: &RawTable<'_>,
        rest: &RawTable<'_>,
        source: &Source<'_>,
    ) -> Result<Check, Mistake> {
        let text = source.file.text();
        let config: S = rest.read(text)?;
        config
            .build(source)
            .map_err(|Flaw { key, what }| Mistake::at(text, &rest.spot_of(key), what))
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        S::json_schema(generator)
    }
}

pub fn named(name: &str) -> Option<&'static dyn Kind> {
    KINDS.iter().copied().find(|kind| kind.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_listed_by_name_once() {
        assert!(KINDS.is_sorted_by(|one, other| one.name() < other.name()));
    }

    #[test]
    fn what_an_agent_can_always_bring_about_shows_no_fact() {
        for name in ["count", "json-schema", "matches", "unique"] {
            assert_eq!(
                named(name).map(Kind::verifies),
                Some(Verifies::Form),
                "{name}"
            );
        }
    }
}
