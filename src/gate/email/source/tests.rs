//! Step 5 on canned pages.

use super::*;
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

fn ended(end: End) -> Visit {
    let mut visit = visit_of(vec![page(CONTACT)]);
    visit.end = end;
    visit
}

#[test]
fn an_address_that_a_page_of_the_site_shows_passes() {
    assert_eq!(fired(&visit_of(vec![good(CONTACT)])), [""; 0]);
    assert_eq!(
        fired(&begun_at("https://go.kr/1", visit_of(vec![good(CONTACT)]))),
        [""; 0]
    );
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
fn an_echo_on_the_way_is_refused() {
    let echo = good("https://acme.co.kr/hello?to=aW5mb0BhY21lLmNvLmty");
    assert_eq!(
        fired(&begun_at("https://acme.co.kr/h", visit_of(vec![echo]))),
        ["source-echo"]
    );
}

#[test]
fn a_frame_that_carries_the_address_shows_nothing() {
    let map = || good("https://acme.co.kr/map?title=info@acme.co.kr");
    assert_eq!(
        fired(&visit_of(vec![page(CONTACT), map()])),
        ["email-not-on-source"]
    );
    assert_eq!(fired(&visit_of(vec![good(CONTACT), map()])), [""; 0]);
}

#[test]
fn what_may_be_an_echo_is_doubted() {
    let visit = visit_of(vec![good("https://acme.co.kr/search?q=Acme+Foods")]);
    assert_eq!(fired(&visit), ["source-may-echo"]);
    let visit = begun_at("https://acme.co.kr/?u=info", visit_of(vec![good(CONTACT)]));
    assert_eq!(fired(&visit), ["source-may-echo"]);
    // The site itself chose the URLs of its frames.
    let frame = page("https://maps.com/embed?pb=q83vEjRWeJCrze8SNFZ4");
    assert_eq!(fired(&visit_of(vec![good(CONTACT), frame])), [""; 0]);
}

#[test]
fn a_page_of_another_site_is_doubted() {
    let visit = visit_of(vec![good("https://acme.com/contact")]);
    assert_eq!(fired(&visit), ["source-off-site"]);
    let visit = begun_at(CONTACT, visit_of(vec![good("https://evil.kr/")]));
    assert_eq!(fired(&visit), ["source-off-site"]);
    let visit = begun_at(CONTACT, visit_of(vec![page("https://evil.kr/")]));
    assert_eq!(fired(&visit), ["source-off-site", "email-not-on-source"]);
}

#[test]
fn a_frame_of_the_site_counts_and_one_of_another_does_not() {
    let visit = visit_of(vec![page(CONTACT), good("https://www.acme.co.kr/frame")]);
    assert_eq!(fired(&visit), [""; 0]);
    let visit = visit_of(vec![page(CONTACT), good("https://evil.kr/")]);
    let findings = judged(&visit);
    assert_eq!(rules(&findings), ["source-off-site"]);
    assert_eq!(findings[0].location.as_deref(), Some("https://evil.kr/"));
}

#[test]
fn places_where_others_write_are_doubted() {
    let visit = visit_of(vec![good("https://acme.co.kr/bbs/1")]);
    assert_eq!(fired(&visit), ["source-user-content"]);
    let visit = begun_at("https://acme.co.kr/?wr_id=1", visit_of(vec![good(CONTACT)]));
    assert_eq!(fired(&visit), ["source-user-content"]);
    let visit = visit_of(vec![page(CONTACT), good("https://acme.co.kr/wiki/1")]);
    assert_eq!(fired(&visit), ["source-user-content"]);
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

#[test]
fn an_address_that_no_reader_sees_is_doubted() {
    let hidden = |at: &str| Page {
        hidden: vec![EMAIL.to_owned()],
        ..page(at)
    };
    assert_eq!(fired(&visit_of(vec![hidden(CONTACT)])), ["email-hidden"]);
    let visit = visit_of(vec![hidden(CONTACT), good("https://acme.co.kr/f")]);
    assert_eq!(fired(&visit), [""; 0]);
}

#[test]
fn an_address_in_disguise_is_doubted() {
    let visit = visit_of(vec![page_saying(CONTACT, "info [at] acme.co.kr")]);
    assert_eq!(fired(&visit), ["email-obfuscated"]);
}

#[test]
fn an_absent_address_is_unknown_where_the_page_needs_its_scripts() {
    let bare = Page {
        needs_script: true,
        ..page(CONTACT)
    };
    assert_eq!(fired(&visit_of(vec![bare])), ["source-needs-script"]);
    let shown = Page {
        needs_script: true,
        ..good(CONTACT)
    };
    assert_eq!(fired(&visit_of(vec![shown])), [""; 0]);
}

#[test]
fn an_absent_address_is_unknown_where_a_frame_of_the_site_was_not_read() {
    let unread = |at: &str, end: fn(Url) -> End| {
        let mut visit = visit_of(vec![page(CONTACT)]);
        visit.unread.push((url(at), end(url(at))));
        fired(&visit)
    };
    let own = "https://acme.co.kr/f";
    let silent = |url| End::Unanswered {
        url,
        why: silence(),
    };
    let forbidden = |url| End::Forbidden { url };
    let odd = |url| End::Unreadable {
        url,
        why: "pdf".to_owned(),
    };
    assert_eq!(unread(own, silent), ["source-unanswered"]);
    assert_eq!(unread(own, forbidden), ["source-robots"]);
    assert_eq!(unread(own, odd), ["source-unreadable"]);
    assert_eq!(
        unread("https://maps.com/", forbidden),
        ["email-not-on-source"]
    );
}

#[test]
fn every_end_without_a_page_has_its_rule() {
    let missing = |status| End::Missing {
        url: url(CONTACT),
        status,
    };
    assert_eq!(fired(&ended(missing(Some(404)))), ["source-missing"]);
    assert_eq!(fired(&ended(missing(None))), ["source-missing"]);
    let (url, why) = (url(CONTACT), silence());
    assert_eq!(
        fired(&ended(End::Forbidden { url: url.clone() })),
        ["source-robots"]
    );
    assert_eq!(
        fired(&ended(End::Unanswered {
            url: url.clone(),
            why
        })),
        ["source-unanswered"]
    );
    let why = "not text \u{1b}[2J".to_owned();
    let findings = judged(&ended(End::Unreadable { url, why }));
    assert_eq!(rules(&findings), ["source-unreadable"]);
    assert!(!findings[0].actual.contains('\u{1b}'));
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
        let world = Canned::default().html(CONTACT, body);
        let findings = world.run(&STEP, "Acme Foods", [SITE, EMAIL, CONTACT]);
        rules(&findings)
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let text =
        "Acme Foods makes food and sells it, and here is how to reach us by mail. ".repeat(5);
    assert_eq!(
        run(&format!("<p>{text}</p><p>info&#64;acme.co.kr</p>")),
        [""; 0]
    );
    assert_eq!(
        run(&format!(
            "<p>{text}</p><a href='mailto:info@acme.co.kr'>Mail</a>"
        )),
        [""; 0]
    );
    assert_eq!(
        run(&format!("<p>{text}</p><!-- info@acme.co.kr -->")),
        ["email-hidden"]
    );
    assert_eq!(
        run(&format!("<p>{text}</p><p>info@acme.co.krx</p>")),
        ["email-not-on-source"]
    );
    let refusal = "이메일 주소가 무단으로 수집되는 것을 거부하며, 위반시 처벌됩니다.";
    let refused = |address: &str| run(&format!("<p>{text}</p><p>{address}</p><p>{refusal}</p>"));
    assert_eq!(refused("info@acme.co.kr"), ["collection-refused"]);
    assert_eq!(refused("sales@acme.co.kr"), ["email-not-on-source"]);
}
