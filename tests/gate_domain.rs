//! Steps 3 and 4: whose the domains of address, site and anchor are.

use crate::harness::EmailNet;
use crate::harness::case::{Case, case, cases, run};
use crate::harness::email_net::{ACME, Submission, page};

/// The submission of a page of `host` that shows `email`, whose domain takes mail.
fn on_host(net: &EmailNet, host: &str, path: &str, email: &str) -> Submission {
    let web = &net.net.web;
    net.net.host(host);
    web.page(host, path, &page(ACME, &format!("Write to {email}")));
    let (_, domain) = email.rsplit_once('@').expect("an address");
    net.net.dns.mx(domain, 10, "mail.acme.co.kr");
    let url = web.url(host, path);
    net.acme().site(&url).email(email).source(&url)
}

/// The submission of Acme's site and an address that it shows, of another domain.
fn shown(net: &EmailNet, email: &str) -> Submission {
    let (_, domain) = email.rsplit_once('@').expect("an address");
    net.net.dns.mx(domain, 10, "mail.acme.co.kr");
    net.contact(&format!("Write to {email}")).email(email)
}

/// Addresses and sites at providers.
const PROVIDERS: &[Case] = cases![
    "freemail" => "REVIEW freemail", |net| shown(net, "acmefoods@gmail.com");
    "Korean freemail" => "REVIEW freemail", |net| shown(net, "acmefoods@naver.com");
    "made-up freemail: a REVIEW does not spare it the page" => "FAIL email-not-on-source freemail",
        |net| net.acme().email("acmefoods@gmail.com");
    "a domain that ends like freemail" => "PASS", |net| {
            net.company("acmegmail.com", ACME);
            net.right("acmegmail.com")
        };
    "a page on a blog host takes the place of the domain rules" => "REVIEW hosted-site",
        |net| on_host(net, "blog.naver.com", "/acme", "info@acme.co.kr");
    "a page on a social network, where others write besides" => "REVIEW hosted-site source-user-content",
        |net| on_host(net, "www.facebook.com", "/acme", "info@acme.co.kr");
    "a name below a private suffix" => "REVIEW hosted-site",
        |net| on_host(net, "acme.github.io", "/", "info@acme.co.kr");
    "a blog with freemail" => "REVIEW freemail hosted-site",
        |net| on_host(net, "blog.naver.com", "/acme", "acmefoods@naver.com");
    "of a hosted site, another's page is off it" => "REVIEW hosted-site source-off-site", |net| {
            let site = net.net.web.url("blog.naver.com", "/acme");
            on_host(net, "blog.naver.com", "/acme", "info@acme.co.kr");
            on_host(net, "blog.naver.com", "/acme2", "info@acme.co.kr").site(&site)
        };
    "of a hosted site, a page below it is on it" => "REVIEW hosted-site", |net| {
            let site = net.net.web.url("blog.naver.com", "/acme");
            on_host(net, "blog.naver.com", "/acme", "info@acme.co.kr");
            on_host(net, "blog.naver.com", "/acme/about", "info@acme.co.kr").site(&site)
        };
    "a host that only begins like a provider's" => "PASS", |net| {
            net.company("facebook.com.acme.co.kr", ACME);
            net.right("facebook.com.acme.co.kr")
        };
];

const MISMATCH: &str = "FAIL domain-mismatch";

/// Domains of address and site.
const DOMAINS: &[Case] = cases![
    "another domain" => MISMATCH, |net| shown(net, "info@bolt.kr");
    "a look-alike" => MISMATCH, |net| shown(net, "info@acrne.co.kr");
    "a longer one" => MISMATCH, |net| shown(net, "info@acme-foods.co.kr");
    "one that it is a part of" => MISMATCH, |net| shown(net, "info@acme.co.kr.bolt.kr");
    "a neighbour below the same suffix" => MISMATCH, |net| shown(net, "info@bolt.co.kr");
    "the same name below a private suffix, which is anybody's" => MISMATCH,
        |net| shown(net, "info@acme.github.io");
    "another suffix" => "REVIEW domain-ambiguous", |net| shown(net, "info@acme.com");
    "a name below the same domain" => "PASS", |net| shown(net, "info@mail.acme.co.kr");
    "a name above the site's" => "PASS", |net| shown(net, "contact@acme.co.kr");
];

const ANCHORED: &[&str] = &["--col", "company", "--site-col", "site"];

/// The site that the operator knows beforehand.
const ANCHORS: &[Case] = &[
    case("the expected site", EmailNet::acme, "PASS")
        .listed("company,site\nAcme Foods,acme.co.kr\n")
        .with(ANCHORED),
    case("a URL of it", EmailNet::acme, "PASS")
        .listed("company,site\nAcme Foods,https://shop.acme.co.kr/kr/\n")
        .with(ANCHORED),
    case("another site", EmailNet::acme, "FAIL site-not-expected")
        .listed("company,site\nAcme Foods,acme.com\n")
        .with(ANCHORED),
    case(
        "a site that it is a part of",
        EmailNet::acme,
        "FAIL site-not-expected",
    )
    .listed("company,site\nAcme Foods,acme.co.kr.bolt.kr\n")
    .with(ANCHORED),
    case(
        "a part of its domain",
        EmailNet::acme,
        "REVIEW site-beside-expected",
    )
    .listed("company,site\nAcme Foods,acme.co.kr/foods\n")
    .with(ANCHORED),
    case("a front page of it", EmailNet::acme, "PASS")
        .listed("company,site\nAcme Foods,https://www.acme.co.kr/en/main.do\n")
        .with(ANCHORED),
    case("one of two", EmailNet::acme, "PASS")
        .listed("company,site\nAcme Foods,\"acme.com, acme.co.kr\"\n")
        .with(ANCHORED),
    case("none", EmailNet::acme, "PASS")
        .listed("company,site\nAcme Foods,n/a\n")
        .with(ANCHORED),
    case(
        "no provider takes the anchor's place",
        |net| on_host(net, "blog.naver.com", "/acme", "info@acme.co.kr"),
        "FAIL hosted-site site-not-expected",
    )
    .listed("company,site\nAcme Foods,acme.co.kr\n")
    .with(ANCHORED),
    case(
        "both rules speak",
        |net| net.acme().email("info@bolt.kr"),
        "FAIL domain-mismatch site-not-expected",
    )
    .listed("company,site\nAcme Foods,acme.com\n")
    .with(ANCHORED),
];

/// Every case of this file.
pub const CASES: [&[Case]; 3] = [PROVIDERS, DOMAINS, ANCHORS];

#[test]
fn a_provider_proves_nothing_and_is_for_a_person() {
    run(PROVIDERS);
}

#[test]
fn address_and_site_are_of_one_domain() {
    run(DOMAINS);
}

#[test]
fn the_operators_anchor_holds() {
    run(ANCHORS);
}
