//! Whose name a text claims that declares the owner: a site's or organization's name, a
//! copyright line, a company's line.

use super::credit::without_credit;
use super::owner_name::{cut_label, values, without_copyright_signs};
use super::owner_words::{is_between, is_firms_own, is_trimming};
use crate::world::page::{OwnerPlace, OwnerText};

/// Names that site builders give to sites which have none, in lower case.
const NOBODY: &[&str] = &[
    "blog",
    "default",
    "index",
    "main",
    "my",
    "new",
    "untitled",
    "wordpress",
    "메인",
    "메인페이지",
    "메인화면",
    "トップページ",
];

/// Things in a page that are somebody else's, in lower case.
const THINGS: &[&str] = &[
    "bild",
    "bilder",
    "bildnachweis",
    "data",
    "font",
    "fonts",
    "foto",
    "fotos",
    "icon",
    "icons",
    "illustration",
    "illustrations",
    "image",
    "images",
    "karte",
    "kartendaten",
    "logo",
    "map",
    "maps",
    "music",
    "photo",
    "photos",
    "picture",
    "pictures",
    "template",
    "theme",
    "video",
    "videos",
    "사진",
    "이미지",
    "지도",
    "영상",
    "写真",
    "地図",
];

/// Words of what stands in small print beside a copyright, in lower case.
const SMALL_PRINT: &[&str] = &[
    "agb",
    "contact",
    "cookie",
    "datenschutz",
    "disclaimer",
    "impressum",
    "imprint",
    "kontakt",
    "legal",
    "notice",
    "login",
    "policy",
    "privacy",
    "sitemap",
    "terms",
    "@",
    "개인정보",
    "이용약관",
    "이메일",
    "오시는",
    "사이트맵",
    "로그인",
    "관리자",
    "お問い合わせ",
    "プライバシー",
    "利用規約",
];

/// What reserves rights and names nobody, in lower case.
const RESERVED: &[&str] = &[
    "all rights reserved",
    "alle rechte vorbehalten",
    "alle rechten voorbehouden",
    "alla rättigheter förbehållna",
    "todos los derechos reservados",
    "todos os direitos reservados",
    "tous droits réservés",
    "tutti i diritti riservati",
    "wszelkie prawa zastrzeżone",
    "všechna práva vyhrazena",
    "все права защищены",
    "모든 권리 보유",
    "모든 권리를 보유",
    "무단전재 및 재배포 금지",
    "무단 전재 및 재배포 금지",
    "無断転載禁止",
    "無断転載を禁じます",
    "著作権所有",
    "版权所有",
    "版權所有",
    "保留所有权利",
];

/// Whose name a text claims; none of one that claims nobody's.
pub(super) fn claim(owner: &OwnerText) -> Option<String> {
    let text = owner.text.as_str();
    match owner.place {
        OwnerPlace::SiteName | OwnerPlace::Organization => named(text),
        OwnerPlace::Copyright => holder(text),
        OwnerPlace::Footer | OwnerPlace::Address => firm(text),
        OwnerPlace::Title | OwnerPlace::Heading | OwnerPlace::Logo | OwnerPlace::Header => None,
    }
}

/// The text without trimmings at its ends; none where nothing is left.
pub(super) fn named(text: &str) -> Option<String> {
    let is_nobodys = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        is_trimming(word) || NOBODY.contains(&word.to_lowercase().as_str())
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    let first = words.iter().position(|word| !is_nobodys(word))?;
    let last = words.iter().rposition(|word| !is_nobodys(word))?;
    Some(words[first..=last].join(" "))
}

/// Who holds the copyright by a line.
fn holder(line: &str) -> Option<String> {
    let own = without_credit(line);
    let sign = own
        .char_indices()
        .find(|(at, c)| {
            let tail = &own.as_bytes()[*at..];
            let starts = |sign: &[u8]| {
                tail.get(..sign.len())
                    .is_some_and(|head| head.eq_ignore_ascii_case(sign))
            };
            matches!(c, '©' | 'ⓒ') || starts(b"(c)") || starts(b"copyright")
        })
        .map_or(0, |(at, _)| at);
    let mut before = own[..sign]
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .peekable();
    let is_of_a_thing = before.peek().is_some()
        && before.all(|word| THINGS.contains(&word.to_lowercase().as_str()));
    if is_of_a_thing {
        return None;
    }
    let plain = without_reservation(&without_copyright_signs(own));
    let pieces: Vec<String> = plain
        .split(is_between)
        .flat_map(|piece| piece.split(" - "))
        .filter(|piece| !is_small_print(piece))
        .filter_map(|piece| named(cut_label(piece)))
        .filter(|piece| !piece.starts_with(|c: char| c.is_ascii_digit() || c == '+'))
        .collect();
    (!pieces.is_empty()).then(|| pieces.join(" | "))
}

/// The line without what reserves rights.
fn without_reservation(line: &str) -> String {
    let mut left = line.to_owned();
    for phrase in RESERVED {
        let lower = left.to_lowercase();
        let Some(at) = lower.find(phrase) else {
            continue;
        };
        // Lower case may be of another length than what it stands for.
        let end = at + phrase.len();
        if lower.len() == left.len() && left.is_char_boundary(at) && left.is_char_boundary(end) {
            left.replace_range(at..end, " | ");
        }
    }
    left
}

fn is_small_print(piece: &str) -> bool {
    let lower = piece.to_lowercase();
    SMALL_PRINT.iter().any(|word| lower.contains(word))
}

/// Whose name stands behind the label of a firm's name.
fn firm(line: &str) -> Option<String> {
    let labelled = values(line).into_iter().find_map(|value| {
        let is_company = |label: &str| {
            let label = label.trim().to_lowercase();
            matches!(label.as_str(), "company" | "company name")
        };
        let label = value.label?;
        (is_firms_own(label) || is_company(label)).then_some(value.value)
    });
    let behind_word = || {
        let (label, value) = line.split_once(char::is_whitespace)?;
        is_firms_own(label).then_some(value)
    };
    let value = labelled.or_else(behind_word)?;
    let first = cut_label(value).split(is_between).next()?;
    named(first)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        fn never_panics(text in "(©|copyright|\\(c\\)|İ|designed|상호| |:|가|a|\\||1){0,20}") {
            let _ = claimed(OwnerPlace::Copyright, &text);
            let _ = claimed(OwnerPlace::Footer, &text);
        }
    }
}
