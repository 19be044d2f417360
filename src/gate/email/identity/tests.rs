//! Step 7 on canned sites.

use super::*;
use crate::gate::email::testing::{
    Canned, begun_at, page_of, page_saying, rules, silence, url, visit_of,
};
use crate::world::fetch::visit::{End, Visit};
use crate::world::page::OwnerPlace;

const SITE: &str = "https://acme.co.kr/";
const HOME: &str = SITE;
const CONTACT: &str = "https://acme.co.kr/contact";

fn stands(name: &str, visit: &Visit) -> Standing {
    standing(visit, &url(SITE), &url(HOME), &CompanyName::parse(name))
}

const EVERY_PLACE: [OwnerPlace; 9] = [
    OwnerPlace::Title,
    OwnerPlace::SiteName,
    OwnerPlace::Heading,
    OwnerPlace::Logo,
    OwnerPlace::Organization,
    OwnerPlace::Header,
    OwnerPlace::Footer,
    OwnerPlace::Copyright,
    OwnerPlace::Address,
];

#[test]
fn every_owners_place_of_the_home_page_names_the_owner() {
    for place in EVERY_PLACE {
        let visit = visit_of(vec![page_of(HOME, place, "ACME Foods Co., Ltd.")]);
        assert_eq!(stands("Acme Foods", &visit), Standing::Owner, "{place:?}");
        assert_eq!(stands("Acme Toys", &visit), Standing::Absent, "{place:?}");
    }
}

#[test]
fn an_article_about_a_company_is_not_its_page() {
    let article = "https://acme.co.kr/article/1";
    for place in [
        OwnerPlace::Title,
        OwnerPlace::Heading,
        OwnerPlace::Organization,
    ] {
        let visit = visit_of(vec![page_of(article, place, "Bolt Foods sues Acme")]);
        assert_eq!(
            stands("Bolt Foods", &visit),
            Standing::Mentioned,
            "{place:?}"
        );
    }
    let visit = visit_of(vec![page_of(
        article,
        OwnerPlace::Copyright,
        "© Acme Foods",
    )]);
    assert_eq!(stands("Acme Foods", &visit), Standing::Signed);
}

#[test]
fn text_alone_is_a_mention() {
    let visit = visit_of(vec![page_saying(HOME, "we bought Bolt Foods")]);
    assert_eq!(stands("Bolt Foods", &visit), Standing::Mentioned);
}

#[test]
fn a_name_that_the_url_carries_counts_for_nothing() {
    let owner = |at: &str| visit_of(vec![page_of(at, OwnerPlace::Copyright, "Bolt Foods")]);
    for at in [
        "https://acme.co.kr/search?q=Bolt+Foods",
        "https://acme.co.kr/search?q=bolt%2520foods",
        "https://acme.co.kr/bolt-foods/",
        "https://acme.co.kr/Bolt/Foods",
        "https://bolt-foods.acme.co.kr/",
        "https://acme.co.kr/search?q=Qm9sdCBGb29kcw",
    ] {
        assert_eq!(stands("Bolt Foods", &owner(at)), Standing::Carried, "{at}");
    }
    let visit = begun_at("https://acme.co.kr/?q=Bolt+Foods", owner(CONTACT));
    assert_eq!(stands("Bolt Foods", &visit), Standing::Carried);
    assert_eq!(stands("Bolt Foods", &owner(CONTACT)), Standing::Signed);
}

#[test]
fn the_registrable_domain_may_carry_the_name() {
    let visit = visit_of(vec![page_of(
        "https://www.acme.co.kr/x",
        OwnerPlace::Footer,
        "Acme",
    )]);
    assert_eq!(stands("Acme", &visit), Standing::Signed);
}

#[test]
fn pages_of_other_sites_say_nothing() {
    let visit = visit_of(vec![page_of(
        "https://bolt.kr/",
        OwnerPlace::Copyright,
        "Bolt Foods",
    )]);
    assert_eq!(stands("Bolt Foods", &visit), Standing::Absent);
    let visit = visit_of(vec![
        page_saying(CONTACT, "hello"),
        page_of("https://bolt.kr/", OwnerPlace::Copyright, "Bolt Foods"),
    ]);
    assert_eq!(stands("Bolt Foods", &visit), Standing::Absent);
}

#[test]
fn a_visit_without_a_page_says_nothing() {
    let mut visit = visit_of(vec![page_saying(CONTACT, "Acme Foods")]);
    visit.end = End::Unanswered {
        url: url(CONTACT),
        why: silence(),
    };
    assert_eq!(stands("Acme Foods", &visit), Standing::Absent);
}

/// What the step finds, the source page and the home page being this HTML.
fn run(key: &str, world: &Canned) -> Vec<String> {
    let fields = [SITE, "info@acme.co.kr", CONTACT];
    let findings = world.run(&STEP, key, fields);
    rules(&findings).into_iter().map(str::to_owned).collect()
}

const MAIL: &str = "<p>Mail: info@acme.co.kr</p>";

fn web() -> Canned {
    Canned::default().html(CONTACT, MAIL)
}

#[test]
fn the_home_page_is_asked_unless_it_is_the_source() {
    let body = format!("<p>{MAIL}</p><footer>© 2024 Acme Foods Inc.</footer>");
    let world = Canned::default().html(HOME, &body);
    let fields = [SITE, "info@acme.co.kr", HOME];
    assert!(world.run(&STEP, "Acme Foods", fields).is_empty());
    assert_eq!(world.asked(), [HOME]);
    let world = web().html(HOME, "<title>Acme Foods</title>");
    assert_eq!(run("Acme Foods", &world), [""; 0]);
    assert_eq!(world.asked(), [CONTACT, HOME]);
}

#[test]
fn a_signature_holds_where_the_home_page_knows_the_company() {
    let body = format!("<p>{MAIL}</p><footer>© 2024 Acme Foods Inc.</footer>");
    let signed = |home: &str| Canned::default().html(CONTACT, &body).html(HOME, home);
    let knows = signed("<title>Noodles</title><p>Acme Foods makes noodles");
    assert_eq!(run("Acme Foods", &knows), [""; 0]);
    let does_not = signed("<title>Gamma Market</title>");
    assert_eq!(run("Acme Foods", &does_not), ["company-mentioned-only"]);
    let none = Canned::default().html(CONTACT, &body);
    assert_eq!(run("Acme Foods", &none), ["company-mentioned-only"]);
}

#[test]
fn a_name_on_neither_page() {
    let world = web().html(HOME, "<title>Bolt</title>");
    assert_eq!(run("Acme Foods", &world), ["company-not-on-site"]);
    assert_eq!(run("Acme Foods", &web()), ["company-not-on-site"]);
}

#[test]
fn a_name_that_is_only_mentioned() {
    let world = web().html(HOME, "<title>News</title><p>Acme Foods was sued</p>");
    assert_eq!(run("Acme Foods", &world), ["company-mentioned-only"]);
    let world = Canned::default()
        .html(
            CONTACT,
            "<title>Acme Foods sued</title><p>info@acme.co.kr</p>",
        )
        .html(HOME, "<title>The News</title>");
    assert_eq!(run("Acme Foods", &world), ["company-mentioned-only"]);
}

#[test]
fn a_home_page_that_leads_to_the_real_company_does_not_count() {
    let world = web()
        .redirects(HOME, "https://acme-foods.com/")
        .html("https://acme-foods.com/", "<title>Acme Foods</title>");
    assert_eq!(run("Acme Foods", &world), ["company-not-on-site"]);
}

#[test]
fn a_silent_home_page_is_asked_again_some_day() {
    assert_eq!(
        run("Acme Foods", &web().silent(HOME)),
        ["identity-unanswered"]
    );
}

#[test]
fn a_weak_name_is_for_a_person() {
    for key in ["3M", "주식회사", "Global Trading Inc."] {
        let world = web().html(HOME, "<title>3M 주식회사 Global Trading</title>");
        assert_eq!(run(key, &world), ["company-name-weak"], "{key}");
        assert_eq!(world.asked(), [""; 0]);
    }
}

fn fired(email: &str, taken: &[&str]) -> Option<String> {
    let email = Mailbox::parse(email).unwrap();
    let world = taken
        .iter()
        .fold(Canned::default(), |world, what| world.taken(what));
    reuse(&world, &email).map(|finding| {
        assert!(finding.actual.contains("Other"), "{}", finding.actual);
        finding.rule.to_string()
    })
}

#[test]
fn the_same_address_or_else_the_same_domain() {
    let both = ["info@acme.co.kr", "acme.co.kr"];
    assert_eq!(
        fired("Info@acme.co.kr", &both).as_deref(),
        Some("email-reused")
    );
    assert_eq!(
        fired("x@mail.acme.co.kr", &both).as_deref(),
        Some("domain-reused")
    );
    assert_eq!(fired("info@acme.com", &both), None);
}

#[test]
fn a_providers_domain_is_everybodys() {
    assert_eq!(fired("acme@naver.com", &["naver.com"]), None);
    let taken = ["acme@naver.com"];
    assert_eq!(
        fired("acme@naver.com", &taken).as_deref(),
        Some("email-reused")
    );
}

fn home(site: &str) -> String {
    home_url(&Url::parse(site).unwrap()).into()
}

#[test]
fn the_root_of_an_own_host() {
    assert_eq!(
        home("https://www.acme.co.kr/en/?q=Acme#x"),
        "https://www.acme.co.kr/"
    );
    assert_eq!(home("http://acme.co.kr:8080/a"), "http://acme.co.kr:8080/");
}

#[test]
fn a_name_below_a_domain_introduces_its_own_mail_alone() {
    let introduces = |home: &str, email: &str| {
        introduces(&Url::parse(home).unwrap(), &Mailbox::parse(email).unwrap())
    };
    for home in [
        "acme.co.kr",
        "www.acme.co.kr",
        "en.acme.co.kr",
        "m.acme.co.kr",
    ] {
        let home = format!("https://{home}/");
        assert!(introduces(&home, "info@acme.co.kr"), "{home}");
    }
    let foods = "https://foods.acme.co.kr/";
    assert!(introduces(foods, "info@foods.acme.co.kr"));
    assert!(introduces(foods, "info@mail.foods.acme.co.kr"));
    assert!(introduces(
        "https://www.foods.acme.co.kr/",
        "info@foods.acme.co.kr"
    ));
    for email in [
        "info@acme.co.kr",
        "info@toys.acme.co.kr",
        "info@xfoods.acme.co.kr",
    ] {
        assert!(!introduces(foods, email), "{email}");
    }
    assert!(!introduces("https://c1.acme.co.kr/", "info@acme.co.kr"));
    assert!(introduces("https://acme.tistory.com/", "info@acme.co.kr"));
}

#[test]
fn a_name_that_may_be_anybodys_is_introduced_by_its_domain() {
    let of = |site: &str, email: &str| {
        let (site, email) = (Url::parse(site).unwrap(), Mailbox::parse(email).unwrap());
        String::from(home_page(&site, &email))
    };
    let shop = "http://shop17.gamma.kr:8080/x";
    assert_eq!(of(shop, "info@gamma.kr"), "http://www.gamma.kr:8080/");
    assert_eq!(
        of(shop, "info@shop17.gamma.kr"),
        "http://shop17.gamma.kr:8080/"
    );
    assert_eq!(
        of("https://en.gamma.kr/", "info@gamma.kr"),
        "https://en.gamma.kr/"
    );
}

#[test]
fn a_hosted_site_itself() {
    let site = "https://blog.naver.com/acme";
    assert_eq!(home(site), site);
}
