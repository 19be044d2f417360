//! `same-domain`: values name hosts of one registrable domain.

use crate::gate::Fact;
use schemars::JsonSchema;
use serde::Deserialize;

use super::context::Context;
use super::fields::shown;
use super::host_of::host_of;
use super::kind::Probe;
use super::kind::{Flaw, Shows, Source, Spec};
use super::made_up::{by_values, rendered};
use crate::gate::Cost;
use crate::quest::FieldName;
use crate::quest::template::Template;
use crate::world::domain::RegistrableDomain;

/// `kind = "same-domain"`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SameDomainSpec {
    /// The fields: URLs, e-mail addresses or hosts.
    fields: Vec<String>,
    /// A further value of their sort, as a template: `{{ input.site }}`.
    with: Option<String>,
}

#[derive(Debug)]
struct SameDomain {
    fields: Vec<FieldName>,
    with: Option<Template>,
}

impl Spec for SameDomainSpec {
    const KIND: &'static str = "same-domain";
    const SHOWS: Shows = Shows::Form;

    fn build(self, source: &Source<'_>) -> Result<Box<dyn Probe>, Flaw> {
        if self.fields.len() + usize::from(self.with.is_some()) < 2 {
            return Err(Flaw::new("fields", "there is nothing to compare: name two"));
        }
        let fields = self.fields.iter();
        let with = self.with.as_deref();
        Ok(Box::new(SameDomain {
            fields: fields
                .map(|name| source.field("fields", name))
                .collect::<Result<_, _>>()?,
            with: with.map(|text| source.template("with", text)).transpose()?,
        }))
    }
}

impl Probe for SameDomain {
    fn cost(&self) -> Cost {
        Cost::Local
    }

    fn run(&self, context: &Context<'_>) -> Vec<Fact> {
        let mut first: Option<RegistrableDomain> = None;
        if let Some(with) = &self.with {
            let text = match rendered(context, with) {
                Ok(text) => text,
                Err(found) => return vec![found],
            };
            match domain_of(&text) {
                Some(domain) => first = Some(domain),
                // A cell that names no domain is not the agent's fault.
                None => return vec![by_values(with, unreadable(&text))],
            }
        }
        let mut found = Vec::new();
        for field in &self.fields {
            let Some(text) = context.field(field) else {
                continue;
            };
            match (domain_of(text), &first) {
                (None, _) => found.push(unreadable(text).on(field)),
                (Some(domain), None) => first = Some(domain),
                (Some(domain), Some(first)) if domain == *first => {}
                (Some(_), Some(first)) => {
                    let expected = format!("a value of the domain {}", first.as_str());
                    found.push(Fact::wrong(expected, shown(text)).on(field));
                }
            }
        }
        found
    }
}

fn domain_of(text: &str) -> Option<RegistrableDomain> {
    host_of(text)?.registrable()
}

fn unreadable(text: &str) -> Fact {
    let expected = "a URL, an e-mail address or a host under a public suffix";
    Fact::wrong(expected, shown(text))
}

#[cfg(test)]
mod tests {
    use crate::gate::checks::bench::Bench;

    fn fired(one: &str, other: &str) -> Vec<String> {
        Bench::of("kind = \"same-domain\"\nfields = [\"value\", \"other\"]")
            .submit("value", one)
            .submit("other", other)
            .fired()
    }

    #[test]
    fn hosts_of_one_registrable_domain_pass() {
        assert_eq!(fired("https://www.acme.co.kr/x", "me@acme.co.kr"), [""; 0]);
        assert_eq!(fired("acme.co.kr", "shop.acme.co.kr"), [""; 0]);
        assert_eq!(fired("acme.co.kr", ""), [""; 0]);
    }

    #[test]
    fn others_do_not() {
        assert_eq!(fired("acme.co.kr", "bolt.co.kr"), ["it"]);
        assert_eq!(fired("a.github.io", "b.github.io"), ["it"]);
        assert_eq!(fired("acme.co.kr", "not a host"), ["it"]);
        assert_eq!(
            fired("http://127.0.0.1/", "http://127.0.0.1/"),
            ["it", "it"]
        );
        assert_eq!(
            fired("https://acme.co.kr@bolt.co.kr/", "acme.co.kr"),
            ["it"]
        );
    }

    #[test]
    fn a_column_may_say_which() {
        let check = "kind = \"same-domain\"\nfields = [\"value\"]\nwith = \"{{ input.cell }}\"";
        let bench = Bench::of(check).submit("value", "https://acme.com/");
        assert_eq!(bench.clone().cell("https://www.acme.com").fired(), [""; 0]);
        assert_eq!(bench.clone().cell("bolt.com").fired(), ["it"]);
        assert_eq!(bench.cell("unknown").fired(), ["it-unconfirmed"]);
        let check = check.replace("input.cell", "field.other");
        let bench = Bench::of(&check).submit("value", "https://acme.com/");
        assert_eq!(bench.clone().submit("other", "acme.com").fired(), [""; 0]);
        assert_eq!(bench.submit("other", "unknown").fired(), ["it"]);
        let one = "kind = \"same-domain\"\nfields = [\"value\"]";
        assert!(Bench::of(one).mistake().contains("nothing to compare"));
    }
}
