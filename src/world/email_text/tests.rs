//! Spellings that are found, and neighbours that are not.

use crate::base::rows;
use proptest::prelude::*;

use super::*;

fn masked(text: &str) -> Option<String> {
    without(text, &|address| address == "jo@acme.com", "_")
}

#[test]
fn whatever_stands_around_it_the_address_is_found() {
    for (text, expected) in rows! {
        "jo@acme.com" => "_";
        "<mailto:Jo@Acme.com?subject=x>" => "<mailto:_?subject=x>";
        "a=1&email=jo%40acme.com&b=2" => "a=1&email=_&b=2";
        "https%3A%2F%2Fx.de%2F%3Fto%3Djo%40acme.com%26y" => "https%3A%2F%2Fx.de%2F%3Fto%3D_%26y";
        "write to jo@acme.com." => "write to _.";
        "jo@acme.com.Telefon: 7" => "_.Telefon: 7";
        "메일jo@acme.com로" => "메일_로";
        "{\\\"to\\\":\\\"jo\\u0040acme.com\\\"}" => "{\\\"to\\\":\\\"_\\\"}";
        "'jo@acme.com'" => "'_'";
        "..jo@acme.com" => ".._";
        "jo@acme.com,jo@acme.com" => "_,_";
        "mail: jo [at] acme [dot] com!" => "mail: _!";
        "https://jo@acme.com/" => "https://_/";
    } {
        assert_eq!(masked(text).as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn another_address_is_left_alone() {
    for text in "ann.jo@acme.com banjo@acme.com a-jo@acme.com jo@acme.com.au jo@mail.acme.com
        jo@acme.company jo+x@acme.com jo@acme joacme.com @"
        .split_whitespace()
        .chain([""])
    {
        assert_eq!(masked(text), None, "{text}");
    }
}

#[test]
fn a_domain_is_the_same_in_both_of_its_spellings() {
    let wanted = Mailbox::parse("jo@bücher.de").unwrap().to_string();
    assert_eq!(wanted, "jo@xn--bcher-kva.de");
    for text in [
        "jo@bücher.de",
        "JO@BÜCHER.DE",
        "jo@xn--bcher-kva.de",
        "jo%40b%C3%BCcher.de",
    ] {
        let masked = without(text, &|address| address == wanted, "_");
        assert_eq!(masked.as_deref(), Some("_"), "{text}");
    }
}

fn spelled(c: char) -> impl Strategy<Value = String> {
    let code = u32::from(c);
    prop::sample::select(vec![
        c.to_string(),
        c.to_uppercase().to_string(),
        format!("%{code:02x}"),
        format!("%25{code:02X}"),
        format!("&#{code};"),
        format!("&#x{code:x};"),
        format!("&amp;#{code};"),
        format!("\\u{code:04x}"),
        format!("\\\\u{code:04X}"),
        format!("\u{200b}{c}"),
    ])
}

fn address() -> impl Strategy<Value = String> {
    let chars: Vec<_> = "jo@acme.com".chars().map(spelled).collect();
    chars.prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn no_spelling_of_it_is_left(
        before in "[^a-z0-9._+%\\-&\\\\]{0,8}",
        address in address(),
        after in "[^a-z0-9.;\\-]{0,8}",
    ) {
        let text = format!("{before} {address} {after}");
        let masked = masked(&text).expect("a mention");
        prop_assert!(masked.contains('_'));
        prop_assert!(!masked.to_lowercase().contains("jo@acme.com"));
        let wanted = |address: &str| address == "jo@acme.com";
        prop_assert!(mentions(&masked, &wanted).is_empty());
    }

    #[test]
    fn any_text_is_read(any in ".{0,80}", near in "[jo@acme.com%25&#64;\\\\u0040 \\[\\]at(dot)]{0,60}") {
        masked(&any);
        masked(&near);
    }

    #[test]
    fn no_sign_of_source_text_is_missed(
        text in "(_|\\*|/|#|※|jo|acme|at|AT|a|arobase|małpa|골뱅이|★|\\[|\\(|&lt;|<|&gt;|\\)|\\]| |\u{a0}|@|＠|﹫|%|%25|40|64;|&|&amp;|#|x40;|commat;|\\\\|u0040|EF|%BC|%A0|\u{200b}){0,12}"
    ) {
        let units = read(text.as_bytes(), SOURCE);
        let mut signs = units.iter().filter(|unit| unit.meant == '@' && unit.how != How::Word);
        prop_assert!(signs.next().is_none() || may_hold_address(text.as_bytes()));
        let mut shown = read(text.as_bytes(), SHOWN).into_iter();
        let has_any = shown.any(|unit| unit.meant == '@');
        prop_assert!(!has_any || AT_SHOWN.is_match(text.as_bytes()));
    }
}

#[test]
fn most_source_text_holds_no_sign() {
    let text = "<a href=\"/data?a=1&amp;b=50%\" class='at-home'>at {a: 1}</a>";
    assert!(!may_hold_address(text.as_bytes()));
}

fn meant(text: &str) -> String {
    read(text.as_bytes(), ANY[0])
        .iter()
        .map(|unit| unit.meant)
        .collect()
}

#[test]
fn every_spelling_means_the_same() {
    for spelled in "jo@acme.com Jo@ACME.com jo%40acme.com jo%2540acme%2ecom %6a%6F@acme.com
        jo&#64;acme&period;com jo&#x40;acme&#46;com jo&amp;#64;acme.com jo&commat;acme.com
        jo\\u0040acme.com jo\\\\u0040acme\\x2Ecom ⓙⓞ@acme.com jo@acme․com jo=40acme=2Ecom
        jo골뱅이acme.com"
        .split_whitespace()
        .chain([
            "ｊｏ＠ａｃｍｅ．ｃｏｍ",
            "𝐣𝐨@acme.com",
            "jo@𝐚𝐜𝐦𝐞.com",
            "jo﹫acme.com",
            "jo@acme。com",
            "jo\\u{40}acme.com",
            "jo &lt;at&gt; acme&lt;DOT&gt;com",
            "jo [at] acme (dot) com",
            "jo @ acme.com",
            "jo at acme dot com",
            "j\u{ad}o@ac\u{200b}me.com",
        ])
    {
        assert_eq!(meant(spelled), "jo@acme.com", "{spelled}");
    }
    assert_eq!(meant("%C3%BC"), "ü");
    assert_eq!(meant("100% & more \\ %zz &unknown; %e2%28"), {
        "100% & more \\ %zz &unknown; %e2("
    });
    assert_eq!(meant("ﬁ = 4 &lt;b&gt; \\u{zz}"), "fi = 4 <b> \\u{zz}");
}

#[test]
fn the_spans_are_those_of_the_text() {
    let text = "a jo&#64;x.de";
    let spelled: Vec<_> = read(text.as_bytes(), ANY[0])
        .iter()
        .map(|unit| &text[unit.span.clone()])
        .collect();
    assert_eq!(spelled[4..6], ["&#64;", "x"]);
}

fn is_spelled(address: &str, text: &str) -> bool {
    let found = spells(text, &Needle::of(&Mailbox::parse(address).unwrap()));
    assert!(!found || may_spell(text), "{text} would not be kept");
    found
}

#[test]
fn spelled_addresses_are_found() {
    for text in "info(at)acme.com info[골뱅이]acme.com info골뱅이acme.com info(a)acme.com
        info{AT}acme{DOT}com info_at_acme_dot_com info((at))acme.com info★acme.com
        info&#64;acme.com info[@]acme[.]com info(ät)acme.com"
        .split_whitespace()
        .chain([
            "info [at] acme [dot] com",
            "info @ acme.com",
            "info at acme dot com",
            "Info AT Acme DOT Com",
            "info 골뱅이 acme 닷 com",
            "info＠acme.com",
            "ｉｎｆｏ＠ａｃｍｅ．ｃｏｍ",
            "info AT acme.com",
            "info <at> acme <dot> com",
            "info @ acme . com",
            "info (at) acme.com.",
            "이메일: info[at]acme.com 입니다",
            "info -at- acme.com",
            "info( at )acme( dot )com",
            "info@acme [dot] com",
        ])
    {
        assert!(is_spelled("info@acme.com", text), "{text}");
    }
    assert!(is_spelled(
        "jo.doe@acme.com",
        "jo [dot] doe [at] acme [dot] com"
    ));
    assert!(is_spelled("jo.doe@acme.com", "jo.doe (at) acme.com"));
    assert!(is_spelled("info@xn--bcher-kva.de", "info (at) bücher.de"));
}

#[test]
fn what_spells_nothing_or_another_address_is_not() {
    for text in "info(at)acme.com.kr xinfo(at)acme.com x.info(at)acme.com info(at]
        info(bat)acme.com infoatacmedotcom info"
        .split_whitespace()
        .chain([
            "info at acme.com",
            "visit info at acme com",
            "info [at] acme [dot] com [dot] kr",
            "info @ acme.co",
            "x [dot] info [at] acme [dot] com",
            "x dot info at acme dot com",
            "x . info @ acme.com",
            "info at acme dot com dot kr",
            "info @ acme . com . kr",
            "info (at) acme.community",
            "information (at) acme.com",
            "info (at acme.com",
            "info attacme.com",
            "",
            "info [at]",
        ])
    {
        assert!(!is_spelled("info@acme.com", text), "{text}");
    }
    assert!(!is_spelled("us@acme.com", "find us at acme.com"));
}

#[test]
fn prose_is_not_kept() {
    assert!(!may_spell("var attribute = 'data'; format(b)"));
    assert!(may_spell("x (at) y"));
}

#[test]
fn hostile_texts_end() {
    let needle = Needle::of(&Mailbox::parse("a.a@acme.com").unwrap());
    for text in ["a", "a.", "a [dot] ", "(((", "a@", "a(at)", " . ", "-", "ﷺ"] {
        assert!(!spells(&text.repeat(200_000), &needle), "{text}");
    }
}

fn found(address: &str, text: &str) -> bool {
    Needle::of(&Mailbox::parse(address).unwrap()).is_in(text)
}

#[test]
fn neighbours_that_do_not_hide_an_address() {
    for text in "info@acme.co INFO@Acme.CO TEL|info@acme.co E-mail:info@acme.co|FAX
        이메일info@acme.co로 info@acme.co... 문의...info@acme.co <info@acme.co> (info@acme.co)
        'info@acme.co' mail='info@acme.co' a@b.c/info@acme.co/d@e.f -info@acme.co info@acme.co-
        ✉info@acme.co☎ อีเมลinfo@acme.co info@acme.co's x=info@acme.co? info@acme.co,a@b.c
        *info@acme.co* —info@acme.co— info@acme.co.문의"
        .split_whitespace()
        .chain([
            "メールはセンターinfo@acme.coまで",
            "电邮info@acme.co。",
            "mail info@acme.co.",
            "fo@acme.co info@acme.co",
        ])
    {
        assert!(found("info@acme.co", text), "{text}");
    }
}

#[test]
fn neighbours_that_belong_to_another_address() {
    for text in "info@acme.com info@acme.co.kr info@acme.co-op.com x-info@acme.co x.info@acme.co
        xinfo@acme.co 1info@acme.co _info@acme.co a+info@acme.co r&info@acme.co o'info@acme.co
        іinfo@acme.co éinfo@acme.co αinfo@acme.co info@acme.cо info@acme.coop info@acme.co1
        info@acme.co@b.c @info@acme.co https://info@acme.co/ info@mail.acme.co info @acme.co
        nfo@acme.co info@acme.c info@acme.co_x"
        .split_whitespace()
        .chain([
            "e\u{301}info@acme.co",
            "info@acme.co\u{301}",
            "info @acme.co",
            "info@ acme.co",
            "",
            "info@\u{212a}acme.co",
        ])
    {
        assert!(!found("info@acme.co", text), "{text}");
    }
}

#[test]
fn what_names_no_mailbox_is_none() {
    for text in [
        "git clone info@acme.co:acme/app.git",
        "ftp://guest:info@acme.co/pub",
        "https://acme.co/?q=info@acme.co",
        "sip:info@acme.co",
        "SIP: info@acme.co",
        "(xmpp:info@acme.co)",
    ] {
        assert!(!found("info@acme.co", text), "{text}");
    }
    for text in "mailto:info@acme.co E-mail:info@acme.co gossip:info@acme.co
        https://acme.co|info@acme.co https://acme.co/메일info@acme.co info@acme.co: //info@acme.co"
        .split_whitespace()
        .chain([
            "https://acme.co info@acme.co",
            "Tel. 02-123-4567 / info@acme.co",
            "info@acme.co: mail",
        ])
    {
        assert!(found("info@acme.co", text), "{text}");
    }
}

#[test]
fn an_address_with_odd_signs_is_not_plain() {
    let plain = |address: &str| Needle::of(&Mailbox::parse(address).unwrap()).is_plain();
    for address in "info@a.co a.b+c@a.co a_b-c@a.co o'neil@a.co 1@a.co".split_whitespace() {
        assert!(plain(address), "{address}");
    }
    let odd =
        "tel|info@a.co *info@a.co -info@a.co 'info@a.co info-@a.co {info@a.co e-mail=info@a.co";
    for address in odd.split_whitespace() {
        assert!(!plain(address), "{address}");
    }
}

#[test]
fn the_other_names_in_the_contract() {
    assert!(!found("fo@acme.co", "info@acme.co"));
    assert!(!found("acme@x.co", "x-acme@x.co"));
    assert!(found("x-acme@x.co", "x-acme@x.co"));
    assert!(!found("k@acme.co", "\u{212a}@acme.co"), "Kelvin sign");
}

#[test]
fn international_domains_are_found_in_both_forms() {
    let address = "info@xn--bcher-kva.de";
    assert!(found(address, "info@xn--bcher-kva.de"));
    assert!(found(address, "info@BÜCHER.de"));
    assert!(!found(address, "info@bucher.de"));
    let korean = "info@acme.xn--3e0b707e";
    assert!(found(korean, "info@acme.한국 으로"));
    assert!(!found(korean, "info@acme.한국말"));
}

#[test]
fn a_page_full_of_signs_ends() {
    assert!(!found("info@acme.co", &"@".repeat(2_000_000)));
    assert!(!found("info@acme.co", &"info@".repeat(400_000)));
    assert!(!found("info@acme.co", &"-".repeat(2_000_000)));
    assert!(!found("info@acme.co", &".info@acme.co-a".repeat(100_000)));
    assert!(!found("info@acme.co", &"://info@acme.co/".repeat(20_000)));
}
