//! Links that a text has, and whether they answer.

use super::links_of;
use crate::gate::checks::tests::CheckCase;
use crate::quest::FieldName;
use crate::world::{Fetched, Unanswered, UnansweredKind};

const PAGE: &str = "https://acme.com/a";

#[test]
fn links_are_told_from_the_text_around_them_and_asked_as_they_stand() {
    let of = |text: &str| -> Vec<String> {
        let links = links_of(text).into_iter();
        links
            .map(|it| it.map_or_else(|bad| format!("bad {bad}"), String::from))
            .collect()
    };
    let text = "See https://a.com/x, <https://b.com/>; [c](https://c.com/w_(x)) (http://d.com). \
        https://a.com/x#frag httpx://e.com HTTP https:/f.com";
    let links = [
        "https://a.com/x",
        "https://b.com/",
        "https://c.com/w_(x)",
        "http://d.com/",
    ];
    assert_eq!(of(text), links);
    for (text, link) in [
        ("HTTPS://a.com/x", "https://a.com/x"),
        ("Http://a.com/X.", "http://a.com/X"),
        ("https://a.com/{id}", "https://a.com/%7Bid%7D"),
        ("https://a.com/x|y", "https://a.com/x|y"),
        ("https://a.com/x^y", "https://a.com/x^y"),
        ("https://a.com/x_", "https://a.com/x_"),
        ("_https://a.com/x_", "https://a.com/x"),
        ("**https://a.com/x**,", "https://a.com/x"),
        ("https://a.com/x)y", "https://a.com/x)y"),
        ("(see https://a.com/x).", "https://a.com/x"),
        ("[c](https://a.com/x),d", "https://a.com/x"),
        ("{https://a.com/x}", "https://a.com/x"),
        ("https://[host]/x", "bad https://[host]/x"),
    ] {
        assert_eq!(of(text), [link], "{text}");
    }
    let bench = CheckCase::of("kind = \"http\"\nlinks_in = \"value\"").page("https://a.com/", "x");
    for text in [
        "https://a.com/{made-up}",
        "https://a.com|x",
        "HTTPS://a.com/gone https://a.com/",
    ] {
        bench.clone().submit("value", text).fails();
    }
}

#[test]
fn each_dead_link_is_a_fact() {
    let check = "kind = \"http\"\nlinks_in = \"value\"\nmin = 2";
    let bench = CheckCase::of(check)
        .submit(
            "value",
            "https://acme.com/a https://acme.com/b https://acme.com/c",
        )
        .page(PAGE, "x")
        .silent("https://acme.com/c");
    let facts = bench.facts();
    let seen: Vec<_> = facts
        .iter()
        .map(|it| (it.rule.as_str(), it.location.as_deref().unwrap_or_default()))
        .collect();
    assert_eq!(
        seen,
        [
            ("it", "https://acme.com/b"),
            ("it-unconfirmed", "https://acme.com/c")
        ]
    );
    bench.submit("value", PAGE).fails();
    // A document answers as well as a page does.
    let pdf = CheckCase::of(check).submit("value", "https://acme.com/a https://acme.com/d.pdf");
    pdf.page(PAGE, "x")
        .media("https://acme.com/d.pdf", "application/pdf", "%PDF")
        .passes();
}

fn link(url: &str, silence: UnansweredKind) -> Vec<(String, Option<String>)> {
    let why = Unanswered::new(silence, "no public address");
    let bench = CheckCase::of("kind = \"http\"\nlinks_in = \"value\"")
        .fetched(url, Fetched::Unanswered(why))
        .submit("value", url);
    let facts = bench.facts().into_iter();
    facts
        .map(|it| (it.rule.as_str().to_owned(), it.location.map(String::from)))
        .collect()
}

#[test]
fn a_link_that_nobody_may_follow_is_wrong_and_not_left_to_a_person() {
    for (url, silence) in [
        ("https://10.0.0.1/a", UnansweredKind::PrivateAddress),
        ("https://inside.acme.com/a", UnansweredKind::PrivateAddress),
        ("http://localhost:8080/", UnansweredKind::Dns),
        ("http://api.localhost/", UnansweredKind::Dns),
        ("https://me:secret@acme.com/a", UnansweredKind::Timeout),
        ("https://me@acme.com/a", UnansweredKind::Timeout),
    ] {
        assert_eq!(
            link(url, silence),
            [("it".to_owned(), Some(url.to_owned()))],
            "{url}"
        );
    }
    for (url, silence) in [
        ("https://acme.com/a", UnansweredKind::Timeout),
        ("https://localhost.acme.com/", UnansweredKind::Dns),
        ("https://acme.com/me@acme.com", UnansweredKind::Connection),
    ] {
        let unconfirmed = ("it-unconfirmed".to_owned(), Some(url.to_owned()));
        assert_eq!(link(url, silence), [unconfirmed], "{url}");
    }
}

#[test]
fn a_way_that_leads_where_nobody_may_go_is_wrong_too() {
    let private = Unanswered::new(UnansweredKind::PrivateAddress, "no public address");
    let bench = CheckCase::of("kind = \"http\"\nlinks_in = \"value\"")
        .redirect(PAGE, "https://inside.acme.com/")
        .fetched("https://inside.acme.com/", Fetched::Unanswered(private))
        .submit("value", PAGE);
    bench.fails();
}

#[test]
fn more_links_than_are_asked_for_are_wrong() {
    let links = |count: usize| {
        let links = (0..count).map(|at| format!("https://acme.com/{at}"));
        links.collect::<Vec<_>>()
    };
    let bench = |count: usize| {
        let bench = CheckCase::of("kind = \"http\"\nlinks_in = \"value\"");
        let pages = links(count).into_iter();
        let bench = pages.fold(bench, |bench, url| bench.page(&url, "x"));
        bench.submit("value", &links(count).join("\n"))
    };
    bench(40).passes();
    let fact = bench(41).only_fact();
    assert_eq!(fact.rule.as_str(), "it");
    assert_eq!(fact.location.as_deref(), Some("https://acme.com/40"));
    assert_eq!(fact.field.as_ref().map(FieldName::as_str), Some("value"));
}
