//! `similar`: a text is as like reference samples as it may be, by a measure in thousandths.
//!
//! Likeness shows nothing by itself: such a check is best given `level = "review"`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::context::Context;
use super::probe::{Detail, Found, Probe};
use super::spec::{Flaw, Shows, Source, Spec};
use super::subject::Subject;
use crate::gate::Cost;
use crate::gate::tools::{Likeness, closest};

/// `kind = "similar"`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimilarSpec {
    /// The field whose text is measured.
    field: Option<String>,
    /// In its place: the path of the file, as a template.
    path: Option<String>,
    /// The samples: files beside the quest file. The one that the text is most like counts.
    references: Vec<String>,
    /// The least likeness, in thousandths.
    at_least: Option<u16>,
    /// The greatest likeness, in thousandths.
    at_most: Option<u16>,
}

#[derive(Debug)]
struct Similar {
    subject: Subject,
    names: Vec<String>,
    samples: Vec<String>,
    at_least: Likeness,
    at_most: Likeness,
}

impl Spec for SimilarSpec {
    const KIND: &'static str = "similar";
    const SHOWS: Shows = Shows::Form;

    fn build(self, source: &Source<'_>) -> Result<Box<dyn Probe>, Flaw> {
        let likeness = |key, thousandths: Option<u16>, other| match thousandths {
            None => Ok(other),
            Some(it) => {
                Likeness::try_from(it).map_err(|bad| Flaw::new(key, format!("{it}: {bad}")))
            }
        };
        if self.at_least.is_none() && self.at_most.is_none() {
            return Err(Flaw::new("references", "say `at_least` or `at_most`"));
        }
        if self.references.is_empty() {
            return Err(Flaw::new("references", "name a file beside the quest file"));
        }
        let (at_least, at_most) = (
            likeness("at_least", self.at_least, Likeness::NONE)?,
            likeness("at_most", self.at_most, Likeness::SAME)?,
        );
        if at_least > at_most {
            return Err(Flaw::new("at_least", "it is greater than `at_most`"));
        }
        let names = self.references.iter();
        Ok(Box::new(Similar {
            subject: Subject::new(source, self.field.as_deref(), self.path.as_deref())?,
            samples: names
                .map(|name| source.beside("references", name))
                .collect::<Result<_, _>>()?,
            names: self.references,
            at_least,
            at_most,
        }))
    }
}

impl Probe for Similar {
    fn cost(&self) -> Cost {
        self.subject.cost()
    }

    fn look(&self, context: &Context<'_>) -> Vec<Found> {
        let text = match self.subject.read(context) {
            Ok(Some(text)) => text,
            Ok(None) => return Vec::new(),
            Err(found) => return vec![found],
        };
        let Some((at, likeness)) = closest(&text.said, &self.samples) else {
            return Vec::new();
        };
        let bound = if likeness < self.at_least {
            format!("at least {}", self.at_least)
        } else if likeness > self.at_most {
            format!("at most {}", self.at_most)
        } else {
            return Vec::new();
        };
        let name = self.names.get(at).map_or("", String::as_str);
        let expected = format!("a text that is {bound} like the samples");
        let detail = Detail::new(expected, format!("{likeness} like {name}"));
        vec![text.detail(detail, "").wrong()]
    }
}

#[cfg(test)]
mod tests {
    use crate::gate::checks::bench::Bench;

    const CHECK: &str =
        "kind = \"similar\"\nfield = \"value\"\nreferences = [\"a.txt\", \"b.txt\"]\n";

    fn bench(more: &str, value: &str) -> Bench {
        Bench::of(&format!("{CHECK}{more}"))
            .asset("a.txt", "the quick brown fox jumps over the lazy dog")
            .asset("b.txt", "all that glitters is not gold")
            .submit("value", value)
    }

    #[test]
    fn the_sample_that_is_most_alike_counts() {
        let copy = "All that  glitters is not gold";
        let fact = bench("at_most = 500", copy).only_fact();
        assert!(fact.actual.contains("b.txt"), "{fact:?}");
        assert_eq!(bench("at_least = 1000", copy).fired(), [""; 0]);
        let other = "something else that nobody has written";
        assert_eq!(bench("at_most = 500", other).fired(), [""; 0]);
        assert_eq!(bench("at_least = 500", other).fired(), ["it"]);
        assert_eq!(
            bench("at_least = 500\nlevel = \"review\"", other)
                .judge()
                .facts
                .len(),
            2
        );
    }

    #[test]
    fn bounds_that_cannot_be_meant_are_mistakes() {
        assert!(bench("", "x").mistake().contains("at_least"));
        assert!(
            bench("at_least = 1001", "x")
                .mistake()
                .contains("thousandths")
        );
        assert!(
            bench("at_least = 9\nat_most = 8", "x")
                .mistake()
                .contains("greater")
        );
        let missing = Bench::of(&format!("{CHECK}at_most = 1"));
        assert!(missing.mistake().contains("a.txt"));
    }
}
