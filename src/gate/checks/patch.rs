//! `patch`: a unified diff applies cleanly to the tree as it was at scan.

use schemars::JsonSchema;
use serde::Deserialize;

use super::context::Context;
use super::first_facts::first_facts;
use super::probe::{Detail, Found, Probe};
use super::spec::{Flaw, Shows, Source, Spec};
use super::subject::{State, Subject, Text, file_text};
use crate::gate::Cost;
use crate::gate::tools::{FilePatch, Patch, Rejected};
use crate::world::sandbox::FileSeen;
use crate::world::tree::{TreePath, Zones};

/// `kind = "patch"`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PatchSpec {
    /// The field that holds the diff.
    field: Option<String>,
    /// In its place: the path of the file that holds it, as a template.
    path: Option<String>,
    /// The zones, as globs, in which it may touch files. Where none is named it may touch all.
    #[serde(default)]
    write: Vec<String>,
}

#[derive(Debug)]
struct PatchCheck {
    subject: Subject,
    write: Option<Zones>,
}

impl Spec for PatchSpec {
    const KIND: &'static str = "patch";
    const SHOWS: Shows = Shows::Form;

    fn build(self, source: &Source<'_>) -> Result<Box<dyn Probe>, Flaw> {
        if source.file.tree.is_none() {
            return Err(Flaw::new("field", "a patch is for a tree: say [tree]"));
        }
        let zones = Zones::new(&self.write);
        let zones = zones.map_err(|bad| Flaw::new("write", bad.to_string()))?;
        Ok(Box::new(PatchCheck {
            subject: Subject::new(source, self.field.as_deref(), self.path.as_deref())?,
            write: (!self.write.is_empty()).then_some(zones),
        }))
    }
}

impl PatchCheck {
    fn misfit(&self, context: &Context<'_>, file: &FilePatch) -> Option<Found> {
        let path = match TreePath::parse(&file.path) {
            Ok(path) => path,
            Err(bad) => {
                let expected = "paths inside the tree";
                return Some(Detail::new(expected, bad.to_string()).wrong());
            }
        };
        if let Some(zones) = self.write.as_ref().filter(|it| !it.contains(&path)) {
            let expected = format!("files within {}", zones.texts().join(", "));
            let detail = Detail::new(expected, "a file outside").at(path.as_str());
            return Some(detail.wrong());
        }
        let old = match context.world.workshop.pinned(&path) {
            FileSeen::Absent => None,
            _ => match file_text(context, &path, State::Pinned) {
                Ok(text) => Some(text.said),
                Err(found) => return Some(found),
            },
        };
        let rejected = match file.apply(old.as_deref()) {
            Ok(new) if new == old => {
                let detail = Detail::new("a patch that changes the file", "it stays as it was");
                return Some(detail.at(path.as_str()).wrong());
            }
            Ok(_) => return None,
            Err(rejected) => rejected,
        };
        let place = match &rejected {
            Rejected::Hunk { line, .. } => format!("{path}:{line}"),
            _ => path.to_string(),
        };
        let detail = Detail::new("a hunk that applies as it stands", rejected.to_string());
        Some(detail.at(place).wrong())
    }

    fn misfits(&self, context: &Context<'_>, text: &Text) -> Vec<Found> {
        let expected = "a unified diff, as `git diff` writes it";
        let wrong = |actual: String| vec![text.detail(Detail::new(expected, actual), "").wrong()];
        let mut diff = text.said.clone();
        if !diff.ends_with('\n') {
            diff.push('\n');
        }
        match Patch::read(&diff) {
            Err(unread) => wrong(unread.to_string()),
            Ok(patch) if patch.files.is_empty() => wrong("it touches no file".to_owned()),
            Ok(patch) => {
                let files = patch.files.iter();
                files
                    .filter_map(|file| self.misfit(context, file))
                    .collect()
            }
        }
    }
}

impl Probe for PatchCheck {
    fn cost(&self) -> Cost {
        Cost::Tree
    }

    fn look(&self, context: &Context<'_>) -> Vec<Found> {
        match self.subject.read(context) {
            Ok(None) => Vec::new(),
            Err(found) => vec![found],
            Ok(Some(text)) => first_facts(self.misfits(context, &text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::gate::checks::bench::Bench;
    use crate::world::sandbox::FileSeen;

    const DIFF: &str = "--- a/src/a.py\n+++ b/src/a.py\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO";
    const CHECK: &str = "kind = \"patch\"\nfield = \"value\"\n";

    fn bench(more: &str, diff: &str) -> Bench {
        let bench = Bench::of(&format!("{CHECK}{more}")).submit("value", diff);
        bench.pinned("src/a.py", "one\ntwo\nthree\n")
    }

    #[test]
    fn a_diff_of_the_pinned_tree_applies() {
        assert_eq!(bench("", DIFF).fired(), [""; 0]);
        let edited = bench("", DIFF).file("src/a.py", "one\nzwei\n");
        assert_eq!(edited.fired(), [""; 0]);
    }

    #[test]
    fn one_of_another_tree_does_not() {
        let fact = bench("", DIFF)
            .pinned("src/a.py", "one\nzwei\n")
            .only_fact();
        assert_eq!(fact.location.as_deref(), Some("src/a.py:2"));
        let elsewhere = DIFF.replace("src/a.py", "src/b.py");
        assert_eq!(bench("", &elsewhere).fired(), ["it"]);
        let large = FileSeen::Other("too large".to_owned());
        assert_eq!(
            bench("", DIFF).pinned_as("src/a.py", large).fired(),
            ["it-unconfirmed"]
        );
    }

    #[test]
    fn one_that_changes_nothing_is_wrong() {
        for body in [" one\n-two\n+two\n", " one\n two\n"] {
            let diff = format!("--- a/src/a.py\n+++ b/src/a.py\n@@ -1,2 +1,2 @@\n{body}");
            assert_eq!(bench("", &diff).fired(), ["it"], "{body}");
        }
    }

    #[test]
    fn what_is_no_diff_or_none_of_the_zones_is_refused() {
        for diff in ["please change two to TWO", "--- a/x\n+++ b/x\n"] {
            assert_eq!(bench("", diff).fired(), ["it"], "{diff}");
        }
        assert_eq!(
            bench("", &DIFF.replace("src/a.py", "../a.py")).fired(),
            ["it"]
        );
        assert_eq!(bench("write = [\"src/**\"]", DIFF).fired(), [""; 0]);
        let fact = bench("write = [\"tests/**\"]", DIFF).only_fact();
        assert_eq!(fact.location.as_deref(), Some("src/a.py"));
    }
}
