//! The kinds of checks that a quest file may name.

use schemars::{Schema, SchemaGenerator};

use super::citation::CitationConfig;
use super::command::CommandConfig;
use super::contains::ContainsConfig;
use super::count::CountConfig;
use super::coverage::CoverageConfig;
use super::email_step::{self, StepKind};
use super::http::HttpConfig;
use super::json::JsonSchemaConfig;
use super::kind::{Check, CheckConfig, CheckHead, Flaw, Shows, Source};
use super::matches::{MatchesConfig, UniqueConfig};
use super::mutation::MutationConfig;
use super::only_changed::OnlyChangedConfig;
use super::script::ScriptConfig;
use crate::gate::Rule;
use crate::quest::file::{Mistake, RawTable};

type Build = fn(&RawTable<'_>, &Source<'_>) -> Result<Check, Mistake>;

pub struct Kind {
    pub name: &'static str,
    pub shows: Shows,
    make: Make,
}

enum Make {
    /// Of a table; the check's name is its rule's.
    Table {
        build: Build,
        schema: fn(&mut SchemaGenerator) -> Schema,
    },
    Step(&'static StepKind),
}

pub static KINDS: &[Kind] = &[
    kind::<CitationConfig>(),
    kind::<CommandConfig>(),
    kind::<ContainsConfig>(),
    kind::<CountConfig>(),
    kind::<CoverageConfig>(),
    step(&email_step::DOMAIN),
    step(&email_step::FORMAT),
    step(&email_step::FREEMAIL),
    step(&email_step::IDENTITY),
    step(&email_step::MAIL),
    step(&email_step::PLACEHOLDER),
    step(&email_step::SOURCE),
    kind::<HttpConfig>(),
    kind::<JsonSchemaConfig>(),
    kind::<MatchesConfig>(),
    kind::<MutationConfig>(),
    kind::<OnlyChangedConfig>(),
    kind::<ScriptConfig>(),
    kind::<UniqueConfig>(),
];

const fn kind<S: CheckConfig>() -> Kind {
    Kind {
        name: S::KIND,
        shows: S::SHOWS,
        make: Make::Table {
            build: build::<S>,
            schema: S::json_schema,
        },
    }
}

const fn step(step: &'static StepKind) -> Kind {
    Kind {
        name: step.name,
        shows: step.shows,
        make: Make::Step(step),
    }
}

fn build<S: CheckConfig>(table: &RawTable<'_>, source: &Source<'_>) -> Result<Check, Mistake> {
    let text = source.file.text();
    let config: S = table.read(text)?;
    config
        .build(source)
        .map_err(|Flaw { key, what }| Mistake::at(text, &table.spot_of(key), what))
}

pub fn named(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}

impl Kind {
    /// Makes the check of a table: `ours` are the keys that every check has, `rest` the others.
    pub fn build(
        &self,
        ours: &RawTable<'_>,
        rest: &RawTable<'_>,
        source: &Source<'_>,
    ) -> Result<Check, Mistake> {
        match &self.make {
            Make::Step(step) => step.build(ours, rest, source),
            Make::Table { build, .. } => build(rest, source),
        }
    }

    pub fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        match &self.make {
            Make::Table { schema, .. } => schema(generator),
            Make::Step(step) => step.schema(generator),
        }
    }

    /// The rules of its own that its checks fire; none where a check's name is its rule's.
    pub fn rules(&self) -> &'static [Rule] {
        match &self.make {
            Make::Step(step) => step.rules(),
            Make::Table { .. } => &[],
        }
    }

    pub fn head_keys(&self) -> &'static [&'static str] {
        match &self.make {
            Make::Table { .. } => CheckHead::KEYS,
            Make::Step(_) => CheckHead::KEYS_OF_MANY_RULES,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_listed_by_name_once() {
        assert!(KINDS.is_sorted_by(|one, other| one.name < other.name));
    }

    #[test]
    fn what_an_agent_can_always_bring_about_shows_no_fact() {
        for name in ["count", "json-schema", "matches", "unique"] {
            assert_eq!(
                named(name).map(|kind| kind.shows),
                Some(Shows::Form),
                "{name}"
            );
        }
    }
}
