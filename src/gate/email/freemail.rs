//! Step 3, `freemail`: the address or the site is at a provider, so that domains that
//! agree, or differ, say nothing.

use super::lists;
use super::site::hosted;
use super::step::{Context, EMAIL, SITE, Step};
use crate::gate::checks::kind::Verifies;
use crate::gate::{Cost, Fact};
use crate::world::mailbox::Mailbox;

pub static STEP: Step = Step {
    name: "email-freemail",
    cost: Cost::Local,
    verifies: Verifies::Form,
    keys: &["site", "email"],
    run,
};

fn run(context: &Context<'_>) -> Vec<Fact> {
    let provider = context.email.as_ref().and_then(freemail).map(|provider| {
        let actual = format!("{provider} gives addresses to anyone");
        Fact::new("freemail", "an address at the site's domain", actual).on(EMAIL)
    });
    let host = context.site.as_ref().and_then(hosted).map(|host| {
        let expected = "a site at a domain of its own";
        Fact::new("hosted-site", expected, host).on(SITE)
    });
    provider.into_iter().chain(host).collect()
}

pub fn freemail(mailbox: &Mailbox) -> Option<&'static str> {
    lists::FREEMAIL.covering(mailbox.domain().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::email::tests::EmailCase;

    #[test]
    fn an_own_domain_passes() {
        assert_eq!(EmailCase::good().run(&STEP), []);
    }

    #[test]
    fn knows_providers_and_not_their_neighbours() {
        for domain in "gmail.com Naver.com hanmail.net vip.qq.com yahoo.co.jp".split_whitespace() {
            let found = EmailCase::good()
                .email(&format!("acme@{domain}"))
                .fired(&STEP);
            assert_eq!(found, ["freemail"], "{domain}");
        }
        for domain in ["gmail.acme.com", "navercorp.com", "mygmail.com"] {
            let found = EmailCase::good()
                .email(&format!("acme@{domain}"))
                .fired(&STEP);
            assert_eq!(found, [""; 0], "{domain}");
        }
    }

    #[test]
    fn a_provider_counts_on_its_own_site_too() {
        let found = EmailCase::of("https://naver.com/", "x@naver.com", "https://naver.com/a");
        assert_eq!(found.fired(&STEP), ["freemail"]);
    }

    #[test]
    fn knows_hosted_sites() {
        let found = EmailCase::good()
            .site("https://www.facebook.com/acme")
            .fired(&STEP);
        assert_eq!(found, ["hosted-site"]);
        let both = EmailCase::good()
            .site("https://acme.github.io/")
            .email("acme@gmail.com");
        assert_eq!(both.fired(&STEP), ["freemail", "hosted-site"]);
    }
}
