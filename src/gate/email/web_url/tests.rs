//! URLs as written, and what a parser would have to repair.

use proptest::prelude::*;

use super::*;
use crate::base::rows;

fn taken(text: &str) -> String {
    web_url(text)
        .unwrap_or_else(|why| panic!("{text}: {why}"))
        .into()
}

#[test]
fn takes_urls_as_written() {
    for text in "https://acme.co.kr/ http://www.acme.co.kr:8080/a/b.html?x=1&y[]=%20%zz
            https://acme.co.kr/a//b/?q=a+b|c https://my-shop_1.acme.co.kr/~info/(x);y=1,2@3:4"
        .split_whitespace()
    {
        assert_eq!(taken(text), text);
    }
}

#[test]
fn normalises_what_changes_no_meaning() {
    for (text, expected) in rows! {
        "HTTPS://Acme.Co.KR" => "https://acme.co.kr/";
        "https://acme.co.kr:443/#top" => "https://acme.co.kr/";
        "https://acme.co.kr?q='a'" => "https://acme.co.kr/?q=%27a%27";
        "https://acme.co.kr/회사?소개=가#나"
            => "https://acme.co.kr/%ED%9A%8C%EC%82%AC?%EC%86%8C%EA%B0%9C=%EA%B0%80";
        "https://한빛.한국/" => "https://xn--xx3br43b.xn--3e0b707e/";
    } {
        assert_eq!(taken(text), expected);
    }
}

#[test]
fn refuses_what_is_missing_or_too_long() {
    assert_eq!(web_url(""), Err(BadWebUrl::Missing));
    assert_eq!(web_url(" \u{3000}"), Err(BadWebUrl::Missing));
    let room = MAX_URL_BYTES - "https://acme.kr/".len();
    assert!(web_url(&format!("https://acme.kr/{}", "a".repeat(room))).is_ok());
    assert_eq!(
        web_url(&format!("https://acme.kr/{}", "a".repeat(room + 1))),
        Err(BadWebUrl::TooLong(MAX_URL_BYTES + 1))
    );
}

#[test]
fn refuses_other_schemes_and_missing_slashes() {
    for text in "acme.co.kr //acme.co.kr/ ftp://acme.co.kr/ http:acme.co.kr http:/acme.co.kr
        javascript:alert(1) data:text/html,a@acme.kr view-source:https://acme.co.kr/ file:///etc/passwd
        https: ｈttps://acme.co.kr"
        .split_whitespace()
    {
        assert_eq!(web_url(text), Err(BadWebUrl::Scheme), "{text}");
    }
    for text in "http:///acme.co.kr https:// https://?a https://:80/".split_whitespace() {
        assert_eq!(web_url(text), Err(BadWebUrl::NoHost), "{text}");
    }
}

#[test]
fn refuses_characters_that_parsers_drop_or_map() {
    for (text, character) in [
        (" https://acme.kr/", ' '),
        ("https://acme.kr/\n", '\n'),
        ("https://ac\tme.kr/", '\t'),
        ("https://acme.kr\\@evil.kr/", '\\'),
        ("https://acme.kr/a\u{200b}b", '\u{200b}'),
        ("https://ac\u{ad}me.kr/", '\u{ad}'),
        ("https://acme.kr/\u{202e}fdp", '\u{202e}'),
        ("https://acme.kr/\u{3164}", '\u{3164}'),
        ("https://acme.kr/\0", '\0'),
    ] {
        assert_eq!(
            web_url(text),
            Err(BadWebUrl::Character(character)),
            "{text:?}"
        );
    }
    let message = BadWebUrl::Character('\u{ad}').to_string();
    assert_eq!(message, "it contains U+00AD, which is not allowed in a URL");
}

#[test]
fn refuses_credentials() {
    for text in "https://user:pw@acme.kr/ https://acme.kr@evil.kr/ https://@acme.kr/
            https://acme.kr:80@evil.kr/"
        .split_whitespace()
    {
        assert_eq!(web_url(text), Err(BadWebUrl::Credentials), "{text}");
    }
    assert!(web_url("https://acme.kr/@team?to=a@b.kr").is_ok());
}

#[test]
fn refuses_ports_that_are_none() {
    for port in ["", "0", "080", "65536", "+80", "8a", "80:80"] {
        let text = format!("https://acme.kr:{port}/");
        assert_eq!(web_url(&text), Err(BadWebUrl::Port), "{text}");
    }
}

#[test]
fn refuses_hosts_without_a_registrable_domain() {
    for host in "co.kr localhost acme.nosuchsuffix github.io a.b.invalid".split_whitespace() {
        let refused = web_url(&format!("https://{host}/"));
        assert_eq!(
            refused,
            Err(BadWebUrl::NoDomain(HostName::parse(host).unwrap()))
        );
    }
    for host in ["127.0.0.1", "2130706433", "0x7f.1", "[::1]"] {
        let refused = web_url(&format!("https://{host}/"));
        assert_eq!(refused, Err(BadWebUrl::IpAddress));
    }
}

#[test]
fn refuses_what_a_parser_would_mend() {
    for (text, read) in [
        ("https://acme.kr/a/../b", "https://acme.kr/b"),
        ("https://acme.kr/a/%2e%2E/b", "https://acme.kr/b"),
        ("https://acme.kr/<a>", "https://acme.kr/%3Ca%3E"),
        ("https://acme.kr/?\"a\"", "https://acme.kr/?%22a%22"),
    ] {
        let read = Box::new(Url::parse(read).unwrap());
        assert_eq!(web_url(text), Err(BadWebUrl::Repaired(read)), "{text}");
    }
    for text in "https://ａcme.kr/ https://acme。kr/ https://acme%2ekr/ https://acme.kr./"
        .split_whitespace()
    {
        let is_of_host = |bad| {
            matches!(
                bad,
                BadWebUrl::RepairedHost(_) | BadWebUrl::NotAName | BadWebUrl::TrailingDot
            )
        };
        assert!(web_url(text).is_err_and(is_of_host), "{text}");
    }
}

fn repaired(name: &str) -> Result<&'static str, BadWebUrl> {
    Err(BadWebUrl::RepairedHost(HostName::parse(name).unwrap()))
}

#[test]
fn a_host_is_taken_as_written_or_refused() {
    let long = format!("{}.kr", "a".repeat(64));
    for (text, expected) in rows! {
        "Acme.CO.kr" => Ok("acme.co.kr");
        "my_shop.acme.kr" => Ok("my_shop.acme.kr");
        "ab--cd.acme.kr" => Ok("ab--cd.acme.kr");
        "한빛.한국" => Ok("xn--xx3br43b.xn--3e0b707e");
        "XN--xx3br43b.xn--3e0b707e" => Ok("xn--xx3br43b.xn--3e0b707e");
        "Müller.de" => Ok("xn--mller-kva.de");
        "ａcme.kr" => repaired("acme.kr");
        "acme。kr" => repaired("acme.kr");
        "ac\u{ad}me.kr" => repaired("acme.kr");
        "한\u{200b}빛.kr" => repaired("xn--xx3br43b.kr");
        "acme.kr." => Err(BadWebUrl::TrailingDot);
        "acme%2ekr" => Err(BadWebUrl::NotAName);
        "acme..kr" => Err(BadWebUrl::NotAName);
        "-acme.kr" => Err(BadWebUrl::NotAName);
        "xn--acme.kr" => Err(BadWebUrl::NotAName);
        &long => Err(BadWebUrl::NotAName);
        "127.0.0.1" => Err(BadWebUrl::IpAddress);
        "0x7f.1" => Err(BadWebUrl::IpAddress);
        "2130706433" => Err(BadWebUrl::IpAddress);
        "acme.0x" => Err(BadWebUrl::IpAddress);
        "[::1]" => Err(BadWebUrl::IpAddress);
        "1.2.3.4." => Err(BadWebUrl::IpAddress);
        // A Cyrillic "а" among Latin letters, and the same written as A-label.
        "аcme.kr" => Err(BadWebUrl::MixedScripts);
        "xn--cme-7cd.kr" => Err(BadWebUrl::MixedScripts);
        "асе.kr" => Err(BadWebUrl::LooksLatin);
    } {
        let host = written_host(text).map(|name| name.as_str().to_owned());
        assert_eq!(host, expected.map(str::to_owned), "{text}");
    }
    for text in "한빛lg.kr ひらカタ漢字abc.jp 1.2.3.4.kr почта.acme.kr".split_whitespace()
    {
        assert!(written_host(text).is_ok(), "{text}");
    }
}

proptest! {
    #[test]
    fn never_panics(text in any::<String>()) {
        let _ = web_url(&text);
        let _ = web_url(&format!("https://{text}"));
        let _ = web_url(&format!("https://acme.kr{text}"));
    }

    #[test]
    fn what_is_taken_is_taken_again(tail in "[/?][!-~가-힣]{0,40}") {
        if let Ok(url) = web_url(&format!("https://acme.kr{tail}")) {
            prop_assert_eq!(url.host_str(), Some("acme.kr"));
            prop_assert_eq!(url.fragment(), None);
            prop_assert_eq!(web_url(url.as_str()), Ok(url));
        }
    }
}
