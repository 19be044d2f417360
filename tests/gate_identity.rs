//! Step 7: the site is the company's, also as honest firms write their home pages, and the address
//! not another's already.

use crate::harness::EmailNet;
use crate::harness::case::{Case, List, Worlds, cases, rows, run};
use crate::harness::email_net::{ACME, CONTACT_LINK, Submission, WWW, page};
use crate::servers::http::{Reply, WebServer};

pub const CASES: [&[Case]; 9] = [
    PLACES,
    NOTICES,
    HOMES,
    WAYS,
    NAMES,
    DIRECTORIES,
    TOWNS,
    TAKEN,
    CONTESTED,
];

/// A contact page that names nobody.
const NAMELESS: &str = "<p>Write to info@acme.co.kr</p>";

/// The submission of a nameless contact page on a site whose home page is this.
fn home(net: &EmailNet, html: &str) -> Submission {
    home_answers(net, Reply::html(format!("{html}{CONTACT_LINK}")))
}

fn home_answers(net: &EmailNet, reply: Reply) -> Submission {
    net.net.web.reply(WWW, "/", reply);
    net.answers(Reply::html(NAMELESS))
}

const NOT_ON_SITE: &str = "REVIEW company-not-on-site";
const MENTIONED: &str = "REVIEW company-mentioned-only";

/// Where the name stands on a site without a legal notice.
const PLACES: &[Case] = cases![
    "a title of the home page" => MENTIONED, |net| home(net, "<title>Acme Foods</title>");
    "a heading" => MENTIONED, |net| home(net, "<h1>Acme <b>Foods</b></h1>");
    "a header" => MENTIONED, |net| home(net, "<header>ACME FOODS</header>");
    "a footer" => MENTIONED, |net| home(net, "<footer>Acme Foods</footer>");
    "a copyright line on a domain that is called so" => "PASS",
        |net| home(net, "<p>© 2026 Acme Foods</p>");
    "a copyright line below another's title" => MENTIONED, |net| {
            net.company("sonne.kr", "Hotel Sonne");
            let html = "<title>Hotel Sonne</title>info@sonne.kr<footer>© Acme Foods</footer>";
            net.net.web.page("www.sonne.kr", "/", html);
            net.right("sonne.kr")
        };
    "a site's name that the title bears" => "PASS", |net| {
            let html = "<title>Noodles | Acme Foods</title><meta property=og:site_name content='Acme Foods'>";
            home(net, html)
        };
    "a site's name that the title does not bear, as of an earlier owner" => MENTIONED, |net| {
            let html = "<title>Cheap shoes</title><meta property=og:site_name content='Acme Foods'>";
            home(net, html)
        };
    "a logo that leads home" => "PASS", |net| {
            let html = "<title>Acme Foods</title>\
                        <header><a href=/><img src=logo.png alt='Acme Foods'></a></header>";
            home(net, html)
        };
    "a copied logo, whose link leads home elsewhere" => MENTIONED, |net| {
            let html = "<title>Acme Foods</title><base href=https://www.acme-foods.com/>\
                        <header><a href=/><img src=logo.png alt='Acme Foods'></a></header>";
            home(net, html)
        };
    "JSON-LD" => "PASS", |net| {
            let html = r#"<title>Acme Foods</title><script type="application/ld+json">
                {"@type":"Organization","name":"Acme Foods"}</script>"#;
            home(net, html)
        };
    "a JSON-LD organization that the page is not of" => NOT_ON_SITE, |net| {
            let html = r#"<script type="application/ld+json">{"@type":"Review",
                "itemReviewed":{"@type":"Organization","name":"Acme Foods"}}</script>"#;
            home(net, html)
        };
    "a JSON-LD organization that the page is about" => MENTIONED, |net| {
            let html = r#"<title>Acme Foods</title><script type="application/ld+json">{"@type":"WebPage",
                "about":{"@type":"Organization","name":"Acme Foods"}}</script>"#;
            home(net, html)
        };
    "text alone" => MENTIONED, |net| home(net, "<p>We bought Acme Foods.</p>");
    "a comment" => NOT_ON_SITE, |net| home(net, "<!-- Acme Foods --><p>Hello</p>");
    "a hidden footer" => NOT_ON_SITE, |net| home(net, "<footer hidden>Acme Foods</footer>");
    "a part of the name" => NOT_ON_SITE, |net| home(net, "<title>Acme</title>");
    "a longer word" => NOT_ON_SITE, |net| home(net, "<title>Acme Foodservice</title>");
    "the source page's own footer" => MENTIONED, |net| {
            let html = "<title>Hello</title><p>Acme Foods makes noodles.</p><a href=/contact>Contact</a>";
            net.net.web.page(WWW, "/", html);
            net.answers(Reply::html(format!(
                "{NAMELESS}<footer>© Acme Foods</footer>"
            )))
        };
    "the source page's own footer, and no home page" => MENTIONED, |net| {
            net.net.web.reply(WWW, "/", Reply::status(404));
            let html = format!("{NAMELESS}<footer>Acme Foods</footer>");
            net.answers(Reply::html(html))
        };
    "a copyright line after which it says more" => "PASS", |net| {
            let line = "© 2026 Acme Foods Inc. All rights reserved.";
            home(
                net,
                &format!("<title>Noodles</title><footer>{line}</footer>"),
            )
        };
    "the source page's title, which tells what it is about" => MENTIONED, |net| {
            net.net.web.page(WWW, "/", "<title>The News</title><a href=/contact>Contact</a>");
            net.answers(Reply::html(format!(
                "<title>Acme Foods sued</title>{NAMELESS}"
            )))
        };
];

/// A home page with this title that links to a legal notice, which says this.
fn notice(net: &EmailNet, title: &str, link: &str, notice: &str) -> Submission {
    net.net
        .web
        .page(WWW, "/notice", &format!("<meta charset=utf-8>{notice}"));
    let footer = format!("<footer><a href=/notice>{link}</a></footer>");
    home(
        net,
        &format!("<meta charset=utf-8><title>{title}</title>{footer}"),
    )
}

/// Home pages that link to a notice, a row each: the title, the link and what the notice says.
macro_rules! notices {
    ($($what:literal => $expected:expr, $title:literal, $link:literal, $text:literal;)*) => {
        cases![$($what => $expected, |net| notice(net, $title, $link, $text);)*]
    };
}

/// What the legal notice says, in the languages of the laws that ask for it.
const NOTICES: &[Case] = notices![
    "a German brand" => "PASS", "Nudelwelt", "Impressum",
        "<h1>Impressum</h1><p>Acme Foods GmbH<br>Hauptstr. 1<br>12345 Berlin</p>";
    "a form that is spelt out" => "PASS", "Nudelwelt", "Impressum & Datenschutz",
        "<h1>Impressum</h1><p>Acme Foods Gesellschaft mit beschränkter Haftung</p>";
    "a sister company" => CONTESTED_BY, "Acme Foods", "Impressum",
        "<h1>Impressum</h1><p>Acme Logistics GmbH</p><p>Acme Foods is next door.</p>";
    "who made the site" => CONTESTED_BY, "Gamma", "Impressum",
        "<h1>Impressum</h1><p>Gamma GmbH</p><h2>Konzept &amp; Realisation</h2>\
                        <p>Acme Foods GmbH</p>";
    "a parent company" => CONTESTED_BY, "Gamma", "Impressum",
        "<h1>Impressum</h1><p>Gamma GmbH, ein Unternehmen der Acme Foods AG</p>";
    "a French publisher" => "PASS", "Les pâtes", "Mentions légales",
        "<h1>Mentions légales</h1><p>Ce site est édité par la société Acme Foods SARL.</p>\
                        <h2>Hébergeur</h2><p>OVH SAS</p>";
    "a French host" => CONTESTED_BY, "Gamma", "Mentions légales",
        "<h1>Mentions légales</h1><p>Raison sociale : Gamma SARL</p>\
                        <p>Hébergeur : Acme Foods SAS</p>";
    "a Spanish owner" => "PASS", "Fideos", "Aviso legal",
        "<h1>Aviso legal</h1><p>Titular: Acme Foods, S.L.<br>CIF: B12345678</p>";
    "a Brazilian company" => "PASS", "Massas", "Quem somos", "<p>Razão Social: Acme Foods Ltda</p>";
    "an Italian company" => "PASS", "Pasta", "Note legali",
        "<p>Acme Foods S.r.l. - P.IVA 01234567890</p>";
    "a Dutch company" => "PASS", "Noedels", "Colofon", "<h1>Colofon</h1><p>Acme Foods B.V.</p>";
    "a Polish partnership" => "PASS", "Makaron", "Dane firmy",
        "<h1>Dane firmy</h1><p>Acme Foods s.c.</p>";
    "a Japanese seller" => "PASS", "麺", "特定商取引法に基づく表記",
        "<table><tr><th>販売業者<td>株式会社Acme Foods<tr><th>所在地<td>東京都</table>";
    "a Japanese profile" => "PASS", "麺", "会社概要",
        "<table><tr><th>会社名<td>Acme Foods Co., Ltd.<tr><th>取引先<td>ガンマ</table>";
    "a Japanese customer" => MENTIONED, "麺", "会社概要",
        "<table><tr><th>代表者<td>山田<tr><th>主要取引先<td>Acme Foods</table>";
    "a trade name" => "PASS", "Noodle World", "Legal notice",
        "<h1>Legal notice</h1><p>Noodle World is a trading name of Acme Foods Ltd.</p>";
    "an English operator" => "PASS", "Noodle World", "About us",
        "<h1>About us</h1><p>This website is operated by Acme Foods, Inc.</p>";
    "dealers on a page about the company" => MENTIONED, "Gamma", "Contact",
        "<h1>Contact</h1><p>Gamma</p><h2>Our dealers</h2><p>Acme Foods Inc.</p>";
];

/// What else decides about notices, and homes that say as much.
const HOMES: &[Case] = cases![
    "a Korean footer" => "PASS", |net| {
            let html = "<meta charset=utf-8><title>누들월드</title><footer>법인명(상호) : 주식회사 Acme Foods \
                        대표자(성명) : 홍길동<br>사업자등록번호 : 123-45-67890<br>© 누들월드</footer>";
            home(net, html)
        };
    "a Korean market's seller" => MENTIONED, |net| {
            let html = "<meta charset=utf-8><title>감마마트</title><p>상호: Acme Foods</p><footer>© 감마마트</footer>";
            home(net, html)
        };
    "a Chinese licence line" => "PASS", |net| {
            let html = "<meta charset=utf-8><title>面条</title><footer>Acme Foods有限公司 沪ICP备12345678号</footer>";
            home(net, html)
        };
    "a notice of another site" => MENTIONED, |net| {
            net.company("acme-foods.com", ACME);
            let to = net.net.web.url("www.acme-foods.com", "/");
            home(net, &format!("<title>Acme Foods</title><a href='{to}'>Impressum</a>"))
        };
    "a silent notice" => "REVIEW identity-unanswered", |net| {
            let submission = notice(net, "Acme Foods", "Impressum", "");
            net.net.web.reply(WWW, "/notice", Reply::status(503));
            submission
        };
    "a silent notice of a site that declares the name" => "REVIEW identity-unanswered", |net| {
            net.net.web.reply(WWW, "/notice", Reply::status(503));
            home(net, "<a href=/notice>Impressum</a><footer>© Acme Foods</footer>")
        };
    "a domain for sale" => "REVIEW site-not-in-use",
        |net| home(net, "<title>acme.co.kr</title><h1>This domain is for sale</h1><p>Acme Foods");
    "a casino on a domain that lapsed" => "REVIEW site-not-in-use", |net| {
            let html = "<title>Best online casino bonus</title><meta property=og:site_name \
                        content='Acme Foods'><footer>© Acme Foods</footer>";
            home(net, html)
        };
    "a tenant whose name looks like a language" => MENTIONED, |net| {
            net.company("portal.kr", "Portal");
            let host = "kr.portal.kr";
            net.net.host(host);
            for path in ["/", "/contact"] {
                net.net.web.page(host, path, &page(ACME, "info@portal.kr"));
            }
            let submission = net.right("portal.kr").site(&net.net.web.url(host, "/"));
            submission.source(&net.net.web.url(host, "/contact"))
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
    "a host that carries the name" => "FAIL email-not-on-source", |net| {
            net.company("acme-foods.shop.kr", ACME);
            net.right("acme-foods.shop.kr").email("info@shop.kr")
        };
    "a host that carries the name, with an address of the domain" => MENTIONED, |net| {
            net.company("acme-foods.shop.kr", ACME);
            net.right("acme-foods.shop.kr")
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
            net.net.web.page(WWW, "/kr/", &format!("{CONTACT_LINK}<footer>© Acme Foods</footer>"));
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
            let html = format!("<title>Acme Foods</title>{CONTACT_LINK}<footer>© Acme Foods</footer>");
            net.net.web.page(host, "/", &html);
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
    "a host that carries the name" => MENTIONED, |net| below(net, "bolt-toys.jobs.kr"), named(BOLT);
    "a host with a number" => MENTIONED, |net| below(net, "c17.jobs.kr"), named(BOLT);
    "a host that carries it in two parts" => MENTIONED, |net| below(net, "bolt.toys.jobs.kr"), named(BOLT);
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
            let doubted = net.contact("info [at] acme [dot] co [dot] kr");
            assert_eq!(net.submit(2, &doubted).1["verdict"], "REVIEW");
            net.contact("info@acme.co.kr")
        }, named(TWO);
];

const CONTESTED_BY: &str = "REVIEW owner-contested";

/// Home pages that name the company, and somebody else.
const CONTESTED: &[Case] = cases![
    "another's copyright line" => CONTESTED_BY,
        |net| home(net, "<title>Acme Foods</title><footer>© 2026 Gamma Mart</footer>");
    "the company's own, by a shorter name, which does not prove" => MENTIONED,
        |net| home(net, "<title>Acme Foods</title><footer>© 2026 Acme</footer>");
    "the company's own, by a shorter name, below its declared one" => "PASS", |net| {
            let html = "<title>Acme Foods</title><meta property=og:site_name content='Acme Foods'>\
                        <footer>© 2026 Acme</footer>";
            home(net, html)
        };
    "another site's name" => CONTESTED_BY,
        |net| home(net, "<meta property=og:site_name content='Gamma Mart'><h1>Acme Foods</h1>");
    "the same under an anchor, by which the operator says whose the site is" => "PASS",
        |net| home(net, "<meta property=og:site_name content='Gamma Mart'><h1>Acme Foods</h1>"), listed("company,site\nAcme Foods,acme.co.kr\n"), with(&["--col", "company", "--site-col", "site"]);
    "a title that names two" => MENTIONED, |net| {
            net.company("gamma.kr", ACME);
            let html = "<title>Gamma Mart - Acme Foods</title>info@gamma.kr";
            net.net.web.page("www.gamma.kr", "/", html);
            net.right("gamma.kr")
        };
    "a title with a slogan" => "PASS",
        |net| home(net, "<title>Fresh noodles - Acme Foods</title><footer>© Acme Foods</footer>");
    "another name on the operator's own domain" => "PASS",
        |net| home(net, "<title>Gamma Mart</title><footer>© Gamma Mart</footer>"), listed("company,site\nAcme Foods,acme.co.kr\n"), with(&["--col", "company", "--site-col", "site"]);
];

#[test]
fn an_owners_name_stands_where_owners_names_stand() {
    run(PLACES);
}

#[test]
fn a_legal_notice_says_who_runs_the_site() {
    run(NOTICES);
    run(HOMES);
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
    let expected = "copyright line: \"© 2026 Gamma Mart\"";
    assert_eq!(fact["actual"], expected, "{answer}");
}

/// The link to a notice that names the company of [`verdicts`].
const LINK: &str = "<a href=/notice>Impressum</a>";

/// The verdicts on the address of each domain, submitted for this company, whose home page is this.
/// Its notice has the company's name, where the home page links to it.
fn verdicts(cases: &[(&str, &str, &str)]) -> Vec<String> {
    let mut worlds = Worlds::new();
    let mut verdicts = Vec::new();
    for (domain, key, html) in cases {
        let net = worlds.next(List::Names(&[key]), &[]);
        net.company(domain, "Nobody");
        let www = format!("www.{domain}");
        let contact = format!("<p>Write to info@{domain}</p>");
        let notice = format!("<h1>Impressum</h1><p>Firma: {key}</p>");
        let home = format!("{html}{CONTACT_LINK}");
        let pages = [
            ("/", home.as_str()),
            ("/contact", contact.as_str()),
            ("/notice", notice.as_str()),
        ];
        for (path, html) in pages {
            let html = format!("<meta charset=utf-8>{html}");
            net.net.web.page(&www, path, &html);
        }
        verdicts.push(net.says(&net.right(domain)));
    }
    verdicts
}

#[track_caller]
fn all_pass(cases: &[(&str, &str, &str)]) {
    let said = verdicts(cases);
    let wrong = cases.iter().zip(&said).filter(|(_, said)| *said != "PASS");
    let wrong: Vec<_> = wrong.collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Expects that home pages of one company pass.
#[track_caller]
fn homes_pass(domain: &str, key: &str, pages: impl IntoIterator<Item = String>) {
    let pages: Vec<String> = pages.into_iter().collect();
    let cases: Vec<_> = pages
        .iter()
        .map(|html| (domain, key, html.as_str()))
        .collect();
    all_pass(&cases);
}

/// The same for footers below a title and a site's name that are the company's.
#[track_caller]
fn footers_pass(domain: &str, key: &str, title: &str, footers: &[&str]) {
    let page = |footer: &&str| {
        format!(
            "<title>{title}</title><meta property=og:site_name content='{title}'>\
             <footer>{footer}</footer>"
        )
    };
    homes_pass(domain, key, footers.iter().map(page));
}

const ACME_INC: &str = "Acme Foods Inc.";

/// Titles, names and copyright lines that are the company's, and do not prove it by themselves.
#[test]
fn a_notice_settles_what_a_title_leaves_open() {
    let pages = rows! {
        "acme.co.kr", "(주)에이크미"
            => "<title>(주)에이크미 | Acme Co.</title><footer>© 2024 Acme Co.";
        "kepco.co.kr", "한국전력공사"
            => "<title>한국전력공사</title><footer>© 2024 KEPCO. All rights reserved.";
        "acme.co.jp", "株式会社アクメ" => "<title>株式会社アクメ</title><footer>© ACME Inc.";
        "hitachi.co.jp", "株式会社日立製作所"
            => "<title>日立製作所 | Hitachi, Ltd.</title><footer>© Hitachi, Ltd. 2024";
        "nudelwelt.de", "Acme Foods GmbH"
            => "<title>Nudelwelt</title><footer>© 2024 Acme Foods GmbH";
        "nudelwelt.de", "Acme Foods GmbH"
            => r#"<title>Nudelwelt</title><script type="application/ld+json">
               {"@type":"Organization","name":"Nudelwelt","legalName":"Acme Foods GmbH"}</script><footer>"#;
        "acme.co.kr", ACME_INC => "<title>Fresh noodles since 1970</title><h1>Acme Foods</h1><footer>";
        "acme.co.kr", ACME_INC
            => "<title>Acme Foods – Just another WordPress site</title><footer>Powered by WordPress";
        "hepco.com", "Hanbit Electric Power Corporation"
            => "<title>Hanbit Electric Power Corporation</title><meta property=og:site_name content=HEPCO>\
             <footer>© HEPCO";
        "acme.co.jp", "株式会社アクメ" => "<title>株式会社アクメ｜新鮮な麺をお届けします</title><footer>";
        "acme.co.jp", "株式会社アクメ" => "<title>【公式】株式会社アクメ｜麺の専門店</title><footer>";
        "acme.co.jp", "株式会社アクメ" => "<title>トップページ｜株式会社アクメ</title><footer>";
    };
    let linked =
        pages.map(|(domain, key, html)| (domain, key, format!("{html}<br>{LINK}</footer>")));
    let linked = linked
        .each_ref()
        .map(|(domain, key, html)| (*domain, *key, html.as_str()));
    all_pass(&linked);
    let without = pages.map(|(domain, key, html)| (domain, key, format!("{html}</footer>")));
    let without = without
        .each_ref()
        .map(|(domain, key, html)| (*domain, *key, html.as_str()));
    for (page, said) in without.iter().zip(verdicts(&without)) {
        assert_eq!(said, MENTIONED, "{page:?}");
    }
}

#[test]
fn names_in_two_scripts_that_do_not_contest_each_other() {
    all_pass(&rows! {
        "hanbit.co.kr", "한빛식품"
            => "<title>한빛식품</title><meta property=og:site_name content=한빛식품>\
             <footer>Copyright ⓒ HANBIT FOODS CO.,LTD. ALL RIGHTS RESERVED.</footer>";
        "hbf.co.kr", "(주)한빛식품"
            => "<title>HANBIT FOODS</title><meta property=og:site_name content='HANBIT FOODS'>\
             <footer>상호: (주)한빛식품 | 대표: 홍길동 | 사업자등록번호: 123-45-67890<br>© HANBIT FOODS</footer>";
        "acmemall.co.kr", "(주)아크메"
            => "<title>아크메몰</title><footer>상호명: (주)아크메 대표자: 홍길동<br>COPYRIGHT (C) 아크메몰 ALL RIGHTS RESERVED.</footer>";
    });
}

#[test]
fn spellings_of_one_name() {
    for (key, footer) in rows! {
        "Müller Foods GmbH" => "© 2024 Mueller Foods GmbH";
        "Mueller Foods" => "© 2024 MÜLLER FOODS";
        "Société Lumière" => "© Societe Lumiere";
        "Łódź Meble" => "© Lodz Meble Sp. z o.o.";
        "M/s. Acme Foods" => "© Acme Foods Pvt. Ltd.";
        "Acme Foods ME" => "© Acme Foods";
        "上海阿克米有限公司" => "© 2024 上海阿克米有限公司 版权所有";
        "株式会社廣澤製麺" => "© 広沢製麺";
        "アクメ製麺株式会社" => "© あくめ製麺";
    } {
        let html = format!("<title>{key}</title><footer>{footer}</footer>");
        all_pass(&[("noodles.kr", key, html.as_str())]);
    }
}

#[test]
fn slogans_and_generic_words() {
    let pages = [
        "<title>Fresh noodles from Busan | Acme Foods</title><footer>© 2024 Acme Foods</footer>",
        "<title>Home</title><header><ul><li>Home<li>Products<li>Contact</ul></header><footer>© Acme Foods</footer>",
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
        "© 2024 Acme Foods Inc. We make noodles.",
    ];
    footers_pass("acme.co.kr", ACME_INC, "Acme Foods", &footers);
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
    let page = |footer| format!("<title>Noodles</title><footer>{footer}</footer>");
    homes_pass("acme.co.kr", ACME_INC, footers.map(page));
}

#[test]
fn a_german_imprint_on_the_home_page_itself() {
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
        "smith-sons.co.uk", "Smith & Sons Ltd", "Smith & Sons"
            => "© 2024 Smith and Sons Limited. Company No. 123456. Registered in England.";
        "dbm.com", "Daewoo Business Machines", "Daewoo Business Machines" => "© DBM Corp. 2024";
    } {
        footers_pass(domain, key, title, &[footer]);
    }
}
