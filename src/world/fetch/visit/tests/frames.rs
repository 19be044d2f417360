//! Frames: which are gone to, and which stay unread.

use super::*;

const BEYOND: &str = "a frame beyond those that are followed";

#[test]
fn reads_frames_of_the_site_first_and_frames_of_frames() {
    let web = Web::of([
        (
            "https://acme.com/",
            page("frame https://maps.com/\nframe /menu\nframe data:text/html,x\nframe /"),
        ),
        (
            "https://acme.com/menu",
            page("frame inner#x\nframe https://maps.com/"),
        ),
        ("https://acme.com/inner", page("text")),
        ("https://maps.com/", page("map")),
    ]);
    let visit = web.visit("https://acme.com/");
    assert_eq!(
        read(&visit),
        [
            "https://acme.com/",
            "https://acme.com/menu",
            "https://acme.com/inner",
            "https://maps.com/"
        ]
    );
    assert_eq!(visit.unread, []);
}

#[test]
fn says_which_frames_stayed_unread_and_why() {
    let late = Unanswered::new(UnansweredKind::Timeout, "late");
    let web = Web::of([
        (
            "https://acme.com/",
            page("frame /1\nframe /2\nframe /3\nframe /4\nframe /5\nframe /6\nframe /6"),
        ),
        (
            "https://acme.com/robots.txt",
            page("User-agent: *\nDisallow: /2"),
        ),
        ("https://acme.com/1", Fetched::Unanswered(late.clone())),
        ("https://acme.com/3", Fetched::TooLarge { limit_bytes: 5 }),
        ("https://acme.com/5", page("text")),
    ]);
    let visit = web.visit("https://acme.com/");
    assert_eq!(read(&visit), ["https://acme.com/", "https://acme.com/5"]);
    let at = |path: &str| url(&format!("https://acme.com{path}"));
    let too_large = "it is larger than 5 bytes".to_owned();
    let unread: Vec<_> = visit
        .unread
        .iter()
        .map(|(url, end)| (url.path(), end.clone()))
        .collect();
    assert_eq!(
        unread,
        [
            (
                "/1",
                End::Unanswered {
                    url: at("/1"),
                    why: late
                }
            ),
            ("/2", End::Forbidden { url: at("/2") }),
            (
                "/3",
                End::Unreadable {
                    url: at("/3"),
                    why: too_large
                }
            ),
            ("/6", stuck(at("/6"), BEYOND)),
        ]
    );
}

#[test]
fn a_page_of_very_many_frames_is_bounded() {
    let frames = |name: &str| {
        let frames: Vec<_> = (0..50_000).map(|n| format!("frame /{name}{n}\n")).collect();
        page(&frames.concat())
    };
    let web = Web::of([
        ("https://acme.com/", frames("")),
        ("https://acme.com/0", frames("0/")),
    ]);
    let visit = web.visit("https://acme.com/");
    assert_eq!(web.asked().len(), 2 + MAX_HOPS);
    assert_eq!(visit.unread.len(), 16);
    assert!(
        visit
            .unread
            .iter()
            .all(|(url, end)| *end == stuck(url.clone(), BEYOND))
    );
}

#[test]
fn what_frames_of_a_frameset_show_is_read() {
    let frameset = "<frameset><frame src='menu.html'><frame src='/main'></frameset>";
    let web = Web::of([
        ("https://acme.com/", response(200, None, frameset)),
        ("https://acme.com/menu.html", page("Menu")),
        ("https://acme.com/main", page("info@acme.com\nframe /gone")),
    ]);
    let visit = web.visit("https://acme.com/");
    let End::Pages(pages) = &visit.end else {
        panic!("no page: {:?}", visit.end);
    };
    let main = pages.iter().find(|page| page.url.path() == "/main");
    assert_eq!(main.unwrap().visible, ["info@acme.com"]);
    assert_eq!(visit.unread, []);
    assert_eq!(
        steps(&visit),
        [Step::Start, Step::Frame, Step::Frame, Step::Frame]
    );
}
