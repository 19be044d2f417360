//! Step 5: a page of the site shows the address, on its own account.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::harness::EmailNet;
use crate::harness::case::{Case, cases, run};
use crate::harness::email_net::{ACME, Submission, WWW, page};
use crate::servers::http::Reply;

/// The submission of a path that redirects to a page which shows the address.
fn by_way_of(net: &EmailNet, path: &str) -> Submission {
    net.at(path);
    net.answers(Reply::redirect(302, path))
}

/// An address that no page of Acme shows on its own account.
const MADE_UP: &str = "ceo@acme.co.kr";

/// The submission of a made-up address and a path whose page repeats it from its URL.
fn repeats(net: &EmailNet, path: &str, shown: &str) -> Submission {
    let source = net.put(path, &page(ACME, &format!("No such page: {shown}")));
    net.acme().email(MADE_UP).source(&source)
}

const ECHO: &str = "FAIL source-echo";
const MAY_ECHO: &str = "REVIEW source-may-echo";

/// URLs that carry the address.
const ECHOES: &[Case] = cases![
    "plain" => ECHO, |net| net.at("/search?q=info@acme.co.kr");
    "in the path" => ECHO, |net| net.at("/say/INFO@acme.co.kr/x");
    "percent-encoded" => ECHO, |net| net.at("/search?q=info%40acme.co.kr");
    "base64" => ECHO, |net| net.at(&format!("/search?q={}", STANDARD.encode("info@acme.co.kr")));
    "backwards" => ECHO, |net| net.at("/search?q=rk.oc.emca@ofni");
    "a redirect that carries it" => ECHO, |net| by_way_of(net, "/x?to=info%40acme.co.kr");
    "a refresh that carries it" => ECHO, |net| {
            net.at("/x?to=info@acme.co.kr");
            net.contact("<meta http-equiv=refresh content='0;url=/x?to=info@acme.co.kr'>")
        };
    "a frame that carries it: no frame counts, and its source is an attribute" => "REVIEW email-hidden", |net| {
            net.at("/x?to=info@acme.co.kr");
            net.contact("<iframe src='/x?to=info@acme.co.kr'></iframe>")
        };
    "a frame that carries it in disguise" => "FAIL email-not-on-source", |net| {
            let path = format!("/x?to={}", STANDARD.encode("info@acme.co.kr"));
            net.at(&path);
            net.contact(&format!("<iframe src='{path}'></iframe>"))
        };
    "a fragment, which no server sees" => "PASS",
        |net| net.acme().source(&net.url("/contact#info@acme.co.kr"));
    "another's address" => "PASS", |net| net.at("/c?id=17");
    "with a space in the path" => ECHO, |net| net.at("/search/info%20@acme.co.kr");
    "a refresh header that carries it" => ECHO, |net| {
            net.at("/x?to=info@acme.co.kr");
            let refresh = Reply::html("<p>x").with("Refresh", "0; url=/x?to=info@acme.co.kr");
            net.answers(refresh)
        };
    "a fragment, which is not the page" => "FAIL email-not-on-source",
        |net| net.acme().email(MADE_UP).source(&net.url("/contact#ceo@acme.co.kr"));
];

/// URLs that carry what a page could make the address of.
const MAY_ECHOES: &[Case] = cases![
    "the local part" => MAY_ECHO, |net| net.at("/mail?user=info");
    "the domain" => MAY_ECHO, |net| net.at("/mail?host=acme.co.kr");
    "both, in the path" => MAY_ECHO, |net| net.at("/mail/info/acme.co.kr");
    "an escaped @" => MAY_ECHO, |net| net.at("/mail?x=%2540");
    "the company's name" => MAY_ECHO, |net| net.at("/search?q=ACME%20Foods");
    "markup" => MAY_ECHO, |net| net.at("/search?q=%3Cb%3E");
    "a URL of another site" => MAY_ECHO, |net| net.at("/go?next=https://bolt.kr/");
    "an opaque blob" => MAY_ECHO, |net| net.at("/v?d=q83vEjRWeJCrze8SNFZ4");
    "a redirect that carries a part" => MAY_ECHO, |net| by_way_of(net, "/x?user=info");
    "a page's number" => "PASS", |net| net.at("/view?no=12");
    "a menu's word" => "PASS", |net| net.at("/?page=info");
    "a URL of the site" => "PASS", |net| net.at("/go?next=/help/index.do");
    "a UUID" => "PASS", |net| net.at("/v?id=550e8400-e29b-41d4-a716-446655440000");
    "both, in two fields" => MAY_ECHO, |net| net.at("/mail?user=info&host=acme.co.kr");
    "entities that are not seen" => MAY_ECHO,
        |net| repeats(net, "/no/c&shyeo@ac&shyme.co.kr", "c&shyeo@ac&shyme.co.kr");
    "entities, encoded" => ECHO, |net| {
            let shown = "c&zwj;eo&commat;ac&zwj;me.co.kr";
            repeats(net, "/no?q=c%26zwj;eo%26commat;ac%26zwj;me.co.kr", shown)
        };
    "parts with characters that are not seen" => MAY_ECHO, |net| {
            let shown = "c\u{200b}eo@ac\u{200b}me.co.kr";
            repeats(net, "/no?u=c%E2%80%8Beo&h=ac%E2%80%8Bme.co.kr", shown)
        };
    "a comment within" => ECHO,
        |net| repeats(net, "/no/ceo%3C!----%3E@acme.co.kr", "ceo<!---->@acme.co.kr");
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
const OWNERS: &[Case] = cases![
    "another site" => OFF_SITE, |net| host(net, "www.bolt.kr", "/");
    "a site that begins alike" => OFF_SITE, |net| host(net, "acme.co.kr.bolt.kr", "/");
    "a name below the domain" => "PASS", |net| host(net, "shop.acme.co.kr", "/");
    "a page of the site that leads to another" => OFF_SITE, |net| {
            host(net, "www.bolt.kr", "/");
            let to = net.net.web.url("www.bolt.kr", "/");
            net.answers(Reply::redirect(301, &to))
        };
    "a page of another site that leads to this one" => "PASS", |net| {
            net.net.host("go.bolt.kr");
            let to = Reply::redirect(301, &net.url("/contact"));
            net.net.web.reply("go.bolt.kr", "/", to);
            net.acme().source(&net.net.web.url("go.bolt.kr", "/"))
        };
    "a board" => OTHERS, |net| net.at("/bbs/board.php?bo_table=free&wr_id=7");
    "a wiki" => OTHERS, |net| net.at("/wiki/Contact");
    "a forum's host" => OTHERS, |net| host(net, "forum.acme.co.kr", "/");
    "a paste" => "REVIEW source-off-site source-user-content",
        |net| host(net, "pastebin.com", "/x");
    "a board on the way" => OTHERS, |net| {
            net.net
                .web
                .reply(WWW, "/bbs/1", Reply::redirect(302, "/contact"));
            net.acme().source(&net.url("/bbs/1"))
        };
    "the board of directors" => "PASS", |net| net.at("/about/board-of-directors");
    "a board's own page of the owner" => "PASS", |net| net.at("/bbs/content.php?co_id=company");
];

const REFUSAL: &str = "본 웹사이트에 게시된 이메일 주소가 전자우편 수집 프로그램이나 그 밖의 기술적 장치를 \
    이용하여 무단으로 수집되는 것을 거부하며, 이를 위반시 정보통신망법에 의해 형사처벌됩니다.";

const SHELL: &str = "<div id=root></div><script src=app.js></script>";

/// What the page says or cannot say.
const PAGES: &[Case] = cases![
    "a statement against collecting" => "REVIEW collection-refused",
        |net| net.contact(&format!("info@acme.co.kr<p>{REFUSAL}"));
    "the same in English" => "REVIEW collection-refused", |net| {
            net.contact(
                "info@acme.co.kr<p>Harvesting of e-mail addresses from this site is prohibited.",
            )
        };
    "a statement on a page that does not show the address" => "FAIL email-not-on-source",
        |net| net.contact(REFUSAL);
    "the link to a statement" => "PASS",
        |net| net.contact("info@acme.co.kr <a href=/e>이메일무단수집거부</a>");
    "a page that is built by scripts" => "REVIEW source-needs-script",
        |net| net.answers(Reply::html(SHELL));
    "the same with the address in it" => "PASS",
        |net| net.answers(Reply::html(format!("{SHELL}<p>info@acme.co.kr")));
    "a page with scripts and enough to read" => "FAIL email-not-on-source", |net| {
            let text = "Acme Foods makes food and sells it. ".repeat(20);
            net.answers(Reply::html(format!("{text}<script src=x></script>")))
        };
    "an empty page" => "FAIL email-not-on-source", |net| net.answers(Reply::html(""));
    "a PDF" => UNREADABLE, |net| {
            let pdf = Reply::status(200).with("Content-Type", "application/pdf");
            net.answers(pdf.body("%PDF-1.7 info@acme.co.kr"))
        };
    "a PDF that says it is HTML" => UNREADABLE,
        |net| net.answers(Reply::html("%PDF-1.7 info@acme.co.kr"));
    "plain text" => "PASS", |net| {
            let text = Reply::status(200).with("Content-Type", "text/plain");
            net.answers(text.body("Acme Foods\ninfo@acme.co.kr\n"))
        };
    "JSON, which machines read" => "REVIEW email-hidden", |net| {
            let json = Reply::status(200).with("Content-Type", "application/json");
            net.answers(json.body(r#"{"email":"info@acme.co.kr"}"#))
        };
];

const UNREADABLE: &str = "REVIEW source-unreadable";

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
