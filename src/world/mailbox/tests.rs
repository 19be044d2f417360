//! Mailboxes as written, and what is refused of them.

use crate::base::rows;
use proptest::prelude::*;

use super::*;

fn parsed(text: &str) -> Result<String, BadMailbox> {
    Mailbox::parse(text).map(|mailbox| mailbox.to_string())
}

#[test]
fn takes_addresses_that_mail_can_be_sent_to() {
    for (text, expected) in [
        ("info@acme.co.kr", "info@acme.co.kr"),
        ("Info@ACME.co.kr", "info@acme.co.kr"),
        ("a.b+c_d-e/f=g@mail.acme.com", "a.b+c_d-e/f=g@mail.acme.com"),
        ("o'neil@acme.ie", "o'neil@acme.ie"),
        ("info@müller.de", "info@xn--mller-kva.de"),
        ("info@xn--mller-kva.de", "info@xn--mller-kva.de"),
        ("info@lg전자.한국", "info@xn--lg-c28j3o.xn--3e0b707e"),
        ("info@straße.de", "info@xn--strae-oqa.de"),
        ("a@acme.github.io", "a@acme.github.io"),
        ("a@ресторан.com", "a@xn--80ajzcicfi.com"),
        ("a@сор.рф", "a@xn--n1aeb.xn--p1ai"),
    ] {
        assert_eq!(parsed(text).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn says_what_is_wrong() {
    use BadMailbox as Bad;
    let long = format!("{}@acme.com", "a".repeat(65));
    let host = |text| HostName::parse(text).unwrap();
    // The same disguise in its registered form.
    let punycode = format!("a@{}", idna::domain_to_ascii("аcme.com").unwrap());
    for (text, expected) in rows! {
        "" => Bad::NoAt;
        "acme.com" => Bad::NoAt;
        "info＠acme.com" => Bad::NoAt;
        "info﹫acme.com" => Bad::NoAt;
        "info%40acme.com" => Bad::NoAt;
        "info&#64;acme.com" => Bad::NoAt;
        "a@b@acme.com" => Bad::SeveralAts;
        "@acme.com" => Bad::NoLocal;
        "a@" => Bad::NoDomain;
        " a@acme.com" => Bad::WhiteSpace { at: 1 };
        "a@acme.com\n" => Bad::WhiteSpace { at: 11 };
        "a\u{3000}b@acme.com" => Bad::WhiteSpace { at: 2 };
        "a\u{200b}@acme.com" => Bad::Invisible { at: 2, code: 0x200b };
        "a@ac\u{ad}me.com" => Bad::Invisible { at: 5, code: 0xad };
        "a@acme.com\0" => Bad::Invisible { at: 11, code: 0 };
        "\u{feff}a@acme.com" => Bad::Invisible { at: 1, code: 0xfeff };
        "a@acme.com\u{200d}" => Bad::Invisible { at: 11, code: 0x200d };
        "a\u{202e}@acme.com" => Bad::Invisible { at: 2, code: 0x202e };
        "Acme<a@acme.com>" => Bad::NotBare("<".into());
        "MailTo:a@acme.com" => Bad::NotBare("MailTo:".into());
        "\"a\"@acme.com" => Bad::Quoted;
        "a,b@acme.com" => Bad::LocalCharacter(',');
        "a;b@acme.com" => Bad::LocalCharacter(';');
        "가@acme.com" => Bad::LocalCharacter('가');
        "ａ@acme.com" => Bad::LocalCharacter('ａ');
        "іnfo@acme.com" => Bad::LocalCharacter('і');
        "ınfo@acme.com" => Bad::LocalCharacter('ı');
        "info\u{130}@acme.com" => Bad::LocalCharacter('\u{130}');
        "info(x)@acme.com" => Bad::LocalCharacter('(');
        ".a@acme.com" => Bad::LocalDots;
        "a.@acme.com" => Bad::LocalDots;
        "a..b@acme.com" => Bad::LocalDots;
        &long => Bad::LocalTooLong(65);
        "a@[192.0.2.1]" => Bad::AddressLiteral;
        "a@192.0.2.1" => Bad::AddressLiteral;
        "a@acme_co.com" => Bad::BadDomain("acme_co.com".into());
        "a@-acme.com" => Bad::BadDomain("-acme.com".into());
        "a@acme.com." => Bad::BadDomain("acme.com.".into());
        "a@acme..com" => Bad::BadDomain("acme..com".into());
        "a@xn--zzzzzzz99.com" => Bad::BadDomain("xn--zzzzzzz99.com".into());
        "a@co.kr" => Bad::BareSuffix(host("co.kr"));
        "a@github.io" => Bad::BareSuffix(host("github.io"));
        "a@localhost" => Bad::UnknownSuffix(host("localhost"));
        "a@acme.corpx" => Bad::UnknownSuffix(host("acme.corpx"));
        "a@аcme.com" => Bad::MixedScripts("аcme".into());
        &punycode => Bad::MixedScripts("аcme".into());
        "a@ѕсоре.com" => Bad::LooksLatin("ѕсоре".into());
    } {
        assert_eq!(parsed(text), Err(expected), "{text:?}");
    }
}

#[test]
fn takes_nothing_that_software_would_repair() {
    for text in [
        "a@ａcme.com",
        "a@acme。com",
        "a@acme.co.\u{212a}r",
        "a@MÜLLER.de",
        "a@mu\u{308}ller.de",
        "a@ⅷ.com",
    ] {
        let found = parsed(text);
        assert!(
            matches!(found, Err(BadMailbox::Repaired { .. })),
            "{text}: {found:?}"
        );
    }
    let wide = parsed("a@ａcme.com").unwrap_err();
    assert_eq!(
        wide.to_string(),
        "\"ａcme\" is not in its registered form, \"acme\""
    );
}

#[test]
fn bounds_the_whole_address() {
    let labels = format!("{0}.{0}.{0}", "a".repeat(61));
    let fits = format!("{}@{labels}.com", "a".repeat(64));
    assert_eq!(fits.len(), 254);
    assert!(parsed(&fits).is_ok());
    assert_eq!(parsed(&format!("{fits}x")), Err(BadMailbox::TooLong(255)));
    assert_eq!(
        parsed(&"a@".repeat(1 << 20)),
        Err(BadMailbox::TooLong(2 << 20))
    );
}

#[test]
fn is_stored_as_one_text() {
    let mailbox = Mailbox::parse("Info@Acme.co.kr").unwrap();
    let text = serde_json::to_string(&mailbox).unwrap();
    assert_eq!(text, "\"info@acme.co.kr\"");
    assert_eq!(serde_json::from_str::<Mailbox>(&text).unwrap(), mailbox);
    assert!(serde_json::from_str::<Mailbox>("\"a b@acme.co.kr\"").is_err());
}

proptest! {
    #[test]
    fn never_panics(text in "\\PC*") {
        let _ = Mailbox::parse(&text);
    }

    #[test]
    fn reads_back_what_it_shows(text in "[ -~äß한аｃ。\u{200b}]{1,12}@([a-zA-Z0-9äß한аｃ-]{1,8}\\.){1,2}(com|co\\.kr|한국)") {
        if let Ok(mailbox) = Mailbox::parse(&text) {
            let shown = mailbox.to_string();
            prop_assert!(shown.bytes().all(|b| b.is_ascii_graphic() && !b.is_ascii_uppercase()));
            prop_assert_eq!(shown.bytes().filter(|&b| b == b'@').count(), 1);
            prop_assert!(mailbox.domain().registrable().is_some());
            prop_assert_eq!(Mailbox::parse(&shown), Ok(mailbox));
        }
    }
}
