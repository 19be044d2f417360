//! Step 7: the site is the company's, and the address not another's already.

use crate::harness::EmailNet;
use crate::harness::case::{Case, case, cases, run};
use crate::harness::email_net::{ACME, Submission, WWW, page};
use crate::servers::http::Reply;

/// A contact page that names nobody.
const NAMELESS: &str = "<p>Write to info@acme.co.kr</p>";

/// The submission of a nameless contact page on a site whose home page is this.
pub fn home(net: &EmailNet, html: &str) -> Submission {
    home_answers(net, Reply::html(html))
}

fn home_answers(net: &EmailNet, reply: Reply) -> Submission {
    net.net.web.reply(WWW, "/", reply);
    net.answers(Reply::html(NAMELESS))
}

const NOT_ON_SITE: &str = "REVIEW company-not-on-site";
const MENTIONED: &str = "REVIEW company-mentioned-only";

/// Where the name stands.
const PLACES: &[Case] = cases![
    "a title of the home page" => "PASS", |net| home(net, "<title>Acme Foods</title>");
    "a heading" => "PASS", |net| home(net, "<h1>Acme <b>Foods</b></h1>");
    "a header" => "PASS", |net| home(net, "<header>ACME FOODS</header>");
    "a footer" => "PASS", |net| home(net, "<footer>Acme Foods</footer>");
    "a copyright line" => "PASS", |net| home(net, "<p>© 2026 Acme Foods</p>");
    "the site's name" => "PASS",
        |net| home(net, "<meta property=og:site_name content='Acme Foods'>");
    "a logo" => "PASS",
        |net| home(net, "<header><a href=/><img src=logo.png alt='Acme Foods'></a></header>");
    "JSON-LD" => "PASS", |net| {
            let html = r#"<script type="application/ld+json">
                {"@type":"Organization","name":"Acme Foods"}</script>"#;
            home(net, html)
        };
    "a JSON-LD organization that the page is not of" => NOT_ON_SITE, |net| {
            let html = r#"<script type="application/ld+json">{"@type":"Review",
                "itemReviewed":{"@type":"Organization","name":"Acme Foods"}}</script>"#;
            home(net, html)
        };
    "text alone" => MENTIONED, |net| home(net, "<p>We bought Acme Foods.</p>");
    "a comment" => NOT_ON_SITE, |net| home(net, "<!-- Acme Foods --><p>Hello</p>");
    "a hidden footer" => NOT_ON_SITE, |net| home(net, "<footer hidden>Acme Foods</footer>");
    "a part of the name" => NOT_ON_SITE, |net| home(net, "<title>Acme</title>");
    "a longer word" => NOT_ON_SITE, |net| home(net, "<title>Acme Foodservice</title>");
    "the source page's own footer, and a home page that knows the company" => "PASS", |net| {
            let html = "<title>Hello</title><p>Acme Foods makes noodles.</p>";
            net.net.web.page(WWW, "/", html);
            net.answers(Reply::html(format!(
                "{NAMELESS}<footer>Acme Foods</footer>"
            )))
        };
    "the source page's own footer, as a market's entry bears its seller's" => MENTIONED, |net| {
            net.net.web.page(WWW, "/", "<title>Hello</title>");
            net.answers(Reply::html(format!(
                "{NAMELESS}<footer>Acme Foods</footer>"
            )))
        };
    "a name in a title's part, as pages of companies have it" => "PASS",
        |net| home(net, "<title>Acme Foods Inc. | Home</title>");
    "a copyright line after which it says more" => "PASS", |net| {
            let line = "© 2026 Acme Foods Inc. All rights reserved.";
            home(
                net,
                &format!("<title>Noodles</title><footer>{line}</footer>"),
            )
        };
    "the source page's title, which tells what it is about" => MENTIONED, |net| {
            net.net.web.page(WWW, "/", "<title>The News</title>");
            net.answers(Reply::html(format!(
                "<title>Acme Foods sued</title>{NAMELESS}"
            )))
        };
];

/// What keeps a name from counting.
const WAYS: &[Case] = cases![
    "a page whose URL carries the name" => NOT_ON_SITE, |net| {
            net.net.web.page(WWW, "/", "<title>Shop</title>");
            net.at("/acme-foods/contact")
        };
    "a host that carries the name" => "FAIL email-not-on-source", |net| {
            net.company("acme-foods.shop.kr", ACME);
            net.right("acme-foods.shop.kr").email("info@shop.kr")
        };
    "a host that carries the name, with an address of the domain" => NOT_ON_SITE, |net| {
            net.company("acme-foods.shop.kr", ACME);
            net.right("acme-foods.shop.kr")
        };
    "a search that carries the name" => "REVIEW company-not-on-site source-may-echo", |net| {
            net.net.web.page(WWW, "/", "<title>Shop</title>");
            net.at("/search?q=Acme+Foods")
        };
    "a domain that carries the name, which its owner chose" => "PASS", |net| {
            net.company("acme-foods.kr", ACME);
            net.right("acme-foods.kr")
        };
    "a home page that leads to the real company" => NOT_ON_SITE, |net| {
            net.company("acme-foods.com", ACME);
            let to = net.net.web.url("www.acme-foods.com", "/");
            home_answers(net, Reply::redirect(301, &to))
        };
    "a home page that leads to a page of the site" => "PASS", |net| {
            net.net.web.page(WWW, "/kr/", "<title>Acme Foods</title>");
            home_answers(net, Reply::redirect(302, "/kr/"))
        };
    "no home page" => NOT_ON_SITE, |net| home_answers(net, Reply::status(404));
    "a silent home page" => "REVIEW identity-unanswered",
        |net| home_answers(net, Reply::status(503));
    "a forbidden home page" => "REVIEW identity-unanswered", |net| {
            let robots = "User-agent: *\nDisallow: /$\n";
            net.net.web.reply(WWW, "/robots.txt", Reply::html(robots));
            home(net, "<title>Acme Foods</title>")
        };
    "a silent home page of a site whose pages bear the name" => "REVIEW identity-unanswered", |net| {
            net.net.web.reply(WWW, "/", Reply::status(503));
            net.acme()
        };
];

const WEAK: &str = "REVIEW company-name-weak";

/// Names.
const NAMES: &[Case] = &[
    case("legal forms do not count", EmailNet::acme, "PASS").named(&["ACME FOODS Co., Ltd."]),
    case("nor do widths", EmailNet::acme, "PASS").named(&["Ａｃｍｅ　Ｆｏｏｄｓ (주)"]),
    case("another name", EmailNet::acme, NOT_ON_SITE).named(&["Bolt Foods"]),
    case(
        "Korean legal forms on either side",
        |net| home(net, "<footer>한빛식품 주식회사 | 대표 김한빛</footer>"),
        "PASS",
    )
    .named(&["㈜한빛식품"]),
    case(
        "Japanese ones",
        |net| home(net, "<title>株式会社ひかり食品</title>"),
        "PASS",
    )
    .named(&["ひかり食品 株式会社"]),
    case("two letters", EmailNet::acme, WEAK).named(&["3M"]),
    case(
        "three letters",
        |net| home(net, "<title>IBM</title>"),
        "PASS",
    )
    .named(&["IBM"]),
    case("one Hangul syllable", EmailNet::acme, WEAK).named(&["(주)빛"]),
    case(
        "two of them",
        |net| home(net, "<title>농심</title>"),
        "PASS",
    )
    .named(&["(주)농심"]),
    case("a legal form alone", EmailNet::acme, WEAK).named(&["주식회사"]),
    case("common words alone", EmailNet::acme, WEAK).named(&["Global Trading Inc."]),
    case(
        "common words and one that is not",
        |net| home(net, "<title>Acme Trading</title>"),
        "PASS",
    )
    .named(&["Acme Trading Inc."]),
];

/// Lets quest 2 have Acme's address.
fn taken(net: &EmailNet) {
    let (_, answer) = net.submit(2, &net.acme());
    assert_eq!(answer["verdict"], "PASS", "{answer}");
}

const TWO: &[&str] = &[ACME, "Acme Foods Inc."];

/// Addresses that another company of the session has.
const TAKEN: &[Case] = cases![
    "the same address" => "REVIEW email-reused", |net| {
            taken(net);
            net.acme()
        }, named(TWO);
    "the same in capitals" => "REVIEW email-reused", |net| {
            taken(net);
            net.acme().email("INFO@ACME.CO.KR")
        }, named(TWO);
    "another address of its domain" => "REVIEW domain-reused", |net| {
            taken(net);
            net.contact("sales@acme.co.kr").email("sales@acme.co.kr")
        }, named(TWO);
    "an address of another domain" => "PASS", |net| {
            taken(net);
            net.company("acme-foods.kr", ACME);
            net.right("acme-foods.kr")
        }, named(TWO);
    "an address that was refused to the other" => "PASS", |net| {
            let wrong = net.acme().email("made.up@acme.co.kr");
            assert_eq!(net.submit(2, &wrong).1["verdict"], "FAIL");
            net.acme()
        }, named(TWO);
    "an address that a person has yet to settle" => "PASS", |net| {
            assert_eq!(net.submit(2, &net.at("/wiki/x")).1["verdict"], "REVIEW");
            net.acme()
        }, named(TWO);
];

/// Every case of this file.
pub const CASES: [&[Case]; 4] = [PLACES, WAYS, NAMES, TAKEN];

#[test]
fn an_owners_name_stands_where_owners_names_stand() {
    run(PLACES);
}

#[test]
fn a_name_that_was_carried_there_says_nothing() {
    run(WAYS);
}

#[test]
fn names_are_compared_without_their_forms() {
    run(NAMES);
}

#[test]
fn an_address_belongs_to_one_company() {
    run(TAKEN);
}

#[test]
fn a_page_of_another_that_names_the_company_is_not_its_own() {
    let net = EmailNet::start();
    net.company("jobs.kr", "Jobs");
    let entry = page("Jobs", "<h2>Acme Foods</h2> Write to help@jobs.kr");
    net.net.web.page("www.jobs.kr", "/company/17", &entry);
    let entry = net.net.web.url("www.jobs.kr", "/company/17");
    let submission = net.right("jobs.kr").email("help@jobs.kr").source(&entry);
    assert_eq!(net.says(&submission), MENTIONED);
}
