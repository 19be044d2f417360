//! Host names, registrable domains, and labels that are made to be mistaken for others.

use std::fmt;

use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};
use serde::{Deserialize, Serialize};
use unicode_script::{Script, ScriptExtension, UnicodeScript as _};
use url::{Host, Url};

/// An absolute DNS host name: lower-case ASCII (A-labels), no trailing dot, at most 253 octets.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HostName(String);

/// A name one label below a known public suffix (<https://publicsuffix.org>), such as `acme.co.kr`.
///
/// It is read back as it was written, whatever later editions of the list say of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "HostName", into = "String")]
pub struct RegistrableDomain(String);

#[derive(Debug, thiserror::Error)]
#[error("not a host name: {0:?}")]
pub struct BadHostName(String);

impl HostName {
    /// The host name that `text` spells; upper case and one trailing dot are let through.
    pub fn parse(text: &str) -> Result<Self, BadHostName> {
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        let label_ok = |label: &str| {
            (1..=63).contains(&label.len())
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        };
        if name.len() <= 253 && name.split('.').all(label_ok) {
            Ok(Self(name))
        } else {
            Err(BadHostName(text.to_owned()))
        }
    }

    /// The host of `url`, without a trailing dot; none when it is an IP address.
    pub fn of_url(url: &Url) -> Option<Self> {
        match url.host()? {
            Host::Domain(name) => Self::parse(name).ok(),
            Host::Ipv4(_) | Host::Ipv6(_) => None,
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the name is a known public suffix or below one.
    pub fn has_public_suffix(&self) -> bool {
        psl::suffix(self.0.as_bytes()).is_some_and(|suffix| suffix.is_known())
    }

    /// Whether the name's public suffix is from the list's private section (`github.io`,
    /// `blogspot.com`): one company runs it, and others publish below it.
    pub fn public_suffix_is_private(&self) -> bool {
        let suffix = psl::suffix(self.0.as_bytes());
        suffix.is_some_and(|suffix| suffix.typ() == Some(psl::Type::Private))
    }

    /// The registrable domain of the name; none if its suffix is unknown, private
    /// suffixes (`github.io`) counted as suffixes, or when the name is itself a suffix.
    pub fn registrable(&self) -> Option<RegistrableDomain> {
        let domain = psl::domain(self.0.as_bytes())?;
        if !domain.suffix().is_known() {
            return None;
        }
        let text = std::str::from_utf8(domain.as_bytes()).ok()?;
        Some(RegistrableDomain(text.to_owned()))
    }

    /// The labels before the registrable domain: `www.en` of `www.en.acme.co.kr`.
    pub fn below_domain(&self) -> Option<&str> {
        let below = self.0.strip_suffix(self.registrable()?.as_str())?;
        Some(below.trim_end_matches('.'))
    }
}

impl RegistrableDomain {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The label that was registered: `acme` of `acme.co.kr`.
    pub fn name_label(&self) -> &str {
        self.0.split_once('.').map_or(&self.0, |(label, _)| label)
    }

    /// The public suffix that it was registered under: `co.kr` of `acme.co.kr`.
    pub fn suffix(&self) -> &str {
        self.0.split_once('.').map_or("", |(_, suffix)| suffix)
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for RegistrableDomain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for HostName {
    type Error = BadHostName;

    fn try_from(text: String) -> Result<Self, BadHostName> {
        Self::parse(&text)
    }
}

impl From<HostName> for String {
    fn from(name: HostName) -> Self {
        name.0
    }
}

impl From<HostName> for RegistrableDomain {
    fn from(name: HostName) -> Self {
        Self(name.0)
    }
}

impl From<RegistrableDomain> for String {
    fn from(domain: RegistrableDomain) -> Self {
        domain.0
    }
}

/// The scripts that are written together in one word: UTS #39 §5.2, "highly restrictive".
const WRITTEN_TOGETHER: [&[Script]; 3] = [
    &[
        Script::Latin,
        Script::Han,
        Script::Hiragana,
        Script::Katakana,
    ],
    &[Script::Latin, Script::Han, Script::Bopomofo],
    &[Script::Latin, Script::Han, Script::Hangul],
];

/// Lower-case letters of other scripts whose skeleton is Latin (UTS #39, `confusables.txt`).
const LIKE_LATIN: [&str; 3] = ["авгеорсухѕіјһԁԛԝѵӏ", "αγινορσυ", "հցոսօզ"];

/// A name that may have labels in Unicode, in both of its forms (UTS #46, strict).
pub struct InternationalName {
    pub ascii: String,
    unicode: String,
}

/// A label that looks like another.
pub enum Disguise {
    MixedScripts(String),
    LooksLatin(String),
}

impl InternationalName {
    pub fn parse(text: &str) -> Option<Self> {
        let (deny, hyphens) = (AsciiDenyList::STD3, Hyphens::Check);
        let ascii = Uts46::new().to_ascii(text.as_bytes(), deny, hyphens, DnsLength::Verify);
        let ascii = ascii.ok()?.into_owned();
        let (unicode, valid) = Uts46::new().to_unicode(ascii.as_bytes(), deny, hyphens);
        valid.ok()?;
        let unicode = unicode.into_owned();
        Some(Self { ascii, unicode })
    }

    /// The first label of `written`, which is in lower case, that mapping changed, and what it
    /// becomes: look-alike dots, wide forms, and what is not NFC.
    pub fn repair(&self, written: &str) -> Option<(String, String)> {
        let registered = self.ascii.split('.').zip(self.unicode.split('.'));
        let labels = written.split('.');
        if labels.clone().count() != registered.clone().count() {
            return Some((written.to_owned(), self.unicode.clone()));
        }
        labels
            .zip(registered)
            .find_map(|(label, (ascii, unicode))| {
                let becomes = if label.is_ascii() { ascii } else { unicode };
                (label != becomes).then(|| (label.to_owned(), becomes.to_owned()))
            })
    }

    /// The first label that looks like another, however it was spelled.
    pub fn disguise(&self) -> Option<Disguise> {
        let last = self.ascii.rsplit('.').next();
        let latin_suffix = last.is_some_and(|label| !label.starts_with("xn--"));
        let mut labels = self.unicode.split('.').filter(|label| !label.is_ascii());
        labels.find_map(|label| {
            if mixes_scripts(label) {
                Some(Disguise::MixedScripts(label.to_owned()))
            } else {
                let disguised = latin_suffix && looks_latin(label);
                disguised.then(|| Disguise::LooksLatin(label.to_owned()))
            }
        })
    }
}

fn mixes_scripts(label: &str) -> bool {
    let one_script = !ScriptExtension::for_str(label).is_empty();
    let together = |scripts: &&[Script]| {
        label.chars().all(|c| {
            let extension = c.script_extension();
            scripts
                .iter()
                .any(|&script| extension.contains_script(script))
        })
    };
    !one_script && !WRITTEN_TOGETHER.iter().any(together)
}

/// Whether every letter of `label` looks like a Latin one to a reader.
fn looks_latin(label: &str) -> bool {
    label
        .chars()
        .filter(|c| c.is_alphabetic())
        .all(|c| LIKE_LATIN.iter().any(|letters| letters.contains(c)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(text: &str) -> HostName {
        HostName::parse(text).unwrap()
    }

    fn registrable(text: &str) -> Option<String> {
        host(text).registrable().map(String::from)
    }

    #[test]
    fn refuses_what_dns_cannot_hold() {
        for text in [
            "", ".", "a..b", ".a", "-a.com", "a-.com", "a b.com", "ä.com", "a.com..",
        ] {
            assert!(HostName::parse(text).is_err(), "{text:?}");
        }
        assert!(HostName::parse(&"a".repeat(64)).is_err());
        assert!(HostName::parse(&"a".repeat(63)).is_ok());
        assert!(HostName::parse(&["a"; 128].join(".")).is_err());
        assert!(HostName::parse(&["a"; 127].join(".")).is_ok());
        assert_eq!(host("WWW.Acme.COM.").as_str(), "www.acme.com");
    }

    #[test]
    fn finds_the_registrable_domain_under_known_suffixes_alone() {
        assert_eq!(registrable("WWW.Acme.CO.KR").as_deref(), Some("acme.co.kr"));
        assert_eq!(registrable("acme.co.kr").as_deref(), Some("acme.co.kr"));
        assert_eq!(registrable("a.b.github.io").as_deref(), Some("b.github.io"));
        assert_eq!(
            registrable("www.xn--9t4b11yi5a.xn--3e0b707e").as_deref(),
            Some("xn--9t4b11yi5a.xn--3e0b707e")
        );
        for text in "co.kr com github.io acme.nosuchsuffix 127.0.0.1 localhost".split_whitespace() {
            assert_eq!(registrable(text), None, "{text}");
        }
    }

    #[test]
    fn tells_private_suffixes_from_registries() {
        assert!(host("acme.github.io").public_suffix_is_private());
        assert!(!host("www.github.com").public_suffix_is_private());
        assert!(!host("acme.nosuchsuffix").public_suffix_is_private());
        assert!(host("co.kr").has_public_suffix());
        assert!(!host("acme.nosuchsuffix").has_public_suffix());
    }

    #[test]
    fn splits_label_and_suffix() {
        let domain = host("mail.acme.co.kr").registrable().unwrap();
        assert_eq!((domain.name_label(), domain.suffix()), ("acme", "co.kr"));
    }

    #[test]
    fn takes_domains_of_urls_and_no_addresses() {
        let of = |text| HostName::of_url(&Url::parse(text).unwrap()).map(String::from);
        assert_eq!(
            of("https://WWW.Acme.com.:8443/x").as_deref(),
            Some("www.acme.com")
        );
        for text in [
            "http://127.0.0.1/",
            "http://0x7f.1/",
            "http://[::1]/",
            "data:,x",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn a_stored_domain_must_be_a_host_name() {
        assert!(serde_json::from_str::<RegistrableDomain>("\"acme.co.kr\"").is_ok());
        assert!(serde_json::from_str::<RegistrableDomain>("\"a b\"").is_err());
    }

    #[test]
    fn lets_languages_mix_what_they_mix() {
        for label in [
            "müller",
            "東京タワーの",
            "lg전자",
            "삼성電子",
            "x東京",
            "kрасно".get(1..).unwrap(),
        ] {
            assert!(!mixes_scripts(label), "{label}");
        }
        for label in ["аcme", "αcme", "한かな", "москва東京", "日本бг"] {
            assert!(mixes_scripts(label), "{label}");
        }
    }

    #[test]
    fn knows_words_that_read_as_latin() {
        for label in ["асе", "ѕсоре", "αι-1", "ороӏ2"] {
            assert!(looks_latin(label), "{label}");
        }
        for label in ["москва", "λογος", "асме", "한국"] {
            assert!(!looks_latin(label), "{label}");
        }
    }
}
