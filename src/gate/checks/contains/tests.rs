//! `contains` on pages and in files.

use crate::gate::checks::tests::Bench;
use crate::world::sandbox::FileSeen;

const PAGE: &str = r#"
    kind = "contains"
    field = "value"
    url = "{{ field.other }}"
"#;
const NEWS: &str = "https://news.co.kr/story/17";

fn page(more: &str, url: &str, html: &str, quote: &str) -> Bench {
    Bench::of(&format!("{PAGE}{more}"))
        .submit("value", quote)
        .submit("other", url)
        .page(url, html)
}

fn fired(html: &str, quote: &str) -> Vec<String> {
    page("", NEWS, html, quote).fired()
}

#[test]
fn what_a_page_shows_is_there() {
    let html = "<p>Acme  <b>bought</b>\nBolt for 12.5 million.</p>";
    for quote in [
        "Acme bought Bolt",
        "bought\n Bolt",
        "12.5 million",
        "Ａｃｍｅ",
    ] {
        assert_eq!(fired(html, quote), [""; 0], "{quote}");
    }
}

#[test]
fn what_it_does_not_show_is_not() {
    let html = "<p>Acme bought Bolt for 12.5 million.</p>\
        <p style='display:none'>hidden words</p><!-- commented words -->";
    for quote in [
        "acme bought",
        "Acme sold",
        "12.5 mill",
        "2.5 million",
        "hidden words",
        "commented",
    ] {
        assert_eq!(fired(html, quote), ["it"], "{quote}");
    }
    let fact = page("", NEWS, html, "Acme sold").only_fact();
    assert_eq!(fact.location.as_deref(), Some(NEWS));
    assert_eq!(
        page("ignore_case = true", NEWS, html, "ACME bought").fired(),
        [""; 0]
    );
}

#[test]
fn too_little_is_not_looked_for() {
    assert_eq!(fired("<p>12 of it</p>", "12"), ["it"]);
    assert_eq!(
        page("min_chars = 2", NEWS, "<p>12 of it</p>", "12").fired(),
        [""; 0]
    );
    let blank = Bench::of(
        "kind = \"contains\"\ntext = \"{{ input.cell }}{{ field.other }}\"\npath = \"doc.md\"\nmin_chars = 0",
    );
    let blank = blank.cell("\u{200b}").pinned("doc.md", "12");
    assert_eq!(blank.fired(), ["it"]);
}

#[test]
fn it_must_stand_there_often_enough() {
    let html = "<p>Acme and Acme</p>";
    assert_eq!(page("count_min = 2", NEWS, html, "Acme").fired(), [""; 0]);
    assert_eq!(
        page("count_min = 3", NEWS, html, "Acme").only_fact().actual,
        "2 times"
    );
}

#[test]
fn an_url_that_carries_the_text_proves_nothing() {
    for url in [
        "https://echo.com/?q=Acme%20bought",
        "https://echo.com/?q=Acme+bought",
        "https://echo.com/say/Acme%20bought",
        "https://echo.com/?q=QWNtZSBib3VnaHQ",
        "https://echo.com/acmebought",
        "https://acme-bought.echo.com/?q=thguob+emca",
    ] {
        let bench = page("", url, "<p>Acme bought</p>", "Acme bought");
        let fact = bench.only_fact();
        assert!(fact.actual.contains("carries"), "{url}: {fact:?}");
    }
    for (url, quote) in [
        ("https://acme.echo.com/x", "Acme"),
        ("https://echo.com/ａｃｍｅ-bought", "Acme bought"),
    ] {
        let told = page("slug = true", url, "<p>Acme bought</p>", quote);
        assert_eq!(told.fired(), ["it"], "{url}");
    }
    assert_eq!(
        page("", "https://www.acme.com/about", "<p>Acme</p>", "Acme").fired(),
        [""; 0]
    );
}

#[test]
fn an_url_that_carries_a_part_of_the_text_proves_nothing() {
    let html = "<p>Acme bought Bolt</p>";
    for url in [
        "https://echo.com/?q=Bolt",
        "https://echo.com/?x=1&q=acme-bought",
        "https://echo.com/?a=Acme&b=b",
        "https://echo.com/?c%256De%20bou",
        "https://echo.com/?a=ht&b=bo",
        "https://echo.com/?q=Bo%E2%80%8Blt",
    ] {
        let fact = page("slug = true", url, html, "Acme bought Bolt").only_fact();
        assert_eq!(fact.actual, "its URL carries a part of it", "{url}");
    }
    for url in [
        "https://news.com/?id=12&lang=en",
        "https://news.com/?id=tbo",
        "https://news.com/?q=Acme+sold",
    ] {
        let bench = page("", url, html, "Acme bought Bolt");
        assert_eq!(bench.fired(), [""; 0], "{url}");
    }
    let path = "https://news.com/say/bolt/of";
    let bench = |more: &str| page(more, path, html, "Acme bought Bolt").fired();
    assert_eq!(bench(""), ["it-unconfirmed"]);
    assert_eq!(bench("slug = true"), [""; 0]);
}

#[test]
fn a_text_does_not_go_on_from_one_block_to_the_next() {
    let html = "<p>No deal with Acme</p><p>bought Bolt</p>";
    assert_eq!(fired(html, "Acme bought Bolt"), ["it"]);
    assert_eq!(fired(html, "bought Bolt"), [""; 0]);
    let twice = page("count_min = 2", NEWS, "<p>Acme</p><p>Acme</p>", "Acme");
    assert_eq!(twice.fired(), [""; 0]);
}

#[test]
fn a_redirect_to_an_echo_is_one() {
    let start = "https://short.co.kr/1";
    let echo = "https://echo.com/?q=Acme+bought";
    let bench = page("", echo, "<p>Acme bought</p>", "Acme bought")
        .submit("other", start)
        .redirect(start, echo);
    assert!(bench.only_fact().actual.contains("carries"));
}

#[test]
fn a_date_stands_there_however_it_is_written() {
    let fired = |html: &str, date: &str| page("as = \"date\"", NEWS, html, date).fired();
    for html in [
        "<p>Published 22 November 2026 by Kim</p>",
        "<p>서울, 2026년 11월 22일(일)</p>",
        "<p>NOV. 22, 2026</p>",
        "<p>(2026.11.22)</p>",
    ] {
        assert_eq!(fired(html, "2026-11-22"), [""; 0], "{html}");
        assert_eq!(fired(html, "2026-11-02"), ["it"], "{html}");
        assert_eq!(fired(html, "2026-11-23"), ["it"], "{html}");
    }
    for html in [
        "<p>22 November, it rained in 2026</p>",
        "<p>11/22/2026</p>",
        "<p>122 November 2026</p>",
    ] {
        assert_eq!(fired(html, "2026-11-22"), ["it"], "{html}");
    }
    assert_eq!(fired("<p>22 November 2026</p>", "22 November 2026"), ["it"]);
}

#[test]
fn a_date_that_the_url_tells_proves_nothing() {
    let html = "<p>22 November 2026</p>";
    let of = |url: &str| page("as = \"date\"\nslug = true", url, html, "2026-11-22");
    let told = of("https://news.co.kr/story?on=2026-11-22");
    assert!(told.only_fact().actual.contains("carries"));
    assert_eq!(of("https://news.co.kr/2026/11/22/story").fired(), [""; 0]);
}

#[test]
fn a_title_in_the_path_leaves_it_to_a_person() {
    let url = "https://news.co.kr/2026/acme-buys-bolt";
    assert_eq!(
        page("", url, "<p>Acme buys</p>", "Acme buys").fired(),
        ["it-unconfirmed"]
    );
    assert_eq!(
        page("", url, "<p>Acme buys</p>", "Acme").fired(),
        ["it-unconfirmed"]
    );
    assert_eq!(
        page("slug = true", url, "<p>Acme buys</p>", "Acme").fired(),
        [""; 0]
    );
    assert_eq!(
        page("slug = true", url, "<p>nothing</p>", "Acme").fired(),
        ["it"]
    );
}

#[test]
fn silence_is_no_no_and_a_missing_page_is_one() {
    let bench = Bench::of(PAGE)
        .submit("value", "Acme")
        .submit("other", NEWS);
    assert_eq!(bench.fired(), ["it"]);
    assert_eq!(bench.clone().silent(NEWS).fired(), ["it-unconfirmed"]);
    let pdf = bench.clone().media(NEWS, "application/pdf", "%PDF");
    assert_eq!(pdf.fired(), ["it-unconfirmed"]);
    let robots = "https://news.co.kr/robots.txt";
    let forbidden = bench.media(robots, "text/plain", "User-agent: *\nDisallow: /\n");
    assert_eq!(
        forbidden.page(NEWS, "<p>Acme</p>").fired(),
        ["it-unconfirmed"]
    );
}

#[test]
fn what_is_no_page_is_refused() {
    for url in [
        "",
        "file:///etc/passwd",
        "ftp://a.com/",
        "https://u:p@a.com/",
        "http://127.0.0.1/",
    ] {
        let bench = Bench::of(PAGE).submit("value", "Acme").submit("other", url);
        assert_eq!(bench.fired(), ["it"], "{url}");
    }
    assert_eq!(Bench::of(PAGE).submit("other", NEWS).fired(), [""; 0]);
}

#[test]
fn the_page_may_have_to_be_of_a_site() {
    let bench = page(
        "same_site_as = \"{{ input.cell }}\"",
        NEWS,
        "<p>Acme</p>",
        "Acme",
    );
    assert_eq!(bench.clone().cell("www.news.co.kr").fired(), [""; 0]);
    assert_eq!(bench.clone().cell("https://other.co.kr").fired(), ["it"]);
    let away = bench
        .cell("short.co.kr")
        .submit("other", "https://short.co.kr/1");
    assert_eq!(away.redirect("https://short.co.kr/1", NEWS).fired(), ["it"]);
}

#[test]
fn a_file_is_looked_at_as_it_was_at_scan() {
    let check = "kind = \"contains\"\nfield = \"value\"\npath = \"doc.md\"\n";
    let bench = Bench::of(check)
        .submit("value", "made up")
        .file("doc.md", "made up");
    assert_eq!(bench.clone().pinned("doc.md", "the truth").fired(), ["it"]);
    assert_eq!(
        bench.clone().pinned("doc.md", "not\n  made   up.").fired(),
        [""; 0]
    );
    assert_eq!(bench.clone().fired(), ["it"]);
    let large = FileSeen::Other("too large".to_owned());
    assert_eq!(bench.pinned_as("doc.md", large).fired(), ["it-unconfirmed"]);
    let judged = Bench::of(&format!("{check}pinned = false")).submit("value", "made up");
    assert_eq!(judged.file("doc.md", "made up").fired(), [""; 0]);
}

#[test]
fn a_file_that_the_agent_may_have_written_shows_no_fact() {
    let check = "kind = \"contains\"\nfield = \"value\"\npath = \"doc.md\"\n";
    let judged = Bench::of(&format!("{check}pinned = false")).closed();
    assert!(judged.mistake().contains("cheese"));
    let pinned = Bench::of(check).closed().pinned("doc.md", "the truth");
    assert_eq!(pinned.submit("value", "the truth").fired(), [""; 0]);
}

#[test]
fn a_check_that_looks_nowhere_is_a_mistake() {
    let none = "kind = \"contains\"\nfield = \"value\"";
    assert!(Bench::of(none).mistake().contains("either `url` or `path`"));
    let zero = format!("{PAGE}count_min = 0");
    assert!(Bench::of(&zero).mistake().contains("no check"));
}
