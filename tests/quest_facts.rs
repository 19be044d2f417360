//! `facts.toml`, played over news sites on loopback.

use crate::played::Played;

const HOST: &str = "www.morning-post.com";
const STORY: &str = "<title>Acme Foods buys Bolt</title><p>Published 22 November 2026</p>\
    <p>Acme Foods has bought the toy maker Bolt for 12.5 million euros.</p>\
    <p>Its director, Kim Min-ji, said that the shops stay open.</p>";
const PORT: &str = "<meta charset='utf-8'><title>한빛 항만 개항</title><p>입력 2026년 11월 21일</p>\
    <p>박서연 시장이 새 항만을 열었다. 한빛 항만은 하루에 배 마흔 척을 받는다.</p>";

fn scanned() -> Played {
    let play = Played::of("facts");
    let net = &play.world.net;
    for host in [HOST, "hanbit-news.co.kr", "elsewhere.com"] {
        net.host(host);
    }
    net.web.page(HOST, "/story/17", STORY);
    net.web.page("elsewhere.com", "/story/17", STORY);
    net.web.page("hanbit-news.co.kr", "/2026/11/21/port", PORT);
    play.scan("stories.jsonl");
    play
}

/// The right submission for the first story, but for one field.
fn but(play: &Played, name: &str, text: &str, said: &str) {
    let url = play.world.net.web.url(HOST, "/story/17");
    let mut fields = vec![
        ("who", "Kim Min-ji"),
        ("what", "Acme Foods has bought the toy maker Bolt"),
        ("when", "2026-11-22"),
        ("url", url.as_str()),
    ];
    for field in &mut fields {
        if field.0 == name {
            field.1 = text;
        }
    }
    play.expect("acme-buys-bolt", &fields, said);
}

#[test]
fn stories_are_told_word_for_word_with_their_dates() {
    let play = scanned();
    assert!(play.next().contains("morning-post.com on Bolt"));
    for (name, text, said) in [
        ("who", "Kim Mi", "FAIL who-there"),
        ("who", "Lee Do-yun", "FAIL who-there"),
        (
            "what",
            "Acme Foods bought the toy maker Bolt",
            "FAIL what-there",
        ),
        ("when", "2026-11-21", "FAIL when-there"),
        ("when", "22 November 2026", "FAIL field-format"),
        ("", "", "PASS"),
    ] {
        but(&play, name, text, said);
    }
    let url = play
        .world
        .net
        .web
        .url("hanbit-news.co.kr", "/2026/11/21/port");
    let fields = [
        ("who", "박서연"),
        ("what", "한빛 항만은 하루에 배 마흔 척을 받는다"),
        ("when", "2026-11-21"),
        ("url", url.as_str()),
    ];
    play.expect("hanbit-port", &fields, "PASS");
    play.ends(2, 0, 2);
}

#[test]
fn a_page_of_another_site_or_story_or_made_for_the_answer_is_refused() {
    let play = scanned();
    let web = &play.world.net.web;
    let rain = "<p>22 November 2026. Kim Min-ji said that it rains on and on.</p>";
    web.page(HOST, "/story/18", rain);
    web.page(HOST, "/search?q=Kim+Min-ji", STORY);
    for (host, path, said) in [
        ("elsewhere.com", "/story/17", "FAIL about-it"),
        (HOST, "/story/18", "FAIL about-it"),
        (HOST, "/story/99", "FAIL about-it"),
        (HOST, "/search?q=Kim+Min-ji", "FAIL who-there"),
    ] {
        but(&play, "url", &web.url(host, path), said);
    }
    play.ends(0, 0, 2);
}
