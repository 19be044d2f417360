//! The lists that the steps without a lookup use: data with its sources, compiled in.
//!
//! One file a list: entries apart by white space, in lower case; `#` begins a comment that
//! ends with the line. Domains are in ASCII (A-labels) and cover their subdomains.

use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

use crate::base::Digest;

#[derive(Debug)]
pub struct List {
    name: &'static str,
    text: &'static str,
    entries: LazyLock<HashSet<&'static str>>,
}

macro_rules! lists {
    ($($list:ident = $name:literal, $path:literal;)+) => {
        $(pub static $list: List = List {
            name: $name,
            text: include_str!($path),
            entries: LazyLock::new(|| words(include_str!($path)).collect()),
        };)+

        const ALL: &[&List] = &[$(&$list),+];
    };
}

lists! {
    FREEMAIL = "freemail", "lists/freemail.txt";
    HOSTED = "hosted", "lists/hosted.txt";
    PLATFORM = "platform", "lists/platform.txt";
    RESERVED = "reserved", "lists/reserved.txt";
    SAMPLE_LOCAL = "sample-local", "lists/sample_local.txt";
    SAMPLE_DOMAIN = "sample-domain", "lists/sample_domain.txt";
    SAMPLE_ADDRESS = "sample-address", "lists/sample_address.txt";
    FILE_SUFFIX = "file-suffix", "lists/file_suffix.txt";
    ROLE = "role", "lists/role.txt";
    PERSON = "person", "lists/person.txt";
}

/// A list of another form, which the module that uses it parses.
pub(super) const COMMON_WORDS: &str = include_str!("lists/common_words.txt");

macro_rules! tables {
    ($($table:ident = $name:literal, $path:literal;)+) => {
        $(pub(super) const $table: &str = include_str!($path);)+

        const TABLES: &[(&str, &str)] = &[$(($name, $table)),+];
    };
}

// Tables of words in several languages.
tables! {
    DISGUISES = "disguises", "words/disguises.toml";
    DISOWNED = "disowned", "words/disowned.toml";
    FORMER = "former", "words/former.toml";
    LEGAL_FORMS = "legal-forms", "words/legal_forms.toml";
    LEGAL_NOTICES = "legal-notices", "words/legal_notices.toml";
    NAME_WORDS = "name-words", "words/name_words.toml";
    NO_MAILBOX = "no-mailbox", "words/no_mailbox.toml";
    NOT_IN_USE = "not-in-use", "words/not_in_use.toml";
    OWNER_LABELS = "owner-labels", "words/owner_labels.toml";
    OWNER_PHRASES = "owner-phrases", "words/owner_phrases.toml";
    REFUSALS = "refusals", "words/refusals.toml";
    VISITOR_HEADINGS = "visitor-headings", "words/visitor_headings.toml";
}

/// Domains of disposable mail, sorted: the crate promises no order.
static DISPOSABLE: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let mut domains = mailchecker::blacklist();
    domains.sort_unstable();
    domains
});

/// The disposable domain that `host` equals or is a subdomain of.
///
/// A provider of ordinary mail that the list names all the same does not count: that is for
/// rule `freemail`.
pub fn disposable(host: &str) -> Option<&'static str> {
    if FREEMAIL.covering(host).is_some() {
        return None;
    }
    with_parents(host).find_map(|name| {
        let place = DISPOSABLE.binary_search(&name).ok()?;
        DISPOSABLE.get(place).copied()
    })
}

pub fn list_digests() -> BTreeMap<&'static str, Digest> {
    let lines = DISPOSABLE.iter();
    let lines = lines.flat_map(|domain| [domain.as_bytes(), b"\n".as_slice()]);
    let others = [
        ("disposable", Digest::of_parts(lines)),
        ("common-words", Digest::of(COMMON_WORDS.as_bytes())),
    ];
    let lists = ALL.iter();
    let lists = lists.map(|list| (list.name, Digest::of(list.text.as_bytes())));
    let tables = TABLES.iter();
    let tables = tables.map(|(name, text)| (*name, Digest::of(text.as_bytes())));
    lists.chain(tables).chain(others).collect()
}

/// `host` and every name above it, the nearest first.
pub fn with_parents(host: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(host), |name| {
        name.split_once('.').map(|(_, parent)| parent)
    })
}

impl List {
    pub fn has(&self, entry: &str) -> bool {
        self.entries.contains(entry)
    }

    /// The entry that is `host`, or the nearest that is a name above it.
    pub fn covering(&self, host: &str) -> Option<&'static str> {
        with_parents(host).find_map(|name| self.entries.get(name).copied())
    }

    pub fn iter(&self) -> impl Iterator<Item = &'static str> {
        self.entries.iter().copied()
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .map(|line| line.split_once('#').map_or(line, |(entries, _)| entries))
        .flat_map(str::split_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::domain::HostName;

    #[test]
    fn comments_are_no_entries() {
        let found: Vec<_> = words("# a\nb c # d\n\n e\n").collect();
        assert_eq!(found, ["b", "c", "e"]);
    }

    #[test]
    fn every_list_names_a_source_and_repeats_nothing() {
        for list in ALL {
            assert!(list.text.starts_with("# "), "{}", list.name);
            assert!(list.text.contains("Source:"), "{}", list.name);
            let mut seen = HashSet::new();
            for word in words(list.text) {
                assert!(seen.insert(word), "{} twice in {}", word, list.name);
                assert_eq!(word, word.to_lowercase(), "in {}", list.name);
            }
            assert!(!seen.is_empty(), "{}", list.name);
        }
    }

    #[test]
    fn every_listed_domain_can_be_met() {
        for list in [&FREEMAIL, &HOSTED, &PLATFORM, &SAMPLE_DOMAIN] {
            for entry in list.iter() {
                let host = HostName::parse(entry).unwrap();
                assert_eq!(host.as_str(), entry, "in {}", list.name);
                assert!(psl::suffix(entry.as_bytes()).unwrap().is_known(), "{entry}");
            }
        }
    }

    #[test]
    fn a_domain_covers_its_subdomains_and_nothing_else() {
        assert_eq!(FREEMAIL.covering("naver.com"), Some("naver.com"));
        assert_eq!(FREEMAIL.covering("mail.naver.com"), Some("naver.com"));
        assert_eq!(FREEMAIL.covering("notnaver.com"), None);
        assert_eq!(FREEMAIL.covering("naver.com.acme.kr"), None);
        assert_eq!(FREEMAIL.covering(""), None);
    }

    #[test]
    fn every_list_has_a_digest_of_its_own() {
        let digests = list_digests();
        assert_eq!(digests.len(), ALL.len() + TABLES.len() + 2);
        let different: HashSet<_> = digests.values().collect();
        assert_eq!(different.len(), digests.len());
    }

    #[test]
    fn finds_a_domain_and_what_lies_below_it() {
        assert_eq!(disposable("mailinator.com"), Some("mailinator.com"));
        assert_eq!(disposable("a.b.mailinator.com"), Some("mailinator.com"));
        assert_eq!(disposable("acme-mailinator.kr"), None);
        assert_eq!(disposable("mailinator.com.acme.kr"), None);
        assert_eq!(disposable("acme.co.kr"), None);
        assert_eq!(disposable(""), None);
    }

    #[test]
    fn ordinary_mail_is_not_disposable() {
        for host in FREEMAIL.iter() {
            assert_eq!(disposable(host), None, "{host}");
        }
    }
}
