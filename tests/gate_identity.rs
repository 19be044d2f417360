//! Step 7: the site is the company's, also as honest firms write their home pages, and the address
//! not another's already.

use crate::harness::EmailNet;
use crate::harness::case::{Case, List, Worlds, cases, rows, run};
use crate::harness::email_net::{ACME, Submission, WWW, page};
use crate::servers::http::{Reply, WebServer};

pub const CASES: [&[Case]; 7] = [PLACES, WAYS, NAMES, DIRECTORIES, TOWNS, TAKEN, CONTESTED];

/// A contact page that names nobody.
const NAMELESS: &str = "<p>Write to info@acme.co.kr</p>";

/// The submission of a nameless contact page on a site whose home page is this.
fn home(net: &EmailNet, html: &str) -> Submission {
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
    "the source page's own footer, and no home page" => MENTIONED, |net| {
            net.net.web.reply(WWW, "/", Reply::status(404));
            let html = format!("{NAMELESS}<footer>Acme Foods</footer>");
            net.answers(Reply::html(html))
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

fn other<'a>(net: &'a EmailNet, name: &str) -> &'a WebServer {
    net.company("evil.kr", name);
    &net.net.web
}

/// Lets a page of it be answered so; returns the submission of that page.
fn other_answers(net: &EmailNet, path: &str, reply: Reply) -> Submission {
    net.net.web.reply("www.evil.kr", path, reply);
    let right = net.right("evil.kr");
    match path {
        "/" => right,
        _ => right.source(&net.net.web.url("www.evil.kr", path)),
    }
}

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
    "a home page that refreshes to the real company" => NOT_ON_SITE, |net| {
            let to = other(net, "Evil").url("www.acme.co.kr", "/");
            let refresh = Reply::html("<p>").with("Refresh", &format!("0;url={to}"));
            other_answers(net, "/", refresh)
        };
    "a home page that frames the real company" => NOT_ON_SITE, |net| {
            let to = other(net, "Evil").url("www.acme.co.kr", "/");
            other_answers(net, "/", Reply::html(format!("<iframe src='{to}'></iframe>")))
        };
    "a page that leads to the real company's" => "FAIL email-not-on-source source-off-site", |net| {
            let to = other(net, "Evil").url(WWW, "/contact");
            other_answers(net, "/contact", Reply::redirect(302, &to))
        };
    "a page that leads to one on which others write" => "REVIEW company-not-on-site source-off-site",
        |net| {
            let to = net.put("/guests", &page(ACME, "info@evil.kr"));
            other(net, "Evil");
            other_answers(net, "/out", Reply::redirect(302, &to))
        };
    "a name below a domain, with mail of its own" => "PASS", |net| {
            let host = "foods.acme.co.kr";
            net.company(host, ACME);
            net.net.web.page(host, "/", "<title>Acme Foods</title>");
            let source = net.net.web.url(host, "/contact");
            net.net.web.page(host, "/contact", "<p>info@foods.acme.co.kr</p>");
            net.right(host).site(&net.net.web.url(host, "/")).source(&source)
        };
];

const WEAK: &str = "REVIEW company-name-weak";

/// The submission of another company's site, which shows this name.
fn shows(net: &EmailNet, name: &str) -> Submission {
    other(net, name);
    net.right("evil.kr")
}

const NAMES: &[Case] = cases![
    "legal forms do not count" => "PASS", EmailNet::acme, named(&["ACME FOODS Co., Ltd."]);
    "nor do widths" => "PASS", EmailNet::acme, named(&["Ａｃｍｅ　Ｆｏｏｄｓ (주)"]);
    "another name" => NOT_ON_SITE, EmailNet::acme, named(&["Bolt Foods"]);
    "one Hangul syllable" => WEAK, EmailNet::acme, named(&["(주)빛"]);
    "one that goes on" => NOT_ON_SITE, |net| shows(net, "Acmerica"), named(&["Acme"]);
];

/// A company whose own page nobody has set up.
const BOLT: &[&str] = &["Bolt Toys"];

/// The submission of a page of a directory of companies, with the directory's own address.
fn directory(net: &EmailNet, path: &str, html: &str) -> Submission {
    net.company("jobs.kr", "Jobs");
    net.net.web.page("www.jobs.kr", path, html);
    net.right("jobs.kr")
        .source(&net.net.web.url("www.jobs.kr", path))
}

/// A page of the directory, with a title and a text of its own.
fn entry(title: &str, text: &str) -> String {
    format!(
        "<title>{title}</title><h1>{title}</h1><p>{text}</p>\
         <footer>© Jobs | info@jobs.kr</footer>"
    )
}

/// The submission of a directory's search that shows the name which its URL carries.
fn search(net: &EmailNet, path: &str) -> Submission {
    directory(net, path, &page("Bolt Toys", "info@jobs.kr"))
}

/// The submission of a name below the directory's domain.
fn below(net: &EmailNet, host: &str) -> Submission {
    net.company("jobs.kr", "Jobs");
    net.net.host(host);
    let html = entry("Bolt Toys", "the page of a company in a directory");
    net.net.web.page(host, "/", &html);
    let site = net.net.web.url(host, "/");
    net.right("jobs.kr").site(&site).source(&site)
}

/// Directories, searches and portals, which name companies that they are not.
const DIRECTORIES: &[Case] = cases![
    "a search" => "REVIEW company-not-on-site source-may-echo", |net| search(net, "/search?q=Bolt+Toys"), named(BOLT);
    "a search in the path" => NOT_ON_SITE, |net| search(net, "/search/Bolt%20Toys"), named(BOLT);
    "an invisible character" => "REVIEW company-not-on-site source-may-echo", |net| search(net, "/search/Bolt%E2%80%8B%20Toys"), named(BOLT);
    "the news" => MENTIONED, |net| {
            let text = entry("Bolt Toys sued by Acme", "Bolt Toys says it is sorry.");
            directory(net, "/news/1", &text)
        }, named(BOLT);
    "an entry with structured data" => MENTIONED, |net| {
            let organization = r#"<script type="application/ld+json">
                {"@type":"Organization","name":"Bolt Toys"}</script>"#;
            let html = entry("Bolt Toys", "Address: 1 Way, Bolt Toys") + organization;
            let submission = directory(net, "/company/17", &html);
            let home = entry("Jobs", "Bolt Toys and 1,000 other companies");
            net.net.web.page("www.jobs.kr", "/", &home);
            submission
        }, named(BOLT);
    "a host that carries the name" => NOT_ON_SITE, |net| below(net, "bolt-toys.jobs.kr"), named(BOLT);
    "a host with a number" => MENTIONED, |net| below(net, "c17.jobs.kr"), named(BOLT);
    "a host that carries it in two parts" => NOT_ON_SITE, |net| below(net, "bolt.toys.jobs.kr"), named(BOLT);
    "the directory itself" => "PASS", |net| directory(net, "/contact", &entry("Jobs", "")), named(&["Jobs"]);
];

/// The submission of another company's site that names this place in its footer.
fn sits(net: &EmailNet, footer: &str) -> Submission {
    other(net, "Evil");
    let html = format!("<title>Evil</title>info@evil.kr<footer>© Evil<p>{footer}</footer>");
    for path in ["/", "/contact"] {
        net.net.web.page("www.evil.kr", path, &html);
    }
    net.right("evil.kr")
}

/// Where a company sits is not its name.
const TOWNS: &[Case] = cases![
    "the name as the footer has it" => "PASS", EmailNet::acme, named(&["Acme Foods (Seoul)"]);
    "a town" => NOT_ON_SITE, |net| sits(net, "12 Main St, Seoul"), named(&["한빛식품 (Seoul)"]);
    "a town with its suffix" => MENTIONED, |net| sits(net, "12 Main St, Gimpo-si"), named(&["한빛식품 (Gimpo)"]);
    "a town in a province" => MENTIONED, |net| sits(net, "경기도 안산 12"), named(&["Hanbit Foods (안산)"]);
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

const CONTESTED_BY: &str = "REVIEW owner-contested";

/// Home pages that name the company, and somebody else.
const CONTESTED: &[Case] = cases![
    "another's copyright line" => CONTESTED_BY,
        |net| home(net, "<title>Acme Foods</title><footer>© 2026 Gamma Mart</footer>");
    "the company's own, by a shorter name" => "PASS",
        |net| home(net, "<title>Acme Foods</title><footer>© 2026 Acme</footer>");
    "another site's name" => CONTESTED_BY,
        |net| home(net, "<meta property=og:site_name content='Gamma Mart'><h1>Acme Foods</h1>");
    "the same under an anchor, by which the operator says whose the site is" => "PASS",
        |net| home(net, "<meta property=og:site_name content='Gamma Mart'><h1>Acme Foods</h1>"), listed("company,site\nAcme Foods,acme.co.kr\n"), with(&["--col", "company", "--site-col", "site"]);
    "a title that calls the domain by another name" => CONTESTED_BY, |net| {
            net.company("gamma.kr", ACME);
            let html = "<title>Gamma Mart - Acme Foods</title>info@gamma.kr";
            net.net.web.page("www.gamma.kr", "/", html);
            net.right("gamma.kr")
        };
    "a title with a slogan" => "PASS", |net| home(net, "<title>Fresh noodles - Acme Foods</title>");
];

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
fn who_names_a_company_is_not_the_company() {
    run(DIRECTORIES);
}

#[test]
fn where_a_company_sits_is_not_its_name() {
    run(TOWNS);
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

#[test]
fn an_owner_is_named_alone() {
    run(CONTESTED);
}

#[test]
fn a_contest_says_who_is_named_where() {
    let net = EmailNet::start();
    let html = "<title>Acme Foods</title><footer>© 2026 Gamma Mart</footer>";
    let (_, answer) = net.submit(1, &home(&net, html));
    let fact = &answer["facts"][0];
    assert_eq!(fact["actual"], "copyright line: \"Gamma Mart\"", "{answer}");
}

/// Expects a PASS for the address of each domain, submitted for this company, whose home page
/// is this.
#[track_caller]
fn all_pass(cases: &[(&str, &str, &str)]) {
    let mut worlds = Worlds::new();
    let mut wrong = Vec::new();
    for (domain, key, html) in cases {
        let net = worlds.next(List::Names(&[key]), &[]);
        net.company(domain, "Nobody");
        let www = format!("www.{domain}");
        let home = format!("<meta charset=utf-8>{html}");
        net.net.web.page(&www, "/", &home);
        let contact = format!("<p>Write to info@{domain}</p>");
        net.net.web.page(&www, "/contact", &contact);
        let said = net.says(&net.right(domain));
        if said != "PASS" {
            wrong.push((*html, said));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The same for home pages of one company.
#[track_caller]
fn homes_pass(domain: &str, key: &str, pages: impl IntoIterator<Item = String>) {
    let pages: Vec<String> = pages.into_iter().collect();
    let cases: Vec<_> = pages
        .iter()
        .map(|html| (domain, key, html.as_str()))
        .collect();
    all_pass(&cases);
}

/// The same for footers below a title that is the company's name.
#[track_caller]
fn footers_pass(domain: &str, key: &str, title: &str, footers: &[&str]) {
    let page = |footer: &&str| format!("<title>{title}</title><footer>{footer}</footer>");
    homes_pass(domain, key, footers.iter().map(page));
}

const ACME_INC: &str = "Acme Foods Inc.";

#[test]
fn one_firm_in_two_scripts() {
    all_pass(&rows! {
        "acme.co.kr", "(주)에이크미"
            => "<title>(주)에이크미 | Acme Co.</title><footer>© 2024 Acme Co.</footer>";
        "hanbit.co.kr", "한빛식품"
            => "<title>한빛식품</title><footer>Copyright ⓒ HANBIT FOODS CO.,LTD. ALL RIGHTS RESERVED.</footer>";
        "hbf.co.kr", "(주)한빛식품"
            => "<title>HANBIT FOODS</title><meta property=og:site_name content='HANBIT FOODS'>\
             <footer>상호: (주)한빛식품 | 대표: 홍길동 | 사업자등록번호: 123-45-67890<br>© HANBIT FOODS</footer>";
        "kepco.co.kr", "한국전력공사"
            => "<title>한국전력공사</title><footer>© 2024 KEPCO. All rights reserved.</footer>";
        "acme.co.jp", "株式会社アクメ" => "<title>株式会社アクメ</title><footer>© ACME Inc.</footer>";
        "hitachi.co.jp", "株式会社日立製作所"
            => "<title>日立製作所 | Hitachi, Ltd.</title><footer>© Hitachi, Ltd. 2024</footer>";
    });
}

#[test]
fn brands_that_say_whose_they_are() {
    all_pass(&rows! {
        "nudelwelt.de", "Acme Foods GmbH"
            => "<title>Nudelwelt</title><footer>© 2024 Acme Foods GmbH</footer>";
        "nudelwelt.de", "Acme Foods GmbH"
            => r#"<title>Nudelwelt</title><script type="application/ld+json">
               {"@type":"Organization","name":"Nudelwelt","legalName":"Acme Foods GmbH"}</script>"#;
    });
}

#[test]
fn slogans_and_generic_words() {
    let pages = [
        "<title>Fresh noodles from Busan | Acme Foods</title><footer>© 2024 Acme Foods</footer>",
        "<title>Fresh noodles since 1970</title><h1>Acme Foods</h1>",
        "<title>Acme Foods – Just another WordPress site</title><meta property=og:site_name content='Home'>\
             <footer>Proudly powered by WordPress</footer>",
        "<title>Home</title><header><ul><li>Home<li>Products<li>Contact</ul></header><footer>Acme Foods</footer>",
    ];
    homes_pass("acme.co.kr", ACME_INC, pages.map(str::to_owned));
    homes_pass(
        "noodleland.kr",
        ACME_INC,
        [
            "<title>Fresh noodles | Acme Foods</title><footer>© Acme Foods, Inc.</footer>"
                .to_owned(),
        ],
    );
}

#[test]
fn credits_and_small_print_in_the_footer() {
    let footers = [
        "© 2024 Acme. Designed by StudioX",
        "© 2024 Acme Foods Powered by Shopify",
        "© 2035 by Acme Foods. Proudly created with Wix.com",
        "© 2024 Acme Foods Inc. All rights reserved. Website by Beta Web",
        "© 2024 | <a href=/privacy>Privacy Policy</a> | <a href=/terms>Terms of Use</a>",
        "© 2024 All rights reserved.",
        "© acme.co.kr",
        "Photos © Jane Doe<br>© Acme Foods",
        "© Acme Foods<br>Map data © OpenStreetMap contributors",
        "© 2024 Acme Group",
        "© 2024 Acme Foods Inc. | 12 Main St, Busan | Tel. 051-123-4567",
        "Copyright © 1998-2024, Acme Foods Inc., Busan, Korea. All Rights Reserved",
    ];
    footers_pass("acme.co.kr", ACME_INC, "Acme Foods", &footers);
}

#[test]
fn titles_that_go_on_after_the_name() {
    let titles = [
        "株式会社アクメ｜新鮮な麺をお届けします",
        "株式会社アクメ | 公式サイト",
        "【公式】株式会社アクメ",
        "【公式】株式会社アクメ｜麺の専門店",
        "株式会社アクメ～新鮮な麺を食卓へ～",
        "株式会社アクメ／麺の製造",
        "株式会社アクメ（公式ホームページ）",
        "株式会社アクメ 公式ホームページ",
        "トップページ｜株式会社アクメ",
        "株式会社アクメ／麺",
    ];
    let pages = titles.map(|title| format!("<title>{title}</title>"));
    homes_pass("acme.co.jp", "株式会社アクメ", pages);
}

#[test]
fn a_copyright_line_alone_before_a_credit() {
    let footers = [
        "© Acme Foods Powered by Shopify",
        "© 2024, Acme Foods Powered by Shopify",
        "© 2024 Acme Foods Inc. Designed by StudioX",
        "Copyright 2024 Acme Foods - Website by Beta",
        "© 2024 Acme Foods Theme by Beta",
    ];
    footers_pass("acme.co.kr", ACME_INC, "Noodles", &footers);
}

#[test]
fn a_german_imprint_names_the_firm_on_a_line_of_its_own() {
    let labels = [
        "Angaben gemäß § 5 TMG",
        "Angaben gemäß § 5 TMG:",
        "Angaben gem. § 5 DDG",
        "Diensteanbieter",
        "Betreiber der Website",
    ];
    let pages = labels.map(|label| {
        format!("<title>Frische Nudeln</title><h2>{label}</h2><p>Acme Foods GmbH<br>Hauptstr. 1<br>12345 Berlin</p>")
    });
    homes_pass("acme.de", "Acme Foods GmbH", pages);
}

#[test]
fn structured_data_with_short_and_long_names() {
    all_pass(&rows! {
        "acme.co.kr", ACME_INC
            => r#"<title>Acme</title><script type="application/ld+json">{"@graph":[
               {"@type":"WebSite","name":"Acme","alternateName":"Noodle World"},
               {"@type":"Organization","name":"Acme Foods Co., Ltd.","alternateName":["ACF","Nudeln"]}]}</script>"#;
        "hepco.com", "Hanbit Electric Power Corporation"
            => "<title>Hanbit Electric Power Corporation</title><meta property=og:site_name content=HEPCO>\
             <footer>© HEPCO</footer>";
        "dbm.com", "Daewoo Business Machines"
            => "<title>Daewoo Business Machines</title><footer>© DBM Corp. 2024</footer>";
    });
}

#[test]
fn small_print_names_nobody() {
    let latin = [
        "© 2024 Acme Foods, a Gamma Group company. All rights reserved.",
        "Copyright © 2024 Acme Foods GmbH | Impressum | Datenschutz",
        "© 2024 Acme Foods. Images © Getty Images",
        "© 2024 Tous droits réservés",
        "© 2024 Todos los derechos reservados.",
        "© 2024 版权所有",
        "© Copyright 2024 - Acme | All Rights Reserved",
        "Made with love © 2024",
        "© 2024. No part of this site may be reproduced.",
        "Copyright notice | Terms",
        "Copyright",
    ];
    footers_pass("acme.com", ACME_INC, "Acme Foods", &latin);
    let korean = [
        "Copyright(c) 2024 한빛식품 All rights reserved. Designed by 디자인회사",
        "Copyright © 2024. 모든 권리 보유",
        "ⓒ 무단전재 및 재배포 금지",
        "본 사이트의 저작권은 한빛식품에 있습니다. copyright",
    ];
    footers_pass("hanbit.kr", "한빛식품", "한빛식품", &korean);
}

#[test]
fn short_names_in_the_footer() {
    for (domain, key, title, footer) in rows! {
        "lg.co.kr", "(주)LG생활건강", "LG생활건강" => "© LG H&H";
        "sk.co.kr", "SK하이닉스", "SK하이닉스" => "© SK hynix Inc.";
        "kt.com", "(주)케이티", "케이티" => "© KT Corp.";
        "klaw.kr", "Kim & Lee Law Office", "Kim & Lee Law Office" => "© Kim&Lee";
        "smith-sons.co.uk", "Smith & Sons Ltd", "Smith & Sons | Furniture"
            => "© 2024 Smith and Sons Limited. Company No. 123456. Registered in England.";
        "acmemall.co.kr", "(주)아크메", "아크메몰"
            => "상호명: (주)아크메 대표자: 홍길동<br>COPYRIGHT (C) 아크메몰 ALL RIGHTS RESERVED.";
    } {
        footers_pass(domain, key, title, &[footer]);
    }
}
