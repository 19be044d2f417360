//! Step 4, `domain`: address, site and anchor name one domain.

use url::Url;

use super::freemail::freemail;
use super::site::{Agreement, agreement, hosted, may_be_customers, registrable};
use super::step::{Context, EMAIL, SITE, Step};
use crate::gate::checks::kind::Verifies;
use crate::gate::{Cost, Fact};
use crate::world::domain::RegistrableDomain;
use crate::world::mailbox::Mailbox;

pub static STEP: Step = Step {
    name: "email-domain",
    cost: Cost::Local,
    verifies: Verifies::Form,
    keys: &["site", "email", "anchor"],
    run,
};

fn run(context: &Context<'_>) -> Vec<Fact> {
    let Some(site) = &context.site else {
        return Vec::new();
    };
    let email = context.email.as_ref();
    let source = context.source.as_ref();
    let differs = email.and_then(|email| disagreement(site, source, email));
    let unexpected = unexpected(site, &context.anchors());
    differs.into_iter().chain(unexpected).collect()
}

/// How the domains of address and site differ; a provider on either side takes the question
/// away (rules `freemail` and `hosted-site`).
fn disagreement(site: &Url, source: Option<&Url>, email: &Mailbox) -> Option<Fact> {
    if freemail(email).is_some() || hosted(site).is_some() {
        return None;
    }
    let wanted = registrable(site)?;
    let found = email.domain().registrable();
    if found.as_ref() == Some(&wanted) {
        let is_customers = source.is_some_and(|it| may_be_customers(email.domain(), site, it));
        return is_customers.then(|| {
            let expected = format!("an address at {wanted}, or on a page of the site itself");
            Fact::new("domain-ambiguous", expected, email.domain().as_str()).on(EMAIL)
        });
    }
    let same_name = |found| RegistrableDomain::name_label(found) == wanted.name_label();
    // Below a private suffix, anyone can get a name.
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
        Agreement::Same => return None,
        Agreement::OtherPart => "site-other-part",
        Agreement::OtherSite => "site-not-expected",
    };
    let expected: Vec<_> = anchors.iter().map(Url::as_str).collect();
    let expected = format!("a site on {}", expected.join(" or "));
    Some(Fact::new(rule, expected, site.as_str()).on(SITE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rows;
    use crate::gate::email::tests::EmailCase;

    #[test]
    fn site_and_address_are_of_one_domain() {
        for (site, email, expected) in rows! {
            "https://www.acme.co.kr/en", "info@mail.ACME.co.kr" => "";
            "https://한빛.한국/", "info@xn--xx3br43b.xn--3e0b707e" => "";
            "https://acme.co.kr/", "info@acne.co.kr" => "domain-mismatch";
            "https://acme.co.kr/", "info@acme.evil.kr" => "domain-mismatch";
            "https://acme.com/", "info@acme.github.io" => "domain-mismatch";
            "https://acme.com/", "info@acme-kr.com" => "domain-mismatch";
            // Another suffix alone.
            "https://acme.com/", "info@acme.co.kr" => "domain-ambiguous";
            "https://www.acme.de/", "info@eu.acme.com" => "domain-ambiguous";
            // A provider takes the place of these rules.
            "https://acme.com/", "acme@gmail.com" => "";
            "https://www.facebook.com/acme", "info@acme.com" => "";
            // No site.
            "acme.co.kr", "info@other.kr" => "";
        } {
            let case = EmailCase::good().site(site).email(email);
            assert_eq!(case.fired(&STEP).concat(), expected, "{site} {email}");
        }
    }

    #[test]
    fn a_name_below_the_domain_may_be_a_customers() {
        let shop = "https://myshop.acme.kr/contact";
        for (site, source, email, expected) in rows! {
            "https://www.acme.kr/", shop, "info@myshop.acme.kr" => "domain-ambiguous";
            "https://acme.kr/", "https://other.acme.kr/", "info@myshop.acme.kr" => "domain-ambiguous";
            // The firm's own pages have it, or it is the site itself.
            "https://www.acme.kr/", "https://www.acme.kr/contact", "info@myshop.acme.kr" => "";
            "https://www.acme.kr/", "https://shop.acme.kr/contact", "info@myshop.acme.kr" => "";
            shop, shop, "info@myshop.acme.kr" => "";
            "https://www.acme.kr/", shop, "info@acme.kr" => "";
        } {
            let case = EmailCase::good().site(site).email(email).source(source);
            assert_eq!(
                case.fired(&STEP).concat(),
                expected,
                "{site} {source} {email}"
            );
        }
    }

    #[test]
    fn the_anchor_names_the_site() {
        let own = "https://acme.co.kr/";
        let tenant = "acme.co.kr/foods";
        let store = "smartstore.naver.com/acme";
        for (anchor, site, expected) in rows! {
            "www.acme.co.kr", own => "";
            "acme.com, acme.co.kr", own => "";
            "acme.com", own => "site-not-expected";
            "https://www.facebook.com/acme", own => "site-not-expected";
            "없음", own => "";
            // A hosted anchor is held by host and path.
            store, "https://smartstore.naver.com/acme/profile" => "";
            store, "https://smartstore.naver.com/evil" => "site-not-expected";
            // One that names a part of a domain is held to it.
            "https://www.acme.co.kr/en/main.do", "https://www.acme.co.kr/" => "";
            tenant, "https://acme.co.kr/foods/x" => "";
            tenant, "https://acme.co.kr/toys" => "site-other-part";
            "foods.acme.co.kr", "https://toys.acme.co.kr/" => "site-not-expected";
        } {
            let case = EmailCase::good().site(site).anchor(anchor);
            assert_eq!(case.fired(&STEP).concat(), expected, "{anchor} {site}");
        }
        // No provider takes the anchor's place.
        for (site, email) in rows! {
            "https://evil.kr/" => "acme@gmail.com";
            "https://facebook.com/acme" => "info@acme.co.kr";
            "https://evil.kr/" => "no address";
        } {
            let case = EmailCase::good()
                .site(site)
                .email(email)
                .anchor("acme.co.kr");
            assert_eq!(case.fired(&STEP), ["site-not-expected"], "{site} {email}");
        }
    }
}
