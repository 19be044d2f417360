//! Step 6, `mail`: does the address's domain take mail?

use super::context::{Context, EMAIL};
use super::step::Step;
use crate::gate::email::takes_mail::{TakesMail, takes_mail};
use crate::gate::{Cost, Fact};

pub static STEP: Step = Step {
    name: "mail",
    cost: Cost::Dns,
    run,
};

fn run(context: &Context<'_>) -> Vec<Fact> {
    let Some(email) = &context.email else {
        return Vec::new();
    };
    let domain = email.domain();
    let resolver = context.world.resolver;
    let finding = match takes_mail(resolver, domain, context.settings.allow_net) {
        TakesMail::Yes => return Vec::new(),
        TakesMail::Null => Fact::new("mx-null", "an MX host", "a null MX alone"),
        TakesMail::Implicit => Fact::new("mx-implicit", "an MX record", "none, but an address"),
        TakesMail::No { why, hosts } => {
            Fact::new("mx-missing", "a domain that takes mail", why).times(hosts)
        }
        TakesMail::Unknown(why) => Fact::new("mx-unanswered", "a definite answer of DNS", why),
    };
    vec![finding.on(EMAIL).at(domain.as_str())]
}

#[cfg(test)]
mod tests;
