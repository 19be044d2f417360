//! The kinds of checks that a quest file may name.

use std::rc::Rc;

use schemars::{Schema, SchemaGenerator};

use super::citation::CitationSpec;
use super::command::CommandSpec;
use super::contains::ContainsSpec;
use super::count::CountSpec;
use super::coverage::CoverageSpec;
use super::domain::MxSpec;
use super::domain::SameDomainSpec;
use super::email_step::{self, StepKind};
use super::http::HttpSpec;
use super::json::JsonSchemaSpec;
use super::json::JsonValidSpec;
use super::kind::{Built, CheckHead, Flaw, Probe, QuestCheck, Shows, Source, Spec};
use super::matches::MatchesSpec;
use super::mutation::MutationSpec;
use super::script::ScriptSpec;
use super::takes::Takes;
use super::tree_files::OnlyChangedSpec;
use super::tree_files::{FileExistsSpec, FileNotEmptySpec};
use super::unique::UniqueSpec;
use crate::gate::Rule;
use crate::quest::file::{Mistake, RawTable};

type Build = fn(&RawTable<'_>, &Source<'_>) -> Result<Box<dyn Probe>, Mistake>;

pub struct Kind {
    pub name: &'static str,
    pub shows: Shows,
    make: Make,
}

enum Make {
    /// Of a probe; the check's name is its rule's.
    Probe {
        build: Build,
        schema: fn(&mut SchemaGenerator) -> Schema,
    },
    Step(&'static StepKind),
}

pub static KINDS: &[Kind] = &[
    kind::<CitationSpec>(),
    kind::<CommandSpec>(),
    kind::<ContainsSpec>(),
    kind::<CountSpec>(),
    kind::<CoverageSpec>(),
    step(&email_step::DOMAIN),
    step(&email_step::FORMAT),
    step(&email_step::FREEMAIL),
    step(&email_step::IDENTITY),
    step(&email_step::MAIL),
    step(&email_step::PLACEHOLDER),
    step(&email_step::SOURCE),
    kind::<FileExistsSpec>(),
    kind::<FileNotEmptySpec>(),
    kind::<HttpSpec>(),
    kind::<JsonSchemaSpec>(),
    kind::<JsonValidSpec>(),
    kind::<MatchesSpec>(),
    kind::<MutationSpec>(),
    kind::<MxSpec>(),
    kind::<OnlyChangedSpec>(),
    kind::<SameDomainSpec>(),
    kind::<ScriptSpec>(),
    kind::<UniqueSpec>(),
];

const fn kind<S: Spec>() -> Kind {
    Kind {
        name: S::KIND,
        shows: S::SHOWS,
        make: Make::Probe {
            build: build::<S>,
            schema: schema::<S>,
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

fn build<S: Spec>(table: &RawTable<'_>, source: &Source<'_>) -> Result<Box<dyn Probe>, Mistake> {
    let text = source.file.text();
    let spec: S = table.read(text)?;
    spec.build(source)
        .map_err(|Flaw { key, what }| Mistake::at(text, &table.spot_of(key), what))
}

fn schema<S: Spec>(generator: &mut SchemaGenerator) -> Schema {
    S::json_schema(generator)
}

#[must_use]
pub fn named(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}

impl Kind {
    /// Makes the check of a table: `ours` are the keys that every check has, read as `head`.
    pub fn build(
        &self,
        head: CheckHead,
        ours: &RawTable<'_>,
        rest: &RawTable<'_>,
        source: &Source<'_>,
    ) -> Result<Built, Mistake> {
        let build = match &self.make {
            Make::Step(step) => return step.build(head, ours, rest, source),
            Make::Probe { build, .. } => build,
        };
        let probe = build(rest, source)?;
        Ok(Built {
            takes: probe.unique().cloned().map(Takes::Value),
            shows: probe.shows().unwrap_or(self.shows),
            check: Rc::new(QuestCheck::new(head, probe)),
            parses: Vec::new(),
            reports_unparsed: false,
        })
    }

    pub fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        match &self.make {
            Make::Probe { schema, .. } => schema(generator),
            Make::Step(step) => step.schema(generator),
        }
    }

    /// The rules of its own that its checks fire; none where a check's name is its rule's.
    #[must_use]
    pub fn rules(&self) -> &'static [Rule] {
        match &self.make {
            Make::Step(step) => step.rules(),
            Make::Probe { .. } => &[],
        }
    }

    #[must_use]
    pub fn head_keys(&self) -> &'static [&'static str] {
        match &self.make {
            Make::Probe { .. } => CheckHead::KEYS,
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
        for name in [
            "count",
            "file-exists",
            "file-not-empty",
            "json-schema",
            "json-valid",
            "matches",
            "mx",
            "same-domain",
            "unique",
        ] {
            assert_eq!(
                named(name).map(|kind| kind.shows),
                Some(Shows::Form),
                "{name}"
            );
        }
    }
}
