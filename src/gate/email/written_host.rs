//! A host as a URL writes it, before any parser has mended it.

use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};
use unicode_script::{Script, ScriptExtension};

use crate::world::domain::HostName;

/// Why a written host is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadHost {
    /// There is none.
    #[error("it names no host")]
    Missing,
    /// An IP address, in whatever notation.
    #[error("its host is an IP address, not a name")]
    IpAddress,
    /// It ends with a dot.
    #[error("its host ends with a dot")]
    TrailingDot,
    /// Not a name by UTS 46 with its strict rules.
    #[error("its host is not a valid name")]
    NotAName,
    /// A name that is spelled otherwise once it is mapped.
    #[error("its host would be read as {0}")]
    Repaired(HostName),
    /// A label mixes scripts that do not stand together in any writing system.
    #[error("its host mixes scripts")]
    MixedScripts,
}

/// Writing systems that use more than one script (UTS 39 §5.2, "highly restrictive").
const TOGETHER: [&[Script]; 3] = [
    &[
        Script::Latin,
        Script::Han,
        Script::Hiragana,
        Script::Katakana,
    ],
    &[Script::Latin, Script::Han, Script::Hangul],
    &[Script::Latin, Script::Han, Script::Bopomofo],
];

/// The name that `text` spells exactly, letter case aside.
///
/// Non-ASCII names and A-labels are held against UTS 46 with `UseSTD3ASCIIRules`,
/// `CheckHyphens` and `VerifyDnsLength`; a name that this processing would change is refused.
pub fn written_host(text: &str) -> Result<HostName, BadHost> {
    match text {
        "" => return Err(BadHost::Missing),
        _ if text.starts_with('[') || ends_in_number(text) => return Err(BadHost::IpAddress),
        _ if text.ends_with('.') => return Err(BadHost::TrailingDot),
        _ => {}
    }
    let has_a_label = |name: &str| {
        name.to_ascii_lowercase()
            .split('.')
            .any(|l| l.starts_with("xn--"))
    };
    if text.is_ascii() && !has_a_label(text) {
        return HostName::parse(text).map_err(|_| BadHost::NotAName);
    }
    idn(text)
}

fn idn(text: &str) -> Result<HostName, BadHost> {
    let uts46 = Uts46::new();
    let ascii = uts46
        .to_ascii(
            text.as_bytes(),
            AsciiDenyList::STD3,
            Hyphens::Check,
            DnsLength::Verify,
        )
        .map_err(|_| BadHost::NotAName)?;
    let (unicode, valid) = uts46.to_unicode(ascii.as_bytes(), AsciiDenyList::STD3, Hyphens::Check);
    valid.map_err(|_| BadHost::NotAName)?;
    let name = HostName::parse(&ascii).map_err(|_| BadHost::NotAName)?;
    let written = text.to_lowercase();
    if written != *ascii && written != *unicode {
        return Err(BadHost::Repaired(name));
    }
    if unicode.split('.').any(mixes_scripts) {
        return Err(BadHost::MixedScripts);
    }
    Ok(name)
}

/// Whether a URL parser takes the host for an IPv4 address (WHATWG URL, "ends in a number").
fn ends_in_number(host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    let last = host.rsplit('.').next().unwrap_or_default();
    let hex = last.strip_prefix("0x").or_else(|| last.strip_prefix("0X"));
    match hex {
        Some(digits) => digits.bytes().all(|b| b.is_ascii_hexdigit()),
        None => !last.is_empty() && last.bytes().all(|b| b.is_ascii_digit()),
    }
}

fn mixes_scripts(label: &str) -> bool {
    let of_one = !ScriptExtension::for_str(label).is_empty();
    let of_system = |system: &&[Script]| {
        label.chars().all(|c| {
            let scripts = ScriptExtension::from(c);
            system.iter().any(|script| scripts.contains_script(*script))
        })
    };
    !of_one && !TOGETHER.iter().any(of_system)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(text: &str) -> Result<String, BadHost> {
        written_host(text).map(|name| name.as_str().to_owned())
    }

    #[test]
    fn takes_names_as_written() {
        for (written, name) in [
            ("Acme.CO.kr", "acme.co.kr"),
            ("my_shop.acme.kr", "my_shop.acme.kr"),
            ("한빛.한국", "xn--xx3br43b.xn--3e0b707e"),
            ("XN--o02b90c.xn--3e0b707e", "xn--xx3br43b.xn--3e0b707e"),
            ("한빛lg.kr", "xn--lg-nt6ik8h.kr"),
            ("ひらカタ漢字abc.jp", "xn--abc-rb4b5b1a2bxi9592adz1f.jp"),
        ] {
            let found = host(written);
            match found {
                Ok(found) if written.is_ascii() || name.starts_with("xn--o") => {
                    assert_eq!(found, name);
                }
                Ok(found) => assert!(found.starts_with("xn--"), "{written}: {found}"),
                Err(why) => panic!("{written}: {why}"),
            }
        }
    }

    #[test]
    fn refuses_what_a_parser_would_mend() {
        let repaired = |name: &str| Err(BadHost::Repaired(HostName::parse(name).unwrap()));
        assert_eq!(host("ａcme.kr"), repaired("acme.kr"));
        assert_eq!(host("acme。kr"), repaired("acme.kr"));
        assert_eq!(host("ac\u{ad}me.kr"), repaired("acme.kr"));
        assert_eq!(host("한\u{200b}빛.kr"), repaired("xn--xx3br43b.kr"));
        assert_eq!(host("acme.kr."), Err(BadHost::TrailingDot));
        assert_eq!(host("acme%2ekr"), Err(BadHost::NotAName));
        assert_eq!(host("acme..kr"), Err(BadHost::NotAName));
        assert_eq!(host("-acme.kr"), Err(BadHost::NotAName));
        assert_eq!(host("xn--acme.kr"), Err(BadHost::NotAName));
        assert_eq!(
            host(&format!("{}.kr", "a".repeat(64))),
            Err(BadHost::NotAName)
        );
    }

    #[test]
    fn refuses_addresses_in_any_notation() {
        for text in [
            "127.0.0.1",
            "0x7f.1",
            "2130706433",
            "acme.0x",
            "[::1]",
            "1.2.3.4.",
        ] {
            assert_eq!(host(text), Err(BadHost::IpAddress), "{text}");
        }
        assert!(host("1.2.3.4.kr").is_ok());
    }

    #[test]
    fn refuses_mixed_scripts_but_not_mixed_labels() {
        // A Cyrillic "а" among Latin letters, and the same written as A-label.
        assert_eq!(host("аcme.kr"), Err(BadHost::MixedScripts));
        assert_eq!(host("xn--cme-7cd.kr"), Err(BadHost::MixedScripts));
        assert!(host("почта.acme.kr").is_ok());
    }
}
