//! Cheating with domains: look-alikes, neighbours, hosts of many owners, domains without mail.

use comail::world::RecordKind;

use crate::harness::EmailNet;
use crate::harness::email_net::{ACME, Submission, page};
use crate::servers::dns::Answer;

const PATIENT: &[&str] = &["--max-tries", "99"];

/// A site of the agent's own at `domain` that copies the company's pages, and a submission
/// that names it throughout.
fn copied(world: &EmailNet, domain: &str) -> Submission {
    world.company(domain, ACME);
    world.right(domain)
}

#[test]
fn an_address_at_another_domain_than_the_sites_fails() {
    let world = EmailNet::with(&[ACME], PATIENT);
    let right = world.right("acme.co.kr");
    for email in [
        "info@acne.co.kr",
        "info@acrne.co.kr",
        "info@acme-co.kr",
        "info@acmeco.kr",
        "info@acme.co.kr.evil.com",
        "info@evil-acme.co.kr",
        "info@xn--acm-dma.co.kr",
        "info@acme.github.io",
    ] {
        let source = world.put("/copied", &page(ACME, email));
        let lie = right.with_source(&source).with_email(email);
        world.expect(1, &lie, "FAIL", &["domain-mismatch"]);
    }
    assert_eq!(world.net.web.connections(), 0);
}

#[test]
fn a_domain_under_another_suffix_is_for_a_person() {
    let world = EmailNet::start();
    let lie = copied(&world, "acme.com").with_email("info@acme.co.kr");
    let (verdict, rules) = world.judge(&lie);
    // The page shows another address than the one submitted.
    assert_eq!(verdict, "FAIL");
    assert_eq!(rules, ["domain-ambiguous", "email-not-on-source"]);
    let shown = world.right("acme.com").with_email("info@acme.com");
    let lie = shown.with_site(&world.net.web.url("www.acme.co.kr", "/"));
    world.expect(1, &lie, "REVIEW", &["domain-ambiguous", "source-off-site"]);
}

#[test]
fn look_alike_and_mixed_script_domains_are_refused_however_they_are_spelled() {
    let world = EmailNet::with(&[ACME], PATIENT);
    let right = world.right("acme.co.kr");
    for domain in [
        "аcme.co.kr",
        "xn--cme-7cd.co.kr",
        "асе.co.kr",
        "acмe.co.kr",
        "ɑcme.co.kr\u{301}",
    ] {
        let lie = Submission {
            site: format!("http://{domain}/"),
            email: format!("info@{domain}"),
            source: format!("http://{domain}/contact"),
        };
        let rules = ["email-format", "site-format", "source-format"];
        world.expect(1, &lie, "FAIL", &rules);
        let lie = right.with_site(&lie.site);
        world.expect(1, &lie, "FAIL", &["site-format"]);
    }
    assert_eq!(world.net.dns.questions(), []);
}

#[test]
fn with_an_anchor_no_other_site_will_do() {
    let world = EmailNet::anchored(&[[ACME, "www.acme.co.kr"]]);
    for domain in ["acme-foods.kr", "acmefoods.com"] {
        let lie = copied(&world, domain);
        world.expect(1, &lie, "FAIL", &["site-not-expected"]);
    }
    assert_eq!(world.net.web.connections(), 0);
    world.expect(1, &world.right("acme.co.kr"), "PASS", &[]);
}

#[test]
fn with_an_anchor_no_other_suffix_and_no_page_host_will_do() {
    let world = EmailNet::anchored(&[[ACME, "https://acme.co.kr/"]]);
    let lie = copied(&world, "acme.com");
    world.expect(1, &lie, "FAIL", &["site-not-expected"]);
    let right = world.right("acme.co.kr");
    for site in [
        "https://www.facebook.com/acme",
        "https://acme.co.kr.evil.kr/",
    ] {
        let (verdict, rules) = world.judge(&right.with_site(site));
        assert_eq!(verdict, "FAIL");
        assert!(rules.contains(&"site-not-expected".to_owned()), "{rules:?}");
    }
}

#[test]
fn a_copy_of_the_site_without_an_anchor_is_told_apart_in_the_tally() {
    // A name alone cannot prove that a domain is the company's; the tally says so.
    let world = EmailNet::start();
    let lie = copied(&world, "acme-foods.kr");
    world.expect(1, &lie, "PASS", &[]);
    let status = world.place.run(["status"]).ok();
    assert!(status.contains("(1 unanchored)"), "{status}");
}

#[test]
fn providers_and_page_hosts_are_for_a_person() {
    for email in [
        "acme.foods@gmail.com",
        "acmefoods@naver.com",
        "info@GMAIL.com",
    ] {
        let world = EmailNet::start();
        let source = world.put("/mail", &page(ACME, email));
        let lie = world.right("acme.co.kr").with_source(&source);
        let domain = email.split('@').nth(1).unwrap();
        world.net.dns.mx(domain, 10, "mail.acme.co.kr");
        world.expect(1, &lie.with_email(email), "REVIEW", &["freemail"]);
    }
}

#[test]
fn names_that_anyone_may_take_are_no_site_of_ones_own() {
    for host in ["acme.github.io", "acme.tistory.com", "acme.blogspot.com"] {
        let world = EmailNet::start();
        let lie = copied(&world, host);
        let lie = Submission {
            site: world.net.web.url(host, "/"),
            source: world.net.web.url(host, "/contact"),
            ..lie
        };
        let (verdict, rules) = world.judge(&lie);
        assert_ne!(verdict, "PASS", "{host}");
        assert!(
            rules.contains(&"hosted-site".to_owned()),
            "{host}: {rules:?}"
        );
    }
}

#[test]
fn a_domain_that_takes_no_mail_fails() {
    let world = EmailNet::with(&[ACME], PATIENT);
    let right = world.right("acme.co.kr");
    world.net.dns.null_mx("acme.co.kr");
    world.expect(1, &right, "FAIL", &["mx-null"]);
    let gone = Answer::Mx(vec![(10, "gone.acme.co.kr".to_owned())]);
    world.net.dns.says("acme.co.kr", RecordKind::Mx, gone);
    let again = right.with_source(&world.put("/a", &page(ACME, "info@acme.co.kr")));
    world.expect(1, &again, "FAIL", &["mx-missing"]);
}

#[test]
fn dns_that_says_nothing_definite_is_never_taken_for_yes() {
    for answer in [
        Answer::NoData,
        Answer::Referral,
        Answer::Garbage,
        Answer::WrongId,
        Answer::Mx(vec![(10, "inside.acme.co.kr".to_owned())]),
    ] {
        let world = EmailNet::start();
        world.net.dns.host("inside.acme.co.kr", "10.0.0.1");
        let text = format!("{answer:?}");
        world.net.dns.says("acme.co.kr", RecordKind::Mx, answer);
        let (verdict, rules) = world.judge(&world.right("acme.co.kr"));
        assert_eq!(verdict, "REVIEW", "{text}");
        assert!(
            rules.iter().all(|rule| rule.starts_with("mx-")),
            "{text}: {rules:?}"
        );
    }
}
