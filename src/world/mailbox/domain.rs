//! The domain of a mailbox: as written, registrable, and not dressed up as another.

use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};
use url::Host;

use super::BadMailbox;
use crate::world::domain::HostName;
use crate::world::lookalike::{looks_latin, mixes_scripts};

/// The domain that `text` spells in labels of ASCII or Unicode (UTS #46, strict).
pub(super) fn mail_domain(text: &str) -> Result<HostName, BadMailbox> {
    if text.is_empty() {
        return Err(BadMailbox::NoDomain);
    }
    if text.starts_with('[') || is_ip_address(text) {
        return Err(BadMailbox::AddressLiteral);
    }
    let bad = || BadMailbox::BadDomain(text.to_owned());
    let written = text.to_ascii_lowercase();
    let ascii = Uts46::new()
        .to_ascii(
            written.as_bytes(),
            AsciiDenyList::STD3,
            Hyphens::Check,
            DnsLength::Verify,
        )
        .map_err(|_| bad())?;
    let (unicode, valid) =
        Uts46::new().to_unicode(ascii.as_bytes(), AsciiDenyList::STD3, Hyphens::Check);
    valid.map_err(|_| bad())?;
    as_registered(&written, &ascii, &unicode)?;
    undisguised(&ascii, &unicode)?;
    registered(HostName::parse(&ascii).map_err(|_| bad())?)
}

/// IPv4 in every spelling that resolvers take, and IPv6.
fn is_ip_address(text: &str) -> bool {
    matches!(Host::parse(text), Ok(Host::Ipv4(_))) || text.parse::<std::net::Ipv6Addr>().is_ok()
}

/// Refuses labels that mapping changed: look-alike dots, wide forms, capitals beyond ASCII,
/// and what is not NFC.
fn as_registered(written: &str, ascii: &str, unicode: &str) -> Result<(), BadMailbox> {
    let registered = ascii.split('.').zip(unicode.split('.'));
    let written = written.split('.');
    if written.clone().count() != registered.clone().count() {
        return Err(BadMailbox::Repaired {
            written: written.collect::<Vec<_>>().join("."),
            becomes: unicode.to_owned(),
        });
    }
    for (label, (ascii, unicode)) in written.zip(registered) {
        let becomes = if label.is_ascii() { ascii } else { unicode };
        if label != becomes {
            return Err(BadMailbox::Repaired {
                written: label.to_owned(),
                becomes: becomes.to_owned(),
            });
        }
    }
    Ok(())
}

/// Refuses labels that look like other labels, however they were spelled.
fn undisguised(ascii: &str, unicode: &str) -> Result<(), BadMailbox> {
    let latin_suffix = ascii
        .rsplit('.')
        .next()
        .is_some_and(|label| !label.starts_with("xn--"));
    for label in unicode.split('.').filter(|label| !label.is_ascii()) {
        if mixes_scripts(label) {
            return Err(BadMailbox::MixedScripts(label.to_owned()));
        }
        if latin_suffix && looks_latin(label) {
            return Err(BadMailbox::LooksLatin(label.to_owned()));
        }
    }
    Ok(())
}

/// Refuses names that nobody can have registered.
fn registered(name: HostName) -> Result<HostName, BadMailbox> {
    if !name.has_public_suffix() {
        Err(BadMailbox::UnknownSuffix(name))
    } else if name.registrable().is_none() {
        Err(BadMailbox::BareSuffix(name))
    } else {
        Ok(name)
    }
}
