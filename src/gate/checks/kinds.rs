//! Every kind of check that a quest file may name.

use schemars::{Schema, SchemaGenerator};

use super::command::CommandSpec;
use super::coverage::CoverageSpec;
use super::git_clean::GitCleanSpec;
use super::matches::MatchesSpec;
use super::mutation::MutationSpec;
use super::only_changed::OnlyChangedSpec;
use super::probe::Probe;
use super::script::ScriptSpec;
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
    kind::<CommandSpec>(),
    kind::<CoverageSpec>(),
    kind::<GitCleanSpec>(),
    kind::<MatchesSpec>(),
    kind::<MutationSpec>(),
    kind::<OnlyChangedSpec>(),
    kind::<ScriptSpec>(),
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
