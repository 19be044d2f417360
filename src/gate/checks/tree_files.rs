//! `only-changed`: nothing outside a zone has changed. `file-exists`, `file-not-empty`.

#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::Deserialize;

use super::context::Context;
use super::kind::{Check, CheckConfig, Flaw, Found, Shows, Source};
use super::subject::{Place, State, file_bytes};
use crate::gate::{Cost, Fact};
use crate::quest::template::{Template, Values};
use crate::world::sandbox::Changed;
use crate::world::tree::{TreePath, Zones};

/// `kind = "only-changed"`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnlyChangedConfig {
    /// Where changes are allowed, as globs that may be templates. Default: the tree's `write`. The
    /// value of a template is taken literally.
    paths: Option<Vec<String>>,
}

impl CheckConfig for OnlyChangedConfig {
    const KIND: &'static str = "only-changed";
    const SHOWS: Shows = Shows::Form;

    fn build(self, source: &Source<'_>) -> Result<Check, Flaw> {
        source.needs_tree(
            "kind",
            "it looks at the files of a tree, and the quest file has no [tree]",
        )?;
        let Some(paths) = self.paths else {
            return Ok(source.check(Cost::Tree, |context| forbidden(context, |it| it.inside)));
        };
        let paths = paths.iter().map(|text| source.template("paths", text));
        let paths = paths.collect::<Result<Vec<_>, _>>()?;
        let fixed = paths.iter().filter(|path| path.is_fixed());
        let fixed: Vec<_> = fixed.map(|path| path.source().to_owned()).collect();
        Zones::new(&fixed).map_err(|bad| Flaw::new("paths", bad.to_string()))?;
        Ok(source.check(Cost::Tree, move |context| {
            let zones = zones(&paths, &literal(context.values()));
            let zones = zones.map_err(|wrong| wrong.at("paths"))?;
            forbidden(context, |changed| {
                let path = TreePath::parse(&changed.path);
                path.is_ok_and(|path| zones.contains(&path))
            })
        }))
    }
}

/// Every change that `allowed` does not allow, as a fact with what is to be done about it.
fn forbidden(context: &Context<'_>, allowed: impl Fn(&Changed) -> bool) -> Found {
    const EXPECTED: &str = "a tree in which nothing has changed outside what may";
    let changes = context.world.sandbox.changes();
    let changes = changes.map_err(|why| Fact::wrong(EXPECTED, why).unconfirmed())?;
    let found = changes.iter().filter(|changed| !allowed(changed));
    let facts = found.map(|changed| {
        let expected = format!("{EXPECTED}: undo the change of {}", changed.path);
        Fact::wrong(expected, &*changed.how).at(&*changed.path)
    });
    Ok(facts.collect())
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
pub struct FileExistsConfig {
    /// The file's path in the tree, as a template.
    path: Option<String>,
    /// Instead of `path`: the field that contains the path. If the field is left out, the check
    /// passes.
    field: Option<String>,
    /// The smallest allowed size, in bytes.
    min_bytes: Option<u64>,
    /// The largest allowed size, in bytes.
    max_bytes: Option<u64>,
}

/// `kind = "file-not-empty"`: a file of white space alone is empty.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct FileNotEmptyConfig(FileExistsConfig);

impl CheckConfig for FileExistsConfig {
    const KIND: &'static str = "file-exists";
    const SHOWS: Shows = Shows::Form;

    fn build(self, source: &Source<'_>) -> Result<Check, Flaw> {
        self.check(source, false)
    }
}

impl CheckConfig for FileNotEmptyConfig {
    const KIND: &'static str = "file-not-empty";
    const SHOWS: Shows = Shows::Form;

    fn build(self, source: &Source<'_>) -> Result<Check, Flaw> {
        self.0.check(source, true)
    }
}

impl FileExistsConfig {
    fn check(self, source: &Source<'_>, says_something: bool) -> Result<Check, Flaw> {
        let place = Place::new(source, self.field.as_ref(), self.path.as_ref())?;
        let (min, max) = (
            self.min_bytes.unwrap_or(0),
            self.max_bytes.unwrap_or(u64::MAX),
        );
        if min > max {
            return Err(Flaw::new("min_bytes", "it is greater than `max_bytes`"));
        }
        Ok(source.check(Cost::Tree, move |context| {
            let Some(path) = place.resolve(context)? else {
                return Ok(Vec::new());
            };
            let bytes = file_bytes(context, &path, State::Judged)?;
            let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            let wrong =
                |expected: String, actual| Err(Fact::wrong(expected, actual).at(path.as_str()));
            if says_something && bytes.iter().all(u8::is_ascii_whitespace) {
                let actual = format!("{size} bytes of white space");
                return wrong(String::from("a file that is not empty"), actual);
            }
            if size < min {
                return wrong(format!("at least {min} bytes"), format!("{size} bytes"));
            }
            if size > max {
                return wrong(format!("at most {max} bytes"), format!("{size} bytes"));
            }
            Ok(Vec::new())
        }))
    }
}

#[cfg(test)]
mod file_exists {
    use crate::gate::checks::tests::Bench;
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
