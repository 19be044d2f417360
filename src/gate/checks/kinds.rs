//! Every kind of check that a quest file may name.

use std::rc::Rc;

use schemars::{Schema, SchemaGenerator};

use super::blacklist::BlacklistSpec;
use super::built::{Built, Takes};
use super::citation::CitationSpec;
use super::command::CommandSpec;
use super::command_policy::CommandPolicySpec;
use super::contains::ContainsSpec;
use super::count::CountSpec;
use super::coverage::CoverageSpec;
use super::email_step::{self, StepKind};
use super::file_exists::{FileExistsSpec, FileNotEmptySpec};
use super::git_clean::GitCleanSpec;
use super::http::HttpSpec;
use super::json_schema::JsonSchemaSpec;
use super::json_valid::JsonValidSpec;
use super::leakage::LeakageSpec;
use super::matches::MatchesSpec;
use super::mutation::MutationSpec;
use super::mx::MxSpec;
use super::numbers::NumbersSpec;
use super::only_changed::OnlyChangedSpec;
use super::outline::OutlineSpec;
use super::patch::PatchSpec;
use super::probe::Probe;
use super::quest_check::{CheckHead, LevelName, QuestCheck};
use super::round_trip::RoundTripSpec;
use super::same_domain::SameDomainSpec;
use super::script::ScriptSpec;
use super::similar::SimilarSpec;
use super::spec::{Flaw, Shows, Source, Spec};
use super::terms::TermsSpec;
use super::unique::UniqueSpec;
use crate::gate::Rule;
use crate::quest::file::{Mistake, RawTable};

/// Makes a probe of a table without the keys that every check has.
type Build = fn(&RawTable<'_>, &Source<'_>) -> Result<Box<dyn Probe>, Mistake>;

/// A kind of check.
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// What passing it shows.
    pub shows: Shows,
    make: Make,
}

/// How a kind's checks are made.
enum Make {
    /// Of a probe; the check's name is its rule's.
    Probe {
        build: Build,
        level: Option<LevelName>,
        schema: fn(&mut SchemaGenerator) -> Schema,
    },
    /// Of a step of the e-mail gate, with rules of its own.
    Step(&'static StepKind),
}

/// All of them, by name.
pub static KINDS: &[Kind] = &[
    kind::<BlacklistSpec>(),
    kind::<CitationSpec>(),
    kind::<CommandSpec>(),
    kind::<CommandPolicySpec>(),
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
    kind::<GitCleanSpec>(),
    kind::<HttpSpec>(),
    kind::<JsonSchemaSpec>(),
    kind::<JsonValidSpec>(),
    kind::<LeakageSpec>(),
    kind::<MatchesSpec>(),
    kind::<MutationSpec>(),
    kind::<MxSpec>(),
    kind::<NumbersSpec>(),
    kind::<OnlyChangedSpec>(),
    kind::<OutlineSpec>(),
    kind::<PatchSpec>(),
    kind::<RoundTripSpec>(),
    kind::<SameDomainSpec>(),
    kind::<ScriptSpec>(),
    kind::<SimilarSpec>(),
    kind::<TermsSpec>(),
    kind::<UniqueSpec>(),
];

const fn kind<S: Spec>() -> Kind {
    Kind {
        name: S::KIND,
        shows: S::SHOWS,
        make: Make::Probe {
            build: build::<S>,
            level: S::LEVEL,
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

/// The kind of this name.
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
        let (build, level) = match &self.make {
            Make::Step(step) => return step.build(head, ours, rest, source),
            Make::Probe { build, level, .. } => (build, *level),
        };
        let head = levelled(head, level, ours, source)?;
        let probe = build(rest, source)?;
        let takes = probe.unique().cloned().map(Takes::Value);
        let shows = probe.shows().unwrap_or(self.shows);
        let check = Rc::new(QuestCheck::new(head, probe));
        Ok(Built {
            takes,
            ..Built::plain(check, shows)
        })
    }

    /// The schema of such a table, without the keys that every check has.
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

    /// The keys that every check has, of those that a table of this kind may have.
    #[must_use]
    pub fn head_keys(&self) -> &'static [&'static str] {
        match &self.make {
            Make::Probe { .. } => CheckHead::KEYS,
            Make::Step(_) => CheckHead::KEYS_OF_MANY_RULES,
        }
    }
}

/// The head with the level that all checks of its kind have, which its table may say too.
fn levelled(
    head: CheckHead,
    level: Option<LevelName>,
    ours: &RawTable<'_>,
    source: &Source<'_>,
) -> Result<CheckHead, Mistake> {
    let Some(level) = level else {
        return Ok(head);
    };
    if ours.text_of("level").is_some() && head.level != level {
        let what = format!(
            "a check of kind `{}` leaves what it finds to a person: its level is `review`",
            head.kind
        );
        return Err(Mistake::at(
            source.file.text(),
            &ours.spot_of("level"),
            what,
        ));
    }
    Ok(CheckHead { level, ..head })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_stand_by_name_once() {
        assert!(KINDS.is_sorted_by(|one, other| one.name < other.name));
    }

    #[test]
    fn what_an_agent_can_always_bring_about_shows_no_fact() {
        for name in [
            "blacklist",
            "command-policy",
            "count",
            "file-exists",
            "file-not-empty",
            "json-schema",
            "json-valid",
            "leakage",
            "matches",
            "mx",
            "numbers",
            "outline",
            "patch",
            "same-domain",
            "similar",
            "terms",
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
