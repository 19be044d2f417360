//! `numbers`: the numbers of one text stand in another, however each of them writes numbers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::anchors::Numbers;
use super::context::Context;
use super::held_against::HeldAgainst;
use super::probe::{Detail, Found, Probe};
use super::prose::Markup;
use super::spec::{Flaw, Shows, Source, Spec};
use crate::gate::Cost;

/// `kind = "numbers"`.
///
/// `1,000`, `1.000` and `1 000` are one number, and so are `5 %` and `5 percent`. Dates in full are
/// compared as dates. What a reader of Markdown does not see, such as a comment, says no number.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NumbersSpec {
    /// The source, as a template such as `{{ input.text }}`.
    of: Option<String>,
    /// In its place: the path of a file, as a template. It is looked at as it was at the scan.
    of_path: Option<String>,
    /// The field that must say the numbers of the source.
    field: Option<String>,
    /// In its place: the path of the file, as a template.
    path: Option<String>,
    /// What it means that a number of the source is not there.
    #[serde(default)]
    missing: Meaning,
    /// What it means that a number is there which the source has not.
    #[serde(default)]
    extra: Meaning,
}

/// What a difference means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Meaning {
    /// The check's rule fires.
    #[default]
    Fail,
    /// Nothing.
    Allow,
}

#[derive(Debug)]
struct SameNumbers {
    texts: HeldAgainst,
    missing: Meaning,
    extra: Meaning,
}

impl Spec for NumbersSpec {
    const KIND: &'static str = "numbers";
    const SHOWS: Shows = Shows::Form;

    fn build(self, source: &Source<'_>) -> Result<Box<dyn Probe>, Flaw> {
        if self.missing == Meaning::Allow && self.extra == Meaning::Allow {
            return Err(Flaw::new("extra", "nothing is left to look for"));
        }
        Ok(Box::new(SameNumbers {
            texts: HeldAgainst::new(
                source,
                [self.of.as_deref(), self.of_path.as_deref()],
                [self.field.as_deref(), self.path.as_deref()],
            )?,
            missing: self.missing,
            extra: self.extra,
        }))
    }
}

impl Probe for SameNumbers {
    fn cost(&self) -> Cost {
        self.texts.cost()
    }

    fn look(&self, context: &Context<'_>) -> Vec<Found> {
        self.texts.look(context, |original, text| {
            let theirs = Markup::of(&original.said);
            let ours = Markup::anew(&text.said, &theirs);
            let [theirs_shown, ours_shown] =
                [&theirs, &ours].map(|markup| Numbers::of(&markup.shown));
            let [theirs, ours] = [&theirs, &ours].map(|markup| Numbers::of(&markup.visible));
            let mut found = Vec::new();
            if self.missing == Meaning::Fail {
                let lost = theirs_shown.not_in(&ours_shown);
                found.extend(lost.map(|it| {
                    let detail = Detail::new(format!("the number {}", it.text), "it is not there");
                    text.detail(detail, "").at(original.line(it.line)).wrong()
                }));
            }
            if self.extra == Meaning::Fail {
                let made_up = ours.not_in(&theirs);
                found.extend(made_up.map(|it| {
                    let detail = Detail::new("a number that the source has", it.text.clone());
                    text.detail(detail, &it.line.to_string()).wrong()
                }));
            }
            found
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::gate::checks::bench::Bench;

    const CHECK: &str = "kind = \"numbers\"\nof = \"{{ input.cell }}\"\nfield = \"value\"\n";

    fn bench(more: &str, source: &str, target: &str) -> Bench {
        let bench = Bench::of(&format!("{CHECK}{more}"));
        bench.cell(source).submit("value", target)
    }

    #[test]
    fn numbers_survive_however_they_are_written() {
        let (source, target) = (
            "In 2025 we shipped 1,250.5 t\n(-3 %)\nby 2026-11-22.",
            "2025 lieferten wir 1.250,5 t (−3 Prozent) bis 22.11.2026.",
        );
        assert_eq!(bench("", source, target).fired(), [""; 0]);
    }

    #[test]
    fn a_lost_number_is_named_where_the_source_has_it() {
        let fact = bench("", "ten\nof 1,000", "zehn von vielen").only_fact();
        assert_eq!(fact.location.as_deref(), Some("source:2"));
        assert!(fact.expected.contains("1,000"), "{fact:?}");
        let hidden = bench("", "of 1,000", "von vielen <!-- 1,000 -->");
        assert_eq!(hidden.fired(), ["it"]);
        for hidden in [
            "von viele<span hidden>1.000</span>",
            "<i title=\"1.000\">von</i> vielen",
            "<style>1.000</style>von vielen",
            "von [vielen](url \"1.000\")",
        ] {
            assert_eq!(bench("", "of 1,000", hidden).fired(), ["it"], "{hidden}");
        }
        // And what is hidden may be shown after all: no number is made up there either.
        assert_eq!(bench("", "none", "<b hidden>7</b>").fired(), ["it"]);
        assert_eq!(bench("missing = \"allow\"", "5", "x").fired(), [""; 0]);
    }

    #[test]
    fn a_made_up_number_is_named_where_it_stands() {
        let fact = bench("", "from 3 to 5", "von 3\nbis 5\nund 7").only_fact();
        assert_eq!((fact.location.as_deref(), &*fact.actual), (Some("3"), "7"));
        let lenient = bench("extra = \"allow\"", "3", "3, 7");
        assert_eq!(lenient.fired(), [""; 0]);
        let many: Vec<_> = (0..50).map(|it| it.to_string()).collect();
        let facts = bench("missing = \"allow\"", "99", &many.join("; ")).facts();
        let counts: Vec<_> = facts.iter().map(|fact| fact.count).collect();
        assert_eq!((counts.len(), counts.iter().sum::<u32>()), (20, 50));
    }

    #[test]
    fn files_are_held_against_files_of_the_scan() {
        let check = "kind = \"numbers\"\nof_path = \"en.md\"\npath = \"out/de.md\"";
        let bench = Bench::of(check).pinned("en.md", "12").file("en.md", "13");
        assert_eq!(bench.clone().file("out/de.md", "12").fired(), [""; 0]);
        let facts = bench.file("out/de.md", "a\n13").facts();
        let places: Vec<_> = facts.iter().map(|it| it.location.as_deref()).collect();
        assert_eq!(places, [Some("en.md:1"), Some("out/de.md:2")]);
    }

    #[test]
    fn what_cannot_be_said_or_meant_is_told() {
        assert_eq!(bench("", " ", "3").fired(), ["it-unconfirmed"]);
        let nothing = bench("missing = \"allow\"\nextra = \"allow\"", "", "");
        assert!(nothing.mistake().contains("nothing is left"));
        let fixed = Bench::of("kind = \"numbers\"\nof = \"12\"\nfield = \"value\"");
        assert!(fixed.mistake().contains("the same for every quest"));
        let none = Bench::of("kind = \"numbers\"\nfield = \"value\"");
        assert!(none.mistake().contains("`of_path`"));
    }
}
