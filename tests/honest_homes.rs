//! Home pages as honest firms have them: names in two scripts, brands' slogans, credits.

use crate::harness::case::{List, Worlds, rows};

/// Expects a PASS for the address of each domain, submitted for this company, whose home page
/// is this.
#[track_caller]
fn all_pass(cases: &[(&str, &str, &str)]) {
    let mut worlds = Worlds::new();
    let mut wrong = Vec::new();
    for (domain, key, html) in cases {
        let net = worlds.next(List::Names(&[key]), &[]);
        net.company(domain, "Nobody");
        let www = format!("www.{domain}");
        let home = format!("<meta charset=utf-8>{html}");
        net.net.web.page(&www, "/", &home);
        let contact = format!("<p>Write to info@{domain}</p>");
        net.net.web.page(&www, "/contact", &contact);
        let said = net.says(&net.right(domain));
        if said != "PASS" {
            wrong.push((*html, said));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The same for home pages of one company.
#[track_caller]
fn homes_pass(domain: &str, key: &str, pages: impl IntoIterator<Item = String>) {
    let pages: Vec<String> = pages.into_iter().collect();
    let cases: Vec<_> = pages
        .iter()
        .map(|html| (domain, key, html.as_str()))
        .collect();
    all_pass(&cases);
}

/// The same for footers below a title that is the company's name.
#[track_caller]
fn footers_pass(domain: &str, key: &str, title: &str, footers: &[&str]) {
    let page = |footer: &&str| format!("<title>{title}</title><footer>{footer}</footer>");
    homes_pass(domain, key, footers.iter().map(page));
}

const ACME: &str = "Acme Foods Inc.";

#[test]
fn one_firm_in_two_scripts() {
    all_pass(&rows! {
        "acme.co.kr", "(주)에이크미"
            => "<title>(주)에이크미 | Acme Co.</title><footer>© 2024 Acme Co.</footer>";
        "hanbit.co.kr", "한빛식품"
            => "<title>한빛식품</title><footer>Copyright ⓒ HANBIT FOODS CO.,LTD. ALL RIGHTS RESERVED.</footer>";
        "hbf.co.kr", "(주)한빛식품"
            => "<title>HANBIT FOODS</title><meta property=og:site_name content='HANBIT FOODS'>\
             <footer>상호: (주)한빛식품 | 대표: 홍길동 | 사업자등록번호: 123-45-67890<br>© HANBIT FOODS</footer>";
        "kepco.co.kr", "한국전력공사"
            => "<title>한국전력공사</title><footer>© 2024 KEPCO. All rights reserved.</footer>";
        "acme.co.jp", "株式会社アクメ" => "<title>株式会社アクメ</title><footer>© ACME Inc.</footer>";
        "hitachi.co.jp", "株式会社日立製作所"
            => "<title>日立製作所 | Hitachi, Ltd.</title><footer>© Hitachi, Ltd. 2024</footer>";
    });
}

#[test]
fn brands_that_say_whose_they_are() {
    all_pass(&rows! {
        "nudelwelt.de", "Acme Foods GmbH"
            => "<title>Nudelwelt</title><footer>© 2024 Acme Foods GmbH</footer>";
        "nudelwelt.de", "Acme Foods GmbH"
            => r#"<title>Nudelwelt</title><script type="application/ld+json">
               {"@type":"Organization","name":"Nudelwelt","legalName":"Acme Foods GmbH"}</script>"#;
    });
}

#[test]
fn slogans_and_generic_words() {
    let pages = [
        "<title>Fresh noodles from Busan | Acme Foods</title><footer>© 2024 Acme Foods</footer>",
        "<title>Fresh noodles since 1970</title><h1>Acme Foods</h1>",
        "<title>Acme Foods – Just another WordPress site</title><meta property=og:site_name content='Home'>\
             <footer>Proudly powered by WordPress</footer>",
        "<title>Home</title><header><ul><li>Home<li>Products<li>Contact</ul></header><footer>Acme Foods</footer>",
    ];
    homes_pass("acme.co.kr", ACME, pages.map(str::to_owned));
    homes_pass(
        "noodleland.kr",
        ACME,
        [
            "<title>Fresh noodles | Acme Foods</title><footer>© Acme Foods, Inc.</footer>"
                .to_owned(),
        ],
    );
}

#[test]
fn credits_and_small_print_in_the_footer() {
    let footers = [
        "© 2024 Acme. Designed by StudioX",
        "© 2024 Acme Foods Powered by Shopify",
        "© 2035 by Acme Foods. Proudly created with Wix.com",
        "© 2024 Acme Foods Inc. All rights reserved. Website by Beta Web",
        "© 2024 | <a href=/privacy>Privacy Policy</a> | <a href=/terms>Terms of Use</a>",
        "© 2024 All rights reserved.",
        "© acme.co.kr",
        "Photos © Jane Doe<br>© Acme Foods",
        "© Acme Foods<br>Map data © OpenStreetMap contributors",
        "© 2024 Acme Group",
        "© 2024 Acme Foods Inc. | 12 Main St, Busan | Tel. 051-123-4567",
        "Copyright © 1998-2024, Acme Foods Inc., Busan, Korea. All Rights Reserved",
    ];
    footers_pass("acme.co.kr", ACME, "Acme Foods", &footers);
}

#[test]
fn titles_that_go_on_after_the_name() {
    let titles = [
        "株式会社アクメ｜新鮮な麺をお届けします",
        "株式会社アクメ | 公式サイト",
        "【公式】株式会社アクメ",
        "【公式】株式会社アクメ｜麺の専門店",
        "株式会社アクメ～新鮮な麺を食卓へ～",
        "株式会社アクメ／麺の製造",
        "株式会社アクメ（公式ホームページ）",
        "株式会社アクメ 公式ホームページ",
        "トップページ｜株式会社アクメ",
        "株式会社アクメ／麺",
    ];
    let pages = titles.map(|title| format!("<title>{title}</title>"));
    homes_pass("acme.co.jp", "株式会社アクメ", pages);
}

#[test]
fn a_copyright_line_alone_before_a_credit() {
    let footers = [
        "© Acme Foods Powered by Shopify",
        "© 2024, Acme Foods Powered by Shopify",
        "© 2024 Acme Foods Inc. Designed by StudioX",
        "Copyright 2024 Acme Foods - Website by Beta",
        "© 2024 Acme Foods Theme by Beta",
    ];
    footers_pass("acme.co.kr", ACME, "Noodles", &footers);
}

#[test]
fn a_german_imprint_names_the_firm_on_a_line_of_its_own() {
    let labels = [
        "Angaben gemäß § 5 TMG",
        "Angaben gemäß § 5 TMG:",
        "Angaben gem. § 5 DDG",
        "Diensteanbieter",
        "Betreiber der Website",
    ];
    let pages = labels.map(|label| {
        format!("<title>Frische Nudeln</title><h2>{label}</h2><p>Acme Foods GmbH<br>Hauptstr. 1<br>12345 Berlin</p>")
    });
    homes_pass("acme.de", "Acme Foods GmbH", pages);
}

#[test]
fn structured_data_with_short_and_long_names() {
    all_pass(&rows! {
        "acme.co.kr", ACME
            => r#"<title>Acme</title><script type="application/ld+json">{"@graph":[
               {"@type":"WebSite","name":"Acme","alternateName":"Noodle World"},
               {"@type":"Organization","name":"Acme Foods Co., Ltd.","alternateName":["ACF","Nudeln"]}]}</script>"#;
        "hepco.com", "Hanbit Electric Power Corporation"
            => "<title>Hanbit Electric Power Corporation</title><meta property=og:site_name content=HEPCO>\
             <footer>© HEPCO</footer>";
        "dbm.com", "Daewoo Business Machines"
            => "<title>Daewoo Business Machines</title><footer>© DBM Corp. 2024</footer>";
    });
}

#[test]
fn small_print_names_nobody() {
    let latin = [
        "© 2024 Acme Foods, a Gamma Group company. All rights reserved.",
        "Copyright © 2024 Acme Foods GmbH | Impressum | Datenschutz",
        "© 2024 Acme Foods. Images © Getty Images",
        "© 2024 Tous droits réservés",
        "© 2024 Todos los derechos reservados.",
        "© 2024 版权所有",
        "© Copyright 2024 - Acme | All Rights Reserved",
        "Made with love © 2024",
        "© 2024. No part of this site may be reproduced.",
        "Copyright notice | Terms",
        "Copyright",
    ];
    footers_pass("acme.com", ACME, "Acme Foods", &latin);
    let korean = [
        "Copyright(c) 2024 한빛식품 All rights reserved. Designed by 디자인회사",
        "Copyright © 2024. 모든 권리 보유",
        "ⓒ 무단전재 및 재배포 금지",
        "본 사이트의 저작권은 한빛식품에 있습니다. copyright",
    ];
    footers_pass("hanbit.kr", "한빛식품", "한빛식품", &korean);
}

#[test]
fn short_names_in_the_footer() {
    for (domain, key, title, footer) in rows! {
        "lg.co.kr", "(주)LG생활건강", "LG생활건강" => "© LG H&H";
        "sk.co.kr", "SK하이닉스", "SK하이닉스" => "© SK hynix Inc.";
        "kt.com", "(주)케이티", "케이티" => "© KT Corp.";
        "klaw.kr", "Kim & Lee Law Office", "Kim & Lee Law Office" => "© Kim&Lee";
        "smith-sons.co.uk", "Smith & Sons Ltd", "Smith & Sons | Furniture"
            => "© 2024 Smith and Sons Limited. Company No. 123456. Registered in England.";
        "acmemall.co.kr", "(주)아크메", "아크메몰"
            => "상호명: (주)아크메 대표자: 홍길동<br>COPYRIGHT (C) 아크메몰 ALL RIGHTS RESERVED.";
    } {
        footers_pass(domain, key, title, &[footer]);
    }
}
