//! Step 5 on canned pages.

use super::*;
use crate::base::rows;
use crate::gate::email::testing::{
    Canned, begun_at, page, page_saying, rules, silence, url, visit_of,
};
use crate::world::fetch::visit::{Hop, Step as HopStep};
use crate::world::page::Page;

const SITE: &str = "https://acme.co.kr/";
const EMAIL: &str = "info@acme.co.kr";
const CONTACT: &str = "https://acme.co.kr/contact";

fn judged(visit: &Visit) -> Vec<Fact> {
    let email = Mailbox::parse(EMAIL).unwrap();
    judge(visit, &url(SITE), &email, &CompanyName::parse("Acme Foods"))
}

fn fired(visit: &Visit) -> Vec<String> {
    rules(&judged(visit))
        .into_iter()
        .map(str::to_owned)
        .collect()
}

fn good(at: &str) -> Page {
    page_saying(at, "Mail: info@acme.co.kr")
}

#[test]
fn an_echo_is_refused_before_anything_is_fetched() {
    let world = Canned::default();
    let source = "https://acme.co.kr/search?q=info%40acme.co.kr";
    let findings = world.run(&STEP, "Acme Foods", [SITE, EMAIL, source]);
    assert_eq!(rules(&findings), ["source-echo"]);
    assert_eq!(findings[0].location.as_deref(), Some(source));
    assert_eq!(world.asked(), [""; 0]);
}

#[test]
fn pages_and_the_way_to_them_decide() {
    let at = |at: &str| visit_of(vec![good(at)]);
    let framed = |main: fn(&str) -> Page, frame: Page| visit_of(vec![main(CONTACT), frame]);
    let hidden = |at: &str| Page {
        hidden: vec![EMAIL.to_owned()],
        ..page(at)
    };
    let scripted = |page: Page| {
        visit_of(vec![Page {
            needs_script: true,
            ..page
        }])
    };
    let echo = || good("https://acme.co.kr/map?title=info@acme.co.kr");
    let encoded = at("https://acme.co.kr/hello?to=aW5mb0BhY21lLmNvLmty");
    let evil = "https://evil.kr/";
    let spelled = page_saying(CONTACT, "info [at] acme.co.kr");
    // The site itself chose the URLs of its frames.
    let blob = page("https://maps.com/embed?pb=q83vEjRWeJCrze8SNFZ4");
    for (case, visit, expected) in rows! {
        "shown", at(CONTACT) => "";
        "shown where a redirect led", begun_at("https://go.kr/1", at(CONTACT)) => "";
        "an echo on the way", begun_at("https://acme.co.kr/h", encoded) => "source-echo";
        "only in a frame that carries it", framed(page, echo()) => "email-not-on-source";
        "a frame carries it, the page shows it", framed(good, echo()) => "";
        "the URL carries the name", at("https://acme.co.kr/search?q=Acme+Foods")
            => "source-may-echo";
        "the URL carried a part", begun_at("https://acme.co.kr/?u=info", at(CONTACT))
            => "source-may-echo";
        "a blob in a frame's URL", framed(good, blob) => "";
        "another site", at("https://acme.com/contact") => "source-off-site";
        "redirected to another site", begun_at(CONTACT, at(evil)) => "source-off-site";
        "redirected, and absent there", begun_at(CONTACT, visit_of(vec![page(evil)]))
            => "source-off-site email-not-on-source";
        "a frame of the site", framed(page, good("https://www.acme.co.kr/frame")) => "";
        "a board", at("https://acme.co.kr/bbs/1") => "source-user-content";
        "a board on the way", begun_at("https://acme.co.kr/?wr_id=1", at(CONTACT))
            => "source-user-content";
        "a wiki in a frame", framed(page, good("https://acme.co.kr/wiki/1"))
            => "source-user-content";
        "hidden", visit_of(vec![hidden(CONTACT)]) => "email-hidden";
        "hidden, and shown in a frame", framed(hidden, good("https://acme.co.kr/f")) => "";
        "spelled", visit_of(vec![spelled]) => "email-obfuscated";
        "absent without scripts", scripted(page(CONTACT)) => "source-needs-script";
        "shown without scripts", scripted(good(CONTACT)) => "";
    } {
        assert_eq!(fired(&visit).join(" "), expected, "{case}");
    }
    let findings = judged(&framed(page, good(evil)));
    assert_eq!(rules(&findings), ["source-off-site"]);
    assert_eq!(findings[0].location.as_deref(), Some(evil));
}

#[test]
fn an_absent_address_fails_with_those_that_are_there() {
    let findings = judged(&visit_of(vec![page_saying(
        CONTACT,
        "sales@acme.co.kr x@else.kr",
    )]));
    assert_eq!(rules(&findings), ["email-not-on-source"]);
    assert!(
        findings[0].actual.contains("sales@acme.co.kr"),
        "{}",
        findings[0].actual
    );
    assert!(
        !findings[0].actual.contains("else.kr"),
        "{}",
        findings[0].actual
    );
    assert_eq!(findings[0].count, 1);
    assert_eq!(findings[0].location.as_deref(), Some(CONTACT));
}

fn every_end() -> [(&'static str, fn(Url) -> End); 5] {
    [
        ("source-missing", |url| End::Missing {
            url,
            status: Some(404),
        }),
        ("source-missing", |url| End::Missing { url, status: None }),
        ("source-robots", |url| End::Forbidden { url }),
        ("source-unanswered", |url| End::Unanswered {
            url,
            why: silence(),
        }),
        ("source-unreadable", |url| End::Unreadable {
            url,
            why: "not text \u{1b}[2J".to_owned(),
        }),
    ]
}

#[test]
fn every_end_without_a_page_has_its_rule() {
    for (rule, end) in every_end() {
        let mut visit = visit_of(vec![page(CONTACT)]);
        visit.end = end(url(CONTACT));
        let findings = judged(&visit);
        assert_eq!(rules(&findings), [rule]);
        assert!(!findings[0].actual.contains('\u{1b}'));
    }
}

#[test]
fn an_absent_address_is_unknown_where_a_frame_of_the_site_was_not_read() {
    for (rule, end) in &every_end()[2..] {
        for (at, expected) in [
            ("https://acme.co.kr/f", *rule),
            ("https://maps.com/", "email-not-on-source"),
        ] {
            let mut visit = visit_of(vec![page(CONTACT)]);
            visit.unread.push((url(at), end(url(at))));
            assert_eq!(fired(&visit), [expected], "{at}");
        }
    }
}

#[test]
fn every_rule_that_fires_is_in_the_catalogue() {
    let known: Vec<&str> = STEP.rules().iter().map(|rule| rule.id.as_str()).collect();
    let mut distinct = known.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), known.len());
}

#[test]
fn a_location_is_cut() {
    let long = url(&format!("https://acme.co.kr/{}", "a".repeat(5_000)));
    assert!(location(&long).len() < 400);
}

#[test]
fn hops_of_frames_come_after_the_way() {
    let mut visit = visit_of(vec![good(CONTACT), page("https://acme.co.kr/f")]);
    visit.hops.push(Hop {
        url: url("https://acme.co.kr/g"),
        by: HopStep::Redirect,
    });
    assert_eq!(way(&visit).len(), 1);
}

#[test]
fn html_is_judged_from_end_to_end() {
    let run = |body: &str| {
        let text = "Acme Foods makes food and sells it, and here is how to reach us. ".repeat(5);
        let world = Canned::default().html(CONTACT, &format!("<p>{text}</p>{body}"));
        let findings = world.run(&STEP, "Acme Foods", [SITE, EMAIL, CONTACT]);
        rules(&findings).concat()
    };
    let refusal = "<p>이메일 주소가 무단으로 수집되는 것을 거부하며, 위반시 처벌됩니다.</p>";
    for (body, expected) in rows! {
        "<p>info&#64;acme.co.kr</p>" => "";
        "<a href='mailto:info@acme.co.kr'>Mail</a>" => "";
        "<!-- info@acme.co.kr -->" => "email-hidden";
        "<p>info@acme.co.krx</p>" => "email-not-on-source";
        &format!("<p>info@acme.co.kr</p>{refusal}") => "collection-refused";
        &format!("<p>sales@acme.co.kr</p>{refusal}") => "email-not-on-source";
    } {
        assert_eq!(run(body), expected, "{body}");
    }
}
