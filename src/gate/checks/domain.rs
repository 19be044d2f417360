//! `mx`: a domain takes mail, as far as DNS says.

use schemars::JsonSchema;
use serde::Deserialize;
use url::{Host, Url};

use super::context::Context;
use super::fields::shown;
use super::kind::{Flaw, Probe, Shows, Source, Spec};
use super::subject::{by_values, rendered};
use crate::gate::takes_mail::{TakesMail, takes_mail};
use crate::gate::{Cost, Fact};
use crate::quest::FieldName;
use crate::quest::template::Template;
use crate::world::domain::{HostName, RegistrableDomain};
use crate::world::mailbox::Mailbox;

/// `kind = "mx"`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MxSpec {
    /// The field: an e-mail address, a host or a URL.
    field: String,
}

#[derive(Debug)]
struct Mx {
    field: FieldName,
}

impl Spec for MxSpec {
    const KIND: &'static str = "mx";
    const SHOWS: Shows = Shows::Form;

    fn build(self, source: &Source<'_>) -> Result<Box<dyn Probe>, Flaw> {
        let field = source.field("field", &self.field)?;
        Ok(Box::new(Mx { field }))
    }
}

impl Probe for Mx {
    fn cost(&self) -> Cost {
        Cost::Dns
    }

    fn run(&self, context: &Context<'_>) -> Vec<Fact> {
        const EXPECTED: &str = "a domain that takes mail";
        let Some(text) = context.field(&self.field) else {
            return Vec::new();
        };
        let Some(domain) = host_of(text) else {
            let expected = "an e-mail address or a domain";
            return vec![Fact::wrong(expected, shown(text)).on(&self.field)];
        };
        let detail = |actual: &str| {
            let detail = Fact::wrong(EXPECTED, actual).on(&self.field);
            detail.at(domain.as_str())
        };
        let allow = &context.settings.allow_net;
        vec![match takes_mail(context.world.resolver, &domain, allow) {
            TakesMail::Yes => return Vec::new(),
            TakesMail::Null => detail("a null MX alone (RFC 7505)"),
            TakesMail::No { why, hosts } => detail(&why).times(hosts),
            TakesMail::Implicit => detail("no MX, but an address").unconfirmed(),
            TakesMail::Unknown(why) => detail(&why).unconfirmed(),
        }]
    }
}

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

/// The host of a URL or an e-mail address, or the host that the text is; an IPv4 address stands
/// for itself, and has no registrable domain.
pub(super) fn host_of(text: &str) -> Option<HostName> {
    let text = text.trim();
    if text.contains("://") {
        return of_url(&Url::parse(text).ok()?);
    }
    if text.contains('@') {
        return Some(Mailbox::parse(text).ok()?.domain().clone());
    }
    of_url(&Url::parse(&format!("https://{text}")).ok()?)
}

fn of_url(url: &Url) -> Option<HostName> {
    match url.host()? {
        Host::Domain(name) => HostName::parse(name).ok(),
        Host::Ipv4(address) => HostName::parse(&address.to_string()).ok(),
        Host::Ipv6(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::checks::bench::Bench;
    use crate::world::domain::HostName;
    use crate::world::{Looked, MxHost, RecordKind, Records, Unanswered, UnansweredKind};

    fn bench(value: &str) -> Bench {
        Bench::of("kind = \"mx\"\nfield = \"value\"").submit("value", value)
    }

    fn with_mx(bench: Bench, host: &str) -> Bench {
        let host = MxHost {
            preference: 10,
            host: HostName::parse(host).ok(),
        };
        let found = Looked::Found(Records::Mx(vec![host]));
        bench.looked("acme.com", RecordKind::Mx, found)
    }

    fn address() -> Looked {
        Looked::Found(Records::Addresses(vec!["93.184.215.14".parse().unwrap()]))
    }

    #[test]
    fn a_domain_whose_mx_is_there_takes_mail() {
        for value in ["me@acme.com", "acme.com", "https://acme.com/x"] {
            let known = with_mx(bench(value), "mx.acme.com");
            let there = known
                .clone()
                .looked("mx.acme.com", RecordKind::A, address());
            assert_eq!(there.fired(), [""; 0], "{value}");
            assert_eq!(known.fired(), ["it"], "{value}");
        }
    }

    #[test]
    fn others_do_not_or_are_not_known_to() {
        assert_eq!(bench("me@acme.com").fired(), ["it"]);
        assert_eq!(with_mx(bench("me@acme.com"), ".").fired(), ["it"]);
        assert_eq!(bench("nobody").fired(), ["it"]);
        assert_eq!(bench("two words").fired(), ["it"]);
        let implicit = bench("acme.com")
            .looked("acme.com", RecordKind::Mx, Looked::NoData)
            .looked("acme.com", RecordKind::A, address());
        assert_eq!(implicit.fired(), ["it-unconfirmed"]);
        let silence = Looked::Unanswered(Unanswered::new(UnansweredKind::Timeout, "late"));
        let silent = bench("acme.com").looked("acme.com", RecordKind::Mx, silence);
        assert_eq!(silent.fired(), ["it-unconfirmed"]);
    }

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

    #[test]
    fn urls_addresses_and_hosts_name_one() {
        for text in [
            "https://www.acme.co.kr:8443/x?y#z",
            "WWW.acme.co.kr",
            "www.acme.co.kr/en",
            "info@www.acme.co.kr",
            "https://user:pass@www.acme.co.kr/",
            "ｗｗｗ.acme.co.kr.",
        ] {
            let host = host_of(text).map(String::from);
            assert_eq!(host.as_deref(), Some("www.acme.co.kr"), "{text}");
        }
    }

    #[test]
    fn other_texts_name_none() {
        for text in [
            "",
            "two words",
            "mailto:info",
            "a@b@",
            "https://",
            "[::1]",
            "<a>",
        ] {
            assert_eq!(host_of(text), None, "{text}");
        }
    }
}
