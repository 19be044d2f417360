//! Step 6, `mail`: does the address's domain take mail?

use super::context::{Context, EMAIL};
use crate::gate::takes_mail::{TakesMail, takes_mail};
use crate::gate::{Cause, Check, Cost, Finding, Level, Rule};
use crate::world::domain::HostName;

const RULES: &[Rule] = &[
    Rule::known(
        "mx-missing",
        Level::Fail,
        "the domain does not exist, has neither MX nor address, or every MX host does not exist",
        "submit an address of a domain that takes mail",
    ),
    Rule::known(
        "mx-null",
        Level::Fail,
        "the domain says that it takes no mail (RFC 7505)",
        "submit an address of a domain that takes mail",
    ),
    Rule::known(
        "mx-implicit",
        Level::Review,
        "the domain has no MX, but an address (RFC 5321 §5.1)",
        "submit an address of a domain with an MX record, if the company has one",
    ),
    Rule::known(
        "mx-unanswered",
        Level::Review,
        "DNS gave no definite answer, or no public address behind any MX",
        "nothing for the agent to change: a person looks again later",
    )
    .because(Cause::Unanswered),
];

pub struct Mail;

impl Check<Context<'_>> for Mail {
    fn name(&self) -> &'static str {
        "mail"
    }

    fn cost(&self) -> Cost {
        Cost::Dns
    }

    fn rules(&self) -> &'static [Rule] {
        RULES
    }

    fn run(&self, context: &Context<'_>) -> Vec<Finding> {
        let Some(email) = &context.email else {
            return Vec::new();
        };
        let domain = email.domain();
        let resolver = context.world.resolver;
        let finding = match takes_mail(resolver, domain, context.settings.allow_net) {
            TakesMail::Yes => None,
            TakesMail::Null => Some(
                Finding::new("mx-null", "an MX host", "a null MX alone")
                    .on(EMAIL)
                    .at(domain.as_str()),
            ),
            TakesMail::Implicit => Some(
                Finding::new("mx-implicit", "an MX record", "none, but an address")
                    .on(EMAIL)
                    .at(domain.as_str()),
            ),
            TakesMail::No { why, hosts } => Some(missing(domain, why).times(hosts)),
            TakesMail::Unknown(why) => Some(unanswered(domain, why)),
        };
        finding.into_iter().collect()
    }
}

fn missing(domain: &HostName, actual: impl Into<String>) -> Finding {
    Finding::new("mx-missing", "a domain that takes mail", actual)
        .on(EMAIL)
        .at(domain.as_str())
}

fn unanswered(domain: &HostName, actual: impl Into<String>) -> Finding {
    Finding::new("mx-unanswered", "a definite answer of DNS", actual)
        .on(EMAIL)
        .at(domain.as_str())
}

#[cfg(test)]
mod tests;
