//! Step 5 on visits made by hand.

use super::*;
use crate::base::rows;
use crate::gate::email::tests::{begun_at, page, page_saying, rules, url, visit_of};
use crate::gate::tests::no_answer_in_time;
use crate::world::fetch::visit::{Hop, Step as HopStep};
use crate::world::page::Page;

const SITE: &str = "https://acme.co.kr/";
const EMAIL: &str = "info@acme.co.kr";
const CONTACT: &str = "https://acme.co.kr/contact";

fn judged(visit: &Visit) -> Vec<Fact> {
    let email = Mailbox::parse(EMAIL).unwrap();
    judge(visit, &url(SITE), &email)
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

fn saying(lines: &[&str]) -> Page {
    Page {
        visible: lines.iter().map(|line| (*line).to_owned()).collect(),
        ..page(CONTACT)
    }
}

#[test]
fn pages_and_the_way_to_them_decide() {
    let at = |at: &str| visit_of(vec![good(at)]);
    let framed = |main: fn(&str) -> Page, frame: Page| visit_of(vec![main(CONTACT), frame]);
    let hidden = |at: &str| Page {
        hidden: vec![EMAIL.to_owned()],
        ..page(at)
    };
    let echo = || good("https://acme.co.kr/map?title=info@acme.co.kr");
    let encoded = at("https://acme.co.kr/hello?to=aW5mb0BhY21lLmNvLmty");
    let evil = "https://evil.kr/";
    // The site itself chose the URLs of its frames.
    let blob = page("https://maps.com/embed?pb=q83vEjRWeJCrze8SNFZ4");
    for (case, visit, expected) in rows! {
        "shown where a redirect led", begun_at("https://go.kr/1", at(CONTACT)) => "";
        "an echo on the way", begun_at("https://acme.co.kr/h", encoded) => "source-echo";
        "only in a frame that carries it", framed(page, echo()) => "email-not-on-source";
        "a frame carries it, the page shows it", framed(good, echo()) => "";
        "a blob in a frame's URL", framed(good, blob) => "";
        "redirected, and absent there", begun_at(CONTACT, visit_of(vec![page(evil)]))
            => "source-off-site email-not-on-source";
        "a page of a forum", visit_of(vec![Page {
            others_write: Some("its software".to_owned()),
            ..good(CONTACT)
        }]) => "source-user-content";
        "above the comments", visit_of(vec![saying(&["Mail: info@acme.co.kr", "3 comments"])]) => "";
        "below the comments", visit_of(vec![saying(&["3 comments", "Mail: info@acme.co.kr"])])
            => "source-user-content";
        "disowned", visit_of(vec![saying(&["info@acme.co.kr is not our address."])])
            => "email-disowned";
        "left at once", visit_of(vec![Page {
            leaves: true,
            ..good(CONTACT)
        }]) => "source-needs-script";
        "hidden, and shown in a frame", framed(hidden, good("https://acme.co.kr/f")) => "";
    } {
        assert_eq!(fired(&visit).join(" "), expected, "{case}");
    }
    let findings = judged(&framed(page, good(evil)));
    assert_eq!(rules(&findings), ["source-off-site"]);
    assert_eq!(findings[0].location.as_deref(), Some(evil));
}

type EndAt = fn(Url) -> End;

fn every_end() -> [(&'static str, EndAt); 5] {
    [
        ("source-missing", |url| End::Missing {
            url,
            status: Some(404),
        }),
        ("source-missing", |url| End::Missing { url, status: None }),
        ("source-robots", |url| End::Forbidden { url }),
        ("source-unanswered", |url| End::Unanswered {
            url,
            why: no_answer_in_time(),
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
fn hops_of_frames_come_after_the_way() {
    let mut visit = visit_of(vec![good(CONTACT), page("https://acme.co.kr/f")]);
    visit.hops.push(Hop {
        url: url("https://acme.co.kr/g"),
        by: HopStep::Redirect,
    });
    assert_eq!(visit.way().len(), 1);
}
