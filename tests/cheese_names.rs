//! Cheating with names: a site that is not the company's, and names that tell nothing.

use crate::harness::EmailNet;
use crate::harness::email_net::{ACME, Submission, page};
use crate::servers::http::Reply;

/// The directory of companies that these tests submit for Bolt.
const JOBS: &str = "jobs.kr";

/// A company whose own page nobody has set up.
const BOLT: &str = "Bolt Toys";

/// A session of Bolt Toys, and a directory of companies with an address of its own.
fn directory() -> EmailNet {
    let world = EmailNet::with(&[BOLT], &[]);
    world.company(JOBS, "Jobs");
    world
}

fn help(world: &EmailNet, host: &str, path: &str) -> Submission {
    Submission {
        site: world.net.web.url(host, "/"),
        email: format!("info@{JOBS}"),
        source: world.net.web.url(host, path),
    }
}

/// The directory's page at a path, with a title and a text of its own.
fn entry(title: &str, text: &str) -> String {
    format!(
        "<title>{title}</title><h1>{title}</h1><p>{text}</p>\
         <footer>© Jobs | info@jobs.kr</footer>"
    )
}

#[test]
fn the_site_of_another_company_is_for_a_person() {
    let world = EmailNet::with(&[BOLT], &[]);
    let other = world.right("acme.co.kr");
    world.expect(1, &other, "REVIEW", &["company-not-on-site"]);
}

#[test]
fn a_name_that_a_search_page_echoes_is_not_the_owners() {
    for path in [
        "/search?q=Bolt+Toys",
        "/search?q=bolt%2520toys",
        "/search/Bolt%20Toys",
        "/search/Bolt%E2%80%8B%20Toys",
        "/search/Bolt/Toys",
        "/search?q=Qm9sdCBUb3lz",
    ] {
        let world = directory();
        let found = page(BOLT, "info@jobs.kr");
        world.net.web.page("www.jobs.kr", path, &found);
        let (verdict, rules) = world.judge(&help(&world, "www.jobs.kr", path));
        assert_eq!(verdict, "REVIEW", "{path}");
        assert!(
            rules.contains(&"company-not-on-site".to_owned()),
            "{path}: {rules:?}"
        );
    }
}

#[test]
fn a_name_in_the_news_is_a_mention() {
    let world = directory();
    let article = entry("Bolt Toys sued by Acme", "Bolt Toys says it is sorry.");
    world.net.web.page("www.jobs.kr", "/news/1", &article);
    let lie = help(&world, "www.jobs.kr", "/news/1");
    world.expect(1, &lie, "REVIEW", &["company-mentioned-only"]);
}

#[test]
fn an_entry_of_a_directory_is_a_mention() {
    let world = directory();
    let organization = r#"<script type="application/ld+json">
        {"@type":"Organization","name":"Bolt Toys"}</script>"#;
    let html = entry("Bolt Toys", "Address: 1 Way, Bolt Toys") + organization;
    world.net.web.page("www.jobs.kr", "/company/17", &html);
    let home = entry("Jobs", "Bolt Toys and 1,000 other companies");
    world.net.web.page("www.jobs.kr", "/", &home);
    let lie = help(&world, "www.jobs.kr", "/company/17");
    world.expect(1, &lie, "REVIEW", &["company-mentioned-only"]);
}

#[test]
fn a_name_below_a_portals_domain_does_not_make_it_the_companys() {
    for host in ["bolt-toys.jobs.kr", "c17.jobs.kr", "bolt.toys.jobs.kr"] {
        let world = directory();
        world.net.host(host);
        let html = entry("Bolt Toys", "the page of a company in a directory");
        world.net.web.page(host, "/", &html);
        let (verdict, rules) = world.judge(&help(&world, host, "/"));
        assert_eq!(verdict, "REVIEW", "{host}: {rules:?}");
        assert!(rules[0].starts_with("company-"), "{host}: {rules:?}");
    }
}

#[test]
fn a_name_below_a_domain_speaks_for_its_own_mail() {
    // `foods.acme.co.kr` with mail of its own is a site like any other.
    let world = EmailNet::start();
    world.company("foods.acme.co.kr", ACME);
    world
        .net
        .web
        .page("foods.acme.co.kr", "/", "<title>Acme Foods</title>");
    let contact = "<p>info@foods.acme.co.kr</p>";
    world.net.web.page("foods.acme.co.kr", "/contact", contact);
    let right = Submission {
        site: world.net.web.url("foods.acme.co.kr", "/"),
        email: "info@foods.acme.co.kr".to_owned(),
        source: world.net.web.url("foods.acme.co.kr", "/contact"),
    };
    world.expect(1, &right, "PASS", &[]);
}

#[test]
fn a_home_page_that_leads_to_the_real_company_is_not_its_home_page() {
    for lead in ["redirect", "refresh", "frame"] {
        let world = EmailNet::start();
        world.company("evil.kr", "Evil");
        let there = world.net.web.url("www.acme.co.kr", "/");
        let reply = match lead {
            "redirect" => Reply::redirect(301, &there),
            "refresh" => Reply::html("<p>").with("Refresh", &format!("0;url={there}")),
            _ => Reply::html(format!("<iframe src='{there}'></iframe>")),
        };
        world.net.web.reply("www.evil.kr", "/", reply);
        let lie = world.right("evil.kr");
        world.expect(1, &lie, "REVIEW", &["company-not-on-site"]);
    }
}

#[test]
fn a_site_that_itself_leads_to_the_real_company_is_not_the_company() {
    let world = EmailNet::start();
    world.company("evil.kr", "Evil");
    let there = world.net.web.url("www.acme.co.kr", "/contact");
    world
        .net
        .web
        .reply("www.evil.kr", "/contact", Reply::redirect(302, &there));
    let lie = world.right("evil.kr");
    let rules = ["email-not-on-source", "source-off-site"];
    world.expect(1, &lie, "FAIL", &rules);
    // The real company has a page on which others write.
    let there = world.put("/guests", &page(ACME, "info@evil.kr"));
    world
        .net
        .web
        .reply("www.evil.kr", "/out", Reply::redirect(302, &there));
    let lie = lie
        .clone()
        .source(&world.net.web.url("www.evil.kr", "/out"));
    let rules = ["company-not-on-site", "source-off-site"];
    world.expect(1, &lie, "REVIEW", &rules);
}

#[test]
fn names_that_are_all_legal_form_or_common_words_are_for_a_person() {
    for key in [
        "주식회사",
        "(주)",
        "Co., Ltd.",
        "Global Trading Inc.",
        "3M",
        "!!!",
    ] {
        let world = EmailNet::with(&[key], &[]);
        world.company("evil.kr", "주식회사 Global Trading Co., Ltd. 3M !!!");
        world.expect(1, &world.right("evil.kr"), "REVIEW", &["company-name-weak"]);
    }
}

#[test]
fn a_part_of_the_name_is_not_the_name() {
    for (key, shown) in [
        ("Acme Foods", "Acme"),
        ("Acme Foods", "Acme Toys"),
        ("Acme", "Acmerica"),
        ("Acme", "MyAcme"),
        ("한빛", "한빛나라"),
        ("Acme Foods Inc.", "Acme Inc."),
    ] {
        let world = EmailNet::with(&[key], &[]);
        world.company("evil.kr", shown);
        world.expect(
            1,
            &world.right("evil.kr"),
            "REVIEW",
            &["company-not-on-site"],
        );
    }
}

#[test]
fn where_a_company_sits_is_not_its_name() {
    for (key, footer) in [
        ("한빛식품 (Seoul)", "12 Main St, Seoul"),
        ("Hanbit Foods (서울)", "서울 강남구"),
        ("한빛식품 (Head Office)", "Head Office: 12 Main St"),
        ("한빛식품 (USA)", "Austin, USA"),
        ("한빛식품 (Gimpo)", "12 Main St, Gimpo-si"),
        ("Hanbit Foods (안산)", "경기도 안산 12"),
    ] {
        let world = EmailNet::with(&[key], &[]);
        world.company("evil.kr", "Evil");
        let html = format!("<title>Evil</title>info@evil.kr<footer>© Evil<p>{footer}</footer>");
        world.net.web.page("www.evil.kr", "/", &html);
        world.net.web.page("www.evil.kr", "/contact", &html);
        let (verdict, rules) = world.judge(&world.right("evil.kr"));
        assert_eq!(verdict, "REVIEW", "{key}");
        assert!(rules[0].starts_with("company-"), "{key}: {rules:?}");
    }
}

#[test]
fn an_address_serves_one_company_and_its_domain_too() {
    let world = EmailNet::with(&[ACME, BOLT, "Cargo Ring"], &[]);
    let names = page(
        "Acme Foods | Bolt Toys | Cargo Ring",
        "info@acme.co.kr ceo@acme.co.kr",
    );
    let source = world.put("/group", &names);
    let right = world.right("acme.co.kr").clone().source(&source);
    world.net.web.page("www.acme.co.kr", "/", &names);
    world.expect(1, &right, "PASS", &[]);
    world.expect(
        2,
        &right.clone().email("INFO@acme.co.kr"),
        "REVIEW",
        &["email-reused"],
    );
    world.expect(
        3,
        &right.clone().email("ceo@acme.co.kr"),
        "REVIEW",
        &["domain-reused"],
    );
}
