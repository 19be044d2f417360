//! `mx`: a domain takes mail, as far as DNS says.

use crate::gate::Fact;
use schemars::JsonSchema;
use serde::Deserialize;

use super::context::Context;
use super::fields::shown;
use super::host_of::host_of;
use super::kind::Probe;
use super::kind::{Flaw, Shows, Source, Spec};
use crate::gate::Cost;
use crate::gate::takes_mail::{TakesMail, takes_mail};
use crate::quest::FieldName;

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

#[cfg(test)]
mod tests {
    use crate::gate::checks::bench::Bench;
    use crate::world::domain::HostName;
    use crate::world::{Looked, MxHost, RecordKind, Records, Silence, Unanswered};

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
        let silence = Looked::Unanswered(Unanswered::new(Silence::Timeout, "late"));
        let silent = bench("acme.com").looked("acme.com", RecordKind::Mx, silence);
        assert_eq!(silent.fired(), ["it-unconfirmed"]);
    }
}
