//! Every kind of check that a quest file may name.

use schemars::{Schema, SchemaGenerator};

use super::blacklist::BlacklistSpec;
use super::citation::CitationSpec;
use super::command::CommandSpec;
use super::command_policy::CommandPolicySpec;
use super::contains::ContainsSpec;
use super::count::CountSpec;
use super::coverage::CoverageSpec;
use super::file_exists::{FileExistsSpec, FileNotEmptySpec};
use super::git_clean::GitCleanSpec;
use super::http::HttpSpec;
use super::json_schema::JsonSchemaSpec;
use super::json_valid::JsonValidSpec;
use super::matches::MatchesSpec;
use super::mutation::MutationSpec;
use super::mx::MxSpec;
use super::only_changed::OnlyChangedSpec;
use super::patch::PatchSpec;
use super::probe::Probe;
use super::same_domain::SameDomainSpec;
use super::script::ScriptSpec;
use super::similar::SimilarSpec;
use super::spec::{Flaw, Shows, Source, Spec};
use super::unique::UniqueSpec;
use crate::quest::file::{Mistake, RawTable};

/// Makes a check of its table.
pub type Build = fn(&RawTable<'_>, &Source<'_>) -> Result<Box<dyn Probe>, Mistake>;

/// A kind of check.
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// What passing it shows.
    pub shows: Shows,
    /// Makes the check of a table, without the keys that every check has.
    pub build: Build,
    /// The schema of such a table.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
}

/// All of them, by name.
pub const KINDS: &[Kind] = &[
    kind::<BlacklistSpec>(),
    kind::<CitationSpec>(),
    kind::<CommandPolicySpec>(),
    kind::<CommandSpec>(),
    kind::<ContainsSpec>(),
    kind::<CountSpec>(),
    kind::<CoverageSpec>(),
    kind::<FileExistsSpec>(),
    kind::<FileNotEmptySpec>(),
    kind::<GitCleanSpec>(),
    kind::<HttpSpec>(),
    kind::<JsonSchemaSpec>(),
    kind::<JsonValidSpec>(),
    kind::<MatchesSpec>(),
    kind::<MutationSpec>(),
    kind::<MxSpec>(),
    kind::<OnlyChangedSpec>(),
    kind::<PatchSpec>(),
    kind::<SameDomainSpec>(),
    kind::<ScriptSpec>(),
    kind::<SimilarSpec>(),
    kind::<UniqueSpec>(),
];

const fn kind<S: Spec>() -> Kind {
    Kind {
        name: S::KIND,
        shows: S::SHOWS,
        build: build::<S>,
        schema: schema::<S>,
    }
}

/// The kind of this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
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
            "matches",
            "same-domain",
            "similar",
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
