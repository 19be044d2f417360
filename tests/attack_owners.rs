//! Sites of others that name the company where an owner's name stands, or seem to.

use crate::attack_tools::none_passes;
use crate::harness::EmailNet;
use crate::harness::case::rows;
use crate::harness::email_net::{ACME, Submission, page};

const OTHER: &str = "Gamma Market";
const HOST: &str = "www.gamma.kr";

/// The address of another company at `gamma.kr`, where these pages stand beside its own.
fn other(net: &EmailNet, pages: &[(&str, &str)]) -> Submission {
    net.company("gamma.kr", OTHER);
    for (path, html) in pages {
        net.net.web.page(HOST, path, html);
    }
    net.right("gamma.kr")
}

/// The same, where every page is `html`.
fn of(net: &EmailNet, html: &str) -> Submission {
    other(net, &[("/", html), ("/contact", html)])
}

/// Expects that none of `lines` in the footer of pages laid out as companies have them makes the
/// company their owner.
#[track_caller]
fn no_footer_passes(lines: &[&str]) {
    let cases = lines.iter().map(|line| (*line, *line));
    none_passes(ACME, cases, |net, line| {
        let html = page(OTHER, "Write to info@gamma.kr");
        of(
            net,
            &html.replace("</footer>", &format!("<br>{line}</footer>")),
        )
    });
}

/// Expects the same of pages that have nothing but this and the address.
#[track_caller]
fn none_bare_passes(key: &str, pages: &[&str]) {
    let cases = pages.iter().map(|html| (*html, *html));
    none_passes(key, cases, |net, html| {
        of(
            net,
            &format!("<meta charset=utf-8>{html}<p>Write to info@gamma.kr</p>"),
        )
    });
}

/// Expects that no page of a market whose home page does not know the company makes it the owner;
/// each has this in its head and its text.
#[track_caller]
fn no_entry_passes(entries: &[(&str, &str)]) {
    let cases = entries.iter().map(|(head, text)| (*text, (*head, *text)));
    none_passes(ACME, cases, |net, (head, text)| {
        let html = page(OTHER, &format!("{text}</p><p>Help: info@gamma.kr"));
        let html = html.replace("</head>", &format!("{head}</head>"));
        let submission = other(net, &[("/entry/17", &html)]);
        submission.source(&net.net.web.url(HOST, "/entry/17"))
    });
}

fn organization(name: &str) -> String {
    format!(
        "<script type=\"application/ld+json\">{{\"@type\":\"Organization\",\"name\":\"{name}\"}}</script>"
    )
}

#[test]
fn a_line_of_the_footer_that_names_the_company_does_not_make_it_the_owner() {
    no_footer_passes(&[
        // A list of others.
        "Our partners:<br>Beta<br>Acme Foods",
        "Our partners:<ul><li>Beta<li>Delta<li>Acme Foods</ul>",
        "Customers<br>Acme Foods",
        "거래처<br>Beta<br>Acme Foods",
        "They build on us<br>Beta<br>Acme Foods",
        "Acme Foods",
        "Acme Foods | 12 Main St | Tel. 02-123-4567",
        // Digits in a list.
        "Acme Foods, 7-Eleven, Beta Corp",
        "Acme Foods | 3M | Beta Corp",
        // Who hosts, designs or serves a site does not own it.
        "Hosting by Acme Foods",
        "호스팅 제공자: Acme Foods",
        "Designed by Acme Foods",
        "Powered by Acme Foods",
        "결제대행사: Acme Foods",
        "Our partners: Acme Foods, Beta",
        "Website by Acme Foods",
        "Web by Acme Foods",
        "Logo by Acme Foods",
        "by Acme Foods",
        "Website by Acme Foods | Tel 02-123",
        // A link or a choice that leads to the company.
        "<a href=\"https://www.acmefoods.co.kr/\">Acme Foods</a>",
        "<select><option>Family sites</option><option>Acme Foods</option></select>",
    ]);
}

#[test]
fn a_list_of_others_is_no_owner_on_a_page_without_a_copyright_line() {
    let lines = [
        "Our partners:<br>Beta<br>Acme Foods",
        "Customers<br>Acme Foods",
        "They build on us<br>Beta<br>Acme Foods",
    ];
    let pages = lines.map(|line| format!("<title>{OTHER}</title><footer>{line}</footer>"));
    none_bare_passes(ACME, &pages.each_ref().map(String::as_str));
}

#[test]
fn the_last_word_of_a_label_does_not_make_it_the_owners() {
    let lines = [
        "Payment company: Acme Foods",
        "Parent company: Acme Foods",
        "결제 회사: Acme Foods",
        "상호: Gamma Market 결제 회사: Acme Foods",
        "Company: Gamma Market, Payment company: Acme Foods",
    ];
    no_footer_passes(&lines);
    let pages = lines.map(|line| format!("<footer>{line}</footer>"));
    none_bare_passes(ACME, &pages.each_ref().map(String::as_str));
}

#[test]
fn a_name_that_another_contests_is_not_the_owners() {
    let line = "상호: Acme Foods | 대표: 홍길동 | 사업자등록번호: 123-45-67890";
    let title = "<title>Gamma Mart - Acme Foods</title>";
    let [ours, theirs] = [ACME, "Gamma Mart"].map(organization);
    let listed = "<div itemscope itemtype=\"https://schema.org/Organization\">\
                  <span itemprop=name>Acme Foods</span></div>";
    let pages = [
        // A title that names two.
        title.to_owned(),
        format!("{title}<footer>© 2026 Gamma Mart</footer>"),
        format!("{title}<meta property=og:site_name content='Gamma Mart'>"),
        format!("{title}{theirs}"),
        format!("{title}<p>상호: Gamma Mart | 대표: 홍길동</p>"),
        "<title>감마마트 - Acme Foods</title>".to_owned(),
        // A seller's line on the home page of a market.
        format!("<title>Fresh</title><p>{line}</p><footer>© 2026 Gamma Mart</footer>"),
        format!("<p>{line}</p><footer>상호: Gamma Mart | 대표: 김감마</footer>"),
        format!("<title>Gamma Mart</title><p>{line}</p>"),
        format!("<title>Gamma Mart</title><footer>{line}</footer>"),
        // One of several organizations.
        format!("{ours}{theirs}"),
        format!("{theirs}{ours}"),
        format!("<title>Gamma Mart</title>{listed}"),
        format!("<title>Gamma Mart</title>{ours}"),
        // Structured data that no machine reads, or that visitors wrote.
        format!("<template>{ours}</template>"),
        format!("<div class=comments><div class=comment>{ours}</div></div>"),
        format!("<template><meta property=og:site_name content='{ACME}'></template>"),
    ];
    none_bare_passes(ACME, &pages.each_ref().map(String::as_str));
}

#[test]
fn a_dealers_page_is_not_the_makers_and_a_menu_names_what_it_leads_to() {
    none_bare_passes(
        ACME,
        &[
            "<title>Acme Foods</title><footer>© 2026 Gamma Mart, distributor of Acme Foods</footer>",
            "<title>Acme Foods</title><meta property=og:site_name content='Gamma - dealer of Acme Foods'>",
            "<title>Acme Foods</title><footer>© Global Trading Co., Ltd.</footer>",
            "<title>Acme Foods</title><footer>상호: (주)감마무역 | 대표: 홍길동</footer>",
            "<title>Acme Foods</title><footer>© (주)감마무역</footer>",
            "<title>Gamma Mart</title><header><a href=/>Home</a><ul><li>Beta<li>Acme Foods</ul></header>",
            "<header><ul><li>Gamma Mart<li>Beta<li>Acme Foods</ul></header>",
            "<title>Gamma Mart</title><h1>Acme Foods</h1>",
        ],
    );
    none_bare_passes(
        "한빛식품",
        &["<title>한빛식품</title><footer>© 감마무역 (한빛식품 총판)</footer>"],
    );
    none_bare_passes(
        "(주)한빛식품",
        &[
            "<title>Gamma Mart</title><footer>상호: 한빛식품 | 대표: 홍길동<br>© 2026 Gamma Mart</footer>",
        ],
    );
}

#[test]
fn a_front_page_that_writes_about_the_company_is_not_the_companys() {
    let home = page(
        OTHER,
        "Our sellers: Acme Foods, Beta. Write to info@gamma.kr",
    );
    let signed = "<title>Shop 17</title><p>info@gamma.kr</p><footer>Acme Foods</footer>";
    none_passes(ACME, [("a seller signs its page", ())], |net, ()| {
        other(net, &[("/", &home), ("/contact", signed)])
    });
    let fronts = [
        "<title>Gamma News</title><main><h1>Acme Foods opens a plant in Busan</h1></main>",
        "<title>Gamma Market: Beta shoes, Acme Foods, Delta tea and more</title>",
        "<title>Gamma News</title><header><nav><ul><li>Politics<li>On Acme Foods</ul></nav></header>",
    ];
    none_passes(ACME, fronts.map(|front| (front, front)), |net, front| {
        let html = format!("{front}<p>info@gamma.kr</p><footer>© 2026 Gamma</footer>");
        other(net, &[("/", &html)])
    });
    let headlines = [
        "Acme Foods: record profits this year",
        "Acme Foods – record profits this year",
        "Acme Foods > Sauces",
    ];
    none_passes(ACME, headlines.map(|line| (line, line)), |net, line| {
        let html = page(OTHER, "Write to info@gamma.kr");
        of(
            net,
            &html.replace("</main>", &format!("<h1>{line}</h1></main>")),
        )
    });
}

#[test]
fn a_credit_or_an_entry_does_not_speak_for_the_site() {
    let seller = "</p></main><div class=\"footer\">Seller: Acme Foods</div><main><p>";
    no_entry_passes(&rows! {
        "" => "Photo © Acme Foods";
        "" => "<figure><img src=p.jpg><figcaption>ⓒ Acme Foods</figcaption></figure>";
        "" => "About this seller: © 2026 Acme Foods. All rights reserved.";
        "<meta property=\"og:site_name\" content=\"Acme Foods\">" => "";
        "" => seller;
    });
}

#[test]
fn a_name_that_goes_on_is_another_companys() {
    for (key, owner) in [
        ("한빛건설", "한빛건설기계"),
        ("한빛전자", "한빛전자서비스"),
        ("한빛식품", "새한빛식품"),
    ] {
        none_passes(key, [(owner, owner)], |net, owner| {
            net.company("gamma.kr", owner);
            net.right("gamma.kr")
        });
    }
}

fn below(net: &EmailNet, host: &str, path: &str, source: &str) -> Submission {
    let submission = other(net, &[]);
    let html = page(ACME, "Mail: made.up@gamma.kr info@gamma.kr");
    net.net.host(host);
    for path in [path, source] {
        net.net.web.page(host, path, &html);
    }
    let [site, source] = [path, source].map(|path| net.net.web.url(host, path));
    submission.site(&site).source(&source)
}

#[test]
fn a_page_below_a_host_for_many_does_not_speak_for_the_host() {
    // Two letters below a domain are a language, or a tenant.
    let hosts = [("zz.gamma.kr", "/contact"), ("shop17.gamma.kr", "/")];
    none_passes(ACME, hosts.map(|it| (it.0, it)), |net, (host, source)| {
        below(net, host, "/", source)
    });
}

/// Expects that no page is met by an anchor: each has the anchor and makes the submission.
#[track_caller]
fn no_anchor_passes(anchor: &str, make: impl Fn(&EmailNet) -> Submission) {
    let net = EmailNet::anchored(&[[ACME, anchor]]);
    let (verdict, rules) = net.judge(&make(&net));
    assert_ne!(verdict, "PASS", "{anchor}: {rules:?}");
}

#[test]
fn an_anchor_below_a_host_for_many_is_not_met_by_a_neighbour_or_the_host() {
    let made_up = "made.up@gamma.kr";
    no_anchor_passes("acme.gamma.kr", |net| {
        below(net, "evil.gamma.kr", "/", "/").email(made_up)
    });
    no_anchor_passes("www.gamma.kr/acme", |net| {
        below(net, HOST, "/evil", "/evil").email(made_up)
    });
    no_anchor_passes("www.gamma.kr/acme", |net| {
        let home = page(
            OTHER,
            "Our sellers: Acme Foods, Beta. Write to info@gamma.kr",
        );
        let entry = "<p>info@gamma.kr</p><footer>Acme Foods</footer>";
        let submission = other(net, &[("/", &home), ("/acme", entry)]);
        let url = net.net.web.url(HOST, "/acme");
        submission.site(&url).source(&url)
    });
}
