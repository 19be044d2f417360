//! Step 5: a page of the site shows the address, on its own account, where a reader can see it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::harness::EmailNet;
use crate::harness::case::{Case, cases, run};
use crate::harness::email_net::{ACME, Submission, WWW, page};
use crate::servers::http::Reply;

pub const CASES: [&[Case]; 8] = [
    ECHOES,
    UNCORROBORATED,
    OWNERS,
    PAGES,
    SHOWN,
    NOT_SHOWN,
    WHOLE,
    CHARSETS,
];

/// The submission of a path that redirects to a page which shows the address.
fn by_way_of(net: &EmailNet, path: &str) -> Submission {
    net.at(path);
    net.answers(Reply::redirect(302, path))
}

/// An address that no page of Acme shows on its own account.
const MADE_UP: &str = "ceo@acme.co.kr";

const ECHO: &str = "FAIL source-echo";
const ALONE: &str = "REVIEW email-uncorroborated";
const AMBIGUOUS: &str = "REVIEW email-ambiguous";

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

/// The submission of a page that shows an address which no other page shows.
fn alone(net: &EmailNet, path: &str) -> Submission {
    let source = net.put(path, &page(ACME, MADE_UP));
    net.acme().email(MADE_UP).source(&source)
}

/// The same, beside a home page of this text.
fn beside(net: &EmailNet, home: &str) -> Submission {
    let noodles = "<p>Noodles from Seoul".repeat(20);
    net.put("/", &page(ACME, &format!("{home}{noodles}")));
    alone(net, "/people/")
}

/// A page that shows an address, beside a home page that links the contact page behind others.
fn beside_contact(net: &EmailNet, links: &str) -> Submission {
    beside(net, &format!("{links} <a href=/contact>Contact</a>"))
}

/// Sources that the site presents or does not.
const UNCORROBORATED: &[Case] = cases![
    "a page that the home page does not link" => ALONE, |net| alone(net, "/people/");
    "a page that repeats its URL" => ALONE, |net| alone(net, "/mail?user=ceo&host=acme.co.kr");
    "a page that the home page links by its name alone" => ALONE,
        |net| beside(net, "<a href=/people/>Our people</a>");
    "the contact page" => "PASS", |net| beside(net, "<a href=/people/>Contact</a>");
    "the contact page, by another URL" => "PASS",
        |net| beside(net, "<a href='/people#ceo'>Contact</a>");
    "the legal notice" => "PASS", |net| {
            let submission = beside(net, "<a href=/people/>Impressum</a>");
            net.put("/people/", &page(ACME, &format!("{ACME}, {MADE_UP}")));
            submission
        };
    "another path of the contact page" => ALONE,
        |net| beside(net, "<a href='/people/?lang=de'>Contact</a>");
    "shown on the home page" => "PASS", |net| beside(net, MADE_UP);
    "hidden on the home page" => ALONE, |net| beside(net, &format!("<!-- {MADE_UP} -->"));
    "disowned on the home page" => AMBIGUOUS,
        |net| beside(net, &format!("{MADE_UP} is not our address."));
    "shown on the contact page" => "PASS", |net| {
            net.contact(MADE_UP);
            alone(net, "/people/")
        };
    "shown on one of two pages, beside another address on the other" => AMBIGUOUS, |net| {
            net.put("/imprint", &page(ACME, &format!("{ACME}, {MADE_UP}")));
            beside(net, "<a href=/contact>Contact</a> <a href=/imprint>Imprint</a>")
        };
    "shown on a contact page of another site" => ALONE, |net| {
            net.company("bolt.kr", "Bolt");
            net.net.web.page("www.bolt.kr", "/contact", &page("Bolt", MADE_UP));
            let there = net.net.web.url("www.bolt.kr", "/contact");
            beside(net, &format!("<a href='{there}'>Contact</a>"))
        };
    "shown on two pages, beside another address on one" => "PASS", |net| {
            net.put("/imprint", &page(ACME, &format!("{ACME}, {MADE_UP}")));
            net.contact(&format!("{MADE_UP}, info@acme.co.kr"));
            beside(net, "<a href=/contact>Contact</a> <a href=/imprint>Imprint</a>")
        };
    "a page that lets its reader enter" => "PASS", |net| {
            net.put("/", "<title>Acme Foods</title><a href=/ko/>한국어</a> <a href=/en/>English</a><footer>© Acme Foods</footer>");
            net.put("/en/", &page(ACME, "<a href=/people/>Contact</a>"));
            alone(net, "/people/")
        };
    "a contact page of the contact page" => "PASS", |net| {
            net.contact("<a href=/people/>Contact in Busan</a>");
            alone(net, "/people/")
        };
    "two links to one contact page" => AMBIGUOUS, |net| {
            net.contact(&format!("{MADE_UP}, info@acme.co.kr"));
            let there = Reply::redirect(302, "/contact");
            net.net.web.reply(WWW, "/kontakt", there);
            beside_contact(net, "<a href=/kontakt>Kontakt</a>")
        };
    "one contact page at two URLs" => AMBIGUOUS, |net| {
            net.put("/kontakt", &page(ACME, &format!("{MADE_UP}, info@acme.co.kr")));
            net.contact(&format!("{MADE_UP}, info@acme.co.kr"));
            beside_contact(net, "<a href=/kontakt>Kontakt</a>")
        };
    "a contact page that leads to another site" => ALONE, |net| {
            net.company("bolt.kr", "Bolt");
            net.net.web.page("www.bolt.kr", "/contact", &page("Bolt", MADE_UP));
            net.answers(Reply::redirect(302, &net.net.web.url("www.bolt.kr", "/contact")));
            beside_contact(net, "")
        };
    "a contact page behind four other links" => "PASS", |net| {
            for path in ["/imprint", "/about", "/terms", "/privacy"] {
                net.put(path, &page(ACME, &format!("{ACME}, {path}")));
            }
            net.contact(MADE_UP);
            beside_contact(net, "<a href=/imprint>Imprint</a> <a href=/about>About us</a>
                <a href=/terms>Terms</a> <a href=/privacy>Privacy</a>")
        };
    "an address whose end is another one" => "PASS",
        |net| net.contact("Write to o'neil@acme.co.kr.").email("o'neil@acme.co.kr");
    "beside another address, in one sentence" => AMBIGUOUS,
        |net| net.contact("Write to info@acme.co.kr instead of ceo@acme.co.kr.").email(MADE_UP);
    "the same, and alone on the home page" => "PASS", |net| {
            net.put("/", &page(ACME, MADE_UP));
            net.contact("Write to info@acme.co.kr instead of ceo@acme.co.kr.").email(MADE_UP)
        };
    "beside an address of another domain" => "PASS",
        |net| net.contact("Write to ceo@acme.co.kr and to press@bolt.kr.").email(MADE_UP);
    "beside another address, in another sentence" => AMBIGUOUS,
        |net| net.contact("Sales: sales@acme.co.kr. Office: ceo@acme.co.kr.").email(MADE_UP);
    "a contact page that gives no answer" => "REVIEW identity-unanswered", |net| {
            net.answers(Reply::Reset);
            alone(net, "/people/")
        };
    "denied on the contact page" => AMBIGUOUS, |net| {
            net.contact("The address ceo@acme.co.kr is no longer in use.");
            net.put("/", &page(ACME, &format!("{MADE_UP} <a href=/contact>Contact</a>")));
            let home = net.url("/");
            net.acme().email(MADE_UP).source(&home)
        };
    "on two pages, but not among the addresses of the contact page" => AMBIGUOUS, |net| {
            net.put("/imprint", &page(ACME, &format!("{ACME}, {MADE_UP}")));
            net.contact("info@acme.co.kr");
            beside(net, &format!("{MADE_UP} <a href=/imprint>Imprint</a> <a href=/contact>Contact</a>"))
        };
    "at the foot of all pages, and another on the contact page" => AMBIGUOUS, |net| {
            net.put("/", &page(ACME, "<a href=/contact>Contact</a><footer>Jobs: ceo@acme.co.kr</footer>"));
            net.contact("<p>info@acme.co.kr</p><footer>Jobs: ceo@acme.co.kr</footer>").email(MADE_UP)
        };
    "at the foot of all pages, and on the contact page itself" => "PASS", |net| {
            net.put("/", &page(ACME, "<a href=/contact>Contact</a><footer>ceo@acme.co.kr</footer>"));
            net.contact("<p>info@acme.co.kr<p>ceo@acme.co.kr<footer>ceo@acme.co.kr</footer>").email(MADE_UP)
        };
    "at the end of the home page and of the contact page, which has another" => "PASS", |net| {
            net.put("/", &page(ACME, "<a href=/contact>Contact</a> <a href=/imprint>Imprint</a><p>Noodles<p>ceo@acme.co.kr"));
            net.put("/imprint", &page(ACME, ACME));
            net.contact("<p>Bills: bills@acme.co.kr<p>ceo@acme.co.kr").email(MADE_UP)
        };
    "one of two on the contact page, and the other in the notice" => AMBIGUOUS, |net| {
            net.put("/", &page(ACME, "<a href=/contact>Contact</a> <a href=/imprint>Imprint</a><p>ceo@acme.co.kr<p>Noodles"));
            net.put("/imprint", &page(ACME, &format!("{ACME}<p>info@acme.co.kr")));
            net.contact("<p>info@acme.co.kr<p>ceo@acme.co.kr<p>Hours").email(MADE_UP)
        };
    "one of two on the contact page, and both in the notice" => "PASS", |net| {
            net.put("/", &page(ACME, "<a href=/contact>Contact</a> <a href=/imprint>Imprint</a><p>ceo@acme.co.kr<p>Noodles"));
            net.put("/imprint", &page(ACME, &format!("{ACME}<p>info@acme.co.kr, ceo@acme.co.kr")));
            net.contact("<p>info@acme.co.kr<p>ceo@acme.co.kr<p>Hours").email(MADE_UP)
        };
    "one of two on the contact page, and a third in the notice" => "PASS", |net| {
            net.put("/", &page(ACME, "<a href=/contact>Contact</a> <a href=/imprint>Imprint</a><p>ceo@acme.co.kr<p>Noodles"));
            net.put("/imprint", &page(ACME, &format!("{ACME}<p>web@acme.co.kr")));
            net.contact("<p>info@acme.co.kr<p>ceo@acme.co.kr<p>Hours").email(MADE_UP)
        };
    "at the foot of all pages, where the contact page has no other" => "PASS", |net| {
            net.put("/", &page(ACME, "<a href=/contact>Contact</a><footer>ceo@acme.co.kr, info@acme.co.kr</footer>"));
            net.contact("<p>Call us.<footer>ceo@acme.co.kr, info@acme.co.kr</footer>").email(MADE_UP)
        };
    "another one on the contact page" => AMBIGUOUS, |net| {
            net.put("/", &page(ACME, &format!("{MADE_UP} <a href=/contact>Contact</a>")));
            let home = net.url("/");
            net.acme().email(MADE_UP).source(&home)
        };
    "no home page" => "REVIEW company-mentioned-only", |net| {
            net.net.web.reply(WWW, "/", Reply::status(404));
            alone(net, "/people/")
        };
    "a home page that does not answer" => "REVIEW identity-unanswered", |net| {
            net.net.web.reply(WWW, "/", Reply::status(503));
            alone(net, "/people/")
        };
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
    "a paste" => OFF_SITE, |net| host(net, "pastebin.com", "/x");
    "a comment, and hidden from a reader elsewhere" => OTHERS, |net| {
            net.contact("<!-- info@acme.co.kr --><ul class=comment-list><li>info@acme.co.kr</ul>")
        };
    "a hidden comment, and hidden elsewhere" => HIDDEN, |net| {
            net.contact("<!-- info@acme.co.kr --><ul class=comment-list><li hidden>info@acme.co.kr</ul>")
        };
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
    "an address that the page disowns" => "REVIEW email-disowned",
        |net| net.contact("The address info@acme.co.kr is no longer in use.");
    "a page that a script leaves" => "REVIEW source-needs-script",
        |net| net.contact("info@acme.co.kr<script>location.replace('/x')</script>");
    "a download" => UNREADABLE, |net| {
            let html = Reply::html(page(ACME, "info@acme.co.kr"));
            net.answers(html.with("Content-Disposition", "attachment"))
        };
    "a status without a page" => UNREADABLE,
        |net| net.answers(Reply::status(205).with("Content-Type", "text/html").body("x"));
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

#[test]
fn an_echo_proves_nothing() {
    run(ECHOES);
}

#[test]
fn the_site_presents_the_page_or_shows_the_address_itself() {
    run(UNCORROBORATED);
}

#[test]
fn a_page_that_the_operator_names_presents_the_address() {
    for (anchor, says) in [
        ("/", ALONE),
        ("/busan/", "PASS"),
        ("/busan/map", "PASS"),
        ("/seoul/", ALONE),
    ] {
        let net = EmailNet::unscanned();
        net.company("acme.co.kr", ACME);
        let csv = format!("company,site\n{ACME},{}\n", net.url(anchor));
        net.scan_csv(&csv, &["--col", "company", "--site-col", "site"]);
        net.put("/seoul/", &page(ACME, "Seoul"));
        net.put("/busan/", &page(ACME, "<a href=/people/>Contact</a>"));
        net.put("/busan/map", &page(ACME, MADE_UP));
        let submission = alone(&net, "/people/").site(&net.url(anchor));
        assert_eq!(net.says(&submission), says, "{anchor}");
    }
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

const HIDDEN: &str = "REVIEW email-hidden";
const OBFUSCATED: &str = "REVIEW email-obfuscated";
const ABSENT: &str = "FAIL email-not-on-source";

/// `info@acme.co.kr` under Cloudflare's protection.
const PROTECTED: &str = "422b2c242d0223212f276c212d6c2930";

/// Ways to show the address.
const SHOWN: &[Case] = cases![
    "text" => "PASS", |net| net.contact("info@acme.co.kr");
    "capitals" => "PASS", |net| net.contact("INFO@ACME.CO.KR");
    "entities" => "PASS", |net| net.contact("info&#64;acme&#x2e;co&period;kr");
    "inline elements join" => "PASS", |net| net.contact("<b>info</b><i>@acme</i>.co.kr");
    "a comment within" => "PASS", |net| net.contact("info@<!-- x -->acme.co.kr");
    "a break for long lines within" => "PASS", |net| net.contact("info@<wbr>acme.co.kr");
    "invisible characters within" => "PASS", |net| net.contact("in\u{200b}fo@ac&shy;me.co.kr");
    "hidden text within" => "PASS", |net| net.contact("info@<i hidden>x</i>acme.co.kr");
    "a link" => "PASS", |net| net.contact("<a href='mailto:info@acme.co.kr'>Mail</a>");
    "a link with escapes and fields" => "PASS",
        |net| net.contact("<a href='MAILTO:info%40acme.co.kr?subject=Hi'>Mail</a>");
    "JSON-LD" => "PASS", |net| {
            net.contact(
                r#"<script type="application/ld+json">{"email":"info@acme.co.kr"}</script>"#,
            )
        };
    "microdata" => "PASS", |net| net.contact("<meta itemprop=email content=info@acme.co.kr>");
    "the page's own protection" => "PASS",
        |net| net.contact(&format!("<a data-cfemail={PROTECTED}>[email protected]</a>"));
    "the same as a link" => "PASS", |net| {
            let href = format!("/cdn-cgi/l/email-protection#{PROTECTED}");
            net.contact(&format!("<a href='{href}'>Mail</a>"))
        };
    "a closed <details>" => "PASS", |net| net.contact("<details>info@acme.co.kr</details>");
    "an attribute for screen readers does not hide" => "PASS",
        |net| net.contact("<p aria-hidden=true>info@acme.co.kr</p>");
];

/// Ways to have the address where no one reads it.
const NOT_SHOWN: &[Case] = cases![
    "a comment" => HIDDEN, |net| net.contact("<!-- info@acme.co.kr -->");
    "a script" => HIDDEN, |net| net.contact("<script>m='info@acme.co.kr'</script>");
    "a style" => HIDDEN, |net| net.contact("<style>/*info@acme.co.kr*/</style>");
    "a template" => HIDDEN, |net| net.contact("<template>info@acme.co.kr</template>");
    "a noscript" => HIDDEN, |net| net.contact("<noscript>info@acme.co.kr</noscript>");
    "an attribute" => HIDDEN, |net| net.contact("<p data-x='info@acme.co.kr'>x</p>");
    "alternative text" => HIDDEN, |net| net.contact("<img alt='info@acme.co.kr'>");
    "a field's value" => HIDDEN, |net| net.contact("<input value='info@acme.co.kr'>");
    "a text area" => HIDDEN, |net| net.contact("<textarea>info@acme.co.kr</textarea>");
    "hidden" => HIDDEN, |net| net.contact("<p hidden>info@acme.co.kr</p>");
    "a style that hides" => HIDDEN, |net| net.contact("<p style='display:none'>info@acme.co.kr");
    "a class that hides" => HIDDEN,
        |net| net.contact("<style>.x{visibility:hidden}</style><p class=x>info@acme.co.kr");
    "an empty link" => HIDDEN, |net| net.contact("<a href='mailto:info@acme.co.kr'></a>");
    "protection in a hidden element" => HIDDEN,
        |net| net.contact(&format!("<p hidden><a data-cfemail={PROTECTED}>x</a></p>"));
    "hidden and shown: the best counts" => "PASS",
        |net| net.contact("<!-- info@acme.co.kr --><p>info@acme.co.kr");
    "spelled" => OBFUSCATED, |net| net.contact("info [at] acme [dot] co [dot] kr");
    "with spaces" => OBFUSCATED, |net| net.contact("info @ acme.co.kr");
    "a word for @" => OBFUSCATED, |net| net.contact("info골뱅이acme.co.kr");
    "full-width" => OBFUSCATED, |net| net.contact("ｉｎｆｏ＠ａｃｍｅ．ｃｏ．ｋｒ");
    "spelled and hidden: the best counts" => OBFUSCATED,
        |net| net.contact("info(at)acme.co.kr <!-- info@acme.co.kr -->");
    "prose that spells nothing" => ABSENT, |net| net.contact("for info at acme.co.kr");
    "a class that is not displayed" => HIDDEN,
        |net| net.contact("<style>.x{display:none}</style><p class=x>info@acme.co.kr");
];

/// Wholes and parts.
const WHOLE: &[Case] = cases![
    "a longer domain" => ABSENT, |net| net.contact("info@acme.co.krx");
    "a name below" => ABSENT, |net| net.contact("info@acme.co.kr.bolt.kr");
    "a shorter domain" => ABSENT, |net| net.contact("info@acme.co");
    "a longer local part" => ABSENT, |net| net.contact("myinfo@acme.co.kr");
    "one joined by a dot" => ABSENT, |net| net.contact("x.info@acme.co.kr");
    "one joined by a hyphen" => ABSENT, |net| net.contact("x-info@acme.co.kr");
    "a Cyrillic neighbour" => ABSENT, |net| net.contact("жinfo@acme.co.kr");
    "two blocks" => ABSENT, |net| net.contact("info<p>@acme.co.kr");
    "two cells" => ABSENT, |net| net.contact("<table><td>info@<td>acme.co.kr</table>");
    "two lines" => ABSENT, |net| net.contact("info<br>@acme.co.kr");
    "a label before it" => "PASS", |net| net.contact("TEL|info@acme.co.kr|FAX");
    "a label with a colon" => "PASS", |net| net.contact("E-mail:info@acme.co.kr");
    "Hangul around it" => "PASS", |net| net.contact("이메일info@acme.co.kr로");
    "Kana around it" => "PASS", |net| net.contact("メールinfo@acme.co.krまで");
    "a full stop after it" => "PASS", |net| net.contact("Write to info@acme.co.kr.");
    "brackets around it" => "PASS", |net| net.contact("(info@acme.co.kr)");
    "one joined by a plus" => ABSENT, |net| net.contact("a+info@acme.co.kr");
    "one that begins with a digit" => ABSENT, |net| net.contact("1info@acme.co.kr");
    "one whose beginning has a style of its own" => ABSENT,
        |net| net.contact("<span>x</span>info@acme.co.kr");
    "a Cyrillic letter that looks like i" => ABSENT, |net| net.contact("іinfo@acme.co.kr");
    "a domain that a hyphen joins" => ABSENT, |net| net.contact("info@acme.co.kr-evil.com");
    "a mail host" => ABSENT, |net| net.contact("info@mail.acme.co.kr");
    "credentials in a URL" => ABSENT, |net| net.contact("https://info@acme.co.kr/");
    "a second @" => ABSENT, |net| net.contact("info@acme.co.kr@evil.com");
    "its end submitted" => ABSENT, |net| net.acme().email("nfo@acme.co.kr");
    "its last letter" => ABSENT, |net| net.acme().email("o@acme.co.kr");
    "a longer domain submitted" => ABSENT, |net| net.acme().email("info@www.acme.co.kr");
    "a tag submitted" => ABSENT, |net| net.acme().email("info+sales@acme.co.kr");
    "a dot submitted" => ABSENT, |net| net.acme().email("in.fo@acme.co.kr");
    "a further sign submitted" => ABSENT, |net| net.acme().email("info_@acme.co.kr");
];

/// A page of a Korean company, in bytes that its header does not name.
fn korean(net: &EmailNet, header: &str, meta: &str) -> Submission {
    let html = format!(
        "<html><head>{meta}<title>한빛식품</title></head><body><h1>한빛식품 홈페이지입니다</h1>\
         <p>전자우편으로 문의하여 주십시오: info@acme.co.kr</p>\
         <footer>주식회사 한빛식품 대표이사 홍길동 사업자등록번호 123-45-67890</footer></body></html>"
    );
    let (bytes, _, _) = encoding_rs::EUC_KR.encode(&html);
    let reply = Reply::status(200).with("Content-Type", header);
    let reply = reply.body(bytes.into_owned());
    net.net.web.reply(WWW, "/", reply.clone());
    net.answers(reply)
}

/// Charsets; the name is read rightly or it is not there.
const CHARSETS: &[Case] = cases![
    "neither header nor meta" => "PASS", |net| korean(net, "text/html", ""), named(&["한빛식품"]);
    "a header" => "PASS", |net| korean(net, "text/html; charset=euc-kr", ""), named(&["한빛식품"]);
    "a meta tag" => "PASS",
        |net| korean(net, "text/html", "<meta charset=ks_c_5601-1987>"), named(&["한빛식품"]);
    "a header beats a meta tag" => "PASS",
        |net| korean(net, "text/html; charset=euc-kr", "<meta charset=utf-8>"), named(&["한빛식품"]);
    "a wrong header is believed, as browsers do" => "REVIEW company-not-on-site",
        |net| korean(net, "text/html; charset=windows-1252", ""), named(&["한빛식품"]);
    "a header under which most of it is no text" => "REVIEW identity-unanswered source-unreadable",
        |net| korean(net, "text/html; charset=utf-8", ""), named(&["한빛식품"]);
];

#[test]
fn what_a_reader_sees_or_clicks_is_on_the_page() {
    run(SHOWN);
}

#[test]
fn what_no_reader_sees_is_doubted() {
    run(NOT_SHOWN);
}

#[test]
fn an_address_is_there_whole_or_not_at_all() {
    run(WHOLE);
}

#[test]
fn charsets_are_found_as_browsers_find_them() {
    run(CHARSETS);
}
