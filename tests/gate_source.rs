//! Step 5: a page of the site shows the address, on its own account.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

use crate::harness::EmailNet;
use crate::harness::case::{Case, case, run};
use crate::harness::email_net::{ACME, Submission, WWW, page};
use crate::servers::http::Reply;

/// The submission of a path that redirects to a page which shows the address.
fn by_way_of(net: &EmailNet, path: &str) -> Submission {
    net.at(path);
    net.answers(Reply::redirect(302, path))
}

const ECHO: &str = "FAIL source-echo";
const MAY_ECHO: &str = "REVIEW source-may-echo";

/// URLs that carry the address.
const ECHOES: &[Case] = &[
    case("plain", |net| net.at("/search?q=info@acme.co.kr"), ECHO),
    case("in the path", |net| net.at("/say/INFO@acme.co.kr/x"), ECHO),
    case(
        "percent-encoded",
        |net| net.at("/search?q=info%40acme.co.kr"),
        ECHO,
    ),
    case(
        "twice",
        |net| net.at("/search?q=%69nfo%2540acme.co.kr"),
        ECHO,
    ),
    case(
        "base64",
        |net| net.at(&format!("/search?q={}", STANDARD.encode("info@acme.co.kr"))),
        ECHO,
    ),
    case(
        "base64 in the URL's alphabet, within more",
        |net| {
            net.at(&format!(
                "/e/{}",
                URL_SAFE_NO_PAD.encode("to=info@acme.co.kr&x")
            ))
        },
        ECHO,
    ),
    case(
        "hexadecimal",
        |net| net.at(&format!("/e/{}", hex::encode("info@acme.co.kr"))),
        ECHO,
    ),
    case("backwards", |net| net.at("/search?q=rk.oc.emca@ofni"), ECHO),
    case(
        "a redirect that carries it",
        |net| by_way_of(net, "/x?to=info%40acme.co.kr"),
        ECHO,
    ),
    case(
        "a refresh that carries it",
        |net| {
            net.at("/x?to=info@acme.co.kr");
            net.contact("<meta http-equiv=refresh content='0;url=/x?to=info@acme.co.kr'>")
        },
        ECHO,
    ),
    case(
        "a frame that carries it: no frame counts, and its source is an attribute",
        |net| {
            net.at("/x?to=info@acme.co.kr");
            net.contact("<iframe src='/x?to=info@acme.co.kr'></iframe>")
        },
        "REVIEW email-hidden",
    ),
    case(
        "a frame that carries it in disguise",
        |net| {
            let path = format!("/x?to={}", STANDARD.encode("info@acme.co.kr"));
            net.at(&path);
            net.contact(&format!("<iframe src='{path}'></iframe>"))
        },
        "FAIL email-not-on-source",
    ),
    case(
        "a fragment, which no server sees",
        |net| net.acme().source(&net.url("/contact#info@acme.co.kr")),
        "PASS",
    ),
    case("another's address", |net| net.at("/c?id=17"), "PASS"),
];

/// URLs that carry what a page could make the address of.
const MAY_ECHOES: &[Case] = &[
    case("the local part", |net| net.at("/mail?user=info"), MAY_ECHO),
    case(
        "the domain",
        |net| net.at("/mail?host=acme.co.kr"),
        MAY_ECHO,
    ),
    case(
        "both, in the path",
        |net| net.at("/mail/info/acme.co.kr"),
        MAY_ECHO,
    ),
    case("an escaped @", |net| net.at("/mail?x=%2540"), MAY_ECHO),
    case(
        "the company's name",
        |net| net.at("/search?q=ACME%20Foods"),
        MAY_ECHO,
    ),
    case("markup", |net| net.at("/search?q=%3Cb%3E"), MAY_ECHO),
    case(
        "a URL of another site",
        |net| net.at("/go?next=https://bolt.kr/"),
        MAY_ECHO,
    ),
    case(
        "an opaque blob",
        |net| net.at("/v?d=q83vEjRWeJCrze8SNFZ4"),
        MAY_ECHO,
    ),
    case(
        "a redirect that carries a part",
        |net| by_way_of(net, "/x?user=info"),
        MAY_ECHO,
    ),
    case("a page's number", |net| net.at("/view?no=12"), "PASS"),
    case("a menu's word", |net| net.at("/?page=info"), "PASS"),
    case(
        "a URL of the site",
        |net| net.at("/go?next=/help/index.do"),
        "PASS",
    ),
    case(
        "a UUID",
        |net| net.at("/v?id=550e8400-e29b-41d4-a716-446655440000"),
        "PASS",
    ),
];

/// A page of this host that shows the address.
fn host(net: &EmailNet, host: &str, path: &str) -> Submission {
    net.net.host(host);
    net.net
        .web
        .page(host, path, &page(ACME, "Write to info@acme.co.kr"));
    net.acme().source(&net.net.web.url(host, path))
}

const OFF_SITE: &str = "REVIEW source-off-site";
const OTHERS: &str = "REVIEW source-user-content";

/// Whose page it is.
const OWNERS: &[Case] = &[
    case(
        "another site",
        |net| host(net, "www.bolt.kr", "/"),
        OFF_SITE,
    ),
    case(
        "a site that begins alike",
        |net| host(net, "acme.co.kr.bolt.kr", "/"),
        OFF_SITE,
    ),
    case(
        "a name below the domain",
        |net| host(net, "shop.acme.co.kr", "/"),
        "PASS",
    ),
    case(
        "a page of the site that leads to another",
        |net| {
            host(net, "www.bolt.kr", "/");
            let to = net.net.web.url("www.bolt.kr", "/");
            net.answers(Reply::redirect(301, &to))
        },
        OFF_SITE,
    ),
    case(
        "a page of another site that leads to this one",
        |net| {
            net.net.host("go.bolt.kr");
            let to = Reply::redirect(301, &net.url("/contact"));
            net.net.web.reply("go.bolt.kr", "/", to);
            net.acme().source(&net.net.web.url("go.bolt.kr", "/"))
        },
        "PASS",
    ),
    case(
        "a board",
        |net| net.at("/bbs/board.php?bo_table=free&wr_id=7"),
        OTHERS,
    ),
    case(
        "a board by its word alone",
        |net| net.at("/boardView.do"),
        OTHERS,
    ),
    case("a wiki", |net| net.at("/wiki/Contact"), OTHERS),
    case("a user's directory", |net| net.at("/~kim/"), OTHERS),
    case(
        "a forum's host",
        |net| host(net, "forum.acme.co.kr", "/"),
        OTHERS,
    ),
    case(
        "a paste",
        |net| host(net, "pastebin.com", "/x"),
        "REVIEW source-off-site source-user-content",
    ),
    case(
        "a board on the way",
        |net| {
            net.net
                .web
                .reply(WWW, "/bbs/1", Reply::redirect(302, "/contact"));
            net.acme().source(&net.url("/bbs/1"))
        },
        OTHERS,
    ),
    case(
        "the board of directors",
        |net| net.at("/about/board-of-directors"),
        "PASS",
    ),
    case(
        "a board's own page of the owner",
        |net| net.at("/bbs/content.php?co_id=company"),
        "PASS",
    ),
];

const REFUSAL: &str = "본 웹사이트에 게시된 이메일 주소가 전자우편 수집 프로그램이나 그 밖의 기술적 장치를 \
    이용하여 무단으로 수집되는 것을 거부하며, 이를 위반시 정보통신망법에 의해 형사처벌됩니다.";

const SHELL: &str = "<div id=root></div><script src=app.js></script>";

/// What the page says or cannot say.
const PAGES: &[Case] = &[
    case(
        "a statement against collecting",
        |net| net.contact(&format!("info@acme.co.kr<p>{REFUSAL}")),
        "REVIEW collection-refused",
    ),
    case(
        "the same in English",
        |net| {
            net.contact(
                "info@acme.co.kr<p>Harvesting of e-mail addresses from this site is prohibited.",
            )
        },
        "REVIEW collection-refused",
    ),
    case(
        "a statement on a page that does not show the address",
        |net| net.contact(REFUSAL),
        "FAIL email-not-on-source",
    ),
    case(
        "the link to a statement",
        |net| net.contact("info@acme.co.kr <a href=/e>이메일무단수집거부</a>"),
        "PASS",
    ),
    case(
        "a page that its scripts make",
        |net| net.answers(Reply::html(SHELL)),
        "REVIEW source-needs-script",
    ),
    case(
        "the same with the address in it",
        |net| net.answers(Reply::html(format!("{SHELL}<p>info@acme.co.kr"))),
        "PASS",
    ),
    case(
        "a page with scripts and enough to read",
        |net| {
            let text = "Acme Foods makes food and sells it. ".repeat(20);
            net.answers(Reply::html(format!("{text}<script src=x></script>")))
        },
        "FAIL email-not-on-source",
    ),
    case(
        "an empty page",
        |net| net.answers(Reply::html("")),
        "FAIL email-not-on-source",
    ),
    case(
        "a PDF",
        |net| {
            let pdf = Reply::status(200).with("Content-Type", "application/pdf");
            net.answers(pdf.body("%PDF-1.7 info@acme.co.kr"))
        },
        UNREADABLE,
    ),
    case(
        "a PDF that says it is HTML",
        |net| net.answers(Reply::html("%PDF-1.7 info@acme.co.kr")),
        UNREADABLE,
    ),
    case(
        "plain text",
        |net| {
            let text = Reply::status(200).with("Content-Type", "text/plain");
            net.answers(text.body("Acme Foods\ninfo@acme.co.kr\n"))
        },
        "PASS",
    ),
    case(
        "JSON, which machines read",
        |net| {
            let json = Reply::status(200).with("Content-Type", "application/json");
            net.answers(json.body(r#"{"email":"info@acme.co.kr"}"#))
        },
        "REVIEW email-hidden",
    ),
];

const UNREADABLE: &str = "REVIEW source-unreadable";

/// Every case of this file.
pub const CASES: [&[Case]; 4] = [ECHOES, MAY_ECHOES, OWNERS, PAGES];

#[test]
fn an_echo_proves_nothing() {
    run(ECHOES);
}

#[test]
fn what_a_page_could_have_put_together_is_doubted() {
    run(MAY_ECHOES);
}

#[test]
fn the_page_is_the_site_owners() {
    run(OWNERS);
}

#[test]
fn what_a_page_says_is_weighed() {
    run(PAGES);
}

#[test]
fn an_echo_in_the_url_is_refused_before_any_fetch() {
    let net = EmailNet::start();
    assert_eq!(net.says(&net.at("/search?q=info@acme.co.kr")), ECHO);
    assert_eq!(net.net.web.connections(), 0);
    assert_eq!(net.net.dns.questions(), []);
}

#[test]
fn the_facts_name_up_to_five_addresses_of_the_site() {
    let net = EmailNet::start();
    let shown = ["a", "b", "c", "d", "e", "f"].map(|name| format!("{name}@acme.co.kr"));
    let html = format!("{} x@bolt.kr <!-- y@acme.co.kr -->", shown.join(", "));
    let (_, answer) = net.submit(1, &net.contact(&html));
    let [fact] = answer["facts"].as_array().expect("facts").as_slice() else {
        panic!("{answer}");
    };
    assert_eq!(fact["rule"], "email-not-on-source");
    assert_eq!(fact["count"], 6);
    let actual = fact["actual"].as_str().expect("a text");
    for (address, named) in shown.iter().zip([true, true, true, true, true, false]) {
        assert_eq!(actual.contains(address.as_str()), named, "{actual}");
    }
    assert!(
        !actual.contains("bolt") && !actual.contains("y@"),
        "{actual}"
    );
}
