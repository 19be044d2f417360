//! What names an owner, and what only writes about one.

use super::*;

/// Expects that the texts, a line each, are the name at this place, or are not.
fn are(place: OwnerPlace, key: &str, expected: bool, texts: &str) {
    let name = CompanyName::parse(key);
    for text in texts.lines().map(str::trim) {
        assert_eq!(names(place, text, &name), expected, "{text}");
    }
}

#[test]
fn a_title_is_or_has_the_name_as_a_part() {
    let titles = "Acme Foods
        Acme Foods | Home
        Home - ACME FOODS Co., Ltd.
        Welcome to Acme Foods!
        Noodles and sauces – Acme Foods
        Acme Foods Official Website";
    are(OwnerPlace::Title, "Acme Foods", true, titles);
    let others = "Acme Foods opens a plant in Busan
        On Acme Foods
        Gamma Market: Beta shoes, Acme Foods, Delta tea and more
        Acme Foods Machinery
        Gamma";
    are(OwnerPlace::Title, "Acme Foods", false, others);
}

#[test]
fn korean_names() {
    let titles = "㈜한빛식품 - 공식 홈페이지
        한빛식품에 오신 것을 환영합니다
        주식회사한빛식품
        한빛식품 (Hanbit Foods)";
    are(OwnerPlace::Title, "한빛식품", true, titles);
    let longer = "새한빛식품\n한빛식품기계";
    are(OwnerPlace::Heading, "한빛식품", false, longer);
    let lines = "상호: 한빛식품(주) 대표: 홍길동 사업자등록번호: 123-45-67890
        상호명 한빛식품 | 대표 홍길동
        한빛식품 주식회사 | 대표 김한빛
        한빛식품(주) 대표이사 홍길동 주소 서울
        Copyright ⓒ 2026 한빛식품. All Rights Reserved.
        COPYRIGHT (C) 한빛식품 CO.,LTD. ALL RIGHTS RESERVED.";
    are(OwnerPlace::Footer, "한빛식품", true, lines);
    let others = "호스팅 제공자: 한빛식품
        결제대행사: 한빛식품(주)
        상호: 감마(주) 대표: 홍길동 호스팅: 한빛식품
        협력사: 한빛식품, 감마";
    are(OwnerPlace::Footer, "한빛식품", false, others);
}

#[test]
fn a_line_begins_with_the_name() {
    let lines = "© 2026 Acme Foods Inc. All rights reserved.
        © 2010-2026 by Acme Foods, Seoul
        Acme Foods GmbH · Hauptstr. 1
        Acme Foods, Inc.
        © Acme Foods SARL, contact@acme.fr
        © 2026 Acme Foods | Privacy
        © 2026 Acme Foods. Made with love.
        Company: Acme Foods";
    are(OwnerPlace::Footer, "Acme Foods", true, lines);
    let others = "Hosting by Acme Foods
        Designed by Acme Foods
        Our partners: Acme Foods, Beta
        Acme Foods, Beta, Gamma
        Photo © Acme Foods
        Seller: Acme Foods
        About this seller: © 2026 Acme Foods. All rights reserved.
        © 2026 Gamma. Designed by Acme Foods
        © 2026 Acme Foods Machinery

        :";
    are(OwnerPlace::Footer, "Acme Foods", false, others);
}

#[test]
fn credits_end_a_line() {
    for (line, own) in [
        ("© Acme Powered by Shopify", "© Acme "),
        ("ACME Website By Beta", "ACME "),
        ("Powered by Acme", ""),
        ("한빛 호스팅: 베타", "한빛 "),
        ("Acme Hosting", "Acme Hosting"),
        ("Empowered by Acme", "Empowered by Acme"),
        ("© Acme", "© Acme"),
    ] {
        assert_eq!(without_credit(line), own, "{line}");
    }
}

fn claimed(place: OwnerPlace, text: &str) -> String {
    let text = text.to_owned();
    claim(&OwnerText { place, text }).unwrap_or_default()
}

#[test]
fn copyright_lines_name_who_holds_it() {
    for (line, holder) in [
        ("© 2026 Gamma Mart. All rights reserved.", "Gamma Mart."),
        ("Copyright © 1998-2024 by Gamma", "Gamma"),
        ("All rights reserved by 감마", "감마"),
        ("Gamma Mart © 2024", "Gamma Mart"),
        ("© 2024 Gamma Powered by Shopify", "Gamma"),
        ("© 2024 Gamma. Designed by Acme Foods", "Gamma."),
        ("© 2024 | Privacy Policy | Gamma | Terms", "Gamma"),
        ("© Gamma Mart Tel. 02-123-4567", "Gamma Mart"),
        ("© 2024", ""),
        ("© 2024 Tous droits réservés. Gamma", "Gamma"),
        ("© 2024. 모든 권리 보유", ""),
        ("Copyright notice | Terms", ""),
        ("© 2024 | Privacy Policy | Terms", ""),
        ("© 2024. Website by Beta", ""),
        ("Photos © Jane Doe", ""),
        ("Map data © OpenStreetMap contributors", ""),
        ("Made in Busan with care", "Made in Busan with care"),
    ] {
        assert_eq!(claimed(OwnerPlace::Copyright, line), holder, "{line}");
    }
}

#[test]
fn company_lines_name_the_firm() {
    for (line, firm) in [
        ("상호: 감마(주) 대표: 홍길동", "감마(주)"),
        ("상호명 감마 | 대표 홍길동", "감마"),
        ("Company: Gamma Mart, Busan", "Gamma Mart"),
        ("会社名：株式会社ガンマ", "株式会社ガンマ"),
        ("Tel: 1 | 상호: 감마", "감마"),
        ("Payment company: Gamma", ""),
        ("Gamma Mart", ""),
        ("주소: 서울", ""),
    ] {
        assert_eq!(claimed(OwnerPlace::Footer, line), firm, "{line}");
    }
}

#[test]
fn names_that_builders_give_are_nobodys() {
    for (text, name) in [
        ("Home", ""),
        ("Welcome to my website", ""),
        ("Untitled", ""),
        ("Gamma Mart Official Website", "Gamma Mart"),
    ] {
        assert_eq!(claimed(OwnerPlace::SiteName, text), name, "{text}");
    }
    assert_eq!(claimed(OwnerPlace::Title, "Gamma"), "");
}

proptest::proptest! {
    #[test]
    fn any_text_is_read(text in proptest::prelude::any::<String>()) {
        let name = CompanyName::parse("Acme Foods");
        let _ = names(OwnerPlace::Footer, &text, &name);
        let _ = names(OwnerPlace::Title, &text, &name);
    }

    #[test]
    fn any_line_is_read(text in "(©|copyright|\\(c\\)|İ|designed|상호| |:|가|a|\\||1){0,20}") {
        let _ = claimed(OwnerPlace::Copyright, &text);
        let _ = claimed(OwnerPlace::Footer, &text);
    }
}
