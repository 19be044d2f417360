//! Ways through the web, hop by hop.

mod frames;

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::*;
use crate::world::{Fetched, MockFetcher, Request, Response, UnansweredKind};

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

fn response(status: u16, location: Option<&str>, body: &str) -> Fetched {
    Fetched::Response(Response {
        status,
        content_type: Some("text/html".to_owned()),
        location: location.map(str::to_owned),
        refresh: None,
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

/// A web of known answers that notes what it is asked; whatever else is asked for is 404.
#[derive(Default)]
struct Web {
    answers: BTreeMap<String, Fetched>,
    asked: RefCell<Vec<Request>>,
}

impl Web {
    fn of<const N: usize>(answers: [(&str, Fetched); N]) -> Self {
        let answers = answers.map(|(url, fetched)| (url.to_owned(), fetched));
        Self {
            answers: answers.into(),
            asked: RefCell::default(),
        }
    }

    fn asked(&self) -> Vec<String> {
        let asked = self.asked.borrow();
        asked
            .iter()
            .map(|request| request.url.to_string())
            .collect()
    }

    fn visit(&self, start: &str) -> Visit {
        visit(self, &url(start), RobotsPolicy::Obey)
    }
}

impl Fetcher for Web {
    fn get(&self, request: &Request) -> Fetched {
        self.asked.borrow_mut().push(request.clone());
        let known = self.answers.get(request.url.as_str()).cloned();
        known.unwrap_or_else(|| response(404, None, ""))
    }
}

fn read(visit: &Visit) -> Vec<&str> {
    match &visit.end {
        End::Pages(pages) => pages.iter().map(|page| page.url.as_str()).collect(),
        end => panic!("no page: {end:?}"),
    }
}

fn why(visit: &Visit) -> (&str, &str) {
    match &visit.end {
        End::Unanswered { url, why } => (url.as_str(), why.detail.as_str()),
        end => panic!("answered: {end:?}"),
    }
}

fn steps(visit: &Visit) -> Vec<Step> {
    visit.hops.iter().map(|hop| hop.by).collect()
}

#[test]
fn reads_a_page_and_drops_its_fragment() {
    let web = Web::of([("https://acme.com/contact", page("hello"))]);
    let visit = web.visit("https://acme.com/contact#top");
    assert_eq!(read(&visit), ["https://acme.com/contact"]);
    assert_eq!(
        web.asked(),
        ["https://acme.com/robots.txt", "https://acme.com/contact"]
    );
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
    assert_eq!(
        hops,
        [
            "http://acme.com/",
            "http://www.acme.com/a/?x",
            "http://www.acme.com/a/b",
            "http://www.acme.com/c"
        ]
    );
    let expected = [Step::Start, Step::Redirect, Step::Redirect, Step::Refresh];
    assert_eq!(steps(&visit), expected);
    let robots = web
        .asked()
        .iter()
        .filter(|url| url.ends_with("/robots.txt"))
        .count();
    assert_eq!(robots, 2, "once an origin");
}

#[test]
fn takes_five_hops_and_no_sixth() {
    let chain = |last: usize| {
        let mut web = Web::default();
        for n in 0..last {
            web.answers
                .insert(format!("https://acme.com/{n}"), moved(&(n + 1).to_string()));
        }
        web.answers
            .insert(format!("https://acme.com/{last}"), page("end"));
        web
    };
    assert_eq!(
        read(&chain(5).visit("https://acme.com/0")),
        ["https://acme.com/5"]
    );
    let web = chain(6);
    let visit = web.visit("https://acme.com/0");
    let expected = ("https://acme.com/6", "it takes more hops than are followed");
    assert_eq!(why(&visit), expected);
    assert_eq!(visit.hops.len(), 7, "the hop that was named is shown");
    assert!(!web.asked().contains(&"https://acme.com/6".to_owned()));
}

#[test]
fn ends_where_nothing_definite_can_be_said() {
    let web = Web::of([
        ("https://acme.com/loop", moved("/pool")),
        ("https://acme.com/pool", moved("/loop#x")),
        ("https://acme.com/ftp", moved("ftp://acme.com/")),
        ("https://acme.com/login", moved("https://me:pw@acme.com/x")),
        ("https://acme.com/nowhere", response(302, None, "")),
        ("https://acme.com/broken", moved("https://[")),
        ("https://acme.com/choices", response(300, Some("/x"), "")),
        (
            "https://acme.com/late",
            Fetched::Unanswered(Unanswered::new(UnansweredKind::Timeout, "late")),
        ),
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
        let base = url("https://acme.com/");
        let visit = web.visit(base.join(start).unwrap().as_str());
        assert_eq!(
            why(&visit),
            (base.join(at).unwrap().as_str(), detail),
            "{start}"
        );
    }
    assert!(
        !web.asked()
            .iter()
            .any(|url| url.contains("pw") || url.starts_with("ftp"))
    );
}

#[test]
fn tells_missing_from_unreadable() {
    let mut image = page("x");
    if let Fetched::Response(response) = &mut image {
        response.content_type = Some("image/png".to_owned());
    }
    let web = Web::of([
        ("https://acme.com/gone", response(410, None, "")),
        ("https://gone.com/", Fetched::NoSuchHost),
        ("https://acme.com/big", Fetched::TooLarge { limit_bytes: 5 }),
        ("https://acme.com/image", image),
    ]);
    let missing = |start: &str| match web.visit(start).end {
        End::Missing { status, .. } => status,
        end => panic!("not missing: {end:?}"),
    };
    assert_eq!(missing("https://acme.com/gone"), Some(410));
    assert_eq!(missing("https://acme.com/x"), Some(404));
    assert_eq!(missing("https://gone.com/"), None);
    for start in ["https://acme.com/big", "https://acme.com/image"] {
        assert!(
            matches!(web.visit(start).end, End::Unreadable { .. }),
            "{start}"
        );
    }
}

#[test]
fn obeys_the_robots_txt_of_every_hop() {
    let web = Web::of([
        ("https://acme.com/a", moved("https://other.com/private/b")),
        (
            "https://other.com/robots.txt",
            response(200, None, "User-agent: comail\nDisallow: /private"),
        ),
        ("https://other.com/private/b", page("secret")),
    ]);
    let visit = web.visit("https://acme.com/a");
    let url = url("https://other.com/private/b");
    assert_eq!(visit.end, End::Forbidden { url });
    assert!(
        !web.asked()
            .contains(&"https://other.com/private/b".to_owned())
    );

    let start = Url::parse("https://acme.com/a").unwrap();
    let visit = super::visit(&web, &start, RobotsPolicy::Ignore);
    assert_eq!(read(&visit), ["https://other.com/private/b"]);
}

#[test]
fn a_silent_robots_txt_keeps_the_page_unread() {
    for (silence, forbidden) in [
        (Unanswered::new(UnansweredKind::Timeout, "late"), false),
        (Unanswered::status(503), true),
    ] {
        let web = Web::of([
            ("https://acme.com/robots.txt", Fetched::Unanswered(silence)),
            ("https://acme.com/", page("x")),
        ]);
        let visit = web.visit("https://acme.com/");
        assert_eq!(web.asked(), ["https://acme.com/robots.txt"]);
        if forbidden {
            let url = url("https://acme.com/");
            assert_eq!(visit.end, End::Forbidden { url });
        } else {
            assert_eq!(why(&visit), ("https://acme.com/", "robots.txt: late"));
        }
    }
}

#[test]
fn follows_robots_txt_where_it_moved_and_hands_on_its_delay() {
    let web = Web::of([
        (
            "https://acme.com/robots.txt",
            moved("https://www.acme.com/robots.txt"),
        ),
        (
            "https://www.acme.com/robots.txt",
            response(200, None, "User-agent: *\nCrawl-delay: 3"),
        ),
        ("https://acme.com/", page("x")),
    ]);
    assert_eq!(read(&web.visit("https://acme.com/")), ["https://acme.com/"]);
    let delays: Vec<_> = web
        .asked
        .borrow()
        .iter()
        .map(|asked| asked.crawl_delay)
        .collect();
    assert_eq!(
        delays,
        [None, None, Some(std::time::Duration::from_secs(3))]
    );

    let circle = Web::of([
        ("https://acme.com/robots.txt", moved("/robots.txt")),
        ("https://acme.com/", page("x")),
    ]);
    assert_eq!(
        read(&circle.visit("https://acme.com/")),
        ["https://acme.com/"]
    );
    assert_eq!(circle.asked().len(), 1 + 5 + 1);
}

#[test]
fn a_page_that_reloads_is_read_as_it_stands() {
    let web = Web::of([
        ("https://acme.com/", page("refresh /#again")),
        ("https://acme.com/a", moved("/b")),
        ("https://acme.com/b", page("refresh /a")),
        ("https://acme.com/c", page("refresh mailto:a@acme.com")),
    ]);
    assert_eq!(read(&web.visit("https://acme.com/")), ["https://acme.com/"]);
    assert_eq!(
        read(&web.visit("https://acme.com/a")),
        ["https://acme.com/b"]
    );
}

#[test]
fn asks_nothing_of_what_is_no_web_page() {
    let fetcher = MockFetcher::new();
    for start in [
        "file:///etc/passwd",
        "https://me@acme.com/",
        "mailto:a@acme.com",
    ] {
        let visit = visit(&fetcher, &url(start), RobotsPolicy::Obey);
        assert!(matches!(visit.end, End::Unanswered { .. }), "{start}");
    }
}

#[test]
fn follows_the_refresh_of_a_header() {
    let mut wait = page("wait");
    if let Fetched::Response(response) = &mut wait {
        response.refresh = Some("0; url=/ko/home".to_owned());
    }
    let web = Web::of([
        ("https://acme.com/", page("refresh /ko")),
        ("https://acme.com/ko", wait),
        ("https://acme.com/ko/home", page("info@acme.com")),
    ]);
    let visit = web.visit("https://acme.com/");
    assert_eq!(read(&visit), ["https://acme.com/ko/home"]);
    assert_eq!(steps(&visit), [Step::Start, Step::Refresh, Step::Refresh]);
}
