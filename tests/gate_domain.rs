//! Steps 3 and 4: whose the domains of address, site and anchor are.

use crate::harness::EmailNet;
use crate::harness::case::{Case, cases, run};
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

const PROVIDERS: &[Case] = cases![
    "freemail" => "REVIEW freemail", |net| shown(net, "acmefoods@gmail.com");
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

const DOMAINS: &[Case] = cases![
    "another domain" => MISMATCH, |net| shown(net, "info@bolt.kr");
    "a look-alike" => MISMATCH, |net| shown(net, "info@acrne.co.kr");
    "a letter with a mark, in Punycode" => MISMATCH, |net| shown(net, "info@xn--acm-dma.co.kr");
    "one that it is a part of" => MISMATCH, |net| shown(net, "info@acme.co.kr.bolt.kr");
    "a neighbour below the same suffix" => MISMATCH, |net| shown(net, "info@bolt.co.kr");
    "the same name below a private suffix, which is anybody's" => MISMATCH,
        |net| shown(net, "info@acme.github.io");
    "another suffix" => "REVIEW domain-ambiguous", |net| shown(net, "info@acme.com");
    "another suffix, where the page shows another address" =>
        "FAIL domain-ambiguous email-not-on-source", |net| {
            net.company("acme.com", ACME);
            net.right("acme.com").email("info@acme.co.kr")
        };
    "another suffix, with its own page" => "REVIEW domain-ambiguous source-off-site", |net| {
            net.company("acme.com", ACME);
            net.right("acme.com").site(&net.url("/"))
        };
    "a name below the same domain" => "PASS", |net| shown(net, "info@mail.acme.co.kr");
    "a name above the site's" => "PASS", |net| shown(net, "contact@acme.co.kr");
];

const ANCHORED: &[&str] = &["--col", "company", "--site-col", "site"];

/// The site that the operator knows beforehand.
const ANCHORS: &[Case] = cases![
    "the expected site" => "PASS", EmailNet::acme,
        listed("company,site\nAcme Foods,acme.co.kr\n"), with(ANCHORED);
    "another site" => "FAIL site-not-expected", EmailNet::acme,
        listed("company,site\nAcme Foods,acme.com\n"), with(ANCHORED);
    "a site that it is a part of" => "FAIL site-not-expected", EmailNet::acme,
        listed("company,site\nAcme Foods,acme.co.kr.bolt.kr\n"), with(ANCHORED);
    "a part of its domain" => "REVIEW site-beside-expected", EmailNet::acme,
        listed("company,site\nAcme Foods,acme.co.kr/foods\n"), with(ANCHORED);
    "no provider takes the anchor's place" => "FAIL hosted-site site-not-expected",
        |net| on_host(net, "blog.naver.com", "/acme", "info@acme.co.kr"),
        listed("company,site\nAcme Foods,acme.co.kr\n"), with(ANCHORED);
    "a page of a social network" => "FAIL hosted-site site-not-expected", |net| net.acme().site("https://www.facebook.com/acme"),
        listed("company,site\nAcme Foods,acme.co.kr\n"), with(ANCHORED);
    "a site that begins like it" => "FAIL domain-mismatch site-not-expected", |net| net.acme().site("https://acme.co.kr.evil.kr/"),
        listed("company,site\nAcme Foods,acme.co.kr\n"), with(ANCHORED);
    "both rules speak" => "FAIL domain-mismatch site-not-expected",
        |net| net.acme().email("info@bolt.kr"), listed("company,site\nAcme Foods,acme.com\n"), with(ANCHORED);
];

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

#[test]
fn with_an_anchor_no_other_site_will_do() {
    let net = EmailNet::anchored(&[[ACME, "https://www.acme.co.kr/"]]);
    for domain in ["acme-foods.kr", "acme.com"] {
        // A copy of the company's pages.
        net.company(domain, ACME);
        assert_eq!(net.says(&net.right(domain)), "FAIL site-not-expected");
    }
    assert_eq!(net.net.web.connections(), 0);
    assert_eq!(net.says(&net.acme()), "PASS");
}

#[test]
fn a_copy_of_the_site_without_an_anchor_is_told_apart_in_the_tally() {
    // A name alone cannot prove that a domain is the company's; the tally says so.
    let net = EmailNet::start();
    net.company("acme-foods.kr", ACME);
    assert_eq!(net.says(&net.right("acme-foods.kr")), "PASS");
    let status = net.place.run(["status"]).ok();
    assert!(status.contains("(1 unanchored)"), "{status}");
}
