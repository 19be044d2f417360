//! Sites that name the company and are not its own.

use crate::attack_tools::{judged, none_passes, verdict};
use crate::harness::email_net::{ACME, Submission, page};
use crate::harness::{EmailNet, Place};

const OTHER: &str = "Gamma Market";

/// A net with another company at `gamma.kr`, and the submission of its address.
fn other() -> (EmailNet, Submission) {
    let world = EmailNet::start();
    world.company("gamma.kr", OTHER);
    let submission = world.right("gamma.kr");
    (world, submission)
}

/// What becomes of the other company's address, submitted for Acme, when the other's footer
/// says `line` on every page.
fn with_footer(line: &str) -> (String, Vec<String>) {
    let (world, submission) = other();
    let html = page(OTHER, "Write to info@gamma.kr");
    let html = html.replace("</footer>", &format!("<br>{line}</footer>"));
    for path in ["/", "/contact"] {
        world.net.web.page("www.gamma.kr", path, &html);
    }
    judged(&world, ACME, &submission)
}

/// What becomes of the other company's address, submitted for Acme, when a page of the other
/// has `head` and `text`, and its home page does not know Acme.
fn on_a_page(head: &str, text: &str) -> (String, Vec<String>) {
    let (world, mut submission) = other();
    let html = page(OTHER, &format!("{text}</p><p>Help: info@gamma.kr"));
    let html = html.replace("</head>", &format!("{head}</head>"));
    world.net.web.page("www.gamma.kr", "/entry/17", &html);
    submission.source = world.net.web.url("www.gamma.kr", "/entry/17");
    judged(&world, ACME, &submission)
}

#[test]
fn who_hosts_designs_or_serves_a_site_does_not_own_it() {
    let lines = [
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
    ];
    none_passes(lines.map(|line| (line, with_footer(line))));
}

#[test]
fn a_list_of_companies_names_no_owner_whatever_digits_it_holds() {
    let lines = [
        "Acme Foods, 7-Eleven, Beta Corp",
        "Acme Foods | 3M | Beta Corp",
    ];
    none_passes(lines.map(|line| (line, with_footer(line))));
}

#[test]
fn a_headline_that_begins_with_the_name_is_no_owner() {
    let lines = [
        "Acme Foods: record profits this year",
        "Acme Foods – record profits this year",
        "Acme Foods > Sauces",
    ];
    none_passes(lines.map(|line| {
        let (world, submission) = other();
        let html = page(OTHER, "Write to info@gamma.kr");
        let html = html.replace("</main>", &format!("<h1>{line}</h1></main>"));
        for path in ["/", "/contact"] {
            world.net.web.page("www.gamma.kr", path, &html);
        }
        (line, judged(&world, ACME, &submission))
    }));
}

#[test]
fn two_letters_below_a_domain_are_a_language_or_a_tenant() {
    let (world, mut submission) = other();
    world.net.host("zz.gamma.kr");
    let html = page(ACME, "Write to info@gamma.kr");
    for path in ["/", "/contact"] {
        world.net.web.page("zz.gamma.kr", path, &html);
    }
    submission.site = world.net.web.url("zz.gamma.kr", "/");
    submission.source = world.net.web.url("zz.gamma.kr", "/contact");
    none_passes([("zz.gamma.kr", judged(&world, ACME, &submission))]);
}

#[test]
fn a_footer_that_leads_to_the_company_is_not_the_companys() {
    let lines = [
        "<a href=\"https://www.acmefoods.co.kr/\">Acme Foods</a>",
        "<select><option>Family sites</option><option>Acme Foods</option></select>",
    ];
    none_passes(lines.map(|line| (line, with_footer(line))));
}

#[test]
fn a_credit_in_the_text_of_a_page_is_no_owner() {
    let texts = [
        "Photo © Acme Foods",
        "<figure><img src=p.jpg><figcaption>ⓒ Acme Foods</figcaption></figure>",
        "About this seller: © 2026 Acme Foods. All rights reserved.",
    ];
    none_passes(texts.map(|text| (text, on_a_page("", text))));
}

#[test]
fn an_entry_that_bears_the_sellers_name_is_the_markets() {
    let entries = [
        (
            "site name",
            "<meta property=\"og:site_name\" content=\"Acme Foods\">",
            "",
        ),
        (
            "a footer of the entry",
            "",
            "</p></main><div class=\"footer\">Seller: Acme Foods</div><main><p>",
        ),
    ];
    none_passes(entries.map(|(name, head, text)| (name, on_a_page(head, text))));
}

#[test]
fn a_front_page_that_writes_about_the_company_is_not_the_companys() {
    let fronts = [
        (
            "headline",
            "<title>Gamma News</title><main><h1>Acme Foods opens a plant in Busan</h1></main>",
        ),
        (
            "shop",
            "<title>Gamma Market: Beta shoes, Acme Foods, Delta tea and more</title>",
        ),
        (
            "menu",
            "<title>Gamma News</title><header><nav><ul><li>Politics<li>On Acme Foods</ul></nav></header>",
        ),
    ];
    none_passes(fronts.map(|(name, front)| {
        let (world, submission) = other();
        let html = format!("{front}<p>info@gamma.kr</p><footer>© 2026 Gamma</footer>");
        world.net.web.page("www.gamma.kr", "/", &html);
        (name, judged(&world, ACME, &submission))
    }));
}

#[test]
fn a_name_that_goes_on_is_another_companys() {
    let names = [
        ("한빛건설", "한빛건설기계"),
        ("한빛전자", "한빛전자서비스"),
        ("한빛식품", "새한빛식품"),
    ];
    none_passes(names.map(|(key, owner)| {
        let world = EmailNet::start();
        world.company("gamma.kr", owner);
        (owner, judged(&world, key, &world.right("gamma.kr")))
    }));
}

#[test]
fn a_page_below_a_host_for_many_does_not_speak_for_the_host() {
    let (world, mut submission) = other();
    let html = page(ACME, "Mail: info@gamma.kr");
    world.net.host("shop17.gamma.kr");
    world.net.web.page("shop17.gamma.kr", "/", &html);
    submission.site = world.net.web.url("shop17.gamma.kr", "/");
    submission.source = submission.site.clone();
    none_passes([("subdomain", judged(&world, ACME, &submission))]);
}

#[test]
fn an_anchor_below_a_host_for_many_is_not_met_by_a_neighbour() {
    let neighbours = [
        ("acme.gamma.kr", "evil.gamma.kr", "/"),
        ("www.gamma.kr/acme", "www.gamma.kr", "/evil"),
    ];
    none_passes(neighbours.map(|(anchor, host, path)| {
        let (world, mut submission) = other();
        let html = page(ACME, "Mail: made.up@gamma.kr");
        world.net.host(host);
        world.net.web.page(host, path, &html);
        submission.site = world.net.web.url(host, path);
        submission.source = submission.site.clone();
        submission.email = "made.up@gamma.kr".to_owned();
        let place = Place::new();
        place.write("list.csv", format!("name,site\n{ACME},{anchor}\n"));
        let scan = ["scan", "list.csv", "--col", "name", "--site-col", "site"];
        let flags = world.flags();
        let args = scan.into_iter().chain(flags.iter().map(String::as_str));
        place.run(args).ok();
        (anchor, verdict(&place, &submission))
    }));
}

#[test]
fn an_anchor_below_a_host_for_many_does_not_make_the_hosts_address_the_companys() {
    let (world, mut submission) = other();
    let entry = "<p>info@gamma.kr</p><footer>Acme Foods</footer>";
    let home = page(
        OTHER,
        "Our sellers: Acme Foods, Beta. Write to info@gamma.kr",
    );
    world.net.web.page("www.gamma.kr", "/", &home);
    world.net.web.page("www.gamma.kr", "/acme", entry);
    submission.site = world.net.web.url("www.gamma.kr", "/acme");
    submission.source = submission.site.clone();
    let place = Place::new();
    place.write("list.csv", format!("name,site\n{ACME},www.gamma.kr/acme\n"));
    let scan = ["scan", "list.csv", "--col", "name", "--site-col", "site"];
    let flags = world.flags();
    let args = scan.into_iter().chain(flags.iter().map(String::as_str));
    place.run(args).ok();
    none_passes([("/acme", verdict(&place, &submission))]);
}
