//! `terms`: what a glossary names is called as the glossary says.

use schemars::JsonSchema;
use serde::Deserialize;

use super::anchors::Glossary;
use super::context::Context;
use super::held_against::HeldAgainst;
use super::probe::{Detail, Found, Probe};
use super::prose::Markup;
use super::spec::{Flaw, Shows, Source, Spec};
use crate::base::text::fold;
use crate::gate::Cost;

/// `kind = "terms"`.
///
/// Where the source says a term, the target must say one of its target terms: word by word,
/// whatever their case and width. A term that stands inside a longer one is not meant there.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TermsSpec {
    /// The source, as a template such as `{{ input.text }}`.
    of: Option<String>,
    /// In its place: the path of a file, as a template. It is looked at as it was at the scan.
    of_path: Option<String>,
    /// The field that must say the target terms.
    field: Option<String>,
    /// In its place: the path of the file, as a template.
    path: Option<String>,
    /// A file beside the quest file. CSV, whose first row names the columns: a term, then its
    /// target terms, in columns of their own or parted by `;`. Or TOML, by the ending of its name:
    /// `"term" = "target"`, or a list of them. A term that ends with `*` may go on: `Rechnung*`.
    glossary: String,
}

#[derive(Debug)]
struct Terms {
    texts: HeldAgainst,
    glossary: Glossary,
}

impl Spec for TermsSpec {
    const KIND: &'static str = "terms";
    const SHOWS: Shows = Shows::Form;

    fn build(self, source: &Source<'_>) -> Result<Box<dyn Probe>, Flaw> {
        let text = source.beside("glossary", &self.glossary)?;
        let glossary = Glossary::read(&self.glossary, &text);
        Ok(Box::new(Terms {
            texts: HeldAgainst::new(
                source,
                [self.of.as_deref(), self.of_path.as_deref()],
                [self.field.as_deref(), self.path.as_deref()],
            )?,
            glossary: glossary
                .map_err(|why| Flaw::new("glossary", format!("{}: {why}", self.glossary)))?,
        }))
    }
}

impl Probe for Terms {
    fn cost(&self) -> Cost {
        self.texts.cost()
    }

    fn look(&self, context: &Context<'_>) -> Vec<Found> {
        self.texts.look(context, |original, text| {
            // What stands in code is called as the code calls it.
            let theirs = Markup::of(&original.said);
            let said = fold(&Markup::anew(&text.said, &theirs).shown_prose);
            let meant = self.glossary.said_in(&theirs.shown_prose).into_iter();
            let found = meant.filter(|(entry, _)| !entry.is_met_by(&said));
            let found = found.map(|(entry, line)| {
                let targets = entry.targets.join("” or “");
                let expected = format!("“{targets}” for “{}”", entry.term);
                let detail = Detail::new(expected, "it is not there, as whole words");
                text.detail(detail, "").at(original.line(line)).wrong()
            });
            found.collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::gate::checks::bench::Bench;

    const CHECK: &str = "kind = \"terms\"\nof = \"{{ input.cell }}\"\nfield = \"value\"\n";
    const TERMS: &str = "term,target\ninvoice,Rechnung;Rechnungen\ncredit note,Gutschrift*\n";

    fn bench(source: &str, target: &str) -> Bench {
        Bench::of(&format!("{CHECK}glossary = \"terms.csv\""))
            .asset("terms.csv", TERMS)
            .cell(source)
            .submit("value", target)
    }

    #[test]
    fn a_term_is_called_as_the_glossary_says() {
        let right = bench(
            "An Invoice or a credit\nnote",
            "Die RECHNUNG, die Gutschriften",
        );
        assert_eq!(right.fired(), [""; 0]);
        let fact = bench("Hi!\nAn invoice", "Die Faktura, die Monatsrechnung").only_fact();
        assert_eq!(fact.location.as_deref(), Some("source:2"));
        assert!(fact.expected.contains("“Rechnung” or “Rechnungen”"));
        assert_eq!(bench("Invoices", "Belege").fired(), [""; 0]);
        assert_eq!(bench("run `invoice`", "Los: `invoice`").fired(), [""; 0]);
        assert_eq!(bench("An invoice", "Los: `Rechnung`").fired(), ["it"]);
        for hidden in [
            "x <!-- Rechnung -->",
            "Aufkleber<span hidden>Rechnung</span>",
            "Aufkleber<i title=\"Rechnung\"></i>",
            "[Aufkleber](url \"Rechnung\")",
        ] {
            assert_eq!(bench("An invoice", hidden).fired(), ["it"], "{hidden}");
        }
        let styled = "<p style=\"color:red\">An invoice</p>";
        let right = "<p style=\"color:red\">Eine Rechnung</p>";
        assert_eq!(bench(styled, right).fired(), [""; 0]);
        let white = "<p style=\"color:white\">Eine Rechnung</p>";
        assert_eq!(bench(styled, white).fired(), ["it"]);
    }

    #[test]
    fn a_glossary_that_cannot_be_read_is_a_mistake() {
        let check = format!("{CHECK}glossary = \"terms.toml\"");
        assert!(Bench::of(&check).mistake().contains("terms.toml"));
        let bad = Bench::of(&check).asset("terms.toml", "invoice = 3");
        assert!(bad.mistake().contains("a list of texts"));
    }
}
