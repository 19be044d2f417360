//! A host as a URL writes it, before any parser has mended it.

use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};
use url::Host;

use crate::world::domain::HostName;
use crate::world::lookalike::{looks_latin, mixes_scripts};

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
    /// A label of another script, below an ASCII suffix, reads as a Latin one.
    #[error("its host is written in letters that look like Latin ones")]
    LooksLatin,
}

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
    undisguised(&ascii, &unicode)?;
    Ok(name)
}

/// Refuses labels that look like other labels, however they were spelled.
fn undisguised(ascii: &str, unicode: &str) -> Result<(), BadHost> {
    let labels = || unicode.split('.').filter(|label| !label.is_ascii());
    let under_ascii = !ascii
        .rsplit('.')
        .next()
        .is_some_and(|top| top.starts_with("xn--"));
    if labels().any(mixes_scripts) {
        Err(BadHost::MixedScripts)
    } else if under_ascii && labels().any(looks_latin) {
        Err(BadHost::LooksLatin)
    } else {
        Ok(())
    }
}

/// Whether a URL parser takes the host for an IPv4 address, or for a broken one (WHATWG URL,
/// "ends in a number").
fn ends_in_number(host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    let last = host.rsplit('.').next().unwrap_or_default();
    // The parser itself knows the notations: decimal, octal and hexadecimal.
    matches!(Host::parse(last), Ok(Host::Ipv4(_)))
        || (!last.is_empty() && last.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(text: &str) -> Result<String, BadHost> {
        written_host(text).map(|name| name.as_str().to_owned())
    }

    #[test]
    fn takes_names_as_written() {
        let takes = |written: &str, name: &str| assert_eq!(host(written).as_deref(), Ok(name));
        takes("Acme.CO.kr", "acme.co.kr");
        takes("my_shop.acme.kr", "my_shop.acme.kr");
        takes("ab--cd.acme.kr", "ab--cd.acme.kr");
        takes("한빛.한국", "xn--xx3br43b.xn--3e0b707e");
        takes("XN--xx3br43b.xn--3e0b707e", "xn--xx3br43b.xn--3e0b707e");
        takes("Müller.de", "xn--mller-kva.de");
        assert!(host("한빛lg.kr").is_ok());
        assert!(host("ひらカタ漢字abc.jp").is_ok());
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
        assert_eq!(host("асе.kr"), Err(BadHost::LooksLatin));
    }
}
