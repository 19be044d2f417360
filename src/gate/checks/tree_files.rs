//! `only-changed`: nothing outside a zone is other than it was pinned.

#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::Deserialize;

use super::context::Context;
use super::kind::{Flaw, Probe, Shows, Source, Spec, first_facts};
use super::subject::{Place, State, file_bytes};
use crate::gate::{Cost, Fact};
use crate::quest::template::{Template, Values};
use crate::world::sandbox::Changed;
use crate::world::tree::{TreePath, Zones};

/// `kind = "only-changed"`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnlyChangedSpec {
    /// Where changes are allowed, as globs that may be templates; the tree's `write` where it is
    /// not said. What a template puts in stands for itself, whatever letters it has.
    paths: Option<Vec<String>>,
}

#[derive(Debug)]
struct OnlyChanged {
    paths: Option<Vec<Template>>,
}

const EXPECTED: &str = "a tree in which nothing has changed outside what may";

impl Spec for OnlyChangedSpec {
    const KIND: &'static str = "only-changed";
    const SHOWS: Shows = Shows::Form;

    fn build(self, source: &Source<'_>) -> Result<Box<dyn Probe>, Flaw> {
        source.needs_tree(
            "kind",
            "it looks at the files of a tree, and the quest file has no [tree]",
        )?;
        let paths = self
            .paths
            .as_deref()
            .map(|paths| source.templates("paths", paths));
        let paths = paths.transpose()?;
        let fixed = paths.iter().flatten().filter(|path| path.is_fixed());
        let fixed: Vec<_> = fixed.map(|path| path.source().to_owned()).collect();
        Zones::new(&fixed).map_err(|bad| Flaw::new("paths", bad.to_string()))?;
        Ok(Box::new(OnlyChanged { paths }))
    }
}

impl Probe for OnlyChanged {
    fn cost(&self) -> Cost {
        Cost::Tree
    }

    fn run(&self, context: &Context<'_>) -> Vec<Fact> {
        let Some(paths) = &self.paths else {
            return forbidden(context, |changed| changed.inside);
        };
        let zones = match zones(paths, &literal(context.values())) {
            Ok(zones) => zones,
            Err(wrong) => return vec![wrong.at("paths")],
        };
        forbidden(context, |changed| {
            let path = TreePath::parse(&changed.path);
            path.is_ok_and(|path| zones.contains(&path))
        })
    }
}

/// Every change that `allowed` does not allow, as a fact with what is to be done about it.
fn forbidden(context: &Context<'_>, allowed: impl Fn(&Changed) -> bool) -> Vec<Fact> {
    let changes = match context.world.workshop.changes() {
        Ok(changes) => changes,
        Err(why) => return vec![Fact::wrong(EXPECTED, why).unconfirmed()],
    };
    let found = changes.iter().filter(|changed| !allowed(changed));
    let facts = found.map(|changed| {
        let expected = format!("{EXPECTED}: undo the change of {}", changed.path);
        Fact::wrong(expected, &*changed.how).at(&*changed.path)
    });
    first_facts(facts.collect())
}

fn zones(paths: &[Template], values: &Values) -> Result<Zones, Fact> {
    let globs: Result<Vec<_>, _> = paths.iter().map(|path| path.render(values)).collect();
    let wrong = |actual: String| Fact::wrong("paths of the tree", actual);
    let globs = globs.map_err(|bad| wrong(bad.to_string()))?;
    Zones::new(&globs).map_err(|bad| wrong(bad.to_string()))
}

/// The values as texts of globs that mean nothing but themselves.
fn literal(values: &Values) -> Values {
    let mut literal = values.clone();
    let groups = literal.input.values_mut().chain(literal.field.values_mut());
    for text in groups.chain([&mut literal.key]) {
        *text = globset::escape(text);
    }
    literal
}

/// `kind = "file-exists"`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileExistsSpec {
    /// The file's path in the tree, as a template.
    path: Option<String>,
    /// In its place: the field that says the path. Where it was left out the check passes.
    field: Option<String>,
    /// The least size, in bytes.
    min_bytes: Option<u64>,
    /// The greatest size, in bytes.
    max_bytes: Option<u64>,
}

/// `kind = "file-not-empty"`: a file of white space alone is empty.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct FileNotEmptySpec(FileExistsSpec);

#[derive(Debug)]
struct FileExists {
    place: Place,
    min_bytes: u64,
    max_bytes: u64,
    says_something: bool,
}

impl Spec for FileExistsSpec {
    const KIND: &'static str = "file-exists";
    const SHOWS: Shows = Shows::Form;

    fn build(self, source: &Source<'_>) -> Result<Box<dyn Probe>, Flaw> {
        Ok(Box::new(self.probe(source, false)?))
    }
}

impl Spec for FileNotEmptySpec {
    const KIND: &'static str = "file-not-empty";
    const SHOWS: Shows = Shows::Form;

    fn build(self, source: &Source<'_>) -> Result<Box<dyn Probe>, Flaw> {
        Ok(Box::new(self.0.probe(source, true)?))
    }
}

impl FileExistsSpec {
    fn probe(&self, source: &Source<'_>, says_something: bool) -> Result<FileExists, Flaw> {
        let probe = FileExists {
            place: Place::new(source, self.field.as_deref(), self.path.as_deref())?,
            min_bytes: self.min_bytes.unwrap_or(0),
            max_bytes: self.max_bytes.unwrap_or(u64::MAX),
            says_something,
        };
        if probe.min_bytes > probe.max_bytes {
            return Err(Flaw::new("min_bytes", "it is greater than `max_bytes`"));
        }
        Ok(probe)
    }
}

impl FileExists {
    fn misfit(&self, bytes: &[u8]) -> Option<Fact> {
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if self.says_something && bytes.iter().all(u8::is_ascii_whitespace) {
            let actual = format!("{size} bytes of white space");
            return Some(Fact::wrong("a file that is not empty", actual));
        }
        let expected = if size < self.min_bytes {
            format!("at least {} bytes", self.min_bytes)
        } else if size > self.max_bytes {
            format!("at most {} bytes", self.max_bytes)
        } else {
            return None;
        };
        Some(Fact::wrong(expected, format!("{size} bytes")))
    }
}

impl Probe for FileExists {
    fn cost(&self) -> Cost {
        Cost::Tree
    }

    fn run(&self, context: &Context<'_>) -> Vec<Fact> {
        let path = match self.place.resolve(context) {
            Ok(Some(path)) => path,
            Ok(None) => return Vec::new(),
            Err(found) => return vec![found],
        };
        match file_bytes(context, &path, State::Judged) {
            Err(found) => vec![found],
            Ok(bytes) => {
                let misfit = self.misfit(&bytes).into_iter();
                misfit.map(|it| it.at(path.as_str())).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests_file_exists {
    use crate::gate::checks::bench::Bench;
    use crate::quest::FieldName;
    use crate::world::sandbox::FileSeen;

    fn bench(kind: &str, more: &str) -> Bench {
        Bench::of(&format!(
            "kind = \"{kind}\"\npath = \"out/{{{{ key }}}}.txt\"\n{more}"
        ))
    }

    #[test]
    fn a_file_is_there_or_not() {
        let there = bench("file-exists", "").file("out/k.txt", "");
        assert_eq!(there.fired(), [""; 0]);
        let fact = bench("file-exists", "").only_fact();
        assert_eq!(fact.location.as_deref(), Some("out/k.txt"));
        assert_eq!(fact.actual, "nothing");
        let link = FileSeen::Other("a link".to_owned());
        assert_eq!(
            bench("file-exists", "").seen("out/k.txt", link).fired(),
            ["it"]
        );
    }

    #[test]
    fn a_value_of_which_no_path_can_be_made_up_is_wrong() {
        let of = |path: &str| {
            let bench = Bench::of(&format!("kind = \"file-exists\"\npath = \"{path}\""));
            bench.file("out/7.txt", "").file("out/a7.txt", "")
        };
        let number = of("out/{{ field.value | int }}.txt");
        assert_eq!(number.clone().submit("value", "7").fired(), [""; 0]);
        let fact = number.clone().submit("value", "abc").only_fact();
        assert_eq!(fact.rule.as_str(), "it");
        assert_eq!(fact.field.as_ref().map(FieldName::as_str), Some("value"));
        assert_eq!(number.fired(), ["it"]);

        let both = of("out/{{ field.other }}{{ field.value | int }}.txt");
        let both = both.submit("other", "a");
        assert_eq!(both.clone().submit("value", "7").fired(), [""; 0]);
        let fact = both.submit("value", "seven").only_fact();
        assert_eq!(fact.field.as_ref().map(FieldName::as_str), Some("value"));
    }

    #[test]
    fn a_cell_of_which_no_path_can_be_made_up_is_not_the_agents_fault() {
        for path in [
            "out/{{ input.cell | int }}.txt",
            "out/{{ input.cell | int }}{{ field.value }}.txt",
        ] {
            let check = format!("kind = \"file-exists\"\npath = \"{path}\"");
            let bench = Bench::of(&check).cell("abc").submit("value", "x");
            assert_eq!(bench.fired(), ["it-unconfirmed"], "{path}");
        }
    }

    #[test]
    fn white_space_is_nothing() {
        for text in ["", " \n\t\r\n"] {
            let blank = bench("file-not-empty", "").file("out/k.txt", text);
            assert_eq!(blank.fired(), ["it"], "{text:?}");
        }
        let said = bench("file-not-empty", "").file("out/k.txt", " x ");
        assert_eq!(said.fired(), [""; 0]);
    }

    #[test]
    fn bounds_hold() {
        let bounds = "min_bytes = 2\nmax_bytes = 3";
        for (text, fires) in [("a", 1), ("ab", 0), ("abc", 0), ("abcd", 1)] {
            let bench = bench("file-exists", bounds).file("out/k.txt", text);
            assert_eq!(bench.fired().len(), fires, "{text}");
        }
        assert!(
            bench("file-exists", "min_bytes = 3\nmax_bytes = 2")
                .mistake()
                .contains("greater")
        );
    }

    #[test]
    fn a_field_may_name_it_and_must_stay_inside() {
        let check = "kind = \"file-exists\"\nfield = \"value\"";
        let bench = Bench::of(check).file("a.txt", "x");
        assert_eq!(bench.clone().submit("value", "a.txt").fired(), [""; 0]);
        assert_eq!(bench.fired(), [""; 0]);
        for path in ["../a.txt", "/etc/passwd", "b.txt", "a.txt\n"] {
            assert_eq!(
                bench.clone().submit("value", path).fired(),
                ["it"],
                "{path:?}"
            );
        }
        assert!(
            Bench::of("kind = \"file-exists\"")
                .mistake()
                .contains("either")
        );
        assert!(
            Bench::of("kind = \"file-exists\"\npath = \"../x\"")
                .mistake()
                .contains("inside")
        );
    }
}
