//! Step 7 on sites of a small world.

use super::*;
use crate::base::rows;
use crate::gate::email::site::registrable;
use crate::gate::email::tests::{EmailCase, url};
use crate::gate::tests::{FakeWorld, no_answer_in_time};
use crate::world::Fetched;

const HOME: &str = "https://acme.co.kr/";
const CONTACT: &str = "https://acme.co.kr/contact";

/// A submission for the company, whose contact page and home page are these.
fn company(key: &str, contact: &str, home: &str) -> EmailCase {
    let mut case = EmailCase::good().key(key);
    case.world.html(CONTACT, contact);
    let menu = "<nav><a href=/contact>Contact</a></nav>";
    case.world.html(HOME, &format!("{menu}{home}"));
    case
}

const MAIL: &str = "<p>Mail: info@acme.co.kr</p>";
const SIGNED: &str = "<title>Acme Foods</title><p>Mail: info@acme.co.kr</p>\
                      <footer>© 2024 Acme Foods Inc.</footer>";

#[test]
fn a_site_without_a_notice_must_declare_the_name() {
    let mut case = EmailCase::good().key("Acme Foods").source(HOME);
    case.world.html(HOME, SIGNED);
    assert_eq!(case.run(&STEP), []);
    assert_eq!(case.world.asked(), [HOME]);
    let case = company("Acme Foods", MAIL, "<title>Acme Foods</title>");
    assert_eq!(case.fired(&STEP), ["company-mentioned-only"]);
    assert_eq!(case.world.asked(), [HOME, CONTACT]);
}

const NOTICE: &str = "https://acme.co.kr/impressum";

/// The rules that fire where the home page links to a notice that says this.
fn with_notice(key: &str, home: &str, notice: &str) -> EmailCase {
    let home = format!("{home}<footer><a href=/impressum>Impressum</a></footer>");
    let mut case = company(key, MAIL, &home);
    case.world.html(NOTICE, notice);
    case
}

#[test]
fn the_notice_proves_or_contests() {
    let acme = "<h1>Impressum</h1><p>Acme Foods GmbH<br>Hauptstr. 1</p>";
    let brand = "<title>Nudelwelt</title><meta property=og:site_name content=Nudelwelt>";
    let sister = "<h1>Impressum</h1><p>Acme Logistics GmbH</p>";
    let declared = "<title>Acme Foods</title><footer>© Acme Foods</footer>";
    for (home, notice, expected) in rows! {
        "<title>Acme Foods</title>", acme => "";
        brand, acme => "";
        brand, "<h1>Impressum</h1><p>Gamma GmbH" => "company-not-on-site";
        "<title>Acme Foods</title>", "<h1>Impressum</h1><p>Gamma GmbH" => "owner-contested";
        declared, sister => "owner-contested";
        declared, "<h1>Impressum</h1><p>Tel. 1" => "company-mentioned-only";
        declared, "<p>Gamma GmbH<h1>Impressum</h1><p>Tel. 1" => "company-mentioned-only";
        declared, "<h1>Impressum</h1><p>Gamma GmbH<p>Kataloge herausgegeben von Acme Foods GmbH"
            => "owner-contested";
        declared, "<h1>Impressum</h1><p>Verantwortlich: Gamma GmbH<p>Acme Foods GmbH"
            => "owner-contested";
        declared, "<h1>Impressum</h1><p>Verantwortlich: Jo Doe<p>Acme Foods GmbH, HRB 12345" => "";
        declared, "<h1>Impressum</h1><p>Betreiber: <a href=https://gamma.de>Gamma GmbH</a><p>Acme Foods GmbH"
            => "owner-contested";
        declared, "<h1>Impressum</h1><p>Betreiber: <a href=https://acme.de>Acme Foods GmbH</a>" => "";
        "<title>Noodles</title>", "<h1>Impressum</h1><p>Betreiber: <a href=https://acme.de>Acme Foods GmbH</a>"
            => "company-mentioned-only";
        declared, "<h1>Impressum</h1><p>Lieferant: <a href=https://acme.de>Acme Foods GmbH</a>"
            => "company-mentioned-only";
        declared, "<h1>Impressum</h1><p>Acme Foods GmbH<p>Webdesign: <a href=https://gamma.de>Gamma GmbH</a>" => "";
        declared, "<h1>Impressum</h1><p>Acme Foods GmbH<p>Firma: <a href=https://acme.de>Acme Foods GmbH</a>" => "";
        brand, "<h1>Impressum</h1><p>Tel. 1" => "company-not-on-site";
        "<title>Acme Foods</title>", "<h1>Impressum</h1>" => "company-mentioned-only";
    } {
        let case = with_notice("Acme Foods", home, notice);
        assert_eq!(case.fired(&STEP).join(" "), expected, "{home} {notice}");
        assert_eq!(case.world.asked(), [HOME, CONTACT, NOTICE]);
    }
}

#[test]
fn the_notice_contests_what_the_frame_of_the_site_says() {
    let labelled = "<title>Acme Foods</title><footer>Acme Foods, KvK 12345678</footer>";
    let seller = "<h1>Impressum</h1><p>Diensteanbieter: Jo Doe</p>";
    let longer = "<h1>Impressum</h1><p>Acme Foods de Paris SAS</p>";
    let same = "<h1>Impressum</h1><p>Acme Foods GmbH</p>";
    for (key, notice, expected) in rows! {
        "Acme Foods", same => "";
        "Acme Foods", "<h1>Impressum</h1><p>Gamma GmbH" => "owner-contested";
        "Acme Foods", "<h1>Impressum</h1><p>Tel. 1" => "";
        // A list's short name may be a part of the firm's.
        "Acme Foods", longer => "";
        "Acme Foods SARL", longer => "owner-contested";
        "Acme Foods SARL", "<h1>Impressum</h1><p>Acme Foods Group SAS" => "";
        "Acme Foods GmbH", seller => "owner-contested";
    } {
        // The notice has the frame, too, or none.
        for frame in [labelled, ""] {
            let case = with_notice(key, labelled, &format!("{frame}{notice}"));
            assert_eq!(
                case.fired(&STEP).join(" "),
                expected,
                "{key} {frame}{notice}"
            );
        }
    }
    let person = "<h1>Aviso legal</h1><p>Titular: Ana Ruiz</p>";
    for (key, expected) in rows! {
        "Acme Foods" => "";
        "Acme Foods SL" => "owner-contested";
    } {
        let home = "<title>Acme Foods</title><footer>© Acme Foods</footer>";
        let case = with_notice(key, home, person);
        assert_eq!(case.fired(&STEP).join(" "), expected, "{key}");
    }
}

#[test]
fn a_label_in_the_frame_of_a_site_says_who_runs_it() {
    let ours = "<p>Bedrijfsnaam: Gamma Noodles BV</p>";
    let home = format!("<title>Welcome</title><p>Hello</p>{ours}");
    let framed = format!("{MAIL}{ours}");
    // A parent company has a number, too.
    let numbered = "<p>Gamma Noodles BV, KvK 12345678</p>";
    let with_number = format!("{MAIL}{numbered}");
    for (title, expected) in rows! {
        "Gamma Noodles" => "";
        "Acme Bakery" => "company-mentioned-only";
    } {
        let home = format!("<title>{title}</title><p>Hello</p>{numbered}");
        let case = company("Gamma Noodles", &with_number, &home).source(CONTACT);
        assert_eq!(case.fired(&STEP).join(" "), expected, "{title}");
    }
    for (contact, source, expected) in rows! {
        framed.as_str(), CONTACT => "";
        MAIL, CONTACT => "company-mentioned-only";
        home.as_str(), CONTACT => "company-mentioned-only";
        framed.as_str(), HOME => "company-mentioned-only";
    } {
        let case = company("Gamma Noodles", contact, &home).source(source);
        assert_eq!(case.fired(&STEP).join(" "), expected, "{contact} {source}");
    }
}

#[test]
fn a_labelled_operator_contests_wherever_all_pages_have_it() {
    let home = "<title>Acme Foods</title><footer>© Acme Foods</footer>";
    let other = "<p>Betreiber: Gamma UG</p>";
    let same = "<p>Betreiber: Acme Foods UG</p>";
    let notice = "<h1>Impressum</h1><p>Acme Foods UG</p>";
    for (at_home, at_source, on_notice, expected) in rows! {
        "", "", "" => "";
        same, same, same => "";
        other, other, other => "owner-contested";
        other, other, "" => "owner-contested";
        other, "", other => "owner-contested";
        // On the home page alone, it may be a customer's or a dealer's.
        other, "", "" => "";
    } {
        let at_home = format!("{home}{at_home}");
        let mut case = with_notice("Acme Foods", &at_home, &format!("{notice}{on_notice}"));
        case.world.html(CONTACT, &format!("{MAIL}{at_source}"));
        assert_eq!(
            case.fired(&STEP).join(" "),
            expected,
            "{at_home} {at_source} {on_notice}"
        );
    }
}

#[test]
fn a_label_anywhere_on_the_home_page_contests_what_it_declares() {
    for (around, expected) in rows! {
        "" => "";
        "<p>Betreiber: Gamma UG</p>" => "owner-contested";
        "<aside><p>Betreiber: Gamma UG</p></aside>" => "owner-contested";
        "<nav><p>Betreiber: Gamma UG</p></nav>" => "owner-contested";
        "<header><p>This website is operated by Gamma UG.</p></header>" => "owner-contested";
        "<aside><p>Betreiber: Acme Foods UG</p></aside>" => "";
        "<nav><p>Gamma UG</p></nav>" => "";
        "<aside><p>The bar is operated by Gamma UG.</p></aside>" => "";
        "<aside><p>Webdesign: Gamma UG</p></aside>" => "";
    } {
        let home = format!("{around}{SIGNED}");
        let case = company("Acme Foods", MAIL, &home);
        assert_eq!(case.fired(&STEP).join(" "), expected, "{around}");
    }
}

#[test]
fn the_legal_name_of_a_brand_says_whose_the_site_is() {
    for (key, legal, expected) in rows! {
        "Acme Foods", "Gamma GmbH" => "owner-contested";
        "Acme Foods", "Acme Foods GmbH" => "";
        "Acme Foods", "" => "";
        "Gamma GmbH", "Gamma GmbH" => "company-mentioned-only";
    } {
        let data = format!(r#"{{"@type":"Store","name":"Acme Foods","legalName":"{legal}"}}"#);
        let home = format!("<script type=application/ld+json>{data}</script>{SIGNED}");
        let case = company(key, MAIL, &home);
        assert_eq!(case.fired(&STEP).join(" "), expected, "{key} {legal}");
    }
}

#[test]
fn a_firm_in_the_frame_proves_where_title_and_domain_call_it() {
    let address = "<footer>Acme GmbH, Hauptstr. 1</footer>";
    for (key, home, contact, expected) in rows! {
        "Acme GmbH", "<title>Acme</title>", address => "";
        "Acme", "<title>Acme</title>", address => "company-mentioned-only";
        "Acme GmbH", "<title>Noodles</title>", address => "company-mentioned-only";
        "Acme GmbH", "<title>Acme</title>", "" => "company-mentioned-only";
        "Acme GmbH", "<title>Acme</title><meta property=og:site_name content=Gamma>", address
            => "owner-contested";
    } {
        let case = company(
            key,
            &format!("{MAIL}{contact}"),
            &format!("{home}{address}"),
        );
        assert_eq!(
            case.fired(&STEP).join(" "),
            expected,
            "{key} {home} {contact}"
        );
    }
    let address = "<footer>Gamma GmbH, Hauptstr. 1</footer>";
    let home = format!("<title>Gamma</title>{address}");
    let case = company("Gamma GmbH", &format!("{MAIL}{address}"), &home);
    let expected = "the domain is another's";
    assert_eq!(case.fired(&STEP), ["company-mentioned-only"], "{expected}");
}

#[test]
fn a_firm_may_trade_under_the_name_of_the_site() {
    for (line, expected) in rows! {
        "Noodle World is a trading name of Acme Foods Ltd" => "";
        "Acme Foods Ltd t/a Noodle World" => "";
        "Noodle World is a trading name of Gamma Ltd, who buy from Acme Foods" => "owner-contested";
        "Noodle Moon is a trading name of Acme Foods Ltd" => "company-mentioned-only";
    } {
        let home = format!("<title>Noodle World | Leeds</title><footer>{line}</footer>");
        let case = company("Acme Foods", MAIL, &home);
        assert_eq!(case.fired(&STEP).join(" "), expected, "{line}");
    }
}

#[test]
fn a_contest_says_where_it_was_found() {
    let case = with_notice(
        "Acme Foods",
        "Acme Foods",
        "<h1>Impressum</h1><p>Gamma GmbH",
    );
    let fact = &case.run(&STEP)[0];
    assert_eq!(&*fact.actual, "the site's notice: \"Gamma GmbH\"");
    assert_eq!(fact.location.as_deref(), Some(NOTICE));
}

#[test]
fn a_silent_notice_matters_unless_the_footer_labels_the_company() {
    for (home, expected) in rows! {
        "<title>Acme Foods</title><footer>© Acme Foods</footer>" => "identity-unanswered";
        "<title>Acme Foods</title>" => "identity-unanswered";
        "<footer>상호: 아크메 (Acme Foods)</footer>" => "";
    } {
        let mut case = with_notice("Acme Foods", home, "");
        let silence = Fetched::Unanswered(no_answer_in_time());
        case.world.fetched(NOTICE, silence);
        assert_eq!(case.fired(&STEP).join(" "), expected, "{home}");
    }
}

#[test]
fn an_anchor_that_is_met_waives_the_name() {
    for (key, anchor, expected) in rows! {
        "Bolt", "acme.co.kr" => "";
        "Bolt", "www.acme.co.kr/en" => "";
        "3M", "acme.co.kr" => "";
        "Bolt", "kr.acme.co.kr" => "company-not-on-site";
        "Bolt", "acme.co.kr/bolt" => "company-not-on-site";
        "Bolt", "gamma.kr" => "company-not-on-site";
    } {
        let case = company(key, MAIL, "<title>Gamma</title>").anchor(anchor);
        assert_eq!(case.fired(&STEP).join(" "), expected, "{key} {anchor}");
    }
    let sold = "<title>acme.co.kr</title><p>This domain is for sale</p>";
    let case = company("Acme Foods", MAIL, sold).anchor("acme.co.kr");
    assert_eq!(case.fired(&STEP), ["site-not-in-use"]);
}

#[test]
fn sites_that_are_sold_or_lapsed_are_not_in_use() {
    let long = "<p>line</p>".repeat(80);
    let article =
        format!("<title>Houses</title>{long}<p>This domain is for sale: how we sold ours</p>");
    for (key, home, expected) in rows! {
        "Acme Foods", "<h1>Buy this domain</h1>" => "site-not-in-use";
        "Acme Foods", "<title>이 도메인은 판매 중입니다</title>" => "site-not-in-use";
        "Acme Foods", "<title>Slot Gacor 2026</title><meta property=og:site_name content='Acme Foods'>" => "site-not-in-use";
        "Acme Foods", article.as_str() => "company-not-on-site";
        "Acme Foods", "<title>Acme</title><p>Our games: online casino machines</p>" => "company-not-on-site";
        "Acme Online Casino AG", "<title>Acme Online Casino</title><footer>© Acme Online Casino AG</footer>" => "";
    } {
        let case = company(key, MAIL, home);
        assert_eq!(case.fired(&STEP).join(" "), expected, "{home}");
    }
}

#[test]
fn a_home_page_that_says_only_its_domain_is_not_in_use() {
    let bare = "<title>acme.co.kr</title><h1>WWW.acme.co.kr</h1><p>양도 문의 info@acme.co.kr</p>";
    let long = format!("{bare}{}", "<p>line</p>".repeat(12));
    for (home, expected) in rows! {
        bare => "site-not-in-use";
        "<h1>acme.co.kr</h1>" => "site-not-in-use";
        "<title>acme.co.kr</title><p>Acme Foods, Seoul</p>" => "";
        "<title>acme.co.kr</title><h1>Welcome</h1>" => "";
        "<title>acme.com</title>" => "";
        "<p>acme.co.kr</p>" => "";
        long.as_str() => "";
    } {
        let case = company("Acme Foods", MAIL, home).anchor("acme.co.kr");
        assert_eq!(case.fired(&STEP).join(" "), expected, "{home}");
    }
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
        "en.acme.co.kr", "info@acme.co.kr" => false;
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
        "https://en.gamma.kr/", "info@gamma.kr" => "https://www.gamma.kr/";
    } {
        let home = home_page(&url(site), &Mailbox::parse(email).unwrap());
        assert_eq!(home.as_str(), expected, "{site} {email}");
    }
}

#[test]
fn beside_a_notice_on_another_site_a_declared_name_is_not_enough() {
    for (link, expected) in rows! {
        "" => "";
        "<a href=https://gamma.de/x>Gamma GmbH</a>" => "";
        "<a href=https://gamma.de/impressum>Impressum</a>" => "company-mentioned-only";
        "<a href=https://gamma.de/x>Impressum der Gamma GmbH</a>" => "company-mentioned-only";
    } {
        let home = format!("<title>Acme Foods</title><footer>© Acme Foods {link}</footer>");
        let case = company("Acme Foods", MAIL, &home);
        assert_eq!(case.fired(&STEP).join(" "), expected, "{link}");
    }
}
