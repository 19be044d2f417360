//! Visits to pages of HTML, in a world written by hand.

use super::*;
use crate::world::evidence::recorded::RecordedWorld;

fn end(pages: &str) -> Visit {
    let world = RecordedWorld::from_json(&format!("{{\"pages\": {pages}}}")).unwrap();
    visit(&world, &url("https://acme.com/"), RobotsPolicy::Obey)
}

#[test]
fn reads_what_frames_show() {
    let visit = end(r#"{
        "https://acme.com/": {"body": "<frameset><frame src='menu.html'><frame src='/main'></frameset>"},
        "https://acme.com/menu.html": {"body": "<p>Menu"},
        "https://acme.com/main": {"body": "<p>info@acme.com <iframe src='/gone'></iframe>"}
    }"#);
    let main = url("https://acme.com/main");
    let End::Pages(pages) = &visit.end else {
        panic!("no page: {:?}", visit.end);
    };
    let shown = pages.iter().find(|page| page.url == main).unwrap();
    assert!(
        shown
            .visible
            .iter()
            .any(|text| text.contains("info@acme.com"))
    );
    assert_eq!(visit.unread, []);
    assert_eq!(
        steps(&visit),
        [Step::Start, Step::Frame, Step::Frame, Step::Frame]
    );
}

#[test]
fn follows_both_kinds_of_refresh() {
    let visit = end(r#"{
        "https://acme.com/": {"body": "<meta http-equiv=refresh content='0; url=/ko'>"},
        "https://acme.com/ko": {"refresh": "0; url=/ko/home", "body": "<p>wait"},
        "https://acme.com/ko/home": {"body": "<p>info@acme.com"}
    }"#);
    assert_eq!(read(&visit), ["https://acme.com/ko/home"]);
    assert_eq!(steps(&visit), [Step::Start, Step::Refresh, Step::Refresh]);
}

#[test]
fn an_image_is_unreadable() {
    let visit = end(r#"{"https://acme.com/": {"content_type": "image/png", "body": "x"}}"#);
    assert!(matches!(visit.end, End::Unreadable { .. }));
}
