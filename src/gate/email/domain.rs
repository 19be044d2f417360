//! Step 4, `domain`: address, site and anchor name one domain.

use url::Url;

use super::context::{Context, EMAIL, SITE};
use super::freemail::freemail;
use super::site::{Agreement, agreement, hosted, registrable};
use super::step::Step;
use crate::gate::{Cost, Fact};
use crate::world::domain::RegistrableDomain;
use crate::world::mailbox::Mailbox;

pub static STEP: Step = Step {
    name: "domain",
    cost: Cost::Local,
    run,
};

fn run(context: &Context<'_>) -> Vec<Fact> {
    let Some(site) = &context.site else {
        return Vec::new();
    };
    let email = context.email.as_ref();
    let differs = email.and_then(|email| disagreement(site, email));
    let unexpected = unexpected(site, &context.anchors());
    differs.into_iter().chain(unexpected).collect()
}

/// How the domains of address and site differ; a provider on either side takes the question
/// away (rules `freemail` and `hosted-site`).
fn disagreement(site: &Url, email: &Mailbox) -> Option<Fact> {
    if freemail(email).is_some() || hosted(site).is_some() {
        return None;
    }
    let wanted = registrable(site)?;
    let found = email.domain().registrable();
    if found.as_ref() == Some(&wanted) {
        return None;
    }
    let same_name = |found| RegistrableDomain::name_label(found) == wanted.name_label();
    // Below a private suffix a name is given to whoever asks first.
    let in_suffix_alone =
        !email.domain().public_suffix_is_private() && found.as_ref().is_some_and(same_name);
    let rule = if in_suffix_alone {
        "domain-ambiguous"
    } else {
        "domain-mismatch"
    };
    let actual = found.map_or_else(|| email.domain().to_string(), |found| found.to_string());
    Some(Fact::new(rule, format!("an address at {wanted}"), actual).on(EMAIL))
}

fn unexpected(site: &Url, anchors: &[Url]) -> Option<Fact> {
    let rule = match agreement(site, anchors)? {
        Agreement::Met => return None,
        Agreement::Beside => "site-beside-expected",
        Agreement::Not => "site-not-expected",
    };
    let expected: Vec<_> = anchors.iter().map(Url::as_str).collect();
    let expected = format!("a site on {}", expected.join(" or "));
    Some(Fact::new(rule, expected, site.as_str()).on(SITE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::email::testing::Bench;

    fn fired(site: &str, email: &str) -> Vec<String> {
        Bench::good().site(site).email(email).fired(&STEP)
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
            assert_eq!(fired(site, email), ["domain-mismatch"], "{site} {email}");
        }
    }

    #[test]
    fn another_suffix_alone_is_ambiguous() {
        assert_eq!(
            fired("https://acme.com/", "info@acme.co.kr"),
            ["domain-ambiguous"]
        );
        assert_eq!(
            fired("https://www.acme.de/", "info@eu.acme.com"),
            ["domain-ambiguous"]
        );
        assert_eq!(
            fired("https://acme.com/", "info@acme-kr.com"),
            ["domain-mismatch"]
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
        let anchored = |anchor: &str| Bench::good().anchor(anchor).fired(&STEP);
        assert_eq!(anchored("www.acme.co.kr"), [""; 0]);
        assert_eq!(anchored("acme.com, acme.co.kr"), [""; 0]);
        assert_eq!(anchored("acme.com"), ["site-not-expected"]);
        assert_eq!(
            anchored("https://www.facebook.com/acme"),
            ["site-not-expected"]
        );
        assert_eq!(anchored("없음"), [""; 0]);
    }

    #[test]
    fn no_provider_takes_the_anchors_place() {
        let anchored = |site: &str, email: &str| {
            let bench = Bench::good().site(site).email(email).anchor("acme.co.kr");
            bench.fired(&STEP)
        };
        assert_eq!(
            anchored("https://evil.kr/", "acme@gmail.com"),
            ["site-not-expected"]
        );
        assert_eq!(
            anchored("https://facebook.com/acme", "info@acme.co.kr"),
            ["site-not-expected"]
        );
        assert_eq!(
            anchored("https://evil.kr/", "no address"),
            ["site-not-expected"]
        );
    }

    #[test]
    fn a_hosted_anchor_is_held_by_host_and_path() {
        let anchored = |site: &str| {
            let bench = Bench::good().site(site).anchor("smartstore.naver.com/acme");
            bench.fired(&STEP)
        };
        assert_eq!(
            anchored("https://smartstore.naver.com/acme/profile"),
            [""; 0]
        );
        assert_eq!(
            anchored("https://smartstore.naver.com/evil"),
            ["site-not-expected"]
        );
    }

    #[test]
    fn an_anchor_that_names_a_part_of_a_domain_is_held_to_it() {
        let anchored = |anchor: &str, site: &str| {
            let bench = Bench::good().site(site).anchor(anchor);
            bench.fired(&STEP)
        };
        let front = "https://www.acme.co.kr/en/main.do";
        assert_eq!(anchored(front, "https://www.acme.co.kr/"), [""; 0]);
        let tenant = "acme.co.kr/foods";
        assert_eq!(anchored(tenant, "https://acme.co.kr/foods/x"), [""; 0]);
        assert_eq!(
            anchored(tenant, "https://acme.co.kr/toys"),
            ["site-beside-expected"]
        );
        assert_eq!(
            anchored("foods.acme.co.kr", "https://toys.acme.co.kr/"),
            ["site-not-expected"]
        );
    }

    #[test]
    fn without_a_site_it_says_nothing() {
        assert_eq!(fired("acme.co.kr", "info@other.kr"), [""; 0]);
    }
}
