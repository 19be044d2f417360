//! The whole gate against a small web: what honest submissions and clever ones come to.

use super::testing::Canned;
use crate::gate::{CheckOutcome, Judgement};
use crate::quest::Verdict;

const HOME: &str = "https://hanbit.co.kr/";
const CONTACT: &str = "https://hanbit.co.kr/contact";
const EMAIL: &str = "sales@hanbit.co.kr";
const KEY: &str = "(주)한빛식품";

const FOOTER: &str = "<footer>한빛식품 주식회사 | 대표 김한빛 | sales@hanbit.co.kr</footer>";

fn mail(world: Canned, domain: &str) -> Canned {
    let mx = format!("mx.{domain}");
    world
        .mx(domain, &[(10, &mx)])
        .address(&mx, &["93.184.215.14"])
}

fn web() -> Canned {
    let home = format!("<title>한빛식품</title><h1>어서 오세요</h1>{FOOTER}");
    let contact = format!("<title>연락처</title><p>문의: sales@hanbit.co.kr</p>{FOOTER}");
    mail(Canned::default(), "hanbit.co.kr")
        .html(HOME, &home)
        .html(CONTACT, &contact)
}

fn is(judgement: &Judgement, verdict: Verdict, rules: &[&str]) {
    let fired: Vec<&str> = judgement
        .facts
        .iter()
        .map(|fact| fact.rule.as_str())
        .collect();
    assert_eq!(
        (judgement.verdict, fired.as_slice()),
        (verdict, rules),
        "{judgement:#?}"
    );
}

#[test]
fn an_honest_answer_passes() {
    let judgement = web().judge(KEY, [HOME, EMAIL, CONTACT]);
    is(&judgement, Verdict::Pass, &[]);
    assert_eq!(judgement.checks.len(), 7);
    is(
        &web().judge("한빛 식품 (Hanbit Foods)", [HOME, EMAIL, CONTACT]),
        Verdict::Pass,
        &[],
    );
    is(
        &web().judge(KEY, [CONTACT, EMAIL, HOME]),
        Verdict::Pass,
        &[],
    );
}

#[test]
fn a_judgement_is_the_same_each_time() {
    let world = web();
    let one = world.judge("Bolt", [HOME, "info@hanbit.co.kr", CONTACT]);
    assert_eq!(
        one,
        world.judge("Bolt", [HOME, "info@hanbit.co.kr", CONTACT])
    );
}

#[test]
fn a_made_up_address_fails_and_is_told_the_real_one() {
    let judgement = web().judge(KEY, [HOME, "info@hanbit.co.kr", CONTACT]);
    is(&judgement, Verdict::Fail, &["email-not-on-source"]);
    assert!(
        judgement.facts[0].actual.contains(EMAIL),
        "{}",
        judgement.facts[0].actual
    );
    let last = judgement.checks.last().unwrap();
    assert_eq!(last.outcome, CheckOutcome::NotRun);
}

#[test]
fn an_echo_page_fails_without_a_look() {
    let source = "https://hanbit.co.kr/search?q=info@hanbit.co.kr";
    let world = web().html(source, "<p>no result for info@hanbit.co.kr</p>");
    is(
        &world.judge(KEY, [HOME, "info@hanbit.co.kr", source]),
        Verdict::Fail,
        &["source-echo"],
    );
    assert_eq!(world.asked(), [""; 0]);
}

#[test]
fn a_page_that_puts_the_address_together_is_doubted() {
    let source = "https://hanbit.co.kr/mail?user=ceo";
    let world = web().html(source, &format!("<p>ceo@hanbit.co.kr</p>{FOOTER}"));
    let judgement = world.judge(KEY, [HOME, "ceo@hanbit.co.kr", source]);
    is(&judgement, Verdict::Review, &["source-may-echo"]);
}

#[test]
fn a_shop_that_searches_for_the_company_is_not_the_company() {
    let site = "https://shop.kr/";
    let source = "https://shop.kr/search?q=%ED%95%9C%EB%B9%9B%EC%8B%9D%ED%92%88";
    let found = "<title>한빛식품</title><footer>help@shop.kr © 한빛식품</footer>";
    let world = mail(Canned::default(), "shop.kr")
        .html(source, found)
        .html(site, "<title>Shop</title>");
    let judgement = world.judge(KEY, [site, "help@shop.kr", source]);
    is(
        &judgement,
        Verdict::Review,
        &["source-may-echo", "company-not-on-site"],
    );
}

#[test]
fn a_directory_that_lists_the_company_is_not_the_company() {
    let site = "https://jobs.kr/";
    let source = "https://jobs.kr/company/17";
    let entry = r#"<title>한빛식품 | Jobs</title><h1>한빛식품</h1><p>주소: 서울, 한빛식품</p>
        <script type="application/ld+json">{"@type":"Organization","name":"한빛식품"}</script>
        <footer>© Jobs | help@jobs.kr</footer>"#;
    let world = mail(Canned::default(), "jobs.kr")
        .html(source, entry)
        .html(site, "<title>Jobs</title><p>한빛식품 등 1,000개 회사</p>");
    let judgement = world.judge(KEY, [site, "help@jobs.kr", source]);
    is(&judgement, Verdict::Review, &["company-mentioned-only"]);
}

#[test]
fn a_name_that_is_all_legal_form_is_for_a_person() {
    let judgement = web().judge("주식회사", [HOME, EMAIL, CONTACT]);
    is(&judgement, Verdict::Review, &["company-name-weak"]);
}

#[test]
fn an_address_of_another_company_is_for_a_person() {
    let judgement = web()
        .taken(EMAIL)
        .taken("hanbit.co.kr")
        .judge(KEY, [HOME, EMAIL, CONTACT]);
    is(&judgement, Verdict::Review, &["email-reused"]);
    let judgement = web()
        .taken("hanbit.co.kr")
        .judge(KEY, [HOME, EMAIL, CONTACT]);
    is(&judgement, Verdict::Review, &["domain-reused"]);
}

#[test]
fn a_board_of_the_site_is_for_a_person() {
    let source = "https://hanbit.co.kr/bbs/board.php?bo_table=free&wr_id=7";
    let world = web().html(source, &format!("<p>ceo@hanbit.co.kr</p>{FOOTER}"));
    let judgement = world.judge(KEY, [HOME, "ceo@hanbit.co.kr", source]);
    is(&judgement, Verdict::Review, &["source-user-content"]);
}

#[test]
fn silence_is_never_a_no() {
    let world = web().silent(CONTACT);
    is(
        &world.judge(KEY, [HOME, EMAIL, CONTACT]),
        Verdict::Review,
        &["source-unanswered"],
    );
}

#[test]
fn a_domain_without_mail_fails() {
    let world = web().mx("hanbit.co.kr", &[(0, ".")]);
    is(
        &world.judge(KEY, [HOME, EMAIL, CONTACT]),
        Verdict::Fail,
        &["mx-null"],
    );
}
