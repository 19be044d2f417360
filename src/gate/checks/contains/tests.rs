//! `contains` on pages and in files.

use crate::base::rows;
use crate::gate::checks::tests::CheckCase;
use crate::world::sandbox::FileSeen;

const PAGE: &str = r#"
    kind = "contains"
    field = "value"
    url = "{{ field.other }}"
"#;
const NEWS: &str = "https://news.co.kr/story/17";

fn page(more: &str, url: &str, html: &str, quote: &str) -> CheckCase {
    CheckCase::of(&format!("{PAGE}{more}"))
        .submit("value", quote)
        .submit("other", url)
        .page(url, html)
}

fn news(html: &str, quote: &str) -> CheckCase {
    page("", NEWS, html, quote)
}

#[test]
fn what_a_page_shows_is_there_and_nothing_else() {
    let html = "<p>Acme  <b>bought</b>\nBolt for 12.5 million.</p>\
        <p style='display:none'>hidden words</p><!-- commented words -->";
    let shown = [
        "Acme bought Bolt",
        "bought\n Bolt",
        "12.5 million",
        "Ａｃｍｅ",
    ];
    for quote in shown {
        news(html, quote).passes();
    }
    let absent = ["acme bought", "Acme sold", "12.5 mill", "2.5 million"];
    for quote in absent.into_iter().chain(["hidden words", "commented"]) {
        news(html, quote).fails();
    }
    let fact = news(html, "Acme sold").only_fact();
    assert_eq!(fact.location.as_deref(), Some(NEWS));
    page("ignore_case = true", NEWS, html, "ACME bought").passes();
    // A text does not go on from one block to the next.
    let html = "<p>No deal with Acme</p><p>bought Bolt</p>";
    news(html, "Acme bought Bolt").fails();
    news(html, "bought Bolt").passes();
}

#[test]
fn too_little_is_not_looked_for() {
    news("<p>12 of it</p>", "12").fails();
    page("min_chars = 2", NEWS, "<p>12 of it</p>", "12").passes();
    let blank = CheckCase::of(
        "kind = \"contains\"\ntext = \"{{ input.cell }}{{ field.other }}\"\npath = \"doc.md\"\nmin_chars = 0",
    );
    let blank = blank.cell("\u{200b}").pinned("doc.md", "12");
    blank.fails();
}

#[test]
fn an_url_that_carries_the_text_or_a_part_of_it_proves_nothing() {
    const HTML: &str = "<p>Acme bought Bolt</p>";
    const WHOLE: &str = "its URL contains the text";
    const PART: &str = "its URL contains a part of it";
    for (url, quote, actual) in rows! {
        "https://echo.com/?q=Acme%20bought", "Acme bought" => WHOLE;
        "https://echo.com/?q=Acme+bought", "Acme bought" => WHOLE;
        "https://echo.com/say/Acme%20bought", "Acme bought" => WHOLE;
        "https://echo.com/?q=QWNtZSBib3VnaHQ", "Acme bought" => WHOLE;
        "https://echo.com/acmebought", "Acme bought" => WHOLE;
        "https://acme-bought.echo.com/?q=thguob+emca", "Acme bought" => WHOLE;
        "https://acme.echo.com/x", "Acme" => WHOLE;
        "https://echo.com/ａｃｍｅ-bought", "Acme bought" => WHOLE;
        "https://echo.com/?q=Bolt", "Acme bought Bolt" => PART;
        "https://echo.com/?x=1&q=acme-bought", "Acme bought Bolt" => PART;
        "https://echo.com/?a=Acme&b=b", "Acme bought Bolt" => PART;
        "https://echo.com/?c%256De%20bou", "Acme bought Bolt" => PART;
        "https://echo.com/?a=ht&b=bo", "Acme bought Bolt" => PART;
        "https://echo.com/?q=Bo%E2%80%8Blt", "Acme bought Bolt" => PART;
    } {
        for more in ["", "slug = true"] {
            let fact = page(more, url, HTML, quote).only_fact();
            assert_eq!(
                (&*fact.actual, &*fact.rule.to_string()),
                (actual, "it"),
                "{url}"
            );
        }
    }
    for (url, quote) in [
        ("https://www.acme.com/about", "Acme"),
        ("https://news.com/?id=12&lang=en", "Acme bought Bolt"),
        ("https://news.com/?id=tbo", "Acme bought Bolt"),
        ("https://news.com/?q=Acme+sold", "Acme bought Bolt"),
    ] {
        page("", url, HTML, quote).passes();
    }
    // A title in the path leaves it to a person, unless the quest file takes it for one.
    for (url, quote) in [
        ("https://news.com/say/bolt/of", "Acme bought Bolt"),
        ("https://news.co.kr/2026/acme-bought-bolt", "Acme bought"),
        ("https://news.co.kr/2026/acme-bought-bolt", "Acme"),
    ] {
        page("", url, HTML, quote).is_unconfirmed();
        page("slug = true", url, HTML, quote).passes();
        page("slug = true", url, "<p>nothing</p>", quote).fails();
    }
}

#[test]
fn a_redirect_to_an_echo_is_one() {
    let start = "https://short.co.kr/1";
    let echo = "https://echo.com/?q=Acme+bought";
    let bench = page("", echo, "<p>Acme bought</p>", "Acme bought")
        .submit("other", start)
        .redirect(start, echo);
    assert!(bench.only_fact().actual.contains("contains the text"));
}

#[test]
fn a_date_stands_there_however_it_is_written() {
    let of = |html: &str, date: &str| page("as = \"date\"", NEWS, html, date);
    for html in [
        "<p>Published 22 November 2026 by Kim</p>",
        "<p>서울, 2026년 11월 22일(일)</p>",
        "<p>NOV. 22, 2026</p>",
        "<p>(2026.11.22)</p>",
    ] {
        of(html, "2026-11-22").passes();
        of(html, "2026-11-02").fails();
        of(html, "2026-11-23").fails();
    }
    for html in [
        "<p>22 November, it rained in 2026</p>",
        "<p>11/22/2026</p>",
        "<p>122 November 2026</p>",
    ] {
        of(html, "2026-11-22").fails();
    }
    of("<p>22 November 2026</p>", "22 November 2026").fails();
}

#[test]
fn a_date_that_the_url_tells_proves_nothing() {
    let html = "<p>22 November 2026</p>";
    let of = |url: &str| page("as = \"date\"\nslug = true", url, html, "2026-11-22");
    let told = of("https://news.co.kr/story?on=2026-11-22");
    assert!(told.only_fact().actual.contains("contains the text"));
    of("https://news.co.kr/2026/11/22/story").passes();
}

#[test]
fn silence_is_no_no_and_a_missing_page_is_one() {
    let bench = CheckCase::of(PAGE)
        .submit("value", "Acme")
        .submit("other", NEWS);
    bench.fails();
    bench.clone().silent(NEWS).is_unconfirmed();
    let pdf = bench.clone().media(NEWS, "application/pdf", "%PDF");
    pdf.is_unconfirmed();
    let robots = "https://news.co.kr/robots.txt";
    let forbidden = bench.media(robots, "text/plain", "User-agent: *\nDisallow: /\n");
    forbidden.page(NEWS, "<p>Acme</p>").is_unconfirmed();
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
        let bench = CheckCase::of(PAGE)
            .submit("value", "Acme")
            .submit("other", url);
        bench.fails();
    }
    CheckCase::of(PAGE).submit("other", NEWS).passes();
}

#[test]
fn the_page_may_have_to_be_of_a_site() {
    let bench = page(
        "same_site_as = \"{{ input.cell }}\"",
        NEWS,
        "<p>Acme</p>",
        "Acme",
    );
    for site in "www.news.co.kr https://www.news.co.kr:8443/x?y#z NEWS.co.kr/en info@news.co.kr"
        .split_whitespace()
    {
        bench.clone().cell(site).passes();
    }
    for site in [
        "https://other.co.kr",
        "",
        "two words",
        "a@b@",
        "[::1]",
        "news.co.kr, a.kr",
    ] {
        bench.clone().cell(site).fails();
    }
    let away = bench
        .cell("short.co.kr")
        .submit("other", "https://short.co.kr/1");
    away.redirect("https://short.co.kr/1", NEWS).fails();
}

#[test]
fn a_file_is_looked_at_as_it_was_at_scan() {
    let check = "kind = \"contains\"\nfield = \"value\"\npath = \"doc.md\"\n";
    let bench = CheckCase::of(check)
        .submit("value", "made up")
        .file("doc.md", "made up");
    bench.clone().pinned("doc.md", "the truth").fails();
    bench.clone().pinned("doc.md", "not\n  made   up.").passes();
    bench.clone().fails();
    let large = FileSeen::Other("too large".to_owned());
    bench.pinned_as("doc.md", large).is_unconfirmed();
}

#[test]
fn a_check_that_looks_nowhere_is_a_mistake() {
    let none = "kind = \"contains\"\nfield = \"value\"";
    assert!(
        CheckCase::of(none)
            .mistake()
            .contains("either `url` or `path`")
    );
}

#[test]
fn a_field_says_its_own_part_of_the_url() {
    let of = |template: &str, value: &str| {
        let check = format!("kind = \"contains\"\ntext = \"shown\"\nurl = \"{template}\"");
        ["", "a", "a?", "a?/tests", "a?b=c?"]
            .iter()
            .fold(CheckCase::of(&check), |bench, path| {
                bench.page(&format!("https://acme.com/{path}"), "shown")
            })
            .submit("value", value)
    };
    for (template, value) in [
        ("https://acme.com/{{ field.value }}?b=c?", "a"),
        ("https://acme.com/a?b={{ field.value }}", "c?"),
        ("{{ field.value }}", "https://acme.com/a?/tests"),
        // A fragment of the quest file's own is no one's trick.
        ("https://acme.com/a#x", "a"),
    ] {
        of(template, value).passes();
    }
    for (template, value) in [
        ("https://acme.com/{{ field.value }}/tests", "a#"),
        ("https://acme.com/{{ field.value }}/tests", "a?"),
        ("https://acme.com/{{ field.value }}", " "),
        ("https://acme.com/{{ field.other }}", "a"),
    ] {
        of(template, value).fails();
    }
}
