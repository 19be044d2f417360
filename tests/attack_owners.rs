//! Home pages of others that name the company where an owner's name stands.

use crate::attack_tools::{judged, none_passes};
use crate::harness::EmailNet;
use crate::harness::email_net::{ACME, page};

const OTHER: &str = "Gamma Market";

/// What becomes of the address of `gamma.kr`, submitted for `key`, when every page there is
/// `html`.
fn of(key: &str, html: &str) -> (String, Vec<String>) {
    let world = EmailNet::start();
    world.company("gamma.kr", OTHER);
    for path in ["/", "/contact"] {
        world.net.web.page("www.gamma.kr", path, html);
    }
    judged(&world, key, &world.right("gamma.kr"))
}

/// The same, of a page laid out as companies have it, with `line` in its footer.
fn with_footer(line: &str) -> (String, Vec<String>) {
    let html = page(OTHER, "Write to info@gamma.kr");
    of(
        ACME,
        &html.replace("</footer>", &format!("<br>{line}</footer>")),
    )
}

/// The same, of a page that has nothing but this and the address.
fn bare(key: &str, html: &str) -> (String, Vec<String>) {
    of(
        key,
        &format!("<meta charset=utf-8>{html}<p>Write to info@gamma.kr</p>"),
    )
}

fn organization(name: &str) -> String {
    format!(
        "<script type=\"application/ld+json\">{{\"@type\":\"Organization\",\"name\":\"{name}\"}}</script>"
    )
}

#[test]
fn a_list_of_others_is_no_owner_in_any_of_its_lines() {
    let lines = [
        "Our partners:<br>Beta<br>Acme Foods",
        "Our partners:<ul><li>Beta<li>Delta<li>Acme Foods</ul>",
        "Customers<br>Acme Foods",
        "거래처<br>Beta<br>Acme Foods",
        "They build on us<br>Beta<br>Acme Foods",
        "Acme Foods",
        "Acme Foods | 12 Main St | Tel. 02-123-4567",
    ];
    none_passes(lines.map(|line| (line, with_footer(line))));
}

#[test]
fn a_list_of_others_is_no_owner_on_a_page_without_a_copyright_line() {
    let lines = [
        "Our partners:<br>Beta<br>Acme Foods",
        "Customers<br>Acme Foods",
        "They build on us<br>Beta<br>Acme Foods",
    ];
    none_passes(lines.map(|line| {
        let html = format!("<title>{OTHER}</title><footer>{line}</footer>");
        (line, bare(ACME, &html))
    }));
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
    none_passes(lines.map(|line| (line, with_footer(line))));
    none_passes(lines.map(|line| (line, bare(ACME, &format!("<footer>{line}</footer>")))));
}

#[test]
fn a_title_that_names_two_is_not_the_companys() {
    let copyright = "<footer>© 2026 Gamma Mart</footer>";
    let title = "<title>Gamma Mart - Acme Foods</title>";
    let heads = [
        ("copyright", format!("{title}{copyright}")),
        (
            "site name",
            format!("{title}<meta property=og:site_name content='Gamma Mart'>"),
        ),
        (
            "organization",
            format!("{title}{}", organization("Gamma Mart")),
        ),
        ("the domain's name", title.to_owned()),
        (
            "company line",
            format!("{title}<p>상호: Gamma Mart | 대표: 홍길동</p>"),
        ),
    ];
    none_passes(heads.map(|(name, html)| (name, bare(ACME, &html))));
}

#[test]
fn a_menu_that_is_not_called_so_names_what_it_leads_to() {
    let menus = [
        "<title>Gamma Mart</title><header><a href=/>Home</a><ul><li>Beta<li>Acme Foods</ul></header>",
        "<header><ul><li>Gamma Mart<li>Beta<li>Acme Foods</ul></header>",
        "<title>Gamma Mart</title><h1>Acme Foods</h1>",
    ];
    none_passes(menus.map(|html| (html, bare(ACME, html))));
}

#[test]
fn a_sellers_line_on_the_home_page_of_a_market_is_the_sellers() {
    let line = "상호: Acme Foods | 대표: 홍길동 | 사업자등록번호: 123-45-67890";
    let pages = [
        (
            "beside a copyright line",
            format!("<title>Fresh</title><p>{line}</p><footer>© 2026 Gamma Mart</footer>"),
        ),
        (
            "beside the market's own line",
            format!("<p>{line}</p><footer>상호: Gamma Mart | 대표: 김감마</footer>"),
        ),
        (
            "beside the market's title",
            format!("<title>Gamma Mart</title><p>{line}</p>"),
        ),
        (
            "in the footer",
            format!("<title>Gamma Mart</title><footer>{line}</footer>"),
        ),
    ];
    none_passes(pages.map(|(name, html)| (name, bare(ACME, &html))));
    let other_script = "<title>Gamma Mart</title><footer>상호: 한빛식품 | 대표: 홍길동<br>© 2026 Gamma Mart</footer>";
    none_passes([("in another script", bare("(주)한빛식품", other_script))]);
}

#[test]
fn one_of_several_organizations_is_not_the_owner() {
    let both = |one: &str, two: &str| organization(one) + &organization(two);
    let pages = [
        ("first", both(ACME, "Gamma Mart")),
        ("last", both("Gamma Mart", ACME)),
    ];
    none_passes(pages.map(|(name, html)| (name, bare(ACME, &html))));
}

#[test]
fn a_sellers_page_does_not_speak_for_a_market_that_knows_the_seller() {
    let world = EmailNet::start();
    world.company("gamma.kr", OTHER);
    let home = page(
        OTHER,
        "Our sellers: Acme Foods, Beta. Write to info@gamma.kr",
    );
    world.net.web.page("www.gamma.kr", "/", &home);
    let entry = "<title>Shop 17</title><p>info@gamma.kr</p><footer>Acme Foods</footer>";
    world.net.web.page("www.gamma.kr", "/contact", entry);
    let right = world.right("gamma.kr");
    none_passes([("signed", judged(&world, ACME, &right))]);
}

#[test]
fn structured_data_that_no_machine_reads_or_visitors_wrote_names_nobody() {
    let said = organization(ACME);
    let pages = [
        ("template", format!("<template>{said}</template>")),
        (
            "comment",
            format!("<div class=comments><div class=comment>{said}</div></div>"),
        ),
        (
            "a site's name in a template",
            format!("<template><meta property=og:site_name content='{ACME}'></template>"),
        ),
    ];
    none_passes(pages.map(|(name, html)| (name, bare(ACME, &html))));
}

#[test]
fn a_dealers_page_is_not_the_makers() {
    let pages = [
        (
            "distributor",
            "<title>Acme Foods</title><footer>© 2026 Gamma Mart, distributor of Acme Foods</footer>",
        ),
        (
            "site name",
            "<title>Acme Foods</title><meta property=og:site_name content='Gamma - dealer of Acme Foods'>",
        ),
        (
            "a firm of common words",
            "<title>Acme Foods</title><footer>© Global Trading Co., Ltd.</footer>",
        ),
        (
            "a company line in another script",
            "<title>Acme Foods</title><footer>상호: (주)감마무역 | 대표: 홍길동</footer>",
        ),
        (
            "a legal name in another script",
            "<title>Acme Foods</title><footer>© (주)감마무역</footer>",
        ),
    ];
    none_passes(pages.map(|(name, html)| (name, bare(ACME, html))));
    let dealer = "<title>한빛식품</title><footer>© 감마무역 (한빛식품 총판)</footer>";
    none_passes([("총판", bare("한빛식품", dealer))]);
}

#[test]
fn a_title_in_another_script_calls_the_domain() {
    none_passes([(
        "감마마트",
        bare(ACME, "<title>감마마트 - Acme Foods</title>"),
    )]);
}

#[test]
fn an_organization_on_a_page_that_is_called_otherwise_is_a_part_of_it() {
    let listed = "<title>Gamma Mart</title><div itemscope itemtype=\"https://schema.org/Organization\">\
                  <span itemprop=name>Acme Foods</span></div>";
    none_passes([("microdata", bare(ACME, listed))]);
    let data = format!("<title>Gamma Mart</title>{}", organization(ACME));
    none_passes([("JSON-LD", bare(ACME, &data))]);
}
