//! Step 7 on sites of a small world.

use super::*;
use crate::base::rows;
use crate::gate::email::site::registrable;
use crate::gate::email::tests::{EmailCase, begun_at, page_of, page_saying, url, visit_of};
use crate::gate::tests::{FakeWorld, no_answer_in_time};
use crate::world::fetch::visit::{End, Visit};
use crate::world::page::OwnerPlace;

const SITE: &str = "https://acme.co.kr/";
const HOME: &str = SITE;
const CONTACT: &str = "https://acme.co.kr/contact";

fn role_of(name: &str, visit: &Visit) -> NameRole {
    name_role(visit, &url(SITE), &url(HOME), &CompanyName::parse(name))
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
        assert_eq!(role_of("Acme Foods", &visit), NameRole::Owner, "{place:?}");
        assert_eq!(role_of("Acme Toys", &visit), NameRole::Absent, "{place:?}");
    }
}

#[test]
fn a_page_says_no_more_than_its_place_and_text() {
    use OwnerPlace::{Copyright, Footer, Heading, Organization, Title};
    let article = "https://acme.co.kr/article/1";
    let on = |at: &str, place, text: &str| visit_of(vec![page_of(at, place, text)]);
    let sued = "Bolt Foods sues Acme";
    let framed = vec![
        page_saying(CONTACT, "hello"),
        page_of("https://bolt.kr/", Copyright, "Bolt Foods"),
    ];
    let mut unanswered = visit_of(vec![page_saying(CONTACT, "Bolt Foods")]);
    unanswered.end = End::Unanswered {
        url: url(CONTACT),
        why: no_answer_in_time(),
    };
    for (case, visit, expected) in rows! {
        "the title of an article", on(article, Title, sued) => NameRole::Mentioned;
        "the heading of an article", on(article, Heading, sued) => NameRole::Mentioned;
        "an article's organization", on(article, Organization, sued) => NameRole::Mentioned;
        "the copyright of an article", on(article, Copyright, "© Bolt Foods") => NameRole::Signed;
        "text", visit_of(vec![page_saying(HOME, "we bought Bolt Foods")]) => NameRole::Mentioned;
        "another site", on("https://bolt.kr/", Copyright, "Bolt Foods") => NameRole::Absent;
        "a frame of another site", visit_of(framed) => NameRole::Absent;
        "no page", unanswered => NameRole::Absent;
    } {
        assert_eq!(role_of("Bolt Foods", &visit), expected, "{case}");
    }
    // The registrable domain may carry the name.
    let own = on("https://www.acme.co.kr/x", Footer, "Acme");
    assert_eq!(role_of("Acme", &own), NameRole::Signed);
}

#[test]
fn a_name_that_the_url_carries_counts_for_nothing() {
    let owner = |at: &str| visit_of(vec![page_of(at, OwnerPlace::Copyright, "Bolt Foods")]);
    for at in "https://acme.co.kr/search?q=Bolt+Foods https://acme.co.kr/search?q=bolt%2520foods
            https://acme.co.kr/bolt-foods/ https://acme.co.kr/Bolt/Foods
            https://bolt-foods.acme.co.kr/ https://acme.co.kr/search?q=Qm9sdCBGb29kcw"
        .split_whitespace()
    {
        assert_eq!(role_of("Bolt Foods", &owner(at)), NameRole::Carried, "{at}");
    }
    let visit = begun_at("https://acme.co.kr/?q=Bolt+Foods", owner(CONTACT));
    assert_eq!(role_of("Bolt Foods", &visit), NameRole::Carried);
    assert_eq!(role_of("Bolt Foods", &owner(CONTACT)), NameRole::Signed);
}

/// A submission for the company, whose contact page and home page are these.
fn company(key: &str, contact: &str, home: &str) -> EmailCase {
    let mut case = EmailCase::good().key(key);
    case.world.html(CONTACT, contact);
    case.world.html(HOME, home);
    case
}

const MAIL: &str = "<p>Mail: info@acme.co.kr</p>";
const SIGNED: &str = "<p>Mail: info@acme.co.kr</p><footer>© 2024 Acme Foods Inc.</footer>";

#[test]
fn the_home_page_is_asked_unless_it_is_the_source() {
    let case = company("Acme Foods", "", SIGNED).source(HOME);
    assert_eq!(case.run(&STEP), []);
    assert_eq!(case.world.asked(), [HOME]);
    let case = company("Acme Foods", MAIL, "<title>Acme Foods</title>");
    assert_eq!(case.run(&STEP), []);
    assert_eq!(case.world.asked(), [CONTACT, HOME]);
}

#[test]
fn a_weak_name_is_for_a_person() {
    for key in ["3M", "주식회사", "Global Trading Inc."] {
        let case = company(key, MAIL, "<title>3M 주식회사 Global Trading</title>");
        assert_eq!(case.fired(&STEP), ["company-name-weak"], "{key}");
        assert_eq!(case.world.asked(), [""; 0]);
    }
}

#[test]
fn the_same_address_or_else_the_same_domain() {
    let both = ["info@acme.co.kr", "acme.co.kr"];
    for (email, taken, expected) in rows! {
        "Info@acme.co.kr", &both[..] => Some("email-reused");
        "x@mail.acme.co.kr", &both => Some("domain-reused");
        "info@acme.com", &both => None;
        // A provider's domain is everybody's.
        "acme@naver.com", &["naver.com"] => None;
        "acme@naver.com", &["acme@naver.com"] => Some("email-reused");
    } {
        let mut world = FakeWorld::default();
        for taken in taken {
            let address = Mailbox::parse(taken).map(UniqueValue::Mailbox);
            let domain =
                || UniqueValue::Domain(registrable(&url(&format!("https://{taken}"))).unwrap());
            world.taken(address.unwrap_or_else(|_| domain()), "Other Company");
        }
        let fact = reuse(&world, &Mailbox::parse(email).unwrap());
        let rule = fact.as_ref().map(|fact| fact.rule.as_str());
        assert_eq!(rule, expected, "{email}");
        assert!(
            fact.is_none_or(|fact| fact.actual.contains("Other")),
            "{email}"
        );
    }
}

#[test]
fn the_root_of_an_own_host_or_a_hosted_site_itself_is_the_home_page() {
    for (site, home) in rows! {
        "https://www.acme.co.kr/en/?q=Acme#x" => "https://www.acme.co.kr/";
        "http://acme.co.kr:8080/a" => "http://acme.co.kr:8080/";
        "https://blog.naver.com/acme" => "https://blog.naver.com/acme";
    } {
        assert_eq!(home_url(&url(site)).as_str(), home);
    }
}

#[test]
fn a_name_below_a_domain_introduces_its_own_mail_alone() {
    for (home, email, expected) in rows! {
        "acme.co.kr", "info@acme.co.kr" => true;
        "www.acme.co.kr", "info@acme.co.kr" => true;
        "en.acme.co.kr", "info@acme.co.kr" => true;
        "m.acme.co.kr", "info@acme.co.kr" => true;
        "foods.acme.co.kr", "info@foods.acme.co.kr" => true;
        "foods.acme.co.kr", "info@mail.foods.acme.co.kr" => true;
        "www.foods.acme.co.kr", "info@foods.acme.co.kr" => true;
        "foods.acme.co.kr", "info@acme.co.kr" => false;
        "foods.acme.co.kr", "info@toys.acme.co.kr" => false;
        "foods.acme.co.kr", "info@xfoods.acme.co.kr" => false;
        "c1.acme.co.kr", "info@acme.co.kr" => false;
        "acme.tistory.com", "info@acme.co.kr" => true;
    } {
        let (page, mailbox) = (
            url(&format!("https://{home}/")),
            Mailbox::parse(email).unwrap(),
        );
        assert_eq!(introduces(&page, &mailbox), expected, "{home} {email}");
    }
}

#[test]
fn a_name_that_may_be_anybodys_is_introduced_by_its_domain() {
    let shop = "http://shop17.gamma.kr:8080/x";
    for (site, email, expected) in rows! {
        shop, "info@gamma.kr" => "http://www.gamma.kr:8080/";
        shop, "info@shop17.gamma.kr" => "http://shop17.gamma.kr:8080/";
        "https://en.gamma.kr/", "info@gamma.kr" => "https://en.gamma.kr/";
    } {
        let home = home_page(&url(site), &Mailbox::parse(email).unwrap());
        assert_eq!(home.as_str(), expected, "{site} {email}");
    }
}
