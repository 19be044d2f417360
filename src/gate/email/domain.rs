//! Step 4, `domain`: address, site and anchor name one domain.

use url::Url;

use super::context::{Context, EMAIL, SITE};
use super::freemail::freemail;
use super::site::hosted;
use super::site::registrable;
use super::site::{Agreement, agreement};
use crate::gate::{Check, Cost, Finding, Level, Rule};
use crate::world::mailbox::Mailbox;

const DOMAIN_MISMATCH: &str = "domain-mismatch";
const DOMAIN_AMBIGUOUS: &str = "domain-ambiguous";
const SITE_NOT_EXPECTED: &str = "site-not-expected";
const SITE_BESIDE_EXPECTED: &str = "site-beside-expected";

static RULES: [Rule; 4] = [
    Rule::known(
        DOMAIN_MISMATCH,
        Level::Fail,
        "the registrable domains of address and site differ",
        "submit an address at the site's domain, or the site that the address belongs to",
    ),
    Rule::known(
        DOMAIN_AMBIGUOUS,
        Level::Review,
        "the registrable domains of address and site differ in their suffix alone",
        "submit an address and a site of the very same domain, or leave it to a person",
    ),
    Rule::known(
        SITE_NOT_EXPECTED,
        Level::Fail,
        "the operator's list names another site for this company",
        "submit the site that the operator names, and an address from it",
    ),
    Rule::known(
        SITE_BESIDE_EXPECTED,
        Level::Review,
        "the operator's list names a part of this site's domain, and the site is not in it",
        "submit the site as the operator names it, by its host and path",
    ),
];

pub struct Domain;

impl Check<Context<'_>> for Domain {
    fn name(&self) -> &'static str {
        "domain"
    }

    fn cost(&self) -> Cost {
        Cost::Local
    }

    fn rules(&self) -> &'static [Rule] {
        &RULES
    }

    fn run(&self, context: &Context<'_>) -> Vec<Finding> {
        let Some(site) = &context.site else {
            return Vec::new();
        };
        let email = context.email.as_ref();
        email
            .and_then(|email| disagreement(site, email))
            .into_iter()
            .chain(unexpected(site, &context.anchors()))
            .collect()
    }
}

/// How the domains of address and site differ; a provider on either side takes the question
/// away (rules `freemail` and `hosted-site`).
fn disagreement(site: &Url, email: &Mailbox) -> Option<Finding> {
    if freemail(email).is_some() || hosted(site).is_some() {
        return None;
    }
    let wanted = registrable(site)?;
    let found = email.domain().registrable();
    if found.as_ref() == Some(&wanted) {
        return None;
    }
    // Below a private suffix a name is given to whoever asks first.
    let in_suffix_alone = !email.domain().public_suffix_is_private()
        && found
            .as_ref()
            .is_some_and(|found| found.name_label() == wanted.name_label());
    let rule = if in_suffix_alone {
        DOMAIN_AMBIGUOUS
    } else {
        DOMAIN_MISMATCH
    };
    let actual = found.map_or_else(|| email.domain().to_string(), |found| found.to_string());
    Some(Finding::new(rule, format!("an address at {wanted}"), actual).on(EMAIL))
}

fn unexpected(site: &Url, anchors: &[Url]) -> Option<Finding> {
    let rule = match agreement(site, anchors)? {
        Agreement::Met => return None,
        Agreement::Beside => SITE_BESIDE_EXPECTED,
        Agreement::Not => SITE_NOT_EXPECTED,
    };
    let expected: Vec<_> = anchors.iter().map(Url::as_str).collect();
    let expected = format!("a site on {}", expected.join(" or "));
    Some(Finding::new(rule, expected, site.as_str()).on(SITE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::email::testing::Bench;

    fn fired(site: &str, email: &str) -> Vec<String> {
        Bench::good().site(site).email(email).fired(&Domain)
    }

    #[test]
    fn hosts_of_one_domain_agree() {
        assert_eq!(
            fired("https://www.acme.co.kr/en", "info@mail.ACME.co.kr"),
            [""; 0]
        );
        assert_eq!(
            fired("https://한빛.한국/", "info@xn--xx3br43b.xn--3e0b707e"),
            [""; 0]
        );
    }

    #[test]
    fn other_domains_do_not() {
        for (site, email) in [
            ("https://acme.co.kr/", "info@acne.co.kr"),
            ("https://acme.co.kr/", "info@acme.evil.kr"),
            ("https://acme.com/", "info@acme.github.io"),
        ] {
            assert_eq!(fired(site, email), [DOMAIN_MISMATCH], "{site} {email}");
        }
    }

    #[test]
    fn another_suffix_alone_is_ambiguous() {
        assert_eq!(
            fired("https://acme.com/", "info@acme.co.kr"),
            [DOMAIN_AMBIGUOUS]
        );
        assert_eq!(
            fired("https://www.acme.de/", "info@eu.acme.com"),
            [DOMAIN_AMBIGUOUS]
        );
        assert_eq!(
            fired("https://acme.com/", "info@acme-kr.com"),
            [DOMAIN_MISMATCH]
        );
    }

    #[test]
    fn a_provider_takes_the_place_of_these_rules() {
        assert_eq!(fired("https://acme.com/", "acme@gmail.com"), [""; 0]);
        assert_eq!(
            fired("https://www.facebook.com/acme", "info@acme.com"),
            [""; 0]
        );
    }

    #[test]
    fn the_anchor_names_the_site() {
        let anchored = |anchor: &str| Bench::good().anchor(anchor).fired(&Domain);
        assert_eq!(anchored("www.acme.co.kr"), [""; 0]);
        assert_eq!(anchored("acme.com, acme.co.kr"), [""; 0]);
        assert_eq!(anchored("acme.com"), [SITE_NOT_EXPECTED]);
        assert_eq!(
            anchored("https://www.facebook.com/acme"),
            [SITE_NOT_EXPECTED]
        );
        assert_eq!(anchored("없음"), [""; 0]);
    }

    #[test]
    fn no_provider_takes_the_anchors_place() {
        let anchored = |site: &str, email: &str| {
            let bench = Bench::good().site(site).email(email).anchor("acme.co.kr");
            bench.fired(&Domain)
        };
        assert_eq!(
            anchored("https://evil.kr/", "acme@gmail.com"),
            [SITE_NOT_EXPECTED]
        );
        assert_eq!(
            anchored("https://facebook.com/acme", "info@acme.co.kr"),
            [SITE_NOT_EXPECTED]
        );
        assert_eq!(
            anchored("https://evil.kr/", "no address"),
            [SITE_NOT_EXPECTED]
        );
    }

    #[test]
    fn a_hosted_anchor_is_held_by_host_and_path() {
        let anchored = |site: &str| {
            let bench = Bench::good().site(site).anchor("smartstore.naver.com/acme");
            bench.fired(&Domain)
        };
        assert_eq!(
            anchored("https://smartstore.naver.com/acme/profile"),
            [""; 0]
        );
        assert_eq!(
            anchored("https://smartstore.naver.com/evil"),
            [SITE_NOT_EXPECTED]
        );
    }

    #[test]
    fn an_anchor_that_names_a_part_of_a_domain_is_held_to_it() {
        let anchored = |anchor: &str, site: &str| {
            let bench = Bench::good().site(site).anchor(anchor);
            bench.fired(&Domain)
        };
        let front = "https://www.acme.co.kr/en/main.do";
        assert_eq!(anchored(front, "https://www.acme.co.kr/"), [""; 0]);
        let tenant = "acme.co.kr/foods";
        assert_eq!(anchored(tenant, "https://acme.co.kr/foods/x"), [""; 0]);
        assert_eq!(
            anchored(tenant, "https://acme.co.kr/toys"),
            [SITE_BESIDE_EXPECTED]
        );
        assert_eq!(
            anchored("foods.acme.co.kr", "https://toys.acme.co.kr/"),
            [SITE_NOT_EXPECTED]
        );
    }

    #[test]
    fn without_a_site_it_says_nothing() {
        assert_eq!(fired("acme.co.kr", "info@other.kr"), [""; 0]);
    }
}
