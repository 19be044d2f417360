//! Step 3, `freemail`: the address or the site stands at a provider, so that domains that
//! agree, or differ, say nothing.

use super::context::{Context, EMAIL, SITE};
use super::lists;
use crate::gate::{Check, Cost, Finding, Level, Rule};
use crate::world::mailbox::Mailbox;

pub use super::site::{Hosted, hosted};

const FREEMAIL: &str = "freemail";
const HOSTED_SITE: &str = "hosted-site";

static RULES: [Rule; 2] = [
    Rule::known(
        FREEMAIL,
        Level::Review,
        "the address is of a mail provider at which anyone can have one",
        "submit an address at the site's own domain, or leave it to a person",
    ),
    Rule::known(
        HOSTED_SITE,
        Level::Review,
        "the site is a page on a social network, blog, shop or site builder",
        "submit the site at the company's own domain, or leave it to a person",
    ),
];

pub struct Freemail;

impl Check<Context<'_>> for Freemail {
    fn name(&self) -> &'static str {
        "freemail"
    }

    fn cost(&self) -> Cost {
        Cost::Local
    }

    fn rules(&self) -> &'static [Rule] {
        &RULES
    }

    fn run(&self, context: &Context<'_>) -> Vec<Finding> {
        let provider = context.email.as_ref().and_then(freemail).map(|provider| {
            let actual = format!("{provider} gives addresses to anyone");
            Finding::new(FREEMAIL, "an address at the site's domain", actual).on(EMAIL)
        });
        let host = context.site.as_ref().and_then(hosted).map(|host| {
            Finding::new(
                HOSTED_SITE,
                "a site at a domain of its own",
                host.to_string(),
            )
            .on(SITE)
        });
        provider.into_iter().chain(host).collect()
    }
}

#[must_use]
pub fn freemail(mailbox: &Mailbox) -> Option<&'static str> {
    lists::FREEMAIL.covering(mailbox.domain().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::email::testing::Bench;

    #[test]
    fn an_own_domain_passes() {
        assert_eq!(Bench::good().run(&Freemail), []);
    }

    #[test]
    fn knows_providers_and_not_their_neighbours() {
        for domain in [
            "gmail.com",
            "Naver.com",
            "hanmail.net",
            "vip.qq.com",
            "yahoo.co.jp",
        ] {
            let found = Bench::good()
                .email(&format!("acme@{domain}"))
                .fired(&Freemail);
            assert_eq!(found, [FREEMAIL], "{domain}");
        }
        for domain in ["gmail.acme.com", "navercorp.com", "mygmail.com"] {
            let found = Bench::good()
                .email(&format!("acme@{domain}"))
                .fired(&Freemail);
            assert_eq!(found, [""; 0], "{domain}");
        }
    }

    #[test]
    fn a_provider_counts_on_its_own_site_too() {
        let found = Bench::of("https://naver.com/", "x@naver.com", "https://naver.com/a");
        assert_eq!(found.fired(&Freemail), [FREEMAIL]);
    }

    #[test]
    fn knows_hosted_sites() {
        let found = Bench::good()
            .site("https://www.facebook.com/acme")
            .fired(&Freemail);
        assert_eq!(found, [HOSTED_SITE]);
        let both = Bench::good()
            .site("https://acme.github.io/")
            .email("acme@gmail.com");
        assert_eq!(both.fired(&Freemail), [FREEMAIL, HOSTED_SITE]);
    }
}
