//! Pages that show the submitted address without being the company's own word for it, and sites of
//! others that name the company. Each case is judged in a session of its own, as a PASS locks.

use crate::harness::EmailNet;
use crate::harness::case::{List, Worlds, rows};
use crate::harness::email_net::{ACME, Submission, page};

const MADE_UP: &str = "made.up@acme.co.kr";
const BEES: &str = "bees@acme.co.kr";

/// The submission of `email` for the contact page at `path`, which holds `text`.
fn at(net: &EmailNet, path: &str, text: &str, email: &str) -> Submission {
    let source = net.presents(path, &page(ACME, text));
    net.acme().email(email).source(&source)
}

/// Expects that no page with one of `texts` shows `email`.
#[track_caller]
fn none_shows(path: &str, texts: &[&str], email: &str) {
    let cases = texts.iter().map(|text| (*text, *text));
    none_passes(ACME, cases, |net, text| at(net, path, text, email));
}

#[test]
fn signs_around_an_address_are_no_part_of_it() {
    let shown = [
        ("* *info@acme.co.kr*", "*info@acme.co.kr"),
        ("TEL|info@acme.co.kr", "tel|info@acme.co.kr"),
        ("Mail/info@acme.co.kr", "mail/info@acme.co.kr"),
        ("'info@acme.co.kr'", "'info@acme.co.kr"),
        ("Questions?info@acme.co.kr", "questions?info@acme.co.kr"),
        ("git clone git@acme.co.kr:acme/app.git", "git@acme.co.kr"),
        ("ftp://guest:welcome@acme.co.kr/pub", "welcome@acme.co.kr"),
        ("Call sip:1000@acme.co.kr", "1000@acme.co.kr"),
    ];
    let cases = shown.map(|(text, email)| (text, (text, email)));
    none_passes(ACME, cases, |net, (text, email)| {
        at(net, "/page", text, email)
    });
    // Boxes that stand apart are not joined to an address.
    let boxes = [
        "<b style=\"display:flex;gap:1em\"><span>Mail</span><span>info@acme.co.kr</span></b>",
        "<span style=\"display:block\">Mail</span><span style=\"display:block\">info@acme.co.kr</span>",
        "<span style=\"float:left\">Mail</span><span>info@acme.co.kr</span>",
    ];
    none_shows("/page", &boxes, "mailinfo@acme.co.kr");
}

#[test]
fn an_address_that_is_struck_out_is_not_shown() {
    let struck = [
        "<del>old@acme.co.kr</del>",
        "<s>old@acme.co.kr</s>",
        "<span style=\"text-decoration:line-through\">old@acme.co.kr</span>",
    ];
    none_shows("/page", &struck, "old@acme.co.kr");
}

/// A page whose style sheet is this, around an address in an element.
fn styled(net: &EmailNet, sheet: &str, email: &str) -> Submission {
    let trap = format!("<span class=trap id=t data-t=1>{email}</span>");
    let text = format!("<style>{sheet}</style><span class=box>{trap}</span>");
    at(net, "/page", &text, email)
}

#[test]
fn style_sheets_that_hide_an_address_are_read() {
    let sheets = [
        ".box .trap{display:none}",
        ".box{color:red;.trap{display:none}}",
        "@layer base{.trap{display:none}}",
        ".trap{display:none}.trap{visibility:visible}",
        ".trap{display:none}</style><style media=\"print\">.trap{display:inline}",
        ":root{--d:none}.trap{display:var(--d)}",
        ".trap{--d:none;display:var(--d)}",
        ".trap{display:var(--d,none)}",
        ":root{--a:none;--d:var(--a)}.trap{display:var(--d)}",
        ".trap{visibility:var(--v);--v:hidden}",
        ".trap{opacity:var(--o)}:root{--o:0}",
        ".trap{d\\69splay:none}",
        ".trap{display:n\\6fne}",
        "@media (min-width:1px){.trap{display:none}}",
        "@media (width>=1px){.trap{display:none}}",
    ];
    none_passes(ACME, sheets.map(|sheet| (sheet, sheet)), |net, sheet| {
        styled(net, sheet, BEES)
    });
    let inline = [
        "<style>.trap{display:none}</style><b class=trap style=\"visibility:visible\">bees@acme.co.kr</b>",
        "<style>.trap{display:none!important}</style><b class=trap style=\"display:inline\">bees@acme.co.kr</b>",
        "<a href=\"mailto:bees@acme.co.kr\"><span></span></a>",
        "<math><semantics><mi>x</mi><annotation>bees@acme.co.kr</annotation></semantics></math>",
        "<style>:root{--d:none}</style><b style=\"display:var(--d)\">bees@acme.co.kr</b>",
        "<b style=\"--d:none;display:var(--d)\">bees@acme.co.kr</b>",
        "<b style=\"--d:none\"><i style=\"display:var(--d)\">bees@acme.co.kr</i></b>",
        "<b style=\"d\\69splay:none\">bees@acme.co.kr</b>",
    ];
    none_shows("/page", &inline, BEES);
}

#[test]
fn style_sheets_that_show_an_address_are_read_too() {
    let sheets = [
        ".trap{scale:1}",
        ".trap{transform:scale(1.2)}",
        ":root{--d:block}.trap{display:var(--d)}",
        ".trap{display:var(--framer-display,flex)}",
        ".trap{color:var(--ink)}",
        "@media (max-width:600px){.trap{display:none}}",
        "@media print{.trap{display:none}}",
        "@media (min-width:9000px){.trap{display:none}}",
        "@media (prefers-reduced-motion:reduce){.trap{display:none}}",
    ];
    all_pass(ACME, sheets.map(|sheet| (sheet, sheet)), |net, sheet| {
        styled(net, sheet, "info@acme.co.kr")
    });
}

#[test]
fn what_visitors_write_is_not_the_owners() {
    let comments = [
        "</p><div id=\"comments\"><ol class=\"comment-list\"><li class=\"comment\">\
         <p>Write to made.up@acme.co.kr</p></li></ol></div><p>",
        "</p><section class=\"comments-area\"><div class=\"comment-content\">\
         made.up@acme.co.kr</div></section><p>",
        "</p><div itemscope itemtype=\"https://schema.org/Comment\">made.up@acme.co.kr</div><p>",
    ];
    none_shows("/news/we-have-moved/", &comments, MADE_UP);
    let reviewer = r#"<script type="application/ld+json">{"@type":"Product","review":{"@type":"Review",
        "author":{"@type":"Person","email":"made.up@acme.co.kr"}}}</script>"#;
    none_shows("/page", &[reviewer], MADE_UP);
}

#[test]
fn structured_data_that_is_no_part_of_the_page_shows_no_address() {
    let data = r#"<script type="application/ld+json">{"@type":"Organization",
        "name":"Acme Foods","email":"made.up@acme.co.kr"}</script>"#;
    let microdata = "<div itemscope itemtype='https://schema.org/Organization'>\
                     <meta itemprop=email content='made.up@acme.co.kr'></div>";
    let pages = [
        format!("<template>{data}</template>"),
        format!("<template>{microdata}</template>"),
        format!("</p><div class=comments><p>hello</p>{data}</div><p>"),
        format!("</p><div class=comments><p>hello</p>{microdata}</div><p>"),
    ];
    none_shows("/page", &pages.each_ref().map(String::as_str), MADE_UP);
}

/// A page with the address in a box of this class.
fn boxed(net: &EmailNet, class: &str, email: &str) -> Submission {
    let text = format!("</p><div class=\"{class}\"><p>{email}</p></div><p>");
    at(net, "/page", &text, email)
}

#[test]
fn boxes_that_visitors_fill_are_known_by_many_names() {
    let visitors = "commentBody board_view qna_list forum-post guestBook";
    let classes = visitors.split_whitespace().map(|class| (class, class));
    none_passes(ACME, classes, |net, class| boxed(net, class, MADE_UP));
    let owners = ["commentary", "board-of-directors"];
    let classes = owners.map(|class| (class, class));
    all_pass(ACME, classes, |net, class| {
        boxed(net, class, "ceo@acme.co.kr")
    });
}

#[test]
fn a_page_that_the_site_does_not_present_does_not_speak_for_it() {
    let paths = [
        // Pages that repeat their URL, in plain letters and in codes.
        "/search/ma%E2%80%8Bde.up",
        "/search?q=made.up",
        "/team/made.up",
        "/card?a=made&b=up",
        "/d/znqr.hc",
        "/say/109-97-100-101-46-117-112",
        // What visitors and customers write, or upload.
        "/board/read.php?no=7",
        "/data/file/free/1a2b.txt",
        "/wp-content/uploads/2026/11/note.html",
        "/users/kim",
        "/guestbook/3",
        "/s/9fK2x",
    ];
    none_passes(ACME, paths.map(|path| (path, path)), |net, path| {
        let source = net.put(path, &page(ACME, MADE_UP));
        net.acme().email(MADE_UP).source(&source)
    });
    all_pass(ACME, paths.map(|path| (path, path)), |net, path| {
        at(net, path, MADE_UP, MADE_UP)
    });
}

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

/// Expects that no case, each a name and what `make` makes a submission for `key` of, is a PASS.
#[track_caller]
pub fn none_passes<'a, T>(
    key: &str,
    cases: impl IntoIterator<Item = (&'a str, T)>,
    make: impl Fn(&EmailNet, T) -> Submission,
) {
    let passed = those(key, cases, make, |verdict| verdict == "PASS");
    assert_eq!(passed, [""; 0], "these passed");
}

/// Expects that every case is a PASS: the neighbours of attacks.
#[track_caller]
pub fn all_pass<'a, T>(
    key: &str,
    cases: impl IntoIterator<Item = (&'a str, T)>,
    make: impl Fn(&EmailNet, T) -> Submission,
) {
    let refused = those(key, cases, make, |verdict| verdict != "PASS");
    assert_eq!(refused, [""; 0], "these did not pass");
}

fn those<'a, T>(
    key: &str,
    cases: impl IntoIterator<Item = (&'a str, T)>,
    make: impl Fn(&EmailNet, T) -> Submission,
    is_wrong: fn(&str) -> bool,
) -> Vec<&'a str> {
    let mut worlds = Worlds::new();
    let wrong = cases.into_iter().filter_map(|(what, case)| {
        let net = worlds.next(List::Names(&[key]), &[]);
        let (verdict, _) = net.judge(&make(net, case));
        is_wrong(&verdict).then_some(what)
    });
    wrong.collect()
}
