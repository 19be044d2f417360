//! Ways through the web, hop by hop, and the frames of a page.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::*;
use crate::base::rows;
use crate::world::{Fetched, MockFetcher, Request, Response, UnansweredKind};

const ACME: &str = "https://acme.com";
const BEYOND: &str = "a frame beyond those that are followed";

/// The URL of a path of Acme's, or another whole URL.
fn url(text: &str) -> Url {
    let acme = Url::parse(ACME).unwrap();
    acme.join(text).unwrap()
}

/// A URL without Acme's host.
fn short(url: &Url) -> &str {
    let text = url.as_str();
    text.strip_prefix(ACME).unwrap_or(text)
}

fn response(status: u16, location: Option<&str>, body: &str) -> Fetched {
    Fetched::Response(Response {
        status,
        content_type: Some("text/html".to_owned()),
        location: location.map(str::to_owned),
        refresh: None,
        disposition: None,
        body: body.as_bytes().to_vec(),
    })
}

fn moved(to: &str) -> Fetched {
    response(302, Some(to), "")
}

/// A page whose lines are `refresh URL`, `frame URL`, or text.
fn page(lines: &str) -> Fetched {
    let html = lines.lines().map(|line| match line.split_once(' ') {
        Some(("frame", url)) => format!("<iframe src='{url}'></iframe>"),
        Some(("refresh", url)) => format!("<meta http-equiv=refresh content='0; url={url}'>"),
        _ => format!("{line}\n"),
    });
    response(200, None, &html.collect::<String>())
}

fn robots(text: &str) -> Fetched {
    response(200, None, text)
}

fn late() -> Unanswered {
    Unanswered::new(UnansweredKind::Timeout, "late")
}

/// A web of known answers that notes what it is asked; whatever else is asked for is 404.
#[derive(Default)]
struct Web {
    answers: BTreeMap<Url, Fetched>,
    asked: RefCell<Vec<Request>>,
}

impl Web {
    fn of<const N: usize>(answers: [(&str, Fetched); N]) -> Self {
        Self {
            answers: answers.map(|(at, fetched)| (url(at), fetched)).into(),
            asked: RefCell::default(),
        }
    }

    fn asked(&self) -> Vec<String> {
        let asked = self.asked.borrow();
        let asked = asked.iter().map(|request| short(&request.url).to_owned());
        asked.collect()
    }

    fn visit(&self, start: &str) -> Visit {
        visit(self, &url(start), RobotsPolicy::Obey)
    }
}

impl Fetcher for Web {
    fn get(&self, request: &Request) -> Fetched {
        self.asked.borrow_mut().push(request.clone());
        let known = self.answers.get(&request.url).cloned();
        known.unwrap_or_else(|| response(404, None, ""))
    }
}

#[track_caller]
fn read(visit: &Visit) -> Vec<&str> {
    match &visit.end {
        End::Pages(pages) => pages.iter().map(|page| short(&page.url)).collect(),
        end => panic!("no page: {end:?}"),
    }
}

#[track_caller]
fn why(visit: &Visit) -> (&str, &str) {
    match &visit.end {
        End::Unanswered { url, why } => (short(url), why.detail.as_str()),
        end => panic!("answered: {end:?}"),
    }
}

fn steps(visit: &Visit) -> Vec<Step> {
    visit.hops.iter().map(|hop| hop.by).collect()
}

#[test]
fn reads_a_page_and_drops_its_fragment() {
    let web = Web::of([("/contact", page("hello"))]);
    let visit = web.visit("/contact#top");
    assert_eq!(read(&visit), ["/contact"]);
    assert_eq!(web.asked(), ["/robots.txt", "/contact"]);
    assert_eq!(steps(&visit), [Step::Start]);
}

#[test]
fn follows_redirects_and_refreshes_and_names_every_hop() {
    let web = Web::of([
        ("http://acme.com/", moved("//www.acme.com/a/?x#y")),
        ("http://www.acme.com/a/?x", moved("b")),
        ("http://www.acme.com/a/b", page("refresh /c#d")),
        ("http://www.acme.com/c", page("there")),
    ]);
    let visit = web.visit("http://acme.com");
    assert_eq!(read(&visit), ["http://www.acme.com/c"]);
    let hops: Vec<_> = visit.hops.iter().map(|hop| hop.url.as_str()).collect();
    let expected = [
        "http://acme.com/",
        "http://www.acme.com/a/?x",
        "http://www.acme.com/a/b",
        "http://www.acme.com/c",
    ];
    assert_eq!(hops, expected);
    let expected = [Step::Start, Step::Redirect, Step::Redirect, Step::Refresh];
    assert_eq!(steps(&visit), expected);
    let mut robots = web.asked();
    robots.retain(|url| url.ends_with("/robots.txt"));
    assert_eq!(robots.len(), 2, "once an origin");
}

#[test]
fn follows_the_refresh_of_a_header() {
    let mut wait = page("wait");
    if let Fetched::Response(response) = &mut wait {
        response.refresh = Some("0; url=/ko/home".to_owned());
    }
    let web = Web::of([
        ("/", page("refresh /ko")),
        ("/ko", wait),
        ("/ko/home", page("info@acme.com")),
    ]);
    let visit = web.visit("/");
    assert_eq!(read(&visit), ["/ko/home"]);
    assert_eq!(steps(&visit), [Step::Start, Step::Refresh, Step::Refresh]);
}

#[test]
fn takes_five_hops_and_no_sixth() {
    let chain = |last: usize| {
        let mut web = Web::of([]);
        for n in 0..last {
            let next = moved(&(n + 1).to_string());
            web.answers.insert(url(&format!("/{n}")), next);
        }
        web.answers.insert(url(&format!("/{last}")), page("end"));
        web
    };
    assert_eq!(read(&chain(5).visit("/0")), ["/5"]);
    let web = chain(6);
    let visit = web.visit("/0");
    assert_eq!(why(&visit), ("/6", "it takes more hops than are followed"));
    assert_eq!(visit.hops.len(), 7, "the hop that was named is shown");
    assert!(!web.asked().contains(&"/6".to_owned()));
}

#[test]
fn ends_where_nothing_definite_can_be_said() {
    let web = Web::of([
        ("/loop", moved("/pool")),
        ("/pool", moved("/loop#x")),
        ("/ftp", moved("ftp://acme.com/")),
        ("/login", moved("https://me:pw@acme.com/x")),
        ("/nowhere", response(302, None, "")),
        ("/broken", moved("https://[")),
        ("/choices", response(300, Some("/x"), "")),
        ("/late", Fetched::Unanswered(late())),
    ]);
    let no_url = "it is not an http or https URL without credentials";
    for (start, at, detail) in [
        ("/loop", "/loop", "it redirects in a circle"),
        ("/ftp", "ftp://acme.com/", no_url),
        ("/login", "https://me:pw@acme.com/x", no_url),
        ("/nowhere", "/nowhere", "HTTP status 302"),
        ("/broken", "/broken", "HTTP status 302"),
        ("/choices", "/choices", "HTTP status 300"),
        ("/late", "/late", "late"),
    ] {
        assert_eq!(why(&web.visit(start)), (at, detail), "{start}");
    }
    let mut asked = web.asked().into_iter();
    assert!(!asked.any(|url| url.contains("pw") || url.starts_with("ftp")));
}

#[test]
fn asks_for_web_urls_only() {
    let fetcher = MockFetcher::new();
    for start in "file:///etc/passwd https://me@acme.com/ mailto:a@acme.com".split(' ') {
        let visit = visit(&fetcher, &url(start), RobotsPolicy::Obey);
        assert!(matches!(visit.end, End::Unanswered { .. }), "{start}");
    }
}

#[test]
fn tells_missing_from_unreadable() {
    let mut image = page("x");
    if let Fetched::Response(response) = &mut image {
        response.content_type = Some("image/png".to_owned());
    }
    let web = Web::of([
        ("/gone", response(410, None, "")),
        ("https://gone.com/", Fetched::NoSuchHost),
        ("/big", Fetched::TooLarge { limit_bytes: 5 }),
        ("/image", image),
    ]);
    for (start, expected) in rows! {
        "/gone" => Some(410);
        "/x" => Some(404);
        "https://gone.com/" => None;
    } {
        let url = url(start);
        let status = expected;
        assert_eq!(web.visit(start).end, End::Missing { url, status });
    }
    for start in ["/big", "/image"] {
        let end = web.visit(start).end;
        assert!(matches!(end, End::Unreadable { .. }), "{start}");
    }
}

#[test]
fn obeys_the_robots_txt_of_every_hop() {
    let private = "https://other.com/private/b";
    let web = Web::of(rows! {
        "/a" => moved(private);
        "https://other.com/robots.txt" => robots("User-agent: comail\nDisallow: /private");
        private => page("secret");
    });
    let visit = web.visit("/a");
    assert_eq!(visit.end, End::Forbidden { url: url(private) });
    assert!(!web.asked().contains(&private.to_owned()));
    let visit = super::visit(&web, &url("/a"), RobotsPolicy::Ignore);
    assert_eq!(read(&visit), [private]);
}

#[test]
fn a_silent_robots_txt_keeps_the_page_unread() {
    let web = |silence| {
        let silence = Fetched::Unanswered(silence);
        Web::of([("/robots.txt", silence), ("/", page("x"))])
    };
    let (slow, broken) = (web(late()), web(Unanswered::status(503)));
    assert_eq!(why(&slow.visit("/")), ("/", "robots.txt: late"));
    assert_eq!(broken.visit("/").end, End::Forbidden { url: url("/") });
    for web in [slow, broken] {
        assert_eq!(web.asked(), ["/robots.txt"]);
    }
}

#[test]
fn follows_robots_txt_where_it_moved_and_hands_on_its_delay() {
    let elsewhere = "https://www.acme.com/robots.txt";
    let web = Web::of([
        ("/robots.txt", moved(elsewhere)),
        (elsewhere, robots("User-agent: *\nCrawl-delay: 3")),
        ("/", page("x")),
    ]);
    assert_eq!(read(&web.visit("/")), ["/"]);
    let asked = web.asked.borrow();
    let delays: Vec<_> = asked.iter().map(|asked| asked.crawl_delay).collect();
    let three = Some(std::time::Duration::from_secs(3));
    assert_eq!(delays, [None, None, three]);

    let circle = Web::of([("/robots.txt", moved("/robots.txt")), ("/", page("x"))]);
    assert_eq!(read(&circle.visit("/")), ["/"]);
    assert_eq!(circle.asked().len(), 1 + 5 + 1);
}

#[test]
fn a_page_that_reloads_itself_is_read() {
    let web = Web::of([
        ("/", page("refresh /#again")),
        ("/a", moved("/b")),
        ("/b", page("refresh /a")),
        ("/c", page("refresh mailto:a@acme.com")),
    ]);
    for (start, expected) in [("/", "/"), ("/a", "/b"), ("/c", "/c")] {
        assert_eq!(read(&web.visit(start)), [expected]);
    }
}

#[test]
fn reads_frames_of_the_site_first_and_frames_of_frames() {
    let frames = "frame https://maps.com/\nframe /menu\nframe data:text/html,x\nframe /";
    let web = Web::of([
        ("/", page(frames)),
        ("/menu", page("frame inner#x\nframe https://maps.com/")),
        ("/inner", page("text")),
        ("https://maps.com/", page("map")),
    ]);
    let visit = web.visit("/");
    assert_eq!(read(&visit), ["/", "/menu", "/inner", "https://maps.com/"]);
    assert_eq!(visit.unread, []);
}

#[test]
fn says_which_frames_stayed_unread_and_why() {
    let frames = "frame /1\nframe /2\nframe /3\nframe /4\nframe /5\nframe /6\nframe /6";
    let web = Web::of([
        ("/", page(frames)),
        ("/robots.txt", robots("User-agent: *\nDisallow: /2")),
        ("/1", Fetched::Unanswered(late())),
        ("/3", Fetched::TooLarge { limit_bytes: 5 }),
        ("/5", page("text")),
    ]);
    let visit = web.visit("/");
    assert_eq!(read(&visit), ["/", "/5"]);
    let [one, two, three, six] = ["/1", "/2", "/3", "/6"].map(url);
    let too_large = End::Unreadable {
        url: three.clone(),
        why: "it is larger than 5 bytes".to_owned(),
    };
    let unanswered = End::Unanswered {
        url: one.clone(),
        why: late(),
    };
    let expected = [
        (one, unanswered),
        (two.clone(), End::Forbidden { url: two }),
        (three, too_large),
        (six.clone(), unanswered_at(six, BEYOND)),
    ];
    assert_eq!(visit.unread, expected);
}

#[test]
fn a_page_of_very_many_frames_is_bounded() {
    let frames = |name: &str| {
        let frames: Vec<_> = (0..50_000).map(|n| format!("frame /{name}{n}\n")).collect();
        page(&frames.concat())
    };
    let web = Web::of([("/", frames("")), ("/0", frames("0/"))]);
    let visit = web.visit("/");
    assert_eq!(web.asked().len(), 2 + MAX_HOPS);
    assert_eq!(visit.unread.len(), 16);
    let mut unread = visit.unread.into_iter();
    assert!(unread.all(|(url, end)| end == unanswered_at(url, BEYOND)));
}

#[test]
fn what_frames_of_a_frameset_show_is_read() {
    let frameset = "<frameset><frame src='menu.html'><frame src='/main'></frameset>";
    let web = Web::of([
        ("/", response(200, None, frameset)),
        ("/menu.html", page("Menu")),
        ("/main", page("info@acme.com\nframe /gone")),
    ]);
    let visit = web.visit("/");
    let End::Pages(pages) = &visit.end else {
        panic!("no page: {:?}", visit.end);
    };
    let main = pages.iter().find(|page| page.url.path() == "/main");
    assert_eq!(main.unwrap().visible, ["info@acme.com"]);
    assert_eq!(visit.unread, []);
    let frame = Step::Frame;
    assert_eq!(steps(&visit), [Step::Start, frame, frame, frame]);
}
